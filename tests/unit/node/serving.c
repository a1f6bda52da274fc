// The child process, and what it leaves in files.
#include "tests/unit/node/serving.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/ops/admin_socket.h"
#include "server/cli/cli.h"
#include "server/node/node.h"
#include "server/record/format/match_file.h"
#include "server/record/replay/replay.h"

// The program of this build: read before a test takes the variable away, which is no setting.
static char binary[512];

__attribute__((constructor)) static void read_binary(void)
{
    const char *given = getenv("CAROM_BINARY");
    snprintf(binary, sizeof binary, "%s", given != NULL ? given : "build/release/carom");
}

const char *serving_binary(void)
{
    return binary;
}

// A child of ours ends with us, however we end.
pid_t serving_fork_child(void)
{
    pid_t parent = getpid(), pid;
    fflush(NULL);
    pid = fork();
    cr_assert(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(5);
        }
    }
    return pid;
}

// Of its own, not that of the working directory.
void serving_use_catalogue(const serving *c)
{
    char catalogue[96];
    snprintf(catalogue, sizeof catalogue, "%s/carom.db", c->directory);
    setenv("CAROM_DB", catalogue, 1);
}

static bool here; // in copies of this process

void serving_stay_here(void)
{
    here = true;
    setenv("CAROM_WORKERS", "0", 1);
}

void serving_start(serving *c, char **argv)
{
    int argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    c->pid = serving_fork_child();
    if (c->pid == 0) {
        int out = open(c->out, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        int err = open(c->err, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        serving_use_catalogue(c);
        if (!here) {
            // A module that crashes on purpose dies of its signal, and nothing but JSON is in the
            // log.
            setenv("ASAN_OPTIONS", "handle_segv=0", 0);
            execv(binary, argv);
            _exit(127);
        }
        int status = cm_cli_run(argc, argv);
        fflush(NULL);
        _exit(status);
    }
}

#define ARGUMENTS_MAX 40u

void serving_host(serving *c, char *const more[])
{
    char *argv[ARGUMENTS_MAX] = {"carom",        "serve",  "--insecure", "--matches",  c->matches,
                                 "--ready-file", c->ready, "--listen",   "127.0.0.1:0"};
    bool listens = more[0] != NULL && strcmp(more[0], "--listen") == 0;
    for (uint32_t i = 0, at = listens ? 7 : 9; more[i] != NULL; i++, at++) {
        cr_assert_lt(at, ARGUMENTS_MAX - 1);
        argv[at] = more[i];
    }
    unsetenv("CAROM_BINARY");
    serving_start(c, argv);
    serving_wait_for_size(c, c->ready, 1);
}

void serving_make_directory(serving *c)
{
    strcpy(c->directory, "/tmp/carom-serve-XXXXXX");
    cr_assert(mkdtemp(c->directory) != NULL);
    snprintf(c->out, sizeof c->out, "%s/out", c->directory);
    snprintf(c->err, sizeof c->err, "%s/err", c->directory);
    snprintf(c->ready, sizeof c->ready, "%s/ready", c->directory);
    snprintf(c->matches, sizeof c->matches, "%s/matches", c->directory);
}

void serving_remove_directory(const serving *c)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", c->directory);
    cr_assert_eq(system(command), 0);
}

int serving_finish(const serving *c)
{
    int status = 0;
    cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void serving_read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

// Until `path` has `bytes`; a child that ends first, or ten minutes, are a failure.
void serving_wait_for_size(const serving *c, const char *path, int64_t bytes)
{
    struct stat file;
    for (int i = 0; i < 60000; i++) {
        if (stat(path, &file) == 0 && file.st_size >= bytes) {
            return;
        }
        cr_assert_eq(waitpid(c->pid, NULL, WNOHANG), 0, "the server ended");
        usleep(10000);
    }
    cr_assert_fail("%s did not come", path);
}

void serving_wait_for_text(const serving *c, const char *path, const char *text)
{
    char command[512];
    snprintf(command, sizeof command, "grep -qF '%s' '%s'", text, path);
    for (int i = 0; i < 6000; i++) {
        if (system(command) == 0) {
            return;
        }
        cr_assert_eq(waitpid(c->pid, NULL, WNOHANG), 0, "the server ended");
        usleep(100000);
    }
    cr_assert_fail("%s has no %s", path, text);
}

// Every line of the log is a JSON object that begins with its time, level and event; returns how
// many lines have the event, and of the last one a text member.
uint32_t serving_read_log(const char *path, const char *event, const char *member, char found[256])
{
    static char text[1 << 16];
    uint32_t count = 0;
    serving_read_text(path, text, sizeof text);
    text[strrchr(text, '\n') != NULL ? strrchr(text, '\n') + 1 - text : 0] = '\0'; // whole lines
    found[0] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        int year, month, day, hour, minute;
        double second;
        json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        cr_assert(root != NULL, "%s", line);
        const char *time = json_string_value(json_object_get(root, "time"));
        const char *level = json_string_value(json_object_get(root, "level"));
        const char *name = json_string_value(json_object_get(root, "event"));
        cr_assert(time != NULL && level != NULL && name != NULL, "%s", line);
        cr_assert_eq(strncmp(line, "{\"time\":", 8), 0, "%s", line);
        cr_assert_eq(
            sscanf(time, "%4d-%2d-%2dT%2d:%2d:%lfZ", &year, &month, &day, &hour, &minute, &second),
            6, "%s", time);
        if (strcmp(name, event) == 0) {
            const char *value = json_string_value(json_object_get(root, member));
            snprintf(found, 256, "%s", value != NULL ? value : "");
            count++;
        }
        json_decref(root);
    }
    return count;
}

void serving_wait_for_log(const serving *c, const char *event, uint32_t count)
{
    char found[256];
    for (int i = 0; i < 60000; i++) {
        if (serving_read_log(c->err, event, "reason", found) >= count) {
            return;
        }
        cr_assert_eq(waitpid(c->pid, NULL, WNOHANG), 0, "the server ended");
        usleep(10000);
    }
    cr_assert_fail("the log has not %u of %s", count, event);
}

uint32_t serving_http_get(unsigned port, const char *path, const char *headers, char *text,
                          size_t text_size, char **body, size_t *size)
{
    char request[512];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n%s\r\n", path, headers);
    return serving_http(port, request, text, text_size, body, size);
}

uint32_t serving_http(unsigned port, const char *request, char *text, size_t text_size, char **body,
                      size_t *size)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 60};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    cr_assert_eq(connect(descriptor, (struct sockaddr *)&at, sizeof at), 0);
    size_t length = strlen(request);
    cr_assert_eq(send(descriptor, request, length, MSG_NOSIGNAL), (ssize_t)length);
    size_t have = 0;
    ssize_t got;
    while ((got = recv(descriptor, text + have, text_size - 1 - have, 0)) > 0) {
        have += (size_t)got;
    }
    cr_assert_eq(got, 0);
    close(descriptor);
    text[have] = '\0';
    char *end = strstr(text, "\r\n\r\n");
    cr_assert_not_null(end, "%s", text);
    *body = end + 4;
    *size = have - (size_t)(*body - text);
    return (uint32_t)strtoul(text + 9, NULL, 10);
}

static void keep_line(void *user, const char *json)
{
    char *kept = user;
    size_t length = strlen(kept);
    snprintf(kept + length, 4096 - length, "%s\n", json);
}

const char *serving_ask(const serving *c, const char *request)
{
    static char kept[4096];
    char path[256], error[512] = "";
    kept[0] = '\0';
    snprintf(path, sizeof path, "%s/admin.sock", c->matches);
    cr_assert(cm_admin_ask(path, request, keep_line, kept, error, sizeof error), "%s", error);
    return kept;
}

#define ROOMS_MAX 8u

typedef struct room_seen {
    char name[32];
    uint64_t tick; // when it was seen first
} room_seen;

// Whether a line of `rooms` is of a room that has recorded a later tick than its first one here.
static bool goes_on(const char *line, room_seen seen[ROOMS_MAX], uint32_t *count)
{
    const char *name;
    json_int_t tick, recorded;
    uint32_t i = 0;
    json_t *room = json_loads(line, 0, NULL);
    cr_assert_eq(json_unpack(room, "{s:s, s:I, s:I}", "room", &name, "tick", &tick, "recorded_tick",
                             &recorded),
                 0, "%s", line);
    while (i < *count && strcmp(seen[i].name, name) != 0) {
        i++;
    }
    if (i == *count) {
        cr_assert_lt(i, ROOMS_MAX);
        seen[i].tick = (uint64_t)tick;
        snprintf(seen[i].name, sizeof seen[i].name, "%s", name);
        (*count)++;
    }
    json_decref(room);
    return (uint64_t)recorded > seen[i].tick;
}

void serving_wait_for_next_ticks(const serving *c, uint32_t rooms)
{
    room_seen seen[ROOMS_MAX];
    uint32_t count = 0;
    for (int i = 0; i < 60000; i++) {
        char answer[4096];
        uint32_t there = 0, going_on = 0;
        snprintf(answer, sizeof answer, "%s", serving_ask(c, "{\"command\":\"rooms\"}"));
        for (char *line = strtok(answer, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            there++;
            going_on += goes_on(line, seen, &count);
        }
        if (there == rooms && going_on == rooms) {
            return;
        }
        usleep(10000);
    }
    cr_assert_fail("there are not %u rooms that go on", rooms);
}

// A UDP port of loopback that is taken for as long as the test runs.
void serving_take_port(char address[64])
{
    int taken = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    cr_assert_eq(bind(taken, (struct sockaddr *)&at, size), 0);
    cr_assert_eq(getsockname(taken, (struct sockaddr *)&at, &size), 0);
    snprintf(address, 64, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
}

void serving_expect_nothing_left(const serving *c, const char *said)
{
    char text[4096], command[256];
    serving_read_text(c->err, text, sizeof text);
    cr_expect_not_null(strstr(text, said), "%s", text);
    cr_expect_eq(strncmp(text, "carom: ", 7), 0, "%s", text);
    serving_read_text(c->out, text, sizeof text);
    cr_expect_str_eq(text, "", "%s", text);
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = \"$(printf 'err\\nout')\"",
             c->directory);
    cr_expect_eq(system(command), 0, "what is left: %s", said);
}

void serving_count_matches(const serving *c, uint32_t *ends, uint32_t *resumes)
{
    DIR *matches = opendir(c->matches);
    const struct dirent *entry;
    *resumes = 0;
    memset(ends, 0, (CM_MATCH_CUT + 1) * sizeof *ends);
    while ((entry = readdir(matches)) != NULL) {
        char path[512];
        cm_match_file *file;
        cm_match_error error;
        cm_match_info info;
        snprintf(path, sizeof path, "%s/%s", c->matches, entry->d_name);
        if (strlen(path) > 6 && strcmp(path + strlen(path) - 6, ".match") == 0) {
            cr_assert_eq(cm_match_open(path, &file, &error), CAROM_OK, "%s", error.message);
            cm_match_info_get(file, &info);
            ends[info.end]++;
            *resumes += info.resumes;
            cm_match_close(file);
            cm_replay_report report;
            cr_assert_eq(cm_replay_verify(path, NULL, &report), CAROM_OK, "%s",
                         report.error.message);
        }
    }
    closedir(matches);
}

void serving_find_module(const char *name, char *path, size_t size)
{
    char program[400];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    cr_assert_gt(length, 0);
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(path, size, "%s/tests/modules/%s.so", program, name);
}

carom_client *serving_play_in(const char *room, const carom_module *module, uint16_t port)
{
    return serving_play_at("127.0.0.1", port, room, module);
}

carom_client *serving_play_at(const char *host, uint16_t port, const char *room,
                              const carom_module *module)
{
    carom_client *client;
    carom_client_def def = carom_default_client_def();
    def.room = room;
    def.module = module;
    def.predict = false;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    cr_assert_eq(carom_client_connect(client, host, port, cm_now_us()), CAROM_OK);
    return client;
}
