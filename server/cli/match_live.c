// The server is known by its socket, the match by its file's name, which no two have.
#include "server/cli/match_live.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/ops/admin_socket.h"
#include "server/ops/log.h"
#include "server/cli/cli.h"
#include "server/config/json_reader.h"
#include "server/cli/match_live.h"

typedef struct looking {
    const char *name; // of the file
    char text[CM_LINE_MAX];
} looking;

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void look(void *user, const char *text)
{
    looking *l = user;
    cm_json_reader reader;
    cm_scene_error wrong;
    const cm_json_value *room =
        cm_json_open(&reader, text, strlen(text), CM_ADMIN_REQUEST_MAX, &wrong);
    const char *match = cm_json_text_of(cm_json_member(room, "match"));
    if (match != NULL && strcmp(name_of(match), l->name) == 0) {
        snprintf(l->text, sizeof l->text, "%s", text);
    }
    cm_json_close(&reader);
}

static bool socket_of(const char *path, const char *socket, char found[CM_ADMIN_PATH_MAX])
{
    int length = socket != NULL ? snprintf(found, CM_ADMIN_PATH_MAX, "%s", socket)
                                : snprintf(found, CM_ADMIN_PATH_MAX, "%.*sadmin.sock",
                                           (int)(name_of(path) - path), path);
    return length < (int)CM_ADMIN_PATH_MAX;
}

// The server's line of the room whose match it is.
static bool find(const char *path, const char *socket, looking *l)
{
    char found[CM_ADMIN_PATH_MAX], error[512];
    l->name = name_of(path);
    return socket_of(path, socket, found) &&
           cm_admin_ask(found, "{\"command\":\"rooms\"}", look, l, error, sizeof error) &&
           l->text[0] != '\0';
}

bool cm_match_live_info(const char *path, const char *socket)
{
    looking l = {0};
    bool found = find(path, socket, &l);
    if (found) {
        puts(l.text);
    }
    return found;
}

bool cm_match_live_absolute(const char *path, char *absolute, size_t size)
{
    bool relative = path[0] != '/';
    if (relative && getcwd(absolute, size) == NULL) {
        return false;
    }
    size_t length = relative ? strlen(absolute) : 0;
    return (size_t)snprintf(absolute + length, size - length, "%s%s", relative ? "/" : "", path) <
           size - length;
}

static void take_answer(void *user, const char *text)
{
    int *status = user;
    cm_json_reader reader;
    cm_scene_error wrong;
    const cm_json_value *answer =
        cm_json_open(&reader, text, strlen(text), CM_ADMIN_REQUEST_MAX, &wrong);
    const char *error = cm_json_text_of(cm_json_member(answer, "error"));
    *status = error != NULL ? CM_STATUS_FAILED : CM_STATUS_DONE;
    if (error != NULL) {
        cm_cli_error("match backup: %s", error);
    } else {
        puts(text);
    }
    cm_json_close(&reader);
}

int cm_match_live_backup(const char *path, const char *socket, const char *out)
{
    char found[CM_ADMIN_PATH_MAX], absolute[CM_ADMIN_REQUEST_MAX], error[512];
    looking l = {0};
    int status = CM_STATUS_FAILED;
    if (!find(path, socket, &l) || !socket_of(path, socket, found) ||
        !cm_match_live_absolute(out, absolute, sizeof absolute)) {
        return -1;
    }
    cm_json_reader reader;
    cm_scene_error wrong;
    const cm_json_value *room =
        cm_json_open(&reader, l.text, strlen(l.text), CM_ADMIN_REQUEST_MAX, &wrong);
    const char *name = cm_json_text_of(cm_json_member(room, "room"));
    json_t *asked = json_pack("{s:s,s:s,s:s}", "command", "backup", "room",
                              name != NULL ? name : "", "out", absolute);
    char *request = asked != NULL ? json_dumps(asked, JSON_COMPACT) : NULL;
    if (request == NULL) {
        cm_cli_error("match backup: %s: expected UTF-8", out);
    } else if (!cm_admin_ask(found, request, take_answer, &status, error, sizeof error)) {
        status = cm_cli_failed("match backup: %s", error);
    }
    free(request);
    json_decref(asked);
    cm_json_close(&reader);
    return status;
}
