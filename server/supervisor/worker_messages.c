// What workers say to the supervisor, and how they end: whose rooms are where, who used a token,
// whose module took a process.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "server/supervisor/supervisor.h"
#include "shared/game/game_host.h"

// Two workers may open a room of one name at the same moment, each by a token: one has to go.
static void close_double(cm_serve_server *s, uint32_t worker, const char *name)
{
    cm_worker_message message = {.type = CM_WORKER_TOLD_ASK}; // of number 0: nobody waits for it
    cm_line line;
    cm_line_begin(&line);
    cm_line_text(&line, "command", "close");
    cm_line_text(&line, "room", name);
    memcpy(message.ask.text, cm_line_end(&line), strlen(line.text) + 1);
    cm_supervisor_tell(s->supervisor, worker, &message);
}

static void take_room(cm_serve_server *s, uint32_t worker, const cm_room_info *note)
{
    cm_home home = {.room = *note, .worker = worker};
    cm_home *there = cm_homes_find(&s->homes, note->name);
    if (there != NULL && there->worker != worker) {
        close_double(s, worker, note->name);
        return;
    }
    home.room.is_default = there != NULL && there->room.is_default;
    home.is_open = true;
    if (!cm_homes_put(&s->homes, &home)) {
        return;
    }
    cm_worker_message message = {.type = CM_WORKER_TOLD_ROOM, .room = home.room};
    cm_serve_tell_all(s, worker, &message);
}

static void lose_room(cm_serve_server *s, uint32_t worker, const cm_room_info *note)
{
    const cm_home *home = cm_homes_find(&s->homes, note->name);
    if (home != NULL && home->worker == worker) {
        cm_worker_message message = {.type = CM_WORKER_TOLD_GONE, .room = *note};
        cm_homes_remove(&s->homes, note->name);
        cm_serve_http_gone(s->http, worker, message.room.name);
        cm_serve_tell_all(s, worker, &message);
        cm_serve_end_apart(s, worker);
    }
}

void cm_serve_tell_ports(cm_serve_server *s)
{
    cm_worker_message message = {.type = CM_WORKER_TOLD_PORTS};
    for (uint32_t i = 0; i < s->seats; i++) {
        if (s->workers[i].port != 0) {
            message.ports.port[message.ports.count++] = s->workers[i].port;
        }
    }
    cm_serve_tell_all(s, CM_PLACEMENT_NONE, &message);
}

void cm_serve_log_worker(const cm_serve_server *s, uint32_t worker)
{
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "worker");
    cm_line_uint(&line, "worker", worker);
    cm_line_uint(&line, "process", (uint64_t)cm_supervisor_process(s->supervisor, worker));
    cm_line_uint(&line, "port", s->workers[worker].port);
    cm_log_write(&s->base->log, CM_LOG_INFO, &line);
}

// It has its rooms: those that it could not go on with are no more. Of the others it knows nothing.
static void take_ready(cm_serve_server *s, uint32_t worker, uint16_t port)
{
    s->workers[worker].ready = true;
    s->workers[worker].port = port;
    for (uint32_t i = s->homes.count; i-- > 0;) {
        cm_worker_message message = {.type = CM_WORKER_TOLD_ROOM, .room = s->homes.list[i].room};
        if (s->homes.list[i].worker != worker) {
            if (s->homes.list[i].is_open) {
                cm_supervisor_tell(s->supervisor, worker, &message);
            }
        } else if (!s->homes.list[i].is_open) {
            lose_room(s, worker, &message.room);
        }
    }
    if (s->ready) {
        const cm_worker_message start = {.type = CM_WORKER_TOLD_START};
        cm_serve_tell_ports(s);
        cm_supervisor_tell(s->supervisor, worker, &start);
        cm_serve_log_worker(s, worker);
    }
}

static void take_used(cm_serve_server *s, uint32_t worker, const cm_used_token *token)
{
    cm_worker_message message = {.type = CM_WORKER_TOLD_USED, .used = *token};
    (void)cm_used_tokens_add(&s->used, token, (uint64_t)time(NULL), false);
    if (s->base->door != NULL) {
        cm_serve_keep_used(s->base->door, token);
    }
    cm_serve_tell_all(s, worker, &message);
}

static void take_drawing(cm_serve_server *s, uint32_t worker, bool first, const char *lines)
{
    cm_serve_drawing *drawing = &s->workers[worker].drawing;
    size_t length = strlen(lines);
    drawing->size = first ? 0 : drawing->size;
    if (drawing->size + length + 1 > drawing->capacity) {
        size_t capacity = 2 * (drawing->size + length + 1);
        char *grown = realloc(drawing->text, capacity);
        if (grown == NULL) {
            return;
        }
        drawing->text = grown;
        drawing->capacity = capacity;
    }
    memcpy(drawing->text + drawing->size, lines, length + 1);
    drawing->size += length;
}

static void take_figures(cm_serve_server *s, uint32_t worker, const cm_worker_message *message)
{
    cm_room_figures room; // the bytes of a message are not aligned for it
    cm_worker_figures totals;
    uint32_t number = message->figures.number;
    if (message->type == CM_WORKER_SAYS_FIGURES) {
        memcpy(&room, message->figures.bytes, sizeof room);
        cm_serve_http_room(s->http, worker, number, &room);
    } else {
        memcpy(&totals, message->figures.bytes, sizeof totals);
        cm_serve_http_whole(s->http, worker, number, &totals);
    }
}

// Of several the first is the start's; the others are said at once.
static void take_failure(cm_serve_server *s, bool is_usage, const char *text)
{
    if (s->failure.text[0] != '\0') {
        cm_serve_screen_error(text);
        return;
    }
    s->result = cm_fail(&s->failure, is_usage ? CAROM_ERROR_ARGUMENT : CAROM_ERROR_IO, "%s", text);
}

void cm_serve_said(void *user, uint32_t worker, const cm_worker_message *message)
{
    cm_serve_server *s = user;
    switch (message->type) {
    case CM_WORKER_SAYS_ROOM:
        take_room(s, worker, &message->room);
        break;
    case CM_WORKER_SAYS_GONE:
        lose_room(s, worker, &message->room);
        break;
    case CM_WORKER_SAYS_READY:
        take_ready(s, worker, message->port);
        break;
    case CM_WORKER_SAYS_FAILED:
        take_failure(s, message->line.level != 0, message->line.text);
        break;
    case CM_WORKER_SAYS_ERROR:
        cm_serve_screen_error(message->line.text);
        break;
    case CM_WORKER_SAYS_LOAD:
        s->workers[worker].load.permille = message->load.permille;
        s->workers[worker].load.measured = s->workers[worker].load.rooms = message->load.rooms;
        break;
    case CM_WORKER_SAYS_LOG:
        cm_serve_screen_log(&s->base->screen, (int)message->line.level, message->line.text);
        break;
    case CM_WORKER_SAYS_PRINT:
        if (s->ready) { // "listening on" comes first
            cm_serve_screen_print(&s->base->screen, message->line.text);
            s->printed = true;
        }
        break;
    case CM_WORKER_SAYS_DRAW:
        take_drawing(s, worker, message->line.level != 0, message->line.text);
        break;
    case CM_WORKER_SAYS_USED:
        take_used(s, worker, &message->used);
        break;
    case CM_WORKER_SAYS_OVER:
        cm_serve_move_apart(s, worker, message->room.name);
        break;
    case CM_WORKER_SAYS_RELEASED:
        cm_serve_start_apart(s, worker, message->room.name);
        break;
    case CM_WORKER_SAYS_KEPT:
        cm_serve_keep_apart(s, worker, message->room.name);
        break;
    case CM_WORKER_SAYS_ANSWER:
        cm_serve_ask_answered(s, worker, message->ask.number, message->ask.text);
        break;
    case CM_WORKER_SAYS_FIGURES:
    case CM_WORKER_SAYS_TOTALS:
        take_figures(s, worker, message);
        break;
    default:
        break; // nothing of another build
    }
}

static void log_death(cm_serve_server *s, uint32_t worker, int status)
{
    cm_line line;
    uint32_t rooms = 0;
    for (uint32_t i = 0; i < s->homes.count; i++) {
        rooms += s->homes.list[i].worker == worker;
    }
    cm_line_log(&line, CM_LOG_ERROR, "worker died");
    cm_line_uint(&line, "worker", worker);
    cm_line_uint(&line, "port", s->workers[worker].port);
    if (WIFSIGNALED(status)) {
        cm_line_text(&line, "signal", strsignal(WTERMSIG(status)));
    } else {
        cm_line_uint(&line, "status", (uint64_t)WEXITSTATUS(status));
    }
    cm_line_uint(&line, "rooms", rooms);
    cm_log_write(&s->base->log, CM_LOG_ERROR, &line);
}

// The fault of a module's own code; what somebody else did to the process is none.
static bool is_fault(int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGABRT || number == SIGSYS || number == SIGXCPU;
}

// Where it was within a module, that module's scene is blamed; at the third time it is refused.
static void blame(cm_serve_server *s, uint32_t worker, int status)
{
    uint32_t callback;
    const cm_vitals_room *room = cm_vitals_called(s->workers[worker].vitals, &callback);
    if (room != NULL && is_fault(status)) {
        cm_line line;
        uint32_t faults = cm_quarantine_fault(&s->refused, room->scene);
        s->faults++;
        cm_line_log(&line, CM_LOG_ERROR, "module failed");
        cm_line_text(&line, "room", room->name);
        cm_line_text(&line, "scene", room->scene);
        cm_line_text(&line, "callback", cm_game_callback_name((cm_game_callback)callback));
        cm_line_uint(&line, "times", faults);
        cm_line_bool(&line, "refused", faults >= CM_QUARANTINE_FAULTS);
        cm_log_write(&s->base->log, CM_LOG_ERROR, &line);
        if (faults == CM_QUARANTINE_FAULTS) {
            cm_worker_message message = {.type = CM_WORKER_TOLD_REFUSE};
            memcpy(message.room.scene, room->scene, sizeof message.room.scene);
            cm_serve_tell_all(s, worker, &message);
        }
        if (s->ready && !s->draining && faults < CM_QUARANTINE_FAULTS) {
            cm_serve_set_apart(s, worker, room->name);
        }
    }
    memset(s->workers[worker].vitals, 0, sizeof *s->workers[worker].vitals); // for the next process
}

// It is not started again; its place may be another room's where it was one room's alone.
static bool free_seat(cm_serve_server *s, uint32_t worker)
{
    cm_serve_seat *seat = &s->workers[worker];
    seat->port = seat->ends ? 0 : seat->port;
    seat->apart = seat->apart && !seat->ends;
    seat->ends = false;
    return false;
}

bool cm_serve_ended(void *user, uint32_t worker, int status)
{
    cm_serve_server *s = user;
    bool clean = WIFEXITED(status) && s->workers[worker].ready &&
                 (s->draining || !s->ready || s->workers[worker].ends);
    bool ends = s->workers[worker].ends;
    cm_serve_ask_died(s, worker);
    cm_serve_http_died(s->http, worker);
    s->workers[worker].ready = false;
    s->workers[worker].drawing.size = 0;
    if (clean) {
        s->result = WEXITSTATUS(status) != 0 ? CAROM_ERROR_IO : s->result;
        return free_seat(s, worker);
    }
    bool told = WIFEXITED(status) && !s->ready; // it said why it could not start
    if (!told) {
        log_death(s, worker, status);
        blame(s, worker, status);
    }
    if (!s->ready || s->draining) {
        s->result = s->result == CAROM_OK ? CAROM_ERROR_IO : s->result;
        return false;
    }
    if (ends) {
        return free_seat(s, worker);
    }
    cm_serve_start_apart(s, worker, NULL); // what it was to let go of it has no more
    for (uint32_t i = 0; i < s->homes.count; i++) {
        cm_home *home = &s->homes.list[i];
        home->is_open = home->worker == worker ? false : home->is_open;
    }
    s->workers[worker].restarts++;
    return true;
}
