// Pairs of the volume solver: the rows of the last tick, the narrow phase of a step, the new rows.
//
// A row is kept while the pieces are within the margin of each other, so that the direction between
// them is known before they meet; then the normal of a step starts the next one's. Friction's
// record goes when they part. Sensors only meet. Typical: 200 pairs, half of them touching.
#include "shared/sim/solve/volume/volume.h"

#include "shared/sim/body/rule.h"
#include "shared/sim/collide/collide.h"
#include "shared/sim/solve/volume/gjk.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"

#include <string.h>

static void load_friction(const carom_world *world, const cm_shape *a, const cm_shape *b,
                          cm_volume_pair *pair)
{
    const cm_world_state *state = &world->state;
    float friction, restitution;
    cm_rule_mix(world, a, b, &friction, &restitution);
    pair->kinetic = (double)state->friction_kinetic;
    if (pair->kinetic < 0.0) {
        pair->kinetic = (double)friction;
    }
    pair->still = (double)state->friction_static;
    if (pair->still < 0.0) {
        pair->still = 1.2 * pair->kinetic;
    }
    pair->still = cm_d_max(pair->still, pair->kinetic);
}

static bool make_piece(const carom_world *world, const cm_volume *volume,
                       const cm_volume_pair *pair, uint32_t shape_id, bool core,
                       cm_volume_piece *piece)
{
    const cm_shape *shape = cm_shapes(world) + shape_id;
    const cm_volume_shape *row = &volume->shapes[shape_id];
    carom_shape_type type = (carom_shape_type)shape->type;
    const carom_hull *hull =
        shape->type == CAROM_SHAPE_HULL ? cm_hull_find(world, shape->geometry) : NULL;
    cm_volume_transform transform = {cm_d3_sub(row->position, pair->origin), row->rotation};
    if (core && (type == CAROM_SHAPE_SPHERE || type == CAROM_SHAPE_CAPSULE)) {
        cm_volume_form form = {.type = type,
                               .size = {(double)shape->size[0], (double)shape->size[1]}};
        cm_volume_core(&form, &transform, piece);
        return true;
    }
    if (pair->is_implicit && cm_d3_dot(pair->normal, pair->normal) > 0.5) {
        transform.rotation = cm_volume_facing(type, &transform.rotation, pair->normal);
    }
    return cm_volume_piece_make(shape, hull, &transform, volume->segments, piece);
}

bool cm_volume_make_pieces(const carom_world *world, const cm_volume *volume,
                           const cm_volume_pair *pair)
{
    return make_piece(world, volume, pair, pair->shape_a, false, volume->piece_a) &&
           make_piece(world, volume, pair, pair->shape_b, false, volume->piece_b);
}

// A shape that rolls over the contact brings no other depth to it, and nothing may damp that.
static void find_rollers(const carom_world *world, const cm_volume *volume, cm_volume_pair *pair)
{
    const uint32_t ids[2] = {pair->shape_a, pair->shape_b};
    pair->rollers = 0;
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t type = cm_shapes(world)[ids[i]].type;
        cm_d3 axis = volume->shapes[ids[i]].rotation.y;
        double upright = cm_d3_dot(axis, pair->normal);
        if (type == CAROM_SHAPE_SPHERE) {
            pair->rollers += 2;
        } else if ((type == CAROM_SHAPE_CAPSULE || type == CAROM_SHAPE_CYLINDER) &&
                   upright * upright < 0.5) {
            pair->rollers++;
            pair->axis = axis;
        }
    }
}

// A round shape has the direction of the nearest points of its core, so that facets turn no normal.
static void find_round_normal(const carom_world *world, const cm_volume *volume,
                              cm_volume_pair *pair)
{
    const cm_shape *a = cm_shapes(world) + pair->shape_a, *b = cm_shapes(world) + pair->shape_b;
    bool round = a->type == CAROM_SHAPE_SPHERE || a->type == CAROM_SHAPE_CAPSULE ||
                 b->type == CAROM_SHAPE_SPHERE || b->type == CAROM_SHAPE_CAPSULE;
    cm_volume_gap gap;
    if (!pair->is_implicit || !round ||
        !make_piece(world, volume, pair, pair->shape_a, true, volume->piece_a) ||
        !make_piece(world, volume, pair, pair->shape_b, true, volume->piece_b)) {
        return;
    }
    cm_volume_gjk(volume->piece_a, volume->piece_b, cm_d3_of(0.0, 0.0, 0.0), pair->normal, &gap);
    pair->is_round = gap.apart;
    if (gap.apart) {
        pair->normal = gap.direction;
    }
}

// Near the pair and no half-space: coordinates stay small.
static void choose_origin(const cm_volume *volume, cm_volume_pair *pair)
{
    const cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    bool first = a->dynamic || (a->moving && !b->dynamic);
    pair->origin = first ? a->position : b->position;
}

static cm_d3 first_normal(const carom_world *world, const cm_volume *volume,
                          const cm_volume_pair *pair)
{
    if (!cm_volume_make_pieces(world, volume, pair)) {
        return cm_d3_of(0.0, 1.0, 0.0);
    }
    return cm_volume_first_normal(volume->piece_a, volume->piece_b);
}

static bool before(const cm_contact *contact, const cm_pair *pair)
{
    return contact->shape_a < pair->shape_a ||
           (contact->shape_a == pair->shape_a && contact->shape_b < pair->shape_b);
}

static void load_shapes(const carom_world *world, cm_volume *volume)
{
    const cm_shape *shapes = cm_shapes(world);
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        if (shapes[i].alive) {
            const cm_body *body = cm_bodies(world) + shapes[i].body;
            cm_volume_shape *row = &volume->shapes[i];
            row->local =
                cm_d3_sub(cm_d3_from(shapes[i].position), cm_d3_from(body->center_of_mass));
            row->turn = cm_dmat_from_quat(cm_dquat_unit(cm_dquat_from(shapes[i].orientation)));
        }
    }
}

void cm_volume_load_pairs(const carom_world *world, const cm_scratch *scratch, cm_volume *volume)
{
    load_shapes(world, volume);
    cm_volume_begin_step(world, volume); // places, for first normals
    const cm_shape *shapes = cm_shapes(world);
    const cm_contact *contacts = cm_old_rows(world, CM_SECTION_contact);
    const cm_volume_contact *remembered = cm_old_rows(world, CM_SECTION_volume_contact);
    uint32_t old = 0;
    volume->pair_count = scratch->pair_count;
    for (uint32_t i = 0; i < scratch->pair_count; i++) {
        const cm_pair *from = &scratch->pairs[i];
        const cm_shape *a = &shapes[from->shape_a], *b = &shapes[from->shape_b];
        cm_volume_pair *pair = &volume->pairs[i];
        *pair = (cm_volume_pair){.shape_a = from->shape_a,
                                 .shape_b = from->shape_b,
                                 .body_a = a->body,
                                 .body_b = b->body,
                                 .sensor = a->sensor || b->sensor};
        const cm_volume_body *row_a = &volume->bodies[a->body], *row_b = &volume->bodies[b->body];
        cm_d3 v = cm_d3_sub(row_a->velocity, row_b->velocity);
        pair->margin = CM_SPECULATIVE_MARGIN + (float)(volume->dt * cm_d3_length(v));
        pair->mass = cm_volume_pair_mass(cm_bodies(world) + a->body, cm_bodies(world) + b->body);
        load_friction(world, a, b, pair);
        const cm_body *from_a = cm_bodies(world) + a->body, *from_b = cm_bodies(world) + b->body;
        pair->is_implicit = volume->law.stiffness < 0.0 && !volume->deepest &&
                            from_a->pointer == CAROM_NO_PLAYER &&
                            from_b->pointer == CAROM_NO_PLAYER;
        choose_origin(volume, pair);
        while (old < scratch->old_contact_count && before(&contacts[old], from)) {
            old++;
        }
        pair->last = CM_NONE;
        if (old < scratch->old_contact_count && contacts[old].shape_a == from->shape_a &&
            contacts[old].shape_b == from->shape_b) {
            const cm_volume_contact *last = &remembered[old];
            pair->last = old;
            pair->normal = cm_d3_unit(cm_d3_from(last->normal));
            pair->bristle.mode = last->friction_state;
            pair->bristle.stretch = cm_d3_from(last->stretch);
            pair->bristle.twist = (double)last->twist;
            pair->normal_about_origin = cm_d3_scale(volume->h, cm_d3_from(last->normal_force));
        } else {
            pair->normal = first_normal(world, volume, pair);
        }
    }
    cm_volume_order_pairs(volume);
}

static bool holds(const cm_volume_piece *piece, cm_d3 p)
{
    double slop = 1.0e-9 * piece->size;
    for (uint32_t f = 0; f < piece->face_count; f++) {
        if (cm_d3_dot(piece->normals[f], p) > piece->offsets[f] + slop) {
            return false;
        }
    }
    return true;
}

// The vertex of `piece` that lies deepest in `other` along `into`; lowest index on ties.
static bool deepest_vertex(const cm_volume_piece *piece, const cm_volume_piece *other, cm_d3 into,
                           cm_d3 *vertex)
{
    bool found = false;
    double most = 0.0;
    for (uint32_t i = 0; i < piece->vertex_count; i++) {
        double reach = cm_d3_dot(into, piece->vertices[i]);
        if ((!found || reach > most) && holds(other, piece->vertices[i])) {
            found = true;
            most = reach;
            *vertex = piece->vertices[i];
        }
    }
    return found;
}

// The comparison of the source: one vertex of a, else of b, else the middle of crossing edges.
static bool meet_at_point(const cm_volume *volume, cm_volume_pair *pair)
{
    const cm_volume_piece *a = volume->piece_a, *b = volume->piece_b;
    cm_volume_region *r = &pair->region;
    if (!cm_volume_find_normal(a, b, pair->normal, r)) {
        return false;
    }
    cm_d3 down = cm_d3_scale(-1.0, r->normal), point = r->point;
    if (deepest_vertex(a, b, down, &point)) {
        r->depth = cm_volume_reach(b, r->normal) - cm_d3_dot(r->normal, point);
    } else if (deepest_vertex(b, a, r->normal, &point)) {
        r->depth = cm_d3_dot(r->normal, point) + cm_volume_reach(a, down);
    } else if (!holds(a, point) || !holds(b, point)) {
        return false;
    }
    r->point = point;
    r->area = 1.0;
    r->ax = r->ay = r->axx = r->axy = r->ayy = 0.0;
    return r->depth > 0.0;
}

static bool meet(cm_volume *volume, cm_volume_pair *pair)
{
    if (volume->deepest) {
        return meet_at_point(volume, pair);
    }
    const cm_volume_piece *a = volume->piece_a, *b = volume->piece_b;
    if (pair->is_round && !a->half_space && !b->half_space) {
        return cm_volume_meet_along(a, b, pair->normal, volume->work, &pair->region);
    }
    return cm_volume_meet(a, b, pair->normal, volume->work, &pair->region);
}

// Force max(0, k d - b v) at the vertex, v the speed at which they part.
static void push_point(cm_volume_pair *pair, const cm_volume_slip *slip)
{
    double force = pair->law.stiffness * pair->region.depth + pair->law.damping * slip->n;
    pair->normal_force = force > 0.0 ? force : 0.0;
    pair->spring = (cm_volume_push){pair->normal_force, 0.0, 0.0};
    pair->patch = (cm_volume_patch){.force = pair->normal_force, .area = 1.0, .slip = *slip};
}

static void find_normal_force(const cm_volume *volume, cm_volume_pair *pair,
                              const cm_volume_slip *slip)
{
    if (volume->deepest) {
        push_point(pair, slip);
        return;
    }
    pair->spring = cm_volume_spring(&pair->region, pair->law.stiffness);
    pair->normal_force =
        pair->spring.force + cm_volume_damper(&pair->region, pair->law.damping, slip).force;
    pair->patch = cm_volume_patch_of(&pair->region, volume->work, slip);
}

// The stretch turns with the surfaces, by their mean; and what the machine adds to it, h u with u
// at the step's poses, is short of how far they moved against each other by -h^2 / 2 of the
// difference of their centripetal accelerations. Without both, what rides a turntable creeps
// outward.
static void carry_stretch(const cm_volume *volume, cm_volume_pair *pair)
{
    const cm_volume_body *a = &volume->bodies[pair->body_a], *b = &volume->bodies[pair->body_b];
    double h = volume->h;
    cm_d3 wa = a->spin0, wb = b->spin0, n = pair->region.normal, *stretch = &pair->bristle.stretch;
    if (pair->bristle.mode == CM_VOLUME_NONE) {
        return;
    }
    double turn = 0.5 * h * cm_d3_dot(n, cm_d3_add(wa, wb)), length = cm_d3_length(*stretch);
    *stretch = cm_d3_mad(*stretch, turn, cm_d3_cross(n, *stretch));
    *stretch = cm_d3_scale(length, cm_d3_unit(*stretch));
    cm_d3 at = cm_d3_add(pair->origin, pair->region.point);
    cm_d3 of_a = cm_d3_cross(wa, cm_d3_cross(wa, cm_d3_sub(at, a->position)));
    cm_d3 of_b = cm_d3_cross(wb, cm_d3_cross(wb, cm_d3_sub(at, b->position)));
    *stretch = cm_d3_mad(*stretch, 0.5 * h * h, cm_d3_sub(of_b, of_a));
}

// The machine of friction at the start of the step. Whether static friction breaks is decided at
// the step's end (cone.c): the damper at the start's velocity would be far more than the one
// that acts. A deepest point is explicit in all, as the source has it.
static void find_friction(const cm_volume *volume, cm_volume_pair *pair)
{
    double most, h = volume->h;
    cm_volume_bristle before = pair->bristle;
    pair->shear =
        cm_volume_friction_step(&pair->patch, &pair->law, &pair->region, h, &pair->bristle, &most);
    pair->grip = most > 0.0 ? most / pair->normal_force : 1.0;
    bool broke = before.mode == CM_VOLUME_STATIC && pair->bristle.mode == CM_VOLUME_KINETIC;
    if (broke && !volume->deepest) {
        cm_volume_slip u = cm_volume_slip_at(volume, pair, pair->patch.x, pair->patch.y, true);
        pair->bristle = before;
        pair->bristle.stretch = cm_d3_mad(pair->bristle.stretch, -h * u.x, pair->region.t1);
        pair->bristle.stretch = cm_d3_mad(pair->bristle.stretch, -h * u.y, pair->region.t2);
        pair->bristle.twist -= h * u.wn;
    }
}

// Of a pair that is implicit: the stretch and the spring at the step's start, and what friction of
// coefficient 1 is, all over the area, for each newton of the spring's pressure.
static void begin_friction(const cm_volume *volume, cm_volume_pair *pair)
{
    const cm_volume_region *r = &pair->region;
    cm_volume_bristle *bristle = &pair->bristle;
    cm_volume_law law = pair->law;
    law.damping = 0.0;
    pair->spring = cm_volume_spring(r, law.stiffness);
    pair->normal_force = pair->spring.force;
    double x = r->hx / r->volume, y = r->hy / r->volume;
    cm_volume_slip u = cm_volume_slip_at(volume, pair, x, y, true);
    pair->patch =
        (cm_volume_patch){.work = volume->work, .area = r->area, .x = x, .y = y, .slip = u};
    pair->patch.turn = r->axx + r->ayy - 2.0 * (x * r->ax + y * r->ay) + r->area * (x * x + y * y);
    pair->patch.turn = cm_d_max(pair->patch.turn, 0.0);
    pair->patch.slip.x += u.wn * y; // of c0
    pair->patch.slip.y -= u.wn * x;
    if (bristle->mode == CM_VOLUME_NONE) {
        *bristle = (cm_volume_bristle){.mode = CM_VOLUME_STATIC};
    } else if (bristle->mode == CM_VOLUME_STATIC) {
        double h = volume->h, n = cm_d3_dot(r->normal, bristle->stretch);
        bristle->stretch = cm_d3_mad(bristle->stretch, -n, r->normal);
        bristle->stretch = cm_d3_mad(bristle->stretch, -h * u.x, r->t1);
        bristle->stretch = cm_d3_mad(bristle->stretch, -h * u.y, r->t2);
        bristle->twist -= h * u.wn;
    }
    pair->implicit.grip = cm_volume_grip(&pair->patch, &law, r, bristle) / pair->normal_force;
    pair->patch.work = NULL;
}

void cm_volume_meet_pair(const carom_world *world, cm_volume *volume, cm_volume_pair *pair)
{
    choose_origin(volume, pair);
    cm_d3 drift_a = cm_d3_from(cm_shapes(world)[pair->shape_a].surface_velocity);
    cm_d3 drift_b = cm_d3_from(cm_shapes(world)[pair->shape_b].surface_velocity);
    pair->drift = cm_d3_sub(cm_dmat_mul(&volume->shapes[pair->shape_b].rotation, drift_b),
                            cm_dmat_mul(&volume->shapes[pair->shape_a].rotation, drift_a));
    pair->is_round = false;
    find_round_normal(world, volume, pair);
    pair->meets = cm_volume_make_pieces(world, volume, pair) && meet(volume, pair);
    pair->sticks = false;
    pair->normal = pair->region.normal;
    if (cm_d3_dot(pair->normal, pair->normal) < 0.5) {
        pair->normal = cm_d3_of(0.0, 1.0, 0.0);
    }
    if (!pair->meets) {
        pair->bristle = (cm_volume_bristle){0};
        pair->normal_about_origin = cm_d3_of(0.0, 0.0, 0.0);
        return;
    }
    if (pair->sensor) {
        return;
    }
    cm_volume_slip slip = cm_volume_slip_at(volume, pair, 0.0, 0.0, true);
    cm_volume_set_law(volume, pair);
    if (pair->is_implicit) {
        find_rollers(world, volume, pair);
        carry_stretch(volume, pair);
        begin_friction(volume, pair);
        return;
    }
    find_normal_force(volume, pair, &slip);
    if (!(pair->normal_force > 0.0)) {
        pair->bristle.stretch = cm_d3_of(0.0, 0.0, 0.0);
        pair->bristle.twist = 0.0;
        pair->shear = (cm_volume_shear){0};
        return;
    }
    carry_stretch(volume, pair);
    find_friction(volume, pair);
    pair->sticks = pair->bristle.mode == CM_VOLUME_STATIC;
    pair->patch.work = NULL; // the next pair's by then
}

// Near at the end of the tick? Where they do not touch, the direction is found anew.
static bool is_near(const carom_world *world, cm_volume *volume, cm_volume_pair *pair)
{
    if (pair->meets) {
        return true;
    }
    if (-pair->region.depth > (double)pair->margin) {
        return false;
    }
    cm_volume_gap gap;
    if (!cm_volume_make_pieces(world, volume, pair)) {
        return false;
    }
    cm_volume_gjk(volume->piece_a, volume->piece_b, cm_d3_of(0.0, 0.0, 0.0), pair->normal, &gap);
    if (!gap.apart) {
        return true;
    }
    pair->region.depth = -gap.distance;
    pair->region.point = cm_d3_scale(0.5, cm_d3_add(gap.on_a, gap.on_b));
    if (gap.distance > 1.0e-9) {
        pair->normal = gap.direction;
    }
    return gap.distance <= (double)pair->margin;
}

static void store_row(const carom_world *world, const cm_volume *volume, const cm_volume_pair *pair,
                      uint32_t row)
{
    const cm_contact *old = cm_old_rows(world, CM_SECTION_contact);
    cm_volume_contact *to = (cm_volume_contact *)cm_rows(world, CM_SECTION_volume_contact) + row;
    cm_contacts(world)[row] =
        (cm_contact){.shape_a = pair->shape_a,
                     .shape_b = pair->shape_b,
                     .touching = pair->last != CM_NONE ? old[pair->last].touching : 0,
                     .point_count = pair->meets};
    *to = (cm_volume_contact){.normal = cm_d3_round(pair->normal),
                              .friction_state = pair->bristle.mode,
                              .stretch = cm_d3_round(pair->bristle.stretch),
                              .twist = (float)pair->bristle.twist};
    if (pair->is_implicit && pair->meets && !pair->sensor) {
        to->normal_force = cm_d3_round(cm_d3_scale(1.0 / volume->h, pair->normal_about_origin));
    }
    if (!cm_vec_is_finite(to->stretch) || !cm_is_finite(to->twist) ||
        !cm_vec_is_finite(to->normal_force)) {
        to->normal_force = cm_vec(0.0f, 0.0f, 0.0f);
        to->friction_state = CM_VOLUME_NONE;
        to->stretch = cm_vec(0.0f, 0.0f, 0.0f);
        to->twist = 0.0f;
    }
}

static void fill_manifold(const carom_world *world, const cm_volume_pair *pair,
                          cm_manifold *manifold)
{
    const cm_motion *motions = cm_motions(world);
    cm_d3 at = cm_d3_add(pair->origin, pair->region.point);
    memset(manifold, 0, sizeof *manifold);
    manifold->normal = cm_d3_round(cm_d3_scale(-1.0, pair->normal));
    manifold->body_a = pair->body_a;
    manifold->body_b = pair->body_b;
    manifold->friction = (float)pair->kinetic;
    manifold->impulse = (float)pair->impulse;
    manifold->point_count = pair->meets && !pair->sensor;
    cm_manifold_point *point = &manifold->points[0];
    point->anchor_a = cm_d3_round(cm_d3_sub(at, cm_d3_from(motions[pair->body_a].position)));
    point->anchor_b = cm_d3_round(cm_d3_sub(at, cm_d3_from(motions[pair->body_b].position)));
    point->separation = (float)-pair->region.depth;
}

void cm_volume_store_pairs(carom_world *world, cm_scratch *scratch, cm_volume *volume)
{
    uint32_t count = 0, points = 0;
    for (uint32_t i = 0; i < volume->pair_count; i++) {
        cm_volume_pair *pair = &volume->pairs[i];
        if (!is_near(world, volume, pair)) {
            continue;
        }
        store_row(world, volume, pair, count);
        fill_manifold(world, pair, &scratch->manifolds[count]);
        points += pair->meets;
        count++;
    }
    world->state.contact_count = count;
    world->state.point_count = points;
    world->stats.contacts = count;
    world->stats.points = points;
}
