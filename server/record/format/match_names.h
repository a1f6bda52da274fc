// The names of a match's players, for watchers of its stream: what its chunks hold commitments to.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_NAMES_H
#define CM_SERVER_RECORD_FORMAT_MATCH_NAMES_H

#include "server/record/format/match_file.h"

#define CM_MATCH_NAMES_MAX 65536u // of a match; later ones are left out

// A JSON object, as PROTOCOL.md 11 has players.json, read from the file as it is now: what was
// erased is not in it. To be freed with free. Errors as cm_match_open: of a match that runs
// CAROM_ERROR_IO; CAROM_ERROR_CORRUPT: a name is not the one that was committed to.
carom_result cm_match_names(const char *path, char **text, size_t *size, cm_match_error *error);

#endif
