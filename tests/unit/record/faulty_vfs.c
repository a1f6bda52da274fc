// Wraps the default VFS: every method is its own but xWrite and xSync.
#include "tests/unit/record/faulty_vfs.h"

#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

faulty_disk faulty;

#define KINDS 8 // of files that the default VFS has: database, log, …

static sqlite3_vfs wrapper;
static struct kind {
    sqlite3_io_methods methods; // first: a file's methods are found to be a kind
    const sqlite3_io_methods *original;
} kinds[KINDS];

static const sqlite3_io_methods *original_of(sqlite3_file *file)
{
    return ((const struct kind *)file->pMethods)->original;
}

static int faulty_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    faulty.writes_after += faulty.failed > 0;
    if (faulty.fail_writes) {
        faulty.failed++;
        return SQLITE_FULL;
    }
    return original_of(file)->xWrite(file, bytes, size, offset);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
    faulty.syncs_after += faulty.failed > 0;
    while (faulty.hang != NULL && faulty.hang[0]) {
        faulty.hang[1] = true;
        usleep(1000);
    }
    if (faulty.fail_syncs) {
        faulty.failed++;
        return SQLITE_IOERR_FSYNC;
    }
    return original_of(file)->xSync(file, flags);
}

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *base = vfs->pAppData;
    int code = base->xOpen(base, name, file, flags, out);
    if (code == SQLITE_OK && file->pMethods != NULL) {
        int i = 0;
        while (kinds[i].original != NULL && kinds[i].original != file->pMethods) {
            i++; // far fewer than KINDS
        }
        kinds[i].original = file->pMethods;
        kinds[i].methods = *file->pMethods;
        kinds[i].methods.xWrite = faulty_write;
        kinds[i].methods.xSync = faulty_sync;
        file->pMethods = &kinds[i].methods;
    }
    return code;
}

void faulty_install(void)
{
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    memset(&faulty, 0, sizeof faulty);
    if (wrapper.pAppData != NULL) {
        return;
    }
    wrapper = *base;
    wrapper.zName = "faulty";
    wrapper.pNext = NULL;
    wrapper.pAppData = base;
    wrapper.xOpen = faulty_open;
    sqlite3_vfs_register(&wrapper, 1);
}
