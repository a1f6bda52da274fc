// A list in the order in which matches began or ended; as good as always empty.
#include "server/record/store/notices.h"

#include <stdio.h>
#include <stdlib.h>

struct cm_notice {
    cm_notice *next;
    void *match;
    const char *path; // to be read back; NULL: the entry stands
    cm_match_entry entry;
    uint32_t tries, rest; // batches until it is due
};

// The match's own, or a new one at the end. NULL without memory: the notice is dropped.
static cm_notice *notice_of(cm_notices *notices, void *match)
{
    cm_notice **at = &notices->first;
    while (*at != NULL && (*at)->match != match) {
        at = &(*at)->next;
    }
    if (*at == NULL && notices->catalogue != NULL && (*at = calloc(1, sizeof **at)) != NULL) {
        (*at)->match = match;
    }
    return *at;
}

void cm_notices_begun(cm_notices *notices, void *match, const cm_match_entry *entry)
{
    cm_notice *notice = notice_of(notices, match);
    if (notice != NULL) {
        notice->entry = *entry;
    }
}

void cm_notices_ended(cm_notices *notices, void *match, const char *path)
{
    cm_notice *notice = notice_of(notices, match);
    if (notice != NULL) {
        notice->path = path;
        notice->tries = notice->rest = 0;
    }
}

// True where the index has it; else why not, in `wrong`, and whether that will stay so.
static bool deliver(const char *catalogue, cm_notice *notice, bool wait, char *wrong, size_t size,
                    bool *stays)
{
    cm_match_error unread;
    cm_scene_error error;
    wrong[0] = '\0';
    if (notice->path != NULL &&
        cm_match_entry_read(&notice->entry, notice->path, &unread) != CAROM_OK) {
        snprintf(wrong, size, "%.150s", unread.message);
        *stays = true;
        return false;
    }
    notice->path = NULL;
    carom_result result = wait ? cm_match_index_put(catalogue, &notice->entry, &error)
                               : cm_match_index_try(catalogue, &notice->entry, &error);
    if (result != CAROM_OK) {
        snprintf(wrong, size, "%.60s: %.96s", catalogue, error.message);
    }
    *stays = wait || ++notice->tries >= CM_NOTICE_TRIES;
    notice->rest = 1u << notice->tries >> 1;
    return result == CAROM_OK;
}

void cm_notices_deliver(cm_notices *notices, bool wait, cm_notice_result *result, void *context)
{
    bool waits = wait;
    for (cm_notice **at = &notices->first; *at != NULL;) {
        cm_notice *notice = *at;
        bool stays = wait;
        char wrong[160];
        if (!wait && notice->rest > 0 && --notice->rest > 0) {
            at = &notice->next;
            continue;
        }
        bool delivered = deliver(notices->catalogue, notice, waits, wrong, sizeof wrong, &stays);
        waits = waits && delivered; // who held it for so long holds it against the others too
        result(context, notice->match, wrong);
        if (delivered || stays || wait) {
            *at = notice->next;
            free(notice);
        } else {
            at = &notice->next;
        }
    }
}

void cm_notices_free(cm_notices *notices)
{
    while (notices->first != NULL) {
        cm_notice *next = notices->first->next;
        free(notices->first);
        notices->first = next;
    }
}
