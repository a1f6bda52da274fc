// The collide stage: a manifold for each candidate pair, and the state's contact rows anew.
//
// Invariants: contacts and manifolds are parallel and sorted by (shape_a, shape_b); a row exists
// only where a point lies within the margin, so resting scenes save few bytes. Both the pairs and
// last step's contacts are sorted, so the merge is one walk. Impulses follow a point by its
// feature; friction is kept as a vector of the world. Contacts without an active body (sleep.h) are
// kept as they are. Typical: 5,000 pairs, 3,500 contacts, 9,000
// points for 1,000 boxes.
#include "shared/sim/collide/collide.h"

#include "shared/sim/body/rule.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/collide/box_reject.h"
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/recycle.h"

#include <stddef.h>
#include <string.h>

#define ON_ITS_SIDE 0.05f // sine of the angle between a cylinder's axis and the surface
#define AT_ONCE     256u // pairs rejected, then collided, while the second cache holds their shapes
#define AHEAD       4u

// The thickest ball inside a shape: a plane has no end.
static float inner_radius(const cm_shape *shape)
{
    switch (shape->type) {
    case CAROM_SHAPE_BOX:
        return cm_min(shape->size[0], cm_min(shape->size[1], shape->size[2]));
    case CAROM_SHAPE_PLANE:
        return 1.0e30f;
    case CAROM_SHAPE_CYLINDER:
        return cm_min(shape->size[0], shape->size[1]);
    default:
        return shape->size[0];
    }
}

// The gap below which this pair gets points: the motion of the tick, so that what is fast is
// stopped at the surface. Not beyond the smaller shape's thickness, except over a plane: a contact
// made too early also stops what would have passed by.
static float pair_margin(const carom_world *world, const cm_shape *a, const cm_shape *b, float dt)
{
    const cm_motion *motions = cm_motions(world);
    carom_vec3 relative =
        cm_sub(motions[a->body].linear_velocity, motions[b->body].linear_velocity);
    float motion = dt * cm_length(relative);
    if (!(motion > CM_SPECULATIVE_MARGIN)) {
        return CM_SPECULATIVE_MARGIN;
    }
    if (a->type == CAROM_SHAPE_PLANE || b->type == CAROM_SHAPE_PLANE) {
        return motion;
    }
    float thickness = cm_min(inner_radius(a), inner_radius(b));
    return cm_max(CM_SPECULATIVE_MARGIN, cm_min(motion, thickness));
}

// Anchors from the shapes' positions to the centres of mass.
static void move_anchors(const cm_scratch *scratch, const cm_contact *contact,
                         const cm_motion *motion_a, const cm_motion *motion_b,
                         cm_manifold *manifold)
{
    carom_vec3 arm_a = cm_sub(scratch->places[contact->shape_a].position, motion_a->position);
    carom_vec3 arm_b = cm_sub(scratch->places[contact->shape_b].position, motion_b->position);
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        cm_manifold_point *p = &manifold->points[i];
        p->anchor_a = cm_add(p->anchor_a, arm_a);
        p->anchor_b = cm_add(p->anchor_b, arm_b);
    }
}

static void fill_contact(cm_contact *contact, const cm_manifold *manifold, const cm_contact *old)
{
    contact->point_count = (uint8_t)manifold->point_count;
    contact->touching = old ? old->touching : 0;
    contact->friction_impulse = old ? old->friction_impulse : cm_vec(0.0f, 0.0f, 0.0f);
    contact->twist_impulse = old ? old->twist_impulse : 0.0f;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        uint32_t feature = manifold->points[i].feature;
        contact->feature[i] = feature;
        for (uint32_t k = 0; old && k < old->point_count; k++) {
            if (old->feature[k] == feature) {
                contact->normal_impulse[i] = old->normal_impulse[k];
                break;
            }
        }
    }
}

// A sensor reports and does not push: the solver gets no points. The deepest stays where the report
// looks for it, first in the manifold.
static void keep_deepest(cm_contact *contact, cm_manifold *manifold)
{
    uint32_t deepest = 0;
    for (uint32_t i = 1; i < manifold->point_count; i++) {
        bool deeper = manifold->points[i].separation < manifold->points[deepest].separation;
        deepest = deeper ? i : deepest;
    }
    manifold->points[0] = manifold->points[deepest];
    manifold->point_count = 0;
    manifold->impulse = 0.0f;
    contact->point_count = 0;
    memset(contact->feature, 0, sizeof contact->feature);
}

#define ROUND (1u << CAROM_SHAPE_SPHERE | 1u << CAROM_SHAPE_CAPSULE | 1u << CAROM_SHAPE_CYLINDER)

// A ball's point of contact stays below its centre, a capsule's below its segment, and that of a
// cylinder on its side below its axis.
static float round_radius(const cm_shape *shape, const cm_place *place, carom_vec3 normal)
{
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
    case CAROM_SHAPE_CAPSULE:
        return shape->size[0];
    case CAROM_SHAPE_CYLINDER:
        return cm_abs(cm_dot(place->rotation.y, normal)) < ON_ITS_SIDE ? shape->size[0] : 0.0f;
    default:
        return 0.0f;
    }
}

static bool before(const cm_contact *contact, const cm_pair *pair)
{
    return contact->shape_a < pair->shape_a ||
           (contact->shape_a == pair->shape_a && contact->shape_b < pair->shape_b);
}

// One pair: what last step found, carried along, or found anew. False where there is no contact.
static bool collide_pair(const carom_world *world, const cm_scratch *scratch, const cm_pair *pair,
                         const cm_contact *last, float dt, cm_contact *contact,
                         cm_manifold *manifold)
{
    const cm_shape *a = cm_shapes(world) + pair->shape_a, *b = cm_shapes(world) + pair->shape_b;
    const cm_motion *motion_a = cm_motions(world) + a->body;
    const cm_motion *motion_b = cm_motions(world) + b->body;
    bool sensor = a->sensor || b->sensor;
    // What was found last is close enough for soft alone.
    bool soft = world->state.solver == CAROM_SOLVER_SOFT;
    if (soft && last && !sensor && cm_recycle(motion_a, motion_b, a, b, last, dt, manifold)) {
        *contact = *last;
    } else if (cm_collide_places(a, &scratch->places[pair->shape_a], b,
                                 &scratch->places[pair->shape_b], pair_margin(world, a, b, dt),
                                 manifold) > 0) {
        memset(contact, 0, sizeof *contact);
        contact->shape_a = pair->shape_a;
        contact->shape_b = pair->shape_b;
        fill_contact(contact, manifold, last);
        move_anchors(scratch, contact, motion_a, motion_b, manifold);
        if (sensor) {
            keep_deepest(contact, manifold);
        }
        cm_recycle_keep(motion_a, motion_b, manifold, contact);
    } else {
        return false;
    }
    manifold->body_a = a->body;
    manifold->body_b = b->body;
    manifold->round_a = manifold->round_b = 0.0f;
    if ((ROUND >> a->type | ROUND >> b->type) & 1u) {
        manifold->round_a = round_radius(a, &scratch->places[pair->shape_a], manifold->normal);
        manifold->round_b = round_radius(b, &scratch->places[pair->shape_b], manifold->normal);
    }
    cm_rule_mix(world, a, b, &manifold->friction, &manifold->restitution);
    return true;
}

// Asks for what pairs further on need of their second shapes and bodies: those of the first are at
// hand.
static inline void fetch_ahead(const carom_world *world, const cm_scratch *scratch, uint32_t pair)
{
    if (pair + 2 * AHEAD < scratch->pair_count) {
        uint32_t near = scratch->pairs[pair + AHEAD].shape_b;
        uint32_t b = scratch->pairs[pair + 2 * AHEAD].shape_b;
        const char *shape = (const char *)(cm_shapes(world) + b);
        __builtin_prefetch(cm_motions(world) + cm_shapes(world)[near].body);
        __builtin_prefetch(shape + offsetof(cm_shape, body));
        __builtin_prefetch(shape + offsetof(cm_shape, type));
        __builtin_prefetch(&scratch->places[b].position);
        __builtin_prefetch(&scratch->places[b].rotation.z);
    }
}

// Boxes that were not in contact and that a plane separates, four at a time.
typedef struct batch {
    uint32_t pair[4], a[4], b[4];
    float margin[4];
    uint32_t count;
} batch;

static void reject_batch(const carom_world *world, const cm_scratch *scratch, batch *of)
{
    for (uint32_t i = of->count; i < 4; i++) {
        of->a[i] = of->a[0];
        of->b[i] = of->b[0];
        of->margin[i] = of->margin[0];
    }
    uint32_t apart = cm_reject_boxes(scratch->places, cm_shapes(world), of->a, of->b, of->margin);
    for (uint32_t i = 0; i < of->count; i++) {
        if (apart >> i & 1u) {
            scratch->pairs[of->pair[i]].shape_b = CM_NONE;
        }
    }
    of->count = 0;
}

// Marks what of the next pairs cannot be in contact, so that the narrow phase passes over it, and
// finds the rest where it looks next. Returns the first pair that was not looked at; `old` is no
// later than the first pair's contact.
static uint32_t reject_pairs(const carom_world *world, const cm_scratch *scratch, uint32_t first,
                             uint32_t old, float dt)
{
    const cm_shape *shapes = cm_shapes(world);
    const cm_contact *last = scratch->old_contacts + old;
    const cm_contact *end = scratch->old_contacts + scratch->old_contact_count;
    uint32_t left = scratch->pair_count - first, stop = first + (left < AT_ONCE ? left : AT_ONCE);
    batch boxes = {.count = 0};
    for (uint32_t i = first; i < stop; i++) {
        const cm_pair *pair = &scratch->pairs[i];
        fetch_ahead(world, scratch, i);
        while (last < end && before(last, pair)) {
            last++;
        }
        const cm_shape *a = &shapes[pair->shape_a], *b = &shapes[pair->shape_b];
        if ((last < end && last->shape_a == pair->shape_a && last->shape_b == pair->shape_b) ||
            a->type != CAROM_SHAPE_BOX || b->type != CAROM_SHAPE_BOX) {
            continue;
        }
        boxes.pair[boxes.count] = i;
        boxes.a[boxes.count] = pair->shape_a;
        boxes.b[boxes.count] = pair->shape_b;
        boxes.margin[boxes.count++] = pair_margin(world, a, b, dt);
        if (boxes.count == 4) {
            reject_batch(world, scratch, &boxes);
        }
    }
    if (boxes.count > 0) {
        reject_batch(world, scratch, &boxes);
    }
    return stop;
}

// A contact of last step without an active body: as it is, and out of the solver's way.
static bool is_kept(const cm_scratch *scratch, const cm_contact *contact)
{
    return scratch->sleeping_count > 0 && scratch->rank[contact->shape_a] != CM_SHAPE_ACTIVE &&
           scratch->rank[contact->shape_b] != CM_SHAPE_ACTIVE;
}

// Where the next contact goes.
typedef struct rows {
    uint32_t count, points;
} rows;

static void keep(carom_world *world, const cm_scratch *scratch, const cm_contact *last, rows *to)
{
    if (!is_kept(scratch, last)) {
        return;
    }
    if (to->count == world->limits.contacts) {
        world->stats.contacts_dropped++;
        return;
    }
    cm_contacts(world)[to->count] = *last;
    scratch->manifolds[to->count].body_a = CM_NONE;
    scratch->manifolds[to->count].point_count = 0;
    scratch->manifolds[to->count].impulse = 0.0f;
    to->points += last->point_count;
    to->count++;
}

void cm_stage_collide(carom_world *world, cm_scratch *scratch)
{
    float dt = 1.0f / (float)world->state.tick_rate;
    uint32_t old_count = world->state.contact_count, old = 0;
    rows to = {0, 0};
    cm_contacts_turn(world, scratch);
    cm_contact *contacts = cm_contacts(world);
    uint32_t rejected = 0;
    for (uint32_t i = 0; i < scratch->pair_count; i++) {
        const cm_pair *pair = &scratch->pairs[i];
        if (i == rejected) {
            rejected = reject_pairs(world, scratch, i, old, dt);
        }
        if (pair->shape_b == CM_NONE) {
            continue;
        }
        while (old < old_count && before(&scratch->old_contacts[old], pair)) {
            keep(world, scratch, &scratch->old_contacts[old++], &to);
        }
        if (to.count == world->limits.contacts) {
            world->stats.contacts_dropped++;
            continue;
        }
        const cm_contact *last = old < old_count ? &scratch->old_contacts[old] : NULL;
        bool same = last && last->shape_a == pair->shape_a && last->shape_b == pair->shape_b;
        cm_manifold *manifold = &scratch->manifolds[to.count];
        if (collide_pair(world, scratch, pair, same ? last : NULL, dt, &contacts[to.count],
                         manifold)) {
            to.points += manifold->point_count;
            to.count++;
        }
    }
    while (old < old_count) {
        keep(world, scratch, &scratch->old_contacts[old++], &to);
    }
    world->state.contact_count = to.count;
    world->stats.contacts = to.count;
    world->stats.points = to.points;
}

void cm_collide_woken(carom_world *world, cm_scratch *scratch)
{
    cm_contact *contacts = cm_contacts(world);
    const cm_shape *shapes = cm_shapes(world);
    float dt = 1.0f / (float)world->state.tick_rate;
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_contact last = contacts[i];
        bool woken = scratch->manifolds[i].body_a == CM_NONE &&
                     (scratch->active[shapes[last.shape_a].body] ||
                      scratch->active[shapes[last.shape_b].body]);
        if (woken) {
            cm_pair pair = {last.shape_a, last.shape_b};
            cm_place_shape(world, scratch, pair.shape_a);
            cm_place_shape(world, scratch, pair.shape_b);
            count += collide_pair(world, scratch, &pair, &last, dt, &contacts[count],
                                  &scratch->manifolds[count]);
            continue;
        }
        if (count != i) {
            contacts[count] = last;
            scratch->manifolds[count] = scratch->manifolds[i];
        }
        count++;
    }
    world->state.contact_count = count;
    world->stats.contacts = count;
}
