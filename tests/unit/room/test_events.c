// Goal: what a module emits reaches the outside once: the operator when its tick is confirmed,
// however often the tick was stepped; each client as predicted where its prediction made it, then
// as confirmed or cancelled, never both, none left out, over lost packets and lost connections.
//
// Method: a room whose inputs come late is held against one whose inputs come in time. Then a
// worker and predicting SDK clients on a bad path (rewinds are counted), a ledger of all that each
// client is told, and the server's log.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/query.h"
#include "server/room/room.h"
#include "server/record/replay/playback.h"
#include "server/record/replay/replay.h"
#include "tests/unit/node/away.h"
#include "server/tools/export/export.h"
#include "tests/unit/node/rig.h"

#define HOLD    1u // buttons of an input
#define SILENCE 2u
#define SHOT    1u // kinds: the player holds the button
#define ALONE   2u // nobody else holds the other one: what a client does not know of the others
#define TOUCH   3u // a body touches the ground

typedef struct goals_state {
    uint32_t ball[8][2];
} goals_state;

static bool goals_join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    goals_state *s = carom_game_state(game);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id = {0, 0};
    (void)data;
    (void)size;
    body.position = (carom_vec3){3.0f * (float)player, 4.0f, 12.0f};
    shape.radius = 0.5f;
    if (player < 8 &&
        carom_body_create(carom_game_world(game), &body, &shape, 1, &id) == CAROM_OK) {
        s->ball[player][0] = id.index;
        s->ball[player][1] = id.generation;
    }
    return true;
}

static carom_body_id goals_body(const carom_game *game, uint32_t player)
{
    const goals_state *s = carom_game_state(game);
    carom_body_id id = {0, 0};
    if (player < 8) {
        id = (carom_body_id){s->ball[player][0], s->ball[player][1]};
    }
    return id;
}

static void goals_leave(carom_game *game, uint32_t player)
{
    goals_state *s = carom_game_state(game);
    (void)carom_body_destroy(carom_game_world(game), goals_body(game, player));
    memset(s->ball[player], 0, sizeof s->ball[player]);
}

static void goals_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint64_t tick = carom_game_tick(game) + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t others = 0;
        for (uint32_t k = 0; k < count; k++) {
            others += k != i && (inputs[k].bytes[8] & SILENCE) != 0;
        }
        carom_event event = {.kind = SHOT, .subjects = {inputs[i].player}};
        if ((inputs[i].bytes[8] & HOLD) != 0 && tick % 30 == 7) {
            event.size = 1;
            event.bytes[0] = (uint8_t)tick;
            cr_assert_eq(carom_game_emit(game, &event), CAROM_OK);
            cr_assert_eq(carom_game_emit(game, &event), CAROM_ERROR_STATE, "of one id");
            event.key = 1;
            cr_assert_eq(carom_game_emit(game, &event), CAROM_OK);
        }
        event = (carom_event){.kind = ALONE, .subjects = {inputs[i].player}};
        if (others == 0 && tick % 60 == 11) {
            cr_assert_eq(carom_game_emit(game, &event), CAROM_OK);
        }
    }
}

static void goals_contact(carom_game *game, const carom_contact_event *contact)
{
    const carom_event event = {
        .kind = TOUCH,
        .key = contact->begin,
        .subjects = {carom_event_body(contact->body_a), carom_event_body(contact->body_b)}};
    (void)carom_game_emit(game, &event);
}

static const char *goals_name(uint32_t kind)
{
    return kind == SHOT ? "shot" : kind == ALONE ? "alone" : NULL;
}

static const carom_module goals = {.abi = CAROM_MODULE_ABI,
                                   .version = 1,
                                   .name = "goals",
                                   .input_size = RIG_INPUT_SIZE,
                                   .state_size = sizeof(goals_state),
                                   .join = goals_join,
                                   .leave = goals_leave,
                                   .tick = goals_tick,
                                   .contact = goals_contact,
                                   .player_body = goals_body,
                                   .event_name = goals_name};

// A room -----------------------------------------------------------------------------------

#define TICKS 240u

typedef struct happened {
    uint32_t count;
    carom_event events[512];
} happened;

static void take_confirmed(cm_room *room, happened *out)
{
    const cm_history_slot *slot;
    while ((slot = cm_room_confirm(room, carom_game_tick(cm_room_game(room)) == TICKS)) != NULL) {
        for (uint32_t i = 0; i < slot->happened_count; i++) {
            cr_assert_eq(slot->happened[i].tick, slot->tick);
            cr_assert_lt(out->count, 512);
            out->events[out->count++] = slot->happened[i];
        }
    }
}

// Player p's input of tick t comes (t + p) % 7 ticks late, where `late`.
static cm_room_stats play_room(bool late, happened *out)
{
    cm_scene *scene = rig_scene(1);
    cm_room_def def = {
        .scene = scene, .seed = 5, .rewind_ms = 133, .max_players = 4, .module = &goals};
    cm_room *room = NULL;
    uint32_t player, cost;
    memset(out, 0, sizeof *out);
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    for (uint64_t p = 0; p < 4; p++) {
        cr_assert_eq(cm_room_join(room, 1 + p, NULL, 0, &player), CAROM_OK);
    }
    for (uint64_t tick = 1; tick <= TICKS; tick++) {
        for (uint32_t p = 0; p < 4; p++) {
            for (uint64_t of = tick > 7 ? tick - 7 : 2; of <= tick; of++) {
                uint8_t bytes[CAROM_INPUT_MAX];
                if (of > 1 && of + (late ? (of + p) % 7 : 0) == tick) {
                    rig_input(bytes, 0.0f, 0.0f, (uint8_t)(of / 5 % 4));
                    cr_assert_leq(cm_room_input(room, p, of, bytes, 1000, &cost), CM_INPUT_LATE);
                }
            }
        }
        cm_room_frame(room);
        take_confirmed(room, out);
    }
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    cm_room_destroy(room);
    cm_scene_free(scene);
    return stats;
}

Test(room_events, a_rewind_emits_nothing_twice)
{
    static happened in_time, rewound;
    cm_room_stats none = play_room(false, &in_time), stats = play_room(true, &rewound);
    cr_assert_eq(none.rewinds, 0);
    cr_assert_gt(stats.rewound_ticks, TICKS);
    printf("events: %u of a room, the same over %u ticks stepped again\n", in_time.count,
           (unsigned)stats.rewound_ticks);
    cr_assert_gt(in_time.count, 20);
    // The last inputs of the late one never came in time to be held against.
    uint32_t same = 0;
    for (uint32_t i = 0; i < in_time.count && in_time.events[i].tick < TICKS - 7; i++, same++) {
        cr_assert_lt(i, rewound.count);
        cr_assert(carom_event_is_same(&in_time.events[i], &rewound.events[i]), "event %u", i);
        cr_assert_eq(in_time.events[i].size, rewound.events[i].size);
        cr_assert_eq(
            memcmp(in_time.events[i].bytes, rewound.events[i].bytes, CAROM_EVENT_BYTES_MAX), 0);
    }
    cr_assert_gt(same, 20);
}

// A town -----------------------------------------------------------------------------------

typedef struct told_event {
    carom_event event;
    uint32_t predicted, confirmed, cancelled;
} told_event;

typedef struct ledger {
    uint32_t count, out_of_order;
    told_event rows[1024];
} ledger;

static ledger ledgers[AWAY_CLIENTS];
static away town;

static void note(void *user, carom_event_phase phase, const carom_event *event,
                 uint64_t predicted_tick)
{
    ledger *l = user;
    uint32_t at = 0;
    carom_event told = *event;
    told.tick = predicted_tick != 0 ? predicted_tick : told.tick;
    while (at < l->count && !carom_event_is_same(&l->rows[at].event, &told)) {
        at++;
    }
    if (at == l->count) {
        cr_assert_lt(l->count, 1024);
        l->rows[l->count++] = (told_event){.event = told};
    }
    told_event *row = &l->rows[at];
    bool judged = row->confirmed + row->cancelled > 0;
    l->out_of_order += judged || (phase == CAROM_EVENT_CANCELLED && row->predicted == 0);
    row->predicted += phase == CAROM_EVENT_PREDICTED;
    row->confirmed += phase == CAROM_EVENT_CONFIRMED;
    row->cancelled += phase == CAROM_EVENT_CANCELLED;
}

// Clients hear of what is durable: the recording is written all the while.
static void run(away *a, double seconds)
{
    static const uint8_t buttons[AWAY_CLIENTS] = {HOLD, SILENCE, 0, 0};
    static uint32_t turns;
    for (double at = 0.0; at < seconds; at += 0.02) {
        for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
            // Never twice the same, so that a late one is news.
            uint8_t input[CAROM_INPUT_MAX];
            rig_input(input, (float)(++turns % 64) / 64.0f, 0.0f, buttons[i]);
            if (a->clients[i] != NULL) {
                (void)carom_client_set_input(a->clients[i], input, RIG_INPUT_SIZE);
            }
        }
        away_run(a, 0.02);
        cm_store_pump(a->store);
    }
}

static void set_path(const away *a, uint32_t clients, uint32_t latency_us)
{
    const cm_link_def bad = {.latency_us = latency_us, .jitter_us = 40000, .loss = 0.05f};
    for (uint32_t i = 0; i < clients; i++) {
        cm_net_link_port(a->net, a->ports[i], &bad);
    }
}

static away *open_town(uint64_t seed, uint32_t clients, bool secret)
{
    memset(ledgers, 0, sizeof ledgers);
    away_make(&town, &(away_def){.seed = seed, .record = true, .secret = secret, .module = &goals});
    for (uint32_t i = 0; i < clients; i++) {
        town.client_def.event = note;
        town.client_def.user = &ledgers[i];
        town.client_def.predict = i != 2; // the third one only looks on
        away_join(&town, i);
    }
    set_path(&town, clients, 60000);
    return &town;
}

typedef struct counts {
    uint32_t predicted, confirmed, cancelled, both; // both: predicted and confirmed
} counts;

// Each event of the ledger was told as it must be; those of a kind are counted.
static counts count_told(const ledger *l, uint32_t kind)
{
    counts c = {0};
    cr_expect_eq(l->out_of_order, 0);
    for (uint32_t i = 0; i < l->count; i++) {
        const told_event *row = &l->rows[i];
        cr_expect_leq(row->predicted, 1, "kind %u, tick %u", row->event.kind,
                      (unsigned)row->event.tick);
        cr_expect_eq(row->confirmed + row->cancelled, 1, "kind %u, tick %u: %u, %u, %u",
                     row->event.kind, (unsigned)row->event.tick, row->predicted, row->confirmed,
                     row->cancelled);
        if (row->event.kind == kind) {
            c.predicted += row->predicted;
            c.confirmed += row->confirmed;
            c.cancelled += row->cancelled;
            c.both += row->predicted > 0 && row->confirmed > 0;
        }
    }
    return c;
}

// What the log of the server holds of the ticks from `first` on, against what a client was told.
static void compare_with_log(const away *a, const ledger *l, uint64_t first)
{
    uint32_t logged = 0, confirmed = 0;
    for (const char *at = a->log; (at = strstr(at, "\"event\":\"game event\"")) != NULL; at++) {
        logged += strtoull(strstr(at, "\"tick\":") + 7, NULL, 10) >= first;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        confirmed += l->rows[i].confirmed > 0 && l->rows[i].event.tick >= first;
    }
    cr_expect_gt(logged, 10);
    cr_expect_eq(confirmed, logged);
}

static int64_t number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return number;
}

// The export has each event once, by its name, and no view of another game's inputs.
static void expect_export(cm_playback *playback, uint64_t ticks, uint32_t events)
{
    char path[] = "/tmp/carom-events-XXXXXX";
    cm_match_error error;
    sqlite3 *db;
    close(mkstemp(path));
    unlink(path);
    const cm_export_options options = {
        .kind = CM_EXPORT_SQLITE, .to = ticks, .every = 1000, .path = path};
    cr_assert_eq(cm_export_tables(playback, &options, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM game_events"), events);
    cr_assert_gt(number_of(db, "SELECT count(*) FROM game_events WHERE name = 'shot'"), 0);
    cr_assert_eq(number_of(db,
                           "SELECT count(*) FROM game_events WHERE (name = 'shot') <> (kind = 1)"
                           " OR (name = 'alone') <> (kind = 2)"),
                 0);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM game_events WHERE name IS NULL AND kind <> 3"),
                 0);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM sqlite_master WHERE name = 'sandbox_inputs'"),
                 0);
    sqlite3_close(db);
    unlink(path);
}

// The recording has them by itself: its module emits them again.
static uint32_t count_replayed(away *a)
{
    cm_match_error error = {0};
    cm_playback *playback;
    cm_match_info info;
    cm_match_file *file = away_recording(a);
    cm_match_info_get(file, &info);
    cr_assert_eq(cm_playback_apply(file, &goals, &playback, &error), CAROM_OK, "%s", error.message);
    uint32_t all = 0, count;
    for (uint64_t tick = 1; tick <= info.ticks; tick++) {
        cr_assert_eq(cm_playback_next(playback, &error), CAROM_OK, "%s", error.message);
        (void)cm_game_events(cm_playback_game(playback), &count);
        all += count;
    }
    expect_export(playback, info.ticks, all);
    cm_playback_close(playback);
    return all;
}

Test(town_events, predicted_confirmed_and_cancelled_over_a_bad_path)
{
    away *a = open_town(60, 3, true);
    for (uint32_t i = 0; i < 14; i++) { // inputs come late whenever the path gets longer
        run(a, 1.5);
        set_path(a, 3, 110000);
        run(a, 0.5);
        set_path(a, 3, 60000);
    }
    cm_worker_stats stats = away_stats(a);
    cr_expect_gt(stats.rewinds, 20);
    for (uint32_t i = 0; i < 3; i++) {
        carom_client_disconnect(a->clients[i], cm_net_now_us(a->net));
    }
    run(a, 1.0);
    counts shots = count_told(&ledgers[0], SHOT), alone = count_told(&ledgers[0], ALONE);
    printf("events: %u shots predicted, %u of them confirmed; %u alone predicted, %u cancelled; %u "
           "rewinds\n",
           shots.predicted, shots.both, alone.predicted, alone.cancelled, (unsigned)stats.rewinds);
    cr_expect_gt(shots.both, 60, "own ones come as they were predicted");
    cr_expect_leq(shots.cancelled, 8);
    cr_expect_gt(alone.cancelled, 10, "the other's input is not known");
    counts others = count_told(&ledgers[1], SHOT), watched = count_told(&ledgers[2], SHOT);
    cr_expect_gt(others.confirmed, 60);
    cr_expect_eq(others.predicted, 0, "nobody knows that another shoots");
    cr_expect_gt(watched.confirmed, 60);
    counts seen = count_told(&ledgers[2], ALONE);
    cr_expect_eq(seen.predicted + watched.predicted, 0);
    cr_expect_gt(count_told(&ledgers[0], TOUCH).confirmed, 2);
    stats = away_stats(a);
    cr_expect_eq(stats.events_dropped, 0);
    cr_expect_eq(stats.events, away_logged(a, "game event"), "the operator sees each once");
    uint64_t replayed = count_replayed(a);
    stats = away_stats(a);
    cr_expect_eq(replayed, stats.events, "%u and %u", (unsigned)replayed, (unsigned)stats.events);
    away_free(a);
}

// Where inputs are relayed, what another does is predicted too, and hardly anything is taken back.
Test(town_events, of_others_are_predicted_by_their_inputs)
{
    away *a = open_town(60, 2, false);
    for (uint32_t i = 0; i < 5; i++) {
        run(a, 1.5);
        set_path(a, 2, 110000);
        run(a, 0.5);
        set_path(a, 2, 60000);
    }
    for (uint32_t i = 0; i < 2; i++) {
        carom_client_disconnect(a->clients[i], cm_net_now_us(a->net));
    }
    run(a, 1.0);
    counts alone = count_told(&ledgers[0], ALONE), others = count_told(&ledgers[1], SHOT);
    printf(
        "events: %u alone predicted, %u cancelled; %u of another's shots predicted, %u confirmed\n",
        alone.predicted, alone.cancelled, others.predicted, others.confirmed);
    cr_expect_gt(alone.predicted, 8);
    cr_expect_leq(alone.cancelled, 2);
    cr_expect_gt(2 * others.both, others.confirmed);
    away_free(a);
}

// What was confirmed while a client was away is there when it has its slot again, each once.
Test(town_events, a_client_that_was_cut_off_misses_none)
{
    away *a = open_town(61, 2, false);
    run(a, 5.0);
    uint64_t first = away_stats(a).tick;
    cm_net_partition(a->net, AWAY_PORT, true);
    run(a, 3.0);
    cm_net_partition(a->net, AWAY_PORT, false);
    run(a, 4.0);
    cm_net_partition(a->net, a->ports[0], true); // its address is dead for good
    run(a, 8.0);
    cr_expect_eq(carom_client_get_state(a->clients[0]), CAROM_CLIENT_PLAYING);
    cr_expect_gt(away_client_stats(a, 0).comebacks, 0);
    // The last ones of the match come before its goodbye.
    cm_worker_drain(a->worker, cm_net_now_us(a->net));
    run(a, 2.0);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_eq(carom_client_get_state(a->clients[i]), CAROM_CLIENT_IDLE);
        (void)count_told(&ledgers[i], SHOT);
        compare_with_log(a, &ledgers[i], first);
    }
    away_free(a);
}
