// The Carom client: connect, send inputs, predict your own body, see the others.
//
// A handle belongs to one thread at a time; there are no globals. Time is an argument (microseconds
// of any monotonic clock). Callbacks run only inside carom_client_update. Memory comes from the
// allocator of the def. Every refusal has a stable reason (carom/reason.h).
//
// The life of a handle: create, connect, then update once a frame. carom_client_connect returns at
// once; state_changed (or carom_client_get_state) reports its progress: CONNECTING, JOINING,
// PLAYING, and IDLE again with a reason when it failed or ended; then connect may be called again.
// While PLAYING: set_input whenever the player's input changes, and draw every body with its pose:
//
//   carom_client_transform rows[MOST];
//   uint32_t count = carom_client_transforms(client, rows, MOST);
//   for (uint32_t i = 0; i < count && i < MOST; i++) {
//       draw(rows[i].body, rows[i].position, rows[i].orientation);
//   }
//
// A body's shapes do not change while its id lives: read them by carom_body_shapes and
// carom_shape_get on carom_client_world. The module defines the meaning of an input; carom/game.h
// describes the sandbox's nine bytes.
#ifndef CAROM_CLIENT_H
#define CAROM_CLIENT_H

#include "carom/durability.h"
#include "carom/game.h"
#include "carom/reason.h"
#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_client carom_client;

typedef enum carom_client_state {
    CAROM_CLIENT_IDLE = 0,   ///< not connected; carom_client_get_reason: why the last connection
                             ///< ended
    CAROM_CLIENT_CONNECTING, ///< no answer yet
    CAROM_CLIENT_JOINING,    ///< answered; waiting for the room and its first view
    CAROM_CLIENT_PLAYING,
    /// Joined, but nothing was received for unstable_ms. The world goes on as predicted, and the
    /// client tries to come back to its slot by itself: PLAYING again, or JOINING by another
    /// connection, or IDLE after timeout_ms. If a crash of the server undid the join itself,
    /// CONNECTING: it joins as a new player.
    CAROM_CLIENT_UNSTABLE,
} carom_client_state;
CAROM_ENUM_32(carom_client_state);

/// The phase of an event (carom_event of game.h).
typedef enum carom_event_phase {
    CAROM_EVENT_PREDICTED = 1, ///< this client's prediction made it
    CAROM_EVENT_CONFIRMED, ///< it happened: no late input changes that, nor a crash of the server
    CAROM_EVENT_CANCELLED, ///< reported as PREDICTED, but it did not happen in that tick
} carom_event_phase;
CAROM_ENUM_32(carom_event_phase);

/// A room of the server. Texts live for the call.
typedef struct carom_client_room_row {
    const char *name, *scene, *module;
    uint32_t players, max_players;
    uint16_t port; ///< of the worker that has it
} carom_client_room_row;
#define CAROM_CLIENT_ROOMS_MAX 256 ///< that a client receives

/// A message of the server's operator for people. The text lives for the call.
typedef struct carom_client_notice {
    const char *text; ///< at most 256 bytes of printable UTF-8
    /// CAROM_REASON_NONE: a message. CAROM_REASON_DRAINING: the server ends in seconds_left.
    /// CAROM_REASON_BANNED: the text says why; the connection ends next, or is refused.
    carom_reason reason;
    uint32_t seconds_left;
} carom_client_notice;

/// A change among the bodies that are drawn.
typedef enum carom_client_body_change_kind {
    CAROM_BODY_APPEARED = 1,
    CAROM_BODY_VANISHED,
    /// It is somewhere else now, farther than its speed explains by more than snap_distance: it was
    /// put there, or corrected. It is never drawn on the way, and nothing that follows it (a
    /// camera, a trail) should glide there.
    CAROM_BODY_TELEPORTED,
    CAROM_BODY_CHANGED_OWNER,
} carom_client_body_change_kind;
CAROM_ENUM_32(carom_client_body_change_kind);

typedef struct carom_client_body_change {
    carom_client_body_change_kind kind;
    carom_body_id body; ///< of VANISHED: no longer valid
    /// The slot of the player who steers it (the module's player_body), else CAROM_NO_PLAYER; of
    /// VANISHED: who did.
    uint32_t owner;
} carom_client_body_change;

/// The definition of a client. Always begin with carom_default_client_def, whose values stand here
/// in brackets; fields without one are 0. A callback may be NULL. It must not call
/// carom_client_destroy.
typedef struct carom_client_def {
    /// Set by carom_default_client_def: bytes of the struct that the caller was compiled with. A
    /// library that knows further fields behind them takes their defaults.
    uint32_t struct_size;
    /// The allocator of all memory of the client [zeros: malloc and free]. When it returns NULL the
    /// connection ends with a reason, and nothing else happens.
    carom_allocator allocator;
    /// Fills `size` bytes from a cryptographic random source, for the keys of connections [NULL:
    /// the operating system's]. A test sets a seeded one, to be repeatable; in a game a predictable
    /// one would let others read and change the traffic.
    void (*random)(void *user, void *bytes, size_t size);
    void *user; ///< passed to the callbacks
    /// Receives diagnostic messages for programmers. NULL: none are written anywhere.
    void (*log)(void *user, carom_log_level level, const char *text);
    /// Called at each change of the connection's state. NULL: poll carom_client_get_state in each
    /// frame.
    void (*state_changed)(void *user, carom_client_state state, carom_reason reason);
    /// A reliable message from the module on the server, and the tick that sent it: each once and
    /// in order, also if the client has to come back in between. In a recorded match it arrives
    /// when its tick is durable: no crash undoes it. NULL: messages are lost.
    void (*message)(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size);
    /// An event that the module emitted, by its id (tick, kind, key, subjects): PREDICTED at most
    /// once, however often prediction runs the tick again, then either CONFIRMED or CANCELLED,
    /// once. An event that was not predicted comes as CONFIRMED only. The other bytes of a
    /// confirmed event may differ from the predicted ones. An event a tick earlier than predicted
    /// is another event: the predicted one is cancelled, the other confirmed; but within the
    /// module's event_tolerance it is the same: then CONFIRMED has the server's tick, and
    /// `predicted_tick` the one that it was told with as PREDICTED (which two agree where there is
    /// no tolerance; 0: it was not predicted). Corrections within it are not told. A prediction is
    /// confirmed or cancelled when no late input can change its tick any more and, in a recorded
    /// match, the tick is durable: a round trip, the server's rewind_ms and some 0.2 s later. The
    /// end of the connection cancels open events (but carom_client_destroy calls nothing). Events
    /// confirmed while a player is cut off come when the player has its slot again.
    void (*event)(void *user, carom_event_phase phase, const carom_event *event,
                  uint64_t predicted_tick);
    /// A body appeared, vanished, was put elsewhere or has another owner, since the update before:
    /// at the end of an update, by ascending slots. What carom_client_transforms tells is what it
    /// told before, plus what appeared, without what vanished; the end of a connection lets all
    /// vanish, before state_changed. With prediction these are the prediction's: a body that it
    /// spawned appears a round trip before a view has it, and vanishes again if the server did
    /// not. NULL: nothing is compared.
    void (*body_changed)(void *user, const carom_client_body_change *change);
    /// A message of the server's operator: show it to the player. NULL: it is ignored.
    void (*notice)(void *user, const carom_client_notice *notice);
    /// The answer to carom_client_ask_rooms. NULL: the answer is ignored.
    void (*rooms)(void *user, const carom_client_room_row *rows, uint32_t count);
    /// The player's display name [NULL: none]: printable UTF-8 of at most CAROM_PLAYER_NAME_MAX
    /// bytes (no control characters, no marks that turn the direction of text); copied. A token's
    /// name replaces it.
    const char *name;
    /// The room to join, unless a token names it [NULL: the server's first one]: printable UTF-8 of
    /// at most CAROM_ROOM_NAME_MAX bytes; copied. An unknown name is refused, or opens a room if
    /// the server has `on_demand`.
    const char *room;
    /// Passed to the module's `join`, which may refuse because of it; copied. A client may send
    /// anything here: facts that a server must trust belong into a token, whose user data replaces
    /// this.
    const uint8_t *user_data;
    uint32_t user_data_size; ///< at most CAROM_USER_DATA_MAX
    /// Simulates the own body and bodies near it, ahead of the server [true]. The player then feels
    /// no delay, at the price of stepping some ticks again whenever a view differs. False: all
    /// bodies are interpolated, the own body answers a round trip and interpolation_delay_ms late,
    /// and nothing is simulated: for weak machines. With exact sync it is all the same: the world
    /// is stepped here, and predicted.
    bool predict;
    /// The rules of the room, if they are not among the built-in ones. They must be built from the
    /// server's sources, or the client is refused.
    const carom_module *module;
    /// The time without an answer after which connecting fails [5000 ms]; joining, once the server
    /// answers, may take three times that. Lower: an absent server is reported sooner, but players
    /// on bad paths fail to connect.
    uint32_t connect_timeout_ms;
    /// Silence after which a connection is given up for good [15000 ms], or the server's grace_ms
    /// where that is longer; three times it while the server answers attempts to come back. Lower:
    /// slots are given up to which the client could have come back.
    uint32_t timeout_ms;
    /// Silence after which the state is UNSTABLE, and another connection is tried beside this one
    /// [500 ms]. Lower: the client comes back sooner from a dead path, but the player sees hiccups
    /// that would have passed.
    uint32_t unstable_ms;
    /// Comes back by itself while the server keeps its slot [true]. False: silence ends in IDLE,
    /// and the player's slot is lost once the server's grace is over.
    bool reconnect;
    /// Time of one frame for simulating bodies [2000 us]. What it pays for is simulated ahead of
    /// the server: what touches the own body first, then by distance from it, from where it will
    /// be, and from the other players, whose inputs views relay, one at rest for a tenth of one
    /// that moves; the rest is interpolated, some 100 ms in the past. Larger: what is pushed moves
    /// at once further away. 0: the own body alone.
    uint32_t predict_budget_us;
    /// Nanoseconds that a step of one body takes on this machine [0: measured as it goes]. A test
    /// sets it, to be repeatable: which bodies are simulated then follows from views alone. Some
    /// 1000 ns.
    uint32_t predict_cost_ns;
    /// Within this time a correction's jump is worn off, evenly [0.04 s]; of a body that another
    /// player steers within 2.25 times as long. Longer: softer, and longer beside the
    /// truth. 0: all jumps.
    float smoothing_s;
    /// Metres of a jump that is not worn off, nor drawn between two views or ticks, but shown at
    /// once [2]: beyond one and a half times what the body's speed explains.
    float snap_distance;
    carom_error *error; ///< carom_client_create writes here what it refused; not kept
    /// A message from the module on the server that is not sent again (carom_game_send_unreliable),
    /// and the tick that sent it: each once or never, in any order, as soon as the tick is made, so
    /// that a rewind may still take back what it tells of. NULL: they are ignored.
    void (*unreliable)(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size);
    /// Watches the room, as the server shows it to spectators (its `spectators`,
    /// `spectator_delay_s`), and takes no slot: without inputs, messages and prediction. Joining
    /// may then take as long as the delay. A token may say so too (carom/token.h).
    bool spectate;
} carom_client_def;

// Life -----------------------------------------------------------------------------------------

CAROM_API carom_client_def carom_default_client_def(void);
/// CAROM_ERROR_ARGUMENT for a def out of its limits, with the field's name in def->error ("name",
/// "module.state_size", …); CAROM_ERROR_MEMORY.
CAROM_API carom_result carom_client_create(const carom_client_def *def, carom_client **client);
/// Leaves at once, if connected (one farewell, not waited for), and releases everything. No
/// callback is called: to be told of the end, disconnect and update until idle.
CAROM_API void carom_client_destroy(carom_client *client);

/// host: an IPv4 or IPv6 address (without brackets or zone) or a name, which is looked up here and
/// may block; if its IPv4 address does not answer, its IPv6 address is tried after 1.6 seconds. The
/// outcome comes through carom_client_update. CAROM_ERROR_STATE where the client is not idle,
/// CAROM_ERROR_NOT_FOUND where the name has no address, CAROM_ERROR_IO where there is no socket.
CAROM_API carom_result carom_client_connect(carom_client *client, const char *host, uint16_t port,
                                            uint64_t now_us);
/// The same with a connect token (carom/token.h), which names the servers and identifies the
/// player; name and user data of the def are then not used. CAROM_ERROR_MAGIC for a text that is no
/// token.
CAROM_API carom_result carom_client_connect_token(carom_client *client, const char *token,
                                                  uint64_t now_us);
/// Leaves: notifies the server and becomes idle in a later update, with CAROM_REASON_LEFT.
CAROM_API void carom_client_disconnect(carom_client *client, uint64_t now_us);

/// Does everything that is due: receives, steps the prediction, sends inputs. Call once a frame.
CAROM_API void carom_client_update(carom_client *client, uint64_t now_us);

CAROM_API carom_client_state carom_client_get_state(const carom_client *client);
/// A signed refusal of the server is reported at once, after two or three round trips; an unsigned
/// one (another protocol version, a token that no key opens), which may be forged on the path, only
/// when connect_timeout_ms is over.
CAROM_API carom_reason carom_client_get_reason(const carom_client *client);

// Input of the player --------------------------------------------------------------------------

/// The input used for every tick from now on, until set again (zeros at first); exactly the
/// module's input_size bytes. May be set several times between two updates: of what the module
/// names as `buttons` each press and release gets a tick of its own. CAROM_ERROR_STATE before the
/// room is joined; CAROM_ERROR_ARGUMENT for another size, or where the module's check_input refuses
/// the bytes: the input set before stays.
CAROM_API carom_result carom_client_set_input(carom_client *client, const void *bytes,
                                              uint32_t size);
/// Lets the module's bot (game.h) choose, and sets that input; `random`: another number each time.
/// CAROM_ERROR_NOT_FOUND: the module has none; CAROM_ERROR_STATE, _ARGUMENT as above.
CAROM_API carom_result carom_client_play_bot(carom_client *client, uint64_t random);
/// A reliable message to the module on the server, at most CAROM_MESSAGE_MAX bytes; only while
/// PLAYING or UNSTABLE. It arrives once, also where the client has to come back in between.
/// CAROM_ERROR_FULL where 128 of them have not arrived yet.
CAROM_API carom_result carom_client_send(carom_client *client, const void *bytes, uint32_t size);
/// Asks which rooms the server has, of all its workers; `rooms` of the def gets them. While PLAYING
/// or UNSTABLE; a server answers at most every 2 s and ignores requests in between. To change
/// rooms: leave, and connect with that room's name, or with a token for it. While CONNECTING, as
/// right after carom_client_connect: the client joins only once the rooms were told, which needs no
/// token; a carom_client_disconnect in that callback leaves it at the list, without having joined.
/// A server answers an address at most every 2 s; without any answer for connect_timeout_ms
/// connecting fails. CAROM_ERROR_STATE, CAROM_ERROR_IO.
CAROM_API carom_result carom_client_ask_rooms(carom_client *client);

// View of the player ---------------------------------------------------------------------------

/// The pose of a body to draw now.
typedef struct carom_client_pose {
    carom_vec3 position; ///< of the body's origin
    carom_quat orientation;
    carom_vec3 linear_velocity;
    carom_vec3 angular_velocity;
    bool predicted; ///< else interpolated
} carom_client_pose;

/// The player's slot, 0 before the room is joined; CAROM_NO_PLAYER of a spectator, for whom all
/// that sets an input or sends a message is CAROM_ERROR_STATE.
CAROM_API uint32_t carom_client_player(const carom_client *client);
/// The body that the player steers, or the null id; as predicted, where the client predicts.
CAROM_API carom_body_id carom_client_own_body(const carom_client *client);
/// The players in the room, by ascending slots, as the server last reported: fills up to `capacity`
/// rows; returns the number of players, at most CAROM_PLAYERS_MAX.
typedef struct carom_client_roster_row {
    uint32_t player; ///< slot
    char name[CAROM_PLAYER_NAME_MAX + 1];
    carom_body_id body; ///< the player's own, or the null id
    uint32_t rtt_ms;
    bool away; ///< cut off; the slot is kept for a while
} carom_client_roster_row;
CAROM_API uint32_t carom_client_roster(const carom_client *client, carom_client_roster_row *rows,
                                       uint32_t capacity);
/// Bodies in use have slots below this count; a free slot has the null id. Both may change in an
/// update. Where the client predicts they are the prediction's: a body that it destroyed is gone,
/// one that it spawned is there, a round trip before a view says so (carom_client_world has that
/// one's shapes only then).
CAROM_API uint32_t carom_client_body_slots(const carom_client *client);
CAROM_API carom_body_id carom_client_body_at(const carom_client *client, uint32_t slot);
/// The pose at which to draw a body at the time of the last update. CAROM_ERROR_STALE_ID for one
/// that is gone, CAROM_ERROR_STATE before the room is joined.
CAROM_API carom_result carom_client_body_pose(const carom_client *client, carom_body_id body,
                                              carom_client_pose *pose);
/// One row of carom_client_transforms.
typedef struct carom_client_transform {
    carom_body_id body;
    carom_vec3 position; ///< of the body's origin
    carom_quat orientation;
    bool predicted; ///< else interpolated
} carom_client_transform;
/// The same for all bodies at once, in ascending order of their slots: fills up to `capacity` rows;
/// returns the number of bodies, 0 before the room is joined. With rows for as many as the scene's
/// limit of bodies, one call a frame feeds a renderer. `out` may be NULL where `capacity` is 0.
CAROM_API uint32_t carom_client_transforms(const carom_client *client, carom_client_transform *out,
                                           uint32_t capacity);
/// The mirror world, with the bodies' shapes: read only, valid until the next update. The mirror is
/// at the newest view; to query the drawn poses (carom/query.h), give the filter the poses of the
/// bodies that carom_client_body_pose draws elsewhere. In a scene that has bodies with a history
/// every input carries the time that was drawn when it was set, so that the module may query the
/// same world on the server (carom_world_query_seen).
CAROM_API const carom_world *carom_client_world(const carom_client *client);
/// Public part of the module's state as of the newest view, with exact sync of the newest confirmed
/// tick: the module's own struct, in the words of this machine, valid until the next update. NULL
/// and 0 before the room is joined.
CAROM_API const void *carom_client_public_state(const carom_client *client, uint32_t *size);
/// The same as predicted, at the tick that predicted bodies are drawn at: what the player's own
/// input did is there at once, and may be taken back by a view. Where nothing is predicted, it is
/// the public state. Valid until the next update.
CAROM_API const void *carom_client_predicted_state(const carom_client *client, uint32_t *size);

// Durability -----------------------------------------------------------------------------------

/// Two acks, in ticks of the match. A tick is simulated and shown at once; it is settled when the
/// server accepts no more input for it, and durable when it is written as the match's operator
/// chose. An effect outside the match that cannot be undone (a prize, a purchase) should wait until
/// durable_tick has reached its tick: that takes some 0.2 s. If durability is
/// CAROM_DURABILITY_NONE, or LOST in mid-match, no later tick becomes durable, and the match goes
/// on.
typedef struct carom_client_acks {
    uint64_t simulated_tick; ///< of the newest view
    uint64_t settled_tick;   ///< the player's inputs up to it are final
    uint64_t durable_tick;   ///< the whole match up to it is written
    carom_durability durability;
} carom_client_acks;

/// Zeros before the room is joined; a room that goes back to an earlier tick lowers them.
CAROM_API void carom_client_acks_get(const carom_client *client, carom_client_acks *acks);

// Statistics -----------------------------------------------------------------------------------

#define CAROM_ERROR_BUCKETS 64

typedef struct carom_client_stats {
    uint64_t server_tick;    ///< of the newest view
    uint64_t predicted_tick; ///< the client's own clock
    uint32_t rtt_ms;
    /// The mean deviation of the views' times of arrival from their usual rhythm.
    uint32_t jitter_ms;
    /// The delay at which bodies that are not predicted are shown: one and a half view intervals,
    /// plus a margin for the jitter.
    uint32_t interpolation_delay_ms;
    uint64_t views, view_packets;
    uint64_t packets_lost;        ///< of the packets of views; a share of both is the path's loss
    uint64_t packets_refused;     ///< opened, but not what they should be
    uint64_t bytes_in, bytes_out; ///< datagram payloads as ENet counts them
    uint64_t inputs_sent;
    uint64_t keyframe_size, keyframe_have; ///< bytes of a large world that comes while joining, and
                                           ///< those that came; 0: none is awaited
    uint64_t comebacks;       ///< times that the client came back to its slot by another connection
    uint64_t reconciles;      ///< times the own body was rewound and stepped again
    uint64_t predicted_steps; ///< world steps made by the predictor
    uint64_t desyncs;         ///< views that decoded to something else than was sent; with exact
                              ///< sync: times that the world was not the server's
    /// Prediction error: distance of the own body's pose shown at tick t from the server's at tick
    /// t, before that view corrects it; metres. Bucket i counts errors below 0.1 mm x 1.25^i.
    uint64_t error_count;
    double error_sum, error_max;
    uint64_t error_buckets[CAROM_ERROR_BUCKETS];
    float input_lead; ///< ticks, as the server reported last: how early inputs came, at the least
    /// The number of views that reported a lead, the sum of their leads, and the number that
    /// reported a late input.
    uint64_t lead_reports, late_reports;
    double lead_sum;
    /// The ticks that carom_client_body_pose draws, with the part of a tick that has passed: of
    /// predicted bodies, and of those that are interpolated. 0 until the first view since the room
    /// was joined, or joined again.
    double predicted_at, interpolated_at;
} carom_client_stats;

CAROM_API void carom_client_stats_get(const carom_client *client, carom_client_stats *stats);

// Pointers -----------------------------------------------------------------------------------
//
// A pointer is a kinematic body of the scene whose pose its player sets, for each tick; bodies that
// touch it push back, so that a haptic device or a steering wheel can be driven. Once a device
// period pass the device's pose, let the client step the contact at the room's tick rate, and apply
// the wrench to the device:
//
//   carom_client_pointer_set(client, &pose);
//   carom_client_update(client, now_us);
//   carom_client_pointer_wrench(client, &wrench);
//
// The wrench is found here, in the prediction, at once, and needs no round trip: the server's views
// only correct the bodies that the pointer touches. To stay passive it is rendered by two rules.
//
// The sampled bound: a wall of stiffness K (N/m) and damping B (N s/m) that is held for a period T
// is passive only while the device's own physical damping b is above K T / 2 + B. Otherwise K and B
// are both reduced to it, by one factor, and `limited` is set. Source: J. E. Colgate and G.
// Schenkel, "Passivity of a class of sampled-data systems", American Control Conference 1994.
//
// Energy: what the contact has taken from the device is counted, exactly, since the force is held
// between samples, and what the bodies that touch it brought by their own motion: what falls on a
// hand may push it. The contact gives back no more than that: if it could give more within the next
// period, the wrench is made smaller, and `withheld` is set. This holds whatever the network, a
// correction or a solver does. After the passivity observer of B. Hannaford and J.-H. Ryu,
// "Time-domain passivity control of haptic interfaces", IEEE Transactions on Robotics and
// Automation 18 (1), 2002.
//
// Corrections: one moves what the pointer touches, and the force with it. It is worn off within
// some 20 ms, and the energy that it put into the contact is not given back: that share of the
// force, `foreign`, is left out while the contact gives energy, until the contact ends. A period of
// the device also bounds an update: a correction takes a quarter of it, and then the next update's.
//
// A scene for touch should use the volume solver (the others do not push a kinematic body back from
// what cannot move), a small replication.position_step (views are corrected to it), and a tick rate
// as fast as the device.

/// The properties of the device. Zeros: unknown; then the bound is not applied, the count of energy
/// is.
typedef struct carom_pointer_device {
    float period;          ///< s, between two updates
    float mass;            ///< kg; 0: not known, then damping x period, which is less
    float damping;         ///< b, N s/m: physical, of the mechanism and a light grip
    float angular_damping; ///< N m s/rad; 0: the device does not turn, or it is not limited by it
    /// Of the contact. 0: derived from the scene, which works with the volume solver only
    /// (carom_volume_bound); the contact of other solvers has no fixed stiffness.
    float stiffness;       ///< K, N/m
    float contact_damping; ///< B, N s/m
    /// The most that the device can render, N and N m; 0: no bound. Said here it is counted: a
    /// device that renders less than it is given gets another energy than the count says.
    float force_max, torque_max;
} carom_pointer_device;

typedef struct carom_pointer_limit {
    float stiffness, damping; ///< that may be rendered
    float scale;              ///< of what was asked for, 0 to 1
    bool limited;             ///< scale is below 1
} carom_pointer_limit;

typedef struct carom_pointer_wrench {
    /// To be rendered: on the pointer, about its centre of mass, world axes; N, N m.
    carom_vec3 force, torque;
    bool local;     ///< found here, at the client's own tick; else the server's last
    bool limited;   ///< by the sampled bound
    bool saturated; ///< by force_max or torque_max
    bool withheld;  ///< by the count of energy
    bool corrected; ///< a correction is worn off, or what it put in withheld
    float foreign;  ///< of the contact's energy, 0 to 1: corrections put it in; not given back
    uint64_t corrections; ///< that changed the contact, in all
    carom_pointer_limit limit;
    double energy;        ///< J that the contact may give: took, or was brought, and did not give
    uint64_t server_tick; ///< of the newest view that told the server's wrench; 0: none yet
    carom_vec3 server_force, server_torque;
} carom_pointer_wrench;

/// The sampled bound alone; a pure function. Arguments below 0 and NaN count as 0. Strict: at b = K
/// T / 2 + B it limits.
CAROM_API carom_pointer_limit carom_pointer_limit_of(float device_damping, float period,
                                                     float stiffness, float contact_damping);
/// Declares the device; may be called at any time. CAROM_ERROR_ARGUMENT for numbers that are
/// negative or not finite.
CAROM_API carom_result carom_client_pointer_device(carom_client *client,
                                                   const carom_pointer_device *device);
/// The own pointer, or the null id.
CAROM_API carom_body_id carom_client_pointer(const carom_client *client);
/// Its pose from now on. CAROM_ERROR_STATE without a pointer, CAROM_ERROR_NOT_FINITE,
/// CAROM_ERROR_ARGUMENT for a quaternion not of unit length or numbers out of range: the pose set
/// before stays.
CAROM_API carom_result carom_client_pointer_set(carom_client *client,
                                                const carom_pointer_pose *pose);
/// The wrench on the pointer. CAROM_ERROR_STATE without a pointer; all zeros then.
CAROM_API carom_result carom_client_pointer_wrench(carom_client *client,
                                                   carom_pointer_wrench *wrench);

#ifdef __cplusplus
}
#endif
#endif
