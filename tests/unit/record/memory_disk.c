// Three files at most: the match, its log, its journal. See memory_disk.h.
#include "tests/unit/record/memory_disk.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES  4
#define SECTOR 512u

typedef struct blob {
    uint8_t *bytes;
    size_t size, capacity;
} blob;

typedef struct pending {
    struct pending *next;
    bool is_truncation;
    size_t offset, size;
    uint8_t bytes[];
} pending;

typedef struct disk_file {
    char name[256];
    bool exists, existed; // now, and when the fault struck
    blob now, durable, left;
    pending *first, *last;
} disk_file;

typedef struct open_file {
    sqlite3_file base;
    disk_file *file;
} open_file;

disk_counts disk_seen;

static disk_file files[FILES];
static cm_rng rng;
static disk_fault fault;
static uint64_t strike_at, operations;
static bool struck, dead, struck_journal;

static void resize(blob *at, size_t size)
{
    if (size > at->capacity) {
        at->capacity = size * 2 + 4096;
        at->bytes = realloc(at->bytes, at->capacity);
    }
    if (size > at->size) {
        memset(at->bytes + at->size, 0, size - at->size);
    }
    at->size = size;
}

static void copy_blob(blob *to, const blob *from)
{
    to->size = 0;
    resize(to, from->size);
    if (from->size > 0) {
        memcpy(to->bytes, from->bytes, from->size);
    }
}

static void put(blob *to, size_t offset, const uint8_t *bytes, size_t size)
{
    if (offset + size > to->size) {
        resize(to, offset + size);
    }
    memcpy(to->bytes + offset, bytes, size);
}

static void forget(disk_file *file)
{
    while (file->first != NULL) {
        pending *next = file->first->next;
        free(file->first);
        file->first = next;
    }
    file->last = NULL;
}

static void remember(disk_file *file, bool is_truncation, size_t offset, const uint8_t *bytes,
                     size_t size)
{
    size_t held = is_truncation ? 0 : size;
    pending *later = malloc(sizeof *later + held);
    *later = (pending){NULL, is_truncation, offset, size};
    if (held > 0) {
        memcpy(later->bytes, bytes, held);
    }
    *(file->first == NULL ? &file->first : &file->last->next) = later;
    file->last = later;
}

// The fault -----------------------------------------------------------------------------------

// Of each later write some sectors are there, in any order of time.
static void lose_power(disk_file *file)
{
    uint32_t odds = 1 + cm_rng_below(&rng, 4);
    copy_blob(&file->left, &file->durable);
    for (const pending *later = file->first; later != NULL; later = later->next) {
        if (later->is_truncation) {
            if (cm_rng_below(&rng, odds) == 0) {
                resize(&file->left, later->size);
            }
            continue;
        }
        bool some = false, all = true;
        for (size_t at = 0; at < later->size; at += SECTOR) {
            size_t size = later->size - at < SECTOR ? later->size - at : SECTOR;
            if (cm_rng_below(&rng, odds) == 0) {
                put(&file->left, later->offset + at, later->bytes + at, size);
                some = true;
            } else {
                all = false;
                disk_seen.torn_sectors++;
            }
        }
        disk_seen.lost_writes += !some && !all;
    }
}

static void strike(const disk_file *at)
{
    struck = true;
    struck_journal = strstr(at->name, "-journal") != NULL;
    dead = fault == DISK_KILL || fault == DISK_POWER || fault == DISK_LYING;
    for (int i = 0; dead && i < FILES; i++) {
        files[i].existed = files[i].exists;
        if (fault == DISK_KILL) {
            copy_blob(&files[i].left, &files[i].now);
        } else {
            lose_power(&files[i]);
        }
    }
}

// Counts an operation. True where the fault strikes at it.
static bool is_struck_now(void)
{
    if (struck || fault == DISK_WELL || operations++ < strike_at) {
        return false;
    }
    return true;
}

// Methods -------------------------------------------------------------------------------------

static disk_file *file_of(sqlite3_file *file)
{
    return ((open_file *)file)->file;
}

static int disk_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int disk_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    const blob *now = &file_of(file)->now;
    size_t at = (size_t)offset, wanted = (size_t)size;
    size_t there = at < now->size ? now->size - at : 0;
    there = there < wanted ? there : wanted;
    if (there > 0) {
        memcpy(bytes, now->bytes + at, there);
    }
    memset((uint8_t *)bytes + there, 0, wanted - there);
    return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int disk_write(sqlite3_file *handle, const void *bytes, int size, sqlite3_int64 offset)
{
    disk_file *file = file_of(handle);
    disk_seen.writes++;
    bool now = is_struck_now();
    size_t part = (size_t)size;
    if (dead) {
        return SQLITE_IOERR_WRITE;
    }
    if (now && fault == DISK_SYNC_FAIL) {
        now = false; // waits for a sync
    }
    if (now) {
        part = cm_rng_below(&rng, (uint32_t)size + 1); // torn in the middle
    }
    if (struck && fault == DISK_FULL && (size_t)offset + part > file->now.size) {
        return SQLITE_FULL;
    }
    put(&file->now, (size_t)offset, bytes, part);
    remember(file, false, (size_t)offset, bytes, part);
    if (now) {
        strike(file);
        return fault == DISK_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    return SQLITE_OK;
}

static int disk_truncate(sqlite3_file *handle, sqlite3_int64 size)
{
    disk_file *file = file_of(handle);
    disk_seen.truncations++;
    if (is_struck_now() && fault != DISK_SYNC_FAIL) {
        strike(file);
        return SQLITE_IOERR_TRUNCATE;
    }
    if (dead) {
        return SQLITE_IOERR_TRUNCATE;
    }
    resize(&file->now, (size_t)size);
    remember(file, true, 0, NULL, (size_t)size);
    return SQLITE_OK;
}

static int disk_sync(sqlite3_file *handle, int flags)
{
    (void)flags;
    disk_file *file = file_of(handle);
    disk_seen.syncs++;
    if (is_struck_now()) {
        strike(file);
        return SQLITE_IOERR_FSYNC;
    }
    if (dead) {
        return SQLITE_IOERR_FSYNC;
    }
    if (fault != DISK_LYING) {
        copy_blob(&file->durable, &file->now);
        forget(file);
    }
    return SQLITE_OK;
}

static int disk_size(sqlite3_file *handle, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)file_of(handle)->now.size;
    return SQLITE_OK;
}

static int disk_lock(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int disk_check(sqlite3_file *file, int *reserved)
{
    (void)file;
    *reserved = 0;
    return SQLITE_OK;
}

static int disk_control(sqlite3_file *file, int what, void *with)
{
    (void)file;
    (void)what;
    (void)with;
    return SQLITE_NOTFOUND;
}

static int disk_sector(sqlite3_file *file)
{
    (void)file;
    return (int)SECTOR;
}

static int disk_features(sqlite3_file *file)
{
    (void)file;
    return 0;
}

// Version 1 has no shared memory: the index of the log is on the heap, as in exclusive mode.
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_lock,
    .xCheckReservedLock = disk_check,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_features,
};

static disk_file *find(const char *name, bool make)
{
    for (int i = 0; i < FILES; i++) {
        if (strcmp(files[i].name, name) == 0) {
            return &files[i];
        }
    }
    for (int i = 0; make && i < FILES; i++) {
        if (files[i].name[0] == '\0') {
            snprintf(files[i].name, sizeof files[i].name, "%s", name);
            return &files[i];
        }
    }
    return NULL;
}

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *handle, int flags, int *out)
{
    (void)vfs;
    open_file *opened = (open_file *)handle;
    handle->pMethods = NULL;
    if (dead || name == NULL || (opened->file = find(name, true)) == NULL) {
        return SQLITE_CANTOPEN;
    }
    opened->file->exists = true;
    handle->pMethods = &methods;
    if (out != NULL) {
        *out = flags;
    }
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)sync;
    disk_file *file = find(name, false);
    if (dead) {
        return SQLITE_IOERR_DELETE;
    }
    if (file != NULL) {
        file->exists = false;
        file->now.size = file->durable.size = 0;
        forget(file);
    }
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)vfs;
    (void)flags;
    const disk_file *file = find(name, false);
    *result = file != NULL && file->exists && file->now.size > 0;
    return SQLITE_OK;
}

// Use -----------------------------------------------------------------------------------------

static sqlite3_vfs memory_vfs;

void disk_install(void)
{
    memory_vfs = *sqlite3_vfs_find(NULL);
    memory_vfs.szOsFile = sizeof(open_file);
    memory_vfs.zName = "memory disk";
    memory_vfs.pNext = NULL;
    memory_vfs.xOpen = disk_open;
    memory_vfs.xDelete = disk_delete;
    memory_vfs.xAccess = disk_access;
    sqlite3_vfs_register(&memory_vfs, 1);
}

void disk_uninstall(void)
{
    sqlite3_vfs_unregister(&memory_vfs);
}

void disk_begin(uint64_t seed, disk_fault which, uint64_t at)
{
    cm_rng_seed(&rng, seed);
    for (int i = 0; i < FILES; i++) {
        forget(&files[i]);
        files[i].name[0] = '\0';
        files[i].exists = files[i].existed = false;
        files[i].now.size = files[i].durable.size = files[i].left.size = 0;
    }
    fault = which;
    strike_at = at;
    operations = 0;
    struck = dead = struck_journal = false;
}

bool disk_has_struck(void)
{
    return struck;
}

bool disk_struck_journal(void)
{
    return struck_journal;
}

void disk_leave(const char *path)
{
    static const char *const beside[] = {"", "-wal", "-journal"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        const disk_file *file = find(name, false);
        bool there = file != NULL && (dead ? file->existed : file->exists);
        const blob *left = there ? (dead ? &file->left : &file->now) : NULL;
        if (left == NULL) {
            unlink(name);
            continue;
        }
        FILE *out = fopen(name, "wb");
        cr_assert_not_null(out);
        cr_assert(left->size == 0 || fwrite(left->bytes, 1, left->size, out) == left->size);
        fclose(out);
    }
}

void disk_end(void)
{
    for (int i = 0; i < FILES; i++) {
        forget(&files[i]);
        free(files[i].now.bytes);
        free(files[i].durable.bytes);
        free(files[i].left.bytes);
        memset(&files[i], 0, sizeof files[i]);
    }
}
