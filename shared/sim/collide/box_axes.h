// The separating axes of pairs of boxes, and a face of one clipped by the other's, several pairs at
// a time.
#ifndef CM_SIM_COLLIDE_BOX_AXES_H
#define CM_SIM_COLLIDE_BOX_AXES_H

#include "shared/sim/collide/convex.h"

#define CM_BOX_AXES_MAX 16u // lanes of the widest
#define CM_BOX_CLIPPED  8u  // points of a quadrilateral clipped by a rectangle

// Pairs by their indices into transforms and shapes; every lane names some pair.
typedef struct cm_box_pairs {
    uint32_t a[CM_BOX_AXES_MAX], b[CM_BOX_AXES_MAX];
    float margin[CM_BOX_AXES_MAX]; // m: what lies further apart is apart
} cm_box_pairs;

// The axis along which two boxes touch first.
typedef struct cm_box_choice {
    float separation, edge_separation; // m, along the best face's normal and the best edges'
    uint8_t face;                      // 0 to 2 of a, 3 to 5 of b
    uint8_t edge_a, edge_b;            // axes; edge_a 3: no two edges give an axis
    uint8_t apart; // 1: some axis separates them by more than the margin; the rest is anything
} cm_box_choice;

// One, four, eight or sixteen lanes: the same bits. The pairs' first boxes lie in transforms_a and
// shapes_a, their second in transforms_b and shapes_b.
typedef void cm_box_axes_of(const cm_shape_transform *transforms_a, const cm_shape *shapes_a,
                            const cm_shape_transform *transforms_b, const cm_shape *shapes_b,
                            const cm_box_pairs *pairs, cm_box_choice *choices);
cm_box_axes_of cm_box_axes_1, cm_box_axes_4, cm_box_axes_8, cm_box_axes_16;

// Of the swing, which is how far their corners may turn before two boxes are looked at again, m; 0:
// what counts is how they are now. How much further apart than a face an edge must be, and how far
// ahead of a face its points are taken.
#define CM_SWING_OF_EDGES  0.15f
#define CM_SWING_OF_POINTS 0.5f

// Returns true if their edges touch, rather than a face.
static inline bool cm_box_edges_win(const cm_box_choice *choice, float swing)
{
    return choice->edge_a < 3 &&
           choice->edge_separation > cm_edge_bound(choice->separation) + CM_SWING_OF_EDGES * swing;
}

// The incident face clipped by the sides of the reference face, as far as it lies within the
// margin: in the reference box's axes, from its centre; of features only the edges.
typedef struct cm_box_clipped {
    cm_clip_point points[CM_BOX_CLIPPED];
    uint8_t count;
    uint8_t of_b;     // 1: the reference is b
    uint8_t axis, up; // of the reference face
    uint8_t incident; // face: axis x 2 + side
    uint8_t pad[3];
} cm_box_clipped;

// Of the first `count` lanes; `chosen`: cm_box_choice.face of each. Any width gives the same bits.
typedef void cm_box_faces_of(const cm_shape_transform *transforms_a, const cm_shape *shapes_a,
                             const cm_shape_transform *transforms_b, const cm_shape *shapes_b,
                             const cm_box_pairs *pairs, const uint8_t *chosen, uint32_t count,
                             cm_box_clipped *clipped);
cm_box_faces_of cm_box_faces_1, cm_box_faces_4, cm_box_faces_8, cm_box_faces_16;

// As many lanes as the processor has, or what a test names (stages.c).
typedef struct cm_box_lanes {
    uint32_t count;
    cm_box_axes_of *axes;
    cm_box_faces_of *faces;
} cm_box_lanes;

const cm_box_lanes *cm_box_lanes_of(const carom_world *world);

// Two boxes that are not apart; `face` as clipped, or NULL where their edges win. `swing` as in
// cm_box_edges_win.
uint32_t cm_collide_boxes(const cm_shape *a, const cm_shape_transform *transform_a,
                          const cm_shape *b, const cm_shape_transform *transform_b,
                          const cm_box_choice *choice, float swing, cm_box_clipped *face,
                          cm_manifold *manifold);

#endif
