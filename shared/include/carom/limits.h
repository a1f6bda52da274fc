// Every limit of a world, of what is made for it, and of a game module, in one place. A limit that
// is reached gives an error that names it; none changes meaning silently. Those of a scene file are
// narrower, and have some of their own (names, materials, tags): shared/scene/SCENE.md. Part of
// carom/world.h.
#ifndef CAROM_LIMITS_H
#define CAROM_LIMITS_H

#include <stdint.h>

// Counts of a world. A carom_limits above one of the first four is refused: 32-bit offsets and the
// encoded form allow no more.
#define CAROM_BODIES_MAX    65536u
#define CAROM_SHAPES_MAX    131072u
#define CAROM_JOINTS_MAX    65536u
#define CAROM_CONTACTS_MAX  1048576u // shape pairs
#define CAROM_RULES_MAX     256u     // pair rules
#define CAROM_TICK_RATE_MAX 1000u    // ticks a second
#define CAROM_SUBSTEPS_MAX  64u      // of a tick

// The bytes of stack that suffice for any call of a world in an optimised build, without a game's
// own callbacks; a step needs the most. A thread of musl has as much; WebAssembly has less unless a
// linker option sets it.
#define CAROM_STACK_MAX 131072u

// Of solvers.
#define CAROM_ROUNDS_MAX      1000u // lcp
#define CAROM_DIRECT_ROWS_MAX 2048u // lcp: rows of an island that is solved directly
#define CAROM_LCP_ROWS_MAX    2048u // of a problem of carom/lcp.h
#define CAROM_ROWS_MAX        64    // lcp: of all a game's constraints in one step
#define CAROM_SEGMENTS_MIN    3u    // volume: of round shapes
#define CAROM_SEGMENTS_MAX    256u

// Of a convex hull: corners, and points that it may be made from.
#define CAROM_HULL_VERTICES_MAX 64
#define CAROM_HULL_POINTS_MAX   4096

// Limits of a room and its game module, in bytes unless noted.
#define CAROM_PLAYERS_MAX       64 // player slots
#define CAROM_PLAYER_NAME_MAX   32 // of UTF-8
#define CAROM_ROOM_NAME_MAX     31 // of visible ASCII
#define CAROM_MODULE_NAME_MAX   31
#define CAROM_INPUT_MAX         64 // of a player's input for one tick
#define CAROM_MODULE_STATE_MAX  65536
#define CAROM_MODULE_PUBLIC_MAX 1024
#define CAROM_USER_DATA_MAX     256
#define CAROM_MESSAGE_MAX       1024
#define CAROM_UNRELIABLE_MAX    256
#define CAROM_EVENTS_MAX        32 // events to the outside, of a tick
#define CAROM_EVENT_BYTES_MAX   32

// Ticks by which a predicted event and the server's may differ (event_tolerance).
#define CAROM_EVENT_TOLERANCE_MAX 60

// Of where bodies were (carom_world_query_seen).
#define CAROM_HISTORY_TICKS_MAX  1024u // that a scene may ask to be remembered
#define CAROM_HISTORY_BODIES_MAX 128u  // that are remembered, of a world; one more is refused

// Ranges of values that calls accept and that encoded worlds may hold: they keep squares and
// products of single values finite in binary32. The results of a step only have to be finite.
#define CAROM_POSITION_MAX      1.0e7f  // m, of what is placed
#define CAROM_VELOCITY_MAX      1.0e6f  // m/s and rad/s
#define CAROM_FORCE_MAX         1.0e15f // N, N m, N s
#define CAROM_MASS_MIN          1.0e-15f
#define CAROM_MASS_MAX          1.0e15f // kg
#define CAROM_INERTIA_MIN       1.0e-25f
#define CAROM_INERTIA_MAX       1.0e25f // kg m^2
#define CAROM_SIZE_MIN          1.0e-5f // m, of a shape
#define CAROM_SIZE_MAX          1.0e6f
#define CAROM_DENSITY_MAX       1.0e9f // kg/m^3
#define CAROM_FRICTION_MAX      1.0e3f // coefficients
#define CAROM_DAMPING_MAX       1.0e6f // 1/s
#define CAROM_GRAVITY_SCALE_MAX 1.0e6f
#define CAROM_SOFTNESS_MAX      1.0e3f  // 1/kg, epsilon of the lcp solver
#define CAROM_UNIT_TOLERANCE    1.0e-2f // of the length of quaternions and normals

#endif
