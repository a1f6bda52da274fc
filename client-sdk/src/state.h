// The inside of a client, shared by the files that work on it (client, join, play).
//
//   client.c  the public face and the states: idle -> connecting -> joining -> playing -> idle
//   join.c    control messages: welcome, changes, farewells
//   comeback.c a second handshake beside a silent connection
//   play.c    views in, inputs out, the clocks between them
//   watch.c   what of them came, went and jumped
//   drawn.c   bodies and poses as they are to be drawn
//   local.c   a room in this process
//   exact.c   confirmed ticks in, of a room with exact sync
//   pointer.c the own pointer: its pose out, its contact to a device
//   touch.c   corrections of that contact
#ifndef CM_CLIENT_STATE_H
#define CM_CLIENT_STATE_H

#include "client-sdk/src/buttons.h"
#include "client-sdk/src/clock.h"
#include "client-sdk/src/events.h"
#include "client-sdk/src/exact.h"
#include "client-sdk/src/interp.h"
#include "client-sdk/src/keyframe.h"
#include "client-sdk/src/link.h"
#include "client-sdk/src/local.h"
#include "client-sdk/src/messages.h"
#include "client-sdk/src/mirror.h"
#include "client-sdk/src/pointer.h"
#include "client-sdk/src/predict.h"
#include "client-sdk/src/rooms.h"
#include "client-sdk/src/watch.h"

struct carom_client {
    carom_client_def def; // pointers into this struct
    char name[CAROM_PLAYER_NAME_MAX + 1];
    char room[CAROM_ROOM_NAME_MAX + 1];
    uint8_t user_data[CAROM_USER_DATA_MAX];
    carom_client_state state, announced;
    carom_reason reason;
    uint64_t now_us;
    uint64_t deadline_us;         // of connecting, joining, leaving
    uint64_t heard_us;            // when a datagram of the server came last
    uint64_t opened;              // that came by this link
    uint64_t bytes_in, bytes_out; // of links before it
    bool leaving;
    cm_transport *link;
    carom_client_link path; // to simulate
    bool has_path;          // by the next link
    bool is_detoured;       // the links have one
    bool is_local;          // the link leads to a room in this process
    carom_result (*open_link)(const cm_client_link_def *def, cm_transport **link); // tests have own

    // Coming back.
    cm_token_pass ticket; // sealed_size 0: none
    uint32_t grace_ms;
    cm_transport *second; // a handshake beside the link; NULL: none
    bool sent_hello;      // on the second: it may have the slot now
    uint64_t second_in;   // bytes that came by it
    uint64_t second_us;   // when they did last
    uint64_t answered_us; // when any second link had some
    uint64_t retry_us;
    uint32_t backoff_ms;
    uint32_t hint; // the unsigned reason that an earlier attempt received, perhaps forged; 0: none
    cm_keyframe_inbox keyframe; // of a welcome that came, in parts
    uint64_t replayed_us;       // when what came behind it was handled last
    cm_message_log messages;
    cm_client_rooms rooms;
    uint64_t messages_had;  // of the room, since the join: each once
    uint64_t messages_came; // the number of the last one that came by this connection
    cm_event_log events;
    uint32_t window; // ticks that the server rewinds by, at most
    uint32_t roster_count;
    carom_client_roster_row roster[CAROM_PLAYERS_MAX];

    // While joining or playing.
    cm_mirror *mirror;
    cm_interp interp;
    cm_body_watch watch;
    cm_predictor *predictor; // NULL: everything is interpolated
    cm_exact exact;
    cm_client_clock clock;
    uint64_t join_tick;    // of the first welcome: it came after the join
    bool viewed;           // a view of this epoch came
    bool news;             // a view came since the last reconciliation
    uint64_t input_tick;   // newest tick that an input was made for
    uint64_t first_input;  // oldest one made
    uint64_t settled_tick; // inputs up to it are settled
    double send_due;       // in ticks of the local clock
    double sent_at;        // the same: when inputs were sent last
    bool sent_again;       // the newest inputs went twice
    uint64_t sent_tick;    // newest of the last packet
    float loss;            // share of view packets, over the last 64 or so
    uint64_t arrived;      // tick of the newest view of this update; 0: none
    uint64_t played_us;
    double gaps[3];                 // ticks between the last updates, newest first
    uint8_t input[CAROM_INPUT_MAX]; // as it was set last
    cm_buttons buttons;             // what of it waits for a tick
    double drawn; // tick that was drawn when the input was set since the last one was made; or 0
    cm_input_log inputs;
    cm_client_pointer pointer; // what is rendered to the device; its declaration outlives rooms
    carom_client_stats stats;
};

// It has joined a room as a spectator.
static inline bool cm_client_spectates(const carom_client *client)
{
    return client->mirror != NULL && client->mirror->player == CM_CONTROL_SPECTATOR;
}

void cm_client_log(carom_client *client, carom_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// A number from the server as a reason.
carom_reason cm_client_reason(uint32_t said);
// Ends the connection at once and becomes idle.
void cm_client_end(carom_client *client, carom_reason reason);
// Starts over as a new player, with the address and the token of its connect.
void cm_client_start_over(carom_client *client);
// The time that joining may take, once the server answers.
uint64_t cm_client_join_us(const carom_client *client);

// Control messages that went by the link.
uint64_t cm_client_sent(const carom_client *client);
// The first link of a connection or a second one; the rest of the def is the client's.
carom_result cm_client_open_link(carom_client *client, cm_client_link_def *def,
                                 cm_transport **link);

// comeback.c
void cm_client_come_back(carom_client *client);
void cm_client_drop_second(carom_client *client);
// The welcome came by the second link, with all of its keyframe.
void cm_client_read_second(carom_client *client, const cm_control *welcome);
void cm_client_begin_ticket(carom_client *client);
// Keeps the welcome's ticket, by which the client comes back.
void cm_client_apply_ticket(carom_client *client, const cm_control *welcome);

// drawn.c: the game whose bodies are drawn; NULL before the room is joined
const carom_game *cm_client_drawn_game(const carom_client *client);

// join.c
// The prediction's world is as large as the mirror's: it is made by the update after the welcome's,
// or when something comes that needs it. False: the connection ended, since memory is short.
bool cm_client_begin_prediction(carom_client *client);
bool cm_client_hello(carom_client *client, cm_transport *link);
void cm_client_handle(carom_client *client, const cm_control *control);
// True where the message belongs to a keyframe that comes in parts, by the link or by the second
// one, and is dealt with. Once that is whole, its welcome is handled, and what came behind it.
bool cm_client_keyframe(carom_client *client, const cm_control *control, const uint8_t *bytes,
                        size_t size, bool second);
// Handles what waited behind that keyframe, or comes while it does: in its order, with at most so
// many ticks of exact sync.
void cm_client_replay(carom_client *client, uint64_t ticks);
void cm_client_control(carom_client *client, const uint8_t *bytes, size_t size);
void cm_client_forget_room(carom_client *client);
// Hands the rooms over, all of which are there.
void cm_client_tell_rooms(carom_client *client);
bool cm_client_send_control(carom_client *client, const cm_control *control);

// play.c
// The module's own bytes of an input: behind the pose of a pointer, where the room has pointers.
uint8_t *cm_client_own_input(const carom_client *client, uint8_t *input);
// A packet of channel 1: a view, or a message of the module.
void cm_client_packet(carom_client *client, const uint8_t *bytes, size_t size);
void cm_client_play(carom_client *client);
// New values of bodies, after a view or a change.
void cm_client_note_changed(carom_client *client);

#endif
