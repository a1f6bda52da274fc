// Bans by client id or by address: a sorted list, searched once a connect.
#ifndef CM_SERVER_AUTH_BANS_H
#define CM_SERVER_AUTH_BANS_H

#include <stdbool.h>
#include <stdint.h>

#define CM_BANS_MAX 65536u

typedef struct cm_bans {
    uint64_t *ids; // ascending
    uint32_t count, capacity;
} cm_bans; // zeroed: none

// False: CM_BANS_MAX are banned, or memory is short. Banning twice is once.
bool cm_bans_add(cm_bans *bans, uint64_t client_id);
void cm_bans_remove(cm_bans *bans, uint64_t client_id);
// NULL: none.
bool cm_bans_have(const cm_bans *bans, uint64_t client_id);
void cm_bans_free(cm_bans *bans);

#endif
