// A viewer's core: takes the chunks of a match's stream (shared/wire/chunk.h), runs its game again
// and compares the hash of every tick, so that what it shows is what happened. Native viewers and
// WebAssembly have this one.
//
//   open   the first chunk: scene, module, the state at its first tick
//   load   the next chunk, which names the hash of the one before it; or any with a keyframe, from
//          which the game goes on: a seek, or a viewer that joins late
//   step   a tick of the loaded chunk
//
// It takes bodies: who fetches files, opens them and looks at signatures is the caller
// (chunk_file.h), who passes the hash of each body. A jump to a keyframe believes that chunk; a
// signature vouches for it, or the chunks in between.
#ifndef CM_ROOM_STREAM_H
#define CM_ROOM_STREAM_H

#include "shared/game/game_host.h"
#include "shared/wire/chunk.h"

typedef struct cm_stream cm_stream;

typedef struct cm_stream_error {
    char message[240]; // "chunk 7: …: what is wrong"
} cm_stream_error;

// `body` must live until another chunk is loaded. `module`: NULL, or one that is not built in.
// CAROM_ERROR_VERSION: another engine or module recorded it; CAROM_ERROR_CORRUPT; _DIVERGED.
carom_result cm_stream_open(const uint8_t *body, size_t size, const uint8_t hash[CM_CHUNK_HASH],
                            const carom_module *module, cm_stream **stream, cm_stream_error *error);
void cm_stream_close(cm_stream *stream);

// After CAROM_ERROR_CORRUPT the stream is as it was. With a keyframe the game stands at the chunk's
// first tick. A chunk that is not the next, and has none: CAROM_ERROR_STATE.
carom_result cm_stream_load(cm_stream *stream, const uint8_t *body, size_t size,
                            const uint8_t hash[CM_CHUNK_HASH], cm_stream_error *error);
// CAROM_ERROR_NOT_FOUND: no tick of the loaded chunk is left. After CAROM_ERROR_DIVERGED and
// _CORRUPT only a jump goes on.
carom_result cm_stream_step(cm_stream *stream, cm_stream_error *error);

carom_game *cm_stream_game(cm_stream *stream);
const cm_scene *cm_stream_scene(const cm_stream *stream);
uint64_t cm_stream_match(const cm_stream *stream);     // its id
uint32_t cm_stream_tick_rate(const cm_stream *stream); // of the match
uint32_t cm_stream_next(const cm_stream *stream);      // number of the chunk after the loaded one
cm_match_end cm_stream_end(const cm_stream *stream);   // as the loaded chunk says
// The public key that the first chunk names, 64 hexadecimal digits; "" where it names none.
const char *cm_stream_key(const cm_stream *stream);

#endif
