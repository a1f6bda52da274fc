// Control messages, as the files share them that check, encode and decode.
#ifndef CM_SHARED_WIRE_CONTROL_INNER_H
#define CM_SHARED_WIRE_CONTROL_INNER_H

#include "shared/wire/control.h"

#define CM_CONTROL_PACKED_MAX (16u << 20) // bytes of scene and keyframe, each, when decompressed

// The fields of a message that have one name on the wire and here: numbers, texts, bytes.
// clang-format off
#define CM_HELLO_FIELDS(NUMBER, TEXT, BYTES)                                                       \
    NUMBER(protocol) NUMBER(engine) NUMBER(epoch) NUMBER(messages_had) NUMBER(predict)             \
    NUMBER(spectate) NUMBER(module_version) NUMBER(module_abi) TEXT(name) TEXT(module)             \
    BYTES(user_data)
#define CM_WELCOME_FIELDS(NUMBER, TEXT, BYTES)                                                     \
    NUMBER(player) NUMBER(client_id) NUMBER(tick_rate) NUMBER(view_rate) NUMBER(input_rate)        \
    NUMBER(rewind_ms) NUMBER(module_version) NUMBER(module_abi) NUMBER(seed) NUMBER(tick)          \
    NUMBER(present) NUMBER(epoch) NUMBER(messages) NUMBER(messages_before) NUMBER(grace_ms)        \
    NUMBER(durability) NUMBER(durable_tick) NUMBER(keyframe_size) TEXT(module) BYTES(ticket)       \
    BYTES(ticket_key)
// clang-format on

// True if every field that the message's type uses is in its range.
bool cm_control_is_valid(const cm_control *control);

#endif
