// The gate's rules. A CONNECT is checked from cheap to dear: form, cookie (a hash), how many came
// from the address, token (an AEAD), and only then X25519. The token's validity here and now is
// checked last, so that its holder gets the refusal signed by keys that no other party has.
#include "server/auth/gate.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/packet.h"
#include "shared/wire/path.h"

#define LEAST           2u // an empty datagram comes as one byte
#define ADDRESS_BUCKETS 1024u
#define CONNECTS_BURST  512u  // from one address; a school behind one NAT joins at once
#define CONNECTS_RATE   64u   // a second
#define ALL_BURST       4096u // from all addresses: as many as a host can have peers, at once
#define ALL_RATE        512u  // a second; each costs some 0.1 ms

#define ASKS_US         2000000u // between two lists of rooms to one address
#define ASKS_BURST      256u     // lists to all addresses, at once
#define ASKS_RATE       128u     // a second; each is at most 9 kB

// Connects that an address has left; addresses share by hash.
typedef struct allowance {
    uint32_t spent;
    uint64_t since_us;
} allowance;

struct cm_gate {
    bool closed;
    cm_cookie_jar jar;
    cm_admission admission;
    cm_connections connections;
    uint16_t (*port_of)(void *context, const cm_token *token);
    void *directory_context;
    carom_reason (*check_slot)(void *context, const cm_token *ticket);
    void *slot_context;
    allowance allowances[ADDRESS_BUCKETS], all, asks;
    uint64_t asks_us[ADDRESS_BUCKETS]; // when an address may be told the rooms again
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

cm_gate *cm_gate_create(const cm_gate_def *def)
{
    cm_gate *gate = calloc(1, sizeof *gate);
    if (gate == NULL || !cm_crypto_init()) {
        free(gate);
        return NULL;
    }
    if (!cm_connections_init(&gate->connections, def->connections)) {
        cm_gate_destroy(gate);
        return NULL;
    }
    cm_cookie_jar_init(&gate->jar, def->chance);
    cm_used_tokens_init(&gate->admission.used, def->chance + 2 * CM_KEY_BYTES);
    if (def->keys != NULL) {
        cm_gate_set_keys(gate, def->keys);
    }
    gate->admission.has_tickets = def->ticket_key != NULL;
    if (def->ticket_key != NULL) {
        gate->admission.ticket_key = *def->ticket_key;
    }
    return gate;
}

void cm_gate_destroy(cm_gate *gate)
{
    if (gate == NULL) {
        return;
    }
    cm_admission_free(&gate->admission);
    cm_connections_free(&gate->connections);
    cm_crypto_wipe(gate, sizeof *gate);
    free(gate);
}

void cm_gate_set_keys(cm_gate *gate, const carom_token_keys *keys)
{
    CM_ASSERT(keys->count > 0);
    gate->admission.keys = *keys;
    gate->admission.has_keys = true;
}

void cm_gate_set_addresses(cm_gate *gate, const cm_address *addresses, uint32_t count)
{
    CM_ASSERT(count <= CM_ADMISSION_ADDRESSES_MAX);
    gate->admission.address_count = count;
    if (count > 0) {
        memcpy(gate->admission.addresses, addresses, count * sizeof *addresses);
    }
}

void cm_gate_set_directory(cm_gate *gate, uint16_t (*port_of)(void *context, const cm_token *token),
                           void *context)
{
    gate->port_of = port_of;
    gate->directory_context = context;
}

void cm_gate_set_slots(cm_gate *gate,
                       carom_reason (*check_slot)(void *context, const cm_token *ticket),
                       void *context)
{
    gate->check_slot = check_slot;
    gate->slot_context = context;
}

void cm_gate_close(cm_gate *gate)
{
    gate->closed = true;
}

cm_used_tokens *cm_gate_used(cm_gate *gate)
{
    return &gate->admission.used;
}

cm_bans *cm_gate_bans(cm_gate *gate)
{
    return &gate->admission.bans;
}

cm_bans *cm_gate_banned_addresses(cm_gate *gate)
{
    return &gate->admission.banned_addresses;
}

cm_bans *cm_gate_told_bans(cm_gate *gate)
{
    return &gate->admission.told_bans;
}

// Connections ----------------------------------------------------------------------------------

uint32_t cm_gate_find(const cm_gate *gate, uint32_t id)
{
    return cm_connections_find(&gate->connections, id);
}

void cm_gate_welcomed(cm_gate *gate, uint32_t index)
{
    cm_connection *c = &gate->connections.places[index];
    if (c->token.kind == CM_TOKEN_CONNECT && !c->announced) {
        c->announced = true;
        cm_admission_announce(&gate->admission, &c->token);
    }
}

void cm_gate_joined(cm_gate *gate, uint32_t index)
{
    gate->connections.places[index].joined = true;
}

void cm_gate_end(cm_gate *gate, uint32_t index)
{
    cm_gate_welcomed(gate, index);
    cm_connections_end(&gate->connections, index);
}

uint32_t cm_gate_count(const cm_gate *gate)
{
    return gate->connections.count;
}

bool cm_gate_exists(const cm_gate *gate, uint32_t index)
{
    return gate->connections.places[index].seal.id != 0;
}

uint64_t cm_gate_opened_us(const cm_gate *gate, uint32_t index)
{
    return gate->connections.places[index].opened_us;
}

// Before a connection ----------------------------------------------------------------------------

static void refuse(cm_gate_result *result, cm_datagram_reason reason)
{
    result->verdict = CM_GATE_REFUSED;
    result->reason = reason;
}

// The counter of a refusal that the client is sent.
static cm_datagram_reason counted(carom_reason why)
{
    switch (why) {
    case CAROM_REASON_PROTOCOL_VERSION:
        return CM_DATAGRAM_VERSION;
    case CAROM_REASON_DRAINING:
        return CM_DATAGRAM_CLOSED;
    case CAROM_REASON_ROOM_FULL:
        return CM_DATAGRAM_FULL;
    case CAROM_REASON_ELSEWHERE:
        return CM_DATAGRAM_ELSEWHERE;
    case CAROM_REASON_TOKEN_EXPIRED:
        return CM_DATAGRAM_EXPIRED;
    case CAROM_REASON_TOKEN_USED:
        return CM_DATAGRAM_USED;
    case CAROM_REASON_TOKEN_SERVER:
        return CM_DATAGRAM_SERVER;
    case CAROM_REASON_TOKEN_ADDRESS:
        return CM_DATAGRAM_ADDRESS;
    case CAROM_REASON_BANNED:
        return CM_DATAGRAM_BANNED;
    case CAROM_REASON_SLOT_GONE:
    case CAROM_REASON_MATCH_CUT:
        return CM_DATAGRAM_SLOT;
    default:
        return CM_DATAGRAM_TOKEN;
    }
}

// The same, and sends a refusal to the client: signed by the keys of the connection that it does
// not get, so that the client believes it at once, or unsigned (NULL).
static void refuse_aloud(cm_gate *gate, cm_gate_result *result, carom_reason why,
                         const uint8_t *client_public, const cm_seal *seal)
{
    cm_refusal refusal = {.reason = (uint8_t)why, .port = result->port};
    memcpy(refusal.echo, client_public, sizeof refusal.echo);
    if (seal != NULL) {
        cm_refusal_sign(&refusal, seal);
    }
    result->verdict = CM_GATE_ANSWER;
    result->reason = counted(why);
    result->bytes = gate->answer;
    result->size = cm_refusal_write(&refusal, gate->answer);
}

static void receive_hello(cm_gate *gate, cm_address from, uint64_t now_us, const uint8_t *bytes,
                          size_t size, cm_gate_result *result)
{
    cm_hello hello;
    if (!cm_hello_read(bytes, size, &hello)) {
        refuse(result, CM_DATAGRAM_HELLO);
    } else if (hello.protocol != CM_PROTOCOL_VERSION) {
        refuse_aloud(gate, result, CAROM_REASON_PROTOCOL_VERSION, hello.client_public, NULL);
    } else {
        cm_challenge challenge;
        cm_cookie_challenge(&gate->jar, from, hello.client_public, now_us, &challenge);
        result->verdict = CM_GATE_ANSWER;
        result->bytes = gate->answer;
        result->size = cm_challenge_write(&challenge, gate->answer);
    }
}

// True where one more connect may be answered now.
static bool spend(allowance *a, uint32_t burst, uint32_t rate, uint64_t now_us)
{
    uint64_t back = (now_us - a->since_us) * rate / 1000000u;
    if (back > 0) {
        a->spent = back < a->spent ? a->spent - (uint32_t)back : 0;
        a->since_us = now_us;
    }
    if (a->spent >= burst) {
        return false;
    }
    a->spent++;
    return true;
}

static size_t bucket_of(const cm_gate *gate, cm_address from)
{
    uint8_t hash[16];
    uint64_t network = cm_address_network(from.ip);
    cm_crypto_hash(hash, sizeof hash, (const uint8_t *)&network, sizeof network, gate->jar.key);
    return (hash[0] | (uint32_t)hash[1] << 8) % ADDRESS_BUCKETS;
}

// A cookie is enough to ask: the rooms are chosen before there is a token for one.
static void receive_rooms_ask(cm_gate *gate, cm_address from, uint64_t now_us, const uint8_t *bytes,
                              size_t size, cm_gate_result *result)
{
    cm_connect ask;
    uint8_t unused[16];
    if (!cm_rooms_ask_read(bytes, size, &ask, &result->first)) {
        refuse(result, CM_DATAGRAM_ASK);
    } else if (!cm_cookie_check(&gate->jar, from, &ask, now_us, unused)) {
        refuse(result, CM_DATAGRAM_COOKIE);
    } else {
        uint64_t *again_us = &gate->asks_us[bucket_of(gate, from)];
        if (now_us < *again_us || !spend(&gate->asks, ASKS_BURST, ASKS_RATE, now_us)) {
            refuse(result, CM_DATAGRAM_ASKS);
            return;
        }
        *again_us = now_us + ASKS_US;
        memcpy(gate->answer, ask.client_public, CM_ECHO_BYTES);
        result->verdict = CM_GATE_ROOMS;
        result->bytes = gate->answer;
        result->size = CM_ECHO_BYTES;
    }
}

static void pass_connect(cm_gate *gate, const cm_seal *seal, uint32_t index,
                         const cm_connect *connect, const uint8_t *bytes, size_t size,
                         cm_gate_result *result)
{
    uint8_t enet[CM_ENET_CONNECT];
    if (!cm_connect_open(connect, bytes, size, seal, enet)) {
        refuse(result, CM_DATAGRAM_FORGED);
        return;
    }
    if (!cm_frame_is_connect(enet)) {
        refuse(result, CM_DATAGRAM_REQUEST);
        return;
    }
    if (cm_frame_channels(enet) != CM_FRAME_CHANNELS) {
        refuse(result, CM_DATAGRAM_CHANNELS);
        return;
    }
    cm_frame_put_connect(enet, gate->frame);
    result->verdict = CM_GATE_PASS;
    result->connection = index;
    result->bytes = gate->frame;
    result->size = sizeof gate->frame;
    result->is_connect = true;
}

// A connection's keys; false for a public key that gives none.
static bool make_keys(const cm_gate *gate, const cm_connect *connect, const cm_token *token,
                      const uint8_t server_random[16], cm_seal *seal)
{
    cm_seal_secrets secrets;
    memcpy(secrets.token_key, token->key, CM_KEY_BYTES);
    memcpy(secrets.client_public, connect->client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, gate->jar.public_key, CM_KEY_BYTES);
    memcpy(secrets.server_random, server_random, sizeof secrets.server_random);
    bool good = cm_crypto_shared(gate->jar.secret, connect->client_public, secrets.shared);
    if (good) {
        cm_seal_begin(seal, CM_SEAL_SERVER, cm_connect_id(connect->cookie), &secrets);
    }
    cm_crypto_wipe(&secrets, sizeof secrets);
    return good;
}

// A CONNECT sealed by who holds the token, with the keys that its connection has: it takes a place,
// or why not.
static carom_reason take_place(cm_gate *gate, const cm_connection *made, uint64_t unix_s,
                               const cm_connect *connect, cm_gate_result *result)
{
    carom_reason why = gate->closed ? CAROM_REASON_DRAINING
                                    : cm_admission_check(&gate->admission, connect, made->from,
                                                         unix_s, &made->token);
    if (why != CAROM_REASON_NONE) {
        return why;
    }
    bool says_where = made->token.kind == CM_TOKEN_CONNECT || made->token.kind == CM_TOKEN_RESUME;
    bool asks = gate->port_of != NULL && says_where;
    result->port = asks ? gate->port_of(gate->directory_context, &made->token) : 0;
    if (result->port != 0) {
        return CAROM_REASON_ELSEWHERE;
    }
    bool ticket = gate->check_slot != NULL && made->token.kind == CM_TOKEN_RESUME;
    why = ticket ? gate->check_slot(gate->slot_context, &made->token) : CAROM_REASON_NONE;
    if (why != CAROM_REASON_NONE) {
        return why;
    }
    uint32_t index = cm_connections_find_place(&gate->connections, made);
    if (index == CM_CONNECTION_NONE ||
        !cm_admission_use(&gate->admission, connect, &made->token, unix_s)) {
        return CAROM_REASON_ROOM_FULL;
    }
    result->connection = index;
    result->evicted_id = gate->connections.places[index].seal.id;
    cm_gate_welcomed(gate, index); // no more than that one's: it is over
    cm_connections_put(&gate->connections, index, made);
    return CAROM_REASON_NONE;
}

static void open_connection(cm_gate *gate, cm_address from, uint64_t now_us, uint64_t unix_s,
                            const cm_connect *connect, const uint8_t server_random[16],
                            const uint8_t *bytes, size_t size, cm_gate_result *result)
{
    cm_connection made = {.from = from, .opened_us = now_us};
    if (!cm_admission_open(&gate->admission, connect, &made.token)) {
        refuse_aloud(gate, result, CAROM_REASON_TOKEN, connect->client_public, NULL);
        return;
    }
    // Only now: where tokens are wanted, who has none cannot spend it.
    if (!spend(&gate->all, ALL_BURST, ALL_RATE, now_us)) {
        refuse(result, CM_DATAGRAM_CROWD);
        return;
    }
    if (!make_keys(gate, connect, &made.token, server_random, &made.seal)) {
        refuse(result, CM_DATAGRAM_FORGED);
        return;
    }
    pass_connect(gate, &made.seal, CM_CONNECTION_NONE, connect, bytes, size, result);
    if (result->verdict == CM_GATE_PASS) {
        cm_path_begin(&made.path, now_us);
        carom_reason why = take_place(gate, &made, unix_s, connect, result);
        if (why != CAROM_REASON_NONE) {
            result->is_connect = false;
            refuse_aloud(gate, result, why, connect->client_public, &made.seal);
        }
    }
    cm_crypto_wipe(&made, sizeof made);
}

static void receive_connect(cm_gate *gate, cm_address from, uint64_t now_us, uint64_t unix_s,
                            const uint8_t *bytes, size_t size, cm_gate_result *result)
{
    cm_connect connect;
    uint8_t server_random[16];
    if (!cm_connect_read(bytes, size, &connect)) {
        refuse(result, CM_DATAGRAM_CONNECT);
        return;
    }
    if (!cm_cookie_check(&gate->jar, from, &connect, now_us, server_random)) {
        refuse(result, CM_DATAGRAM_COOKIE);
        return;
    }
    uint32_t known = cm_gate_find(gate, cm_connect_id(connect.cookie));
    if (known != CM_CONNECTION_NONE) {
        // ENet sends a CONNECT again until it is answered; the same id from elsewhere is chance.
        if (cm_address_equal(&gate->connections.places[known].from, &from)) {
            pass_connect(gate, &gate->connections.places[known].seal, known, &connect, bytes, size,
                         result);
        } else {
            refuse(result, CM_DATAGRAM_FULL);
        }
    } else if (!spend(&gate->allowances[bucket_of(gate, from)], CONNECTS_BURST, CONNECTS_RATE,
                      now_us)) {
        refuse(result, CM_DATAGRAM_BUSY);
    } else {
        open_connection(gate, from, now_us, unix_s, &connect, server_random, bytes, size, result);
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

static void receive_sealed(cm_gate *gate, cm_address from, uint64_t now_us, uint8_t *bytes,
                           size_t size, cm_gate_result *result)
{
    uint32_t index = cm_gate_find(gate, cm_seal_id(bytes, size));
    if (index == CM_CONNECTION_NONE) {
        refuse(result, size < CM_SEAL_OVERHEAD ? CM_DATAGRAM_SHORT : CM_DATAGRAM_UNKNOWN);
        return;
    }
    cm_connection *c = &gate->connections.places[index];
    if (!cm_address_equal(&c->from, &from)) {
        refuse(result, CM_DATAGRAM_MOVED);
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
    cm_path_received(&c->path);
    if (type == CM_WIRE_SEALED) {
        result->verdict = CM_GATE_PASS;
    } else if (type == CM_WIRE_PROBE) {
        result->verdict = CM_GATE_ANSWER;
        result->bytes = gate->answer;
        result->size = cm_frame_probed(&c->seal, size, gate->answer);
    } else {
        result->verdict = CM_GATE_TAKEN;
        cm_path_answered(&c->path, cm_frame_probed_size(bytes + CM_SEAL_HEADER, plain_size),
                         now_us);
    }
}

void cm_gate_receive(cm_gate *gate, cm_address from, uint64_t now_us, uint64_t unix_s,
                     uint8_t *bytes, size_t size, cm_gate_result *result)
{
    *result =
        (cm_gate_result){.reason = CM_DATAGRAM_REASON_COUNT, .connection = CM_CONNECTION_NONE};
    if (size < LEAST || size > CM_DATAGRAM_MAX) {
        refuse(result, size < LEAST ? CM_DATAGRAM_SHORT : CM_DATAGRAM_LONG);
        return;
    }
    switch (bytes[0]) {
    case CM_WIRE_HELLO:
        receive_hello(gate, from, now_us, bytes, size, result);
        break;
    case CM_WIRE_CONNECT:
        receive_connect(gate, from, now_us, unix_s, bytes, size, result);
        break;
    case CM_WIRE_ROOMS_ASK:
        receive_rooms_ask(gate, from, now_us, bytes, size, result);
        break;
    case CM_WIRE_SEALED:
    case CM_WIRE_PROBE:
    case CM_WIRE_PROBED:
        receive_sealed(gate, from, now_us, bytes, size, result);
        break;
    default:
        refuse(result, CM_DATAGRAM_TYPE);
    }
}

size_t cm_gate_seal(cm_gate *gate, uint32_t index, const cm_frame_part *parts, size_t count,
                    uint8_t datagram[CM_DATAGRAM_MAX])
{
    return cm_frame_seal(&gate->connections.places[index].seal, parts, count, datagram);
}

const cm_token *cm_gate_token(const cm_gate *gate, uint32_t index)
{
    const cm_token *token = &gate->connections.places[index].token;
    return token->kind != 0 ? token : NULL;
}

size_t cm_gate_path(const cm_gate *gate, uint32_t index)
{
    return gate->connections.places[index].path.known;
}

size_t cm_gate_probe(cm_gate *gate, uint32_t index, uint64_t now_us,
                     uint8_t datagram[CM_DATAGRAM_MAX])
{
    cm_connection *c = &gate->connections.places[index];
    uint32_t size = c->confirmed ? cm_path_probe(&c->path, now_us) : 0;
    return size > 0 ? cm_frame_probe(&c->seal, size, datagram) : 0;
}

cm_address cm_gate_address(const cm_gate *gate, uint32_t index)
{
    return gate->connections.places[index].from;
}
