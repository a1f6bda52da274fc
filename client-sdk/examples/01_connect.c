// Connects, plays for some seconds by driving in a square, and prints its positions.
//
//   01_connect [HOST:PORT|TOKEN [SECONDS]]
//
// A token (carom token issue) names the servers itself; without one the server must be --insecure.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "carom/client.h"

static uint64_t now_us(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC); // a game would use its own monotonic clock
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

int main(int argc, char **argv)
{
    char host[256] = "127.0.0.1";
    int port = 9400, seconds = argc > 2 ? atoi(argv[2]) : 5;
    const char *token = argc > 1 && strchr(argv[1], ':') == NULL ? argv[1] : NULL;
    if (argc > 1 && token == NULL && sscanf(argv[1], "%255[^:]:%d", host, &port) != 2) {
        fprintf(stderr, "usage: 01_connect [HOST:PORT|TOKEN [SECONDS]]\n");
        return 2;
    }
    carom_client_def def = carom_default_client_def();
    def.name = "example";
    carom_client *client;
    uint64_t start = now_us(), second = 0, passed = 0;
    carom_result result = carom_client_create(&def, &client);
    if (result == CAROM_OK) {
        result = token != NULL ? carom_client_connect_token(client, token, start)
                               : carom_client_connect(client, host, (uint16_t)port, start);
    }
    if (result != CAROM_OK) {
        fprintf(stderr, "01_connect: cannot start\n");
        return 1;
    }
    bool played = false;
    do {
        uint64_t now = now_us();
        carom_client_update(client, now);
        if (carom_client_get_state(client) == CAROM_CLIENT_PLAYING) {
            start = played ? start : now; // the seconds count from when it plays
            played = true;
            passed = (now - start) / 1000000u;
            // The sandbox's input: drive x and z as binary32, then buttons.
            static const float square[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
            uint8_t input[9] = {0};
            memcpy(input, square[passed % 4], 8);
            carom_client_set_input(client, input, sizeof input);
            carom_client_pose pose;
            if (passed != second &&
                carom_client_body_pose(client, carom_client_own_body(client), &pose) == CAROM_OK) {
                printf("%llu s: %.3f %.3f %.3f\n", (unsigned long long)passed, pose.position.x,
                       pose.position.y, pose.position.z);
                played = true;
            }
            second = passed;
        }
        if (passed >= (uint64_t)seconds) {
            carom_client_disconnect(client, now);
        }
        struct timespec frame = {0, 8000000}; // a game draws a frame here
        thrd_sleep(&frame, NULL);
    } while (carom_client_get_state(client) != CAROM_CLIENT_IDLE);
    printf("ended: %s\n", carom_reason_text(carom_client_get_reason(client)));
    carom_client_destroy(client);
    return played ? 0 : 1;
}
