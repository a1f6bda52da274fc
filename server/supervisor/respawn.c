// A pause costs players time, so the first two crashes have none; what crashes again and again
// would else take a processor for itself.
#include "server/supervisor/respawn.h"

uint64_t cm_respawn_crashed(cm_respawn *respawn, uint64_t now_us)
{
    uint64_t newest = respawn->crashes > 0 ? respawn->crash_us[0] : 0;
    uint64_t oldest = respawn->crash_us[CM_RESPAWN_AT_ONCE - 1];
    if (respawn->crashes > 0 && now_us - newest >= CM_RESPAWN_WINDOW_US + respawn->pause_us) {
        *respawn = (cm_respawn){0};
    }
    bool often = respawn->pause_us > 0 ||
                 (respawn->crashes == CM_RESPAWN_AT_ONCE && now_us - oldest < CM_RESPAWN_WINDOW_US);
    for (uint32_t i = CM_RESPAWN_AT_ONCE; i-- > 1;) {
        respawn->crash_us[i] = respawn->crash_us[i - 1];
    }
    respawn->crash_us[0] = now_us;
    respawn->crashes += respawn->crashes < CM_RESPAWN_AT_ONCE;
    if (often) {
        uint64_t twice = 2 * respawn->pause_us;
        respawn->pause_us = respawn->pause_us == 0       ? CM_RESPAWN_FIRST_US
                            : twice < CM_RESPAWN_MOST_US ? twice
                                                         : CM_RESPAWN_MOST_US;
    }
    return now_us + respawn->pause_us;
}
