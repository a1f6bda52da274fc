// The recorded form of one tick's events and inputs (proto/record.proto), and of large blobs
// (zstd). Encoding is for the room's thread: no lock, no I/O. Decoding takes hostile bytes and
// works in a fixed block of memory.
#ifndef CM_SERVER_RECORD_RECORD_H
#define CM_SERVER_RECORD_RECORD_H

#include "shared/game/game_host.h"

#define CM_RECORD_EVENTS_MAX   256u         // of one tick
#define CM_RECORD_TICK_MAX     (288u << 10) // bytes of one encoded tick
#define CM_RECORD_KEYFRAME_MAX (64u << 20)  // bytes of an encoded game
#define CM_RECORD_ARENA        (1u << 20)   // bytes that decoding a tick may take

// Bytes that the tick takes, 0 where nothing happened in it; false where it is above the limits.
// Inputs count their first `input_size` bytes.
bool cm_record_tick_size(const cm_tick_input *input, uint32_t input_size, size_t *size);
void cm_record_tick_encode(const cm_tick_input *input, uint32_t input_size, uint8_t *bytes);

// A decoded tick: `input` points into it and lives until the next decode or free.
typedef struct cm_record cm_record;
cm_record *cm_record_create(void); // NULL: no memory
void cm_record_free(cm_record *record);
// NULL, or what is wrong, as a constant text. `size` 0 is a tick in which nothing happened.
const char *cm_record_tick_decode(cm_record *record, const uint8_t *bytes, size_t size);
const cm_tick_input *cm_record_input(const cm_record *record);

// Compressed copies (free with free); NULL where there is no memory, or where a frame is damaged or
// would be above `limit` bytes.
uint8_t *cm_record_pack(const void *bytes, size_t size, size_t *packed_size);
uint8_t *cm_record_unpack(const void *packed, size_t packed_size, size_t limit, size_t *size);

#endif
