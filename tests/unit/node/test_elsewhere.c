// Goal: a token whose room another server of the host has is sent there without being used up, and
// its client joins there; where nobody answers there it comes back, and circles end. Method: away.h
// for the server that has the room; bare hosts before it, whose doors know where rooms are.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#include "server/transport/enet/net.h"
#include "tests/unit/node/away.h"

#define DOORS     2u
#define DOOR_PORT 9500u

typedef struct porch {
    cm_host *host;
    uint16_t home; // where it sends
    uint32_t asked;
} porch;

typedef struct street {
    away a;
    porch porches[DOORS];
} street;

static uint16_t entry_of(void *context, const cm_token *token)
{
    porch *p = context;
    cr_assert_eq(token->body.client_id, AWAY_ID);
    p->asked++;
    return p->home;
}

static void open_porch(street *s, uint32_t i, uint16_t home)
{
    porch *p = &s->porches[i];
    cm_host_def def = {.listen = CM_ADDRESS_IPV4(127, 0, 0, 1, (uint16_t)(DOOR_PORT + i)),
                       .peers = 4,
                       .timeout_ms = 10000,
                       .seed = i,
                       .keys = &s->a.keys};
    cm_net_random(NULL, def.chance, sizeof def.chance);
    char error[256] = "";
    p->home = home;
    p->host = cm_host_create(&def, error, sizeof error);
    cr_assert_not_null(p->host, "%s", error);
    cm_address address = CM_ADDRESS_IPV4(127, 0, 0, 1, (uint16_t)(DOOR_PORT + i));
    cm_gate_set_addresses(cm_host_gate(p->host), &address, 1);
    cm_gate_set_directory(cm_host_gate(p->host), entry_of, p);
}

static void open_street(street *s, uint16_t first, uint16_t second)
{
    memset(s, 0, sizeof *s);
    away_make(&s->a, &(away_def){.seed = 3, .tokens = true, .lossless = true});
    open_porch(s, 0, first);
    open_porch(s, 1, second);
    cm_link_def link = {.latency_us = 25000};
    cm_net_link_port(s->a.net, DOOR_PORT, &link);
    cm_net_link_port(s->a.net, DOOR_PORT + 1, &link);
}

static void close_street(street *s)
{
    for (uint32_t i = 0; i < DOORS; i++) {
        cm_host_destroy(s->porches[i].host);
    }
    away_free(&s->a);
}

// Connects to the first gate and goes on until the state is one of these.
static double visit(street *s, double most_s)
{
    char token[CAROM_TOKEN_TEXT_MAX];
    carom_token_def def = carom_default_token_def();
    def.client_id = AWAY_ID;
    def.expires_unix_s = UINT64_C(2000000000);
    def.servers[0] = "127.0.0.1:9500";
    def.servers[1] = "127.0.0.1:9501";
    def.servers[2] = "127.0.0.1:9400";
    cr_assert_eq(carom_token_issue(&def, &s->a.keys.keys[0], token, sizeof token, NULL), CAROM_OK);
    cr_assert_eq(carom_client_create(&s->a.client_def, &s->a.clients[0]), CAROM_OK);
    uint64_t start = cm_net_now_us(s->a.net);
    cr_assert_eq(carom_client_connect_token(s->a.clients[0], token, start), CAROM_OK);
    for (uint64_t now = start; now < start + (uint64_t)(1e6 * most_s);
         now = cm_net_now_us(s->a.net)) {
        for (uint32_t i = 0; i < DOORS; i++) {
            cm_transport_event event;
            cm_transport_begin(cm_host_transport(s->porches[i].host), now, UINT64_C(1900000000));
            while (cm_transport_poll(cm_host_transport(s->porches[i].host), &event)) {
            }
            cm_transport_flush(cm_host_transport(s->porches[i].host));
        }
        away_step(&s->a);
        carom_client_state state = carom_client_get_state(s->a.clients[0]);
        if (state == CAROM_CLIENT_PLAYING || state == CAROM_CLIENT_IDLE) {
            break;
        }
    }
    return 1e-6 * (double)(cm_net_now_us(s->a.net) - start);
}

static uint32_t used_by(const porch *p)
{
    return cm_gate_used(cm_host_gate(p->host))->count;
}

Test(elsewhere, a_token_joins_where_its_room_is)
{
    street s;
    open_street(&s, DOOR_PORT + 1, AWAY_PORT);
    double took = visit(&s, 5.0);
    cr_assert_eq(carom_client_get_state(s.a.clients[0]), CAROM_CLIENT_PLAYING);
    // Twice two round trips of 50 ms, and four of the join, the last of them with two turns.
    cr_assert_lt(took, 0.5);
    cr_assert_eq(s.porches[0].asked, 1);
    cr_assert_eq(s.porches[1].asked, 1);
    cr_assert_eq(used_by(&s.porches[0]), 0);
    cr_assert_eq(used_by(&s.porches[1]), 0);
    cr_assert_eq(away_stats(&s.a).players, 1);
    // And comes back there, by its ticket, which knows where it was made.
    cm_net_partition(s.a.net, cm_net_last_port(s.a.net), true);
    away_run(&s.a, 2.0);
    cr_assert_eq(away_client_stats(&s.a, 0).comebacks, 1);
    cr_assert_eq(carom_client_get_state(s.a.clients[0]), CAROM_CLIENT_PLAYING);
    cr_assert_eq(s.porches[0].asked, 1);
    close_street(&s);
}

// Doors that send it to each other.
Test(elsewhere, a_circle_ends)
{
    street s;
    open_street(&s, DOOR_PORT + 1, DOOR_PORT);
    double took = visit(&s, 10.0);
    cr_assert_eq(carom_client_get_state(s.a.clients[0]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(s.a.clients[0]), CAROM_REASON_ELSEWHERE);
    cr_assert_eq(s.porches[0].asked + s.porches[1].asked, 5, "four moves");
    cr_assert_leq(took, 5 * (0.1 + 0.03), "and two round trips of 50 ms for each");
    close_street(&s);
}

// The room's server does not answer: back to the gate, which by then knows better.
Test(elsewhere, back_again_where_nobody_answers)
{
    street s;
    open_street(&s, 9999, AWAY_PORT);
    double took = visit(&s, 10.0);
    cr_assert_eq(carom_client_get_state(s.a.clients[0]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(s.a.clients[0]), CAROM_REASON_ELSEWHERE);
    cr_assert_float_eq(took, 5.0, 0.1);
    cr_assert_geq(s.porches[0].asked, 2);
    carom_client_destroy(s.a.clients[0]);
    s.a.clients[0] = NULL;
    s.porches[0].home = AWAY_PORT;
    visit(&s, 5.0);
    cr_assert_eq(carom_client_get_state(s.a.clients[0]), CAROM_CLIENT_PLAYING);
    close_street(&s);
}
