// Matches of a server that was killed, proved before anything is written into them: what is signed
// after the seam covers all before it. The room plays meanwhile, and its jobs wait here, since the
// proof of an hour takes a second and the players shall not.
//
// A thread of its own proves one match after another and ends with the last; without threads the
// next pump does. A file that does not prove itself is left as it was. Typical: 20 matches after a
// crash, none else.
#include <stdio.h>

#include "server/record/format/proof.h"
#include "server/record/store/store_inner.h"

// CAROM_OK: the file is proved, and stands at the tick from which its room resumed.
static carom_result prove(const cm_match *match, char *reason, size_t size)
{
    cm_match_file *file;
    cm_match_error error = {0};
    cm_proof proof = {0};
    carom_result result = cm_match_open_unread(match->path, &file, &error);
    if (result == CAROM_OK) {
        result = match->known ? cm_match_prove_tail(file, &proof, &error)
                              : cm_match_prove(file, NULL, &proof, &error);
        cm_match_close(file);
    }
    if (result != CAROM_OK) {
        snprintf(reason, size, "%.150s", error.message);
    } else if (proof.verdict == CM_PROOF_CHANGED) {
        snprintf(reason, size, "changed since it was recorded: %.110s", proof.changed);
        result = CAROM_ERROR_CORRUPT;
    } else if (proof.ticks != match->written_tick) {
        snprintf(reason, size, "it stands at tick %llu", (unsigned long long)proof.ticks);
        result = CAROM_ERROR_STATE;
    }
    return result;
}

// Its jobs may be written, or left out. `wrong`: NULL, or why the file is not written on.
static void release(cm_store *store, cm_match *match, const char *wrong, bool left)
{
    uint64_t bytes = wrong == NULL ? cm_match_writer_bytes(match->writer) : 0;
    pthread_mutex_lock(&store->lock);
    match->status.bytes = bytes;
    match->status.proved = wrong == NULL;
    if (wrong != NULL) {
        match->failed = true;
        match->status.left = left;
        cm_store_mark_failed(match, wrong);
    }
    if (match->held_first != NULL) {
        *(store->first == NULL ? &store->first : &store->last->next) = match->held_first;
        store->last = match->held_last;
        match->held_first = match->held_last = NULL;
    }
    match->proving = false;
    store->proving--;
    store->urgent = store->first != NULL;
    pthread_cond_signal(&store->wake);
    pthread_cond_broadcast(&store->idle);
    pthread_mutex_unlock(&store->lock);
}

static void prove_match(cm_store *store, cm_match *match)
{
    char reason[160] = "";
    cm_match_writer_def def = cm_store_writer_def(store);
    carom_result result = prove(match, reason, sizeof reason);
    if (result == CAROM_OK) {
        result = cm_match_writer_resume(match->path, &def, &match->writer, reason, sizeof reason);
    }
    bool of_machine = result == CAROM_ERROR_IO || result == CAROM_ERROR_MEMORY;
    release(store, match, result == CAROM_OK ? NULL : reason, !of_machine);
}

// With the lock held; NULL: there is none.
static cm_match *next_match(const cm_store *store)
{
    for (uint32_t i = 0; i < store->match_count; i++) {
        if (store->matches[i]->proving) {
            return store->matches[i];
        }
    }
    return NULL;
}

static cm_match *take_next(cm_store *store)
{
    pthread_mutex_lock(&store->lock);
    cm_match *match = next_match(store);
    store->prover_runs = store->prover_runs && match != NULL;
    pthread_mutex_unlock(&store->lock);
    return match;
}

void cm_store_prove_all(cm_store *store)
{
    cm_match *match;
    while ((match = take_next(store)) != NULL) {
        prove_match(store, match);
    }
}

static void *prover_main(void *user)
{
    cm_store_prove_all(user);
    return NULL;
}

void cm_store_prove(cm_store *store)
{
    pthread_mutex_lock(&store->lock);
    bool start = store->threaded && !store->prover_runs;
    store->prover_runs = store->prover_runs || start;
    pthread_mutex_unlock(&store->lock);
    if (start) {
        cm_store_join_prover(store); // the one before has ended, or is about to
        store->prover_made = pthread_create(&store->prover, NULL, prover_main, store) == 0;
        if (!store->prover_made) {
            cm_store_prove_all(store); // then the players wait
        }
    }
}

void cm_store_join_prover(cm_store *store)
{
    if (store->prover_made) {
        pthread_join(store->prover, NULL);
        store->prover_made = false;
    }
}
