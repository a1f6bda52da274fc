// Comparing the prediction with a view, and correcting it.
//
// A view of tick T is compared with the state saved for T, body by body, to the grain of the
// quantisation: a correction within that grain would add the quantisation's own noise. A body that
// is far away stands still (static: it costs no solving) at the mirror's place. A body that the
// server left at rest and will not mention again is corrected once it has differed for a while; the
// own body at once, since it goes first in every view.
//
// Where two players press against each other in a room that keeps inputs secret, that of the other
// one is not known, and without it the prediction would push that body away. The server says that
// it rests: so it stands still here, until a view says that it moves or the own body has gone
// elsewhere. Typical: 30 views a second, 50 bodies simulated of 400.
#include "client-sdk/src/catchup.h"
#include "client-sdk/src/nearby.h"
#include "client-sdk/src/placed.h"

#include <string.h>

#include "shared/base/vec.h"
#include "shared/wire/input_relay.h"

#define BLOCK         64u   // bodies read at once
#define DOUBT_S       0.25f // that a body at rest may differ
#define LET_GO_M      0.5f  // on the server, from where the own body pushed a blocked one
#define LEAVE_FACTOR  1.25f // of the distance: who is simulated stays so for longer
#define TOUCHED_MAX   32u   // contacts of the own body
#define GONE_S        0.5f  // that a body may be there in the mirror alone, or here alone
#define WAIT_S        0.25f // that a view may wait until the budget can pay for it
#define BODY_S        1.0f  // that the message of the own body may be late: lost twice, far away
#define RESTING       0.1f  // of what a body that moves costs
#define AWAKE         0.1f  // m/s and rad/s
#define MEMBER_ROUNDS 3u    // views between two looks at who is near

// The error up to which a prediction still counts as right.
typedef struct tolerance {
    float position_steps; // of the quantisation, each axis
    float turn;           // 1 - |dot|
    float linear, angular;
} tolerance;

static const tolerance tight = {1.0f, CM_PLACED_TURN, 3.0f / 256.0f, 8.0f / 256.0f};
static const tolerance loose = {3.0f, 1.0e-5f, 16.0f / 256.0f, 64.0f / 256.0f};
static const tolerance lying = {16.0f, 1.0e-4f, 64.0f / 256.0f, 1.0f};

static bool beyond(carom_vec3 a, carom_vec3 b, float most)
{
    return cm_abs(a.x - b.x) > most || cm_abs(a.y - b.y) > most || cm_abs(a.z - b.z) > most;
}

static bool differs(const cm_predictor *p, carom_body_id id, const cm_view_pose *pose,
                    const tolerance *allowed)
{
    carom_body_state state;
    if (carom_body_get(p->world, id, &state) != CAROM_OK) {
        return false;
    }
    carom_quat a = state.orientation, b = pose->orientation;
    float dot = cm_abs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
    if (beyond(state.position, pose->position,
               allowed->position_steps * p->mirror->config.position_step) ||
        1.0f - dot > allowed->turn) {
        return true;
    }
    if (!pose->has_velocity && !pose->at_rest) {
        return false; // estimated velocities prove nothing
    }
    return beyond(state.linear_velocity, pose->linear_velocity, allowed->linear) ||
           beyond(state.angular_velocity, pose->angular_velocity, allowed->angular);
}

// Keeps the poses that would be shown at `tick`, before the correction moves them.
void cm_predictor_hold_shown(cm_predictor *p, uint64_t tick)
{
    for (uint32_t i = 0; i < p->mirror->slots; i++) {
        cm_predict_slot *slot = &p->slots[i];
        carom_body_id id = {i, slot->generation};
        carom_client_pose pose;
        slot->held = slot->generation != 0 && cm_predictor_pose(p, id, (double)tick + 1.0, &pose);
        if (slot->held) {
            slot->before = (cm_place){pose.position, pose.orientation};
        }
    }
}

// The body is another player's.
static bool is_steered(const cm_predictor *p, carom_body_id id)
{
    uint64_t others = cm_game_players(p->mirror->game) & ~(UINT64_C(1) << p->mirror->player);
    for (; others != 0; others &= others - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(others);
        if (carom_body_id_equal(cm_game_player_body(p->mirror->game, player), id)) {
            return true;
        }
    }
    return false;
}

// The difference between what was shown and what is now becomes the offset (smoothing.h).
static void smooth_from(const cm_predictor *p, cm_predict_slot *slot, cm_place now, cm_place shown)
{
    carom_vec3 offset = cm_sub(shown.position, now.position);
    float before = slot->smooth ? cm_length(slot->offset) : 0.0f;
    float jump = slot->smooth ? cm_length(cm_sub(offset, slot->offset)) : 0.0f;
    const carom_body_id id = {(uint32_t)(slot - p->slots), slot->generation};
    slot->left_s = cm_smoothing_left(p->smoothing_s, is_steered(p, id), before, slot->left_s, jump);
    slot->offset = offset;
    slot->turn = cm_quat_mul(shown.orientation, cm_quat_conjugate(now.orientation));
    if (slot->turn.w < 0.0f) {
        carom_quat t = slot->turn;
        carom_quat opposite = {-t.x, -t.y, -t.z, -t.w};
        slot->turn = opposite;
    }
    slot->smooth = 1;
    if (cm_length(slot->offset) > p->snap_m) {
        slot->smooth = 0;
        slot->offset = cm_vec(0.0f, 0.0f, 0.0f);
        slot->turn = cm_quat_identity();
    }
}

void cm_predictor_smooth_corrected(cm_predictor *p)
{
    for (uint32_t i = 0; i < p->mirror->slots; i++) {
        cm_predict_slot *slot = &p->slots[i];
        carom_body_id id = {i, slot->generation};
        carom_body_state state;
        if (slot->held && slot->simulated && carom_body_get(p->world, id, &state) == CAROM_OK) {
            smooth_from(p, slot, cm_predictor_place(&state), slot->before);
        }
    }
}

void cm_predictor_corrected(cm_predictor *p, carom_body_id own)
{
    p->stats.reconciles++;
    cm_predictor_smooth_corrected(p);
    cm_touch_after(p->touch, p->world, own);
}

// Bodies nearby --------------------------------------------------------------------------------

// Changes whether a body is simulated; its shown pose glides from one to the other.
static void switch_body(cm_predictor *p, carom_body_id id, bool simulated, uint64_t newest)
{
    cm_predict_slot *slot = &p->slots[id.index];
    carom_client_pose other;
    carom_body_state state;
    bool known = cm_interp_pose(p->interp, id, p->render, p->mirror->tick_rate, &other);
    const cm_place place = {other.position, other.orientation};
    slot->simulated = simulated;
    slot->blocked = 0;
    cm_placed_put(p, id, cm_predictor_tick(p));
    if (!simulated && known && slot->held) {
        smooth_from(p, slot, place, slot->before);
    } else if (simulated && carom_body_get(p->world, id, &state) == CAROM_OK) {
        slot->previous = cm_predictor_place(&state);
        if (known) {
            slot->held = true;
            slot->before = place;
            smooth_from(p, slot, slot->previous, place);
        }
    }
    slot->doubt_tick = 0;
    slot->touched = newest;
}

static carom_vec3 place_of(const carom_world *world, carom_body_id id)
{
    carom_body_state state;
    if (carom_body_get(world, id, &state) != CAROM_OK) {
        return cm_vec(0.0f, 0.0f, 0.0f);
    }
    return state.position;
}

// Lists the bodies that might be simulated, nearest first.
static uint32_t list_near(cm_predictor *p, carom_body_id own, carom_vec3 ahead)
{
    const carom_world *world = p->mirror->world;
    const cm_middles m = cm_nearby_middles(p, place_of(world, own), ahead);
    uint32_t slots = carom_world_body_slots(world), count = 0;
    for (uint32_t i = 0; i < slots && i < p->mirror->slots; i++) {
        cm_predict_slot *slot = &p->slots[i];
        slot->is_chosen = slot->touches = false;
        if (slot->generation != 0 && slot->was == CAROM_BODY_DYNAMIC && i != own.index) {
            carom_body_id id = {i, slot->generation};
            carom_vec3 place = place_of(slot->simulated ? p->world : world, id);
            float far = cm_nearby_distance(&m, place);
            p->near[count++] = (cm_near){slot->simulated ? far / LEAVE_FACTOR : far, i};
        }
    }
    carom_body_contact touched[TOUCHED_MAX];
    uint32_t contacts = carom_body_contacts(p->world, own, touched, TOUCHED_MAX);
    for (uint32_t i = 0; i < contacts && i < TOUCHED_MAX; i++) {
        if (touched[i].other_body.index < p->mirror->slots) {
            p->slots[touched[i].other_body.index].touches = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        p->near[i].distance = p->slots[p->near[i].slot].touches ? 0.0f : p->near[i].distance;
    }
    cm_nearby_order(p->near, count);
    return count;
}

// It moves, here or on the server; else it sleeps soon, and a step passes it by.
static bool is_awake(const cm_predictor *p, uint32_t index)
{
    const carom_body_id id = {index, p->slots[index].generation};
    carom_body_state state;
    bool moves =
        p->slots[index].simulated && carom_body_get(p->world, id, &state) == CAROM_OK &&
        cm_length_squared(state.linear_velocity) + cm_length_squared(state.angular_velocity) >
            AWAKE * AWAKE;
    return moves || !cm_placed_rests(p, id);
}

// Returns true where a moving body came in: its motion since the view has to be stepped.
static bool choose_near(cm_predictor *p, carom_body_id own, carom_vec3 ahead, uint64_t newest)
{
    uint32_t count = list_near(p, own, ahead), room = cm_nearby_room(p);
    bool moving = false;
    float spent = 0.0f;
    uint32_t chosen = 0;
    while (chosen < count && spent < (float)room) {
        uint32_t slot = p->near[chosen++].slot;
        p->slots[slot].is_chosen = true;
        spent += is_awake(p, slot) ? 1.0f : RESTING;
    }
    p->simulated = (uint32_t)spent;
    for (uint32_t i = 0; i < p->mirror->slots; i++) {
        cm_predict_slot *slot = &p->slots[i];
        if (slot->generation == 0 || slot->was != CAROM_BODY_DYNAMIC || i == own.index ||
            slot->is_chosen == (slot->simulated != 0)) {
            continue;
        }
        carom_body_id id = {i, slot->generation};
        switch_body(p, id, slot->is_chosen, newest);
        moving = moving || (slot->is_chosen &&
                            !(p->mirror->bodies[i].known && p->mirror->bodies[i].pose.at_rest));
    }
    return moving;
}

// Starting anew ----------------------------------------------------------------------------

// The other players hold what they held at `tick`, as far as that was relayed, else nothing: what
// they held at the keyframe is long past.
static void hold_inputs(cm_predictor *p, uint64_t tick)
{
    static const uint8_t none[CAROM_INPUT_MAX];
    cm_inbox *inbox = cm_timeline_inbox(p->timeline);
    uint64_t others = cm_game_players(p->game) & ~(UINT64_C(1) << p->mirror->player);
    for (; others != 0; others &= others - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(others);
        const uint8_t *held = NULL;
        for (uint64_t t = tick; held == NULL && t > 0 && tick - t < CM_RELAY_BACK_MAX; t--) {
            held = cm_inbox_input(inbox, 0, player, t);
        }
        if (cm_inbox_input(inbox, 0, player, tick + 1) == NULL) {
            cm_inbox_put(inbox, tick, player, tick + 1, held != NULL ? held : none);
        }
    }
    (void)cm_inbox_pop_late(inbox); // what is later than this is stepped from here on
}

// The body of a slot, null where nothing lives there, as the mirror has it.
static void start_body(cm_predictor *p, carom_body_id own, uint32_t index, carom_body_id id,
                       carom_body_type type)
{
    cm_predict_slot *slot = &p->slots[index];
    if (slot->generation != id.generation) {
        memset(slot, 0, sizeof *slot);
        slot->turn = cm_quat_identity();
    }
    slot->generation = id.generation;
    slot->apart_tick = 0;
    if (carom_body_id_is_null(id)) {
        return;
    }
    carom_body_state state;
    slot->was = (uint8_t)type;
    slot->doubt_tick = 0;
    slot->blocked = slot->blocked && cm_placed_rests(p, id);
    slot->touched = 0;
    slot->seen_tick = p->mirror->bodies[index].tick;
    slot->simulated = index == own.index || (slot->simulated && slot->was == CAROM_BODY_DYNAMIC);
    cm_placed_put(p, id, cm_predictor_tick(p));
    (void)carom_body_get(p->world, id, &state); // live, as above
    slot->previous = cm_predictor_place(&state);
}

// The mirror's state as of `tick`; nothing of the prediction is kept.
static bool start(cm_predictor *p, carom_body_id own, uint64_t tick)
{
    p->ready = cm_timeline_copy(p->timeline, p->mirror->game);
    if (!p->ready) {
        return false;
    }
    cm_game_set_tick(p->game, tick);
    p->rebuild = false;
    p->started = tick;
    hold_inputs(p, tick);
    p->structure = p->mirror->structure;
    for (uint32_t first = 0; first < p->mirror->slots; first += BLOCK) {
        uint32_t left = p->mirror->slots - first, count = left < BLOCK ? left : BLOCK;
        carom_body_id ids[BLOCK];
        carom_body_state states[BLOCK];
        carom_world_read_bodies(p->world, first, count, ids, states);
        for (uint32_t i = 0; i < count; i++) {
            start_body(p, own, first + i, ids[i], states[i].type);
        }
    }
    (void)choose_near(p, own, place_of(p->world, own), tick);
    return cm_timeline_start(p->timeline);
}

// Comparing --------------------------------------------------------------------------------

static void note_error(cm_predictor *p, carom_body_id own, uint64_t tick)
{
    const cm_mirror_body *mine = &p->mirror->bodies[own.index];
    const cm_shown *shown = &p->shown[tick % p->ring];
    // A body that rests and is not in the view has not moved.
    if (shown->tick != tick || (!cm_placed_rests(p, own) && mine->tick != tick)) {
        return;
    }
    cm_view_pose pose;
    cm_placed_pose(p, own, tick, &pose);
    cm_predictor_note_error(p, (double)cm_length(cm_sub(shown->position, pose.position)));
}

void cm_predictor_note_error(cm_predictor *p, double error)
{
    cm_predict_stats *stats = &p->stats;
    stats->error_count++;
    stats->error_sum += error;
    stats->error_max = error > stats->error_max ? error : stats->error_max;
    double bound = 1.0e-4;
    uint32_t bucket = 0;
    while (error >= bound && bucket < CAROM_ERROR_BUCKETS - 1) {
        bound *= 1.25;
        bucket++;
    }
    stats->error_buckets[bucket]++;
}

// On the server, by the newest view: a correction moves the predicted one though nobody went away.
static carom_vec3 seen_at(const cm_predictor *p, carom_body_id id)
{
    cm_view_pose pose;
    cm_placed_pose(p, id, 0, &pose);
    return pose.position;
}

// The body begins, or ceases, to be blocked.
static void block(cm_predictor *p, carom_body_id id, bool blocked, uint64_t newest)
{
    cm_predict_slot *slot = &p->slots[id.index];
    carom_body_id own = cm_game_player_body(p->mirror->game, p->mirror->player);
    slot->blocked = blocked;
    slot->pushed = seen_at(p, own);
    slot->touched = newest;
    cm_placed_put(p, id, cm_predictor_tick(p));
}

// In doubt since that tick: for long enough.
static bool is_long(const cm_predictor *p, uint32_t since)
{
    uint32_t ticks = (uint32_t)cm_predictor_tick(p) - since;
    return (float)ticks >= DOUBT_S * (float)p->mirror->tick_rate;
}

// True if the server says so for long enough, or with this view.
static bool is_certain(const cm_predictor *p, cm_predict_slot *slot, bool news)
{
    uint32_t tick = (uint32_t)cm_predictor_tick(p);
    slot->doubt_tick = slot->doubt_tick > 0 ? slot->doubt_tick : tick;
    return news || is_long(p, slot->doubt_tick);
}

// A body at rest that the own one touches is right to the grain, as that one is (`own`): correcting
// one of two who lean on each other would let them slide until the next view.
static tolerance allowed_of(const cm_predictor *p, const cm_view_pose *pose, bool own, bool news,
                            uint32_t tick)
{
    bool late = tick < cm_predictor_tick(p) && !pose->at_rest;
    return own && !late ? tight : (news && !late ? loose : lying);
}

// One simulated body against the view; true where it was corrected.
static bool check_body(cm_predictor *p, carom_body_id id, carom_body_id own, bool news,
                       uint64_t newest)
{
    cm_predict_slot *slot = &p->slots[id.index];
    bool is_own = id.index == own.index, rests = cm_placed_rests(p, id);
    if (slot->blocked) {
        carom_vec3 gone = cm_sub(seen_at(p, own), slot->pushed);
        if (rests && cm_length(gone) < LET_GO_M) {
            return false;
        }
        block(p, id, false, newest);
        return true;
    }
    if (!news && !rests) {
        return false;
    }
    cm_view_pose pose;
    cm_placed_pose(p, id, cm_predictor_tick(p), &pose);
    // A player who rests holds a place: it must not creep within what lying bodies may.
    bool fresh = news || (rests && is_steered(p, id));
    bool leans = fresh && rests && slot->touches;
    tolerance allowed =
        allowed_of(p, &pose, is_own || leans, fresh, p->mirror->bodies[id.index].tick);
    if (!differs(p, id, &pose, &allowed)) {
        slot->doubt_tick = 0;
        return false;
    }
    if (!is_own && !is_certain(p, slot, news)) {
        return false;
    }
    slot->doubt_tick = 0;
    if (rests && !is_own && is_steered(p, id)) {
        block(p, id, true, newest);
    } else {
        cm_placed_pull(p, id, cm_predictor_tick(p));
    }
    return true;
}

static carom_body_id body_at(const carom_world *world, uint32_t slot)
{
    const carom_body_id none = {0, 0};
    return slot < carom_world_body_slots(world) ? carom_world_body_at(world, slot) : none;
}

// A slot has the same body here as on the server. If not, a message may be late that says so; but a
// value of this very tick says that the body lives, and after a while the prediction was wrong.
static bool is_same_body(cm_predictor *p, uint32_t index)
{
    cm_predict_slot *slot = &p->slots[index];
    const cm_mirror_body *mine = &p->mirror->bodies[index];
    carom_body_id there = body_at(p->mirror->world, index);
    if (carom_body_id_equal(body_at(p->world, index), there)) {
        slot->apart_tick = 0;
        return true;
    }
    uint32_t tick = (uint32_t)cm_predictor_tick(p);
    slot->apart_tick = slot->apart_tick > 0 ? slot->apart_tick : tick;
    bool lives = !carom_body_id_is_null(there) && mine->known && mine->tick == tick;
    float ticks = (float)(tick - slot->apart_tick);
    p->rebuild = p->rebuild || lives || ticks >= GONE_S * (float)p->mirror->tick_rate;
    return false;
}

// Compares every body of the view; true if a simulated one was corrected.
static bool compare(cm_predictor *p, carom_body_id own, uint64_t newest)
{
    bool corrected = false;
    for (uint32_t i = 0; i < p->mirror->slots; i++) {
        if (!is_same_body(p, i)) {
            continue;
        }
        cm_predict_slot *slot = &p->slots[i];
        const cm_mirror_body *mine = &p->mirror->bodies[i];
        if (slot->generation == 0) {
            continue;
        }
        bool news = mine->known && mine->tick != slot->seen_tick;
        carom_body_id id = {i, slot->generation};
        if (slot->simulated) {
            corrected = check_body(p, id, own, news, newest) || corrected;
        } else if (news) {
            cm_placed_put(p, id, cm_predictor_tick(p));
            slot->touched = newest;
        }
        slot->seen_tick = mine->tick;
    }
    return corrected;
}

// The drives of the joints; true where one was predicted otherwise. A drive that this very view
// tells counts at once; an older one if it differs for a while: a newer one may be lost.
static bool compare_drives(cm_predictor *p)
{
    uint32_t tick = (uint32_t)cm_predictor_tick(p), slots = carom_world_joint_slots(p->world);
    bool corrected = false;
    for (uint32_t i = 0; i < slots && i < p->mirror->joints; i++) {
        uint32_t *doubt = &p->drive_doubts[i];
        carom_joint_id id = carom_world_joint_at(p->world, i);
        carom_joint_drives theirs, ours;
        bool differs = carom_joint_get_drives(p->mirror->world, id, &theirs) == CAROM_OK &&
                       carom_joint_get_drives(p->world, id, &ours) == CAROM_OK &&
                       memcmp(&theirs, &ours, sizeof ours) != 0;
        *doubt = !differs ? 0 : *doubt > 0 ? *doubt : tick;
        if (differs && (p->mirror->drive_ticks[i] == tick || is_long(p, *doubt))) {
            *doubt = 0;
            corrected = carom_joint_put_drives(p->world, id, &theirs) == CAROM_OK || corrected;
        }
    }
    return corrected;
}

// The module's public state at the view's tick; true where it was predicted differently.
static bool compare_public(cm_predictor *p)
{
    if (p->mirror->public_tick != cm_predictor_tick(p)) {
        return false;
    }
    uint32_t size, own_size;
    const uint8_t *theirs = cm_game_public(p->mirror->game, &size);
    const uint8_t *ours = cm_game_public(p->game, &own_size);
    if (size != own_size || size == 0 || memcmp(theirs, ours, size) == 0) {
        return false;
    }
    cm_game_set_public(p->game, theirs, size, cm_game_players(p->mirror->game));
    return true;
}

static void step_to(cm_predictor *p, uint64_t tick)
{
    while (cm_predictor_tick(p) < tick) {
        cm_predictor_step(p, cm_predictor_tick(p) + 1 == tick);
    }
}

// The tick before the first that was stepped without an input which the view of `tick` relayed;
// `tick` where there is none, or what is kept does not go back to it.
static uint64_t right_until(const cm_predictor *p, uint64_t tick)
{
    uint64_t late = cm_inbox_earliest_late(cm_timeline_inbox(p->timeline));
    return late <= tick && late > p->started ? late - 1 : tick;
}

// Goes back to the kept state of `tick`, made again with the inputs that are known by now.
static bool go_back(cm_predictor *p, uint64_t tick)
{
    uint64_t right = right_until(p, tick);
    if (right < tick && cm_timeline_restore(p->timeline, right)) {
        cm_placed_again(p);
        step_to(p, tick);
        return true;
    }
    return cm_predictor_back(p, tick);
}

// Compares with the kept state of `tick`; false where there is none.
static bool correct(cm_predictor *p, carom_body_id own, uint64_t tick)
{
    uint64_t newest = cm_predictor_tick(p);
    carom_vec3 ahead = place_of(p->world, own);
    cm_predictor_hold_shown(p, newest);
    cm_touch_before(p->touch, p->world, own);
    if (!go_back(p, tick)) {
        return false;
    }
    bool corrected = cm_inbox_pop_late(cm_timeline_inbox(p->timeline)) <= newest;
    corrected = compare(p, own, newest) || corrected;
    if (p->rebuild) {
        return false; // it spawned or destroyed what the server did not
    }
    corrected = compare_drives(p) || corrected;
    corrected = compare_public(p) || corrected;
    if (p->rounds % MEMBER_ROUNDS == 0) {
        corrected = choose_near(p, own, ahead, newest) || corrected;
    }
    if (!corrected) {
        return cm_predictor_back(p, newest);
    }
    (void)cm_timeline_keep(p->timeline);
    if (cm_catchup_begin(p, newest)) {
        cm_predictor_corrected(p, own);
    }
    return true;
}

// The module's words that no view tells go on as the prediction has them at `at`, from the keyframe
// on; as it had them last, where the budget does not reach from there to `tick`, or was halved
// twice: steps for their sake would starve what is shown.
static void carry_hidden(cm_predictor *p, carom_body_id own, uint64_t at, uint64_t tick)
{
    uint64_t keyframe = p->mirror->keyframe_tick;
    if (p->started == 0 && ((double)(tick - keyframe) > p->credit || !start(p, own, keyframe))) {
        return;
    }
    uint64_t last = at > tick ? at : tick; // a view may be of any tick: a clock is not asked
    if (!cm_timeline_restore(p->timeline, at) && cm_predictor_tick(p) < at && p->rate >= p->most &&
        (double)(last - cm_predictor_tick(p)) <= p->credit) {
        step_to(p, at);
    }
    cm_game_take_hidden(p->mirror->game, p->game);
}

// Starts at the view, or as much later as the budget asks for: however slow the frames or far the
// server, the work of one view has a bound. Then the view is taken for younger than it is.
static void start_anew(cm_predictor *p, carom_body_id own, uint64_t view, uint64_t tick)
{
    bool was_ready = p->ready;
    uint64_t before = cm_predictor_tick(p);
    p->branch = 0;
    if (was_ready) {
        cm_predictor_hold_shown(p, tick);
        cm_touch_before(p->touch, p->world, own);
    }
    uint64_t most = p->credit > 0.0 ? (uint64_t)p->credit : 0;
    uint64_t at = tick > view + most ? tick - most : view;
    carry_hidden(p, own, at, tick);
    if (!start(p, own, at)) {
        p->ready = false;
        return;
    }
    step_to(p, tick);
    if (was_ready) {
        cm_predictor_corrected(p, own);
    } else {
        p->stats.reconciles++;
    }
    if (!was_ready || cm_predictor_tick(p) > before) {
        cm_predictor_note_shown(p);
    }
}

static bool has_waited(const cm_predictor *p, float seconds, uint64_t tick)
{
    return tick >= p->compared + (uint64_t)(seconds * (float)p->mirror->tick_rate);
}

void cm_predictor_reconcile(cm_predictor *p, uint64_t tick)
{
    uint64_t view = p->mirror->newest_tick;
    bool same = p->structure == p->mirror->structure;
    if (!p->news || (p->branch > 0 && p->ready && same)) {
        return; // one correction after the other
    }
    carom_body_id own = cm_game_player_body(p->mirror->game, p->mirror->player);
    bool here = carom_body_is_valid(p->mirror->world, own) && own.index < p->mirror->slots;
    // The message that brings the body, or the public state of the view, may still come.
    bool half = own.generation != 0 && (!here || (!same && p->mirror->public_tick < view));
    if (half && p->ready && !has_waited(p, here ? WAIT_S : BODY_S, tick)) {
        return;
    }
    if (!here) {
        p->ready = false; // nothing to predict: everything is interpolated
        p->news = false;
        return;
    }
    if (view <= p->handled && p->ready && same) {
        p->news = false;
        return;
    }
    if (p->ready && view > p->seen) {
        note_error(p, own, view);
    }
    p->seen = view;
    uint64_t from = right_until(p, view);
    bool kept = p->ready && !p->rebuild && same && view <= cm_predictor_tick(p) &&
                cm_predictor_tick(p) - from <= p->most;
    double cost = (double)(tick - (from < tick ? from : tick));
    if (kept && cost > p->credit && cost <= p->most && !has_waited(p, WAIT_S, tick)) {
        return; // with the next update, and then perhaps a newer view
    }
    p->news = false;
    p->handled = view;
    p->rounds++;
    p->compared = tick;
    if (!kept || cost > p->credit || !correct(p, own, view)) {
        start_anew(p, own, view, tick);
    }
}
