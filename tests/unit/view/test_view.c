// Goal: a body that is quantised, written and read comes back within half a step, and exactly as it
// was quantised, against any baseline; no number from a world, NaN included, does harm.
// Method: seeded random bodies and baselines, near and far; each field changed in turn; random
// bits.
#include "shared/base/rng.h"
#include "shared/base/vec.h"
#include "shared/view/view.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static cm_view_config config_make(void)
{
    cm_view_config config;
    carom_result result = cm_view_config_make(cm_vec(-50.0f, -10.0f, -64.0f),
                                              cm_vec(50.0f, 30.0f, 63.0f), 1.0f / 512.0f, &config);
    cr_assert_eq(result, CAROM_OK);
    return config;
}

static carom_quat random_quat(cm_rng *rng)
{
    carom_quat q = {cm_rng_range(rng, -1.0f, 1.0f), cm_rng_range(rng, -1.0f, 1.0f),
                    cm_rng_range(rng, -1.0f, 1.0f), cm_rng_range(rng, -1.0f, 1.0f)};
    return cm_quat_normalize(q);
}

static carom_body_state random_state(cm_rng *rng)
{
    carom_body_state state;
    memset(&state, 0, sizeof state);
    state.type = CAROM_BODY_DYNAMIC;
    state.position = cm_vec(cm_rng_range(rng, -50.0f, 50.0f), cm_rng_range(rng, -10.0f, 30.0f),
                            cm_rng_range(rng, -64.0f, 63.0f));
    state.orientation = random_quat(rng);
    state.linear_velocity = cm_vec(cm_rng_range(rng, -20.0f, 20.0f), cm_rng_range(rng, -1.0f, 1.0f),
                                   cm_rng_range(rng, -120.0f, 120.0f));
    state.angular_velocity = cm_vec(cm_rng_range(rng, -60.0f, 60.0f), 0.0f, 0.5f);
    return state;
}

// A body that any bits could mean, or one near `from`.
static cm_view_body random_body(cm_rng *rng, const cm_view_config *config, const cm_view_body *from)
{
    carom_body_state state = random_state(rng);
    cm_view_body body;
    cm_view_quantise(config, &state, cm_rng_below(rng, 2) != 0, &body);
    if (from != NULL && cm_rng_below(rng, 4) != 0) {
        body = *from;
        for (int i = 0; i < 3; i++) {
            uint32_t mask = (1u << config->position_bits[i]) - 1u;
            body.position[i] = (body.position[i] + cm_rng_below(rng, 1200) - 600) & mask;
            body.orientation[i] = (body.orientation[i] + cm_rng_below(rng, 30) - 15) & 2047u;
        }
    }
    if (cm_rng_below(rng, 4) == 0) {
        body.at_rest = 1;
    }
    if (body.at_rest || !body.has_velocity) {
        memset(body.linear, 0, sizeof body.linear);
        memset(body.angular, 0, sizeof body.angular);
    }
    return body;
}

static size_t round_trip(const cm_view_config *config, const cm_view_body *baseline,
                         const cm_view_body *body)
{
    cm_view_code code = cm_view_encode(config, baseline, body);
    cm_bit_reader r;
    cm_bit_reader_init(&r, code.bytes, (code.count + 7) / 8);
    cm_view_body back;
    memset(&back, 0xee, sizeof back);
    cm_view_read(&r, config, baseline, &back);
    cr_assert_not(r.overflow);
    cr_assert_eq(r.position, code.count);
    cr_assert(cm_view_equal(&back, body));
    return code.count;
}

Test(view, random_bodies_round_trip_against_random_baselines)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 1);
    cm_view_body baseline = random_body(&rng, &config, NULL);
    for (int i = 0; i < 20000; i++) {
        cm_view_body body = random_body(&rng, &config, &baseline);
        round_trip(&config, &baseline, &body);
        size_t alone = round_trip(&config, NULL, &body);
        cr_assert_leq(alone, 2 + 3 * 17 + 35 + 3 * 31);
        baseline = body;
    }
}

// Every bit of every word comes back; one that is near its baseline is told in 20 bits.
Test(view, drives_round_trip_and_small_changes_are_short)
{
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    cm_view_body from = {.has_velocity = 1}, drive = from, back;
    for (int i = 0; i < 20000; i++) {
        uint32_t word = cm_rng_below(&rng, CM_VIEW_DRIVE_WORDS), kind = cm_rng_below(&rng, 3);
        uint32_t way = cm_rng_below(&rng, 1u << 20) - (1u << 19);
        drive = from;
        drive.drive[word] = kind > 0 ? from.drive[word] + way : (uint32_t)cm_rng_next(&rng);
        cm_view_code code = cm_view_drive_encode(i % 5 > 0 ? &from : NULL, &drive);
        if (i % 5 > 0 && kind > 0) {
            cr_assert_leq(code.count, CM_VIEW_DRIVE_WORDS + 21);
        }
        cm_bit_reader r;
        cm_bit_reader_init(&r, code.bytes, (code.count + 7) / 8);
        memset(&back, 0xee, sizeof back);
        cm_view_drive_read(&r, i % 5 > 0 ? &from : NULL, &back);
        cr_assert(!r.overflow && r.position == code.count);
        cr_assert(cm_view_equal(&back, &drive), "%d", i);
        cr_assert(way == 0 || cm_view_equal(&back, &from) == cm_view_equal(&drive, &from));
        cr_assert_neq(cm_view_check(0, CM_VIEW_DRIVES, &drive),
                      cm_view_check(0, CM_VIEW_DRIVES + 1, &drive));
        from = drive;
    }
}

Test(view, what_did_not_change_takes_one_bit)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    cm_view_body body = random_body(&rng, &config, NULL);
    cr_assert_eq(round_trip(&config, &body, &body), 1);
    cm_view_body moved = body;
    moved.at_rest = 0;
    moved.has_velocity = 0;
    memset(moved.linear, 0, sizeof moved.linear);
    memset(moved.angular, 0, sizeof moved.angular);
    cm_view_body from = moved;
    from.position[1] = 100;
    moved.position[1] = 103; // within the small class
    cr_assert_eq(round_trip(&config, &from, &moved), 1 + 2 + 1 + 3 * 4 + 1);
}

Test(view, every_field_counts_for_equality_and_check)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    cm_view_body body = random_body(&rng, &config, NULL);
    for (size_t word = 0; word < sizeof body / 4; word++) {
        cm_view_body other = body;
        uint32_t value;
        memcpy(&value, (char *)&other + 4 * word, 4);
        value ^= 1;
        memcpy((char *)&other + 4 * word, &value, 4);
        cr_assert_not(cm_view_equal(&body, &other), "word %zu", word);
        cr_assert_neq(cm_view_check(0, 5, &body), cm_view_check(0, 5, &other), "word %zu", word);
    }
    cr_assert_neq(cm_view_check(0, 5, &body), cm_view_check(0, 6, &body));
}

static double angle_between(carom_quat a, carom_quat b)
{
    double dot =
        fabs((double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z + (double)a.w * b.w);
    return 2.0 * acos(dot > 1.0 ? 1.0 : dot);
}

Test(view, errors_stay_within_half_a_step)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 4);
    double worst_angle = 0.0;
    for (int i = 0; i < 20000; i++) {
        carom_body_state state = random_state(&rng);
        cm_view_body body;
        cm_view_pose pose;
        cm_view_quantise(&config, &state, true, &body);
        cm_view_dequantise(&config, &body, &pose);
        carom_vec3 p = cm_abs_vec(cm_sub(pose.position, state.position));
        carom_vec3 v = cm_abs_vec(cm_sub(pose.linear_velocity, state.linear_velocity));
        carom_vec3 w = cm_abs_vec(cm_sub(pose.angular_velocity, state.angular_velocity));
        float position_bound = 0.5f / 512.0f + 8.0e-6f, velocity_bound = 0.5f / 256.0f + 8.0e-6f;
        cr_assert(p.x <= position_bound && p.y <= position_bound && p.z <= position_bound);
        cr_assert(v.x <= velocity_bound && v.y <= velocity_bound && v.z <= velocity_bound);
        cr_assert(w.x <= velocity_bound && w.y <= velocity_bound && w.z <= velocity_bound);
        double angle = angle_between(pose.orientation, state.orientation);
        worst_angle = angle > worst_angle ? angle : worst_angle;
    }
    // Half a step e = 3.46e-4 in three components moves the fourth by at most 3 e (all are 1/2):
    // the quaternion by sqrt(12) e, the body by twice that angle, 0.14 degrees.
    cr_assert_leq(worst_angle, 2.0 * 3.4641016 * 0.70710678 / 1023.0 / 2.0 + 1.0e-6, "%f",
                  worst_angle);
}

Test(view, bounds_clamp_and_rest_is_exact)
{
    cm_view_config config = config_make();
    carom_body_state state;
    memset(&state, 0, sizeof state);
    state.orientation = cm_quat_identity();
    state.type = CAROM_BODY_DYNAMIC;
    state.position = cm_vec(-1.0e9f, 1.0e9f, 0.0f);
    state.linear_velocity = cm_vec(-1.0e9f, 1.0e9f, 127.0f);
    state.angular_velocity = cm_vec(-1.0e9f, 1.0e9f, 63.0f);
    cm_view_body body;
    cm_view_quantise(&config, &state, true, &body);
    cr_assert_eq(body.position[0], 0);
    cr_assert_eq(body.position[1], (1u << config.position_bits[1]) - 1u);
    cr_assert_eq(body.linear[0], -32767);
    cr_assert_eq(body.linear[1], 32767);
    cr_assert_eq(body.linear[2], 127 * 256);
    cr_assert_eq(body.angular[0], -16383);
    cr_assert_eq(body.angular[1], 16383);
    cr_assert_eq(body.angular[2], 63 * 256);
    cr_assert_eq(body.at_rest, 0);
    round_trip(&config, NULL, &body);
    state.asleep = true;
    cm_view_quantise(&config, &state, true, &body);
    cr_assert_eq(body.at_rest, 1);
    cr_assert_eq(body.linear[0], 0);
    cm_view_pose pose;
    cm_view_dequantise(&config, &body, &pose);
    cr_assert(pose.at_rest);
    cr_assert_eq(pose.orientation.w, 1.0f);
    cr_assert_eq(pose.linear_velocity.x, 0.0f);
    cm_view_quantise(&config, &state, false, &body);
    cr_assert_eq(body.has_velocity, 0);
}

Test(view, numbers_that_are_none_do_no_harm)
{
    cm_view_config config = config_make();
    const float odd[] = {NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f, 1.0e-40f};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        carom_body_state state;
        memset(&state, 0, sizeof state);
        state.type = CAROM_BODY_DYNAMIC;
        state.position = cm_vec(odd[i], odd[i], odd[i]);
        state.orientation = (carom_quat){odd[i], 0.0f, odd[i], 1.0f};
        state.linear_velocity = state.angular_velocity = state.position;
        cm_view_body body;
        cm_view_quantise(&config, &state, true, &body);
        round_trip(&config, NULL, &body);
        cm_view_pose pose;
        cm_view_dequantise(&config, &body, &pose);
        cr_assert(cm_vec_is_finite(pose.position));
        cr_assert(cm_quat_is_finite(pose.orientation));
    }
    // An orientation that is none is the identity; one of another length is normalised.
    carom_body_state state;
    memset(&state, 0, sizeof state);
    state.orientation = (carom_quat){0.9f, NAN, 0.0f, 0.1f};
    cm_view_body body, unit;
    cm_view_quantise(&config, &state, false, &body);
    cr_assert_eq(body.largest, 3);
    cr_assert_eq(body.orientation[0], 1023);
    state.orientation = (carom_quat){0.48f, 0.0f, 0.0f, 0.64f};
    cm_view_quantise(&config, &state, false, &body);
    state.orientation = (carom_quat){0.6f, 0.0f, 0.0f, 0.8f};
    cm_view_quantise(&config, &state, false, &unit);
    cr_assert(cm_view_equal(&body, &unit));
    cm_view_config none;
    cr_assert_neq(cm_view_config_make(cm_vec(0, 0, 0), cm_vec(NAN, 1, 1), 0.1f, &none), CAROM_OK);
    cr_assert_neq(cm_view_config_make(cm_vec(0, 0, 0), cm_vec(1, 1, 1), 0.0f, &none), CAROM_OK);
    cr_assert_neq(cm_view_config_make(cm_vec(0, 0, 0), cm_vec(1, 1, -1), 0.1f, &none), CAROM_OK);
    cr_assert_neq(cm_view_config_make(cm_vec(0, 0, 0), cm_vec(1, 3e38f, 1), 0.1f, &none), CAROM_OK);
}

Test(view, any_bits_are_a_body_in_range)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 7);
    cm_view_body body;
    memset(&body, 0, sizeof body);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[40];
        for (size_t b = 0; b < sizeof bytes; b++) {
            bytes[b] = (uint8_t)cm_rng_next(&rng);
        }
        cm_bit_reader r;
        cm_bit_reader_init(&r, bytes, cm_rng_below(&rng, sizeof bytes));
        cm_view_read(&r, &config, i % 3 == 0 ? NULL : &body, &body); // in place too
        for (int axis = 0; axis < 3; axis++) {
            cr_assert_lt(body.position[axis], 1u << config.position_bits[axis]);
            cr_assert_lt(body.orientation[axis], 2048);
            cr_assert(body.linear[axis] >= -32768 && body.linear[axis] <= 32767);
            cr_assert(body.angular[axis] >= -16384 && body.angular[axis] <= 16383);
        }
        cr_assert(body.largest < 4 && body.at_rest < 2 && body.has_velocity < 2);
        cm_view_pose pose;
        cm_view_dequantise(&config, &body, &pose);
        cr_assert(cm_quat_is_finite(pose.orientation));
        round_trip(&config, NULL, &body);
    }
}
