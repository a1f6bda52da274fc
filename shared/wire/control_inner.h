// Control messages, as the files share them that check, encode and decode.
#ifndef CM_SHARED_WIRE_CONTROL_INNER_H
#define CM_SHARED_WIRE_CONTROL_INNER_H

#include "shared/wire/control.h"

#define CM_CONTROL_PACKED_MAX (16u << 20) // bytes of scene and keyframe, each, when decompressed

// True if every field that the message's type uses is in its range.
bool cm_control_is_valid(const cm_control *control);

#endif
