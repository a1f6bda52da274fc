// A client of the race: prints the standings, and lets the module's bot drive (bot.c). A game of
// people would read a wheel or a keyboard there, and draw.
//
//   race_client HOST:PORT [PLAYERS [LAPS]]
//
// Drives with 1 to 8 players (1) until they have driven so many laps together (1); then exits with
// status 0.
#include "race.h"

#include <carom/client.h>
#include <carom/math.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

extern const carom_module carom_module_race;

static uint32_t laps; // reported to the first player

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // never set back, as the time of day may be
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    (void)user;
    if (size != RACE_NEWS_SIZE) {
        return;
    }
    uint32_t ticks = (uint32_t)bytes[4] | (uint32_t)bytes[5] << 8 | (uint32_t)bytes[6] << 16 |
                     (uint32_t)bytes[7] << 24;
    if (bytes[0] == RACE_NEWS_GO) {
        printf("tick %llu: go\n", (unsigned long long)tick);
    } else {
        laps++;
        printf("tick %llu: car %u, lap %u in %u ticks, place %u\n", (unsigned long long)tick,
               bytes[1] + 1u, bytes[2], ticks, bytes[3]);
    }
}

// Prints every car's position. A game draws every body at its carom_client_body_pose: chassis and
// wheels are the bodies with user_data 1 and 2.
static void tell(const carom_client *client)
{
    uint32_t size;
    const race_public *game = carom_client_public_state(client, &size);
    game = size == sizeof *game ? game : NULL;
    for (uint32_t i = 0; game != NULL && i < RACE_PLAYERS; i++) {
        const race_seat *seat = &game->seat[i];
        carom_client_pose pose;
        if (carom_client_body_pose(client, seat->car, &pose) == CAROM_OK) {
            printf("car %u: %u laps, then gate %u; at %5.1f %5.1f, %4.1f m/s%s\n", i + 1,
                   seat->laps, seat->next, pose.position.x, pose.position.z,
                   carom_length(pose.linear_velocity), pose.predicted ? ", predicted" : "");
        }
    }
}

int main(int argc, char **argv)
{
    char host[256];
    int port, players = argc > 2 ? atoi(argv[2]) : 1, wanted = argc > 3 ? atoi(argv[3]) : 1;
    carom_client *clients[RACE_PLAYERS];
    if (argc < 2 || sscanf(argv[1], "%255[^:]:%d", host, &port) != 2 || players < 1 ||
        players > (int)RACE_PLAYERS) {
        fprintf(stderr, "usage: race_client HOST:PORT [PLAYERS [LAPS]]\n");
        return 2;
    }
    for (int i = 0; i < players; i++) {
        carom_client_def def = carom_default_client_def();
        def.name = "bot";
        def.module = &carom_module_race; // the same rules predict here
        def.message = i == 0 ? hear : NULL;
        if (carom_client_create(&def, &clients[i]) != CAROM_OK ||
            carom_client_connect(clients[i], host, (uint16_t)port, now_us()) != CAROM_OK) {
            fprintf(stderr, "race_client: cannot start\n");
            return 1;
        }
    }
    bool playing = true;
    for (uint32_t frame = 1; playing && laps < (uint32_t)wanted; frame++) {
        for (int i = 0; i < players; i++) {
            carom_client_update(clients[i], now_us());
            (void)carom_client_play_bot(clients[i], frame);
            playing = playing && carom_client_get_state(clients[i]) != CAROM_CLIENT_IDLE;
        }
        if (frame % 240 == 0) {
            tell(clients[0]);
        }
        struct timespec pause = {0, 8000000}; // a game draws a frame here
        thrd_sleep(&pause, NULL);
    }
    for (int i = 0; i < players; i++) {
        if (carom_client_get_state(clients[i]) == CAROM_CLIENT_IDLE) {
            fprintf(stderr, "race_client: %s\n",
                    carom_reason_text(carom_client_get_reason(clients[i])));
        }
        carom_client_destroy(clients[i]);
    }
    return playing ? 0 : 1;
}
