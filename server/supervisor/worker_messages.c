// Messages of workers to the supervisor, and their ends: whose rooms are where, who used a token,
// whose module took a process.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "server/node/node.h"
#include "server/supervisor/supervisor.h"
#include "shared/game/game_host.h"

// Two workers may open a room of one name at the same moment, each by a token: one has to go.
static void close_double(cm_server *s, uint32_t worker, const char *name)
{
    cm_worker_message message = {.type =
                                     CM_WORKER_RECEIVES_ASK}; // of number 0: nobody waits for it
    cm_line line;
    cm_line_begin(&line);
    cm_line_put(&line, CM_T("command", "close"), CM_T("room", name));
    memcpy(message.ask.text, cm_line_end(&line), strlen(line.text) + 1);
    cm_supervisor_send(s->supervisor, worker, &message);
}

static void take_room(cm_server *s, uint32_t worker, const cm_room_info *note)
{
    cm_directory_entry entry = {.room = *note, .worker = worker};
    cm_directory_entry *there = cm_room_directory_find(&s->directory, note->name);
    if (there != NULL && there->worker != worker) {
        close_double(s, worker, note->name);
        return;
    }
    entry.room.is_default = there != NULL && there->room.is_default;
    entry.is_open = true;
    if (!cm_room_directory_put(&s->directory, &entry)) {
        return;
    }
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_ROOM, .room = entry.room};
    cm_server_send_all(s, worker, &message);
}

static void lose_room(cm_server *s, uint32_t worker, const cm_room_info *note, uint64_t end_us)
{
    const cm_directory_entry *entry = cm_room_directory_find(&s->directory, note->name);
    if (entry != NULL && entry->worker == worker) {
        cm_worker_message message = {.type = CM_WORKER_RECEIVES_GONE, .room = *note};
        cm_room_directory_remove(&s->directory, note->name);
        cm_http_pages_gone(s->http, worker, message.room.name);
        cm_server_send_all(s, worker, &message);
        cm_isolation_end(s, worker, end_us);
    }
}

void cm_server_send_ports(cm_server *s)
{
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_PORTS};
    for (uint32_t i = 0; i < s->slots; i++) {
        if (s->workers[i].port != 0) {
            message.ports.port[message.ports.count++] = s->workers[i].port;
        }
    }
    cm_server_send_all(s, CM_PLACEMENT_NONE, &message);
}

void cm_server_log_worker(const cm_server *s, uint32_t worker)
{
    cm_log_say(&s->base->log, CM_LOG_INFO, "worker", CM_U("worker", worker),
               CM_U("process", (uint64_t)cm_supervisor_process(s->supervisor, worker)),
               CM_U("port", s->workers[worker].port));
}

// It has its rooms: those that it could not go on with are no more, which their players come to
// hear while their slots would have been kept. Of the others it knows nothing.
static void take_ready(cm_server *s, uint32_t worker, uint16_t port)
{
    uint64_t end_us = cm_now_us() + (uint64_t)s->base->config.grace_ms * 1000;
    s->workers[worker].ready = true;
    s->workers[worker].port = port;
    for (uint32_t i = s->directory.count; i-- > 0;) {
        cm_worker_message message = {.type = CM_WORKER_RECEIVES_ROOM,
                                     .room = s->directory.list[i].room};
        if (s->directory.list[i].worker != worker) {
            if (s->directory.list[i].is_open) {
                cm_supervisor_send(s->supervisor, worker, &message);
            }
        } else if (!s->directory.list[i].is_open) {
            lose_room(s, worker, &message.room, end_us);
        }
    }
    if (s->ready) {
        const cm_worker_message start = {.type = CM_WORKER_RECEIVES_START};
        cm_server_send_ports(s);
        cm_supervisor_send(s->supervisor, worker, &start);
        cm_server_log_worker(s, worker);
    }
}

static void take_used(cm_server *s, uint32_t worker, const cm_used_token *token)
{
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_USED, .used = *token};
    (void)cm_used_tokens_add(&s->used, token, (uint64_t)time(NULL), false);
    if (s->base->gate_db != NULL) {
        cm_gate_db_keep_used(s->base->gate_db, token);
    }
    cm_server_send_all(s, worker, &message);
}

static void take_drawing(cm_server *s, uint32_t worker, bool first, const char *lines)
{
    cm_worker_drawing *drawing = &s->workers[worker].drawing;
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

static void apply_metrics(cm_server *s, uint32_t worker, const cm_worker_message *message)
{
    cm_room_metrics room; // the bytes of a message are not aligned for it
    cm_worker_metrics totals;
    uint32_t number = message->metrics.number;
    if (message->type == CM_WORKER_SENDS_METRICS) {
        memcpy(&room, message->metrics.bytes, sizeof room);
        cm_http_pages_room(s->http, worker, number, &room);
    } else {
        memcpy(&totals, message->metrics.bytes, sizeof totals);
        cm_http_pages_whole(s->http, worker, number, &totals);
    }
}

// Of several the first is the start's; the others are said at once.
static void take_failure(cm_server *s, bool is_usage, const char *text)
{
    if (s->failure.text[0] != '\0') {
        cm_status_screen_error(text);
        return;
    }
    s->result = cm_fail(&s->failure, is_usage ? CAROM_ERROR_ARGUMENT : CAROM_ERROR_IO, "%s", text);
}

void cm_server_on_message(void *user, uint32_t worker, const cm_worker_message *message)
{
    cm_server *s = user;
    switch (message->type) {
    case CM_WORKER_SENDS_ROOM:
        take_room(s, worker, &message->room);
        break;
    case CM_WORKER_SENDS_GONE:
        lose_room(s, worker, &message->room, cm_now_us());
        break;
    case CM_WORKER_SENDS_READY:
        take_ready(s, worker, message->port);
        break;
    case CM_WORKER_SENDS_FAILED:
        take_failure(s, message->line.level != 0, message->line.text);
        break;
    case CM_WORKER_SENDS_ERROR:
        cm_status_screen_error(message->line.text);
        break;
    case CM_WORKER_SENDS_LOAD:
        s->workers[worker].load.permille = message->load.permille;
        s->workers[worker].load.measured = s->workers[worker].load.rooms = message->load.rooms;
        break;
    case CM_WORKER_SENDS_LOG:
        cm_status_screen_log(&s->base->screen, (int)message->line.level, message->line.text);
        break;
    case CM_WORKER_SENDS_PRINT:
        if (s->ready) { // "listening on" comes first
            cm_status_screen_print(&s->base->screen, message->line.text);
            s->printed = true;
        }
        break;
    case CM_WORKER_SENDS_DRAW:
        take_drawing(s, worker, message->line.level != 0, message->line.text);
        break;
    case CM_WORKER_SENDS_USED:
        take_used(s, worker, &message->used);
        break;
    case CM_WORKER_SENDS_OVER:
        cm_isolation_request(s, worker, message->room.name);
        break;
    case CM_WORKER_SENDS_CUT: {
        cm_worker_message cut = {.type = CM_WORKER_RECEIVES_CUT, .match = message->match};
        s->cut[s->cut_count++ % CM_WORKER_CUT_MAX] = message->match.match_id;
        cm_server_send_all(s, CM_PLACEMENT_NONE, &cut);
        break;
    }
    case CM_WORKER_SENDS_RELEASED:
        cm_isolation_released(s, worker, message->room.name);
        break;
    case CM_WORKER_SENDS_KEPT:
        cm_isolation_refused(s, worker, message->room.name);
        break;
    case CM_WORKER_SENDS_ANSWER:
        cm_admin_questions_on_answer(s, worker, message->ask.number, message->ask.text);
        break;
    case CM_WORKER_SENDS_METRICS:
    case CM_WORKER_SENDS_TOTALS:
        apply_metrics(s, worker, message);
        break;
    default:
        break; // nothing of another build
    }
}

static void log_death(cm_server *s, uint32_t worker, int status)
{
    uint32_t rooms = 0;
    for (uint32_t i = 0; i < s->directory.count; i++) {
        rooms += s->directory.list[i].worker == worker;
    }
    cm_log_say(&s->base->log, CM_LOG_ERROR, "worker died", CM_U("worker", worker),
               CM_U("port", s->workers[worker].port),
               WIFSIGNALED(status) ? CM_T("signal", strsignal(WTERMSIG(status)))
                                   : CM_U("status", (uint64_t)WEXITSTATUS(status)),
               CM_U("rooms", rooms));
}

// The fault of a module's own code; what somebody else did to the process is none.
static bool is_fault(int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGABRT || number == SIGSYS || number == SIGXCPU;
}

// If it died within a module, that module's scene is blamed; at the third time it is refused.
static void blame(cm_server *s, uint32_t worker, int status)
{
    uint32_t callback;
    const cm_crash_marker_room *room =
        cm_crash_marker_called(s->workers[worker].crash_marker, &callback);
    if (room != NULL && is_fault(status)) {
        uint32_t faults = cm_quarantine_fault(&s->refused, room->scene);
        s->faults++;
        cm_log_say(&s->base->log, CM_LOG_ERROR, "module failed", CM_T("room", room->name),
                   CM_T("scene", room->scene),
                   CM_T("callback", cm_game_callback_name((cm_game_callback)callback)),
                   CM_U("times", faults), CM_B("refused", faults >= CM_QUARANTINE_FAULTS));
        if (faults == CM_QUARANTINE_FAULTS) {
            cm_worker_message message = {.type = CM_WORKER_RECEIVES_REFUSE};
            memcpy(message.room.scene, room->scene, sizeof message.room.scene);
            cm_server_send_all(s, worker, &message);
        }
        if (s->ready && !s->draining && faults < CM_QUARANTINE_FAULTS) {
            cm_isolation_start(s, worker, room->name);
        }
    }
    memset(s->workers[worker].crash_marker, 0,
           sizeof *s->workers[worker].crash_marker); // for the next process
}

// It is not started again; its place may be another room's where it was one room's alone.
static bool free_seat(cm_server *s, uint32_t worker)
{
    cm_worker_slot *slot = &s->workers[worker];
    slot->port = slot->ends ? 0 : slot->port;
    slot->isolated = slot->isolated && !slot->ends;
    slot->ends = false;
    slot->end_us = 0;
    return false;
}

bool cm_server_on_exit(void *user, uint32_t worker, int status)
{
    cm_server *s = user;
    bool clean = WIFEXITED(status) && s->workers[worker].ready &&
                 (s->draining || !s->ready || s->workers[worker].ends);
    bool ends = s->workers[worker].ends;
    cm_admin_questions_on_exit(s, worker);
    cm_http_pages_died(s->http, worker);
    s->workers[worker].ready = false;
    s->workers[worker].drawing.size = 0;
    if (clean) {
        s->result = WEXITSTATUS(status) != 0 ? CAROM_ERROR_IO : s->result;
        return free_seat(s, worker);
    }
    bool reported = WIFEXITED(status) && !s->ready; // it said why it could not start
    if (!reported) {
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
    cm_isolation_released(s, worker, NULL); // what it was to let go of it has no more
    for (uint32_t i = 0; i < s->directory.count; i++) {
        cm_directory_entry *entry = &s->directory.list[i];
        entry->is_open = entry->worker == worker ? false : entry->is_open;
    }
    s->workers[worker].restarts++;
    return true;
}
