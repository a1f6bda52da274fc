// Pair rules of a scene: their names, and the rules in a new world.
//
// A name is a body's, else a material's. If several rules match a pair, the one that names more
// bodies wins; among equals the last in the file wins (shared/sim/body/rule.c).
#include <string.h>

#include "shared/scene/message.h"

typedef struct end {
    uint32_t body;     // CM_SCENE_NO_BODY: a material
    uint32_t material; // as shapes have it: 1 is the first
} end;

static bool find(const cm_scene *scene, const char *name, end *found)
{
    *found = (end){cm_scene_find_body(scene, name), 0};
    if (found->body != CM_SCENE_NO_BODY) {
        return true;
    }
    found->material = cm_scene_find_material(scene, name);
    return found->material != 0;
}

static bool check_end(const cm_scene *scene, cm_check *check, const char *key, const char *name)
{
    end found;
    return find(scene, name, &found) ||
           cm_check_fail_at(check, key, CAROM_ERROR_NOT_FOUND,
                            "no body and no material '%.64s', expected a name of one", name);
}

bool cm_scene_check_pairs(cm_scene *scene, cm_check *check)
{
    const Cm__Scene__Scene *message = scene->message;
    cm_check_key(check, "pairs");
    if (message->n_pairs > CAROM_RULES_MAX) {
        return cm_check_fail(check, CAROM_ERROR_LIMIT_RULES, "%zu rules, expected at most %u",
                             message->n_pairs, CAROM_RULES_MAX);
    }
    uint32_t depth = check->path.depth;
    bool all = true;
    for (size_t i = 0; i < message->n_pairs; i++) {
        const Cm__Scene__PairRule *pair = message->pairs[i];
        cm_check_index(check, (uint32_t)i);
        bool ok = check_end(scene, check, "a", pair->a) && check_end(scene, check, "b", pair->b);
        if (ok && !pair->has_friction && !pair->has_restitution) {
            ok = cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                               "a rule that says nothing, expected friction or restitution");
        }
        if (!cm_check_leave(check, depth, ok, &all)) {
            return false;
        }
    }
    return all;
}

// Bodies of a new world have the scene's indices as slots.
static void set_end(const carom_world *world, const end *from, carom_body_id *body,
                    uint32_t *material)
{
    *material = from->material;
    if (from->body != CM_SCENE_NO_BODY) {
        *body = carom_world_body_at(world, from->body);
    }
}

void cm_scene_pair_rule(const Cm__Scene__PairRule *pair, carom_pair_rule *rule)
{
    memset(rule, 0, sizeof *rule);
    rule->friction = pair->has_friction ? (float)pair->friction : -1.0f;
    rule->restitution = pair->has_restitution ? (float)pair->restitution : -1.0f;
}

carom_result cm_scene_populate_pairs(const cm_scene *scene, carom_world *world)
{
    for (size_t i = 0; i < scene->message->n_pairs; i++) {
        const Cm__Scene__PairRule *pair = scene->message->pairs[i];
        carom_pair_rule rule;
        end a, b;
        cm_scene_pair_rule(pair, &rule);
        if (!find(scene, pair->a, &a) || !find(scene, pair->b, &b)) {
            return CAROM_ERROR_NOT_FOUND;
        }
        set_end(world, &a, &rule.body_a, &rule.material_a);
        set_end(world, &b, &rule.body_b, &rule.material_b);
        carom_result result = carom_world_add_pair_rule(world, &rule);
        if (result != CAROM_OK) {
            return result;
        }
    }
    return CAROM_OK;
}
