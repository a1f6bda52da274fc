// http.h in a build without libmicrohttpd: making a server fails with the reason.
#include "server/ops/http.h"

#if !CM_WITH_http

#include <string.h>

#include "server/ops/parts.h"

cm_http *cm_http_create(const cm_http_def *def, char *error, size_t error_size)
{
    (void)def;
    cm_part_report_absent(CM_PART_HTTP, error, error_size);
    return NULL;
}

void cm_http_destroy(cm_http *http)
{
    (void)http;
}

uint16_t cm_http_port(const cm_http *http)
{
    (void)http;
    return 0;
}

int cm_http_descriptor(const cm_http *http)
{
    (void)http;
    return -1;
}

bool cm_http_turn(cm_http *http, uint64_t now_us)
{
    (void)http, (void)now_us;
    return false;
}

void cm_http_stats_get(const cm_http *http, cm_http_stats *stats)
{
    (void)http;
    memset(stats, 0, sizeof *stats);
}

#endif
