// See api.h. Each request passes the checks in one order: path, method, key, scope, origin, body.
#include "server/supervisor/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"
#include "server/supervisor/api_document.h"
#include "server/supervisor/api_lists.h"
#include "server/supervisor/api_routes.h"
#include "shared/scene/scene_json.h"

#define JSON         "application/json"
#define BEARER       "Bearer "
#define ADDRESSES    64u // whose wrong keys are counted
#define MINUTE_US    60000000u
#define MESSAGE_SIZE 640u

// A command that was asked for.
typedef struct question {
    uint64_t request; // number of the request; 0: free
    uint64_t since_us;
    const cm_api_route *route;
    bool is_whole;
    char line[CM_ADMIN_REQUEST_MAX]; // the first of the answer
} question;

typedef struct wrong_keys {
    uint64_t network, since_us;
    uint32_t count; // since then
} wrong_keys;

struct cm_api {
    cm_api_def def;
    question questions[CM_API_QUESTIONS_MAX];
    wrong_keys wrong[ADDRESSES];
    cm_page *document; // NULL: nobody asked for it yet
};

// A request on its way through the checks.
typedef struct call {
    const cm_http_request *request;
    const cm_http_asker *asker;
    const cm_api_route *route;
    cm_api_places places;
    const cm_api_key *key; // NULL: none was shown
    uint64_t now_us;
    cm_http_answer *answer;
} call;

cm_api *cm_api_create(const cm_api_def *def)
{
    cm_api *api = calloc(1, sizeof *api);
    if (api != NULL) {
        api->def = *def;
    }
    return api;
}

void cm_api_destroy(cm_api *api)
{
    cm_page_drop(api != NULL ? api->document : NULL);
    free(api);
}

// Answers --------------------------------------------------------------------------------------

static cm_http_found give(call *c, uint32_t status, cm_page *page)
{
    if (page == NULL || page->cut) {
        cm_page_drop(page);
        return CM_HTTP_LATER; // it is out of memory: asked again, then refused as late
    }
    c->answer->status = status;
    c->answer->type = JSON;
    c->answer->page = page;
    return CM_HTTP_ANSWERED;
}

static void put_text(cm_page *page, const char *key, const char *text)
{
    char quoted[6 * MESSAGE_SIZE + 3];
    (void)cm_json_quote(text, quoted, sizeof quoted);
    cm_page_text(page, "\"");
    cm_page_text(page, key);
    cm_page_text(page, "\":");
    cm_page_text(page, quoted);
}

// `field` of the body; NULL: none.
static cm_http_found fail(call *c, uint32_t status, const char *code, const char *message,
                          const char *field)
{
    cm_page *page = cm_page_create();
    if (page != NULL) {
        cm_page_text(page, "{\"error\":{");
        put_text(page, "code", code);
        cm_page_text(page, ",");
        put_text(page, "message", message);
        if (field != NULL) {
            cm_page_text(page, ",");
            put_text(page, "field", field);
        }
        cm_page_text(page, "}}\n");
    }
    return give(c, status, page);
}

static cm_http_found refuse(call *c, cm_http_refusal refusal, const char *code)
{
    c->answer->refusal = refusal;
    return fail(c, cm_http_refusal_status(refusal), code, cm_http_refusal_text(refusal), NULL);
}

// Keys -----------------------------------------------------------------------------------------

// True: it had as many already as an address may have.
static bool count_wrong(cm_api *api, const call *c)
{
    wrong_keys *place = &api->wrong[0];
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        wrong_keys *w = &api->wrong[i];
        if (w->count > 0 && w->network == c->asker->network) {
            place = w;
            break;
        }
        place = w->since_us < place->since_us ? w : place; // the oldest gives way
    }
    if (place->network != c->asker->network || c->now_us - place->since_us >= MINUTE_US) {
        *place = (wrong_keys){.network = c->asker->network, .since_us = c->now_us};
    }
    place->count += place->count <= CM_API_WRONG_KEYS;
    return place->count > CM_API_WRONG_KEYS;
}

static cm_http_found refuse_key(cm_api *api, call *c)
{
    char address[CM_ADDRESS_TEXT_MAX];
    if (count_wrong(api, c)) {
        return refuse(c, CM_HTTP_RATE, "rate");
    }
    cm_address_write_network(c->asker->network, address);
    cm_log_say(&api->def.base->log, CM_LOG_WARNING, "api key refused", CM_T("address", address),
               CM_T("path", c->request->path));
    return refuse(c, CM_HTTP_KEY, "key");
}

// A page of the server's own; one of no browser has no Origin.
static bool is_own_origin(const cm_http_request *request)
{
    const char *origin = request->origin;
    size_t scheme = strncmp(origin, "http://", 7) == 0    ? 7
                    : strncmp(origin, "https://", 8) == 0 ? 8
                                                          : 0;
    return origin[0] == '\0' || (scheme > 0 && strcmp(origin + scheme, request->host) == 0);
}

// True: it may go on. Else it is answered, `*found`.
static bool admit(cm_api *api, call *c, cm_http_found *found)
{
    const char *text = c->request->authorization;
    bool reads = c->route->scope == CM_API_READ;
    if (text[0] != '\0' && strncmp(text, BEARER, strlen(BEARER)) == 0) {
        c->key = cm_api_keys_find(&api->def.base->api_keys, text + strlen(BEARER));
    }
    if (c->key == NULL && (text[0] != '\0' || !reads)) {
        *found = text[0] != '\0' ? refuse_key(api, c) : refuse(c, CM_HTTP_KEY, "key");
        return false;
    }
    if (c->key != NULL && (c->key->scopes >> c->route->scope & 1u) == 0) {
        *found = refuse(c, CM_HTTP_SCOPE, "scope");
        return false;
    }
    if (!reads && !is_own_origin(c->request)) {
        *found = refuse(c, CM_HTTP_ORIGIN, "origin");
        return false;
    }
    return true;
}

// Commands -------------------------------------------------------------------------------------

// Free, or with an answer that nobody fetched; NULL: none.
static question *find_place(cm_api *api, uint64_t now_us)
{
    for (uint32_t i = 0; i < CM_API_QUESTIONS_MAX; i++) {
        question *q = &api->questions[i];
        bool is_old = q->is_whole && now_us - q->since_us >= CM_API_QUESTION_US;
        if (q->request == 0 || is_old) {
            return q;
        }
    }
    return NULL;
}

static cm_http_found ask(cm_api *api, call *c)
{
    char line[CM_ADMIN_REQUEST_MAX];
    const char *body = c->route->body != NULL && c->request->body_size > 0 ? c->asker->body : NULL;
    question *q = find_place(api, c->now_us);
    if (!cm_api_request(c->route, &c->places, c->key->name, body, line)) {
        c->answer->refusal = CM_HTTP_BODY;
        return fail(c, 413, "body", "the request is too long", NULL);
    }
    if (q == NULL) {
        return fail(c, 503, "busy", "as many commands as can wait are being carried out", NULL);
    }
    *q = (question){.request = c->asker->number, .since_us = c->now_us, .route = c->route};
    api->def.command(api->def.user, (uint32_t)(q - api->questions), line);
    return CM_HTTP_LATER;
}

static cm_http_found do_command(cm_api *api, call *c)
{
    const cm_http_request *request = c->request;
    cm_scene_error wrong;
    if (c->route->body == NULL && request->body_size > 0) {
        c->answer->refusal = CM_HTTP_BODY;
        return fail(c, 413, "body", "a request with a body", NULL);
    }
    if (request->body_size > 0 && !request->is_json) {
        return fail(c, 415, "type", "expected Content-Type: application/json", NULL);
    }
    const char *body = request->body_size > 0 ? c->asker->body : "{}";
    size_t size = request->body_size > 0 ? request->body_size : 2;
    if (c->route->body != NULL &&
        (strlen(body) != size || !cm_api_check_body(c->route, body, size, &wrong))) {
        bool is_text = strlen(body) == size;
        return fail(c, 400, "argument", is_text ? wrong.message : "a NUL byte, expected JSON",
                    is_text && wrong.path[0] != '\0' ? wrong.path : NULL);
    }
    return ask(api, c);
}

void cm_api_line(cm_api *api, uint32_t number, const char *line)
{
    question *q = &api->questions[number];
    if (line[0] == '\0') {
        q->is_whole = true;
    } else if (q->line[0] == '\0') {
        snprintf(q->line, sizeof q->line, "%s", line);
    }
}

// Of the code of a failed command.
static uint32_t status_of(const char *code)
{
#define CODE(id, code, status) {code, status},
    static const struct {
        const char *code;
        uint32_t status;
    } rows[] = {CM_ADMIN_FAULTS(CODE)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (code != NULL && strcmp(rows[i].code, code) == 0) {
            return rows[i].status;
        }
    }
    return 500;
}

static cm_http_found fetch(call *c, question *q)
{
    cm_json_reader reader;
    cm_scene_error wrong;
    if (!q->is_whole) {
        return CM_HTTP_LATER;
    }
    const cm_json_value *line =
        cm_json_open(&reader, q->line, strlen(q->line), sizeof q->line, &wrong);
    const char *error = cm_json_text_of(cm_json_member(line, "error"));
    const char *code = cm_json_text_of(cm_json_member(line, "code"));
    cm_http_found found;
    if (line == NULL || error != NULL) {
        found = fail(c, status_of(code), code != NULL ? code : "failed",
                     error != NULL ? error : "no answer came", NULL);
    } else {
        cm_page *page = cm_page_create();
        if (page != NULL) {
            cm_page_text(page, q->line);
            cm_page_text(page, "\n");
        }
        found = give(c, q->route->status, page);
    }
    cm_json_close(&reader);
    if (found == CM_HTTP_ANSWERED) {
        q->request = 0;
    }
    return found;
}

// Lists ----------------------------------------------------------------------------------------

static cm_http_found give_server(cm_api *api, call *c)
{
    const cm_metrics_server *s = api->def.figures(api->def.user);
    const uint64_t *v = s->values;
    cm_line line;
    cm_line_begin(&line);
    cm_line_put(&line, CM_T("version", s->version), CM_U("engine", s->engine),
                CM_U("workers", v[CM_SERVER_HAS_WORKERS]), CM_U("rooms", v[CM_SERVER_HAS_ROOMS]),
                CM_U("players", v[CM_SERVER_HAS_PLAYERS]),
                CM_B("ready", v[CM_SERVER_HAS_READY] != 0),
                CM_B("draining", v[CM_SERVER_HAS_DRAINING] != 0));
    cm_page *page = cm_page_create();
    if (page != NULL) {
        cm_page_text(page, cm_line_end(&line));
        cm_page_text(page, "\n");
    }
    return give(c, 200, page);
}

// ?limit= and ?after=. False: they are none.
static bool read_part(const cm_http_request *request, cm_api_part *part)
{
    char text[8];
    int64_t limit = CM_API_LIST;
    bool good = !strstr(request->query, "limit=") ||
                (cm_api_query(request->query, "limit", text, sizeof text) &&
                 cm_parse_int(text, 1, CM_API_LIST_MAX, &limit));
    bool after = cm_api_query(request->query, "after", part->after, sizeof part->after);
    part->limit = (uint32_t)limit;
    return good && (after || strstr(request->query, "after=") == NULL);
}

static cm_http_found give_list(cm_api *api, call *c)
{
    bool names = (api->def.is_private && c->request->by_own_name) || c->key != NULL;
    bool failed = false, players = c->route->source == CM_API_FROM_PLAYERS;
    const cm_page *rooms = api->def.list(api->def.user, false, names, &failed);
    const cm_page *list =
        rooms != NULL && players ? api->def.list(api->def.user, true, names, &failed) : rooms;
    cm_api_part part = {.limit = CM_API_LIST_MAX};
    if (list == NULL) {
        return CM_HTTP_LATER;
    }
    if (failed) {
        return fail(c, 503, "busy", "a worker could not be asked, ask again", NULL);
    }
    if (c->route->pages && !read_part(c->request, &part)) {
        return fail(c, 400, "argument", "limit: expected 1 to 100; after: a name", "query");
    }
    if (c->places.room[0] != '\0' && !cm_api_list_has(rooms, c->places.room)) {
        return fail(c, 404, "not_found", "there is no room of that name", NULL);
    }
    cm_page *page = cm_page_create();
    if (page != NULL && c->route->source == CM_API_FROM_ROOMS) {
        cm_api_list_write(list, &part, page);
    } else if (page != NULL) {
        cm_api_list_write_of(list, c->places.room, players ? "players" : NULL, page);
    }
    return give(c, 200, page);
}

static cm_http_found give_document(cm_api *api, call *c)
{
    if (api->document == NULL) {
        api->document = cm_page_create();
        if (api->document == NULL) {
            return CM_HTTP_LATER;
        }
        cm_api_openapi(api->document);
    }
    return give(c, 200, cm_page_hold(api->document));
}

// The whole ------------------------------------------------------------------------------------

static cm_http_found dispatch(cm_api *api, call *c)
{
    switch (c->route->source) {
    case CM_API_FROM_COMMAND:
        return do_command(api, c);
    case CM_API_FROM_DOCUMENT:
        return give_document(api, c);
    case CM_API_FROM_SERVER:
        return give_server(api, c);
    default:
        return give_list(api, c);
    }
}

cm_http_found cm_api_get(cm_api *api, const cm_http_request *request, const cm_http_asker *asker,
                         uint64_t now_us, cm_http_answer *answer)
{
    call c = {.request = request, .asker = asker, .now_us = now_us, .answer = answer};
    for (uint32_t i = 0; i < CM_API_QUESTIONS_MAX; i++) {
        if (api->questions[i].request == asker->number) {
            return fetch(&c, &api->questions[i]);
        }
    }
    uint32_t methods = cm_api_find(request->path, request->method, &c.route, &c.places);
    if (methods == 0) {
        return refuse(&c, CM_HTTP_PATH, "path");
    }
    if (c.route == NULL && request->method != CM_HTTP_OPTIONS) {
        answer->allow = cm_api_allow(methods);
        return refuse(&c, CM_HTTP_METHOD, "method");
    }
    if (c.route == NULL) {
        answer->allow = cm_api_allow(methods);
        return give(&c, 204, cm_page_create());
    }
    cm_http_found found;
    return admit(api, &c, &found) ? dispatch(api, &c) : found;
}
