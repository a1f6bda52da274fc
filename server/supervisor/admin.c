// `carom admin` of a server with workers: what one worker knows is asked there, what all know of
// all of them; tokens, bans and the drain are the supervisor's own.
#include <stdio.h>
#include <string.h>

#include "server/node/node.h"
#include "server/node/node_admin.h"
#include "server/supervisor/supervisor.h"

static void ask(cm_server *s, uint32_t worker, uint64_t number, const char *request)
{
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_ASK, .ask = {.number = number}};
    memcpy(message.ask.text, request, strlen(request) + 1); // of at most CM_ADMIN_REQUEST_MAX
    cm_supervisor_send(s->supervisor, worker, &message);
}

// `workers`: a bit each.
static void ask_workers(cm_server *s, uint64_t workers, const char *request, cm_admin_reply *reply)
{
    cm_admin_question *question = NULL;
    if (cm_admin_number(reply) >= CM_PAGE_QUESTION) {
        question = &s->page_questions[cm_admin_number(reply) - CM_PAGE_QUESTION];
    }
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        bool dead = cm_admin_find(s->admin, s->questions[i].number) == NULL;
        question = question == NULL && dead ? &s->questions[i] : question;
    }
    if (question == NULL || workers == 0) {
        cm_admin_error(reply, CM_ADMIN_BUSY, "no worker is there to answer, ask again");
        return;
    }
    question->number = cm_admin_later(reply);
    question->waiting = workers;
    for (uint32_t i = 0; i < s->slots; i++) {
        if ((workers >> i & 1u) != 0) {
            ask(s, i, question->number, request);
        }
    }
}

static uint64_t living(const cm_server *s)
{
    uint64_t workers = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        workers |= (uint64_t)(s->workers[i].ready && !s->workers[i].ends) << i;
    }
    return workers;
}

static void open_room(cm_server *s, const cm_admin_request *asked, const char *request,
                      cm_admin_reply *reply)
{
    if (cm_room_directory_find(&s->directory, asked->room) != NULL || s->end_us != 0) {
        cm_admin_error(reply, CM_ADMIN_CONFLICT,
                       s->end_us != 0 ? "the server drains: no room opens any more"
                                      : "there is a room of that name");
        return;
    }
    uint32_t worker = cm_server_place(s);
    if (worker == CM_PLACEMENT_NONE) {
        cm_admin_error(reply, CM_ADMIN_BUSY,
                       "every worker uses 80% of its processor, or has as many rooms "
                       "as one takes");
        return;
    }
    ask_workers(s, UINT64_C(1) << worker, request, reply);
}

static void ban(cm_server *s, const cm_admin_request *asked, cm_admin_reply *reply)
{
    cm_ban_term term = {.by_address = asked->by_address, .who = asked->number};
    term.until_unix_s = asked->seconds > 0 ? cm_unix_ms() / 1000 + asked->seconds : 0;
    _Static_assert(sizeof term.reason == sizeof asked->text, "a reason is a text for players");
    memcpy(term.reason, asked->text, sizeof term.reason);
    const char *wrong = cm_server_ban(s, &term);
    if (wrong != NULL) {
        cm_admin_error(reply, CM_ADMIN_CONFLICT, wrong);
        return;
    }
    cm_admin_report(&s->base->log, asked, reply);
}

static void unban(cm_server *s, const cm_admin_request *asked, cm_admin_reply *reply)
{
    const char *held = cm_ban_lists_held(&s->base->bans, asked->by_address, asked->number);
    if (held != NULL) {
        cm_admin_error(reply, CM_ADMIN_CONFLICT, held);
        return;
    }
    if (!cm_bans_have(asked->by_address ? &s->banned_addresses : &s->bans, asked->number)) {
        cm_admin_error(reply, CM_ADMIN_NOT_FOUND,
                       "no client of that number, or address, is banned");
        return;
    }
    cm_server_unban(s, asked->by_address, asked->number);
    cm_admin_report(&s->base->log, asked, reply);
}

// The shorter wait holds, whatever was asked before, and none is shorter than no wait.
static void drain(cm_server *s, const cm_admin_request *asked, cm_admin_reply *reply)
{
    char wrong[96];
    if (asked->handover && asked->seconds > 0) {
        cm_admin_error(reply, CM_ADMIN_ARGUMENT, "a handover does not wait");
        return;
    }
    if (s->draining || s->drain_asked) {
        cm_admin_error(reply, CM_ADMIN_CONFLICT, "the server drains already");
        return;
    }
    if (asked->seconds > 0 && !cm_server_drain_in(s, asked->seconds)) {
        snprintf(wrong, sizeof wrong, "it drains in %u s already: the shorter time holds",
                 (unsigned)cm_server_drain_left_s(s));
        cm_admin_error(reply, CM_ADMIN_CONFLICT, wrong);
        return;
    }
    s->drain_asked = asked->seconds == 0;
    s->hands_over = asked->handover;
    cm_admin_report(&s->base->log, asked, reply);
}

// Answers commands of the supervisor's own.
static void answer_self(cm_server *s, const cm_admin_request *asked, const char *request,
                        cm_admin_reply *reply)
{
    switch (asked->command) {
    case CM_ADMIN_OPEN:
        open_room(s, asked, request, reply);
        break;
    case CM_ADMIN_BAN:
        ban(s, asked, reply);
        break;
    case CM_ADMIN_UNBAN:
        unban(s, asked, reply);
        break;
    case CM_ADMIN_BANS:
        cm_server_bans_list(s, reply);
        break;
    default:
        drain(s, asked, reply);
        break;
    }
}

static void answer(void *user, const char *request, cm_admin_reply *reply)
{
    cm_server *s = user;
    cm_admin_request asked;
    char wrong[256];
    if (!cm_admin_request_read(request, &asked, wrong)) {
        cm_admin_error(reply, CM_ADMIN_ARGUMENT, wrong);
        return;
    }
    const cm_directory_entry *entry =
        asked.room[0] != '\0' ? cm_room_directory_find(&s->directory, asked.room) : NULL;
    if (asked.scope == CM_ADMIN_SERVER) {
        answer_self(s, &asked, request, reply);
    } else if (entry != NULL) {
        ask_workers(s, living(s) & UINT64_C(1) << entry->worker, request, reply);
    } else if (asked.room[0] != '\0') {
        cm_admin_error(reply, CM_ADMIN_NOT_FOUND, "there is no room of that name");
    } else {
        ask_workers(s, living(s), request, reply);
    }
}

carom_result cm_admin_questions_open(cm_server *s, cm_failure *failure)
{
    char path[CM_NODE_ADMIN_PATH_MAX], error[512];
    cm_node_admin_path(&s->base->config, path);
    if (!cm_node_admin_fits(&s->base->config, &s->base->log)) {
        return CAROM_OK;
    }
    cm_admin_def def = {.path = path, .answer = answer, .user = s};
    s->admin = cm_admin_create(&def, error, sizeof error);
    return s->admin != NULL ? CAROM_OK
                            : cm_fail(failure, CAROM_ERROR_IO, "serve: admin: %s", error);
}

// Pages --------------------------------------------------------------------------------------

void cm_admin_questions_ask_page(void *user, cm_http_topic topic, const char *request)
{
    cm_server *s = user;
    cm_admin_question *question = &s->page_questions[topic];
    question->waiting = living(s);
    question->number = CM_PAGE_QUESTION + topic;
    for (uint32_t i = 0; i < s->slots; i++) {
        if ((question->waiting >> i & 1u) != 0) {
            ask(s, i, question->number, request);
        }
    }
    if (question->waiting == 0) { // while all are started again there is nobody to ask
        cm_http_pages_line(s->http, topic, "{\"error\":\"no worker is there to answer\"}");
        cm_http_pages_line(s->http, topic, "");
    }
}

typedef struct page_asker {
    cm_server *server;
    cm_http_topic topic;
} page_asker;

static void page_line(void *user, const char *line)
{
    const page_asker *asker = user;
    cm_http_pages_line(asker->server->http, asker->topic, line);
}

void cm_admin_questions_command(void *user, cm_http_topic topic, const char *request)
{
    page_asker asker = {user, topic};
    const cm_admin_def def = {.answer = answer, .user = user};
    if (cm_admin_answer(&def, request, CM_PAGE_QUESTION + topic, page_line, &asker)) {
        page_line(&asker, "");
    }
}

// A line of a worker's part; "": that is whole.
static void page_answered(cm_server *s, uint32_t worker, uint64_t number, const char *line)
{
    uint64_t topic = number - CM_PAGE_QUESTION;
    if (topic >= CM_HTTP_QUESTIONS || (s->page_questions[topic].waiting >> worker & 1u) == 0) {
        return;
    }
    if (line[0] == '\0') {
        s->page_questions[topic].waiting &= ~(UINT64_C(1) << worker);
    }
    if (line[0] != '\0' || s->page_questions[topic].waiting == 0) {
        cm_http_pages_line(s->http, (cm_http_topic)topic, line);
    }
}

static void end_part(cm_server *s, cm_admin_question *question, uint32_t worker)
{
    question->waiting &= ~(UINT64_C(1) << worker);
    if (question->waiting == 0) {
        cm_admin_done(s->admin, question->number);
        question->number = 0;
    }
}

void cm_admin_questions_on_answer(cm_server *s, uint32_t worker, uint64_t number, const char *line)
{
    if (number >= CM_PAGE_QUESTION) {
        page_answered(s, worker, number, line);
        return;
    }
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        cm_admin_question *question = &s->questions[i];
        cm_admin_reply *reply = cm_admin_find(s->admin, number);
        if (question->number != number || number == 0) {
            continue;
        }
        if (line[0] == '\0') {
            end_part(s, question, worker);
        } else if (reply != NULL) {
            cm_admin_write_line(reply, line);
        }
    }
}

void cm_admin_questions_on_exit(cm_server *s, uint32_t worker)
{
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        cm_admin_question *question = &s->questions[i];
        cm_admin_reply *reply = cm_admin_find(s->admin, question->number);
        if (question->number == 0 || (question->waiting >> worker & 1u) == 0) {
            continue;
        }
        if (reply != NULL) {
            cm_admin_error(reply, CM_ADMIN_BUSY, "a worker died before it had answered");
        }
        end_part(s, question, worker);
    }
    for (uint32_t i = 0; i < CM_HTTP_QUESTIONS; i++) { // of what waits for no other nothing is said
        page_answered(s, worker, CM_PAGE_QUESTION + i,
                      "{\"error\":\"a worker died before it had answered\"}");
        page_answered(s, worker, CM_PAGE_QUESTION + i, "");
    }
}
