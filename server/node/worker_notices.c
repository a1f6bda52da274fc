// The operator's notices to the players of a worker: a reliable message each. Typical: a notice a
// day.
#include "server/node/worker_inner.h"

#define SECOND_US 1000000u

static void send_notice(const cm_worker *worker, const cm_client *client, const cm_control *notice)
{
    if (client != NULL && client->session.state == CM_SESSION_JOINED) {
        (void)cm_client_send(cm_host_transport(worker->host), client,
                             notice); // a lost one is not needed
    }
}

// To those of a roster who are there.
static void send_to_all(const cm_worker *worker, const cm_roster *roster, const cm_control *notice)
{
    for (uint32_t i = 0; roster != NULL && i < CAROM_PLAYERS_MAX; i++) {
        send_notice(worker, roster->members[i], notice);
    }
}

bool cm_worker_notify(cm_worker *worker, const char *name, uint32_t player, const char *text)
{
    const cm_control notice = {.type = CM_CONTROL_NOTICE, .text = text};
    cm_hosted_room *room = cm_worker_room_named(worker, name);
    bool all = player == CM_WORKER_EVERYBODY;
    if (room == NULL || (!all && player >= CAROM_PLAYERS_MAX)) {
        return false;
    }
    const cm_roster *roster = cm_hosted_room_roster(room);
    if (all) {
        send_to_all(worker, roster, &notice);
        send_to_all(worker, cm_hosted_room_gallery(room), &notice);
    } else {
        send_notice(worker, roster->members[player], &notice);
    }
    return all || roster->members[player] != NULL;
}

static void tell_ban(const cm_worker *worker, const cm_roster *roster, bool by_address,
                     uint64_t who, const cm_control *notice)
{
    for (uint32_t i = 0; roster != NULL && i < CAROM_PLAYERS_MAX; i++) {
        const cm_client *member = roster->members[i];
        if (member != NULL && (by_address ? member->network : member->session.client_id) == who) {
            send_notice(worker, member, notice);
        }
    }
}

void cm_worker_tell_ban(cm_worker *worker, bool by_address, uint64_t who, const char *reason)
{
    const cm_control notice = {
        .type = CM_CONTROL_NOTICE, .reason = CAROM_REASON_BANNED, .text = reason};
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_hosted_room *room = worker->rooms[i];
        tell_ban(worker, cm_hosted_room_roster(room), by_address, who, &notice);
        tell_ban(worker, cm_hosted_room_gallery(room), by_address, who, &notice);
    }
}

static void tell_end(const cm_worker *worker, const cm_roster *roster, const cm_control *notice)
{
    for (uint32_t i = 0; roster != NULL && i < CAROM_PLAYERS_MAX; i++) {
        cm_client *member = roster->members[i];
        if (cm_client_has_joined(member) && member->told_end_us != worker->end_us) {
            member->told_end_us = worker->end_us;
            send_notice(worker, member, notice);
        }
    }
}

void cm_worker_tell_end(cm_worker *worker)
{
    uint64_t left_us = worker->end_us > worker->now_us ? worker->end_us - worker->now_us : 0;
    const cm_control notice = {.type = CM_CONTROL_NOTICE,
                               .reason = CAROM_REASON_DRAINING,
                               .text = carom_reason_text(CAROM_REASON_DRAINING),
                               .seconds_left = (uint32_t)((left_us + SECOND_US / 2) / SECOND_US)};
    for (uint32_t i = 0; worker->end_us != 0 && i < worker->room_count; i++) {
        tell_end(worker, cm_hosted_room_roster(worker->rooms[i]), &notice);
        tell_end(worker, cm_hosted_room_gallery(worker->rooms[i]), &notice);
    }
}

void cm_worker_wind_down(cm_worker *worker, uint64_t end_us)
{
    worker->end_us = end_us;
    cm_worker_tell_end(worker);
}
