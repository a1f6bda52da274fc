// A client's view of a world: quantised bodies. One field table (view_fields.def) drives quantise,
// delta write, delta read, equality and the checksum, so that both ends agree by construction.
//
// Positions are of the body's origin, in steps inside the scene's bounds (clamped); orientation is
// smallest-three; velocities are sent only to clients that predict.
#ifndef CM_VIEW_VIEW_H
#define CM_VIEW_VIEW_H

#include "carom/world.h"
#include "shared/base/bits.h"

// The quantisation of bodies: made from the scene, the same on both ends.
typedef struct cm_view_config {
    carom_vec3 lower;          // of the bounds, m
    float position_step;       // m
    uint32_t position_bits[3]; // of each axis: enough for the bounds
} cm_view_config;

#define CM_VIEW_POSITION_BITS_MAX 28              // of an axis: 524 km at 1/512 m
#define CM_VIEW_ORIENTATION_BITS  11              // for each of the three smallest components
#define CM_VIEW_LINEAR_STEP       (1.0f / 256.0f) // m/s
#define CM_VIEW_LINEAR_BITS       16              // signed: +-128 m/s, clamped
#define CM_VIEW_ANGULAR_STEP      (1.0f / 256.0f) // rad/s
#define CM_VIEW_ANGULAR_BITS      15              // signed: +-64 rad/s, clamped

// An index of a view names a slot: below CM_VIEW_DRIVES of a body, from there on of a joint, whose
// drives it tells (view_drive.c).
#define CM_VIEW_DRIVES      65536u
#define CM_VIEW_DRIVE_WORDS 10u // of carom_joint_drives, binary32 as it is

// A quantised body. All integers: equality is exact. Without has_velocity, the velocities are 0.
typedef struct cm_view_body {
    uint32_t at_rest;      // 1: velocity zero (and nothing sent for it); of a drive 0
    uint32_t has_velocity; // of a drive 1: it is whole
    union {
        struct {
            uint32_t position[3];
            uint32_t largest;        // which component of the quaternion was left out, 0 to 3
            uint32_t orientation[3]; // biased
            int32_t linear[3];
            int32_t angular[3];
        };
        uint32_t drive[CM_VIEW_DRIVE_WORDS]; // the words after it are 0
    };
} cm_view_body;

typedef struct cm_view_pose {
    carom_vec3 position;
    carom_quat orientation;
    carom_vec3 linear_velocity, angular_velocity;
    bool at_rest, has_velocity;
} cm_view_pose;

carom_result cm_view_config_make(carom_vec3 lower, carom_vec3 upper, float position_step,
                                 cm_view_config *config);
void cm_view_quantise(const cm_view_config *config, const carom_body_state *state,
                      bool with_velocity, cm_view_body *body);
void cm_view_dequantise(const cm_view_config *config, const cm_view_body *body, cm_view_pose *pose);
bool cm_view_equal(const cm_view_body *a, const cm_view_body *b);

// A body's encoded bits, coded once: the packer reads their length from `count` and copies them.
#define CM_VIEW_CODE_BYTES 43 // 340 bits at most: a drive, each word of it whole; of a body 242
typedef struct cm_view_code {
    uint32_t count; // bits
    uint8_t bytes[CM_VIEW_CODE_BYTES];
} cm_view_code;

// Delta against a baseline, or alone (baseline NULL). Reading checks nothing but the bits: whatever
// they say is a body inside the config's ranges.
cm_view_code cm_view_encode(const cm_view_config *config, const cm_view_body *baseline,
                            const cm_view_body *body);
void cm_view_read(cm_bit_reader *reader, const cm_view_config *config, const cm_view_body *baseline,
                  cm_view_body *body);

// The same of what drives a joint; `drives` and the words are the same bits.
cm_view_body cm_view_drive_make(const carom_joint_drives *drives);
carom_joint_drives cm_view_drive_get(const cm_view_body *drive);
cm_view_code cm_view_drive_encode(const cm_view_body *baseline, const cm_view_body *drive);
void cm_view_drive_read(cm_bit_reader *reader, const cm_view_body *baseline, cm_view_body *drive);

// One word into a packet's checksum: a change of any bit of any word changes later folds.
static inline uint32_t cm_check_fold(uint32_t check, uint32_t word)
{
    check = (check ^ word) * 0x9e3779b1u;
    return check ^ (check >> 15);
}

// Folds a body into a packet's checksum (start with 0): its index, then each field in the order of
// view_fields.def; or a drive: its index, then each word.
uint32_t cm_view_check(uint32_t check, uint32_t index, const cm_view_body *body);

#endif
