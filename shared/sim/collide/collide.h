// The stages that find contacts, and the narrow phase by itself. Private to shared/sim.
#ifndef CM_SIM_COLLIDE_COLLIDE_H
#define CM_SIM_COLLIDE_COLLIDE_H

#include "shared/sim/state/scratch.h"

// Lengths of the contact pipeline, m.
#define CM_LINEAR_SLOP        0.005f
#define CM_SPECULATIVE_MARGIN 0.02f // gap below which a contact exists before it touches
// The same of what is thin, by radii of the ball inside: of plates in a stack those that lie on
// each other are contacts, and not those beyond.
#define CM_MARGIN_RADII 1.5f

// broadphase.c: bounds of every live shape, grown by the speculative margin and the tick's motion;
// candidate pairs in canonical order. Contacts above the limit are cut and counted.
void cm_stage_pairs(carom_world *world, cm_scratch *scratch);

// collide.c: turns the contacts; a manifold for each pair, merged with the last step's contacts by
// key and feature id. Writes the common row of each contact, its features and what is recycled, as
// far as the world has those, and manifolds and matches; what the solver remembers of its own is
// for the solver to carry over.
void cm_stage_collide(carom_world *world, cm_scratch *scratch);
// Contacts at rest one of whose bodies woke since come to the others, and get manifolds.
void cm_collide_woken(carom_world *world, cm_scratch *scratch);

// The three of them, by the widest lanes that the processor has (stages.c, wide.c).
typedef struct cm_collide_stages {
    void (*pairs)(carom_world *world, cm_scratch *scratch);
    void (*collide)(carom_world *world, cm_scratch *scratch);
    void (*woken)(carom_world *world, cm_scratch *scratch);
} cm_collide_stages;

const cm_collide_stages *cm_collide_stages_of(const carom_world *world);

// One narrow-phase case: manifold of two shapes at poses given (of shapes, not bodies); points
// within `margin` are reported. Anchors are from each shape's position (the stage makes them
// relative to the centres of mass); bodies, friction and restitution are left to the caller.
// Returns the number of points, at most CM_MANIFOLD_MAX. Pure. A hull has no points here: what it
// looks like stands in its place (cm_collide_at).
uint32_t cm_collide_shapes(const cm_shape *a, carom_vec3 position_a, carom_quat orientation_a,
                           const cm_shape *b, carom_vec3 position_b, carom_quat orientation_b,
                           float margin, cm_manifold *manifold);

// The same on transforms, as the stages use it.
uint32_t cm_collide_at(const cm_shape *a, const cm_shape_transform *transform_a, const cm_shape *b,
                       const cm_shape_transform *transform_b, float margin, cm_manifold *manifold);

// The same of bodies that turn: `swing` is how much further than the margin what is not nearest may
// come within the tick, by the turns that they have and those that a blow gives, m.
uint32_t cm_collide_turning(const cm_shape *a, const cm_shape_transform *transform_a,
                            const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                            float swing, cm_manifold *manifold);

#endif
