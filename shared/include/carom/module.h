// The header of a game module's source: game.h, and the macro that makes the module's one exported
// symbol and its build note.
//
//   #include <carom/module.h>
//
//   static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count) { … }
//   CAROM_MODULE(pong, .version = 1, .state_size = sizeof(state), .tick = tick);
//
// The Makefile that `carom module new` writes gives CAROM_MODULE_SOURCE (SHA-256 of the sources,
// one after the other in the order of their names, 64 hexadecimal digits) and CAROM_MODULE_FLAGS
// (`pkg-config --variable=determinism carom-sim`), each a text. Both sides of a match compare the
// first; a server takes no file without its own flags in the second. A client compiles the same
// source with the same two, and hands carom_module_pong to carom_client_def.module.
#ifndef CAROM_MODULE_H
#define CAROM_MODULE_H

#include "carom/game.h"
#include "carom/math.h"

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "a module must not be built with -ffast-math or -ffinite-math-only"
#endif
#if (defined(__x86_64__) || defined(__i386__)) && defined(__FMA__)
#error "a module must not be built with fused instructions: -mno-fma"
#endif

#ifndef CAROM_MODULE_SOURCE
#define CAROM_MODULE_SOURCE "" // agrees with no server that took the module from a file
#endif

// An ELF note of owner "Carom", type 1: hash of the source, blank, flags with blanks between them,
// zeros up to a multiple of four.
#if defined(CAROM_MODULE_FLAGS) && defined(__ELF__)
#define CAROM_MODULE_RECORD      CAROM_MODULE_SOURCE " " CAROM_MODULE_FLAGS
#define CAROM_MODULE_RECORD_SIZE ((sizeof(CAROM_MODULE_RECORD) + 3u) / 4u * 4u)
#define CAROM_MODULE_NOTE(symbol)                                                                  \
    __attribute__((used, aligned(4), section(".note.carom"))) static const struct {                \
        uint32_t name_size, text_size, type;                                                       \
        char name[8], text[CAROM_MODULE_RECORD_SIZE];                                              \
    } carom_module_note_##symbol = {6, CAROM_MODULE_RECORD_SIZE, 1, "Carom", CAROM_MODULE_RECORD};
#else
#define CAROM_MODULE_NOTE(symbol)
#endif

// The descriptor carom_module_NAME; `...` are fields of carom_module, beginning with .version.
#define CAROM_MODULE(symbol, ...)                                                                  \
    CAROM_MODULE_NOTE(symbol)                                                                      \
    CAROM_API extern const carom_module carom_module_##symbol;                                     \
    const carom_module carom_module_##symbol = {                                                   \
        .abi = CAROM_MODULE_ABI, .name = #symbol, .source = CAROM_MODULE_SOURCE, __VA_ARGS__}

#endif
