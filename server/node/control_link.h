// The control link between the supervisor and one node: messages of fixed structs, both of whose
// ends are the same program. It is a socket, or two ends in one process (`--workers 0`). Nothing
// blocks: what the socket does not take waits in memory, up to a limit. Typical: two messages a
// second from a node, one a minute to it.
//
// A node may run a module that has gone wild: what does not have its type's size, or a text without
// an end, is no message, and the link is broken then.
#ifndef CM_SERVER_NODE_CONTROL_LINK_H
#define CM_SERVER_NODE_CONTROL_LINK_H

#include "server/ops/admin_socket.h"
#include "server/config/config.h"
#include "server/node/room_info.h"
#include "server/auth/used_tokens.h"
#include "server/transport/websocket/upgrade.h"
#include "shared/scene/scene.h"
#include "shared/wire/control.h"

#define CM_WORKER_TEXT_MAX    8192u      // bytes of a text, its NUL included
#define CM_WORKER_WAITING_MAX (8u << 20) // bytes that wait; beyond, lines and metrics are left out

typedef enum cm_worker_message_type {
    // Of the worker.
    CM_WORKER_SENDS_ROOM = 1, // one is open, or goes on
    CM_WORKER_SENDS_GONE,     // room: one was closed
    CM_WORKER_SENDS_READY,    // port: all of its rooms are open
    CM_WORKER_SENDS_FAILED,  // line: it could not start, and why; level 1: what was asked for is at
                             // fault
    CM_WORKER_SENDS_ERROR,   // line: what went wrong, for stderr
    CM_WORKER_SENDS_LOAD,    // each second: how much of a processor its rooms take
    CM_WORKER_SENDS_LOG,     // line: a log line and its level
    CM_WORKER_SENDS_PRINT,   // line: of stdout
    CM_WORKER_SENDS_DRAW,    // line: of the status on a terminal; level 1: the first
    CM_WORKER_SENDS_USED,    // used: a token let somebody in; to the others it is told
    CM_WORKER_SENDS_ANSWER,  // ask: a line of an answer; "": it is whole
    CM_WORKER_SENDS_METRICS, // metrics: of one room, each second where there is HTTP
    CM_WORKER_SENDS_TOTALS,  // metrics: its own, after those of its rooms
    CM_WORKER_SENDS_OVER,    // room: its ticks take more than their share beside others
    CM_WORKER_SENDS_RELEASED, // room: what it was told to release is written
    CM_WORKER_SENDS_KEPT,     // room: it cannot be released
    CM_WORKER_SENDS_CUT,      // match: one that was to go on, and could not
    // To the worker, at its start, in this order; keys, refused scenes and rooms of others before
    // OPEN_ALL, used tokens and bans before LET_IN.
    CM_WORKER_RECEIVES_PART,     // part: bytes of the configuration, or of a scene
    CM_WORKER_RECEIVES_BOOT,     // boot: what else it is
    CM_WORKER_RECEIVES_TICKET,   // ticket: the key of tickets to come back
    CM_WORKER_RECEIVES_OPEN,     // open: a room, of the scene that was told last
    CM_WORKER_RECEIVES_MATCH,    // match: one that it goes on with
    CM_WORKER_RECEIVES_OPEN_ALL, // its rooms are opened
    CM_WORKER_RECEIVES_LET_IN,   // it says READY, and players may come
    // To the worker, at any time.
    CM_WORKER_RECEIVES_ROOM,    // room: where one of another worker is
    CM_WORKER_RECEIVES_GONE,    // room: of another worker, it is no more
    CM_WORKER_RECEIVES_PORTS,   // ports: of all workers
    CM_WORKER_RECEIVES_START,   // the server is there, and has said so
    CM_WORKER_RECEIVES_USED,    // used: of another worker
    CM_WORKER_RECEIVES_BAN,     // ban
    CM_WORKER_RECEIVES_KEYS,    // keys: other ones, read again
    CM_WORKER_RECEIVES_REFUSE,  // room: its scene is hosted no more
    CM_WORKER_RECEIVES_SLOW,    // room: it is over its budget, and no place is left for it alone
    CM_WORKER_RECEIVES_RELEASE, // room: it goes on in a worker of its own, at the port
    CM_WORKER_RECEIVES_ASK,     // ask: what an operator asks
    CM_WORKER_RECEIVES_DRAIN,   // line: the reason; level 1: its matches are handed over
    CM_WORKER_RECEIVES_END,     // end: when the server ends
    CM_WORKER_RECEIVES_CUT,     // match: one that could not go on, wherever it was
    CM_WORKER_RECEIVES_SOCKET,  // socket: of a player by WebSocket, with the request read
    CM_WORKER_RECEIVES_UNDO,    // another worker could not start: nothing may be left
    CM_WORKER_MESSAGE_TYPES,
} cm_worker_message_type;

typedef enum cm_worker_part {
    CM_WORKER_PART_CONFIG,    // a cm_config
    CM_WORKER_PART_SCENE,     // packed
    CM_WORKER_PART_ON_DEMAND, // the scene of rooms that players open
    CM_WORKER_PART_MODULE,    // the bytes of a module's file
    CM_WORKER_PARTS,
} cm_worker_part;

// A match that has no end, by its head.
typedef struct cm_unfinished_match {
    uint64_t match_id, started_unix_ms;
    char room[CAROM_ROOM_NAME_MAX + 1]; // whose it is; "": of one without a name
    char refused[CM_NAME_MAX];          // its scene, if that is hosted no more; else ""
    bool known;                         // as in cm_live_match
} cm_unfinished_match;

typedef struct cm_worker_message {
    uint32_t type;
    union {
        cm_room_info room;
        uint16_t port;
        struct {
            uint32_t permille; // of a processor, by all rooms
            uint32_t rooms;
        } load;
        struct {
            uint32_t level;
            char text[CM_WORKER_TEXT_MAX];
        } line;
        cm_used_token used;
        struct {
            int32_t descriptor; // of this process; -1: none came
            cm_address from;
            char accept[CM_UPGRADE_ACCEPT_MAX];
        } socket;
        struct {
            bool by_address, banned;
            uint64_t who;
            char reason[CM_CONTROL_TEXT_MAX + 1]; // for the player; "": none
        } ban;
        struct {
            uint64_t us; // of the clock that both ends have
        } end;
        carom_token_keys keys;
        struct {
            uint64_t number; // of the question
            char text[CM_ADMIN_REQUEST_MAX];
        } ask;
        struct {
            uint32_t count;
            uint16_t port[CM_WORKERS_MAX];
        } ports;
        struct {
            uint32_t number; // of the room; of the totals: how many rooms there were
            uint32_t size;
            uint8_t bytes[CM_WORKER_TEXT_MAX]; // a cm_room_metrics or cm_worker_metrics
        } metrics;
        struct {
            uint32_t what; // a cm_worker_part
            uint32_t size;
            uint64_t total; // of all of its parts, one after another
            uint8_t bytes[CM_WORKER_TEXT_MAX];
        } part;
        struct {
            bool only_room; // it has all rooms of the server
            bool isolated;  // one room, whose module failed: no other is opened here
            bool terminal;  // the server's stdout is one
        } boot;
        carom_token_key ticket;
        cm_room_spec open;
        cm_unfinished_match match;
    };
} cm_worker_message;

typedef struct cm_worker_letter cm_worker_letter; // one that waits

typedef struct cm_worker_link {
    int descriptor;              // -1: no socket
    struct cm_worker_link *peer; // the other end in this process; NULL: none, or it was closed
    bool is_local;
    cm_worker_letter *first, *last; // what the socket did not take; of a local end: what came
    size_t waiting;                 // bytes
    uint64_t left_out;
} cm_worker_link;

// Two ends: of the supervisor and of the worker. False with errno.
bool cm_worker_link_pair(int ends[2]);
void cm_worker_link_open(cm_worker_link *link, int descriptor);
// Two ends in one process, which stay where they are.
void cm_worker_link_join(cm_worker_link *one, cm_worker_link *other);
void cm_worker_link_close(cm_worker_link *link);

// Of a text no more bytes go than it has. Texts that are too long are cut.
void cm_worker_link_send(cm_worker_link *link, const cm_worker_message *message);
// With a descriptor (SCM_RIGHTS), which is the other end's from now on; a message of
// CM_WORKER_RECEIVES_SOCKET that is not read has to have it closed.
void cm_worker_link_give(cm_worker_link *link, cm_worker_message *message, int descriptor);
void cm_worker_link_text(cm_worker_link *link, cm_worker_message_type type, uint32_t level,
                         const char *text);
// Bytes in as many parts as they need.
void cm_worker_link_bytes(cm_worker_link *link, cm_worker_part what, const void *bytes,
                          size_t size);
// Sends what waits. False: the other end is gone.
bool cm_worker_link_flush(cm_worker_link *link);
// True if something waits that the socket did not take.
bool cm_worker_link_is_full(const cm_worker_link *link);

typedef enum cm_worker_link_state {
    CM_WORKER_LINK_MESSAGE,
    CM_WORKER_LINK_EMPTY,
    CM_WORKER_LINK_ENDED,  // the other end is gone, and all that it said was read
    CM_WORKER_LINK_BROKEN, // what came is no message, or half of one
} cm_worker_link_state;
cm_worker_link_state cm_worker_link_next(cm_worker_link *link, cm_worker_message *message);

#endif
