// Boxes whose bounds overlap but which a plane separates, four pairs at a time: most pairs of a
// heap. The separating axes of box.c, without choosing one: three of each box, then nine of edges.
// The same bits everywhere: four lanes on every machine. Typical: 4,000 pairs a step of 1,000 boxes
// in motion, of which 3,000 end here.
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include <stddef.h>

#define CM_LANES 4
#include "shared/base/lanes.h"
#include "shared/sim/collide/box_reject.h"

#define PARALLEL 1.0e-4f // squared sine below which two edges give no axis

typedef struct box_lanes {
    cm_f r[3][3], abs_r[3][3]; // a's axis i . b's axis j
    cm_f t[3];                 // b's centre in a's axes
    cm_f half_a[3], half_b[3];
} box_lanes;

typedef struct placed {
    cm_fvec position, axis[3];
    cm_f half[3];
} placed;

#define PLACE_FLOATS (sizeof(cm_place) / sizeof(float))
#define SHAPE_FLOATS (sizeof(cm_shape) / sizeof(float))
_Static_assert(sizeof(cm_place) % 4 == 0 && offsetof(cm_place, rotation) == 12 &&
                   sizeof(cm_shape) % 4 == 0,
               "gathered as floats");

static inline placed load_boxes(const cm_place *places, const cm_shape *shapes,
                                const uint32_t index[4])
{
    cm_f low[8], high[8], size[8];
    cm_lanes_gather(&places[0].position.x, PLACE_FLOATS, index, low);
    cm_lanes_gather(&places[0].position.x + 4, PLACE_FLOATS, index, high);
    cm_lanes_gather(&shapes[0].size[0], SHAPE_FLOATS, index, size);
    placed p = {{low[0], low[1], low[2]},
                {{low[3], low[4], low[5]}, {low[6], low[7], high[4]}, {high[5], high[6], high[7]}},
                {size[0], size[1], size[2]}};
    return p;
}

static inline box_lanes compare(const placed *a, const placed *b)
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

static inline cm_mask separated_by_faces(const box_lanes *x, cm_f margin)
{
    cm_mask apart = cm_lanes_greater(cm_lanes_set(0.0f), cm_lanes_set(0.0f));
    for (uint32_t i = 0; i < 3; i++) {
        cm_f reach = x->half_a[i] + x->abs_r[i][0] * x->half_b[0] + x->abs_r[i][1] * x->half_b[1] +
                     x->abs_r[i][2] * x->half_b[2];
        apart |= cm_lanes_greater(cm_lanes_abs(x->t[i]) - reach, margin);
        cm_f t = x->t[0] * x->r[0][i] + x->t[1] * x->r[1][i] + x->t[2] * x->r[2][i];
        reach = x->half_b[i] + x->abs_r[0][i] * x->half_a[0] + x->abs_r[1][i] * x->half_a[1] +
                x->abs_r[2][i] * x->half_a[2];
        apart |= cm_lanes_greater(cm_lanes_abs(t) - reach, margin);
    }
    return apart;
}

static inline cm_mask separated_by_edges(const box_lanes *x, cm_f margin)
{
    cm_f one = cm_lanes_set(1.0f), least = cm_lanes_set(PARALLEL);
    cm_mask apart = cm_lanes_greater(least, one);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (uint32_t j = 0; j < 3; j++) {
            uint32_t j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cm_f squared = cm_lanes_max(one - x->r[i][j] * x->r[i][j], cm_lanes_set(0.0f));
            cm_f reach = x->half_a[i1] * x->abs_r[i2][j] + x->half_a[i2] * x->abs_r[i1][j] +
                         x->half_b[j1] * x->abs_r[i][j2] + x->half_b[j2] * x->abs_r[i][j1];
            cm_f gap = cm_lanes_abs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) - reach;
            apart |= cm_lanes_greater(gap, margin * cm_lanes_sqrt(squared)) &
                     cm_lanes_greater(squared, least);
        }
    }
    return apart;
}

uint32_t cm_reject_boxes(const cm_place *places, const cm_shape *shapes, const uint32_t a[4],
                         const uint32_t b[4], const float margins[4])
{
    placed pa = load_boxes(places, shapes, a), pb = load_boxes(places, shapes, b);
    box_lanes x = compare(&pa, &pb);
    cm_f margin = cm_lanes_load(margins);
    cm_mask apart = separated_by_faces(&x, margin);
    if (!(apart[0] & apart[1] & apart[2] & apart[3])) {
        apart |= separated_by_edges(&x, margin);
    }
    return (apart[0] & 1u) | (apart[1] & 2u) | (apart[2] & 4u) | (apart[3] & 8u);
}
