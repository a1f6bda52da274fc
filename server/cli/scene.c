// `carom scene`: import, export, list, show, delete and validate scenes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/cli/cli.h"
#include "server/cli/load.h"
#include "server/config/room_spec.h"
#include "server/node/module_loader.h"
#include "server/ops/log.h"
#include "server/tools/offline/offline.h"
#include "server/record/catalogue/room_db.h"
#include "server/record/catalogue/scene_db.h"
#include "server/replicate/snapshot.h"
#include "shared/base/utf8.h"
#include "shared/wire/control.h"
#include "shared/scene/scene_json.h"

#define FILES_MAX 256u // that one command validates

static int refuse(const char *db, carom_result result, const cm_scene_error *error)
{
    cm_cli_scene_error(db, error);
    return result == CAROM_ERROR_IO ? CM_STATUS_FAILED : CM_STATUS_USAGE;
}

// A valid scene can still name a missing module, or be too large for this machine: making its world
// finds that. Players can join only if a keyframe fits: this checks the world's first state, and
// that of its first tick, which has its contacts.
static int try_keyframe(const char *file, cm_offline *run)
{
    size_t first = carom_world_encode_size(run->world);
    if (first > CM_CONTROL_KEYFRAME_MAX) {
        return cm_cli_usage(
            "%s: the world takes %zu MiB as a keyframe, expected at most %u, or nobody could "
            "join",
            file, first >> 20, CM_CONTROL_KEYFRAME_MAX >> 20);
    }
    cm_offline_step(run);
    size_t then = carom_world_encode_size(run->world);
    if (then > CM_CONTROL_KEYFRAME_MAX) {
        cm_cli_error("%s: warning: with its contacts the world takes %zu MiB as a keyframe, and at "
                     "most %u let anybody join",
                     file, then >> 20, CM_CONTROL_KEYFRAME_MAX >> 20);
    }
    return CM_STATUS_DONE;
}

static void warn_overlaps(const char *file, const char *db, const cm_offline *run)
{
    cm_scene_error warning;
    if (cm_scene_overlaps(run->scene, run->world, &warning) > 0) {
        if (db == NULL) {
            cm_scene_find_lines_in(file, &warning, 1);
        }
        cm_cli_scene_warnings(file, &warning, 1);
    }
}

static int try_world(const char *file, const char *db, const cm_scene *scene, uint64_t *hash)
{
    cm_offline run;
    carom_result result = cm_offline_create(scene, NULL, &run);
    if (result == CAROM_ERROR_NOT_FOUND) {
        cm_cli_module_error(file, db, scene);
    } else if (result != CAROM_OK) {
        cm_cli_error("%s: the world cannot be made: %s", file, carom_result_text(result));
    } else if (hash != NULL) {
        *hash = cm_offline_hash(&run);
    }
    if (result == CAROM_OK) {
        warn_overlaps(file, db, &run);
        cm_cli_warn_loads(file, db, CM_SOLVER_OF_SCENE, scene, run.world);
    }
    int status = result == CAROM_OK ? try_keyframe(file, &run) : CM_STATUS_USAGE;
    cm_offline_destroy(&run);
    return status;
}

static int load_and_try(const char *file, cm_scene **scene)
{
    int status = cm_cli_load_scene(file, NULL, CM_SOLVER_OF_SCENE, scene);
    return status == CM_STATUS_DONE ? try_world(file, NULL, *scene, NULL) : status;
}

static int run_import(const char *file, const char *db, const char *name)
{
    cm_scene *scene = NULL;
    cm_scene_error error;
    int status = load_and_try(file, &scene);
    if (status == CM_STATUS_DONE) {
        name = name != NULL ? name : cm_scene_name(scene);
        if (name[0] == '\0' || !cm_utf8_is_name(name, CM_NAME_MAX - 1)) {
            error = (cm_scene_error){.path = "$.name"};
            snprintf(error.message, sizeof error.message,
                     "no name of 1 to %u printable bytes, expected one, or --name NAME",
                     CM_NAME_MAX - 1);
            cm_cli_scene_error_at(file, NULL, &error);
            status = CM_STATUS_USAGE;
        } else {
            carom_result result = cm_scene_db_save(db, name, scene, (int64_t)time(NULL), &error);
            status = result == CAROM_OK ? CM_STATUS_DONE : refuse(db, result, &error);
        }
    }
    if (status == CM_STATUS_DONE) {
        char shown[4 * CM_NAME_MAX];
        cm_utf8_printable(name, shown, sizeof shown);
        printf("imported %s: %u bodies, %zu bytes\n", shown, (unsigned)cm_scene_body_count(scene),
               cm_scene_packed_size(scene));
    }
    cm_scene_free(scene);
    return status;
}

static int run_pack(const char *file, const char *out)
{
    cm_scene *scene = NULL;
    int status = load_and_try(file, &scene);
    if (status == CM_STATUS_DONE) {
        size_t size = cm_scene_packed_size(scene);
        uint8_t *bytes = malloc(size);
        FILE *to = bytes != NULL ? fopen(out, "wb") : NULL;
        if (bytes != NULL) {
            cm_scene_pack(scene, bytes);
        }
        bool written = to != NULL && fwrite(bytes, 1, size, to) == size;
        written = to != NULL && fclose(to) == 0 && written;
        status = written ? CM_STATUS_DONE : cm_cli_failed("%s: cannot be written", out);
        free(bytes);
    }
    cm_scene_free(scene);
    return status;
}

// Reports an error in the use of a valid scene, at `path` of the text.
static int refuse_at(const char *file, const char *text, size_t size, const char *path,
                     const char *message)
{
    cm_scene_error error = {0};
    snprintf(error.path, sizeof error.path, "%s", path);
    snprintf(error.message, sizeof error.message, "%s", message);
    cm_scene_find_lines(text, size, &error, 1);
    cm_cli_scene_error(file, &error);
    return CM_STATUS_USAGE;
}

// A valid scene can still name a module that is not there, or have bounds that no view can hold.
static int try_use(const char *file, const char *text, size_t size, const cm_scene *scene)
{
    cm_view_config config;
    char message[256];
    if (cm_module_find(cm_scene_module(scene)) == NULL) {
        snprintf(message, sizeof message, CM_NO_MODULE, cm_scene_module(scene));
        return refuse_at(file, text, size, "$.module", message);
    }
    if (!cm_game_takes_config(scene, cm_module_find(cm_scene_module(scene)), message,
                              sizeof message)) {
        return refuse_at(file, text, size, "$.module_config", message);
    }
    if (cm_snapshot_config(scene, &config, message, sizeof message) != CAROM_OK) {
        const char *said = strstr(message, "from ");
        return refuse_at(file, text, size, "$.bounds", said != NULL ? said : message);
    }
    return try_world(file, NULL, scene, NULL);
}

// Prints what is wrong with a text: every error, or the warnings.
static int validate_text(const char *file, const char *text, size_t size, cm_scene_error *errors)
{
    cm_scene *scene = NULL;
    uint32_t count = CM_SCENE_ERRORS_MAX;
    if (cm_scene_validate(text, size, &scene, errors, &count) != CAROM_OK) {
        for (uint32_t i = 0; i < count; i++) {
            cm_cli_scene_error(file, &errors[i]);
        }
        return CM_STATUS_USAGE;
    }
    count = cm_scene_warnings(scene, CM_SOLVER_OF_SCENE, errors, CM_SCENE_WARNINGS_MAX);
    cm_scene_find_lines(text, size, errors, count);
    cm_cli_scene_warnings(file, errors, count);
    int status = try_use(file, text, size, scene);
    cm_scene_free(scene);
    return status;
}

static int run_validate(const char *const *files, uint32_t count)
{
    int status = CM_STATUS_DONE;
    cm_scene_error *errors = calloc(CM_SCENE_ERRORS_MAX, sizeof *errors);
    for (uint32_t i = 0; i < count && errors != NULL; i++) {
        size_t size = 0;
        char *text = cm_scene_read_file(files[i], CM_SCENE_JSON_MAX, &size, &errors[0]);
        if (text == NULL) {
            cm_cli_scene_error(files[i], &errors[0]);
            status = CM_STATUS_USAGE;
        } else if (validate_text(files[i], text, size, errors) != CM_STATUS_DONE) {
            status = CM_STATUS_USAGE;
        }
        free(text);
    }
    free(errors);
    return errors != NULL ? status : CM_STATUS_FAILED;
}

static int run_export(const char *name, const char *db)
{
    cm_scene *scene = NULL;
    int status = cm_cli_load_scene(name, db, CM_SOLVER_OF_SCENE, &scene);
    if (status == CM_STATUS_DONE) {
        char *text = cm_scene_to_json(scene);
        if (text == NULL) {
            status = cm_cli_failed("scene: out of memory");
        } else {
            fputs(text, stdout);
        }
        free(text);
    }
    cm_scene_free(scene);
    return status;
}

static int run_show(const char *name, const char *db)
{
    cm_scene *scene = NULL;
    uint64_t hash = 0;
    int status = cm_cli_load_scene(name, db, CM_SOLVER_OF_SCENE, &scene);
    if (status == CM_STATUS_DONE) {
        status = try_world(name, db, scene, &hash);
    }
    if (status == CM_STATUS_DONE) {
        char quoted[6 * CM_NAME_MAX + 3], module[6 * CM_NAME_MAX + 3];
        carom_world_def def;
        carom_vec3 low, high;
        cm_scene_world_def(scene, &def);
        cm_scene_bounds(scene, &low, &high);
        cm_json_quote(name, quoted, sizeof quoted);
        cm_json_quote(cm_scene_module(scene), module, sizeof module);
        printf("{\"name\": %s, \"bodies\": %u, \"tick_rate\": %u, \"module\": %s, \"limits\": "
               "{\"bodies\": %u, \"shapes\": %u, \"joints\": %u, \"contacts\": %u}, \"bounds\": "
               "[[%.9g, %.9g, %.9g], [%.9g, %.9g, %.9g]], \"world_bytes\": %zu, \"hash\": "
               "\"%016llx\"}\n",
               quoted, (unsigned)cm_scene_body_count(scene), (unsigned)def.tick_rate, module,
               (unsigned)def.limits.bodies, (unsigned)def.limits.shapes,
               (unsigned)def.limits.joints, (unsigned)def.limits.contacts, (double)low.x,
               (double)low.y, (double)low.z, (double)high.x, (double)high.y, (double)high.z,
               carom_world_size(&def), (unsigned long long)hash);
    }
    cm_scene_free(scene);
    return status;
}

static bool print_row(void *context, const cm_scene_row *row)
{
    (void)context;
    char when[CM_LOG_TIME_MAX];
    cm_log_time((uint64_t)row->imported_at * 1000u, when);
    char name[4 * CM_NAME_MAX];
    cm_utf8_printable(row->name, name, sizeof name);
    printf("%s\t%u bodies\t%llu bytes\t%s\tversion %u\n", name, (unsigned)row->bodies,
           (unsigned long long)row->bytes, when, (unsigned)row->version);
    return !ferror(stdout);
}

static int run_list(const char *db)
{
    cm_scene_error error;
    carom_result result = cm_scene_db_list(db, print_row, NULL, &error);
    return result == CAROM_OK ? CM_STATUS_DONE : refuse(db, result, &error);
}

static int run_delete(const char *name, const char *db)
{
    cm_scene_error error;
    carom_result result = cm_scene_db_delete(db, name, &error);
    return result == CAROM_OK ? CM_STATUS_DONE : refuse(db, result, &error);
}

static bool print_room(void *context, const cm_room_row *room)
{
    (void)context;
    char name[4 * CM_NAME_MAX], scene[4 * CM_ROOM_SPEC_MAX];
    cm_utf8_printable(room->name, name, sizeof name);
    cm_utf8_printable(room->spec, scene, sizeof scene);
    printf("%s\t%s\n", name, scene);
    return !ferror(stdout);
}

static int add_room(const char *text, const char *db)
{
    static cm_room_list list; // large
    cm_room_row room;
    cm_scene_error error;
    char wrong[512] = "expected one room";
    if (!cm_room_list_add(&list, text, wrong, sizeof wrong) || list.count != 1) {
        return cm_cli_usage("scene rooms: --add: %s", wrong);
    }
    if (strlen(list.rooms[0].scene) >= sizeof room.scene ||
        strlen(strchr(text, '=') + 1) >= sizeof room.spec) {
        return cm_cli_usage(
            "scene rooms: --add: '%.40s', expected NAME=SCENE:KEY=NUMBER, each of 1 to %u "
            "bytes",
            text, CM_NAME_MAX - 1);
    }
    memcpy(room.name, list.rooms[0].name, sizeof list.rooms[0].name);
    strcpy(room.scene, list.rooms[0].scene);
    strcpy(room.spec, strchr(text, '=') + 1);
    carom_result result = cm_room_db_save(db, &room, &error);
    return result == CAROM_OK ? CM_STATUS_DONE : refuse(db, result, &error);
}

// The rooms that serve starts where no scene is named.
static int run_rooms(const char *add, const char *remove, const char *db)
{
    cm_scene_error error;
    if (add != NULL && remove != NULL) {
        return cm_cli_usage("scene rooms: expected --add or --remove, not both");
    }
    if (add != NULL) {
        return add_room(add, db);
    }
    carom_result result = remove != NULL ? cm_room_db_delete(db, remove, &error)
                                         : cm_room_db_list(db, print_room, NULL, &error);
    return result == CAROM_OK ? CM_STATUS_DONE : refuse(db, result, &error);
}

static int run_command(int argc, char **argv)
{
    const char *db = CM_CATALOGUE_DEFAULT, *name = NULL, *add = NULL, *remove = NULL, *out = NULL;
    cm_option_texts modules = {.count = 0};
    const cm_option options[] = {
        {"add", CM_OPTION_TEXT, &add, 0, 0, NULL, NULL},
        {"remove", CM_OPTION_TEXT, &remove, 0, 0, NULL, NULL},
        {"module", CM_OPTION_TEXTS, &modules, 0, 0, NULL, NULL},
        {"db", CM_OPTION_TEXT, &db, 0, 0, NULL, NULL},
        {"name", CM_OPTION_TEXT, &name, 0, 0, NULL, NULL},
        {"out", CM_OPTION_TEXT, &out, 0, 0, NULL, NULL},
    };
    const char *words[1 + FILES_MAX] = {NULL};
    uint32_t count = 0;
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], words,
                                1 + FILES_MAX, &count);
    status = status == CM_STATUS_DONE ? cm_cli_load_modules(&modules) : status;
    if (status != CM_STATUS_DONE) {
        return status;
    }
    const char *verb = count > 0 ? words[0] : "";
    bool rooms = strcmp(verb, "rooms") == 0;
    bool wants_word = strcmp(verb, "list") != 0 && !rooms,
         validates = strcmp(verb, "validate") == 0;
    if (count == 0 || (validates ? count < 2 : wants_word != (count == 2))) {
        return cm_cli_usage(
            "scene: expected import FILE, export NAME, list, show NAME, delete NAME, "
            "pack FILE, rooms or validate FILE...");
    }
    if ((out != NULL) != (strcmp(verb, "pack") == 0)) {
        return cm_cli_usage("scene: --out: with pack, and only with it");
    }
    if (name != NULL && strcmp(verb, "import") != 0) {
        return cm_cli_usage("scene: --name: only with import");
    }
    if ((add != NULL || remove != NULL) && !rooms) {
        return cm_cli_usage("scene: --%s: only with rooms", add != NULL ? "add" : "remove");
    }
    if (rooms) {
        return cm_cli_finish(run_rooms(add, remove, db));
    }
    if (strcmp(verb, "import") == 0) {
        return cm_cli_finish(run_import(words[1], db, name));
    }
    if (out != NULL) {
        return cm_cli_finish(run_pack(words[1], out));
    }
    if (strcmp(verb, "export") == 0) {
        return cm_cli_finish(run_export(words[1], db));
    }
    if (strcmp(verb, "list") == 0) {
        return cm_cli_finish(run_list(db));
    }
    if (strcmp(verb, "show") == 0) {
        return cm_cli_finish(run_show(words[1], db));
    }
    if (strcmp(verb, "delete") == 0) {
        return cm_cli_finish(run_delete(words[1], db));
    }
    if (validates) {
        return cm_cli_finish(run_validate(words + 1, count - 1));
    }
    return cm_cli_usage(
        "scene: unknown '%s', expected import, export, list, show, delete, pack, rooms or validate",
        verb);
}

const cm_command cm_scene_command = {
    "scene", run_command,
    "imports, exports, lists and checks scenes\n"
    "usage: carom scene import FILE|export NAME|list|validate FILE...|show NAME|delete NAME\n"
    "                   |pack FILE --out FILE\n"
    "                   [--db FILE] [--module FILE.so]\n"
    "       carom scene rooms [--add NAME=SCENE[:KEY=NUMBER...]|--remove NAME] [--db FILE]\n"
    "\n"
    "  import FILE    checks a scene file and keeps it under its name (or --name NAME);\n"
    "                 another scene under a known name is its next version\n"
    "  export NAME    prints a kept scene as JSON; it imports to the same world, hash for hash\n"
    "  list           one line for each kept scene: name, bodies, bytes, time of import\n"
    "  show NAME      one JSON object: counts, limits, module, hash of tick 0\n"
    "  delete NAME    forgets a scene, all its versions\n"
    "  pack FILE      checks a scene file and writes it as bytes, for a game without a server\n"
    "                 (carom_local_create of client_more.h)\n"
    "  rooms          one line for each room to start: its name, its scene's; --add and --remove\n"
    "                 change them, with numbers as serve's --room has them. serve starts such\n"
    "                 a room where no scene is named\n"
    "  validate FILE  checks scene files (- is standard input) and prints nothing but what is\n"
    "                 wrong with them: every error and warning that it can find\n"
    "  --module       a game module that scenes may name; may be repeated\n"
    "  --db FILE      catalogue of scenes and rooms (" CM_CATALOGUE_DEFAULT ")\n",
    NULL};
