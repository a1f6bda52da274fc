// A slot of the ring belongs to the tick it names. Typical: 70 slots of 160 bytes.
#include "server/room/input_timing.h"

#include <stdlib.h>

typedef struct timing_slot {
    uint64_t tick;
    uint64_t arrived, rewound; // a bit a player
    int16_t lead[CAROM_PLAYERS_MAX];
} timing_slot;

struct cm_input_timing {
    uint32_t ring;
    timing_slot slots[];
};

cm_input_timing *cm_input_timing_create(uint32_t ring)
{
    cm_input_timing *timing = calloc(1, sizeof *timing + ring * sizeof(timing_slot));
    if (timing != NULL) {
        timing->ring = ring;
    }
    return timing;
}

void cm_input_timing_destroy(cm_input_timing *timing)
{
    free(timing);
}

static int16_t clamp(int64_t lead)
{
    return (int16_t)(lead < INT16_MIN ? INT16_MIN : lead > INT16_MAX ? INT16_MAX : lead);
}

void cm_input_timing_put(cm_input_timing *timing, uint32_t player, uint64_t tick, int64_t lead,
                         bool rewound)
{
    timing_slot *slot = &timing->slots[tick % timing->ring];
    if (slot->tick != tick) {
        *slot = (timing_slot){.tick = tick};
    }
    uint64_t bit = UINT64_C(1) << player;
    slot->arrived |= bit;
    slot->rewound = rewound ? slot->rewound | bit : slot->rewound & ~bit;
    slot->lead[player] = clamp(lead);
}

uint32_t cm_input_timing_of(const cm_input_timing *timing, uint64_t tick,
                            cm_arrival out[CAROM_PLAYERS_MAX])
{
    const timing_slot *slot = &timing->slots[tick % timing->ring];
    uint32_t count = 0;
    for (uint32_t player = 0; slot->tick == tick && player < CAROM_PLAYERS_MAX; player++) {
        if ((slot->arrived >> player & 1u) != 0) {
            out[count++] = (cm_arrival){(uint8_t)player, (slot->rewound >> player & 1u) != 0,
                                        slot->lead[player]};
        }
    }
    return count;
}

void cm_input_counts_open(cm_input_counts *counts, uint32_t player)
{
    const cm_player_statistics none = {.player = player};
    cm_input_counts_go_on(counts, &none);
}

void cm_input_counts_go_on(cm_input_counts *counts, const cm_player_statistics *from)
{
    counts->known |= UINT64_C(1) << from->player;
    counts->players[from->player] = *from;
}

void cm_input_counts_add(cm_input_counts *counts, const cm_sink_input *input)
{
    cm_player_statistics *of = &counts->players[input->player];
    bool taken = input->verdict <= CM_INPUT_LATE;
    of->inputs += taken;
    of->late += taken && input->verdict != CM_INPUT_ON_TIME;
    of->rewound_ticks += input->cost;
    of->refused += !taken;
}

uint32_t cm_input_counts_list(const cm_input_counts *counts,
                              cm_player_statistics out[CAROM_PLAYERS_MAX])
{
    uint32_t count = 0;
    for (uint64_t left = counts->known; left != 0; left &= left - 1) {
        out[count++] = counts->players[__builtin_ctzll(left)];
    }
    return count;
}
