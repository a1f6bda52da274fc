// A match as SQLite tables: what the file holds first, then what the simulation gives.
#include "server/record/format/export_db.h"
#include "server/tools/export/export.h"

#include <stdio.h>

typedef struct tables {
    cm_export_db *db;
    const cm_scene *scene;
} tables;

// Contacts, breaks and sleeps of the world's last tick.
static carom_result put_happenings(const tables *t, const carom_world *world, uint64_t tick,
                                   cm_match_error *error)
{
    uint32_t touches = 0, breaks = 0, sleeps = 0;
    const carom_contact_event *touch = carom_world_contact_events(world, &touches);
    const carom_joint_event *broken = carom_world_joint_events(world, &breaks);
    const carom_sleep_event *slept = carom_world_sleep_events(world, &sleeps);
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; result == CAROM_OK && i < touches + breaks + sleeps; i++) {
        char name[CM_NAME_MAX];
        cm_export_happening what;
        if (i < touches) {
            what = (cm_export_happening){.type = touch->begin ? "begin" : "end",
                                         .body = touch->body_a,
                                         .other = touch->body_b,
                                         .contact = touch};
            touch++;
        } else if (i < touches + breaks) {
            cm_scene_call_joint(t->scene, broken->joint, name, sizeof name);
            what = (cm_export_happening){.type = "break", .joint = name, .broken = broken++};
        } else {
            what = (cm_export_happening){.type = slept->asleep ? "sleep" : "wake",
                                         .body = slept->body};
            slept++;
        }
        result = cm_export_db_happening(t->db, tick, &what, error);
    }
    return result;
}

// As they were emitted in the match: the replay is the same tick for tick.
static carom_result put_game_events(const tables *t, const carom_game *game, cm_match_error *error)
{
    uint32_t count = 0;
    const carom_event *events = cm_game_events(game, &count);
    const carom_module *module = cm_game_module(game);
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; result == CAROM_OK && i < count; i++) {
        const char *name = cm_module_event_name(module, events[i].kind);
        result = cm_export_db_game_event(t->db, &events[i], i, name, error);
    }
    return result;
}

static carom_result put_bodies(const tables *t, const carom_game *game, bool tracks,
                               cm_match_error *error)
{
    const carom_world *world = carom_game_world(game);
    uint64_t tick = carom_game_tick(game);
    carom_result result = CAROM_OK;
    for (uint32_t slot = 0; result == CAROM_OK && slot < carom_world_body_slots(world); slot++) {
        carom_body_state state;
        char name[CM_NAME_MAX];
        carom_body_id id = carom_world_body_at(world, slot);
        if (carom_body_get(world, id, &state) == CAROM_OK) {
            cm_scene_call_body(t->scene, id, name, sizeof name);
            cm_export_body row = {id, name, &state, tracks};
            result = cm_export_db_body(t->db, tick, &row, error);
        }
    }
    return result;
}

static carom_result step(void *context, const carom_game *game, cm_match_error *error)
{
    const tables *t = context;
    carom_result result = put_bodies(t, game, false, error);
    result = result == CAROM_OK ? put_game_events(t, game, error) : result;
    return result == CAROM_OK
               ? put_happenings(t, carom_game_world(game), carom_game_tick(game), error)
               : result;
}

static carom_result sample(void *context, const carom_game *game, cm_match_error *error)
{
    return put_bodies(context, game, true, error);
}

carom_result cm_export_tables(cm_playback *playback, const cm_export_options *options,
                              cm_match_error *error)
{
    cm_match_file *file = cm_playback_file(playback);
    bool is_sandbox = cm_game_module(cm_playback_game(playback)) == &carom_module_sandbox;
    cm_export_def def = {options->path, options->from, options->to, options->every, is_sandbox};
    tables t = {.scene = cm_match_scene(file)};
    carom_result result = cm_export_db_create(&def, &t.db, error);
    if (result != CAROM_OK) {
        return result;
    }
    result = cm_export_db_records(t.db, file, error);
    cm_export_calls calls = {&t, step, sample};
    result = result == CAROM_OK ? cm_playback_restart(playback, error) : result;
    result = result == CAROM_OK ? cm_export_walk(playback, options, &calls, error) : result;
    if (result != CAROM_OK) {
        cm_export_db_abandon(t.db);
        return result;
    }
    return cm_export_db_finish(t.db, error);
}
