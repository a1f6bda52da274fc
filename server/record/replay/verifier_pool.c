// One reader, several threads. Segments are numbered and begun in their order, so the failed
// outcome with the lowest number is that of the match: every segment before it was passed on whole,
// and the threads with later ones may give them up.
//
// A piece is some 64 KiB of ticks, or a keyframe at the begin or the end. It waits in its thread's
// queue, of at most QUEUE_BYTES and a piece; the reader waits while that is full, or while no
// thread is free for the next segment. Typical: 1,800 ticks of 600 bytes and a keyframe of 200 KB a
// segment, which takes 0.1 s.
#include "server/record/replay/verifier_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUE_BYTES (8u << 20)
#define PIECE_BYTES (64u << 10)
#define PROGRESS_NS 100000000

typedef enum piece_kind { PIECE_BEGIN, PIECE_TICKS, PIECE_END } piece_kind;

typedef struct piece {
    struct piece *next;
    piece_kind kind;
    bool has_keyframe; // which `bytes` are
    cm_segment_keyframe keyframe;
    carom_result failed; // PIECE_END: the match could not be read on, and why
    cm_match_error error;
    uint32_t ticks;
    size_t size, capacity;
    _Alignas(16) uint8_t bytes[];
} piece;

typedef struct hand {
    cm_verifier_pool *pool;
    pthread_t thread;
    cm_segment *segment;
    bool busy; // has a segment, of this order
    uint64_t order;
    piece *first, *last;
    size_t queued;
} hand;

struct cm_verifier_pool {
    cm_verifier_pool_def def;
    uint32_t threads; // 0: the caller's alone
    pthread_mutex_t lock;
    pthread_cond_t wake, settled; // the hands; the reader
    bool closing, stopped;
    uint64_t next_order;
    uint64_t done; // ticks
    hand *reading; // whose segment is handed over now
    piece *filling;
    bool has_outcome;
    uint64_t order; // of the outcome that counts, so far
    cm_segment_outcome outcome;
    hand hands[CM_VERIFIER_POOL_JOBS_MAX];
};

// Outcomes, with the lock held -----------------------------------------------------------------

static bool is_well(const cm_segment_outcome *outcome)
{
    return outcome->result == CAROM_OK && !outcome->report.stopped;
}

// Nothing after the outcome that counts matters any more.
static bool is_over(const cm_verifier_pool *pool)
{
    return pool->stopped || (pool->has_outcome && !is_well(&pool->outcome));
}

static void drop_states(cm_segment_outcome *outcome)
{
    free(outcome->recorded);
    free(outcome->replayed);
    outcome->recorded = outcome->replayed = NULL;
}

// Of those that are not well the first counts; else the last.
static void settle(cm_verifier_pool *pool, uint64_t order, cm_segment_outcome *outcome)
{
    bool bad = pool->has_outcome && !is_well(&pool->outcome);
    bool counts = is_well(outcome) ? !bad && order >= pool->order : !bad || order < pool->order;
    if (!counts) {
        drop_states(outcome);
        return;
    }
    drop_states(&pool->outcome);
    pool->has_outcome = true;
    pool->order = order;
    pool->outcome = *outcome;
    pool->outcome.report.keyframes += (uint32_t)order; // each segment before it ended with one
}

// The end of a segment: with a keyframe, or none; because the match could not be read further; or
// given up, and then nothing is compared.
typedef struct ending {
    const cm_segment_keyframe *keyframe;
    carom_result failed;
    const cm_match_error *error;
    bool given_up;
} ending;

static void end_segment(hand *h, const ending *how)
{
    cm_verifier_pool *pool = h->pool;
    cm_segment_outcome outcome;
    cm_segment_end(h->segment, how->given_up ? NULL : how->keyframe, &outcome);
    if (outcome.result == CAROM_OK && how->failed != CAROM_OK) {
        outcome.result = how->failed;
        outcome.report.error = *how->error;
    }
    outcome.report.stopped = how->given_up && outcome.result == CAROM_OK;
    pthread_mutex_lock(&pool->lock);
    settle(pool, h->order, &outcome);
    h->busy = false;
    pthread_cond_signal(&pool->settled);
    pthread_mutex_unlock(&pool->lock);
}

static const ending give_up = {.given_up = true};

// Hands ------------------------------------------------------------------------------------------

static void run_ticks(hand *h, const piece *p)
{
    bool goes_on = true;
    for (size_t at = 0; at < p->size && goes_on;) {
        const cm_recorded_tick *tick = (const cm_recorded_tick *)(p->bytes + at);
        goes_on = cm_segment_tick(h->segment, tick);
        at += cm_recorded_tick_size(tick);
    }
}

static void run_piece(hand *h, const piece *p)
{
    cm_verifier_pool *pool = h->pool;
    pthread_mutex_lock(&pool->lock);
    bool given_up = pool->stopped || (is_over(pool) && pool->order < h->order);
    pthread_mutex_unlock(&pool->lock);
    if (p->kind == PIECE_BEGIN) {
        cm_segment_begin(h->segment, p->has_keyframe ? &p->keyframe : NULL);
    } else if (p->kind == PIECE_TICKS && !given_up) {
        run_ticks(h, p);
    } else if (p->kind == PIECE_END) {
        ending how = {p->has_keyframe ? &p->keyframe : NULL, p->failed, &p->error, given_up};
        end_segment(h, &how);
    }
}

static piece *take_piece(hand *h)
{
    piece *p = h->first;
    h->first = p != NULL ? p->next : NULL;
    return p;
}

static void *hand_main(void *user)
{
    hand *h = user;
    cm_verifier_pool *pool = h->pool;
    pthread_mutex_lock(&pool->lock);
    while (true) {
        while (h->first == NULL && !pool->closing) {
            pthread_cond_wait(&pool->wake, &pool->lock);
        }
        piece *p = take_piece(h);
        bool left = p == NULL && h->busy; // closing, and its end will not come
        if (p == NULL && !left) {
            break;
        }
        pthread_mutex_unlock(&pool->lock);
        if (left) {
            end_segment(h, &give_up);
        } else {
            run_piece(h, p);
        }
        pthread_mutex_lock(&pool->lock);
        if (p != NULL) {
            h->queued -= p->capacity;
            pool->done += p->ticks;
            pthread_cond_signal(&pool->settled);
        }
        free(p);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

// Handing over -----------------------------------------------------------------------------------

// Reports progress from the reader's thread. With the lock held.
static void report_progress(cm_verifier_pool *pool, uint64_t tick)
{
    if (pool->def.progress != NULL && !pool->stopped) {
        pthread_mutex_unlock(&pool->lock);
        bool goes_on = pool->def.progress(pool->def.context, tick, pool->def.last_tick);
        pthread_mutex_lock(&pool->lock);
        pool->stopped = pool->stopped || !goes_on;
    }
}

// For a hand to be done with something, with the lock held.
static void wait_for_hands(cm_verifier_pool *pool)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PROGRESS_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->settled, &pool->lock, &until);
    report_progress(pool, pool->done < pool->def.last_tick ? pool->done : pool->def.last_tick);
}

static hand *free_hand(cm_verifier_pool *pool)
{
    for (uint32_t i = 0; i < pool->threads; i++) {
        if (!pool->hands[i].busy) {
            return &pool->hands[i];
        }
    }
    return NULL;
}

// No memory: the segment in hand ends the match.
static bool fail(cm_verifier_pool *pool, carom_result result)
{
    cm_segment_outcome outcome = {.result = result};
    pthread_mutex_lock(&pool->lock);
    settle(pool, pool->reading->order, &outcome);
    pthread_mutex_unlock(&pool->lock);
    return false;
}

static piece *make_piece(piece_kind kind, size_t capacity)
{
    piece *p = malloc(sizeof *p + capacity);
    if (p != NULL) {
        memset(p, 0, sizeof *p);
        p->kind = kind;
        p->capacity = capacity;
    }
    return p;
}

// False: nothing more is needed.
static bool push(cm_verifier_pool *pool, piece *p)
{
    hand *h = pool->reading;
    if (p == NULL) {
        return fail(pool, CAROM_ERROR_MEMORY);
    }
    pthread_mutex_lock(&pool->lock);
    while (h->queued > 0 && h->queued + p->capacity > QUEUE_BYTES && !is_over(pool)) {
        wait_for_hands(pool);
    }
    bool goes_on = !is_over(pool);
    *(h->first == NULL ? &h->first : &h->last->next) = p;
    h->last = p;
    h->queued += p->capacity;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    return goes_on;
}

static bool push_filled(cm_verifier_pool *pool)
{
    piece *p = pool->filling;
    pool->filling = NULL;
    return p == NULL || push(pool, p);
}

static bool push_keyframe(cm_verifier_pool *pool, piece_kind kind,
                          const cm_segment_keyframe *keyframe)
{
    piece *p = make_piece(kind, keyframe != NULL ? keyframe->size : 0);
    if (p != NULL && keyframe != NULL) {
        p->has_keyframe = true;
        p->keyframe = *keyframe;
        p->keyframe.bytes = memcpy(p->bytes, keyframe->bytes, keyframe->size);
    }
    return push(pool, p);
}

bool cm_verifier_pool_begin(cm_verifier_pool *pool, const cm_segment_keyframe *start)
{
    pthread_mutex_lock(&pool->lock);
    hand *h = &pool->hands[0];
    while (pool->threads > 0 && (h = free_hand(pool)) == NULL && !is_over(pool)) {
        wait_for_hands(pool);
    }
    bool goes_on = h != NULL && !is_over(pool);
    if (goes_on) {
        h->busy = true;
        h->order = pool->next_order++;
        pool->reading = h;
    }
    pthread_mutex_unlock(&pool->lock);
    if (goes_on && pool->threads == 0) {
        cm_segment_begin(h->segment, start);
    } else if (goes_on) {
        goes_on = push_keyframe(pool, PIECE_BEGIN, start);
    }
    return goes_on;
}

static bool run_here(cm_verifier_pool *pool, const cm_recorded_tick *tick)
{
    pthread_mutex_lock(&pool->lock);
    report_progress(pool, tick->tick);
    pthread_mutex_unlock(&pool->lock);
    return !pool->stopped && cm_segment_tick(pool->reading->segment, tick);
}

bool cm_verifier_pool_tick(cm_verifier_pool *pool, const cm_recorded_tick *tick)
{
    if (pool->threads == 0) {
        return run_here(pool, tick);
    }
    size_t size = cm_recorded_tick_size(tick);
    piece *p = pool->filling;
    if (p != NULL && p->size + size > p->capacity && !push_filled(pool)) {
        return false;
    }
    if (pool->filling == NULL) {
        pool->filling = make_piece(PIECE_TICKS, size > PIECE_BYTES ? size : PIECE_BYTES);
    }
    p = pool->filling;
    if (p == NULL) {
        return fail(pool, CAROM_ERROR_MEMORY);
    }
    cm_recorded_tick_copy(tick, p->bytes + p->size);
    p->size += size;
    p->ticks++;
    return true;
}

bool cm_verifier_pool_end(cm_verifier_pool *pool, const cm_segment_keyframe *end)
{
    if (pool->threads > 0) {
        return push_filled(pool) && push_keyframe(pool, PIECE_END, end);
    }
    end_segment(pool->reading, &(ending){.keyframe = end});
    return !is_over(pool);
}

void cm_verifier_pool_failed(cm_verifier_pool *pool, carom_result result,
                             const cm_match_error *error)
{
    if (pool->threads == 0) {
        end_segment(pool->reading, &(ending){.failed = result, .error = error});
        return;
    }
    piece *p = make_piece(PIECE_END, 0);
    if (p != NULL) {
        p->failed = result;
        p->error = *error;
    }
    (void)push_filled(pool);
    (void)push(pool, p);
}

// Life -------------------------------------------------------------------------------------------

static bool is_busy(const cm_verifier_pool *pool)
{
    bool busy = false;
    for (uint32_t i = 0; i < pool->threads; i++) {
        busy = busy || pool->hands[i].busy;
    }
    return busy;
}

static void close_hands(cm_verifier_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->wake);
    while (is_busy(pool)) {
        wait_for_hands(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->threads; i++) {
        pthread_join(pool->hands[i].thread, NULL);
    }
    if (pool->threads == 0 && pool->hands[0].busy) {
        end_segment(&pool->hands[0], &give_up);
    }
    pool->threads = 0;
    free(pool->filling);
    pool->filling = NULL;
}

void cm_verifier_pool_finish(cm_verifier_pool *pool, cm_segment_outcome *outcome)
{
    close_hands(pool);
    *outcome = pool->outcome;
    pool->outcome.recorded = pool->outcome.replayed = NULL;
    // It may be stopped between two segments: all that began are well, and the rest never did.
    outcome->report.stopped =
        outcome->report.stopped || (pool->stopped && outcome->result == CAROM_OK &&
                                    outcome->report.verified_ticks < pool->def.last_tick);
}

carom_result cm_verifier_pool_create(const cm_verifier_pool_def *def, cm_verifier_pool **out)
{
    cm_verifier_pool *pool = calloc(1, sizeof *pool);
    *out = pool;
    if (pool == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    pool->def = *def;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->settled, &clock);
    pthread_condattr_destroy(&clock);
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < def->jobs && result == CAROM_OK; i++) {
        hand *h = &pool->hands[i];
        h->pool = pool;
        result = cm_segment_create(&def->segment, &h->segment);
        if (result == CAROM_OK && def->jobs > 1) {
            bool started = pthread_create(&h->thread, NULL, hand_main, h) == 0;
            pool->threads += started;
            result = started ? CAROM_OK : CAROM_ERROR_MEMORY;
        }
    }
    if (result != CAROM_OK) {
        cm_verifier_pool_destroy(pool);
        *out = NULL;
    }
    return result;
}

void cm_verifier_pool_destroy(cm_verifier_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    close_hands(pool);
    drop_states(&pool->outcome);
    for (uint32_t i = 0; i < CM_VERIFIER_POOL_JOBS_MAX; i++) {
        cm_segment_destroy(pool->hands[i].segment);
    }
    pthread_cond_destroy(&pool->settled);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
