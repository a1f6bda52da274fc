// Goal: `serve --resume` brings back every match that can go on, once, in the room that it had;
// what cannot is ended as cut or left byte for byte, and the log says which and why. Method: live
// matches as a kill leaves them, in a folder that a server starts with.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_file.h"
#include "server/cli/cli.h"
#include "server/node/resume.h"
#include "tests/unit/record/recording.h"

static cm_config config;
static cm_node_rooms rooms;
static cm_store *store;
static char log_text[8192];

static void keep(void *user, int level, const char *json_line)
{
    (void)user;
    (void)level;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", json_line);
}

static void setup(void)
{
    recording_setup();
    cm_config_default(&config);
    snprintf(config.matches, sizeof config.matches, "%s/matches", recording_folder);
    config.resume = true;
    log_text[0] = '\0';
    memset(&rooms, 0, sizeof rooms);
    cm_store_def def = {.directory = config.matches};
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
}

static void teardown(void)
{
    cm_node_rooms_free(&rooms);
    cm_store_destroy(store);
    recording_teardown();
}

TestSuite(resume_matches, .init = setup, .fini = teardown);

static void path_of(uint64_t id, char path[CM_SERVE_PATH_MAX])
{
    snprintf(path, CM_SERVE_PATH_MAX, "%s/%016llx.match", config.matches, (unsigned long long)id);
}

// Of so many ticks, its server killed after the last commit.
static void leave_live_of(uint64_t id, const char *room, const char *opened, uint64_t started,
                          uint32_t ticks)
{
    char command[1024];
    cm_store *dying = recording_store(false);
    cm_scene *scene = recording_scene();
    carom_game *game;
    cm_match_handle match;
    cm_match_def def = recording_def(scene);
    def.match_id = id;
    def.room = room;
    def.opened = opened;
    def.started_unix_ms = started;
    cr_assert_eq(cm_store_begin(dying, &def, &match), CAROM_OK);
    cr_assert_eq(cm_game_create(scene, cm_module_find("sandbox"), def.seed, NULL, &game), CAROM_OK);
    for (uint64_t tick = 1; tick <= ticks; tick++) {
        cm_tick_input input = {0};
        cm_game_tick(game, &input);
        cm_store_tick(dying, match, tick, cm_game_hash(game), &input);
    }
    cm_store_pump(dying);
    const char *path = cm_store_path(dying, match);
    snprintf(command, sizeof command, "cp %s %s-wal %s", path, path, config.matches);
    cr_assert_eq(system(command), 0);
    cm_store_destroy(dying);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

static void leave_live(uint64_t id, const char *room, uint64_t started, uint32_t ticks)
{
    leave_live_of(id, room, "", started, ticks);
}

static uint64_t cut_ids; // of those that could not go on, added up

static void note_cut(void *user, uint64_t match_id)
{
    (void)user;
    cut_ids += match_id;
}

static void resume(void)
{
    cm_log log = {.write = keep};
    cm_unfinished_matches matches = {0};
    cm_unfinished_matches_find(&config, &log, &matches);
    cm_resume_matches(&config, store, &log, &matches, &rooms, note_cut, NULL);
    cm_unfinished_matches_free(&matches);
}

static bool logged(const char *event, uint64_t id, const char *reason)
{
    char line[64], path[CM_SERVE_PATH_MAX];
    snprintf(line, sizeof line, "\"event\":\"%s\"", event);
    path_of(id, path);
    for (const char *at = log_text; (at = strstr(at, line)) != NULL; at++) {
        char one[1024];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, "\n"), at);
        if (strstr(one, path) != NULL && strstr(one, reason) != NULL) {
            return true;
        }
    }
    return false;
}

static cm_match_end end_of(uint64_t id)
{
    cm_match_head head;
    cm_match_error error;
    char path[CM_SERVE_PATH_MAX];
    path_of(id, path);
    cr_assert_eq(cm_match_head_read(path, &head, &error), CAROM_OK, "%s", error.message);
    return head.info.end;
}

// Seen: 300 rooms that an operator had opened, one by one with its numbers, were rooms on demand
// after a crash of their worker, and closed five seconds later.
Test(resume_matches, a_room_is_as_whoever_opened_it_said)
{
    leave_live_of(0xa1, "cup", "admin:max_players=2:view_rate=15:budget_kbit=32", 1000, 10);
    leave_live_of(0xa2, "brief", "admin:empty_s=40", 1000, 10);
    leave_live_of(0xa3, "asked", "on_demand", 1000, 10);
    leave_live_of(0xa4, "named", "admin:max_players=3", 1000, 10);
    leave_live_of(0xa5, "odd", "admin:max_players=900", 1000, 10);
    leave_live_of(0xa6, "old", "", 1000, 10); // of a server that did not write who opened it
    rooms.on_demand = recording_scene();
    rooms.count = 1;
    strcpy(rooms.rooms[0].spec.name, "named");
    rooms.rooms[0].scene = recording_scene();
    rooms.rooms[0].spec.max_players = 5;
    config.on_demand_empty_s = 7;
    resume();
    static const struct {
        const char *name;
        bool on_demand;
        uint32_t max_players, empty_s;
    } expected[] = {{"cup", false, 2, 0},   {"brief", false, 64, 40}, {"asked", true, 64, 7},
                    {"named", false, 3, 0}, {"odd", true, 64, 7},     {"old", true, 64, 7}};
    cr_assert_eq(rooms.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const cm_node_room *room = rooms.rooms;
        while (room < rooms.rooms + 6 && strcmp(room->spec.name, expected[i].name) != 0) {
            room++;
        }
        cr_assert(room < rooms.rooms + 6, "%s", expected[i].name);
        cr_assert_eq(room->on_demand, expected[i].on_demand, "%s", expected[i].name);
        cr_assert_eq(room->spec.max_players, expected[i].max_players, "%s", expected[i].name);
        cr_assert_eq(room->spec.empty_s, expected[i].empty_s, "%s", expected[i].name);
        if (i == 0) {
            cr_assert_eq(room->spec.view_rate, 15);
            cr_assert_eq(room->spec.budget_kbit, 32);
            cr_assert_str_eq(room->spec.opened, "admin:max_players=2:view_rate=15:budget_kbit=32");
        }
    }
    cm_scene_free(rooms.on_demand);
}

Test(resume_matches, each_goes_on_in_its_room_and_the_newest_of_a_name)
{
    leave_live(0xa1, "arena", 1000, 30);
    leave_live(0xa2, "arena", 3000, 20);
    leave_live(0xa3, "arena", 2000, 10);
    leave_live(0xb1, "", 1500, 15); // a room without a name has the scene's
    rooms.count = 2;
    strcpy(rooms.rooms[0].spec.name, "first");
    rooms.rooms[0].scene = recording_scene();
    strcpy(rooms.rooms[1].spec.name, "arena");
    rooms.rooms[1].scene = recording_scene();
    rooms.rooms[1].spec.max_players = 5;
    resume();
    cr_assert_eq(rooms.count, 3);
    cr_assert_null(rooms.rooms[0].live);
    cr_assert_eq(rooms.rooms[1].live->info.match_id, 0xa2);
    cr_assert_eq(rooms.rooms[1].live->info.ticks, 20);
    cr_assert_eq(rooms.rooms[1].scene, rooms.rooms[1].live->scene);
    cr_assert_eq(rooms.rooms[1].spec.max_players, 5);
    cr_assert_str_eq(rooms.rooms[2].spec.name, "small");
    cr_assert_eq(rooms.rooms[2].live->info.match_id, 0xb1);
    cr_assert(logged("match resumed", 0xa2, "\"tick\":20,"));
    cr_assert(logged("match cut", 0xa1, "newer"));
    cr_assert(logged("match cut", 0xa3, "newer"));
    cr_assert_eq(end_of(0xa1), CM_MATCH_CUT);
    cr_assert_eq(end_of(0xa3), CM_MATCH_CUT);
    cr_assert_eq(end_of(0xa2), CM_MATCH_LIVE);
}

Test(resume_matches, one_of_another_engine_or_module_is_cut_and_named)
{
    char path[CM_SERVE_PATH_MAX];
    leave_live(0xa1, "arena", 1000, 5);
    path_of(0xa1, path);
    recording_edit(path, "UPDATE meta SET value = 9 WHERE key = 'engine_version'", false);
    leave_live(0xa2, "arena", 1000, 5);
    path_of(0xa2, path);
    recording_edit(path, "UPDATE meta SET value = 'chess' WHERE key = 'module'", false);
    rooms.count = 1;
    rooms.rooms[0].scene = recording_scene();
    resume();
    cr_assert_eq(rooms.count, 1);
    cr_assert(logged("match cut", 0xa1, "engine 9"));
    cr_assert(logged("match cut", 0xa2, "chess"));
    cr_assert_eq(cut_ids, 0xa1 + 0xa2, "who comes back to it is told");
    cr_assert_eq(end_of(0xa1), CM_MATCH_CUT);
    cr_assert_eq(end_of(0xa2), CM_MATCH_CUT);
    log_text[0] = '\0';
    resume(); // and that is the end of it
    cr_assert_str_eq(log_text, "");
}

static uint64_t sum_of(const char *path)
{
    uint64_t sum = 0;
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    for (int byte; (byte = fgetc(file)) != EOF;) {
        sum = sum * 31 + (uint64_t)byte;
    }
    fclose(file);
    return sum;
}

Test(resume_matches, one_that_was_changed_is_left_as_it_is)
{
    char path[CM_SERVE_PATH_MAX];
    leave_live(0xa1, "arena", 1000, 5);
    path_of(0xa1, path);
    recording_edit(path, "UPDATE ticks SET hash = hash + 1 WHERE tick = 3", false);
    uint64_t sum = sum_of(path);
    resume();
    cr_assert_eq(rooms.count, 0);
    cr_assert(logged("match left", 0xa1, "diverged"), "%s", log_text);
    cr_assert_eq(sum_of(path), sum);
    cr_assert_eq(end_of(0xa1), CM_MATCH_LIVE);
}

Test(resume_matches, what_is_no_match_of_the_folder_is_passed_over)
{
    char command[1024];
    leave_live(0xa1, "arena", 1000, 5);
    snprintf(command, sizeof command,
             "cd %s && cp 00000000000000a1.match 00000000000000a9.match && "
             "cp 00000000000000a1.match-wal 00000000000000a9.match-wal && "
             "cp 00000000000000a1.match copy.match && echo x > 00000000000000aa.match && "
             "mkdir 00000000000000ab.match",
             config.matches);
    cr_assert_eq(system(command), 0);
    resume();
    cr_assert_eq(rooms.count, 1);
    cr_assert_eq(rooms.rooms[0].live->info.match_id, 0xa1);
    cr_assert(logged("match left", 0xa9, "name"));
    cr_assert_null(strstr(log_text, "copy.match"));
}
