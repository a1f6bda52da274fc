// A worker and four SDK clients on the virtual net, in virtual time, for the tests of coming back:
// paths are cut and healed, the server stalls or starts anew, its log and its recording are read.
#ifndef CM_TEST_AWAY_H
#define CM_TEST_AWAY_H

#include "carom/client.h"
#include "carom/token.h"

#include "server/node/worker.h"
#include "server/record/format/match_file.h"
#include "shared/net/net.h"
#include "tests/cluster/matches.h"

#define AWAY_PORT    9400u
#define AWAY_CLIENTS 4u
#define AWAY_STEP_US 4000u
#define AWAY_ID      100u // client id of the first, with tokens

typedef struct away_def {
    uint64_t seed;
    uint32_t grace_ms, timeout_ms; // 0: the config's
    uint32_t max_players;          // 0: as many as there are clients
    bool tokens;                   // else insecure
    bool record;
    uint32_t side; // cubes along an edge of the scene; 0: 3
    bool secret;   // nobody is told the inputs of others
    bool exact;    // exact sync
    uint32_t spectators, spectator_delay_s;
    bool lossless;              // else 25 ms, 5 ms of jitter, 1%
    const carom_module *module; // of both ends; NULL: the sandbox
} away_def;

typedef struct away {
    away_def def;
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    carom_token_keys keys;
    carom_token_key ticket_key;
    char directory[MATCHES_DIRECTORY];
    cm_store *store;
    cm_worker *worker;
    cm_used_tokens used;         // over the lives of workers
    cm_live_match *live;         // that the worker goes on with; NULL: a new match
    bool issues_spectators;      // the tokens
    carom_client_def client_def; // of the clients that join from now on
    carom_client *clients[AWAY_CLIENTS];
    uint16_t ports[AWAY_CLIENTS]; // of their first links
    bool stalled;                 // the worker does not run
    char log[65536];
} away;

void away_make(away *a, const away_def *def);
void away_free(away *a);
// The worker ends without a word, and another begins: same scene, keys and used tokens, another
// match.
void away_restart(away *a);
// The server is killed as it stands, what it has not committed is lost; and another goes on with
// the match. What is queued is committed by cm_store_pump.
void away_crash(away *a);

void away_step(away *a);
void away_run(away *a, double seconds);
// A new client i, which connects (with a token of its own, where there are tokens); and until it
// plays.
void away_connect(away *a, uint32_t i);
void away_join(away *a, uint32_t i);
// A token of client i, issued now.
void away_issue(const away *a, uint32_t i, char text[CAROM_TOKEN_TEXT_MAX]);
void away_drive(away *a, uint32_t i, float x);
// Seconds until the client has this state; 40 at the most, then the test fails.
double away_until(away *a, uint32_t i, carom_client_state state);

uint32_t away_logged(const away *a, const char *event);
cm_worker_stats away_stats(const away *a);
carom_client_stats away_client_stats(const away *a, uint32_t i);
// Drains the worker and opens its recording, which the caller closes.
cm_match_file *away_recording(away *a);

#endif
