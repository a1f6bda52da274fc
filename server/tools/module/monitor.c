// Compared after each callback: 8 KiB of red zones, the hash of the state, two or three registers.
#include "server/tools/module/monitor.h"

#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/fpenv.h"
#include "shared/base/hash.h"

#if defined(__x86_64__) || defined(__i386__)
#define CONTROL_BITS                                                                               \
    0xffc0u // of MXCSR: its lowest six say what happened, and any arithmetic sets them
#define CONTROL_NAME "MXCSR"
#define HAS_X87      1
#else
#define CONTROL_BITS UINT32_MAX
#define CONTROL_NAME "the floating-point control register"
#define HAS_X87      0
#endif

#define STACK_BYTES 4096u // deeper than the monitor's own calls go

static uint32_t read_float_control(void)
{
    cm_fpenv saved = cm_fpenv_enter();
    cm_fpenv_leave(saved);
    return (uint32_t)saved & CONTROL_BITS;
}

static void read_x87(uint32_t *control, uint32_t *tags)
{
    *control = *tags = 0;
#if HAS_X87
    struct {
        uint32_t words[7];
    } environment;
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
    *control = environment.words[0] & 0xffffu;
    *tags = environment.words[2] & 0xffffu;
#endif
}

static void put_back(const cm_monitor *m)
{
    (void)cm_fpenv_enter(); // a tick's own
    (void)m;
#if HAS_X87
    uint16_t control = (uint16_t)m->x87_control;
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(control));
#endif
}

static uint64_t hash_state(const cm_monitor *m)
{
    cm_hash hash = cm_hash_begin(m->fence.size);
    cm_hash_bytes(&hash, m->fence.state, m->fence.size);
    return cm_hash_end(&hash);
}

static void find(cm_monitor *m, cm_game_callback callback, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void find(cm_monitor *m, cm_game_callback callback, const char *format, ...)
{
    va_list arguments;
    if (m->finding[0] != '\0') {
        return;
    }
    int length =
        snprintf(m->finding, sizeof m->finding, "in %s: ", cm_game_callback_name(callback));
    va_start(arguments, format);
    vsnprintf(m->finding + length, sizeof m->finding - (size_t)length, format, arguments);
    va_end(arguments);
}

// Callbacks that are given a game to read.
static bool changes_nothing(cm_game_callback callback)
{
    return callback == CM_CALLBACK_START_STEP || callback == CM_CALLBACK_FORCES ||
           callback == CM_CALLBACK_ROWS || callback == CM_CALLBACK_MAY_JOIN ||
           callback == CM_CALLBACK_PLAYER_BODY || callback == CM_CALLBACK_CHECK_INPUT ||
           callback == CM_CALLBACK_BOT;
}

static void returned(cm_monitor *m, cm_game_callback callback)
{
    uint32_t control = read_float_control(), x87_control, x87_tags;
    int64_t offset;
    read_x87(&x87_control, &x87_tags);
    if (cm_fence_is_broken(&m->fence, &offset)) {
        find(m, callback, "it writes outside of its state, at byte %lld of %zu", (long long)offset,
             m->fence.size);
    }
    if (control != m->float_control) {
        find(m, callback, "it leaves " CONTROL_NAME " changed, from %04x to %04x", m->float_control,
             control);
    }
    if (x87_control != m->x87_control) {
        find(m, callback, "it leaves the x87 control word changed, from %04x to %04x",
             m->x87_control, x87_control);
    }
    if (x87_tags != m->x87_tags) {
        find(m, callback,
             "it leaves the x87 registers in use (tags %04x to %04x): an emms is missing",
             m->x87_tags, x87_tags);
    }
    if (control != m->float_control || x87_control != m->x87_control || x87_tags != m->x87_tags) {
        put_back(m);
    }
    uint64_t now = hash_state(m);
    if (now != m->before && changes_nothing(callback)) {
        find(m, callback, "it changes the state, which it may only read");
    }
    cm_hash folded = cm_hash_begin(m->after[callback]);
    cm_hash_u64(&folded, now);
    m->after[callback] = cm_hash_end(&folded);
}

__attribute__((noinline)) void cm_monitor_fill_stack(size_t size, uint8_t byte)
{
    volatile uint8_t *bytes = alloca(size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(byte ^ (byte != 0 ? i : 0));
    }
}

static void enter(void *context, cm_game_callback callback)
{
    cm_monitor *m = context;
    cm_game_callback before = (cm_game_callback)*m->running;
    if (before != CM_CALLBACK_NONE) {
        returned(m, before);
    }
    *m->running = callback;
    if (callback != CM_CALLBACK_NONE) {
        m->before = hash_state(m);
        m->float_control = read_float_control();
        read_x87(&m->x87_control, &m->x87_tags);
        cm_monitor_fill_stack(STACK_BYTES, m->fill);
    }
}

bool cm_monitor_make(cm_monitor *m, uint32_t state_size, uint32_t line, volatile uint32_t *running)
{
    memset(m, 0, sizeof *m);
    m->running = running;
    *running = CM_CALLBACK_NONE;
    if (!cm_fence_make(&m->fence, state_size, line)) {
        return false;
    }
    m->watcher = (cm_game_watcher){enter, m, m->fence.state};
    return true;
}

void cm_monitor_begin_tick(cm_monitor *m, uint8_t fill)
{
    m->fill = fill;
    memset(m->after, 0, sizeof m->after);
}

cm_game_callback cm_monitor_differ(const uint64_t one[CM_CALLBACK_COUNT],
                                   const uint64_t other[CM_CALLBACK_COUNT])
{
    static const cm_game_callback order[] = {
        CM_CALLBACK_START,  CM_CALLBACK_JOIN,    CM_CALLBACK_LEAVE,      CM_CALLBACK_MESSAGE,
        CM_CALLBACK_END,    CM_CALLBACK_TICK,    CM_CALLBACK_START_STEP, CM_CALLBACK_ROWS,
        CM_CALLBACK_FORCES, CM_CALLBACK_CONTACT, CM_CALLBACK_HIT};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (one[order[i]] != other[order[i]]) {
            return order[i];
        }
    }
    return CM_CALLBACK_NONE;
}
