// See the header.
#include "server/record/replay/stream_check.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/record/format/match_db.h"
#include "shared/room/stream.h"
#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"

#define PATH_BYTES 4096u

struct cm_stream_watch {
    cm_stream_source source;
    cm_stream *stream; // NULL before the first chunk
    cm_chunk_opened loaded;
    bool is_run; // the loaded one, to its end
    cm_stream_report report;
};

static carom_result open_chunk(const cm_stream_watch *w, uint32_t number, cm_chunk_opened *opened,
                               cm_match_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    carom_result result = w->source.fetch(w->source.user, number, &bytes, &size, error);
    if (result != CAROM_OK) {
        return result;
    }
    const char *wrong = cm_chunk_open(bytes, size, opened);
    free(bytes);
    return wrong == NULL ? CAROM_OK
                         : cm_match_wrong(error, CAROM_ERROR_CORRUPT, "chunk %u: %s",
                                          (unsigned)number, wrong);
}

// A signature that is there must be of the key that the first chunk names.
static carom_result check_signature(cm_stream_watch *w, uint32_t number,
                                    const cm_chunk_opened *opened, cm_match_error *error)
{
    uint8_t key[CM_KEY_BYTES];
    const char *text = cm_stream_key(w->stream);
    if (!opened->is_signed) {
        w->report.is_signed = false;
        return CAROM_OK;
    }
    if (!cm_crypto_unhex(text, strlen(text), key, sizeof key) || !cm_chunk_is_by(opened, key)) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT,
                              "chunk %u: not signed by the key that the first chunk names",
                              (unsigned)number);
    }
    return CAROM_OK;
}

static carom_result told(carom_result result, const cm_stream_error *wrong, cm_match_error *error)
{
    return result == CAROM_OK || result == CAROM_ERROR_NOT_FOUND
               ? result
               : cm_match_wrong(error, result, "%s", wrong->message);
}

// The chunk before it stays loaded until this one is.
static carom_result load(cm_stream_watch *w, uint32_t number, const carom_module *module,
                         cm_match_error *error)
{
    cm_stream_error wrong;
    cm_chunk_opened opened;
    carom_result result = open_chunk(w, number, &opened, error);
    if (result != CAROM_OK) {
        return result;
    }
    bool first = w->stream == NULL;
    if (first) {
        result =
            told(cm_stream_open(opened.body, opened.size, opened.hash, module, &w->stream, &wrong),
                 &wrong, error);
    }
    result = result == CAROM_OK ? check_signature(w, number, &opened, error) : result;
    if (result == CAROM_OK && !first) {
        result = told(cm_stream_load(w->stream, opened.body, opened.size, opened.hash, &wrong),
                      &wrong, error);
    }
    free(w->loaded.body);
    w->loaded = opened;
    w->is_run = false;
    if (result == CAROM_OK && cm_stream_next(w->stream) != number + 1) {
        result = cm_match_wrong(error, CAROM_ERROR_CORRUPT, "chunk %u: it is chunk %u",
                                (unsigned)number, (unsigned)cm_stream_next(w->stream) - 1);
    }
    return result;
}

carom_result cm_stream_watch_open(const cm_stream_source *source, const carom_module *module,
                                  uint32_t first, cm_stream_watch **out, cm_match_error *error)
{
    cm_stream_watch *w = *out = calloc(1, sizeof *w);
    if (w == NULL || !cm_crypto_init()) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    w->source = *source;
    w->report.first = first;
    w->report.is_signed = true;
    return load(w, first, module, error);
}

void cm_stream_watch_close(cm_stream_watch *w)
{
    if (w != NULL) {
        cm_stream_close(w->stream);
        free(w->loaded.body);
        free(w);
    }
}

carom_result cm_stream_watch_join(cm_stream_watch *w, uint32_t number, cm_match_error *error)
{
    return load(w, number, NULL, error);
}

carom_result cm_stream_watch_take(cm_stream_watch *w, cm_match_error *error)
{
    cm_stream_error wrong;
    cm_chunk chunk;
    carom_result result = CAROM_OK;
    if (w->is_run && cm_stream_end(w->stream) != CM_MATCH_LIVE) {
        return cm_match_wrong(error, CAROM_ERROR_CORRUPT, "chunk %u: behind the last one",
                              (unsigned)cm_stream_next(w->stream));
    }
    if (w->is_run) {
        result = load(w, cm_stream_next(w->stream), NULL, error);
    }
    while (result == CAROM_OK) {
        result = told(cm_stream_step(w->stream, &wrong), &wrong, error);
    }
    if (result == CAROM_ERROR_NOT_FOUND && !w->is_run) {
        w->is_run = true;
        result = CAROM_OK;
        (void)cm_chunk_read(w->loaded.body, w->loaded.size, &chunk);
        w->report.chunks++;
        w->report.keyframes += chunk.keyframe.size > 0;
    }
    return result;
}

uint32_t cm_stream_watch_next(const cm_stream_watch *w)
{
    return cm_stream_next(w->stream) - !w->is_run;
}

void cm_stream_watch_report(const cm_stream_watch *w, cm_stream_report *report)
{
    *report = w->report;
    if (w->stream == NULL) {
        return;
    }
    report->match_id = cm_stream_match(w->stream);
    report->ticks = carom_game_tick(cm_stream_game(w->stream));
    report->hash = cm_game_hash(cm_stream_game(w->stream));
    report->end = cm_stream_end(w->stream);
    report->is_signed = report->is_signed && report->chunks > 0;
    snprintf(report->sign_key, sizeof report->sign_key, "%.64s", cm_stream_key(w->stream));
    memcpy(report->chain, w->loaded.hash, sizeof report->chain);
}

// Folders --------------------------------------------------------------------------------------

// The lowest and the highest number. False: there is no chunk.
static bool find_numbers(const char *folder, uint32_t *low, uint32_t *high)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool found = false;
    *low = *high = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, 10);
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || strcmp(end, ".chunk") != 0 ||
            number >= UINT32_MAX) {
            continue;
        }
        *low = !found || number < *low ? (uint32_t)number : *low;
        *high = !found || number > *high ? (uint32_t)number : *high;
        found = true;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return found;
}

static carom_result fetch_file(void *user, uint32_t number, uint8_t **bytes, size_t *size,
                               cm_match_error *error)
{
    char path[PATH_BYTES];
    struct stat about;
    snprintf(path, sizeof path, "%s/%u.chunk", (const char *)user, (unsigned)number);
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "chunk %u: %s", (unsigned)number,
                              errno == ENOENT ? "it is missing" : strerror(errno));
    }
    bool good = fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode) &&
                about.st_size <= (off_t)CM_CHUNK_FILE_MAX;
    *size = good ? (size_t)about.st_size : 0;
    *bytes = good ? malloc(*size > 0 ? *size : 1) : NULL;
    good = *bytes != NULL && fread(*bytes, 1, *size, in) == *size;
    fclose(in);
    if (!good) {
        free(*bytes);
        return cm_match_wrong(error, CAROM_ERROR_IO,
                              "chunk %u: it cannot be read, or is above %u "
                              "MiB",
                              (unsigned)number, CM_CHUNK_FILE_MAX >> 20);
    }
    return CAROM_OK;
}

carom_result cm_stream_check(const char *folder, const carom_module *module,
                             cm_stream_report *report, cm_match_error *error)
{
    uint32_t low, high;
    cm_stream_watch *watch;
    char name[PATH_BYTES];
    const cm_stream_source source = {.user = name, .fetch = fetch_file};
    memset(report, 0, sizeof *report);
    snprintf(name, sizeof name, "%s", folder);
    if (!find_numbers(folder, &low, &high)) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "no chunk there, expected 0.chunk and so on");
    }
    carom_result result = cm_stream_watch_open(&source, module, low, &watch, error);
    while (result == CAROM_OK && cm_stream_watch_next(watch) <= high) {
        result = cm_stream_watch_take(watch, error);
    }
    if (watch != NULL) {
        cm_stream_watch_report(watch, report);
    }
    cm_stream_watch_close(watch);
    return result;
}
