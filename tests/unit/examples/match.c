// Matches of the example games in virtual time; see match.h.
#include "tests/unit/examples/match.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/replay/playback.h"
#include "server/record/replay/replay.h"
#include "server/tools/module/trial.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

#define PORT     9330u
#define FRAME_US 16667u
#define SEED     7u

static cm_scene *scene_of(const char *game)
{
    char path[128];
    cm_scene *scene = NULL;
    cm_scene_error error;
    snprintf(path, sizeof path, "client-sdk/examples/%s/%s.json", game, game);
    cr_assert_eq(cm_scene_from_file(path, &scene, &error), CAROM_OK, "%s: %s", error.path,
                 error.message);
    return scene;
}

void match_open(match *m, const carom_module *module, const char *game)
{
    memset(m, 0, sizeof *m);
    m->module = module;
    m->net = cm_net_virtual_create(SEED);
    cm_net_use(m->net);
    m->scene = scene_of(game);
    strcpy(m->directory, "/tmp/carom_example_XXXXXX");
    cr_assert_not_null(mkdtemp(m->directory));
    cm_store_def store = {.directory = m->directory, .queue_max = 64u << 20};
    cr_assert_eq(cm_store_create(&store, &m->store), CAROM_OK);
    cm_config_default(&m->config);
    snprintf(m->config.listen, sizeof m->config.listen, "127.0.0.1:%u", PORT);
    m->config.insecure = true;
    m->config.room_seed = SEED;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &m->config,
                         .scene = m->scene,
                         .module = module,
                         .store = m->store,
                         .seed = SEED,
                         .now_us = cm_net_now_us(m->net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &m->worker, error, sizeof error), CAROM_OK, "%s", error);
}

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    match_player *player = user;
    cr_assert_lt(player->heard_count, MATCH_HEARD_MAX);
    cr_assert_leq(size, MATCH_NEWS_MAX);
    match_news *news = &player->heard[player->heard_count++];
    news->tick = tick;
    news->size = (uint8_t)size;
    memcpy(news->bytes, bytes, size);
}

void match_join(match *m)
{
    cr_assert_lt(m->players, MATCH_PLAYERS_MAX);
    match_player *player = &m->player[m->players++];
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.module = m->module;
    def.message = hear;
    def.user = player;
    cr_assert_eq(carom_client_create(&def, &player->client), CAROM_OK);
    cr_assert_eq(carom_client_connect(player->client, "127.0.0.1", PORT, cm_net_now_us(m->net)),
                 CAROM_OK);
    const cm_link_def link = {.latency_us = 30000, .jitter_us = 5000, .loss = 0.01f};
    cm_net_link_port(m->net, cm_net_last_port(m->net), &link);
}

void match_bot(carom_client *client)
{
    (void)carom_client_play_bot(client, 0);
}

void match_frame(match *m, void (*play)(carom_client *client))
{
    cm_net_advance(m->net, FRAME_US);
    cm_worker_run_once(m->worker, cm_net_now_us(m->net));
    cm_store_pump(m->store);
    for (uint32_t i = 0; i < m->players; i++) {
        carom_client_update(m->player[i].client, cm_net_now_us(m->net));
        if (carom_client_get_state(m->player[i].client) == CAROM_CLIENT_PLAYING) {
            play(m->player[i].client);
        }
    }
}

const carom_game *match_game(const match *m)
{
    return cm_room_game(cm_hosted_room_room(cm_worker_room_at(m->worker, 0)));
}

static void no_play(carom_client *client)
{
    (void)client;
}

void match_replay(match *m, void *state, size_t size)
{
    for (int i = 0; i < 600 && !cm_worker_drained(m->worker); i++) {
        cm_worker_drain(m->worker, cm_net_now_us(m->net));
        match_frame(m, no_play);
    }
    cr_assert(cm_worker_drained(m->worker));
    uint64_t hash = cm_game_hash(match_game(m)), tick = carom_game_tick(match_game(m));
    cm_store_flush(m->store);
    snprintf(m->path, sizeof m->path, "%s",
             cm_store_path(m->store, cm_hosted_room_match(cm_worker_room_at(m->worker, 0))));
    cm_replay_report report;
    const cm_replay_options options = {.module = m->module};
    carom_result result = cm_replay_verify(m->path, &options, &report);
    cr_expect_eq(result, CAROM_OK, "%s %s", report.error.message, report.difference);
    cr_expect(report.complete);
    cr_expect_eq(report.verified_ticks, tick);
    cr_expect_eq(report.final_hash, hash);
    cm_match_error error;
    cm_match_file *file;
    cm_playback *playback;
    cr_assert_eq(cm_match_open(m->path, &file, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_playback_apply(file, m->module, &playback, &error), CAROM_OK, "%s",
                 error.message);
    cr_assert_eq(cm_playback_seek(playback, tick, &error), CAROM_OK, "%s", error.message);
    memcpy(state, carom_game_state(cm_playback_game(playback)), size);
    cm_playback_close(playback);
}

void match_close(match *m)
{
    static const char *const ENDINGS[] = {"", "-wal", "-shm"};
    for (uint32_t i = 0; i < m->players; i++) {
        carom_client_destroy(m->player[i].client);
    }
    cm_worker_destroy(m->worker);
    cm_store_destroy(m->store);
    cm_scene_free(m->scene);
    cm_net_use(NULL);
    cm_net_destroy(m->net);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s%s", m->path, ENDINGS[i]);
        unlink(name);
    }
    rmdir(m->directory);
}

void trial(const carom_module *module, const char *game)
{
    cm_trial_report report;
    const cm_trial_def def = {
        .module = module, .scene = scene_of(game), .seed = SEED, .ticks = 300};
    cr_assert_eq(cm_trial_run(&def, &report), CAROM_OK, "%s", report.finding);
    cr_expect(report.sound, "%s", report.finding);
    cr_expect(report.joins > 0 && report.leaves > 0 && report.hostile_states > 0);
    cm_scene_free((cm_scene *)def.scene);
}

void offline_open(offline *o, const carom_module *module, const char *game, uint32_t players)
{
    memset(o, 0, sizeof *o);
    o->scene = scene_of(game);
    cr_assert_eq(cm_game_create(o->scene, module, SEED, NULL, &o->game), CAROM_OK);
    cr_assert_eq(cm_game_create(o->scene, module, SEED, NULL, &o->again), CAROM_OK);
    cr_assert_eq(carom_world_set_lanes(carom_game_world(o->again), 1), CAROM_OK);
    o->image_size = cm_game_save_bound(o->game);
    o->image = malloc(o->image_size);
    cm_game_event joins[CAROM_PLAYERS_MAX];
    for (uint32_t i = 0; i < players; i++) {
        joins[i] = (cm_game_event){.type = CM_EVENT_JOIN, .player = i, .client_id = i + 1};
    }
    const cm_tick_input input = {.events = joins, .event_count = players};
    cm_game_tick(o->game, &input);
}

void offline_tick(offline *o, const carom_player_input *inputs, uint32_t count)
{
    const cm_tick_input input = {.inputs = inputs, .input_count = count};
    size_t size = cm_game_save(o->game, o->image, o->image_size);
    cr_assert_eq(cm_game_restore(o->again, o->image, size), CAROM_OK);
    cm_game_tick(o->game, &input);
    cm_game_tick(o->again, &input);
    cr_assert_eq(cm_game_hash(o->again), cm_game_hash(o->game), "tick %u",
                 (unsigned)carom_game_tick(o->game));
}

void offline_golden(const offline *o, const char *game, const char *outcome)
{
    char path[128], expected[256] = "", line[256];
    snprintf(path, sizeof path, "tests/golden/%s.txt", game);
    snprintf(line, sizeof line, "%s %016llx\n", outcome, (unsigned long long)cm_game_hash(o->game));
    const char *update = getenv("CAROM_GOLDEN_UPDATE");
    bool write = update != NULL && strcmp(update, "1") == 0;
    FILE *file = fopen(path, write ? "w" : "r");
    cr_assert_not_null(file, "%s: run the tests from the root of the repository", path);
    if (write) {
        fputs(line, file);
    } else {
        cr_assert_not_null(fgets(expected, sizeof expected, file), "%s: empty", path);
        cr_expect_str_eq(line, expected);
    }
    fclose(file);
}

void offline_close(offline *o)
{
    cm_game_destroy(o->game);
    cm_game_destroy(o->again);
    cm_scene_free(o->scene);
    free(o->image);
}
