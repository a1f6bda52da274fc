// The catalogue: versions of scenes under one name, and files of other schemas.
//
// Method: real databases in a folder of their own; older and newer ones are made by SQL.
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/record/catalogue/scene_db.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/record/recording.h"

TestSuite(scene_db, .init = recording_setup, .fini = recording_teardown);

static char path[128];
static cm_scene_error error;
static cm_scene_row found[4];
static uint32_t found_count;

static bool keep(void *context, const cm_scene_row *row)
{
    (void)context;
    found[found_count++] = *row;
    return found_count < 4;
}

static void save(const char *name, const char *file)
{
    cm_scene *scene;
    cr_assert_eq(cm_scene_from_file(file, &scene, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_scene_db_save(path, name, scene, 5, &error), CAROM_OK, "%s", error.message);
    cm_scene_free(scene);
}

static void list(void)
{
    found_count = 0;
    cr_assert_eq(cm_scene_db_list(path, keep, NULL, &error), CAROM_OK, "%s", error.message);
}

Test(scene_db, another_scene_is_the_next_version)
{
    snprintf(path, sizeof path, "%s/a.db", recording_folder);
    save("one", "tests/scenes/hello.json");
    save("one", "tests/scenes/hello.json"); // the same: no version of its own
    list();
    cr_assert_eq(found_count, 1);
    cr_assert_eq(found[0].version, 1);
    save("one", "tests/scenes/sandbox.json");
    save("two", "tests/scenes/hello.json");
    list();
    cr_assert_eq(found_count, 2);
    cr_assert_eq(found[0].version, 2);
    cr_assert_eq(found[1].version, 1);
    cm_scene *newest;
    cr_assert_eq(cm_scene_db_load(path, "one", &newest, &error), CAROM_OK);
    cr_assert_eq(cm_scene_body_count(newest), found[0].bodies);
    cr_assert_neq(found[0].bodies, found[1].bodies);
    cm_scene_free(newest);
    save("one", "tests/scenes/hello.json"); // back: a version again
    list();
    cr_assert_eq(found[0].version, 3);
    cr_assert_eq(cm_scene_db_delete(path, "one", &error), CAROM_OK);
    list();
    cr_assert_eq(found_count, 1);
}

Test(scene_db, an_older_schema_is_brought_up_to_date)
{
    snprintf(path, sizeof path, "%s/b.db", recording_folder);
    save("one", "tests/scenes/hello.json");
    recording_edit(path,
                   "CREATE TABLE kept(name TEXT PRIMARY KEY, format INTEGER NOT NULL, packed BLOB "
                   "NOT NULL, bodies INTEGER NOT NULL, imported_at INTEGER NOT NULL);"
                   "INSERT INTO kept SELECT name, format, packed, bodies, imported_at FROM scenes;"
                   "DROP TABLE scenes; ALTER TABLE kept RENAME TO scenes; DROP TABLE rooms; DROP "
                   "TABLE matches;"
                   "PRAGMA user_version = 0; PRAGMA application_id = 0",
                   false);
    list();
    cr_assert_eq(found_count, 1);
    cr_assert_eq(found[0].version, 1);
    save("one", "tests/scenes/sandbox.json");
    list();
    cr_assert_eq(found[0].version, 2);
}

Test(scene_db, a_newer_schema_is_refused_with_its_number)
{
    snprintf(path, sizeof path, "%s/c.db", recording_folder);
    save("one", "tests/scenes/hello.json");
    recording_edit(path, "PRAGMA user_version = 9", false);
    cr_assert_eq(cm_scene_db_list(path, keep, NULL, &error), CAROM_ERROR_VERSION);
    cr_assert_not_null(strstr(error.message, "schema is 9, expected at most 3"), "%s",
                       error.message);
    recording_edit(path, "PRAGMA user_version = 3; PRAGMA application_id = 77", false);
    cr_assert_eq(cm_scene_db_list(path, keep, NULL, &error), CAROM_ERROR_CORRUPT);
    cr_assert_not_null(strstr(error.message, "another application"), "%s", error.message);
}

// Holds the catalogue until it is told, or gives up on whoever waits for it.
typedef struct holder {
    const char *path;
    sem_t held, tried;
} holder;

static void *hold(void *context)
{
    holder *h = context;
    sqlite3 *db;
    struct timespec until;
    bool holds = sqlite3_open(h->path, &db) == SQLITE_OK &&
                 sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK;
    sem_post(&h->held);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 4; // less than a reader waits who waits
    (void)sem_timedwait(&h->tried, &until);
    sqlite3_close(db);
    return holds ? h : NULL;
}

// Seen: 'carom admin open' beside a catalogue that another process held, and every room of that
// worker stood still for five seconds.
Test(scene_db, who_tries_waits_for_nobody)
{
    holder h;
    pthread_t thread;
    void *held;
    cm_scene *scene;
    snprintf(path, sizeof path, "%s/held.db", recording_folder);
    h.path = path;
    save("one", "tests/scenes/hello.json");
    sem_init(&h.held, 0, 0);
    sem_init(&h.tried, 0, 0);
    cr_assert_eq(pthread_create(&thread, NULL, hold, &h), 0);
    sem_wait(&h.held);
    carom_result result = cm_scene_db_try(path, "one", &scene, &error);
    sem_post(&h.tried);
    pthread_join(thread, &held);
    cr_assert_not_null(held);
    cr_assert_eq(result, CAROM_ERROR_IO);
    cr_assert_not_null(strstr(error.message, "locked by"), "%s", error.message);
    cr_assert_eq(cm_scene_db_try(path, "one", &scene, &error), CAROM_OK, "%s", error.message);
    cm_scene_free(scene);
}
