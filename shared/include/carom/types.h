// Values that every part of Carom shares: vectors, quaternions, results, memory hooks.
//
// SI units, right-handed axes, y up. Compiles as C17 and C++17 and names nothing of POSIX.
#ifndef CAROM_TYPES_H
#define CAROM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define CAROM_API
#else
#define CAROM_API __attribute__((visibility("default")))
#endif

// Every public enum has 32 bits, so that structs and calls are the same whatever compiled the two
// sides: a compiler that is told to make enums short is refused.
#ifdef __cplusplus
#define CAROM_ENUM_32(name) static_assert(sizeof(name) == 4, "not with -fshort-enums: " #name)
#else
#define CAROM_ENUM_32(name) _Static_assert(sizeof(name) == 4, "not with -fshort-enums: " #name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The engine's version. Raised whenever a golden hash changes: match files name it.
#define CAROM_ENGINE_VERSION 39

typedef struct carom_vec3 {
    float x, y, z;
} carom_vec3;

// Unit quaternion, vector part first as in scene files.
typedef struct carom_quat {
    float x, y, z, w;
} carom_quat;

// In binary64.
typedef struct carom_dvec3 {
    double x, y, z;
} carom_dvec3;

// Columns: where a turned frame's x, y and z axes point. v_world = x v.x + y v.y + z v.z.
typedef struct carom_dmat3 {
    carom_dvec3 x, y, z;
} carom_dmat3;

// Symmetric.
typedef struct carom_dsym3 {
    double xx, yy, zz, xy, xz, yz;
} carom_dsym3;

// One table of results: name, text. Each limit has a result of its own, so that a caller learns
// which one it reached. Append only: the numbers travel in control messages.
#define CAROM_RESULT_TABLE(X)                                                                      \
    X(OK, "done")                                                                                  \
    X(ERROR_ARGUMENT, "an argument is out of its range")                                           \
    X(ERROR_NOT_FINITE, "a number is NaN or infinite")                                             \
    X(ERROR_STALE_ID, "an id names something that is gone")                                        \
    X(ERROR_MEMORY, "out of memory, or the memory given is too small")                             \
    X(ERROR_LIMIT_BODIES, "limit reached: bodies")                                                 \
    X(ERROR_LIMIT_SHAPES, "limit reached: shapes")                                                 \
    X(ERROR_LIMIT_JOINTS, "limit reached: joints")                                                 \
    X(ERROR_LIMIT_RULES, "limit reached: pair rules")                                              \
    X(ERROR_LIMIT_CONTACTS, "limit reached: contacts")                                             \
    X(ERROR_LIMIT_PLAYERS, "limit reached: players")                                               \
    X(ERROR_LIMIT_SIZE, "limit reached: size in bytes")                                            \
    X(ERROR_MAGIC, "not data of this kind")                                                        \
    X(ERROR_VERSION, "made by another version")                                                    \
    X(ERROR_CORRUPT, "data is truncated or corrupt")                                               \
    X(ERROR_IO, "input or output failed")                                                          \
    X(ERROR_NOT_BUILT, "not built yet")                                                            \
    X(ERROR_STATE, "not possible in this state")                                                   \
    X(ERROR_FULL, "no free place")                                                                 \
    X(ERROR_DIVERGED, "the simulation differs from the record")                                    \
    X(ERROR_NOT_FOUND, "no such name")

typedef enum carom_result {
#define CAROM_RESULT_ENUM(name, text) CAROM_##name,
    CAROM_RESULT_TABLE(CAROM_RESULT_ENUM)
#undef CAROM_RESULT_ENUM
        CAROM_RESULT_COUNT
} carom_result;
CAROM_ENUM_32(carom_result);

// A constant English text for a result; never NULL.
CAROM_API const char *carom_result_text(carom_result result);

// The reason why a call was refused: its result, and the def's field or the parameter at fault.
#define CAROM_NO_SHAPE UINT32_MAX
typedef struct carom_error {
    carom_result result;
    const char *field;    // as its header names it: "density", "solver.lcp.gamma"; a constant text
    const char *expected; // "0 to 1e9"; a constant text
    uint32_t shape;       // of the shapes given, whose field it is; CAROM_NO_SHAPE: of none
} carom_error;

// The severity of a message. ERROR: something was left out or lost; WARNING: something is worse
// than it should be; INFO: normal operation; DEBUG: details for finding a fault.
typedef enum carom_log_level {
    CAROM_LOG_ERROR = 0,
    CAROM_LOG_WARNING,
    CAROM_LOG_INFO,
    CAROM_LOG_DEBUG,
} carom_log_level;
CAROM_ENUM_32(carom_log_level);

// Memory hooks. allocate returns memory aligned for any type, or NULL; release takes NULL.
typedef struct carom_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory);
} carom_allocator;

#ifdef __cplusplus
}
#endif
#endif
