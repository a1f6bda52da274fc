// A hand at 1 kHz: a haptic device presses a block over the network and feels it at once.
//
//   02_touch [HOST:PORT|TOKEN [SECONDS [LATENCY_MS]]]
//
// The device is simulated, so that this runs anywhere: a mass with damping, held by a hand that
// moves up and down. LATENCY_MS is added each way, to feel a path. Replace device_read and
// device_drive by your device's. The server serves 02_touch.json.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/client_more.h"

#define PERIOD_US 1000u

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void sleep_until(uint64_t us)
{
    struct timespec t = {(time_t)(us / 1000000u), (long)(us % 1000000u) * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

// The device -----------------------------------------------------------------------------------

static const carom_pointer_device properties = {
    .period = 0.001f, .mass = 0.2f, .damping = 5.0f, .force_max = 20.0f};

typedef struct device {
    double x;     // m: the second player's hand is beside the first one's
    double y, v;  // m, m/s
    double force; // N, held until the next period
    double t;     // s
} device;

// Reads where the device is now, a period after the last time.
static carom_pointer_pose device_read(device *d)
{
    const double spring = 300.0, h = 1.0e-6 * PERIOD_US / 20.0;
    d->t += 1.0e-6 * PERIOD_US;
    double hand = 0.12 + 0.04 * cos(6.283185307 * d->t);
    for (int i = 0; i < 20; i++) {
        double push = d->force + spring * (hand - d->y) - (double)properties.damping * d->v;
        d->v += h * push / (double)properties.mass;
        d->y += h * d->v;
    }
    carom_pointer_pose pose = {.position = {(float)d->x, (float)d->y, 0.0f},
                               .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                               .linear_velocity = {0.0f, (float)d->v, 0.0f}};
    return pose;
}

// Holds a force, and a torque, which this device cannot.
static void device_drive(device *d, carom_vec3 force)
{
    d->force = (double)force.y;
}

// The loop -------------------------------------------------------------------------------------

typedef struct figures {
    uint64_t periods, missed;
    uint64_t longest_us; // of a period, from reading the device to driving it
    float peak;
    carom_pointer_wrench last;
} figures;

// One period of the device.
static void touch(carom_client *client, device *d, figures *f)
{
    carom_pointer_wrench wrench;
    uint64_t began = now_us();
    d->x = carom_client_player(client) == 0 ? -0.025 : 0.025;
    carom_pointer_pose pose = device_read(d);
    carom_client_pointer_set(client, &pose); // refused before the room is joined: nothing is lost
    carom_client_update(client, now_us());
    carom_client_pointer_wrench(client, &wrench); // zeros where there is nothing to feel
    device_drive(d, wrench.force);
    uint64_t took = now_us() - began;
    if (carom_client_get_state(client) == CAROM_CLIENT_PLAYING) {
        f->periods++;
        f->longest_us = took > f->longest_us ? took : f->longest_us;
        f->peak = wrench.force.y > f->peak ? wrench.force.y : f->peak;
        f->last = wrench;
    }
}

static void play(carom_client *client, uint64_t periods, figures *f)
{
    device d = {.y = 0.16};
    uint64_t due = now_us();
    while (f->periods < periods && carom_client_get_state(client) != CAROM_CLIENT_IDLE) {
        uint64_t before = f->periods;
        touch(client, &d, f);
        if (f->periods != before && f->periods % 1000 == 0) {
            printf(
                "%llu s: at most %.2f N, periods at most %llu us, missed %llu; %llu corrections\n",
                (unsigned long long)f->periods / 1000, (double)f->peak,
                (unsigned long long)f->longest_us, (unsigned long long)f->missed,
                (unsigned long long)f->last.corrections);
        }
        due += PERIOD_US;
        uint64_t now = now_us();
        if (due < now) { // what is missed is not made up for
            f->missed += f->periods > 0;
            due = now;
        }
        sleep_until(due);
    }
}

int main(int argc, char **argv)
{
    char host[256] = "127.0.0.1";
    int port = 9400, seconds = argc > 2 ? atoi(argv[2]) : 5;
    const char *token = argc > 1 && strchr(argv[1], ':') == NULL ? argv[1] : NULL;
    if (argc > 1 && token == NULL && sscanf(argv[1], "%255[^:]:%d", host, &port) != 2) {
        fprintf(stderr, "usage: 02_touch [HOST:PORT|TOKEN [SECONDS [LATENCY_MS]]]\n");
        return 2;
    }
    carom_client_def def = carom_default_client_def();
    carom_client *client;
    figures f = {0};
    carom_result result = carom_client_create(&def, &client);
    if (result == CAROM_OK) {
        carom_client_pointer_device(client, &properties);
        if (argc > 3) {
            carom_client_link path = {.latency_ms = (uint32_t)atoi(argv[3])};
            carom_client_simulate_link(client, &path);
        }
        result = token != NULL ? carom_client_connect_token(client, token, now_us())
                               : carom_client_connect(client, host, (uint16_t)port, now_us());
    }
    if (result != CAROM_OK) {
        fprintf(stderr, "02_touch: cannot start\n");
        return 1;
    }
    play(client, 1000u * (uint64_t)seconds, &f);
    carom_client_disconnect(client, now_us());
    while (carom_client_get_state(client) != CAROM_CLIENT_IDLE) {
        carom_client_update(client, now_us());
        sleep_until(now_us() + PERIOD_US);
    }
    printf("ended: %s\n", carom_reason_text(carom_client_get_reason(client)));
    carom_client_destroy(client);
    return f.peak > 0.0f ? 0 : 1;
}
