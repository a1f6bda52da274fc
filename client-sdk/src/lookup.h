// Names into addresses.
#ifndef CM_CLIENT_LOOKUP_H
#define CM_CLIENT_LOOKUP_H

#include "shared/wire/address.h"

#define CM_LOOKUP_MAX 2u

// A name, or an address as text, into its first IPv4 address and then its first IPv6 address: a
// client tries the second where the first does not answer. Returns how many there are. May block.
uint32_t cm_lookup(const char *host, uint16_t port, cm_address addresses[CM_LOOKUP_MAX]);

#endif
