// Goal: whatever JSON comes, the reader refuses what is wrong with its path and line, once, and
// gives zeros after that. Method: a table of texts that one caller reads; texts above each limit.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"
#include "shared/scene/spelling.h"

#define SIZE_MAX_BYTES 100000u

#define KEYS           "name|mass|immovable|points|kind"

// {"name": text, "parts": [{…}]}, as a caller reads it.
static void read_all(cm_json_reader *in, const cm_json_value *root)
{
    uint32_t count;
    const cm_json_value *parts = cm_json_enter_array(in, root, "parts", &count);
    for (uint32_t i = 0; i < count; i++) {
        double points[3];
        const cm_json_value *part = cm_json_enter_item(in, parts, i);
        (void)cm_json_number(in, part, "mass", 0.0, 10.0, NULL);
        (void)cm_json_bool(in, part, "immovable", false);
        (void)cm_json_choice(in, part, "kind", "box|ball");
        cm_json_numbers(in, part, "points", 2, 3, true, points);
        cm_json_end_keys(in, part, KEYS, "see the manual");
        cm_json_leave(in);
    }
    cm_json_leave(in);
    cm_json_end_keys(in, root, "name|parts", "see the manual");
}

Test(json_reader, what_is_wrong_has_its_path_and_line)
{
    static const struct {
        const char *text, *path, *message;
        uint32_t line;
    } rows[] = {
        {"{\"parts\": [{\"mass\": 1}]}", "", "", 0},
        {"{\n\"parts\": [\n{\"mass\": \"1\"}]}", "$.parts[0].mass", "expected a finite number", 3},
        {"{\"parts\": [{\"mass\": 11}]}", "$.parts[0].mass", "out of range, expected 0 to 10", 1},
        {"{\"parts\": [{}]}", "$.parts[0]", "'mass' is missing", 1},
        {"{\"parts\": {}}", "$.parts", "expected an array", 1},
        {"{}", "$", "'parts' is missing", 1},
        {"{\"parts\": [{\"mass\": 1, \"immovable\": 0}]}", "$.parts[0].immovable",
         "expected true or false", 1},
        {"{\"parts\": [{\"mass\": 1, \"kind\": \"bal\"}]}", "$.parts[0].kind",
         "expected one of box|ball", 1},
        {"{\"parts\": [{\"mass\": 1, \"points\": [1]}]}", "$.parts[0].points",
         "expected an array of 2 to 3 numbers", 1},
        {"{\"parts\": [{\"mass\": 1},\n{\"mass\": 1, \"imovable\": true}]}", "$.parts[1].imovable",
         "unknown key, did you mean 'immovable'? (see the manual)", 2},
        {"{\"parts\": [], \"colour\": 1}", "$.colour", "unknown key, see the manual", 1},
        {"[]", "", "expected one object", 1},
        {"{\"parts\": [\n}", "", "expected JSON", 2},
        {"{\"parts\": [], \"parts\": []}", "", "duplicate", 1},
        {"", "", "expected JSON", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cm_json_reader in;
        cm_scene_error error;
        const char *text = rows[i].text;
        const cm_json_value *root = cm_json_open(&in, text, strlen(text), SIZE_MAX_BYTES, &error);
        if (root != NULL) {
            read_all(&in, root);
        }
        cr_expect_eq(cm_json_failed(&in), rows[i].line > 0, "%s", text);
        cr_expect_str_eq(error.path, rows[i].path, "%s: %s", text, error.path);
        cr_expect_not_null(strstr(error.message, rows[i].message), "%s: %s", text, error.message);
        cr_expect_eq(error.line, rows[i].line, "%s: line %u", text, error.line);
        cm_json_close(&in);
    }
}

static bool opens(const char *text, size_t size)
{
    cm_json_reader in;
    cm_scene_error error;
    bool good = cm_json_open(&in, text, size, SIZE_MAX_BYTES, &error) != NULL;
    cr_expect_eq(good, error.message[0] == '\0');
    cm_json_close(&in);
    return good;
}

Test(json_reader, its_limits)
{
    static char text[SIZE_MAX_BYTES + 2];
    memset(text, ' ', sizeof text);
    memcpy(text, "{}", 2);
    cr_expect(opens(text, SIZE_MAX_BYTES));
    cr_expect_not(opens(text, SIZE_MAX_BYTES + 1));
    memset(text, '[', sizeof text); // a parser that recurses would end here
    memcpy(text, "{\"a\":", 5);
    cr_expect_not(opens(text, SIZE_MAX_BYTES));
}

// What was read before a failure stays; what is read after it is zero, and its failure is not told.
Test(json_reader, the_first_failure_stays)
{
    const char text[] = "{\"a\": \"x\", \"b\": \"y\", \"c\": 3}";
    cm_json_reader in;
    cm_scene_error error;
    const cm_json_value *root = cm_json_open(&in, text, strlen(text), SIZE_MAX_BYTES, &error);
    cr_assert_not_null(root);
    cr_expect_eq(cm_json_number(&in, root, "c", 0.0, 9.0, NULL), 3.0);
    cr_expect_eq(cm_json_number(&in, root, "a", 0.0, 9.0, NULL), 0.0);
    cr_expect_eq(cm_json_number(&in, root, "b", 0.0, 9.0, NULL), 0.0);
    cr_expect_eq(cm_json_number(&in, root, "c", 0.0, 9.0, NULL), 0.0);
    cr_expect_str_eq(error.path, "$.a");
    cm_json_close(&in);
}

Test(json_reader, members_come_in_their_order_and_print_without_some)
{
    const char text[] = "{\"b\": 1, \"a\": \"x\", \"c\": {\"d\": 0.1}}";
    static const char *const without[] = {"a", "z"};
    static const char *const order[] = {"b", "a", "c"};
    cm_json_reader in;
    cm_scene_error error;
    void *next = NULL;
    const char *key;
    uint32_t count = 0;
    const cm_json_value *root = cm_json_open(&in, text, strlen(text), SIZE_MAX_BYTES, &error);
    while (cm_json_each(root, &next, &key) != NULL) {
        cr_assert_lt(count, 3);
        cr_expect_str_eq(key, order[count++]);
    }
    cr_expect_eq(count, 3);
    char *bare = cm_json_print_without(root, without, 2);
    cr_expect_str_eq(bare, "{\"b\":1,\"c\":{\"d\":0.1}}");
    free(bare);
    cm_json_close(&in);
}

Test(json_reader, names_that_are_near)
{
    static const struct {
        const char *name, *known;
        uint32_t apart;
        bool near;
    } rows[] = {{"mass", "mass", 0, true},    {"mas", "mass", 1, true},  {"", "mass", 4, false},
                {"colour", "mass", 6, false}, {"maas", "mass", 1, true}, {"a", "b", 1, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(cm_spelling_distance(rows[i].name, rows[i].known), rows[i].apart, "%s",
                     rows[i].name);
        cr_expect_eq(cm_spelling_is_near(rows[i].name, rows[i].known), rows[i].near, "%s",
                     rows[i].name);
    }
    static char much[4096];
    memset(much, 'a', sizeof much - 1);
    cr_expect_eq(cm_spelling_distance(much, much), 0, "only so many letters count");
}
