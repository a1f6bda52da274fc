// The 15 separating axes of two boxes, CM_LANES pairs at once: included once a width by
// box_axes1.c, box_axes4.c and box_axes8.c, which define CM_LANES and CM_AXES.
//
// Works in a's axes, from a's position, so that precision does not fall far from the origin. Of 15
// axes the one of the largest separation wins; a's faces are preferred to b's by a tolerance, so
// that the choice does not flicker where boxes lie flat (S. Gottschalk, "Separating Axis Theorem",
// 1996). Most pairs of a heap that were not in contact end at a face. Typical: 2,500 pairs a step
// of 1,000 boxes in motion, of which 1,500 are apart.
#include "shared/sim/collide/box_axes.h"

#include "shared/base/lanes.h"

#define FACE_TOLERANCE   0.0005f // m; a's face before b's
#define PARALLEL         1.0e-4f // squared sine below which two edges give no axis

#define TRANSFORM_FLOATS (sizeof(cm_shape_transform) / sizeof(float))
#define SHAPE_FLOATS     (sizeof(cm_shape) / sizeof(float))
_Static_assert(sizeof(cm_shape_transform) % 4 == 0 &&
                   offsetof(cm_shape_transform, rotation) == 12 && sizeof(cm_shape) % 4 == 0,
               "gathered as floats");

typedef struct placed {
    cm_fvec position, axis[3];
    cm_f half[3];
} placed;

typedef struct box_lanes {
    cm_f r[3][3], abs_r[3][3]; // a's axis i . b's axis j
    cm_f t[3];                 // b's centre in a's axes
    cm_f half_a[3], half_b[3];
} box_lanes;

// The best axes so far; indices are in integers.
typedef struct best {
    cm_f separation, edge_separation;
    cm_mask face, edge; // edge: 3 x axis of a + axis of b; 9: none
    cm_mask apart;
} best;

static inline cm_mask whole(int32_t number)
{
    return (cm_mask){0} + number;
}

CM_LANES_INLINE placed load_boxes(const cm_shape_transform *transforms, const cm_shape *shapes,
                                  const uint32_t *index)
{
    cm_f low[8], high[8], size[8];
    cm_lanes_gather(&transforms[0].position.x, TRANSFORM_FLOATS, index, low);
    cm_lanes_gather(&transforms[0].position.x + 4, TRANSFORM_FLOATS, index, high);
    cm_lanes_gather(&shapes[0].size[0], SHAPE_FLOATS, index, size);
    return (placed){
        {low[0], low[1], low[2]},
        {{low[3], low[4], low[5]}, {low[6], low[7], high[4]}, {high[5], high[6], high[7]}},
        {size[0], size[1], size[2]}};
}

CM_LANES_INLINE box_lanes compare(const placed *a, const placed *b)
{
    box_lanes x;
    cm_fvec d = cm_fvec_sub(b->position, a->position);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            x.r[i][j] = cm_fvec_dot(a->axis[i], b->axis[j]);
            x.abs_r[i][j] = cm_lanes_abs(x.r[i][j]);
        }
        x.t[i] = cm_fvec_dot(a->axis[i], d);
        x.half_a[i] = a->half[i];
        x.half_b[i] = b->half[i];
    }
    return x;
}

CM_LANES_INLINE void test_faces(const box_lanes *x, cm_f margin, best *choice)
{
    cm_f best_b = margin;
    cm_mask face_b = whole(3);
    for (uint32_t i = 0; i < 3; i++) {
        cm_f reach = x->half_a[i] + x->abs_r[i][0] * x->half_b[0] + x->abs_r[i][1] * x->half_b[1] +
                     x->abs_r[i][2] * x->half_b[2];
        cm_f s = cm_lanes_abs(x->t[i]) - reach;
        choice->apart |= cm_lanes_greater(s, margin);
        cm_mask better = i == 0 ? whole(-1) : cm_lanes_greater(s, choice->separation);
        choice->separation = i == 0 ? s : cm_lanes_select(better, s, choice->separation);
        choice->face = cm_lanes_pick(better, whole((int32_t)i), choice->face);
    }
    for (uint32_t j = 0; j < 3; j++) {
        cm_f t = x->t[0] * x->r[0][j] + x->t[1] * x->r[1][j] + x->t[2] * x->r[2][j];
        cm_f reach = x->half_b[j] + x->abs_r[0][j] * x->half_a[0] + x->abs_r[1][j] * x->half_a[1] +
                     x->abs_r[2][j] * x->half_a[2];
        cm_f s = cm_lanes_abs(t) - reach;
        choice->apart |= cm_lanes_greater(s, margin);
        cm_mask better = j == 0 ? whole(-1) : cm_lanes_greater(s, best_b);
        best_b = j == 0 ? s : cm_lanes_select(better, s, best_b);
        face_b = cm_lanes_pick(better, whole(3 + (int32_t)j), face_b);
    }
    cm_mask of_b = cm_lanes_greater(best_b, choice->separation + cm_lanes_set(FACE_TOLERANCE));
    choice->separation = cm_lanes_select(of_b, best_b, choice->separation);
    choice->face = cm_lanes_pick(of_b, face_b, choice->face);
}

CM_LANES_INLINE void test_edges(const box_lanes *x, cm_f margin, best *choice)
{
    cm_f one = cm_lanes_set(1.0f), least = cm_lanes_set(PARALLEL), zero = cm_lanes_set(0.0f);
    choice->edge = whole(9);
    choice->edge_separation = cm_lanes_set(-1.0e30f);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (uint32_t j = 0; j < 3; j++) {
            uint32_t j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cm_f squared = one - x->r[i][j] * x->r[i][j];
            cm_mask usable = ~cm_lanes_greater(least, squared);
            cm_f sine = cm_lanes_sqrt(cm_lanes_max(squared, zero));
            cm_f reach = x->half_a[i1] * x->abs_r[i2][j] + x->half_a[i2] * x->abs_r[i1][j] +
                         x->half_b[j1] * x->abs_r[i][j2] + x->half_b[j2] * x->abs_r[i][j1];
            cm_f gap = cm_lanes_abs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) - reach;
            cm_f s = gap / cm_lanes_select(usable, sine, one);
            choice->apart |= usable & cm_lanes_greater(s, margin);
            cm_mask better = usable & cm_lanes_greater(s, choice->edge_separation);
            choice->edge_separation = cm_lanes_select(better, s, choice->edge_separation);
            choice->edge = cm_lanes_pick(better, whole((int32_t)(3 * i + j)), choice->edge);
        }
    }
}

static inline bool all_of(cm_mask mask)
{
    return !cm_lanes_any(~mask);
}

static void store(const best *from, cm_box_choice *choices)
{
    float separation[CM_LANES], edge_separation[CM_LANES];
    int32_t face[CM_LANES], edge[CM_LANES], apart[CM_LANES];
    cm_lanes_store(separation, from->separation);
    cm_lanes_store(edge_separation, from->edge_separation);
    memcpy(face, &from->face, sizeof face);
    memcpy(edge, &from->edge, sizeof edge);
    memcpy(apart, &from->apart, sizeof apart);
    for (uint32_t i = 0; i < CM_LANES; i++) {
        choices[i] =
            (cm_box_choice){separation[i],          edge_separation[i],     (uint8_t)face[i],
                            (uint8_t)(edge[i] / 3), (uint8_t)(edge[i] % 3), apart[i] != 0};
    }
}

void CM_AXES(const cm_shape_transform *transforms_a, const cm_shape *shapes_a,
             const cm_shape_transform *transforms_b, const cm_shape *shapes_b,
             const cm_box_pairs *pairs, cm_box_choice *choices)
{
    placed a = load_boxes(transforms_a, shapes_a, pairs->a);
    placed b = load_boxes(transforms_b, shapes_b, pairs->b);
    box_lanes x = compare(&a, &b);
    cm_f margin = cm_lanes_load(pairs->margin);
    best choice = {
        .edge_separation = margin, .face = whole(0), .edge = whole(9), .apart = whole(0)};
    test_faces(&x, margin, &choice);
    if (!all_of(choice.apart)) {
        test_edges(&x, margin, &choice);
    }
    store(&choice, choices);
}
