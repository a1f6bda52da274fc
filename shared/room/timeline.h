// A timeline is a game that can go back: it holds what goes into each tick and the state after each
// tick, and steps again from the earliest change. A server's room, a client's prediction and the
// replay of a recording all step their games with this piece, so that the three cannot disagree
// about what a tick is.
//
//   inputs by tick   inbox.h       which input of a player counts for a tick, and which was held
//   events by tick   event_list.h  joins, leaves, messages
//   images by tick   images.h      the state after the tick
//
// The game stands at one tick, which is the newest made or, in the midst of a rewind, an older one:
//
//   step     makes the next tick, from the inputs and events kept for it, or from what is given
//   keep     saves the state there, and notes the inputs that were held
//   rewind   goes back to before the earliest late input
//   restore  goes back to any tick that is kept; the caller may change the game there, keeps it,
//            and steps to the newest tick again
//
//   server's room   late inputs:    rewind, then step and keep up to the newest tick; then one more
//   client          a server view:  restore its tick, correct the game, keep, step and keep
//   replay          a recording:    start at a keyframe, step with what is recorded; keeps nothing
//
// It knows no clock, no client and no network: which ticks are due, whose input is accepted and
// when a tick is final is for its owner to say. The owner reads what a tick brought about
// (messages, events to the outside, the hash) from the game after each step.
#ifndef CM_ROOM_TIMELINE_H
#define CM_ROOM_TIMELINE_H

#include "shared/room/event_list.h"
#include "shared/room/inbox.h"

typedef struct cm_timeline cm_timeline;

typedef struct cm_timeline_def {
    carom_game *game;                 // stays the caller's, and outlives the timeline
    const carom_allocator *allocator; // NULL: malloc
    uint32_t images;                  // ticks whose state is kept; 0: nothing is kept by tick
    bool images_grow;                 // as in cm_images_create
    bool events;                      // events are kept by tick too
    uint32_t past, future;            // ticks, of the inputs kept (cm_inbox_create)
} cm_timeline_def;

// NULL where memory is short. The game's state is not kept yet.
cm_timeline *cm_timeline_create(const cm_timeline_def *def);
void cm_timeline_destroy(cm_timeline *timeline);
// Bytes that it takes, with a game of that bound of a save; UINT64_MAX where they cannot be
// counted.
uint64_t cm_timeline_size(const cm_timeline_def *def, size_t image_bound);

// The game was made, decoded or changed as a whole: its tick is the newest one now. Keeps it; what
// is kept of other ticks stays. False where memory is short.
bool cm_timeline_start(cm_timeline *timeline);

uint64_t cm_timeline_tick(const cm_timeline *timeline);   // at which the game stands
uint64_t cm_timeline_newest(const cm_timeline *timeline); // the newest made
cm_inbox *cm_timeline_inbox(cm_timeline *timeline);       // NULL where nothing is kept
// The events of a tick, to be filled before it is made; emptied where the list held another tick's.
cm_event_list *cm_timeline_events(cm_timeline *timeline, uint64_t tick);

// `given` NULL: the inputs and events kept for the tick.
void cm_timeline_step(cm_timeline *timeline, const cm_tick_input *given);
// The inputs and events that the newest step of a tick used; valid until the tick is stepped again
// or its place in the ring is reused.
cm_tick_input cm_timeline_input(const cm_timeline *timeline, uint64_t tick);
// False where memory is short: the tick cannot be restored.
bool cm_timeline_keep(cm_timeline *timeline);

// Goes back to before the earliest late input. Returns the ticks that are to be made again; 0: no
// input came late. A late input for a tick before those kept is the caller's error.
uint32_t cm_timeline_rewind(cm_timeline *timeline);
// False, and nothing changed, where the tick is not kept.
bool cm_timeline_restore(cm_timeline *timeline, uint64_t tick);
// The state of a kept tick in another game of the same scene; false likewise.
bool cm_timeline_read(const cm_timeline *timeline, uint64_t tick, carom_game *game);
// The game becomes a copy of another of the same scene; cm_timeline_start is to follow. With images
// that grow.
bool cm_timeline_copy(cm_timeline *timeline, const carom_game *from);

#endif
