// The datagrams before there are keys, at both ends: any bytes are refused, or are the bytes that
// writing what was read gives.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/handshake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[CM_PATH_LEAST];
    cm_hello hello;
    cm_challenge challenge;
    cm_refusal refusal;
    cm_connect connect;
    uint32_t first;
    if (cm_hello_read(data, size, &hello)) {
        // What stands behind its fields is a later version's: not looked at.
        CM_ASSERT(cm_hello_write(&hello, again) == size);
        CM_ASSERT(memcmp(again, data, 1 + 4 + CM_KEY_BYTES) == 0);
    }
    if (cm_challenge_read(data, size, &challenge)) {
        CM_ASSERT(cm_challenge_write(&challenge, again) == size && memcmp(again, data, size) == 0);
    }
    if (cm_refusal_read(data, size, &refusal)) {
        CM_ASSERT(cm_refusal_write(&refusal, again) == size && memcmp(again, data, size) == 0);
    }
    if (cm_connect_read(data, size, &connect)) {
        CM_ASSERT(connect.token_size + CM_CONNECT_LEAST == size);
        CM_ASSERT(connect.token == data + CM_CONNECT_HEADER);
    }
    if (cm_rooms_ask_read(data, size, &connect, &first)) {
        CM_ASSERT(cm_rooms_ask_write(&connect, first, again) == size);
        CM_ASSERT(memcmp(again, data, 3 + 8 + CM_KEY_BYTES) == 0);
    }
    return 0;
}
