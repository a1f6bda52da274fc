// attack KIND HOST:PORT COUNT [TOKEN …]: one attacker of a real server, with sockets of its own and
// the bytes of the protocol, but none of its manners. Prints what it sent and what came back:
// {"kind":…,"sent":…,"sent_bytes":…,"got":…,"got_bytes":…}. Bytes are UDP payloads.
//
// Strangers (no token): hello, connect, junk from COUNT forged sources; sealed junk under every id.
// Source addresses are 127.x by IP_PKTINFO, which needs no rights: the answers come back here.
// Clients (a token each): what a connection may be used for. `halfopen` connects and says no more.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "shared/base/rng.h"
#include "shared/wire/control.h"
#include "shared/wire/frame.h"
#include "shared/wire/packet.h"

#define ANSWER_MS 2000
#define BATCH     64u // datagrams between two looks at what came
#define BATCH_US  1000u

typedef struct attacker {
    int socket;
    struct sockaddr_in server;
    uint32_t from; // source address, host byte order; 0: the kernel's choice
    cm_rng rng;
    cm_seal seal;
    uint16_t peer, session; // of ENet's, once connected
    uint64_t sent, sent_bytes, got, got_bytes;
} attacker;

static void fail(const char *what)
{
    fprintf(stderr, "attack: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void draw(attacker *a, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)cm_rng_below(&a->rng, 256);
    }
}

// Bytes --------------------------------------------------------------------------------------

static void open_socket(attacker *a)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    a->socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (a->socket < 0 || bind(a->socket, (struct sockaddr *)&any, sizeof any) != 0) {
        fail("socket");
    }
}

static void send_bytes(attacker *a, const void *bytes, size_t size)
{
    struct iovec data = {(void *)(uintptr_t)bytes, size};
    char control[CMSG_SPACE(sizeof(struct in_pktinfo))] = {0};
    struct msghdr message = {
        .msg_name = &a->server, .msg_namelen = sizeof a->server, .msg_iov = &data, .msg_iovlen = 1};
    if (a->from != 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = IPPROTO_IP;
        head->cmsg_type = IP_PKTINFO;
        head->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
        struct in_pktinfo info = {.ipi_spec_dst.s_addr = htonl(a->from)};
        memcpy(CMSG_DATA(head), &info, sizeof info);
    }
    if (sendmsg(a->socket, &message, 0) == (ssize_t)size) {
        a->sent++;
        a->sent_bytes += size;
    } else if (errno != EAGAIN && errno != ECONNREFUSED) {
        fail("send");
    }
}

// What came, or 0.
static size_t receive(attacker *a, uint8_t bytes[2048], int wait_ms)
{
    struct pollfd fd = {.fd = a->socket, .events = POLLIN};
    if (wait_ms > 0) {
        (void)poll(&fd, 1, wait_ms);
    }
    ssize_t size = recv(a->socket, bytes, 2048, 0);
    if (size <= 0) {
        return 0;
    }
    a->got++;
    a->got_bytes += (uint64_t)size;
    return (size_t)size;
}

static void drain(attacker *a)
{
    uint8_t bytes[2048];
    while (receive(a, bytes, 0) > 0) {
    }
}

// Not faster than a server's socket takes them: what the kernel drops attacks nobody.
static void pace(attacker *a, uint64_t number)
{
    if (number % BATCH == BATCH - 1) {
        struct timespec t = {0, BATCH_US * 1000};
        nanosleep(&t, NULL);
        drain(a);
    }
}

// Strangers ----------------------------------------------------------------------------------

static uint32_t forged(attacker *a)
{
    return 0x7f010000u + cm_rng_below(&a->rng, 0xf00000u);
}

static void send_hello(attacker *a, const uint8_t public_key[CM_KEY_BYTES])
{
    uint8_t bytes[CM_HELLO_BYTES];
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    memcpy(hello.client_public, public_key, CM_KEY_BYTES);
    send_bytes(a, bytes, cm_hello_write(&hello, bytes));
}

static void strangers(attacker *a, const char *kind, uint64_t count)
{
    uint8_t bytes[CM_DATAGRAM_MAX];
    for (uint64_t i = 0; i < count; i++, pace(a, i)) {
        a->from = forged(a);
        draw(a, bytes, CM_PATH_LEAST);
        size_t size = 1 + cm_rng_below(&a->rng, CM_PATH_LEAST);
        if (strcmp(kind, "hello") == 0) {
            send_hello(a, bytes);
            continue;
        }
        if (strcmp(kind, "connect") == 0) {
            size = CM_CONNECT_LEAST + cm_rng_below(&a->rng, CM_TOKEN_MAX);
            bytes[0] = CM_WIRE_CONNECT;
        } else if (strcmp(kind, "sealed") == 0) {
            bytes[0] = (uint8_t)(CM_WIRE_SEALED + i % 3);
        }
        send_bytes(a, bytes, size);
    }
}

// Clients ------------------------------------------------------------------------------------

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value);
}

// ENet's own, as enet_host_connect would make it.
static void make_connect(uint8_t enet[CM_ENET_CONNECT])
{
    memset(enet, 0, CM_ENET_CONNECT);
    put16(enet, 0x8fff);
    enet[4] = 0x82;
    enet[5] = 0xff;
    put16(enet + 6, 1);
    enet[10] = enet[11] = 0xff;
    put32(enet + 12, 548 - CM_SEAL_OVERHEAD);
    put32(enet + 16, 65536);
    put32(enet + 20, 2);
    put32(enet + 32, 5000);
    put32(enet + 36, 2);
    put32(enet + 40, 0);
}

// The handshake up to ENet's CONNECT. False: no answer.
static bool ask(attacker *a, const cm_token_pass *pass)
{
    uint8_t secret[CM_KEY_BYTES], public_key[CM_KEY_BYTES], bytes[2048];
    cm_challenge challenge;
    draw(a, secret, sizeof secret);
    cm_crypto_public(secret, public_key);
    send_hello(a, public_key);
    size_t size = receive(a, bytes, ANSWER_MS);
    cm_seal_secrets secrets;
    if (!cm_challenge_read(bytes, size, &challenge) ||
        !cm_crypto_shared(secret, challenge.server_public, secrets.shared)) {
        return false;
    }
    memcpy(secrets.token_key, pass->key, CM_KEY_BYTES);
    memcpy(secrets.client_public, public_key, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cm_seal_begin(&a->seal, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_connect connect = {.cookie = challenge.cookie,
                          .client_public = public_key,
                          .token = pass->sealed,
                          .token_size = pass->sealed_size};
    uint8_t enet[CM_ENET_CONNECT];
    make_connect(enet);
    send_bytes(a, bytes, cm_connect_write(&connect, enet, &a->seal, bytes));
    return true;
}

// Commands behind ENet's head, sealed.
static void send_commands(attacker *a, const uint8_t *commands, size_t size)
{
    uint8_t datagram[CM_DATAGRAM_MAX + 64];
    put16(datagram + CM_SEAL_HEADER, 0x8000u | a->session << 12 | a->peer);
    put16(datagram + CM_SEAL_HEADER + 2, 0);
    memcpy(datagram + CM_SEAL_HEADER + 4, commands, size);
    send_bytes(a, datagram, cm_seal_close(&a->seal, CM_WIRE_SEALED, datagram, 4 + size));
}

// Up to a connection of ENet's: its VERIFY_CONNECT comes, and is acknowledged.
static bool connect_to(attacker *a, const char *token)
{
    cm_token_pass pass;
    if (!cm_token_pass_read(token, &pass) || !ask(a, &pass)) {
        return false;
    }
    for (uint32_t tries = 0; tries < 8; tries++) {
        uint8_t bytes[2048];
        size_t size = receive(a, bytes, ANSWER_MS), plain = 0;
        if (size == 0 || bytes[0] != CM_WIRE_SEALED ||
            cm_seal_open(&a->seal, bytes, size, &plain) != CM_SEAL_OK) {
            continue;
        }
        const uint8_t *at = bytes + CM_SEAL_HEADER;
        const uint8_t *verify = at + 4;                // a time stands before it
        if (plain >= 4 + 8 && (verify[0] & 15) != 3) { // the ack of the CONNECT goes first
            verify += 8;
        }
        if ((size_t)(verify - at) + 12 <= plain && (verify[0] & 15) == 3) {
            a->peer = (uint16_t)(verify[4] << 8 | verify[5]);
            a->session = verify[7];
            uint8_t ack[8] = {0x01, 0xff};
            memcpy(ack + 4, verify + 2, 2);
            memcpy(ack + 6, at + 2, 2);
            send_commands(a, ack, sizeof ack);
            return true;
        }
    }
    return false;
}

// One datagram of an attack: commands of a kind. `left` counts down to 1.
static size_t make_commands(attacker *a, const char *kind, uint64_t left, uint8_t bytes[512])
{
    size_t size = 0;
    memset(bytes, 0, 512);
    for (uint32_t i = 0; i < 32; i++) {
        uint8_t *command = bytes + size;
        if (strcmp(kind, "empty") == 0) { // unreliable, sequence descending, ahead of reliable 9
            command[0] = 7;
            put16(command + 2, 9);
            put16(command + 4, (uint32_t)(left * 32 - i));
            size += 8;
        } else if (strcmp(kind, "ahead") == 0 || strcmp(kind, "waiting") == 0) {
            // Reliable ones whose turn never comes; the second kind are no further ahead than is
            // allowed, so that they wait in a list which each of them walks.
            command[0] = 0x86;
            put16(command + 2, 2 + cm_rng_below(&a->rng, kind[0] == 'a' ? 4000 : 120));
            put16(command + 4, 1);
            command[6] = 1;
            size += 7;
        } else if (strcmp(kind, "pings") == 0) {
            command[0] = 0x85;
            command[1] = 0xff;
            put16(command + 2, (uint32_t)(left * 32 - i));
            size += 4;
        } else if (strcmp(kind, "fragments") == 0) { // of messages that never become whole
            command[0] = 0x88;
            put16(command + 2, 2 + cm_rng_below(&a->rng, 200));
            put16(command + 4, 2 + cm_rng_below(&a->rng, 200));
            draw(a, command + 6, 18);
            put16(command + 6, 0);
            size += 24;
            i += 12;
        } else { // random commands
            draw(a, command, 15);
            size += 15;
        }
    }
    return size;
}

// Says hello, is welcomed, and acknowledges nothing of what comes.
static bool join_and_stare(attacker *a, uint64_t count)
{
    cm_control hello = {.type = CM_CONTROL_HELLO,
                        .protocol = CM_PROTOCOL_VERSION,
                        .engine = CAROM_ENGINE_VERSION,
                        .name = "stares"};
    uint8_t command[512] = {0x86, 0, 0, 1}, ping[4] = {0x85, 0xff};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(&hello, NULL, &bytes, &size) != CAROM_OK || size > 500) {
        return false;
    }
    put16(command + 4, (uint32_t)size);
    memcpy(command + 6, bytes, size);
    cm_control_release_bytes(NULL, bytes);
    send_commands(a, command, 6 + size);
    for (uint64_t i = 0; i < count; i++) {
        struct timespec t = {0, 10000000};
        put16(ping + 2, (uint32_t)i + 2);
        send_commands(a, ping, sizeof ping);
        nanosleep(&t, NULL);
        drain(a);
    }
    return a->got > count / 10; // it was welcomed, and gets views
}

static bool client(attacker *a, const char *kind, uint64_t count, const char *token)
{
    if (!connect_to(a, token)) {
        fprintf(stderr, "attack: %s: no connection\n", kind);
        return false;
    }
    if (strcmp(kind, "noack") == 0) {
        return join_and_stare(a, count);
    }
    for (uint64_t i = 0; i < count; i++, pace(a, i)) {
        uint8_t bytes[512];
        size_t size = make_commands(a, kind, count - i, bytes);
        send_commands(a, bytes, size);
    }
    return true;
}

// Each from an address of its own; nothing follows.
static bool half_open(attacker *a, char **tokens, uint32_t count)
{
    uint32_t answered = 0;
    for (uint32_t i = 0; i < count; i++) {
        cm_token_pass pass;
        a->from = 0x7f020001u + i;
        answered += cm_token_pass_read(tokens[i], &pass) && ask(a, &pass);
    }
    drain(a);
    if (answered < count) {
        fprintf(stderr, "attack: halfopen: %u of %u got a challenge\n", answered, count);
    }
    return answered > 0;
}

int main(int argc, char **argv)
{
    attacker a = {.peer = 0};
    char host[64];
    unsigned port = 0;
    if (argc < 4 || sscanf(argv[2], "%63[^:]:%u", host, &port) != 2 || !cm_crypto_init()) {
        fprintf(stderr, "usage: attack KIND HOST:PORT COUNT [TOKEN ...]\n");
        return 2;
    }
    a.server.sin_family = AF_INET;
    a.server.sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, host, &a.server.sin_addr);
    cm_rng_seed(&a.rng, 1 + strlen(argv[1]));
    uint64_t count = strtoull(argv[3], NULL, 10);
    open_socket(&a);
    bool done = true;
    if (strcmp(argv[1], "halfopen") == 0) {
        done = half_open(&a, argv + 4, (uint32_t)(argc - 4));
    } else if (argc > 4) {
        done = client(&a, argv[1], count, argv[4]);
    } else {
        strangers(&a, argv[1], count);
    }
    uint8_t bytes[2048];
    while (receive(&a, bytes, 200) > 0) {
    }
    printf("{\"kind\":\"%s\",\"sent\":%llu,\"sent_bytes\":%llu,\"got\":%llu,\"got_bytes\":%llu}\n",
           argv[1], (unsigned long long)a.sent, (unsigned long long)a.sent_bytes,
           (unsigned long long)a.got, (unsigned long long)a.got_bytes);
    return done ? 0 : 1;
}
