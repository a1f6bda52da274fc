// Refused scenes. Goal: each class of error in a scene file gives line, path and what was expected,
// and status 2 from the binary. Method: tests/scenes/bad holds one scene for each class, and beside
// it NAME.expect: "LINE PATH" (PATH - where the text is no JSON), then a part of the message.
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "shared/scene/scene_json.h"

#define FOLDER "tests/scenes/bad"

typedef struct expectation {
    char file[512];
    unsigned line;
    char path[160];
    char message[320];
} expectation;

static void read_expectation(const char *name, expectation *e)
{
    char path[512];
    snprintf(e->file, sizeof e->file, FOLDER "/%s.json", name);
    snprintf(path, sizeof path, FOLDER "/%s.expect", name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is missing", path);
    cr_assert_eq(fscanf(file, "%u %159s ", &e->line, e->path), 2, "%s", path);
    cr_assert_not_null(fgets(e->message, sizeof e->message, file), "%s", path);
    e->message[strcspn(e->message, "\n")] = '\0';
    fclose(file);
}

// Calls `check` for each scene of the folder; returns how many.
static unsigned for_each(void (*check)(const expectation *e))
{
    unsigned count = 0;
    DIR *folder = opendir(FOLDER);
    cr_assert_not_null(folder, FOLDER ": run the tests from the root of the repository");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[256];
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(length - 5), entry->d_name);
        expectation e;
        read_expectation(name, &e);
        check(&e);
        count++;
    }
    closedir(folder);
    return count;
}

static void check_error(const expectation *e)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_expect_neq(cm_scene_from_file(e->file, &scene, &error), CAROM_OK, "%s", e->file);
    cr_expect_null(scene);
    cr_expect_eq(error.line, e->line, "%s: line %u, expected %u", e->file, error.line, e->line);
    if (strcmp(e->path, "-") != 0) {
        cr_expect_str_eq(error.path, e->path, "%s", e->file);
    }
    cr_expect_not_null(strstr(error.message, e->message), "%s: '%s' lacks '%s'", e->file,
                       error.message, e->message);
    bool says_expected = strstr(error.message, "expected") != NULL;
    bool says_limit = strstr(error.message, "deeper than") != NULL;
    cr_expect(says_expected || says_limit, "%s: '%s' does not say what was expected", e->file,
              error.message);
}

static void check_binary(const expectation *e)
{
    const char *binary = getenv("CAROM_BINARY");
    char command[1200], line[2048] = "", start[700];
    snprintf(command, sizeof command, "%s scene validate %s 2>&1 >/dev/null",
             binary != NULL ? binary : "build/release/carom", e->file);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    cr_expect_not_null(fgets(line, sizeof line, pipe), "%s: nothing on stderr", e->file);
    cr_expect_eq(fgetc(pipe), EOF, "%s: more than one line", e->file);
    int status = pclose(pipe);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%s: status %d", e->file, status);
    snprintf(start, sizeof start, "carom: %s:%u:", e->file, e->line);
    cr_expect_eq(strncmp(line, start, strlen(start)), 0, "%s, expected %s…", line, start);
}

Test(scene_bad, line_path_and_message)
{
    cr_assert_geq(for_each(check_error), 80u);
}

Test(scene_bad, binary_refuses_with_status_2)
{
    cr_assert_geq(for_each(check_binary), 80u);
}

// Every prefix of a good scene is refused or a scene, never a crash; nor is any single byte
// changed.
Test(scene_bad, cut_and_flipped_text)
{
    size_t size;
    cm_scene_error error;
    char *text = cm_scene_read_file("tests/scenes/shapes.json", CM_SCENE_JSON_MAX, &size, &error);
    cr_assert_not_null(text);
    cm_scene *scene;
    for (size_t cut = 0; cut < size; cut += 1 + cut / 100) {
        cr_expect_neq(cm_scene_from_json(text, cut, &scene, &error), CAROM_OK, "cut at %zu", cut);
    }
    unsigned refused = 0;
    uint32_t random = 1;
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = (random >> 8) % size;
        char old = text[at];
        text[at] = (char)(random >> 3);
        if (cm_scene_from_json(text, size, &scene, &error) != CAROM_OK) {
            refused++;
            cr_expect_neq(error.message[0], '\0');
        }
        cm_scene_free(scene);
        text[at] = old;
    }
    cr_assert_gt(refused, 1000u);
    free(text);
}

Test(scene_bad, unreadable_files)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_file("tests/scenes/none.json", &scene, &error), CAROM_ERROR_IO);
    cr_assert_eq(error.line, 0u);
    cr_assert_not_null(strstr(error.message, "No such file"));
    cr_assert_eq(cm_scene_from_file("tests/scenes", &scene, &error), CAROM_ERROR_IO);
}
