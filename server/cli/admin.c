// `carom admin`: asks a running server by its socket, prints what it answers.
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/ops/admin_socket.h"
#include "server/config/room_spec.h"
#include "server/cli/cli.h"
#include "server/config/json_reader.h"
#include "server/cli/match_live.h"
#include "shared/wire/address.h"

#define WORDS_MAX 16u

// The arguments of each command, as keys of the request; NULL ends them.
static const struct {
    const char *name;
    const char *keys[2];
    uint32_t least; // words that it needs
} COMMANDS[] = {
    {"rooms", {NULL, NULL}, 0},   {"players", {"room", NULL}, 0},   {"open", {"room", "scene"}, 2},
    {"close", {"room", NULL}, 1}, {"kick", {"room", "who"}, 2},     {"ban", {"who", NULL}, 1},
    {"unban", {"who", NULL}, 1},  {"drain", {NULL, NULL}, 0},       {"backup", {"room", "out"}, 2},
    {"bans", {NULL, NULL}, 0},    {"message", {"room", "text"}, 2},
};

// Options of single commands, by their keys of the request.
typedef struct admin_options {
    int64_t player, banned_s, wait_s;
    const char *reason;
    bool handover, has_player;
} admin_options;

// Those that are given and belong to another command, by name; NULL: none.
static const char *find_stray(const admin_options *o, const char *command)
{
    bool ban = strcmp(command, "ban") == 0, drain = strcmp(command, "drain") == 0;
    return o->has_player && strcmp(command, "message") != 0 ? "player"
           : o->banned_s > 0 && !ban                        ? "for"
           : o->reason != NULL && !ban                      ? "reason"
           : o->wait_s > 0 && !drain                        ? "wait"
           : o->handover && !drain                          ? "handover"
                                                            : NULL;
}

static void add_digits(json_t *object, const char *key, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    json_object_set_new(object, key, json_string(text));
}

// False after a message.
static bool add_options(json_t *object, const admin_options *o)
{
    const char *command = json_string_value(json_object_get(object, "command"));
    const char *stray = find_stray(o, command);
    if (stray != NULL || (o->wait_s > 0 && o->handover)) {
        cm_cli_error(stray != NULL ? "admin: %s: it has no --%s, see 'carom help admin'"
                                   : "admin: %s: expected --wait or --handover, not both%s",
                     command, stray != NULL ? stray : "");
        return false;
    }
    if (o->has_player) {
        add_digits(object, "who", o->player);
    }
    if (o->banned_s > 0 || o->wait_s > 0) {
        add_digits(object, "seconds", o->banned_s > 0 ? o->banned_s : o->wait_s);
    }
    if (o->handover) {
        json_object_set_new(object, "handover", json_true());
    }
    json_t *reason = o->reason != NULL ? json_string(o->reason) : NULL;
    if (o->reason != NULL && reason == NULL) {
        cm_cli_error("admin: --reason: expected UTF-8");
        return false;
    }
    if (reason != NULL) {
        json_object_set_new(object, "text", reason);
    }
    return true;
}

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

static bool is_who(const char *command, const char *text)
{
    uint64_t number;
    return strcmp(command, "kick") == 0 ? cm_parse_id(text, &number)
                                        : cm_address_read_network(text, &number) ||
                                              (cm_parse_id(text, &number) && number != 0);
}

// The line that asks, to be freed; NULL after a message.
static char *make_request(const char *const *words, uint32_t count, const admin_options *options)
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
            if (strcmp(COMMANDS[i].keys[k], "who") == 0 && !is_who(words[0], text)) {
                cm_cli_error("admin: %s: '%s', expected %s", words[0], text,
                             strcmp(words[0], "kick") == 0
                                 ? "a player's number"
                                 : "a client id above 0, or an address A.B.C.D or IPv6");
                json_decref(object);
                return NULL;
            }
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
        bool good = add_numbers(object, words + count, numbers) && add_options(object, options);
        char *text = good ? json_dumps(object, JSON_COMPACT) : NULL;
        json_decref(object);
        return text;
    }
    cm_cli_error("admin: '%s', expected rooms, players, open, close, kick, message, ban, unban, "
                 "bans, drain or "
                 "backup",
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
    admin_options given = {.reason = NULL};
    const cm_option options[] = {
        {"admin", CM_OPTION_TEXT, &path, 0, 0, NULL, NULL},
        {"player", CM_OPTION_INT, &given.player, 0, CAROM_PLAYERS_MAX - 1, NULL, &given.has_player},
        {"for", CM_OPTION_INT, &given.banned_s, 1, CM_ADMIN_SECONDS_MAX, NULL, NULL},
        {"reason", CM_OPTION_TEXT, &given.reason, 0, 0, NULL, NULL},
        {"wait", CM_OPTION_INT, &given.wait_s, 1, CM_ADMIN_SECONDS_MAX, NULL, NULL},
        {"handover", CM_OPTION_FLAG, &given.handover, 0, 0, NULL, NULL}};
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], words,
                                WORDS_MAX, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    char *request = make_request(words, count, &given);
    if (request == NULL) {
        return CM_STATUS_USAGE;
    }
    char error[512];
    bool failed = false;
    bool answered = cm_admin_ask(path, request, print_line, &failed, error, sizeof error);
    free(request);
    if (!answered) {
        return cm_cli_failed("admin: %s", error);
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
    "  message ROOM TEXT [--player N]\n"
    "                     shows the room's players, or one, a text of at most 256 bytes\n"
    "  ban CLIENT_ID|ADDRESS [--for SECONDS] [--reason TEXT]\n"
    "                     sends a client, or all of an address, away, with the reason, and lets "
    "them\n"
    "                     in no more, or not for so long; kept over restarts\n"
    "  unban CLIENT_ID|ADDRESS\n"
    "                     lets them in again\n"
    "  bans               who may not come in, until when, why, and whether the file of bans has "
    "it\n"
    "  backup ROOM FILE   copies the room's match, as far as it is committed, into a new file, "
    "and\n"
    "                     answers when that is on the disk\n"
    "  drain              ends the server as SIGTERM does\n"
    "  drain --wait SECONDS\n"
    "                     opens no more rooms, tells the players how long is left, and ends the\n"
    "                     server then, or before, once nobody has been in a room for the time "
    "that\n"
    "                     slots are kept (grace_ms). Again: the shorter time holds\n"
    "  drain --handover   ends the server and none of its matches: the next one with its matches "
    "goes\n"
    "                     on with them, and their players come back into their slots\n"
    "\n"
    "  --admin SOCKET     the server's (matches/admin.sock)\n"
    "\n"
    "Prints one JSON object a line. Who may open the socket may do all this: it belongs to the\n"
    "server's user and group (0660). Status 1 where nobody answers, or the server refuses.\n",
    NULL};
