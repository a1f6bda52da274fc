// See the header. A file is written under another name and renamed, so that whoever opens it has
// it whole; nothing is synced, since nothing is lost with it.
#include "server/record/format/stream_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/record/format/match_rows.h"
#include "shared/base/array.h"
#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"

#define PATH_BYTES 4096u

struct cm_stream_dir {
    cm_match_chunks *chunks;
    cm_match_info info;
    bool is_signed, is_over;
    uint8_t secret[CM_KEY_BYTES];
    uint64_t epoch, ticks; // ticks: after the last of its chunks
    uint32_t first, count; // of the chunks that are there
    uint32_t *keyframes;   // numbers of the chunks that have one
    uint32_t keyframe_count, keyframe_capacity;
    uint8_t hash[CM_CHUNK_HASH]; // of the newest
    char path[PATH_BYTES];
};

static carom_result io(cm_match_error *error, const char *path)
{
    return cm_match_wrong(error, CAROM_ERROR_IO, "%s: %s", path, strerror(errno));
}

static bool make(const char *path)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

// Removes what is in a folder but `kept` (NULL: and the folder); one level of folders below at
// most.
static void remove_all(const char *path, const char *kept, uint32_t depth)
{
    DIR *dir = opendir(path);
    char below[PATH_BYTES];
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        int size = snprintf(below, sizeof below, "%s/%s", path, name);
        bool stays = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                     (kept != NULL && strcmp(name, kept) == 0);
        if (!stays && size > 0 && (size_t)size < sizeof below && unlink(below) != 0 && depth > 0) {
            remove_all(below, NULL, depth - 1);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    if (kept == NULL) {
        (void)rmdir(path);
    }
}

void cm_stream_dir_prune(const char *root)
{
    DIR *dir = opendir(root);
    char path[PATH_BYTES], index[PATH_BYTES + 16];
    const struct dirent *entry;
    struct stat about;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        int size = snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        snprintf(index, sizeof index, "%s/index.json", path);
        if (strlen(entry->d_name) == 16 && size > 0 && (size_t)size < sizeof path &&
            stat(index, &about) == 0 && time(NULL) - about.st_mtime > CM_STREAM_KEEP_S) {
            remove_all(path, NULL, 1);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

static carom_result count_epoch(cm_match_file *file, uint64_t *epoch, cm_match_error *error)
{
    sqlite3_stmt *row =
        cm_match_prepare(file, "SELECT count(*) FROM events WHERE type = 'resumed'");
    bool good = row != NULL && sqlite3_step(row) == SQLITE_ROW;
    *epoch = good ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return good ? CAROM_OK : cm_match_db_wrong(&file->db, "events", error);
}

static carom_result make_folders(cm_stream_dir *dir, const char *root, cm_match_error *error)
{
    char epoch[PATH_BYTES], name[24];
    int size = snprintf(dir->path, sizeof dir->path, "%s/%016" PRIx64, root, dir->info.match_id);
    if (size < 0 || (size_t)size > sizeof dir->path - 64) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "the path is too long");
    }
    snprintf(name, sizeof name, "%" PRIu64, dir->epoch);
    remove_all(dir->path, name, 1);
    snprintf(epoch, sizeof epoch, "%.4000s/%s", dir->path, name);
    return make(root) && make(dir->path) && make(epoch) ? CAROM_OK : io(error, dir->path);
}

carom_result cm_stream_dir_create(const char *root, cm_match_file *file, const uint8_t *secret,
                                  cm_stream_dir **out, cm_match_error *error)
{
    cm_stream_dir *dir = *out = calloc(1, sizeof *dir);
    if (dir == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    cm_match_info_get(file, &dir->info);
    dir->is_signed = secret != NULL;
    if (secret != NULL) {
        memcpy(dir->secret, secret, sizeof dir->secret);
    }
    carom_result result = count_epoch(file, &dir->epoch, error);
    result = result == CAROM_OK ? cm_match_chunks_create(file, &dir->chunks, error) : result;
    result = result == CAROM_OK ? make_folders(dir, root, error) : result;
    if (result != CAROM_OK) {
        cm_stream_dir_destroy(dir);
        *out = NULL;
    }
    return result;
}

void cm_stream_dir_destroy(cm_stream_dir *dir)
{
    if (dir != NULL) {
        cm_match_chunks_destroy(dir->chunks);
        cm_crypto_wipe(dir->secret, sizeof dir->secret);
        free(dir->keyframes);
        free(dir);
    }
}

// Files ----------------------------------------------------------------------------------------

static carom_result put_file(const char *path, const void *bytes, size_t size,
                             cm_match_error *error)
{
    char made[PATH_BYTES + 8];
    snprintf(made, sizeof made, "%s.new", path);
    int file = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool good = file >= 0;
    for (size_t at = 0; good && at < size;) {
        ssize_t written = write(file, (const uint8_t *)bytes + at, size - at);
        good = written > 0 || (written < 0 && errno == EINTR);
        at += written > 0 ? (size_t)written : 0;
    }
    good = (file < 0 || close(file) == 0) && good && rename(made, path) == 0;
    if (good) {
        return CAROM_OK;
    }
    carom_result result = io(error, path);
    (void)unlink(made);
    return result;
}

// The text of index.json, to be freed; NULL without memory.
static char *index_text(const cm_stream_dir *dir)
{
    char *text = NULL, hash[2 * CM_CHUNK_HASH + 1];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    cm_crypto_hex(dir->hash, sizeof dir->hash, hash);
    fprintf(out,
            "{\"format\": 1, \"match_id\": \"%016" PRIx64 "\", \"epoch\": %" PRIu64
            ", \"tick_rate\": %u, \"chunk_ticks\": %u, \"first\": %u, \"chunks\": %u, "
            "\"ticks\": %" PRIu64 ", \"complete\": %s, \"sign_key\": \"%s\", \"hash\": \"%s\", "
            "\"keyframes\": [",
            dir->info.match_id, dir->epoch, (unsigned)dir->info.tick_rate,
            (unsigned)(CM_CHUNK_SECONDS * dir->info.tick_rate), (unsigned)dir->first,
            (unsigned)dir->count, dir->ticks, dir->is_over ? "true" : "false",
            dir->is_signed ? dir->info.sign_key : "", hash);
    for (uint32_t i = 0; i < dir->keyframe_count; i++) {
        fprintf(out, "%s%u", i > 0 ? ", " : "", (unsigned)dir->keyframes[i]);
    }
    fprintf(out, "]}\n");
    bool good = ferror(out) == 0;
    good = fclose(out) == 0 && good;
    if (!good) {
        free(text);
        text = NULL;
    }
    return text;
}

static carom_result put_index(const cm_stream_dir *dir, cm_match_error *error)
{
    char path[PATH_BYTES + 16], *text = index_text(dir);
    snprintf(path, sizeof path, "%s/index.json", dir->path);
    carom_result result = text != NULL ? put_file(path, text, strlen(text), error)
                                       : cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    free(text);
    return result;
}

static carom_result put_chunk(cm_stream_dir *dir, const cm_match_chunk *chunk,
                              cm_match_error *error)
{
    size_t size;
    char path[PATH_BYTES + 64];
    uint8_t *file =
        cm_chunk_seal(chunk->body, chunk->size, dir->is_signed ? dir->secret : NULL, &size);
    if (file == NULL || size > CM_CHUNK_FILE_MAX ||
        !cm_array_reserve(&dir->keyframes, &dir->keyframe_capacity, dir->keyframe_count + 1,
                          sizeof dir->keyframes[0])) {
        free(file);
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory, or a chunk above 32 MiB");
    }
    snprintf(path, sizeof path, "%s/%" PRIu64 "/%u.chunk", dir->path, dir->epoch,
             (unsigned)chunk->number);
    carom_result result = put_file(path, file, size, error);
    free(file);
    if (result == CAROM_OK) {
        dir->first = dir->count == 0 ? chunk->number : dir->first;
        dir->count++;
        dir->ticks = chunk->first_tick + chunk->tick_count;
        dir->is_over = chunk->is_last;
        memcpy(dir->hash, chunk->hash, sizeof dir->hash);
        if (chunk->has_keyframe) {
            dir->keyframes[dir->keyframe_count++] = chunk->number;
        }
    }
    return result;
}

carom_result cm_stream_dir_step(cm_stream_dir *dir, uint64_t delay, uint32_t most, uint32_t *made,
                                cm_match_error *error)
{
    cm_match_chunk chunk;
    carom_result result = CAROM_OK;
    for (*made = 0; result == CAROM_OK && *made < most; *made += result == CAROM_OK) {
        result = cm_match_chunks_next(dir->chunks, delay, &chunk, error);
        result = result == CAROM_OK ? put_chunk(dir, &chunk, error) : result;
    }
    result = result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
    return result == CAROM_OK && *made > 0 ? put_index(dir, error) : result;
}

bool cm_stream_dir_is_over(const cm_stream_dir *dir)
{
    return dir->is_over;
}

const char *cm_stream_dir_path(const cm_stream_dir *dir)
{
    return dir->path;
}

uint32_t cm_stream_dir_chunks(const cm_stream_dir *dir)
{
    return dir->count;
}

uint64_t cm_stream_dir_epoch(const cm_stream_dir *dir)
{
    return dir->epoch;
}
