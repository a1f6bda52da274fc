// Goal: what a network or a stranger does to datagrams sends no player away, and each refusal is
// counted: bits flipped, datagrams held for seconds, paths of 600 bytes, a server that stood still,
// connects from a hundred thousand sources. Method: a whole server and players with the real SDK
// and tokens in virtual time, from one seed; the network counts what it did.
#include "server/node/worker.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <enet/enet.h>
#include <stdio.h>
#include <string.h>

#include "carom/client.h"
#include "server/auth/ban_terms.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"
#include "tests/unit/node/rig.h"

#define PORT        9400u
#define STEP_US     4000u
#define PLAYERS_MAX 8u

typedef struct party {
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    carom_token_keys keys;
    cm_worker *worker;
    carom_client *players[PLAYERS_MAX];
    uint16_t ports[PLAYERS_MAX];
    uint32_t count;
    bool stands;             // the server is stopped
    uint64_t expires_unix_s; // of the tokens given
    char log[4096];
} party;

static void keep_log(void *user, int level, const char *json_line)
{
    party *p = user;
    size_t used = strlen(p->log);
    (void)level;
    snprintf(p->log + used, sizeof p->log - used, "%s\n", json_line);
}

typedef void (*used_keeper)(void *user, const cm_used_token *token);

static void party_start(party *p, uint64_t seed, used_keeper keep_used)
{
    cm_worker_def def = {.random = cm_net_random,
                         .config = &p->config,
                         .scene = p->scene,
                         .keys = &p->keys,
                         .seed = seed,
                         .now_us = cm_net_now_us(p->net),
                         .started_unix_ms = 1000,
                         .log = keep_log,
                         .user = p,
                         .keep_used = keep_used};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &p->worker, error, sizeof error), CAROM_OK, "%s", error);
}

static void party_make_kept(party *p, uint64_t seed, uint32_t count, used_keeper keep_used)
{
    memset(p, 0, sizeof *p);
    p->net = cm_net_virtual_create(seed);
    cm_net_use(p->net);
    cm_link_def link = {.latency_us = 20000};
    cm_net_link_port(p->net, PORT, &link);
    p->scene = rig_scene(3);
    p->count = count;
    cm_config_default(&p->config);
    p->config.max_players = PLAYERS_MAX;
    strcpy(p->config.key, "given below");
    p->expires_unix_s = 1000000;
    p->keys.count = 1;
    p->keys.keys[0].id = 7;
    cm_net_random(NULL, p->keys.keys[0].secret, sizeof p->keys.keys[0].secret);
    party_start(p, seed, keep_used);
}

static void party_make(party *p, uint64_t seed, uint32_t count)
{
    party_make_kept(p, seed, count, NULL);
}

static void party_free(party *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        carom_client_destroy(p->players[i]);
    }
    cm_worker_destroy(p->worker);
    cm_scene_free(p->scene);
    cm_net_destroy(p->net);
    cm_net_use(NULL);
}

static char noticed[CM_BAN_REASON_MAX + 1];

static void keep_notice(void *user, const carom_client_notice *notice)
{
    (void)user;
    cr_expect_eq(notice->reason, CAROM_REASON_BANNED);
    snprintf(noticed, sizeof noticed, "%s", notice->text);
}

static void enter(party *p, uint32_t i)
{
    carom_client_def def = carom_default_client_def();
    def.predict = i == 0;
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.notice = keep_notice;
    cr_assert_eq(carom_client_create(&def, &p->players[i]), CAROM_OK);
    char text[CAROM_TOKEN_TEXT_MAX];
    carom_token_def token = carom_default_token_def();
    token.client_id = 100 + i;
    token.expires_unix_s = p->expires_unix_s;
    token.servers[0] = "127.0.0.1:9400";
    cr_assert_eq(carom_token_issue(&token, &p->keys.keys[0], text, sizeof text, NULL), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(p->players[i], text, cm_net_now_us(p->net)), CAROM_OK);
    p->ports[i] = cm_net_last_port(p->net);
}

// With another token, as the backend would give it.
static void come_again(party *p, uint32_t i)
{
    carom_client_destroy(p->players[i]);
    enter(p, i);
}

static void pass(party *p, uint64_t us)
{
    for (uint64_t end = cm_net_now_us(p->net) + us; cm_net_now_us(p->net) < end;) {
        cm_net_advance(p->net, STEP_US);
        uint64_t now = cm_net_now_us(p->net);
        if (!p->stands) {
            cm_worker_run_once(p->worker, now);
        }
        for (uint32_t i = 0; i < p->count; i++) {
            uint8_t input[RIG_INPUT_SIZE] = {0};
            if (p->players[i] != NULL) {
                input[8] = (uint8_t)(now / 500000 % 2);
                (void)carom_client_set_input(p->players[i], input, sizeof input);
                carom_client_update(p->players[i], now);
            }
        }
    }
}

static void all_enter(party *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        enter(p, i);
    }
    pass(p, 3000000);
}

static uint32_t playing(const party *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        count += carom_client_get_state(p->players[i]) == CAROM_CLIENT_PLAYING;
    }
    return count;
}

static cm_worker_stats stats_of(const party *p)
{
    cm_worker_stats stats;
    cm_worker_stats_get(p->worker, &stats);
    return stats;
}

static uint64_t refused_by_door(const party *p)
{
    cm_worker_stats stats = stats_of(p);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < CM_DATAGRAM_REASON_COUNT; i++) {
        sum += stats.refused[i];
    }
    return sum;
}

// Every one of them plays, has its slot, and goes on getting views.
static void assert_all_play(party *p)
{
    cr_assert_eq(playing(p), p->count);
    cr_assert_eq(stats_of(p).players, p->count);
    uint64_t views[PLAYERS_MAX];
    carom_client_stats stats;
    for (uint32_t i = 0; i < p->count; i++) {
        carom_client_stats_get(p->players[i], &stats);
        views[i] = stats.views;
    }
    pass(p, 1000000);
    for (uint32_t i = 0; i < p->count; i++) {
        carom_client_stats_get(p->players[i], &stats);
        cr_assert_gt(stats.views, views[i], "player %u gets nothing any more", i);
    }
}

static void flip(float share, uint64_t seed)
{
    party p;
    party_make(&p, seed, 4);
    all_enter(&p);
    cr_assert_eq(playing(&p), 4);
    cr_assert_eq(refused_by_door(&p), 0);
    cm_link_def link = {.latency_us = 20000, .flip = share};
    cm_net_link_port(p.net, PORT, &link);
    pass(&p, 20000000);
    link.flip = 0.0f;
    cm_net_link_port(p.net, PORT, &link);
    pass(&p, 200000); // what is under way arrives
    cr_assert_gt(cm_net_flipped(p.net, PORT), 20);
    cr_assert_eq(refused_by_door(&p), cm_net_flipped(p.net, PORT));
    assert_all_play(&p);
    party_free(&p);
}

Test(attack, one_datagram_of_a_hundred_has_a_flipped_bit)
{
    flip(0.01f, 1);
}

Test(attack, one_datagram_of_twenty_has_a_flipped_bit)
{
    flip(0.05f, 2);
}

// The path of each player carries 600 bytes and not one more.
Test(attack, a_path_of_600_bytes_is_enough)
{
    party p;
    party_make(&p, 3, 4);
    cm_link_def link = {.latency_us = 20000, .mtu = 600};
    cm_net_link_port(p.net, PORT, &link);
    all_enter(&p);
    assert_all_play(&p);
    cm_net_stats net;
    cm_net_stats_get(p.net, &net);
    cr_assert_gt(net.lost, 0, "larger ones were tried");
    party_free(&p);
}

// All that is sent in four seconds arrives at their end, at once.
Test(attack, a_network_that_holds_datagrams_sends_nobody_away)
{
    party p;
    party_make(&p, 4, 8);
    all_enter(&p);
    uint64_t end = cm_net_now_us(p.net) + 4000000;
    while (cm_net_now_us(p.net) < end) {
        cm_link_def link = {.latency_us = (uint32_t)(end - cm_net_now_us(p.net))};
        cm_net_link_port(p.net, PORT, &link);
        pass(&p, STEP_US);
    }
    cm_link_def link = {.latency_us = 20000};
    cm_net_link_port(p.net, PORT, &link);
    pass(&p, 5000000);
    assert_all_play(&p);
    party_free(&p);
}

Test(attack, a_server_that_stood_still_sends_nobody_away)
{
    party p;
    party_make(&p, 5, 8);
    all_enter(&p);
    for (uint32_t seconds = 4; seconds <= 10; seconds += 6) {
        p.stands = true;
        pass(&p, seconds * UINT64_C(1000000));
        p.stands = false;
        pass(&p, 5000000);
        assert_all_play(&p);
    }
    cr_assert_eq(refused_by_door(&p), 0, "what waited is not a flood");
    party_free(&p);
}

// The path of every player narrows in mid-match: what was cut for a wide one never arrives, so the
// connection ends and its player comes back by itself, with datagrams that pass.
Test(attack, a_path_that_narrows_is_found_again)
{
    party p;
    party_make(&p, 9, 4);
    all_enter(&p);
    cr_assert_eq(stats_of(&p).narrowed, 0);
    cm_link_def narrow = {.latency_us = 20000, .mtu = 600};
    cm_net_link_port(p.net, PORT, &narrow);
    pass(&p, 30000000);
    cr_assert_eq(stats_of(&p).narrowed, 4, "a size that no longer passes is noticed once");
    assert_all_play(&p);
    cm_link_def wide = {.latency_us = 20000};
    cm_net_link_port(p.net, PORT, &wide);
    pass(&p, 10000000);
    assert_all_play(&p);
    cr_assert_eq(stats_of(&p).narrowed, 4);
    party_free(&p);
}

// Ten thousand datagrams of all kinds, sizes 0 to 1,400, at once: each turn takes a bounded number,
// so that no tick waits for longer; all are counted, and a newcomer gets in meanwhile.
Test(attack, a_burst_is_taken_in_turns)
{
    enum { BURST = 10000, TURN_MAX = 1024 + 256 };
    party p;
    party_make(&p, 10, 4);
    all_enter(&p);
    come_again(&p, 3); // and is on its way in while the burst comes
    cm_rng rng;
    cm_rng_seed(&rng, 10);
    ENetSocket raw = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress address = {htonl(0x7f000001), PORT};
    uint64_t before = refused_by_door(&p), behind = stats_of(&p).ticks_behind;
    for (uint32_t i = 0; i < BURST; i++) {
        uint8_t bytes[1400] = {0};
        for (size_t k = 0; k < 64; k++) {
            bytes[k] = (uint8_t)cm_rng_below(&rng, 256);
        }
        bytes[0] = (uint8_t)(i % 2 == 0 ? CM_WIRE_CONNECT + cm_rng_below(&rng, 8) : bytes[0]);
        ENetBuffer buffer = {bytes, cm_rng_below(&rng, i % 4 == 0 ? sizeof bytes : 64)};
        enet_socket_send(raw, &address, &buffer, 1);
    }
    pass(&p, 3000000);
    cm_worker_stats stats = stats_of(&p);
    cr_assert_geq(stats.turn_datagrams_max, 1024, "it came at once");
    cr_assert_leq(stats.turn_datagrams_max, TURN_MAX);
    cr_assert_eq(refused_by_door(&p) - before, BURST);
    cr_assert_eq(stats.ticks_behind, behind, "no tick was late");
    assert_all_play(&p);
    enet_socket_destroy(raw);
    party_free(&p);
}

// What a server answers to a hello that is always the same.
static cm_challenge ask(party *p, ENetSocket raw)
{
    ENetAddress address = {htonl(0x7f000001), PORT}, from;
    uint8_t bytes[CM_PATH_LEAST];
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION, .client_public = {9}};
    ENetBuffer buffer = {bytes, cm_hello_write(&hello, bytes)};
    enet_socket_send(raw, &address, &buffer, 1);
    pass(p, 100000);
    cm_challenge challenge;
    int size = enet_socket_receive(raw, &from, &buffer, 1);
    cr_assert(size > 0 && cm_challenge_read(bytes, (size_t)size, &challenge));
    return challenge;
}

// Keys follow from what a start draws anew, and not from the match's seed: who says the same to a
// server before and after its restart gets another public key and another number, hence other keys.
Test(attack, a_restarted_server_uses_no_key_again)
{
    party p;
    party_make(&p, 11, 0);
    ENetSocket raw = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    cm_challenge before = ask(&p, raw);
    cm_worker_destroy(p.worker);
    party_start(&p, 11, NULL);
    cm_challenge after = ask(&p, raw);
    cr_assert_arr_neq(before.server_public, after.server_public, CM_KEY_BYTES);
    cr_assert_arr_neq(before.server_random, after.server_random, sizeof after.server_random);
    cr_assert_neq(before.cookie, after.cookie);
    enet_socket_destroy(raw);
    party_free(&p);
}

// Whoever runs the server reads why tokens let nobody in; however many come, a line a second.
Test(attack, refused_tokens_are_in_the_log)
{
    party p;
    party_make(&p, 12, 1);
    all_enter(&p);
    cr_assert_null(strstr(p.log, "tokens refused"), "%s", p.log);
    p.count = 3;
    p.expires_unix_s = 2; // some seconds ago
    for (uint32_t i = 1; i < 3; i++) {
        enter(&p, i);
    }
    pass(&p, 3000000);
    cr_assert_not_null(strstr(p.log, "\"event\":\"tokens refused\",\"reasons\":{\"expired\":"),
                       "%s", p.log);
    cr_assert_eq(playing(&p), 1);
    party_free(&p);
}

// What an attacker without a token sends costs it more than it costs us, and takes nothing.
Test(attack, strangers_get_less_than_they_send)
{
    static const carom_token_keys keys = {1, {{7, {1}}}};
    cm_rng rng;
    cm_rng_seed(&rng, 6);
    cm_gate_def def = {.keys = &keys, .connections = 24};
    for (size_t i = 0; i < sizeof def.chance; i++) {
        def.chance[i] = (uint8_t)cm_rng_below(&rng, 256);
    }
    cm_gate *gate = cm_gate_create(&def);
    uint64_t in = 0, out = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        cm_address from = CM_ADDRESS_IPV4(0, 0, 0, 0, (uint16_t)(i % 60000 + 1));
        uint32_t drawn = cm_rng_below(&rng, UINT32_MAX);
        memcpy(from.ip + 12, &drawn, sizeof drawn);
        uint8_t bytes[CM_PATH_LEAST] = {0};
        size_t size = CM_CONNECT_LEAST + cm_rng_below(&rng, CM_TOKEN_MAX);
        cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
        for (size_t k = 0; k < size; k++) {
            bytes[k] = (uint8_t)cm_rng_below(&rng, 256);
        }
        bytes[0] = CM_WIRE_CONNECT;
        if (i % 2 == 0) {
            memcpy(hello.client_public, bytes + 8, CM_KEY_BYTES);
            size = cm_hello_write(&hello, bytes);
        }
        cm_gate_result result;
        in += size;
        cm_gate_receive(gate, from, 1000000 + i, 1, bytes, size, &result);
        cr_assert_neq(result.verdict, CM_GATE_PASS);
        cr_assert(result.verdict != CM_GATE_ANSWER || result.size <= size);
        out += result.verdict == CM_GATE_ANSWER ? result.size : 0;
    }
    cr_assert_leq(out, in);
    cr_assert_gt(out, 0);
    for (uint32_t i = 0; i < def.connections; i++) {
        cr_assert_not(cm_gate_exists(gate, i), "a slot was taken");
    }
    cm_gate_destroy(gate);
}

// A network that repeats each datagram half the time: the second one is refused, once, and counted.
Test(attack, a_repeated_datagram_is_taken_once)
{
    party p;
    party_make(&p, 7, 4);
    all_enter(&p);
    cm_net_stats before, after;
    cm_net_stats_get(p.net, &before);
    for (uint32_t i = 0; i < p.count; i++) {
        cm_link_def link = {.latency_us = 20000, .jitter_us = 15000, .duplicate = 0.5f};
        cm_net_link_port(p.net, p.ports[i], &link);
    }
    pass(&p, 10000000);
    cm_net_stats_get(p.net, &after);
    cm_worker_stats stats = stats_of(&p);
    cr_assert_gt(stats.refused[CM_DATAGRAM_REPLAY], 500);
    cr_assert_lt(stats.refused[CM_DATAGRAM_REPLAY], after.duplicated - before.duplicated);
    cr_assert_eq(refused_by_door(&p), stats.refused[CM_DATAGRAM_REPLAY]);
    assert_all_play(&p);
    party_free(&p);
}

static uint32_t kept_used;

static void keep_used(void *user, const cm_used_token *token)
{
    (void)user;
    kept_used += token->expires_unix_s == 1000000;
}

// Kicked ones may come again, banned ones may not, by id or address, until the ban is lifted.
Test(attack, who_is_banned_goes_and_stays_away)
{
    party p;
    party_make_kept(&p, 8, 3, keep_used);
    all_enter(&p);
    cr_assert_eq(playing(&p), 3);
    cr_assert_eq(kept_used, 3, "each token that let somebody in");
    cr_assert_eq(cm_worker_kick(p.worker, false, 100), 1);
    cr_assert_eq(cm_worker_kick(p.worker, false, 999), 0);
    cr_assert(cm_worker_ban(p.worker, false, 101));
    pass(&p, 1000000);
    cr_assert_eq(carom_client_get_reason(p.players[0]), CAROM_REASON_KICKED);
    cr_assert_eq(carom_client_get_reason(p.players[1]), CAROM_REASON_BANNED);
    cr_assert_eq(playing(&p), 1);
    come_again(&p, 0);
    come_again(&p, 1);
    pass(&p, 20000000);
    cr_assert_eq(carom_client_get_state(p.players[0]), CAROM_CLIENT_PLAYING);
    cr_assert_eq(carom_client_get_state(p.players[1]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(p.players[1]), CAROM_REASON_BANNED);
    cr_assert_str_eq(noticed, "", "nothing is known of why");
    cr_assert(cm_worker_keep_ban_reason(p.worker, 101, "an hour off"));
    come_again(&p, 1);
    pass(&p, 3000000);
    cr_assert_eq(carom_client_get_reason(p.players[1]), CAROM_REASON_BANNED);
    cr_assert_str_eq(noticed, "an hour off");
    cm_worker_unban(p.worker, false, 101);
    cr_assert(cm_worker_ban(p.worker, true, htonl(0x7f000001)));
    pass(&p, 1000000);
    cr_assert_eq(playing(&p), 0, "all come from one address");
    come_again(&p, 1);
    pass(&p, 20000000);
    cr_assert_eq(carom_client_get_reason(p.players[1]), CAROM_REASON_BANNED);
    cm_worker_unban(p.worker, true, htonl(0x7f000001));
    come_again(&p, 1);
    pass(&p, 3000000);
    cr_assert_eq(carom_client_get_state(p.players[1]), CAROM_CLIENT_PLAYING);
    party_free(&p);
}
