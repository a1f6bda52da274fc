// See lookup.h.
#include "client-sdk/src/lookup.h"

#include <netdb.h>
#include <string.h>

#include "shared/transport/socket_address.h"

static bool look_up(const char *host, int family, cm_address *address)
{
    const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    struct sockaddr_storage at;
    if (getaddrinfo(host, NULL, &hints, &found) != 0) {
        return false;
    }
    memset(&at, 0, sizeof at);
    memcpy(&at, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return cm_socket_address_read(&at, address) && cm_address_is_host(address->ip);
}

uint32_t cm_lookup(const char *host, uint16_t port, cm_address addresses[CM_LOOKUP_MAX])
{
    static const int families[CM_LOOKUP_MAX] = {AF_INET, AF_INET6};
    uint32_t count = 0;
    // A zone means something on this machine only, and is no part of an address.
    for (uint32_t i = 0; i < CM_LOOKUP_MAX && strchr(host, '%') == NULL; i++) {
        if (look_up(host, families[i], &addresses[count])) {
            addresses[count++].port = port;
        }
    }
    return count;
}
