// See the header. A file is read whole at once: 4 to 100 kB from the kernel's cache.
#include "server/supervisor/stream_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/format/match_names.h"
#include "server/record/format/stream_dir.h"
#include "shared/wire/crypto.h"

#define PLACE     "/stream/"
#define ID_DIGITS 16u
#define INDEX     "/index.json"
#define CHUNK     ".chunk"
#define NAMES     "/players.json"
#define FOREVER   "public, max-age=31536000, immutable"
#define A_MOMENT  "public, max-age=1"

typedef struct kept {
    char path[80];
    char etag[CM_HTTP_ETAG_MAX];
    cm_page *page;
} kept;

struct cm_stream_files {
    char *matches;
    cm_page *list;    // NULL: none was asked for
    uint64_t list_us; // when it was made
    uint32_t next;    // place of the next one that is kept
    kept kept[CM_STREAM_FILES_KEPT];
};

cm_stream_files *cm_stream_files_create(const char *matches)
{
    cm_stream_files *files = calloc(1, sizeof *files);
    if (files == NULL || (files->matches = strdup(matches)) == NULL) {
        free(files);
        return NULL;
    }
    return files;
}

void cm_stream_files_destroy(cm_stream_files *files)
{
    if (files != NULL) {
        for (uint32_t i = 0; i < CM_STREAM_FILES_KEPT; i++) {
            cm_page_drop(files->kept[i].page);
        }
        cm_page_drop(files->list);
        free(files->matches);
        free(files);
    }
}

static size_t digits(const char *text)
{
    size_t length = strspn(text, "0123456789");
    return length <= 20 && (length < 2 || text[0] != '0') ? length : 0;
}

typedef enum kind { NONE, AN_INDEX, A_CHUNK, PLAYERS } kind;

// Only these letters come into a path of ours.
static kind kind_of(const char *path)
{
    const char *id = path + strlen(PLACE), *rest = id + ID_DIGITS;
    if (strncmp(path, PLACE, strlen(PLACE)) != 0 || strspn(id, "0123456789abcdef") != ID_DIGITS) {
        return NONE;
    }
    if (strcmp(rest, INDEX) == 0) {
        return AN_INDEX;
    }
    if (strcmp(rest, NAMES) == 0) {
        return PLAYERS;
    }
    size_t epoch = rest[0] == '/' ? digits(rest + 1) : 0;
    const char *number = rest + 1 + epoch + 1;
    size_t length = epoch > 0 && number[-1] == '/' ? digits(number) : 0;
    bool chunk =
        length > 0 && strcmp(number + length, CHUNK) == 0 && strlen(path) < sizeof((kept *)0)->path;
    return chunk ? A_CHUNK : NONE;
}

static cm_page *read_page(int file)
{
    struct stat about;
    char bytes[16384];
    cm_page *page =
        fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= (off_t)CM_PAGE_MAX
            ? cm_page_create()
            : NULL;
    ssize_t got = 1;
    while (page != NULL && !page->cut && (got = read(file, bytes, sizeof bytes)) > 0) {
        cm_page_bytes(page, bytes, (size_t)got);
    }
    if (page != NULL && (page->cut || got < 0)) {
        cm_page_drop(page);
        page = NULL;
    }
    return page;
}

static cm_page *read_file(const cm_stream_files *files, const char *path)
{
    char name[4096];
    int size = snprintf(name, sizeof name, "%s/" CM_STREAM_FOLDER "/%s", files->matches,
                        path + strlen(PLACE));
    int file = size > 0 && (size_t)size < sizeof name
                   ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                   : -1;
    cm_page *page = file >= 0 ? read_page(file) : NULL;
    if (file >= 0) {
        close(file);
    }
    return page;
}

// From the file itself, so that an erased name is gone.
static cm_page *read_names(const cm_stream_files *files, const char *path)
{
    char name[4096], *text;
    size_t size;
    cm_match_error error;
    int length =
        snprintf(name, sizeof name, "%s/%.16s.match", files->matches, path + strlen(PLACE));
    if (length < 0 || (size_t)length >= sizeof name ||
        cm_match_names(name, &text, &size, &error) != CAROM_OK) {
        return NULL;
    }
    cm_page *page = cm_page_create();
    if (page != NULL) {
        cm_page_bytes(page, text, size);
    }
    free(text);
    return page;
}

static void put_etag(const cm_page *page, char etag[CM_HTTP_ETAG_MAX])
{
    uint8_t hash[16];
    char text[2 * sizeof hash + 1];
    cm_crypto_hash(hash, sizeof hash, (const uint8_t *)page->text, page->size, NULL);
    cm_crypto_hex(hash, sizeof hash, text);
    snprintf(etag, CM_HTTP_ETAG_MAX, "\"%s\"", text);
}

static void keep(cm_stream_files *files, const char *path, const cm_http_answer *answer)
{
    if (answer->page->size <= CM_STREAM_FILES_MAX) {
        kept *place = &files->kept[files->next++ % CM_STREAM_FILES_KEPT];
        cm_page_drop(place->page);
        snprintf(place->path, sizeof place->path, "%s", path);
        memcpy(place->etag, answer->etag, sizeof place->etag);
        place->page = cm_page_hold(answer->page);
    }
}

cm_http_found cm_stream_files_get(cm_stream_files *files, const char *path, bool names,
                                  cm_http_answer *answer)
{
    kind what = kind_of(path);
    answer->type = what == A_CHUNK ? "application/octet-stream" : "application/json";
    if (what == PLAYERS) {
        answer->page = names ? read_names(files, path) : NULL;
        return answer->page != NULL ? CM_HTTP_ANSWERED : CM_HTTP_NOT_THERE;
    }
    answer->cache = what == A_CHUNK ? FOREVER : A_MOMENT;
    for (uint32_t i = 0; what == A_CHUNK && i < CM_STREAM_FILES_KEPT; i++) {
        const kept *place = &files->kept[i];
        if (place->page != NULL && strcmp(place->path, path) == 0) {
            memcpy(answer->etag, place->etag, sizeof answer->etag);
            answer->page = cm_page_hold(place->page);
            return CM_HTTP_ANSWERED;
        }
    }
    answer->page = what != NONE ? read_file(files, path) : NULL;
    if (answer->page == NULL && what == NONE) {
        return CM_HTTP_NOT_THERE;
    }
    if (answer->page == NULL) { // as long as the index: so caches keep who asks early from us
        answer->status = 404;
        answer->type = "text/plain; charset=utf-8";
        answer->cache = A_MOMENT;
        answer->page = cm_page_create();
        return answer->page != NULL ? CM_HTTP_ANSWERED : CM_HTTP_LATER;
    }
    put_etag(answer->page, answer->etag);
    if (what == A_CHUNK) {
        keep(files, path, answer);
    }
    return CM_HTTP_ANSWERED;
}

// The list -------------------------------------------------------------------------------------

typedef struct listed {
    char path[sizeof PLACE + ID_DIGITS + sizeof INDEX];
    time_t changed;
} listed;

// Keeps the newest ones, the newest first.
static uint32_t insert(listed *list, uint32_t count, const listed *one)
{
    uint32_t at = count;
    while (at > 0 && list[at - 1].changed < one->changed) {
        at--;
    }
    if (at == CM_STREAM_FILES_LISTED) {
        return count;
    }
    uint32_t left = count < CM_STREAM_FILES_LISTED ? count : CM_STREAM_FILES_LISTED - 1;
    memmove(list + at + 1, list + at, (left - at) * sizeof *list);
    list[at] = *one;
    return left + 1;
}

static uint32_t find_streams(const cm_stream_files *files, listed list[CM_STREAM_FILES_LISTED])
{
    char name[4096];
    const struct dirent *entry;
    struct stat about;
    uint32_t count = 0;
    int size = snprintf(name, sizeof name, "%s/" CM_STREAM_FOLDER, files->matches);
    DIR *dir = size > 0 && (size_t)size < sizeof name - 64 ? opendir(name) : NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        listed one;
        if (strlen(entry->d_name) != ID_DIGITS) {
            continue;
        }
        snprintf(one.path, sizeof one.path, PLACE "%.16s" INDEX, entry->d_name);
        snprintf(name + size, sizeof name - (size_t)size, "/%s", one.path + strlen(PLACE));
        if (kind_of(one.path) == AN_INDEX && stat(name, &about) == 0) {
            one.changed = about.st_mtime;
            count = insert(list, count, &one);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count;
}

static cm_page *make_list(const cm_stream_files *files)
{
    listed list[CM_STREAM_FILES_LISTED];
    uint32_t count = find_streams(files, list);
    cm_page *page = cm_page_create();
    const char *before = "[";
    for (uint32_t i = 0; page != NULL && i < count; i++) {
        cm_page *index = read_file(files, list[i].path); // NULL: it was pruned meanwhile
        if (index != NULL && index->size > 0) {
            cm_page_text(page, before);
            cm_page_bytes(page, index->text, index->size);
            before = ",\n";
        }
        cm_page_drop(index);
    }
    if (page != NULL) {
        cm_page_text(page, page->size == 0 ? "[]\n" : "]\n");
    }
    return page;
}

cm_http_found cm_stream_files_list(cm_stream_files *files, uint64_t now_us, cm_http_answer *answer)
{
    if (files->list == NULL || now_us - files->list_us >= CM_STREAM_FILES_FRESH_US) {
        cm_page *made = make_list(files);
        if (made == NULL || made->cut) {
            cm_page_drop(made);
            return CM_HTTP_LATER;
        }
        cm_page_drop(files->list);
        files->list = made;
        files->list_us = now_us;
    }
    answer->type = "application/json";
    answer->cache = A_MOMENT;
    put_etag(files->list, answer->etag);
    answer->page = cm_page_hold(files->list);
    return CM_HTTP_ANSWERED;
}
