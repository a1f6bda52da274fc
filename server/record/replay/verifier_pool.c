// One reader, several hands. Stretches are numbered in their order and begun in it, so the outcome
// with the lowest number that is not well stands for the match: every one before it was handed over
// whole, and whoever has a later one may give it up.
//
// A piece is some 64 KiB of ticks, or a keyframe at the begin or the end. It waits in its hand's
// queue, of at most QUEUE_BYTES and a piece; the reader waits where that is full, or where no hand
// is free for the next stretch. Typical: 1,800 ticks of 600 bytes and a keyframe of 200 KB a
// stretch, which takes 0.1 s.
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
    cm_stretch_keyframe keyframe;
    carom_result failed; // PIECE_END: the match could not be read on, and why
    cm_match_error error;
    uint32_t ticks;
    size_t size, capacity;
    _Alignas(16) uint8_t bytes[];
} piece;

typedef struct hand {
    cm_crew *crew;
    pthread_t thread;
    cm_stretch *stretch;
    bool busy; // has a stretch, of this order
    uint64_t order;
    piece *first, *last;
    size_t queued;
} hand;

struct cm_crew {
    cm_crew_def def;
    uint32_t threads; // 0: the caller's alone
    pthread_mutex_t lock;
    pthread_cond_t wake, told; // the hands; the reader
    bool closing, stopped;
    uint64_t next_order;
    uint64_t done; // ticks
    hand *reading; // whose stretch is handed over now
    piece *filling;
    bool has_outcome;
    uint64_t order; // of the outcome that counts, so far
    cm_stretch_outcome outcome;
    hand hands[CM_CREW_JOBS_MAX];
};

// Outcomes, with the lock held -----------------------------------------------------------------

static bool is_well(const cm_stretch_outcome *outcome)
{
    return outcome->result == CAROM_OK && !outcome->report.stopped;
}

// Nothing after the outcome that counts matters any more.
static bool is_over(const cm_crew *crew)
{
    return crew->stopped || (crew->has_outcome && !is_well(&crew->outcome));
}

static void drop_states(cm_stretch_outcome *outcome)
{
    free(outcome->recorded);
    free(outcome->replayed);
    outcome->recorded = outcome->replayed = NULL;
}

// Of those that are not well the first counts; else the last.
static void settle(cm_crew *crew, uint64_t order, cm_stretch_outcome *outcome)
{
    bool bad = crew->has_outcome && !is_well(&crew->outcome);
    bool counts = is_well(outcome) ? !bad && order >= crew->order : !bad || order < crew->order;
    if (!counts) {
        drop_states(outcome);
        return;
    }
    drop_states(&crew->outcome);
    crew->has_outcome = true;
    crew->order = order;
    crew->outcome = *outcome;
    crew->outcome.report.keyframes += (uint32_t)order; // each stretch before it ended with one
}

// How a stretch ends: with the keyframe, or none; because the match could not be read on; or given
// up, and then nothing is compared.
typedef struct ending {
    const cm_stretch_keyframe *keyframe;
    carom_result failed;
    const cm_match_error *error;
    bool given_up;
} ending;

static void end_stretch(hand *h, const ending *how)
{
    cm_crew *crew = h->crew;
    cm_stretch_outcome outcome;
    cm_stretch_end(h->stretch, how->given_up ? NULL : how->keyframe, &outcome);
    if (outcome.result == CAROM_OK && how->failed != CAROM_OK) {
        outcome.result = how->failed;
        outcome.report.error = *how->error;
    }
    outcome.report.stopped = how->given_up && outcome.result == CAROM_OK;
    pthread_mutex_lock(&crew->lock);
    settle(crew, h->order, &outcome);
    h->busy = false;
    pthread_cond_signal(&crew->told);
    pthread_mutex_unlock(&crew->lock);
}

static const ending give_up = {.given_up = true};

// Hands ------------------------------------------------------------------------------------------

static void run_ticks(hand *h, const piece *p)
{
    bool goes_on = true;
    for (size_t at = 0; at < p->size && goes_on;) {
        const cm_recorded_tick *tick = (const cm_recorded_tick *)(p->bytes + at);
        goes_on = cm_stretch_tick(h->stretch, tick);
        at += cm_recorded_tick_size(tick);
    }
}

static void run_piece(hand *h, const piece *p)
{
    cm_crew *crew = h->crew;
    pthread_mutex_lock(&crew->lock);
    bool given_up = crew->stopped || (is_over(crew) && crew->order < h->order);
    pthread_mutex_unlock(&crew->lock);
    if (p->kind == PIECE_BEGIN) {
        cm_stretch_begin(h->stretch, p->has_keyframe ? &p->keyframe : NULL);
    } else if (p->kind == PIECE_TICKS && !given_up) {
        run_ticks(h, p);
    } else if (p->kind == PIECE_END) {
        ending how = {p->has_keyframe ? &p->keyframe : NULL, p->failed, &p->error, given_up};
        end_stretch(h, &how);
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
    cm_crew *crew = h->crew;
    pthread_mutex_lock(&crew->lock);
    while (true) {
        while (h->first == NULL && !crew->closing) {
            pthread_cond_wait(&crew->wake, &crew->lock);
        }
        piece *p = take_piece(h);
        bool left = p == NULL && h->busy; // closing, and its end will not come
        if (p == NULL && !left) {
            break;
        }
        pthread_mutex_unlock(&crew->lock);
        if (left) {
            end_stretch(h, &give_up);
        } else {
            run_piece(h, p);
        }
        pthread_mutex_lock(&crew->lock);
        if (p != NULL) {
            h->queued -= p->capacity;
            crew->done += p->ticks;
            pthread_cond_signal(&crew->told);
        }
        free(p);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

// Handing over -----------------------------------------------------------------------------------

// What the reader's thread tells whoever watches. With the lock held.
static void report_progress(cm_crew *crew, uint64_t tick)
{
    if (crew->def.progress != NULL && !crew->stopped) {
        pthread_mutex_unlock(&crew->lock);
        bool goes_on = crew->def.progress(crew->def.context, tick, crew->def.last_tick);
        pthread_mutex_lock(&crew->lock);
        crew->stopped = crew->stopped || !goes_on;
    }
}

// For a hand to be done with something, with the lock held.
static void wait_for_hands(cm_crew *crew)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PROGRESS_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&crew->told, &crew->lock, &until);
    report_progress(crew, crew->done < crew->def.last_tick ? crew->done : crew->def.last_tick);
}

static hand *free_hand(cm_crew *crew)
{
    for (uint32_t i = 0; i < crew->threads; i++) {
        if (!crew->hands[i].busy) {
            return &crew->hands[i];
        }
    }
    return NULL;
}

// No memory: the stretch in hand ends the match.
static bool fail(cm_crew *crew, carom_result result)
{
    cm_stretch_outcome outcome = {.result = result};
    pthread_mutex_lock(&crew->lock);
    settle(crew, crew->reading->order, &outcome);
    pthread_mutex_unlock(&crew->lock);
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
static bool push(cm_crew *crew, piece *p)
{
    hand *h = crew->reading;
    if (p == NULL) {
        return fail(crew, CAROM_ERROR_MEMORY);
    }
    pthread_mutex_lock(&crew->lock);
    while (h->queued > 0 && h->queued + p->capacity > QUEUE_BYTES && !is_over(crew)) {
        wait_for_hands(crew);
    }
    bool goes_on = !is_over(crew);
    *(h->first == NULL ? &h->first : &h->last->next) = p;
    h->last = p;
    h->queued += p->capacity;
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
    return goes_on;
}

static bool push_filled(cm_crew *crew)
{
    piece *p = crew->filling;
    crew->filling = NULL;
    return p == NULL || push(crew, p);
}

static bool push_keyframe(cm_crew *crew, piece_kind kind, const cm_stretch_keyframe *keyframe)
{
    piece *p = make_piece(kind, keyframe != NULL ? keyframe->size : 0);
    if (p != NULL && keyframe != NULL) {
        p->has_keyframe = true;
        p->keyframe = *keyframe;
        p->keyframe.bytes = memcpy(p->bytes, keyframe->bytes, keyframe->size);
    }
    return push(crew, p);
}

bool cm_crew_begin(cm_crew *crew, const cm_stretch_keyframe *start)
{
    pthread_mutex_lock(&crew->lock);
    hand *h = &crew->hands[0];
    while (crew->threads > 0 && (h = free_hand(crew)) == NULL && !is_over(crew)) {
        wait_for_hands(crew);
    }
    bool goes_on = h != NULL && !is_over(crew);
    if (goes_on) {
        h->busy = true;
        h->order = crew->next_order++;
        crew->reading = h;
    }
    pthread_mutex_unlock(&crew->lock);
    if (goes_on && crew->threads == 0) {
        cm_stretch_begin(h->stretch, start);
    } else if (goes_on) {
        goes_on = push_keyframe(crew, PIECE_BEGIN, start);
    }
    return goes_on;
}

static bool run_here(cm_crew *crew, const cm_recorded_tick *tick)
{
    pthread_mutex_lock(&crew->lock);
    report_progress(crew, tick->tick);
    pthread_mutex_unlock(&crew->lock);
    return !crew->stopped && cm_stretch_tick(crew->reading->stretch, tick);
}

bool cm_crew_tick(cm_crew *crew, const cm_recorded_tick *tick)
{
    if (crew->threads == 0) {
        return run_here(crew, tick);
    }
    size_t size = cm_recorded_tick_size(tick);
    piece *p = crew->filling;
    if (p != NULL && p->size + size > p->capacity && !push_filled(crew)) {
        return false;
    }
    if (crew->filling == NULL) {
        crew->filling = make_piece(PIECE_TICKS, size > PIECE_BYTES ? size : PIECE_BYTES);
    }
    p = crew->filling;
    if (p == NULL) {
        return fail(crew, CAROM_ERROR_MEMORY);
    }
    cm_recorded_tick_copy(tick, p->bytes + p->size);
    p->size += size;
    p->ticks++;
    return true;
}

bool cm_crew_end(cm_crew *crew, const cm_stretch_keyframe *end)
{
    if (crew->threads > 0) {
        return push_filled(crew) && push_keyframe(crew, PIECE_END, end);
    }
    end_stretch(crew->reading, &(ending){.keyframe = end});
    return !is_over(crew);
}

void cm_crew_failed(cm_crew *crew, carom_result result, const cm_match_error *error)
{
    if (crew->threads == 0) {
        end_stretch(crew->reading, &(ending){.failed = result, .error = error});
        return;
    }
    piece *p = make_piece(PIECE_END, 0);
    if (p != NULL) {
        p->failed = result;
        p->error = *error;
    }
    (void)push_filled(crew);
    (void)push(crew, p);
}

// Life -------------------------------------------------------------------------------------------

static bool is_busy(const cm_crew *crew)
{
    bool busy = false;
    for (uint32_t i = 0; i < crew->threads; i++) {
        busy = busy || crew->hands[i].busy;
    }
    return busy;
}

static void close_hands(cm_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->closing = true;
    pthread_cond_broadcast(&crew->wake);
    while (is_busy(crew)) {
        wait_for_hands(crew);
    }
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 0; i < crew->threads; i++) {
        pthread_join(crew->hands[i].thread, NULL);
    }
    if (crew->threads == 0 && crew->hands[0].busy) {
        end_stretch(&crew->hands[0], &give_up);
    }
    crew->threads = 0;
    free(crew->filling);
    crew->filling = NULL;
}

void cm_crew_finish(cm_crew *crew, cm_stretch_outcome *outcome)
{
    close_hands(crew);
    *outcome = crew->outcome;
    crew->outcome.recorded = crew->outcome.replayed = NULL;
    // It may be stopped between two stretches: all that began are well, and the rest never did.
    outcome->report.stopped =
        outcome->report.stopped || (crew->stopped && outcome->result == CAROM_OK &&
                                    outcome->report.verified_ticks < crew->def.last_tick);
}

carom_result cm_crew_create(const cm_crew_def *def, cm_crew **out)
{
    cm_crew *crew = calloc(1, sizeof *crew);
    *out = crew;
    if (crew == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    crew->def = *def;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->wake, NULL);
    pthread_cond_init(&crew->told, &clock);
    pthread_condattr_destroy(&clock);
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < def->jobs && result == CAROM_OK; i++) {
        hand *h = &crew->hands[i];
        h->crew = crew;
        result = cm_stretch_create(&def->stretch, &h->stretch);
        if (result == CAROM_OK && def->jobs > 1) {
            bool started = pthread_create(&h->thread, NULL, hand_main, h) == 0;
            crew->threads += started;
            result = started ? CAROM_OK : CAROM_ERROR_MEMORY;
        }
    }
    if (result != CAROM_OK) {
        cm_crew_destroy(crew);
        *out = NULL;
    }
    return result;
}

void cm_crew_destroy(cm_crew *crew)
{
    if (crew == NULL) {
        return;
    }
    close_hands(crew);
    drop_states(&crew->outcome);
    for (uint32_t i = 0; i < CM_CREW_JOBS_MAX; i++) {
        cm_stretch_destroy(crew->hands[i].stretch);
    }
    pthread_cond_destroy(&crew->told);
    pthread_cond_destroy(&crew->wake);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}
