// Addresses as the system's sockets have them.
#ifndef CM_TRANSPORT_SOCKET_ADDRESS_H
#define CM_TRANSPORT_SOCKET_ADDRESS_H

#include <sys/socket.h>

#include "shared/wire/address.h"

// AF_INET for IPv4, AF_INET6 for the rest; returns the size.
socklen_t cm_socket_address_write(const cm_address *address, struct sockaddr_storage *to);
// False for another family.
bool cm_socket_address_read(const struct sockaddr_storage *from, cm_address *address);

#endif
