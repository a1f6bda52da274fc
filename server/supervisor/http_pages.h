// The pages of `carom serve --http`: /metrics, /healthz, /readyz, /rooms, /players and /history,
// and a page for browsers at / that reads the last ones, of a server with workers or without.
//
// Figures are those that workers told last; rooms and players are asked for when somebody wants
// them, at most once a second, by what `carom admin` asks with. Whoever asks more often gets the
// page that is there, so that strangers cost the workers nothing. Typical: a scrape each 15 s.
#ifndef CM_SERVER_SUPERVISOR_HTTP_PAGES_H
#define CM_SERVER_SUPERVISOR_HTTP_PAGES_H

#include "server/supervisor/metrics_page.h"
#include "server/supervisor/base.h"

#define CM_SERVE_HTTP_FRESH_US  1000000u    // that a page is given again
#define CM_SERVE_HTTP_SILENT_US 15000000u   // of a worker, which is then not healthy
#define CM_SERVE_HTTP_TURN      (64u << 10) // bytes of figures that a turn writes, and one family

typedef struct cm_serve_http cm_serve_http;

// What is asked of workers.
typedef enum cm_serve_topic {
    CM_SERVE_ROOMS,
    CM_SERVE_PLAYERS,
    CM_SERVE_TOPICS,
} cm_serve_topic;

typedef struct cm_serve_http_def {
    cm_serve_base *base;
    uint32_t workers; // places of workers
    // How the server is: its values but those of HTTP, and of each worker is_there, is_up and
    // restarts.
    void (*look)(void *user, cm_figures_server *server, cm_figures_worker *workers);
    // Whether a room is that worker's. NULL: there is one worker.
    bool (*is_home)(void *user, uint32_t worker, const char *room);
    // Lines of the answer go to cm_serve_http_line, and "" when it is whole: now or later.
    void (*ask)(void *user, cm_serve_topic topic, const char *request);
    void *user;
} cm_serve_http_def;

// NULL where the configuration has no HTTP.
carom_result cm_serve_http_open(const cm_serve_http_def *def, cm_serve_http **http,
                                cm_failure *failure);
// Whether its address is free: for --check-config.
carom_result cm_serve_http_check(const cm_config *config, cm_failure *failure);
void cm_serve_http_close(cm_serve_http *http);
// Says where it is, on stdout and in the log. Of NULL: nothing; so below.
void cm_serve_http_tell(const cm_serve_http *http);

int cm_serve_http_descriptor(const cm_serve_http *http);       // for poll; -1: none
bool cm_serve_http_turn(cm_serve_http *http, uint64_t now_us); // true: more is to be done at once

// What workers tell: their rooms one after another, then their own figures.
void cm_serve_http_room(cm_serve_http *http, uint32_t worker, uint32_t number,
                        const cm_room_figures *figures);
void cm_serve_http_whole(cm_serve_http *http, uint32_t worker, uint32_t rooms,
                         const cm_worker_figures *figures);
// It is dead; a room of its is no more.
void cm_serve_http_died(cm_serve_http *http, uint32_t worker);
void cm_serve_http_gone(cm_serve_http *http, uint32_t worker, const char *room);
void cm_serve_http_line(cm_serve_http *http, cm_serve_topic topic, const char *line);

#endif
