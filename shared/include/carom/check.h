// What a world would refuse of its definitions, and what it would ignore, asked before there is
// one: for whole scenes (files, editors). Beside what carom_world_create and carom_body_create
// refuse, a solver's own rules for scenes are held: what it does not do is refused where a scene
// asks for it, though a world would take it and leave it undone.
//
// Each function calls `found` for everything it finds and returns true where nothing is refused.
// A finding names a field as the defs do; its result is CAROM_OK where it is a warning: the field
// is taken and does nothing, or means what no body can be. `expected` says what would be good.
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
// What a solver asks of a joint or a pair rule; numbers and bodies are the world's to check.
CAROM_API bool carom_check_joint(const carom_world_def *world, const carom_joint_def *def,
                                 const carom_findings *findings);
CAROM_API bool carom_check_pair_rule(const carom_world_def *world, const carom_pair_rule *rule,
                                     const carom_findings *findings);

#ifdef __cplusplus
}
#endif
#endif
