// A new direction every half to one and a half seconds; the button held a quarter of the time.
#include "server/tools/bots/course.h"

#include <string.h>

#define TURN_MIN_US 500000u
#define TURN_US     1000000u
#define SANDBOX     9u  // bytes of its input
#define DRAWS       64u // of a random input, until check_input takes one

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

// One byte of what is held, all bytes anew, or small signed numbers: what modules make of bytes
// differs, and most take one of these.
static void draw(cm_rng *rng, uint8_t input[CAROM_INPUT_MAX], uint32_t size)
{
    uint32_t kind = cm_rng_below(rng, 3);
    uint32_t at = cm_rng_below(rng, size);
    for (uint32_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)cm_rng_next(rng);
        if (kind == 0 || (kind == 1 && i == at)) {
            input[i] = byte;
        } else if (kind == 2) {
            input[i] = (uint8_t)(byte % 3 - 1);
        }
    }
}

// A random input of an unknown game. If check_input refuses all tries the previous input stays.
static void play_at_random(cm_bot_course *course, const carom_module *module, carom_client *client,
                           uint64_t now_us)
{
    if (now_us < course->turn_us || module->input_size == 0) {
        return;
    }
    course->turn_us = now_us + TURN_MIN_US / 2 + cm_rng_below(&course->rng, TURN_US / 2);
    bool taken = false;
    for (uint32_t i = 0; i < DRAWS && !taken; i++) {
        uint8_t input[CAROM_INPUT_MAX];
        memcpy(input, course->input, sizeof input);
        draw(&course->rng, input, module->input_size);
        taken = carom_client_set_input(client, input, module->input_size) == CAROM_OK;
        memcpy(course->input, taken ? input : course->input, sizeof course->input);
    }
}

void cm_bot_steer(cm_bot_course *course, const carom_module *module, cm_bots_pattern pattern,
                  carom_client *client, uint64_t now_us)
{
    if (module != NULL && pattern == CM_BOTS_IDLE) {
        return; // zeros, as at first
    }
    if (module != NULL && module->bot != NULL) {
        (void)carom_client_play_bot(client, cm_rng_next(&course->rng));
    } else if (module != NULL) {
        play_at_random(course, module, client, now_us);
    } else {
        if (now_us >= course->turn_us) {
            choose(course, pattern, now_us);
        }
        (void)carom_client_set_input(client, course->input, SANDBOX);
    }
}
