// The clients: who joins where and when, what they do, and what they must not see.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/cluster/run.h"

#define PREDICTING    4u
#define GAVE_UP_US    900000u // a farewell that nobody acknowledged by then is not waited for
#define AWAY_US       500000u
#define JOIN_EVERY_US 100000u
#define ASK_EVERY_US  2000000u
#define TOKEN_S       3u    // that one lasts, in a run where they expire
#define LONG_S        3600u // and in others

void cluster_make_members(cluster *c)
{
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        member *m = &c->members[i];
        char name[16];
        m->room = i % CLUSTER_ROOMS;
        snprintf(name, sizeof name, "member %u", i);
        carom_client_def def = carom_default_client_def();
        def.random = cm_net_random;
        def.predict_cost_ns = 1000;
        def.name = name;
        def.room = c->rooms[m->room].name;
        def.predict = i < PREDICTING;
        def.user_data = (const uint8_t *)"?"; // may be refused
        def.user_data_size = i < CLUSTER_STAYERS ? 0 : 1;
        def.module = cluster_module();
        def.message = cluster_hear;
        def.user = &m->told;
        m->told.result = c->result;
        if (carom_client_create(&def, &m->client) != CAROM_OK) {
            cluster_fail(c->result, "no client");
        }
        m->told.client = m->client;
        cm_rng_seed(&m->rng, c->seed * 100u + i);
        m->join_us = c->start_us + i * JOIN_EVERY_US;
        m->leave_us = i < CLUSTER_STAYERS ? UINT64_MAX : m->join_us + 2000000u;
    }
}

// Coming and going -------------------------------------------------------------------------

// Who comes and goes has a path that loses less: each join is a few messages that have a deadline.
// Every other one comes by IPv6, two of them from one /64.
static bool is_by_ipv6(const cluster *c, const member *m)
{
    return (m - c->members) % 2 == 1;
}

void cluster_give_link(cluster *c, member *m)
{
    static const cm_link_def clean_link = {.latency_us = 10000};
    float worst = m->leave_us == UINT64_MAX ? 0.08f : 0.02f;
    cm_link_def link = {.latency_us = 10000 + cm_rng_below(&c->rng, 90000),
                        .jitter_us = cm_rng_below(&c->rng, 25000),
                        .loss = cm_rng_range(&c->rng, 0.01f, worst),
                        .duplicate = cm_rng_range(&c->rng, 0.0f, 0.05f)};
    link.jitter_us = link.jitter_us < link.latency_us ? link.jitter_us : link.latency_us;
    m->link = c->quiet ? clean_link : link;
    cm_net_link_port(c->net, m->port, &m->link);
    cm_net_link_port(c->net, m->first_port, &m->link); // where it tried another one in vain
    if (is_by_ipv6(c, m)) {
        const uint8_t ip[CM_ADDRESS_BYTES] = {
            0x20, 0x01, 0x0d, 0xb8, [7] = (m - c->members) / 4, [15] = m->port % 250u};
        cm_net_name_port(c->net, m->port, ip);
    }
}

// The nonce and the key of an issued token are the system's chance; a run's every byte follows from
// its seed.
static bool draw_again(cluster *c, char *text, size_t size)
{
    cm_token token;
    cm_token_pass pass;
    if (!cm_token_pass_read(text, &pass) ||
        cm_token_open(pass.sealed, pass.sealed_size, c->keys.keys, 1, &token) != CAROM_OK) {
        return false;
    }
    cm_net_random(NULL, token.id, sizeof token.id);
    cm_net_random(NULL, token.key, sizeof token.key);
    pass.sealed_size = cm_token_seal(&token, &c->keys.keys[0], pass.sealed);
    memcpy(pass.key, token.key, sizeof pass.key);
    return pass.sealed_size > 0 && cm_token_pass_write(&pass, text, size);
}

// As the workers tell each other: while its join may still be lost a token lets in again.
static bool is_used(const cluster *c, const member *m)
{
    cm_token_pass pass;
    cm_token token;
    return cm_token_pass_read(m->token, &pass) &&
           cm_token_open(pass.sealed, pass.sealed_size, c->keys.keys, 1, &token) == CAROM_OK &&
           cm_used_tokens_have(&c->used, token.id);
}

// A token for the door of one worker, which may have to send it on. Where tokens expire the first
// one of each has, and later ones now and then; elsewhere some try with the one that they used.
static bool issue(cluster *c, member *m, uint64_t now)
{
    bool expires = c->result->has[CLUSTER_EXPIRY];
    uint32_t chance = cm_rng_below(&c->fate, 4);
    uint64_t now_s = (CLUSTER_UNIX_MS + now / 1000) / 1000, end_s = now_s + LONG_S;
    bool again = is_used(c, m) && !m->expects_refusal && chance == 0;
    m->expects_refusal = again || (expires && (m->token[0] == '\0' || chance == 1));
    if (c->quiet || m->leave_us == UINT64_MAX) { // those who stay try once
        m->expects_refusal = m->expects_refusal && m->token[0] == '\0';
        again = false;
    }
    if (again) {
        return true; // at the door that it names
    }
    m->door = cm_rng_below(&c->fate, CLUSTER_WORKERS);
    end_s = expires ? now_s + TOKEN_S : end_s;
    end_s = m->expects_refusal ? now_s : end_s;
    char server[32], name[16];
    snprintf(server, sizeof server, "127.0.0.1:%u", cluster_port(m->door));
    snprintf(name, sizeof name, "member %u", (unsigned)(m - c->members));
    carom_token_def def = carom_default_token_def();
    def.client_id = 100u + (uint64_t)(m - c->members);
    def.expires_unix_s = end_s;
    def.servers[0] = server;
    def.room = c->rooms[m->room].name;
    def.name = name;
    def.user_data = (const uint8_t *)"?";
    def.user_data_size = m - c->members < CLUSTER_STAYERS ? 0 : 1;
    m->expires_us = 1000u * (1000u * end_s - CLUSTER_UNIX_MS);
    return carom_token_issue(&def, &c->keys.keys[0], m->token, sizeof m->token, NULL) == CAROM_OK &&
           draw_again(c, m->token, sizeof m->token);
}

static void try_door(cluster *c, member *m, uint64_t now)
{
    carom_result result;
    m->tried = true;
    if (c->keys.count > 0) {
        result = issue(c, m, now) ? carom_client_connect_token(m->client, m->token, now)
                                  : CAROM_ERROR_ARGUMENT;
    } else {
        m->door = cm_rng_below(&c->fate, CLUSTER_WORKERS);
        result = carom_client_connect(m->client, "127.0.0.1", cluster_port(m->door), now);
    }
    if (result != CAROM_OK) {
        cluster_fail(c->result, "a client cannot connect: %s", carom_result_text(result));
    }
    m->port = m->first_port = cm_net_last_port(c->net);
    cluster_give_link(c, m);
}

static void begin_to_play(cluster *c, member *m)
{
    carom_client_acks acks;
    carom_client_acks_get(m->client, &acks);
    m->playing = true;
    m->join_tick =
        acks.settled_tick > acks.simulated_tick ? acks.settled_tick : acks.simulated_tick;
    c->rooms[m->room].done.joins++;
    c->result->by_ipv6 += is_by_ipv6(c, m);
    c->result->redirected += m->door != c->rooms[m->room].server;
    if (m->expects_refusal) {
        cluster_fail(c->result, "a token that had expired or was used let a client in");
    }
}

// The module kicked it, and has told it so in the same tick; or a crash came between, and its slot
// was given up.
static void check_kick(cluster *c, const member *m)
{
    carom_reason reason = carom_client_get_reason(m->client);
    const cluster_server *server = &c->servers[c->rooms[m->room].server];
    bool gone = reason == CAROM_REASON_SLOT_GONE && server->died_us != 0;
    c->rooms[m->room].done.leaves++;
    c->result->kicked += reason == CAROM_REASON_GAME_KICKED;
    if (reason == CAROM_REASON_GAME_KICKED && !cluster_heard_last_words(&m->told)) {
        cluster_fail(c->result, "client %u was kicked before what was said to it in that tick came",
                     (unsigned)(m - c->members));
    } else if (reason != CAROM_REASON_GAME_KICKED && !gone && !cluster_may_lose(c, m)) {
        cluster_fail(c->result, "client %u was to be kicked, not: %s", (unsigned)(m - c->members),
                     carom_reason_text(reason));
    }
}

// What a dead server had heard and not committed is lost: so it is asked again.
static bool ask_kick(cluster *c, member *m, uint64_t now)
{
    uint32_t number = (uint32_t)(m - c->members);
    const uint8_t ask[CLUSTER_KICK_SIZE] = {(uint8_t)number};
    bool sent = carom_client_send(m->client, ask, sizeof ask) == CAROM_OK;
    c->result->messages_of[number] += sent;
    c->rooms[m->room].done.messages += sent;
    m->ask_us = now + ASK_EVERY_US;
    return sent;
}

static void leave(cluster *c, member *m, uint64_t now)
{
    m->asks_kick = cm_rng_below(&m->rng, 2) == 0 && ask_kick(c, m, now);
    if (!m->asks_kick) {
        carom_client_disconnect(m->client, now);
        c->rooms[m->room].done.leaves++;
    }
    m->leaving = true;
    m->left_us = now;
}

// Leaves while others play, and comes again, as somebody new to the room.
static void come_and_go(cluster *c, member *m, uint64_t now)
{
    if (carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING && !m->playing) {
        begin_to_play(c, m);
    }
    if (m->playing && !m->leaving && !c->quiet && now >= m->leave_us) {
        leave(c, m, now);
    } else if (m->leaving && m->asks_kick && now >= m->ask_us &&
               carom_client_get_state(m->client) == CAROM_CLIENT_PLAYING) {
        ask_kick(c, m, now);
    }
    if (m->leaving && carom_client_get_state(m->client) == CAROM_CLIENT_IDLE) {
        if (m->asks_kick) {
            check_kick(c, m);
        } else {
            c->rooms[m->room].unheard += now - m->left_us >= GAVE_UP_US;
        }
        c->rooms[m->room].done.joins -= m->unsafe; // both went with the server
        c->rooms[m->room].done.leaves -= m->unsafe;
        m->tried = m->playing = m->leaving = m->unsafe = false;
        m->join_us = now + AWAY_US;
        m->leave_us = now + AWAY_US + 1500000u + cm_rng_below(&m->rng, 1500000);
    }
}

// It is out without having left: by its token, whose time was over when it tried, or when its
// server died with its slot.
static void take_refusal(cluster *c, member *m, uint64_t now)
{
    carom_reason reason = carom_client_get_reason(m->client);
    bool expired = reason == CAROM_REASON_TOKEN_EXPIRED && now >= m->expires_us;
    bool used = reason == CAROM_REASON_TOKEN_USED && m->expects_refusal;
    if (reason == CAROM_REASON_GAME_REFUSED && m - c->members >= CLUSTER_STAYERS &&
        (!m->playing || cluster_may_lose(c, m))) {
        c->result->refused++;
        c->rooms[m->room].done.joins -= m->playing; // the crash took it back, and it came again
        c->rooms[m->room].unsure++; // its join is recorded, unless a crash takes that back
    } else if (!m->playing && (expired || used)) {
        c->result->expired += expired;
        c->result->used_refused += used;
        m->expects_refusal = true; // the next one is good
    } else if (expired && cluster_may_lose(c, m)) {
        c->rooms[m->room].done.joins -= m->playing; // the crash took it back
        fprintf(stderr, "DBG lost: %s playing %d\n", carom_reason_text(reason), m->playing);
    } else {
        cluster_fail(c->result, "client %u was thrown out: %s", (unsigned)(m - c->members),
                     carom_reason_text(reason));
    }
    m->tried = m->playing = m->leaving = m->unsafe = false;
    m->join_us = now + AWAY_US;
}

// Playing ----------------------------------------------------------------------------------

static void put_float(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

// One byte for who says it, one that counts. It is reliable: those who stay are heard to the end.
static void talk(cluster *c, const member *m)
{
    uint32_t number = (uint32_t)(m - c->members);
    uint8_t bytes[2] = {(uint8_t)number, (uint8_t)c->result->messages_of[number]};
    if (carom_client_send(m->client, bytes, sizeof bytes) == CAROM_OK) {
        c->result->messages_of[number]++;
        c->rooms[m->room].done.messages++;
    }
}

static void choose_input(cluster *c, member *m, uint64_t now)
{
    if (c->quiet) {
        memset(m->input, 0, sizeof m->input);
        (void)carom_client_set_input(m->client, m->input, sizeof m->input);
        return;
    }
    if (now >= m->turn_us) {
        talk(c, m);
        m->turn_us = now + 200000u + cm_rng_below(&m->rng, 800000u);
        m->course[0] = cm_rng_range(&m->rng, -1.0f, 1.0f);
        m->course[1] = cm_rng_range(&m->rng, -1.0f, 1.0f);
        m->input[8] = (uint8_t)(cm_rng_below(&m->rng, 3) == 0 ? 1 : 0);
    }
    // Never twice the same: a late input that says nothing new rewinds nothing.
    put_float(m->input, 0.95f * m->course[0] + cm_rng_range(&m->rng, -0.05f, 0.05f));
    put_float(m->input + 4, 0.95f * m->course[1]);
    (void)carom_client_set_input(m->client, m->input, sizeof m->input);
}

// No client is told durable what no commit holds.
static void check_durable(cluster *c, member *m, uint64_t now)
{
    carom_client_acks acks;
    carom_client_acks_get(m->client, &acks);
    if (acks.durable_tick > c->rooms[m->room].committed) {
        cluster_fail(c->result, "tick %" PRIu64 " was called durable, committed is %" PRIu64,
                     acks.durable_tick, c->rooms[m->room].committed);
    }
    c->result->durable_told += acks.durable_tick > m->durable_tick;
    m->durable_tick = acks.durable_tick;
    bool knows = acks.durability == CAROM_DURABILITY_LOST;
    c->result->loss_told += knows && !m->knows_loss;
    m->knows_loss = knows;
    carom_client_stats stats;
    carom_client_stats_get(m->client, &stats);
    bool came_back = stats.comebacks > m->comebacks;
    c->result->comebacks += came_back;
    c->result->outlived += came_back && c->keys.count > 0 && now >= m->expires_us;
    m->comebacks = stats.comebacks;
    m->unsafe = m->unsafe && !came_back && !(m->playing && acks.durable_tick >= m->join_tick);
}

void cluster_update_member(cluster *c, uint32_t number, uint64_t now)
{
    member *m = &c->members[number];
    if (!m->tried && now >= m->join_us) {
        try_door(c, m, now);
    }
    uint16_t last = cm_net_last_port(c->net);
    carom_client_update(m->client, now);
    uint16_t port = m->port;
    if (cm_net_last_port(c->net) != last) { // it tries to come back by another socket
        m->port = cm_net_last_port(c->net);
    } else if (carom_client_get_state(m->client) == CAROM_CLIENT_CONNECTING) { // or to join again
        m->port = m->first_port;
    }
    if (m->port != port) {
        cm_net_link_port(c->net, m->port, &m->link);
        if (is_by_ipv6(c, m)) {
            const uint8_t ip[CM_ADDRESS_BYTES] = {
                0x20, 0x01, 0x0d, 0xb8, [7] = (m - c->members) / 4, [15] = m->port % 250u};
            cm_net_name_port(c->net, m->port, ip);
        }
    }
    check_durable(c, m, now);
    come_and_go(c, m, now);
    carom_client_state state = carom_client_get_state(m->client);
    if (state == CAROM_CLIENT_PLAYING && !m->leaving) {
        choose_input(c, m, now);
    } else if (m->tried && state == CAROM_CLIENT_IDLE) {
        take_refusal(c, m, now);
    }
}

// A frame that takes long, now and then: its inputs come late, and the room rewinds. Who is about
// to leave it does it then.
bool cluster_hitches(cluster *c, uint32_t number, uint64_t now)
{
    member *m = &c->members[number];
    if (!c->quiet && m->leave_us == UINT64_MAX && now >= m->hitch_us) {
        m->hitched_us = now + 40000u + cm_rng_below(&m->rng, 80000);
        m->hitch_us = m->hitched_us + 200000u + cm_rng_below(&m->rng, 600000);
        for (uint32_t i = CLUSTER_STAYERS; i < CLUSTER_CLIENTS; i++) {
            member *other = &c->members[i];
            if (other->room == m->room && other->playing &&
                other->leave_us < m->hitched_us + 1000000u) {
                other->leave_us = m->hitched_us + cm_rng_below(&m->rng, 100000);
            }
        }
    }
    return now < m->hitched_us;
}
