// More of the Carom client, for who builds and tests a game: client.h alone is enough to play one.
#ifndef CAROM_CLIENT_MORE_H
#define CAROM_CLIENT_MORE_H

#include "carom/client.h"

#ifdef __cplusplus
extern "C" {
#endif

// A bad path -------------------------------------------------------------------------------------

/// A path to simulate. All of it is of one way, and holds for each way.
typedef struct carom_client_link {
    uint32_t latency_ms; ///< at most CAROM_CLIENT_LATENCY_MAX_MS
    uint32_t jitter_ms;  ///< a datagram takes latency_ms more or less up to this, each as likely;
                         ///< at most latency_ms; datagrams may overtake each other
    float loss;          ///< share of the datagrams, 0 to 1
    uint64_t seed;       ///< of what is drawn: the same for the same datagrams
} carom_client_link;
#define CAROM_CLIENT_LATENCY_MAX_MS 5000u

/// Makes the client's connections as bad as a path, from the next carom_client_connect on: every
/// datagram, those of the handshake too, waits here or is lost. One round trip takes 2 x latency_ms
/// longer, and up to an update's time each way, since what waits goes on in updates. May be called
/// again at any time: while it is connected over such a path another one holds at once (but for its
/// seed). NULL: as it is. Copied. For trying a game alone; it needs two more sockets.
/// CAROM_ERROR_ARGUMENT for numbers out of their range; CAROM_ERROR_STATE where it is connected
/// without one.
CAROM_API carom_result carom_client_simulate_link(carom_client *client,
                                                  const carom_client_link *link);

// Messages that need not arrive ------------------------------------------------------------------

#define CAROM_CLIENT_UNRELIABLE_MAX CAROM_UNRELIABLE_MAX ///< bytes

/// From the module to the client: carom_game_send_unreliable, and `unreliable` of the def. To it:
/// a message that is not sent again: `message` of the module gets it in
/// the tick in which it comes, once, or never, and perhaps after one that was sent later. It is
/// recorded as those of carom_client_send are, and holds none of them up. For what is of no use
/// later: a gesture, a marker, a word by voice. At most CAROM_CLIENT_UNRELIABLE_MAX bytes; each
/// counts as a packet of inputs, of which a server takes four times input_rate. Only while PLAYING:
/// CAROM_ERROR_STATE. CAROM_ERROR_IO where it cannot be sent now.
CAROM_API carom_result carom_client_send_unreliable(carom_client *client, const void *bytes,
                                                    uint32_t size);

// A room in this process -------------------------------------------------------------------------
//
// For a single player, for several at one screen, and for tests: the same client, the same rules,
// no server and no socket. Make the room, and open a client to it instead of connecting:
//
//   carom_local_def def = carom_default_local_def();
//   def.scene = bytes, def.scene_size = size; // `carom scene pack FILE --out FILE.scene`
//   def.module = &carom_module_ball;
//   carom_local_create(&def, &local);
//   carom_client_open_local(client, local, now_us());
//   for (;;) carom_client_update(client, now_us());
//
// Time passes by the updates of its clients, which all have one clock; of a pause in which no
// client had one, eight ticks pass, and the rest is left out. Clients of one room belong to one
// thread, with the room. Everything is as with exact sync: each client has the whole world, events
// are predicted and confirmed within a tick or two, and the def's callbacks come.

typedef struct carom_local carom_local;

typedef struct carom_local_def {
    uint32_t struct_size;      ///< set by carom_default_local_def
    carom_allocator allocator; ///< of the room's memory [zeros: malloc and free]
    const uint8_t *scene;      ///< packed; copied. Checked as a stranger's
    size_t scene_size;
    const carom_module *module; ///< the scene's rules; NULL: the built-in ones of its name
    uint64_t seed;              ///< of the game's chance
    uint32_t max_players;       ///< 1 to CAROM_PLAYERS_MAX [CAROM_PLAYERS_MAX]
} carom_local_def;

CAROM_API carom_local_def carom_default_local_def(void);
/// CAROM_ERROR_ARGUMENT for a def out of its limits, or a scene that the module refuses;
/// CAROM_ERROR_NOT_FOUND: the scene names another module; _MEMORY; what reading the scene gave.
CAROM_API carom_result carom_local_create(const carom_local_def *def, carom_local **local);
/// Its clients become idle in their next update, with CAROM_REASON_ROOM_ENDED, as they do when the
/// rules close the room (carom_game_close). NULL is allowed.
CAROM_API void carom_local_destroy(carom_local *local);
/// Joins the room, as carom_client_connect joins a server's: PLAYING some updates later. `name` and
/// `user_data` of the def count; `predict` does not, nor a path to simulate.
/// CAROM_ERROR_STATE where the client is not idle, _FULL where no place is free.
CAROM_API carom_result carom_client_open_local(carom_client *client, carom_local *local,
                                               uint64_t now_us);

#ifdef __cplusplus
}
#endif
#endif
