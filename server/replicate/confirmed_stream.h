// A room of exact sync ("sync": "inputs") sends beside its views every confirmed tick, with its
// events, inputs and hash, to each client from the tick of its welcome's keyframe on
// (shared/wire/confirmed.h). Eight messages a second, reliable, the same for all: made once.
//
// A client that is welcomed has the keyframe of a confirmed tick, so all up to that tick are sent
// before. One whose world differs says so, and is welcomed again. Typical: 6 ticks of 30 to 60
// bytes in a message.
#ifndef CM_SERVER_REPLICATE_CONFIRMED_STREAM_H
#define CM_SERVER_REPLICATE_CONFIRMED_STREAM_H

#include "server/room/history.h"
#include "server/session/roster.h"

#define CM_CONFIRMED_RATE 8u // messages a second
#define CM_HEAL_S         5u // between two keyframes for one client whose world differs

typedef struct cm_confirmed_stream {
    bool is_on;
    uint32_t tick_rate;
    uint32_t count; // ticks that wait
    size_t size;    // bytes of them
    uint8_t *bytes;
    uint64_t failed;                    // players (bits) to whom one could not be sent
    uint64_t healed[CAROM_PLAYERS_MAX]; // tick at which each was welcomed again, last
    uint64_t heals, heals_refused;
} cm_confirmed_stream; // all zeros: off

// False where memory is short.
bool cm_confirmed_stream_init(cm_confirmed_stream *stream, uint32_t tick_rate);
void cm_confirmed_stream_free(cm_confirmed_stream *stream);

// The next confirmed tick of the room.
void cm_confirmed_stream_add(cm_confirmed_stream *stream, const cm_history_slot *slot,
                             const cm_roster *roster, cm_transport *transport);
// Sends what waits, to all who are in the room.
void cm_confirmed_stream_send(cm_confirmed_stream *stream, const cm_roster *roster,
                              cm_transport *transport);
// Enough ticks wait for a message.
bool cm_confirmed_stream_is_due(const cm_confirmed_stream *stream);
// True if a client has said that its world differs.
bool cm_confirmed_stream_ails(const cm_roster *roster);
// Those whose world differs are to be welcomed again, in a new epoch; in this tick, since they are
// sent no tick until then, and name what differs at the keyframe's.
void cm_confirmed_stream_heal(cm_confirmed_stream *stream, const cm_roster *roster,
                              cm_transport *transport, uint64_t tick);

#endif
