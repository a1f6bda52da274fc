// The range of every number of a scene, and the walk that holds each value against it: finite, in
// range, enum values known, strings printable UTF-8 of bounded length, no unknown fields.
//
// Both forms pass here (packed bytes may hold NaN, which JSON cannot). The bounds are those within
// which binary32 still resolves a tenth of a millimetre's motion or the value still means
// something; a test sees that each numeric field of the schema has its row.
#include "shared/scene/ranges.h"

#include <math.h>
#include <string.h>

#include "carom/limits.h"
#include "shared/base/utf8.h"

#define TINY 1e-9

static const cm_range RANGES[] = {
    {"Bounds", "max", -1e6, 1e6},
    {"Bounds", "min", -1e6, 1e6},
    {"Body", "angular_damping", 0, 1e4},
    {"Body", "angular_velocity", -1e4, 1e4},
    {"Body", "center_of_mass", -1e4, 1e4},
    {"Body", "epsilon", 0, 1e3},
    {"Body", "force", -1e9, 1e9},
    {"Body", "gamma", 0, 1},
    {"Body", "gravity_scale", -1e3, 1e3},
    {"Body", "inertia", TINY, 1e12},
    {"Body", "inertia_orientation", -1.1, 1.1},
    {"Body", "linear_damping", 0, 1e4},
    {"Body", "linear_velocity", -1e4, 1e4},
    {"Body", "mass", 1e-6, 1e9},
    {"Body", "orientation", -1.1, 1.1},
    {"Body", "position", -1e6, 1e6},
    {"Body", "torque", -1e9, 1e9},
    {"Body", "user_data", 0, 18446744073709551615.0},
    {"BodyArray", "count", 1, CAROM_BODIES_MAX},
    {"BodyArray", "origin", -1e6, 1e6},
    {"BodyArray", "spacing", -1e5, 1e5},
    {"Box", "half_extents", 1e-3, 1e5},
    {"Capsule", "half_height", 1e-3, 1e5},
    {"Capsule", "radius", 1e-3, 1e5},
    {"ContactSpec", "axis", -1e6, 1e6},
    {"ContactSpec", "max_force", 0, 1e9},
    {"ContactSpec", "slip", 0, 1e6},
    {"ContactSpec", "slip_by_speed", 0, 1e6},
    {"ContactSpec", "trail", 0, 1e3},
    {"Cylinder", "half_height", 1e-3, 1e5},
    {"Cylinder", "radius", 1e-3, 1e5},
    {"Filter", "category", 0, 4294967295.0},
    {"Filter", "group", -2147483648.0, 2147483647.0},
    {"Filter", "mask", 0, 4294967295.0},
    {"Heightfield", "columns", 2, 4096},
    {"Heightfield", "heights", -1e5, 1e5},
    {"Heightfield", "rows", 2, 4096},
    {"Heightfield", "spacing", 1e-3, 1e5},
    {"Hull", "points", -1e5, 1e5},
    {"InputLine", "angular_velocity", -1e4, 1e4},
    {"InputLine", "force", -1e9, 1e9},
    {"InputLine", "input", 0, 128}, // digits of CAROM_INPUT_MAX bytes; none may be enough
    {"InputLine", "linear_velocity", -1e4, 1e4},
    {"InputLine", "orientation", -1.1, 1.1},
    {"InputLine", "player", 0, 63},
    {"InputLine", "position", -1e6, 1e6},
    {"InputLine", "tick", 0, 4294967295.0},
    {"InputLine", "torque", -1e9, 1e9},
    {"Joint", "anchor", -1e6, 1e6},
    {"Joint", "anchor_b", -1e6, 1e6},
    {"Joint", "axis", -1e6, 1e6},
    {"Joint", "break_force", 0, 1e12},
    {"Joint", "break_torque", 0, 1e12},
    {"Joint", "epsilon", 0, 1e3},
    {"Joint", "friction", 0, 1e3},
    {"Joint", "gamma", 0, 1},
    {"Joint", "length", 0, 1e6},
    {"Joint", "limits", -1e6, 1e6},
    {"Joint", "steering_axis", -1e6, 1e6},
    {"Limits", "bodies", 1, CAROM_BODIES_MAX},
    {"Limits", "contacts", 1, CAROM_CONTACTS_MAX},
    {"Limits", "history", 1, CAROM_HISTORY_TICKS_MAX},
    {"Limits", "joints", 0, CAROM_JOINTS_MAX},
    {"Limits", "shapes", 1, CAROM_SHAPES_MAX},
    {"Material", "density", 0, 1e6},
    {"Material", "friction", 0, 100},
    {"Material", "restitution", 0, 1},
    {"Mesh", "triangles", 0, 16777215},
    {"Mesh", "vertices", -1e5, 1e5},
    {"Motor", "max_force", 0, 1e12},
    {"Motor", "velocity", -1e4, 1e4},
    {"PairRule", "friction", 0, 100},
    {"PairRule", "restitution", 0, 1},
    {"Plane", "normal", -1.1, 1.1},
    {"Plane", "offset", -1e6, 1e6},
    {"Pointer", "player", 0, 63},
    {"Replication", "budget_kbit", 1, 1000000},
    {"Replication", "interest_radius", 0, 1e6},
    {"Replication", "position_step", 1.0 / 65536.0, 1},
    {"Replication", "view_rate", 1, 1000},
    {"Scene", "carom", 0, 4294967295.0},
    {"Scene", "gravity", -1e3, 1e3},
    {"Scene", "hit_speed", 0, 1e6},
    {"Scene", "tick_rate", 1, CAROM_TICK_RATE_MAX},
    {"Shape", "density", 0, 1e6},
    {"Shape", "friction", 0, 100},
    {"Shape", "orientation", -1.1, 1.1},
    {"Shape", "position", -1e4, 1e4},
    {"Shape", "restitution", 0, 1},
    {"Shape", "rolling_friction", 0, 100},
    {"Shape", "spin_friction", 0, 100},
    {"Shape", "surface_velocity", -1e4, 1e4},
    {"Solver", "damping", 0, 1e12},
    {"Solver", "direct_rows", 0, CAROM_DIRECT_ROWS_MAX},
    {"Solver", "epsilon", 0, 1e3},
    {"Solver", "friction_kinetic", 0, 100},
    {"Solver", "friction_static", 0, 100},
    {"Setting", "value", -1e15, 1e15},
    {"Solver", "gamma", 0, 1},
    {"Solver", "max_friction", 0, 1e12},
    {"Solver", "pixel", 0, 1e3},
    {"Solver", "restitution_threshold", 0, 1e6},
    {"Solver", "rounds", 1, CAROM_ROUNDS_MAX},
    {"Solver", "segments", 3, 256},
    {"Solver", "stiffness", 0, 1e15},
    {"Solver", "substeps", 1, CAROM_SUBSTEPS_MAX},
    {"Solver", "tangent_damping", 0, 1e12},
    {"Solver", "tangent_stiffness", 0, 1e15},
    {"Sphere", "radius", 1e-3, 1e5},
    {"Spring", "damping", 0, 1e12},
    {"Spring", "damping_ratio", 0, 1e3},
    {"Spring", "hertz", 0, 1e3},
    {"Spring", "max_force", 0, 1e12},
    {"Spring", "stiffness", 0, 1e15},
    {"Spring", "target", -1e6, 1e6},
    {"Spring", "velocity", -1e4, 1e4},
};

#define TAGS_MAX 64u

const cm_range *cm_range_find(const char *message, const char *field)
{
    size_t low = 0, high = sizeof RANGES / sizeof RANGES[0];
    // Few rows for each message, sorted by message: a scan from the first is quick enough.
    for (size_t i = low; i < high; i++) {
        if (RANGES[i].message[0] == message[0] && strcmp(RANGES[i].field, field) == 0 &&
            strcmp(RANGES[i].message, message) == 0) {
            return &RANGES[i];
        }
    }
    return NULL;
}

// `range` is that of its bytes, NULL for a name.
static bool check_string(cm_check *check, const char *text, const cm_range *range)
{
    size_t length = strlen(text), least = range != NULL ? (size_t)range->low : 1,
           most = range != NULL ? (size_t)range->high : CM_NAME_MAX - 1;
    if (length < least || length > most) {
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                             "%zu bytes long, expected a string of %zu to %zu bytes", length, least,
                             most);
    }
    if (length > 0 && !cm_utf8_is_name(text, most)) {
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                             "not printable, expected UTF-8 without control characters");
    }
    return true;
}

static bool check_enum(cm_check *check, const ProtobufCEnumDescriptor *descriptor, int value)
{
    if (protobuf_c_enum_descriptor_get_value(descriptor, value) == NULL) {
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT, "%d, expected a value of %s", value,
                             descriptor->short_name);
    }
    return true;
}

static bool check_number(cm_check *check, double value, const cm_range *range)
{
    if (!isfinite(value)) {
        return cm_check_fail(check, CAROM_ERROR_NOT_FINITE, "not finite, expected a number");
    }
    if (range == NULL || !(value >= range->low && value <= range->high)) {
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT, "%.9g, expected %.10g to %.10g", value,
                             range != NULL ? range->low : 0.0, range != NULL ? range->high : 0.0);
    }
    return true;
}

static bool check_message(cm_check *check, const ProtobufCMessage *message, const cm_range *outer);

static bool check_value(cm_check *check, const ProtobufCFieldDescriptor *field, const void *value,
                        const cm_range *range)
{
    bool pointer = field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING;
    if (pointer && *(const void *const *)value == NULL) {
        return true; // required, and missing: the mapper has reported it
    }
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        return check_number(check, *(const double *)value, range);
    case PROTOBUF_C_TYPE_UINT32:
        return check_number(check, *(const uint32_t *)value, range);
    case PROTOBUF_C_TYPE_INT32:
        return check_number(check, *(const int32_t *)value, range);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        return check_enum(check, field->descriptor, *(const int *)value);
    case PROTOBUF_C_TYPE_STRING:
        return check_string(check, *(const char *const *)value, range);
    case PROTOBUF_C_TYPE_MESSAGE:
        return check_message(check, *(const ProtobufCMessage *const *)value, range);
    default:
        return cm_check_fail(check, CAROM_ERROR_VERSION, "of an unknown type");
    }
}

// The step of the path for an item: its index, or its name where JSON has an object.
static void push_item(cm_check *check, const ProtobufCFieldDescriptor *field, const void *value,
                      size_t index)
{
    bool entries = field->type == PROTOBUF_C_TYPE_MESSAGE && cm_message_is_entry(field->descriptor);
    if (entries && *(const void *const *)value != NULL) {
        const Cm__Scene__Material *entry = *(const Cm__Scene__Material *const *)value;
        cm_check_key(check, entry->name);
    } else {
        cm_check_index(check, (uint32_t)index);
    }
}

static bool check_field(cm_check *check, const ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, const cm_range *range)
{
    size_t count = cm_field_count(message, field);
    bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (repeated && field->type == PROTOBUF_C_TYPE_STRING && count > TAGS_MAX) {
        return cm_check_fail(check, CAROM_ERROR_LIMIT_SIZE, "%zu strings, expected at most %u",
                             count, TAGS_MAX);
    }
    uint32_t depth = check->path.depth;
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        const void *value = cm_field_at(message, field, i);
        if (repeated) {
            push_item(check, field, value, i);
        }
        if (!cm_check_leave(check, depth, check_value(check, field, value, range), &all)) {
            return false;
        }
    }
    return all;
}

// `outer` is the range of the field that holds this message, where it is written as an array.
static bool check_message(cm_check *check, const ProtobufCMessage *message, const cm_range *outer)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    bool is_array = cm_message_is_array(descriptor);
    if (message->n_unknown_fields != 0) {
        return cm_check_fail(check, CAROM_ERROR_VERSION,
                             "field %u is unknown, expected a field of %s of this version",
                             (unsigned)message->unknown_fields[0].tag, descriptor->short_name);
    }
    uint32_t depth = check->path.depth;
    bool all = true;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (!cm_field_present(message, field)) {
            continue;
        }
        const cm_range *range = cm_range_find(descriptor->short_name, field->name);
        if (range == NULL && is_array) {
            range = outer;
        }
        if (is_array) {
            cm_check_index(check, i);
        } else if (!cm_message_is_setting(descriptor)) { // its key is there already
            cm_check_key(check, field->name);
        }
        if (!cm_check_leave(check, depth, check_field(check, message, field, range), &all)) {
            return false;
        }
    }
    return all;
}

bool cm_check_values(cm_check *check, const ProtobufCMessage *message)
{
    return check_message(check, message, NULL);
}
