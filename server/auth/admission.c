// Checks from cheap to dear would end with the token's AEAD; but what is checked of a token stands
// inside it, so that comes first.
#include "server/auth/admission.h"

#include <string.h>

#define INSECURE_S 60u // how long a public key counts as used: longer than any cookie lives

void cm_admission_free(cm_admission *admission)
{
    cm_used_tokens_free(&admission->used);
    cm_bans_free(&admission->bans);
    cm_bans_free(&admission->banned_addresses);
    cm_bans_free(&admission->told_bans);
}

static bool names_us(const cm_admission *admission, const carom_token *token)
{
    for (uint32_t i = 0; i < token->server_count; i++) {
        for (uint32_t k = 0; k < admission->address_count; k++) {
            if (cm_address_equal(&token->servers[i], &admission->addresses[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool is_ticket(const cm_connect *connect)
{
    return connect->token_size > 0 && connect->token[0] == CM_TOKEN_RESUME;
}

// Opens the token with the keys of its kind: a backend cannot make tickets. A server without keys
// needs no token; an empty one of no kind stands for it.
bool cm_admission_open(const cm_admission *admission, const cm_connect *connect, cm_token *token)
{
    if (is_ticket(connect)) {
        return admission->has_tickets &&
               cm_token_open(connect->token, connect->token_size, &admission->ticket_key, 1,
                             token) == CAROM_OK;
    }
    if (admission->has_keys) {
        return cm_token_open(connect->token, connect->token_size, admission->keys.keys,
                             admission->keys.count, token) == CAROM_OK;
    }
    memset(token, 0, sizeof *token);
    return true;
}

// The id that is marked used: the token's; without a token, or with a ticket, the client's public
// key, so that a replayed CONNECT opens no second connection.
static cm_used_token use_of(const cm_connect *connect, const cm_token *token, uint64_t unix_s)
{
    cm_used_token used;
    bool once = token->kind == CM_TOKEN_CONNECT;
    memcpy(used.id, once ? token->id : connect->client_public, sizeof used.id);
    used.expires_unix_s = once ? token->body.expires_unix_s : unix_s + INSECURE_S;
    return used;
}

carom_reason cm_admission_check(const cm_admission *admission, const cm_connect *connect,
                                cm_address from, uint64_t unix_s, const cm_token *token)
{
    if (cm_bans_have(&admission->banned_addresses, cm_address_network(from.ip))) {
        return CAROM_REASON_BANNED;
    }
    if (token->kind != 0) {
        if (unix_s >= token->body.expires_unix_s) {
            return CAROM_REASON_TOKEN_EXPIRED;
        }
        if (token->kind == CM_TOKEN_CONNECT && !names_us(admission, &token->body)) {
            return CAROM_REASON_TOKEN_SERVER;
        }
        if (token->body.is_bound && memcmp(token->body.bound_ip, from.ip, sizeof from.ip) != 0) {
            return CAROM_REASON_TOKEN_ADDRESS;
        }
        bool is_told = token->kind == CM_TOKEN_CONNECT &&
                       cm_bans_have(&admission->told_bans, token->body.client_id);
        if (cm_bans_have(&admission->bans, token->body.client_id) && !is_told) {
            return CAROM_REASON_BANNED;
        }
    }
    cm_used_token used = use_of(connect, token, unix_s);
    return cm_used_tokens_have(&admission->used, used.id) ? CAROM_REASON_TOKEN_USED
                                                          : CAROM_REASON_NONE;
}

bool cm_admission_use(cm_admission *admission, const cm_connect *connect, const cm_token *token,
                      uint64_t unix_s)
{
    cm_used_token used = use_of(connect, token, unix_s);
    return cm_used_tokens_add(&admission->used, &used, unix_s, token->kind == CM_TOKEN_CONNECT);
}

void cm_admission_announce(cm_admission *admission, const cm_token *token)
{
    cm_used_token used = use_of(NULL, token, 0);
    cm_used_tokens_announce(&admission->used, &used);
}
