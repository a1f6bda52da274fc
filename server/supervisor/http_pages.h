// The pages of `carom serve --http`: /metrics, /healthz, /readyz, /rooms, /players, /history and
// /api/v1/ (api.h),
// and a page for browsers at / that reads the last ones, of a server with workers or without.
//
// Figures are those that workers told last; rooms and players are asked for when somebody wants
// them, at most once a second, by what `carom admin` asks with. Whoever asks more often gets the
// page that is there, so that strangers cost the workers nothing. Typical: a scrape each 15 s.
#ifndef CM_SERVER_SUPERVISOR_HTTP_PAGES_H
#define CM_SERVER_SUPERVISOR_HTTP_PAGES_H

#include "server/supervisor/api.h"
#include "server/supervisor/metrics_page.h"
#include "server/supervisor/base.h"

#define CM_SERVE_HTTP_FRESH_US  1000000u    // that a page is given again
#define CM_SERVE_HTTP_SILENT_US 15000000u   // of a worker, which is then not healthy
#define CM_SERVE_HTTP_TURN      (64u << 10) // bytes of metrics that a turn writes, and one family

typedef struct cm_http_pages cm_http_pages;

// The topics that workers answer.
typedef enum cm_http_topic {
    CM_SERVE_ROOMS,
    CM_SERVE_PLAYERS,
    CM_HTTP_TOPICS,
    // And behind them the questions of the API.
    CM_HTTP_QUESTIONS = CM_HTTP_TOPICS + CM_API_QUESTIONS_MAX,
} cm_http_topic;

typedef struct cm_http_pages_def {
    cm_server_base *base;
    uint32_t workers; // places of workers
    // How the server is: its values but those of HTTP, and of each worker is_there, is_up and
    // restarts.
    void (*look)(void *user, cm_metrics_server *server, cm_metrics_worker *workers);
    // True if a room is that worker's. NULL: there is one worker.
    bool (*is_entry)(void *user, uint32_t worker, const char *room);
    // Lines of the answer go to cm_http_pages_line, and "" when it is whole: now or later.
    void (*ask)(void *user, cm_http_topic topic, const char *request);
    // As of cm_http_def; NULL: nobody plays by WebSocket.
    cm_http_refusal (*upgrade)(void *user, const cm_http_request *request, int descriptor);
    // The same of a command, by the number of a question.
    void (*command)(void *user, cm_http_topic topic, const char *request);
    void *user;
} cm_http_pages_def;

// NULL where the configuration has no HTTP.
carom_result cm_http_pages_open(const cm_http_pages_def *def, cm_http_pages **http,
                                cm_failure *failure);
// Checks that its address is free: for --check-config.
carom_result cm_http_pages_check(const cm_config *config, cm_failure *failure);
void cm_http_pages_close(cm_http_pages *http);
// Says where it is, on stdout and in the log. Of NULL: nothing; so below.
void cm_http_pages_print(const cm_http_pages *http);

int cm_http_pages_descriptor(const cm_http_pages *http);       // for poll; -1: none
bool cm_http_pages_turn(cm_http_pages *http, uint64_t now_us); // true: more is to be done at once

// Answers of workers: their rooms one after another, then their own metrics.
void cm_http_pages_room(cm_http_pages *http, uint32_t worker, uint32_t number,
                        const cm_room_metrics *metrics);
void cm_http_pages_whole(cm_http_pages *http, uint32_t worker, uint32_t rooms,
                         const cm_worker_metrics *metrics);
// It is dead; a room of its is no more.
void cm_http_pages_died(cm_http_pages *http, uint32_t worker);
void cm_http_pages_gone(cm_http_pages *http, uint32_t worker, const char *room);
void cm_http_pages_line(cm_http_pages *http, cm_http_topic topic, const char *line);

#endif
