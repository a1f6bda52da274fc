// Pairs of solids by a sweep along x, their depths, and the errors of joints; in double precision
// and apart from the solver: it sees poses and shapes as a user of the library does.
//
// The mean is the sum of the overlaps over all pairs that overlap or are nearer than
// CM_QUALITY_NEAR: a pair held apart by a hair counts as a pair without penetration. 5,000 bodies
// take about 50 ms.
#include "server/tools/bench/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    double lower[3], upper[3];
    uint32_t solid;
} span;

static int span_order(const void *left, const void *right)
{
    const span *a = left, *b = right;
    if (a->lower[0] != b->lower[0]) {
        return a->lower[0] < b->lower[0] ? -1 : 1;
    }
    return a->solid < b->solid ? -1 : (a->solid > b->solid);
}

static int key_order(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : (*a > *b);
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static bool overlap(const span *a, const span *b)
{
    for (int i = 0; i < 3; i++) {
        if (a->lower[i] > b->upper[i] || b->lower[i] > a->upper[i]) {
            return false;
        }
    }
    return true;
}

// The sums of the sweep.
typedef struct counters {
    const uint64_t *joined; // sorted keys of bodies that a joint holds
    uint32_t joined_count;
    double sum;
    cm_quality *quality;
} counters;

static void add_pair(counters *t, const cm_solid *a, const cm_solid *b)
{
    if (!cm_solid_may_meet(a, b)) {
        return;
    }
    uint64_t key = pair_key(a->body, b->body);
    if (t->joined_count > 0 &&
        bsearch(&key, t->joined, t->joined_count, sizeof key, key_order) != NULL) {
        return;
    }
    double depth = cm_solid_depth(a, b);
    if (depth > -CM_QUALITY_NEAR) {
        t->quality->pairs++;
    }
    if (depth > 0.0) {
        t->sum += depth;
        t->quality->max_penetration = fmax(t->quality->max_penetration, depth);
    }
}

bool cm_quality_of_solids(const cm_solid *solids, uint32_t count, const cm_quality_joint *joints,
                          uint32_t joint_count, cm_quality *quality)
{
    span *spans = malloc(((size_t)count + 1) * sizeof *spans);
    uint64_t *joined = malloc(((size_t)joint_count + 1) * sizeof *joined);
    if (spans == NULL || joined == NULL) {
        free(spans);
        free(joined);
        return false;
    }
    for (uint32_t i = 0; i < joint_count; i++) {
        joined[i] = pair_key(joints[i].body_a, joints[i].body_b);
    }
    qsort(joined, joint_count, sizeof *joined, key_order);
    for (uint32_t i = 0; i < count; i++) {
        cm_solid_bounds(&solids[i], spans[i].lower, spans[i].upper);
        for (int k = 0; k < 3; k++) { // each half of the gap that still counts, and rounding
            spans[i].lower[k] -= 0.51 * CM_QUALITY_NEAR;
            spans[i].upper[k] += 0.51 * CM_QUALITY_NEAR;
        }
        spans[i].solid = i;
    }
    qsort(spans, count, sizeof *spans, span_order);
    counters t = {joined, joint_count, 0.0, quality};
    quality->pairs = 0;
    quality->max_penetration = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count && spans[k].lower[0] <= spans[i].upper[0]; k++) {
            if (overlap(&spans[i], &spans[k])) {
                add_pair(&t, &solids[spans[i].solid], &solids[spans[k].solid]);
            }
        }
    }
    quality->mean_penetration = quality->pairs > 0 ? t.sum / quality->pairs : 0.0;
    free(spans);
    free(joined);
    return true;
}

static void to_world(const cm_quality_pose *poses, uint32_t body, const double anchor[3],
                     double point[3])
{
    if (body == CM_QUALITY_WORLD) {
        memcpy(point, anchor, 3 * sizeof *point);
        return;
    }
    double rows[3][3];
    cm_solid_rotation(poses[body].orientation, rows);
    for (int i = 0; i < 3; i++) {
        point[i] = poses[body].position[i] + rows[i][0] * anchor[0] + rows[i][1] * anchor[1] +
                   rows[i][2] * anchor[2];
    }
}

double cm_quality_joint_error(const cm_quality_pose *poses, const cm_quality_joint *joints,
                              uint32_t joint_count)
{
    double worst = 0.0;
    for (uint32_t i = 0; i < joint_count; i++) {
        double a[3], b[3], sum = 0.0;
        to_world(poses, joints[i].body_a, joints[i].anchor_a, a);
        to_world(poses, joints[i].body_b, joints[i].anchor_b, b);
        for (int k = 0; k < 3; k++) {
            sum += (a[k] - b[k]) * (a[k] - b[k]);
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

// The data that a walk over a world gathers.
typedef struct gathering {
    cm_quality_pose *poses; // a row a body slot
    cm_solid *solids;
    carom_shape_id *shapes; // of one body at a time
    uint32_t solid_count;
    double top_height;
} gathering;

// Pose and solids of one body; false for a shape that is not known.
static bool gather_body(const carom_world *world, uint32_t slot, gathering *all)
{
    carom_body_id id = carom_world_body_at(world, slot);
    carom_body_state state;
    if (carom_body_get(world, id, &state) != CAROM_OK) {
        return true; // a free slot
    }
    cm_quality_pose *pose = &all->poses[slot];
    *pose = (cm_quality_pose){
        {state.position.x, state.position.y, state.position.z},
        {state.orientation.x, state.orientation.y, state.orientation.z, state.orientation.w}};
    if (state.type == CAROM_BODY_DYNAMIC) {
        all->top_height = fmax(all->top_height, pose->position[1]);
    }
    uint32_t count = carom_body_shapes(world, id, all->shapes, carom_world_limits(world).shapes);
    for (uint32_t i = 0; i < count; i++) {
        carom_shape_def def;
        carom_shape_get(world, all->shapes[i], &def, NULL);
        if (def.sensor) {
            continue;
        }
        cm_solid *solid = &all->solids[all->solid_count++];
        if (!cm_solid_place(solid, &def, pose->position, pose->orientation)) {
            return false;
        }
        solid->body = slot;
        solid->movable = state.type == CAROM_BODY_DYNAMIC;
    }
    return true;
}

static carom_result measure(const carom_world *world, const cm_quality_joint *joints,
                            uint32_t joint_count, gathering *all, cm_quality *quality)
{
    uint32_t slots = carom_world_body_slots(world);
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!gather_body(world, slot, all)) {
            return CAROM_ERROR_NOT_BUILT;
        }
    }
    if (isfinite(all->top_height)) {
        quality->top_height = all->top_height;
    }
    quality->joint_error = cm_quality_joint_error(all->poses, joints, joint_count);
    return cm_quality_of_solids(all->solids, all->solid_count, joints, joint_count, quality)
               ? CAROM_OK
               : CAROM_ERROR_MEMORY;
}

carom_result cm_quality_of_world(const carom_world *world, const cm_quality_joint *joints,
                                 uint32_t joint_count, cm_quality *quality)
{
    size_t shapes = (size_t)carom_world_limits(world).shapes + 1;
    size_t slots = (size_t)carom_world_body_slots(world) + 1;
    gathering all = {.top_height = -HUGE_VAL};
    all.poses = calloc(slots, sizeof *all.poses);
    all.solids = malloc(shapes * sizeof *all.solids);
    all.shapes = malloc(shapes * sizeof *all.shapes);
    carom_result result = CAROM_ERROR_MEMORY;
    memset(quality, 0, sizeof *quality);
    if (all.poses != NULL && all.solids != NULL && all.shapes != NULL) {
        result = measure(world, joints, joint_count, &all, quality);
    }
    free(all.poses);
    free(all.solids);
    free(all.shapes);
    return result;
}
