// A match of one of the example games for tests: server, clients of the SDK, network and clock in
// one process, in virtual time and from one seed. Its recording is kept until it is closed.
#ifndef CM_TESTS_EXAMPLES_MATCH_H
#define CM_TESTS_EXAMPLES_MATCH_H

#include "carom/client.h"
#include "server/node/worker.h"
#include "shared/net/net.h"

#define MATCH_PLAYERS_MAX 12u
#define MATCH_HEARD_MAX   64u // messages of a client that are kept
#define MATCH_NEWS_MAX    16u // bytes of one

typedef struct match_news {
    uint64_t tick;
    uint8_t size, bytes[MATCH_NEWS_MAX];
} match_news;

typedef struct match_player {
    carom_client *client;
    match_news heard[MATCH_HEARD_MAX];
    uint32_t heard_count;
} match_player;

typedef struct match {
    const carom_module *module;
    cm_net *net;
    cm_scene *scene;
    cm_store *store;
    cm_worker *worker;
    cm_config config;
    match_player player[MATCH_PLAYERS_MAX];
    uint32_t players;
    char directory[64], path[512];
} match;

// The scene of client-sdk/examples/GAME/GAME.json, over a link of 60 ms round trip, jitter and 1%
// loss.
void match_open(match *m, const carom_module *module, const char *game);
void match_join(match *m); // one more client
// A frame of 1/60 s: the server, every client, and what each then does.
void match_frame(match *m, void (*play)(carom_client *client));
void match_bot(carom_client *client); // lets the module's bot play: for match_frame
const carom_game *match_game(const match *m);
// Ends the match and replays its recording: every hash must be that of the match. `state` is given
// the module's state at the end of the replay, `size` bytes of it.
void match_replay(match *m, void *state, size_t size);
void match_close(match *m);

// `carom module test` of the rules in this program: with what it finds wrong the test fails.
void trial(const carom_module *module, const char *game);

// The game alone, without server and clients. Every tick is made twice, the second time from a
// restore of the first and one contact at a time: both must be the same.
typedef struct offline {
    carom_game *game, *again;
    cm_scene *scene;
    void *image;
    size_t image_size;
} offline;
void offline_open(offline *o, const carom_module *module, const char *game, uint32_t players);
void offline_tick(offline *o, const carom_player_input *inputs, uint32_t count);
// tests/golden/GAME.txt must be this outcome and the hash.
void offline_golden(const offline *o, const char *game, const char *outcome);
void offline_close(offline *o);

#endif
