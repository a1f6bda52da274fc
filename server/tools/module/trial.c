// Runs the trial in four processes, one after the other, and compares. Typical: 600 ticks of a
// small scene, each stepped some ten times, in a second.
#include "server/tools/module/trial.h"

#include <alloca.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/node/module_loader.h"
#include "server/tools/module/monitor.h"
#include "server/tools/module/plan.h"
#include "shared/base/hash.h"
#include "shared/base/rng.h"
#include "shared/sim/inspect.h"

#define PROCESSES     4u  // the first makes every tick again, the others play it once
#define RING          16u // images that rewinds begin from
#define REWIND_MAX    12u
#define DECODE_EVERY  16u
#define HOSTILE_EVERY 4u
#define HOSTILE_TICKS 4u
#define STACK_BYTES   (128u << 10) // filled before a tick: deeper than any callback goes
#define SHIFT_BYTES   (1u << 22)   // that the second process's libraries and blocks lie elsewhere
#define GAP_BYTES     (1u << 12)
#define GAPS          32u

// Shared memory that the trial's processes write and the waiting one reads.
typedef struct board {
    volatile uint32_t tick;     // that is being made
    volatile uint32_t is_state; // an untrusted one, which a module must bear
    volatile uint32_t callback; // that runs, a cm_game_callback
    volatile uint32_t done;
    carom_result result;
    cm_trial_report report;
    uintptr_t module_at[PROCESSES], game_at[PROCESSES], stack_at[PROCESSES];
    uint64_t hashes[PROCESSES][CM_TRIAL_TICKS_MAX + 1];
    uint64_t after[CM_TRIAL_TICKS_MAX][CM_CALLBACK_COUNT]; // cm_monitor.after of the first one
    uint32_t differs[CM_TRIAL_TICKS_MAX]; // the callback by which this process differs from it
} board;

typedef struct trial {
    const cm_trial_def *def;
    board *board;
    const carom_module *module;
    carom_game *game, *other;
    cm_monitor monitors[2]; // of these
    uint32_t process;
    cm_plan plan;
    uint8_t *images[RING], *encoded;
    size_t sizes[RING], bound, encoded_size;
    uint32_t *state; // a copy of the module's, of the first way to the tick
    uint64_t messages, world;
} trial;

// A block of a game begins at a line of 64 bytes whose number is the game's modulo CM_FENCE_LINES,
// wherever the system puts it: neighbours differ by every remainder, and eight have all of those by
// 2 to 8.
static void *placed_allocate(void *context, size_t size)
{
    uint32_t line = *(const uint32_t *)context;
    size_t whole = size + 64 * (CM_FENCE_LINES + 2);
    char *block = malloc(whole);
    if (block == NULL) {
        return NULL;
    }
    memset(block, line > 0 ? 0x5a : 0, whole);
    size_t next = (size_t)((uintptr_t)block / 64 + 2); // with a line for `block` before it
    size_t ahead = (line + CM_FENCE_LINES - next % CM_FENCE_LINES) % CM_FENCE_LINES;
    char *memory = block + (64 * (next + ahead) - (size_t)(uintptr_t)block);
    memcpy(memory - 64, &block, sizeof block);
    return memory;
}

static void placed_release(void *context, void *memory)
{
    (void)context;
    char *block;
    memcpy(&block, (char *)memory - 64, sizeof block);
    free(block);
}

// Findings ------------------------------------------------------------------------------------

static bool find(trial *t, uint32_t tick, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool find(trial *t, uint32_t tick, const char *format, ...)
{
    char text[CM_TRIAL_FINDING_MAX - 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(t->board->report.finding, sizeof t->board->report.finding, "tick %u: %s", tick, text);
    return false;
}

// Names the place where a game differs from the first run: the state's first byte that differs, and
// the callback that wrote it.
static void name_place(const trial *t, const carom_game *game, uint32_t tick, char place[96])
{
    const uint32_t *state = carom_game_state(game);
    cm_game_callback callback =
        cm_monitor_differ(t->board->after[tick], t->monitors[game != t->game].after);
    for (uint32_t i = 0; i < t->module->state_size / 4u; i++) {
        if (state[i] != t->state[i]) {
            snprintf(place, 96, "byte %u of the module's state, since %s", 4 * i,
                     cm_game_callback_name(callback));
            return;
        }
    }
    bool world = carom_world_hash(carom_game_world(game)) != t->world;
    snprintf(place, 96, "%s", world ? "the world" : "a message or event of it");
}

// Ticks ---------------------------------------------------------------------------------------

static void hash_events(const carom_game *game, cm_hash *hash)
{
    uint32_t count;
    const carom_event *events = cm_game_events(game, &count);
    for (uint32_t i = 0; i < count; i++) {
        cm_hash_u64(hash, events[i].tick);
        cm_hash_u32(hash, events[i].kind);
        cm_hash_u32(hash, events[i].key);
        cm_hash_u64(hash, events[i].subjects[0]);
        cm_hash_u64(hash, events[i].subjects[1]);
        cm_hash_u32(hash, events[i].size);
        cm_hash_bytes(hash, events[i].bytes, events[i].size);
    }
}

// All that a tick tells and that is no state.
static uint64_t hash_messages(const carom_game *game)
{
    uint32_t count;
    const cm_game_message *messages = cm_game_messages(game, &count);
    cm_hash hash = cm_hash_begin(count);
    for (uint32_t i = 0; i < count; i++) {
        cm_hash_u32(&hash, messages[i].player);
        cm_hash_u32(&hash, messages[i].size << 1 | messages[i].unreliable);
        cm_hash_bytes(&hash, messages[i].bytes, messages[i].size);
    }
    hash_events(game, &hash);
    return cm_hash_end(&hash);
}

// Calls the module's functions outside its ticks, which must change nothing.
static void ask(carom_game *game, const cm_tick_input *input, uint32_t tick)
{
    uint8_t bytes[CAROM_INPUT_MAX];
    for (uint32_t i = 0; i < input->event_count; i++) {
        if (input->events[i].type == CM_EVENT_JOIN) {
            (void)cm_game_may_join(game, input->events[i].bytes, input->events[i].size);
        }
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        (void)cm_game_player_body(game, player);
        (void)cm_game_bot(game, player, tick, bytes);
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

// The tick's time is that of the second process, which does nothing else.
static void count_time(trial *t, uint64_t took_ns)
{
    cm_trial_report *report = &t->board->report;
    if (t->process == 1) {
        report->tick_ns_sum += took_ns;
        report->tick_ns_max = took_ns > report->tick_ns_max ? took_ns : report->tick_ns_max;
    }
}

// False: the monitor found something.
__attribute__((noinline)) static bool make_tick(trial *t, carom_game *game, uint32_t tick,
                                                uint8_t fill)
{
    const struct itimerval limit = {.it_value = {.tv_sec = CM_TRIAL_CPU_S}};
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    cm_monitor *monitor = &t->monitors[game != t->game];
    setitimer(ITIMER_VIRTUAL, &limit, NULL); // its signal ends the process
    cm_monitor_begin_tick(monitor, fill);
    cm_tick_input input = cm_plan_input(&t->plan, tick, game, inputs);
    cm_monitor_fill_stack(STACK_BYTES, fill);
    uint64_t begin = cpu_ns();
    cm_game_tick(game, &input);
    count_time(t, cpu_ns() - begin);
    ask(game, &input, tick);
    return monitor->finding[0] == '\0' ||
           find(t, tick, "%s%s", monitor->finding,
                t->board->is_state ? ", with a state that a stranger may send" : "");
}

static bool is_same(const trial *t, const carom_game *game, uint64_t hash)
{
    return cm_game_hash(game) == hash && hash_messages(game) == t->messages;
}

// The tick once more from the image of the tick before it, in the same game.
static bool make_again(trial *t, uint32_t tick, uint64_t hash, uint8_t fill, const char *cause)
{
    char place[96];
    if (cm_game_restore(t->game, t->images[tick % RING], t->sizes[tick % RING]) != CAROM_OK) {
        return find(t, tick, "a saved state could not be restored");
    }
    if (!make_tick(t, t->game, tick, fill)) {
        return false;
    }
    t->board->report.again++;
    if (!is_same(t, t->game, hash)) {
        name_place(t, t->game, tick, place);
        return find(t, tick, "made again it gives another result, in %s: %s", place, cause);
    }
    return true;
}

// From an image some ticks back, in a game at another address, with other scratch.
static bool rewind_other(trial *t, uint32_t tick, uint64_t hash)
{
    char place[96];
    uint32_t back = tick % REWIND_MAX < tick ? tick % REWIND_MAX : tick;
    uint32_t from = tick - back;
    if (cm_game_restore(t->other, t->images[from % RING], t->sizes[from % RING]) != CAROM_OK) {
        return find(t, tick, "a saved state could not be restored into a second game");
    }
    for (uint32_t i = from; i <= tick; i++) {
        cm_world_spoil_scratch(carom_game_world(t->other), (uint8_t)(0xc0 + i));
        if (!make_tick(t, t->other, i, 0)) {
            return false;
        }
    }
    t->board->report.rewinds++;
    if (!is_same(t, t->other, hash)) {
        name_place(t, t->other, tick, place);
        return find(t, tick,
                    "after a rewind of %u ticks in a game at another address it gives another "
                    "result, in %s: an address is used as data, or something outside of the state "
                    "counts",
                    back + 1, place);
    }
    return true;
}

static bool decode_other(trial *t, uint32_t tick, uint64_t hash)
{
    size_t size = cm_game_encode_size(t->game);
    if (size > t->encoded_size) {
        free(t->encoded);
        t->encoded = malloc(size);
        t->encoded_size = t->encoded != NULL ? size : 0;
    }
    if (t->encoded == NULL || cm_game_encode(t->game, t->encoded, size) != size ||
        cm_game_decode(t->other, t->encoded, size) != CAROM_OK) {
        return find(t, tick, "the state could not be encoded and decoded");
    }
    t->board->report.decodes++;
    return cm_game_hash(t->other) == hash || find(t, tick, "decoded it is another state");
}

// A word of a hostile state. The kinds take turns, since a valid word may lead a module to code
// that a bad one would not reach.
static uint32_t hostile_word(cm_rng *rng, uint32_t kind, uint32_t was)
{
    uint64_t word = cm_rng_next(rng);
    switch (kind % 5) {
    case 0: // all sorts
        return word % 8 == 0   ? was
               : word % 8 == 1 ? 0
               : word % 8 == 2 ? UINT32_MAX
                               : (uint32_t)(word >> 32);
    case 1: // one among many
        return word % 16 == 0 ? (uint32_t)(word >> 32) : was;
    case 2:
        return UINT32_MAX;
    case 3: // at the end of an array
        return (1u << word % 12) + (uint32_t)(word >> 32) % 3 - 1;
    default: // signs and ends
        return word % 4 == 0 ? was ^ 0x80000000u : word % 4 == 1 ? 0x7fffffffu : was + 1;
    }
}

// A keyframe's state is untrusted: with any bytes the module must not crash, nor loop.
static bool give_hostile_state(trial *t, uint32_t tick)
{
    cm_rng rng;
    bool good = true;
    cm_rng_seed(&rng, t->def->seed + tick);
    t->board->is_state = 1;
    if (cm_game_restore(t->other, t->images[tick % RING], t->sizes[tick % RING]) == CAROM_OK) {
        uint32_t *state = carom_game_state(t->other);
        for (uint32_t i = 0; i < t->module->state_size / 4u; i++) {
            state[i] = hostile_word(&rng, tick / HOSTILE_EVERY, state[i]);
        }
        for (uint32_t i = tick; good && i < tick + HOSTILE_TICKS && i < t->plan.count; i++) {
            good = make_tick(t, t->other, i, 0);
        }
        t->board->report.hostile_states++;
    }
    t->board->is_state = 0;
    return good;
}

static bool try_tick(trial *t, uint32_t tick, uint64_t hash)
{
    t->messages = hash_messages(t->game);
    t->world = carom_world_hash(carom_game_world(t->game));
    memcpy(t->state, carom_game_state(t->game), t->module->state_size);
    bool same =
        make_again(t, tick, hash, 0, "it asks a clock, or keeps something outside of its state") &&
        make_again(t, tick, hash, 0xa5, "it reads memory that it did not write") &&
        rewind_other(t, tick, hash) && (tick % DECODE_EVERY != 0 || decode_other(t, tick, hash));
    bool hostile = same && tick % HOSTILE_EVERY == 1 && t->module->state_size > 0;
    return hostile ? give_hostile_state(t, tick) : same;
}

void cm_trial_add_events(cm_trial_report *report, const cm_trial_events *events)
{
    uint32_t i = 0;
    while (i < report->kind_count && report->kinds[i].kind != events->kind) {
        i++;
    }
    if (i == CM_TRIAL_KINDS_MAX) {
        return;
    }
    if (i == report->kind_count) {
        report->kinds[report->kind_count++] = *events;
    } else {
        report->kinds[i].count += events->count;
    }
}

static void count_told(const carom_game *game, cm_trial_report *report)
{
    uint32_t sent, emitted;
    (void)cm_game_messages(game, &sent);
    const carom_event *events = cm_game_events(game, &emitted);
    report->sent += sent;
    report->emitted += emitted;
    for (uint32_t i = 0; i < emitted; i++) {
        cm_trial_events one = {.kind = events[i].kind, .count = 1};
        snprintf(one.name, sizeof one.name, "%s",
                 cm_module_event_name(cm_game_module(game), one.kind));
        cm_trial_add_events(report, &one);
    }
}

static bool play(trial *t, uint32_t process)
{
    board *b = t->board;
    b->hashes[process][0] = cm_game_hash(t->game);
    for (uint32_t tick = 0; tick < t->plan.count; tick++) {
        b->tick = tick;
        t->sizes[tick % RING] = cm_game_save(t->game, t->images[tick % RING], t->bound);
        if (!make_tick(t, t->game, tick, 0)) {
            return false;
        }
        const uint64_t *after = t->monitors[0].after;
        if (process == 0) {
            memcpy(b->after[tick], after, sizeof b->after[tick]);
        } else {
            b->differs[tick] = cm_monitor_differ(b->after[tick], after);
        }
        uint64_t hash = cm_game_hash(t->game);
        if (process == 0) {
            count_told(t->game, &b->report);
        }
        b->hashes[process][tick + 1] = hash ^ hash_messages(t->game);
        if (process == 0 && !try_tick(t, tick, hash)) {
            return false;
        }
    }
    b->report.final_hash = cm_game_hash(t->game);
    return true;
}

// A process ---------------------------------------------------------------------------------

static bool make_games(trial *t, uint32_t process)
{
    static uint32_t lines[2];
    static const carom_allocator first = {&lines[0], placed_allocate, placed_release};
    static const carom_allocator second = {&lines[1], placed_allocate, placed_release};
    lines[0] = 2 * process;
    lines[1] = 2 * process + 1;
    uint64_t seed = t->def->seed;
    const cm_scene *scene = t->def->scene;
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < 2 && result == CAROM_OK; i++) {
        cm_monitor *monitor = &t->monitors[i];
        bool made = cm_monitor_make(monitor, t->module->state_size, lines[i], &t->board->callback);
        result = made ? cm_game_create_watched(scene, t->module, seed, i == 0 ? &first : &second,
                                               &monitor->watcher, i == 0 ? &t->game : &t->other)
                      : CAROM_ERROR_MEMORY;
    }
    if (result != CAROM_OK) {
        t->board->result = result == CAROM_ERROR_MEMORY ? result : CAROM_ERROR_ARGUMENT;
        char wrong[256];
        bool takes = cm_game_takes_config(t->def->scene, t->module, wrong, sizeof wrong);
        snprintf(t->board->report.finding, sizeof t->board->report.finding,
                 "scene and module make no game: %s%s",
                 takes ? "" : "$.module_config: ", takes ? carom_result_text(result) : wrong);
        return false;
    }
    t->bound = (cm_game_save_bound(t->game) + 63) / 64 * 64;
    bool has = cm_plan_make(t->game, t->def->seed, t->def->ticks, &t->plan);
    for (uint32_t i = 0; i < RING; i++) {
        t->images[i] = aligned_alloc(64, t->bound);
        has = has && t->images[i] != NULL;
    }
    t->state = malloc(t->module->state_size + 4);
    if (!has || t->state == NULL) {
        t->board->result = CAROM_ERROR_MEMORY;
        return false;
    }
    return true;
}

static bool take_module(trial *t)
{
    cm_loaded_module loaded;
    t->module = t->def->module;
    if (t->module == NULL) {
        board *b = t->board;
        carom_result result =
            cm_module_load(t->def->path, &loaded, b->report.finding, sizeof b->report.finding);
        b->result = result == CAROM_OK ? CAROM_OK : CAROM_ERROR_ARGUMENT;
        t->module = loaded.module;
    }
    return t->module != NULL;
}

__attribute__((noinline)) static void run_process(const cm_trial_def *def, board *b,
                                                  uint32_t process)
{
    trial t = {.def = def, .board = b, .process = process};
    if (!take_module(&t) || !make_games(&t, process)) {
        return;
    }
    b->module_at[process] = (uintptr_t)t.module;
    b->game_at[process] = (uintptr_t)t.game;
    b->stack_at[process] = (uintptr_t)&t;
    snprintf(b->report.module, sizeof b->report.module, "%s", t.module->name);
    b->report.ticks = t.plan.count;
    b->report.joins = t.plan.joins;
    b->report.leaves = t.plan.leaves;
    b->report.messages = t.plan.messages;
    b->report.inputs = t.plan.inputs;
    b->report.refused_inputs = t.plan.refused_inputs;
    bool started = t.monitors[0].finding[0] == '\0' || find(&t, 0, "%s", t.monitors[0].finding);
    b->report.sound = started && play(&t, process);
    b->done = 1;
}

// The second process has its libraries, its blocks and its stack elsewhere. It never returns, and
// releases nothing: the process ends.
static void enter_process(const cm_trial_def *def, board *b, uint32_t process)
{
    if (process > 0) {
        // Gaps between what is mapped are filled first: a module fits into the smallest.
        void *hole = NULL;
        for (size_t size = SHIFT_BYTES; size >= GAP_BYTES; size = size > GAP_BYTES ? size / 2 : 0) {
            for (uint32_t i = 0; i < GAPS + 3 * process; i++) {
                hole = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            }
        }
        volatile char *stack = alloca(40000 * process + 16 * (size_t)(def->seed % 64));
        stack[0] = (char)(hole != MAP_FAILED);
        void *volatile heap = malloc(SHIFT_BYTES / 4096 + 8192);
        (void)heap;
        run_process(def, b, process);
    } else {
        run_process(def, b, process);
    }
    _exit(0);
}

static void tell_death(board *b, int status)
{
    char what[160];
    const char *callback = cm_game_callback_name((cm_game_callback)b->callback);
    bool inside = b->callback != CM_CALLBACK_NONE;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM) {
        snprintf(what, sizeof what, "it takes more than %d s of processor time", CM_TRIAL_CPU_S);
    } else if (WIFSIGNALED(status)) {
        snprintf(what, sizeof what, "it crashes (%s)", strsignal(WTERMSIG(status)));
    } else {
        snprintf(what, sizeof what, "it ends the process");
    }
    b->report.sound = false;
    snprintf(b->report.finding, sizeof b->report.finding, "tick %u: %s%s%s%s", b->tick,
             inside ? "in " : "", inside ? callback : "", inside ? ": " : "", what);
    size_t length = strlen(b->report.finding);
    snprintf(b->report.finding + length, sizeof b->report.finding - length, "%s",
             b->is_state ? " with a state that a stranger may send: ids and indices in it must be "
                           "checked"
                         : "");
}

// False: the first process found something, or did not come to its end.
static bool run_in_process(const cm_trial_def *def, board *b, uint32_t process)
{
    b->done = 0;
    b->tick = 0;
    b->is_state = 0;
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        // A module that loops must not outlive the caller, also if the caller died before this
        // call.
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
            _exit(1);
        }
        enter_process(def, b, process);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        b->result = CAROM_ERROR_IO;
        return false;
    }
    if (!b->done && b->result == CAROM_OK) {
        tell_death(b, status);
    }
    return b->done && b->report.sound;
}

static bool compare(board *b, uint32_t ticks, uint32_t process)
{
    for (uint32_t i = 0; i <= ticks; i++) {
        if (b->hashes[0][i] != b->hashes[process][i]) {
            b->report.sound = false;
            snprintf(b->report.finding, sizeof b->report.finding,
                     "tick %u: another result in a process where memory lies elsewhere, since %s "
                     "(module at %#zx and %#zx, game at %#zx and %#zx): an address is used as data",
                     i > 0 ? i - 1 : 0,
                     cm_game_callback_name(i > 0 ? (cm_game_callback)b->differs[i - 1]
                                                 : CM_CALLBACK_START),
                     (size_t)b->module_at[0], (size_t)b->module_at[process], (size_t)b->game_at[0],
                     (size_t)b->game_at[process]);
            return false;
        }
    }
    return true;
}

static bool lies_elsewhere(const board *b, const cm_trial_def *def, uint32_t process)
{
    return b->game_at[0] != b->game_at[process] && b->stack_at[0] != b->stack_at[process] &&
           (def->module != NULL || b->module_at[0] != b->module_at[process]);
}

carom_result cm_trial_run(const cm_trial_def *def, cm_trial_report *report)
{
    memset(report, 0, sizeof *report);
    if (def->ticks > CM_TRIAL_TICKS_MAX) {
        return CAROM_ERROR_ARGUMENT;
    }
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) {
        return CAROM_ERROR_MEMORY;
    }
    bool same = run_in_process(def, b, 0);
    for (uint32_t process = 1; same && process < PROCESSES; process++) {
        same = run_in_process(def, b, process);
        b->result = !same || lies_elsewhere(b, def, process) ? b->result : CAROM_ERROR_STATE;
        same = same && b->result == CAROM_OK && compare(b, def->ticks, process);
    }
    carom_result result = b->result;
    *report = b->report;
    munmap(b, sizeof *b);
    return result;
}
