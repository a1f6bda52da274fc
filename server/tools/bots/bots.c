// Real SDK clients against a real server, through a seeded bad link.
//
// Only the public SDK is used; the link (latency, jitter, loss) lies under ENet's sockets and is
// this process's own. One thread updates the bots in turn, each at its own frames, as a game does,
// and looks after the link in between. K of them predict, the rest only speak the protocol. Inputs:
// course.h, or those of a game of `carom bench feel`.
// Typical: 4 to 32 bots for 20 to 60 s; 400 that do not predict.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/client.h"
#include "server/tools/bench/samples.h"
#include "server/tools/bots/bots.h"
#include "server/tools/bots/eye.h"
#include "shared/net/net.h"

#define LINK_US       2000u    // between two looks after the link
#define STAGGER_US    5000u    // between two bots' connecting
#define FAREWELL_US   1500000u // for the leaving at the end
#define HEADERS       28u      // bytes of IP and UDP
#define SETTLE        0.2      // of the time, at most SETTLE_US: what is drawn then does not count
#define SETTLE_US     6000000u
#define TOKEN_SECONDS 60u // that a bot's token is good for: it is used at once

typedef struct bot {
    carom_client *client;
    cm_bot_course course;
    cm_feel_player player; // of options->game
    uint64_t frame_us;     // when its next frame is due
    cm_bot_result result;
    cm_bot_eye *eye; // NULL: it is not watched
} bot;

static volatile sig_atomic_t stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

// A comeback is seen with its first view: the gap is the time since the last one before it.
static void watch_views(cm_bot_result *result, const carom_client_stats *before, uint64_t now)
{
    if (result->stats.views == before->views) {
        result->stats.comebacks = before->comebacks; // until there is a view
        return;
    }
    if (result->stats.comebacks != before->comebacks && result->view_us != 0) {
        cm_bot_gaps_add(&result->gaps, now - result->view_us);
    }
    result->view_us = now;
}

static uint64_t settle_us(const cm_bots_options *options)
{
    double us = SETTLE * options->seconds * 1.0e6;
    return us < (double)SETTLE_US ? (uint64_t)us : SETTLE_US;
}

static void steer(bot *b, const cm_bots_options *options, uint64_t began, uint64_t now)
{
    if (b->result.watches) {
        return;
    }
    if (options->game == NULL) {
        cm_bot_steer(&b->course, options->module, options->pattern, b->client, now);
    } else if (began != 0) {
        cm_feel_play(options->game, &b->player, (double)(now - began) * 1.0e-6);
    }
}

static void note_playing(bot *b, uint64_t now)
{
    cm_bot_result *result = &b->result;
    carom_client_stats before = result->stats;
    carom_client_stats_get(b->client, &result->stats);
    watch_views(result, &before, now);
    carom_client_acks_get(b->client, &result->acks);
    result->playing_until_us = now;
    result->first_tick = result->first_tick ? result->first_tick : result->stats.server_tick;
}

static void update_bot(bot *b, const cm_bots_options *options, uint64_t began, uint64_t now,
                       cm_feel_found *found)
{
    double from_ms = b->eye != NULL ? cm_bench_thread_ms() : 0.0;
    carom_client_update(b->client, now);
    double took_us = b->eye != NULL ? 1.0e3 * (cm_bench_thread_ms() - from_ms) : 0.0;
    if (carom_client_get_state(b->client) != CAROM_CLIENT_PLAYING) {
        return;
    }
    if (!b->result.played) {
        b->result.played = true;
        b->result.playing_since_us = now;
    }
    if (b->eye != NULL) {
        cm_bot_eye_look(b->eye, b->client, now, settle_us(options), took_us, found);
    }
    steer(b, options, began, now);
    note_playing(b, now);
}

// Missed frames are not made up for, as in a game.
static void next_frame(bot *b, uint64_t frame_us, uint64_t now)
{
    uint64_t late = now - b->frame_us;
    b->result.frames++;
    b->result.frames_late += late > frame_us / 2;
    b->frame_us += frame_us * (1 + late / frame_us);
}

static void sleep_until(uint64_t due)
{
    uint64_t now = cm_net_now_us(NULL);
    if (due > now) {
        struct timespec t = {(time_t)((due - now) / 1000000u),
                             (long)((due - now) % 1000000u) * 1000};
        nanosleep(&t, NULL);
    }
}

static bool all_settled(const bot *bots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!bots[i].result.played &&
            (!bots[i].result.tried ||
             carom_client_get_state(bots[i].client) != CAROM_CLIENT_IDLE)) {
            return false;
        }
    }
    return true;
}

static uint32_t all_of(const cm_bots_options *options)
{
    return options->count + options->spectators;
}

static const char *room_of(const cm_bots_options *options, uint32_t number)
{
    return options->room_count > 0 ? options->rooms[number % options->room_count] : NULL;
}

// The token of one bot: its client id is its number, so that another run's bots are the same
// players.
static carom_result issue(const cm_bots_options *options, uint32_t number, char *text)
{
    char server[sizeof options->host + 10], name[16];
    bool six = strchr(options->host, ':') != NULL;
    snprintf(server, sizeof server, six ? "[%s]:%u" : "%s:%u", options->host,
             (unsigned)options->port);
    snprintf(name, sizeof name, "bot %u", number + 1);
    carom_token_def def = carom_default_token_def();
    def.client_id = number + 1;
    def.expires_unix_s = (uint64_t)time(NULL) + TOKEN_SECONDS;
    def.servers[0] = server;
    def.room = room_of(options, number);
    def.name = name;
    def.spectates = number >= options->count;
    return carom_token_issue(&def, options->key, text, CAROM_TOKEN_TEXT_MAX, NULL);
}

static bool connect_bot(bot *b, const cm_bots_options *options, uint32_t number, uint64_t now)
{
    char token[CAROM_TOKEN_TEXT_MAX];
    if (options->key == NULL) {
        return carom_client_connect(b->client, options->host, options->port, now) == CAROM_OK;
    }
    return issue(options, number, token) == CAROM_OK &&
           carom_client_connect_token(b->client, token, now) == CAROM_OK;
}

static void connect_due(bot *bots, const cm_bots_options *options, uint64_t start, uint64_t now)
{
    for (uint32_t i = 0; i < all_of(options); i++) {
        bot *b = &bots[i];
        if (!b->result.tried && now >= start + (uint64_t)i * STAGGER_US) {
            b->result.tried = true;
            b->result.opened = connect_bot(b, options, i, now);
        }
    }
}

// Plays until the time is over or a signal comes. The time counts from when all play or were
// refused: one that does neither gives up by itself.
static void play(cm_net *net, bot *bots, const cm_bots_options *options, cm_feel_found *found)
{
    uint64_t start = cm_net_now_us(NULL), now = start, began = 0,
             frame_us = 1000000u / options->fps;
    uint32_t count = all_of(options);
    bool any = true;
    for (uint32_t i = 0; i < count; i++) {
        bots[i].frame_us = start + frame_us * i / count; // one after the other
    }
    while (!stop && any && (began == 0 || (double)(now - began) < options->seconds * 1.0e6)) {
        uint64_t due = now + LINK_US;
        connect_due(bots, options, start, now);
        any = false;
        for (uint32_t i = 0; i < count; i++) {
            bot *b = &bots[i];
            now = cm_net_now_us(NULL);
            if (now >= b->frame_us) {
                update_bot(b, options, began, now, found);
                next_frame(b, frame_us, now);
                cm_net_pump(net);
            }
            due = b->frame_us < due ? b->frame_us : due;
            any = any || !b->result.tried || carom_client_get_state(b->client) != CAROM_CLIENT_IDLE;
        }
        began = began == 0 && all_settled(bots, count) ? now : began;
        cm_net_pump(net);
        sleep_until(due);
        now = cm_net_now_us(NULL);
    }
}

static void leave(bot *bots, uint32_t count)
{
    uint64_t start = cm_net_now_us(NULL);
    for (uint32_t i = 0; i < count; i++) {
        bot *b = &bots[i];
        carom_client_state state = carom_client_get_state(b->client);
        b->result.reason = carom_client_get_reason(b->client);
        b->result.stayed = state != CAROM_CLIENT_IDLE;
        b->result.unstable = b->result.stayed && state != CAROM_CLIENT_PLAYING;
        carom_client_disconnect(b->client, start);
    }
    bool any = true;
    while (any && cm_net_now_us(NULL) - start < FAREWELL_US) {
        uint64_t now = cm_net_now_us(NULL);
        any = false;
        for (uint32_t i = 0; i < count; i++) {
            carom_client_update(bots[i].client, now);
            any = any || carom_client_get_state(bots[i].client) != CAROM_CLIENT_IDLE;
        }
        sleep_until(now + LINK_US);
    }
}

static bool create(bot *bots, const cm_bots_options *options)
{
    for (uint32_t i = 0; i < all_of(options); i++) {
        char name[16];
        snprintf(name, sizeof name, "bot %u", i + 1);
        carom_client_def def = carom_default_client_def();
        def.name = name;
        def.room = room_of(options, i);
        def.predict = i < options->predict;
        def.module = options->module;
        def.spectate = i >= options->count;
        if (carom_client_create(&def, &bots[i].client) != CAROM_OK) {
            return false;
        }
        bots[i].result.predicts = def.predict;
        if (def.predict && i < CM_BOT_EYES) {
            bots[i].eye = calloc(1, sizeof *bots[i].eye); // without memory it is not watched
        }
        bots[i].result.watches = def.spectate;
        bots[i].player = (cm_feel_player){.client = bots[i].client, .number = i};
        cm_rng_seed(&bots[i].player.rng, options->seed * CM_BOTS_SEEDS + i);
        cm_bot_course_begin(&bots[i].course, options->seed * CM_BOTS_SEEDS + i);
    }
    return true;
}

// Bytes and datagrams are those of all bots, from their first on.
static void note_feel(const cm_net *net, const bot *bots, uint32_t count,
                      const cm_feel_found *found, cm_bots_summary *summary)
{
    cm_net_stats traffic;
    double ms = 0.0;
    cm_net_stats_get(net, &traffic);
    for (uint32_t i = 0; i < count; i++) {
        const cm_bot_result *result = &bots[i].result;
        ms += (double)(result->playing_until_us - result->playing_since_us) * 1.0e-3;
        summary->watched += bots[i].eye != NULL && bots[i].eye->open;
    }
    cm_feel_sum(found, &summary->feel);
    if (ms > 0.0) {
        summary->feel.kbit_down =
            8.0 * (double)(traffic.bytes_delivered + HEADERS * traffic.delivered) / ms;
        summary->feel.kbit_up = 8.0 * (double)(traffic.bytes_sent + HEADERS * traffic.sent) / ms;
    }
}

carom_result cm_bots_run(const cm_bots_options *options, cm_bots_summary *summary)
{
    cm_link_def link = {.latency_us = (uint32_t)(options->latency_ms * 1000.0),
                        .jitter_us = (uint32_t)(options->jitter_ms * 1000.0),
                        .loss = (float)(options->loss_percent / 100.0)};
    cm_net *net = cm_net_kernel_create(&link, options->seed);
    const uint32_t count = all_of(options);
    bot *bots = calloc(count, sizeof *bots);
    cm_feel_found *found = calloc(1, sizeof *found);
    char token[CAROM_TOKEN_TEXT_MAX];
    carom_result result =
        net != NULL && bots != NULL && found != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    if (result == CAROM_OK && options->key != NULL) {
        result = issue(options, 0, token);
    }
    cm_bots_summary_init(summary);
    cm_net *before = result == CAROM_OK ? cm_net_use(net) : NULL;
    if (result == CAROM_OK && !cm_net_took()) {
        result = CAROM_ERROR_NOT_BUILT;
    } else if (result == CAROM_OK && !create(bots, options)) {
        result = CAROM_ERROR_MEMORY;
    } else if (result == CAROM_OK) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        play(net, bots, options, found);
        note_feel(net, bots, count, found, summary);
        leave(bots, count);
        for (uint32_t i = 0; i < count; i++) {
            cm_bots_summary_add(summary, &bots[i].result);
        }
    }
    for (uint32_t i = 0; bots != NULL && i < count; i++) {
        carom_client_destroy(bots[i].client);
        if (bots[i].eye != NULL) {
            cm_bot_eye_close(bots[i].eye);
            free(bots[i].eye);
        }
    }
    if (net != NULL) {
        cm_net_use(before);
        cm_net_destroy(net);
    }
    free(found);
    free(bots);
    return result;
}
