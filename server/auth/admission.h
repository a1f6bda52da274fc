// Admission: decides whether a token or a ticket is accepted here and now, by the keys that open
// them, this server's addresses (a token must name one of them), used tokens, and banned clients
// and addresses. Called once for each CONNECT whose cookie is good.
#ifndef CM_SERVER_AUTH_ADMISSION_H
#define CM_SERVER_AUTH_ADMISSION_H

#include "carom/reason.h"

#include "server/auth/bans.h"
#include "server/auth/used_tokens.h"
#include "shared/wire/handshake.h"

#define CM_ADMISSION_ADDRESSES_MAX 64u // of this server, that tokens may name

typedef struct cm_admission {
    bool has_keys, has_tickets; // without keys no token is needed; without tickets none is accepted
    carom_token_keys keys;
    carom_token_key ticket_key;
    cm_address addresses[CM_ADMISSION_ADDRESSES_MAX];
    uint32_t address_count;
    cm_used_tokens used;
    cm_bans bans, banned_addresses; // addresses: by cm_address_network
    cm_bans
        told_bans; // of bans: those whose token passes once, so that the Hello is answered by why
} cm_admission;    // zeroed but for `used`: everyone may come in

void cm_admission_free(cm_admission *admission);

// Opens the token; its kind is 0 if the server wants none. False if no key opens it.
bool cm_admission_open(const cm_admission *admission, const cm_connect *connect, cm_token *token);
// The reason why this token is refused, or CAROM_REASON_NONE.
carom_reason cm_admission_check(const cm_admission *admission, const cm_connect *connect,
                                cm_address from, uint64_t unix_s, const cm_token *token);
// Marks the token as used, so that it is not accepted again. Only for a client that has shown the
// token's key. False: too many unexpired tokens are in use, so the client is refused.
bool cm_admission_use(cm_admission *admission, const cm_connect *connect, const cm_token *token,
                      uint64_t unix_s);
// Announces a used token (not a ticket) to the other workers and the database. Once for each use.
void cm_admission_announce(cm_admission *admission, const cm_token *token);

#endif
