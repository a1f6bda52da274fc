// Collisions of the model `circle` (zenn.dev 2023): the article's own loop over all spheres, every
// pair i < j in the order of their slots, steps 1 to 6 one after another with the separation, then
// all move.
//
// A pair early in the list may push a circle into a later one, so pairs are not those of the
// broadphase but all; what cannot reach is passed over by a comparison. For the same reason a
// centre is computed here: the broadphase places what moves and what rests near it, nothing else.
// An immovable circle takes the limits of the formulas for an infinite mass. Without rounding
// (pixel 0) a gap up to 1e-5 x size is a hit. Sensors and filters hold; joints there are none.
// Spheres' depth z does not enter.
//
// The article knows no forces. Without rounding, a world with forces is solved as any other
// (impulse.c). With it, where they act on one of a pair, restitution is of the velocities
// before them and of the moment of the touch, and their share is taken away (hit.c has the
// formulas); what approaches no faster than they make is stopped. Each pair once, in the same loop.
// Typical: 16 circles.
#include "shared/sim/solve/impulse/impulse.h"

#include "shared/sim/body/rule.h"
#include "shared/sim/body/shape.h"

static uint32_t list_circles(const carom_world *world, cm_impulse_circle *circles)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        const cm_shape *shape = cm_shapes(world) + i;
        if (shape->alive && shape->type == CAROM_SHAPE_SPHERE && !shape->sensor) {
            carom_vec3 center;
            carom_quat unused;
            cm_shape_pose(world, shape, &center, &unused);
            circles[count++] = (cm_impulse_circle){shape->body, i, (double)shape->size[0], center};
        }
    }
    return count;
}

static carom_circle circle_of(const cm_impulse *impulse, const cm_impulse_circle *from)
{
    const cm_impulse_body *body = &impulse->bodies[from->body];
    const carom_vec3 *center = &from->center;
    double m = body->side.inverse_mass.x;
    carom_circle c = {{(double)center->x + body->shift.x, (double)center->y + body->shift.y},
                      {body->side.v.x, body->side.v.y},
                      from->reach,
                      m > 0.0 ? 1.0 / m : 1.0};
    return c;
}

// Changes go back as a shift and a velocity, so that the rest of the body follows.
static void put_back(cm_impulse_body *body, const carom_circle *was, const carom_circle *is,
                     double mass)
{
    double push_x = mass * (is->velocity[0] - was->velocity[0]);
    double push_y = mass * (is->velocity[1] - was->velocity[1]);
    body->shift.x += is->position[0] - was->position[0];
    body->shift.y += is->position[1] - was->position[1];
    body->side.v.x = is->velocity[0];
    body->side.v.y = is->velocity[1];
    body->push = cm_d3_add(body->push, cm_d3_of(push_x, push_y, 0.0));
}

// Notes the impulse where the collide stage has a row for the pair, for the report.
static void note(const carom_world *world, const cm_scratch *scratch, uint32_t a, uint32_t b,
                 double impulse)
{
    const cm_contact *contacts = cm_contacts(world);
    uint32_t low = 0, high = world->state.contact_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const cm_contact *c = &contacts[middle];
        bool below = c->shape_a < a || (c->shape_a == a && c->shape_b < b);
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    if (low < world->state.contact_count && contacts[low].shape_a == a &&
        contacts[low].shape_b == b) {
        scratch->manifolds[low].impulse += (float)impulse;
    }
}

// One pair of which forces act on one: the impulse along n, from one to two.
static double collide_forced(const cm_impulse *impulse, const carom_circle_impact *c, double e,
                             cm_impulse_body *one, cm_impulse_body *two)
{
    double ia = one->side.inverse_mass.x, ib = two->side.inverse_mass.x;
    if (!c->hit || !(ia + ib > 0.0)) {
        return 0.0;
    }
    carom_dvec3 n = cm_d3_of(c->n[0], c->n[1], 0.0);
    double mass = 1.0 / (ia + ib), depth = -c->gap, further = depth > 0.0 ? depth : 0.0;
    double force = cm_d3_dot(n, cm_d3_sub(one->dv, two->dv));
    double approach = cm_d3_dot(n, cm_d3_sub(one->side.v, two->side.v)), left = approach, hit = 0.0;
    if (approach > CM_IMPULSE_PRESSED * (force > 0.0 ? force : 0.0)) {
        cm_impulse_touch t = cm_impulse_find_touch(depth, force, approach, impulse->h);
        hit = (1.0 + e) * mass * (approach - t.lost);
        left = approach - hit / mass;
        further = cm_impulse_shift(&t, force, 0.0, approach, -left, impulse->h);
    }
    double share = left + force > 0.0 ? mass * (left + force) : 0.0;
    if (hit > 0.0 && left <= 0.0) {
        share = mass * force > -hit ? mass * force : -hit;
    }
    one->side.v = cm_d3_mad(one->side.v, -ia * hit, n);
    two->side.v = cm_d3_mad(two->side.v, ib * hit, n);
    one->dv = cm_d3_mad(one->dv, -ia * share, n);
    two->dv = cm_d3_mad(two->dv, ib * share, n);
    one->shift = cm_d3_mad(one->shift, -ia * mass * further, n);
    two->shift = cm_d3_mad(two->shift, ib * mass * further, n);
    one->push = cm_d3_mad(one->push, -(hit + share), n);
    two->push = cm_d3_mad(two->push, hit + share, n);
    one->forced = two->forced = true;
    return hit + share;
}

// The speed at which two circles approach, along the line of their centres.
static double approach_of(const carom_circle *a, const carom_circle *b)
{
    double x = b->position[0] - a->position[0], y = b->position[1] - a->position[1];
    double length = __builtin_sqrt(x * x + y * y);
    double speed = (a->velocity[0] - b->velocity[0]) * x + (a->velocity[1] - b->velocity[1]) * y;
    return length > 0.0 ? speed / length : 0.0;
}

static void collide_pair(const carom_world *world, const cm_scratch *scratch, cm_impulse *impulse,
                         const cm_impulse_circle *i, const cm_impulse_circle *j)
{
    cm_impulse_body *one = &impulse->bodies[i->body], *two = &impulse->bodies[j->body];
    carom_circle a = circle_of(impulse, i), b = circle_of(impulse, j);
    double reach = (a.radius + b.radius) * (1.0 + CM_IMPULSE_TOUCH);
    double x = b.position[0] - a.position[0], y = b.position[1] - a.position[1];
    const cm_shape *shapes = cm_shapes(world);
    const cm_body *bodies = cm_bodies(world);
    if (x > reach || -x > reach || y > reach || -y > reach) {
        return;
    }
    cm_filter filter_i = cm_filter_of(&shapes[i->shape], &bodies[i->body], false);
    cm_filter filter_j = cm_filter_of(&shapes[j->shape], &bodies[j->body], false);
    if (!cm_filters_meet(&filter_i, &filter_j)) {
        return;
    }
    bool fixed[2] = {one->side.inverse_mass.x == 0.0, two->side.inverse_mass.x == 0.0};
    float friction, restitution;
    carom_circle_impact c;
    cm_rule_mix(world, &shapes[i->shape], &shapes[j->shape], &friction, &restitution);
    double e = cm_impulse_restitution(impulse, approach_of(&a, &b), (double)restitution);
    double touch = CM_IMPULSE_TOUCH * 2.0 * (a.radius < b.radius ? a.radius : b.radius);
    if (one->forced || two->forced) {
        cm_circle_meet(&a, &b, (double)world->state.pixel, touch, &c);
        note(world, scratch, i->shape, j->shape, collide_forced(impulse, &c, e, one, two));
        return;
    }
    cm_circle_collide(&a, &b, fixed, e, (double)world->state.pixel, touch, &c);
    if (!c.hit) {
        return;
    }
    put_back(one, &a, &c.a, fixed[0] ? 0.0 : a.mass);
    put_back(two, &b, &c.b, fixed[1] ? 0.0 : b.mass);
    note(world, scratch, i->shape, j->shape,
         fixed[1] ? a.mass * (c.as - c.as2) : b.mass * (c.bs2 - c.bs));
}

void cm_impulse_circles(const carom_world *world, const cm_scratch *scratch, cm_impulse *impulse)
{
    uint32_t count = list_circles(world, impulse->circles);
    cm_impulse_contact *remembered = cm_rows(world, CM_SECTION_impulse_contact);
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        scratch->manifolds[i].impulse = 0.0f;
        remembered[i] = (cm_impulse_contact){0}; // this model knows no pressing
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            collide_pair(world, scratch, impulse, &impulse->circles[i], &impulse->circles[j]);
        }
    }
}
