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

#ifdef __cplusplus
}
#endif
#endif
