// What the tests of the store, the match file and replay share: a folder of their own, a small
// sandbox game played from a seed into a store, and a way to spoil the file.
#ifndef CM_RECORD_RECORDING_H
#define CM_RECORD_RECORDING_H

#include "server/record/store/store.h"
#include "shared/base/rng.h"

#define RECORDING_ID UINT64_C(0xc0ffee0000000001)

extern char recording_folder[64]; // made by recording_setup

void recording_setup(void);
void recording_teardown(void);

// The path of the match in the folder; lives until the next call.
const char *recording_path(void);

cm_scene *recording_scene(void);
cm_store *recording_store(bool threaded);
cm_match_def recording_def(const cm_scene *scene);

// A live game of `players` (they join at tick 1) whose inputs are drawn from a seed.
typedef struct recording {
    cm_store *store;
    cm_scene *scene;
    carom_game *game;
    cm_match_handle match;
    cm_rng rng;
    uint32_t players;
    uint32_t keyframe_every; // ticks; 0: none
} recording;

void recording_begin(recording *run, cm_store *store, uint32_t players, uint64_t seed);
void recording_begin_as(recording *run, cm_store *store, uint64_t match_id, uint32_t players,
                        uint64_t seed);
void recording_play(recording *run, uint32_t ticks); // hands every tick to the store
void recording_play_end(recording *run);             // one more, in which the match ends
void recording_free(recording *run);                 // not the store

extern const uint8_t *recording_secret; // to sign with; NULL: unsigned

// A whole match: `ticks` played, ended, one file. Gives the last hash.
uint64_t recording_make(uint32_t ticks, uint64_t seed);

// Runs SQL on a file. `free_schema` allows changes of sqlite_schema.
void recording_edit(const char *path, const char *sql, bool free_schema);

// Every packed row of inputs goes through `edit` and is packed again: the chain stays as it was.
void recording_edit_inputs(const char *path, void (*edit)(cm_record_inputs *row));

uint64_t file_size(const char *path, const char *suffix); // 0 where there is none

#endif
