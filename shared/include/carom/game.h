// Game modules: rules that run, the same object, in the server and in every client that predicts.
//
// A module is a table of callbacks, a block of state that is saved, hashed and rewound with the
// world, and nothing else. The state is 32-bit words (ids and timers are such words), so that it is
// the same on every machine. A module may call carom_* functions, memcpy, memmove, memset and
// memcmp; it has no globals that it writes, no clock, no allocation. Callbacks may run again for
// ticks that ran before (a rewind): the same state and inputs must give the same result.
#ifndef CAROM_GAME_H
#define CAROM_GAME_H

#include "carom/query.h"
#include "carom/reason.h"
#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Of this header. A module that was built with another one is refused.
#define CAROM_MODULE_ABI    5
#define CAROM_POINTER_BYTES 52 ///< of these for the pose, in a room whose scene has a pointer

/// In a room whose scene has a body with a history, of the bytes of an input behind that pose and
/// before the module's own: when what the player saw was (the client fills them in).
#define CAROM_SEEN_BYTES    2
#define CAROM_SEEN_PER_TICK 64 ///< parts of a tick that it is told in

/// The pose that a player sets for its pointer: the first 52 bytes of the player's input, 13
/// little-endian binary32 in this order. The module's own input comes after them; the module
/// receives only that.
typedef struct carom_pointer_pose {
    carom_vec3 position;         ///< of the body's origin, m
    carom_quat orientation;      ///< within 1e-3 of unit length
    carom_vec3 linear_velocity;  ///< of the centre of mass, m/s
    carom_vec3 angular_velocity; ///< rad/s
} carom_pointer_pose;

typedef struct carom_game carom_game; ///< one run of a module on a world; valid during a callback

/// The input of one player for one tick. An input that did not come in time is the player's last
/// one.
typedef struct carom_player_input {
    uint32_t player; ///< slot, 0 to CAROM_PLAYERS_MAX - 1
    uint8_t bytes[CAROM_INPUT_MAX];
} carom_player_input;

/// A number of the scene's `module_config`, in the order of the scene. Valid during the callback.
typedef struct carom_setting {
    const char *name;
    double value; ///< finite, within 1e15
} carom_setting;

/// A game's rules: a table that never changes while the program runs. Each callback may be NULL.
typedef struct carom_module {
    uint32_t abi; ///< CAROM_MODULE_ABI
    /// Of the rules: part of a match file. Raise it whenever the rules change: a client or a replay
    /// that has another one is refused by name, where else it would diverge.
    uint32_t version;
    const char *name; ///< what scenes name it by; at most 31 characters of a-z, 0-9, _
    /// SHA-256 of the source, 64 hexadecimal digits (carom/module.h); NULL: none. A server that
    /// took the rules from a file lets in no client whose own differs.
    const char *source;
    /// Bytes of a player's input for a tick, at most CAROM_INPUT_MAX. Each packet repeats the
    /// inputs that were not acknowledged yet, and each tick of a match file has them: small is
    /// cheap.
    uint32_t input_size;
    /// Bytes, a multiple of 4, at most CAROM_MODULE_STATE_MAX; starts as zeros. All of it is saved
    /// and hashed in every tick, and copied for each that is stepped again.
    uint32_t state_size;
    /// The size of the public part: every client sees so many of the first bytes of the state; a
    /// multiple of 4, at most CAROM_MODULE_PUBLIC_MAX. They are sent when they change, before any
    /// body. A client has the rest only as it was when it joined: rules that read it predict
    /// wrongly.
    uint32_t public_size;
    /// Runs first, on the scene's world: NULL where it takes the settings, else what is wrong and
    /// what it expected, for people ("goals: 0, expected 1 to 100"); then there is no game. A
    /// module without it takes no settings.
    const char *(*configure)(carom_game *game, const carom_setting *settings, uint32_t count);
    /// True if a player may join. The server calls it on the newest state before it assigns a slot,
    /// for one player at a time: the next call sees the state with the player before. It must
    /// change nothing. Its answer is not part of the state, and the join's tick may run on another
    /// state; `join` decides. NULL: every player may join while a slot is free.
    bool (*may_join)(const carom_game *game, const uint8_t *user_data, uint32_t size);
    /// Runs once on the scene's world before tick 0 ends its making.
    void (*start)(carom_game *game);
    /// False refuses the player. That is part of the state, and from then on no input or message of
    /// the player reaches the module. When the tick can no longer be rewound (a re-stepped tick
    /// calls `join` again, and may get another answer) the client is refused with
    /// CAROM_REASON_GAME_REFUSED, and its slot becomes free without a `leave`. The changes that
    /// `join` made stay. No client is welcomed before its join's tick is final. NULL: no player is
    /// refused.
    bool (*join)(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size);
    /// A player is gone: its body is the module's to take away.
    void (*leave)(carom_game *game, uint32_t player);
    /// Before the world's step, with the inputs of all players present, in order of their slots.
    void (*tick)(carom_game *game, const carom_player_input *inputs, uint32_t count);
    /// After the step, for each shape pair that began or ended touching, in order of shape ids.
    void (*contact)(carom_game *game, const carom_contact_event *event);
    /// After those, for each pair that hit at the scene's hit_speed or faster (carom_hit_event).
    void (*hit)(carom_game *game, const carom_hit_event *event);
    /// A player's reliable message: recorded as an input, seen by server and replay alone.
    void (*message)(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size);
    /// The match ends with this tick: its server drains, or its room is closed (carom_game_close).
    /// It runs once, after the joins, leaves and messages of a tick of its own, which then goes on
    /// as every tick does: what it changes is state, recorded and replayed, and what it sends goes
    /// out before the players are sent away. A server that is killed ends no match: nothing runs,
    /// and the match may go on with --resume.
    void (*end)(carom_game *game);
    /// True where a player's input is acceptable (finite, in range): asked once, at the border.
    /// Without it `tick` gets whatever bytes a client sends.
    bool (*check_input)(const uint8_t *bytes);
    /// The body that a player steers, for prediction and cameras; null id for none. Without it
    /// clients predict nothing, and no body goes before others into their views.
    carom_body_id (*player_body)(const carom_game *game, uint32_t player);
    /// Before each step in scenes of the lcp solver, for what `rows` and `forces` then look up. All
    /// three see the world that is stepped, which may be a copy of carom_game_world, and change
    /// nothing.
    void (*start_step)(const carom_game *game, const carom_world *world);
    /// Constraints of the game's own (rows.h), in scenes of the lcp solver.
    uint32_t (*rows)(const carom_game *game, const carom_world *world, carom_row *rows,
                     uint32_t capacity);
    /// Forces with their derivatives, so that stiff ones stay stable (rows.h), after the rows. A
    /// module that has this runs in scenes of the lcp solver alone.
    uint32_t (*forces)(const carom_game *game, const carom_world *world, carom_force *forces,
                       uint32_t capacity);
    /// Plays for a player, from what the player's client shows: writes `input_size` bytes, zeros
    /// before. `random` is another number each time. It is no part of the simulation, changes
    /// nothing, and is called by clients alone (carom_client_play_bot, `carom bots --module`,
    /// `carom capacity --module`). The game is that of the client: its bodies where the client has
    /// them, and of the state what is public.
    void (*bot)(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input);
    /// The name of the events of this kind (carom_event) in the operator's log and in exports: a
    /// constant text, or NULL.
    const char *(*event_name)(uint32_t kind);
    /// Guesses another player's input for a tick of which nothing is known yet: `last` is the
    /// newest that is known, `age_ticks` old, and `out` begins as it, input_size bytes both. NULL:
    /// the last one is held. It may look at the game and changes nothing, is called by predicting
    /// clients alone, and is never part of a match: the guess is replaced by the input once that is
    /// known. A guess that check_input refuses is not taken.
    void (*predict_input)(const carom_game *game, uint32_t player, const void *last,
                          uint32_t age_ticks, void *out);
    /// Ticks by which an event of this kind (carom_event) may come earlier or later than a client
    /// predicted it and still be that event, kind, key and subjects being the same: at most
    /// CAROM_EVENT_TOLERANCE_MAX, more counts as that. For what hangs on the last bits of a
    /// contact, a bump, a landing; two of them within it may be taken for each other. Called by
    /// clients alone. NULL: 0, another tick is another event.
    uint32_t (*event_tolerance)(uint32_t kind);
    /// Bits of an input that are buttons: {[2] = 1} is bit 0 of byte 2; zeros beyond input_size. A
    /// client gives each change of one a tick of its own, so that what was pressed and released
    /// between two ticks, or within a frame, is down for one tick, and what was released and
    /// pressed again is up for one. At most two presses wait. Other bits, axes, are taken as they
    /// were set last. Read by clients alone; zeros: a tick has the input that was set last.
    uint8_t buttons[CAROM_INPUT_MAX];
} carom_module;

/// True if the module's table is valid; false with the field and what it should be in `error`
/// (which may be NULL).
CAROM_API bool carom_module_is_valid(const carom_module *module, carom_error *error);
/// True if the module can run in a world of this solver; false likewise (CAROM_ERROR_STATE,
/// `forces`).
CAROM_API bool carom_module_suits(const carom_module *module, carom_solver_type solver,
                                  carom_error *error);

/// The world that the game runs on. All of it is state, changes by callbacks included.
CAROM_API carom_world *carom_game_world(const carom_game *game);
/// The module's block of state_size bytes: the only memory that it has from tick to tick.
CAROM_API void *carom_game_state(const carom_game *game);
/// Ticks that the world has made: 0 in `start`, in `contact` and `hit` one more than in the `tick`
/// before them.
CAROM_API uint64_t carom_game_tick(const carom_game *game);
/// False where this is a client's prediction and the body only stands where a view last had it, or
/// where it is interpolated: what seems to happen to it has not been simulated. True on the server,
/// in replays and with exact sync. Rules must not depend on it, but for suppressing events
/// (carom_game_emit), which a server would otherwise cancel.
CAROM_API bool carom_game_is_predicted(const carom_game *game, carom_body_id body);
/// The world's own stream: each call moves it on, so a call too many on a client disturbs it until
/// the next correction.
CAROM_API uint64_t carom_game_random(carom_game *game);
/// A number that follows from the match's seed, the tick and the key alone: the same however often,
/// in what order and where it is asked, in prediction too. Equal keys in one tick give equal
/// numbers.
CAROM_API uint64_t carom_game_random_at(const carom_game *game, uint64_t key);

/// Names and tags from the scene. They belong to the bodies that the scene placed, until those are
/// destroyed; a body that a module made has none ("" and false).
CAROM_API const char *carom_game_body_name(const carom_game *game, carom_body_id body);
CAROM_API bool carom_game_body_has_tag(const carom_game *game, carom_body_id body, const char *tag);
/// The null id where no such body is there any more.
CAROM_API carom_body_id carom_game_find_body(const carom_game *game, const char *name);
/// Puts a prefab of the scene into the world: its origin and orientation as given, its velocities
/// those of the prefab. carom_body_destroy takes it out again. CAROM_ERROR_NOT_FOUND: no prefab of
/// that name; else as carom_body_create (CAROM_ERROR_LIMIT_BODIES, …). `body` may be NULL.
CAROM_API carom_result carom_game_spawn(carom_game *game, const char *prefab, carom_vec3 position,
                                        carom_quat orientation, carom_body_id *body);
/// As in carom_shape_def.material; 0 for no such name.
CAROM_API uint32_t carom_game_find_material(const carom_game *game, const char *name);
/// Closes the match's room: no tick begins once this one is confirmed (a few are made already, and
/// count), `end` runs, the last messages go, and everybody is sent away with "the match is over".
/// On a client, and in a replay, nothing happens.
CAROM_API void carom_game_close(carom_game *game);
/// Kicks a player: the state marks the player now, and the kick happens when this tick can no
/// longer be rewound, and, where the match is recorded, is durable, so that what the module said to
/// the player in this tick goes first. Until then the player plays on; then the client receives the
/// reason and `leave` runs, as for every player who leaves. The first reason counts. NOT_FOUND: no
/// such player is there; ARGUMENT: CAROM_REASON_NONE, _ELSEWHERE or no reason at all.
CAROM_API carom_result carom_game_kick(carom_game *game, uint32_t player, carom_reason reason);
/// A reliable message to a player, sent when the tick is confirmed and, where the match is
/// recorded, durable, so that neither a rewind nor a crash takes it back (never twice, whatever
/// connections the player needs for it).
CAROM_API carom_result carom_game_send(carom_game *game, uint32_t player, const void *bytes,
                                       uint32_t size);

/// A message to a player that is not sent again, at once when the tick is first made: it comes
/// once or never, and perhaps after one that was sent later; a tick that is made again after a
/// rewind sends none, so what it said may not have happened after all. For what is of no use later:
/// a marker, a gesture. At most CAROM_UNRELIABLE_MAX bytes; it counts among a tick's messages.
CAROM_API carom_result carom_game_send_unreliable(carom_game *game, uint32_t player,
                                                  const void *bytes, uint32_t size);

/// carom_game_send to everybody who is there: so many messages. The first failure, where there was
/// one.
CAROM_API carom_result carom_game_send_all(carom_game *game, const void *bytes, uint32_t size);

/// An event of the game for the outside: a goal, a hit, a lap. Kind, key and subjects are the
/// module's own numbers; with the tick they are its id, which is the same in the prediction, on the
/// server and in a replay. A client receives it twice (client.h): as predicted when its prediction
/// reaches the tick, and as confirmed or cancelled when the tick is final on the server. The
/// server's operator (log, export of the recording) sees confirmed events only, and each once,
/// whatever is rewound. Events are not part of the state.
typedef struct carom_event {
    /// The tick that it happens in, filled in by carom_game_emit: the one that is being made. So it
    /// is carom_game_tick() + 1 in `tick` and all that runs before the world's step, and
    /// carom_game_tick() in `contact` and `hit`.
    uint64_t tick;
    uint32_t kind, key;   ///< what; which of several like it in one tick
    uint64_t subjects[2]; ///< who: a player's slot, a body (carom_event_body), …; 0 for nobody
    uint32_t size;        ///< of what else is to be told; no part of the id
    uint8_t bytes[CAROM_EVENT_BYTES_MAX];
} carom_event;

static inline uint64_t carom_event_body(carom_body_id body)
{
    return (uint64_t)body.generation << 32 | body.index;
}

static inline bool carom_event_is_same(const carom_event *a, const carom_event *b)
{
    return a->tick == b->tick && a->kind == b->kind && a->key == b->key &&
           a->subjects[0] == b->subjects[0] && a->subjects[1] == b->subjects[1];
}

/// CAROM_ERROR_ARGUMENT: `size` is above CAROM_EVENT_BYTES_MAX; CAROM_ERROR_STATE: this tick has
/// one of that id already; CAROM_ERROR_FULL: it has CAROM_EVENTS_MAX. Events emitted in `start` are
/// dropped: no player is there yet.
CAROM_API carom_result carom_game_emit(carom_game *game, const carom_event *event);

/// A ray, or a shape that is cast along a way, or (where that is zero) stands.
typedef struct carom_seen_query {
    const carom_ray *ray;         ///< else NULL
    const carom_shape_def *shape; ///< else NULL
    carom_vec3 translation;       ///< of the shape, m
} carom_seen_query;

/// Lag compensation: finds what a player's shot hits. The query (carom/query.h: answers, order,
/// errors, cost) sees every body with a history where this player saw it when it made the input of
/// this tick, and every other body where it is now. The server has bounded the player's claim to
/// the times that the player can have seen (and recorded it so). Between ticks poses are
/// interpolated as clients draw them. A time before the history counts as its oldest tick, a future
/// one as now; a body that did not exist then is taken where it is. STATE if the scene has no body
/// with a history or the player is not present; ARGUMENT if the filter has poses of its own.
CAROM_API carom_result carom_world_query_seen(const carom_game *game, uint32_t player,
                                              const carom_seen_query *query,
                                              const carom_query_filter *filter,
                                              carom_query_hit *hits, uint32_t capacity,
                                              uint32_t *count);

/// True if the body is one of the two in the contact event; `other` is then the other one.
static inline bool carom_contact_other(const carom_contact_event *event, carom_body_id body,
                                       carom_body_id *other)
{
    bool first = carom_body_id_equal(event->body_a, body);
    *other = first ? event->body_b : event->body_a;
    return first || carom_body_id_equal(event->body_b, body);
}

/// True if two texts are equal. For names of settings, since a module has no C library.
static inline bool carom_text_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/// A timer in a module's state: two words, zeros for one that does not run. It is due in the tick
/// that comes `ticks` (at least 1) after the one that set it.
typedef struct carom_timer {
    uint32_t due_low, due_high; ///< the tick that it is due in
} carom_timer;

static inline void carom_timer_set(carom_timer *timer, const carom_game *game, uint32_t ticks)
{
    uint64_t due = carom_game_tick(game) + (ticks > 0 ? ticks : 1);
    timer->due_low = (uint32_t)due;
    timer->due_high = (uint32_t)(due >> 32);
}

static inline void carom_timer_stop(carom_timer *timer)
{
    timer->due_low = timer->due_high = 0;
}

static inline bool carom_timer_runs(const carom_timer *timer)
{
    return (timer->due_low | timer->due_high) != 0;
}

/// Ticks until it is due: 0 where it does not run, or is due in this one.
static inline uint32_t carom_timer_left(const carom_timer *timer, const carom_game *game)
{
    uint64_t due = (uint64_t)timer->due_high << 32 | timer->due_low, now = carom_game_tick(game);
    return due <= now ? 0 : due - now < UINT32_MAX ? (uint32_t)(due - now) : UINT32_MAX;
}

/// True once: in the first tick that asks at its time or later, and then it runs no more.
static inline bool carom_timer_fires(carom_timer *timer, const carom_game *game)
{
    uint64_t due = (uint64_t)timer->due_high << 32 | timer->due_low;
    bool fires = due != 0 && carom_game_tick(game) >= due;
    if (fires) {
        carom_timer_stop(timer);
    }
    return fires;
}

/// The built-in module: each player drives a cube by force through a crowd of small cubes, which
/// are drawn to it by springs while a button is held. Input, 9 bytes: force direction x and z as
/// little-endian binary32 in -1..1, then buttons (bit 0: hold, bit 1: jump).
CAROM_API extern const carom_module carom_module_sandbox;

#ifdef __cplusplus
}
#endif
#endif
