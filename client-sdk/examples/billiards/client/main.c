// A client of the billiards game: tells what happens, and lets the module's bot play (bot.c). A
// game of people would aim with a mouse there, and draw; ../window does.
//
//   billiards_client HOST:PORT [PLAYERS [BALLS]]
//
// Plays with 1 or 2 players (1; more are as two) until so many balls have been potted (1); then
// exits with status 0.
#include "billiards.h"

#include <carom/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

extern const carom_module carom_module_billiards;

static uint32_t potted; // reported to the first player

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // never set back, as the time of day may be
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    static const char *const why[] = {
        "", "no ball hit", "wrong ball first", "cue ball potted", "no cushion", "too late"};
    (void)user;
    if (size != BILLIARDS_NEWS_SIZE) {
        return;
    }
    printf("tick %llu: player %u ", (unsigned long long)tick, bytes[1] + 1u);
    if (bytes[0] == BILLIARDS_NEWS_POT) {
        potted++;
        printf("pots the %u\n", bytes[2]);
    } else if (bytes[0] == BILLIARDS_NEWS_FOUL) {
        printf("fouls: %s\n", bytes[2] < sizeof why / sizeof why[0] ? why[bytes[2]] : "");
    } else {
        printf("wins the %s, %u frames\n", bytes[0] == BILLIARDS_NEWS_FRAME ? "frame" : "match",
               bytes[2]);
    }
}

int main(int argc, char **argv)
{
    char host[256];
    int port, players = argc > 2 ? atoi(argv[2]) : 1, wanted = argc > 3 ? atoi(argv[3]) : 1;
    carom_client *clients[BILLIARDS_PLAYERS];
    if (argc < 2 || sscanf(argv[1], "%255[^:]:%d", host, &port) != 2 || players < 1) {
        fprintf(stderr, "usage: billiards_client HOST:PORT [PLAYERS [BALLS]]\n");
        return 2;
    }
    players = players > (int)BILLIARDS_PLAYERS ? (int)BILLIARDS_PLAYERS : players;
    for (int i = 0; i < players; i++) {
        carom_client_def def = carom_default_client_def();
        def.name = "bot";
        def.module = &carom_module_billiards; // the same rules predict here
        def.message = i == 0 ? hear : NULL;
        if (carom_client_create(&def, &clients[i]) != CAROM_OK ||
            carom_client_connect(clients[i], host, (uint16_t)port, now_us()) != CAROM_OK) {
            fprintf(stderr, "billiards_client: cannot start\n");
            return 1;
        }
    }
    bool playing = true;
    for (uint32_t frame = 1; playing && potted < (uint32_t)wanted; frame++) {
        for (int i = 0; i < players; i++) {
            carom_client_update(clients[i], now_us());
            (void)carom_client_play_bot(clients[i], frame);
            playing = playing && carom_client_get_state(clients[i]) != CAROM_CLIENT_IDLE;
        }
        struct timespec pause = {0, 8000000}; // a game draws a frame here
        thrd_sleep(&pause, NULL);
    }
    for (int i = 0; i < players; i++) {
        if (carom_client_get_state(clients[i]) == CAROM_CLIENT_IDLE) {
            fprintf(stderr, "billiards_client: %s\n",
                    carom_reason_text(carom_client_get_reason(clients[i])));
        }
        carom_client_destroy(clients[i]);
    }
    return playing ? 0 : 1;
}
