// Durability of a recorded match: which failures the record survives.
#ifndef CAROM_DURABILITY_H
#define CAROM_DURABILITY_H

#include "carom/types.h"

// The numbers travel in control messages.
typedef enum carom_durability {
    CAROM_DURABILITY_NONE = 0,    // the match is not recorded
    CAROM_DURABILITY_PROCESS = 1, // what is durable survives the end of the server's process
    CAROM_DURABILITY_POWER = 2,   // and a power cut
    CAROM_DURABILITY_LOST = 3,    // the recording failed: nothing later becomes durable
} carom_durability;
CAROM_ENUM_32(carom_durability);

#define CAROM_DURABILITY_COUNT 4

#endif
