// See parts.h. The Makefile defines CM_WITH_ of each part as 0 or 1.
#include "server/ops/parts.h"

#include <stdio.h>

const cm_part cm_parts[CM_PART_COUNT] = {
    [CM_PART_HTTP] = {"http", "libmicrohttpd-dev", "serve --http", CM_WITH_http},
    [CM_PART_XZ] = {"xz", "liblzma-dev", "bench codec on packed files", CM_WITH_xz},
};

void cm_part_report_absent(cm_part_id id, char *error, size_t error_size)
{
    const cm_part *part = &cm_parts[id];
    snprintf(error, error_size,
             "this carom is built without the part '%s' (%s); install %s and build again, or "
             "make WITH=%s",
             part->name, part->gives, part->package, part->name);
}
