// Keys of `solver`. Goal: each key of the schema belongs to the solvers that scene.proto says,
// changes the def of the chosen solver and no other, and the schema's defaults are the engine's.
// Method: for each key and each solver a message with that key alone, given another value than its
// default.
#include <criterion/criterion.h>
#include <string.h>

#include "shared/scene/message.h"

#define SOLVERS 4

// Which solvers have the key: soft, impulse, lcp, volume.
typedef struct owned {
    const char *key;
    const char *by; // a letter for each of s, i, l, v
} owned;

static const owned OWNED[] = {
    {"substeps", "silv"},
    {"model", "i"},
    {"restitution_threshold", "si"},
    {"pixel", "i"},
    {"epsilon", "l"},
    {"gamma", "l"},
    {"rounds", "l"},
    {"friction_model", "l"},
    {"max_friction", "l"},
    {"direct_rows", "l"},
    {"stiffness", "v"},
    {"damping", "v"},
    {"tangent_stiffness", "v"},
    {"tangent_damping", "v"},
    {"friction_kinetic", "v"},
    {"friction_static", "v"},
    {"segments", "v"},
    {"contact", "v"},
    {"rotation", "il"},
    {"integration", "l"},
};

static const char *owners(const char *key)
{
    for (size_t i = 0; i < sizeof OWNED / sizeof OWNED[0]; i++) {
        if (strcmp(OWNED[i].key, key) == 0) {
            return OWNED[i].by;
        }
    }
    return "";
}

// Sets an optional field: `other` to what is not its default.
static void set(Cm__Scene__Solver *solver, const ProtobufCFieldDescriptor *field, bool other)
{
    char *base = (char *)solver;
    *(protobuf_c_boolean *)(base + field->quantifier_offset) = 1;
    if (other && field->type == PROTOBUF_C_TYPE_DOUBLE) {
        *(double *)(base + field->offset) += 0.5;
    } else if (other) {
        *(uint32_t *)(base + field->offset) += 2; // substeps: 2 is no default
    }
}

static void check_key(const ProtobufCFieldDescriptor *field, int type)
{
    bool has = strchr(owners(field->name), "silv"[type]) != NULL;
    Cm__Scene__Solver solver = CM__SCENE__SOLVER__INIT;
    solver.type = (Cm__Scene__Solver__Type)type;
    set(&solver, field, true);
    cm_check check;
    cm_scene_error error;
    cm_check_init(&check, &error, 1);
    cr_expect_eq(cm_solver_keys_check(&check, &solver), has, "%s of solver %d", field->name, type);
    cr_expect(has || (strstr(error.path, field->name) != NULL &&
                      strstr(error.message, "solver in a scene of") != NULL),
              "%s: %s", error.path, error.message);
    carom_solver_def def = carom_default_world_def().solver, before = def;
    cm_solver_keys_apply(&solver, &def);
    const bool changed[SOLVERS] = {
        memcmp(&def.soft, &before.soft, sizeof def.soft) != 0,
        memcmp(&def.impulse, &before.impulse, sizeof def.impulse) != 0,
        memcmp(&def.lcp, &before.lcp, sizeof def.lcp) != 0,
        memcmp(&def.volume, &before.volume, sizeof def.volume) != 0,
    };
    for (int i = 0; i < SOLVERS; i++) {
        cr_expect_eq(changed[i], has && i == type, "%s of solver %d changed the def of %d",
                     field->name, type, i);
    }
}

Test(solver_keys, belong_to_their_solvers)
{
    const ProtobufCMessageDescriptor *schema = &cm__scene__solver__descriptor;
    cr_assert_eq(schema->n_fields, sizeof OWNED / sizeof OWNED[0] + 1);
    for (unsigned i = 0; i < schema->n_fields; i++) {
        for (int type = 0; type < SOLVERS && strcmp(schema->fields[i].name, "type") != 0; type++) {
            check_key(&schema->fields[i], type);
        }
    }
}

Test(solver_keys, defaults_are_the_engines)
{
    const ProtobufCMessageDescriptor *schema = &cm__scene__solver__descriptor;
    for (int type = 0; type < SOLVERS; type++) {
        Cm__Scene__Solver solver = CM__SCENE__SOLVER__INIT;
        for (unsigned i = 0; i < schema->n_fields; i++) {
            if (schema->fields[i].default_value != NULL) {
                set(&solver, &schema->fields[i], false);
            }
        }
        solver.type = (Cm__Scene__Solver__Type)type;
        carom_solver_def def = carom_default_world_def().solver, engine = def;
        engine.type = (carom_solver_type)type;
        cm_solver_keys_apply(&solver, &def);
        cr_expect_eq(memcmp(&def, &engine, sizeof def), 0, "solver %d", type);
    }
}
