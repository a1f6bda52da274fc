// A copy of a match file that is being written, taken by its one writer: some pages at a time
// between two commits, so that none waits long. Pages that a commit changes meanwhile are copied
// with it; the copy is as the match was after the last commit before it was whole.
//
// It is made as PATH.part and gets its name when it is whole and on the disk; a file that exists is
// never touched. The match does not notice a copy that fails. One thread: the writer's.
#ifndef CM_SERVER_RECORD_STORE_MATCH_BACKUP_H
#define CM_SERVER_RECORD_STORE_MATCH_BACKUP_H

#include "server/record/store/match_writer.h"

#define CM_MATCH_BACKUP_PAGES 64 // a step

typedef struct cm_match_backup cm_match_backup;

// NULL, and why in `error`.
cm_match_backup *cm_match_backup_begin(cm_match_writer *writer, const char *path, char *error,
                                       size_t error_size);

typedef enum cm_match_backup_state {
    CM_MATCH_BACKUP_GOES_ON,
    CM_MATCH_BACKUP_DONE,
    CM_MATCH_BACKUP_FAILED, // the reason is in `error`
} cm_match_backup_state;

// Not while the writer is within a transaction. After the last one only the end may follow.
cm_match_backup_state cm_match_backup_step(cm_match_backup *backup, char *error, size_t error_size);
// Before the writer is closed. Of one that is not done nothing stays. NULL is allowed.
void cm_match_backup_end(cm_match_backup *backup);

#endif
