// Goal: the history of the page has each sample of the last five minutes, of the rooms that were
// slowest, and no more than its bounds. Method: metrics made up here, and the JSON that comes out.
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/supervisor/metrics_history.h"

#define ROOMS    12u
#define START_MS UINT64_C(1700000000000)

typedef struct place {
    cm_metrics_history history;
    cm_room_metrics rooms[ROOMS];
    cm_metrics_worker workers[2];
    cm_metrics_server server;
} place;

static place *open_place(void)
{
    static place p;
    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < ROOMS; i++) {
        snprintf(p.rooms[i].info.name, sizeof p.rooms[i].info.name, "room%u", i);
    }
    p.workers[0] = (cm_metrics_worker){.is_up = true, .rooms = p.rooms, .room_count = 8};
    p.workers[1] = (cm_metrics_worker){.rooms = p.rooms + 8, .room_count = ROOMS - 8};
    p.server = (cm_metrics_server){
        .version = "1.\"2\"", .commit = "c", .engine = 7, .worker_count = 2, .workers = p.workers};
    p.server.values[CM_SERVER_HAS_START] = START_MS;
    return &p;
}

// Room i takes us[i].
static void sample(place *p, const uint32_t us[ROOMS])
{
    for (uint32_t i = 0; i < ROOMS; i++) {
        p->rooms[i].values[CM_ROOM_HAS_TICK_P99] = us[i];
    }
    p->server.values[CM_SERVER_HAS_PLAYERS] = p->history.samples;
    cm_metrics_history_sample(&p->history, &p->server, START_MS + 1000 * p->history.samples);
}

static json_t *write_out(const place *p)
{
    json_error_t error;
    cm_page *page = cm_page_create();
    cm_metrics_history_write(&p->history, &p->server, 42, START_MS + 9000, page);
    json_t *whole = json_loadb(page->text, page->size, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(whole, "%s: %.*s", error.text, (int)page->size, page->text);
    cm_page_drop(page);
    return whole;
}

static double number(const json_t *list, size_t at)
{
    return json_number_value(json_array_get(list, at));
}

Test(metrics_history, the_server_is_told_and_nothing_before_the_first_sample)
{
    place *p = open_place();
    json_t *whole = write_out(p);
    const json_t *server = json_object_get(whole, "server");
    cr_expect_str_eq(json_string_value(json_object_get(server, "version")), "1.\"2\"");
    cr_expect_eq(json_integer_value(json_object_get(server, "engine")), 7);
    cr_expect_eq(json_integer_value(json_object_get(server, "memory_bytes")), 42);
    cr_expect_eq(json_integer_value(json_object_get(server, "started_ms")), (long long)START_MS);
    cr_expect_eq(json_integer_value(json_object_get(server, "now_ms")), (long long)START_MS + 9000);
    cr_expect_eq(json_integer_value(json_object_get(server, "workers_up")), 1);
    cr_expect(json_is_false(json_object_get(server, "draining")));
    cr_expect_eq(json_array_size(json_object_get(whole, "times_ms")), 0);
    cr_expect_eq(json_object_size(json_object_get(whole, "tick_p99_ms")), 0);
    json_decref(whole);
}

Test(metrics_history, the_oldest_samples_go)
{
    place *p = open_place();
    const uint32_t us[ROOMS] = {0};
    for (uint32_t i = 0; i < CM_HISTORY_SAMPLES + 10; i++) {
        sample(p, us);
    }
    json_t *whole = write_out(p);
    const json_t *times = json_object_get(whole, "times_ms");
    const json_t *players = json_object_get(whole, "players");
    cr_expect_eq(json_array_size(times), CM_HISTORY_SAMPLES);
    cr_expect_eq(number(times, 0), (double)START_MS + 10000);
    cr_expect_eq(number(players, 0), 10);
    cr_expect_eq(number(players, CM_HISTORY_SAMPLES - 1), CM_HISTORY_SAMPLES + 9);
    json_decref(whole);
}

// Room 11 is slow at first, then is fast; rooms that were never among the five slowest are not
// there.
Test(metrics_history, slow_rooms_are_kept)
{
    place *p = open_place();
    uint32_t us[ROOMS] = {100, 900, 800, 700, 600, 500, 10, 11, 12, 13, 14, 5000};
    sample(p, us);
    us[11] = 1;
    sample(p, us);
    p->workers[1].room_count--; // room 11 is gone
    sample(p, us);
    json_t *whole = write_out(p);
    const json_t *ticks = json_object_get(whole, "tick_p99_ms");
    const json_t *slow = json_object_get(ticks, "room11");
    cr_expect_eq(json_object_size(ticks), 6);
    cr_expect_eq(json_array_size(slow), 3);
    cr_expect_float_eq(number(slow, 0), 5.0, 1e-9);
    cr_expect_float_eq(number(slow, 1), 0.001, 1e-9);
    cr_expect(json_is_null(json_array_get(slow, 2)));
    cr_expect_float_eq(number(json_object_get(ticks, "room5"), 2), 0.5, 1e-9);
    cr_expect_null(json_object_get(ticks, "room0"));
    json_decref(whole);
    us[11] = 0;
    for (uint32_t i = 0; i < CM_HISTORY_SAMPLES; i++) {
        sample(p, us);
    }
    whole = write_out(p);
    cr_expect_null(json_object_get(json_object_get(whole, "tick_p99_ms"), "room11"), "forgotten");
    json_decref(whole);
}

// Each second other rooms are the slowest: eight are kept, those of the last samples.
Test(metrics_history, no_more_rooms_than_its_bound)
{
    place *p = open_place();
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t us[ROOMS] = {0};
        for (uint32_t slow = 0; slow < CM_HISTORY_SLOWEST; slow++) {
            us[(i + slow) % ROOMS] = 1000;
        }
        sample(p, us);
    }
    json_t *whole = write_out(p);
    const json_t *ticks = json_object_get(whole, "tick_p99_ms");
    cr_expect_eq(json_object_size(ticks), CM_HISTORY_ROOMS);
    for (uint32_t slow = 0; slow < CM_HISTORY_SLOWEST; slow++) {
        char name[16];
        snprintf(name, sizeof name, "room%u", (99 + slow) % ROOMS);
        cr_expect_float_eq(number(json_object_get(ticks, name), 99), 1.0, 1e-9, "%s", name);
    }
    json_decref(whole);
}

// Bits between the times that a worker told, whenever samples are; a counter that began anew is no
// jump back, and a worker that is dead sends nothing.
Test(metrics_history, traffic_is_of_what_workers_told)
{
    place *p = open_place();
    const uint32_t us[ROOMS] = {0};
    cm_worker_metrics told = {0};
    told.values[CM_WORKER_HAS_SENT_BYTES] = 5000;
    cm_metrics_history_received(&p->history, 0, &told, 1000000);
    sample(p, us);
    told.values[CM_WORKER_HAS_SENT_BYTES] = 7000;
    told.values[CM_WORKER_HAS_RECEIVED_BYTES] = 250;
    cm_metrics_history_received(&p->history, 0, &told, 3000000);
    sample(p, us);
    sample(p, us);
    told.values[CM_WORKER_HAS_SENT_BYTES] = 125;
    cm_metrics_history_received(&p->history, 0, &told, 4000000);
    sample(p, us);
    cm_metrics_history_lost(&p->history, 0);
    sample(p, us);
    json_t *whole = write_out(p);
    const json_t *sent = json_object_get(whole, "sent_kbit_s");
    static const double expected[] = {0.0, 8.0, 8.0, 1.0, 0.0};
    for (size_t i = 0; i < 5; i++) {
        cr_expect_float_eq(number(sent, i), expected[i], 1e-9, "%zu", i);
    }
    cr_expect_float_eq(number(json_object_get(whole, "received_kbit_s"), 1), 1.0, 1e-9);
    json_decref(whole);
}
