// Where somebody is: an address and a port.
#ifndef CM_WIRE_ADDRESS_H
#define CM_WIRE_ADDRESS_H

#include <stdint.h>

typedef struct cm_client_address {
    uint32_t host; // network byte order
    uint16_t port;
} cm_client_address;

// As ADDRESS:PORT.
#define CM_ADDRESS_TEXT_MAX 24u
void cm_address_write(const cm_client_address *address, char text[CM_ADDRESS_TEXT_MAX]);

#endif
