// Goal: whoever has a cookie is told the rooms, no oftener than PROTOCOL.md says, whatever it asks.
// Method: a gate, addresses, and a time that is an argument.
#include <criterion/criterion.h>
#include <stdio.h>

#include "server/auth/gate.h"
#include "shared/wire/packet.h"

static cm_gate *gate;
static uint64_t now_us = UINT64_C(50000000);

static void receive(const char *from, uint8_t *bytes, size_t size, cm_gate_result *result)
{
    cm_address address;
    cr_assert(cm_address_read(from, &address));
    cm_gate_receive(gate, address, now_us, 1000, bytes, size, result);
}

// The verdict for an ask for the rooms, with a cookie of that address.
static cm_datagram_reason ask(const char *from, bool forges)
{
    uint8_t bytes[CM_PATH_LEAST];
    cm_gate_result result;
    cm_challenge challenge;
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    hello.client_public[0] = 9;
    receive(from, bytes, cm_hello_write(&hello, bytes), &result);
    cr_assert(cm_challenge_read(result.bytes, result.size, &challenge));
    const cm_connect wanted = {.cookie = challenge.cookie + forges,
                               .client_public = hello.client_public};
    receive(from, bytes, cm_rooms_ask_write(&wanted, 7, bytes), &result);
    bool may = result.reason == CM_DATAGRAM_REASON_COUNT;
    cr_expect_eq((int)result.verdict, may ? CM_GATE_ROOMS : CM_GATE_REFUSED);
    if (may) {
        cr_expect_eq(result.first, 7u);
        cr_expect_arr_eq(result.bytes, hello.client_public, CM_ECHO_BYTES);
    }
    return result.reason;
}

// One answer in two seconds to an address, or a /64; none to who has no cookie of it; and from all
// addresses together 256 at once, then 128 a second.
Test(gate_rooms, rooms_are_told_every_two_seconds)
{
    const cm_datagram_reason told = CM_DATAGRAM_REASON_COUNT;
    char text[32];
    const cm_gate_def def = {.connections = 4, .chance = {1}};
    gate = cm_gate_create(&def);
    cr_assert_not_null(gate);
    cr_expect_eq(ask("10.0.0.2:4000", true), CM_DATAGRAM_COOKIE);
    cr_expect_eq(ask("10.0.0.2:4000", false), told);
    cr_expect_eq(ask("10.0.0.2:4001", false), CM_DATAGRAM_ASKS);
    cr_expect_eq(ask("10.0.0.3:4000", false), told);
    cr_expect_eq(ask("[2001:db8::1]:4000", false), told);
    cr_expect_eq(ask("[2001:db8::2]:4000", false), CM_DATAGRAM_ASKS);
    cr_expect_eq(ask("[2001:db8:0:1::1]:4000", false), told);
    now_us += 1999999;
    cr_expect_eq(ask("10.0.0.2:4000", false), CM_DATAGRAM_ASKS);
    now_us++;
    cr_expect_eq(ask("10.0.0.2:4000", false), told);
    uint32_t answers = 0;
    now_us += 10000000;
    for (uint32_t i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "10.1.%u.%u:4000", (unsigned)i / 200, (unsigned)i % 200);
        answers += ask(text, false) == told;
    }
    cr_expect_eq(answers, 256u);
    cm_gate_destroy(gate);
}
