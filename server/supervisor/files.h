// The files of a server of `carom serve` in its directories, beside the matches.
#ifndef CM_SERVER_SUPERVISOR_FILES_H
#define CM_SERVER_SUPERVISOR_FILES_H

#include "carom/token.h"

#include "server/config/config.h"
#include "server/ops/failure.h"

#define CM_SERVE_LOCK_WAIT_MS 5000 // for the processes of a server that was killed to be gone

typedef struct cm_server_files {
    size_t there;         // bytes of the path of `matches` that were there before
    bool made_ticket_key; // by this start
    int lock;             // on the directory, of this process and those that it forks; -1: none
} cm_server_files;

// The directory of matches, made if missing, and its lock: whoever else has it is another server.
carom_result cm_server_files_open(cm_server_files *files, const cm_config *config,
                                  cm_failure *failure);
// The key of tickets stays over restarts, in a file that the first start makes.
carom_result cm_server_files_ticket(cm_server_files *files, const cm_config *config,
                                    carom_token_key *ticket, cm_failure *failure);
// ready_file with lines. Who waits for it never reads half of one: it appears complete.
carom_result cm_server_files_ready(const cm_config *config, const char *lines, cm_failure *failure);
// Removes what a failed start has made: the ticket key, and directories that are empty.
void cm_server_files_undo(cm_server_files *files, const cm_config *config);
void cm_server_files_close(cm_server_files *files);

#endif
