// The notices that a store has not yet written to the catalogue's index. No match waits for the
// catalogue: it is tried after a batch's commits, without waiting for its lock. If another process
// holds that, it is tried again with later batches, ever more rarely, and once with a wait at the
// end, when recording has stopped. Used by the writing thread.
#ifndef CM_SERVER_RECORD_STORE_NOTICES_H
#define CM_SERVER_RECORD_STORE_NOTICES_H

#include "server/record/catalogue/match_index.h"

// Of a match; asked again after 1 batch, then 2, 4, … 256 more: a minute in all.
#define CM_NOTICE_TRIES 10u

typedef struct cm_notice cm_notice;

typedef struct cm_notices {
    const char *catalogue; // outlives them; NULL: no index
    cm_notice *first;
} cm_notices;

// `wrong`: why the catalogue's entry is not up to date, or "".
typedef void cm_notice_result(void *context, void *match, const char *wrong);

// Notes that a match runs. `match` is only passed back.
void cm_notices_begun(cm_notices *notices, void *match, const cm_match_entry *entry);
// Notes that its file is whole; the file, whose path must outlive the notices, is read back then.
// Replaces an undelivered notice of its beginning.
void cm_notices_ended(cm_notices *notices, void *match, const char *path);
// Called after a batch's commit: delivers the notices that are due. With `wait` all of them,
// waiting once for the catalogue's lock; a notice that fails then is given up.
void cm_notices_deliver(cm_notices *notices, bool wait, cm_notice_result *result, void *context);
void cm_notices_free(cm_notices *notices);

#endif
