// The end of a server: at once; after a wait in which no room opens, and which ends early where
// nobody is left; or with its matches handed over to the next process.
#include "server/node/node.h"
#include "server/supervisor/supervisor.h"

#define SECOND_US 1000000u

void cm_server_drain(cm_server *s, const char *reason)
{
    s->draining = true;
    cm_notify_send(&s->base->notify, "STOPPING=1");
    for (uint32_t i = 0; i < s->slots; i++) {
        cm_worker_link_text(cm_supervisor_link(s->supervisor, i), CM_WORKER_RECEIVES_DRAIN,
                            s->hands_over, reason);
        if (!cm_supervisor_lives(s->supervisor, i) && (i < s->count || s->workers[i].isolated)) {
            cm_supervisor_kill(s->supervisor, i);                   // nor is it started again
            s->result = s->hands_over ? s->result : CAROM_ERROR_IO; // its matches have no end
        }
    }
}

static cm_worker_message end_of(const cm_server *s)
{
    return (cm_worker_message){.type = CM_WORKER_RECEIVES_END, .end = {.us = s->end_us}};
}

bool cm_server_drain_in(cm_server *s, uint32_t seconds)
{
    uint64_t now_us = cm_now_us(), end_us = now_us + (uint64_t)seconds * SECOND_US;
    if (s->end_us != 0 && s->end_us <= end_us) {
        return false;
    }
    s->busy_us = s->end_us == 0 ? now_us : s->busy_us;
    s->end_us = end_us;
    const cm_worker_message message = end_of(s);
    cm_server_send_all(s, CM_PLACEMENT_NONE, &message);
    return true;
}

uint32_t cm_server_drain_left_s(const cm_server *s)
{
    uint64_t now_us = cm_now_us();
    return s->end_us > now_us ? (uint32_t)((s->end_us - now_us + SECOND_US - 1) / SECOND_US) : 0;
}

void cm_server_drain_boot(const cm_server *s, cm_worker_link *link)
{
    const cm_worker_message message = end_of(s);
    if (s->end_us != 0) {
        cm_worker_link_send(link, &message);
    }
}

// As workers told last, each second. Who is cut off may come back for the grace time.
static bool is_deserted(cm_server *s, uint64_t now_us)
{
    uint32_t players = 0;
    for (uint32_t i = 0; i < s->directory.count; i++) {
        players += s->directory.list[i].room.players;
    }
    // A wait that began in this turn began after now_us.
    s->busy_us = players > 0 || s->busy_us > now_us ? now_us : s->busy_us;
    uint64_t grace_us = (uint64_t)s->base->config.grace_ms * 1000;
    uint64_t least_us = grace_us > 2 * SECOND_US ? grace_us : 2 * SECOND_US;
    return now_us >= s->busy_us + least_us; // the turn may have begun before it was asked
}

void cm_server_drain_turn(cm_server *s, uint64_t now_us)
{
    if (s->end_us != 0 && !s->draining && (now_us >= s->end_us || is_deserted(s, now_us))) {
        cm_server_drain(s, now_us >= s->end_us ? "the wait is over" : "nobody is left");
    }
}
