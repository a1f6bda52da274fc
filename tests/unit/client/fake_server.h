// A server of a few hundred lines for tests of the client: ENet on the virtual net, one game, one
// client, views of every body, and ways to misbehave that a real server does not have.
#ifndef CM_TEST_FAKE_SERVER_H
#define CM_TEST_FAKE_SERVER_H

#include "carom/client.h"

#include "server/transport/enet/net.h"
#include "shared/game/game_host.h"
#include "shared/net/net.h"
#include "shared/wire/control.h"
#include "shared/wire/packet.h"

#define FAKE_PORT    40500
#define FAKE_HISTORY 256u

typedef struct fake_server {
    cm_net *net;
    cm_net *net_before;
    cm_host *host;
    cm_transport *transport; // of the host
    cm_connection_id peer;   // generation 0: none
    cm_scene *scene;
    carom_game *game;
    cm_view_config config;
    uint64_t next_tick_us;
    uint32_t player;
    bool joined, welcomed;
    bool auto_welcome; // answers a hello with a welcome
    bool send_views;   //
    bool deltas;       // against the newest acked packet, else each body alone
    bool predicts;     // the client's hello asked for velocities
    uint32_t hellos, messages;
    uint16_t sequence;
    uint8_t epoch;
    uint64_t other_epochs; // input packets of another one
    uint8_t inputs[FAKE_HISTORY][CAROM_INPUT_MAX];
    uint64_t input_of[FAKE_HISTORY];         // tick that a row belongs to
    uint64_t settled, late, on_time, missed; // missed: did not come within the rewind window
    int32_t least_lead;
    bool any_lead;
    uint32_t input_packets, refused_inputs;
    // What each packet held, for deltas and for oracles.
    struct {
        uint16_t sequence;
        uint32_t tick;
        uint32_t count;
        bool acked;
        cm_view_entry entries[64];
    } packets[FAKE_HISTORY];
    uint16_t newest_acked;
    uint16_t told_sequence; // of the newest input packet
    uint32_t told_bits;
    bool any_acked;
} fake_server;

// A scene of one plane and `cubes` cubes with the sandbox module, on a net of its own.
void fake_server_make(fake_server *server, uint64_t seed, uint32_t cubes, const cm_link_def *link);
void fake_server_free(fake_server *server);
// Services, and steps and sends what is due at the net's present time.
void fake_server_run(fake_server *server);
void fake_server_control(fake_server *server, const cm_control *control);
void fake_server_bytes(fake_server *server, uint32_t channel, const uint8_t *bytes, size_t size);
void fake_server_welcome(fake_server *server);
// The room begins anew, at its first tick, in a new epoch: a welcome and its views follow.
void fake_server_seek_start(fake_server *server);
void fake_server_disconnect(fake_server *server, uint32_t data);

// A client with its server, 2 ms a round.
void fake_play(fake_server *server, carom_client *client, double seconds);

#endif
