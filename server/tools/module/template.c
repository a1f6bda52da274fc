// Writes the files of a new module. They are in the program (server/tools/module/template), with
// the name where they say @NAME@.
#include "server/tools/module/template.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carom/limits.h"

#define MARK "@NAME@"

static const struct {
    const char *name, *text;
} FILES[] = {
#include "module_template.inc"
};

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= CAROM_MODULE_NAME_MAX && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static bool write_text(FILE *file, const char *text, const char *name)
{
    for (const char *mark; (mark = strstr(text, MARK)) != NULL; text = mark + strlen(MARK)) {
        fprintf(file, "%.*s%s", (int)(mark - text), text, name);
    }
    fputs(text, file);
    bool wrote = ferror(file) == 0;
    return fclose(file) == 0 && wrote;
}

carom_result cm_template_write(const char *directory, const char *name, char *error,
                               size_t error_size)
{
    char folder[1024], path[1200];
    if (!is_name(name)) {
        snprintf(error, error_size,
                 "'%.64s': expected a name of at most %d of a-z, 0-9, _, a letter first", name,
                 CAROM_MODULE_NAME_MAX);
        return CAROM_ERROR_ARGUMENT;
    }
    int length = snprintf(folder, sizeof folder, "%s/%s", directory, name);
    if (length >= (int)sizeof folder || mkdir(folder, 0777) != 0) {
        int cause = length >= (int)sizeof folder ? ENAMETOOLONG : errno;
        snprintf(error, error_size, "%.200s: %s", folder, strerror(cause));
        return cause == EEXIST ? CAROM_ERROR_STATE : CAROM_ERROR_IO;
    }
    snprintf(path, sizeof path, "%s/client", folder);
    if (mkdir(path, 0777) != 0) {
        snprintf(error, error_size, "%.200s: %s", path, strerror(errno));
        return CAROM_ERROR_IO;
    }
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        bool scene = strcmp(FILES[i].name, "scene.json") == 0;
        snprintf(path, sizeof path, "%s/%s%s", folder, scene ? name : FILES[i].name,
                 scene ? ".json" : "");
        FILE *file = fopen(path, "wx");
        if (file == NULL || !write_text(file, FILES[i].text, name)) {
            snprintf(error, error_size, "%.200s: %s", path, strerror(errno));
            return CAROM_ERROR_IO;
        }
    }
    return CAROM_OK;
}
