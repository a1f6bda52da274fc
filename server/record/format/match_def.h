// The definition and the end of a match, as passed to the store and written in its file.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_DEF_H
#define CM_SERVER_RECORD_FORMAT_MATCH_DEF_H

#include "server/config/room_spec.h"
#include "server/record/format/record.h"

typedef struct cm_match_def {
    uint64_t match_id; // names the file: MATCH_ID as 16 hex digits + ".match"
    const cm_scene *scene;
    const char *module; // "" for none
    uint32_t module_version;
    uint64_t seed;
    uint64_t started_unix_ms;
    const carom_module *rules; // NULL: the built-in module of that name
    const char *room;          // its name; NULL or "": none
    const char *opened;        // who opened it (config/room_spec.h); NULL or "": the configuration
    // Of one that goes on from another, cm_store_go_on; else 0.
    uint64_t parent, origin, gap_to;
} cm_match_def;

// "drained", "ended", "failed", "cut"; "none" for CM_MATCH_LIVE.
const char *cm_match_end_name(cm_match_end end);

#endif
