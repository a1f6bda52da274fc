// GET /stream/…: the list of streams, the chunks of matches' streams and their index (PROTOCOL.md
// 11), from the folder that workers write (record/format/stream_dir.h). What an address of a chunk
// gives never changes, so the newest are kept in memory; caches in front of the server keep all.
#ifndef CM_SERVER_SUPERVISOR_STREAM_FILES_H
#define CM_SERVER_SUPERVISOR_STREAM_FILES_H

#include "server/ops/http.h"

#define CM_STREAM_FILES_KEPT     16u        // chunks in memory
#define CM_STREAM_FILES_MAX      (4u << 20) // bytes of one that is kept
#define CM_STREAM_FILES_LISTED   64u        // newest streams that the list has
#define CM_STREAM_FILES_FRESH_US 1000000u   // that the list is given again

typedef struct cm_stream_files cm_stream_files;

cm_stream_files *cm_stream_files_create(const char *matches); // their directory; NULL: no memory
void cm_stream_files_destroy(cm_stream_files *files);
// CM_HTTP_NOT_THERE for any other path too. `names`: who asks may have the names of players, which
// are read from the match file each time, once the match has ended.
cm_http_found cm_stream_files_get(cm_stream_files *files, const char *path, bool names,
                                  cm_http_answer *answer);

// The list, for CM_STREAM_LIST: the indexes of the newest streams as an array, the newest first.
#define CM_STREAM_LIST "/stream/index.json"
cm_http_found cm_stream_files_list(cm_stream_files *files, uint64_t now_us, cm_http_answer *answer);

#endif
