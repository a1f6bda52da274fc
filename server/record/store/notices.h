// What a store has yet to tell the index of the catalogue. No match waits for the catalogue: it is
// asked after a batch's commits and never waited for; where another holds it, it is asked again
// with later batches, ever more rarely, and at the end, when nothing is recorded any more, with a
// wait. Of the thread that writes.
#ifndef CM_SERVER_RECORD_STORE_NOTICES_H
#define CM_SERVER_RECORD_STORE_NOTICES_H

#include "server/record/catalogue/match_index.h"

// Of a match; asked again after 1 batch, then 2, 4, … 256 more: a minute in all.
#define CM_NOTICE_TRIES 10u

typedef struct cm_notice cm_notice;

typedef struct cm_notices {
    const char *catalogue; // outlives them; NULL: nobody is told
    cm_notice *first;
} cm_notices;

// `wrong`: why the catalogue does not have it as it is, or "".
typedef void cm_notice_result(void *context, void *match, const char *wrong);

// That a match runs. `match` is only handed back.
void cm_notices_begun(cm_notices *notices, void *match, const cm_match_entry *entry);
// That its file, whose path outlives the notices, is whole; it is read back then. In place of what
// was not told yet of its beginning.
void cm_notices_ended(cm_notices *notices, void *match, const char *path);
// A batch was committed: tells what is due. With `wait` all of it, waiting once for whoever holds
// the catalogue; what fails then is given up.
void cm_notices_deliver(cm_notices *notices, bool wait, cm_notice_result *result, void *context);
void cm_notices_free(cm_notices *notices);

#endif
