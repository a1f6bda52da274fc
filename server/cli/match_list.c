// Files beside the index. Each file is hashed whole, which takes less time than checking its rows,
// so that 'yes' means: these very bytes. An index entry is not trusted without reading its file,
// and a file without an entry is never removed.
#include "server/cli/match_list.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/record/format/proof.h"
#include "server/cli/cli.h"
#include "shared/scene/scene_json.h"
#include "shared/base/array.h"

typedef enum index_state {
    INDEX_NO,         // it has no such file
    INDEX_YES,        // the file is as it was indexed
    INDEX_CHANGED,    // it is not
    INDEX_LIVE,       // a server holds it
    INDEX_UNFINISHED, // its server never ended it
} index_state;

static const char *const state_names[] = {"no", "yes", "changed", "live", "unfinished"};

// A file of the directory.
typedef struct match_row {
    char path[512];
    uint64_t started_unix_ms, match_id;
    index_state state;
} match_row;

typedef struct matches {
    const char *command, *directory, *db;
    char whole[CM_INDEX_FILE_MAX]; // the directory, as the index names it
    match_row *rows;
    uint32_t count, capacity;
    cm_match_entry *entries; // by id
    bool *seen;              // of each: its file is in the directory
    uint32_t entry_count, entry_capacity;
} matches;

// Reading -------------------------------------------------------------------------------------

static bool is_match_name(const char *name)
{
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, ".match") == 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const match_row *)a)->path, ((const match_row *)b)->path);
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = ((const match_row *)a)->started_unix_ms;
    uint64_t y = ((const match_row *)b)->started_unix_ms;
    return x != y ? (x < y ? 1 : -1) : by_path(a, b);
}

static bool add_row(matches *all, const char *name)
{
    if (!cm_array_reserve(&all->rows, &all->capacity, all->count + 1, sizeof *all->rows)) {
        return false;
    }
    match_row *row = &all->rows[all->count];
    memset(row, 0, sizeof *row);
    if (snprintf(row->path, sizeof row->path, "%s/%s", all->directory, name) <
        (int)sizeof row->path) {
        all->count++;
    }
    return true;
}

// Every *.match of the directory, in order of their names. False after a message.
static bool scan(matches *all)
{
    DIR *open = opendir(all->directory);
    if (open == NULL) {
        cm_cli_error("match %s: %s: not a directory that can be read", all->command,
                     all->directory);
        return false;
    }
    bool whole = true;
    for (const struct dirent *entry = readdir(open); whole && entry != NULL;
         entry = readdir(open)) {
        whole = !is_match_name(entry->d_name) || add_row(all, entry->d_name);
    }
    closedir(open);
    if (all->count > 0) {
        qsort(all->rows, all->count, sizeof all->rows[0], by_path);
    }
    cm_match_index_directory(all->directory, all->whole);
    return whole;
}

static bool take_entry(void *context, const cm_match_entry *entry)
{
    matches *all = context;
    if (!cm_array_reserve(&all->entries, &all->entry_capacity, all->entry_count + 1,
                          sizeof *all->entries)) {
        return false;
    }
    all->entries[all->entry_count++] = *entry;
    return true;
}

// The index, empty where there is no database and none was named. False after a message.
static bool read_index(matches *all, bool is_named, int *status)
{
    cm_scene_error error;
    carom_result result = cm_match_index_list(all->db, take_entry, all, &error);
    bool none = result == CAROM_ERROR_NOT_FOUND && !is_named;
    if (result != CAROM_OK && !none) {
        cm_cli_scene_error(all->db, &error);
        *status = result == CAROM_ERROR_IO ? CM_STATUS_FAILED : CM_STATUS_USAGE;
        return false;
    }
    all->seen = calloc(all->entry_count + 1, sizeof *all->seen);
    return all->seen != NULL;
}

static int begin(matches *all, bool is_named)
{
    int status = CM_STATUS_USAGE;
    return scan(all) && read_index(all, is_named, &status) ? CM_STATUS_DONE : status;
}

static void finish(matches *all)
{
    free(all->rows);
    free(all->entries);
    free(all->seen);
}

// States --------------------------------------------------------------------------------------

// The entry of a file by its name, marked as seen; NULL for none.
static const cm_match_entry *entry_of(matches *all, const match_row *row)
{
    const char *name = row->path + strlen(all->directory) + 1;
    for (size_t i = 0; i < all->entry_count; i++) {
        if (strcmp(all->entries[i].file, name) == 0) {
            all->seen[i] = true;
            return &all->entries[i];
        }
    }
    return NULL;
}

static index_state state_of(const match_row *row, const cm_match_entry *entry, uint64_t match_id,
                            bool is_ended)
{
    char hash[CM_INDEX_HASH_TEXT];
    cm_match_error error;
    if (entry == NULL || (!entry->is_ended && is_ended)) { // the index was locked when it ended
        return INDEX_NO;
    }
    if (!entry->is_ended) {
        return INDEX_UNFINISHED;
    }
    bool same = entry->match_id == match_id &&
                cm_match_file_hash(row->path, hash, &error) == CAROM_OK &&
                strcmp(hash, entry->file_hash) == 0;
    return same ? INDEX_YES : INDEX_CHANGED;
}

static void print_end(const match_row *row, const cm_match_entry *entry)
{
    char path[6 * sizeof row->path + 3];
    cm_json_quote(row->path, path, sizeof path);
    printf(", \"path\": %s, \"index\": \"%s\"", path, state_names[row->state]);
    if (entry != NULL && entry->is_ended) {
        printf(", \"chain\": \"%s\", \"file_hash\": \"%s\"", entry->chain, entry->file_hash);
    }
    printf("}\n");
}

// Prints the index's entry alone, for a file that cannot be read, or that is gone.
static void print_entry(const cm_match_entry *entry)
{
    char scene[6 * CM_NAME_MAX + 3], module[6 * sizeof entry->module + 3];
    cm_json_quote(entry->scene, scene, sizeof scene);
    cm_json_quote(entry->module, module, sizeof module);
    printf("{\"match_id\": \"%016" PRIx64 "\", \"scene\": %s, \"module\": %s, "
           "\"module_version\": %u, \"engine_version\": %u, \"started_unix_ms\": %" PRIu64
           ", \"tick_rate\": %u",
           entry->match_id, scene, module, entry->module_version, entry->engine_version,
           entry->started_unix_ms, entry->tick_rate);
    if (entry->is_ended) {
        printf(", \"ticks\": %" PRIu64 ", \"end\": \"%s\"", entry->ticks, entry->end);
    }
}

// A file that does not open: its server holds it, or it has a fault, which is printed.
static void look_closed(match_row *row, const cm_match_entry *entry, carom_result result,
                        const cm_match_error *error, bool print)
{
    bool held = result == CAROM_ERROR_IO && strncmp(error->message, "held by", 7) == 0;
    if (held && entry != NULL && !entry->is_ended) {
        row->state = INDEX_LIVE;
        if (print) {
            print_entry(entry);
            print_end(row, entry);
        }
        return;
    }
    row->state = entry != NULL ? INDEX_CHANGED : INDEX_NO;
    cm_cli_error("%s: %s%s", row->path, error->message,
                 entry != NULL ? "; the index has it otherwise" : "");
}

// Finds out about a file; prints its line where `print`.
static void look(matches *all, match_row *row, bool print)
{
    cm_match_file *file;
    cm_match_error error;
    cm_match_info about;
    const cm_match_entry *entry = entry_of(all, row);
    carom_result result = cm_match_open(row->path, &file, &error);
    if (result != CAROM_OK) {
        look_closed(row, entry, result, &error, print);
        return;
    }
    cm_match_info_get(file, &about);
    row->started_unix_ms = about.started_unix_ms;
    row->match_id = about.match_id;
    row->state = state_of(row, entry, about.match_id, about.end != CM_MATCH_LIVE);
    if (print) {
        cm_match_print_info(file);
        print_end(row, entry);
    }
    cm_match_close(file);
    if (row->state == INDEX_CHANGED) {
        cm_cli_error("%s: changed since it was indexed: its bytes are not those that its server "
                     "left; 'carom replay --verify' says whether its contents are",
                     row->path);
    }
}

// List ----------------------------------------------------------------------------------------

// A row of this directory whose file is gone: not one that came after the directory was read.
static bool is_missing(const matches *all, size_t at)
{
    char name[512];
    const cm_match_entry *entry = &all->entries[at];
    snprintf(name, sizeof name, "%.250s/%.250s", all->directory, entry->file);
    return !all->seen[at] && strcmp(entry->directory, all->whole) == 0 && access(name, F_OK) != 0;
}

static void print_missing(const matches *all)
{
    for (size_t i = 0; i < all->entry_count; i++) {
        const cm_match_entry *entry = &all->entries[i];
        if (is_missing(all, i)) {
            char name[512], path[6 * sizeof name + 3];
            snprintf(name, sizeof name, "%.250s/%.250s", all->directory, entry->file);
            cm_json_quote(name, path, sizeof path);
            print_entry(entry);
            printf(", \"path\": %s, \"index\": \"missing\"}\n", path);
        }
    }
}

// Takes a file into the index that proves itself, and has an end.
static int add(const matches *all, const match_row *row)
{
    cm_match_file *file = NULL;
    cm_match_error error = {0};
    cm_match_entry entry;
    cm_proof proof = {0};
    for (size_t i = 0; i < all->entry_count; i++) {
        const char *name = row->path + strlen(all->directory) + 1;
        bool begun = !all->entries[i].is_ended && strcmp(all->entries[i].file, name) == 0;
        if (all->entries[i].match_id == row->match_id && !begun) {
            return cm_cli_failed("%s: not added: the index has this match as %s", row->path,
                                 all->entries[i].file);
        }
    }
    carom_result result = cm_match_open(row->path, &file, &error);
    result = result == CAROM_OK ? cm_match_prove(file, NULL, &proof, &error) : result;
    cm_match_close(file);
    if (result == CAROM_OK && (proof.verdict != CM_PROOF_CONSISTENT || !proof.complete)) {
        return cm_cli_failed("%s: not added: %s", row->path,
                             proof.verdict == CM_PROOF_CHANGED ? proof.changed : "it has no end");
    }
    result = result == CAROM_OK ? cm_match_entry_read(&entry, row->path, &error) : result;
    if (result != CAROM_OK) {
        return cm_cli_failed("%s: not added: %s", row->path, error.message);
    }
    cm_scene_error wrong;
    if (cm_match_index_put(all->db, &entry, &wrong) != CAROM_OK) {
        cm_cli_scene_error(all->db, &wrong);
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

int cm_match_list(int argc, char **argv)
{
    matches all = {.command = "list", .directory = "matches", .db = CM_CATALOGUE_DEFAULT};
    bool adding = false, is_named = false;
    const cm_option options[] = {
        {.name = "matches", .kind = CM_OPTION_TEXT, .value = &all.directory},
        {.name = "db", .kind = CM_OPTION_TEXT, .value = &all.db, .given = &is_named},
        {.name = "add", .kind = CM_OPTION_FLAG, .value = &adding},
    };
    int status = cm_cli_options(argc, argv, options, 3, NULL, 0, NULL);
    if (status == CM_STATUS_DONE) {
        status = begin(&all, is_named && !adding);
    }
    if (status == CM_STATUS_DONE) {
        for (size_t i = 0; i < all.count; i++) {
            look(&all, &all.rows[i], true); // a refused one is reported, and the others go on
        }
        print_missing(&all);
        for (size_t i = 0; adding && i < all.count; i++) {
            if (all.rows[i].state == INDEX_NO && all.rows[i].match_id != 0 &&
                add(&all, &all.rows[i]) != CM_STATUS_DONE) {
                status = CM_STATUS_FAILED;
            }
        }
        status = cm_cli_finish(status);
    }
    finish(&all);
    return status;
}

// Prune ---------------------------------------------------------------------------------------

static bool forget(const matches *all, uint64_t match_id)
{
    cm_scene_error error;
    if (cm_match_index_remove(all->db, match_id, &error) == CAROM_OK) {
        return true;
    }
    cm_cli_scene_error(all->db, &error);
    return false;
}

// Removes those that are as they were indexed and beyond `keep`, or older than `before_ms`.
static int remove_rows(const matches *all, int64_t keep, uint64_t before_ms, bool dry_run)
{
    int status = CM_STATUS_DONE;
    size_t good = 0;
    for (size_t i = 0; i < all->count; i++) {
        const match_row *row = &all->rows[i];
        if (row->state != INDEX_YES) {
            continue;
        }
        good++;
        if (good <= (size_t)keep && row->started_unix_ms >= before_ms) {
            continue;
        }
        if (!dry_run && unlink(row->path) != 0) {
            status = cm_cli_failed("%s: cannot be removed", row->path);
            continue;
        }
        printf("%s\n", row->path);
        if (!dry_run && !forget(all, row->match_id)) {
            status = CM_STATUS_FAILED;
        }
    }
    return status;
}

// Rows whose files are gone go too; what stays because the index lacks it is counted.
static void settle(const matches *all, bool dry_run)
{
    size_t unknown = 0;
    for (size_t i = 0; i < all->entry_count; i++) {
        if (!dry_run && is_missing(all, i)) {
            (void)forget(all, all->entries[i].match_id);
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        unknown += all->rows[i].state == INDEX_NO;
    }
    if (unknown > 0) {
        cm_cli_error("match prune: %zu of %u files stay, since the index of %s does not have them "
                     "('carom match list --add' takes them in)",
                     unknown, all->count, all->db);
    }
}

int cm_match_prune(int argc, char **argv)
{
    matches all = {.command = "prune", .directory = "matches", .db = CM_CATALOGUE_DEFAULT};
    int64_t keep = INT64_MAX, days = 0;
    bool has_keep = false, has_days = false, dry_run = false, is_named = false;
    const cm_option options[] = {
        {.name = "matches", .kind = CM_OPTION_TEXT, .value = &all.directory},
        {.name = "db", .kind = CM_OPTION_TEXT, .value = &all.db, .given = &is_named},
        {"keep", CM_OPTION_INT, &keep, 0, 1e9, NULL, &has_keep},
        {"older-than", CM_OPTION_INT, &days, 0, 36500, NULL, &has_days},
        {.name = "dry-run", .kind = CM_OPTION_FLAG, .value = &dry_run},
    };
    int status = cm_cli_options(argc, argv, options, 5, NULL, 0, NULL);
    if (status == CM_STATUS_DONE && !has_keep && !has_days) {
        status = cm_cli_usage("match prune: expected --keep COUNT, --older-than DAYS, or both");
    }
    status = status == CM_STATUS_DONE ? begin(&all, is_named) : status;
    if (status == CM_STATUS_DONE) {
        for (size_t i = 0; i < all.count; i++) {
            look(&all, &all.rows[i], false);
        }
        if (all.count > 0) {
            qsort(all.rows, all.count, sizeof all.rows[0], newest_first);
        }
        uint64_t now_ms = (uint64_t)time(NULL) * 1000u, span = (uint64_t)days * 86400000u;
        uint64_t before_ms = has_days && now_ms > span ? now_ms - span : 0;
        status = remove_rows(&all, keep, before_ms, dry_run);
        settle(&all, dry_run);
        status = cm_cli_finish(status);
    }
    finish(&all);
    return status;
}

// One file ------------------------------------------------------------------------------------

typedef struct sought {
    const cm_match_entry *now;
    const char *path;
    cm_match_entry *entry;
    bool is_found;
} sought;

// The entry's own file is still where it was, and is another one.
static bool is_copy(const char *path, const cm_match_entry *entry)
{
    char name[2 * CM_INDEX_FILE_MAX];
    struct stat told, own;
    snprintf(name, sizeof name, "%s/%s", entry->directory, entry->file);
    return stat(name, &told) == 0 && stat(path, &own) == 0 &&
           (told.st_dev != own.st_dev || told.st_ino != own.st_ino);
}

static bool find_entry(void *context, const cm_match_entry *entry)
{
    sought *s = context;
    if (entry->match_id == s->now->match_id && strcmp(entry->file_hash, s->now->file_hash) == 0 &&
        !is_copy(s->path, entry)) {
        *s->entry = *entry;
        s->is_found = true;
    }
    return !s->is_found;
}

bool cm_match_is_indexed(const char *db, const char *path, cm_match_entry *entry)
{
    cm_match_entry now;
    cm_match_error error;
    cm_scene_error ignored;
    sought s = {.now = &now, .path = path, .entry = entry};
    return cm_match_entry_read(&now, path, &error) == CAROM_OK &&
           cm_match_index_list(db, find_entry, &s, &ignored) == CAROM_OK && s.is_found;
}

bool cm_match_index_again(const char *db, const char *path, const cm_match_entry *entry)
{
    cm_match_entry now;
    cm_match_error error;
    cm_scene_error wrong;
    if (cm_match_entry_read(&now, path, &error) != CAROM_OK) {
        cm_cli_error("%s: %s", path, error.message);
        return false;
    }
    memcpy(now.file, entry->file, sizeof now.file);
    memcpy(now.directory, entry->directory, sizeof now.directory);
    if (cm_match_index_put(db, &now, &wrong) != CAROM_OK) {
        cm_cli_scene_error(db, &wrong);
        return false;
    }
    return true;
}
