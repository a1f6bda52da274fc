// The reasons why a connection was refused or ended. One table for both ends; stable numbers:
// append only.
#ifndef CAROM_REASON_H
#define CAROM_REASON_H

#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_REASON_TABLE(X)                                                                      \
    X(NONE, "none")                                                                                \
    X(LEFT, "the client left")                                                                     \
    X(TIMEOUT, "nothing was heard for too long")                                                   \
    X(UNREACHABLE, "no server answered")                                                           \
    X(PROTOCOL_VERSION, "the other side speaks another protocol version")                          \
    X(ENGINE_VERSION, "the other side runs another engine version")                                \
    X(ROOM_FULL, "no free player slot")                                                            \
    X(DRAINING, "the server is shutting down")                                                     \
    X(MALFORMED, "a message could not be understood")                                              \
    X(HELLO_EXPECTED, "the first message must be a hello, once")                                   \
    X(FLOOD, "too many messages")                                                                  \
    X(MODULE_UNKNOWN, "the client does not have the room's module")                                \
    X(SCENE_REFUSED, "the client could not build the room's scene")                                \
    X(SERVER_ERROR, "the server met an error")                                                     \
    X(ROOM_ENDED, "the match is over")                                                             \
    X(NOT_BUILT, "what was asked for is not built yet")                                            \
    X(CLIENT_ERROR, "the client met an error")                                                     \
    X(TOKEN, "the server wants a token that it can open")                                          \
    X(TOKEN_EXPIRED, "the token's time is over")                                                   \
    X(TOKEN_USED, "the token was used before")                                                     \
    X(TOKEN_SERVER, "the token is for another server")                                             \
    X(TOKEN_ADDRESS, "the token is for another address")                                           \
    X(BANNED, "the player is banned")                                                              \
    X(KICKED, "an operator sent the player away")                                                  \
    X(SLOT_GONE, "the player's slot is not kept any more")                                         \
    X(ELSEWHERE, "another port of the server has the room")                                        \
    X(ROOM_UNKNOWN, "the server has no room of that name")                                         \
    X(GAME_REFUSED, "the game's rules do not let the player in")                                   \
    X(SERVER_FULL, "the server opens no more rooms")                                               \
    X(ROOM_TOO_LARGE, "the room's state is larger than a keyframe may be")                         \
    X(GAME_KICKED, "the game's rules sent the player away")                                        \
    X(MODULE_OTHER, "the client has another build of the room's module")                           \
    X(MATCH_CUT, "the match could not go on in the server's next process")                         \
    X(NO_SPECTATORS, "the room takes no spectators")

typedef enum carom_reason {
#define CAROM_REASON_ENUM(name, text) CAROM_REASON_##name,
    CAROM_REASON_TABLE(CAROM_REASON_ENUM)
#undef CAROM_REASON_ENUM
        CAROM_REASON_COUNT
} carom_reason;
CAROM_ENUM_32(carom_reason);

// A constant English text; never NULL.
CAROM_API const char *carom_reason_text(carom_reason reason);

#ifdef __cplusplus
}
#endif
#endif
