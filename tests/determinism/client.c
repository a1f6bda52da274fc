// Goal: a client of another architecture holds the server's world bit for bit. Method: a program of
// the SDK, in real time, in a room of the sandbox with exact sync, over a path of its own making;
// clients.sh compiles it for each architecture, and compares what it prints with the recording.
//
//   client HOST:PORT SEED TICKS
//
// Drives about until it has confirmed so many ticks. Prints tick and hash of its confirmed world
// after each update that moved it on. Status 0; 1: it ended before, or differed; 2: bad usage.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/client_more.h"
#include "client-sdk/src/state.h"
#include "shared/base/bytes.h"
#include "shared/base/rng.h"

#define FRAME_NS 8000000
#define TURN_US  300000u // between two directions
#define LONGEST  600u    // s: what never comes is a failure and no hang

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void drive(carom_client *client, cm_rng *rng)
{
    uint8_t input[9];
    cm_byte_writer writer = cm_byte_writer_make(input, sizeof input);
    for (int i = 0; i < 2; i++) {
        float along = 2.0f * (float)cm_rng_unit(rng) - 1.0f;
        uint32_t bits;
        memcpy(&bits, &along, sizeof bits);
        cm_put_u32(&writer, bits);
    }
    cm_put_u8(&writer, (uint8_t)cm_rng_below(rng, 4));
    (void)carom_client_set_input(client, input, sizeof input);
}

static int play(carom_client *client, uint64_t seed, uint64_t ticks)
{
    const struct timespec frame = {0, FRAME_NS};
    uint64_t begin = now_us(), turn_us = 0, first = 0, newest = 0;
    carom_client_stats stats = {0};
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    while (newest - first < ticks || first == 0) {
        uint64_t now = now_us();
        carom_client_update(client, now);
        if (carom_client_get_state(client) == CAROM_CLIENT_IDLE || stats.desyncs > 0 ||
            now > begin + 1000000u * LONGEST) {
            fprintf(stderr, "client: ended at tick %" PRIu64 ", %" PRIu64 " differences: %s\n",
                    newest, stats.desyncs, carom_reason_text(carom_client_get_reason(client)));
            return 1;
        }
        carom_client_stats_get(client, &stats);
        const cm_mirror *mirror = client->mirror;
        uint64_t tick = mirror != NULL ? carom_game_tick(mirror->game) : 0;
        if (tick != newest) {
            printf("%" PRIu64 " %016" PRIx64 "\n", tick, cm_game_hash(mirror->game));
            newest = tick;
            first = first == 0 ? tick : first;
        }
        if (now > turn_us && carom_client_get_state(client) == CAROM_CLIENT_PLAYING) {
            drive(client, &rng);
            turn_us = now + TURN_US;
        }
        nanosleep(&frame, NULL);
    }
    fprintf(stderr,
            "client: %" PRIu64 " ticks confirmed, %" PRIu64 " corrections, %" PRIu64
            " steps predicted, %" PRIu64 " comebacks\n",
            newest - first, stats.reconciles, stats.predicted_steps, stats.comebacks);
    return stats.reconciles > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char host[64];
    unsigned port;
    if (argc != 4 || sscanf(argv[1], "%63[^:]:%u", host, &port) != 2) {
        fputs("client: expected HOST:PORT SEED TICKS\n", stderr);
        return 2;
    }
    uint64_t seed = strtoull(argv[2], NULL, 10);
    const carom_client_link path = {.latency_ms = 40, .jitter_ms = 10, .loss = 0.02f, .seed = seed};
    carom_client_def def = carom_default_client_def();
    def.timeout_ms = 60000; // emulated, beside others
    carom_client *client;
    if (carom_client_create(&def, &client) != CAROM_OK ||
        carom_client_simulate_link(client, &path) != CAROM_OK ||
        carom_client_connect(client, host, (uint16_t)port, now_us()) != CAROM_OK) {
        fputs("client: cannot connect\n", stderr);
        return 1;
    }
    int status = play(client, seed, strtoull(argv[3], NULL, 10));
    carom_client_disconnect(client, now_us());
    for (int i = 0; i < 100 && carom_client_get_state(client) != CAROM_CLIENT_IDLE; i++) {
        carom_client_update(client, now_us());
        nanosleep(&(struct timespec){0, FRAME_NS}, NULL);
    }
    carom_client_destroy(client);
    return status;
}
