// Reads line by line; the error names the first wrong line.
#include "server/auth/ban_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/wire/address.h"

#define LINE_MAX_BYTES 256u

// A line without its comment and the space round it.
static char *strip(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) {
        line[--length] = '\0';
    }
    return line;
}

static bool is_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return strspn(text, "0123456789") == strlen(text) && *end == '\0' && errno == 0 && *number != 0;
}

// NULL, or what is wrong with the line.
static const char *take_line(char *line, cm_ban_list *list)
{
    uint64_t who;
    const char *text = strip(line);
    if (text[0] == '\0') {
        return NULL;
    }
    bool by_address = cm_address_read_network(text, &who);
    if (!by_address && !is_number(text, &who)) {
        return "expected a client id, or an address A.B.C.D or IPv6 without a zone";
    }
    return cm_bans_add(&list->of[by_address], who) ? NULL : "more than are kept";
}

bool cm_ban_file_read(const char *path, cm_ban_list *list, char *error, size_t error_size)
{
    char line[LINE_MAX_BYTES];
    const char *wrong = NULL;
    uint32_t number = 0;
    memset(list, 0, sizeof *list);
    FILE *file = fopen(path, "r");
    while (file != NULL && wrong == NULL && fgets(line, sizeof line, file) != NULL) {
        number++;
        wrong = strlen(line) == sizeof line - 1 ? "the line is too long" : take_line(line, list);
    }
    if (file == NULL || ferror(file)) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        wrong = error;
    } else if (wrong != NULL) {
        snprintf(error, error_size, "%s:%u: %s", path, number, wrong);
    }
    if (file != NULL) {
        fclose(file);
    }
    if (wrong != NULL) {
        cm_ban_list_free(list);
    }
    return wrong == NULL;
}

void cm_ban_list_free(cm_ban_list *list)
{
    cm_bans_free(&list->of[0]);
    cm_bans_free(&list->of[1]);
}
