// The parts that every server of `carom serve` has, whatever number of processes hosts its rooms:
// configuration, keys, rooms to open, matches to go on with, its directories, its signals, its
// service manager, and where it writes.
#ifndef CM_SERVER_SUPERVISOR_BASE_H
#define CM_SERVER_SUPERVISOR_BASE_H

#include "server/ops/notify.h"
#include "server/auth/api_keys.h"
#include "server/auth/gate_db.h"
#include "server/auth/ban_lists.h"
#include "server/supervisor/files.h"
#include "server/node/resume.h"
#include "server/ops/status.h"

// Reads the configuration again from where it came; false with what is wrong.
typedef bool cm_server_reread(cm_config *config, cm_failure *failure);

typedef struct cm_server_base {
    cm_config config;
    cm_status_screen screen;
    cm_log log; // on the screen
    carom_token_keys keys;
    cm_api_keys api_keys;
    carom_token_key ticket; // of the tickets to come back
    cm_node_rooms rooms;    // loaded, to be opened
    cm_unfinished_matches matches;
    cm_server_files files;
    cm_notify notify; // the service manager
    cm_ban_lists bans;
    cm_gate_db *gate_db; // NULL without tokens, or since it failed
    int signals;         // descriptor
    cm_server_reread *reread;
} cm_server_base;

// Reads keys and scenes, opens signals and directories, finds what is to be resumed. On failure
// cm_server_base_undo and close are to be called.
carom_result cm_server_base_open(cm_server_base *base, const cm_config *config,
                                 char *const *environment, cm_failure *failure);
void cm_server_base_undo(cm_server_base *base);
void cm_server_base_close(cm_server_base *base);

// MATCHES/gate.db, where there are tokens.
carom_result cm_server_base_open_gate(cm_server_base *base, cm_failure *failure);
// Once, when used tokens and bans can be kept no more: the match goes on.
void cm_server_base_watch_gate(cm_server_base *base);
// The file of the API's keys, where the configuration has one.
carom_result cm_server_base_read_api_keys(const cm_config *config, cm_api_keys *keys,
                                          cm_failure *failure);
// SIGHUP: the log level is that of the configuration as it is now, and the files of keys are read
// again. One that is not sound changes nothing; false: there are no new keys.
bool cm_server_base_reload(cm_server_base *base);
// "listening on" each of so many ports, where everybody looks for it: the ready file, stdout, the
// log, the service manager.
carom_result cm_server_base_ready(cm_server_base *base, uint32_t rooms, const uint16_t *ports,
                                  uint32_t count, cm_failure *failure);
// Says that a second signal came, after which the process ends at once.
void cm_server_base_log_stop(cm_server_base *base, const char *signal);

#endif
