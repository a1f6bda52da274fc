// See the header. What is kept is one queue of encoded ticks behind the oldest keyframe.
#include "server/node/gallery.h"

#include <stdlib.h>
#include <string.h>

#include "server/room/outbox.h"
#include "shared/base/assert.h"

#define STEPS_MAX  2u // ticks of a frame: what was confirmed at once
#define INTERVAL_S 4u // keyframes in a delay, at least
#define LAST_S     1u // for the last of it to arrive and to be drawn

typedef struct keyframe {
    uint64_t tick;
    uint8_t *bytes;
    size_t size;
} keyframe;

struct cm_gallery {
    cm_gallery_def def;
    uint64_t delay; // ticks
    cm_roster roster;
    cm_outbox ticks;                          // confirmed, behind the oldest keyframe
    keyframe keyframes[CM_GALLERY_KEYFRAMES]; // ascending
    uint32_t keyframe_count;
    uint8_t *scratch; // of a tick's bytes; grows
    size_t scratch_size;
    // While it is watched:
    cm_room_loop *loop; // its own room; NULL: it rests
    cm_publisher *publisher;
    uint64_t behind; // ticks that its room is behind the other
    uint32_t rate_permille;
    uint64_t busy_tick; // of the played room: somebody watched
    uint64_t after;     // the played room's end: ticks since then
    uint64_t all_seen;  // of these, when the last one was shown; 0: it was not
    uint64_t restarts;
    bool parted; // members are to begin anew too: they come back by their tickets
};

static cm_room *played(const cm_gallery *g)
{
    return cm_room_loop_room(g->def.loop);
}

// The tick of the played room, which goes on after its end.
static uint64_t time_of(const cm_gallery *g)
{
    return cm_room_tick(played(g)) + g->after;
}

cm_gallery *cm_gallery_create(const cm_gallery_def *def)
{
    cm_gallery *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return NULL;
    }
    g->def = *def;
    g->def.room.rewind_ms = 0;
    g->def.publisher.spectators = true;
    g->delay = (uint64_t)def->delay_s * cm_room_tick_rate(played(g));
    g->rate_permille = 1000;
    cm_roster_init(&g->roster, def->loop, def->publisher.input_rate);
    g->roster.name = def->name;
    g->roster.match_id = def->match_id;
    g->roster.grace_ms = def->watch->grace_ms;
    g->roster.seats = def->seats;
    g->roster.watched = def->watch;
    g->roster.safe_tick = UINT64_MAX;
    return g;
}

static void drop_keyframes(cm_gallery *g, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(g->keyframes[i].bytes);
    }
    g->keyframe_count -= count;
    memmove(g->keyframes, g->keyframes + count, g->keyframe_count * sizeof *g->keyframes);
}

static void close_room(cm_gallery *g)
{
    cm_publisher_destroy(g->publisher);
    cm_room_loop_destroy(g->loop);
    g->publisher = NULL;
    g->loop = NULL;
}

// From here on nothing of before is shown: who watches waits for the delay.
static void begin_anew(cm_gallery *g)
{
    close_room(g);
    drop_keyframes(g, g->keyframe_count);
    cm_outbox_clear(&g->ticks);
    g->parted = true;
    g->restarts++;
}

void cm_gallery_destroy(cm_gallery *g)
{
    if (g != NULL) {
        close_room(g);
        drop_keyframes(g, g->keyframe_count);
        cm_outbox_clear(&g->ticks);
        free(g->scratch);
        free(g);
    }
}

cm_roster *cm_gallery_roster(cm_gallery *g)
{
    return &g->roster;
}

static uint32_t spectators_of(const cm_gallery *g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        count += g->roster.members[i] != NULL;
    }
    return count;
}

// Keeping ----------------------------------------------------------------------------------------

static bool keep_keyframe(cm_gallery *g, cm_room *room, uint64_t tick)
{
    size_t size = 0;
    const uint8_t *bytes = cm_room_encode(room, tick, &size);
    if (g->keyframe_count == CM_GALLERY_KEYFRAMES || bytes == NULL) {
        return false;
    }
    keyframe *to = &g->keyframes[g->keyframe_count];
    *to = (keyframe){.tick = tick, .bytes = malloc(size), .size = size};
    if (to->bytes == NULL) {
        return false;
    }
    memcpy(to->bytes, bytes, size);
    g->keyframe_count++;
    return true;
}

static bool keep_tick(cm_gallery *g, const cm_confirmed_tick *tick)
{
    // Only the recording is told when the inputs arrived.
    const cm_confirmed_tick kept = {.tick = tick->tick, .hash = tick->hash, .input = tick->input};
    size_t size = cm_confirmed_size(&kept);
    if (size > g->scratch_size) {
        uint8_t *grown = realloc(g->scratch, size);
        if (grown == NULL) {
            return false;
        }
        g->scratch = grown;
        g->scratch_size = size;
    }
    return cm_outbox_push(&g->ticks, tick->tick, g->scratch,
                          (uint32_t)cm_confirmed_write(&kept, g->scratch, size),
                          CM_GALLERY_BYTES_MAX);
}

// Nobody can be shown the keyframes before the newest that is old enough any more, nor the ticks
// before that one.
static void drop_old(cm_gallery *g)
{
    uint64_t now = time_of(g);
    while (g->keyframe_count > 1 && g->keyframes[1].tick + g->delay <= now) {
        drop_keyframes(g, 1);
    }
    cm_outbox_message oldest;
    while (g->keyframe_count > 0 && cm_outbox_peek(&g->ticks, &oldest) &&
           oldest.tick <= g->keyframes[0].tick) {
        cm_outbox_pop(&g->ticks);
    }
}

static void take_confirmed(void *context, const cm_confirmed_tick *tick)
{
    cm_gallery *g = context;
    if (g->loop == NULL && g->delay == 0) {
        return; // whoever comes sees what is confirmed then
    }
    if (g->keyframe_count == 0 && g->loop == NULL) {
        // The state after this tick is the first that is kept.
        (void)keep_keyframe(g, played(g), tick->tick);
        return;
    }
    if (!keep_tick(g, tick)) {
        begin_anew(g);
        return;
    }
    uint64_t interval = g->delay / INTERVAL_S + cm_room_tick_rate(played(g));
    if (g->loop == NULL && g->keyframes[g->keyframe_count - 1].tick + interval <= tick->tick) {
        (void)keep_keyframe(g, played(g), tick->tick); // else the next one does it
    }
    if (g->loop == NULL) {
        drop_old(g);
    }
}

cm_sink cm_gallery_sink(cm_gallery *gallery)
{
    return (cm_sink){.context = gallery, .confirmed = take_confirmed};
}

// Showing ----------------------------------------------------------------------------------------

// Its room begins at the oldest keyframe. False: none is old enough, or it cannot be made.
static bool open_room(cm_gallery *g)
{
    char error[256];
    uint64_t now = time_of(g);
    if (g->delay == 0 && g->keyframe_count == 0 &&
        !keep_keyframe(g, played(g), cm_room_confirmed(played(g)))) {
        return false;
    }
    if (g->keyframe_count == 0 || g->keyframes[0].tick + g->delay > now) {
        return false;
    }
    cm_room_loop_def room = g->def.room;
    room.image = g->keyframes[0].bytes;
    room.image_size = g->keyframes[0].size;
    room.tick = g->keyframes[0].tick;
    carom_result result = cm_room_loop_create(&room, &g->loop, error, sizeof error);
    if (result == CAROM_OK) {
        result = cm_publisher_create(&g->def.publisher, cm_room_loop_room(g->loop), &g->publisher,
                                     error, sizeof error);
    }
    if (result != CAROM_OK) {
        cm_log_say(&g->def.log, CM_LOG_ERROR, "spectators see nothing", CM_T("reason", error));
        begin_anew(g);
        return false;
    }
    g->behind = now - room.tick;
    drop_keyframes(g, g->keyframe_count);
    cm_publisher_clock(g->publisher, g->rate_permille, &g->roster);
    return true;
}

// Nobody has watched for long: its room rests as a keyframe, with the ticks behind it.
static void rest(cm_gallery *g)
{
    cm_room *room = cm_room_loop_room(g->loop);
    if (g->delay == 0) {
        cm_outbox_clear(&g->ticks);
    } else if (!keep_keyframe(g, room, cm_room_tick(room))) {
        begin_anew(g);
    }
    close_room(g);
}

// The next tick; false where the room that comes of it is not the one that was played.
static bool step(cm_gallery *g, const cm_outbox_message *message)
{
    cm_room *room = cm_room_loop_room(g->loop);
    cm_confirmed_read_tick read;
    size_t used;
    read.tick.tick = cm_room_tick(room);
    if (cm_confirmed_read(message->bytes, message->size, &read, &used) != NULL ||
        read.tick.tick != cm_room_tick(room) + 1) {
        return false;
    }
    const cm_history_slot *slot = cm_room_follow(room, &read.tick.input);
    cm_publisher_messages(g->publisher, slot, &g->roster);
    return slot->hash == read.tick.hash;
}

static void step_due(cm_gallery *g)
{
    cm_outbox_message next;
    uint64_t now = time_of(g);
    for (uint32_t i = 0;
         i < STEPS_MAX && cm_outbox_peek(&g->ticks, &next) && next.tick + g->behind <= now; i++) {
        if (!step(g, &next)) {
            cm_log_say(&g->def.log, CM_LOG_ERROR, "spectators see another room",
                       CM_U("tick", next.tick));
            begin_anew(g);
            return;
        }
        cm_outbox_pop(&g->ticks);
    }
}

void cm_gallery_frame(cm_gallery *g, cm_clients *clients)
{
    uint64_t now = time_of(g);
    if (g->parted) {
        cm_clients_drop_room(clients, &g->roster);
        g->parted = false;
    }
    bool watched = spectators_of(g) > 0;
    g->busy_tick = watched ? now : g->busy_tick;
    if (g->loop == NULL && (!watched || !open_room(g))) {
        return;
    }
    step_due(g);
    if (g->loop != NULL &&
        now - g->busy_tick > (uint64_t)CM_GALLERY_IDLE_S * cm_room_tick_rate(played(g))) {
        rest(g);
    }
    if (g->loop == NULL) {
        return;
    }
    carom_reason reason;
    uint64_t failed =
        cm_publisher_frame(g->publisher, cm_room_loop_room(g->loop), &g->roster, &reason);
    for (; failed != 0; failed &= failed - 1) {
        cm_clients_kick(clients, g->roster.members[__builtin_ctzll(failed)],
                        reason != CAROM_REASON_NONE ? reason : CAROM_REASON_SERVER_ERROR);
    }
}

bool cm_gallery_after(cm_gallery *g, cm_clients *clients, uint64_t passed_us)
{
    uint64_t rate = cm_room_tick_rate(played(g)), until = passed_us * rate / 1000000u;
    // The gallery is behind by the delay, an interval of keyframes and what is not confirmed yet.
    uint64_t most = g->delay + g->delay / INTERVAL_S + (2 + LAST_S) * rate;
    cm_outbox_message next;
    for (; g->after < until && spectators_of(g) > 0; g->after++) {
        cm_gallery_frame(g, clients);
        bool all = g->loop != NULL && !cm_outbox_peek(&g->ticks, &next);
        g->all_seen = all && g->all_seen == 0 ? g->after + 1 : g->all_seen;
    }
    bool seen = g->all_seen > 0 && g->after >= g->all_seen + LAST_S * rate;
    return spectators_of(g) > 0 && !seen && g->after <= most;
}

void cm_gallery_clock(cm_gallery *g, uint32_t rate_permille)
{
    g->rate_permille = rate_permille;
    if (g->publisher != NULL) {
        cm_publisher_clock(g->publisher, rate_permille, &g->roster);
    }
}

void cm_gallery_stats_get(const cm_gallery *g, cm_gallery_stats *stats)
{
    *stats =
        (cm_gallery_stats){.spectators = spectators_of(g),
                           .tick = g->loop != NULL ? cm_room_tick(cm_room_loop_room(g->loop)) : 0,
                           .restarts = g->restarts};
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        const cm_client *member = g->roster.members[i];
        stats->kbit += member != NULL ? member->kbit : 0.0;
    }
}
