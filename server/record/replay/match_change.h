// Changes of a recorded match that keep its proof valid: erasing texts that name a person, and
// copying the whole.
#ifndef CM_SERVER_RECORD_REPLAY_MATCH_CHANGE_H
#define CM_SERVER_RECORD_REPLAY_MATCH_CHANGE_H

#include "server/record/format/match_file.h"

// Erases the texts of one client, or of all (`client_id` 0), with their salts: overwritten in the
// file, in place. `rows` gets how many had a text. Errors as cm_match_open; a file that a server
// holds is refused.
carom_result cm_match_erase(const char *path, uint64_t client_id, uint32_t *rows,
                            cm_match_error *error);
// A copy as one file (with what its log holds), without free pages; `redact` leaves all personal
// texts out. An existing `out` is refused (CAROM_ERROR_STATE).
carom_result cm_match_extract(const char *path, const char *out, bool redact,
                              cm_match_error *error);

#endif
