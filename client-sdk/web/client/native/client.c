// The client for JavaScript: one call a frame, whose outcome lies in memory (frame.h). Callbacks
// write notes, which the page reads after the update: no call goes from here to JavaScript but
// socket.c's.
#include "client-sdk/web/client/native/frame.h"

#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/game/modules.h"
#include "shared/wire/packet.h"

#define NOTES_FIRST 4096u
#define NOTES_MOST  (4u << 20)
#define FLOATS      8u // of a row

extern const carom_module *const cw_modules[];
extern const uint32_t cw_module_count;

typedef struct cw_client {
    cw_frame frame; // first: its address is the client's
    carom_client *client;
    uint8_t given[CAROM_INPUT_MAX]; // the input that the client has
    uint8_t *notes;
    uint32_t notes_room;
    float *rows;
    carom_client_transform *drawn;
    uint32_t room; // for bodies
} cw_client;

// Notes ------------------------------------------------------------------------------------------

static uint8_t *note(cw_client *c, const cw_note *head)
{
    uint32_t size = (uint32_t)sizeof *head + ((head->size + 7) & ~7u);
    uint32_t need = c->frame.notes_size + size;
    if (need > c->notes_room && need <= NOTES_MOST) {
        uint32_t room = c->notes_room > 0 ? c->notes_room : NOTES_FIRST;
        while (room < need) {
            room *= 2;
        }
        uint8_t *more = realloc(c->notes, room);
        if (more != NULL) {
            c->notes = more;
            c->notes_room = room;
        }
    }
    if (need > c->notes_room) {
        c->frame.notes_lost++;
        return NULL;
    }
    uint8_t *at = c->notes + c->frame.notes_size;
    memcpy(at, head, sizeof *head);
    c->frame.notes_size = need;
    return at + sizeof *head;
}

static void tell(cw_client *c, cw_note head, const void *bytes, size_t size)
{
    head.size = (uint32_t)size;
    uint8_t *at = note(c, &head);
    if (at != NULL && size > 0) {
        memcpy(at, bytes, size);
    }
}

static void state_changed(void *user, carom_client_state state, carom_reason reason)
{
    tell(user, (cw_note){.kind = CW_NOTE_STATE, .number = state, .other = reason}, NULL, 0);
}

static void message(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    tell(user, (cw_note){.kind = CW_NOTE_MESSAGE, .tick = tick}, bytes, size);
}

static void unreliable(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    tell(user, (cw_note){.kind = CW_NOTE_UNRELIABLE, .tick = tick}, bytes, size);
}

static void event(void *user, carom_event_phase phase, const carom_event *event,
                  uint64_t predicted_tick)
{
    tell(user, (cw_note){.kind = CW_NOTE_EVENT, .number = phase, .tick = predicted_tick}, event,
         sizeof *event);
}

static void body_changed(void *user, const carom_client_body_change *change)
{
    tell(user, (cw_note){.kind = CW_NOTE_BODY, .number = change->kind, .other = change->owner},
         &change->body, sizeof change->body);
}

static void notice(void *user, const carom_client_notice *notice)
{
    tell(user,
         (cw_note){.kind = CW_NOTE_NOTICE, .number = notice->reason, .other = notice->seconds_left},
         notice->text, strlen(notice->text));
}

static void rooms(void *user, const carom_client_room_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *texts[] = {rows[i].name, rows[i].scene, rows[i].module};
        uint32_t size = 0;
        for (int t = 0; t < 3; t++) {
            size += (uint32_t)strlen(texts[t]) + 1;
        }
        uint8_t *at = note(user, &(cw_note){.kind = CW_NOTE_ROOM,
                                            .size = size,
                                            .number = rows[i].players,
                                            .other = rows[i].max_players,
                                            .tick = count - i - 1});
        for (int t = 0; at != NULL && t < 3; t++) {
            size_t length = strlen(texts[t]) + 1;
            memcpy(at, texts[t], length);
            at += length;
        }
    }
    if (count == 0) {
        tell(user, (cw_note){.kind = CW_NOTE_ROOM}, NULL, 0);
    }
}

static void log_text(void *user, carom_log_level level, const char *text)
{
    tell(user, (cw_note){.kind = CW_NOTE_LOG, .number = level}, text, strlen(text));
}

// Life -------------------------------------------------------------------------------------------

// Takes def's fields but for allocator, random and callbacks. NULL: def->error says why.
CAROM_API cw_client *cw_client_create(carom_client_def *def)
{
    static const char from_no_file[CM_MODULE_HASH_TEXT] = "";
    for (uint32_t i = 0; i < cw_module_count; i++) {
        (void)cm_module_add(cw_modules[i], from_no_file); // again: the name is taken
    }
    cw_client *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    def->user = c;
    def->state_changed = state_changed;
    def->message = message;
    def->unreliable = unreliable;
    def->event = event;
    def->body_changed = body_changed;
    def->notice = notice;
    def->rooms = rooms;
    def->log = log_text;
    if (carom_client_create(def, &c->client) != CAROM_OK) {
        free(c);
        return NULL;
    }
    return c;
}

CAROM_API void cw_client_destroy(cw_client *c)
{
    carom_client_destroy(c->client);
    free(c->notes);
    free(c->rows);
    free(c->drawn);
    free(c);
}

// The client itself, for the functions of client.h.
CAROM_API carom_client *cw_client_of(cw_client *c)
{
    return c->client;
}

// token: NULL, none. The port is a name for the page's URL alone.
CAROM_API carom_result cw_client_connect(cw_client *c, const char *token, double now_ms)
{
    uint64_t now_us = (uint64_t)(now_ms * 1000.0);
    carom_result result = token != NULL ? carom_client_connect_token(c->client, token, now_us)
                                        : carom_client_connect(c->client, "page", 1, now_us);
    c->frame.state = carom_client_get_state(c->client);
    c->frame.reason = carom_client_get_reason(c->client);
    return result;
}

// As reason.h names it: "ROOM_FULL".
CAROM_API const char *cw_reason_name(carom_reason reason)
{
#define NAME(name, text) #name,
    static const char *const names[] = {CAROM_REASON_TABLE(NAME)};
#undef NAME
    return reason < CAROM_REASON_COUNT ? names[reason] : names[CAROM_REASON_NONE];
}

CAROM_API uint32_t cw_protocol_version(void)
{
    return CM_PROTOCOL_VERSION;
}

// The tick of the newest view, with exact sync of the confirmed game; and the hash of that game's
// whole state, as recordings have it.
CAROM_API uint64_t cw_client_tick(const cw_client *c)
{
    const cm_mirror *mirror = c->client->mirror;
    return mirror != NULL ? carom_game_tick(mirror->game) : 0;
}

CAROM_API uint64_t cw_client_hash(const cw_client *c)
{
    const cm_mirror *mirror = c->client->mirror;
    return mirror != NULL ? cm_game_hash(mirror->game) : 0;
}

// A frame ----------------------------------------------------------------------------------------

// Gives the client the input that the page wrote. A carom_result.
CAROM_API carom_result cw_client_input(cw_client *c)
{
    if (c->frame.input_size == 0 || memcmp(c->given, c->frame.input, c->frame.input_size) == 0) {
        return CAROM_OK;
    }
    carom_result result = carom_client_set_input(c->client, c->frame.input, c->frame.input_size);
    if (result == CAROM_OK) {
        memcpy(c->given, c->frame.input, c->frame.input_size);
    }
    return result;
}

static bool make_room(cw_client *c, uint32_t slots)
{
    if (slots <= c->room) {
        return true;
    }
    uint32_t room = slots < 64 ? 64 : slots + slots / 2;
    float *rows = aligned_alloc(16, room * FLOATS * sizeof *rows);
    carom_client_transform *drawn = malloc(room * sizeof *drawn);
    if (rows == NULL || drawn == NULL) {
        free(rows);
        free(drawn);
        return false;
    }
    free(c->rows);
    free(c->drawn);
    c->rows = rows;
    c->drawn = drawn;
    c->room = room;
    return true;
}

static void draw(cw_client *c)
{
    uint32_t slots = carom_client_body_slots(c->client);
    c->frame.slots = make_room(c, slots) ? slots : 0;
    c->frame.rows = c->rows;
    if (c->frame.slots == 0) {
        return;
    }
    memset(c->rows, 0, slots * FLOATS * sizeof *c->rows);
    uint32_t count = carom_client_transforms(c->client, c->drawn, c->room);
    for (uint32_t i = 0; i < count && i < c->room; i++) {
        const carom_client_transform *from = &c->drawn[i];
        if (from->body.index < slots) {
            const float row[FLOATS] = {from->position.x,    from->position.y,
                                       from->position.z,    from->predicted ? 1.0f : 2.0f,
                                       from->orientation.x, from->orientation.y,
                                       from->orientation.z, from->orientation.w};
            memcpy(c->rows + from->body.index * FLOATS, row, sizeof row);
        }
    }
}

// The first update of a room: the page's input is zeros, as the client's.
static void find_input(cw_client *c)
{
    const cm_mirror *mirror = c->client->mirror;
    uint32_t size =
        mirror != NULL && c->frame.state >= CAROM_CLIENT_PLAYING && !cm_client_spectates(c->client)
            ? mirror->module->input_size
            : 0;
    c->frame.tick_rate = mirror != NULL ? mirror->tick_rate : 0;
    if (size != c->frame.input_size) {
        memset(c->frame.input, 0, sizeof c->frame.input);
        memset(c->given, 0, sizeof c->given);
        c->frame.input_size = size;
    }
}

// Everything that is due, and a new frame.
CAROM_API void cw_client_update(cw_client *c, double now_ms)
{
    c->frame.notes_size = 0;
    (void)cw_client_input(c);
    carom_client_update(c->client, (uint64_t)(now_ms * 1000.0));
    cw_frame *f = &c->frame;
    f->state = carom_client_get_state(c->client);
    f->reason = carom_client_get_reason(c->client);
    f->player = carom_client_player(c->client);
    f->own = carom_client_own_body(c->client);
    f->pointer = carom_client_pointer(c->client);
    f->state_public = carom_client_public_state(c->client, &f->public_size);
    f->state_predicted = carom_client_predicted_state(c->client, &f->public_size);
    f->notes = c->notes;
    find_input(c);
    draw(c);
    f->refused = c->client->link != NULL
                     ? (uint32_t)cm_transport_status_of(c->client->link, CM_CONNECTION_ONLY).refused
                     : 0;
    carom_client_acks_get(c->client, &f->acks);
    carom_client_stats_get(c->client, &f->stats);
}
