// See socket_address.h.
#include "shared/transport/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

socklen_t cm_socket_address_write(const cm_address *address, struct sockaddr_storage *to)
{
    memset(to, 0, sizeof *to);
    if (cm_address_is_ipv4(address->ip)) {
        struct sockaddr_in *four = (struct sockaddr_in *)to;
        four->sin_family = AF_INET;
        four->sin_port = htons(address->port);
        memcpy(&four->sin_addr, address->ip + 12, 4);
        return sizeof *four;
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(address->port);
    memcpy(&six->sin6_addr, address->ip, sizeof address->ip);
    return sizeof *six;
}

bool cm_socket_address_read(const struct sockaddr_storage *from, cm_address *address)
{
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)from;
        *address = CM_ADDRESS_IPV4(0, 0, 0, 0, ntohs(four->sin_port));
        memcpy(address->ip + 12, &four->sin_addr, 4);
        return true;
    }
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    address->port = ntohs(six->sin6_port);
    memcpy(address->ip, &six->sin6_addr, sizeof address->ip);
    return from->ss_family == AF_INET6;
}
