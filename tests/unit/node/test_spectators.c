// Goal: spectators see the room, later than its players by the delay and never sooner, take no
// slot, and change nothing. Method: a worker with players and spectators of the SDK; in each step
// what a spectator has is compared with what the room was at that tick; then packets that no
// spectator sends, full galleries, broken paths, a crash.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/wire/message_packet.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define PLAYERS 2u
#define WATCHER 3u // the client that spectates
#define TICKS   8192u
#define RATE    60u
#define NEVER   1e9f
#define APART_M 0.05f // between two views, of a body that a player steers
#define WINDOW  10u   // ticks that a rewind reaches back, and one

static away town;
// By tick of the room, once confirmed: its hash, and where the first player's body was.
static uint64_t hashes[TICKS];
static float xs[TICKS];

static cm_hosted_room *hosted(void)
{
    return cm_worker_room_at(town.worker, 0);
}

static void note_confirmed(void)
{
    cm_room *room = cm_hosted_room_room(hosted());
    uint64_t tick = cm_room_confirmed(room);
    const carom_game *game = cm_room_game_at(room, tick);
    carom_body_state state;
    cr_assert_lt(tick, TICKS);
    if (game != NULL) {
        hashes[tick] = cm_game_hash(game);
        carom_body_id own = cm_game_player_body(game, 0);
        bool is = carom_body_get(carom_game_world(game), own, &state) == CAROM_OK;
        xs[tick] = is ? state.position.x : NEVER;
    }
}

typedef struct seen {
    uint32_t compared, differ, too_early;
    uint64_t least_behind, most_behind; // ticks, of the newest that it has
    float worst, sum;                   // m, of what is drawn
} seen;

static void compare(seen *s, uint64_t delay)
{
    carom_client *client = town.clients[WATCHER];
    carom_client_stats stats = {.interpolated_at = 0.0};
    carom_client_pose pose;
    if (client != NULL && carom_client_get_state(client) == CAROM_CLIENT_PLAYING) {
        carom_client_stats_get(client, &stats);
    }
    if (stats.interpolated_at < 1.0) {
        return;
    }
    uint64_t now = cm_room_tick(cm_hosted_room_room(hosted()));
    bool exact = client->mirror->exact;
    uint64_t newest = exact ? carom_game_tick(client->mirror->game) : client->mirror->newest_tick;
    s->compared++;
    s->too_early += newest + delay > now;
    s->least_behind = now - newest < s->least_behind ? now - newest : s->least_behind;
    s->most_behind = now - newest > s->most_behind ? now - newest : s->most_behind;
    s->differ += exact && cm_game_hash(client->mirror->game) != hashes[newest];
    uint64_t at = (uint64_t)stats.interpolated_at;
    if (at + 1 >= TICKS || xs[at] >= NEVER || xs[at + 1] >= NEVER || hashes[at] == 0 ||
        hashes[at + 1] == 0) {
        return;
    }
    float part = (float)(stats.interpolated_at - (double)at);
    carom_body_id body = cm_game_player_body(
        cm_hosted_room_room(hosted()) != NULL ? cm_room_game(cm_hosted_room_room(hosted())) : NULL,
        0);
    if (carom_client_body_pose(client, body, &pose) == CAROM_OK) {
        float off = fabsf(pose.position.x - (xs[at] + part * (xs[at + 1] - xs[at])));
        s->worst = off > s->worst ? off : s->worst;
        s->sum += off;
    }
}

static void run(seen *s, double seconds, uint64_t delay)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * AWAY_STEP_US) {
        uint32_t turn = (uint32_t)(at / 0.7) % 2;
        for (uint32_t i = 0; i < PLAYERS; i++) {
            const carom_client *client = town.clients[i];
            if (client != NULL && carom_client_get_state(client) == CAROM_CLIENT_PLAYING) {
                away_drive(&town, i, turn == 0 ? 1.0f : -1.0f);
            }
        }
        away_step(&town);
        if (town.store != NULL) {
            cm_store_pump(town.store);
        }
        note_confirmed();
        compare(s, delay);
    }
}

static void begin(const away_def *def)
{
    seen none = {.compared = 0};
    memset(hashes, 0, sizeof hashes);
    memset(xs, 0, sizeof xs);
    away_make(&town, def);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        away_connect(&town, i);
        run(&none, 1.5, 0);
        cr_assert_eq(carom_client_get_state(town.clients[i]), CAROM_CLIENT_PLAYING);
    }
}

static void watch(uint32_t client)
{
    town.client_def.spectate = true;
    away_connect(&town, client);
    town.client_def.spectate = false;
}

static void see(bool exact, uint32_t delay_s)
{
    begin(&(away_def){.seed = 201,
                      .max_players = PLAYERS,
                      .spectators = 2,
                      .spectator_delay_s = delay_s,
                      .exact = exact});
    seen s = {.least_behind = UINT64_MAX};
    uint64_t delay = (uint64_t)delay_s * RATE;
    run(&s, 1.0 + delay_s, delay);
    watch(WATCHER);
    run(&s, 12.0, delay);
    carom_client *client = town.clients[WATCHER];
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    printf("spectators: exact %d, delay %u s: %llu to %llu ticks behind, drawn %.1f mm off, "
           "%.1f at the most\n",
           exact, delay_s, (unsigned long long)s.least_behind, (unsigned long long)s.most_behind,
           1e3 * (double)s.sum / s.compared, 1e3 * (double)s.worst);
    cr_expect_gt(s.compared, 1000);
    cr_expect_eq(s.too_early, 0, "nothing newer leaves the server");
    cr_expect_eq(s.differ, 0);
    cr_expect_leq(s.most_behind, delay + delay / 4 + RATE + WINDOW + RATE / 2);
    cr_expect_lt(s.sum, APART_M * (float)s.compared);
    cr_expect_eq(client->stats.desyncs, 0);
    cr_expect_eq(client->stats.packets_refused, 0);
    cr_expect_eq(carom_client_player(client), CAROM_NO_PLAYER);
    cr_expect_null(client->predictor);
    carom_client_roster_row rows[CAROM_PLAYERS_MAX];
    cr_expect_eq(carom_client_roster(client, rows, CAROM_PLAYERS_MAX), PLAYERS);
    cm_worker_stats stats = away_stats(&town);
    cr_expect_eq(stats.players, PLAYERS, "all slots are players'");
    cr_expect_eq(stats.spectators, 1);
    cr_expect_eq(stats.spectators_refused, 0);
    cr_expect_eq(cm_hosted_room_info(hosted())->spectators, 1);
    away_free(&town);
}

Test(spectators, see_state_at_once)
{
    see(false, 0);
}

Test(spectators, see_state_later)
{
    see(false, 4);
}

Test(spectators, see_confirmed_ticks_at_once)
{
    see(true, 0);
}

Test(spectators, see_confirmed_ticks_later)
{
    see(true, 4);
}

// Nothing that a spectator sends reaches the room, and all of it is counted.
Test(spectators, send_nothing)
{
    uint8_t bytes[CM_PACKET_MAX], word[4] = {1, 2, 3, 4};
    seen s = {.least_behind = UINT64_MAX};
    begin(&(away_def){.seed = 202, .spectators = 1, .lossless = true});
    watch(WATCHER);
    run(&s, 2.0, 0);
    carom_client *client = town.clients[WATCHER];
    cr_expect_eq(carom_client_set_input(client, word, RIG_INPUT_SIZE), CAROM_ERROR_STATE);
    cr_expect_eq(carom_client_play_bot(client, 1), CAROM_ERROR_STATE);
    cr_expect_eq(carom_client_send(client, word, sizeof word), CAROM_ERROR_STATE);
    cr_expect_eq(carom_client_send_unreliable(client, word, sizeof word), CAROM_ERROR_STATE);
    cr_expect(carom_body_id_is_null(carom_client_own_body(client)));
    cr_expect(carom_body_id_is_null(carom_client_pointer(client)));
    uint64_t inputs = away_stats(&town).inputs, refused = away_stats(&town).spectators_refused;
    cr_expect_eq(refused, 0);
    cm_input_packet packet = {.epoch = client->mirror->epoch, .count = 2};
    packet.newest_tick = (uint32_t)cm_room_tick(cm_hosted_room_room(hosted())) + 5;
    size_t size = cm_input_packet_write(&packet, cm_game_input_size(client->mirror->game), bytes,
                                        sizeof bytes);
    cr_assert(cm_transport_send(client->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, bytes, size));
    const cm_message_packet message = {
        .epoch = client->mirror->epoch, .bytes = word, .size = sizeof word};
    size = cm_message_packet_write(CM_PACKET_MESSAGE, &message, bytes);
    cr_assert(cm_transport_send(client->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, bytes, size));
    const cm_control control = {.type = CM_CONTROL_GAME_MESSAGE, .payload = {word, sizeof word}};
    cr_assert(cm_client_send_control(client, &control));
    for (uint32_t i = 0; i < PLAYERS; i++) {
        carom_client_disconnect(town.clients[i], cm_net_now_us(town.net));
    }
    inputs = away_stats(&town).inputs;
    away_run(&town, 1.0);
    cr_expect_eq(away_stats(&town).spectators_refused, 3);
    cr_expect_leq(away_stats(&town).inputs, inputs + 20, "those of the players, on their way");
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING, "nobody is kicked for it");
    away_free(&town);
}

Test(spectators, have_as_many_seats_as_were_said)
{
    seen s = {.least_behind = UINT64_MAX};
    begin(&(away_def){.seed = 203, .max_players = PLAYERS, .spectators = 1, .lossless = true});
    watch(WATCHER);
    run(&s, 1.5, 0);
    cr_assert_eq(carom_client_get_state(town.clients[WATCHER]), CAROM_CLIENT_PLAYING);
    watch(2);
    run(&s, 1.5, 0);
    cr_expect_eq(carom_client_get_state(town.clients[2]), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(town.clients[2]), CAROM_REASON_ROOM_FULL);
    carom_client_disconnect(town.clients[WATCHER], cm_net_now_us(town.net));
    run(&s, 0.5, 0);
    watch(2);
    run(&s, 1.5, 0);
    cr_expect_eq(carom_client_get_state(town.clients[2]), CAROM_CLIENT_PLAYING, "its seat is free");
    cr_expect_eq(away_logged(&town, "spectator joined"), 2);
    cr_expect_eq(away_logged(&town, "spectator left"), 1);
    // Once all are gone the room is not stepped twice any more, until somebody comes.
    cm_hosted_room_stats stats;
    cm_hosted_room_stats_get(hosted(), &stats);
    cr_expect_gt(stats.gallery.tick, 0);
    carom_client_disconnect(town.clients[2], cm_net_now_us(town.net));
    run(&s, CM_GALLERY_IDLE_S + 1.0, 0);
    cm_hosted_room_stats_get(hosted(), &stats);
    cr_expect_eq(stats.gallery.tick, 0);
    watch(WATCHER);
    run(&s, 1.5, 0);
    cr_expect_eq(carom_client_get_state(town.clients[WATCHER]), CAROM_CLIENT_PLAYING);
    cr_expect_eq(s.too_early, 0);
    away_free(&town);
    begin(&(away_def){.seed = 204, .lossless = true});
    watch(WATCHER);
    run(&s, 1.5, 0);
    cr_expect_eq(carom_client_get_reason(town.clients[WATCHER]), CAROM_REASON_NO_SPECTATORS);
    away_free(&town);
}

// By a token that says so, whatever the client asks for; by a ticket after its path was cut; and
// the gallery rests while nobody is there, without losing the delay.
static void come_back(bool exact)
{
    seen s = {.least_behind = UINT64_MAX};
    uint64_t delay = 3 * RATE;
    begin(&(away_def){
        .seed = 205, .spectators = 1, .spectator_delay_s = 3, .exact = exact, .tokens = true});
    run(&s, 2.0, delay);
    town.issues_spectators = true;
    away_connect(&town, WATCHER);
    town.issues_spectators = false;
    run(&s, 5.0, delay);
    carom_client *client = town.clients[WATCHER];
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    cr_expect_eq(carom_client_player(client), CAROM_NO_PLAYER);
    const cm_link_def cut = {.loss = 1.0f};
    cm_net_link_port(town.net, town.ports[WATCHER], &cut);
    run(&s, 2.0, delay);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    cr_expect_eq(client->stats.comebacks, 1);
    cr_expect_eq(away_stats(&town).spectators, 1, "in its seat");
    run(&s, 3.0, delay);
    cr_expect_eq(s.too_early, 0);
    cr_expect_eq(s.differ, 0);
    cr_expect_lt(s.sum, APART_M * (float)s.compared);
    away_free(&town);
}

Test(spectators, come_back_in_state_sync)
{
    come_back(false);
}

Test(spectators, come_back_in_exact_sync)
{
    come_back(true);
}

// The server is killed: who watched watches on, and is shown nothing sooner than before.
static void outlive(bool exact)
{
    seen s = {.least_behind = UINT64_MAX};
    uint64_t delay = 3 * RATE;
    begin(&(away_def){.seed = 206,
                      .spectators = 1,
                      .spectator_delay_s = 3,
                      .exact = exact,
                      .tokens = true,
                      .record = true});
    run(&s, 4.0, delay);
    town.client_def.spectate = true;
    away_connect(&town, WATCHER);
    town.client_def.spectate = false;
    run(&s, 6.0, delay);
    carom_client *client = town.clients[WATCHER];
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    uint64_t before = client->mirror->newest_tick;
    away_crash(&town);
    run(&s, 8.0, delay);
    cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    cr_expect_eq(client->stats.comebacks, 1);
    cr_expect_eq(carom_client_player(client), CAROM_NO_PLAYER);
    cr_expect_gt(client->mirror->newest_tick, before);
    cr_expect_eq(s.too_early, 0);
    cr_expect_eq(s.differ, 0);
    cr_expect_eq(away_stats(&town).players, PLAYERS);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        cr_expect_eq(carom_client_get_state(town.clients[i]), CAROM_CLIENT_PLAYING);
    }
    away_free(&town);
}

Test(spectators, outlive_a_crash_in_state_sync)
{
    outlive(false);
}

Test(spectators, outlive_a_crash_in_exact_sync)
{
    outlive(true);
}

// The room closes: who plays goes at once, who watches has seen all of it first, in its time.
static void see_the_end(bool exact, double watched_s)
{
    seen s = {.least_behind = UINT64_MAX};
    uint64_t delay = 4 * RATE;
    begin(&(away_def){.seed = 207, .spectators = 1, .spectator_delay_s = 4, .exact = exact});
    run(&s, 5.0 - watched_s, delay);
    watch(WATCHER);
    run(&s, watched_s + 1.0, delay);
    carom_client *client = town.clients[WATCHER];
    char name[CAROM_ROOM_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", cm_hosted_room_name(hosted()));
    uint64_t last = cm_room_tick(cm_hosted_room_room(hosted()));
    cr_assert(cm_worker_close(town.worker, name));
    away_run(&town, 2.0);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        cr_expect_eq(carom_client_get_state(town.clients[i]), CAROM_CLIENT_IDLE);
        cr_expect_eq(carom_client_get_reason(town.clients[i]), CAROM_REASON_ROOM_ENDED);
    }
    cr_expect_eq(cm_worker_room_at(town.worker, 0), NULL);
    cr_expect_eq(away_stats(&town).spectators, 1);
    uint64_t newest = 0;
    double after_s = 2.0;
    for (; carom_client_get_state(client) != CAROM_CLIENT_IDLE && after_s < 20.0;
         after_s += 0.004) {
        away_step(&town);
        const cm_mirror *mirror = client->mirror;
        newest = mirror == NULL ? newest
                 : exact        ? carom_game_tick(mirror->game)
                                : mirror->newest_tick;
        cr_expect_leq((double)newest + (double)delay, (double)last + after_s * RATE + 1.0,
                      "nothing sooner than before");
    }
    cr_expect_eq(carom_client_get_reason(client), CAROM_REASON_ROOM_ENDED);
    cr_expect_geq(newest + 3, last, "%llu of %llu ticks", (unsigned long long)newest,
                  (unsigned long long)last);
    cr_expect_gt(after_s, 4.0);
    cr_expect_lt(after_s, 8.5);
    away_free(&town);
}

Test(spectators, see_the_end_in_state_sync)
{
    see_the_end(false, 4.0);
}

Test(spectators, see_the_end_in_exact_sync)
{
    see_the_end(true, 4.0);
}

// A match that is shorter than the delay is seen after its end.
Test(spectators, who_wait_see_the_end_too)
{
    see_the_end(true, 0.5);
}
