// Control messages, as a server and as a client reads them: any bytes are refused or read, in
// bounded memory; what is read and written is read again.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int from_client = 0; from_client < 2; from_client++) {
        cm_control *control = NULL, *again = NULL;
        uint8_t *bytes = NULL;
        size_t written = 0;
        if (cm_control_decode(data, size, from_client != 0, NULL, &control) != CAROM_OK) {
            continue;
        }
        if (cm_control_encode(control, NULL, &bytes, &written) == CAROM_OK) {
            carom_result result = cm_control_decode(bytes, written, from_client != 0, NULL, &again);
            CM_ASSERT(result == CAROM_OK);
            CM_ASSERT(again->type == control->type);
            cm_control_free(NULL, again);
            cm_control_release_bytes(NULL, bytes);
        }
        cm_control_free(NULL, control);
    }
    return 0;
}
