// Games recorded by tests: see recording.h.
#include "tests/unit/record/recording.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/scene/scene_json.h"

char recording_folder[64];
const uint8_t *recording_secret;

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"small\", \"module\": \"sandbox\","
    " \"limits\": {\"bodies\": 128, \"shapes\": 128, \"contacts\": 1024},"
    " \"bodies\": [{\"name\": \"ground\", \"type\": \"static\","
    "   \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}],"
    " \"arrays\": [{\"name\": \"cube\", \"origin\": [-2, 0.2, -2], \"count\": [5, 1, 5],"
    "   \"spacing\": [1, 1, 1], \"of\": {\"shapes\": [{\"box\": {\"half_extents\": [0.2, 0.2, "
    "0.2]},"
    "   \"density\": 200}]}}]}";

void recording_setup(void)
{
    strcpy(recording_folder, "/tmp/carom_record_XXXXXX");
    cr_assert_not_null(mkdtemp(recording_folder));
}

void recording_teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", recording_folder);
    cr_assert_eq(system(command), 0);
}

const char *recording_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%016llx.match", recording_folder,
             (unsigned long long)RECORDING_ID);
    return path;
}

cm_scene *recording_scene(void)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK,
                 "%s %s", error.path, error.message);
    return scene;
}

cm_store *recording_store(bool threaded)
{
    cm_store_def def = {
        .directory = recording_folder, .threaded = threaded, .secret = recording_secret};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    return store;
}

cm_match_def recording_def(const cm_scene *scene)
{
    cm_match_def def = {RECORDING_ID,           scene, "sandbox", carom_module_sandbox.version, 7,
                        UINT64_C(1700000000000)};
    return def;
}

void recording_begin(recording *run, cm_store *store, uint32_t players, uint64_t seed)
{
    recording_begin_as(run, store, RECORDING_ID, players, seed);
}

void recording_begin_as(recording *run, cm_store *store, uint64_t match_id, uint32_t players,
                        uint64_t seed)
{
    memset(run, 0, sizeof *run);
    run->store = store;
    run->players = players;
    run->scene = recording_scene();
    cm_rng_seed(&run->rng, seed);
    cm_match_def def = recording_def(run->scene);
    def.match_id = match_id;
    cr_assert_eq(cm_store_begin(store, &def, &run->match), CAROM_OK, "%s",
                 cm_store_begin_error(store));
    cr_assert_eq(cm_game_create(run->scene, cm_module_find("sandbox"), def.seed, NULL, &run->game),
                 CAROM_OK);
}

static void put_f32(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

static uint32_t draw_inputs(recording *run, carom_player_input *inputs)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < run->players; player++) {
        if (cm_rng_below(&run->rng, 4) == 0) {
            carom_player_input *input = &inputs[count++];
            memset(input, 0, sizeof *input);
            input->player = player;
            put_f32(input->bytes, cm_rng_range(&run->rng, -1.0f, 1.0f));
            put_f32(input->bytes + 4, cm_rng_range(&run->rng, -1.0f, 1.0f));
            input->bytes[8] = (uint8_t)cm_rng_below(&run->rng, 4);
        }
    }
    return count;
}

// As a host measures them: most early, some late, few of those rewound for.
static void hand_over_arrivals(recording *run)
{
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
    for (uint32_t i = 0; i < run->players; i++) {
        int16_t lead = (int16_t)((int32_t)cm_rng_below(&run->rng, 40) - 6);
        arrivals[i] = (cm_arrival){(uint8_t)i, lead < -4, lead};
    }
    cm_store_input_timing(run->store, run->match, arrivals, run->players);
}

static void play_one(recording *run)
{
    cm_game_event events[CAROM_PLAYERS_MAX];
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    cm_tick_input tick = {.events = events, .inputs = inputs};
    if (carom_game_tick(run->game) == 0) {
        for (uint32_t i = 0; i < run->players; i++) {
            events[i] = (cm_game_event){CM_EVENT_JOIN, i, 100 + i, NULL, 0};
        }
        tick.event_count = run->players;
    }
    tick.input_count = draw_inputs(run, inputs);
    cm_game_tick(run->game, &tick);
    uint64_t now = carom_game_tick(run->game);
    hand_over_arrivals(run);
    if (now % 17 == 1) {
        char name[16];
        snprintf(name, sizeof name, "player %u", (unsigned)(now % 100));
        cm_store_personal(run->store, run->match, 100 + now % (run->players + 1), "name", name);
    }
    cm_store_tick(run->store, run->match, now, cm_game_hash(run->game), &tick);
    if (run->keyframe_every > 0 && now % run->keyframe_every == 0) {
        cm_player_statistics rows[2] = {{0, now, now / 10, 3, 1}, {1, now, now / 20, 5, 2}};
        cm_store_statistics(run->store, run->match, rows, 2);
        size_t size = cm_game_encode_size(run->game);
        uint8_t *bytes = malloc(size);
        cr_assert_eq(cm_game_encode(run->game, bytes, size), size);
        cm_store_keyframe(run->store, run->match, now, bytes, size);
        free(bytes);
    }
}

void recording_play_end(recording *run)
{
    cm_game_event end = {.type = CM_EVENT_END};
    cm_tick_input tick = {.events = &end, .event_count = 1};
    cm_game_tick(run->game, &tick);
    cm_store_tick(run->store, run->match, carom_game_tick(run->game), cm_game_hash(run->game),
                  &tick);
}

void recording_play(recording *run, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        play_one(run);
    }
}

void recording_free(recording *run)
{
    cm_game_destroy(run->game);
    cm_scene_free(run->scene);
}

uint64_t recording_make(uint32_t ticks, uint64_t seed)
{
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 3, seed);
    run.keyframe_every = 30;
    recording_play(&run, ticks);
    uint64_t hash = cm_game_hash(run.game);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    recording_free(&run);
    return hash;
}

void recording_edit(const char *path, const char *sql, bool free_schema)
{
    sqlite3 *db;
    char *message = NULL;
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, free_schema ? 1 : 0, NULL);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK, "%s: %s", sql, message);
    sqlite3_close(db);
}

static void pack_again(sqlite3 *db, cm_record_pack *pack, sqlite3_int64 tick,
                       void (*edit)(cm_record_inputs *row))
{
    cm_record_pack *out = cm_record_pack_create();
    for (uint32_t i = 0; i < cm_record_pack_count(pack); i++) {
        cm_record_inputs row = *cm_record_pack_row(pack, i);
        edit(&row);
        cm_recorded_tick again = {
            .tick = row.tick, .arrivals = row.arrivals, .arrival_count = row.arrival_count};
        again.input.inputs = row.inputs;
        again.input.input_count = row.input_count;
        cr_assert(cm_record_pack_add(out, &again));
    }
    size_t size;
    uint8_t *bytes = cm_record_pack_encode(out, &size);
    sqlite3_stmt *put;
    cr_assert_eq(
        sqlite3_prepare_v2(db, "UPDATE packs SET packed = ?1 WHERE tick = ?2", -1, &put, NULL),
        SQLITE_OK);
    sqlite3_bind_blob64(put, 1, bytes, size, SQLITE_STATIC);
    sqlite3_bind_int64(put, 2, tick);
    cr_assert_eq(sqlite3_step(put), SQLITE_DONE);
    sqlite3_finalize(put);
    free(bytes);
    cm_record_pack_free(out);
}

void recording_edit_inputs(const char *path, void (*edit)(cm_record_inputs *row))
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT tick, packed FROM packs", -1, &rows, NULL),
                 SQLITE_OK);
    cm_record_pack *pack = cm_record_pack_create();
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *wrong = cm_record_pack_decode(pack, sqlite3_column_blob(rows, 1),
                                                  (size_t)sqlite3_column_bytes(rows, 1));
        cr_assert_null(wrong, "%s", wrong);
        pack_again(db, pack, sqlite3_column_int64(rows, 0), edit);
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    cm_record_pack_free(pack);
}

uint64_t file_size(const char *path, const char *suffix)
{
    char name[256];
    struct stat about;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &about) == 0 ? (uint64_t)about.st_size : 0;
}
