// A client of a module's game, by installed headers alone: joins with its own build of the module,
// drives, and ends well once it has moved, has seen the module's public state, and the server has
// gone on for some seconds. Usage: pong HOST:PORT
#include <carom/client.h>
#include <carom/game.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

extern const carom_module carom_module_pong;

static uint64_t now_us(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

int main(int argc, char **argv)
{
    char host[64] = "";
    int port = 0;
    if (argc != 2 || sscanf(argv[1], "%63[^:]:%d", host, &port) != 2) {
        return 2;
    }
    carom_client_def def = carom_default_client_def();
    def.name = "pong";
    def.module = &carom_module_pong;
    carom_client *client;
    uint64_t start = now_us();
    if (carom_client_create(&def, &client) != CAROM_OK ||
        carom_client_connect(client, host, (uint16_t)port, start) != CAROM_OK) {
        return 1;
    }
    bool moved = false, told = false;
    float first = 0.0f;
    uint64_t begun = 0, now = start;
    while (!(moved && told) || now < begun + 2000000u) {
        now = now_us();
        carom_client_update(client, now);
        carom_client_state state = carom_client_get_state(client);
        if (state == CAROM_CLIENT_IDLE || now > start + 30000000u) {
            fprintf(stderr, "pong: state %d, moved %d, told %d\n", (int)state, moved, told);
            return 1;
        }
        if (state != CAROM_CLIENT_PLAYING) {
            continue;
        }
        const uint8_t input[2] = {0, 127};
        uint32_t size = 0;
        carom_client_pose pose;
        carom_client_set_input(client, input, sizeof input);
        told = carom_client_public_state(client, &size) != NULL && size == 4 * CAROM_PLAYERS_MAX;
        if (carom_client_body_pose(client, carom_client_own_body(client), &pose) == CAROM_OK) {
            first = begun == 0 ? pose.position.z : first;
            begun = begun == 0 ? now : begun;
            moved = moved || pose.position.z - first > 1.0f;
        }
        struct timespec pause = {0, 2000000};
        thrd_sleep(&pause, NULL);
    }
    carom_client_destroy(client);
    return 0;
}
