// Both files tick by tick, side by side.
#include "server/record/replay/match_diff.h"

#include <stdio.h>
#include <string.h>

#include "server/record/format/match_rows.h"

static bool same_events(const cm_tick_input *a, const cm_tick_input *b)
{
    if (a->event_count != b->event_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->event_count; i++) {
        const cm_game_event *x = &a->events[i], *y = &b->events[i];
        if (x->type != y->type || x->player != y->player || x->client_id != y->client_id ||
            x->size != y->size || (x->size > 0 && memcmp(x->bytes, y->bytes, x->size) != 0)) {
            return false;
        }
    }
    return true;
}

static bool same_inputs(const cm_tick_input *a, const cm_tick_input *b)
{
    if (a->input_count != b->input_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->input_count; i++) {
        if (a->inputs[i].player != b->inputs[i].player ||
            memcmp(a->inputs[i].bytes, b->inputs[i].bytes, CAROM_INPUT_MAX) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_scene(const cm_match_file *a, const cm_match_file *b)
{
    return memcmp(a->scene_hash, b->scene_hash, sizeof a->scene_hash) == 0;
}

static void compare_made(const cm_match_file *a, const cm_match_file *b,
                         cm_match_difference *difference)
{
    const cm_match_info *x = &a->info, *y = &b->info;
    const char *what = x->engine_version != y->engine_version            ? "engine_version"
                       : x->layout_hash != y->layout_hash                ? "layout_hash"
                       : strcmp(x->module, y->module) != 0               ? "module"
                       : x->module_abi != y->module_abi                  ? "module_abi"
                       : strcmp(x->module_source, y->module_source) != 0 ? "module_source"
                       : x->module_version != y->module_version          ? "module_version"
                       : x->seed != y->seed                              ? "seed"
                       : x->tick_rate != y->tick_rate                    ? "tick_rate"
                       : !same_scene(a, b)                               ? "scene"
                                                                         : "";
    difference->made_differs = what[0] != '\0';
    snprintf(difference->made, sizeof difference->made, "%s", what);
}

carom_result cm_match_compare(cm_match_file *a, cm_match_file *b, cm_match_difference *difference,
                              cm_match_error *error)
{
    cm_recorded_tick x, y;
    memset(difference, 0, sizeof *difference);
    compare_made(a, b, difference);
    difference->ticks[0] = a->info.ticks;
    difference->ticks[1] = b->info.ticks;
    cm_match_rewind(a);
    cm_match_rewind(b);
    while (!difference->input_differs || !difference->hash_differs) {
        carom_result first = cm_match_next(a, &x, error);
        carom_result second = first == CAROM_OK ? cm_match_next(b, &y, error) : first;
        if (second != CAROM_OK) {
            return second == CAROM_ERROR_NOT_FOUND ? CAROM_OK : second;
        }
        if (!difference->input_differs &&
            (!same_events(&x.input, &y.input) || !same_inputs(&x.input, &y.input))) {
            difference->input_differs = true;
            difference->input_tick = x.tick;
        }
        if (!difference->hash_differs && x.hash != y.hash) {
            difference->hash_differs = true;
            difference->hash_tick = x.tick;
        }
    }
    return CAROM_OK;
}
