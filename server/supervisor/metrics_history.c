// See metrics_history.h.
#include "server/supervisor/metrics_history.h"

#include <string.h>

#include "shared/scene/scene_json.h"

#define NO_TICK UINT32_MAX // the room was not there

// Samples --------------------------------------------------------------------------------------

// A counter that began anew counts from 0.
static uint64_t bits_a_second(uint64_t before, uint64_t now, uint64_t passed_us)
{
    uint64_t bytes = now >= before ? now - before : now;
    return passed_us > 0 ? (uint64_t)((double)bytes * 8e6 / (double)passed_us) : 0;
}

void cm_metrics_history_received(cm_metrics_history *history, uint32_t worker,
                                 const cm_worker_metrics *metrics, uint64_t now_us)
{
    cm_history_worker *w = &history->workers[worker];
    uint64_t sent = metrics->values[CM_WORKER_HAS_SENT_BYTES];
    uint64_t received = metrics->values[CM_WORKER_HAS_RECEIVED_BYTES];
    if (w->is_known) {
        w->sent_bits = bits_a_second(w->sent_bytes, sent, now_us - w->told_us);
        w->received_bits = bits_a_second(w->received_bytes, received, now_us - w->told_us);
    }
    w->is_known = true;
    w->told_us = now_us;
    w->sent_bytes = sent;
    w->received_bytes = received;
}

void cm_metrics_history_lost(cm_metrics_history *history, uint32_t worker)
{
    history->workers[worker] = (cm_history_worker){0};
}

// The free place, or that of the room which has not been among the slowest for longest.
static cm_history_room *make_place(cm_metrics_history *history, const char *name)
{
    cm_history_room *place = &history->rooms[0];
    for (uint32_t i = 1; i < CM_HISTORY_ROOMS && place->name[0] != '\0'; i++) {
        cm_history_room *r = &history->rooms[i];
        place = r->name[0] == '\0' || r->slowest < place->slowest ? r : place;
    }
    memset(place, 0, sizeof *place);
    strcpy(place->name, name);
    for (uint32_t i = 0; i < CM_HISTORY_SAMPLES; i++) {
        place->tick_us[i] = NO_TICK;
    }
    return place;
}

static cm_history_room *find_room(cm_metrics_history *history, const char *name)
{
    for (uint32_t i = 0; i < CM_HISTORY_ROOMS; i++) {
        if (strcmp(history->rooms[i].name, name) == 0) {
            return &history->rooms[i];
        }
    }
    return NULL;
}

// Keeps the slowest at the front, `count` of them.
static void rank(const cm_room_metrics *slowest[CM_HISTORY_SLOWEST], uint32_t *count,
                 const cm_room_metrics *room)
{
    uint32_t at = *count < CM_HISTORY_SLOWEST ? (*count)++ : CM_HISTORY_SLOWEST;
    while (at > 0 &&
           slowest[at - 1]->values[CM_ROOM_HAS_TICK_P99] < room->values[CM_ROOM_HAS_TICK_P99]) {
        if (at < CM_HISTORY_SLOWEST) {
            slowest[at] = slowest[at - 1];
        }
        at--;
    }
    if (at < CM_HISTORY_SLOWEST) {
        slowest[at] = room;
    }
}

static void sample_rooms(cm_metrics_history *history, const cm_metrics_server *server, uint64_t now)
{
    const cm_room_metrics *slowest[CM_HISTORY_SLOWEST];
    uint32_t count = 0, place = (uint32_t)(now % CM_HISTORY_SAMPLES);
    for (uint32_t w = 0; w < server->worker_count; w++) {
        for (uint32_t r = 0; r < server->workers[w].room_count; r++) {
            rank(slowest, &count, &server->workers[w].rooms[r]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        cm_history_room *room = find_room(history, slowest[i]->info.name);
        room = room != NULL ? room : make_place(history, slowest[i]->info.name);
        room->slowest = now;
    }
    for (uint32_t i = 0; i < CM_HISTORY_ROOMS; i++) {
        history->rooms[i].tick_us[place] = NO_TICK;
        if (now - history->rooms[i].slowest >= CM_HISTORY_SAMPLES) {
            history->rooms[i].name[0] = '\0';
        }
    }
    for (uint32_t w = 0; w < server->worker_count; w++) {
        for (uint32_t r = 0; r < server->workers[w].room_count; r++) {
            const cm_room_metrics *metrics = &server->workers[w].rooms[r];
            cm_history_room *room = find_room(history, metrics->info.name);
            if (room != NULL) {
                uint64_t us = metrics->values[CM_ROOM_HAS_TICK_P99];
                room->tick_us[place] = us < NO_TICK ? (uint32_t)us : NO_TICK - 1;
            }
        }
    }
}

void cm_metrics_history_sample(cm_metrics_history *history, const cm_metrics_server *server,
                               uint64_t unix_ms)
{
    uint64_t now = history->samples++, sent = 0, received = 0;
    uint32_t place = (uint32_t)(now % CM_HISTORY_SAMPLES);
    for (uint32_t i = 0; i < CM_WORKERS_MAX; i++) {
        sent += history->workers[i].sent_bits;
        received += history->workers[i].received_bits;
    }
    history->at_ms[place] = unix_ms;
    history->sent_bits[place] = sent;
    history->received_bits[place] = received;
    history->players[place] = server->values[CM_SERVER_HAS_PLAYERS];
    sample_rooms(history, server, now);
}

// JSON -----------------------------------------------------------------------------------------

static void put_key(cm_page *page, const char *key)
{
    char quoted[6 * CAROM_ROOM_NAME_MAX + 3];
    bool first = page->size == 0 || page->text[page->size - 1] == '{';
    cm_json_quote(key, quoted, sizeof quoted);
    cm_page_text(page, first ? "" : ",");
    cm_page_text(page, quoted);
    cm_page_text(page, ":");
}

static void put_server(cm_page *page, const cm_metrics_server *server, uint64_t memory_bytes,
                       uint64_t unix_ms)
{
    uint64_t up = 0;
    cm_line line;
    for (uint32_t i = 0; i < server->worker_count; i++) {
        up += server->workers[i].is_up;
    }
    cm_line_begin(&line);
    cm_line_put(&line, CM_T("version", server->version), CM_T("commit", server->commit),
                CM_U("engine", server->engine),
                CM_U("started_ms", server->values[CM_SERVER_HAS_START]), CM_U("now_ms", unix_ms),
                CM_U("memory_bytes", memory_bytes),
                CM_U("rooms", server->values[CM_SERVER_HAS_ROOMS]),
                CM_U("players", server->values[CM_SERVER_HAS_PLAYERS]),
                CM_U("workers", server->values[CM_SERVER_HAS_WORKERS]), CM_U("workers_up", up),
                CM_B("draining", server->values[CM_SERVER_HAS_DRAINING] != 0));
    put_key(page, "server");
    cm_page_text(page, cm_line_end(&line));
}

static uint64_t oldest(const cm_metrics_history *history)
{
    return history->samples > CM_HISTORY_SAMPLES ? history->samples - CM_HISTORY_SAMPLES : 0;
}

// Of `values`, thousandths where `parts` is 1000.
static void put_series(cm_page *page, const char *key, const cm_metrics_history *history,
                       const uint64_t *values, uint64_t parts)
{
    put_key(page, key);
    cm_page_text(page, "[");
    for (uint64_t n = oldest(history); n < history->samples; n++) {
        cm_page_text(page, n > oldest(history) ? "," : "");
        cm_page_millionths(page, values[n % CM_HISTORY_SAMPLES] * (1000000u / parts));
    }
    cm_page_text(page, "]");
}

static void put_room(cm_page *page, const cm_metrics_history *history, const cm_history_room *room)
{
    put_key(page, room->name);
    cm_page_text(page, "[");
    for (uint64_t n = oldest(history); n < history->samples; n++) {
        uint32_t us = room->tick_us[n % CM_HISTORY_SAMPLES];
        cm_page_text(page, n > oldest(history) ? "," : "");
        if (us == NO_TICK) {
            cm_page_text(page, "null");
        } else {
            cm_page_millionths(page, us * UINT64_C(1000));
        }
    }
    cm_page_text(page, "]");
}

void cm_metrics_history_write(const cm_metrics_history *history, const cm_metrics_server *server,
                              uint64_t memory_bytes, uint64_t unix_ms, cm_page *page)
{
    cm_page_text(page, "{");
    put_server(page, server, memory_bytes, unix_ms);
    put_key(page, "span_ms");
    cm_page_uint(page, CM_HISTORY_SAMPLES * (uint64_t)CM_HISTORY_US / 1000);
    put_series(page, "times_ms", history, history->at_ms, 1);
    put_series(page, "sent_kbit_s", history, history->sent_bits, 1000);
    put_series(page, "received_kbit_s", history, history->received_bits, 1000);
    put_series(page, "players", history, history->players, 1);
    put_key(page, "tick_p99_ms");
    cm_page_text(page, "{");
    for (uint32_t i = 0; i < CM_HISTORY_ROOMS; i++) {
        if (history->rooms[i].name[0] != '\0') {
            put_room(page, history, &history->rooms[i]);
        }
    }
    cm_page_text(page, "}}\n");
}
