// ENet's commands of a client, checked before ENet sees them: any bytes, any place in the sequence.
#include <stdlib.h>
#include <string.h>

#include "server/transport/enet/commands.h"
#include "shared/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) {
        return 0;
    }
    cm_command_context context = {.reliable = (uint16_t)(data[0] << 8 | data[1])};
    cm_command_count count;
    uint8_t *frame = malloc(size - 2); // exactly as large: a byte behind it is a fault
    CM_ASSERT(frame != NULL);
    memcpy(frame, data + 2, size - 2);
    cm_command_reason reason = cm_commands_check(frame, size - 2, &context, &count);
    CM_ASSERT(reason <= CM_COMMAND_REASON_COUNT);
    CM_ASSERT(reason != CM_COMMAND_REASON_COUNT || count.commands <= CM_COMMANDS_MAX);
    CM_ASSERT(count.acks_wanted <= count.commands);
    free(frame);
    return 0;
}
