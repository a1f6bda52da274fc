// Texts by the C library, which knows every short form of IPv6 and no zones.
#include "shared/wire/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool cm_address_is_ipv4(const uint8_t ip[CM_ADDRESS_BYTES])
{
    return memcmp(ip, mapped, sizeof mapped) == 0;
}

bool cm_address_is_any(const uint8_t ip[CM_ADDRESS_BYTES])
{
    static const uint8_t zeros[CM_ADDRESS_BYTES];
    size_t from = cm_address_is_ipv4(ip) ? sizeof mapped : 0;
    return memcmp(ip + from, zeros, CM_ADDRESS_BYTES - from) == 0;
}

bool cm_address_is_loopback(const uint8_t ip[CM_ADDRESS_BYTES])
{
    static const uint8_t one[CM_ADDRESS_BYTES] = {[15] = 1};
    return cm_address_is_ipv4(ip) ? ip[12] == 127 : memcmp(ip, one, sizeof one) == 0;
}

bool cm_address_is_host(const uint8_t ip[CM_ADDRESS_BYTES])
{
    if (cm_address_is_any(ip)) {
        return false;
    }
    bool link_local = ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
    return cm_address_is_ipv4(ip) ? ip[12] < 224 : ip[0] != 0xff && !link_local;
}

bool cm_address_equal(const cm_address *a, const cm_address *b)
{
    return memcmp(a->ip, b->ip, sizeof a->ip) == 0 && a->port == b->port;
}

bool cm_address_read_ip(const char *text, uint8_t ip[CM_ADDRESS_BYTES])
{
    memcpy(ip, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, ip + sizeof mapped) == 1 || inet_pton(AF_INET6, text, ip) == 1;
}

bool cm_address_read(const char *text, cm_address *address)
{
    char ip[CM_ADDRESS_TEXT_MAX];
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    bool brackets = length >= 2 && text[0] == '[' && colon[-1] == ']';
    length -= brackets ? 2u : 0u;
    if (colon == NULL || length >= sizeof ip) {
        return false;
    }
    memcpy(ip, text + brackets, length);
    ip[length] = '\0';
    // An IPv6 address has colons of its own: only brackets say where its port begins.
    bool six = strchr(ip, ':') != NULL;
    uint32_t port = 0, digits = 0;
    for (const char *at = colon + 1; *at >= '0' && *at <= '9' && digits <= 5; at++, digits++) {
        port = 10 * port + (uint32_t)(*at - '0');
    }
    bool number = digits > 0 && colon[1 + digits] == '\0' && port <= UINT16_MAX &&
                  (digits == 1 || colon[1] != '0');
    if (six != brackets || !number || !cm_address_read_ip(ip, address->ip)) {
        return false;
    }
    address->port = (uint16_t)port;
    return true;
}

void cm_address_write_ip(const uint8_t ip[CM_ADDRESS_BYTES], char text[CM_ADDRESS_TEXT_MAX])
{
    bool four = cm_address_is_ipv4(ip);
    if (inet_ntop(four ? AF_INET : AF_INET6, four ? ip + sizeof mapped : ip, text,
                  CM_ADDRESS_TEXT_MAX) == NULL) {
        text[0] = '\0'; // never: there is room for the longest
    }
}

void cm_address_write(const cm_address *address, char text[CM_ADDRESS_TEXT_MAX])
{
    char ip[CM_ADDRESS_TEXT_MAX];
    cm_address_write_ip(address->ip, ip);
    snprintf(text, CM_ADDRESS_TEXT_MAX, cm_address_is_ipv4(address->ip) ? "%.46s:%u" : "[%.46s]:%u",
             ip, (unsigned)address->port);
}

// Networks ---------------------------------------------------------------------------------------

#define LOW  UINT64_C(0xffffffff)
#define PAST (UINT64_C(1) << 33) // networks below it are nobody's, and stand for IPv4 here

uint64_t cm_address_network(const uint8_t ip[CM_ADDRESS_BYTES])
{
    if (cm_address_is_ipv4(ip)) {
        uint32_t four;
        memcpy(&four, ip + sizeof mapped, sizeof four);
        return four;
    }
    uint64_t network = 0;
    for (uint32_t i = 0; i < 8; i++) {
        network = network << 8 | ip[i];
    }
    return network >= PAST ? network : (LOW + 1) | (network & LOW);
}

void cm_address_write_network(uint64_t network, char text[CM_ADDRESS_TEXT_MAX])
{
    uint8_t ip[CM_ADDRESS_BYTES] = {0};
    if (network <= LOW) {
        uint32_t four = (uint32_t)network;
        memcpy(ip, mapped, sizeof mapped);
        memcpy(ip + sizeof mapped, &four, sizeof four);
        cm_address_write_ip(ip, text);
        return;
    }
    network = network < PAST ? network & LOW : network;
    for (uint32_t i = 0; i < 8; i++) {
        ip[i] = (uint8_t)(network >> (56 - 8 * i));
    }
    cm_address_write_ip(ip, text);
    strcat(text, "/64");
}

bool cm_address_read_network(const char *text, uint64_t *network)
{
    uint8_t ip[CM_ADDRESS_BYTES];
    char alone[CM_ADDRESS_TEXT_MAX];
    size_t length = strlen(text);
    bool says = length > 3 && strcmp(text + length - 3, "/64") == 0;
    length -= says ? 3u : 0u;
    if (length >= sizeof alone) {
        return false;
    }
    memcpy(alone, text, length);
    alone[length] = '\0';
    if (!cm_address_read_ip(alone, ip) || (says && cm_address_is_ipv4(ip))) {
        return false;
    }
    *network = cm_address_network(ip);
    return true;
}
