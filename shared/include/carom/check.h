// Checks of definitions before a world is made of them, for whole scenes (files, editors): what the
// world would refuse, and what it would ignore. They refuse what carom_world_create and
// carom_body_create refuse. They also hold a scene to its solver's own rules: a feature that the
// solver lacks is refused in a scene, though a world would accept it and do nothing.
//
// Each function calls `found` for everything it finds and returns true if nothing is refused. A
// finding names a field as the defs do. Its result is CAROM_OK for a warning: the field is accepted
// and has no effect, or describes what no body can be. `expected` describes a good value.
#ifndef CAROM_CHECK_H
#define CAROM_CHECK_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_findings {
    void *context;
    void (*found)(void *context, const carom_error *finding);
} carom_findings;

// The def itself: numbers, the solver's own def, what it asks of plane and combine rules.
CAROM_API bool carom_check_world(const carom_world_def *def, const carom_findings *findings);
// A body with its shapes. The hulls need not be among those of the def.
CAROM_API bool carom_check_body(const carom_world_def *world, const carom_body_def *def,
                                const carom_shape_def *shapes, uint32_t shape_count,
                                const carom_findings *findings);
// Checks a solver's rules for a joint or a pair rule; the world itself checks numbers and bodies.
CAROM_API bool carom_check_joint(const carom_world_def *world, const carom_joint_def *def,
                                 const carom_findings *findings);
CAROM_API bool carom_check_pair_rule(const carom_world_def *world, const carom_pair_rule *rule,
                                     const carom_findings *findings);

#ifdef __cplusplus
}
#endif
#endif
