// An HTTP/1.1 server of a few pages: the shell round http_head.h and libmicrohttpd. It belongs to a
// loop that has other things to do: a turn never blocks, and its work is bounded whatever comes.
//
//   accept -> READING -> (head is good) -> WAITING for its page -> WRITING -> closed
//                     -> (head is bad)  -> LINGERING -> closed
//
// One request a connection. READING and LINGERING are ours, WAITING and WRITING the library's: a
// head is looked at in the socket's buffer (MSG_PEEK), and the library gets the socket once the
// whole head is good, since its version 0.9.75 answers 200 to line ends without CR, to a folded
// first header, to two Content-Lengths and to Transfer-Encoding beside Content-Length, at every
// MHD_OPTION_STRICT_FOR_CLIENT. A connection whose page is not made yet is suspended. Typical: a
// scrape of 200 KiB each 15 s.
#ifndef CM_SERVER_OPS_HTTP_H
#define CM_SERVER_OPS_HTTP_H

#include "server/ops/http_head.h"
#include "server/ops/page.h"
#include "shared/wire/address.h"

#define CM_HTTP_CONNECTIONS_MAX 32u
#define CM_HTTP_REQUEST_US      5000000u  // from the connect to the whole head
#define CM_HTTP_PAGE_US         5000000u  // for a page to be made
#define CM_HTTP_ANSWER_US       10000000u // for an answer to be read
#define CM_HTTP_LINGER_US       1000000u  // for the other end to close after a bad head
// If no place is free, a new connection evicts one that has been in its state this long, or that
// lingers.
#define CM_HTTP_EVICT_READING_US 500000u
#define CM_HTTP_EVICT_WRITING_US 2000000u
// Of a turn. The library takes a part of an answer for each connection and turn.
#define CM_HTTP_TURN_ACCEPTS 16u
#define CM_HTTP_TURN_PAGES   4u
#define CM_HTTP_TURN_BYTES   (256u << 10)
#define CM_HTTP_PART_BYTES   (CM_HTTP_TURN_BYTES / CM_HTTP_CONNECTIONS_MAX)

typedef struct cm_http cm_http;

typedef enum cm_http_found {
    CM_HTTP_NOT_THERE,
    CM_HTTP_LATER, // it is asked again
    CM_HTTP_ANSWERED,
} cm_http_found;

typedef struct cm_http_answer {
    uint32_t status;
    const char *type; // of the content
    cm_page *page;    // held for the connection, which drops it
    // Of a page that caches may keep: how long (Cache-Control), and its entity tag, quoted. NULL
    // and "": none may.
    const char *cache;
    char etag[CM_HTTP_ETAG_MAX];
    const char *allow;       // methods, for Allow; NULL: it is left out
    const char *origin;      // that may read it (CORS), of a text that stays; NULL: none
    cm_http_refusal refusal; // counts as one of these; CM_HTTP_GOOD: as none
    const char *encoding;    // "gzip": the page is packed so; NULL: it is plain
} cm_http_answer;

// The party that asks, and the body.
typedef struct cm_http_asker {
    uint64_t number;  // of the request: no other of the process has it
    uint64_t network; // cm_address_network
    const char *body; // of request->body_size bytes, with a NUL behind
} cm_http_asker;

typedef struct cm_http_def {
    cm_address address; // port 0: any free one
    cm_http_found (*get)(void *user, const cm_http_request *request, const cm_http_asker *asker,
                         cm_http_answer *answer);
    // A request to upgrade to a WebSocket, whose head was read: CM_HTTP_GOOD if the descriptor is
    // taken, of which no byte behind the head was read. NULL: upgrades are answered as pages.
    cm_http_refusal (*upgrade)(void *user, const cm_http_request *request, int descriptor);
    void *user;
} cm_http_def;

typedef struct cm_http_stats {
    uint32_t connections;
    uint64_t answered, failed; // by a page; of these with a status from 500 on
    uint64_t upgraded;
    uint64_t refused[CM_HTTP_REFUSAL_COUNT];
    uint64_t sent_bytes; // of pages, and of refusals of bad heads
} cm_http_stats;

// NULL, and why in `error`.
cm_http *cm_http_create(const cm_http_def *def, char *error, size_t error_size);
void cm_http_destroy(cm_http *http);
uint16_t cm_http_port(const cm_http *http);

// For poll: readable when a turn has something to do. Of NULL, which never has: -1.
int cm_http_descriptor(const cm_http *http);
// True: more is to be done at once. Of NULL: nothing.
bool cm_http_turn(cm_http *http, uint64_t now_us);
void cm_http_stats_get(const cm_http *http, cm_http_stats *stats);

#endif
