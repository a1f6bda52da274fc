// A hostile server against the SDK: a real client in a real worker's room, on the virtual network,
// and between the client and its link a line that changes what comes by it. The server's keys are
// known to it, so that what it changes is authentic: nothing but the client's own checks is left.
//
//   hostile_session: a room (one of four), a client that is not touched, one that is
//   -> so many changed messages and packets, by its seed; the client connects anew when it ends
//   -> the other one plays, the room goes on, all of the client's memory is given back
//
// After each update: no error of the sanitizers; a client that ended has a reason; its memory is
// within HOSTILE_MEMORY_MAX; the update took no more than HOSTILE_UPDATE_S of processor time, and
// what it stepped is within the client's bound.
#ifndef CM_TEST_HOSTILE_H
#define CM_TEST_HOSTILE_H

#include "carom/client.h"

#include "server/node/worker.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"
#include "shared/wire/packet.h"

#define HOSTILE_PORT       9400u
#define HOSTILE_MEMORY_MAX ((size_t)512 << 20) // of the client: two worlds at their limits
#define HOSTILE_UPDATE_S   60u
#define HOSTILE_CONTROLS   16u // types, and one
#define HOSTILE_KEPT       8u  // messages of each type, and views

// What is done to what comes, or comes beside it.
typedef enum hostile_kind {
    HOSTILE_VIEW_BYTES,     // of a view that came
    HOSTILE_VIEW_FIELDS,    // a view made here, its check right
    HOSTILE_VIEW_RELAY,     // the inputs of others in it
    HOSTILE_CONTROL_BYTES,  // of a message that came, or of a sound one made here
    HOSTILE_CONTROL_FIELDS, // decoded, changed, encoded
    HOSTILE_WELCOME,        // its scene, its keyframe, its numbers, in one or in parts
    HOSTILE_CONFIRMED,      // confirmed ticks made here
    HOSTILE_REPLAY,         // as it came, at another time
    HOSTILE_DATAGRAM,       // of ENet, under the seal
    HOSTILE_HANDSHAKE,      // challenge, refusal, rooms: before the seal
    HOSTILE_KINDS
} hostile_kind;

typedef struct hostile_counts {
    uint64_t done[HOSTILE_KINDS];
    uint64_t controls[HOSTILE_CONTROLS]; // changed ones by type
    uint64_t joins, comebacks, epochs, desyncs, refused, views, steps;
    uint64_t ended[CAROM_REASON_COUNT];
    uint64_t memory_max, update_us_max;
} hostile_counts;

typedef struct hostile_bytes {
    uint8_t *data; // of just this size, so that a byte read beyond is seen
    size_t size;
} hostile_bytes;

typedef struct hostile {
    uint64_t seed, wanted;
    cm_rng rng;
    hostile_counts *counts;
    char what[256]; // the first thing that failed
    // room.c
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    cm_worker *worker;
    carom_client *other, *client;
    size_t memory;
    uint64_t redraw_us;
    // line.c
    uint32_t kinds;    // a bit each: of this connection
    uint32_t patience; // updates in a room before the first
    uint32_t rate;     // of them in 64 updates
    uint32_t due;      // in this update
    bool is_cut;       // its link falls silent when it begins
    hostile_bytes kept[HOSTILE_CONTROLS][HOSTILE_KEPT], views[HOSTILE_KEPT];
    uint32_t kept_count[HOSTILE_CONTROLS], view_count;
    hostile_bytes queue[64]; // parts of one message that is due
    uint32_t queued, taken;
} hostile;

// The first call stops the session.
void hostile_fail(hostile *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t hostile_done(const hostile *h);
void hostile_session(uint64_t seed, uint64_t wanted, hostile_counts *counts, char what[256]);

// line.c
struct cm_client_link_def;
// A new connection: draws what is done to it.
void hostile_line_begin(hostile *h);
carom_result hostile_line_open(const struct cm_client_link_def *def, cm_transport **link);
void hostile_line_forget(hostile *h);

// change.c
hostile_bytes hostile_copy(const void *data, size_t size);
void hostile_release(hostile_bytes *bytes);
// One to four changes: bits, bytes, numbers at their ends, cuts, growth.
hostile_bytes hostile_change(cm_rng *rng, hostile_bytes from);
uint64_t hostile_number(cm_rng *rng); // an odd one, or one at some end

// forge.c: a message or a packet of this kind, for the client as it is now; of no bytes: not now.
// More than one: the rest are in the queue.
hostile_bytes hostile_forge(hostile *h, hostile_kind kind, bool *control);

#endif
