// See address.h.
#include "shared/wire/address.h"

#include <stdio.h>

void cm_address_write(const cm_client_address *address, char text[CM_ADDRESS_TEXT_MAX])
{
    const uint8_t *byte = (const uint8_t *)&address->host; // network byte order
    snprintf(text, CM_ADDRESS_TEXT_MAX, "%u.%u.%u.%u:%u", byte[0], byte[1], byte[2], byte[3],
             (unsigned)address->port);
}
