// The town of the tests of coming back; see away.h.
#include "tests/unit/node/away.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/node/rig.h"

#define UNTIL_S 40.0

static void keep_log(void *user, int level, const char *json_line)
{
    away *a = user;
    size_t used = strlen(a->log);
    (void)level;
    snprintf(a->log + used, sizeof a->log - used, "%s\n", json_line);
}

static void keep_used(void *user, const cm_used_token *token)
{
    away *a = user;
    cr_assert(cm_used_tokens_add(&a->used, token, 0, false));
}

static void open_worker(away *a)
{
    cm_worker_def def = {.random = cm_net_random,
                         .config = &a->config,
                         .scene = a->live == NULL ? a->scene : NULL,
                         .store = a->store,
                         .module = a->def.module,
                         .keys = a->def.tokens ? &a->keys : NULL,
                         .ticket_key = &a->ticket_key,
                         .seed = a->def.seed + cm_net_now_us(a->net),
                         .now_us = cm_net_now_us(a->net),
                         .started_unix_ms = UINT64_C(1900000000000),
                         .log = keep_log,
                         .keep_used = keep_used,
                         .user = a};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &a->worker, error, sizeof error), CAROM_OK, "%s", error);
    for (uint32_t i = 0; i < a->used.capacity; i++) {
        if (a->used.table[i].expires_unix_s != 0) {
            cr_assert(cm_worker_recall_used(a->worker, &a->used.table[i]));
        }
    }
    if (a->live != NULL) {
        cm_worker_room room = {
            .name = "", .scene = a->live->scene, .module = a->def.module, .live = a->live};
        cr_assert_eq(cm_worker_open(a->worker, &room, error, sizeof error), CAROM_OK, "%s", error);
    }
}

static void set_config(away *a)
{
    cm_config_default(&a->config);
    a->config.insecure = !a->def.tokens;
    if (a->def.tokens) {
        strcpy(a->config.key, "given below");
    }
    a->config.max_players = a->def.max_players > 0 ? a->def.max_players : AWAY_CLIENTS;
    a->config.spectators = a->def.spectators;
    a->config.spectator_delay_s = a->def.spectator_delay_s;
    a->config.grace_ms = a->def.grace_ms > 0 ? a->def.grace_ms : a->config.grace_ms;
    a->config.timeout_ms = a->def.timeout_ms > 0 ? a->def.timeout_ms : a->config.timeout_ms;
}

void away_make(away *a, const away_def *def)
{
    memset(a, 0, sizeof *a);
    a->def = *def;
    a->net = cm_net_virtual_create(def->seed);
    cm_net_use(a->net);
    cm_link_def link = {.latency_us = 25000};
    if (!def->lossless) {
        link.jitter_us = 5000;
        link.loss = 0.01f;
    }
    cm_net_link_port(a->net, AWAY_PORT, &link);
    uint32_t side = def->side > 0 ? def->side : 3;
    a->scene = def->exact    ? rig_exact_scene(side)
               : def->secret ? rig_secret_scene(side)
                             : rig_scene(side);
    set_config(a);
    a->keys.count = 1;
    a->keys.keys[0].id = 7;
    a->ticket_key.id = 1;
    cm_used_tokens_init(&a->used, a->ticket_key.secret);
    cm_net_random(NULL, a->keys.keys[0].secret, sizeof a->keys.keys[0].secret);
    cm_net_random(NULL, a->ticket_key.secret, sizeof a->ticket_key.secret);
    if (def->record) {
        cr_assert(matches_make(a->directory, &a->store));
    }
    a->client_def = carom_default_client_def();
    a->client_def.random = cm_net_random;
    a->client_def.predict_cost_ns = 1000;
    a->client_def.module = def->module;
    open_worker(a);
}

void away_free(away *a)
{
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        carom_client_destroy(a->clients[i]);
    }
    cm_worker_destroy(a->worker);
    if (a->def.record) {
        if (a->store != NULL) {
            cm_store_destroy(a->store);
        }
        matches_remove(a->directory);
    }
    cm_used_tokens_free(&a->used);
    cm_live_match_free(a->live);
    cm_scene_free(a->scene);
    cm_net_destroy(a->net);
    cm_net_use(NULL);
}

void away_restart(away *a)
{
    cm_worker_destroy(a->worker);
    a->worker = NULL;
    open_worker(a);
}

void away_crash(away *a)
{
    away old = *a;
    char path[2 * MATCHES_DIRECTORY];
    cm_match_error error = {""};
    const char *match = strrchr(
        cm_store_path(a->store, cm_hosted_room_match(cm_worker_room_at(a->worker, 0))), '/');
    cr_assert(matches_copy(old.directory, a->directory, &a->store));
    snprintf(path, sizeof path, "%s%s", a->directory, match);
    cm_worker_destroy(a->worker);
    a->worker = NULL;
    cm_store_destroy(old.store);
    matches_remove(old.directory);
    cm_live_match_free(a->live);
    cr_assert_eq(cm_live_match_read(path, a->def.module, &a->live, &error), CAROM_OK, "%s",
                 error.message);
    open_worker(a);
}

void away_step(away *a)
{
    cm_net_advance(a->net, AWAY_STEP_US);
    uint64_t now = cm_net_now_us(a->net);
    if (!a->stalled) {
        cm_worker_run_once(a->worker, now);
    }
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        carom_client_update(a->clients[i], now);
    }
}

void away_run(away *a, double seconds)
{
    for (double at = 0.0; at < seconds; at += 1e-6 * AWAY_STEP_US) {
        away_step(a);
    }
}

void away_issue(const away *a, uint32_t i, char text[CAROM_TOKEN_TEXT_MAX])
{
    char name[16], server[32];
    snprintf(name, sizeof name, "player %u", i);
    snprintf(server, sizeof server, "127.0.0.1:%u", AWAY_PORT);
    carom_token_def def = carom_default_token_def();
    def.client_id = AWAY_ID + i;
    def.expires_unix_s = UINT64_C(2000000000);
    def.servers[0] = server;
    def.name = name;
    def.spectates = a->issues_spectators;
    cr_assert_eq(carom_token_issue(&def, &a->keys.keys[0], text, CAROM_TOKEN_TEXT_MAX, NULL),
                 CAROM_OK);
}

void away_connect(away *a, uint32_t i)
{
    char name[16], token[CAROM_TOKEN_TEXT_MAX];
    carom_client_def def = a->client_def;
    snprintf(name, sizeof name, "player %u", i);
    def.name = name;
    carom_client_destroy(a->clients[i]);
    cr_assert_eq(carom_client_create(&def, &a->clients[i]), CAROM_OK);
    uint64_t now = cm_net_now_us(a->net);
    carom_result result;
    if (a->def.tokens) {
        away_issue(a, i, token);
        result = carom_client_connect_token(a->clients[i], token, now);
    } else {
        result = carom_client_connect(a->clients[i], "127.0.0.1", AWAY_PORT, now);
    }
    cr_assert_eq(result, CAROM_OK);
    a->ports[i] = cm_net_last_port(a->net);
}

void away_join(away *a, uint32_t i)
{
    away_connect(a, i);
    away_run(a, 1.5);
    cr_assert_eq(carom_client_get_state(a->clients[i]), CAROM_CLIENT_PLAYING);
}

void away_drive(away *a, uint32_t i, float x)
{
    uint8_t input[CAROM_INPUT_MAX];
    rig_input(input, x, 0.0f, 0);
    cr_assert_eq(carom_client_set_input(a->clients[i], input, RIG_INPUT_SIZE), CAROM_OK);
}

double away_until(away *a, uint32_t i, carom_client_state state)
{
    for (uint32_t steps = 0; 1e-6 * AWAY_STEP_US * steps < UNTIL_S; steps++) {
        if (carom_client_get_state(a->clients[i]) == state) {
            return 1e-6 * AWAY_STEP_US * steps;
        }
        away_step(a);
    }
    cr_assert_fail("client %u is in state %d, reason: %s", i,
                   (int)carom_client_get_state(a->clients[i]),
                   carom_reason_text(carom_client_get_reason(a->clients[i])));
    return 0.0;
}

uint32_t away_logged(const away *a, const char *event)
{
    char text[64];
    uint32_t count = 0;
    snprintf(text, sizeof text, "\"event\":\"%s\"", event);
    for (const char *at = a->log; (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

cm_worker_stats away_stats(const away *a)
{
    cm_worker_stats stats;
    cm_worker_stats_get(a->worker, &stats);
    return stats;
}

carom_client_stats away_client_stats(const away *a, uint32_t i)
{
    carom_client_stats stats;
    carom_client_stats_get(a->clients[i], &stats);
    return stats;
}

cm_match_file *away_recording(away *a)
{
    cm_worker_drain(a->worker, cm_net_now_us(a->net));
    char path[128];
    snprintf(path, sizeof path, "%s",
             cm_store_path(a->store, cm_hosted_room_match(cm_worker_room_at(a->worker, 0))));
    cm_store_destroy(a->store);
    a->store = NULL;
    cm_match_file *file = NULL;
    cm_match_error error = {""};
    cr_assert_eq(cm_match_open(path, &file, &error), CAROM_OK, "%s", error.message);
    return file;
}
