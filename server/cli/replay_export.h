// `carom replay MATCH` without --verify: options and messages of server/tools/export.
#ifndef CM_SERVER_CLI_REPLAY_EXPORT_H
#define CM_SERVER_CLI_REPLAY_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

// As given; `has_` where they were.
typedef struct cm_replay_export_options {
    const char *form; // of --export, or NULL
    const char *out;  // or NULL
    int64_t seek, from, to, every;
    double speed;
    bool events, has_seek, has_from, has_to, has_every, has_speed;
} cm_replay_export_options;

// True if any of them is set.
bool cm_replay_export_asked(const cm_replay_export_options *options);
// An exit status.
int cm_replay_export(const char *match, const cm_replay_export_options *options);

#endif
