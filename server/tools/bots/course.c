// A new direction every half to one and a half seconds; the button held a quarter of the time.
#include "server/tools/bots/course.h"

#include <string.h>

#define TURN_MIN_US 500000u
#define TURN_US     1000000u

static void put_float(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

void cm_bot_course_begin(cm_bot_course *course, uint64_t seed)
{
    memset(course, 0, sizeof *course);
    cm_rng_seed(&course->rng, seed);
}

static void choose(cm_bot_course *course, cm_bots_pattern pattern, uint64_t now_us)
{
    course->turn_us = now_us + TURN_MIN_US + cm_rng_below(&course->rng, TURN_US);
    float x = cm_rng_range(&course->rng, -1.0f, 1.0f);
    float z = cm_rng_range(&course->rng, -1.0f, 1.0f);
    uint32_t buttons = cm_rng_below(&course->rng, 4) == 0 ? 1u : 0u;
    if (cm_rng_below(&course->rng, 10) == 0) {
        buttons |= 2u;
    }
    bool idle = pattern == CM_BOTS_IDLE;
    put_float(course->input, idle ? 0.0f : x);
    put_float(course->input + 4, idle ? 0.0f : z);
    course->input[8] = (uint8_t)(pattern == CM_BOTS_WANDER ? buttons : 0);
}

void cm_bot_steer(cm_bot_course *course, cm_bots_pattern pattern, carom_client *client,
                  uint64_t now_us)
{
    if (now_us >= course->turn_us) {
        choose(course, pattern, now_us);
    }
    (void)carom_client_set_input(client, course->input, sizeof course->input);
}
