// The publisher sends a room's data after each of its ticks: messages of confirmed ticks, which
// wait until their tick is durable, and are kept until the client is known to have them; and in
// ticks with a view or a welcome the world changes since the last snapshot, the welcomes, the
// views.
//
// It reads the room and the sessions of its players, and keeps a replica of each client: the state
// that it is known to have. Each room has one publisher.
#ifndef CM_SERVER_REPLICATE_PUBLISHER_H
#define CM_SERVER_REPLICATE_PUBLISHER_H

#include "server/session/clients.h"
#include "server/replicate/snapshot.h"

typedef struct cm_publisher cm_publisher;

typedef struct cm_publisher_def {
    cm_transport *transport;
    const cm_scene *scene;           // kept by the caller
    uint32_t view_rate, budget_kbit; // 0: the scene's
    uint32_t input_rate, rewind_ms;  // as sent to clients
    bool spectators; // its clients have no slots: none is a player, or hears what is for one
} cm_publisher_def;

typedef struct cm_publisher_stats {
    uint64_t views, view_bytes; // packets; with all headers
    uint64_t views_acked;
    uint64_t keyframes;        // encoded for those who joined; those of one tick share one
    uint64_t messages_dropped; // of the module, in confirmed ticks: above a limit, or not sendable
    uint64_t unreliable;       // messages of the module that need not arrive: packets that went
    uint64_t unreliable_lost;  // of these that could not be sent
    uint64_t events;           // to the outside, likewise
    uint64_t events_dropped;   // above a tick's limit
    uint64_t changes_lost;     // world changes that could not be encoded
} cm_publisher_stats;

// On failure `error` has the reason.
carom_result cm_publisher_create(const cm_publisher_def *def, const cm_room *room,
                                 cm_publisher **publisher, char *error, size_t error_size);
void cm_publisher_destroy(cm_publisher *publisher);

// The messages of a confirmed tick, and the events to the outside, to those who have a slot: once
// for each, in order, whatever connections it takes.
void cm_publisher_messages(cm_publisher *publisher, const cm_history_slot *slot,
                           const cm_roster *roster);
// True if messages of the module to connected players wait for their tick to be durable.
bool cm_publisher_waits(const cm_publisher *publisher);
// The newest tick whose messages may go to players, and whose kicks act: no crash takes it back.
uint64_t cm_publisher_settled(const cm_publisher *publisher);
// After each tick of the room. Returns the players (bits) who cannot be served, and why: the caller
// sends them away.
uint64_t cm_publisher_frame(cm_publisher *publisher, cm_room *room, const cm_roster *roster,
                            carom_reason *reason);
// Between two ticks of the room: what came of players' inputs goes on at once.
void cm_publisher_between(cm_publisher *publisher, const cm_room *room, const cm_roster *roster);
// The room's clock has a new rate: it is sent to all clients, and to those welcomed later.
void cm_publisher_clock(cm_publisher *publisher, uint32_t rate_permille, const cm_roster *roster);
// Sets the match's durability and its durable tick; call before the frame. Views and welcomes carry
// them; a loss of durability, or its return, is sent at once. Messages of ticks up to there are
// sent; all, if nothing is recorded.
void cm_publisher_durable(cm_publisher *publisher, carom_durability durability, uint64_t tick,
                          const cm_roster *roster);
// Share of the view packets to a player that does not arrive, of the last seconds.
float cm_publisher_loss(const cm_publisher *publisher, uint32_t player);
// Once a second: counts what was lost, warns of what was left out.
void cm_publisher_second(cm_publisher *publisher, uint64_t tick, const cm_log *log);

const cm_view_config *cm_publisher_view_config(const cm_publisher *publisher);
void cm_publisher_stats_get(const cm_publisher *publisher, cm_publisher_stats *stats);

#endif
