// Decides when a dead worker is started again. Pure: times
// are arguments. Typical: a crash a month.
#ifndef CM_SERVER_SUPERVISOR_RESPAWN_H
#define CM_SERVER_SUPERVISOR_RESPAWN_H

#include <stdbool.h>
#include <stdint.h>

#define CM_RESPAWN_WINDOW_US 10000000u // crashes of so long ago are forgotten
#define CM_RESPAWN_AT_ONCE   2u        // crashes in that time after which it starts at once
#define CM_RESPAWN_FIRST_US  250000u   // pause after the next one; then twice as long, and so on
#define CM_RESPAWN_MOST_US   8000000u

// Crashes of one worker.
typedef struct cm_respawn {
    uint64_t crash_us[CM_RESPAWN_AT_ONCE]; // the last ones, newest first
    uint32_t crashes;                      // of those, how many there are
    uint64_t pause_us;                     // after the last; 0: none
} cm_respawn;                              // zeroed: none

// It crashed now. Returns when it is to be started: at once, or after a pause that grows with each
// crash until CM_RESPAWN_WINDOW_US have passed without one.
uint64_t cm_respawn_crashed(cm_respawn *respawn, uint64_t now_us);

#endif
