// Typical: 60 steps a second; on a server a rewind of 1 to 3 ticks now and then, on a client one of
// 12 to 18 ticks where a view differs from what was predicted.
#include "shared/room/timeline.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/memory.h"
#include "shared/room/images.h"

// The inputs that a tick received from the inbox.
typedef struct gathered {
    uint32_t count;
    carom_player_input inputs[CAROM_PLAYERS_MAX];
} gathered;

typedef struct tick_events {
    uint64_t tick;
    cm_event_list list;
} tick_events;

struct cm_timeline {
    carom_allocator allocator;
    carom_game *game;
    uint64_t newest;
    uint32_t ring;       // ticks whose inputs are remembered: all that are kept, or one
    gathered *gathered;  // of each
    tick_events *events; // of each; NULL: there are none
    cm_inbox *inbox;     // NULL: nothing is kept
    cm_images *images;   // likewise
};

static uint32_t ring_of(const cm_timeline_def *def)
{
    return def->events && def->images > 0 ? def->images : 1;
}

uint64_t cm_timeline_size(const cm_timeline_def *def, size_t image_bound)
{
    uint64_t images = cm_images_size(def->images, image_bound);
    uint64_t inputs = ring_of(def) * (uint64_t)(sizeof(gathered) + sizeof(tick_events));
    return images > UINT64_MAX - inputs ? UINT64_MAX : images + inputs;
}

static void *allocate(const carom_allocator *allocator, size_t size)
{
    void *memory = allocator->allocate(allocator->context, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

static bool make_parts(cm_timeline *r, const cm_timeline_def *def)
{
    const carom_allocator *allocator = &r->allocator;
    if (def->events) {
        r->events = allocate(allocator, r->ring * sizeof *r->events);
        if (r->events == NULL) {
            return false;
        }
        for (uint32_t i = 0; i < r->ring; i++) {
            r->events[i].tick = CM_NO_TICK;
        }
    }
    r->gathered = allocate(allocator, r->ring * sizeof *r->gathered);
    if (r->gathered == NULL || def->images == 0) {
        return r->gathered != NULL;
    }
    r->inbox = cm_inbox_create(allocator, def->past, def->future, cm_game_input_size(def->game));
    r->images =
        cm_images_create(allocator, def->images, cm_game_save_bound(def->game), def->images_grow);
    return r->inbox != NULL && r->images != NULL;
}

cm_timeline *cm_timeline_create(const cm_timeline_def *def)
{
    const carom_allocator *allocator = def->allocator != NULL ? def->allocator : &cm_by_malloc;
    cm_timeline *r = allocate(allocator, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    r->allocator = *allocator;
    r->game = def->game;
    r->newest = carom_game_tick(def->game);
    r->ring = ring_of(def);
    if (!make_parts(r, def)) {
        cm_timeline_destroy(r);
        return NULL;
    }
    return r;
}

void cm_timeline_destroy(cm_timeline *r)
{
    if (r == NULL) {
        return;
    }
    carom_allocator allocator = r->allocator;
    cm_inbox_destroy(r->inbox);
    cm_images_destroy(r->images);
    allocator.release(allocator.context, r->events);
    allocator.release(allocator.context, r->gathered);
    allocator.release(allocator.context, r);
}

bool cm_timeline_start(cm_timeline *r)
{
    r->newest = carom_game_tick(r->game);
    return cm_timeline_keep(r);
}

uint64_t cm_timeline_tick(const cm_timeline *r)
{
    return carom_game_tick(r->game);
}

uint64_t cm_timeline_newest(const cm_timeline *r)
{
    return r->newest;
}

cm_inbox *cm_timeline_inbox(cm_timeline *r)
{
    return r->inbox;
}

cm_event_list *cm_timeline_events(cm_timeline *r, uint64_t tick)
{
    CM_ASSERT(r->events != NULL);
    tick_events *events = &r->events[tick % r->ring];
    if (events->tick != tick) {
        events->tick = tick;
        cm_event_list_clear(&events->list);
    }
    return &events->list;
}

static void gather(cm_timeline *r, uint64_t tick)
{
    CM_ASSERT(r->inbox != NULL);
    gathered *to = &r->gathered[tick % r->ring];
    uint64_t leaving = r->events != NULL ? cm_event_list_leaving(cm_timeline_events(r, tick)) : 0;
    to->count = cm_inbox_gather(r->inbox, tick, r->game, leaving, to->inputs);
}

cm_tick_input cm_timeline_input(const cm_timeline *r, uint64_t tick)
{
    const gathered *from = &r->gathered[tick % r->ring];
    cm_tick_input input = {.inputs = from->inputs, .input_count = from->count};
    if (r->events != NULL && r->events[tick % r->ring].tick == tick) {
        const cm_event_list *list = &r->events[tick % r->ring].list;
        input.events = list->events;
        input.event_count = list->count;
    }
    return input;
}

void cm_timeline_step(cm_timeline *r, const cm_tick_input *given)
{
    uint64_t tick = cm_timeline_tick(r) + 1;
    if (given == NULL) {
        gather(r, tick);
        cm_tick_input kept = cm_timeline_input(r, tick);
        cm_game_tick(r->game, &kept);
    } else {
        cm_game_tick(r->game, given);
    }
    r->newest = tick > r->newest ? tick : r->newest;
}

bool cm_timeline_keep(cm_timeline *r)
{
    if (r->images == NULL) {
        return true;
    }
    cm_inbox_stepped(r->inbox, cm_timeline_tick(r), r->game);
    return cm_images_save(r->images, r->game);
}

uint32_t cm_timeline_rewind(cm_timeline *r)
{
    uint64_t late = cm_inbox_pop_late(r->inbox);
    if (late > r->newest) {
        return 0;
    }
    bool kept = late > 0 && cm_timeline_restore(r, late - 1);
    CM_ASSERT(kept);
    return (uint32_t)(r->newest - late + 1);
}

bool cm_timeline_restore(cm_timeline *r, uint64_t tick)
{
    return cm_timeline_read(r, tick, r->game);
}

bool cm_timeline_read(const cm_timeline *r, uint64_t tick, carom_game *game)
{
    return r->images != NULL && cm_images_restore(r->images, tick, game);
}

bool cm_timeline_copy(cm_timeline *r, const carom_game *from)
{
    return r->images != NULL && cm_images_copy(r->images, from, r->game);
}
