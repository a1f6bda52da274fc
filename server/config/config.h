// The configuration: one table of every key, which drives the struct, defaults, the file, the
// environment, the flags, --print-config and the documentation. Later wins: file, environment
// (CAROM_MAX_PLAYERS), flags (--max-players; dashes or underscores).
//
// The file is one JSON object; keys that begin with "//" are comments. An unknown key, a value of
// another type or out of its range is refused with its place and what was expected.
#ifndef CM_SERVER_CONFIG_CONFIG_H
#define CM_SERVER_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/config/options.h"
#include "server/config/room_spec.h"
#include "shared/wire/address.h"

#define CM_WORKERS_MAX       64 // processes that host rooms

#define CM_CLIENTS_MAX       2000 // two peers each, and ENet has 4,095
#define CM_CONFIG_PUBLIC_MAX 8u   // addresses in `public`
#define CM_CONFIG_TEXT_MAX   256  // bytes of a text value, its NUL included

// TEXT(name, default, help), INT(name, default, low, high, help), BOOL(name, default, help),
// CHOICE(name, default, choices, help), ROOMS(name, help)
#define CM_CONFIG_KEYS(TEXT, INT, BOOL, CHOICE, ROOMS)                                             \
    TEXT(db, "carom.db", "catalogue: scenes, rooms to start, index of matches; made if missing")   \
    TEXT(matches, "matches", "directory of match files; made if missing")                          \
    TEXT(listen, "127.0.0.1:9400", "UDP address, HOST:PORT; port 0 takes a free one")              \
    TEXT(http, "",                                                                                 \
         "HTTP address of metrics, health, rooms and players, HOST:PORT, without TLS; port 0 "     \
         "takes a free one; empty: none")                                                          \
    BOOL(web, false,                                                                               \
         "players by WebSocket, /play/ROOM of http: of its own pages, and of those of web_origin") \
    TEXT(web_origin, "",                                                                           \
         "origins (https://HOST) whose pages may play by WebSocket, with commas between them")     \
    TEXT(api_keys, "",                                                                             \
         "file of the keys that open /api/v1 of http to operators (carom token api-key); SIGHUP "  \
         "reads it again; empty: none, it tells what strangers may know")                          \
    TEXT(admin, "", "Unix socket that carom admin talks to; empty: admin.sock in matches")         \
    TEXT(ready_file, "", "file that gets the listening address once the room is open")             \
    TEXT(scene, "", "opens a room of the scene's name: a name in the database, or a file")         \
    ROOMS(rooms,                                                                                   \
          "more rooms, by name: a scene, or an object of scene and any of " CM_ROOM_KEY_NAMES      \
          "in place of the server's and the scene's (empty_s: when it closes by itself; the "      \
          "last four: limits of its world); without these and scene: the rooms of db")             \
    TEXT(on_demand, "",                                                                            \
         "scene of rooms that open when a player names one that is not there; empty: none do")     \
    INT(on_demand_rooms, 16, 1, 256, "such rooms of a worker, at most")                            \
    INT(on_demand_empty_s, 60, 0, 86400,                                                           \
        "after which such a room closes when nobody is in it, s of its ticks; 0: never")           \
    INT(workers, -1, -1, CM_WORKERS_MAX,                                                           \
        "processes that host rooms, each on a port of its own: that of listen and those after "    \
        "it; -1: one for each core but one, 0: none, this process hosts them")                     \
    TEXT(module, "", "files of game modules, with commas between them; --module may be repeated")  \
    TEXT(key, "", "file of the keys that tokens are opened with (carom token keygen)")             \
    TEXT(bans, "",                                                                                 \
         "file of who may not come in, a client id or an address a line; SIGHUP reads it again")   \
    TEXT(public, "",                                                                               \
         "addresses that tokens may name, HOST:PORT with commas between them; empty: listen")      \
    BOOL(insecure, false, "no tokens: anyone who reaches the port may play; loopback only")        \
    INT(max_players, 64, 1, 64, "players in a room")                                               \
    INT(spectators, 0, 0, 64,                                                                      \
        "clients that watch a room, beside its players; each counts among max_clients; 0: none")   \
    INT(spectator_delay_s, 0, 0, 600, "how late they see it, s")                                   \
    INT(max_clients, 0, 0, CM_CLIENTS_MAX,                                                         \
        "clients of the process, in all of its rooms; 0: as many as the rooms of the start have "  \
        "players and spectators, and 256 at the least")                                            \
    INT(tick_budget_percent, 50, 0, 10000,                                                         \
        "processor time that a room's ticks may take beside other rooms, a mean of 10 s, percent " \
        "of the time between two: above it the room goes on in a worker of its own, or ticks "     \
        "less often; 0: no limit")                                                                 \
    INT(rewind_ms, 133, 0, 1000, "how late an input may come, ms: the room rewinds to its tick")   \
    INT(view_rate, 0, 0, 1000, "views a second; 0: the scene's")                                   \
    INT(budget_kbit, 0, 0, 100000,                                                                 \
        "bandwidth for one client, kbit/s, headers counted; 0: the "                               \
        "scene's")                                                                                 \
    INT(input_rate, 60, 1, 1000, "input packets a second that a client sends")                     \
    INT(timeout_ms, 15000, 1000, 120000,                                                           \
        "a client is gone when nothing was heard for so long, ms")                                 \
    INT(grace_ms, 15000, 0, 600000,                                                                \
        "how long the slot of a player who was cut off is kept, ms; 0: not at all")                \
    INT(drain_verify_s, 60, 0, 86400, "time to verify the recording after a drain, s")             \
    CHOICE(durability, "process", "process|power",                                                 \
           "what a recorded tick survives: death of the process, or loss of power")                \
    BOOL(resume, false, "goes on with the matches in `matches` that have no end, after a crash")   \
    TEXT(sign_key, "",                                                                             \
         "secret that signs recordings, made by 'carom match keygen'; empty: unsigned")            \
    INT(stream_delay_s, 0, 0, 3600,                                                                \
        "matches are cut into chunks for watchers (matches/stream, and /stream/ of http), so "     \
        "late, s; "                                                                                \
        "a room that keeps inputs secret, when it has ended; 0: not")                              \
    INT(keyframe_s, 10, 1, 3600, "time between keyframes of a recording, s")                       \
    INT(status_interval_ms, 1000, 100, 3600000, "time between status lines, ms")                   \
    CHOICE(status, "short", "short|full", "fields of a status line that is not a terminal's")      \
    CHOICE(log, "info", "error|warning|info|debug", "lowest level of log lines")                   \
    INT(room_seed, 0, 0, 9007199254740992, "seed of the room's random numbers; 0: drawn at start")

typedef struct cm_config {
#define CM_CONFIG_TEXT_FIELD(name, initial, help)            char name[CM_CONFIG_TEXT_MAX];
#define CM_CONFIG_INT_FIELD(name, initial, low, high, help)  int64_t name;
#define CM_CONFIG_BOOL_FIELD(name, initial, help)            bool name;
#define CM_CONFIG_CHOICE_FIELD(name, initial, choices, help) char name[CM_CONFIG_TEXT_MAX];
#define CM_CONFIG_ROOMS_FIELD(name, help)                    cm_room_list name;
    CM_CONFIG_KEYS(CM_CONFIG_TEXT_FIELD, CM_CONFIG_INT_FIELD, CM_CONFIG_BOOL_FIELD,
                   CM_CONFIG_CHOICE_FIELD, CM_CONFIG_ROOMS_FIELD)
#undef CM_CONFIG_TEXT_FIELD
#undef CM_CONFIG_INT_FIELD
#undef CM_CONFIG_BOOL_FIELD
#undef CM_CONFIG_CHOICE_FIELD
#undef CM_CONFIG_ROOMS_FIELD
} cm_config;

typedef enum cm_config_kind {
    CM_CONFIG_TEXT,
    CM_CONFIG_INT,
    CM_CONFIG_BOOL,
    CM_CONFIG_CHOICE,
    CM_CONFIG_ROOMS,
} cm_config_kind;

typedef struct cm_config_key {
    const char *name;
    cm_config_kind kind;
    size_t offset; // in cm_config
    int64_t low, high;
    const char *choices; // "a|b"
    const char *help;
} cm_config_key;

// Receives every value that is refused, in place of an end at the first one.
typedef struct cm_config_wrong {
    void (*tell)(void *user, const char *message);
    void *user;
    uint64_t refused; // keys that kept their earlier value: bit i is key i of cm_config_keys
} cm_config_wrong;

typedef struct cm_config_error {
    char message[CM_REFUSED_MAX]; // place, what is wrong, what was expected; of the last refused
                                  // value
    cm_config_wrong *all;         // NULL: reading ends at the first refused value
} cm_config_error;

void cm_config_default(cm_config *config);
const cm_config_key *cm_config_keys(uint32_t *count);

// True if the value of this key (a name of cm_config_keys) was refused.
bool cm_config_was_refused(const cm_config_wrong *wrong, const char *name);

// NULL: there is no key of that name.
const cm_config_key *cm_config_find(const char *name);
// Adds a refused value to error->all; `key` is NULL if it belongs to none. False if error->all is
// NULL: reading ends here.
bool cm_config_goes_on(cm_config_error *error, const cm_config_key *key);

// Each returns false with an error, and the config is then of no use. `place` names where the text
// came from.
bool cm_config_set(cm_config *config, const cm_config_key *key, const char *text, const char *place,
                   cm_config_error *error);
bool cm_config_load(cm_config *config, const char *path, cm_config_error *error);
bool cm_config_parse(cm_config *config, const char *text, size_t size, const char *name,
                     cm_config_error *error);
// environment: NAME=VALUE strings, ended by NULL.
bool cm_config_environment(cm_config *config, char *const *environment, cm_config_error *error);
// True if an entry NAME=VALUE of the environment looks like ours (CAROM_…) and is no key. `name`
// gets its name, cut to fit, and `nearest` the known variable with the nearest spelling. Variables
// that Kubernetes sets for a service called carom or carom-… are not ours.
#define CM_CONFIG_VARIABLE_MAX 64
bool cm_config_unknown(const char *entry, char name[CM_CONFIG_VARIABLE_MAX],
                       char nearest[CM_CONFIG_VARIABLE_MAX]);
// The addresses again, for a configuration that was made by hand.
bool cm_config_check(const cm_config *config, cm_config_error *error);
// Checks the settings of admission: a key file, or insecure, which is for loopback only; `public`
// if `listen` names every interface. The configuration must have passed cm_config_check.
bool cm_config_check_gate(const cm_config *config, cm_config_error *error);

// Fills in a room's settings that its spec leaves to the server.
void cm_config_complete(const cm_config *config, cm_room_spec *spec);

// As cm_address_read, and localhost:PORT, which is 127.0.0.1.
bool cm_config_address(const char *text, cm_address *address);

// The next address of a list with commas; *list moves on. False at its end.
bool cm_config_next_address(const char **list, cm_address *address);

// Every key with its value and meaning, one JSON object that cm_config_parse accepts. Returns the
// bytes that the whole takes (as snprintf).
size_t cm_config_print(const cm_config *config, char *text, size_t size);

#endif
