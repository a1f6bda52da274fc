// /api/v1 of `carom serve --http`: who asks is checked against the keys of --api-keys and the table
// of routes; what is read comes from the lists that the pages have, what is done goes to the
// command table of `carom admin`, and is answered when the workers answered.
//
//   request -> a route -> a key and its scope -> a list, at once
//                                             -> a question -> (workers answer) -> its answer
//
// Wrong keys are counted by address, and beyond a number a minute neither logged nor told more.
// A right key passes all the same: behind a proxy everybody has one address. Typical: a request a
// second.
#ifndef CM_SERVER_SUPERVISOR_API_H
#define CM_SERVER_SUPERVISOR_API_H

#include "server/supervisor/base.h"
#include "server/supervisor/metrics_page.h"

#define CM_API_QUESTIONS_MAX 8u        // that wait for workers, or for who asked
#define CM_API_QUESTION_US   15000000u // after which an answer that nobody fetched is dropped
#define CM_API_WRONG_KEYS    10u       // of an address in a minute
#define CM_API_LIST_MAX      100u      // entries of a page of a list
#define CM_API_LIST          50u       // likewise, where nobody says ?limit=

typedef struct cm_api cm_api;

typedef struct cm_api_def {
    const cm_server_base *base;
    bool is_private; // it listens on loopback
    // The list of rooms, or of players: "[line,\nline]\n", with names of players and files or
    // without. NULL: not made yet. `failed`: a worker could not be asked.
    const cm_page *(*list)(void *user, bool players, bool names, bool *failed);
    const cm_metrics_server *(*figures)(void *user);
    // A request of the command table, by the number of a question: lines of its answer go to
    // cm_api_line, and "" behind them.
    void (*command)(void *user, uint32_t question, const char *request);
    void *user;
} cm_api_def;

cm_api *cm_api_create(const cm_api_def *def); // NULL: no memory
void cm_api_destroy(cm_api *api);
void cm_api_line(cm_api *api, uint32_t question, const char *line);
// A path that begins with CM_HTTP_API.
cm_http_found cm_api_get(cm_api *api, const cm_http_request *request, const cm_http_asker *asker,
                         uint64_t now_us, cm_http_answer *answer);

#endif
