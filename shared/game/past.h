// The recent poses of the bodies with a history: a ring of the last ticks, part of a game's state.
//
// Row t mod `ticks` holds the poses that the world had at tick t, ascending by slot. Every tick
// ends by writing its row, so the newest row is that of the world's tick. A game whose scene has no
// such body has no ring and pays nothing. Typical: 30 ticks of 8 bodies, 9 kB.
#ifndef CM_GAME_PAST_H
#define CM_GAME_PAST_H

#include "carom/query.h"
#include "shared/base/bytes.h"
#include "shared/base/hash.h"

typedef struct cm_past {
    uint32_t ticks;         // that are held; 0: no ring
    uint32_t *counts;       // poses of each
    carom_body_pose *poses; // CAROM_HISTORY_BODIES_MAX of each
} cm_past;

size_t cm_past_size(uint32_t ticks);
// In zeroed memory of that size, aligned to 4 bytes.
cm_past cm_past_at(void *memory, uint32_t ticks);
// Takes down the poses of the world as it is, in the row of its tick.
void cm_past_note(cm_past *past, const carom_world *world);

// The poses at `time`, in ticks / CAROM_SEEN_PER_TICK, of bodies that are still there, between the
// rows of two ticks; `newest` is the tick of the newest row, and a time that is not held counts as
// the nearest one that is. Returns how many, at most CAROM_HISTORY_BODIES_MAX, ascending.
uint32_t cm_past_poses(const cm_past *past, const carom_world *world, uint64_t newest,
                       uint64_t time, carom_body_pose *poses);

void cm_past_hash(const cm_past *past, cm_hash *hash);
// The local form: bytes of it now, at most, and of one that begins at `bytes` (0: no such ring).
size_t cm_past_save_size(const cm_past *past);
size_t cm_past_save_bound(const cm_past *past);
void cm_past_save(const cm_past *past, void *bytes);
size_t cm_past_saved_size(const cm_past *past, const void *bytes, size_t size);
void cm_past_restore(cm_past *past, const void *bytes);
// The portable form: ticks, then for each row its count and its poses (index, generation, 7
// floats), little-endian words. check reads it over and tells whether it fits; take stores what was
// checked.
size_t cm_past_encode_size(const cm_past *past);
void cm_past_encode(const cm_past *past, cm_byte_writer *writer);
bool cm_past_check(const cm_past *past, cm_byte_reader *reader);
void cm_past_read(cm_past *past, cm_byte_reader *reader);

#endif
