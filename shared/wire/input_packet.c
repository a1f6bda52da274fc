// Input packets, client to server: the inputs that the server has not settled, newest first, each
// against the one after it. PROTOCOL.md describes them for others; all numbers little-endian.
//
//   OFFSET SIZE
//        0    1  type, CM_PACKET_INPUT
//        1    1  flags: bit 0 an ack follows, others 0
//        2    1  epoch
//        3    2  ack_sequence (0 without an ack)
//        5    4  ack_bits (0 without an ack)
//        9    4  newest_tick
//       13    1  count, 0 to 64
//       14       bits, least significant first, for each input, newest first:
//                  1             same as the one before it in the packet (before the first: zeros)
//                  else size     which bytes differ, not none
//                       8 each   those bytes
// Typical: 15 to 40 bytes, 8 inputs, 60 packets a second from each client.
#include "shared/wire/packet.h"

#include "shared/base/assert.h"
#include "shared/wire/input_delta.h"

#include <string.h>

enum { INPUT_HEADER = 14 };

// False, and the writer as it was, where the input does not fit.
static bool write_input(cm_bit_writer *writer, const uint8_t *from, const uint8_t *to,
                        uint32_t size)
{
    cm_bit_writer before = *writer;
    (void)cm_input_delta_write(writer, from, to, size);
    if (!writer->overflow) {
        return true;
    }
    *writer = before;
    if (before.position % 8 != 0) {
        writer->bytes[before.position / 8] &= (uint8_t)((1u << (before.position % 8)) - 1u);
    }
    return false;
}

size_t cm_input_packet_write(const cm_input_packet *packet, uint32_t input_size, uint8_t *bytes,
                             size_t size)
{
    static const uint8_t zeros[CAROM_INPUT_MAX] = {0};
    CM_ASSERT(packet->count <= CM_INPUTS_MAX);
    CM_ASSERT(packet->count == 0 || packet->newest_tick >= packet->count - 1);
    CM_ASSERT(input_size <= CAROM_INPUT_MAX);
    cm_bit_writer writer;
    cm_bit_writer_init(&writer, bytes, size < CM_PACKET_MAX ? size : CM_PACKET_MAX);
    cm_write_bits(&writer, CM_PACKET_INPUT, 8);
    cm_write_bits(&writer, packet->has_ack ? 1 : 0, 8);
    cm_write_bits(&writer, packet->epoch, 8);
    cm_write_bits(&writer, packet->has_ack ? packet->ack_sequence : 0, 16);
    cm_write_bits(&writer, packet->has_ack ? packet->ack_bits : 0, 32);
    cm_write_bits(&writer, packet->newest_tick, 32);
    cm_write_bits(&writer, packet->count, 8);
    if (writer.overflow) {
        return 0;
    }
    uint32_t count = 0;
    const uint8_t *from = zeros;
    while (count < packet->count && write_input(&writer, from, packet->inputs[count], input_size)) {
        from = packet->inputs[count++];
    }
    bytes[INPUT_HEADER - 1] = (uint8_t)count;
    return cm_bit_writer_bytes(&writer);
}

static cm_packet_reason read_inputs(cm_bit_reader *reader, uint32_t size, cm_input_packet *packet)
{
    static const uint8_t zeros[CAROM_INPUT_MAX] = {0};
    const uint8_t *from = zeros;
    for (uint32_t n = 0; n < packet->count; n++) {
        uint8_t *to = packet->inputs[n];
        memcpy(to, from, CAROM_INPUT_MAX);
        from = to;
        if (!cm_input_delta_read(reader, to, size)) {
            return reader->overflow ? CM_PACKET_SHORT : CM_PACKET_RANGE;
        }
    }
    return cm_packet_end(reader);
}

cm_packet_reason cm_input_packet_read(const uint8_t *bytes, size_t size, uint32_t input_size,
                                      cm_input_packet *packet)
{
    CM_ASSERT(input_size <= CAROM_INPUT_MAX);
    memset(packet, 0, sizeof *packet);
    if (size > CM_PACKET_MAX) {
        return CM_PACKET_LONG;
    }
    if (size < 1) {
        return CM_PACKET_SHORT;
    }
    if (bytes[0] != CM_PACKET_INPUT) {
        return CM_PACKET_TYPE;
    }
    if (size < INPUT_HEADER) {
        return CM_PACKET_SHORT;
    }
    cm_bit_reader reader;
    cm_bit_reader_init(&reader, bytes, size);
    cm_read_bits(&reader, 8);
    uint32_t flags = cm_read_bits(&reader, 8);
    packet->has_ack = (flags & 1u) != 0;
    packet->epoch = (uint8_t)cm_read_bits(&reader, 8);
    packet->ack_sequence = (uint16_t)cm_read_bits(&reader, 16);
    packet->ack_bits = cm_read_bits(&reader, 32);
    packet->newest_tick = cm_read_bits(&reader, 32);
    packet->count = cm_read_bits(&reader, 8);
    bool acked_nothing = packet->ack_sequence == 0 && packet->ack_bits == 0;
    if (flags > 1 || (!packet->has_ack && !acked_nothing) || packet->count > CM_INPUTS_MAX ||
        (packet->count > 0 && packet->newest_tick < packet->count - 1)) {
        packet->count = 0;
        return CM_PACKET_RANGE;
    }
    return read_inputs(&reader, input_size, packet);
}
