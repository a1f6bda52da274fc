// The keys of `solver`: one table maps each key to its solver and to the field of that solver's
// def. Names, types and numbers of the keys are the schema's.
//
// A key that is absent keeps the engine's default (carom_default_world_def); a test holds the
// schema's defaults against those.
#include <stddef.h>
#include <string.h>

#include "shared/scene/message.h"

typedef struct solver_key {
    const char *name;
    Cm__Scene__Solver__Type solver;
    size_t offset; // in carom_solver_def: a float, an uint32_t or an enum, by the schema's type
} solver_key;

#define KEY(solver, member, field)                                                                 \
    {                                                                                              \
#field, CM__SCENE__SOLVER__TYPE__##solver, offsetof(carom_solver_def, member.field)        \
    }

static const solver_key KEYS[] = {
    KEY(SOFT, soft, substeps),
    KEY(SOFT, soft, restitution_threshold),
    KEY(IMPULSE, impulse, substeps),
    KEY(IMPULSE, impulse, restitution_threshold),
    KEY(IMPULSE, impulse, model),
    KEY(IMPULSE, impulse, pixel),
    KEY(IMPULSE, impulse, rotation),
    KEY(LCP, lcp, substeps),
    KEY(LCP, lcp, epsilon),
    KEY(LCP, lcp, gamma),
    KEY(LCP, lcp, rounds),
    KEY(LCP, lcp, rotation),
    KEY(LCP, lcp, integration),
    KEY(LCP, lcp, friction_model),
    KEY(LCP, lcp, max_friction),
    KEY(LCP, lcp, direct_rows),
    KEY(VOLUME, volume, substeps),
    KEY(VOLUME, volume, contact),
    KEY(VOLUME, volume, stiffness),
    KEY(VOLUME, volume, damping),
    KEY(VOLUME, volume, tangent_stiffness),
    KEY(VOLUME, volume, tangent_damping),
    KEY(VOLUME, volume, friction_kinetic),
    KEY(VOLUME, volume, friction_static),
    KEY(VOLUME, volume, segments),
};

// The schema's values of enums are cast to the engine's, whose size is that of an int.
_Static_assert((int)CAROM_SOLVER_VOLUME == CM__SCENE__SOLVER__TYPE__VOLUME &&
                   (int)CAROM_IMPULSE_CIRCLE == CM__SCENE__SOLVER__MODEL__CIRCLE &&
                   (int)CAROM_ROTATION_QUASI_IMPLICIT ==
                       CM__SCENE__SOLVER__ROTATION__QUASI_IMPLICIT &&
                   (int)CAROM_INTEGRATION_ENERGY == CM__SCENE__SOLVER__INTEGRATION__ENERGY &&
                   (int)CAROM_FRICTION_CONE == CM__SCENE__SOLVER__FRICTION_MODEL__CONE &&
                   (int)CAROM_VOLUME_DEEPEST_POINT ==
                       CM__SCENE__VOLUME_CONTACT__MODEL__DEEPEST_POINT,
               "the schema's enums are the engine's");
_Static_assert(sizeof(carom_impulse_model) == sizeof(int) &&
                   sizeof(carom_rotation) == sizeof(int) &&
                   sizeof(carom_integration) == sizeof(int) &&
                   sizeof(carom_friction_model) == sizeof(int) &&
                   sizeof(carom_volume_contact) == sizeof(int),
               "copied as int");

static const solver_key *find_key(Cm__Scene__Solver__Type solver, const char *name)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (KEYS[i].solver == solver && strcmp(KEYS[i].name, name) == 0) {
            return &KEYS[i];
        }
    }
    return NULL;
}

// A key of another solver at the schema's default changes nothing, and is accepted.
static bool says_nothing(const Cm__Scene__Solver *solver, const ProtobufCFieldDescriptor *field)
{
    return field->default_value != NULL && memcmp(cm_field_at(&solver->base, field, 0),
                                                  field->default_value, cm_field_size(field)) == 0;
}

static bool refuse(cm_check *check, Cm__Scene__Solver__Type solver, const char *key)
{
    char owner[32], own[32];
    const ProtobufCEnumDescriptor *types = &cm__scene__solver__type__descriptor;
    size_t i = 0;
    while (strcmp(KEYS[i].name, key) != 0) {
        i++; // a test sees that each key of the schema is in the table
    }
    cm_enum_text(protobuf_c_enum_descriptor_get_value(types, (int)KEYS[i].solver), owner,
                 sizeof owner);
    cm_enum_text(protobuf_c_enum_descriptor_get_value(types, (int)solver), own, sizeof own);
    return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                            "a key of the %s solver in a scene of %s, expected no such key", owner,
                            own);
}

bool cm_solver_keys_check(cm_check *check, const Cm__Scene__Solver *solver)
{
    if (solver == NULL) {
        return true;
    }
    const ProtobufCMessageDescriptor *descriptor = solver->base.descriptor;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (strcmp(field->name, "type") != 0 && cm_field_present(&solver->base, field) &&
            find_key(solver->type, field->name) == NULL && !says_nothing(solver, field)) {
            return refuse(check, solver->type, field->name);
        }
    }
    return true;
}

void cm_solver_keys_apply(const Cm__Scene__Solver *solver, carom_solver_def *def)
{
    def->type = (carom_solver_type)solver->type;
    const ProtobufCMessageDescriptor *descriptor = solver->base.descriptor;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        const solver_key *key = find_key(solver->type, field->name);
        if (key == NULL || !cm_field_present(&solver->base, field)) {
            continue;
        }
        const void *value = cm_field_at(&solver->base, field, 0);
        char *slot = (char *)def + key->offset;
        if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
            float rounded = (float)*(const double *)value;
            memcpy(slot, &rounded, sizeof rounded);
        } else {
            memcpy(slot, value, sizeof(uint32_t));
        }
    }
}
