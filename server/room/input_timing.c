// The ring of arrivals. A slot belongs to the tick it names. Typical: 70 slots of 160 bytes.
#include "server/room/input_timing.h"

#include <stdlib.h>
#include <string.h>

typedef struct arrival_slot {
    uint64_t tick;
    uint64_t arrived, rewound; // a bit a player
    int16_t lead[CAROM_PLAYERS_MAX];
} arrival_slot;

struct cm_arrivals {
    uint32_t ring;
    uint64_t known; // players that were there, a bit each
    cm_player_statistics players[CAROM_PLAYERS_MAX];
    arrival_slot slots[];
};

cm_arrivals *cm_arrivals_create(uint32_t ring)
{
    cm_arrivals *arrivals = calloc(1, sizeof *arrivals + ring * sizeof(arrival_slot));
    if (arrivals != NULL) {
        arrivals->ring = ring;
    }
    return arrivals;
}

void cm_arrivals_destroy(cm_arrivals *arrivals)
{
    free(arrivals);
}

void cm_arrivals_open(cm_arrivals *arrivals, uint32_t player)
{
    arrivals->known |= UINT64_C(1) << player;
    arrivals->players[player] = (cm_player_statistics){.player = player};
}

void cm_arrivals_go_on(cm_arrivals *arrivals, const cm_player_statistics *counts)
{
    arrivals->known |= UINT64_C(1) << counts->player;
    arrivals->players[counts->player] = *counts;
}

static int16_t clamp(int64_t lead)
{
    return (int16_t)(lead < INT16_MIN ? INT16_MIN : lead > INT16_MAX ? INT16_MAX : lead);
}

void cm_arrivals_put(cm_arrivals *arrivals, uint32_t player, uint64_t tick, int64_t lead,
                     bool is_late, uint32_t cost)
{
    arrival_slot *slot = &arrivals->slots[tick % arrivals->ring];
    if (slot->tick != tick) {
        *slot = (arrival_slot){.tick = tick};
    }
    uint64_t bit = UINT64_C(1) << player;
    slot->arrived |= bit;
    slot->rewound = cost > 0 ? slot->rewound | bit : slot->rewound & ~bit;
    slot->lead[player] = clamp(lead);
    cm_player_statistics *counts = &arrivals->players[player];
    counts->inputs++;
    counts->late += is_late;
    counts->rewound_ticks += cost;
}

void cm_arrivals_refused(cm_arrivals *arrivals, uint32_t player)
{
    arrivals->players[player].refused++;
}

uint32_t cm_arrivals_of(const cm_arrivals *arrivals, uint64_t tick,
                        cm_arrival out[CAROM_PLAYERS_MAX])
{
    const arrival_slot *slot = &arrivals->slots[tick % arrivals->ring];
    uint32_t count = 0;
    for (uint32_t player = 0; slot->tick == tick && player < CAROM_PLAYERS_MAX; player++) {
        if ((slot->arrived >> player & 1u) != 0) {
            out[count++] = (cm_arrival){(uint8_t)player, (slot->rewound >> player & 1u) != 0,
                                        slot->lead[player]};
        }
    }
    return count;
}

uint32_t cm_arrivals_statistics(const cm_arrivals *arrivals,
                                cm_player_statistics out[CAROM_PLAYERS_MAX])
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if ((arrivals->known >> player & 1u) != 0) {
            out[count++] = arrivals->players[player];
        }
    }
    return count;
}
