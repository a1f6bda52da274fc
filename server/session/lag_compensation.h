// Lag compensation for one client: bounds the time that it can have seen, from the views sent to it
// and its acks. An input claims the time that its player saw; an impossible claim is replaced by
// the nearest possible one. Pure.
//
// A client cannot have seen a tick of which no view was sent yet. And a client draws the past only
// by its delay: one and a half intervals between views, its jitter, and frames (clock.c of the
// SDK). So an input for the tick that is due shows no moment older than that before
//   - the newest view that this client acknowledged, nor
//   - what the server sent one round trip ago, as the transport measures it.
// An input that was lost, and came again with a later one, was made by so much earlier.
//
// A modified client that acknowledges views late, and the transport's packets as well, is no other
// than one with a slower path; `limits.history` of the scene bounds what that buys.
// Typical: 30 views and 60 claims a second, of which none is wrong.
#ifndef CM_SERVER_SESSION_LAG_COMPENSATION_H
#define CM_SERVER_SESSION_LAG_COMPENSATION_H

#include <stdbool.h>
#include <stdint.h>

#define CM_LAG_COMPENSATION_VIEWS 128u // newest packets, to which an ack may refer
#define CM_LAG_COMPENSATION_SLACK_MS                                                               \
    75u // beyond one and a half intervals and the path's jitter: frames

typedef struct cm_lag_compensation {
    uint32_t tick_rate;
    double delay;   // ticks that a client draws behind its newest view, at most
    uint64_t shown; // newest tick that a view was due of; what it did not mention had not changed
    uint64_t acked; // tick of the newest view that arrived
    uint64_t sequence, acked_sequence;         // of view packets, from 1 on
    uint64_t ticks[CM_LAG_COMPENSATION_VIEWS]; // of these packets
} cm_lag_compensation;

// The client has all of `tick`, by its welcome.
void cm_lag_compensation_begin(cm_lag_compensation *lag, uint32_t tick_rate, uint32_t view_rate,
                               uint64_t tick);
// A view of this tick was due: so many packets of it went out, with the next sequences.
void cm_lag_compensation_view(cm_lag_compensation *lag, uint64_t tick, uint32_t packets);
// The client acked this packet; an ack of one that was never sent, or long ago, is ignored.
void cm_lag_compensation_ack(cm_lag_compensation *lag, uint16_t sequence);

// An input of a packet.
typedef struct cm_lag_compensation_claim {
    uint64_t tick;      // that the input is for
    uint64_t newest;    // of the packet's inputs
    uint64_t now;       // newest tick that the room stepped
    uint32_t trip_ms;   // the round trip, and
    uint32_t jitter_ms; // what it may be longer by
    double age;         // claimed: ticks before `tick`
} cm_lag_compensation_claim;

// The age that counts: the claimed one, or the nearest one that can be true.
double cm_lag_compensation_age(const cm_lag_compensation *lag,
                               const cm_lag_compensation_claim *claim);

#endif
