// The bans of a whole server: each change goes to the list, to the disk and to every worker.
// Typical: a ban a day.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/supervisor/supervisor.h"
#include "server/node/admin_table.h"
#include "shared/wire/address.h"

static cm_bans *list_of(cm_server *s, bool by_address)
{
    return by_address ? &s->banned_addresses : &s->bans;
}

static void keep(cm_server *s, const cm_ban_term *term, bool banned)
{
    cm_worker_message message = {
        .type = CM_WORKER_RECEIVES_BAN,
        .ban = {.by_address = term->by_address, .banned = banned, .who = term->who}};
    if (banned) {
        memcpy(message.ban.reason, term->reason, sizeof message.ban.reason);
    }
    if (s->base->gate_db != NULL) {
        bool gone = cm_ban_terms_find(&s->terms, term->by_address, term->who) == NULL;
        cm_gate_db_keep_ban(s->base->gate_db, term->by_address, term->who, banned);
        cm_gate_db_keep_term(s->base->gate_db, term, gone);
    }
    cm_server_send_all(s, CM_PLACEMENT_NONE, &message);
}

const char *cm_server_ban(cm_server *s, const cm_ban_term *term)
{
    bool has_term = term->until_unix_s != 0 || term->reason[0] != '\0';
    if (!cm_bans_add(list_of(s, term->by_address), term->who) ||
        !cm_ban_lists_keep(&s->base->bans, term->by_address, term->who, true) ||
        (has_term && !cm_ban_terms_put(&s->terms, term))) {
        return "there are as many bans as are kept";
    }
    if (!has_term) {
        cm_ban_terms_remove(&s->terms, term->by_address, term->who);
    }
    keep(s, term, true);
    return NULL;
}

void cm_server_unban(cm_server *s, bool by_address, uint64_t who)
{
    const cm_ban_term none = {.by_address = by_address, .who = who};
    cm_ban_terms_remove(&s->terms, by_address, who);
    cm_bans_remove(list_of(s, by_address), who);
    (void)cm_ban_lists_keep(&s->base->bans, by_address, who, false);
    keep(s, &none, false);
}

static void write_who(bool by_address, uint64_t who, char text[CM_ADDRESS_TEXT_MAX])
{
    if (by_address) {
        cm_address_write_network(who, text);
    } else {
        snprintf(text, CM_ADDRESS_TEXT_MAX, "%" PRIu64, who);
    }
}

void cm_server_bans_turn(cm_server *s, uint64_t now_unix_s)
{
    const cm_ban_term *expired;
    if (now_unix_s == s->bans_unix_s) {
        return; // not again in the same second
    }
    s->bans_unix_s = now_unix_s;
    while ((expired = cm_ban_terms_expired(&s->terms, now_unix_s)) != NULL) {
        cm_ban_term term = *expired;
        char who[CM_ADDRESS_TEXT_MAX];
        write_who(term.by_address, term.who, who);
        cm_log_say(&s->base->log, CM_LOG_INFO, "ban expired", CM_T("who", who));
        if (cm_ban_lists_held(&s->base->bans, term.by_address, term.who) == NULL) {
            cm_server_unban(s, term.by_address, term.who);
        } else { // the file of bans still names it
            cm_ban_terms_remove(&s->terms, term.by_address, term.who);
            (void)cm_ban_lists_keep(&s->base->bans, term.by_address, term.who, false);
        }
    }
}

static void list_one(const cm_server *s, bool by_address, uint64_t who, cm_admin_reply *reply)
{
    char text[CM_ADDRESS_TEXT_MAX], until[CM_LOG_TIME_MAX] = "";
    const cm_ban_term *term = cm_ban_terms_find(&s->terms, by_address, who);
    write_who(by_address, who, text);
    if (term != NULL && term->until_unix_s != 0) {
        cm_log_time(1000 * term->until_unix_s, until);
    }
    cm_admin_say(reply, CM_T(by_address ? "address" : "client_id", text), CM_T("until", until),
                 CM_T("reason", term != NULL ? term->reason : ""),
                 CM_B("in_file", cm_ban_lists_held(&s->base->bans, by_address, who) != NULL));
}

void cm_server_bans_list(const cm_server *s, cm_admin_reply *reply)
{
    for (uint32_t i = 0; i < s->bans.count; i++) {
        list_one(s, false, s->bans.ids[i], reply);
    }
    for (uint32_t i = 0; i < s->banned_addresses.count; i++) {
        list_one(s, true, s->banned_addresses.ids[i], reply);
    }
}
