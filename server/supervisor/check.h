// Whether this machine has what a configuration of `carom serve` needs.
#ifndef CM_SERVER_SUPERVISOR_CHECK_H
#define CM_SERVER_SUPERVISOR_CHECK_H

#include "server/config/config.h"

// Reports everything that is wrong, on stderr; the worst status. Nothing stays behind: the address
// is bound for a moment, files are made and removed.
int cm_serve_check(const cm_config *config, char *const *environment);

// Its parts, in order. A part reports what is wrong by cm_cli_error, and returns a status.
#define CM_SERVE_CHECKS 10u
typedef struct cm_serve_check_part {
    const char *name;
    const char *good; // what it found where nothing is wrong
    const char *mend; // what to do where something is
    int (*run)(const cm_config *config, char *const *environment);
} cm_serve_check_part;
extern const cm_serve_check_part cm_serve_checks[CM_SERVE_CHECKS + 1]; // NULL ends it

#endif
