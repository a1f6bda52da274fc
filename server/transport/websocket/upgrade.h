// The upgrade of an HTTP request to a WebSocket (RFC 6455, 4.2): what a request must say, and what
// it is answered. Pure.
#ifndef CM_SERVER_TRANSPORT_WEBSOCKET_UPGRADE_H
#define CM_SERVER_TRANSPORT_WEBSOCKET_UPGRADE_H

#include <stdbool.h>
#include <stddef.h>

#define CM_UPGRADE_KEY        24u // characters: 16 bytes as base64
#define CM_UPGRADE_ACCEPT_MAX 29u // bytes, the NUL included
#define CM_UPGRADE_ANSWER_MAX 256u

// The answer of Sec-WebSocket-Accept to a key. False: it is none.
bool cm_upgrade_accept(const char *key, char accept[CM_UPGRADE_ACCEPT_MAX]);
// True if a list with commas, as of Sec-WebSocket-Protocol, has this protocol's carom.N.
bool cm_upgrade_offers(const char *protocols);
// The page that asks is of the same host, or its origin stands in `allowed`, a list with commas. A
// request without an origin ("") is of no page.
bool cm_upgrade_is_allowed(const char *origin, const char *host, const char *allowed);
// The name of the room in a path that ends in /play/NAME, without its percent-encoding. False: it
// is no such path, or the name has other bytes than a room's may.
bool cm_upgrade_room(const char *path, char *name, size_t name_size);
// The answer by which the upgrade is done; its size.
size_t cm_upgrade_answer(const char *accept, char answer[CM_UPGRADE_ANSWER_MAX]);

#endif
