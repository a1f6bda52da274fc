// A room whose module failed is not trusted with others' players again, and one whose ticks take
// too much is not left beside them (tick_budget.h): it goes on apart, alone in a worker of its own,
// so that the other rooms of the one it took see one gap, and no more where it fails again until
// its scene is refused. That worker takes no other room and ends with its own. Typical: none, and
// one while somebody's module is at fault.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/supervisor/supervisor.h"
#include "shared/transport/socket_address.h"

// The port if nobody has it, 0: any; 0 where none could be taken.
static uint16_t try_port(cm_address at, uint16_t port)
{
    struct sockaddr_storage address;
    at.port = port;
    socklen_t size = cm_socket_address_write(&at, &address);
    int probe = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool taken = probe >= 0 && bind(probe, (struct sockaddr *)&address, size) == 0 &&
                 getsockname(probe, (struct sockaddr *)&address, &size) == 0 &&
                 cm_socket_address_read(&address, &at);
    if (probe >= 0) {
        close(probe);
    }
    return taken ? at.port : 0;
}

// Known before the worker starts, since players are sent there from the first moment: the next one
// as of any worker, or another where that is taken.
static uint16_t draw_port(const cm_server *s, uint32_t worker)
{
    cm_address listen;
    uint16_t drawn = 0;
    cm_config_address(s->base->config.listen, &listen);
    if (listen.port != 0 && listen.port + worker <= UINT16_MAX) {
        drawn = try_port(listen, (uint16_t)(listen.port + worker));
    }
    return drawn != 0 ? drawn : try_port(listen, 0);
}

static bool has_others(const cm_server *s, uint32_t worker, const char *room)
{
    bool others = false;
    for (uint32_t i = 0; i < s->directory.count; i++) {
        const cm_directory_entry *entry = &s->directory.list[i];
        others = others || (entry->worker == worker && strcmp(entry->room.name, room) != 0);
    }
    return others;
}

static uint32_t find_slot(const cm_server *s)
{
    uint32_t slot = s->count;
    while (slot < s->slots && s->workers[slot].isolated) {
        slot++;
    }
    return slot;
}

static void log_isolated(const cm_server *s, const char *room, uint32_t worker, const char *reason)
{
    cm_log_say(&s->base->log, CM_LOG_WARNING, "room isolated", CM_T("room", room),
               CM_U("worker", worker), CM_U("port", s->workers[worker].port),
               CM_T("reason", reason));
}

// False: no port can be had.
static bool assign_slot(cm_server *s, cm_directory_entry *entry, uint32_t slot)
{
    cm_worker_slot *own = &s->workers[slot];
    own->port = draw_port(s, slot);
    if (own->port == 0) {
        return false;
    }
    entry->worker = slot;
    entry->room.port = own->port;
    entry->is_open = false;
    own->isolated = true;
    return true;
}

static void give_back(cm_server *s, cm_directory_entry *entry, uint32_t worker)
{
    cm_worker_slot *own = &s->workers[entry->worker];
    own->isolated = false;
    own->port = 0;
    entry->worker = worker;
    entry->room.port = s->workers[worker].port;
    entry->is_open = s->workers[worker].ready;
}

void cm_isolation_start(cm_server *s, uint32_t worker, const char *room)
{
    cm_directory_entry *entry = cm_room_directory_find(&s->directory, room);
    uint32_t slot = find_slot(s);
    if (entry == NULL || entry->worker != worker || worker >= s->count || slot == s->slots ||
        !has_others(s, worker, room)) {
        return; // it is alone already, or no place is left: it goes on where it was
    }
    if (!assign_slot(s, entry, slot)) {
        return;
    }
    if (cm_supervisor_start(s->supervisor, slot)) {
        log_isolated(s, room, slot, "its module failed");
    } else {
        give_back(s, entry, worker);
    }
}

void cm_isolation_request(cm_server *s, uint32_t worker, const char *room)
{
    cm_directory_entry *entry = cm_room_directory_find(&s->directory, room);
    if (entry == NULL || entry->worker != worker || worker >= s->count || !s->ready ||
        s->draining || !has_others(s, worker, room)) {
        return; // it is alone already, or on its way
    }
    uint32_t slot = find_slot(s);
    bool goes = slot < s->slots && assign_slot(s, entry, slot);
    cm_worker_message message = {
        .type = goes ? CM_WORKER_RECEIVES_RELEASE : CM_WORKER_RECEIVES_SLOW, .room = entry->room};
    cm_supervisor_send(s->supervisor, worker, &message);
    if (goes) {
        s->workers[slot].from = worker + 1;
    }
}

// The place that a worker's room is on its way to; s->slots: there is none.
static uint32_t find_waiting(const cm_server *s, uint32_t worker, const char *room)
{
    uint32_t slot = s->count;
    for (; slot < s->slots; slot++) {
        const cm_directory_entry *entry =
            room != NULL ? cm_room_directory_find(&s->directory, room) : NULL;
        if (s->workers[slot].from == worker + 1 &&
            (room == NULL || (entry != NULL && entry->worker == slot))) {
            break;
        }
    }
    return slot;
}

void cm_isolation_released(cm_server *s, uint32_t worker, const char *room)
{
    uint32_t slot;
    while ((slot = find_waiting(s, worker, room)) < s->slots) {
        s->workers[slot].from = 0;
        for (uint32_t i = 0; i < s->directory.count; i++) {
            if (s->directory.list[i].worker == slot) {
                log_isolated(s, s->directory.list[i].room.name, slot,
                             "its ticks take more than their share");
            }
        }
        cm_supervisor_start_soon(s->supervisor, slot);
    }
}

void cm_isolation_refused(cm_server *s, uint32_t worker, const char *room)
{
    uint32_t slot = find_waiting(s, worker, room);
    if (slot < s->slots) {
        s->workers[slot].from = 0;
        give_back(s, cm_room_directory_find(&s->directory, room), worker);
    }
}

void cm_isolation_end(cm_server *s, uint32_t worker, uint64_t end_us)
{
    if (s->workers[worker].isolated && !has_others(s, worker, "")) {
        s->workers[worker].ends = true;
        s->workers[worker].end_us = end_us;
    }
}

void cm_isolation_turn(cm_server *s, uint64_t now)
{
    for (uint32_t i = s->count; i < s->slots && !s->draining; i++) {
        if (s->workers[i].end_us != 0 && now >= s->workers[i].end_us) {
            cm_worker_link_text(cm_supervisor_link(s->supervisor, i), CM_WORKER_RECEIVES_DRAIN, 0,
                                "its room is closed");
            s->workers[i].end_us = 0;
        }
    }
}
