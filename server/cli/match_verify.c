// `carom match verify`: a viewer that shows nothing but what it found, of a folder or over HTTP.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/cli/http_get.h"
#include "server/cli/load.h"
#include "server/cli/match_stream.h"
#include "server/config/json_reader.h"
#include "server/record/format/sign_key.h"
#include "server/record/replay/stream_check.h"
#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"

#define INDEX_MAX  (4u << 20)
#define CHUNKS_MAX 4294967295.0
#define URL_BYTES  1024u

typedef struct verifying {
    const char *from; // a folder, or http://…/stream/ID
    bool join, follow;
    // Of the index.
    uint64_t epoch;
    uint32_t first, chunks, keyframe; // keyframe: the newest chunk that has one
    bool has_keyframe, complete;
} verifying;

static carom_result refuse(cm_match_error *error, carom_result result, const char *what)
{
    snprintf(error->message, sizeof error->message, "%s", what);
    return result;
}

static void take_keyframes(verifying *v, const cm_json_value *list)
{
    for (uint32_t i = 0; i < cm_json_count(list); i++) {
        int64_t number;
        if (cm_json_integer_of(cm_json_at(list, i), &number) && number >= 0 &&
            number < (int64_t)UINT32_MAX) {
            v->keyframe = (uint32_t)number;
            v->has_keyframe = true;
        }
    }
}

static carom_result read_index(verifying *v, cm_match_error *error)
{
    char url[URL_BYTES], what[300];
    cm_http_got got;
    cm_json_reader reader;
    cm_scene_error wrong = {0};
    snprintf(url, sizeof url, "%.900s/index.json", v->from);
    if (!cm_http_get(url, INDEX_MAX, &got, what, sizeof what)) {
        return refuse(error, CAROM_ERROR_IO, what);
    }
    const cm_json_value *index = got.status == 200 ? cm_json_open(&reader, (const char *)got.body,
                                                                  got.size, INDEX_MAX, &wrong)
                                                   : NULL;
    bool good = index != NULL;
    if (good) {
        v->epoch = (uint64_t)cm_json_number(&reader, index, "epoch", 0, 1e15, NULL);
        v->first = (uint32_t)cm_json_number(&reader, index, "first", 0, CHUNKS_MAX, NULL);
        v->chunks = (uint32_t)cm_json_number(&reader, index, "chunks", 1, CHUNKS_MAX, NULL);
        v->complete = cm_json_bool(&reader, index, "complete", false);
        take_keyframes(v, cm_json_member(index, "keyframes"));
        good = !cm_json_failed(&reader) && v->chunks <= UINT32_MAX - v->first;
    }
    if (got.status == 200) {
        cm_json_close(&reader);
    }
    free(got.body);
    snprintf(what, sizeof what, "%.200s: %s", url,
             got.status != 200 ? "there is no such stream" : "not the index of a stream");
    return good ? CAROM_OK : refuse(error, CAROM_ERROR_IO, what);
}

static carom_result fetch(void *user, uint32_t number, uint8_t **bytes, size_t *size,
                          cm_match_error *error)
{
    const verifying *v = user;
    char url[URL_BYTES], what[300];
    cm_http_got got;
    snprintf(url, sizeof url, "%.900s/%" PRIu64 "/%u.chunk", v->from, v->epoch, (unsigned)number);
    if (!cm_http_get(url, CM_CHUNK_FILE_MAX, &got, what, sizeof what)) {
        return refuse(error, CAROM_ERROR_IO, what);
    }
    *bytes = got.body;
    *size = got.size;
    if (got.status != 200) {
        free(got.body);
        snprintf(what, sizeof what, "chunk %u: answered with %u", (unsigned)number,
                 (unsigned)got.status);
        return refuse(error, CAROM_ERROR_IO, what);
    }
    return CAROM_OK;
}

// Takes what is there now; with --follow, once a second what came, to the end.
static carom_result take_all(verifying *v, cm_stream_watch *watch, cm_match_error *error)
{
    carom_result result = CAROM_OK;
    cm_stream_report report;
    while (result == CAROM_OK) {
        while (result == CAROM_OK && cm_stream_watch_next(watch) < v->first + v->chunks) {
            result = cm_stream_watch_take(watch, error);
            cm_stream_watch_report(watch, &report);
            if (v->follow && result == CAROM_OK) {
                printf("chunk %u, tick %" PRIu64 ", hash %016" PRIx64 "\n",
                       (unsigned)cm_stream_watch_next(watch) - 1, report.ticks, report.hash);
                fflush(stdout);
            }
        }
        if (result != CAROM_OK || !v->follow || v->complete) {
            break;
        }
        sleep(1);
        result = read_index(v, error);
    }
    return result;
}

static carom_result verify_url(verifying *v, cm_stream_report *report, cm_match_error *error)
{
    cm_stream_watch *watch = NULL;
    const cm_stream_source source = {.user = v, .fetch = fetch};
    carom_result result = read_index(v, error);
    if (result == CAROM_OK) {
        result = cm_stream_watch_open(&source, NULL, v->first, &watch, error);
    }
    if (result == CAROM_OK && v->join && v->has_keyframe && v->keyframe > v->first) {
        result = cm_stream_watch_join(watch, v->keyframe, error);
    }
    result = result == CAROM_OK ? take_all(v, watch, error) : result;
    if (result == CAROM_OK) {
        cm_stream_watch_report(watch, report);
    }
    cm_stream_watch_close(watch);
    return result;
}

static void print_report(const cm_stream_report *report, bool authentic)
{
    printf("verified %u chunks of match %016" PRIx64 ", to tick %" PRIu64 ", hash %016" PRIx64
           ", %s, %s\n",
           (unsigned)report->chunks, report->match_id, report->ticks, report->hash,
           authentic ? "authentic" : "consistent",
           report->end != CM_MATCH_LIVE ? "complete" : "not complete: no chunk tells an end");
    if (!authentic) {
        printf("not proved: who recorded it%s\n",
               report->is_signed ? " (it is signed: --pubkey FILE asks whether by that key)"
                                 : " (unsigned: whoever holds it can make the chain again)");
    }
}

static int status_of(carom_result result, const char *folder)
{
    bool failed = result == CAROM_ERROR_MEMORY || result == CAROM_ERROR_DIVERGED ||
                  result == CAROM_ERROR_CORRUPT ||
                  (result == CAROM_ERROR_IO && access(folder, R_OK) == 0);
    return failed ? CM_STATUS_FAILED : CM_STATUS_USAGE;
}

// `key`: its hexadecimal digits, or NULL.
static int judge(const char *from, const cm_stream_report *report, const char *key)
{
    bool is_theirs = key != NULL && strcmp(key, report->sign_key) == 0;
    print_report(report, report->is_signed && is_theirs);
    if (key == NULL || (report->is_signed && is_theirs)) {
        return CM_STATUS_DONE;
    }
    return cm_cli_failed("%s: not authentic: %s", from,
                         is_theirs ? "not all of it is signed" : "it names another key, or none");
}

int cm_match_verify(int argc, char **argv)
{
    const char *key_path = NULL;
    uint32_t given = 0;
    cm_option_texts modules = {.count = 0};
    verifying v = {.from = NULL};
    const cm_option options[] = {
        {.name = "pubkey", .kind = CM_OPTION_TEXT, .value = &key_path},
        {.name = "module", .kind = CM_OPTION_TEXTS, .value = &modules},
        {.name = "join", .kind = CM_OPTION_FLAG, .value = &v.join},
        {.name = "follow", .kind = CM_OPTION_FLAG, .value = &v.follow},
    };
    uint8_t key[CM_SIGN_KEY_BYTES];
    char error[512], text[CM_SIGN_KEY_TEXT] = "";
    cm_stream_report report;
    cm_match_error wrong;
    int status = cm_cli_options(argc, argv, options, 4, &v.from, 1, &given);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    bool is_url = given == 1 && strncmp(v.from, "http://", 7) == 0;
    if (given != 1 || (!is_url && (v.join || v.follow))) {
        return cm_cli_usage("%s: expected one folder of chunks, or http://HOST:PORT/stream/ID, "
                            "which alone takes --join and --follow",
                            argv[0]);
    }
    status = cm_cli_load_modules(&modules);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (key_path != NULL) {
        if (cm_public_key_read(key_path, key, error, sizeof error) != CAROM_OK) {
            return cm_cli_usage("%s", error);
        }
        cm_crypto_hex(key, sizeof key, text);
    }
    carom_result result =
        is_url ? verify_url(&v, &report, &wrong) : cm_stream_check(v.from, NULL, &report, &wrong);
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s", v.from, wrong.message);
        return is_url ? CM_STATUS_FAILED : status_of(result, v.from);
    }
    return cm_cli_finish(judge(v.from, &report, key_path != NULL ? text : NULL));
}
