// Typical: 60 frames a second of 408 bodies, of which some ten to forty move; a frame waits a third
// of a second for its truth.
#include "server/tools/feel/watch.h"

#include <stdlib.h>

#include "shared/base/vec.h"

#define RIGHT_M  0.02f  // an own body that far off is right again after a blackout
#define RIGHT_US 100000 // and stays so for as long
#define EACH     8u     // of so many frames two, one behind the other, are held against the bound

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

static void judge_bound(cm_feel_watch *watch, const cm_feel_frame *frame,
                        const cm_feel_truth *truth, cm_feel_found *found)
{
    bool again = watch->judged % EACH == 1 && watch->bounded;
    watch->bounded = watch->judged % EACH < 2 && cm_feel_bound_show(truth->bound, &frame->known,
                                                                    watch->player, frame->own_tick);
    float seconds = (float)(frame->time_us - watch->bound_us) * 1e-6f;
    watch->bound_us = frame->time_us;
    for (uint32_t slot = 0; slot < watch->slots && watch->bounded; slot++) {
        cm_feel_drawn *last = &watch->bound[slot], now = {.id = frame->bodies[slot].id};
        cm_feel_true_body true_body;
        if (!cm_feel_bound_body(truth->bound, now.id, &now.position, &now.velocity) ||
            !cm_feel_truth_at(truth, now.id, frame->own_tick, &true_body)) {
            last->id.generation = 0;
            continue;
        }
        float error = cm_length(cm_sub(now.position, true_body.position));
        bool other = true_body.player != watch->player && true_body.player != CM_FEEL_NOBODY;
        if (true_body.player == watch->player) {
            cm_feel_tally_add(&found->bound_own, error);
        } else if (other || true_body.moves) {
            cm_feel_tally_add(other ? &found->bound_others : &found->bound_shared, error);
        }
        if (other && again && last->id.generation == now.id.generation) {
            cm_feel_tally_add(&found->bound_pops, pop_of(last, &now, seconds));
        }
        *last = now;
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
