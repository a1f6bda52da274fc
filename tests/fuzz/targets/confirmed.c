// Confirmed ticks from strangers: refused, or within the limits and written again, in no more
// bytes.
#include <stdlib.h>

#include "shared/base/assert.h"
#include "shared/wire/confirmed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cm_confirmed_read_tick tick, again;
    size_t used = 0, used_again = 0;
    for (size_t at = 0; at < size && cm_confirmed_read(data + at, size - at, &tick, &used) == NULL;
         at += used) {
        CM_ASSERT(used <= size - at && cm_confirmed_fits(&tick.tick));
        size_t wants = cm_confirmed_size(&tick.tick);
        CM_ASSERT(wants <= used);
        uint8_t *bytes = malloc(wants);
        CM_ASSERT(bytes != NULL && cm_confirmed_write(&tick.tick, bytes, wants) == wants);
        CM_ASSERT(cm_confirmed_read(bytes, wants, &again, &used_again) == NULL);
        CM_ASSERT(used_again == wants && again.tick.hash == tick.tick.hash);
        free(bytes);
    }
    return 0;
}
