// Who may come in: what a token or a ticket must be, here and now. The keys that open them, this
// server's addresses that a token must name one of, tokens used before, clients and addresses that
// are banned. Looked at once for each CONNECT whose cookie is good.
#ifndef CM_SERVER_AUTH_ADMISSION_H
#define CM_SERVER_AUTH_ADMISSION_H

#include "carom/reason.h"

#include "server/auth/bans.h"
#include "server/auth/used_tokens.h"
#include "shared/wire/handshake.h"

#define CM_ADMISSION_ADDRESSES_MAX 64u // of this server, that tokens may name

typedef struct cm_admission {
    bool has_keys, has_tickets; // without keys nobody needs a token; without tickets none is good
    carom_token_keys keys;
    carom_token_key ticket_key;
    carom_token_address addresses[CM_ADMISSION_ADDRESSES_MAX];
    uint32_t address_count;
    cm_used_tokens used;
    cm_bans bans, banned_addresses; // addresses: IPv4, network byte order
} cm_admission;                     // zeroed but for `used`: everyone may come in

void cm_admission_free(cm_admission *admission);

// What the token says, of kind 0 where none is wanted. False where no key opens it.
bool cm_admission_open(const cm_admission *admission, const cm_connect *connect, cm_token *token);
// Why who holds this token is not let in, or CAROM_REASON_NONE.
carom_reason cm_admission_check(const cm_admission *admission, const cm_connect *connect,
                                cm_client_address from, uint64_t unix_s, const cm_token *token);
// From now on it lets nobody in again. Only for who has shown the token's key. False: so many are
// in use that nobody new comes in.
bool cm_admission_use(cm_admission *admission, const cm_connect *connect, const cm_token *token,
                      uint64_t unix_s);
// Of a token (not a ticket) that was used: others may know now. Once for each use.
void cm_admission_announce(cm_admission *admission, const cm_token *token);

#endif
