// Chunks of a stream from strangers, as files and as bodies: refused, or within the limits and
// written again, byte for byte.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_body(const uint8_t *body, size_t size)
{
    cm_chunk chunk;
    char text[CM_CHUNK_META_TEXT_MAX + 1];
    uint64_t number;
    if (cm_chunk_read(body, size, &chunk) != NULL) {
        return;
    }
    CM_ASSERT(cm_chunk_size(&chunk) == size);
    uint8_t *again = malloc(size);
    CM_ASSERT(again != NULL);
    cm_chunk_write(&chunk, again);
    CM_ASSERT(memcmp(again, body, size) == 0);
    free(again);
    (void)cm_chunk_meta_text(&chunk, "module", text, sizeof text);
    (void)cm_chunk_meta_number(&chunk, "seed", 16, &number);
    if (chunk.head.size > 0) {
        CM_ASSERT(cm_chunk_scene(&chunk).size < size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cm_chunk_opened opened;
    CM_ASSERT(cm_crypto_init());
    take_body(data, size);
    if (cm_chunk_open(data, size, &opened) == NULL) {
        take_body(opened.body, opened.size);
        free(opened.body);
    }
    return 0;
}
