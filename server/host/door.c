// The door's rules. A CONNECT is checked from cheap to dear: form, cookie (a hash), how many came
// from the address, token (an AEAD), and only then X25519.
#include "server/host/door.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/packet.h"
#include "shared/wire/path.h"

#define ADDRESS_BUCKETS 1024u
#define CONNECTS_BURST  512u // from one address; a school behind one NAT joins at once
#define CONNECTS_RATE   64u  // a second
#define INSECURE_S      60u  // how long a public key counts as used: longer than any cookie lives

typedef struct connection {
    cm_seal seal; // id 0: free
    cm_client_address from;
    bool confirmed;
    uint64_t opened_us;
    cm_path path;
    cm_token token;
} connection;

// Connects that an address has left; addresses share by hash.
typedef struct allowance {
    uint32_t spent;
    uint64_t since_us;
} allowance;

struct cm_door {
    bool has_keys, has_tickets, closed;
    carom_token_keys keys;
    carom_token_key ticket_key;
    carom_token_address addresses[CM_DOOR_PUBLIC_MAX];
    uint32_t address_count;
    cm_cookie_jar jar;
    cm_used_tokens used;
    cm_bans bans, banned_addresses;
    uint16_t (*home)(void *context, const cm_token *token);
    void *home_context;
    allowance allowances[ADDRESS_BUCKETS];
    uint32_t capacity;
    connection *connections;
    uint32_t *index; // by id, open addressing: place in connections and one; 0: nothing
    uint32_t index_mask;
    uint8_t answer[CM_DATAGRAM_MAX];
    uint8_t frame[CM_FRAME_CONNECT];
};

const char *cm_datagram_reason_text(cm_datagram_reason reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(name, text) text,
        CM_DATAGRAM_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return reason < CM_DATAGRAM_REASON_COUNT ? texts[reason] : "unknown";
}

cm_door *cm_door_create(const cm_door_def *def)
{
    cm_door *door = calloc(1, sizeof *door);
    if (door == NULL || !cm_crypto_init()) {
        free(door);
        return NULL;
    }
    uint32_t index = 16;
    while (index < 2 * def->connections) {
        index *= 2;
    }
    door->capacity = def->connections;
    door->index_mask = index - 1;
    door->connections = calloc(def->connections, sizeof *door->connections);
    door->index = calloc(index, sizeof *door->index);
    if (door->connections == NULL || door->index == NULL) {
        cm_door_destroy(door);
        return NULL;
    }
    cm_cookie_jar_init(&door->jar, def->chance);
    cm_used_tokens_init(&door->used, def->chance + 2 * CM_KEY_BYTES);
    if (def->keys != NULL) {
        cm_door_set_keys(door, def->keys);
    }
    door->has_tickets = def->ticket_key != NULL;
    if (door->has_tickets) {
        door->ticket_key = *def->ticket_key;
    }
    return door;
}

void cm_door_destroy(cm_door *door)
{
    if (door == NULL) {
        return;
    }
    cm_used_tokens_free(&door->used);
    cm_bans_free(&door->bans);
    cm_bans_free(&door->banned_addresses);
    if (door->connections != NULL) {
        cm_crypto_wipe(door->connections, door->capacity * sizeof *door->connections);
    }
    free(door->connections);
    free(door->index);
    cm_crypto_wipe(door, sizeof *door);
    free(door);
}

void cm_door_set_keys(cm_door *door, const carom_token_keys *keys)
{
    CM_ASSERT(keys->count > 0);
    door->keys = *keys;
    door->has_keys = true;
}

void cm_door_set_addresses(cm_door *door, const carom_token_address *addresses, uint32_t count)
{
    CM_ASSERT(count <= CM_DOOR_PUBLIC_MAX);
    door->address_count = count;
    if (count > 0) {
        memcpy(door->addresses, addresses, count * sizeof *addresses);
    }
}

void cm_door_set_homes(cm_door *door, uint16_t (*home)(void *context, const cm_token *token),
                       void *context)
{
    door->home = home;
    door->home_context = context;
}

void cm_door_close(cm_door *door)
{
    door->closed = true;
}

cm_used_tokens *cm_door_used(cm_door *door)
{
    return &door->used;
}

cm_bans *cm_door_bans(cm_door *door)
{
    return &door->bans;
}

cm_bans *cm_door_banned_addresses(cm_door *door)
{
    return &door->banned_addresses;
}

// Connections ----------------------------------------------------------------------------------

uint32_t cm_door_find(const cm_door *door, uint32_t id)
{
    for (uint32_t at = id;; at++) {
        uint32_t entry = door->index[at & door->index_mask];
        if (entry == 0 || id == 0) {
            return CM_DOOR_NONE;
        }
        if (door->connections[entry - 1].seal.id == id) {
            return entry - 1;
        }
    }
}

// After a connection came or went. Ids are chosen by chance, by us.
static void make_index(cm_door *door)
{
    memset(door->index, 0, (door->index_mask + 1) * sizeof *door->index);
    for (uint32_t i = 0; i < door->capacity; i++) {
        uint32_t at = door->connections[i].seal.id;
        if (at == 0) {
            continue;
        }
        while (door->index[at & door->index_mask] != 0) {
            at++;
        }
        door->index[at & door->index_mask] = i + 1;
    }
}

void cm_door_end(cm_door *door, uint32_t index)
{
    CM_ASSERT(index < door->capacity);
    cm_crypto_wipe(&door->connections[index], sizeof door->connections[index]);
    make_index(door);
}

// A free place, else that of the oldest connection which has shown nothing of itself yet.
static uint32_t find_place(const cm_door *door)
{
    uint32_t oldest = CM_DOOR_NONE;
    for (uint32_t i = 0; i < door->capacity; i++) {
        const connection *c = &door->connections[i];
        if (c->seal.id == 0) {
            return i;
        }
        if (!c->confirmed &&
            (oldest == CM_DOOR_NONE || c->opened_us < door->connections[oldest].opened_us)) {
            oldest = i;
        }
    }
    return oldest;
}

bool cm_door_exists(const cm_door *door, uint32_t index)
{
    return door->connections[index].seal.id != 0;
}

static bool same_address(cm_client_address a, cm_client_address b)
{
    return a.host == b.host && a.port == b.port;
}

// Before a connection ----------------------------------------------------------------------------

static void refuse(cm_door_result *result, cm_datagram_reason reason)
{
    result->verdict = CM_DOOR_REFUSED;
    result->reason = reason;
}

// The same, and says so to whoever asked.
static void refuse_aloud(cm_door *door, cm_door_result *result, cm_datagram_reason reason,
                         const uint8_t *client_public, carom_reason why)
{
    cm_refusal refusal = {.reason = (uint8_t)why, .port = result->port};
    memcpy(refusal.echo, client_public, sizeof refusal.echo);
    result->verdict = CM_DOOR_ANSWER;
    result->reason = reason;
    result->bytes = door->answer;
    result->size = cm_refusal_write(&refusal, door->answer);
}

static void receive_hello(cm_door *door, cm_client_address from, uint64_t now_us,
                          const uint8_t *bytes, size_t size, cm_door_result *result)
{
    cm_hello hello;
    if (!cm_hello_read(bytes, size, &hello)) {
        refuse(result, CM_DATAGRAM_HELLO);
    } else if (hello.protocol != CM_PROTOCOL_VERSION) {
        refuse_aloud(door, result, CM_DATAGRAM_VERSION, hello.client_public,
                     CAROM_REASON_PROTOCOL_VERSION);
    } else if (door->closed) {
        refuse_aloud(door, result, CM_DATAGRAM_CLOSED, hello.client_public, CAROM_REASON_DRAINING);
    } else {
        cm_challenge challenge;
        cm_cookie_challenge(&door->jar, from, hello.client_public, now_us, &challenge);
        result->verdict = CM_DOOR_ANSWER;
        result->bytes = door->answer;
        result->size = cm_challenge_write(&challenge, door->answer);
    }
}

// True where the address may connect once more now.
static bool spend(cm_door *door, cm_client_address from, uint64_t now_us)
{
    uint8_t hash[16];
    cm_crypto_hash(hash, sizeof hash, (const uint8_t *)&from.host, sizeof from.host, door->jar.key);
    allowance *a = &door->allowances[(hash[0] | (uint32_t)hash[1] << 8) % ADDRESS_BUCKETS];
    uint64_t back = (now_us - a->since_us) * CONNECTS_RATE / 1000000u;
    if (back > 0) {
        a->spent = back < a->spent ? a->spent - (uint32_t)back : 0;
        a->since_us = now_us;
    }
    if (a->spent >= CONNECTS_BURST) {
        return false;
    }
    a->spent++;
    return true;
}

static bool names_us(const cm_door *door, const carom_token *token)
{
    for (uint32_t i = 0; i < token->server_count; i++) {
        for (uint32_t k = 0; k < door->address_count; k++) {
            if (memcmp(token->servers[i].ip, door->addresses[k].ip, 4) == 0 &&
                token->servers[i].port == door->addresses[k].port) {
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

// Opens the token with the keys of its kind: a backend cannot make tickets. Without keys nobody
// needs a token, and an empty one of no kind stands for it.
static cm_datagram_reason open_token(const cm_door *door, const cm_connect *connect,
                                     cm_token *token)
{
    carom_result result = CAROM_OK;
    if (is_ticket(connect)) {
        result = door->has_tickets ? cm_token_open(connect->token, connect->token_size,
                                                   &door->ticket_key, 1, token)
                                   : CAROM_ERROR_NOT_FOUND;
    } else if (door->has_keys) {
        result = cm_token_open(connect->token, connect->token_size, door->keys.keys,
                               door->keys.count, token);
    } else {
        memset(token, 0, sizeof *token);
    }
    return result == CAROM_OK ? CM_DATAGRAM_REASON_COUNT : CM_DATAGRAM_TOKEN;
}

// What opens only once: the token; where there is none, or a ticket, the client's public key, so
// that a CONNECT of an earlier connection opens nothing again.
static cm_used_token use_of(const cm_connect *connect, const cm_token *token, uint64_t unix_s)
{
    cm_used_token used = {.expires_unix_s = token->body.expires_unix_s};
    bool once = token->kind == CM_TOKEN_CONNECT;
    memcpy(used.id, once ? token->id : connect->client_public, sizeof used.id);
    used.expires_unix_s = once ? token->body.expires_unix_s : unix_s + INSECURE_S;
    return used;
}

// Why a token lets nobody in, or CM_DATAGRAM_REASON_COUNT.
static cm_datagram_reason check_token(const cm_door *door, const cm_connect *connect,
                                      cm_client_address from, uint64_t unix_s, cm_token *token)
{
    cm_datagram_reason wrong = open_token(door, connect, token);
    if (wrong != CM_DATAGRAM_REASON_COUNT) {
        return wrong;
    }
    if (token->kind != 0) {
        if (unix_s >= token->body.expires_unix_s) {
            return CM_DATAGRAM_EXPIRED;
        }
        if (token->kind == CM_TOKEN_CONNECT && !names_us(door, &token->body)) {
            return CM_DATAGRAM_SERVER;
        }
        if (token->body.is_bound && memcmp(token->body.bound_ip, &from.host, 4) != 0) {
            return CM_DATAGRAM_ADDRESS;
        }
        if (cm_bans_have(&door->bans, token->body.client_id)) {
            return CM_DATAGRAM_BANNED;
        }
    }
    cm_used_token used = use_of(connect, token, unix_s);
    return cm_used_tokens_have(&door->used, used.id) ? CM_DATAGRAM_USED : CM_DATAGRAM_REASON_COUNT;
}

// What a client is told of a refused token.
static carom_reason spoken(cm_datagram_reason reason)
{
    switch (reason) {
    case CM_DATAGRAM_EXPIRED:
        return CAROM_REASON_TOKEN_EXPIRED;
    case CM_DATAGRAM_USED:
        return CAROM_REASON_TOKEN_USED;
    case CM_DATAGRAM_SERVER:
        return CAROM_REASON_TOKEN_SERVER;
    case CM_DATAGRAM_ADDRESS:
        return CAROM_REASON_TOKEN_ADDRESS;
    case CM_DATAGRAM_BANNED:
        return CAROM_REASON_BANNED;
    default:
        return CAROM_REASON_TOKEN;
    }
}

static void pass_connect(cm_door *door, const cm_seal *seal, uint32_t index,
                         const cm_connect *connect, const uint8_t *bytes, size_t size,
                         cm_door_result *result)
{
    uint8_t enet[CM_ENET_CONNECT];
    if (!cm_connect_open(connect, bytes, size, seal, enet)) {
        refuse(result, CM_DATAGRAM_FORGED);
        return;
    }
    cm_frame_put_connect(enet, door->frame);
    result->verdict = CM_DOOR_PASS;
    result->connection = index;
    result->bytes = door->frame;
    result->size = sizeof door->frame;
    result->is_connect = true;
}

// A connection's keys; false for a public key that gives none.
static bool make_keys(const cm_door *door, const cm_connect *connect, const cm_token *token,
                      const uint8_t server_random[16], cm_seal *seal)
{
    cm_seal_secrets secrets;
    memcpy(secrets.token_key, token->key, CM_KEY_BYTES);
    memcpy(secrets.client_public, connect->client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, door->jar.public_key, CM_KEY_BYTES);
    memcpy(secrets.server_random, server_random, sizeof secrets.server_random);
    bool good = cm_crypto_shared(door->jar.secret, connect->client_public, secrets.shared);
    if (good) {
        cm_seal_begin(seal, CM_SEAL_SERVER, cm_connect_id(connect->cookie), &secrets);
    }
    cm_crypto_wipe(&secrets, sizeof secrets);
    return good;
}

static void open_connection(cm_door *door, cm_client_address from, uint64_t now_us, uint64_t unix_s,
                            const cm_connect *connect, const uint8_t server_random[16],
                            const uint8_t *bytes, size_t size, cm_door_result *result)
{
    cm_token token;
    cm_datagram_reason wrong = check_token(door, connect, from, unix_s, &token);
    if (wrong != CM_DATAGRAM_REASON_COUNT) {
        refuse_aloud(door, result, wrong, connect->client_public, spoken(wrong));
        return;
    }
    bool homes = door->home != NULL && token.kind == CM_TOKEN_CONNECT;
    result->port = homes ? door->home(door->home_context, &token) : 0;
    if (result->port != 0) {
        refuse_aloud(door, result, CM_DATAGRAM_ELSEWHERE, connect->client_public,
                     CAROM_REASON_ELSEWHERE);
        return;
    }
    uint32_t index = find_place(door);
    if (index == CM_DOOR_NONE) {
        refuse_aloud(door, result, CM_DATAGRAM_FULL, connect->client_public,
                     CAROM_REASON_ROOM_FULL);
        return;
    }
    connection made = {.from = from, .opened_us = now_us, .token = token};
    if (!make_keys(door, connect, &token, server_random, &made.seal)) {
        refuse(result, CM_DATAGRAM_FORGED);
        return;
    }
    pass_connect(door, &made.seal, index, connect, bytes, size, result);
    cm_used_token used = use_of(connect, &token, unix_s);
    // Only who holds the token's key gets here: now, and not before, it counts as used.
    if (result->verdict == CM_DOOR_PASS &&
        !cm_used_tokens_add(&door->used, &used, unix_s, token.kind == CM_TOKEN_CONNECT)) {
        refuse_aloud(door, result, CM_DATAGRAM_FULL, connect->client_public,
                     CAROM_REASON_ROOM_FULL);
    }
    if (result->verdict == CM_DOOR_PASS) {
        cm_path_begin(&made.path, now_us);
        result->evicted_id = door->connections[index].seal.id;
        door->connections[index] = made;
        make_index(door);
    }
    cm_crypto_wipe(&made, sizeof made);
}

static void receive_connect(cm_door *door, cm_client_address from, uint64_t now_us, uint64_t unix_s,
                            const uint8_t *bytes, size_t size, cm_door_result *result)
{
    cm_connect connect;
    uint8_t server_random[16];
    if (!cm_connect_read(bytes, size, &connect)) {
        refuse(result, CM_DATAGRAM_CONNECT);
        return;
    }
    if (!cm_cookie_check(&door->jar, from, &connect, now_us, server_random)) {
        refuse(result, CM_DATAGRAM_COOKIE);
        return;
    }
    uint32_t known = cm_door_find(door, cm_connect_id(connect.cookie));
    if (known != CM_DOOR_NONE) {
        // ENet sends a CONNECT again until it is answered; the same id from elsewhere is chance.
        if (same_address(door->connections[known].from, from)) {
            pass_connect(door, &door->connections[known].seal, known, &connect, bytes, size,
                         result);
        } else {
            refuse(result, CM_DATAGRAM_FULL);
        }
    } else if (door->closed) {
        refuse_aloud(door, result, CM_DATAGRAM_CLOSED, connect.client_public,
                     CAROM_REASON_DRAINING);
    } else if (cm_bans_have(&door->banned_addresses, from.host)) {
        refuse_aloud(door, result, CM_DATAGRAM_BANNED, connect.client_public, CAROM_REASON_BANNED);
    } else if (!spend(door, from, now_us)) {
        refuse(result, CM_DATAGRAM_BUSY);
    } else {
        open_connection(door, from, now_us, unix_s, &connect, server_random, bytes, size, result);
    }
}

// In a connection --------------------------------------------------------------------------------

static cm_datagram_reason unsealed(cm_seal_reason reason)
{
    return reason == CM_SEAL_SHORT    ? CM_DATAGRAM_SHORT
           : reason == CM_SEAL_REPLAY ? CM_DATAGRAM_REPLAY
           : reason == CM_SEAL_FORGED ? CM_DATAGRAM_FORGED
           : reason == CM_SEAL_OTHER  ? CM_DATAGRAM_UNKNOWN
                                      : CM_DATAGRAM_REASON_COUNT;
}

static void receive_sealed(cm_door *door, cm_client_address from, uint64_t now_us, uint8_t *bytes,
                           size_t size, cm_door_result *result)
{
    uint32_t index = cm_door_find(door, cm_seal_id(bytes, size));
    if (index == CM_DOOR_NONE) {
        refuse(result, size < CM_SEAL_OVERHEAD ? CM_DATAGRAM_SHORT : CM_DATAGRAM_UNKNOWN);
        return;
    }
    connection *c = &door->connections[index];
    if (!same_address(c->from, from)) {
        refuse(result, CM_DATAGRAM_ADDRESS);
        return;
    }
    uint8_t type = bytes[0];
    size_t plain_size = 0;
    cm_datagram_reason wrong;
    if (type == CM_WIRE_SEALED) {
        wrong = unsealed(cm_frame_open(&c->seal, bytes, size, &result->bytes, &result->size));
    } else {
        wrong = unsealed(cm_seal_open(&c->seal, bytes, size, &plain_size));
    }
    // Its answer has two bytes: what is shorter would draw more than it is.
    if (wrong == CM_DATAGRAM_REASON_COUNT && type == CM_WIRE_PROBE && plain_size < 2) {
        wrong = CM_DATAGRAM_SHORT;
    }
    if (wrong != CM_DATAGRAM_REASON_COUNT) {
        refuse(result, wrong);
        return;
    }
    result->connection = index;
    c->confirmed = true;
    cm_path_heard(&c->path);
    if (type == CM_WIRE_SEALED) {
        result->verdict = CM_DOOR_PASS;
    } else if (type == CM_WIRE_PROBE) {
        result->verdict = CM_DOOR_ANSWER;
        result->bytes = door->answer;
        result->size = cm_frame_probed(&c->seal, size, door->answer);
    } else {
        result->verdict = CM_DOOR_TAKEN;
        cm_path_answered(&c->path, cm_frame_probed_size(bytes + CM_SEAL_HEADER, plain_size),
                         now_us);
    }
}

void cm_door_receive(cm_door *door, cm_client_address from, uint64_t now_us, uint64_t unix_s,
                     uint8_t *bytes, size_t size, cm_door_result *result)
{
    *result = (cm_door_result){.reason = CM_DATAGRAM_REASON_COUNT, .connection = CM_DOOR_NONE};
    if (size == 0 || size > CM_DATAGRAM_MAX) {
        refuse(result, size == 0 ? CM_DATAGRAM_SHORT : CM_DATAGRAM_LONG);
        return;
    }
    switch (bytes[0]) {
    case CM_WIRE_HELLO:
        receive_hello(door, from, now_us, bytes, size, result);
        break;
    case CM_WIRE_CONNECT:
        receive_connect(door, from, now_us, unix_s, bytes, size, result);
        break;
    case CM_WIRE_SEALED:
    case CM_WIRE_PROBE:
    case CM_WIRE_PROBED:
        receive_sealed(door, from, now_us, bytes, size, result);
        break;
    default:
        refuse(result, CM_DATAGRAM_TYPE);
    }
}

size_t cm_door_seal(cm_door *door, uint32_t index, const cm_frame_part *parts, size_t count,
                    uint8_t datagram[CM_DATAGRAM_MAX])
{
    return cm_frame_seal(&door->connections[index].seal, parts, count, datagram);
}

const cm_token *cm_door_token(const cm_door *door, uint32_t index)
{
    const cm_token *token = &door->connections[index].token;
    return token->kind != 0 ? token : NULL;
}

size_t cm_door_path(const cm_door *door, uint32_t index)
{
    return door->connections[index].path.known;
}

size_t cm_door_probe(cm_door *door, uint32_t index, uint64_t now_us,
                     uint8_t datagram[CM_DATAGRAM_MAX])
{
    connection *c = &door->connections[index];
    uint32_t size = cm_path_probe(&c->path, now_us);
    return size > 0 ? cm_frame_probe(&c->seal, size, datagram) : 0;
}

cm_client_address cm_door_address(const cm_door *door, uint32_t index)
{
    return door->connections[index].from;
}
