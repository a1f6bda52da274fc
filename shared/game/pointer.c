// Poses of pointers: bytes to pose, pose to body. Typical: one pointer, moved 1,000 times a second.
// A body that already has the pose is not touched, so that sleeping bodies beside it stay asleep.
#include "shared/game/pointer.h"

#include <string.h>

#include "shared/base/bytes.h"
#include "shared/base/vec.h"

#define UNIT 2.0e-3f // of the squared length: 1e-3 of the length

const char *cm_pointer_reason_text(cm_pointer_reason reason)
{
    static const char *const TEXTS[CM_POINTER_REASONS] = {
        "good", "no pose", "a number of the pose is NaN or infinite",
        "the pose's quaternion has not unit length", "a number of the pose is out of its range"};
    return reason < CM_POINTER_REASONS ? TEXTS[reason] : "unknown";
}

static bool is_finite(carom_vec3 v)
{
    return cm_is_finite(v.x) && cm_is_finite(v.y) && cm_is_finite(v.z);
}

static bool within(carom_vec3 v, float most)
{
    return cm_abs(v.x) <= most && cm_abs(v.y) <= most && cm_abs(v.z) <= most;
}

cm_pointer_reason cm_pointer_check(const carom_pointer_pose *pose)
{
    carom_quat q = pose->orientation;
    if (!is_finite(pose->position) || !is_finite(pose->linear_velocity) ||
        !is_finite(pose->angular_velocity) || !cm_is_finite(q.x) || !cm_is_finite(q.y) ||
        !cm_is_finite(q.z) || !cm_is_finite(q.w)) {
        return CM_POINTER_NOT_FINITE;
    }
    // The negation catches what overflows.
    if (!(cm_abs(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1.0f) <= UNIT)) {
        return CM_POINTER_NOT_UNIT;
    }
    if (!within(pose->position, CAROM_POSITION_MAX) ||
        !within(pose->linear_velocity, CAROM_VELOCITY_MAX) ||
        !within(pose->angular_velocity, CAROM_VELOCITY_MAX)) {
        return CM_POINTER_RANGE;
    }
    return CM_POINTER_OK;
}

static float get_float(cm_byte_reader *reader)
{
    uint32_t bits = cm_get_u32(reader);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static carom_vec3 get_vec(cm_byte_reader *reader)
{
    carom_vec3 v; // one read a statement: their order is the format
    v.x = get_float(reader);
    v.y = get_float(reader);
    v.z = get_float(reader);
    return v;
}

cm_pointer_reason cm_pointer_read(const uint8_t *bytes, carom_pointer_pose *pose)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, CAROM_POINTER_BYTES);
    uint8_t any = 0;
    for (uint32_t i = 0; i < CAROM_POINTER_BYTES; i++) {
        any |= bytes[i];
    }
    if (any == 0) {
        return CM_POINTER_NONE;
    }
    pose->position = get_vec(&reader);
    pose->orientation.x = get_float(&reader);
    pose->orientation.y = get_float(&reader);
    pose->orientation.z = get_float(&reader);
    pose->orientation.w = get_float(&reader);
    pose->linear_velocity = get_vec(&reader);
    pose->angular_velocity = get_vec(&reader);
    return cm_pointer_check(pose);
}

static void put_float(cm_byte_writer *writer, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    cm_put_u32(writer, bits);
}

static void put_vec(cm_byte_writer *writer, carom_vec3 v)
{
    put_float(writer, v.x);
    put_float(writer, v.y);
    put_float(writer, v.z);
}

void cm_pointer_write(const carom_pointer_pose *pose, uint8_t *bytes)
{
    cm_byte_writer writer = cm_byte_writer_make(bytes, CAROM_POINTER_BYTES);
    put_vec(&writer, pose->position);
    put_float(&writer, pose->orientation.x);
    put_float(&writer, pose->orientation.y);
    put_float(&writer, pose->orientation.z);
    put_float(&writer, pose->orientation.w);
    put_vec(&writer, pose->linear_velocity);
    put_vec(&writer, pose->angular_velocity);
}

void cm_pointer_move(uint8_t *bytes, float seconds)
{
    carom_pointer_pose pose;
    if (cm_pointer_read(bytes, &pose) != CM_POINTER_OK) {
        return;
    }
    float t = seconds < CM_POINTER_STOPS_S ? seconds : CM_POINTER_STOPS_S;
    float left = 1.0f - t / CM_POINTER_STOPS_S, mean = 0.5f * t * (1.0f + left);
    pose.position = cm_mul_add(pose.position, mean, pose.linear_velocity);
    pose.orientation = cm_quat_integrate(pose.orientation, cm_scale(mean, pose.angular_velocity));
    pose.linear_velocity = cm_scale(left, pose.linear_velocity);
    pose.angular_velocity = cm_scale(left, pose.angular_velocity);
    if (cm_pointer_check(&pose) == CM_POINTER_OK) {
        cm_pointer_write(&pose, bytes);
    }
}

uint32_t cm_scene_pointer_bytes(const cm_scene *scene)
{
    for (uint32_t i = 0; i < cm_scene_body_count(scene); i++) {
        carom_body_def def;
        cm_scene_body_def(scene, i, &def);
        if (def.pointer != CAROM_NO_PLAYER) {
            return CAROM_POINTER_BYTES;
        }
    }
    return 0;
}

carom_body_id cm_pointer_body(const carom_world *world, uint32_t player)
{
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_id body = carom_world_body_at(world, slot);
        if (!carom_body_id_is_null(body) && carom_body_pointer(world, body) == player) {
            return body;
        }
    }
    return (carom_body_id){0, 0};
}

static bool equal(carom_vec3 a, carom_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

void cm_pointer_put(carom_world *world, carom_body_id body, const carom_pointer_pose *pose)
{
    carom_body_state s;
    const carom_vec3 zero = {0.0f, 0.0f, 0.0f};
    carom_vec3 linear = pose != NULL ? pose->linear_velocity : zero;
    carom_vec3 angular = pose != NULL ? pose->angular_velocity : zero;
    if (carom_body_get(world, body, &s) != CAROM_OK || s.type != CAROM_BODY_KINEMATIC) {
        return;
    }
    if (pose != NULL &&
        !(equal(s.position, pose->position) && s.orientation.x == pose->orientation.x &&
          s.orientation.y == pose->orientation.y && s.orientation.z == pose->orientation.z &&
          s.orientation.w == pose->orientation.w)) {
        // Neither can fail: the body is live and kinematic, the numbers were checked.
        (void)carom_body_set_pose(world, body, pose->position, pose->orientation);
    }
    if (!equal(s.linear_velocity, linear) || !equal(s.angular_velocity, angular)) {
        (void)carom_body_set_velocity(world, body, linear, angular);
    }
}
