// Goal: the status is valid JSON on one line, or a block of as many lines as it says, none too
// wide; percentiles are those of the samples; a line that is too long stays valid JSON. Method:
// numbers and names made for it, read back with the JSON library.
#include "server/node/room_status.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "server/room/tick_times.h"

static cm_status make_status(uint32_t clients)
{
    cm_status status;
    memset(&status, 0, sizeof status);
    status.scene = "sandbox";
    status.path = "matches/x.match";
    status.tick_rate = 60;
    status.unix_ms = 1700000000123;
    status.worker.tick = 120;
    status.worker.room_hash = 0xabc;
    status.worker.players = clients;
    status.worker.stage_ms[CAROM_STAGE_COLLIDE] = 0.25;
    status.worker.stage_ms[CAROM_STAGE_SAVE] = 0.125;
    status.worker.bodies_asleep = 7;
    status.worker.refused[CM_DATAGRAM_FORGED] = 3;
    status.worker.refused[CM_DATAGRAM_COMMAND] = 2;
    status.worker.commands_refused[CM_COMMAND_KIND] = 2;
    status.client_count = clients;
    for (uint32_t i = 0; i < clients && i < CM_STATUS_CLIENTS; i++) {
        strcpy(status.clients[i].name, "a \"name\" of thirty-two characters");
    }
    status.match.durable = false;
    strcpy(status.match.error, "disk \"full\"\n");
    return status;
}

Test(status, a_line_of_json)
{
    cm_status status = make_status(3);
    cm_line line;
    const char *text = cm_status_line(&status, true, &line);
    cr_assert(!line.cut);
    cr_assert(strchr(text, '\n') == NULL);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(root != NULL, "%s", error.text);
    cr_assert_eq(json_integer_value(json_object_get(root, "tick")), 120);
    cr_assert_str_eq(json_string_value(json_object_get(root, "hash")), "0000000000000abc");
    cr_assert_str_eq(json_string_value(json_object_get(root, "record_error")), "disk \"full\"\n");
    cr_assert(json_is_false(json_object_get(root, "durable")));
    cr_assert_float_eq(json_number_value(json_object_get(root, "collide_ms")), 0.25, 1e-9);
    cr_assert_float_eq(json_number_value(json_object_get(root, "save_ms")), 0.125, 1e-9);
    static const char *const stages[] = {"pairs_ms", "collide_ms", "prepare_ms",
                                         "solve_ms", "relax_ms",   "integrate_ms",
                                         "sleep_ms", "hash_ms",    "save_ms"};
    for (uint32_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        cr_assert(json_is_number(json_object_get(root, stages[i])), "%s", stages[i]);
    }
    cr_assert_eq(json_integer_value(json_object_get(root, "bodies_asleep")), 7);
    const json_t *refused = json_object_get(root, "refused");
    cr_assert_eq(json_object_size(refused), 2, "those that are 0 are left out");
    cr_assert_eq(json_integer_value(json_object_get(refused, "forged")), 3);
    refused = json_object_get(root, "refused_commands");
    cr_assert_eq(json_integer_value(json_object_get(refused, "kind")), 2);
    json_decref(root);
}

// The short line tells whether all is well; numbers of trouble stand in it only where there is
// some.
Test(status, a_short_line)
{
    cm_status status = make_status(3);
    cm_line line;
    status.match.durable = true;
    json_t *root = json_loads(cm_status_line(&status, false, &line), JSON_REJECT_DUPLICATES, NULL);
    cr_assert(root != NULL);
    cr_assert_lt(line.size, 200u, "%s", line.text);
    cr_assert_eq(json_integer_value(json_object_get(root, "tick")), 120);
    cr_assert_eq(json_integer_value(json_object_get(root, "players")), 3);
    cr_assert(json_is_true(json_object_get(root, "durable")));
    cr_assert_null(json_object_get(root, "collide_ms"));
    cr_assert_null(json_object_get(root, "contacts_cut"));
    json_decref(root);
    status.worker.log_counts[CAROM_LOG_CONTACTS_CUT] = 9;
    status.match.durable = false;
    status.draining = true;
    root = json_loads(cm_status_line(&status, false, &line), JSON_REJECT_DUPLICATES, NULL);
    cr_assert_eq(json_integer_value(json_object_get(root, "contacts_cut")), 9);
    cr_assert_str_eq(json_string_value(json_object_get(root, "record_error")), "disk \"full\"\n");
    cr_assert(json_is_true(json_object_get(root, "draining")));
    json_decref(root);
}

// What a database or a client says reaches the terminal as text.
Test(status, no_control_characters_on_a_terminal)
{
    cm_status status = make_status(1);
    status.scene = "a\x1b]0;b\x07\x9b"
                   "31m\xc2\x9b"
                   "1m";
    strcpy(status.clients[0].name, "e\x1b[2Jve");
    char text[CM_STATUS_BLOCK_MAX];
    cm_status_block(&status, text);
    cr_assert_not_null(strstr(text, "a\\x1b]0;b\\x07\\x9b31m\\xc2\\x9b1m"), "%s", text);
    cr_assert_not_null(strstr(text, "e\\x1b[2Jve"), "%s", text);
    cr_assert_null(strchr(text, 0x1b));
    cm_line line;
    cm_line_begin(&line);
    cm_line_text(&line, "name", status.scene);
    cr_assert_str_eq(cm_line_end(&line), "{\"name\":\"a\\u001b]0;b\\u0007\\ufffd31m\\u009b1m\"}");
}

Test(status, log_times)
{
    char text[CM_LOG_TIME_MAX];
    cm_log_time(1700000000123u, text);
    cr_assert_str_eq(text, "2023-11-14T22:13:20.123Z");
    cm_status status = make_status(1); // in the same form
    cm_line line;
    static const char begin[] = "{\"time\":\"2023-11-14T22:13:20.123Z\",";
    status.unix_ms = 1700000000123u;
    cr_expect_eq(strncmp(cm_status_line(&status, false, &line), begin, strlen(begin)), 0, "%s",
                 line.text);
}

Test(status, a_block_of_so_many_lines)
{
    for (uint32_t clients = 0; clients < 40; clients += 13) {
        cm_status status = make_status(clients);
        strcpy(status.match.error, "disk full");
        char text[CM_STATUS_BLOCK_MAX];
        uint32_t lines = cm_status_block(&status, text), found = 0;
        for (const char *at = text; *at != '\0';) {
            const char *end = strchr(at, '\n');
            cr_assert(end != NULL);
            cr_assert_leq(end - at, 80, "%.*s", (int)(end - at), at);
            at = end + 1;
            found++;
        }
        cr_assert_eq(found, lines);
        cr_assert(strstr(text, "NOT DURABLE") != NULL);
    }
}

Test(status, what_does_not_fit_is_left_out_whole)
{
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "long");
    static char long_text[CM_LINE_MAX];
    memset(long_text, 'x', sizeof long_text - 1);
    cm_line_text(&line, "long", long_text);
    cr_assert(line.cut);
    for (uint32_t i = 0; i < 300; i++) {
        cm_line_uint(&line, "number", i);
    }
    json_t *root = json_loads(cm_line_end(&line), 0, NULL);
    cr_assert(root != NULL);
    json_decref(root);
}

Test(status, percentiles)
{
    static cm_tick_times metrics;
    cr_assert_eq(cm_tick_times_percentile(&metrics, 0.5), 0.0);
    for (uint32_t i = 0; i < 3 * CM_METRICS_SAMPLES; i++) {
        cm_tick_times_add(&metrics, i % 100 == 0 ? 50000 : 1000 + i % 10);
    }
    double p50 = cm_tick_times_percentile(&metrics, 0.5);
    cr_assert(p50 >= 1.0 && p50 <= 1.01, "%f", p50);
    cr_assert_eq(cm_tick_times_percentile(&metrics, 0.995), 50.0);
    cr_assert_eq(cm_tick_times_percentile(&metrics, 1.0), 50.0);
}

typedef struct heard {
    uint32_t lines;
    char last[CM_LINE_MAX];
} heard;

static void hear(void *user, int level, const char *json_line)
{
    heard *h = user;
    cr_assert_eq(level, (int)CM_LOG_WARNING);
    h->lines++;
    strcpy(h->last, json_line);
}

Test(status, growth_is_told_once)
{
    heard h = {0};
    cm_log log = {hear, &h}, nowhere = {0};
    uint64_t said = 0;
    cm_log_growth(&log, "lost", "rows", 0, 1, &said);
    cr_assert_eq(h.lines, 0);
    cm_log_growth(&log, "lost", "rows", 5, 60, &said);
    cm_log_growth(&log, "lost", "rows", 5, 120, &said);
    cm_log_growth(&log, "lost", "rows", 7, 180, &said);
    cr_assert_eq(h.lines, 2);
    json_t *root = json_loads(h.last, 0, NULL);
    cr_assert_eq(json_integer_value(json_object_get(root, "rows")), 2);
    cr_assert_eq(json_integer_value(json_object_get(root, "in_all")), 7);
    cr_assert_eq(json_integer_value(json_object_get(root, "tick")), 180);
    json_decref(root);
    cm_log_growth(&nowhere, "lost", "rows", 9, 240, &said);
    cr_assert_eq(said, 9);
}

Test(status, levels_have_names)
{
    cm_log_level level;
    for (int i = CM_LOG_ERROR; i <= CM_LOG_DEBUG; i++) {
        cr_assert(cm_log_level_find(cm_log_level_name((cm_log_level)i), &level));
        cr_assert_eq(level, (cm_log_level)i);
    }
    cr_assert(!cm_log_level_find("loud", &level));
}
