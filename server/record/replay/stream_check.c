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

typedef struct checking {
    const char *folder;
    const carom_module *module;
    cm_stream *stream; // NULL before the first chunk
    cm_chunk_opened loaded, next;
    cm_stream_report *report;
    cm_match_error *error;
} checking;

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

static carom_result open_chunk(const checking *c, uint32_t number, cm_chunk_opened *opened)
{
    char path[PATH_BYTES];
    struct stat about;
    snprintf(path, sizeof path, "%s/%u.chunk", c->folder, (unsigned)number);
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        return cm_match_wrong(c->error, CAROM_ERROR_IO, "chunk %u: %s", (unsigned)number,
                              errno == ENOENT ? "it is missing" : strerror(errno));
    }
    bool good = fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode) &&
                about.st_size <= (off_t)CM_CHUNK_FILE_MAX;
    size_t size = good ? (size_t)about.st_size : 0;
    uint8_t *bytes = good ? malloc(size > 0 ? size : 1) : NULL;
    good = bytes != NULL && fread(bytes, 1, size, in) == size;
    fclose(in);
    const char *wrong =
        good ? cm_chunk_open(bytes, size, opened) : "it cannot be read, or is above 32 MiB";
    free(bytes);
    return wrong == NULL ? CAROM_OK
                         : cm_match_wrong(c->error, CAROM_ERROR_CORRUPT, "chunk %u: %s",
                                          (unsigned)number, wrong);
}

// A signature that is there must be of the key that the first chunk names.
static carom_result check_signature(checking *c, uint32_t number)
{
    uint8_t key[CM_KEY_BYTES];
    const char *text = cm_stream_key(c->stream);
    if (!c->next.is_signed) {
        c->report->is_signed = false;
        return CAROM_OK;
    }
    if (!cm_crypto_unhex(text, strlen(text), key, sizeof key) || !cm_chunk_is_by(&c->next, key)) {
        return cm_match_wrong(c->error, CAROM_ERROR_CORRUPT,
                              "chunk %u: not signed by the key that the first chunk names",
                              (unsigned)number);
    }
    return CAROM_OK;
}

static carom_result told(checking *c, carom_result result, const cm_stream_error *error)
{
    return result == CAROM_OK || result == CAROM_ERROR_NOT_FOUND
               ? result
               : cm_match_wrong(c->error, result, "%s", error->message);
}

static carom_result load(checking *c, uint32_t number)
{
    cm_stream_error wrong;
    carom_result result = open_chunk(c, number, &c->next);
    if (result != CAROM_OK) {
        return result;
    }
    if (c->stream == NULL) {
        result = told(
            c,
            cm_stream_open(c->next.body, c->next.size, c->next.hash, c->module, &c->stream, &wrong),
            &wrong);
        result = result == CAROM_OK ? check_signature(c, number) : result;
    } else {
        result = check_signature(c, number);
        result =
            result == CAROM_OK
                ? told(c,
                       cm_stream_load(c->stream, c->next.body, c->next.size, c->next.hash, &wrong),
                       &wrong)
                : result;
    }
    if (result == CAROM_OK && cm_stream_next(c->stream) != number + 1) {
        result = cm_match_wrong(c->error, CAROM_ERROR_CORRUPT, "chunk %u: it is chunk %u",
                                (unsigned)number, (unsigned)cm_stream_next(c->stream) - 1);
    }
    return result;
}

static carom_result take(checking *c, uint32_t number)
{
    cm_stream_error wrong;
    cm_chunk chunk;
    carom_result result = load(c, number);
    while (result == CAROM_OK) {
        result = told(c, cm_stream_step(c->stream, &wrong), &wrong);
    }
    if (result == CAROM_ERROR_NOT_FOUND) {
        free(c->loaded.body);
        c->loaded = c->next;
        c->next.body = NULL;
        result = CAROM_OK;
        (void)cm_chunk_read(c->loaded.body, c->loaded.size, &chunk);
        c->report->chunks++;
        c->report->keyframes += chunk.keyframe.size > 0;
    }
    return result;
}

static void sum_up(const checking *c)
{
    cm_stream_report *report = c->report;
    report->match_id = cm_stream_match(c->stream);
    report->ticks = carom_game_tick(cm_stream_game(c->stream));
    report->hash = cm_game_hash(cm_stream_game(c->stream));
    report->end = cm_stream_end(c->stream);
    report->is_signed = report->is_signed && report->chunks > 0;
    snprintf(report->sign_key, sizeof report->sign_key, "%.64s", cm_stream_key(c->stream));
    memcpy(report->chain, c->loaded.hash, sizeof report->chain);
}

carom_result cm_stream_check(const char *folder, const carom_module *module,
                             cm_stream_report *report, cm_match_error *error)
{
    uint32_t low, high;
    checking c = {.folder = folder, .module = module, .report = report, .error = error};
    memset(report, 0, sizeof *report);
    if (!cm_crypto_init() || !find_numbers(folder, &low, &high)) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "no chunk there, expected 0.chunk and so on");
    }
    report->first = low;
    report->is_signed = true;
    carom_result result = CAROM_OK;
    for (uint64_t number = low; result == CAROM_OK && number <= high; number++) {
        if (c.stream != NULL && cm_stream_end(c.stream) != CM_MATCH_LIVE) {
            result = cm_match_wrong(error, CAROM_ERROR_CORRUPT, "chunk %u: behind the last one",
                                    (unsigned)number);
        } else {
            result = take(&c, (uint32_t)number);
        }
    }
    if (c.stream != NULL) {
        sum_up(&c);
    }
    cm_stream_close(c.stream);
    free(c.loaded.body);
    free(c.next.body);
    return result;
}
