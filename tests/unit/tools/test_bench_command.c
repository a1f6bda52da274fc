// Goal: `carom bench` prints the JSON lines that the product promises, goes on after a scene that
// is refused, and refuses bad usage with status 2. Method: the real binary on short runs of a small
// scene.
#include <jansson.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/unit/cli/command.h"

static command_result result;

static json_t *only_line(void)
{
    const char *end = strchr(result.out, '\n');
    cr_assert(end != NULL && end[1] == '\0', "one line: %s", result.out);
    json_t *line = json_loads(result.out, 0, NULL);
    cr_assert_not_null(line, "%s", result.out);
    return line;
}

Test(bench_command, a_line_for_a_scene)
{
    static const char *const KEYS[] = {"scene",
                                       "bodies",
                                       "solver",
                                       "steps",
                                       "ms_median",
                                       "ms_mean",
                                       "ms_p99",
                                       "hash",
                                       "save_us",
                                       "restore_us",
                                       "cold_save_us",
                                       "cold_restore_us",
                                       "state_bytes",
                                       "max_penetration",
                                       "mean_penetration",
                                       "top_height",
                                       "joint_error",
                                       "worst_penetration",
                                       "kinetic_energy",
                                       "energy_lost"};
    run_command("bench A_pyramid20 --steps 5 --runs 2", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    json_t *line = only_line();
    cr_assert_eq(json_object_size(line), sizeof KEYS / sizeof KEYS[0]);
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach(line, key, value)
    {
        cr_expect_str_eq(key, KEYS[i++], "in the order promised");
    }
    cr_expect_str_eq(json_string_value(json_object_get(line, "scene")), "A_pyramid20");
    cr_expect_str_eq(json_string_value(json_object_get(line, "solver")), "soft");
    cr_expect_eq(strlen(json_string_value(json_object_get(line, "hash"))), 16);
    cr_expect_eq(json_integer_value(json_object_get(line, "bodies")), 210);
    cr_expect_eq(json_integer_value(json_object_get(line, "steps")), 5);
    json_decref(line);
}

Test(bench_command, the_hash_is_the_simulation_s)
{
    char hash[17];
    run_command("bench tests/scenes/bench/A_pyramid20.json --steps 3 --from 1 --runs 1", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    json_t *line = only_line();
    strcpy(hash, json_string_value(json_object_get(line, "hash")));
    json_decref(line);
    run_command("sim tests/scenes/bench/A_pyramid20.json --ticks 3 --every 3 --format csv"
                " | tail -n 1",
                &result);
    cr_assert_not_null(strstr(result.out, hash), "%s is not in %s", hash, result.out);
}

Test(bench_command, goes_on_after_a_refused_scene)
{
    run_command("bench nosuch A_pyramid20 --steps 2 --runs 1", &result);
    cr_assert_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "carom: nosuch: "), "%s", result.err);
    json_decref(only_line());
}

static int64_t number_of(const char *arguments, const char *key)
{
    run_command(arguments, &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    json_t *line = only_line();
    cr_assert(json_is_integer(json_object_get(line, key)), "%s", result.out);
    int64_t number = json_integer_value(json_object_get(line, key));
    json_decref(line);
    return number;
}

// A chain that swings falls by more than half of its links' height, a domino that has not been
// reached does not; what rests may sleep.
Test(bench_command, games_tell_what_fell)
{
    cr_expect_eq(number_of("bench games dominoes --steps 2", "fell"), 0);
    cr_expect_eq(number_of("bench games load_balls --steps 60", "fell"), 20);
    cr_expect_eq(number_of("bench games wall --steps 2", "contacts_cut"), 0);
    cr_expect_eq(number_of("bench games heavy_on_light --steps 600", "asleep"), 2);
}

Test(bench_command, rollback)
{
    run_command("bench rollback --runs 1", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_not_null(strstr(result.out,
                              "{\"bench\":\"rollback\",\"scene\":\"towers\",\"bodies\":256,"
                              "\"ticks\":12,\"ms_median\":"));
    cr_expect_not_null(strstr(result.out, "\"scene\":\"towers\",\"bodies\":901,\"ticks\":8,"));
    cr_expect_not_null(strstr(result.out, "\"scene\":\"pile\",\"bodies\":256,\"ticks\":12,"));
    cr_expect_not_null(strstr(result.out, "\"scene\":\"pile\",\"bodies\":901,\"ticks\":8,"));
    cr_expect_not_null(strstr(result.out, "\"hash_equal\":true}"));
    cr_expect_null(strstr(result.out, "false"));
}

Test(bench_command, piles)
{
    run_command("bench piles --steps 3 --seeds 2", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_not_null(strstr(result.out, "\"over_first\":1.000,"));
    cr_expect_not_null(strstr(result.out, "\"bodies\":20000,\"seed\":12345,\"steps\":3,"));
    cr_expect_not_null(strstr(result.out, "\"bodies\":5000,\"seed\":12345,"));
    cr_expect_not_null(strstr(result.out, "\"bodies\":5000,\"seed\":12346,"));
}

// Figures of a machine are not asserted; bytes are the same on every one.
Test(bench_command, a_recording_takes_few_bytes)
{
    double inputs = 0.0, arrivals = 0.0;
    run_command("bench replay --seconds 10", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    const char *found = strstr(result.out, "\"input_bytes_per_tick\":");
    cr_assert_not_null(found, "%s", result.out);
    cr_assert_eq(sscanf(found, "\"input_bytes_per_tick\":%lf,\"arrival_bytes_per_tick\":%lf",
                        &inputs, &arrivals),
                 2);
    cr_assert_lt(inputs, 100.0);
    cr_assert_lt(arrivals, 40.0);
    cr_assert_gt(inputs, 10.0);
    cr_assert_gt(arrivals, 1.0);
}

Test(bench_command, bad_usage)
{
    static const char *const BAD[] = {
        "bench --steps 0",         "bench A_pyramid20 --steps 10 --from 10",
        "bench --runs x",          "bench --scenes /none",
        "bench codec x",           "bench load",
        "bench --unknown",         "bench rollback --steps 3",
        "bench replay --seconds 0"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        run_command(BAD[i], &result);
        cr_expect_eq(result.status, 2, "%s", BAD[i]);
        cr_expect_str_eq(result.out, "", "%s", BAD[i]);
        cr_expect_eq(strncmp(result.err, "carom: ", 7), 0, "%s: %s", BAD[i], result.err);
    }
}

Test(bench_command, a_line_for_each_mode_of_the_codec)
{
    static const char *const KEYS[] = {"file",           "mode",
                                       "frames",         "bytes_per_frame",
                                       "encode_us",      "decode_us",
                                       "encode_us_mean", "decode_us_mean",
                                       "lost_percent",   "lossy_bytes_per_frame"};
    run_command("bench codec --frames 40 --runs 1", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    const char *text = result.out;
    for (int mode = 0; mode < 2; mode++) {
        const char *end = strchr(text, '\n');
        cr_assert_not_null(end);
        json_t *line = json_loadb(text, (size_t)(end - text), 0, NULL);
        cr_assert_not_null(line, "%s", text);
        cr_assert_eq(json_object_size(line), sizeof KEYS / sizeof KEYS[0]);
        size_t i = 0;
        const char *key;
        json_t *value;
        json_object_foreach(line, key, value)
        {
            cr_expect_str_eq(key, KEYS[i++], "in the order promised");
        }
        cr_expect_str_eq(json_string_value(json_object_get(line, "mode")),
                         mode == 0 ? "fast" : "best");
        cr_expect_eq(json_integer_value(json_object_get(line, "frames")), 34);
        json_decref(line);
        text = end + 1;
    }
    cr_expect_str_empty(text);
}

Test(bench_command, a_recording_that_is_none_is_refused)
{
    run_command("bench codec no/such.bin", &result);
    cr_expect_eq(result.status, 2);
    run_command("bench codec tests/scenes/hello.json", &result);
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "ends within a frame"), "%s", result.err);
}
