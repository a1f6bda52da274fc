// A head is judged as soon as it is whole; its payload is unmasked as it comes.
#include "server/transport/websocket/frames.h"

#include <string.h>

#include "shared/base/assert.h"

#define FIN          0x80u
#define RESERVED     0x70u
#define MASK         0x80u
#define CONTINUATION 0x0u
#define TEXT         0x1u
#define PING         0x9u

uint16_t cm_frame_reason_code(cm_frame_reason reason)
{
#define CODE(name, code, text) code,
    static const uint16_t codes[] = {CM_FRAME_REASONS(CODE)};
#undef CODE
    return reason < CM_FRAME_REASON_COUNT ? codes[reason] : 0;
}

const char *cm_frame_reason_text(cm_frame_reason reason)
{
#define WORDS(name, code, text) text,
    static const char *const texts[] = {CM_FRAME_REASONS(WORDS)};
#undef WORDS
    return reason < CM_FRAME_REASON_COUNT ? texts[reason] : "";
}

static bool is_control(uint8_t opcode)
{
    return (opcode & 8) != 0;
}

// Bytes of the head, as far as it tells how many it has.
static uint32_t head_length(const cm_frames_reader *reader)
{
    uint32_t length = 2;
    if (reader->head_size >= 2) {
        uint8_t low = reader->head[1] & 127;
        length += low == 126 ? 2 : low == 127 ? 8 : 0;
        length += (reader->head[1] & MASK) != 0 ? 4 : 0;
    }
    return length;
}

static uint64_t payload_length(const uint8_t *head)
{
    uint8_t low = head[1] & 127;
    uint32_t bytes = low == 126 ? 2 : low == 127 ? 8 : 0;
    uint64_t length = bytes == 0 ? low : 0;
    for (uint32_t i = 0; i < bytes; i++) {
        length = length << 8 | head[2 + i];
    }
    return length;
}

static cm_frame_reason judge_control(const cm_frames_reader *reader)
{
    bool known = reader->opcode == CM_FRAMES_CLOSED || reader->opcode == PING ||
                 reader->opcode == CM_FRAMES_PONG;
    if (!known) {
        return CM_FRAME_RESERVED;
    }
    return !reader->is_last || reader->left > CM_FRAMES_CONTROL_MAX ? CM_FRAME_CONTROL
                                                                    : CM_FRAME_REASON_COUNT;
}

// A whole head. CM_FRAME_REASON_COUNT: its payload may come.
static cm_frame_reason judge(const cm_frames_reader *reader)
{
    if ((reader->head[0] & RESERVED) != 0) {
        return CM_FRAME_RESERVED;
    }
    if ((reader->head[1] & MASK) == 0) {
        return CM_FRAME_UNMASKED;
    }
    if (is_control(reader->opcode)) {
        return judge_control(reader);
    }
    if (reader->opcode > CM_FRAMES_BINARY) {
        return CM_FRAME_RESERVED;
    }
    if ((reader->opcode == CONTINUATION) != reader->in_message) {
        return CM_FRAME_ORDER;
    }
    if (reader->opcode == TEXT) {
        return CM_FRAME_TEXT;
    }
    return reader->left > CM_FRAMES_MESSAGE_MAX - reader->size ? CM_FRAME_LARGE
                                                               : CM_FRAME_REASON_COUNT;
}

static cm_frames_event refuse(cm_frames_reader *reader, cm_frame_reason reason)
{
    reader->reason = reason;
    return CM_FRAMES_REFUSED;
}

static cm_frames_event begin(cm_frames_reader *reader)
{
    reader->opcode = reader->head[0] & 15;
    reader->is_last = (reader->head[0] & FIN) != 0;
    reader->left = payload_length(reader->head);
    reader->at = 0;
    if (reader->is_whole) {
        reader->size = 0;
        reader->is_whole = false;
    }
    cm_frame_reason wrong = judge(reader);
    if (wrong != CM_FRAME_REASON_COUNT) {
        return refuse(reader, wrong);
    }
    reader->idle += is_control(reader->opcode) || reader->left == 0;
    if (reader->idle > CM_FRAMES_IDLE_MAX) {
        return refuse(reader, CM_FRAME_IDLE);
    }
    if (is_control(reader->opcode)) {
        reader->control_size = (uint32_t)reader->left;
    }
    return CM_FRAMES_MORE;
}

// A frame is whole.
static cm_frames_event end(cm_frames_reader *reader)
{
    reader->head_size = 0;
    if (reader->opcode == PING) {
        return CM_FRAMES_PING;
    }
    if (is_control(reader->opcode)) {
        return reader->opcode == CM_FRAMES_CLOSED ? CM_FRAMES_CLOSE : CM_FRAMES_MORE;
    }
    reader->in_message = !reader->is_last;
    if (!reader->is_last || reader->size == 0) { // an empty message is no datagram
        return CM_FRAMES_MORE;
    }
    reader->is_whole = true;
    reader->idle = 0;
    return CM_FRAMES_MESSAGE;
}

static size_t take_payload(cm_frames_reader *reader, const uint8_t *bytes, size_t size)
{
    const uint8_t *mask = reader->head + head_length(reader) - 4;
    uint32_t count = (uint32_t)(size < reader->left ? size : reader->left);
    uint8_t *to =
        is_control(reader->opcode) ? reader->control + reader->at : reader->message + reader->size;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = bytes[i] ^ mask[(reader->at + i) & 3];
    }
    reader->at += count;
    reader->left -= count;
    reader->size += is_control(reader->opcode) ? 0 : count;
    CM_ASSERT(reader->size <= CM_FRAMES_MESSAGE_MAX);
    return count;
}

cm_frames_event cm_frames_read(cm_frames_reader *reader, const uint8_t *bytes, size_t size,
                               size_t *taken)
{
    cm_frames_event event = CM_FRAMES_MORE;
    size_t at = 0;
    while (event == CM_FRAMES_MORE && at < size) {
        bool in_head = reader->head_size < head_length(reader);
        if (in_head) {
            reader->head[reader->head_size++] = bytes[at++];
            if (reader->head_size < head_length(reader)) {
                continue;
            }
            event = begin(reader);
        } else {
            at += take_payload(reader, bytes + at, size - at);
        }
        if (event == CM_FRAMES_MORE && reader->left == 0) {
            event = end(reader);
        }
    }
    *taken = at;
    return event;
}

size_t cm_frames_head(uint8_t head[CM_FRAMES_HEAD_MAX], uint8_t opcode, size_t size)
{
    CM_ASSERT(size <= CM_FRAMES_MESSAGE_MAX);
    head[0] = (uint8_t)(FIN | opcode);
    if (size < 126) {
        head[1] = (uint8_t)size;
        return 2;
    }
    head[1] = 126;
    head[2] = (uint8_t)(size >> 8);
    head[3] = (uint8_t)size;
    return CM_FRAMES_HEAD_MAX;
}
