// An address: sixteen bytes of address and a port. An IPv4 address a.b.c.d stands as
// ::ffff:a.b.c.d, and is the same address however it was written or came.
//
// Texts are A.B.C.D:PORT and [IPv6]:PORT. A zone (fe80::1%eth0) is no part of an address: it means
// something on one machine only, so such a text is refused.
#ifndef CM_WIRE_ADDRESS_H
#define CM_WIRE_ADDRESS_H

#include "carom/token.h"

#define CM_ADDRESS_BYTES    16u
#define CM_ADDRESS_TEXT_MAX 56u

typedef carom_token_address cm_address;

#define CM_ADDRESS_IPV4(a, b, c, d, port)                                                          \
    ((cm_address){{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, port})

// False for anything else than ADDRESS:PORT, numbers without zeros in front.
bool cm_address_read(const char *text, cm_address *address);
void cm_address_write(const cm_address *address, char text[CM_ADDRESS_TEXT_MAX]);
// The same without a port, and without brackets.
bool cm_address_read_ip(const char *text, uint8_t ip[CM_ADDRESS_BYTES]);
void cm_address_write_ip(const uint8_t ip[CM_ADDRESS_BYTES], char text[CM_ADDRESS_TEXT_MAX]);

bool cm_address_equal(const cm_address *a, const cm_address *b);
bool cm_address_is_ipv4(const uint8_t ip[CM_ADDRESS_BYTES]);
bool cm_address_is_loopback(const uint8_t ip[CM_ADDRESS_BYTES]);
bool cm_address_is_any(const uint8_t ip[CM_ADDRESS_BYTES]); // 0.0.0.0 or ::
// Whether somebody can be there: not of 240/4, multicast, link-local IPv6, or any.
bool cm_address_is_host(const uint8_t ip[CM_ADDRESS_BYTES]);

// The party that budgets and bans count: an IPv4 address, as it lies in memory; of IPv6 the network
// of its first 64 bits, since one customer has at least so much. The two never are the same number.
// (What begins with 32 zeros nobody has but ::1.)
uint64_t cm_address_network(const uint8_t ip[CM_ADDRESS_BYTES]);
// As a list of bans has it: A.B.C.D, or IPv6/64.
void cm_address_write_network(uint64_t network, char text[CM_ADDRESS_TEXT_MAX]);
bool cm_address_read_network(const char *text, uint64_t *network);

#endif
