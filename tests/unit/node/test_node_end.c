// Goal: a drain that could not verify what it recorded does not end as one that did. Method: a node
// of one room in virtual time, whose shell takes longer than drain_verify_s.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/node/node.h"

static struct timespec pause_of_wait;
static char last_error[1024];

static void drop_log(void *user, int level, const char *line)
{
    (void)user, (void)level, (void)line;
}

static void drop_line(void *user, const char *line)
{
    (void)user, (void)line;
}

static void keep_error(void *user, const char *text)
{
    (void)user;
    snprintf(last_error, sizeof last_error, "%s", text);
}

static void wait_long(void *user, uint32_t most_ms)
{
    (void)user;
    if (most_ms == 0) { // it verifies
        nanosleep(&pause_of_wait, NULL);
    }
}

static carom_result drain(int64_t verify_s, long pause_ms)
{
    static cm_node node;
    char directory[] = "/tmp/carom-node-end-XXXXXX", command[96];
    cm_failure failure = {""};
    cm_unfinished_matches none = {0};
    cr_assert_not_null(mkdtemp(directory));
    memset(&node, 0, sizeof node);
    last_error[0] = '\0';
    cm_config_default(&node.config);
    node.config.insecure = true;
    node.config.drain_verify_s = verify_s;
    strcpy(node.config.listen, "127.0.0.1:0");
    strcpy(node.config.scene, "tests/scenes/hello.json");
    snprintf(node.config.matches, sizeof node.config.matches, "%s", directory);
    snprintf(node.config.db, sizeof node.config.db, "%s/carom.db", directory);
    node.shell = (cm_node_shell){
        .log = drop_log, .print = drop_line, .error = keep_error, .wait = wait_long};
    node.ticket.id = 1;
    pause_of_wait = (struct timespec){pause_ms / 1000, pause_ms % 1000 * 1000000};
    cr_assert_eq(cm_node_rooms_load(&node.config, &node.rooms, NULL, &failure), CAROM_OK, "%s",
                 failure.text);
    cr_assert_eq(cm_node_open(&node, &none, &failure), CAROM_OK, "%s", failure.text);
    uint64_t now_us = cm_now_us();
    for (int i = 0; i < 200; i++, now_us += 16667) {
        cm_node_turn(&node, now_us);
    }
    cm_node_drain(&node, "test", now_us);
    for (; !cm_worker_drained(node.worker); now_us += 10000) {
        cm_node_turn(&node, now_us);
    }
    carom_result result = cm_node_finish(&node);
    cm_node_close(&node);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
    return result;
}

Test(node_end, what_was_not_verified_in_time_is_a_failure)
{
    cr_expect_eq(drain(60, 0), CAROM_OK, "%s", last_error);
    cr_expect_eq(drain(0, 0), CAROM_OK, "nothing was to be verified");
    cr_expect_eq(drain(1, 1100), CAROM_ERROR_IO);
    cr_expect_not_null(strstr(last_error, "were verified within drain_verify_s"), "%s", last_error);
}
