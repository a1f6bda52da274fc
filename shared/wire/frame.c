// Gathering and sealing, opening and giving the checksum its place again.
#include "shared/wire/frame.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

#define FLAG_TIME 0x80u // of the first byte

static size_t head_size(uint8_t first)
{
    return (first & FLAG_TIME) != 0 ? 4 : 2;
}

uint32_t cm_frame_id(const cm_frame_part *first)
{
    if (first->size < CM_FRAME_CHECKSUM) {
        return 0;
    }
    const uint8_t *end = (const uint8_t *)first->data + first->size;
    cm_byte_reader reader = cm_byte_reader_make(end - CM_FRAME_CHECKSUM, CM_FRAME_CHECKSUM);
    return cm_get_u32(&reader);
}

// All parts without the checksum, behind one another; false where they do not fit.
static bool gather(const cm_frame_part *parts, size_t count, cm_byte_writer *writer)
{
    const uint8_t *head = parts[0].data;
    if (count == 0 || parts[0].size < 2 + CM_FRAME_CHECKSUM ||
        parts[0].size != head_size(head[0]) + CM_FRAME_CHECKSUM) {
        return false;
    }
    cm_put_bytes(writer, head, parts[0].size - CM_FRAME_CHECKSUM);
    for (size_t i = 1; i < count; i++) {
        cm_put_bytes(writer, parts[i].data, parts[i].size);
    }
    return !writer->overflow;
}

size_t cm_frame_seal(cm_seal *seal, const cm_frame_part *parts, size_t count,
                     uint8_t datagram[CM_DATAGRAM_MAX])
{
    cm_byte_writer writer =
        cm_byte_writer_make(datagram + CM_SEAL_HEADER, CM_DATAGRAM_MAX - CM_SEAL_OVERHEAD);
    return gather(parts, count, &writer)
               ? cm_seal_close(seal, CM_WIRE_SEALED, datagram, writer.size)
               : 0;
}

cm_seal_reason cm_frame_open(cm_seal *seal, uint8_t *datagram, size_t size, uint8_t **frame,
                             size_t *frame_size)
{
    size_t plain_size;
    *frame = NULL;
    *frame_size = 0;
    cm_seal_reason reason = cm_seal_open(seal, datagram, size, &plain_size);
    uint8_t *plain = datagram + CM_SEAL_HEADER;
    if (reason == CM_SEAL_OK && (plain_size == 0 || plain_size < head_size(plain[0]))) {
        return CM_SEAL_SHORT;
    }
    if (reason == CM_SEAL_OK) {
        // The head moves down over the seal's own header; the checksum comes where it was.
        size_t head = head_size(plain[0]);
        *frame = plain - CM_FRAME_CHECKSUM;
        memmove(*frame, plain, head);
        memset(*frame + head, 0, CM_FRAME_CHECKSUM);
        *frame_size = plain_size + CM_FRAME_CHECKSUM;
    }
    return reason;
}

bool cm_frame_read_connect(const cm_frame_part *parts, size_t count,
                           uint8_t connect[CM_ENET_CONNECT])
{
    cm_byte_writer writer = cm_byte_writer_make(connect, CM_ENET_CONNECT);
    return gather(parts, count, &writer) && writer.size == CM_ENET_CONNECT;
}

void cm_frame_put_connect(const uint8_t connect[CM_ENET_CONNECT], uint8_t frame[CM_FRAME_CONNECT])
{
    memcpy(frame, connect, 4);
    memset(frame + 4, 0, CM_FRAME_CHECKSUM);
    memcpy(frame + 4 + CM_FRAME_CHECKSUM, connect + 4, CM_ENET_CONNECT - 4);
}

bool cm_frame_is_connect(const uint8_t connect[CM_ENET_CONNECT])
{
    static const uint8_t no_peer[] = {0x8f, 0xff}, command[] = {0x82, 0xff};
    return memcmp(connect, no_peer, sizeof no_peer) == 0 &&
           memcmp(connect + 4, command, sizeof command) == 0;
}

uint32_t cm_frame_channels(const uint8_t connect[CM_ENET_CONNECT])
{
    const uint8_t *at = connect + 20;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

size_t cm_frame_probe(cm_seal *seal, size_t size, uint8_t datagram[CM_DATAGRAM_MAX])
{
    CM_ASSERT(size > CM_SEAL_OVERHEAD + 2);
    CM_ASSERT(size <= CM_DATAGRAM_MAX);
    memset(datagram, 0, size);
    return cm_seal_close(seal, CM_WIRE_PROBE, datagram, size - CM_SEAL_OVERHEAD);
}

size_t cm_frame_probed(cm_seal *seal, size_t size, uint8_t datagram[CM_DATAGRAM_MAX])
{
    cm_byte_writer writer = cm_byte_writer_make(datagram + CM_SEAL_HEADER, 2);
    cm_put_u16(&writer, (uint16_t)size);
    return cm_seal_close(seal, CM_WIRE_PROBED, datagram, 2);
}

size_t cm_frame_probed_size(const uint8_t *plain, size_t plain_size)
{
    cm_byte_reader reader = cm_byte_reader_make(plain, plain_size);
    size_t size = cm_get_u16(&reader);
    bool sound = plain_size == 2 && size > CM_SEAL_OVERHEAD + 2 && size <= CM_DATAGRAM_MAX;
    return sound ? size : 0;
}
