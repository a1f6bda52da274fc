// Goal: `carom serve --workers N` is N processes, each on its own port, and one over them that
// brings back what dies: the same match, file and port. Method: real processes, really killed; the
// log tells when.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "carom/client.h"

#include "server/node/module_loader.h"
#include "server/record/format/match_file.h"
#include "server/record/replay/replay.h"
#include "server/node/node.h"
#include "tests/unit/node/rig.h"
#include "tests/unit/node/serving.h"
#include "tests/unit/record/recording.h"

#define WORKERS_MAX 8u

static void start_workers(serving *c, char *workers)
{
    serving_host(c, (char *[]){"--workers", workers, "--room", "a=tests/scenes/sandbox.json",
                               "--room", "b=tests/scenes/sandbox.json", NULL});
}

// Children of a process, in ascending order.
static uint32_t children_of(pid_t parent, pid_t children[WORKERS_MAX])
{
    uint32_t count = 0;
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes != NULL && (entry = readdir(processes)) != NULL && count < WORKERS_MAX) {
        char path[300];
        int pid, of;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *stat = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (stat != NULL && fscanf(stat, "%d (%*[^)]) %*c %d", &pid, &of) == 2 && of == parent) {
            children[count++] = pid;
        }
        if (stat != NULL) {
            fclose(stat);
        }
    }
    closedir(processes);
    return count;
}

// Nobody has the directory of matches any more.
static void wait_for_all(const serving *c)
{
    int matches = open(c->matches, O_RDONLY | O_DIRECTORY);
    cr_assert_eq(flock(matches, LOCK_EX), 0);
    close(matches);
}

static uint32_t lines_of(const char *path)
{
    char text[1024];
    uint32_t lines = 0;
    serving_read_text(path, text, sizeof text);
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    return lines;
}

// What it is to do comes over its link alone: anybody may read a process's arguments.
static void expect_command(pid_t worker)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)worker);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    const char *second = memchr(text, '\0', size);
    cr_assert_not_null(second);
    cr_expect_str_eq(second + 1, "worker");
    cr_expect_eq((size_t)(second + 1 - text) + sizeof "worker" + sizeof "0", size,
                 "and its number");
}

Test(workers, each_has_a_port_and_a_line_of_the_ready_file)
{
    serving c;
    char out[4096], ready[1024];
    pid_t children[WORKERS_MAX];
    serving_make_directory(&c);
    start_workers(&c, "3");
    cr_expect_eq(lines_of(c.ready), 3);
    cr_expect_eq(children_of(c.pid, children), 3);
    for (uint32_t i = 0; i < 3; i++) {
        expect_command(children[i]);
    }
    serving_wait_for_log(&c, "room", 2);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_read_text(c.out, out, sizeof out);
    serving_read_text(c.ready, ready, sizeof ready);
    const char *at = out;
    for (char *line = strtok(ready, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cr_expect_eq(strncmp(at, "listening on ", 13), 0, "%s", at);
        cr_expect_eq(strncmp(at + 13, line, strlen(line)), 0, "%s is not %s", line, at);
        at = strchr(at, '\n') + 1;
    }
    serving_remove_directory(&c);
}

// The port after that of `listen` is taken: whichever of the two is, nothing is left.
Test(workers, one_that_cannot_listen_ends_the_start_and_leaves_nothing)
{
    serving c;
    char taken[64], address[64];
    unsetenv("CAROM_BINARY");
    serving_make_directory(&c);
    serving_take_port(taken);
    unsigned port = (unsigned)strtoul(strrchr(taken, ':') + 1, NULL, 10);
    snprintf(address, sizeof address, "127.0.0.1:%u", port - 1);
    char *argv[] = {"carom",     "serve",   "--insecure",
                    "--workers", "2",       "--listen",
                    address,     "--scene", "tests/scenes/sandbox.json",
                    "--matches", c.matches, NULL};
    serving_start(&c, argv);
    cr_expect_eq(serving_finish(&c), 1);
    serving_expect_nothing_left(&c, ": ");
    serving_remove_directory(&c);
}

Test(workers, one_that_is_killed_comes_back_with_its_match)
{
    serving c;
    char found[256];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    pid_t before[WORKERS_MAX], after[WORKERS_MAX];
    serving_make_directory(&c);
    start_workers(&c, "2");
    serving_wait_for_next_ticks(&c, 2);
    cr_assert_eq(children_of(c.pid, before), 2);
    kill(before[0], SIGKILL);
    serving_wait_for_log(&c, "worker", 3);
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", found), 1);
    cr_expect_str_eq(found, "Killed");
    cr_expect_eq(serving_read_log(c.err, "match resumed", "room", found), 1);
    cr_assert_eq(children_of(c.pid, after), 2);
    cr_expect_neq(after[0] + after[1], before[0] + before[1]);
    serving_wait_for_next_ticks(&c, 2);
    const char *rooms = serving_ask(&c, "{\"command\":\"rooms\"}");
    cr_expect(strstr(rooms, "\"room\":\"a\"") != NULL && strstr(rooms, "\"room\":\"b\"") != NULL);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 2);
    cr_expect_eq(resumes, 1);
    serving_remove_directory(&c);
}

// Whoever kills the supervisor kills all; the next server waits until they are gone.
Test(workers, they_end_with_their_supervisor)
{
    serving c;
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    pid_t children[WORKERS_MAX];
    serving_make_directory(&c);
    start_workers(&c, "2");
    serving_wait_for_next_ticks(&c, 2);
    cr_assert_eq(children_of(c.pid, children), 2);
    kill(children[1], SIGSTOP); // it could not even look at its socket
    kill(c.pid, SIGKILL);
    serving_finish(&c);
    wait_for_all(&c);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_LIVE], 2);
    setenv("CAROM_RESUME", "true", 1);
    cr_assert_eq(unlink(c.ready), 0);
    start_workers(&c, "3"); // another number: they go where there is place
    serving_wait_for_next_ticks(&c, 2);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 2);
    cr_expect_eq(resumes, 2);
    serving_remove_directory(&c);
}

// Its chain is proved while its room plays: then nothing is written, the file keeps its bytes under
// another name, and that room alone begins anew.
Test(workers, a_match_that_was_changed_is_left_and_its_room_begins_anew)
{
    serving c;
    char found[256], aside[300];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    cm_match_file *file;
    cm_match_error error = {""};
    cm_match_info info;
    serving_make_directory(&c);
    start_workers(&c, "2");
    serving_wait_for_next_ticks(&c, 2);
    kill(c.pid, SIGKILL);
    serving_finish(&c);
    wait_for_all(&c);
    cr_assert_eq(serving_read_log(c.err, "room", "match", found), 2);
    recording_edit(found, "UPDATE last SET chain = zeroblob(32)", false);
    setenv("CAROM_RESUME", "true", 1);
    cr_assert_eq(unlink(c.ready), 0);
    start_workers(&c, "2");
    serving_wait_for_log(&c, "room begins anew", 1);
    serving_wait_for_next_ticks(&c, 2);
    char left[256];
    cr_expect_eq(serving_read_log(c.err, "match left", "match", left), 1);
    snprintf(aside, sizeof aside, "%s.left", found);
    cr_expect_str_eq(left, aside);
    cr_expect_eq(access(found, F_OK), -1);
    cr_expect_eq(serving_read_log(c.err, "match resumed", "room", found), 2);
    cr_expect_eq(serving_read_log(c.err, "room begins anew", "match", found), 1);
    const char *rooms = serving_ask(&c, "{\"command\":\"rooms\"}");
    cr_expect(strstr(rooms, "\"room\":\"a\"") != NULL && strstr(rooms, "\"room\":\"b\"") != NULL,
              "%s", rooms);
    serving_wait_for_text(&c, c.out, "\"matches_left\":1");
    kill(c.pid, SIGTERM);
    cr_expect_eq(serving_finish(&c), 1, "a match was lost");
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 2);
    cr_expect_eq(ends[CM_MATCH_LIVE], 0, "it is no match of the folder any more");
    cr_expect_eq(resumes, 1);
    cr_expect_eq(cm_match_open(aside, &file, &error), CAROM_OK, "%s", error.message);
    cm_match_info_get(file, &info);
    cr_expect_eq(info.end, CM_MATCH_LIVE);
    cr_expect_eq(info.resumes, 0);
    cm_match_close(file);
    serving_remove_directory(&c);
}

// A server's directory, the scene `trap` in it, which asks for the module `failing`, and that
// module's file: it fails at a tick, by a crash or by a loop.
typedef struct trap {
    char module[512], scene[128], room[160];
} trap;

static void make_trap(serving *c, trap *of, int at, bool crash)
{
    serving_find_module("failing", of->module, sizeof of->module);
    serving_make_directory(c);
    snprintf(of->scene, sizeof of->scene, "%s/failing.json", c->directory);
    snprintf(of->room, sizeof of->room, "trap=%s", of->scene);
    FILE *file = fopen(of->scene, "w");
    cr_assert(file != NULL);
    fprintf(file,
            "{\"carom\": 1, \"name\": \"trap\", \"tick_rate\": 60, \"module\": \"failing\",\n"
            " \"module_config\": {\"at\": %d, \"crash\": %d}, \"gravity\": [0, -10, 0],\n"
            " \"bodies\": [{\"type\": \"dynamic\", \"position\": [0, 2, 0],\n"
            "   \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}]}\n",
            at, crash);
    fclose(file);
    if (crash) {
        signal(SIGSEGV, SIG_DFL); // a sanitizer would end the process without a signal
    }
}

static void load_trap(const trap *of)
{
    char text[256];
    cr_assert_eq(cm_module_load_list(of->module, NULL, text, sizeof text), CAROM_OK, "%s", text);
}

// A module that fails takes its worker, whose other room goes on, once: its own room goes on apart,
// and fails there. The third time its scene is refused by name, and so is whoever opens it again;
// the worker that it had for itself ends. The room of the other worker never noticed.
static void fails(bool crash, const char *signal_name)
{
    serving c;
    trap of;
    char found[256], request[256];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    make_trap(&c, &of, 30, crash);
    serving_host(&c, (char *[]){"--workers", "2", "--room", of.room, "--room",
                                "other=tests/scenes/sandbox.json", "--room",
                                "beside=tests/scenes/sandbox.json", "--module", of.module, NULL});
    serving_wait_for_log(&c, "worker", 6);
    cr_expect_eq(serving_read_log(c.err, "room isolated", "room", found), 1);
    cr_expect_str_eq(found, "trap");
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", found), 3);
    cr_expect_str_eq(found, signal_name);
    cr_expect_eq(serving_read_log(c.err, "module failed", "callback", found), 3);
    cr_expect_str_eq(found, "tick");
    cr_expect_eq(serving_read_log(c.err, "match resumed", "room", found), 3, "once, and twice");
    cr_expect_eq(serving_read_log(c.err, "match cut", "reason", found), 1);
    cr_expect_not_null(strstr(found, "scene trap is not hosted any more"), "%s", found);
    const char *rooms = serving_ask(&c, "{\"command\":\"rooms\"}");
    cr_expect_null(strstr(rooms, "\"room\":\"trap\""));
    cr_expect_not_null(strstr(rooms, "\"room\":\"other\""));
    cr_expect_not_null(strstr(rooms, "\"room\":\"beside\""));
    snprintf(request, sizeof request, "{\"command\":\"open\",\"room\":\"again\",\"scene\":\"%s\"}",
             of.scene);
    for (int i = 0; i < 2; i++) { // by either worker
        cr_expect_not_null(strstr(serving_ask(&c, request), "scene trap is not hosted any more"));
    }
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", found), 3);
    load_trap(&of);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 2);
    cr_expect_eq(ends[CM_MATCH_CUT], 1);
    cr_expect_geq(resumes, 1, "each that lived long enough to be written");
    serving_remove_directory(&c);
}

// Until both play, came back so often and are recorded, or ten minutes of machine time are over.
static void play_until(carom_client *const clients[2], uint32_t comebacks)
{
    for (int i = 0; i < 600000; i++) {
        bool there = true;
        for (uint32_t k = 0; k < 2; k++) {
            carom_client_stats stats;
            carom_client_acks acks;
            carom_client_update(clients[k], cm_now_us());
            carom_client_stats_get(clients[k], &stats);
            carom_client_acks_get(clients[k], &acks);
            there = there && stats.comebacks == comebacks && acks.durable_tick > 60 &&
                    carom_client_get_state(clients[k]) == CAROM_CLIENT_PLAYING;
        }
        if (there) {
            return;
        }
        usleep(1000);
    }
    cr_assert_fail("they do not play");
}

// One of the two is sent on to another port of ::1; and both come back there when all workers die.
Test(workers, players_by_ipv6_are_sent_on_and_come_back)
{
    serving c;
    char text[256];
    pid_t children[WORKERS_MAX];
    if (!rig_has_ipv6()) {
        cr_skip_test("this machine has no ::1");
    }
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--listen", "[::1]:0", "--workers", "2", "--room",
                                "a=tests/scenes/sandbox.json", "--room",
                                "b=tests/scenes/sandbox.json", NULL});
    serving_read_text(c.ready, text, sizeof text);
    cr_assert_eq(strncmp(text, "[::1]:", 6), 0, "%s", text);
    uint16_t port = (uint16_t)strtoul(text + 6, NULL, 10);
    carom_client *clients[2] = {serving_play_at("::1", port, "a", NULL),
                                serving_play_at("::1", port, "b", NULL)};
    play_until(clients, 0);
    uint32_t count = children_of(c.pid, children);
    cr_assert_eq(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
    }
    play_until(clients, 1);
    cr_expect_eq(serving_read_log(c.err, "match resumed", "room", text), 2);
    carom_client_destroy(clients[0]);
    carom_client_destroy(clients[1]);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

// The player who made it fail comes back into the room, apart; so does the one beside it, where he
// was. With its room that worker ends, and nobody else hears of it.
Test(workers, players_of_a_room_at_fault_are_sent_to_its_own_worker)
{
    serving c;
    trap of;
    char text[256], isolated[32];
    make_trap(&c, &of, 1000000, true);
    serving_host(&c, (char *[]){"--workers", "1", "--room", "beside=tests/scenes/sandbox.json",
                                "--room", of.room, "--module", of.module, NULL});
    load_trap(&of);
    serving_read_text(c.ready, text, sizeof text);
    uint16_t port = (uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10);
    carom_client *clients[2] = {serving_play_in("trap", cm_module_find("failing"), port),
                                serving_play_in("beside", NULL, port)};
    play_until(clients, 0);
    cr_assert_eq(carom_client_set_input(clients[0], &(uint8_t){1}, 1), CAROM_OK);
    for (int i = 0; i < 600000 && serving_read_log(c.err, "room isolated", "room", text) == 0;
         i++) {
        carom_client_update(clients[0], cm_now_us());
        carom_client_update(clients[1], cm_now_us());
        usleep(1000);
    }
    cr_assert_eq(carom_client_set_input(clients[0], &(uint8_t){0}, 1), CAROM_OK);
    play_until(clients, 1);
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", text), 1);
    const char *rooms = serving_ask(&c, "{\"command\":\"rooms\"}");
    const char *own = strstr(rooms, "\"room\":\"trap\"");
    cr_assert_not_null(own, "%s", rooms);
    own = strstr(own, "\"port\":");
    snprintf(isolated, sizeof isolated, "%.*s", (int)strcspn(own, ","), own);
    snprintf(text, sizeof text, "\"port\":%u", (unsigned)port);
    cr_expect_str_neq(isolated, text);
    cr_expect_not_null(
        strstr(serving_ask(&c, "{\"command\":\"players\",\"room\":\"trap\"}"), "\"player\":0"));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"trap\"}"),
                     "{\"done\":\"close\"}\n");
    pid_t children[WORKERS_MAX];
    for (int i = 0; i < 600000 && children_of(c.pid, children) > 1; i++) {
        carom_client_update(clients[0], cm_now_us());
        usleep(1000);
    }
    cr_expect_eq(children_of(c.pid, children), 1);
    cr_expect_eq(carom_client_get_state(clients[0]), CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(clients[0]), CAROM_REASON_ROOM_ENDED);
    cr_expect_null(strstr(serving_ask(&c, "{\"command\":\"rooms\"}"), "trap"));
    carom_client_destroy(clients[0]);
    carom_client_destroy(clients[1]);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", text), 1);
    serving_remove_directory(&c);
}

// Who makes it fail again and again is told in the end that the match could not go on, by the
// worker that the room had for itself.
Test(workers, players_of_a_room_at_fault_are_told_that_it_is_cut)
{
    serving c;
    trap of;
    char text[256];
    make_trap(&c, &of, 1000000, true);
    serving_host(&c, (char *[]){"--workers", "1", "--room", "beside=tests/scenes/sandbox.json",
                                "--room", of.room, "--module", of.module, NULL});
    load_trap(&of);
    serving_read_text(c.ready, text, sizeof text);
    uint16_t port = (uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10);
    carom_client *client = serving_play_in("trap", cm_module_find("failing"), port);
    for (int i = 0; i < 600000 && carom_client_get_state(client) != CAROM_CLIENT_IDLE; i++) {
        carom_client_update(client, cm_now_us());
        if (carom_client_get_state(client) == CAROM_CLIENT_PLAYING) {
            cr_assert_eq(carom_client_set_input(client, &(uint8_t){1}, 1), CAROM_OK);
        }
        usleep(1000);
    }
    cr_expect_eq(carom_client_get_reason(client), CAROM_REASON_MATCH_CUT, "%s",
                 carom_reason_text(carom_client_get_reason(client)));
    cr_expect_eq(serving_read_log(c.err, "module failed", "room", text), 3);
    cr_expect_eq(serving_read_log(c.err, "match cut", "reason", text), 1);
    carom_client_destroy(client);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

Test(workers, a_module_that_crashes_is_hosted_no_more_at_the_third_time)
{
    fails(true, "Segmentation fault");
}

Test(workers, a_module_that_loops_is_hosted_no_more_at_the_third_time)
{
    fails(false, "CPU time limit exceeded");
}

// One that fails while its room is made, before it ticks, is blamed too.
Test(workers, a_module_that_crashes_at_its_start_is_hosted_no_more)
{
    serving c;
    trap of;
    char request[256], found[256];
    make_trap(&c, &of, 0, true);
    serving_host(&c, (char *[]){"--workers", "1", "--room", "other=tests/scenes/sandbox.json",
                                "--module", of.module, NULL});
    snprintf(request, sizeof request, "{\"command\":\"open\",\"room\":\"trap\",\"scene\":\"%s\"}",
             of.scene);
    for (uint32_t i = 1; i <= 3; i++) {
        serving_ask(&c, request);
        serving_wait_for_log(&c, "worker", 1 + i); // it is back
    }
    cr_expect_eq(serving_read_log(c.err, "module failed", "callback", found), 3);
    cr_expect_str_eq(found, "start");
    cr_expect_not_null(strstr(serving_ask(&c, request), "scene trap is not hosted any more"));
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

// `serve --resume` with a module from a file: the match goes on, and verifies over the seam.
Test(workers, a_match_of_a_module_from_a_file_goes_on)
{
    serving c;
    trap of;
    char found[256];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    make_trap(&c, &of, 1000000, false);
    for (int i = 0; i < 2; i++) {
        serving_host(&c, (char *[]){"--workers", "0", "--room", of.room, "--module", of.module,
                                    "--resume", NULL});
        serving_wait_for_next_ticks(&c, 1);
        kill(c.pid, i == 0 ? SIGKILL : SIGTERM);
        cr_assert_eq(serving_finish(&c), i == 0 ? 128 + SIGKILL : 0);
        unlink(c.ready);
    }
    cr_expect_eq(serving_read_log(c.err, "match resumed", "room", found), 1);
    cr_expect_str_eq(found, "trap");
    load_trap(&of);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 1);
    cr_expect_eq(resumes, 1);
    serving_remove_directory(&c);
}

// A worker that comes back has the module's bytes of the server's start, whatever has become of the
// file: its match goes on.
Test(workers, one_that_comes_back_has_the_module_of_the_start)
{
    serving c;
    trap of;
    char found[256], command[1200], module[160];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    pid_t workers[WORKERS_MAX];
    make_trap(&c, &of, 1000000, false);
    snprintf(module, sizeof module, "%s/module.so", c.directory);
    snprintf(command, sizeof command, "cp '%s' '%s'", of.module, module);
    cr_assert_eq(system(command), 0);
    serving_host(&c, (char *[]){"--workers", "1", "--room", of.room, "--module", module, NULL});
    serving_wait_for_next_ticks(&c, 1);
    snprintf(command, sizeof command, "rm '%s' && echo other >'%s'", module, module);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(children_of(c.pid, workers), 1);
    kill(workers[0], SIGKILL);
    serving_wait_for_log(&c, "worker", 2);
    serving_wait_for_next_ticks(&c, 1);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", found), 1);
    load_trap(&of);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 1);
    cr_expect_eq(resumes, 1);
    serving_remove_directory(&c);
}

// Rooms that an operator opens go to the worker with the fewest, and are found by their name.
// What the admin socket answers when the copy is on the disk, and when it cannot be.
static void check_backup(const serving *c)
{
    char request[512], copy[256];
    snprintf(copy, sizeof copy, "%s/copy.match", c->directory);
    snprintf(request, sizeof request, "{\"command\":\"backup\",\"room\":\"a\",\"out\":\"%s\"}",
             copy);
    const char *said = serving_ask(c, request);
    cr_assert_not_null(strstr(said, "{\"done\":\"backup\",\"room\":\"a\""), "%s", said);
    cm_replay_report report;
    cm_replay_options options = {0};
    cr_assert_eq(cm_replay_verify(copy, &options, &report), CAROM_OK, "%s", report.error.message);
    cr_expect_eq(report.proof.verdict, CM_PROOF_CONSISTENT);
    cr_expect_not_null(strstr(serving_ask(c, request), "is there already"));
    cr_expect_eq(serving_read_log(c->err, "backup", "file", request), 1);
    cr_expect_str_eq(request, copy);
    static const char *const wrong[][2] = {
        {"{\"command\":\"backup\",\"room\":\"a\",\"out\":\"copy\"}", "absolute path"},
        {"{\"command\":\"backup\",\"room\":\"x\",\"out\":\"/tmp/x\"}", "no room"},
        {"{\"command\":\"backup\",\"room\":\"a\",\"out\":\"/proc/x\"}", "/proc/x"},
        {"{\"command\":\"backup\",\"out\":\"/tmp/x\"}", "a field is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        said = serving_ask(c, wrong[i][0]);
        cr_expect(strstr(said, "error") != NULL && strstr(said, wrong[i][1]) != NULL, "%s", said);
    }
}

Test(workers, an_operator_reaches_every_room)
{
    serving c;
    char request[256], out[4096];
    serving_make_directory(&c);
    start_workers(&c, "4");
    for (int i = 0; i < 2; i++) {
        snprintf(request, sizeof request,
                 "{\"command\":\"open\",\"room\":\"more%d\",\"scene\":"
                 "\"tests/scenes/sandbox.json\"}",
                 i);
        cr_expect_str_eq(serving_ask(&c, request), "{\"done\":\"open\"}\n");
        cr_expect_not_null(strstr(serving_ask(&c, request), "there is a room of that name"));
    }
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"open\",\"room\":\"few\",\"scene\":"
                                              "\"tests/scenes/sandbox.json\","
                                              "\"with\":{\"bodies\":100}}"),
                              "$.limits.bodies: 100, but the scene holds 405"));
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"open\",\"room\":\"few\",\"scene\":"
                                              "\"tests/scenes/sandbox.json\","
                                              "\"with\":{\"max_players\":65}}"),
                              "expected numbers in their range"));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"open\",\"room\":\"few\",\"scene\":"
                                     "\"tests/scenes/sandbox.json\","
                                     "\"with\":{\"bodies\":500,\"max_players\":2}}"),
                     "{\"done\":\"open\"}\n");
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"rooms\"}"), "\"max_players\":2"));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"few\"}"),
                     "{\"done\":\"close\"}\n");
    strcpy(out, serving_ask(&c, "{\"command\":\"rooms\"}"));
    uint32_t ports = 0;
    char seen[4][16] = {""};
    for (const char *at = out; (at = strstr(at, "\"port\":")) != NULL; at++, ports++) {
        cr_assert_lt(ports, 4);
        snprintf(seen[ports], sizeof seen[ports], "%.*s", (int)strcspn(at + 7, ",}"), at + 7);
        for (uint32_t i = 0; i < ports; i++) {
            cr_expect_str_neq(seen[i], seen[ports], "a worker has two rooms, another none");
        }
    }
    cr_expect_eq(ports, 4, "%s", out);
    check_backup(&c);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"more1\"}"),
                     "{\"done\":\"close\"}\n");
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"close\",\"room\":\"more1\"}"),
                              "there is no room of that name"));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\"}"), "{\"done\":\"drain\"}\n");
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

// Seen: a room of the configuration that its game had closed came back, when a player asked for it,
// as one of the scene on demand.
Test(workers, a_room_of_the_configuration_comes_back_as_it_says)
{
    serving c;
    char text[1024];
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--workers", "1", "--room",
                                "hall=tests/scenes/sandbox.json:max_players=3", "--room",
                                "other=tests/scenes/sandbox.json", "--on-demand",
                                "tests/scenes/sandbox.json", NULL});
    serving_read_text(c.ready, text, sizeof text);
    uint16_t port = (uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10);
    cr_assert_not_null(
        strstr(serving_ask(&c, "{\"command\":\"close\",\"room\":\"hall\"}"), "done"));
    carom_client *clients[2] = {serving_play_in("hall", NULL, port),
                                serving_play_in("lobby", NULL, port)};
    play_until(clients, 0);
    snprintf(text, sizeof text, "%s", serving_ask(&c, "{\"command\":\"rooms\"}"));
    const char *hall = strstr(text, "\"room\":\"hall\"");
    cr_assert_not_null(hall, "%s", text);
    cr_expect_eq(strtoul(strstr(hall, "\"max_players\":") + 14, NULL, 10), 3, "%s", text);
    carom_client_destroy(clients[0]);
    carom_client_destroy(clients[1]);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}
