// Pair rules: friction and restitution of two bodies or materials, before the combine rules.
// Private to shared/sim.
#ifndef CM_SIM_BODY_RULE_H
#define CM_SIM_BODY_RULE_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

// Puts the values of the rule that names the two shapes most closely (two bodies, then one, then
// materials; of those the latest) in place of these, if there is one.
void cm_rule_apply(const carom_world *world, const cm_shape *a, const cm_shape *b, float *friction,
                   float *restitution);

static inline float cm_combine(uint32_t how, float a, float b)
{
    switch (how) {
    case CAROM_COMBINE_AVERAGE:
        return 0.5f * (a + b);
    case CAROM_COMBINE_GEOMETRIC:
        return cm_sqrt(a * b);
    case CAROM_COMBINE_MIN:
        return cm_min(a, b);
    case CAROM_COMBINE_MAX:
        return cm_max(a, b);
    default:
        return a * b;
    }
}

// Friction and restitution of two shapes' surfaces: by the world's combine rules, where no pair
// rule says otherwise. Asked of every contact in every step, and few worlds have rules.
static inline void cm_rule_mix(const carom_world *world, const cm_shape *a, const cm_shape *b,
                               float *friction, float *restitution)
{
    *friction = cm_combine(world->state.friction_combine, a->friction, b->friction);
    *restitution = cm_combine(world->state.restitution_combine, a->restitution, b->restitution);
    if (world->state.rule_count > 0) {
        cm_rule_apply(world, a, b, friction, restitution);
    }
}

#endif
