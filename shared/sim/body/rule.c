// See rule.h. A world has a handful of rules, made with its scene; the rows keep the order of their
// making, since the latest counts first.
#include "shared/sim/body/rule.h"

#include "shared/base/vec.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

// One end of a rule: a live body, or a material where the id is null.
static carom_result set_end(carom_world *world, carom_body_id body, uint32_t material, uint32_t bit,
                            uint32_t *end, uint32_t *kinds)
{
    if (carom_body_id_is_null(body)) {
        *end = material;
        return CAROM_OK;
    }
    if (cm_body_find(world, body) == NULL) {
        return cm_refuse(&world->error, CAROM_ERROR_STALE_ID, bit == 1 ? "body_a" : "body_b",
                         CM_LIVE_BODY);
    }
    *end = body.index;
    *kinds |= bit;
    return CAROM_OK;
}

carom_result carom_world_add_pair_rule(carom_world *world, const carom_pair_rule *rule)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(rule, "rule", "a rule");
    cm_rule row = {0, 0, 0, rule->friction, rule->restitution};
    CM_TRY(set_end(world, rule->body_a, rule->material_a, 1u, &row.a, &row.kinds));
    CM_TRY(set_end(world, rule->body_b, rule->material_b, 2u, &row.b, &row.kinds));
    CM_TRY(cm_check_rule(&row, error));
    CM_FIELD(world->state.rule_count < CAROM_RULES_MAX ? CAROM_OK : CAROM_ERROR_LIMIT_RULES, "",
             "at most 256 rules");
    cm_rules(world)[world->state.rule_count++] = row;
    cm_wake_all(world);
    return CAROM_OK;
}

void carom_world_clear_pair_rules(carom_world *world)
{
    if (world->state.rule_count > 0) {
        world->state.rule_count = 0;
        cm_wake_all(world);
    }
}

static bool names(uint32_t is_body, uint32_t end, const cm_shape *shape)
{
    return end == (is_body ? shape->body : shape->material);
}

// The closeness with which a rule names two shapes: 0 not at all, else 1 and one for each body.
static uint32_t closeness(const cm_rule *rule, const cm_shape *a, const cm_shape *b)
{
    uint32_t first = rule->kinds & 1u, second = rule->kinds >> 1 & 1u;
    bool is = (names(first, rule->a, a) && names(second, rule->b, b)) ||
              (names(first, rule->a, b) && names(second, rule->b, a));
    return is ? 1u + first + second : 0u;
}

void cm_rule_apply(const carom_world *world, const cm_shape *a, const cm_shape *b, float *friction,
                   float *restitution)
{
    const cm_world_state *state = &world->state;
    const cm_rule *best = NULL;
    uint32_t closest = 0;
    for (uint32_t i = 0; i < state->rule_count; i++) {
        const cm_rule *rule = &cm_rules(world)[i];
        uint32_t close = closeness(rule, a, b);
        if (close > 0 && close >= closest) {
            best = rule;
            closest = close;
        }
    }
    if (best != NULL) {
        *friction = best->friction >= 0.0f ? best->friction : *friction;
        *restitution = best->restitution >= 0.0f ? best->restitution : *restitution;
    }
}
