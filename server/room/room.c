// The room's frame and its window.
//
// Ticks in the history: from the newest confirmed (to which a rewind restores) to the newest
// stepped. Inputs up to the confirmed tick are refused, so what was handed over never changes.
// Typical: 60 ticks a second, a window of 8, a rewind of 1 to 3 ticks now and then.
#include "server/room/room.h"

#include <stdlib.h>
#include <string.h>

#include "server/room/outbox.h"
#include "shared/base/assert.h"
#include "shared/wire/packet.h"

// Of a tick's events, what the messages of one player may take or wait for: its own excess.
#define SHARE 4u
// A tick's messages leave this much to joins and leaves: nobody is shut out by those who talk.
#define EVENTS_RESERVED      64u
#define EVENT_BYTES_RESERVED 16384u
// The bytes of one player that can wait: its share with the heads of so many messages.
#define WAITING_MAX (CM_EVENT_BYTES_MAX / SHARE + 16u * CM_EVENTS_MAX / SHARE)

struct cm_room {
    carom_game *game;
    carom_game *second; // for keyframes and oracles
    const carom_module *module;
    cm_timeline *timeline;
    cm_inbox *inbox; // the timeline's
    cm_history *history;
    uint8_t *encoded; // of a game, for welcomes and keyframes; grows
    size_t encoded_capacity;
    uint64_t encoded_at; // the newest tick when that was made
    uint64_t tick, confirmed;
    uint64_t made; // the earliest tick that the newest frame made
    bool ended;    // the module was told
    uint32_t tick_rate, window, max_players;
    uint64_t taken;    // players whose slot a session has, from the next tick on
    uint64_t leaving;  // leaves that wait for room among the events
    uint64_t refused;  // by the module, as of the confirmed tick
    bool promised;     // a slot, to somebody whose join is pending
    uint64_t welcomed; // of the taken: whose inputs may come
    cm_event_list pending;
    // Messages of each player that are not stepped yet: among the pending, and those that wait.
    uint32_t message_count[CAROM_PLAYERS_MAX], message_bytes[CAROM_PLAYERS_MAX];
    cm_outbox waiting[CAROM_PLAYERS_MAX];
    uint32_t first; // player whose waiting messages come first in the next tick
    cm_room_stats stats;
    double (*clock)(void *context);
    void *clock_context;
    cm_room_profile profile;
};

static double now(const cm_room *room)
{
    return room->clock != NULL ? room->clock(room->clock_context) : 0.0;
}

// The state of the tick, and what came of it.
static void save_tick(cm_room *room, cm_history_slot *slot)
{
    double start = now(room);
    bool kept = cm_timeline_keep(room->timeline);
    CM_ASSERT(kept); // images of a room do not grow
    cm_history_collect(slot, room->game);
    double saved = now(room);
    cm_history_hash(slot, room->game);
    room->profile.stage_s[CAROM_STAGE_SAVE] += saved - start;
    room->profile.stage_s[CAROM_STAGE_HASH] += now(room) - saved;
}

// The game stands where its image does; who is in it has the slot.
static carom_result go_on(cm_room *room, const cm_room_def *def)
{
    if (def->image == NULL) {
        return CAROM_OK;
    }
    if (cm_game_decode(room->game, def->image, def->image_size) != CAROM_OK ||
        carom_game_tick(room->game) != def->tick) {
        return CAROM_ERROR_CORRUPT;
    }
    room->tick = room->confirmed = def->tick;
    room->refused = cm_game_refused(room->game);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        room->taken |= (uint64_t)cm_game_has_slot(room->game, player) << player;
    }
    for (uint64_t left = room->taken; left != 0; left &= left - 1) {
        cm_inbox_open(room->inbox, (uint32_t)__builtin_ctzll(left), def->tick);
    }
    return CAROM_OK;
}

// The module configures and starts itself in here, before there is a game to watch.
static carom_result make_games(cm_room *room, const cm_room_def *def)
{
    if (def->mark != NULL) {
        *def->mark = def->tag | CM_CALLBACK_START;
    }
    carom_result result = cm_game_create(def->scene, room->module, def->seed, NULL, &room->game);
    if (result == CAROM_OK) {
        result = cm_game_create(def->scene, room->module, def->seed, NULL, &room->second);
    }
    if (def->mark != NULL) {
        *def->mark = 0;
    }
    if (result == CAROM_OK) {
        cm_game_watch(room->game, def->mark, def->tag);
        cm_game_watch(room->second, def->mark, def->tag);
    }
    return result;
}

// The window behind the newest tick, the confirmed tick before it, and the next tick; inputs are
// kept for a second ahead.
static carom_result make_rings(cm_room *room, uint32_t rewind_ms)
{
    room->tick_rate = carom_world_tick_rate(cm_room_world(room));
    room->window = cm_window_ticks(rewind_ms, room->tick_rate);
    uint32_t ticks = room->window + 2;
    cm_timeline_def def = {.game = room->game,
                           .images = ticks,
                           .events = true,
                           .past = room->window,
                           .future = room->tick_rate};
    uint64_t size = cm_timeline_size(&def, cm_game_save_bound(room->game));
    if (size > CM_HISTORY_BYTES_MAX || size + cm_history_size(ticks) > CM_HISTORY_BYTES_MAX) {
        return CAROM_ERROR_LIMIT_SIZE;
    }
    room->timeline = cm_timeline_create(&def);
    room->history = cm_history_create(ticks);
    if (room->timeline == NULL || room->history == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    room->inbox = cm_timeline_inbox(room->timeline);
    return CAROM_OK;
}

carom_result cm_room_create(const cm_room_def *def, cm_room **out)
{
    *out = NULL;
    const carom_module *module =
        def->module != NULL ? def->module : cm_module_find(cm_scene_module(def->scene));
    if (module == NULL) {
        return CAROM_ERROR_NOT_FOUND;
    }
    cm_room *room = calloc(1, sizeof *room);
    if (room == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    room->module = module;
    room->max_players = def->max_players;
    carom_result result = make_games(room, def);
    if (result == CAROM_OK) {
        result = make_rings(room, def->rewind_ms);
    }
    if (result == CAROM_OK) {
        result = go_on(room, def);
    }
    if (result == CAROM_OK && !cm_timeline_start(room->timeline)) {
        result = CAROM_ERROR_MEMORY;
    }
    if (result != CAROM_OK) {
        cm_room_destroy(room);
        return result;
    }
    cm_history_hash(cm_history_make(room->history, room->tick), room->game);
    *out = room;
    return CAROM_OK;
}

void cm_room_destroy(cm_room *room)
{
    if (room == NULL) {
        return;
    }
    cm_timeline_destroy(room->timeline);
    cm_history_destroy(room->history);
    if (room->game != NULL) {
        cm_game_destroy(room->game);
    }
    if (room->second != NULL) {
        cm_game_destroy(room->second);
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_outbox_clear(&room->waiting[player]);
    }
    free(room->encoded);
    free(room);
}

uint64_t cm_room_tick(const cm_room *room)
{
    return room->tick;
}

uint64_t cm_room_confirmed(const cm_room *room)
{
    return room->confirmed;
}

uint32_t cm_room_tick_rate(const cm_room *room)
{
    return room->tick_rate;
}

uint32_t cm_room_window(const cm_room *room)
{
    return room->window;
}

uint64_t cm_room_hash(const cm_room *room)
{
    return cm_history_find(room->history, room->tick)->hash;
}

const carom_game *cm_room_game(const cm_room *room)
{
    return room->game;
}

const carom_world *cm_room_world(const cm_room *room)
{
    return carom_game_world(room->game);
}

uint64_t cm_room_present(const cm_room *room)
{
    return cm_game_players(room->game);
}

carom_result cm_room_join(cm_room *room, uint64_t client_id, const uint8_t *user_data,
                          uint32_t size, uint32_t *player)
{
    // A slot whose leave still waits is not free: the two events would come in the wrong order.
    uint64_t busy = room->taken | room->leaving;
    uint32_t slot = 0;
    while (slot < room->max_players && (busy >> slot & 1) != 0) {
        slot++;
    }
    if (slot == room->max_players) {
        return CAROM_ERROR_LIMIT_PLAYERS;
    }
    if (room->promised && room->module->may_join != NULL) {
        return CAROM_ERROR_FULL;
    }
    if (!cm_game_may_join(room->game, user_data, size)) {
        return CAROM_ERROR_STATE;
    }
    cm_game_event event = {CM_EVENT_JOIN, slot, client_id, user_data, size};
    if (!cm_event_list_push(&room->pending, &event)) {
        return CAROM_ERROR_FULL;
    }
    room->promised = true;
    room->taken |= UINT64_C(1) << slot;
    cm_inbox_open(room->inbox, slot, room->tick + 1);
    *player = slot;
    return CAROM_OK;
}

bool cm_room_has_let_in(const cm_room *room, uint32_t player, uint64_t join_tick)
{
    bool is_in = join_tick <= room->tick && (cm_game_refused(room->game) >> player & 1) == 0;
    if (room->module->join == NULL || join_tick <= room->confirmed) {
        return is_in;
    }
    bool is_final = is_in && cm_inbox_earliest_late(room->inbox) > join_tick;
    for (uint64_t left = room->welcomed; is_final && left != 0; left &= left - 1) {
        is_final = cm_room_settled(room, (uint32_t)__builtin_ctzll(left)) >= join_tick;
    }
    return is_final;
}

void cm_room_welcomed(cm_room *room, uint32_t player)
{
    uint64_t bit = UINT64_C(1) << player;
    if ((room->taken & ~room->welcomed & bit) != 0) {
        room->welcomed |= bit;
        cm_inbox_open(room->inbox, player, room->tick);
    }
}

// Adds a player's message to the next tick. False: no room.
static bool push_message(cm_room *room, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    cm_event_list *list = &room->pending;
    cm_game_event event = {CM_EVENT_MESSAGE, player, 0, bytes, size};
    return list->count < CM_EVENTS_MAX - EVENTS_RESERVED &&
           list->size + size <= CM_EVENT_BYTES_MAX - EVENT_BYTES_RESERVED &&
           cm_event_list_push(list, &event);
}

// The oldest waiting message of a player into the next tick. False: none, or no room.
static bool push_waiting(cm_room *room, uint32_t player)
{
    cm_outbox_message message;
    if (!cm_outbox_peek(&room->waiting[player], &message) ||
        !push_message(room, player, message.bytes, message.size)) {
        return false;
    }
    cm_outbox_pop(&room->waiting[player]);
    return true;
}

void cm_room_silence(cm_room *room, uint32_t player)
{
    static const uint8_t zeros[CAROM_INPUT_MAX];
    uint32_t size = cm_game_input_size(room->game), cost;
    bool idle = !cm_game_player_present(room->game, player) ||
                memcmp(cm_game_held_input(room->game, player), zeros, size) == 0;
    if (!idle && cm_inbox_check(room->inbox, room->tick, room->confirmed, player, room->tick + 1,
                                zeros, &cost) == CM_INPUT_ON_TIME) {
        cm_inbox_put(room->inbox, room->tick, player, room->tick + 1, zeros);
    }
}

void cm_room_leave(cm_room *room, uint32_t player)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    uint64_t bit = UINT64_C(1) << player;
    if ((room->taken & bit) == 0) {
        return;
    }
    room->taken &= ~bit;
    room->welcomed &= ~bit;
    cm_inbox_close(room->inbox, player, room->tick);
    // Its messages go before its leave, as far as there is room, so that they are not taken for
    // those of the next player of the slot.
    while (push_waiting(room, player)) {
    }
    cm_outbox_clear(&room->waiting[player]);
    room->message_count[player] = room->message_bytes[player] = 0;
    cm_game_event event = {CM_EVENT_LEAVE, player, 0, NULL, 0};
    if (!cm_event_list_push(&room->pending, &event)) {
        room->leaving |= bit;
    }
}

static bool take_message(cm_room *room, uint32_t player, const uint8_t *bytes, uint32_t size,
                         bool may_wait)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    if (size > CAROM_MESSAGE_MAX || room->message_count[player] >= CM_EVENTS_MAX / SHARE ||
        room->message_bytes[player] + size > CM_EVENT_BYTES_MAX / SHARE) {
        return false;
    }
    // Behind its own that wait, if any do.
    cm_outbox *waiting = &room->waiting[player];
    if ((waiting->count > 0 || !push_message(room, player, bytes, size)) &&
        !(may_wait && cm_outbox_push(waiting, room->tick, bytes, size, WAITING_MAX))) {
        return false;
    }
    room->message_count[player]++;
    room->message_bytes[player] += size;
    return true;
}

bool cm_room_message(cm_room *room, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    return take_message(room, player, bytes, size, true);
}

bool cm_room_message_now(cm_room *room, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    return take_message(room, player, bytes, size, false);
}

cm_input_verdict cm_room_input(cm_room *room, uint32_t player, uint64_t tick, const uint8_t *bytes,
                               uint32_t allowance, uint32_t *cost)
{
    cm_input_verdict verdict =
        cm_inbox_check(room->inbox, room->tick, room->confirmed, player, tick, bytes, cost);
    if (verdict == CM_INPUT_DUPLICATE) {
        return verdict;
    }
    if (verdict == CM_INPUT_LATE && *cost > allowance) {
        verdict = CM_INPUT_BUDGET;
    } else if (verdict <= CM_INPUT_LATE) {
        cm_pointer_reason reason;
        cm_input_check check = cm_game_check_input(room->game, bytes, &reason);
        room->stats.poses_refused[reason] += check == CM_INPUT_POSE_REFUSED;
        verdict = check == CM_INPUT_POSE_REFUSED     ? CM_INPUT_POSE
                  : check == CM_INPUT_MODULE_REFUSED ? CM_INPUT_INVALID
                                                     : verdict;
    }
    if (verdict > CM_INPUT_LATE) {
        *cost = 0;
        return verdict;
    }
    cm_inbox_put(room->inbox, room->tick, player, tick, bytes);
    room->stats.inputs++;
    room->stats.late_inputs += verdict != CM_INPUT_ON_TIME;
    return verdict;
}

uint64_t cm_room_settled(const cm_room *room, uint32_t player)
{
    return cm_inbox_settled(room->inbox, player, room->confirmed);
}

const uint8_t *cm_room_input_at(const cm_room *room, uint32_t player, uint64_t tick)
{
    return cm_inbox_input(room->inbox, room->tick, player, tick);
}

const cm_history_slot *cm_room_newest(const cm_room *room)
{
    return cm_history_find(room->history, room->tick);
}

uint64_t cm_room_made(const cm_room *room)
{
    return room->made;
}

static void count_step(cm_room *room)
{
    const double *stage_s = carom_world_stage_times(cm_room_world(room));
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; i++) {
        room->profile.stage_s[i] += stage_s[i];
    }
    room->profile.ticks++;
}

// Makes the tick after the one at which the game stands. `given` NULL: with the inputs that came.
static cm_history_slot *step_tick(cm_room *room, const cm_tick_input *given)
{
    uint64_t tick = cm_timeline_tick(room->timeline) + 1;
    cm_history_slot *slot = cm_history_make(room->history, tick);
    uint64_t dropped = cm_game_messages_dropped(room->game);
    uint64_t untold = cm_game_events_dropped(room->game);
    cm_timeline_step(room->timeline, given);
    slot->input = given != NULL ? *given : cm_timeline_input(room->timeline, tick);
    slot->messages_dropped = (uint32_t)(cm_game_messages_dropped(room->game) - dropped);
    slot->happened_dropped = (uint32_t)(cm_game_events_dropped(room->game) - untold);
    save_tick(room, slot);
    count_step(room);
    return slot;
}

static void rewind_room(cm_room *room)
{
    uint32_t ticks = cm_timeline_rewind(room->timeline);
    if (ticks == 0) {
        return;
    }
    CM_ASSERT(cm_timeline_tick(room->timeline) >= room->confirmed);
    room->made = cm_timeline_tick(room->timeline) + 1;
    for (uint32_t i = 0; i < ticks; i++) {
        step_tick(room, NULL);
    }
    room->stats.rewinds++;
    room->stats.rewound_ticks += ticks;
}

// Waiting messages into the next tick, one of each player in turn, so that each gets its part.
static void take_waiting(cm_room *room)
{
    memset(room->message_count, 0, sizeof room->message_count);
    memset(room->message_bytes, 0, sizeof room->message_bytes);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_outbox *waiting = &room->waiting[player];
        room->message_count[player] = waiting->count;
        room->message_bytes[player] = cm_outbox_bytes(waiting);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
            moved = push_waiting(room, (room->first + i) % CAROM_PLAYERS_MAX) || moved;
        }
    }
    room->first = (room->first + 1) % CAROM_PLAYERS_MAX;
}

void cm_room_frame(cm_room *room)
{
    // The slot of the next tick must not be one that still has to be handed over.
    CM_ASSERT(room->tick - room->confirmed <= room->window);
    room->made = room->tick + 1;
    rewind_room(room);
    cm_event_list_copy(cm_timeline_events(room->timeline, room->tick + 1), &room->pending);
    cm_event_list_clear(&room->pending);
    room->promised = false;
    for (uint64_t left = room->leaving; left != 0; left &= left - 1) {
        cm_game_event event = {CM_EVENT_LEAVE, (uint32_t)__builtin_ctzll(left), 0, NULL, 0};
        bool fits = cm_event_list_push(&room->pending, &event);
        CM_ASSERT(fits);
    }
    room->leaving = 0;
    take_waiting(room);
    room->tick++;
    step_tick(room, NULL);
}

const cm_history_slot *cm_room_follow(cm_room *room, const cm_tick_input *input)
{
    CM_ASSERT(room->window == 0);
    const cm_history_slot *slot = step_tick(room, input);
    room->made = room->confirmed = ++room->tick;
    CM_ASSERT(slot->tick == room->tick);
    return slot;
}

bool cm_room_end(cm_room *room)
{
    static const cm_game_event end = {.type = CM_EVENT_END};
    if (room->module->end == NULL || room->ended) {
        return true;
    }
    room->ended = cm_event_list_push(&room->pending, &end);
    cm_room_frame(room);
    return room->ended;
}

// A player refused before the confirmed tick leaves as such: that is no input of the simulation,
// but what the record says of it.
static void name_refused(const cm_room *room, cm_event_list *events)
{
    uint64_t refused = room->refused;
    for (uint32_t i = 0; refused != 0 && i < events->count; i++) {
        cm_game_event *event = &events->events[i];
        uint64_t bit = UINT64_C(1) << event->player;
        if (event->type == CM_EVENT_LEAVE && (refused & bit) != 0) {
            event->bytes = (const uint8_t *)CM_LEAVE_REFUSED;
            event->size = sizeof CM_LEAVE_REFUSED - 1;
            refused &= ~bit;
        }
    }
}

const cm_history_slot *cm_room_confirm(cm_room *room, bool all)
{
    uint64_t next = room->confirmed + 1;
    if (next > room->tick || (!all && room->tick - next < room->window)) {
        return NULL;
    }
    if (all) {
        rewind_room(room);
    }
    room->confirmed = next;
    cm_history_slot *slot = cm_history_find(room->history, next);
    name_refused(room, cm_timeline_events(room->timeline, next));
    room->refused = slot->refused;
    return slot;
}

const carom_game *cm_room_game_at(cm_room *room, uint64_t tick)
{
    bool kept = tick <= room->tick && cm_timeline_read(room->timeline, tick, room->second);
    return kept ? room->second : NULL;
}

const uint8_t *cm_room_encode(cm_room *room, uint64_t tick, size_t *size)
{
    const carom_game *game = tick == room->tick ? room->game : cm_room_game_at(room, tick);
    if (game == NULL) {
        return NULL;
    }
    *size = cm_game_encode_size(game);
    if (*size > room->encoded_capacity) {
        uint8_t *grown = realloc(room->encoded, *size + *size / 4);
        if (grown == NULL) {
            return NULL;
        }
        room->encoded = grown;
        room->encoded_capacity = *size + *size / 4;
    }
    size_t wrote = cm_game_encode(game, room->encoded, room->encoded_capacity);
    CM_ASSERT(wrote == *size);
    room->encoded_at = room->tick;
    return room->encoded;
}

bool cm_room_has_encoded(const cm_room *room)
{
    return room->encoded_at == room->tick;
}

void cm_room_stats_get(const cm_room *room, cm_room_stats *stats)
{
    *stats = room->stats;
}

void cm_room_set_clock(cm_room *room, double (*clock)(void *context), void *context)
{
    room->clock = clock;
    room->clock_context = context;
    carom_world_set_clock(carom_game_world(room->game), clock, context);
}

void cm_room_set_log(cm_room *room, const carom_log *log)
{
    carom_world_set_log(carom_game_world(room->game), log);
}

void cm_room_profile_get(const cm_room *room, cm_room_profile *profile)
{
    *profile = room->profile;
}
