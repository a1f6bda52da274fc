// A ring of saved games: the state after each of the last ticks. An image belongs to the tick that
// it names; the tick that comes `count` ticks later takes its place.
//
// Either every image has the size that the state may have at most, all allocated at once (a server
// never allocates in mid-match), or each grows to what its state needs (a client, whose worlds use
// a small part of their limits).
#ifndef CM_ROOM_IMAGES_H
#define CM_ROOM_IMAGES_H

#include "shared/game/game_host.h"

typedef struct cm_images cm_images;

// `bound`: bytes of a state at most (cm_game_save_bound). NULL where memory is short.
cm_images *cm_images_create(const carom_allocator *allocator, uint32_t count, size_t bound,
                            bool grows);
void cm_images_destroy(cm_images *images);
// Bytes of so many images that do not grow, at least 2^63 where they cannot be counted.
uint64_t cm_images_size(uint32_t count, size_t bound);

// Saves the game for the tick at which it stands. False where memory is short: the tick has no
// image then.
bool cm_images_save(cm_images *images, const carom_game *game);
// Puts a game of the same scene to a tick that is kept. False: it is not.
bool cm_images_restore(const cm_images *images, uint64_t tick, carom_game *game);
// Copies the state of one game to another of the same scene. Of images that grow.
bool cm_images_copy(cm_images *images, const carom_game *from, carom_game *to);

#endif
