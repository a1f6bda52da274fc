// A server of worker processes, and this one over them: it places rooms, keeps used tokens and
// bans, has the admin socket, the signals and the screen, and starts a worker that died again with
// the matches that it had. Without worker processes a node of this one has all rooms.
//
// Typical: 7 workers of 20 rooms; two messages a second from each.
#include "server/supervisor/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/node/bootstrap.h"
#include "server/supervisor/handover.h"
#include "server/supervisor/run.h"
#include "server/supervisor/signals.h"
#include "server/node/node_control.h"

#define WAIT_US 100000u

// Placement of rooms --------------------------------------------------------------------------

void cm_server_send_all(cm_server *s, uint32_t but, const cm_worker_message *message)
{
    for (uint32_t i = 0; i < s->slots; i++) {
        if (i != but && cm_supervisor_lives(s->supervisor, i)) {
            cm_supervisor_send(s->supervisor, i, message);
        }
    }
}

uint32_t cm_server_place(cm_server *s)
{
    cm_worker_load loads[CM_WORKERS_MAX];
    for (uint32_t i = 0; i < s->count; i++) {
        loads[i] = s->workers[i].load;
        loads[i].closed = s->ready && !s->workers[i].ready;
        // Rooms of the start are all there at once: nothing is refused for what they might need.
        loads[i].measured = s->ready ? loads[i].measured : loads[i].rooms;
        loads[i].rooms_max = CM_WORKER_ROOMS_MAX;
    }
    uint32_t chosen = cm_placement_choose(loads, s->count);
    if (chosen != CM_PLACEMENT_NONE) {
        s->workers[chosen].load.rooms++; // until it says how many it has
    }
    return chosen;
}

static carom_result place(cm_server *s, const char *name, uint64_t match_id, const char *scene,
                          cm_failure *failure)
{
    cm_directory_entry *there = cm_room_directory_find(&s->directory, name);
    if (there != NULL) {
        return CAROM_OK; // a room that goes on with a match, or an older match of a room
    }
    cm_directory_entry entry = {.room = {.match_id = match_id, .first_id = match_id}};
    entry.worker = cm_server_place(s);
    if (entry.worker == CM_PLACEMENT_NONE) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT,
                       "serve: room %s: there are more rooms than %u workers take, %u each", name,
                       s->count, CM_WORKER_ROOMS_MAX);
    }
    memcpy(entry.room.name, name, strlen(name) + 1);
    snprintf(entry.room.scene, sizeof entry.room.scene, "%s", scene);
    entry.room.is_default = s->directory.count == 0;
    if (!cm_room_directory_put(&s->directory, &entry)) {
        return cm_fail(failure, CAROM_ERROR_MEMORY, "serve: out of memory");
    }
    return CAROM_OK;
}

// Of the start: the rooms that were asked for, and those of matches to go on with.
static carom_result place_rooms(cm_server *s, cm_failure *failure)
{
    carom_result status = CAROM_OK;
    const cm_node_rooms *rooms = &s->base->rooms;
    for (uint32_t i = 0; i < rooms->count && status == CAROM_OK; i++) {
        const char *scene = cm_scene_name(rooms->rooms[i].scene);
        status = place(s, rooms->rooms[i].spec.name, 0, scene, failure);
    }
    const cm_unfinished_matches *matches = &s->base->matches;
    for (uint32_t i = 0; i < matches->count && status == CAROM_OK; i++) {
        status = place(s, matches->list[i].room, matches->list[i].match_id, "", failure);
    }
    if (status == CAROM_OK && s->directory.count == 0 && rooms->on_demand == NULL) {
        status = cm_node_rooms_none(&s->base->config, failure);
    }
    return status;
}

// The begin of a worker ------------------------------------------------------------------------

static bool is_entry(const cm_server *s, const char *room, uint32_t worker)
{
    const cm_directory_entry *entry = cm_room_directory_find(&s->directory, room);
    return entry != NULL && entry->worker == worker;
}

static void send_scene(cm_worker_link *link, cm_worker_part what, const cm_scene *scene)
{
    size_t size = cm_scene_packed_size(scene);
    uint8_t *bytes = malloc(size);
    if (bytes != NULL) { // without it the worker says that it has no such room
        cm_scene_pack(scene, bytes);
        cm_worker_link_bytes(link, what, bytes, size);
    }
    free(bytes);
}

static void send_config(const cm_server *s, uint32_t worker, cm_worker_link *link)
{
    cm_config config = s->base->config;
    const char *listen = s->base->config.listen;
    snprintf(config.listen, sizeof config.listen, "%.*s:%u", (int)(strrchr(listen, ':') - listen),
             listen, (unsigned)s->workers[worker].port);
    cm_worker_link_bytes(link, CM_WORKER_PART_CONFIG, &config, sizeof config);
    for (uint32_t i = 0; i < s->base->rooms.modules.count; i++) {
        cm_worker_link_bytes(link, CM_WORKER_PART_MODULE, s->base->rooms.modules.files[i].bytes,
                             s->base->rooms.modules.files[i].size);
    }
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_BOOT,
                                 .boot = {.only_room = s->directory.count == 1,
                                          .isolated = s->workers[worker].isolated,
                                          .terminal = s->base->screen.terminal}};
    cm_worker_link_send(link, &message);
    message = (cm_worker_message){.type = CM_WORKER_RECEIVES_KEYS, .keys = s->base->keys};
    cm_worker_link_send(link, &message);
    message = (cm_worker_message){.type = CM_WORKER_RECEIVES_TICKET, .ticket = s->base->ticket};
    cm_worker_link_send(link, &message);
    cm_crypto_wipe(&message, sizeof message);
}

static void send_room(cm_worker_link *link, const cm_node_room *room)
{
    const cm_worker_message message = {.type = CM_WORKER_RECEIVES_OPEN, .open = room->spec};
    send_scene(link, CM_WORKER_PART_SCENE, room->scene);
    cm_worker_link_send(link, &message);
}

static void send_rooms(const cm_server *s, uint32_t worker, cm_worker_link *link)
{
    const cm_node_rooms *from = &s->base->rooms;
    if (from->on_demand != NULL) {
        send_scene(link, CM_WORKER_PART_ON_DEMAND, from->on_demand);
    }
    for (uint32_t i = 0; i < from->count; i++) {
        const char *scene = cm_scene_name(from->rooms[i].scene);
        if (is_entry(s, from->rooms[i].spec.name, worker) &&
            !cm_quarantine_has(&s->refused, scene)) {
            send_room(link, &from->rooms[i]);
        }
    }
    for (uint32_t i = 0; i < s->refused.count; i++) {
        cm_worker_message message = {.type = CM_WORKER_RECEIVES_REFUSE};
        memcpy(message.room.scene, s->refused.rows[i].scene, sizeof message.room.scene);
        if (cm_quarantine_has(&s->refused, message.room.scene)) {
            cm_worker_link_send(link, &message);
        }
    }
}

// At the first start every match that was found; later those that it had.
static void send_matches(const cm_server *s, uint32_t worker, cm_worker_link *link)
{
    const cm_unfinished_matches *found = &s->base->matches;
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_MATCH};
    for (uint32_t i = 0; !s->ready && i < found->count; i++) {
        if (is_entry(s, found->list[i].room, worker)) {
            message.match = found->list[i];
            cm_worker_link_send(link, &message);
        }
    }
    for (uint32_t i = 0; s->ready && i < s->directory.count; i++) {
        const cm_directory_entry *entry = &s->directory.list[i];
        message.match =
            (cm_unfinished_match){.match_id = entry->room.match_id, .known = entry->room.is_proved};
        if (cm_quarantine_has(&s->refused, entry->room.scene)) {
            memcpy(message.match.refused, entry->room.scene, sizeof message.match.refused);
        }
        if (entry->worker == worker && message.match.match_id != 0) {
            cm_worker_link_send(link, &message);
        }
    }
}

// Rooms of others, on ports that are known, be they there already or not: who comes for one waits.
static void send_elsewhere(const cm_server *s, uint32_t worker, cm_worker_link *link)
{
    for (uint32_t i = 0; i < s->directory.count; i++) {
        cm_worker_message message = {.type = CM_WORKER_RECEIVES_ROOM,
                                     .room = s->directory.list[i].room};
        message.room.port = s->workers[s->directory.list[i].worker].port;
        if (s->directory.list[i].worker != worker && message.room.port != 0) {
            cm_worker_link_send(link, &message);
        }
    }
}

static void send_bans(const cm_server *s, bool by_address, cm_worker_link *link)
{
    const cm_bans *bans = by_address ? &s->banned_addresses : &s->bans;
    for (uint32_t i = 0; i < bans->count; i++) {
        cm_worker_message message = {
            .type = CM_WORKER_RECEIVES_BAN,
            .ban = {.by_address = by_address, .banned = true, .who = bans->ids[i]}};
        const cm_ban_term *term = cm_ban_terms_find(&s->terms, by_address, bans->ids[i]);
        if (term != NULL) {
            memcpy(message.ban.reason, term->reason, sizeof message.ban.reason);
        }
        cm_worker_link_send(link, &message);
    }
}

static void boot(void *user, uint32_t worker)
{
    const cm_server *s = user;
    cm_worker_link *link = cm_supervisor_link(s->supervisor, worker);
    send_config(s, worker, link);
    send_rooms(s, worker, link);
    send_matches(s, worker, link);
    send_elsewhere(s, worker, link);
    cm_worker_link_send(link, &(const cm_worker_message){.type = CM_WORKER_RECEIVES_OPEN_ALL});
    for (uint32_t i = 0; i < s->used.capacity; i++) {
        const cm_worker_message message = {.type = CM_WORKER_RECEIVES_USED,
                                           .used = s->used.table[i]};
        if (message.used.expires_unix_s != 0) {
            cm_worker_link_send(link, &message);
        }
    }
    send_bans(s, false, link);
    send_bans(s, true, link);
    cm_server_drain_boot(s, link);
    for (uint32_t i = 0; i < s->cut_count && i < CM_WORKER_CUT_MAX; i++) {
        cm_worker_link_send(link, &(const cm_worker_message){.type = CM_WORKER_RECEIVES_CUT,
                                                             .match = {.match_id = s->cut[i]}});
    }
    cm_worker_link_send(link, &(const cm_worker_message){.type = CM_WORKER_RECEIVES_LET_IN});
}

static int gives(void *user, uint32_t worker)
{
    return ((const cm_server *)user)->workers[worker].crash_marker_fd;
}

static void broke(void *user, uint32_t worker)
{
    const cm_server *s = user;
    cm_log_say(&s->base->log, CM_LOG_ERROR, "control link broken", CM_U("worker", worker));
}

// Start ----------------------------------------------------------------------------------------

static void take_row(void *context, const cm_gate_row *row)
{
    cm_server *s = context;
    bool kept;
    if (row->kind == CM_GATE_ROW_USED) {
        cm_used_token token = {.expires_unix_s = row->number};
        memcpy(token.id, row->id, sizeof token.id);
        kept = cm_used_tokens_add(&s->used, &token, (uint64_t)time(NULL), false);
    } else if (row->kind >= CM_GATE_ROW_TERM) {
        cm_ban_term term = {.by_address = row->kind == CM_GATE_ROW_ADDRESS_TERM,
                            .who = row->number,
                            .until_unix_s = row->until_unix_s};
        memcpy(term.reason, row->reason, sizeof term.reason);
        kept = cm_ban_terms_put(&s->terms, &term);
    } else {
        bool by_address = row->kind == CM_GATE_ROW_ADDRESS;
        kept = cm_bans_add(by_address ? &s->banned_addresses : &s->bans, row->number) &&
               cm_ban_lists_keep(&s->base->bans, by_address, row->number, true);
    }
    s->recalled = s->recalled && kept;
}

static bool send_ban(void *user, bool by_address, uint64_t who, bool banned)
{
    cm_server *s = user;
    cm_bans *bans = by_address ? &s->banned_addresses : &s->bans;
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_BAN,
                                 .ban = {.by_address = by_address, .banned = banned, .who = who}};
    if (!banned) {
        cm_bans_remove(bans, who);
    } else if (!cm_bans_add(bans, who)) {
        return false;
    }
    cm_server_send_all(s, CM_PLACEMENT_NONE, &message); // none is there yet, or all
    return true;
}

static carom_result open_gate_db(cm_server *s, cm_failure *failure)
{
    uint8_t key[CM_KEY_BYTES];
    carom_result status = cm_server_base_open_gate(s->base, failure);
    cm_crypto_random(key, sizeof key);
    cm_used_tokens_init(&s->used, key);
    s->recalled = true;
    if (status == CAROM_OK && s->base->gate_db != NULL &&
        (cm_gate_db_read(s->base->gate_db, take_row, s) != CAROM_OK || !s->recalled)) {
        status =
            cm_fail(failure, CAROM_ERROR_IO,
                    "serve: matches: gate.db: it cannot be read, or has more rows than are kept");
    }
    if (status == CAROM_OK && !cm_ban_lists_each(&s->base->bans, send_ban, s)) {
        status = cm_fail(failure, CAROM_ERROR_FULL, "serve: bans: more than are kept");
    }
    return status;
}

static void poll_all(cm_server *s, uint64_t due)
{
    struct pollfd fds[CM_WORKERS_MAX + 5];
    uint64_t now = s->node != NULL ? cm_node_control_rest(s->node, due) : cm_now_us();
    uint64_t left = due > now ? due - now : 0;
    struct timespec wait = {.tv_nsec = (long)(left < WAIT_US ? left : WAIT_US) * 1000};
    uint32_t count = cm_supervisor_poll(s->supervisor, fds);
    fds[count++] = (struct pollfd){.fd = s->base->signals, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = cm_admin_descriptor(s->admin), .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = cm_http_pages_descriptor(s->http), .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = s->node != NULL ? cm_node_control_descriptor(s->node) : -1,
                                   .events = POLLIN};
    fds[count++] = (struct pollfd){
        .fd = s->node != NULL ? cm_node_control_sockets_descriptor(s->node) : -1, .events = POLLIN};
    (void)ppoll(fds, count, &wait, NULL);
}

// Answers of workers, and pages.
static uint64_t look_after(cm_server *s, uint64_t now)
{
    uint64_t due = cm_supervisor_turn(s->supervisor, now);
    if (s->printed) {
        cm_status_screen_flush();
        s->printed = false;
    }
    return cm_http_pages_turn(s->http, now) ? now : due;
}

// Likewise, and the node of this process has its turn.
static uint64_t turn(cm_server *s, uint64_t now)
{
    carom_result result;
    uint64_t due = look_after(s, now);
    if (s->node != NULL) {
        uint64_t next = cm_node_control_turn(s->node, now);
        due = next < due ? next : due;
        if (cm_node_control_is_over(s->node, &result)) {
            cm_node_control_destroy(s->node);
            s->node = NULL;
            cm_supervisor_detach(s->supervisor, 0, result == CAROM_OK ? 0 : 1);
        }
    }
    return due;
}

// The state of the server, for its pages.
static void look(void *user, cm_metrics_server *server, cm_metrics_worker *workers)
{
    const cm_server *s = user;
    bool takes = false;
    uint64_t isolated = 0, refused = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        const cm_worker_slot *slot = &s->workers[i];
        workers[i].is_there = i < s->count || slot->isolated;
        workers[i].is_up = slot->ready;
        workers[i].restarts = slot->restarts;
        takes = takes || (i < s->count && slot->ready);
        isolated += slot->isolated;
    }
    for (uint32_t i = 0; i < s->refused.count; i++) {
        refused += s->refused.rows[i].faults >= CM_QUARANTINE_FAULTS;
    }
    takes = takes && (s->directory.count > 0 || s->base->rooms.on_demand != NULL);
    server->values[CM_SERVER_HAS_READY] = s->ready && !s->draining && s->end_us == 0 && takes;
    server->values[CM_SERVER_HAS_DRAINING] = s->draining;
    server->values[CM_SERVER_HAS_BANS] = s->bans.count + s->banned_addresses.count;
    server->values[CM_SERVER_HAS_ISOLATED] = isolated;
    server->values[CM_SERVER_HAS_REFUSED] = refused;
    server->values[CM_SERVER_HAS_FAULTS] = s->faults;
}

static bool is_entry_of(void *user, uint32_t worker, const char *room)
{
    return is_entry(user, room, worker);
}

static carom_result open_http(cm_server *s, cm_failure *failure)
{
    const cm_http_pages_def def = {.base = s->base,
                                   .workers = s->slots,
                                   .look = look,
                                   .is_entry = is_entry_of,
                                   .ask = cm_admin_questions_ask_page,
                                   .upgrade = s->base->config.web ? cm_server_upgrade : NULL,
                                   .command = cm_admin_questions_command,
                                   .user = s};
    return cm_http_pages_open(&def, &s->http, failure);
}

static void wait_of_node(void *user, uint32_t most_ms);

// The one worker of a server without processes.
static void start_here(cm_server *s)
{
    const cm_node_control_def def = {.link = cm_supervisor_attach(s->supervisor, 0),
                                     .crash_marker = s->workers[0].crash_marker,
                                     .wait = wait_of_node,
                                     .user = s};
    s->node = cm_node_control_create(&def);
    if (s->node == NULL) {
        s->result = cm_fail(&s->failure, CAROM_ERROR_MEMORY, "serve: out of memory");
    }
}

static bool all_ready(const cm_server *s)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        ready += s->workers[i].ready;
    }
    return ready == s->count;
}

static carom_result start_workers(cm_server *s, cm_failure *failure)
{
    cm_address listen;
    cm_config_address(s->base->config.listen, &listen);
    for (uint32_t i = 0; i < s->count; i++) {
        s->workers[i].port = listen.port == 0 ? 0 : (uint16_t)(listen.port + i);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->base->config.workers == 0) {
            start_here(s);
        } else if (!cm_supervisor_start(s->supervisor, i)) {
            return cm_fail(failure, CAROM_ERROR_IO, "serve: a worker could not be started: %s",
                           strerror(errno));
        }
    }
    while (!all_ready(s) && s->result == CAROM_OK) {
        uint64_t due = turn(s, cm_now_us());
        if (cm_signal_ends(cm_signals_next(s->base->signals)) != NULL) {
            s->result = CAROM_ERROR_STATE; // before anybody could have come in
        }
        if (!all_ready(s) && s->result == CAROM_OK) {
            poll_all(s, due);
        }
    }
    *failure = s->failure;
    return s->result;
}

// Each undoes what it has made, and ends.
static void undo_workers(cm_server *s)
{
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_UNDO};
    cm_server_send_all(s, CM_PLACEMENT_NONE, &message);
    while (cm_supervisor_living(s->supervisor) > 0) {
        poll_all(s, turn(s, cm_now_us()));
    }
}

static carom_result start(cm_server *s, cm_failure *failure)
{
    const cm_worker_message start = {.type = CM_WORKER_RECEIVES_START};
    uint16_t ports[CM_WORKERS_MAX];
    carom_result status = place_rooms(s, failure);
    if (status == CAROM_OK) {
        status = open_gate_db(s, failure);
    }
    if (status == CAROM_OK) {
        status = cm_admin_questions_open(s, failure);
    }
    if (status == CAROM_OK) {
        status = open_http(s, failure);
    }
    if (status == CAROM_OK) {
        status = start_workers(s, failure);
    }
    if (status == CAROM_OK && s->directory.count == 0 && s->base->rooms.on_demand == NULL) {
        status = cm_node_rooms_none(&s->base->config, failure); // no match could go on
    }
    if (status == CAROM_OK) {
        for (uint32_t i = 0; i < s->count; i++) {
            ports[i] = s->workers[i].port;
        }
        cm_server_send_ports(s);
        s->ready = true;
        status = cm_server_base_ready(s->base, s->directory.count, ports, s->count, failure);
    }
    if (status == CAROM_OK) {
        cm_handover_remove(&s->base->config); // its matches go on
        cm_http_pages_print(s->http);
        for (uint32_t i = 0; i < s->count; i++) {
            cm_server_log_worker(s, i);
        }
        cm_server_send_all(s, CM_PLACEMENT_NONE, &start);
    } else {
        s->ready = false;
        undo_workers(s);
        cm_admin_destroy(s->admin);
        s->admin = NULL;
        cm_http_pages_close(s->http);
        s->http = NULL;
        cm_server_base_undo(s->base);
    }
    return status;
}

// The loop -------------------------------------------------------------------------------------

static void send_keys(cm_server *s)
{
    if (cm_server_base_reload(s->base)) {
        cm_worker_message message = {.type = CM_WORKER_RECEIVES_KEYS, .keys = s->base->keys};
        cm_server_send_all(s, CM_PLACEMENT_NONE, &message);
        cm_crypto_wipe(&message, sizeof message);
    }
}

static void take_signal(cm_server *s)
{
    int signal = cm_signals_next(s->base->signals);
    const char *name = cm_signal_ends(signal);
    if (name != NULL && s->draining) {
        cm_server_base_log_stop(s->base, name);
        cm_supervisor_destroy(s->supervisor);
        _exit(1);
    }
    if (name != NULL) {
        cm_server_drain(s, name);
    } else if (signal == SIGHUP) {
        cm_ban_lists_reload(&s->base->bans, &s->base->config, &s->base->log, send_ban, s);
        send_keys(s);
    }
}

static void show(cm_server *s, uint64_t now)
{
    if (!s->base->screen.terminal || (now < s->shown_us && !s->base->screen.disturbed)) {
        return;
    }
    s->shown_us = now + (uint64_t)s->base->config.status_interval_ms * 1000;
    s->base->screen.disturbed = false;
    cm_status_screen_erase(&s->base->screen);
    for (uint32_t i = 0; i < s->slots; i++) {
        if (s->workers[i].drawing.size > 0) {
            cm_status_screen_draw(&s->base->screen, s->workers[i].drawing.text);
        }
    }
    cm_status_screen_flush();
}

// Work beside the workers' turns.
static void attend(cm_server *s, uint64_t now)
{
    take_signal(s);
    cm_admin_turn(s->admin, now);
    if (s->drain_asked && !s->draining) {
        cm_server_drain(s, "admin");
    }
    cm_server_drain_turn(s, now);
    cm_isolation_turn(s, now);
    cm_server_bans_turn(s, cm_unix_ms() / 1000);
    cm_server_base_watch_gate(s->base);
    show(s, now);
    cm_notify_live(&s->base->notify, now);
}

// While the node of this process writes and verifies.
static void wait_of_node(void *user, uint32_t most_ms)
{
    cm_server *s = user;
    struct pollfd signals = {.fd = s->base->signals, .events = POLLIN};
    if (most_ms > 0) {
        (void)poll(&signals, 1, (int)most_ms);
    }
    uint64_t now = cm_now_us();
    attend(s, now);
    (void)look_after(s, now);
}

static void run(cm_server *s)
{
    while (cm_supervisor_living(s->supervisor) > 0) {
        uint64_t now = cm_now_us();
        attend(s, now);
        uint64_t due = turn(s, now);
        if (cm_supervisor_living(s->supervisor) > 0) {
            poll_all(s, due);
        }
    }
}

static void close_all(cm_server *s)
{
    cm_admin_destroy(s->admin);
    cm_http_pages_close(s->http);
    cm_node_control_destroy(s->node);
    cm_supervisor_destroy(s->supervisor);
    cm_room_directory_free(&s->directory);
    cm_used_tokens_free(&s->used);
    cm_bans_free(&s->bans);
    cm_bans_free(&s->banned_addresses);
    cm_ban_terms_free(&s->terms);
    for (uint32_t i = 0; i < s->slots; i++) {
        free(s->workers[i].drawing.text);
        cm_crash_marker_destroy(s->workers[i].crash_marker);
        if (s->workers[i].crash_marker_fd >= 0) {
            close(s->workers[i].crash_marker_fd);
        }
    }
}

carom_result cm_supervise(cm_server_base *base, cm_failure *failure)
{
    static cm_server s; // too large for a stack
    memset(&s, 0, sizeof s);
    s.base = base;
    s.count = base->config.workers == 0 ? 1 : cm_bootstrap_worker_count(&base->config);
    s.slots = base->config.workers == 0 ? 1 : s.count + CM_ISOLATED_ROOMS_MAX;
    s.slots = s.slots < CM_WORKERS_MAX ? s.slots : CM_WORKERS_MAX;
    cm_supervisor_def def = {.workers = s.slots,
                             .program = "/proc/self/exe",
                             .keep = base->files.lock,
                             .gives = gives,
                             .started = boot,
                             .broke = broke,
                             .on_message = cm_server_on_message,
                             .ended = cm_server_on_exit,
                             .user = &s};
    s.supervisor = cm_supervisor_create(&def);
    bool has_crash_marker = true;
    for (uint32_t i = 0; i < s.slots; i++) {
        s.workers[i].crash_marker = cm_crash_marker_create(&s.workers[i].crash_marker_fd);
        has_crash_marker = has_crash_marker && s.workers[i].crash_marker != NULL;
    }
    if (s.supervisor == NULL || !has_crash_marker) {
        close_all(&s);
        return cm_fail(failure, CAROM_ERROR_MEMORY, "serve: out of memory");
    }
    carom_result status = start(&s, failure);
    if (status == CAROM_OK) {
        run(&s);
        status = s.result;
        if (s.hands_over && !cm_handover_write(&s.base->config, &s.directory)) {
            status = cm_fail(failure, CAROM_ERROR_IO, "serve: matches: %s: no handover: %s",
                             s.base->config.matches, strerror(errno));
        }
    }
    close_all(&s);
    return status;
}
