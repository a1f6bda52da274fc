// Control messages: what a message may say, whichever way it goes, and the memory that its bytes
// and its fields have. control_encode.c and control_decode.c are the two ways.
#include <stdlib.h>
#include <string.h>

#include "carom/game.h"
#include "shared/base/memory.h"
#include "shared/wire/confirmed.h"
#include "shared/wire/control_inner.h"
#include "shared/wire/control_text.h"
#include "shared/wire/events.h"
#include "shared/wire/token.h"

#define MODULE_NAME_MAX  31
#define SOURCE_HASH_TEXT 64u
#define BODY_MAX         65536 // bytes of one encoded body
#define BODY_INDEX_MAX   65535
#define REWIND_MS_MAX    10000
#define TICK_RATE_MAX    1000
#define GRACE_MS_MAX     600000

void cm_control_release_bytes(const carom_allocator *allocator, uint8_t *bytes)
{
    cm_memory_give(allocator, bytes);
}

void cm_control_free(const carom_allocator *allocator, cm_control *control)
{
    cm_memory_give(allocator, control);
}

// Field checks, of both directions ---------------------------------------------------------------

// Empty: a room without a module.
static bool module_name_is_valid(const char *name)
{
    size_t n = 0;
    for (; name[n] != 0; n++) {
        bool letter = (name[n] >= 'a' && name[n] <= 'z') || (name[n] >= '0' && name[n] <= '9');
        if (n >= MODULE_NAME_MAX || (!letter && name[n] != '_')) {
            return false;
        }
    }
    return true;
}

// NULL and empty: a module that is built in.
static bool source_hash_is_valid(const char *text)
{
    return text == NULL || text[0] == '\0' ||
           (strlen(text) == SOURCE_HASH_TEXT &&
            strspn(text, "0123456789abcdef") == SOURCE_HASH_TEXT);
}

static bool rate_is_valid(uint32_t rate)
{
    return rate >= 1 && rate <= TICK_RATE_MAX;
}

static bool ticket_is_valid(const cm_control *c)
{
    size_t key = c->ticket.size > 0 ? CM_KEY_BYTES : 0;
    return c->ticket.size <= CM_TOKEN_MAX && c->ticket_key.size == key &&
           c->grace_ms <= GRACE_MS_MAX;
}

// Here, or in parts, of which there is more than one.
static bool keyframe_is_valid(const cm_control *c)
{
    if (c->keyframe_size == 0) {
        return c->keyframe.size <= CM_CONTROL_PACKED_MAX;
    }
    return c->keyframe.size == 0 && c->keyframe_size > CM_CONTROL_PART_SIZE &&
           c->keyframe_size <= CM_CONTROL_KEYFRAME_MAX;
}

static bool welcome_is_valid(const cm_control *c)
{
    bool rates = rate_is_valid(c->tick_rate) && rate_is_valid(c->view_rate) &&
                 rate_is_valid(c->input_rate) && c->rewind_ms <= REWIND_MS_MAX;
    bool player = c->player < CAROM_PLAYERS_MAX || c->player == CM_CONTROL_SPECTATOR;
    return rates && player && c->tick <= UINT32_MAX && c->module != NULL &&
           module_name_is_valid(c->module) && source_hash_is_valid(c->module_source) &&
           c->scene.size <= CM_CONTROL_PACKED_MAX && keyframe_is_valid(c) && ticket_is_valid(c) &&
           (uint32_t)c->durability < CAROM_DURABILITY_COUNT && c->durable_tick <= c->tick;
}

static bool players_are_valid(const cm_control *c)
{
    if (c->player_count > CAROM_PLAYERS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < c->player_count; i++) {
        const cm_control_player *p = &c->players[i];
        bool ascends = i == 0 || p->player > c->players[i - 1].player;
        if (!ascends || p->player >= CAROM_PLAYERS_MAX || p->body.index > BODY_INDEX_MAX ||
            !cm_text_is_printable(p->name, CAROM_PLAYER_NAME_MAX)) {
            return false;
        }
    }
    return true;
}

static bool rooms_are_valid(const cm_control *c)
{
    if (c->room_count > CM_CONTROL_ROOMS_MAX || c->total > UINT16_MAX ||
        c->first + c->room_count > c->total) {
        return false;
    }
    for (uint32_t i = 0; i < c->room_count; i++) {
        const cm_control_room *room = &c->rooms[i];
        if (!cm_text_is_printable(room->name, CAROM_ROOM_NAME_MAX) ||
            !cm_text_is_printable(room->scene, CM_CONTROL_SCENE_NAME_MAX) ||
            !cm_text_is_printable(room->module, CAROM_MODULE_NAME_MAX) ||
            room->max_players > CAROM_PLAYERS_MAX || room->players > CAROM_PLAYERS_MAX) {
            return false;
        }
    }
    return true;
}

static bool world_change_is_valid(const cm_control *c)
{
    if (c->spawned_count > CM_CONTROL_BODIES_MAX || c->gone_count > CM_CONTROL_BODIES_MAX ||
        c->tick > UINT32_MAX) {
        return false;
    }
    if (c->frame.size > CM_CONTROL_FRAME_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < c->spawned_count; i++) {
        if (c->spawned[i].size > BODY_MAX) {
            return false;
        }
    }
    for (uint32_t i = 0; i < c->gone_count; i++) {
        if (c->gone[i].index > BODY_INDEX_MAX || c->gone[i].generation == 0) {
            return false;
        }
    }
    return true;
}

static bool events_are_valid(const cm_control *c)
{
    carom_event events[CAROM_EVENTS_MAX];
    uint32_t count;
    return c->tick <= UINT32_MAX && c->payload.size <= CM_EVENTS_BYTES_MAX &&
           cm_events_read(c->payload.data, c->payload.size, c->tick, events, &count);
}

// Whole confirmed ticks that follow one another.
static bool ticks_are_valid(cm_bytes ticks)
{
    uint64_t before = 0;
    cm_confirmed_read_tick read = {.tick = {.tick = 0}};
    size_t used = 0;
    bool valid = ticks.size > 0 && ticks.size <= CM_CONTROL_TICKS_MAX;
    for (size_t at = 0; valid && at < ticks.size; at += used) {
        valid = cm_confirmed_read(ticks.data + at, ticks.size - at, &read, &used) == NULL &&
                read.tick.tick > 0 && read.tick.tick <= UINT32_MAX &&
                (at == 0 ? !read.tick.follows : read.tick.tick == before + 1);
        before = read.tick.tick;
    }
    return valid;
}

bool cm_control_is_valid(const cm_control *c)
{
    switch (c->type) {
    case CM_CONTROL_HELLO:
        return (c->name == NULL || cm_text_is_printable(c->name, CAROM_PLAYER_NAME_MAX)) &&
               (c->room == NULL || cm_text_is_printable(c->room, CAROM_ROOM_NAME_MAX)) &&
               c->user_data.size <= CAROM_USER_DATA_MAX &&
               (c->module == NULL || module_name_is_valid(c->module)) &&
               source_hash_is_valid(c->module_source);
    case CM_CONTROL_WELCOME:
        return welcome_is_valid(c);
    case CM_CONTROL_REFUSED:
        return (c->text == NULL || cm_text_is_printable(c->text, CM_CONTROL_TEXT_MAX)) &&
               c->port <= UINT16_MAX;
    case CM_CONTROL_WORLD_CHANGE:
        return world_change_is_valid(c);
    case CM_CONTROL_GAME_MESSAGE:
        return c->payload.size <= CAROM_MESSAGE_MAX && c->tick <= UINT32_MAX;
    case CM_CONTROL_ROOM_CLOCK:
        return c->rate_permille >= 1 && c->rate_permille <= 1000;
    case CM_CONTROL_GOODBYE:
        return true;
    case CM_CONTROL_PLAYERS:
        return players_are_valid(c);
    case CM_CONTROL_DURABILITY:
        return c->tick <= UINT32_MAX && c->durability >= CAROM_DURABILITY_PROCESS &&
               c->durability <= CAROM_DURABILITY_LOST;
    case CM_CONTROL_EVENTS:
        return events_are_valid(c);
    case CM_CONTROL_ROOMS_ASK:
        return true;
    case CM_CONTROL_ROOMS:
        return rooms_are_valid(c);
    case CM_CONTROL_KEYFRAME_PART:
        return c->payload.size > 0 && c->payload.size <= CM_CONTROL_PART_SIZE;
    case CM_CONTROL_NOTICE:
        return c->text != NULL && cm_text_is_printable(c->text, CM_CONTROL_TEXT_MAX);
    case CM_CONTROL_CONFIRMED: // one of the two
        return c->tick > 0 ? c->payload.size == 0 && c->tick <= UINT32_MAX
                           : ticks_are_valid(c->payload);
    }
    return false;
}
