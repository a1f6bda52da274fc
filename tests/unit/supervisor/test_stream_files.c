// The list of streams, from folders of index files whose ages are set. Goal: the newest are told,
// the newest first, as many as the list has; what is no stream is not; and who asks again within
// the second gets what is there.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/supervisor/stream_files.h"

#define MADE (CM_STREAM_FILES_LISTED + 7u) // a prime

static char matches[] = "/tmp/carom-list-XXXXXX";

// A stream's folder, whose index was written so many seconds after 1 January 2001.
static void make_stream(const char *id, uint32_t second)
{
    char path[128];
    const struct timespec times[2] = {{.tv_sec = 978307200 + second},
                                      {.tv_sec = 978307200 + second}};
    snprintf(path, sizeof path, "%s/stream/%s", matches, id);
    cr_assert_eq(mkdir(path, 0755), 0);
    strcat(path, "/index.json");
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, "%u", (unsigned)second);
    fclose(file);
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void expect_list(cm_stream_files *files, uint64_t now_us, const char *expected)
{
    cm_http_answer answer = {.status = 200};
    cr_assert_eq(cm_stream_files_list(files, now_us, &answer), CM_HTTP_ANSWERED);
    cr_expect_eq(answer.page->size, strlen(expected));
    cr_expect_eq(memcmp(answer.page->text, expected, answer.page->size), 0, "%.*s, expected %s",
                 (int)answer.page->size, answer.page->text, expected);
    cr_expect_gt(strlen(answer.etag), 2);
    cm_page_drop(answer.page);
}

Test(stream_files, the_newest_streams_are_listed)
{
    char path[64], id[24], expected[1024] = "";
    cr_assert_not_null(mkdtemp(matches));
    cm_stream_files *files = cm_stream_files_create(matches);
    expect_list(files, 1, "[]\n");
    snprintf(path, sizeof path, "%s/stream", matches);
    cr_assert_eq(mkdir(path, 0755), 0);
    for (uint32_t i = 0; i < MADE; i++) { // in no order
        uint32_t second = i * 7 % MADE;
        snprintf(id, sizeof id, "%016x", (unsigned)i);
        make_stream(id, second);
    }
    make_stream("000000000000000G", 1000);
    make_stream("00000000000000", 1000);
    for (uint32_t i = 0; i < CM_STREAM_FILES_LISTED; i++) {
        char one[16];
        snprintf(one, sizeof one, "%s%u", i == 0 ? "[" : ",\n", (unsigned)(MADE - 1 - i));
        strcat(expected, one);
    }
    strcat(expected, "]\n");
    expect_list(files, CM_STREAM_FILES_FRESH_US, "[]\n");
    expect_list(files, CM_STREAM_FILES_FRESH_US + 1, expected);
    cm_stream_files_destroy(files);
    snprintf(path, sizeof path, "rm -r %s", matches);
    cr_assert_eq(system(path), 0);
}
