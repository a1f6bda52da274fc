#include "server/record/format/match_def.h"

#include <stddef.h>

const char *cm_match_end_name(cm_match_end end)
{
    static const char *const names[] = {"none", "drained", "ended", "failed", "cut"};
    return (size_t)end < sizeof names / sizeof names[0] ? names[end] : names[0];
}
