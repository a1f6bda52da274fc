// Until when an operator's bans last, and why: beside cm_bans, for those that say so. Looked at
// once a second, and by who asks for the list. Typical: none, or some dozens.
#ifndef CM_SERVER_AUTH_BAN_TERMS_H
#define CM_SERVER_AUTH_BAN_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#define CM_BAN_REASON_MAX 256u // bytes

typedef struct cm_ban_term {
    bool by_address;
    uint64_t who;          // a client id, or an address by cm_address_network
    uint64_t until_unix_s; // 0: for ever
    char reason[CM_BAN_REASON_MAX + 1];
} cm_ban_term;

typedef struct cm_ban_terms {
    cm_ban_term *list;
    uint32_t count, capacity;
} cm_ban_terms; // zeroed: none

// In place of the one that there is of the same client or address. False: memory is short.
bool cm_ban_terms_put(cm_ban_terms *terms, const cm_ban_term *term);
// Until the next change; NULL: none.
const cm_ban_term *cm_ban_terms_find(const cm_ban_terms *terms, bool by_address, uint64_t who);
void cm_ban_terms_remove(cm_ban_terms *terms, bool by_address, uint64_t who);
// One that is over; NULL: none is.
const cm_ban_term *cm_ban_terms_expired(const cm_ban_terms *terms, uint64_t now_unix_s);
void cm_ban_terms_free(cm_ban_terms *terms);

#endif
