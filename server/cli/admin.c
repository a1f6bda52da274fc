// `carom admin`: asks a running server by its socket, prints what it answers.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/ops/admin_socket.h"
#include "server/config/room_spec.h"
#include "server/cli/cli.h"
#include "server/config/json_reader.h"
#include "server/cli/match_live.h"

#define WORDS_MAX 16u

// The arguments of each command, as keys of the request; NULL ends them.
static const struct {
    const char *name;
    const char *keys[2];
    uint32_t least; // words that it needs
} COMMANDS[] = {
    {"rooms", {NULL, NULL}, 0},   {"players", {"room", NULL}, 0}, {"open", {"room", "scene"}, 2},
    {"close", {"room", NULL}, 1}, {"kick", {"room", "who"}, 2},   {"ban", {"who", NULL}, 1},
    {"unban", {"who", NULL}, 1},  {"drain", {NULL, NULL}, 0},     {"backup", {"room", "out"}, 2},
};

// KEY=NUMBER words of `open`. False after a message.
static bool add_numbers(json_t *object, const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char key[CM_ROOM_KEY_MAX];
        int64_t value;
        if (!cm_room_number_read(words[i], key, &value)) {
            cm_cli_error("admin: open: '%s', expected KEY=NUMBER", words[i]);
            return false;
        }
        json_t *with = json_object_get(object, "with");
        if (with == NULL) {
            json_object_set_new(object, "with", json_object());
            with = json_object_get(object, "with");
        }
        json_object_set_new(with, key, json_integer(value));
    }
    return true;
}

// The line that asks, to be freed; NULL after a message.
static char *make_request(const char *const *words, uint32_t count)
{
    for (size_t i = 0; count > 0 && i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        uint32_t most = (COMMANDS[i].keys[0] != NULL) + (COMMANDS[i].keys[1] != NULL);
        if (strcmp(COMMANDS[i].name, words[0]) != 0) {
            continue;
        }
        uint32_t numbers = strcmp(words[0], "open") == 0 && count > 3 ? count - 3 : 0;
        count -= numbers;
        if (count - 1 < COMMANDS[i].least || count - 1 > most) {
            cm_cli_error("admin: %s: %u words after it, expected %s%u, see 'carom help admin'",
                         words[0], (unsigned)count - 1, COMMANDS[i].least < most ? "at most " : "",
                         (unsigned)most);
            return NULL;
        }
        json_t *object = json_pack("{s:s}", "command", words[0]);
        for (uint32_t k = 0; k + 1 < count; k++) {
            char path[CM_ADMIN_REQUEST_MAX];
            const char *text = words[k + 1];
            if (strcmp(COMMANDS[i].keys[k], "out") == 0 &&
                cm_match_live_absolute(text, path, sizeof path)) {
                text = path;
            }
            json_t *word = json_string(text);
            if (word == NULL) {
                cm_cli_error("admin: '%s', expected UTF-8", words[k + 1]);
                json_decref(object);
                return NULL;
            }
            json_object_set_new(object, COMMANDS[i].keys[k], word);
        }
        bool good = add_numbers(object, words + count, numbers);
        char *text = good ? json_dumps(object, JSON_COMPACT) : NULL;
        json_decref(object);
        return text;
    }
    cm_cli_error(
        "admin: '%s', expected rooms, players, open, close, kick, ban, unban, drain or backup",
        count > 0 ? words[0] : "");
    return NULL;
}

// An answer that is an error goes to stderr, and makes the status.
static void print_line(void *user, const char *text)
{
    bool *failed = user;
    cm_json_reader reader;
    cm_scene_error wrong;
    const cm_json_value *object =
        cm_json_open(&reader, text, strlen(text), CM_ADMIN_REQUEST_MAX, &wrong);
    const char *error = cm_json_text_of(cm_json_member(object, "error"));
    if (error != NULL) {
        cm_cli_error("admin: %s", error);
        *failed = true;
    } else {
        puts(text);
    }
    cm_json_close(&reader);
}

static int run_command(int argc, char **argv)
{
    const char *path = "matches/admin.sock", *words[WORDS_MAX];
    uint32_t count = 0;
    const cm_option options[] = {{"admin", CM_OPTION_TEXT, &path, 0, 0, NULL, NULL}};
    int status = cm_cli_options(argc, argv, options, 1, words, WORDS_MAX, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    char *request = make_request(words, count);
    if (request == NULL) {
        return CM_STATUS_USAGE;
    }
    char error[512];
    bool failed = false;
    bool answered = cm_admin_ask(path, request, print_line, &failed, error, sizeof error);
    free(request);
    if (!answered) {
        cm_cli_error("admin: %s", error);
        return CM_STATUS_FAILED;
    }
    return cm_cli_finish(failed ? CM_STATUS_FAILED : CM_STATUS_DONE);
}

const cm_command cm_admin_command = {
    "admin", run_command,
    "asks a running server, and tells it what to do\n"
    "usage: carom admin [--admin SOCKET] COMMAND\n"
    "\n"
    "  rooms              the rooms: tick, players, time of a tick, seconds spent, bytes, match\n"
    "  players [ROOM]     who plays: number, name, client id, round trip, loss, kbit/s\n"
    "  open NAME SCENE [KEY=NUMBER ...]\n"
    "                     opens a room: a scene's name in the server's database, or a file; with\n"
    "                     numbers in place of the server's or the scene's, by the keys that\n"
    "                     serve --print-config tells of a room (`rooms`)\n"
    "  close ROOM         ends its match and sends its players away\n"
    "  kick ROOM PLAYER   sends a player away, who may come again\n"
    "  ban CLIENT_ID      sends a client away and lets it in no more; kept over restarts\n"
    "  unban CLIENT_ID    lets it in again\n"
    "  backup ROOM FILE   copies the room's match, as far as it is committed, into a new file, "
    "and\n"
    "                     answers when that is on the disk\n"
    "  drain              ends the server as SIGTERM does\n"
    "\n"
    "  --admin SOCKET     the server's (matches/admin.sock)\n"
    "\n"
    "Prints one JSON object a line. Who may open the socket may do all this: it belongs to the\n"
    "server's user and group (0660). Status 1 where nobody answers, or the server refuses.\n",
    NULL};
