// The table of modules. Goal: what a module may import is decided for every public function, and
// both sides of a match agree on what they run. Method: the installed headers are read for what
// they declare, and each name must stand in shared/game/imports.def.
#include <criterion/criterion.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "shared/game/imports.h"
#include "shared/game/modules.h"

// The names of functions that a header declares with CAROM_API.
static uint32_t check_header(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    uint32_t count = 0;
    for (char *at = text; (at = strstr(at, "\nCAROM_API ")) != NULL;) {
        char *open = strchr(at + 1, '('), *end = strchr(at + 1, ';');
        at++;
        if (open == NULL || end == NULL || end < open) {
            continue; // a variable
        }
        char *name = open;
        while (name > at && (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') ||
                             (name[-1] >= '0' && name[-1] <= '9'))) {
            name--;
        }
        char symbol[128];
        const char *why = NULL;
        snprintf(symbol, sizeof symbol, "%.*s", (int)(open - name), name);
        bool allowed = cm_module_may_import(symbol, &why);
        cr_expect(allowed || strncmp(why, "expected carom_", 15) != 0,
                  "%s: %s is in neither list of shared/game/imports.def: may a module call it?",
                  path, symbol);
        count++;
    }
    return count;
}

Test(modules, every_public_function_is_allowed_or_refused)
{
    DIR *folder = opendir("shared/include/carom");
    cr_assert_not_null(folder);
    uint32_t count = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".h") != NULL) {
            char path[512];
            snprintf(path, sizeof path, "shared/include/carom/%s", entry->d_name);
            count += check_header(path);
        }
    }
    closedir(folder);
    cr_expect_gt(count, 100);
}

Test(modules, imports_are_one_list)
{
    const char *why;
    cr_expect(cm_module_may_import("carom_body_create", &why));
    cr_expect(cm_module_may_import("memcpy", &why));
    cr_expect_not(cm_module_may_import("carom_world_stats_get", &why));
    cr_expect_not_null(strstr(why, "statistics"));
    cr_expect_not(cm_module_may_import("carom_world", &why));
    cr_expect_not(cm_module_may_import("malloc", &why));
    cr_expect_not(cm_module_may_import("cm_world_step", &why));
    cr_expect_not(cm_module_may_import("", &why));
}

#define SOURCE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

Test(modules, sides_agree_by_name_version_abi_and_source)
{
    const carom_module chess = {
        .abi = CAROM_MODULE_ABI, .version = 2, .name = "chess", .source = SOURCE};
    char other[] = SOURCE;
    other[5] = '0';
    cr_expect(cm_module_agrees(&chess, "chess", 2, CAROM_MODULE_ABI, SOURCE));
    cr_expect_not(cm_module_agrees(&chess, "chess", 2, CAROM_MODULE_ABI, other));
    cr_expect_not(cm_module_agrees(&chess, "chess", 2, CAROM_MODULE_ABI, ""));
    cr_expect_not(cm_module_agrees(&chess, "chess", 3, CAROM_MODULE_ABI, SOURCE));
    cr_expect_not(cm_module_agrees(&chess, "chess", 2, CAROM_MODULE_ABI + 1, SOURCE));
    cr_expect(cm_module_agrees(&carom_module_sandbox, "sandbox", 1, CAROM_MODULE_ABI, ""));
}

Test(modules, added_ones_are_found_and_bounded)
{
    static carom_module many[CM_MODULES_MAX + 1];
    static char names[CM_MODULES_MAX + 1][16];
    const char hash[CM_MODULE_HASH_TEXT] = SOURCE;
    const carom_module nameless = {.abi = CAROM_MODULE_ABI, .version = 1, .name = ""};
    const carom_module bad = {
        .abi = CAROM_MODULE_ABI, .version = 1, .name = "bad", .source = "0123"};
    cr_expect_eq(cm_module_add(&nameless, hash), CAROM_ERROR_ARGUMENT);
    cr_expect_eq(cm_module_add(&bad, hash), CAROM_ERROR_ARGUMENT);
    cr_expect_eq(cm_module_add(&carom_module_sandbox, hash), CAROM_ERROR_STATE);
    for (uint32_t i = 0; i <= CM_MODULES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "m%u", i);
        many[i] = (carom_module){.abi = CAROM_MODULE_ABI, .version = 1, .name = names[i]};
        carom_result result = cm_module_add(&many[i], hash);
        cr_expect_eq(result, i < CM_MODULES_MAX ? CAROM_OK : CAROM_ERROR_FULL);
    }
    cr_expect_eq(cm_module_find("m3"), &many[3]);
    cr_expect_str_eq(cm_module_file_hash(&many[3]), SOURCE);
    cr_expect_str_eq(cm_module_file_hash(&carom_module_sandbox), "");
}
