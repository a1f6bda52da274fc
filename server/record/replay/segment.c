// Running a segment and comparing it: the hash after every tick, the whole state at its end.
//
// Hashes of state have 64 bits and no secret: who could make a keyframe of another state with the
// hash of the true one would have a match go on from it. So the keyframe at a segment's end is
// compared byte by byte, as the encoder spells both states. Inputs are put to the module's own
// check, as they were when they arrived.
#include "server/record/replay/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_db.h"
#include "server/record/replay/playback.h"
#include "shared/room/timeline.h"
#include "shared/sim/inspect.h"

struct cm_segment {
    cm_segment_def def;
    carom_game *game, *recorded;
    cm_timeline *timeline; // of the game
    uint64_t before;       // the hash before the last tick
    cm_segment_outcome out;
};

carom_result cm_segment_create(const cm_segment_def *def, cm_segment **out)
{
    cm_segment *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    s->def = *def;
    carom_result result = cm_game_create(def->scene, def->module, def->seed, NULL, &s->game);
    if (result == CAROM_OK) {
        result = cm_game_create(def->scene, def->module, def->seed, NULL, &s->recorded);
    }
    if (result == CAROM_OK) {
        s->timeline = cm_timeline_create(&(cm_timeline_def){.game = s->game});
        result = s->timeline != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    }
    if (result != CAROM_OK) {
        cm_segment_destroy(s);
        *out = NULL;
    }
    return result;
}

void cm_segment_destroy(cm_segment *s)
{
    if (s != NULL) {
        cm_timeline_destroy(s->timeline);
        if (s->game != NULL) {
            cm_game_destroy(s->game);
        }
        if (s->recorded != NULL) {
            cm_game_destroy(s->recorded);
        }
        free(s);
    }
}

static void decode(cm_segment *s, carom_game *game, const cm_segment_keyframe *keyframe)
{
    if (cm_game_decode(game, keyframe->bytes, keyframe->size) != CAROM_OK ||
        carom_game_tick(game) != keyframe->tick) {
        s->out.result =
            cm_match_wrong(&s->out.report.error, CAROM_ERROR_CORRUPT,
                           "keyframes: row %llu: packed: no state of this scene at that tick",
                           (unsigned long long)keyframe->tick);
    }
}

void cm_segment_begin(cm_segment *s, const cm_segment_keyframe *start)
{
    memset(&s->out, 0, sizeof s->out);
    if (start != NULL) {
        decode(s, s->game, start);
        cm_timeline_start(s->timeline);
        s->out.report.verified_ticks = start->tick;
        s->out.report.final_hash = s->before = cm_game_hash(s->game);
    }
}

// Ticks ------------------------------------------------------------------------------------------

static void diverged(cm_segment *s, uint64_t tick, uint64_t recorded, uint64_t replayed)
{
    cm_replay_report *report = &s->out.report;
    s->out.result = CAROM_ERROR_DIVERGED;
    report->diverged = true;
    report->diverged_tick = tick;
    report->recorded_hash = recorded;
    report->replayed_hash = replayed;
}

bool cm_segment_tick(cm_segment *s, const cm_recorded_tick *tick)
{
    if (s->out.result != CAROM_OK && s->out.result != CAROM_ERROR_DIVERGED) {
        return false;
    }
    if (tick->tick > carom_game_tick(s->game)) { // else it is the state with which a match begins
        carom_result result = cm_playback_check_inputs(s->game, tick, &s->out.report.error);
        if (result != CAROM_OK) {
            // The difference came before it, and is what there is to say.
            s->out.result = s->out.report.diverged ? CAROM_ERROR_DIVERGED : result;
            return false;
        }
        cm_timeline_step(s->timeline, &tick->input);
    }
    if (s->out.report.diverged) {
        return true;
    }
    uint64_t hash = cm_game_hash(s->game);
    if (hash != tick->hash) {
        diverged(s, tick->tick, tick->hash, hash);
        return true;
    }
    s->before = s->out.report.final_hash;
    s->out.report.final_hash = hash;
    s->out.report.verified_ticks = tick->tick;
    return true;
}

// The end ----------------------------------------------------------------------------------------

static uint8_t *encode(const carom_game *game, size_t *size)
{
    *size = cm_game_encode_size(game);
    uint8_t *bytes = malloc(*size);
    if (bytes != NULL && cm_game_encode(game, bytes, *size) != *size) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static void describe(cm_segment *s, uint64_t tick, bool same)
{
    char *text = s->out.report.difference;
    size_t size = sizeof s->out.report.difference;
    char body[32] = "";
    cm_difference d;
    if (cm_world_difference(carom_game_world(s->recorded), carom_game_world(s->game), &d)) {
        if (d.body != UINT32_MAX) {
            snprintf(body, sizeof body, "body %u, ", d.body);
        }
        snprintf(text, size,
                 "at the keyframe of tick %llu: %s%s %u, %s[%u]: recorded %s, replayed %s",
                 (unsigned long long)tick, body, d.section, d.row, d.field, d.element, d.first,
                 d.second);
    } else if (same) {
        snprintf(text, size,
                 "at the keyframe of tick %llu the states are equal: the recorded hash is wrong",
                 (unsigned long long)tick);
    } else {
        snprintf(text, size,
                 "at the keyframe of tick %llu: the bodies are equal, players or module are not",
                 (unsigned long long)tick);
    }
}

// The replayed state against the keyframe of its tick.
static void compare(cm_segment *s, const cm_segment_keyframe *end)
{
    cm_segment_outcome *out = &s->out;
    out->recorded = encode(s->recorded, &out->recorded_size);
    out->replayed = encode(s->game, &out->replayed_size);
    if (out->recorded == NULL || out->replayed == NULL) {
        out->result = CAROM_ERROR_MEMORY;
        return;
    }
    bool same = out->recorded_size == out->replayed_size &&
                memcmp(out->recorded, out->replayed, out->recorded_size) == 0;
    if (!out->report.diverged && !same) {
        diverged(s, end->tick, cm_game_hash(s->recorded), cm_game_hash(s->game));
        out->report.verified_ticks = end->tick - 1;
        out->report.final_hash = s->before;
    }
    if (out->report.diverged) {
        describe(s, end->tick, same);
    } else {
        out->report.keyframes = 1;
    }
}

static void drop_states(cm_segment_outcome *out)
{
    free(out->recorded);
    free(out->replayed);
    out->recorded = out->replayed = NULL;
}

void cm_segment_end(cm_segment *s, const cm_segment_keyframe *end, cm_segment_outcome *outcome)
{
    cm_segment_outcome *out = &s->out;
    bool runs = out->result == CAROM_OK || out->result == CAROM_ERROR_DIVERGED;
    // After an input that was refused, behind a difference, the states are of different ticks.
    if (end != NULL && runs && carom_game_tick(s->game) == end->tick) {
        decode(s, s->recorded, end);
        if (out->result != CAROM_ERROR_CORRUPT) {
            compare(s, end);
        } else if (out->report.diverged) {
            out->result = CAROM_ERROR_DIVERGED; // which came first; nothing describes it
        }
    }
    if (out->result != CAROM_ERROR_DIVERGED || !s->def.keep_states) {
        drop_states(out);
    }
    *outcome = *out;
    memset(out, 0, sizeof *out);
}
