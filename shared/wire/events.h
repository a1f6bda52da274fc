// Events to the outside, as a server tells its clients: those of one confirmed tick. Rows one after
// the other, all numbers little-endian.
//
//   OFFSET SIZE
//        0    4  kind
//        4    4  key
//        8    8  first subject
//       16    8  second subject
//       24    1  size, 0 to CAROM_EVENT_BYTES_MAX
//       25 size  bytes
// Typical: one row, a few times a minute.
#ifndef CM_WIRE_EVENTS_H
#define CM_WIRE_EVENTS_H

#include "carom/game.h"

#define CM_EVENT_ROW_MIN    25u
#define CM_EVENTS_BYTES_MAX (CAROM_EVENTS_MAX * (CM_EVENT_ROW_MIN + CAROM_EVENT_BYTES_MAX))

// Returns the bytes written. At most CAROM_EVENTS_MAX events.
size_t cm_events_write(const carom_event *events, uint32_t count,
                       uint8_t bytes[CM_EVENTS_BYTES_MAX]);
// False: none, too many, cut, a size out of range, or two of one id.
bool cm_events_read(const uint8_t *bytes, size_t size, uint64_t tick,
                    carom_event events[CAROM_EVENTS_MAX], uint32_t *count);

#endif
