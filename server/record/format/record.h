// The recorded form of a run of confirmed ticks (a pack) and of large blobs (zstd); that of one
// tick is shared/wire/confirmed.h. Pure: no lock, no I/O. Decoding takes hostile bytes and bounds
// what it takes before it allocates.
#ifndef CM_SERVER_RECORD_FORMAT_RECORD_H
#define CM_SERVER_RECORD_FORMAT_RECORD_H

#include "shared/game/game_host.h"

#define CM_RECORD_KEYFRAME_MAX  (64u << 20)          // bytes of an encoded game
#define CM_RECORD_KEYFRAMES_MAX (UINT64_C(16) << 30) // bytes of all those of a match, unpacked
#define CM_RECORD_PERSONAL_MAX  1024u                // bytes of a name or an address
#define CM_RECORD_PACK_ROWS     1024u                // ticks with inputs or their timing in a pack
#define CM_RECORD_JOIN_BYTES    8u                   // of a join with which a file begins
#define CM_RECORD_PACK_MAX      (6u << 20)           // bytes of a pack before zstd

typedef cm_confirmed_tick cm_recorded_tick;
typedef cm_confirmed_inputs cm_record_inputs;

// The tick and all that its lists point to, in one block of so many bytes (a multiple of 16), which
// is aligned to 16.
size_t cm_recorded_tick_size(const cm_recorded_tick *tick);
void cm_recorded_tick_copy(const cm_recorded_tick *tick, uint8_t *bytes);

// A pack: rows in ascending ticks, each input against its player's last one, byte by byte in
// planes, then zstd. Made a row at a time.
typedef struct cm_record_pack cm_record_pack;
cm_record_pack *cm_record_pack_create(void); // NULL: no memory
void cm_record_pack_free(cm_record_pack *pack);
uint32_t cm_record_pack_count(const cm_record_pack *pack);
// The row at `index` < count.
const cm_record_inputs *cm_record_pack_row(const cm_record_pack *pack, uint32_t index);
void cm_record_pack_clear(cm_record_pack *pack);
// False: it is full, or there is no memory.
bool cm_record_pack_add(cm_record_pack *pack, const cm_recorded_tick *tick);
// The packed bytes (free with free), NULL where there is no memory.
uint8_t *cm_record_pack_encode(const cm_record_pack *pack, size_t *size);
// Replaces what the pack holds. NULL, or what is wrong.
const char *cm_record_pack_decode(cm_record_pack *pack, const uint8_t *bytes, size_t size);

// The unpacked size that a zstd frame announces, read from its first CM_RECORD_FRAME_HEAD bytes or
// more; UINT64_MAX if it announces none, or is no frame.
#define CM_RECORD_FRAME_HEAD 18u
uint64_t cm_record_announced_size(const void *packed, size_t packed_size);

// Compressed copies (free with free); NULL where there is no memory, or where a frame is damaged or
// would be above `limit` bytes. `base` (or NULL) is what was compressed against: the same bytes are
// needed to unpack.
uint8_t *cm_record_compress(const void *bytes, size_t size, const void *base, size_t base_size,
                            size_t *packed_size);
uint8_t *cm_record_expand(const void *packed, size_t packed_size, const void *base,
                          size_t base_size, size_t limit, size_t *size);

#endif
