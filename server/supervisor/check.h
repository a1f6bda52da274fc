// Checks that this machine has what a configuration of `carom serve` needs.
#ifndef CM_SERVER_SUPERVISOR_CHECK_H
#define CM_SERVER_SUPERVISOR_CHECK_H

#include "server/config/config.h"
#include "server/ops/failure.h"

typedef struct cm_check {
    const cm_config *config;
    const cm_config_wrong *refused; // keys of which nothing is checked; NULL: none
    char *const *environment;
    void (*wrong)(void *user, const char *text); // is told each thing that is wrong
    void *user;
} cm_check;

// Tells everything that is wrong; returns the worst. A part whose keys were refused is left out.
// Nothing stays behind: the address is bound for a moment, files are made and removed.
carom_result cm_server_check(const cm_check *check);

// Its parts, in order.
#define CM_SERVE_CHECKS 11u
typedef struct cm_server_check_part {
    const char *name;
    const char *good; // what it found where nothing is wrong
    const char *mend; // what to do where something is
    carom_result (*run)(const cm_check *check);
    const char *keys[6]; // of the configuration, that it goes by; NULL ends them
} cm_server_check_part;
extern const cm_server_check_part cm_server_checks[CM_SERVE_CHECKS + 1]; // NULL ends it

#endif
