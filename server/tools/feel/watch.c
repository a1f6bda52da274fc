// Typical: 60 frames a second of 408 bodies, of which some ten to forty move; a frame waits a third
// of a second for its truth.
#include "server/tools/feel/watch.h"

#include <stdlib.h>

#include "shared/base/vec.h"
#include "shared/view/smoothing.h"

#define RIGHT_M  0.02f  // an own body that far off is right again after a blackout
#define RIGHT_US 100000 // and stays so for as long
#define FEW      64u    // bodies: each frame is held against the bound; of more,
#define EACH     120u   // of so many frames
#define HELD     36u    // so many in a row,
#define SETTLE   8u     // but for the first of them
#define JUMP_M   1e-5f  // less is rounding

bool cm_feel_watch_init(cm_feel_watch *watch, uint32_t slots)
{
    watch->slots = slots;
    watch->bound = calloc(slots, sizeof *watch->bound);
    if (watch->bound == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < CM_FEEL_FRAMES; i++) {
        watch->ring[i].bodies = calloc(slots, sizeof *watch->ring[i].bodies);
        if (watch->ring[i].bodies == NULL) {
            return false;
        }
    }
    return true;
}

void cm_feel_watch_free(cm_feel_watch *watch)
{
    free(watch->bound);
    for (uint32_t i = 0; i < CM_FEEL_FRAMES; i++) {
        free(watch->ring[i].bodies);
    }
}

void cm_feel_watch_draw(cm_feel_watch *watch, const carom_client *client, uint64_t now_us,
                        const cm_feel_way *way, const cm_feel_known *known)
{
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    cm_feel_frame *frame = &watch->ring[watch->frames++ % CM_FEEL_FRAMES];
    frame->time_us = now_us;
    frame->own_tick = stats.predicted_at;
    frame->others_tick = stats.interpolated_at;
    frame->healed_us = way->healed_us;
    frame->cut = way->cut;
    frame->known = *known;
    watch->player = carom_client_player(client);
    for (uint32_t slot = 0; slot < watch->slots; slot++) {
        cm_feel_drawn *drawn = &frame->bodies[slot];
        carom_client_pose pose;
        carom_body_id id = {0, 0};
        if (slot < carom_client_body_slots(client)) {
            id = carom_client_body_at(client, slot);
        }
        *drawn = (cm_feel_drawn){.id = {0, 0}};
        if (id.generation != 0 && carom_client_body_pose(client, id, &pose) == CAROM_OK) {
            *drawn = (cm_feel_drawn){id, pose.predicted, pose.position, pose.linear_velocity};
        }
    }
}

static void judge_recovery(cm_feel_watch *watch, const cm_feel_frame *frame, float error,
                           cm_feel_found *found)
{
    if (frame->cut || frame->healed_us == watch->recovered_us) {
        watch->right_us = 0;
        return;
    }
    watch->right_us =
        error > RIGHT_M ? 0 : (watch->right_us > 0 ? watch->right_us : frame->time_us);
    bool right = watch->right_us > 0 && frame->time_us >= watch->right_us + RIGHT_US;
    double ms = (double)((right ? watch->right_us : frame->time_us) - frame->healed_us) * 1e-3;
    if (right) {
        watch->recovered_us = frame->healed_us;
    }
    // One that is not right yet counts as far as it has come.
    if ((right || error > RIGHT_M) && ms > found->recovery_ms_max) {
        found->recovery_ms_max = ms;
    }
}

static float pop_of(const cm_feel_drawn *a, const cm_feel_drawn *b, float seconds)
{
    carom_vec3 way = cm_scale(0.5f * seconds, cm_add(a->velocity, b->velocity));
    return cm_length(cm_sub(cm_sub(b->position, a->position), way));
}

// The bodies as they would be shown now by what was known at the last frame.
static void hold_bound(cm_feel_watch *watch, const cm_feel_frame *frame, const cm_feel_truth *truth)
{
    bool shown = watch->bounded > 0 && cm_feel_bound_show(truth->bound, &watch->bound_known,
                                                          watch->player, frame->own_tick);
    for (uint32_t slot = 0; slot < watch->slots; slot++) {
        cm_feel_bounded *row = &watch->bound[slot];
        carom_vec3 velocity;
        row->held =
            shown && cm_feel_bound_body(truth->bound, row->drawn.id, &row->before, &velocity);
    }
}

// The jump to what is known now is worn off as the client does it.
static void smooth_bound(cm_feel_bounded *row, cm_feel_drawn *now, bool other, float seconds)
{
    const carom_client_def def = carom_default_client_def();
    bool same = row->held && row->drawn.id.generation == now->id.generation;
    if (!same) {
        row->offset = cm_vec(0.0f, 0.0f, 0.0f);
        row->left_s = 0.0f;
        return;
    }
    carom_vec3 jump = cm_sub(row->before, now->position);
    float far = cm_length(jump);
    if (far > JUMP_M) {
        row->left_s =
            cm_smoothing_left(def.smoothing_s, other, cm_length(row->offset), row->left_s, far);
        row->offset = cm_add(row->offset, jump);
    }
    bool snaps = cm_length(row->offset) > def.snap_distance;
    float keep = snaps ? 0.0f : cm_smoothing_keep(row->left_s, seconds);
    row->left_s -= seconds;
    row->offset = cm_scale(keep, row->offset);
    now->position = cm_add(now->position, row->offset);
}

static void judge_bound(cm_feel_watch *watch, const cm_feel_frame *frame,
                        const cm_feel_truth *truth, cm_feel_found *found)
{
    if (watch->slots > FEW && watch->judged % EACH >= HELD) {
        watch->bounded = 0;
        return;
    }
    hold_bound(watch, frame, truth);
    bool shown = cm_feel_bound_show(truth->bound, &frame->known, watch->player, frame->own_tick);
    watch->bounded = shown ? watch->bounded + 1 : 0;
    float seconds = (float)(frame->time_us - watch->bound_us) * 1e-6f;
    watch->bound_us = frame->time_us;
    watch->bound_known = frame->known;
    for (uint32_t slot = 0; slot < watch->slots && shown; slot++) {
        cm_feel_bounded *row = &watch->bound[slot];
        cm_feel_drawn now = {.id = frame->bodies[slot].id};
        cm_feel_true_body true_body;
        if (!cm_feel_bound_body(truth->bound, now.id, &now.position, &now.velocity) ||
            !cm_feel_truth_at(truth, now.id, frame->own_tick, &true_body)) {
            row->drawn.id.generation = 0;
            continue;
        }
        bool other = true_body.player != watch->player && true_body.player != CM_FEEL_NOBODY;
        const cm_feel_drawn bare = now;
        smooth_bound(row, &now, other, seconds);
        float error = cm_length(cm_sub(now.position, true_body.position));
        float bare_error = cm_length(cm_sub(bare.position, true_body.position));
        if (watch->bounded <= SETTLE) {
            // offsets of before the first frame are not there yet
        } else if (true_body.player == watch->player) {
            cm_feel_tally_add(&found->bound_own, error);
            cm_feel_tally_add(&found->bare_own, bare_error);
        } else if (other || true_body.moves) {
            cm_feel_tally_add(other ? &found->bound_others : &found->bound_shared, error);
            cm_feel_tally_add(other ? &found->bare_others : &found->bare_shared, bare_error);
        }
        if (other && watch->bounded > SETTLE && row->held) {
            cm_feel_tally_add(&found->bound_pops, pop_of(&row->drawn, &now, seconds));
            cm_feel_tally_add(&found->bare_pops, pop_of(&row->bare, &bare, seconds));
        }
        row->drawn = now;
        row->bare = bare;
    }
}

static void judge_body(cm_feel_watch *watch, const cm_feel_frame *before,
                       const cm_feel_frame *frame, uint32_t slot, const cm_feel_truth *truth,
                       cm_feel_found *found)
{
    const cm_feel_drawn *drawn = &frame->bodies[slot];
    cm_feel_true_body now;
    if (drawn->id.generation == 0 || !cm_feel_truth_at(truth, drawn->id, frame->own_tick, &now)) {
        return;
    }
    bool followed = before != NULL && before->bodies[slot].id.generation == drawn->id.generation;
    float error = cm_length(cm_sub(drawn->position, now.position));
    float pop = followed ? pop_of(&before->bodies[slot], drawn,
                                  (float)(frame->time_us - before->time_us) * 1e-6f)
                         : 0.0f;
    if (now.player == watch->player) {
        cm_feel_true_body shown = now;
        if (!drawn->predicted) {
            (void)cm_feel_truth_at(truth, drawn->id, frame->others_tick, &shown);
        }
        float own = cm_length(cm_sub(drawn->position, shown.position));
        cm_feel_tally_add(&found->own, own);
        found->own_max = own > found->own_max ? own : found->own_max;
        judge_recovery(watch, frame, error, found);
        if (followed) {
            cm_feel_tally_add(&found->own_pops, pop);
        }
    } else if (now.player != CM_FEEL_NOBODY) {
        cm_feel_tally_add(&found->others, error);
        if (followed) {
            cm_feel_tally_add(&found->pops, pop);
        }
    } else if (now.moves) {
        cm_feel_tally_add(&found->shared, error);
    }
}

void cm_feel_watch_judge(cm_feel_watch *watch, const cm_feel_truth *truth, uint64_t from_us,
                         cm_feel_found *found)
{
    while (watch->judged < watch->frames) {
        const cm_feel_frame *frame = &watch->ring[watch->judged % CM_FEEL_FRAMES];
        bool waits = frame->own_tick + 1.0 >= (double)truth->newest &&
                     watch->frames - watch->judged < CM_FEEL_FRAMES - 1;
        if (waits) {
            return;
        }
        const cm_feel_frame *before =
            watch->judged > 0 ? &watch->ring[(watch->judged - 1) % CM_FEEL_FRAMES] : NULL;
        for (uint32_t slot = 0; slot < watch->slots && frame->time_us >= from_us; slot++) {
            judge_body(watch, before, frame, slot, truth, found);
        }
        if (truth->bound != NULL && frame->time_us >= from_us) {
            judge_bound(watch, frame, truth, found);
        }
        watch->judged++;
    }
}
