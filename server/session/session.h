// A session: one client's slot from connect to disconnect. Pure: a state machine over messages and
// the time. It keeps the only two numbers that feed back from a client, its acks (until its replica
// judges them) and its input lead, and what the client may still spend: packets, messages, rewinds.
#ifndef CM_SERVER_SESSION_SESSION_H
#define CM_SERVER_SESSION_SESSION_H

#include "server/session/lag_compensation.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"
#include "shared/wire/token.h"

// The time whose rate a client may spend at once. A server that was stopped, or a network that
// delayed packets, delivers many in one turn, and that is no flood.
#define CM_SESSION_PAUSE_S   15u
#define CM_SESSION_HELLO_US  5000000u // a hello must come within
#define CM_SESSION_MALFORMED 64u      // bad datagrams at once before it is kicked
#define CM_SESSION_ACKS      16u      // kept between two views

typedef enum cm_session_state {
    CM_SESSION_FREE = 0,
    CM_SESSION_CONNECTED, // waits for a hello
    CM_SESSION_JOINING,   // has a player slot; the welcome goes after the tick of its join
    CM_SESSION_JOINED,
    CM_SESSION_LEAVING, // goodbye sent; waits for the transport to close
} cm_session_state;

// Refills with time, spent by events. Units of a millionth, so that nothing is lost to rounding.
typedef struct cm_bucket {
    uint64_t level, capacity; // x 1e6
    uint64_t rate;            // a second
    uint64_t last_us;
} cm_bucket;

void cm_bucket_init(cm_bucket *bucket, uint64_t capacity, uint64_t rate, uint64_t now_us);
void cm_bucket_refill(cm_bucket *bucket, uint64_t now_us);
uint64_t cm_bucket_level(const cm_bucket *bucket); // whole units
bool cm_bucket_spend(cm_bucket *bucket, uint64_t amount, uint64_t now_us);

// As an input packet brings it: view packet `sequence`, and bit i the one 1 + i before it.
typedef struct cm_session_ack {
    uint16_t sequence;
    uint32_t bits;
} cm_session_ack;

// With which the client of a session comes back (token.h); size 0: none.
#define CM_TICKET_MAX 128u
typedef struct cm_ticket {
    uint8_t sealed[CM_TICKET_MAX];
    uint32_t size;
    uint32_t grace_ms; // as sent to the client
    uint8_t id[CM_TOKEN_NONCE_BYTES];
    uint8_t key[CM_KEY_BYTES];
} cm_ticket;

typedef struct cm_session {
    cm_session_state state;
    uint32_t player;
    uint64_t client_id;
    uint8_t epoch;      // of its welcome: what belongs to an earlier one does not count
    uint64_t join_tick; // the tick whose events hold the join
    bool predict;
    char name[CAROM_PLAYER_NAME_MAX + 1];
    uint64_t connected_us;
    cm_ticket ticket; // of its welcome
    bool told_in;     // that it needs its token no more
    uint64_t differs; // confirmed tick after which its world was another, as it says; 0: none
    bool came_back;   // by this ticket, and has not yet shown that it has the welcome of this one
    uint8_t came_by[CM_TOKEN_NONCE_BYTES];
    uint64_t messages_received; // of the module, since the join
    bool recounts;              // a server before this one sent it messages of the room, and
    uint64_t messages_had;      // so many arrived
    uint32_t ack_count;
    cm_session_ack acks[CM_SESSION_ACKS]; // as they came since they were taken
    int32_t lead;            // least since it was taken, 1/16 ticks, or CM_LEAD_UNKNOWN
    cm_bucket input_packets; // a flood of inputs
    cm_bucket messages;      // a flood of control messages
    cm_bucket rewinds;       // ticks that it may make the room step again
    cm_bucket malformed;     // bad datagrams: a few may come of a path that breaks them
    cm_bucket comebacks;     // each costs a welcome
    uint64_t newest_input;   // newest tick that an input came for
    uint64_t late_inputs, refused_inputs, rewound_ticks;
    cm_lag_compensation lag; // of the views of its epoch
    uint64_t seen_clamped;   // inputs whose claim of what was seen could not be true
} cm_session;

void cm_session_open(cm_session *session, uint64_t now_us);
// It has a player's slot in a room with these rates: JOINING, with the budgets of a player.
void cm_session_join(cm_session *session, uint32_t player, uint64_t client_id, uint64_t join_tick,
                     uint32_t input_rate, uint32_t tick_rate, uint64_t now_us);

// It has the slot of `before`, whose client came back by a ticket with this id: JOINING, in a new
// epoch, with what `before` had left to spend. False: it comes back too often.
bool cm_session_come_back(cm_session *session, const cm_session *before,
                          const uint8_t ticket[CM_TOKEN_NONCE_BYTES], uint64_t tick,
                          uint64_t now_us);

// Its world differs: JOINING, in a new epoch, for another welcome by the same connection.
void cm_session_begin_again(cm_session *session);

// A client of a server before this one: what only the client still knows comes with its hello.
void cm_session_recall(cm_session *session, const cm_control *hello);

// Checks that the client's state allows this control message: CAROM_REASON_NONE, or the reason for
// refusing it. Counts it against the flood limit.
carom_reason cm_session_control(cm_session *session, const cm_control *control, uint64_t now_us);
// The same for an input packet that was read well.
carom_reason cm_session_input(cm_session *session, uint64_t now_us);
// A datagram that was not: past the limit, a reason to kick.
carom_reason cm_session_malformed(cm_session *session, uint64_t now_us);
// True if no hello came in time.
bool cm_session_overdue(const cm_session *session, uint64_t now_us);

// An ack came; of more than CM_SESSION_ACKS the newest stay, each of which repeats 32 before it.
void cm_session_ack_came(cm_session *session, uint16_t sequence, uint32_t bits);
// Those that came since they were taken last, oldest first. Returns how many.
uint32_t cm_session_pop_acks(cm_session *session, cm_session_ack acks[CM_SESSION_ACKS]);

// Notes how early an input came, in 1/16 ticks; the least one since the last pop is kept.
void cm_session_lead(cm_session *session, int64_t sixteenths);
int16_t cm_session_pop_lead(cm_session *session);

#endif
