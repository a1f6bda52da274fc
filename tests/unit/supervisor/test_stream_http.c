// Goal: a match that runs is watched over HTTP by chunks that never change, also over the death of
// its worker; what the match's file gives again is the same. Method: the command in a child
// process, a worker that is killed amid a chunk, and a viewer's check of what was left.
#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/stream_dir.h"
#include "server/record/replay/match_change.h"
#include "server/record/replay/stream_check.h"
#include "server/supervisor/stream_files.h"
#include "shared/wire/chunk_file.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/node/serving.h"
#include "tests/unit/record/recording.h"

#define TRIES 60000 // of 10 ms

static unsigned port;

typedef struct answer {
    uint32_t status;
    char head[2048];
    size_t size;
    uint8_t body[1 << 20];
} answer;

// `headers`: more lines of the request's head, each with its end.
static void fetch(const char *path, const char *headers, answer *a)
{
    static char text[sizeof a->body + sizeof a->head];
    char lines[256], *body;
    snprintf(lines, sizeof lines, "Host: a\r\n%s", headers);
    a->status = serving_http_get(port, path, lines, text, sizeof text, &body, &a->size);
    snprintf(a->head, sizeof a->head, "%.*s", (int)(body - 4 - text), text);
    memcpy(a->body, body, a->size);
}

static pid_t worker_of(const serving *c)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)c->pid, (int)c->pid);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL && fscanf(file, "%d", &pid) == 1);
    fclose(file);
    return pid;
}

// Until it is there; a body, to be freed.
static uint8_t *wait_for_chunk(const serving *c, const char *path, size_t *size)
{
    static answer a;
    for (uint32_t i = 0; i < TRIES; i++) {
        fetch(path, "", &a);
        if (a.status == 200) {
            cm_chunk_opened opened;
            cr_assert_null(cm_chunk_open(a.body, a.size, &opened), "%s", path);
            *size = opened.size;
            return opened.body;
        }
        cr_assert_eq(a.status, 404);
        cr_assert_not_null(strstr(a.head, "max-age=1\r\n"), "it will be there: %s", a.head);
        cr_assert_eq(kill(c->pid, 0), 0);
        usleep(10000);
    }
    cr_assert_fail("%s did not come", path);
    return NULL;
}

static void start(serving *c, char match[32])
{
    char found[256];
    serving_make_directory(c);
    serving_host(c, (char *[]){"--workers", "1", "--room",
                               "a=tests/scenes/sandbox.json:stream_delay_s=1", "--room",
                               "b=tests/scenes/sandbox.json", "--http", "127.0.0.1:0", NULL});
    serving_wait_for_log(c, "http", 1);
    cr_assert_eq(serving_read_log(c->err, "http", "address", found), 1);
    port = (unsigned)strtoul(strrchr(found, ':') + 1, NULL, 10);
    serving_wait_for_log(c, "room", 2);
    const char *rooms = serving_ask(c, "{\"command\":\"rooms\"}");
    const char *room = strstr(rooms, "\"room\":\"a\"");
    const char *file = room != NULL ? strstr(room, ".match\"") : NULL;
    cr_assert_not_null(file, "%s", rooms);
    snprintf(match, 32, "%.16s", file - 16);
}

// What caches are told, and what they ask.
static void expect_cached(const char *path)
{
    static answer whole, part;
    char tag[64], headers[256];
    fetch(path, "", &whole);
    cr_assert_eq(whole.status, 200);
    cr_expect_not_null(strstr(whole.head, "immutable"), "%s", whole.head);
    const char *etag = strstr(whole.head, "\r\nETag: \"");
    cr_assert_not_null(etag, "%s", whole.head);
    snprintf(tag, sizeof tag, "%.34s", etag + 8);
    snprintf(headers, sizeof headers, "If-None-Match: W/\"x\", %s\r\n", tag);
    fetch(path, headers, &part);
    cr_expect_eq(part.status, 304);
    cr_expect_eq(part.size, 0);
    cr_expect_not_null(strstr(part.head, tag));
    fetch(path, "Range: bytes=8-71\r\n", &part);
    cr_expect_eq(part.status, 206);
    cr_expect_eq(part.size, 64);
    cr_expect_arr_eq(part.body, whole.body + 8, 64);
    snprintf(headers, sizeof headers, "\r\nContent-Range: bytes 8-71/%zu", whole.size);
    cr_expect_not_null(strstr(part.head, headers), "%s", part.head);
    fetch(path, "Range: bytes=-5\r\nIf-Range: \"other\"\r\n", &part);
    cr_expect_eq(part.status, 200);
    snprintf(headers, sizeof headers, "Range: bytes=-5\r\nIf-Range: %s\r\n", tag);
    fetch(path, headers, &part);
    cr_expect_eq(part.status, 206);
    cr_expect_arr_eq(part.body, whole.body + whole.size - 5, 5);
    fetch(path, "Range: bytes=9999999-\r\n", &part);
    cr_expect_eq(part.status, 416);
}

static void expect_nothing_else(const char *match)
{
    static answer a;
    char path[160];
    const char *const others[] = {"/stream/%s/0/../0/0.chunk",
                                  "/stream/%s/0/00.chunk",
                                  "/stream/%s/0/0.chunk.new",
                                  "/stream/%s/9/0.chunk",
                                  "/stream/%s/0",
                                  "/stream/%s.match",
                                  "/stream/../%s.match",
                                  "/stream/",
                                  "/watch/nothing.js",
                                  "/watch/../page.js"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, others[i], match);
        fetch(path, "", &a);
        cr_expect_eq(a.status, 404, "%s", path);
    }
}

// By the command, as a viewer who is elsewhere.
static void expect_watched(const char *match)
{
    command_result ran;
    char command[256];
    snprintf(command, sizeof command, "match verify http://127.0.0.1:%u/stream/%.16s", port, match);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_not_null(strstr(ran.out, "consistent, not complete"), "%s", ran.out);
    snprintf(command, sizeof command, "match verify http://127.0.0.1:%u/stream/%016d", port, 7);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 1);
    cr_assert_not_null(strstr(ran.err, "there is no such stream"), "%s", ran.err);
    snprintf(command, sizeof command, "match verify http://127.0.0.1:%u/stream", 1);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 1);
}

static uint32_t entries_of(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    uint32_t count = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    cr_assert_not_null(dir, "%s", path);
    closedir(dir);
    return count;
}

// The folder that the server left is whole; what the file gives again is the same.
static void expect_whole(const serving *c, const char *match)
{
    char folder[192], other[256], path[192], again[192];
    cm_stream_report report, second;
    cm_match_error error;
    cm_match_file *file;
    cm_stream_dir *dir;
    uint32_t made;
    snprintf(folder, sizeof folder, "%s/stream/%s/1", c->matches, match);
    snprintf(again, sizeof again, "%s/again", c->directory);
    snprintf(other, sizeof other, "%s/%s/1", again, match);
    snprintf(path, sizeof path, "%s/%s.match", c->matches, match);
    cr_assert_eq(cm_stream_check(folder, NULL, &report, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(report.end, CM_MATCH_DRAINED);
    cr_assert_geq(report.chunks, 3u);
    cr_assert_eq(cm_match_open(path, &file, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_stream_dir_create(again, file, NULL, &dir, &error), CAROM_OK);
    cr_assert_eq(cm_stream_dir_step(dir, 0, UINT32_MAX, &made, &error), CAROM_OK);
    cr_assert(cm_stream_dir_is_over(dir));
    cr_assert_eq(cm_stream_dir_epoch(dir), 1u);
    cm_stream_dir_destroy(dir);
    cm_match_close(file);
    snprintf(path, sizeof path, "%s/stream", c->matches);
    cr_assert_eq(entries_of(path), 1u, "room b is not streamed");
    cr_assert_eq(cm_stream_check(other, NULL, &second, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(second.chunks, report.chunks);
    cr_assert_arr_eq(second.chain, report.chain, sizeof report.chain);
}

Test(stream_http, chunks_stay_what_they_were_when_a_worker_dies)
{
    serving c;
    char match[32], path[160];
    uint8_t *before[2], *after;
    size_t sizes[2], size;
    static answer index;
    start(&c, match);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/stream/%s/0/%u.chunk", match, i);
        before[i] = wait_for_chunk(&c, path, &sizes[i]);
    }
    expect_cached(path);
    expect_nothing_else(match);
    snprintf(path, sizeof path, "/stream/%s/index.json", match);
    fetch(path, "", &index);
    cr_assert_eq(index.status, 200);
    cr_assert_not_null(strstr((char *)index.body, "\"epoch\": 0, "));
    cr_assert_not_null(strstr((char *)index.body, "\"complete\": false"));
    cr_expect_not_null(strstr(index.head, "max-age=1\r\n"), "%s", index.head);
    kill(worker_of(&c), SIGKILL);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/stream/%s/1/%u.chunk", match, i);
        after = wait_for_chunk(&c, path, &size);
        if (i < 2) {
            cr_assert_eq(size, sizes[i]);
            cr_assert_arr_eq(after, before[i], size, "chunk %u", i);
            free(before[i]);
        }
        free(after);
    }
    expect_watched(match);
    snprintf(path, sizeof path, "/stream/%s/players.json", match);
    fetch(path, "", &index);
    cr_expect_eq(index.status, 404, "by another name, and while it runs");
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    expect_whole(&c, match);
    serving_remove_directory(&c);
}

// Goal: names are read from the match file each time, for who may have them, and kept by no cache;
// one that is erased is gone.
Test(stream_http, names_are_those_of_the_file)
{
    char path[64];
    cm_match_error error;
    uint32_t rows;
    recording_setup();
    recording_make(100, 5);
    cm_stream_files *files = cm_stream_files_create(recording_folder);
    snprintf(path, sizeof path, "/stream/%016llx/players.json", (unsigned long long)RECORDING_ID);
    for (uint32_t i = 0; i < 2; i++) {
        cm_http_answer given = {.status = 200}, refused = {.status = 200};
        cr_assert_eq(cm_stream_files_get(files, path, false, &refused), CM_HTTP_NOT_THERE);
        cr_assert_eq(cm_stream_files_get(files, path, true, &given), CM_HTTP_ANSWERED);
        cr_assert(given.cache == NULL && given.etag[0] == '\0');
        cm_page_bytes(given.page, "", 1);
        cr_assert_eq(strstr(given.page->text, "\"client_id\": \"101\"") != NULL, i == 0, "%s",
                     given.page->text);
        cm_page_drop(given.page);
        cr_assert_eq(cm_match_erase(recording_path(), 101, &rows, &error), CAROM_OK);
    }
    cm_stream_files_destroy(files);
    recording_teardown();
}
