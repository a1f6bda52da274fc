// A room whose module failed is not trusted with others' players again, and one whose ticks take
// too much is not left beside them (tick_budget.h): it goes on apart, alone in a worker of its own,
// so that the other rooms of the one it took see one gap, and no more where it fails again until
// its scene is refused. That worker takes no other room and ends with its own. Typical: none, and
// one while somebody's module is at fault.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/supervisor/supervisor.h"

// The port if nobody has it, 0: any; 0 where none could be taken.
static uint16_t try_port(uint32_t host, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = host};
    socklen_t size = sizeof address;
    int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool taken = probe >= 0 && bind(probe, (struct sockaddr *)&address, sizeof address) == 0 &&
                 getsockname(probe, (struct sockaddr *)&address, &size) == 0;
    if (probe >= 0) {
        close(probe);
    }
    return taken ? ntohs(address.sin_port) : 0;
}

// Known before the worker starts, since players are sent there from the first moment: the next one
// as of any worker, or another where that is taken.
static uint16_t draw_port(const cm_serve_server *s, uint32_t worker)
{
    uint32_t host;
    uint16_t first, drawn = 0;
    cm_config_address(s->base->config.listen, &host, &first);
    if (first != 0 && first + worker <= UINT16_MAX) {
        drawn = try_port(host, (uint16_t)(first + worker));
    }
    return drawn != 0 ? drawn : try_port(host, 0);
}

static bool has_others(const cm_serve_server *s, uint32_t worker, const char *room)
{
    bool others = false;
    for (uint32_t i = 0; i < s->homes.count; i++) {
        const cm_home *home = &s->homes.list[i];
        others = others || (home->worker == worker && strcmp(home->room.name, room) != 0);
    }
    return others;
}

static uint32_t find_seat(const cm_serve_server *s)
{
    uint32_t seat = s->count;
    while (seat < s->seats && s->workers[seat].apart) {
        seat++;
    }
    return seat;
}

static void log_apart(const cm_serve_server *s, const char *room, uint32_t worker,
                      const char *reason)
{
    cm_line line;
    cm_line_log(&line, CM_LOG_WARNING, "room apart");
    cm_line_text(&line, "room", room);
    cm_line_uint(&line, "worker", worker);
    cm_line_uint(&line, "port", s->workers[worker].port);
    cm_line_text(&line, "reason", reason);
    cm_log_write(&s->base->log, CM_LOG_WARNING, &line);
}

// False: no port can be had.
static bool take_seat(cm_serve_server *s, cm_home *home, uint32_t seat)
{
    cm_serve_seat *own = &s->workers[seat];
    own->port = draw_port(s, seat);
    if (own->port == 0) {
        return false;
    }
    home->worker = seat;
    home->room.port = own->port;
    home->is_open = false;
    own->apart = true;
    return true;
}

static void give_back(cm_serve_server *s, cm_home *home, uint32_t worker)
{
    cm_serve_seat *own = &s->workers[home->worker];
    own->apart = false;
    own->port = 0;
    home->worker = worker;
    home->room.port = s->workers[worker].port;
    home->is_open = s->workers[worker].ready;
}

void cm_serve_set_apart(cm_serve_server *s, uint32_t worker, const char *room)
{
    cm_home *home = cm_homes_find(&s->homes, room);
    uint32_t seat = find_seat(s);
    if (home == NULL || home->worker != worker || worker >= s->count || seat == s->seats ||
        !has_others(s, worker, room)) {
        return; // it is alone already, or no place is left: it goes on where it was
    }
    if (!take_seat(s, home, seat)) {
        return;
    }
    if (cm_supervisor_start(s->supervisor, seat)) {
        log_apart(s, room, seat, "its module failed");
    } else {
        give_back(s, home, worker);
    }
}

void cm_serve_move_apart(cm_serve_server *s, uint32_t worker, const char *room)
{
    cm_home *home = cm_homes_find(&s->homes, room);
    if (home == NULL || home->worker != worker || worker >= s->count || !s->ready || s->draining ||
        !has_others(s, worker, room)) {
        return; // it is alone already, or on its way
    }
    uint32_t seat = find_seat(s);
    bool goes = seat < s->seats && take_seat(s, home, seat);
    cm_worker_message message = {.type = goes ? CM_WORKER_TOLD_RELEASE : CM_WORKER_TOLD_SLOW,
                                 .room = home->room};
    cm_supervisor_tell(s->supervisor, worker, &message);
    if (goes) {
        s->workers[seat].from = worker + 1;
    }
}

// The place that a worker's room is on its way to; s->seats: there is none.
static uint32_t find_waiting(const cm_serve_server *s, uint32_t worker, const char *room)
{
    uint32_t seat = s->count;
    for (; seat < s->seats; seat++) {
        const cm_home *home = room != NULL ? cm_homes_find(&s->homes, room) : NULL;
        if (s->workers[seat].from == worker + 1 &&
            (room == NULL || (home != NULL && home->worker == seat))) {
            break;
        }
    }
    return seat;
}

void cm_serve_start_apart(cm_serve_server *s, uint32_t worker, const char *room)
{
    uint32_t seat;
    while ((seat = find_waiting(s, worker, room)) < s->seats) {
        s->workers[seat].from = 0;
        for (uint32_t i = 0; i < s->homes.count; i++) {
            if (s->homes.list[i].worker == seat) {
                log_apart(s, s->homes.list[i].room.name, seat,
                          "its ticks take more than their share");
            }
        }
        cm_supervisor_start_soon(s->supervisor, seat);
    }
}

void cm_serve_keep_apart(cm_serve_server *s, uint32_t worker, const char *room)
{
    uint32_t seat = find_waiting(s, worker, room);
    if (seat < s->seats) {
        s->workers[seat].from = 0;
        give_back(s, cm_homes_find(&s->homes, room), worker);
    }
}

void cm_serve_end_apart(cm_serve_server *s, uint32_t worker)
{
    if (s->workers[worker].apart && !has_others(s, worker, "")) {
        cm_worker_link_text(cm_supervisor_link(s->supervisor, worker), CM_WORKER_TOLD_DRAIN, 0,
                            "its room is closed");
        s->workers[worker].ends = true;
    }
}
