// Differences of sorted lists: some dozens, on SIGHUP.
#include "server/auth/ban_lists.h"

#include <stdio.h>

carom_result cm_ban_lists_open(cm_ban_lists *bans, const cm_config *config, cm_failure *failure)
{
    char error[512];
    if (config->bans[0] != '\0' &&
        !cm_ban_file_read(config->bans, &bans->listed, error, sizeof error)) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "serve: bans: %s", error);
    }
    return CAROM_OK;
}

void cm_ban_lists_close(cm_ban_lists *bans)
{
    cm_ban_list_free(&bans->kept);
    cm_ban_list_free(&bans->listed);
}

bool cm_ban_lists_keep(cm_ban_lists *bans, bool by_address, uint64_t who, bool banned)
{
    if (!banned) {
        cm_bans_remove(&bans->kept.of[by_address], who);
    }
    return !banned || cm_bans_add(&bans->kept.of[by_address], who);
}

// Those of `from` that are in neither of two other lists; returns how many.
static uint32_t tell_others(const cm_ban_list *from, const cm_ban_list *but,
                            const cm_ban_list *kept, bool banned, cm_ban_lists_on_change *tell,
                            void *user, bool *whole)
{
    uint32_t count = 0;
    for (int by = 0; by < 2; by++) {
        for (uint32_t i = 0; i < from->of[by].count; i++) {
            uint64_t who = from->of[by].ids[i];
            if (!cm_bans_have(&but->of[by], who) && !cm_bans_have(&kept->of[by], who)) {
                *whole = tell(user, by == 1, who, banned) && *whole;
                count++;
            }
        }
    }
    return count;
}

bool cm_ban_lists_each(const cm_ban_lists *bans, cm_ban_lists_on_change *tell, void *user)
{
    const cm_ban_list none = {0};
    bool whole = true;
    tell_others(&bans->listed, &none, &none, true, tell, user, &whole);
    return whole;
}

void cm_ban_lists_reload(cm_ban_lists *bans, const cm_config *config, const cm_log *log,
                         cm_ban_lists_on_change *tell, void *user)
{
    cm_ban_list fresh;
    cm_line line;
    char error[512] = "more than are kept";
    if (config->bans[0] == '\0') {
        return;
    }
    bool good = cm_ban_file_read(config->bans, &fresh, error, sizeof error);
    uint32_t banned = 0, lifted = 0;
    if (good) {
        cm_ban_list before = bans->listed;
        bans->listed = fresh;
        lifted = tell_others(&before, &fresh, &bans->kept, false, tell, user, &good);
        banned = tell_others(&fresh, &before, &bans->kept, true, tell, user, &good);
        cm_ban_list_free(&before);
    }
    cm_log_level level = good ? CM_LOG_INFO : CM_LOG_ERROR;
    cm_line_log(&line, level, good ? "bans read again" : "bans not read again");
    if (good) {
        cm_line_put(&line, CM_U("banned", banned), CM_U("lifted", lifted));
    } else {
        cm_line_text(&line, "error", error);
    }
    cm_log_write(log, level, &line);
}

const char *cm_ban_lists_held(const cm_ban_lists *bans, bool by_address, uint64_t who)
{
    return cm_bans_have(&bans->listed.of[by_address], who)
               ? "the file of bans names it: take it out there, and send SIGHUP"
               : NULL;
}
