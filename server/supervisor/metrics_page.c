// Names are carom_…, carom_worker_… with the label worker, carom_room_… with the label room.
#include "server/supervisor/metrics_page.h"

#include <stdio.h>
#include <string.h>

typedef struct row {
    cm_metric_kind kind;
    cm_metric_unit unit;
    const char *name, *help;
} row;

#define ROOM_ROW(id, kind, unit, name, help)                                                       \
    {CM_METRIC_##kind, CM_METRIC_##unit, "carom_room_" name, help},
static const row ROOM_ROWS[] = {CM_ROOM_METRICS(ROOM_ROW)};
#define WORKER_ROW(id, kind, unit, name, help)                                                     \
    {CM_METRIC_##kind, CM_METRIC_##unit, "carom_worker_" name, help},
static const row WORKER_ROWS[] = {CM_WORKER_METRICS(WORKER_ROW)};
#define SERVER_ROW(id, kind, unit, name, help)                                                     \
    {CM_METRIC_##kind, CM_METRIC_##unit, "carom_" name, help},
static const row SERVER_ROWS[] = {CM_SERVER_METRICS(SERVER_ROW)};

#define NUMBER_MAX 24u

static const char *number_text(uint64_t number, char text[NUMBER_MAX])
{
    snprintf(text, NUMBER_MAX, "%llu", (unsigned long long)number);
    return text;
}

// Of the server -------------------------------------------------------------------------------

static void put_build(cm_page *page, const cm_metrics_server *server)
{
    char engine[NUMBER_MAX];
    const cm_label labels[] = {{"version", server->version},
                               {"commit", server->commit},
                               {"engine", number_text(server->engine, engine)}};
    cm_prometheus_family(page, "carom_build_info", CM_METRIC_GAUGE, "What this server is.");
    cm_prometheus_sample(page, "carom_build_info", "", labels, CM_METRIC_ONE, 1);
}

static void put_http_refused(cm_page *page, const cm_metrics_server *server)
{
    char reason[CM_LABEL_MAX];
    cm_prometheus_family(page, "carom_http_refused_total", CM_METRIC_COUNTER,
                         "Requests and connections of HTTP that were refused.");
    for (uint32_t i = 0; i < CM_HTTP_REFUSAL_COUNT; i++) {
        const cm_label labels[CM_LABELS_MAX] = {
            {"reason", cm_prometheus_lower(cm_http_refusal_name((cm_http_refusal)i), reason)}};
        cm_prometheus_sample(page, "carom_http_refused_total", "", labels, CM_METRIC_ONE,
                             server->http_refused[i]);
    }
}

static void put_server_row(cm_page *page, const cm_metrics_server *server, uint32_t number)
{
    static const cm_label none[CM_LABELS_MAX];
    const row *r = &SERVER_ROWS[number];
    cm_prometheus_family(page, r->name, r->kind, r->help);
    cm_prometheus_sample(page, r->name, "", none, r->unit, server->values[number]);
}

// Of each worker ------------------------------------------------------------------------------

static void put_up(cm_page *page, const cm_metrics_server *server)
{
    char number[NUMBER_MAX];
    cm_prometheus_family(page, "carom_worker_up", CM_METRIC_GAUGE,
                         "1: the worker lives and has its rooms.");
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const cm_label labels[CM_LABELS_MAX] = {{"worker", number_text(i, number)}};
        if (server->workers[i].is_there) {
            cm_prometheus_sample(page, "carom_worker_up", "", labels, CM_METRIC_ONE,
                                 server->workers[i].is_up);
        }
    }
}

static void put_restarts(cm_page *page, const cm_metrics_server *server)
{
    char number[NUMBER_MAX];
    cm_prometheus_family(page, "carom_worker_restarts_total", CM_METRIC_COUNTER,
                         "Times that the worker died and was started again.");
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const cm_label labels[CM_LABELS_MAX] = {{"worker", number_text(i, number)}};
        if (server->workers[i].is_there) {
            cm_prometheus_sample(page, "carom_worker_restarts_total", "", labels, CM_METRIC_ONE,
                                 server->workers[i].restarts);
        }
    }
}

static void put_worker_row(cm_page *page, const cm_metrics_server *server, uint32_t number)
{
    const row *r = &WORKER_ROWS[number];
    char text[NUMBER_MAX];
    cm_prometheus_family(page, r->name, r->kind, r->help);
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const cm_label labels[CM_LABELS_MAX] = {{"worker", number_text(i, text)}};
        if (server->workers[i].is_known) {
            cm_prometheus_sample(page, r->name, "", labels, r->unit,
                                 server->workers[i].metrics.values[number]);
        }
    }
}

// Counters by a reason.
typedef struct reasons {
    const char *name, *help;
    const char *const *texts;
    uint32_t first, count; // those before the first are no reasons
    size_t offset;         // in cm_worker_metrics, or cm_room_metrics
} reasons;

#define NAME(name, text) #name,
static const char *const DATAGRAMS[] = {CM_DATAGRAM_REASONS(NAME)};
static const char *const COMMANDS[] = {CM_COMMAND_REASONS(NAME)};
static const char *const PACKETS[] = {CM_PACKET_REASONS(NAME)};
static const char *const REASONS[] = {CAROM_REASON_TABLE(NAME)};
#undef NAME
#define NAME(name, code, text) #name,
static const char *const FRAMES[] = {CM_FRAME_REASONS(NAME)};
static const char *const SOCKETS[] = {CM_SOCKET_ENDS(NAME)};
#undef NAME

static const reasons WORKER_REASONS[] = {
    {"carom_worker_datagrams_refused_total", "Datagrams refused before a connection, or in one.",
     DATAGRAMS, 0, CM_DATAGRAM_REASON_COUNT, offsetof(cm_worker_metrics, datagrams_refused)},
    {"carom_worker_commands_refused_total", "Of these, for the commands that they hold.", COMMANDS,
     0, CM_COMMAND_REASON_COUNT, offsetof(cm_worker_metrics, commands_refused)},
    {"carom_worker_packets_refused_total", "Packets of clients that could not be read.", PACKETS,
     CM_PACKET_OK + 1, CM_PACKET_REASON_COUNT, offsetof(cm_worker_metrics, packets_refused)},
    {"carom_worker_clients_refused_total", "Connected clients that were let into no room.", REASONS,
     0, CAROM_REASON_COUNT, offsetof(cm_worker_metrics, clients_refused)},
    {"carom_worker_players_left_total", "Players who left, or were sent away.", REASONS, 0,
     CAROM_REASON_COUNT, offsetof(cm_worker_metrics, players_left)},
    {"carom_worker_websockets_refused_total", "WebSockets closed for what they sent.", FRAMES, 0,
     CM_FRAME_REASON_COUNT, offsetof(cm_worker_metrics, frames_refused)},
    {"carom_worker_websockets_ended_total", "WebSockets that ended otherwise.", SOCKETS, 0,
     CM_SOCKET_END_COUNT, offsetof(cm_worker_metrics, sockets_ended)}};

static void put_worker_reasons(cm_page *page, const cm_metrics_server *server, const reasons *r)
{
    char number[NUMBER_MAX], text[CM_LABEL_MAX];
    cm_prometheus_family(page, r->name, CM_METRIC_COUNTER, r->help);
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const cm_metrics_worker *worker = &server->workers[i];
        const uint64_t *counts = (const uint64_t *)((const char *)&worker->metrics + r->offset);
        for (uint32_t at = r->first; worker->is_known && at < r->count; at++) {
            const cm_label labels[CM_LABELS_MAX] = {
                {"worker", number_text(i, number)},
                {"reason", cm_prometheus_lower(r->texts[at], text)}};
            cm_prometheus_sample(page, r->name, "", labels, CM_METRIC_ONE, counts[at]);
        }
    }
}

// Of each room --------------------------------------------------------------------------------

static void put_room_row(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                         const void *what)
{
    const row *r = what;
    const cm_label labels[CM_LABELS_MAX] = {{"room", room->info.name}};
    (void)worker;
    cm_prometheus_sample(page, r->name, "", labels, r->unit, room->values[r - ROOM_ROWS]);
}

static void put_room_info(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                          const void *what)
{
    char number[NUMBER_MAX];
    const row *r = what;
    // Fewer labels than three would need a join with this sample; the module follows from the
    // scene.
    const cm_label labels[] = {{"room", room->info.name},
                               {"scene", room->info.scene},
                               {"worker", number_text(worker, number)}};
    cm_prometheus_sample(page, r->name, "", labels, CM_METRIC_ONE, 1);
}

// As text of the bound in seconds.
static const char *bound_text(uint32_t bucket, char text[NUMBER_MAX])
{
    uint32_t bound = cm_tick_times_bound_us(bucket);
    int length = snprintf(text, NUMBER_MAX, "%u.%06u", bound / 1000000u, bound % 1000000u);
    while (length > 0 && text[length - 1] == '0') {
        text[--length] = '\0';
    }
    if (length > 0 && text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
    return bound == UINT32_MAX ? "+Inf" : text;
}

static void put_room_ticks(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                           const void *what)
{
    const row *r = what;
    uint64_t count = 0;
    char bound[NUMBER_MAX];
    (void)worker;
    for (uint32_t i = 0; i < CM_METRICS_BUCKETS; i++) {
        const cm_label labels[CM_LABELS_MAX] = {{"room", room->info.name},
                                                {"le", bound_text(i, bound)}};
        count += room->tick_buckets[i];
        cm_prometheus_sample(page, r->name, "_bucket", labels, CM_METRIC_ONE, count);
    }
    const cm_label labels[CM_LABELS_MAX] = {{"room", room->info.name}};
    cm_prometheus_sample(page, r->name, "_sum", labels, CM_METRIC_MILLIONTH, room->tick_sum_us);
    cm_prometheus_sample(page, r->name, "_count", labels, CM_METRIC_ONE, count);
}

static void put_by_reason(cm_page *page, const cm_room_metrics *room, const row *r,
                          const char *reason, uint64_t value)
{
    const cm_label labels[CM_LABELS_MAX] = {{"room", room->info.name}, {"reason", reason}};
    cm_prometheus_sample(page, r->name, "", labels, CM_METRIC_ONE, value);
}

static void put_room_inputs(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                            const void *what)
{
    static const char *const names[CM_INPUT_VERDICT_COUNT] = {[CM_INPUT_TOO_OLD] = "too_old",
                                                              [CM_INPUT_TOO_FAR] = "too_far",
                                                              [CM_INPUT_BUDGET] = "rewind_budget",
                                                              [CM_INPUT_INVALID] = "invalid",
                                                              [CM_INPUT_POSE] = "pose"};
    (void)worker;
    for (uint32_t i = 0; i < CM_INPUT_VERDICT_COUNT; i++) {
        if (names[i] != NULL) {
            put_by_reason(page, room, what, names[i], room->inputs_refused[i]);
        }
    }
}

static void put_room_poses(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                           const void *what)
{
    (void)worker;
    put_by_reason(page, room, what, "not_finite", room->poses_refused[CM_POINTER_NOT_FINITE]);
    put_by_reason(page, room, what, "not_unit", room->poses_refused[CM_POINTER_NOT_UNIT]);
    put_by_reason(page, room, what, "out_of_range", room->poses_refused[CM_POINTER_RANGE]);
}

static void put_room_sent(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                          const void *what)
{
    const row *r = what;
    (void)worker;
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        const cm_label labels[CM_LABELS_MAX] = {{"room", room->info.name},
                                                {"code", carom_log_name((carom_log_code)i)}};
        cm_prometheus_sample(page, r->name, "", labels, CM_METRIC_ONE, room->log_counts[i]);
    }
}

typedef void put_room(cm_page *page, const cm_room_metrics *room, uint32_t worker,
                      const void *what);

static const struct {
    row row;
    put_room *put;
} ROOM_MORE[] = {
    {{CM_METRIC_GAUGE, CM_METRIC_ONE, "carom_room_info", "What the room is, and which worker's."},
     put_room_info},
    {{CM_METRIC_HISTOGRAM, CM_METRIC_MILLIONTH, "carom_room_tick_seconds",
      "Time of a tick, its views included."},
     put_room_ticks},
    {{CM_METRIC_COUNTER, CM_METRIC_ONE, "carom_room_inputs_refused_total",
      "Inputs of players that were refused."},
     put_room_inputs},
    {{CM_METRIC_COUNTER, CM_METRIC_ONE, "carom_room_poses_refused_total",
      "Poses of pointers that were refused, each time they came."},
     put_room_poses},
    {{CM_METRIC_COUNTER, CM_METRIC_ONE, "carom_room_world_messages_total",
      "What the world had to say while it stepped, ticks stepped again included."},
     put_room_sent}};

static void put_rooms(cm_page *page, const cm_metrics_server *server, const row *r, put_room *put)
{
    cm_prometheus_family(page, r->name, r->kind, r->help);
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const cm_metrics_worker *worker = &server->workers[i];
        for (uint32_t at = 0; at < worker->room_count; at++) {
            put(page, &worker->rooms[at], i, r);
        }
    }
}

#define COUNT(table) ((uint32_t)(sizeof(table) / sizeof(table)[0]))

bool cm_metrics_page_family(cm_page *page, const cm_metrics_server *server, uint32_t number)
{
    static void (*const singles[])(cm_page *, const cm_metrics_server *) = {
        put_build, put_http_refused, put_up, put_restarts};
    if (number < COUNT(singles)) {
        singles[number](page, server);
        return true;
    }
    number -= COUNT(singles);
    if (number < COUNT(SERVER_ROWS)) {
        put_server_row(page, server, number);
        return true;
    }
    number -= COUNT(SERVER_ROWS);
    if (number < COUNT(WORKER_ROWS)) {
        put_worker_row(page, server, number);
        return true;
    }
    number -= COUNT(WORKER_ROWS);
    if (number < COUNT(WORKER_REASONS)) {
        put_worker_reasons(page, server, &WORKER_REASONS[number]);
        return true;
    }
    number -= COUNT(WORKER_REASONS);
    if (number < COUNT(ROOM_ROWS)) {
        put_rooms(page, server, &ROOM_ROWS[number], put_room_row);
        return true;
    }
    number -= COUNT(ROOM_ROWS);
    if (number < COUNT(ROOM_MORE)) {
        put_rooms(page, server, &ROOM_MORE[number].row, ROOM_MORE[number].put);
        return true;
    }
    return false;
}
