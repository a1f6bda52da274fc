// Each path is a row of a table, with the page that answers it.
#include "server/supervisor/http_pages.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/config/json_reader.h"
#include "server/ops/parts.h"
#include "server/ops/version.h"
#include "server/node/node.h"
#include "server/ops/web_page.h"
#include "server/supervisor/metrics_history.h"
#include "server/supervisor/stream_files.h"
#include "shared/base/array.h"

#define JSON "application/json"
#define TEXT "text/plain; charset=utf-8"

// Lists that are being told, of the worker's next metrics.
typedef struct next {
    uint32_t count, capacity;
    cm_room_metrics *rooms;
} next;

typedef struct topic {
    cm_page *pages[2];      // the newest: for everybody, and with what is not for everybody
    cm_page *making[2];     // NULL: nothing is asked
    uint64_t whole_us;      // when the newest was
    bool failed, is_failed; // a worker said so, of the one being made and the newest
} topic;

struct cm_http_pages {
    cm_http_pages_def def;
    cm_http *http;
    bool is_private; // it listens on loopback
    uint64_t now_us, started_unix_ms;
    cm_metrics_server server;
    cm_metrics_worker workers[CM_WORKERS_MAX];
    next next[CM_WORKERS_MAX];
    uint64_t heard_us[CM_WORKERS_MAX]; // when it told all of them last, or came up
    topic topics[CM_HTTP_TOPICS];
    cm_page *metrics, *making; // the newest, and the one that is being made; NULL: none
    uint64_t metrics_us;       // when the newest was whole
    uint32_t family;           // that is made next
    cm_metrics_history history;
    uint64_t sample_us; // when the next sample is due
    cm_page *drawn;     // the history as a page; NULL: none since the last sample
    cm_stream_files *streams;
    cm_api *api;
};

// Figures --------------------------------------------------------------------------------------

static void look(cm_http_pages *h)
{
    cm_http_stats stats;
    cm_metrics_server *s = &h->server;
    h->def.look(h->def.user, s, h->workers);
    s->values[CM_SERVER_HAS_START] = h->started_unix_ms;
    s->values[CM_SERVER_HAS_RESIDENT] = cm_metrics_resident_bytes();
    s->values[CM_SERVER_HAS_ROOMS] = s->values[CM_SERVER_HAS_PLAYERS] = 0;
    s->values[CM_SERVER_HAS_WORKERS] = 0;
    for (uint32_t i = 0; i < h->def.workers; i++) {
        const cm_metrics_worker *worker = &h->workers[i];
        s->values[CM_SERVER_HAS_WORKERS] += worker->is_there;
        s->values[CM_SERVER_HAS_ROOMS] += worker->room_count;
        s->values[CM_SERVER_HAS_PLAYERS] +=
            worker->is_known ? worker->metrics.values[CM_WORKER_HAS_PLAYERS] : 0;
    }
    cm_http_stats_get(h->http, &stats);
    s->values[CM_SERVER_HAS_HTTP_CONNECTIONS] = stats.connections;
    s->values[CM_SERVER_HAS_HTTP_ANSWERED] = stats.answered;
    s->values[CM_SERVER_HAS_HTTP_FAILED] = stats.failed;
    s->values[CM_SERVER_HAS_HTTP_SENT] = stats.sent_bytes;
    s->values[CM_SERVER_HAS_HTTP_UPGRADED] = stats.upgraded;
    memcpy(s->http_refused, stats.refused, sizeof s->http_refused);
}

// True once there is one that is fresh enough.
static bool make_metrics(cm_http_pages *h)
{
    if (h->metrics != NULL && h->now_us - h->metrics_us < CM_SERVE_HTTP_FRESH_US) {
        return true;
    }
    if (h->making == NULL) {
        h->making = cm_page_create();
        h->family = 0;
        cm_page_drop(h->metrics);
        h->metrics = NULL;
        look(h);
    }
    return false;
}

// A turn's part of the page. True: there is more to do, or somebody waits for what is done now.
static bool write_metrics(cm_http_pages *h)
{
    if (h->making == NULL) {
        return false;
    }
    size_t until = h->making->size + CM_SERVE_HTTP_TURN;
    bool all = false;
    while (!all && h->making->size < until && !h->making->cut) {
        all = !cm_metrics_page_family(h->making, &h->server, h->family++);
    }
    if (h->making->cut) { // cut in a line, it would be read as another number
        cm_page_drop(h->making);
        h->making = NULL;
        return false;
    }
    if (all) {
        h->metrics = h->making;
        h->metrics_us = h->now_us;
        h->making = NULL;
    }
    return true;
}

static cm_http_found get_metrics(cm_http_pages *h, const cm_http_request *request,
                                 cm_http_answer *answer)
{
    (void)request;
    if (!make_metrics(h)) {
        return CM_HTTP_LATER;
    }
    answer->type = CM_PROMETHEUS_TYPE;
    answer->page = cm_page_hold(h->metrics);
    return CM_HTTP_ANSWERED;
}

void cm_http_pages_room(cm_http_pages *h, uint32_t worker, uint32_t number,
                        const cm_room_metrics *metrics)
{
    if (h == NULL || worker >= h->def.workers) {
        return;
    }
    next *n = &h->next[worker];
    n->count = number == 0 ? 0 : n->count;
    bool is_told =
        h->def.is_entry == NULL || h->def.is_entry(h->def.user, worker, metrics->info.name);
    if (is_told && cm_array_reserve(&n->rooms, &n->capacity, n->count + 1, sizeof *n->rooms)) {
        n->rooms[n->count++] = *metrics;
    }
}

void cm_http_pages_whole(cm_http_pages *h, uint32_t worker, uint32_t rooms,
                         const cm_worker_metrics *metrics)
{
    if (h == NULL || worker >= h->def.workers) {
        return;
    }
    cm_metrics_worker *w = &h->workers[worker];
    next *n = &h->next[worker];
    n->count = rooms == 0 ? 0 : n->count;
    cm_room_metrics *before = w->rooms;
    uint32_t capacity = w->room_capacity;
    w->rooms = n->rooms;
    w->room_count = n->count;
    w->room_capacity = n->capacity;
    *n = (next){.rooms = before, .capacity = capacity};
    w->metrics = *metrics;
    w->is_known = true;
    h->heard_us[worker] = h->now_us;
    cm_metrics_history_received(&h->history, worker, metrics, h->now_us);
}

void cm_http_pages_died(cm_http_pages *h, uint32_t worker)
{
    if (h != NULL && worker < h->def.workers) {
        h->workers[worker].room_count = h->next[worker].count = 0;
        h->workers[worker].is_known = false;
        cm_metrics_history_lost(&h->history, worker);
    }
}

static uint32_t remove_room(cm_room_metrics *rooms, uint32_t count, const char *room)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rooms[i].info.name, room) != 0) {
            rooms[kept++] = rooms[i];
        }
    }
    return kept;
}

void cm_http_pages_gone(cm_http_pages *h, uint32_t worker, const char *room)
{
    if (h != NULL && worker < h->def.workers) {
        cm_metrics_worker *w = &h->workers[worker];
        next *n = &h->next[worker];
        w->room_count = remove_room(w->rooms, w->room_count, room);
        n->count = remove_room(n->rooms, n->count, room);
    }
}

// History --------------------------------------------------------------------------------------

static void take_sample(cm_http_pages *h)
{
    if (h->now_us >= h->sample_us) {
        uint64_t next_us = h->sample_us + CM_HISTORY_US; // one a second, though turns come late
        h->sample_us = next_us > h->now_us ? next_us : h->now_us + CM_HISTORY_US;
        look(h);
        cm_metrics_history_sample(&h->history, &h->server, cm_unix_ms());
        cm_page_drop(h->drawn);
        h->drawn = NULL;
    }
}

// Of this process and its workers; a server in one process is its own worker.
static uint64_t memory_of(const cm_http_pages *h)
{
    uint64_t bytes = h->def.is_entry != NULL ? h->server.values[CM_SERVER_HAS_RESIDENT] : 0;
    for (uint32_t i = 0; i < h->def.workers; i++) {
        const cm_metrics_worker *worker = &h->workers[i];
        bytes += worker->is_known ? worker->metrics.values[CM_WORKER_HAS_RESIDENT] : 0;
    }
    return bytes;
}

static cm_http_found get_history(cm_http_pages *h, const cm_http_request *request,
                                 cm_http_answer *answer)
{
    (void)request;
    if (h->drawn == NULL) {
        h->drawn = cm_page_create();
        if (h->drawn == NULL) {
            return CM_HTTP_LATER;
        }
        look(h);
        cm_metrics_history_write(&h->history, &h->server, memory_of(h), cm_unix_ms(), h->drawn);
    }
    if (h->drawn->cut) { // out of memory
        cm_page_drop(h->drawn);
        h->drawn = NULL;
        return CM_HTTP_LATER;
    }
    answer->type = JSON;
    answer->page = cm_page_hold(h->drawn);
    return CM_HTTP_ANSWERED;
}

// Rooms and players ----------------------------------------------------------------------------

static const struct {
    const char *path, *request;
} TOPICS[CM_HTTP_TOPICS] = {[CM_SERVE_ROOMS] = {"/rooms", "{\"command\":\"rooms\"}"},
                            [CM_SERVE_PLAYERS] = {"/players", "{\"command\":\"players\"}"}};

// Leaves out names of players and paths of files.
static void put_bare(cm_page *page, const char *line)
{
    static const char *const taken[] = {"name", "client_id", "match"};
    cm_json_reader reader;
    cm_scene_error error;
    const cm_json_value *object =
        cm_json_open(&reader, line, strlen(line), CM_ADMIN_REQUEST_MAX, &error);
    char *text = object != NULL
                     ? cm_json_print_without(object, taken, sizeof taken / sizeof taken[0])
                     : NULL;
    cm_page_text(page, text != NULL ? text : "{}");
    free(text);
    cm_json_close(&reader);
}

static void begin_topic(cm_http_pages *h, cm_http_topic number)
{
    topic *t = &h->topics[number];
    t->failed = false;
    for (uint32_t i = 0; i < 2; i++) {
        t->making[i] = cm_page_create();
    }
    if (t->making[0] == NULL || t->making[1] == NULL) {
        cm_page_drop(t->making[0]);
        cm_page_drop(t->making[1]);
        t->making[0] = t->making[1] = NULL;
        return;
    }
    h->def.ask(h->def.user, number, TOPICS[number].request);
}

static void end_topic(const cm_http_pages *h, topic *t)
{
    for (uint32_t i = 0; i < 2; i++) {
        cm_page_text(t->making[i], t->making[i]->size == 0 ? "[]\n" : "]\n");
        t->failed = t->failed || t->making[i]->cut;
        cm_page_drop(t->pages[i]);
        t->pages[i] = t->making[i];
        t->making[i] = NULL;
    }
    t->is_failed = t->failed;
    t->whole_us = h->now_us;
}

void cm_http_pages_line(cm_http_pages *h, cm_http_topic number, const char *line)
{
    if (h != NULL && number >= CM_HTTP_TOPICS) {
        cm_api_line(h->api, number - CM_HTTP_TOPICS, line);
        return;
    }
    topic *t = h != NULL ? &h->topics[number] : NULL;
    if (t == NULL || t->making[0] == NULL) {
        return;
    }
    if (line[0] == '\0') {
        end_topic(h, t);
        return;
    }
    t->failed = t->failed || strncmp(line, "{\"error\":", 9) == 0;
    for (uint32_t i = 0; i < 2; i++) {
        cm_page_text(t->making[i], t->making[i]->size == 0 ? "[" : ",\n");
    }
    put_bare(t->making[0], line);
    cm_page_text(t->making[1], line);
}

static bool is_fresh(const cm_http_pages *h, const topic *t)
{
    return t->pages[0] != NULL && h->now_us - t->whole_us < CM_SERVE_HTTP_FRESH_US;
}

// NULL: it is not made yet.
static topic *make_topic(cm_http_pages *h, cm_http_topic number)
{
    topic *t = &h->topics[number];
    if (t->making[0] == NULL && !is_fresh(h, t)) {
        begin_topic(h, number);
    }
    return t->making[0] == NULL && is_fresh(h, t) ? t : NULL;
}

static cm_http_found get_topic(cm_http_pages *h, const cm_http_request *request,
                               cm_http_answer *answer)
{
    bool rooms = strcmp(request->path, TOPICS[CM_SERVE_ROOMS].path) == 0;
    const topic *t = make_topic(h, rooms ? CM_SERVE_ROOMS : CM_SERVE_PLAYERS);
    if (t == NULL) {
        return CM_HTTP_LATER;
    }
    answer->status = t->is_failed ? 503 : 200;
    answer->type = JSON;
    answer->page = cm_page_hold(t->pages[h->is_private && request->by_own_name]);
    return CM_HTTP_ANSWERED;
}

// The API's.
static const cm_page *list(void *user, bool players, bool names, bool *failed)
{
    const topic *t = make_topic(user, players ? CM_SERVE_PLAYERS : CM_SERVE_ROOMS);
    *failed = *failed || (t != NULL && t->is_failed);
    return t != NULL ? t->pages[names] : NULL;
}

static const cm_metrics_server *figures(void *user)
{
    cm_http_pages *h = user;
    look(h);
    return &h->server;
}

static void command(void *user, uint32_t question, const char *request)
{
    cm_http_pages *h = user;
    h->def.command(h->def.user, (cm_http_topic)(CM_HTTP_TOPICS + question), request);
}

// Health ---------------------------------------------------------------------------------------

static cm_http_found reply(cm_http_answer *answer, uint32_t status, cm_page *page)
{
    answer->status = status;
    answer->type = TEXT;
    answer->page = page;
    return page != NULL ? CM_HTTP_ANSWERED : CM_HTTP_LATER;
}

static void put_worker(cm_page *page, uint32_t worker, const char *what)
{
    cm_page_text(page, "worker ");
    cm_page_uint(page, worker);
    cm_page_text(page, what);
}

static cm_http_found get_health(cm_http_pages *h, const cm_http_request *request,
                                cm_http_answer *answer)
{
    cm_page *page = cm_page_create();
    (void)request;
    look(h);
    if (page != NULL && h->server.values[CM_SERVER_HAS_DRAINING] != 0) {
        cm_page_text(page, "the server is draining\n");
    }
    for (uint32_t i = 0; page != NULL && i < h->def.workers; i++) {
        const cm_metrics_worker *worker = &h->workers[i];
        if (worker->is_there && !worker->is_up) {
            put_worker(page, i, " is down\n");
        } else if (worker->is_known && h->now_us - h->heard_us[i] > CM_SERVE_HTTP_SILENT_US) {
            put_worker(page, i, " says nothing\n");
        }
    }
    bool well = page != NULL && page->size == 0;
    if (well) {
        cm_page_text(page, "ok\n");
    }
    return reply(answer, well ? 200 : 503, page);
}

static cm_http_found get_ready(cm_http_pages *h, const cm_http_request *request,
                               cm_http_answer *answer)
{
    cm_page *page = cm_page_create();
    (void)request;
    look(h);
    bool ready = h->server.values[CM_SERVER_HAS_READY] != 0;
    if (page != NULL) {
        cm_page_text(page, ready ? "ok\n" : "no player is to be sent here now\n");
    }
    return reply(answer, ready ? 200 : 503, page);
}

// A file of the page for browsers.
static cm_http_found get_file(const cm_http_request *request, cm_http_answer *answer)
{
    cm_web_page file;
    if (!cm_web_page_find(request->path, &file)) {
        return CM_HTTP_NOT_THERE;
    }
    answer->type = file.type;
    answer->encoding = file.encoding;
    answer->page = cm_page_create();
    if (answer->page == NULL) {
        return CM_HTTP_LATER;
    }
    cm_page_bytes(answer->page, file.bytes, file.size);
    if (file.etag != NULL) {
        answer->cache = "no-cache";
        snprintf(answer->etag, sizeof answer->etag, "\"%.32s\"", file.etag);
    }
    return CM_HTTP_ANSWERED;
}

static cm_http_found get_stream(cm_http_pages *h, const cm_http_request *request,
                                cm_http_answer *answer)
{
    if (strcmp(request->path, CM_STREAM_LIST) == 0) {
        return cm_stream_files_list(h->streams, h->now_us, answer);
    }
    return cm_stream_files_get(h->streams, request->path, h->is_private && request->by_own_name,
                               answer);
}

// The whole ------------------------------------------------------------------------------------

static cm_http_found get(void *user, const cm_http_request *request, const cm_http_asker *asker,
                         cm_http_answer *answer)
{
    cm_http_pages *h = user;
    static const struct {
        const char *path;
        cm_http_found (*get)(cm_http_pages *h, const cm_http_request *request,
                             cm_http_answer *answer);
    } pages[] = {{"/metrics", get_metrics}, {"/healthz", get_health}, {"/readyz", get_ready},
                 {"/history", get_history}, {"/rooms", get_topic},    {"/players", get_topic}};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (strcmp(pages[i].path, request->path) == 0) {
            return pages[i].get(user, request, answer);
        }
    }
    if (request->is_api) {
        return cm_api_get(h->api, request, asker, h->now_us, answer);
    }
    return strncmp(request->path, "/stream/", 8) == 0 ? get_stream(user, request, answer)
                                                      : get_file(request, answer);
}

static cm_http_refusal upgrade(void *user, const cm_http_request *request, int descriptor)
{
    const cm_http_pages *h = user;
    return h->def.upgrade(h->def.user, request, descriptor);
}

carom_result cm_http_pages_open(const cm_http_pages_def *def, cm_http_pages **out,
                                cm_failure *failure)
{
    const cm_config *config = &def->base->config;
    char error[256] = "out of memory";
    cm_http_def http = {.get = get, .upgrade = def->upgrade != NULL ? upgrade : NULL};
    *out = NULL;
    if (config->http[0] == '\0') {
        return CAROM_OK;
    }
    cm_config_address(config->http, &http.address);
    cm_http_pages *h = calloc(1, sizeof *h);
    http.user = h;
    const cm_api_def api = {.base = def->base,
                            .is_private = cm_address_is_loopback(http.address.ip),
                            .list = list,
                            .figures = figures,
                            .command = command,
                            .user = h};
    if (h == NULL || (h->streams = cm_stream_files_create(config->matches)) == NULL ||
        (h->api = cm_api_create(&api)) == NULL ||
        (h->http = cm_http_create(&http, error, sizeof error)) == NULL) {
        cm_stream_files_destroy(h != NULL ? h->streams : NULL);
        cm_api_destroy(h != NULL ? h->api : NULL);
        free(h);
        return cm_fail(failure,
                       cm_parts[CM_PART_HTTP].is_built ? CAROM_ERROR_IO : CAROM_ERROR_NOT_BUILT,
                       "serve: http: %s", error);
    }
    h->def = *def;
    h->is_private = api.is_private;
    h->started_unix_ms = cm_unix_ms();
    h->server.version = cm_version_number;
    h->server.commit = cm_version_commit;
    h->server.engine = CAROM_ENGINE_VERSION;
    h->server.worker_count = def->workers;
    h->server.workers = h->workers;
    *out = h;
    return CAROM_OK;
}

carom_result cm_http_pages_check(const cm_config *config, cm_failure *failure)
{
    char error[256];
    cm_http_def def = {0};
    if (config->http[0] == '\0') {
        return CAROM_OK;
    }
    cm_config_address(config->http, &def.address);
    cm_http *http = cm_http_create(&def, error, sizeof error);
    if (http == NULL) {
        return cm_fail(failure,
                       cm_parts[CM_PART_HTTP].is_built ? CAROM_ERROR_IO : CAROM_ERROR_NOT_BUILT,
                       "serve: http: %s", error);
    }
    cm_http_destroy(http);
    return CAROM_OK;
}

void cm_http_pages_close(cm_http_pages *h)
{
    if (h == NULL) {
        return;
    }
    cm_http_destroy(h->http);
    cm_stream_files_destroy(h->streams);
    cm_api_destroy(h->api);
    for (uint32_t i = 0; i < CM_WORKERS_MAX; i++) {
        free(h->workers[i].rooms);
        free(h->next[i].rooms);
    }
    for (uint32_t i = 0; i < 2 * CM_HTTP_TOPICS; i++) {
        cm_page_drop(h->topics[i / 2].pages[i % 2]);
        cm_page_drop(h->topics[i / 2].making[i % 2]);
    }
    cm_page_drop(h->metrics);
    cm_page_drop(h->making);
    cm_page_drop(h->drawn);
    free(h);
}

void cm_http_pages_print(const cm_http_pages *h)
{
    if (h != NULL) {
        const cm_server_base *base = h->def.base;
        char shown[CM_CONFIG_TEXT_MAX + 24];
        const char *given = base->config.http;
        char address[CM_CONFIG_TEXT_MAX + 8];
        snprintf(address, sizeof address, "%.*s:%u", (int)(strrchr(given, ':') - given), given,
                 (unsigned)cm_http_port(h->http));
        snprintf(shown, sizeof shown, "http on %s", address);
        cm_status_screen_print(&h->def.base->screen, shown);
        cm_status_screen_flush();
        cm_log_say(&base->log, CM_LOG_INFO, "http", CM_T("address", address));
    }
}

int cm_http_pages_descriptor(const cm_http_pages *h)
{
    return h != NULL ? cm_http_descriptor(h->http) : -1;
}

bool cm_http_pages_turn(cm_http_pages *h, uint64_t now_us)
{
    if (h == NULL) {
        return false;
    }
    h->now_us = now_us;
    take_sample(h);
    bool more = cm_http_turn(h->http, now_us);
    return write_metrics(h) || more;
}
