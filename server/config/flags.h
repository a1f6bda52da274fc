// The configuration of `carom serve` from its three places: file, environment, flags.
#ifndef CM_SERVER_CONFIG_FLAGS_H
#define CM_SERVER_CONFIG_FLAGS_H

#include "server/config/config.h"
#include "server/config/options.h"
#include "server/ops/failure.h"

typedef struct cm_flags {
    cm_config config;
    bool print_config, check_config;
} cm_flags;

// Flags: every key of the configuration with dashes or underscores, --config, --room, and those of
// a command's own, `more`. `all` collects every refused value (the failure's text is then "");
// NULL: the first one is the failure. An invalid command line ends reading at once.
carom_result cm_flags_read_config(int argc, char **argv, char *const *environment,
                                  const cm_option *more, uint32_t more_count, cm_config *config,
                                  cm_config_wrong *all, cm_failure *failure);

// The same with the flags of `carom serve`.
carom_result cm_flags_read(int argc, char **argv, char *const *environment, cm_flags *options,
                           cm_config_wrong *all, cm_failure *failure);

#endif
