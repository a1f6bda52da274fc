// What a server of `carom serve` has, however many processes host its rooms: configuration, keys,
// rooms to open, matches to go on with, its directories, its signals, its service manager, and
// where it writes.
#ifndef CM_SERVER_SUPERVISOR_BASE_H
#define CM_SERVER_SUPERVISOR_BASE_H

#include "server/ops/notify.h"
#include "server/auth/gate_db.h"
#include "server/auth/ban_lists.h"
#include "server/supervisor/files.h"
#include "server/node/resume.h"
#include "server/ops/status.h"

// Reads the configuration again from where it came; false with what is wrong.
typedef bool cm_serve_reread(cm_config *config, cm_failure *failure);

typedef struct cm_serve_base {
    cm_config config;
    cm_serve_screen screen;
    cm_log log; // on the screen
    carom_token_keys keys;
    carom_token_key ticket; // of the tickets to come back
    cm_serve_rooms rooms;   // loaded, to be opened
    cm_serve_matches matches;
    cm_serve_files files;
    cm_notify notify; // the service manager
    cm_serve_bans bans;
    cm_door_db *door; // NULL without tokens, or since it failed
    int signals;      // descriptor
    cm_serve_reread *reread;
} cm_serve_base;

// Reads keys and scenes, opens signals and directories, finds what is to be resumed. On failure
// cm_serve_base_undo and close are to be called.
carom_result cm_serve_base_open(cm_serve_base *base, const cm_config *config,
                                char *const *environment, cm_failure *failure);
void cm_serve_base_undo(cm_serve_base *base);
void cm_serve_base_close(cm_serve_base *base);

// MATCHES/door.db, where there are tokens.
carom_result cm_serve_base_open_door(cm_serve_base *base, cm_failure *failure);
// Once, when used tokens and bans can be kept no more: the match goes on.
void cm_serve_base_watch_door(cm_serve_base *base);
// SIGHUP: the log level is that of the configuration as it is now, and the key file is read again.
// One that is not sound changes nothing; false: there are no new keys.
bool cm_serve_base_reload(cm_serve_base *base);
// "listening on" each of so many ports, where everybody looks for it: the ready file, stdout, the
// log, the service manager.
carom_result cm_serve_base_ready(cm_serve_base *base, uint32_t rooms, const uint16_t *ports,
                                 uint32_t count, cm_failure *failure);
// Says that a second signal came, after which the process ends at once.
void cm_serve_base_log_stop(cm_serve_base *base, const char *signal);

#endif
