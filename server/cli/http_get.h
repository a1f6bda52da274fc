// GET of one thing over HTTP, without TLS, for commands: blocking, bounded in time and bytes.
#ifndef CM_SERVER_CLI_HTTP_GET_H
#define CM_SERVER_CLI_HTTP_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_HTTP_GET_S 10u // that nothing comes

typedef struct cm_http_got {
    uint32_t status;
    uint8_t *body; // to be freed with free
    size_t size;
} cm_http_got;

// `url`: http://HOST[:PORT]/PATH. False: `error` says why, and nothing is to be freed.
bool cm_http_get(const char *url, size_t most, cm_http_got *got, char *error, size_t error_size);

#endif
