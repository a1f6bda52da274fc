// SQLite's backup of one connection into another. Each step is synced by itself, so that the last
// one has little left to wait for and commits of other matches come in between; without a journal,
// since of a copy that is not whole nothing is kept.
#include "server/record/store/match_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/store/match_writer_inner.h"

struct cm_match_backup {
    sqlite3 *db; // the copy
    sqlite3_backup *copy;
    int descriptor; // of it, to sync
    char *path, *part;
};

static void say_errno(char *error, size_t size, const char *path)
{
    snprintf(error, size, "%.100s: %s", path, strerror(errno));
}

// SQLite's own message, or the system's if that is more precise, as for a full disk.
static void say_sqlite(const cm_match_backup *backup, char *error, size_t size)
{
    int number = sqlite3_system_errno(backup->db);
    snprintf(error, size, "%.100s: %s%s%s", backup->path, sqlite3_errmsg(backup->db),
             number != 0 ? ": " : "", number != 0 ? strerror(number) : "");
}

static bool open_copy(cm_match_backup *backup)
{
    // The writer's own pages come one after another, so a cache would only keep what has to go out.
    return sqlite3_open_v2(backup->part, &backup->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
           sqlite3_exec(backup->db,
                        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF;"
                        "PRAGMA synchronous=OFF; PRAGMA cache_size=16",
                        NULL, NULL, NULL) == SQLITE_OK;
}

static bool begin(cm_match_backup *backup, cm_match_writer *writer, char *error, size_t error_size)
{
    if (access(backup->path, F_OK) == 0) {
        snprintf(error, error_size, "%.100s: is there already", backup->path);
        return false;
    }
    // Never one that is there: another backup may be writing it.
    backup->descriptor = open(backup->part, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (backup->descriptor < 0) {
        say_errno(error, error_size, backup->part);
        return false;
    }
    if (!open_copy(backup)) {
        say_sqlite(backup, error, error_size);
        return false;
    }
    backup->copy = sqlite3_backup_init(backup->db, "main", writer->db, "main");
    if (backup->copy == NULL) {
        say_sqlite(backup, error, error_size);
    }
    return backup->copy != NULL;
}

cm_match_backup *cm_match_backup_begin(cm_match_writer *writer, const char *path, char *error,
                                       size_t error_size)
{
    size_t length = strlen(path);
    cm_match_backup *backup = calloc(1, sizeof *backup);
    if (backup == NULL || (backup->path = malloc(length + 1)) == NULL ||
        (backup->part = malloc(length + sizeof ".part")) == NULL) {
        free(backup != NULL ? backup->path : NULL);
        free(backup);
        snprintf(error, error_size, "no memory");
        return NULL;
    }
    backup->descriptor = -1;
    memcpy(backup->path, path, length + 1);
    snprintf(backup->part, length + sizeof ".part", "%s.part", path);
    if (!begin(backup, writer, error, error_size)) {
        cm_match_backup_end(backup);
        return NULL;
    }
    return backup;
}

static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = strndup(slash == NULL ? "." : path, length);
    int descriptor = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool synced = descriptor >= 0 && fsync(descriptor) == 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
    free(folder);
    return synced;
}

// Whole: one file without a log, on the disk, under its name.
static bool finish(cm_match_backup *backup, char *error, size_t error_size)
{
    int code = sqlite3_backup_finish(backup->copy);
    backup->copy = NULL;
    if (code != SQLITE_OK ||
        sqlite3_exec(backup->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK) {
        say_sqlite(backup, error, error_size);
        return false;
    }
    sqlite3_close(backup->db);
    backup->db = NULL;
    if (fsync(backup->descriptor) != 0 || link(backup->part, backup->path) != 0 ||
        unlink(backup->part) != 0 || !sync_folder(backup->path)) {
        say_errno(error, error_size, backup->path);
        return false;
    }
    close(backup->descriptor);
    backup->descriptor = -1;
    return true;
}

cm_match_backup_state cm_match_backup_step(cm_match_backup *backup, char *error, size_t error_size)
{
    int code = sqlite3_backup_step(backup->copy, CM_MATCH_BACKUP_PAGES);
    if (code == SQLITE_DONE) {
        return finish(backup, error, error_size) ? CM_MATCH_BACKUP_DONE : CM_MATCH_BACKUP_FAILED;
    }
    if (code != SQLITE_OK) {
        snprintf(error, error_size, "%.100s: %s", backup->path, sqlite3_errstr(code));
        return CM_MATCH_BACKUP_FAILED;
    }
    if (fdatasync(backup->descriptor) != 0) {
        say_errno(error, error_size, backup->part);
        return CM_MATCH_BACKUP_FAILED;
    }
    return CM_MATCH_BACKUP_GOES_ON;
}

void cm_match_backup_end(cm_match_backup *backup)
{
    if (backup == NULL) {
        return;
    }
    sqlite3_backup_finish(backup->copy);
    sqlite3_close(backup->db);
    if (backup->descriptor >= 0) { // made here, and not whole
        close(backup->descriptor);
        unlink(backup->part);
    }
    free(backup->path);
    free(backup->part);
    free(backup);
}
