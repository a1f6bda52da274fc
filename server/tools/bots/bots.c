// `carom bots`: real SDK clients against a real server, through a seeded bad link.
//
// Only the public SDK is used; the link (latency, jitter, loss) lies under ENet's sockets and is
// this process's own. One thread updates all bots every few milliseconds and sleeps in between.
// K of them predict, the rest only speak the protocol. Inputs are a seeded walk.
// Typical: 4 to 32 bots for 20 to 60 s; 400 that do not predict.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/client.h"
#include "server/tools/bots/summary.h"
#include "server/tools/cli/cli.h"
#include "server/tools/cli/options.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"

#define BOTS_MAX     4095
#define PERIOD_US    4000u
#define STAGGER_US   5000u    // between two bots' connecting
#define FAREWELL_US  1500000u // for the leaving at the end
#define WAIT_SECONDS 10u      // for all to be playing or refused, before play is timed

typedef struct bot_options {
    char host[256];
    uint16_t port;
    int64_t count, predict, seed;
    double seconds, latency_ms, jitter_ms, loss_percent;
    const char *pattern;
} bot_options;

typedef struct bot {
    carom_client *client;
    cm_rng rng;
    uint64_t turn_us; // when it chooses anew
    uint8_t input[9]; // of the sandbox
    cm_bot_result result;
} bot;

static volatile sig_atomic_t stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void put_float(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

// A new direction every half to one and a half seconds; the button held a quarter of the time.
static void choose_input(bot *b, const char *pattern, uint64_t now)
{
    if (now < b->turn_us) {
        return;
    }
    b->turn_us = now + 500000u + cm_rng_below(&b->rng, 1000000u);
    float x = cm_rng_range(&b->rng, -1.0f, 1.0f), z = cm_rng_range(&b->rng, -1.0f, 1.0f);
    uint32_t buttons = cm_rng_below(&b->rng, 4) == 0 ? 1u : 0u;
    if (cm_rng_below(&b->rng, 10) == 0) {
        buttons |= 2u;
    }
    if (strcmp(pattern, "idle") == 0) {
        x = 0.0f;
        z = 0.0f;
        buttons = 0;
    } else if (strcmp(pattern, "drive") == 0) {
        buttons = 0;
    }
    put_float(b->input, x);
    put_float(b->input + 4, z);
    b->input[8] = (uint8_t)buttons;
}

static void update_bot(bot *b, const bot_options *options, uint64_t now)
{
    carom_client_update(b->client, now);
    carom_client_state state = carom_client_get_state(b->client);
    if (state == CAROM_CLIENT_PLAYING) {
        cm_bot_result *result = &b->result;
        if (!result->played) {
            result->played = true;
            result->playing_since_us = now;
        }
        choose_input(b, options->pattern, now);
        // A module with other inputs than the sandbox's gets none.
        (void)carom_client_set_input(b->client, b->input, sizeof b->input);
        carom_client_stats_get(b->client, &result->stats);
        result->playing_until_us = now;
        result->first_tick = result->first_tick ? result->first_tick : result->stats.server_tick;
    }
}

static void sleep_until(uint64_t due)
{
    uint64_t now = now_us();
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

static void connect_due(bot *bots, const bot_options *options, uint64_t start, uint64_t now)
{
    for (uint32_t i = 0; i < (uint32_t)options->count; i++) {
        bot *b = &bots[i];
        if (!b->result.tried && now >= start + (uint64_t)i * STAGGER_US) {
            b->result.tried = true;
            b->result.opened =
                carom_client_connect(b->client, options->host, options->port, now) == CAROM_OK;
        }
    }
}

// Plays until the time is over or a signal comes. The time counts from when all play.
static void play(bot *bots, const bot_options *options)
{
    uint64_t start = now_us(), due = start, began = 0;
    uint32_t count = (uint32_t)options->count;
    while (!stop) {
        uint64_t now = now_us();
        connect_due(bots, options, start, now);
        bool any = false;
        for (uint32_t i = 0; i < count; i++) {
            update_bot(&bots[i], options, now);
            any = any || !bots[i].result.tried ||
                  carom_client_get_state(bots[i].client) != CAROM_CLIENT_IDLE;
        }
        if (began == 0 && (all_settled(bots, count) ||
                           now - start > WAIT_SECONDS * 1000000ull + count * STAGGER_US)) {
            began = now;
        }
        if (!any || (began != 0 && (double)(now - began) >= options->seconds * 1.0e6)) {
            break;
        }
        due = due + PERIOD_US > now ? due + PERIOD_US : now;
        sleep_until(due);
    }
}

static void leave(bot *bots, uint32_t count)
{
    uint64_t start = now_us();
    for (uint32_t i = 0; i < count; i++) {
        bot *b = &bots[i];
        carom_client_state state = carom_client_get_state(b->client);
        b->result.reason = carom_client_get_reason(b->client);
        b->result.stayed = state == CAROM_CLIENT_PLAYING;
        carom_client_disconnect(b->client, start);
    }
    bool any = true;
    while (any && now_us() - start < FAREWELL_US) {
        uint64_t now = now_us();
        any = false;
        for (uint32_t i = 0; i < count; i++) {
            carom_client_update(bots[i].client, now);
            any = any || carom_client_get_state(bots[i].client) != CAROM_CLIENT_IDLE;
        }
        sleep_until(now + PERIOD_US);
    }
}

static bool create(bot *bots, const bot_options *options)
{
    for (uint32_t i = 0; i < (uint32_t)options->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "bot %u", i + 1);
        carom_client_def def = carom_default_client_def();
        def.name = name;
        def.predict = i < (uint32_t)options->predict;
        if (carom_client_create(&def, &bots[i].client) != CAROM_OK) {
            return false;
        }
        bots[i].result.predicts = def.predict;
        cm_rng_seed(&bots[i].rng, (uint64_t)options->seed * 4096u + i);
    }
    return true;
}

// Says on stderr what the summary's names mean, for whoever reads only that.
static void explain(const cm_bots_summary *s, const bot_options *options)
{
    if (s->unopened > 0) {
        cm_cli_error("bots: --connect: %u of %u could not begin: '%s' has no IPv4 address, or this "
                     "machine no socket to spare",
                     (unsigned)s->unopened, (unsigned)s->clients, options->host);
    }
    for (uint32_t i = 0; i < CAROM_REASON_COUNT; i++) {
        if (s->refused[i] > 0) {
            cm_cli_error("bots: %s:%u: %u of %u refused or ended: %s", options->host,
                         (unsigned)options->port, (unsigned)s->refused[i], (unsigned)s->clients,
                         carom_reason_text((carom_reason)i));
        }
    }
    if (s->desyncs > 0) {
        cm_cli_error("bots: %llu views decoded to something else than was sent",
                     (unsigned long long)s->desyncs);
    }
}

static int run(const bot_options *options)
{
    cm_link_def link = {.latency_us = (uint32_t)(options->latency_ms * 1000.0),
                        .jitter_us = (uint32_t)(options->jitter_ms * 1000.0),
                        .loss = (float)(options->loss_percent / 100.0)};
    cm_net *net = cm_net_kernel_create(&link, (uint64_t)options->seed);
    uint32_t count = (uint32_t)options->count;
    bot *bots = calloc(count, sizeof *bots);
    if (!net || !bots) {
        cm_cli_error("bots: out of memory");
        free(bots);
        return CM_STATUS_FAILED;
    }
    cm_net *before = cm_net_use(net);
    int status = CM_STATUS_FAILED;
    if (!cm_net_took()) {
        cm_cli_error("bots: ENet does not call our socket functions, expected a shared libenet");
    } else if (!create(bots, options)) {
        cm_cli_error("bots: out of memory");
    } else {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        play(bots, options);
        leave(bots, count);
        cm_bots_summary summary;
        cm_bots_summary_init(&summary);
        for (uint32_t i = 0; i < count; i++) {
            cm_bots_summary_add(&summary, &bots[i].result);
        }
        status = cm_bots_summary_print(&summary, stdout);
        fflush(stdout);
        explain(&summary, options);
    }
    for (uint32_t i = 0; i < count; i++) {
        carom_client_destroy(bots[i].client);
    }
    cm_net_use(before);
    cm_net_destroy(net);
    free(bots);
    return cm_cli_finish(status);
}

static bool parse_address(const char *text, bot_options *options)
{
    const char *colon = strrchr(text, ':');
    int64_t port;
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof options->host ||
        !cm_parse_int(colon + 1, 1, 65535, &port)) {
        return false;
    }
    memcpy(options->host, text, (size_t)(colon - text));
    options->port = (uint16_t)port;
    return true;
}

int cm_cli_bots(int argc, char **argv)
{
    bot_options options = {
        .count = 1, .predict = -1, .seed = 1, .seconds = 10.0, .pattern = "wander"};
    const char *address = NULL;
    const cm_option table[] = {
        {"connect", CM_OPTION_TEXT, &address, 0, 0, NULL, NULL},
        {"count", CM_OPTION_INT, &options.count, 1, BOTS_MAX, NULL, NULL},
        {"seconds", CM_OPTION_NUMBER, &options.seconds, 0.1, 1.0e6, NULL, NULL},
        {"latency", CM_OPTION_NUMBER, &options.latency_ms, 0, 10000, NULL, NULL},
        {"jitter", CM_OPTION_NUMBER, &options.jitter_ms, 0, 10000, NULL, NULL},
        {"loss", CM_OPTION_NUMBER, &options.loss_percent, 0, 100, NULL, NULL},
        {"predict", CM_OPTION_INT, &options.predict, 0, BOTS_MAX, NULL, NULL},
        {"seed", CM_OPTION_INT, &options.seed, 0, 1000000000, NULL, NULL},
        {"pattern", CM_OPTION_CHOICE, &options.pattern, 0, 0, "wander|drive|idle", NULL},
    };
    int status = cm_options_parse(argc, argv, table, sizeof table / sizeof table[0], NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (!address || !parse_address(address, &options)) {
        cm_cli_error("bots: --connect: '%s', expected HOST:PORT", address ? address : "");
        return CM_STATUS_USAGE;
    }
    if (options.predict > options.count) {
        cm_cli_error("bots: --predict: %lld, expected at most the %lld of --count",
                     (long long)options.predict, (long long)options.count);
        return CM_STATUS_USAGE;
    }
    if (options.predict < 0) {
        options.predict = options.count;
    }
    return run(&options);
}
