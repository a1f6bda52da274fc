// The gallery of a room: its spectators, and the room as they see it, `delay` ticks late.
//
// It is a room of its own, stepped with the confirmed ticks of the one that is played, so that
// nothing of the newer ones can leave it, and a publisher and a roster as those of players: views
// with state sync, confirmed ticks with exact sync. A spectator has a seat here, and no slot;
// nothing of the played room depends on it.
//
// While nobody watches nothing is stepped: the confirmed ticks of the delay are kept, and a
// keyframe now and then among them; the first who comes begins at the newest that is old enough, so
// that the room is seen `delay` late, or up to an interval of keyframes more. Once all are gone for
// CM_GALLERY_IDLE_S it rests again. After the room's end it goes on until all was seen. Costs,
// while somebody watches, the steps and the memory of the room once more.
//
// Typical: none. A match that is watched has 2 to 20 spectators at 10 s.
#ifndef CM_SERVER_NODE_GALLERY_H
#define CM_SERVER_NODE_GALLERY_H

#include "server/replicate/publisher.h"
#include "server/room/room_loop.h"

#define CM_GALLERY_KEYFRAMES 8u          // kept, at most
#define CM_GALLERY_BYTES_MAX (64u << 20) // of ticks kept; beyond, the delay begins anew
#define CM_GALLERY_IDLE_S    10u

typedef struct cm_gallery cm_gallery;

typedef struct cm_gallery_def {
    cm_room_loop *loop; // of the room that is played; outlives the gallery
    cm_room_loop_def room;
    cm_publisher_def publisher;
    uint32_t seats, delay_s;
    uint64_t match_id;      // of the tickets
    const char *name;       // of the room; kept by the caller
    const cm_roster *watch; // who plays
    cm_log log;
} cm_gallery_def;

typedef struct cm_gallery_stats {
    uint32_t spectators;
    uint64_t tick; // that they see; 0: nobody watches
    uint64_t
        restarts; // times that what was kept was thrown away: too much, or it could not be kept
    double kbit;  // sent to all, last second
} cm_gallery_stats;

// NULL where memory is short.
cm_gallery *cm_gallery_create(const cm_gallery_def *def);
// Nobody may be in it any more.
void cm_gallery_destroy(cm_gallery *gallery);

cm_roster *cm_gallery_roster(cm_gallery *gallery);
// For the room's loop: it takes the confirmed ticks.
cm_sink cm_gallery_sink(cm_gallery *gallery);
// After each tick of the room: shows the next one to its spectators.
void cm_gallery_frame(cm_gallery *gallery, cm_clients *clients);
// After the room's end, for so long: who watches sees the rest of it. False once nobody is there
// who has not.
bool cm_gallery_after(cm_gallery *gallery, cm_clients *clients, uint64_t passed_us);
// The clock of the room that is played has another rate, which is theirs.
void cm_gallery_clock(cm_gallery *gallery, uint32_t rate_permille);
void cm_gallery_stats_get(const cm_gallery *gallery, cm_gallery_stats *stats);

#endif
