// proto/scene.proto is the reference of scene files. Goal: it tells the default of every key, and
// what is not built yet, truly. Method: its lines are read; for each key that is not built a scene
// uses it and is refused as such, and its line in the schema says so.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "shared/scene/scene_json.h"

static char text[1 << 16];

static void read_schema(void)
{
    FILE *file = fopen("proto/scene.proto", "r");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cr_assert_not_null(strstr(text, "message Scene {"));
}

TestSuite(schema_text, .init = read_schema);

Test(schema_text, every_key_has_its_default)
{
    uint32_t keys = 0;
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n');
        *end = '\0';
        line += strspn(line, " ");
        if (strncmp(line, "optional ", 9) == 0 || strncmp(line, "repeated ", 9) == 0) {
            // A comment may go on in the next line.
            char whole[512];
            const char *next = end + 1 + strspn(end + 1, " ");
            bool goes_on = strncmp(next, "//", 2) == 0;
            snprintf(whole, sizeof whole, "%s %.*s", line, goes_on ? (int)strcspn(next, "\n") : 0,
                     next);
            cr_expect(strstr(whole, "[default = ") != NULL || strstr(whole, "default: ") != NULL,
                      "no default: %s", line);
            keys++;
        }
        line = end + 1;
    }
    cr_expect_gt(keys, 90u);
}

Test(schema_text, what_is_not_built_says_so)
{
    static const struct {
        const char *field, *scene;
    } CASES[] = {
        {"optional View view = ", "{\"carom\": 1, \"replication\": {\"view\": \"predicted\"}}"},
        {"optional double interest_radius = ",
         "{\"carom\": 1, \"replication\": {\"interest_radius\": 5}}"},
        {"optional bool bullet = ",
         "{\"carom\": 1, \"bodies\": [{\"bullet\": true, \"shapes\": [{\"sphere\": {\"radius\": "
         "1}}]}]}"},
        {"Mesh mesh = ", "{\"carom\": 1, \"bodies\": [{\"type\": \"static\", \"shapes\": "
                         "[{\"mesh\": {\"vertices\": "
                         "[[0, 0, 0], [1, 0, 0], [0, 0, 1]], \"triangles\": [[0, 1, 2]]}}]}]}"},
        {"Heightfield heightfield = ",
         "{\"carom\": 1, \"bodies\": [{\"type\": \"static\", \"shapes\": [{\"heightfield\": "
         "{\"rows\": 2, \"columns\": 2, \"spacing\": 1, \"heights\": [0, 0, 0, 0]}}]}]}"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        cm_scene *scene = NULL;
        cm_scene_error error;
        cr_expect_eq(cm_scene_from_json(CASES[i].scene, strlen(CASES[i].scene), &scene, &error),
                     CAROM_ERROR_NOT_BUILT, "%s: %s", CASES[i].field, error.message);
        cm_scene_free(scene);
        const char *line = strstr(text, CASES[i].field);
        cr_assert_not_null(line, "%s", CASES[i].field);
        const char *says = strstr(line, "not built yet");
        cr_expect(says != NULL && says < strchr(line, '\n'), "%s", CASES[i].field);
    }
}
