// A client of the ball game: shows the pitch, and lets the module's bot play (bot.c). A game
// of people would read a keyboard there.
//
//   ball_client HOST:PORT [PLAYERS [GOALS]]
//
// Plays with 1 to 8 players (1) until so many goals (1) have fallen; then exits with status 0.
#include "ball.h"

#include <carom/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#define BODIES_MAX 64 // that the scene allows, and more

extern const carom_module carom_module_ball;

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // never set back, as the time of day may be
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static uint32_t goals; // reported to the first player

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    static const char *const teams[] = {"red", "blue"};
    (void)user;
    if (size == BALL_NEWS_SIZE && bytes[0] == BALL_NEWS_GOAL && bytes[1] < 2) {
        goals++;
        printf("tick %llu: a goal for %s, %u : %u\n", (unsigned long long)tick, teams[bytes[1]],
               bytes[2], bytes[3]);
    } else if (size == BALL_NEWS_SIZE && bytes[0] == BALL_NEWS_WON && bytes[1] < 2) {
        printf("tick %llu: %s has won\n", (unsigned long long)tick, teams[bytes[1]]);
    }
}

// The public state as of the newest view; NULL before the game is joined.
static const ball_public *seen(const carom_client *client)
{
    uint32_t size;
    const void *state = carom_client_public_state(client, &size);
    return size == sizeof(ball_public) ? state : NULL;
}

// Every body where it is to be drawn now. A game with a window would call its renderer here; a
// body's look follows from its shapes and its user_data.
static void draw(const carom_client *client)
{
    const ball_public *game = seen(client);
    static carom_client_transform bodies[BODIES_MAX];
    char rows[15][29];
    memset(rows, ' ', sizeof rows);
    uint32_t count = carom_client_transforms(client, bodies, BODIES_MAX);
    for (uint32_t i = 0; i < count && i < BODIES_MAX; i++) {
        carom_body_state look;
        if (carom_body_get(carom_client_world(client), bodies[i].body, &look) == CAROM_OK &&
            look.type == CAROM_BODY_DYNAMIC) {
            const carom_vec3 at = bodies[i].position;
            int column = (int)(at.x + 14.0f), row = (int)(at.z + 7.0f);
            if (column >= 0 && column < 28 && row >= 0 && row < 15) {
                rows[row][column] = look.user_data == 1 ? 'r' : look.user_data == 2 ? 'b' : 'o';
            }
        }
    }
    for (int row = 0; row < 15; row++) {
        printf("|%.28s|\n", rows[row]);
    }
    if (game != NULL) {
        printf("red %u : %u blue\n", game->score[0], game->score[1]);
    }
}

// A line for the corner of the screen: the path, since the line before.
static void hud(const carom_client *client)
{
    static carom_client_stats last;
    carom_client_stats now;
    carom_client_stats_get(client, &now);
    uint64_t came = now.view_packets - last.view_packets;
    uint64_t lost = now.packets_lost > last.packets_lost ? now.packets_lost - last.packets_lost : 0;
    printf("ping %u ms, jitter %u ms, loss %.1f%%, others %u ms ago\n", now.rtt_ms, now.jitter_ms,
           came + lost > 0 ? 100.0 * (double)lost / (double)(came + lost) : 0.0,
           now.interpolation_delay_ms);
    last = now;
}

int main(int argc, char **argv)
{
    char host[256];
    int port, players = argc > 2 ? atoi(argv[2]) : 1, wanted = argc > 3 ? atoi(argv[3]) : 1;
    carom_client *clients[BALL_PLAYERS];
    if (argc < 2 || sscanf(argv[1], "%255[^:]:%d", host, &port) != 2 || players < 1 ||
        players > (int)BALL_PLAYERS) {
        fprintf(stderr, "usage: ball_client HOST:PORT [PLAYERS [GOALS]]\n");
        return 2;
    }
    for (int i = 0; i < players; i++) {
        carom_client_def def = carom_default_client_def();
        def.name = "bot";
        def.module = &carom_module_ball; // the same rules predict here
        def.message = i == 0 ? hear : NULL;
        if (carom_client_create(&def, &clients[i]) != CAROM_OK ||
            carom_client_connect(clients[i], host, (uint16_t)port, now_us()) != CAROM_OK) {
            fprintf(stderr, "ball_client: cannot start\n");
            return 1;
        }
    }
    bool playing = true;
    for (uint32_t frame = 1; playing && goals < (uint32_t)wanted; frame++) {
        for (int i = 0; i < players; i++) {
            carom_client_update(clients[i], now_us());
            (void)carom_client_play_bot(clients[i], frame);
            playing = playing && carom_client_get_state(clients[i]) != CAROM_CLIENT_IDLE;
        }
        if (frame % 120 == 0 || goals >= (uint32_t)wanted) {
            draw(clients[0]);
            hud(clients[0]);
        }
        struct timespec pause = {0, 8000000}; // a game draws a frame here
        thrd_sleep(&pause, NULL);
    }
    for (int i = 0; i < players; i++) {
        if (carom_client_get_state(clients[i]) == CAROM_CLIENT_IDLE) {
            fprintf(stderr, "ball_client: %s\n",
                    carom_reason_text(carom_client_get_reason(clients[i])));
        }
        carom_client_destroy(clients[i]);
    }
    return playing ? 0 : 1;
}
