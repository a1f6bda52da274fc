// Goal: `carom capacity` says what a room costs, the same each time but for times, and what follows
// from it. Method: the arithmetic on made-up costs; the real command twice on a small scene.
#include <criterion/criterion.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/tools/capacity/capacity.h"
#include "tests/unit/cli/command.h"

#define GIB (1024ull * 1024 * 1024)

// A second of a room that takes 5% of a core.
static const cm_capacity cost = {.bodies = 10,
                                 .tick_rate = 50,
                                 .ticks = 50,
                                 .sent_bytes = 100000,
                                 .received_bytes = 50000,
                                 .datagrams = 1000,
                                 .recorded_bytes = 1024 * 1024,
                                 .memory_bytes = GIB / 16,
                                 .loop_ms = 0.5,
                                 .loop_ms_p99 = 1.0,
                                 .record_ms = 0.3,
                                 .datagram_us = 10.0};
static const cm_capacity_machine machine = {
    .cores = 4, .workers = 3, .memory_available = 100 * GIB, .uplink_mbit = 1000.0};

static void expect_near(double value, double expected)
{
    cr_expect_lt(fabs(value - expected), 1e-9 * fabs(expected) + 1e-12, "%.17g, expected %.17g",
                 value, expected);
}

Test(capacity, what_follows_from_a_cost)
{
    cm_capacity_answer a;
    cm_capacity_judge(&cost, 4, &machine, &a);
    expect_near(a.tick_ms, 0.5 + 0.3 + 0.2);
    expect_near(a.load, 0.05);
    cr_expect_eq(a.rooms_per_core, 16);
    cr_expect_eq(a.by_cpu, 48);
    cr_expect_eq(a.rooms, 48);
    cr_expect_str_eq(a.limited_by, "cpu");
    expect_near(a.kbit_room, 800.0);
    expect_near(a.kbit_down, 200.0);
    expect_near(a.kbit_up, 100.0);
    expect_near(a.kbit, 48 * 800.0);
    expect_near(a.disk_mib_hour_room, 3600.0);
    expect_near(a.disk_mib_hour, 48 * 3600.0);
    cr_expect_eq(a.by_memory, 1280); // 80% of 100 GiB
    cr_expect_eq(a.by_network, 1250);
    cr_expect_eq(a.by_clients, 1500);
    cr_expect_eq(a.by_rooms, 768);
}

Test(capacity, each_limit_is_named)
{
    cm_capacity_answer a;
    cm_capacity_machine small = machine;
    small.memory_available = GIB;
    cm_capacity_judge(&cost, 4, &small, &a);
    cr_expect_str_eq(a.limited_by, "memory");
    cr_expect_eq(a.rooms, 12);
    small = machine;
    small.uplink_mbit = 8.0;
    cm_capacity_judge(&cost, 4, &small, &a);
    cr_expect_str_eq(a.limited_by, "network");
    cr_expect_eq(a.rooms, 10);
    cm_capacity light = cost;
    light.loop_ms = light.record_ms = light.datagram_us = 0.0;
    light.loop_ms_p99 = 0.001;
    cm_capacity_judge(&light, 64, &machine, &a);
    cr_expect_str_eq(a.limited_by, "clients");
    cr_expect_eq(a.rooms, 93);
    cm_capacity_judge(&light, 1, &machine, &a);
    cr_expect_str_eq(a.limited_by, "rooms");
    cr_expect_eq(a.rooms, 768);
    cm_capacity slow = cost;
    slow.loop_ms_p99 = 19.9; // with the sockets' 0.2 longer than a tick's 20
    cm_capacity_judge(&slow, 4, &machine, &a);
    cr_expect_not(a.tick_fits);
    cr_expect_eq(a.rooms, 0);
    cr_expect_str_eq(a.limited_by, "cpu");
    slow.memory_bytes = 0; // not known: no limit
    cm_capacity_judge(&slow, 4, &machine, &a);
    cr_expect_gt(a.by_memory, 100000);
}

// The command ----------------------------------------------------------------------------------

static json_t *run_seed(uint32_t seed, command_result *result)
{
    char arguments[160];
    snprintf(arguments, sizeof arguments,
             "capacity --scene tests/scenes/sandbox.json --players 3 --ticks 120 --workers 2 "
             "--seed %u",
             (unsigned)seed);
    run_command(arguments, result);
    cr_assert_eq(result->status, 0, "%s", result->err);
    cr_expect_str_eq(result->err, "");
    json_error_t error;
    json_t *object = json_loads(result->out, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(object, "%s: %s", error.text, result->out);
    cr_expect_eq(strchr(result->out, '\n'), result->out + strlen(result->out) - 1, "one line");
    return object;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_number(value), "%s", key);
    return json_number_value(value);
}

// Whether numbers agree but for what three decimals leave out, `count` times.
static void expect_about(double value, double expected, double count)
{
    cr_expect_lt(fabs(value - expected), 0.001 * (count + 1.0), "%.3f, expected %.3f", value,
                 expected);
}

static void expect_consistent(const json_t *o)
{
    static const char *const limits[] = {"cpu", "memory", "network", "clients", "rooms"};
    const char *limited_by = json_string_value(json_object_get(o, "limited_by"));
    double rooms = number(o, "rooms"), least = INFINITY;
    cr_assert_not_null(limited_by);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char key[32];
        snprintf(key, sizeof key, "rooms_by_%s", limits[i]);
        least = number(o, key) < least ? number(o, key) : least;
        if (strcmp(limited_by, limits[i]) == 0) {
            cr_expect_eq(number(o, key), rooms, "%s", key);
        }
    }
    cr_expect_eq(rooms, least);
    double sockets_ms =
        1e-3 * number(o, "datagram_us") * number(o, "datagrams") / number(o, "ticks");
    expect_about(number(o, "tick_ms"), number(o, "loop_ms") + number(o, "record_ms") + sockets_ms,
                 3.0);
    cr_expect_geq(number(o, "loop_ms_p99"), number(o, "loop_ms") - 0.001);
    cr_expect_eq(number(o, "rooms_by_cpu"), number(o, "rooms_per_core") * number(o, "workers"));
    expect_about(number(o, "kbit"), rooms * number(o, "kbit_room"), rooms);
    expect_about(number(o, "disk_mib_hour"), rooms * number(o, "disk_mib_hour_room"), rooms);
    expect_about(number(o, "kbit_room"), 3.0 * number(o, "kbit_down_client"), 3.0);
    cr_expect_gt(number(o, "kbit_down_client"), 1.0);
    cr_expect_gt(number(o, "kbit_up_client"), 1.0);
    cr_expect_gt(number(o, "disk_mib_hour_room"), 0.0);
    cr_expect_gt(number(o, "views"), 3 * 10);
    cr_expect_geq(number(o, "cores"), 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    cr_expect_gt(number(o, "memory_mib_room"), 0.1);
#endif
}

Test(capacity, the_same_run_gives_the_same_room)
{
    static const char *const same[] = {"scene",
                                       "bodies",
                                       "players",
                                       "tick_rate",
                                       "ticks",
                                       "hash",
                                       "rewinds",
                                       "rewound_ticks",
                                       "views",
                                       "datagrams",
                                       "kbit_down_client",
                                       "kbit_up_client",
                                       "kbit_room",
                                       "disk_mib_hour_room",
                                       "workers"};
    command_result result;
    char directory[] = "/tmp/carom-capacity-test-XXXXXX";
    cr_assert_not_null(mkdtemp(directory));
    setenv("TMPDIR", directory, 1);
    json_t *first = run_seed(7, &result), *again = run_seed(7, &result);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        cr_expect(json_equal(json_object_get(first, same[i]), json_object_get(again, same[i])),
                  "%s", same[i]);
        cr_expect_not_null(json_object_get(first, same[i]), "%s", same[i]);
    }
    cr_expect_eq(number(first, "ticks"), 120);
    cr_expect_eq(number(first, "players"), 3);
    cr_expect_eq(number(first, "workers"), 2);
    expect_consistent(first);
    expect_consistent(again);
    json_decref(first);
    json_decref(again);
    cr_expect_eq(rmdir(directory), 0, "something was left behind");
}

Test(capacity, another_seed_is_another_match)
{
    command_result result;
    json_t *first = run_seed(7, &result), *second = run_seed(8, &result);
    cr_expect_not(json_equal(json_object_get(first, "hash"), json_object_get(second, "hash")));
    json_decref(first);
    json_decref(second);
}

Test(capacity, what_cannot_be_asked_is_usage)
{
    static const struct {
        const char *arguments, *said;
    } bad[] = {{"capacity", "--scene"},
               {"capacity --scene tests/scenes/hello.json --players 65", "players"},
               {"capacity --scene tests/scenes/hello.json --players 0", "players"},
               {"capacity --scene tests/scenes/hello.json --ticks 0", "ticks"},
               {"capacity --scene tests/scenes/bad/mass_zero.json", "mass_zero.json:"},
               {"capacity --scene nothing --db /nowhere/carom.db", "/nowhere/carom.db"},
               {"capacity --scene tests/scenes/hello.json --check-config", "check-config"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        command_result result;
        run_command(bad[i].arguments, &result);
        cr_expect_eq(result.status, 2, "%s: %d", bad[i].arguments, result.status);
        cr_expect_str_eq(result.out, "");
        cr_expect_not_null(strstr(result.err, bad[i].said), "%s: %s", bad[i].arguments, result.err);
    }
}
