// Looks on while a module under trial runs: what each callback leaves beside its state, in the
// processor's control registers, and in a state that it must not change.
#ifndef CM_SERVER_TOOLS_MODULE_MONITOR_H
#define CM_SERVER_TOOLS_MODULE_MONITOR_H

#include "server/tools/module/fence.h"
#include "shared/game/game_host.h"

#define CM_MONITOR_FINDING_MAX 192u

typedef struct cm_monitor {
    cm_game_watcher watcher; // for cm_game_create_watched
    cm_fence fence;
    volatile uint32_t *running; // the callback that runs, for the process that waits
    uint64_t before;            // hash of the state when it was entered
    uint32_t float_control, x87_control, x87_tags;
    uint8_t fill; // of the stack below a callback
    // Of this tick: the state after each callback, folded by the kind of callback.
    uint64_t after[CM_CALLBACK_COUNT];
    char finding[CM_MONITOR_FINDING_MAX]; // the first one: "in tick: …"
} cm_monitor;

// `line` as in fence.h.
bool cm_monitor_make(cm_monitor *monitor, uint32_t state_size, uint32_t line,
                     volatile uint32_t *running);
void cm_monitor_begin_tick(cm_monitor *monitor, uint8_t fill);
// Overwrites the stack below this call, where a callback's variables will lie.
void cm_monitor_fill_stack(size_t size, uint8_t byte);
// The first kind of callback, in the order of a tick, after which the states of two ways to a tick
// differ; CM_CALLBACK_NONE: none does.
cm_game_callback cm_monitor_differ(const uint64_t one[CM_CALLBACK_COUNT],
                                   const uint64_t other[CM_CALLBACK_COUNT]);

#endif
