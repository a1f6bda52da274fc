// Special contacts of the soft-step solver: which they are, what they need, and the wrenches that
// bodies report.
//
// A contact is special where a body has locked axes or reports forces, or where a surface has
// rolling friction, spin friction or a velocity of its own. Levers: the coefficient (the larger of
// the two) times a radius: the larger one of spheres, capsules and cylinders in contact; of the
// smaller ball that fits into either where neither is round. In a world without any of it nothing
// here runs but one look at each body and shape a tick. Typical: none; or ten conveyors.
#include "shared/sim/solve/soft/soft.h"

#include "shared/sim/body/shape.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/resting.h"

#include <string.h>

#define ENDLESS 1.0e6f // m, of a plane: with another plane it cannot collide

bool cm_soft_any_special(const carom_world *world, const cm_soft *soft, uint32_t first,
                         uint32_t end)
{
    const cm_body *bodies = cm_bodies(world);
    for (uint32_t i = first; i < end && i < world->state.body_slots; i++) {
        if (bodies[i].alive && (soft->inertias[i].locks || cm_body_reports(&bodies[i]))) {
            return true;
        }
    }
    return false;
}

bool cm_soft_is_special(const carom_world *world, const cm_soft *soft, uint32_t row,
                        const cm_manifold *m)
{
    const cm_contact *contact = cm_contacts(world) + row;
    const cm_body *bodies = cm_bodies(world);
    return soft->inertias[m->body_a].locks || soft->inertias[m->body_b].locks ||
           cm_shape_rubs(cm_shapes(world) + contact->shape_a) ||
           cm_shape_rubs(cm_shapes(world) + contact->shape_b) ||
           cm_body_reports(&bodies[m->body_a]) || cm_body_reports(&bodies[m->body_b]);
}

// Packing ----------------------------------------------------------------------------------------

static float round_radius(const cm_shape *shape)
{
    bool is_round = shape->type == CAROM_SHAPE_SPHERE || shape->type == CAROM_SHAPE_CAPSULE ||
                    shape->type == CAROM_SHAPE_CYLINDER;
    return is_round ? shape->size[0] : 0.0f;
}

// Of the ball that fits into a shape that is not round.
static float inner_radius(const cm_shape *shape)
{
    if (shape->type == CAROM_SHAPE_BOX) {
        return cm_min(shape->size[0], cm_min(shape->size[1], shape->size[2]));
    }
    return shape->type == CAROM_SHAPE_HULL ? shape->size[0] : ENDLESS;
}

static float contact_radius(const cm_shape *a, const cm_shape *b)
{
    float largest = cm_max(round_radius(a), round_radius(b));
    return largest > 0.0f ? largest : cm_min(inner_radius(a), inner_radius(b));
}

static inline void put(float (*to)[CM_SOFT_WIDE], uint32_t lane, carom_vec3 v)
{
    to[0][lane] = v.x;
    to[1][lane] = v.y;
    to[2][lane] = v.z;
}

static carom_vec3 surface_of(const cm_scratch *scratch, const cm_shape *shape, uint32_t slot)
{
    return cm_mat3_mul(scratch->transforms[slot].rotation, shape->surface_velocity);
}

static void pack_lane(const carom_world *world, const cm_scratch *scratch, const cm_soft *soft,
                      uint32_t lane, uint32_t group)
{
    const cm_soft_group *g = &soft->groups[group];
    cm_soft_special *e = &soft->specials[group];
    const cm_contact *contact = cm_contacts(world) + g->row[lane];
    const cm_shape *a = cm_shapes(world) + contact->shape_a;
    const cm_shape *b = cm_shapes(world) + contact->shape_b;
    const cm_soft_inertia *ia = &soft->inertias[g->a[lane] / CM_SOFT_ROW];
    const cm_soft_inertia *ib = &soft->inertias[g->b[lane] / CM_SOFT_ROW];
    carom_vec3 one = cm_vec(1.0f, 1.0f, 1.0f);
    carom_vec3 free_a = cm_soft_pushed(ia, 1.0f, one), free_b = cm_soft_pushed(ib, 1.0f, one);
    put(e->free_a, lane, free_a);
    put(e->free_b, lane, free_b);
    carom_vec3 all_a = cm_scale(ia->inverse_mass, one), all_b = cm_scale(ib->inverse_mass, one);
    put(e->locked, lane, cm_add(cm_sub(all_a, free_a), cm_sub(all_b, free_b)));
    carom_vec3 surface =
        cm_sub(surface_of(scratch, b, contact->shape_b), surface_of(scratch, a, contact->shape_a));
    put(e->surface, lane, cm_scale(g->flipped >> lane & 1u ? -1.0f : 1.0f, surface));
    float rolling = cm_max(a->rolling_friction, b->rolling_friction);
    float spin = cm_max(a->spin_friction, b->spin_friction);
    if (rolling > 0.0f || spin > 0.0f) {
        float radius = contact_radius(a, b);
        e->roll_lever[lane] = rolling * radius;
        e->spin_lever[lane] = spin * radius;
    }
}

void cm_soft_pack_specials(const carom_world *world, const cm_scratch *scratch, const cm_soft *soft)
{
    for (uint32_t i = 0; soft->special && i < soft->ranges.end; i++) {
        const cm_soft_group *g = &soft->groups[i];
        if (!g->special) {
            continue;
        }
        memset(&soft->specials[i], 0, sizeof soft->specials[i]);
        for (uint32_t lane = 0; lane < CM_SOFT_WIDE && g->row[lane] != CM_NONE; lane++) {
            pack_lane(world, scratch, soft, lane, i);
        }
    }
}

// Reports ----------------------------------------------------------------------------------------

static carom_vec3 lane_of(const cm_soft_wide *axis, uint32_t lane)
{
    return cm_vec(axis[0][lane], axis[1][lane], axis[2][lane]);
}

// x a + y b + z c
static carom_vec3 mix(float x, carom_vec3 a, float y, carom_vec3 b, float z, carom_vec3 c)
{
    return cm_add(cm_scale(x, a), cm_add(cm_scale(y, b), cm_scale(z, c)));
}

static void add_wrench(carom_world *world, uint32_t slot, carom_vec3 force, carom_vec3 torque)
{
    if (cm_body_reports(cm_bodies(world) + slot)) {
        cm_body *body = cm_body_change(world, slot);
        body->contact_force = cm_add(body->contact_force, force);
        body->contact_torque = cm_add(body->contact_torque, torque);
    }
}

static void store_lane(carom_world *world, const cm_soft *soft, uint32_t group, uint32_t lane)
{
    const cm_soft_group *g = &soft->groups[group];
    const cm_soft_special *e = &soft->specials[group];
    float normal = 0.0f, turn1 = e->sum_roll[0][lane], turn2 = e->sum_roll[1][lane];
    for (uint32_t k = 0; k < CM_MANIFOLD_MAX; k++) {
        float p = e->sum_normal[k][lane];
        normal += p;
        turn1 += g->at_point[k].y[lane] * p;
        turn2 -= g->at_point[k].x[lane] * p;
    }
    float rate = 1.0f / soft->dt; // impulses of a tick to its mean force
    carom_vec3 n = lane_of(g->normal, lane), t1 = lane_of(g->t1, lane), t2 = cm_cross(n, t1);
    carom_vec3 force = mix(rate * normal, n, rate * e->sum_friction[0][lane], t1,
                           rate * e->sum_friction[1][lane], t2);
    carom_vec3 torque = mix(rate * e->sum_friction[2][lane], n, rate * turn1, t1, rate * turn2, t2);
    if (!cm_vec_is_finite(force) || !cm_vec_is_finite(torque)) {
        return; // of a body that is put to rest
    }
    carom_vec3 ra = lane_of(g->ra, lane), rb = lane_of(g->rb, lane);
    add_wrench(world, g->b[lane] / CM_SOFT_ROW, force, cm_add(cm_cross(rb, force), torque));
    add_wrench(world, g->a[lane] / CM_SOFT_ROW, cm_scale(-1.0f, force),
               cm_scale(-1.0f, cm_add(cm_cross(ra, force), torque)));
}

static carom_vec3 stored(carom_vec3 v)
{
    return cm_vec(cm_abs(v.x) >= CM_SOFT_TINY ? v.x : 0.0f,
                  cm_abs(v.y) >= CM_SOFT_TINY ? v.y : 0.0f,
                  cm_abs(v.z) >= CM_SOFT_TINY ? v.z : 0.0f);
}

static const void *at_rest(const carom_world *world, cm_section section)
{
    return cm_contact_row(world, section, true, 0, 0);
}

// A contact at rest pushes on as in the last substep before.
static void store_resting(carom_world *world, const cm_soft *soft, uint32_t row,
                          uint32_t first_point)
{
    const cm_contact *contact = (const cm_contact *)at_rest(world, CM_SECTION_contact) + row;
    const cm_kept_manifold *kept =
        (const cm_kept_manifold *)at_rest(world, CM_SECTION_manifold) + row;
    const cm_kept_point *points =
        (const cm_kept_point *)at_rest(world, CM_SECTION_kept_point) + first_point;
    const cm_soft_point *pushes =
        (const cm_soft_point *)at_rest(world, CM_SECTION_soft_point) + first_point;
    const cm_soft_contact *impulses =
        (const cm_soft_contact *)at_rest(world, CM_SECTION_soft_contact) + row;
    uint32_t a = cm_shapes(world)[contact->shape_a].body;
    uint32_t b = cm_shapes(world)[contact->shape_b].body;
    if (!cm_body_reports(&cm_bodies(world)[a]) && !cm_body_reports(&cm_bodies(world)[b])) {
        return;
    }
    float rate = 1.0f / soft->h;
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f), force = zero, torque = zero, center = zero;
    carom_vec3 normal = kept->normal;
    float sum = 0.0f;
    for (uint32_t k = 0; k < contact->point_count; k++) {
        float p = rate * pushes[k].normal_impulse;
        carom_vec3 arm = points[k].anchor;
        force = cm_mul_add(force, p, normal);
        torque = cm_add(torque, cm_cross(arm, cm_scale(p, normal)));
        center = cm_mul_add(center, p, arm);
        sum += p;
    }
    carom_vec3 push = cm_scale(rate, impulses->friction_impulse);
    center = sum > 0.0f ? cm_scale(1.0f / sum, center) : zero;
    torque = cm_add(torque, cm_cross(center, push));
    torque = cm_mul_add(torque, rate * impulses->twist_impulse, normal);
    force = cm_add(force, push);
    add_wrench(world, b, force, cm_sub(torque, cm_cross(kept->offset, force)));
    add_wrench(world, a, cm_scale(-1.0f, force), cm_scale(-1.0f, torque));
}

// Every body that is told what contacts do to it.
static void for_reporters(carom_world *world, void (*tell)(carom_world *world, uint32_t slot))
{
    uint32_t pages = (world->state.body_slots + CM_PAGE_ROWS - 1) / CM_PAGE_ROWS;
    for (uint32_t i = 0; i < pages; i++) {
        uint64_t bits = cm_pages(world, CM_SECTION_body)[i].reports;
        for (; bits != 0; bits &= bits - 1) {
            tell(world, i * CM_PAGE_ROWS + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

static void forget_wrench(carom_world *world, uint32_t slot)
{
    const carom_vec3 zero = {0};
    cm_body_set_contact(world, slot, zero, zero);
}

static void finish_wrench(carom_world *world, uint32_t slot)
{
    const carom_vec3 zero = {0};
    const cm_body *body = &cm_bodies(world)[slot];
    bool sound = cm_vec_is_finite(body->contact_force) && cm_vec_is_finite(body->contact_torque);
    cm_body_set_contact(world, slot, sound ? stored(body->contact_force) : zero,
                        sound ? stored(body->contact_torque) : zero);
}

void cm_soft_store_wrenches(carom_world *world, const cm_soft *soft)
{
    if (world->known.reports == 0) {
        return;
    }
    for_reporters(world, forget_wrench);
    for (uint32_t i = 0; i < soft->ranges.end; i++) {
        const cm_soft_group *g = &soft->groups[i];
        for (uint32_t lane = 0; g->special && lane < CM_SOFT_WIDE && g->row[lane] != CM_NONE;
             lane++) {
            store_lane(world, soft, i, lane);
        }
    }
    const cm_contact *resting = at_rest(world, CM_SECTION_contact);
    for (uint32_t i = 0, point = 0; i < world->resting.rows; i++) {
        store_resting(world, soft, i, point);
        point += resting[i].point_count;
    }
    for_reporters(world, finish_wrench);
}
