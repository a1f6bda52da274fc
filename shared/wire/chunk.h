// A chunk of a match's stream: its confirmed ticks of 2 s, and what a viewer needs to run them
// again. The bytes follow from the match file alone, so that every copy of a chunk is the same;
// PROTOCOL.md 11 tells both layouts.
//
//   OFFSET  SIZE    the body; all numbers little-endian
//   0       4       "CRMC"
//   4       2       the format, 1
//   6       1       how the match ended (cm_match_end), in its last chunk; else 0
//   7       1       0
//   8       8       the match's id
//   16      8       its first tick
//   24      4       its number: the first tick / CM_CHUNK_SECONDS x tick_rate
//   28      4       how many ticks; 0 in a last chunk that only tells the end
//   32      32      hash of the body of the chunk before it; zeros in the first
//   64      4 x 4   sizes of what follows: head, keyframe, personal, ticks
//   80      ...     head: in the first chunk, meta and scene of the match
//   ...     ...     keyframe: the encoded game after the first tick
//   ...     n x 48  personal: tick (8), client id (8), commitment to a name (32)
//   ...     ...     ticks: as in confirmed.h, without arrivals; all but the first follow
//
//   OFFSET  SIZE    the file that is served
//   0       8       "CAROMCH1"
//   8       64      Ed25519 signature of the body's hash; zeros where unsigned
//   72      ...     the body, one zstd frame
//
// Readers take hostile bytes. Typical: 4 to 12 kB for 8 players, 60 kB more with a keyframe of 400
// bodies.
#ifndef CM_WIRE_CHUNK_H
#define CM_WIRE_CHUNK_H

#include "shared/wire/confirmed.h"

#define CM_CHUNK_SECONDS       2u // of ticks
#define CM_CHUNK_KEYFRAMES     5u // a chunk whose number this divides has a keyframe
#define CM_CHUNK_HASH          32u
#define CM_CHUNK_SIGNATURE     64u
#define CM_CHUNK_HEAD          80u         // bytes before the head
#define CM_CHUNK_PERSONAL      48u         // bytes of a commitment's row
#define CM_CHUNK_BODY_MAX      (64u << 20) // bytes
#define CM_CHUNK_FILE_MAX      (32u << 20)
#define CM_CHUNK_META_MAX      32u
#define CM_CHUNK_META_TEXT_MAX 127u // of a key or a value

typedef struct cm_chunk_bytes {
    const uint8_t *bytes;
    size_t size;
} cm_chunk_bytes;

typedef struct cm_chunk {
    cm_match_end end;
    uint64_t match_id, first_tick;
    uint32_t number, tick_count;
    uint8_t before[CM_CHUNK_HASH];
    cm_chunk_bytes head, keyframe, personal, ticks;
} cm_chunk;

size_t cm_chunk_size(const cm_chunk *chunk);
// Writes cm_chunk_size bytes.
void cm_chunk_write(const cm_chunk *chunk, uint8_t *bytes);
// Checks all but the ticks and the keyframe, which a stream takes one by one (room/stream.h). The
// chunk points into `bytes`. NULL, or what is wrong.
const char *cm_chunk_read(const uint8_t *bytes, size_t size, cm_chunk *chunk);

// The head: keys of MATCH_FILE.md's meta, each with its value, and the scene's message.
typedef struct cm_chunk_meta {
    const char *key, *value;
} cm_chunk_meta;
size_t cm_chunk_head_size(const cm_chunk_meta *meta, uint32_t count, size_t scene_size);
void cm_chunk_head_write(const cm_chunk_meta *meta, uint32_t count, const uint8_t *scene,
                         size_t scene_size, uint8_t *bytes);
// The value of a key: false where the head has none, or where it does not fit.
bool cm_chunk_meta_text(const cm_chunk *chunk, const char *key, char *text, size_t size);
// A value in decimal, or in 16 hexadecimal digits. False likewise, and for anything else.
bool cm_chunk_meta_number(const cm_chunk *chunk, const char *key, uint32_t base, uint64_t *value);
cm_chunk_bytes cm_chunk_scene(const cm_chunk *chunk);

#endif
