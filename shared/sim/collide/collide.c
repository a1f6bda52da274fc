// The collide stage: a manifold for each candidate pair, and the state's contact rows anew.
//
// Invariants: contacts and manifolds are parallel and sorted by (shape_a, shape_b); a row exists
// only where a point lies within the margin, so resting scenes save few bytes. Both the pairs and
// last step's contacts are sorted, so the merge is one walk. A point is known again by its feature;
// the matches tell solvers where it was. Contacts without an active body stand elsewhere
// (resting.h). Typical: 5,000 pairs, 3,500 contacts, 9,000 points for 1,000 boxes.
#include "shared/sim/collide/collide.h"

#include "shared/sim/body/rule.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/collide/box_axes.h"
#include "shared/sim/collide/narrow.h"
#include "shared/sim/collide/shape_transform.h"
#include "shared/sim/collide/recycle.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/state/tell.h"

#include <stddef.h>
#include <string.h>

// The sections that the stage reads and writes; NULL for those that the world does not have.
typedef struct rows {
    cm_contact *contacts;
    cm_contact_feature *features;
    cm_kept_manifold *manifolds;
    cm_kept_point *points;
} rows;

typedef struct collision {
    const carom_world *world;
    const cm_scratch *scratch;
    const cm_shape *shapes;
    const cm_motion *motions;
    const cm_box_lanes *boxes;
    rows now, old;
    float dt;
    bool far; // memory is: NEAR_SHAPES
} collision;

#define SWING_OF_BLOW 0.5f    // of the speed at which two bodies meet
#define SWING_OF_ENDS 0.5f    // as of faces' points
#define ON_ITS_SIDE   0.05f   // sine of the angle between a cylinder's axis and the surface
#define TOUCHING      1.0e-4f // m, a gap that counts as none where points are chosen
#define AT_ONCE       256u // pairs looked at, then collided, while the second cache holds their shapes
// Of more shapes the second cache holds too little: rows are asked for before they are wanted. Of
// 20,000 in a pile the stage takes 0.73 of the time with it, of 5,000 0.94, of 1,000 1.03.
#define NEAR_SHAPES   2048u
#define AHEAD         16u // pairs, or rows of contacts that are read
#define AHEAD_WRITTEN 8u
// GCC 12 takes a function that does nothing but prefetch for one without effect and leaves out its
// calls, unless they are inlined before it looks.
#define FETCHES static inline __attribute__((always_inline))

// The knowledge of a pair before it gets a row.
typedef struct finding {
    cm_contact_at last;                // last step's row of it; CM_NONE: none
    bool carried;                      // what last step found still holds, with the separations
    bool chosen;                       // two boxes: `choice` is made
    cm_box_choice choice;              // of chosen boxes
    float swing;                       // of chosen boxes that are not apart
    cm_box_clipped *face;              // of boxes that touch with a face; else NULL
    float separation[CM_MANIFOLD_MAX]; // of what is carried
} finding;

// The way of a shape's corners as it turns in the tick.
static inline float turning(const collision *c, uint32_t shape)
{
    const cm_motion *motion = &c->motions[c->shapes[shape].body];
    return c->dt * c->scratch->transforms[shape].reach * cm_length(motion->angular_velocity);
}

static inline float thickness(const collision *c, const cm_pair *pair)
{
    const cm_shape_transform *transforms = c->scratch->transforms;
    return cm_min(transforms[pair->shape_a].inner_radius, transforms[pair->shape_b].inner_radius);
}

// The gap below which this pair gets points: the motion of the tick, so that what is fast is
// stopped at the surface. Not beyond the smaller shape's thickness, except over a plane: a contact
// made too early also stops what would have passed by.
static inline float pair_margin(const collision *c, const cm_pair *pair)
{
    const cm_shape *a = &c->shapes[pair->shape_a], *b = &c->shapes[pair->shape_b];
    carom_vec3 relative =
        cm_sub(c->motions[a->body].linear_velocity, c->motions[b->body].linear_velocity);
    float motion = c->dt * cm_length(relative), least = CM_SPECULATIVE_MARGIN;
    if (c->scratch->thin && CM_MARGIN_RADII * thickness(c, pair) < least) {
        least = CM_MARGIN_RADII * thickness(c, pair);
        motion += turning(c, pair->shape_a) + turning(c, pair->shape_b);
    }
    if (!(motion > least)) {
        return least;
    }
    if (a->type == CAROM_SHAPE_PLANE || b->type == CAROM_SHAPE_PLANE) {
        return motion;
    }
    return cm_max(least, cm_min(motion, cm_max(thickness(c, pair), CM_SPECULATIVE_MARGIN)));
}

// The distance that corners of two boxes, or ends of capsules, may turn in the tick, within the
// smaller one's thickness: by their turns, and by that of a blow. A solver that looks at bodies
// once for all of its substeps needs to know; one that keeps no manifolds wants what touches now.
static inline float pair_swing(const collision *c, uint32_t shape_a, uint32_t shape_b)
{
    if (!c->now.manifolds) {
        return 0.0f;
    }
    const cm_shape_transform *a = &c->scratch->transforms[shape_a],
                             *b = &c->scratch->transforms[shape_b];
    const cm_motion *motion_a = &c->motions[c->shapes[shape_a].body];
    const cm_motion *motion_b = &c->motions[c->shapes[shape_b].body];
    float swing = c->dt * (a->reach * cm_length(motion_a->angular_velocity) +
                           b->reach * cm_length(motion_b->angular_velocity));
    carom_vec3 relative = cm_sub(motion_a->linear_velocity, motion_b->linear_velocity);
    swing += SWING_OF_BLOW * c->dt * cm_length(relative);
    return cm_min(swing, cm_min(a->inner_radius, b->inner_radius));
}

// Anchors from the shapes' positions to the centres of mass.
static void move_anchors(const cm_scratch *scratch, const cm_pair *pair, const cm_motion *motion_a,
                         const cm_motion *motion_b, cm_manifold *manifold)
{
    carom_vec3 arm_a = cm_sub(scratch->transforms[pair->shape_a].position, motion_a->position);
    carom_vec3 arm_b = cm_sub(scratch->transforms[pair->shape_b].position, motion_b->position);
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        cm_manifold_point *p = &manifold->points[i];
        p->anchor_a = cm_add(p->anchor_a, arm_a);
        p->anchor_b = cm_add(p->anchor_b, arm_b);
    }
}

static rows rows_of(const carom_world *world, const uint32_t *offset)
{
    char *base = (char *)(uintptr_t)world;
    bool follows = cm_has_rows(world, CM_SECTION_feature);
    bool recycles = cm_has_rows(world, CM_SECTION_manifold);
    return (rows){
        (cm_contact *)(void *)(base + offset[CM_SECTION_contact]),
        follows ? (cm_contact_feature *)(void *)(base + offset[CM_SECTION_feature]) : NULL,
        recycles ? (cm_kept_manifold *)(void *)(base + offset[CM_SECTION_manifold]) : NULL,
        recycles ? (cm_kept_point *)(void *)(base + offset[CM_SECTION_kept_point]) : NULL,
    };
}

static collision open_rows(const carom_world *world, const cm_scratch *scratch)
{
    return (collision){
        .world = world,
        .scratch = scratch,
        .shapes = cm_shapes(world),
        .motions = cm_motions(world),
        .boxes = cm_box_lanes_of(world),
        .now = rows_of(world, world->offset.rows),
        .old = rows_of(world, world->offset.spare),
        .dt = 1.0f / (float)world->state.tick_rate,
        .far = world->state.shape_slots > NEAR_SHAPES,
    };
}

// The old row as it is, to row `to`. What is recycled has features. Of points, four are copied at
// once: those that are not this contact's are written over by the next one.
static inline void carry_row(const collision *c, cm_contact_at last, cm_contact_at to)
{
    c->now.contacts[to.row] = c->old.contacts[last.row];
    if (c->now.manifolds) {
        c->now.manifolds[to.row] = c->old.manifolds[last.row];
        memcpy(&c->now.points[to.point], &c->old.points[last.point],
               CM_MANIFOLD_MAX * sizeof(cm_kept_point));
    }
    if (c->now.features) {
        memcpy(&c->now.features[to.point], &c->old.features[last.point],
               CM_MANIFOLD_MAX * sizeof(cm_contact_feature));
    }
    c->scratch->matches[to.row] = (cm_contact_match){last.row, last.point, {0, 1, 2, 3}};
}

// Points whose features are new take the place of those that vanished: each of the nearest old
// point that is none of the others. Of a hull's many corners those that are chosen jump from tick
// to tick, and a stack whose impulses began anew would not come to rest.
__attribute__((noinline)) static void follow_places(const collision *c, const cm_manifold *manifold,
                                                    cm_contact_at last, cm_contact_match *match)
{
    const cm_kept_point *old = &c->old.points[last.point];
    uint32_t vanished = (1u << c->old.contacts[last.row].point_count) - 1u;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        vanished &= match->point[i] == CM_NO_POINT ? ~0u : ~(1u << match->point[i]);
    }
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        float nearest = __builtin_inff();
        if (match->point[i] != CM_NO_POINT) {
            continue;
        }
        for (uint32_t bits = vanished; bits != 0; bits &= bits - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(bits);
            float squared = cm_length_squared(cm_sub(manifold->points[i].anchor_a, old[k].anchor));
            if (squared < nearest) {
                nearest = squared;
                match->point[i] = (uint8_t)k;
            }
        }
        if (match->point[i] != CM_NO_POINT) {
            vanished &= ~(1u << match->point[i]);
        }
    }
}

// Features of the points found, and which old points those were.
static void follow_points(const collision *c, const cm_manifold *manifold, cm_contact_at last,
                          cm_contact_at to)
{
    cm_contact_match *match = &c->scratch->matches[to.row];
    match->row = last.row;
    match->first_point = last.point;
    memset(match->point, CM_NO_POINT, sizeof match->point);
    if (!c->now.features) {
        return;
    }
    const cm_contact_feature *old = c->old.features + last.point;
    uint32_t old_count = last.row != CM_NONE ? c->old.contacts[last.row].point_count : 0;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        uint32_t feature = manifold->points[i].feature;
        c->now.features[to.point + i].feature = feature;
        for (uint32_t k = 0; k < old_count; k++) {
            if (old[k].feature == feature) {
                match->point[i] = (uint8_t)k;
                break;
            }
        }
    }
}

// A sensor reports and does not push: the solver gets no points. The deepest stays where the report
// looks for it, first in the manifold.
static void keep_deepest(cm_manifold *manifold)
{
    uint32_t deepest = 0;
    for (uint32_t i = 1; i < manifold->point_count; i++) {
        bool deeper = manifold->points[i].separation < manifold->points[deepest].separation;
        deepest = deeper ? i : deepest;
    }
    manifold->points[0] = manifold->points[deepest];
    manifold->point_count = 0;
    manifold->impulse = 0.0f;
}

#define ROUND (1u << CAROM_SHAPE_SPHERE | 1u << CAROM_SHAPE_CAPSULE | 1u << CAROM_SHAPE_CYLINDER)

// A ball's point of contact stays below its centre, a capsule's below its segment, and that of a
// cylinder on its side below its axis.
static float round_radius(const cm_shape *shape, const cm_shape_transform *transform,
                          carom_vec3 normal)
{
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
    case CAROM_SHAPE_CAPSULE:
        return shape->size[0];
    case CAROM_SHAPE_CYLINDER:
        return cm_abs(cm_dot(transform->rotation.y, normal)) < ON_ITS_SIDE ? shape->size[0] : 0.0f;
    default:
        return 0.0f;
    }
}

static bool before(const cm_contact *contact, const cm_pair *pair)
{
    return contact->shape_a < pair->shape_a ||
           (contact->shape_a == pair->shape_a && contact->shape_b < pair->shape_b);
}

// A manifold cut to four points may have left out a point that touches for one that lies further
// out and does not. The impulse solver knows no slop, and what rests would fall onto the other:
// touching points come first, and those with a gap take what room is left.
static void prefer_touching(const cm_shape *a, const cm_shape_transform *transform_a,
                            const cm_shape *b, const cm_shape_transform *transform_b,
                            cm_manifold *manifold)
{
    bool gap = false;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        gap = gap || manifold->points[i].separation > TOUCHING;
    }
    if (!gap || manifold->point_count < 2) {
        return;
    }
    cm_manifold touching;
    uint32_t count = cm_collide_at(a, transform_a, b, transform_b, TOUCHING, &touching);
    for (uint32_t i = 0; count > 0 && i < manifold->point_count && count < CM_MANIFOLD_MAX; i++) {
        if (manifold->points[i].separation > TOUCHING) {
            touching.points[count++] = manifold->points[i];
        }
    }
    if (count > 0) {
        *manifold = touching;
        manifold->point_count = count;
    }
}

static inline uint32_t types_of(const cm_shape *a, const cm_shape *b)
{
    return 1u << a->type | 1u << b->type;
}

// The narrow phase, where it is not done already.
static inline uint32_t collide_shapes(const collision *c, const cm_pair *pair, const finding *found,
                                      cm_manifold *manifold)
{
    const cm_shape *a = &c->shapes[pair->shape_a], *b = &c->shapes[pair->shape_b];
    const cm_shape_transform *transform_a = &c->scratch->transforms[pair->shape_a];
    const cm_shape_transform *transform_b = &c->scratch->transforms[pair->shape_b];
    if (!found->chosen) {
        bool turns = types_of(a, b) & 1u << CAROM_SHAPE_CAPSULE;
        float swing = turns ? SWING_OF_ENDS * pair_swing(c, pair->shape_a, pair->shape_b) : 0.0f;
        return cm_collide_turning(a, transform_a, b, transform_b, pair_margin(c, pair), swing,
                                  manifold);
    }
    return found->choice.apart ? 0
                               : cm_collide_boxes(a, transform_a, b, transform_b, &found->choice,
                                                  found->swing, found->face, manifold);
}

// One pair into row `to`: carried along, or found anew. False where there is no contact.
static bool collide_pair(const collision *c, const cm_pair *pair, const finding *found,
                         cm_contact_at to)
{
    const carom_world *world = c->world;
    const cm_scratch *scratch = c->scratch;
    const cm_shape *a = &c->shapes[pair->shape_a], *b = &c->shapes[pair->shape_b];
    const cm_motion *motion_a = &c->motions[a->body], *motion_b = &c->motions[b->body];
    cm_manifold *manifold = &scratch->manifolds[to.row];
    bool sensor = a->sensor || b->sensor;
    uint32_t types = types_of(a, b);
    cm_contact_at last = found->last;
    if (found->carried) {
        cm_recycle_take(&c->old.manifolds[last.row], &c->old.points[last.point], found->separation,
                        c->old.contacts[last.row].point_count, manifold);
        carry_row(c, last, to);
    } else if (collide_shapes(c, pair, found, manifold) > 0) {
        if (world->state.solver == CAROM_SOLVER_IMPULSE) {
            prefer_touching(a, &scratch->transforms[pair->shape_a], b,
                            &scratch->transforms[pair->shape_b], manifold);
        }
        move_anchors(scratch, pair, motion_a, motion_b, manifold);
        if (sensor) {
            keep_deepest(manifold);
        }
        cm_contact *contact = &c->now.contacts[to.row];
        memset(contact, 0, sizeof *contact);
        contact->shape_a = pair->shape_a;
        contact->shape_b = pair->shape_b;
        contact->touching = last.row != CM_NONE ? c->old.contacts[last.row].touching : 0;
        contact->point_count = (uint8_t)manifold->point_count;
        follow_points(c, manifold, last, to);
        if (c->now.manifolds) {
            if (last.row != CM_NONE && types & 1u << CAROM_SHAPE_HULL) {
                follow_places(c, manifold, last, &scratch->matches[to.row]);
            }
            cm_recycle_keep(motion_a, motion_b, manifold, &c->now.manifolds[to.row],
                            &c->now.points[to.point]);
        }
    } else {
        return false;
    }
    manifold->body_a = a->body;
    manifold->body_b = b->body;
    manifold->round_a = manifold->round_b = 0.0f;
    if (types & ROUND) {
        manifold->round_a = round_radius(a, &scratch->transforms[pair->shape_a], manifold->normal);
        manifold->round_b = round_radius(b, &scratch->transforms[pair->shape_b], manifold->normal);
    }
    cm_rule_mix(world, a, b, &manifold->friction, &manifold->restitution);
    return true;
}

// Asks for what pairs further on need of their second shapes and bodies.
FETCHES void fetch_pair(const collision *c, uint32_t pair)
{
    if (pair + 2 * AHEAD < c->scratch->pair_count) {
        uint32_t near = c->scratch->pairs[pair + AHEAD].shape_b;
        uint32_t b = c->scratch->pairs[pair + 2 * AHEAD].shape_b;
        const char *shape = (const char *)&c->shapes[b];
        __builtin_prefetch(&c->motions[c->shapes[near].body]);
        __builtin_prefetch(shape + offsetof(cm_shape, body));
        __builtin_prefetch(shape + offsetof(cm_shape, type));
        __builtin_prefetch(&c->scratch->transforms[b]); // a row is a line
    }
}

// Likewise the manifolds kept after an old row, and the rows to be written after a new one.
FETCHES void fetch_kept(const collision *c, cm_contact_at at)
{
    if (c->old.manifolds && at.row + AHEAD < c->scratch->old_contact_count) {
        const char *kept = (const char *)&c->old.manifolds[at.row + AHEAD];
        __builtin_prefetch(kept);
        __builtin_prefetch(kept + sizeof(cm_kept_manifold) - 1);
        __builtin_prefetch(&c->old.points[at.point + 2 * AHEAD]);
    }
}

FETCHES void fetch_written(const collision *c, cm_contact_at at)
{
    if (at.row + AHEAD_WRITTEN < c->world->limits.contacts) {
        const char *manifold = (const char *)&c->scratch->manifolds[at.row + AHEAD_WRITTEN];
        __builtin_prefetch(manifold, 1);
        __builtin_prefetch(manifold + CM_CACHE_LINE, 1);
        __builtin_prefetch(manifold + sizeof(cm_manifold) - 1, 1);
        if (c->now.manifolds) {
            const char *kept = (const char *)&c->now.manifolds[at.row + AHEAD_WRITTEN];
            __builtin_prefetch(kept, 1);
            __builtin_prefetch(kept + sizeof(cm_kept_manifold) - 1, 1);
            __builtin_prefetch(&c->now.points[at.point + 2 * AHEAD_WRITTEN], 1);
        }
    }
}

// The pairs of a block, in order, and those of them that wait for their lanes to fill.
typedef struct block {
    uint32_t first, end; // pairs
    uint32_t waiting;
    uint32_t at[CM_BOX_AXES_MAX]; // pairs of the lanes
    cm_box_pairs boxes;
    uint32_t facing, clipped; // those that wait for their faces, and how many faces are clipped
    uint8_t face[CM_BOX_AXES_MAX];
    cm_box_pairs faces;
    uint32_t kept_at[CM_RECYCLE_MAX]; // likewise
    cm_recycle_pairs kept;
    finding found[AT_ONCE];
    cm_box_clipped clips[AT_ONCE];
} block;

static void recycle(const collision *c, block *of)
{
    float separation[CM_MANIFOLD_MAX][CM_RECYCLE_MAX];
    if (of->kept.count == 0) {
        return;
    }
    uint32_t holding =
        cm_recycle(c->motions, c->old.manifolds, c->old.points, &of->kept, c->dt, separation);
    for (; holding != 0; holding &= holding - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(holding);
        finding *found = &of->found[of->kept_at[lane] - of->first];
        found->carried = true;
        for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
            found->separation[i] = separation[i][lane];
        }
    }
    of->kept.count = 0;
}

// Takes what last step found of a pair in row `last` (CM_NONE: nothing): recycle asks of several
// pairs at once whether it still holds. Sensors and what rolls are found anew.
static inline void look_back(const collision *c, uint32_t index, const cm_pair *pair,
                             cm_contact_at last, block *of)
{
    const cm_shape *a = &c->shapes[pair->shape_a], *b = &c->shapes[pair->shape_b];
    finding *found = &of->found[index - of->first];
    found->last = last;
    found->chosen = found->carried = false;
    if (c->old.manifolds && last.row != CM_NONE && !a->sensor && !b->sensor &&
        !(types_of(a, b) & ROUND)) {
        const cm_shape_transform *transform_a = &c->scratch->transforms[pair->shape_a];
        const cm_shape_transform *transform_b = &c->scratch->transforms[pair->shape_b];
        uint32_t lane = of->kept.count++;
        of->kept_at[lane] = index;
        of->kept.row[lane] = last.row;
        of->kept.point[lane] = last.point;
        of->kept.a[lane] = a->body;
        of->kept.b[lane] = b->body;
        of->kept.points[lane] = (float)c->old.contacts[last.row].point_count;
        of->kept.reach[lane] = cm_min(transform_a->reach, transform_b->reach);
        of->kept.inner_radius[lane] = cm_min(transform_a->inner_radius, transform_b->inner_radius);
        if (of->kept.count == CM_RECYCLE_MAX) {
            recycle(c, of);
        }
    }
}

static void fill_lanes(const collision *c, cm_box_pairs *pairs, uint32_t count)
{
    for (uint32_t i = count; i < c->boxes->count; i++) {
        pairs->a[i] = pairs->a[0];
        pairs->b[i] = pairs->b[0];
        pairs->margin[i] = pairs->margin[0];
    }
}

static void clip_faces(const collision *c, block *of)
{
    if (of->facing == 0) {
        return;
    }
    fill_lanes(c, &of->faces, of->facing);
    memset(of->face + of->facing, of->face[0], c->boxes->count - of->facing);
    c->boxes->faces(c->scratch->transforms, c->shapes, c->scratch->transforms, c->shapes,
                    &of->faces, of->face, of->facing, &of->clips[of->clipped]);
    of->clipped += of->facing;
    of->facing = 0;
}

// Faces are clipped in the order in which they come here.
static void wait_for_face(const collision *c, block *of, uint32_t from, float swing, finding *found)
{
    uint32_t lane = of->facing++;
    found->face = &of->clips[of->clipped + lane];
    of->face[lane] = found->choice.face;
    of->faces.a[lane] = of->boxes.a[from];
    of->faces.b[lane] = of->boxes.b[from];
    of->faces.margin[lane] = of->boxes.margin[from] + CM_SWING_OF_POINTS * swing;
    if (of->facing == c->boxes->count) {
        clip_faces(c, of);
    }
}

static void choose_axes(const collision *c, block *of)
{
    cm_box_choice choices[CM_BOX_AXES_MAX];
    if (of->waiting == 0) {
        return;
    }
    fill_lanes(c, &of->boxes, of->waiting);
    c->boxes->axes(c->scratch->transforms, c->shapes, c->scratch->transforms, c->shapes, &of->boxes,
                   choices);
    for (uint32_t i = 0; i < of->waiting; i++) {
        finding *found = &of->found[of->at[i] - of->first];
        found->chosen = true;
        found->choice = choices[i];
        found->face = NULL;
        if (choices[i].apart) {
            continue;
        }
        float swing = found->swing = pair_swing(c, of->boxes.a[i], of->boxes.b[i]);
        if (!cm_box_edges_win(&choices[i], swing)) {
            wait_for_face(c, of, i, swing, found);
        }
    }
    of->waiting = 0;
}

// Axes and faces of the boxes that are found anew.
static void look_at_boxes(const collision *c, block *of)
{
    for (uint32_t i = of->first; i < of->end; i++) {
        const cm_pair *pair = &c->scratch->pairs[i];
        const cm_shape *a = &c->shapes[pair->shape_a], *b = &c->shapes[pair->shape_b];
        if (of->found[i - of->first].carried || a->type != CAROM_SHAPE_BOX ||
            b->type != CAROM_SHAPE_BOX) {
            continue;
        }
        uint32_t lane = of->waiting++;
        of->at[lane] = i;
        of->boxes.a[lane] = pair->shape_a;
        of->boxes.b[lane] = pair->shape_b;
        of->boxes.margin[lane] = pair_margin(c, pair);
        if (of->waiting == c->boxes->count) {
            choose_axes(c, of);
        }
    }
    choose_axes(c, of);
    clip_faces(c, of);
}

// Looks at the next pairs: what is carried along, and the axes of boxes that are not, many at once.
// `old` is no later than the first pair's contact.
static void look_at_pairs(const collision *c, uint32_t first, cm_contact_at old, block *of)
{
    const cm_scratch *scratch = c->scratch;
    const cm_contact *last = c->old.contacts + old.row;
    uint32_t point = old.point;
    const cm_contact *end = c->old.contacts + scratch->old_contact_count;
    uint32_t left = scratch->pair_count - first;
    of->first = first;
    of->end = first + (left < AT_ONCE ? left : AT_ONCE);
    of->waiting = of->facing = of->clipped = of->kept.count = 0;
    for (uint32_t i = first; i < of->end; i++) {
        const cm_pair *pair = &scratch->pairs[i];
        while (last < end && before(last, pair)) {
            point += last->point_count;
            last++;
        }
        bool same = last < end && last->shape_a == pair->shape_a && last->shape_b == pair->shape_b;
        cm_contact_at at = {(uint32_t)(last - c->old.contacts), point};
        if (c->far) {
            fetch_pair(c, i);
            fetch_kept(c, at);
        }
        at.row = same ? at.row : CM_NONE;
        look_back(c, i, pair, at, of);
    }
    recycle(c, of);
    look_at_boxes(c, of);
}

// The place of the next contact.
typedef struct cursor {
    cm_contact_at at;
    uint32_t room; // rows: those at rest keep theirs
    uint32_t cut;  // for which there was no room
} cursor;

static void step_over(const cm_contact *contacts, cm_contact_at *at)
{
    at->point += contacts[at->row].point_count;
    at->row++;
}

static void count_rows(carom_world *world, cm_contact_at end)
{
    world->state.contact_count = end.row;
    world->state.point_count = end.point;
    world->stats.contacts = end.row + world->resting.rows;
    world->stats.points = end.point + world->resting.points;
}

void cm_stage_collide(carom_world *world, cm_scratch *scratch)
{
    cm_contact_at old = {0};
    cursor to = {.room = world->limits.contacts - world->resting.rows};
    block now;
    now.end = 0;
    scratch->old_contact_count = world->state.contact_count;
    cm_contacts_turn(world);
    const collision c = open_rows(world, scratch);
    for (uint32_t i = 0; i < scratch->pair_count; i++) {
        const cm_pair *pair = &scratch->pairs[i];
        if (i == now.end) {
            look_at_pairs(&c, i, old, &now);
        }
        const finding *found = &now.found[i - now.first];
        if (found->chosen && found->choice.apart) {
            continue;
        }
        old = found->last.row != CM_NONE ? found->last : old;
        if (to.at.row == to.room) {
            to.cut++;
            continue;
        }
        if (c.far) {
            fetch_written(&c, to.at);
        }
        if (collide_pair(&c, pair, found, to.at)) {
            step_over(c.now.contacts, &to.at);
        }
    }
    cm_tell(world, CAROM_LOG_CONTACTS_CUT, CM_NONE, to.cut);
    count_rows(world, to.at);
}

// Contacts at rest that woke ------------------------------------------------------------------

// The arrays beside the contacts, while some enter among them.
typedef struct entering {
    carom_world *world;
    cm_scratch *scratch;
} entering;

static void enter_row(void *context, uint32_t row)
{
    const entering *e = context;
    e->scratch->manifolds[row].body_a = CM_NONE;
    memset(e->scratch->matches[row].point, CM_NO_POINT, CM_MANIFOLD_MAX);
}

static void shift_row(void *context, uint32_t to, uint32_t from)
{
    const entering *e = context;
    e->scratch->manifolds[to] = e->scratch->manifolds[from];
    e->scratch->matches[to] = e->scratch->matches[from];
}

// Matches contacts to those of the step before anew, once more of them were there: rows, points.
static void match_again(const collision *c, cm_scratch *scratch)
{
    static const uint8_t same[CM_MANIFOLD_MAX] = {0, 1, 2, 3};
    cm_contact_at old = {0};
    for (uint32_t i = 0; i < c->world->state.contact_count; i++) {
        const cm_contact *contact = &c->now.contacts[i];
        const cm_pair pair = {contact->shape_a, contact->shape_b};
        while (old.row < scratch->old_contact_count && before(&c->old.contacts[old.row], &pair)) {
            step_over(c->old.contacts, &old);
        }
        const cm_contact *last = &c->old.contacts[old.row];
        cm_contact_match *match = &scratch->matches[i];
        bool known = old.row < scratch->old_contact_count && last->shape_a == pair.shape_a &&
                     last->shape_b == pair.shape_b;
        match->row = known ? old.row : CM_NONE;
        match->first_point = old.point;
        if (scratch->manifolds[i].body_a == CM_NONE) {
            memcpy(match->point, same, sizeof same);
        }
    }
}

// They become contacts of this step, without manifolds yet, and of the step before.
static void let_in(carom_world *world, cm_scratch *scratch)
{
    entering here = {world, scratch};
    const cm_contact_moves moves = {enter_row, shift_row, &here};
    uint32_t points = 0, resting = world->resting.rows;
    const collision c = open_rows(world, scratch);
    for (uint32_t i = 0; i < scratch->old_contact_count; i++) {
        points += c.old.contacts[i].point_count;
    }
    const cm_contact_rows old = {world->offset.spare, &scratch->old_contact_count, &points};
    const cm_contact_rows now = {world->offset.rows, &world->state.contact_count,
                                 &world->state.point_count};
    cm_contacts_enter(world, &old, false, NULL);
    cm_contacts_enter(world, &now, true, &moves);
    if (world->resting.rows != resting) {
        match_again(&c, scratch);
    }
}

// Rows are written over rows that were read. A manifold found anew may have more points than were
// kept, so what is not read yet gets out of the way of points at the first one.
void cm_collide_woken(carom_world *world, cm_scratch *scratch)
{
    let_in(world, scratch);
    const collision c = open_rows(world, scratch);
    const cm_shape *shapes = cm_shapes(world);
    cm_contact_at to = {0}, from = {0};
    bool moved = false;
    block alone;
    alone.first = 0;
    while (from.row < world->state.contact_count) {
        cm_pair pair = {c.now.contacts[from.row].shape_a, c.now.contacts[from.row].shape_b};
        bool woken = scratch->manifolds[from.row].body_a == CM_NONE &&
                     (scratch->active[shapes[pair.shape_a].body] ||
                      scratch->active[shapes[pair.shape_b].body]);
        if (!woken) {
            scratch->manifolds[to.row] = scratch->manifolds[from.row];
            scratch->matches[to.row] = scratch->matches[from.row];
            cm_contacts_move(world, &to, &from);
            continue;
        }
        if (!moved) {
            from.point = cm_points_to_end(world, from.point);
            moved = true;
        }
        const cm_contact_match match = scratch->matches[from.row];
        step_over(c.now.contacts, &from);
        cm_update_shape_transform(world, scratch, pair.shape_a);
        cm_update_shape_transform(world, scratch, pair.shape_b);
        alone.kept.count = 0;
        look_back(&c, 0, &pair, (cm_contact_at){match.row, match.first_point}, &alone);
        recycle(&c, &alone);
        if (collide_pair(&c, &pair, &alone.found[0], to)) {
            step_over(c.now.contacts, &to);
        }
    }
    count_rows(world, to);
}
