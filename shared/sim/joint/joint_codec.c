// Settings of a world that no body has, in the portable form: gravity, softness, and joints, some
// or all of them, under the same ids in another world. A client's mirror learns by it what changed
// in mid-match.
//
//   OFFSET   SIZE                CONTENT
//   0        4                   magic "CRMF"
//   4        4                   engine version
//   8        8                   layout hash
//   16       12                  gravity
//   28       4                   epsilon
//   32       4                   gamma
//   36       4                   number of joints
//   40       (4 + 4 x words of joint) x number: slot, row; ascending. A dead row: the joint is gone
//
// Typical: two joints, 450 bytes; where a rule of the game makes, breaks or changes one.
#include "shared/base/bytes.h"
#include "shared/base/hash.h"
#include "shared/sim/inspect.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/portable.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#include <string.h>

#define FRAME_MAGIC 0x464d5243u // "CRMF"

static void put_float(cm_byte_writer *writer, float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    cm_put_u32(writer, word);
}

static float get_float(cm_byte_reader *reader)
{
    uint32_t word = cm_get_u32(reader);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

size_t carom_world_encode_settings(const carom_world *world, const uint32_t *joints, uint32_t count,
                                   void *bytes, size_t size)
{
    if (world == NULL || bytes == NULL || (count > 0 && joints == NULL)) {
        return 0;
    }
    const cm_world_state *state = &world->state;
    const cm_joint none = {0};
    cm_byte_writer writer = cm_byte_writer_make(bytes, size);
    cm_portable_put_header(&writer, FRAME_MAGIC, world->layout_hash);
    put_float(&writer, state->gravity.x);
    put_float(&writer, state->gravity.y);
    put_float(&writer, state->gravity.z);
    put_float(&writer, state->epsilon);
    put_float(&writer, state->gamma);
    cm_put_u32(&writer, count);
    for (uint32_t i = 0; i < count; i++) {
        if (joints[i] >= world->limits.joints || (i > 0 && joints[i] <= joints[i - 1])) {
            return 0;
        }
        cm_put_u32(&writer, joints[i]);
        cm_portable_put_row(&writer, CM_SECTION_joint,
                            joints[i] < state->joint_slots ? &cm_joints(world)[joints[i]] : &none);
    }
    return writer.overflow ? 0 : writer.size;
}

// A mirror may lack a body (one that was too large for a message): its joints are left out.
static bool is_held(const carom_world *world, const cm_joint *joint)
{
    const cm_body *bodies = cm_bodies(world);
    uint32_t slots = world->state.body_slots, a = joint->body_a, b = joint->body_b;
    return b < slots && bodies[b].alive && (a == CM_NONE || (a < slots && bodies[a].alive));
}

static carom_result check_joints(const carom_world *world, cm_byte_reader *reader, uint32_t count)
{
    for (uint32_t i = 0, previous = 0; i < count; i++) {
        cm_joint joint;
        uint32_t slot = cm_get_u32(reader);
        bool fits = cm_portable_get_row(reader, CM_SECTION_joint, &joint);
        if (reader->overflow || !fits || (i > 0 && slot <= previous)) {
            return CAROM_ERROR_CORRUPT;
        }
        if (slot >= world->limits.joints) {
            return CAROM_ERROR_LIMIT_JOINTS;
        }
        bool sound = joint.alive ? joint.generation != 0 && joint.body_a != joint.body_b &&
                                       cm_check_joint(&joint, NULL) == CAROM_OK
                                 : cm_portable_is_dead(CM_SECTION_joint, &joint);
        if (!sound || (joint.alive && world->state.solver == CAROM_SOLVER_IMPULSE)) {
            return CAROM_ERROR_CORRUPT;
        }
        previous = slot;
    }
    return CAROM_OK;
}

static void place(carom_world *world, uint32_t slot, const cm_joint *joint)
{
    uint32_t slots = world->state.joint_slots;
    if (slot >= slots) {
        memset(cm_joints(world) + slots, 0, (slot + 1 - slots) * sizeof(cm_joint));
        world->state.joint_slots = slot + 1;
    } else if (cm_joints(world)[slot].alive) {
        cm_joint_remove(world, slot);
    }
    cm_joint *row = &cm_joints(world)[slot];
    row->generation = joint->generation;
    if (joint->alive && is_held(world, joint)) {
        *row = *joint;
        cm_joint_wake_ends(world, row);
    }
}

static carom_result decode(carom_world *world, const void *bytes, size_t size)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, size);
    CM_TRY(cm_portable_check_header(&reader, FRAME_MAGIC, world->layout_hash));
    cm_world_state state = world->state;
    state.gravity.x = get_float(&reader);
    state.gravity.y = get_float(&reader);
    state.gravity.z = get_float(&reader);
    state.epsilon = get_float(&reader);
    state.gamma = get_float(&reader);
    uint32_t count = cm_get_u32(&reader);
    if (reader.overflow || count > world->limits.joints ||
        cm_check_state(&state, NULL) != CAROM_OK) {
        return CAROM_ERROR_CORRUPT;
    }
    cm_byte_reader second = reader;
    CM_TRY(check_joints(world, &reader, count));
    if (reader.position != size) {
        return CAROM_ERROR_CORRUPT;
    }
    if (memcmp(&state, &world->state, sizeof state) != 0) {
        cm_wake_all(world);
    }
    world->state = state;
    for (uint32_t i = 0; i < count; i++) {
        cm_joint joint;
        uint32_t slot = cm_get_u32(&second);
        cm_portable_get_row(&second, CM_SECTION_joint, &joint);
        place(world, slot, &joint);
    }
    return CAROM_OK;
}

carom_result carom_world_decode_settings(carom_world *world, const void *bytes, size_t size)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(bytes, "bytes", "an encoded frame");
    CM_FIELD(decode(world, bytes, size), "bytes", "a sound frame that fits this world");
    return CAROM_OK;
}

static void add_words(cm_hash *hash, const void *row, size_t size)
{
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word;
        memcpy(&word, (const char *)row + at, sizeof word);
        cm_hash_u32(hash, word);
    }
}

uint64_t cm_joint_identify(const carom_world *world, uint32_t slot)
{
    cm_joint joint = cm_joints(world)[slot];
    cm_hash what = cm_hash_begin(slot);
    memset(joint.impulse, 0, sizeof joint.impulse);
    joint.force = joint.torque = 0.0f;
    joint.drive_linear = joint.drive_angular = (carom_vec3){0.0f, 0.0f, 0.0f};
    joint.max_force = joint.max_torque = joint.target = joint.target_velocity = 0.0f;
    add_words(&what, &joint, sizeof joint);
    return cm_hash_end(&what);
}

uint64_t cm_settings_identify(const carom_world *world)
{
    cm_hash what = cm_hash_begin(FRAME_MAGIC);
    add_words(&what, &world->state.gravity, sizeof world->state.gravity);
    add_words(&what, &world->state.epsilon, sizeof world->state.epsilon);
    add_words(&what, &world->state.gamma, sizeof world->state.gamma);
    return cm_hash_end(&what);
}
