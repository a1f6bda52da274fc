// A room with exact sync for very many ticks: a worker with its store, clients of the SDK over bad
// paths, in virtual time, from one seed. Players come, go, are cut off and come back, the server is
// killed and another goes on with its match; each client holds the whole world and compares the
// hash of each confirmed tick. Now and then a client's world is changed on purpose.
//
//   exact_run: everybody joins -> play until the clients have confirmed so many ticks together
//   -> nobody ever differed, but for those whose worlds were changed: they name tick, body and
//   field within a second, heal, and play on
#ifndef CM_TEST_EXACT_H
#define CM_TEST_EXACT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct exact_result {
    char what[512];                  // the first thing that failed
    uint64_t room_ticks, confirmed;  // of the room; by its clients, each tick by each of them
    uint64_t rewinds, rewound_ticks; // of the room
    uint64_t client_rewinds, client_steps;
    uint64_t contacts; // touching pairs, over the room's ticks
    uint64_t joins, refused, leaves, comebacks, resumes, taken_back;
    // Planted: healed, by a body and its field (not where the module has put all to their places
    // meanwhile), by the very body (not one with a smaller slot that it has touched since).
    uint64_t planted, healed, named, named_first, healed_ms_max;
} exact_result;

void exact_run(const char *game, uint64_t seed, uint64_t ticks, exact_result *result);

#endif
