// Collisions of the models `interpolated` (JP3308685B2) and `normal` (saharan): each touching pair
// of shapes once, in the order of their slots, at the centroid of its touching points.
//
// Pressing contact (S0.9, figure 12). A contact that touched in the step before is pressed, not
// hit, where it approaches by no more than twice what this step's forces have added, or where it
// has touched for three steps in a row and still approaches: it does not rebound (restitution 0);
// after every pair has collided once, the touching points of pressed contacts collide again and
// again, restitution 0, until none approaches, at most 128 rounds; and of its overlap a fifth a
// step is undone by mass share, the separation of the circle source, so that what fell in with its
// last free step comes back out and rests. Without forces no contact is pressed and bodies go where
// their collisions send them, overlap or not. Typical: 3 rounds.
#include "shared/sim/solve/impulse/impulse.h"

#define PRESSED   2.0    // of what forces add: above it a contact is hit
#define STILL     1.0e-4 // of what forces add: no approach any more
#define KEPT      1.0e-4 // of the size: overlap that stays, so that contact does not break
#define SEPARATED 0.2    // of the overlap, a step

static double largest(double a, double b)
{
    return a > b ? a : b;
}

// Across; a plane has no size of its own.
static double size_of(const cm_shape *shape)
{
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return 2.0 * (double)shape->size[0];
    case CAROM_SHAPE_CAPSULE:
        return 2.0 * ((double)shape->size[0] + (double)shape->size[1]);
    case CAROM_SHAPE_CYLINDER:
        return 2.0 * largest((double)shape->size[0], (double)shape->size[1]);
    case CAROM_SHAPE_BOX:
        return 2.0 * largest((double)shape->size[0],
                             largest((double)shape->size[1], (double)shape->size[2]));
    case CAROM_SHAPE_HULL:
        return 2.0 * (double)shape->size[1];
    default:
        return 0.0;
    }
}

// Of the smaller one: what touches must not depend on how large the floor is.
static double touch_of(const cm_shape *a, const cm_shape *b)
{
    double size_a = size_of(a), size_b = size_of(b);
    bool smaller_a = size_b == 0.0 || (size_a > 0.0 && size_a < size_b);
    return CM_IMPULSE_TOUCH * (smaller_a ? size_a : size_b);
}

static void set_arms(cm_impulse_side *a, cm_impulse_side *b, carom_dvec3 on_a, carom_dvec3 on_b)
{
    a->r = on_a;
    b->r = on_b;
}

// One collision where both sides' arms point. Returns the normal part of the impulse.
static double collide(uint32_t model, cm_impulse_body *a, cm_impulse_body *b, carom_dvec3 n,
                      carom_dvec3 v0, double mu, double epsilon)
{
    carom_dsym3 vf = cm_impulse_response(&a->side, &b->side);
    carom_dvec3 f = model == CAROM_IMPULSE_NORMAL
                        ? cm_d3_scale((1.0 + epsilon) * cm_impulse_slip(&vf, n, v0), n)
                        : cm_impulse_interpolate(&vf, n, v0, mu, epsilon);
    cm_impulse_push(&a->side, 1.0, f);
    cm_impulse_push(&b->side, -1.0, f);
    a->push = cm_d3_add(a->push, f);
    b->push = cm_d3_sub(b->push, f);
    a->turn = cm_d3_add(a->turn, cm_d3_cross(a->side.r, f));
    b->turn = cm_d3_sub(b->turn, cm_d3_cross(b->side.r, f));
    return -cm_d3_dot(f, n);
}

// Points lie halfway between the surfaces; where a sphere overlaps something else the point is the
// sphere's deepest one, as the patent's figure 12 has it.
static void to_sphere(const cm_shape *a, const cm_shape *b, cm_manifold *m)
{
    bool sphere_a = a->type == CAROM_SHAPE_SPHERE, sphere_b = b->type == CAROM_SHAPE_SPHERE;
    float sign = sphere_a ? -0.5f : 0.5f;
    for (uint32_t i = 0; sphere_a != sphere_b && i < m->point_count; i++) {
        cm_manifold_point *p = &m->points[i];
        float along = sign * p->separation;
        p->anchor_a = cm_mul_add(p->anchor_a, along, m->normal);
        p->anchor_b = cm_mul_add(p->anchor_b, along, m->normal);
    }
}

// False where nothing touches.
static bool fill_row(const carom_world *world, const cm_impulse *impulse, cm_manifold *m,
                     const cm_contact *contact, cm_impulse_row *row)
{
    const cm_shape *a = cm_shapes(world) + contact->shape_a;
    const cm_shape *b = cm_shapes(world) + contact->shape_b;
    *row = (cm_impulse_row){0};
    m->impulse = 0.0f;
    if (m->body_a == CM_NONE || m->point_count == 0) {
        return false;
    }
    carom_dvec3 n = cm_d3_from(m->normal);
    n.z = impulse->planar ? 0.0 : n.z;
    double length = cm_d3_length(n);
    if (!(length > 0.1)) {
        return false;
    }
    row->normal = cm_d3_scale(1.0 / length, n);
    row->touch = touch_of(a, b);
    for (uint32_t i = 0; i < m->point_count; i++) {
        double separation = (double)m->points[i].separation;
        if (separation <= row->touch) {
            row->points |= 1u << i;
            row->deepest = separation < row->deepest ? separation : row->deepest;
        }
    }
    to_sphere(a, b, m);
    return row->points != 0;
}

static void set_centroid(const cm_manifold *m, uint32_t points, cm_impulse_side *a,
                         cm_impulse_side *b)
{
    carom_dvec3 on_a = {0}, on_b = {0};
    double count = 0.0;
    for (uint32_t i = 0; i < m->point_count; i++) {
        if (points >> i & 1u) {
            on_a = cm_d3_add(on_a, cm_d3_from(m->points[i].anchor_a));
            on_b = cm_d3_add(on_b, cm_d3_from(m->points[i].anchor_b));
            count += 1.0;
        }
    }
    set_arms(a, b, cm_d3_scale(1.0 / count, on_a), cm_d3_scale(1.0 / count, on_b));
}

static double friction_of(const cm_manifold *m)
{
    return m->friction < 1.0f ? (double)m->friction : 1.0;
}

static void collide_once(const carom_world *world, cm_impulse *impulse, cm_manifold *m,
                         const cm_contact *contact, uint32_t age, cm_impulse_contact *remembered,
                         cm_impulse_row *row)
{
    remembered->age = 0;
    if (!fill_row(world, impulse, m, contact, row)) {
        return;
    }
    remembered->age = age < CM_IMPULSE_AGE_MAX ? age + 1 : age;
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    set_centroid(m, row->points, &a->side, &b->side);
    carom_dvec3 v0 = cm_impulse_relative(&a->side, &b->side);
    double approach = cm_d3_dot(v0, row->normal), pull = largest(a->pull, b->pull);
    row->pressed = age > 0 && pull > 0.0 && approach > -PRESSED * pull &&
                   (approach <= PRESSED * pull || age >= CM_IMPULSE_AGE_MAX);
    if (approach > 0.0) {
        double epsilon = row->pressed ? 0.0 : (double)m->restitution;
        m->impulse =
            (float)collide(world->state.model, a, b, row->normal, v0, friction_of(m), epsilon);
    }
}

// One round over the points of a pressed contact; true where one approached. A point that does not
// touch yet may come as far as its gap in this step, so that what rests does not rock from one
// corner to the next.
static bool collide_again(uint32_t model, cm_impulse *impulse, cm_manifold *m,
                          const cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    double still = STILL * largest(a->pull, b->pull);
    bool any = false;
    for (uint32_t i = 0; i < m->point_count; i++) {
        set_arms(&a->side, &b->side, cm_d3_from(m->points[i].anchor_a),
                 cm_d3_from(m->points[i].anchor_b));
        double gap = (double)m->points[i].separation, allowed = gap > 0.0 ? gap / impulse->h : 0.0;
        carom_dvec3 v0 = cm_impulse_relative(&a->side, &b->side);
        v0 = cm_d3_mad(v0, -allowed, row->normal);
        if (cm_d3_dot(v0, row->normal) > still) {
            m->impulse += (float)collide(model, a, b, row->normal, v0, friction_of(m), 0.0);
            any = true;
        }
    }
    return any;
}

static void separate(cm_impulse *impulse, const cm_manifold *m, const cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    carom_dvec3 n = row->normal, ia = a->side.inverse_mass, ib = b->side.inverse_mass;
    double along = cm_d3_dot(cm_d3_sub(b->shift, a->shift), n);
    double depth = -row->deepest - along - KEPT / CM_IMPULSE_TOUCH * row->touch;
    carom_dvec3 to_a = cm_d3_of(ia.x * n.x, ia.y * n.y, ia.z * n.z);
    carom_dvec3 to_b = cm_d3_of(ib.x * n.x, ib.y * n.y, ib.z * n.z);
    double share = cm_d3_dot(cm_d3_add(to_a, to_b), n);
    if (depth > 0.0 && share > 0.0) {
        double s = SEPARATED * depth / share;
        a->shift = cm_d3_mad(a->shift, -s, to_a);
        b->shift = cm_d3_mad(b->shift, s, to_b);
    }
}

void cm_impulse_collide(const carom_world *world, const cm_scratch *scratch, cm_impulse *impulse)
{
    uint32_t count = world->state.contact_count;
    const cm_impulse_contact *old = cm_old_rows(world, CM_SECTION_impulse_contact);
    cm_impulse_contact *remembered = cm_rows(world, CM_SECTION_impulse_contact);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = scratch->matches[i].row;
        collide_once(world, impulse, &scratch->manifolds[i], &cm_contacts(world)[i],
                     row != CM_NONE ? old[row].age : 0, &remembered[i], &impulse->rows[i]);
    }
    bool any = true;
    for (uint32_t round = 0; any && round < CM_IMPULSE_ROUNDS; round++) {
        any = false;
        for (uint32_t i = 0; i < count; i++) {
            if (impulse->rows[i].pressed) {
                any = collide_again(world->state.model, impulse, &scratch->manifolds[i],
                                    &impulse->rows[i]) ||
                      any;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (impulse->rows[i].pressed) {
            separate(impulse, &scratch->manifolds[i], &impulse->rows[i]);
        }
    }
}
