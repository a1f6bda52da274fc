// The server is known by its socket, the match by its file's name, which no two have.
#include "server/tools/cli/match_live.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/host/admin.h"

typedef struct looking {
    const char *name; // of the file
    bool found;
} looking;

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void look(void *user, const char *text)
{
    looking *l = user;
    json_t *room = json_loads(text, 0, NULL);
    const char *match = json_string_value(json_object_get(room, "match"));
    if (match != NULL && strcmp(name_of(match), l->name) == 0) {
        puts(text);
        l->found = true;
    }
    json_decref(room);
}

bool cm_match_live_info(const char *path, const char *socket)
{
    char beside[CM_ADMIN_PATH_MAX], error[512];
    looking l = {.name = name_of(path)};
    int length = snprintf(beside, sizeof beside, "%.*sadmin.sock", (int)(l.name - path), path);
    if (socket == NULL && length >= (int)sizeof beside) {
        return false;
    }
    return cm_admin_ask(socket != NULL ? socket : beside, "{\"command\":\"rooms\"}", look, &l,
                        error, sizeof error) &&
           l.found;
}
