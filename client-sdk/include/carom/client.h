// The Carom client: connect, send inputs, predict your own body, see the others.
//
// A handle belongs to one thread at a time; there are no globals. Time is an argument (microseconds
// of any monotonic clock). Callbacks run only inside carom_client_update. Memory comes from the
// allocator of the def. Every refusal has a stable reason (carom/reason.h).
//
// The life of a handle: create, connect, then update once a frame. carom_client_connect returns at
// once; state_changed (or carom_client_get_state) tells how it goes on: CONNECTING, JOINING,
// PLAYING, and IDLE again with a reason when it failed or ended; then connect may be called again.
// While PLAYING: set_input whenever the player's input changes, and draw every body with its pose:
//
//   for (uint32_t slot = 0; slot < carom_client_body_slots(client); slot++) {
//       carom_body_id body = carom_client_body_at(client, slot); // null id: a free slot
//       carom_client_pose pose;
//       if (carom_client_body_pose(client, body, &pose) == CAROM_OK) { draw(body, &pose); }
//   }
//
// What a body looks like does not change while its id lives: carom_body_shapes and carom_shape_get
// on carom_client_world. What an input means is the module's business; the sandbox's nine bytes
// stand in carom/game.h.
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
    CAROM_CLIENT_IDLE = 0, ///< not connected; carom_client_get_reason says why, after a connection
    CAROM_CLIENT_CONNECTING, ///< no answer yet
    CAROM_CLIENT_JOINING,    ///< answered; waiting for the room and its first view
    CAROM_CLIENT_PLAYING,
    /// Joined, but nothing was heard for unstable_ms. The world goes on as predicted; the client
    /// tries to come back to its slot by itself: PLAYING again, or JOINING by another connection,
    /// or IDLE after timeout_ms. Where a crash of the server took back the join itself, CONNECTING:
    /// it joins as somebody new.
    CAROM_CLIENT_UNSTABLE,
} carom_client_state;

/// Of an event to the outside (carom_event of game.h): what is known of it.
typedef enum carom_event_phase {
    CAROM_EVENT_PREDICTED = 1, ///< this client's prediction made it
    CAROM_EVENT_CONFIRMED, ///< it happened: no late input changes that, nor a crash of the server
    CAROM_EVENT_CANCELLED, ///< one that was told as predicted did not happen in that tick
} carom_event_phase;

/// A room of the server. Texts live for the call.
typedef struct carom_client_room_row {
    const char *name, *scene, *module;
    uint32_t players, max_players;
    uint16_t port; ///< of the worker that has it
} carom_client_room_row;
#define CAROM_CLIENT_ROOMS_MAX 256 ///< that a client hears of

/// What a client is made from. Always begin with carom_default_client_def, whose values stand here
/// in brackets; what has none is 0. A callback may be NULL. It must not call carom_client_destroy.
typedef struct carom_client_def {
    /// Where all memory of the client comes from [zeros: malloc and free]. One that gives no more
    /// ends the connection with a reason, and nothing else.
    carom_allocator allocator;
    /// Fills `size` bytes by chance that nobody can foresee, for the keys of connections [NULL: the
    /// operating system's]. A test gives a seeded one, so that it can be done again; in a game that
    /// would let others read and change what is sent.
    void (*random)(void *user, void *bytes, size_t size);
    void *user; ///< handed to the callbacks
    /// What a programmer may want to know. Without it nothing is written anywhere.
    void (*log)(void *user, carom_log_level level, const char *text);
    /// How the connection goes on. Without it, ask carom_client_get_state in each frame.
    void (*state_changed)(void *user, carom_client_state state, carom_reason reason);
    /// A reliable message from the module on the server, and the tick that sent it: each once and
    /// in order, also where the client has to come back in between. Of a match that is recorded it
    /// comes when its tick is durable: what it says stays so, whatever crashes. Without it messages
    /// are lost.
    void (*message)(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size);
    /// An event that the module emitted, by its id (tick, kind, key, subjects): PREDICTED at most
    /// once, however often prediction runs the tick again, then either CONFIRMED or CANCELLED,
    /// once. One that was not predicted, or where nothing is, comes as CONFIRMED alone. Its other
    /// bytes may differ from those that were predicted. What happened a tick earlier than was
    /// predicted is another event: the one is cancelled, the other confirmed. A prediction is
    /// judged when no late input can change its tick any more, and the tick is durable where the
    /// match is recorded: a round trip, the server's rewind_ms and some 0.2 s later. The end of the
    /// connection cancels what is open. What is confirmed while a player is cut off comes when it
    /// has its slot again.
    void (*event)(void *user, carom_event_phase phase, const carom_event *event);
    /// The answer to carom_client_ask_rooms. Without it the answer is passed over.
    void (*rooms)(void *user, const carom_client_room_row *rows, uint32_t count);
    /// Of the player, for people [NULL: none]: printable UTF-8 of at most CAROM_PLAYER_NAME_MAX
    /// bytes (no control characters, no marks that turn the direction of text); copied. With a
    /// token the token's counts.
    const char *name;
    /// To play in, where no token says it [NULL: the server's first one]: printable UTF-8 of at
    /// most CAROM_ROOM_NAME_MAX bytes; copied. A name that the server has not is refused, or opens
    /// a room where the server does that (`on_demand`).
    const char *room;
    /// Handed to the module's `join`, which may refuse because of it; copied. Anybody may send
    /// anything here: what must be true about a player belongs into a token, whose user data is
    /// used in place of this.
    const uint8_t *user_data;
    uint32_t user_data_size; ///< at most CAROM_USER_DATA_MAX
    /// Simulate the own body and what is near it, ahead of the server [true]. The player then feels
    /// no delay, at the price of stepping some ticks again whenever a view differs. False: all is
    /// interpolated, one's own body answers a round trip and interpolation_delay_ms late, and
    /// nothing is simulated: for spectators and machines that are too weak.
    bool predict;
    /// The rules of the room, where they are none of those built in. They must be built from the
    /// sources that the server's were, or the client is refused.
    const carom_module *module;
    /// How long a server may say nothing at first [5000 ms]; joining, once it answers, may take
    /// three times that. Lower gives up sooner on a server that is not there, and on players whose
    /// path is bad.
    uint32_t connect_timeout_ms;
    /// Silence after which a connection is given up for good [15000 ms], or the server's grace_ms
    /// where that is longer; three times it while the server answers who wants to come back. Lower
    /// gives up slots that could have been had again.
    uint32_t timeout_ms;
    /// Silence after which the state is UNSTABLE, and another connection is tried beside this one
    /// [500 ms]. Lower comes back sooner from a dead path, and tells the player of hiccups that
    /// would have gone by.
    uint32_t unstable_ms;
    /// Comes back by itself, where the server keeps its slot [true]. False: silence ends in IDLE,
    /// and the player's slot is lost once the server's grace is over.
    bool reconnect;
    /// Metres around the own body, and around where it will be, in which bodies are simulated [4].
    /// Larger: what the player pushes moves at once, further away; each body more is stepped
    /// in every prediction, and one that somebody else pushes is predicted wrongly. 0: the own body
    /// alone.
    float predict_radius;
    carom_error *error; ///< where carom_client_create tells what it refused; not kept
} carom_client_def;

// Life -----------------------------------------------------------------------------------------

CAROM_API carom_client_def carom_default_client_def(void);
/// CAROM_ERROR_ARGUMENT for a def out of its limits, with the field's name in def->error ("name",
/// "module.state_size", …); CAROM_ERROR_MEMORY.
CAROM_API carom_result carom_client_create(const carom_client_def *def, carom_client **client);
/// Leaves at once, if connected (one farewell, not waited for), and releases everything.
CAROM_API void carom_client_destroy(carom_client *client);

/// host: dotted IPv4 address or a name, which is looked up here and may block. The outcome comes
/// through carom_client_update. CAROM_ERROR_STATE where the client is not idle,
/// CAROM_ERROR_NOT_FOUND where the name has no address, CAROM_ERROR_IO where there is no socket.
CAROM_API carom_result carom_client_connect(carom_client *client, const char *host, uint16_t port,
                                            uint64_t now_us);
/// The same with a connect token (carom/token.h), which names the servers and says who the player
/// is; name and user data of the def are then not used. CAROM_ERROR_MAGIC for a text that is no
/// token.
CAROM_API carom_result carom_client_connect_token(carom_client *client, const char *token,
                                                  uint64_t now_us);
/// Leaves: says so to the server and becomes idle in a later update, with CAROM_REASON_LEFT.
CAROM_API void carom_client_disconnect(carom_client *client, uint64_t now_us);

/// Does everything that is due: receives, steps the prediction, sends inputs. Call once a frame.
CAROM_API void carom_client_update(carom_client *client, uint64_t now_us);

CAROM_API carom_client_state carom_client_get_state(const carom_client *client);
/// A refusal that only the server can have made is told at once, after two or three round trips;
/// what anybody on the path could have said (another protocol version, a token that no key opens)
/// only when connect_timeout_ms is over.
CAROM_API carom_reason carom_client_get_reason(const carom_client *client);

// What the player does -------------------------------------------------------------------------

/// The input used for every tick from now on, until set again (zeros at first); exactly the
/// module's input_size bytes. CAROM_ERROR_STATE before the room is joined; CAROM_ERROR_ARGUMENT for
/// another size, or where the module's check_input refuses the bytes: the input set before stays.
CAROM_API carom_result carom_client_set_input(carom_client *client, const void *bytes,
                                              uint32_t size);
/// Lets the module's bot (game.h) choose, and sets that input; `random`: another number each time.
/// CAROM_ERROR_NOT_FOUND: the module has none; CAROM_ERROR_STATE, _ARGUMENT as above.
CAROM_API carom_result carom_client_play_bot(carom_client *client, uint64_t random);
/// A reliable message to the module on the server, at most CAROM_MESSAGE_MAX bytes; only while
/// PLAYING or UNSTABLE. It arrives once, also where the client has to come back in between.
/// CAROM_ERROR_FULL where 128 of them have not arrived yet.
CAROM_API carom_result carom_client_send(carom_client *client, const void *bytes, uint32_t size);
/// Asks which rooms the server has, of all its workers; `rooms` of the def gets them. Only while
/// PLAYING or UNSTABLE; a server answers every 2 s at most, and passes over what is asked in
/// between. To go there: leave, and connect with that room's name, or with a token for it.
/// CAROM_ERROR_STATE, CAROM_ERROR_IO.
CAROM_API carom_result carom_client_ask_rooms(carom_client *client);

// What the player sees -------------------------------------------------------------------------

/// A body as it is to be drawn now.
typedef struct carom_client_pose {
    carom_vec3 position; ///< of the body's origin
    carom_quat orientation;
    carom_vec3 linear_velocity;
    carom_vec3 angular_velocity;
    bool predicted; ///< else interpolated
} carom_client_pose;

/// The player's slot, 0 before the room is joined.
CAROM_API uint32_t carom_client_player(const carom_client *client);
/// The body that the player steers, or the null id.
CAROM_API carom_body_id carom_client_own_body(const carom_client *client);
/// Who is in the room, by ascending slots, as the server told last: up to `capacity` rows are
/// filled in; returns how many there are, at most CAROM_PLAYERS_MAX.
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
/// update.
CAROM_API uint32_t carom_client_body_slots(const carom_client *client);
CAROM_API carom_body_id carom_client_body_at(const carom_client *client, uint32_t slot);
/// Where to draw a body at the time of the last update. CAROM_ERROR_STALE_ID for one that is gone,
/// CAROM_ERROR_STATE before the room is joined.
CAROM_API carom_result carom_client_body_pose(const carom_client *client, carom_body_id body,
                                              carom_client_pose *pose);
/// What the body looks like: shapes of the mirror world, read only, valid until the next update.
/// The mirror is at the newest view; to query what is drawn (carom/query.h), give the filter the
/// poses of the bodies that carom_client_body_pose draws elsewhere. Where the scene has bodies with
/// a history every input tells the server the moment that was drawn when it was set, so that the
/// module may ask the same there (carom_world_query_seen).
CAROM_API const carom_world *carom_client_world(const carom_client *client);
/// Public part of the module's state as of the newest view: the module's own struct, in the words
/// of this machine, valid until the next update. NULL and 0 before the room is joined.
CAROM_API const void *carom_client_public_state(const carom_client *client, uint32_t *size);

// What the server keeps ------------------------------------------------------------------------

/// Two acks, in ticks of the match. What happens is simulated at once, and shown; it is settled
/// when the server takes no input for its tick any more, and durable when it is written as the
/// match's operator chose. An effect outside the match that cannot be taken back (a prize, a
/// purchase) waits until durable_tick has reached its tick: that takes some 0.2 s. Where durability
/// is CAROM_DURABILITY_NONE, or LOST in mid-match, no later tick becomes durable, and the match
/// goes on.
typedef struct carom_client_acks {
    uint64_t simulated_tick; ///< of the newest view
    uint64_t settled_tick;   ///< the player's inputs up to it are as the match goes by
    uint64_t durable_tick;   ///< everything up to it, everybody's
    carom_durability durability;
} carom_client_acks;

/// Zeros before the room is joined; a room that goes back to an earlier tick lowers them.
CAROM_API void carom_client_acks_get(const carom_client *client, carom_client_acks *acks);

// How well it goes -----------------------------------------------------------------------------

#define CAROM_ERROR_BUCKETS 64

typedef struct carom_client_stats {
    uint64_t server_tick;    ///< of the newest view
    uint64_t predicted_tick; ///< the client's own clock
    uint32_t rtt_ms;
    /// Of the views' arrival: the mean by which one comes earlier or later than they do as a rule.
    uint32_t jitter_ms;
    /// How far in the past bodies are shown that are not predicted: one and a half view intervals,
    /// and what the jitter asks for.
    uint32_t interpolation_delay_ms;
    uint64_t views, view_packets;
    uint64_t packets_lost;        ///< of the packets of views; a share of both is the path's loss
    uint64_t packets_refused;     ///< datagrams that were not what they should be
    uint64_t bytes_in, bytes_out; ///< datagram payloads as ENet counts them
    uint64_t inputs_sent;
    uint64_t keyframe_size, keyframe_have; ///< bytes of a large world that comes while joining, and
                                           ///< those that came; 0: none is awaited
    uint64_t comebacks;       ///< times that the client came back to its slot by another connection
    uint64_t reconciles;      ///< times the own body was rewound and stepped again
    uint64_t predicted_steps; ///< world steps made by the predictor
    uint64_t desyncs;         ///< views that decoded to something else than was sent
    /// Prediction error: distance of the own body's pose shown at tick t from the server's at tick
    /// t, before that view corrects it; metres. Bucket i counts errors below 0.1 mm x 1.25^i.
    uint64_t error_count;
    double error_sum, error_max;
    uint64_t error_buckets[CAROM_ERROR_BUCKETS];
    float input_lead; ///< ticks, as the server reported last: how early inputs came, at the least
    /// Views that reported a lead, their sum of leads, and how many said that an input came late.
    uint64_t lead_reports, late_reports;
    double lead_sum;
} carom_client_stats;

CAROM_API void carom_client_stats_get(const carom_client *client, carom_client_stats *stats);

// Pointers -----------------------------------------------------------------------------------
//
// A pointer is a kinematic body of the scene whose pose its player gives, for each tick; what
// touches it pushes back, so that a haptic device or a steering wheel can be driven. Once a device
// period tell where the device is, let the client step the contact at the room's tick rate, and put
// on the device what comes of it:
//
//   carom_client_pointer_set(client, &pose);
//   carom_client_update(client, now_us);
//   carom_client_pointer_wrench(client, &wrench);
//
// The wrench is found here, in the prediction, at once, and needs no round trip: the server's views
// only correct the bodies that the pointer touches. To stay passive it is rendered by two rules.
//
// The sampled bound: a wall of stiffness K (N/m) and damping B (N s/m) that is held for a period T
// is passive only while the device's own physical damping b is above K T / 2 + B. Where that fails,
// K and B are both reduced to it, by one factor, and `limited` says so. Source: J. E. Colgate and
// G. Schenkel, "Passivity of a class of sampled-data systems", American Control Conference 1994.
//
// Energy: what the contact has taken from the device is counted, exactly, since the force is held
// between samples. The contact gives back no more than it took: where it could, within the next
// period, the wrench is made smaller, and `withheld` says so. This holds whatever the network, a
// correction or a solver does. After the passivity observer of
// B. Hannaford and J.-H. Ryu, "Time-domain passivity control of
// haptic interfaces", IEEE Transactions on Robotics and Automation 18 (1), 2002.
//
// A scene for touch wants the volume solver (the others do not push a kinematic body back from what
// cannot move), a small replication.position_step (views are corrected to it), and a tick rate as
// fast as the device.

/// What is known of the device. Zeros: nothing; then the bound is not applied, the count of energy
/// is.
typedef struct carom_pointer_device {
    float period;          ///< s, between two updates
    float mass;            ///< kg; 0: not known, then damping x period, which is less
    float damping;         ///< b, N s/m: physical, of the mechanism and a light grip
    float angular_damping; ///< N m s/rad; 0: the device does not turn, or it is not limited by it
    /// Of the contact. 0: from the scene, which only the volume solver can tell
    /// (carom_volume_bound); other solvers have none that is fixed.
    float stiffness;       ///< K, N/m
    float contact_damping; ///< B, N s/m
} carom_pointer_device;

typedef struct carom_pointer_limit {
    float stiffness, damping; ///< that may be rendered
    float scale;              ///< of what was asked for, 0 to 1
    bool limited;             ///< scale is below 1
} carom_pointer_limit;

typedef struct carom_pointer_wrench {
    /// To be rendered: on the pointer, about its centre of mass, world axes; N, N m.
    carom_vec3 force, torque;
    bool local;    ///< found here, at the client's own tick; else the server's last
    bool limited;  ///< by the sampled bound
    bool withheld; ///< by the count of energy
    carom_pointer_limit limit;
    double energy;        ///< J that the contact took from the device and did not give back
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
/// What acts on it. CAROM_ERROR_STATE without a pointer; all zeros then.
CAROM_API carom_result carom_client_pointer_wrench(carom_client *client,
                                                   carom_pointer_wrench *wrench);

#ifdef __cplusplus
}
#endif
#endif
