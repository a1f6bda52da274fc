// The head of an HTTP request: any bytes, and as they come, in two parts.
#include <stdlib.h>
#include <string.h>

#include "server/ops/http_head.h"
#include "shared/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > CM_HTTP_BYTES_MAX) {
        return 0;
    }
    cm_http_request request;
    char *bytes = malloc(size); // exactly as large: a byte behind it is a fault
    CM_ASSERT(bytes != NULL);
    memcpy(bytes, data, size);
    cm_http_refusal whole = cm_http_head_read(bytes, size, &request);
    CM_ASSERT(whole <= CM_HTTP_MORE);
    CM_ASSERT(strlen(request.path) <= CM_HTTP_TARGET_MAX);
    CM_ASSERT(whole != CM_HTTP_GOOD || size >= 18);
    CM_ASSERT(whole != CM_HTTP_GOOD || request.body_at + request.body_size == size);
    CM_ASSERT(request.body_size <= CM_HTTP_BODY_MAX);
    // What is good as a whole was never refused before.
    cm_http_refusal half = cm_http_head_read(bytes, size / 2, &request);
    CM_ASSERT(whole != CM_HTTP_GOOD || half == CM_HTTP_MORE);
    free(bytes);
    return 0;
}
