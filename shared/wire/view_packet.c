// View packets, server to client: bodies in ascending slots, each alone or against what an earlier
// packet held. PROTOCOL.md describes them for others; all numbers little-endian.
//
//   OFFSET SIZE
//        0    1  type, CM_PACKET_VIEW
//        1    1  epoch
//        2    2  sequence
//        4    4  tick
//        8    4  input_ack
//       12    2  input_lead, two's complement
//       14    1  flags: bit 0 public state follows, bit 1 a wrench, bit 2 durable_age,
//                bit 3 messages, bit 4 a relay, bit 5 drives, bit 6 (never with bit 0) that
//                the public state is not told, others 0
//      [15]   2  public_size, 0 to 1024
//      [17]   1  public_number
//      [18]   1  public_back, 0 to 63
//      [19]   8  present
//      [27]      public_size bytes
//      [at]  24  force, torque: six binary32; at = 15 or 27 + public_size
//      [..]   2  durable_age, at most tick
//      [..]   2  messages
//      [..]   2  relay_size, 1 to 256, then as many bytes (input_relay.h)
//       then: bits, least significant first, for each body:
//          1       one more body (0: none, the check follows)
//          1       its slot is the one after the last (first: slot 0); else
//          1 + 4     0: slots left out, less one; or
//          1 + 16    1: the slot itself
//          2       generation
//          1       its baseline age is that of the body before (first: 0); else 7 bits, the age
//                  the body (view_delta.c)
//       with drives the same for each joint that one is told of, from slot 0 (view_drive.c)
//         16       check: header, public state, relay and bodies folded
// Typical: 300 bytes, 50 bodies, 30 packets a second for each client.
#include "shared/wire/packet.h"

#include "shared/base/assert.h"

#include <string.h>

enum {
    VIEW_HEADER = 15,
    SLOT_SKIP_BITS = 4, // short form: 1 to 16 slots left out
    SLOT_BITS = 16,
    AGE_BITS = 7,
    CHECK_BITS = 16,
    FLAG_PUBLIC = 1,
    FLAG_WRENCH = 2,
    FLAG_DURABLE = 4,
    FLAG_MESSAGES = 8,
    FLAG_RELAY = 16,
    FLAG_DRIVES = 32,
    FLAG_UNSURE = 64,
    FLAGS = 127,
    WRENCH_WORDS = 6,
    EXPONENT = 0x7f800000,
};

cm_packet_reason cm_packet_end(cm_bit_reader *reader)
{
    if (reader->overflow) {
        return CM_PACKET_SHORT;
    }
    if (cm_bit_reader_left(reader) >= 8) {
        return CM_PACKET_LONG;
    }
    cm_read_align(reader);
    return reader->overflow ? CM_PACKET_RANGE : CM_PACKET_OK;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void wrench_words(const cm_view_header *header, uint32_t words[WRENCH_WORDS])
{
    words[0] = float_bits(header->force.x);
    words[1] = float_bits(header->force.y);
    words[2] = float_bits(header->force.z);
    words[3] = float_bits(header->torque.x);
    words[4] = float_bits(header->torque.y);
    words[5] = float_bits(header->torque.z);
}

static bool set_wrench(cm_view_header *header, const uint32_t words[WRENCH_WORDS])
{
    for (uint32_t i = 0; i < WRENCH_WORDS; i++) {
        if ((words[i] & EXPONENT) == EXPONENT) {
            return false; // NaN or infinite
        }
    }
    header->force = (carom_vec3){bits_float(words[0]), bits_float(words[1]), bits_float(words[2])};
    header->torque = (carom_vec3){bits_float(words[3]), bits_float(words[4]), bits_float(words[5])};
    return true;
}

static uint32_t check_header(const cm_view_header *header)
{
    uint32_t check = cm_check_fold(0, header->epoch);
    check = cm_check_fold(check, header->sequence);
    check = cm_check_fold(check, header->tick);
    check = cm_check_fold(check, header->input_ack);
    check = cm_check_fold(check, (uint16_t)header->input_lead);
    check = header->public_unsure ? cm_check_fold(check, 1) : check;
    if (header->has_public) {
        check = cm_check_fold(check, header->public_size);
        check = cm_check_fold(check, header->public_number);
        check = cm_check_fold(check, header->public_back);
        check = cm_check_fold(check, (uint32_t)header->present);
        check = cm_check_fold(check, (uint32_t)(header->present >> 32));
        for (uint32_t i = 0; i < header->public_size; i++) {
            check = cm_check_fold(check, header->public_state[i]);
        }
    }
    if (header->has_wrench) {
        uint32_t words[WRENCH_WORDS];
        wrench_words(header, words);
        for (uint32_t i = 0; i < WRENCH_WORDS; i++) {
            check = cm_check_fold(check, words[i]);
        }
    }
    check = header->has_durable ? cm_check_fold(check, header->durable_age) : check;
    check = header->has_messages ? cm_check_fold(check, header->messages) : check;
    for (uint32_t i = 0; i < header->relay_size; i++) {
        check = cm_check_fold(check, header->relay[i]);
    }
    return check;
}

static uint32_t flags_of(const cm_view_header *header)
{
    return (header->has_public ? FLAG_PUBLIC : 0u) | (header->has_wrench ? FLAG_WRENCH : 0u) |
           (header->has_durable ? FLAG_DURABLE : 0u) | (header->has_messages ? FLAG_MESSAGES : 0u) |
           (header->relay_size > 0 ? FLAG_RELAY : 0u) | (header->has_drives ? FLAG_DRIVES : 0u) |
           (header->public_unsure ? FLAG_UNSURE : 0u);
}

static uint32_t check_entry(uint32_t check, const cm_view_entry *entry)
{
    check = cm_check_fold(check, entry->generation & 3u);
    return cm_view_check(check, entry->index, &entry->body);
}

static uint32_t check_final(uint32_t check)
{
    return (check ^ (check >> CHECK_BITS)) & ((1u << CHECK_BITS) - 1);
}

// Writing --------------------------------------------------------------------------------------

// last_index is the slot of the last body, UINT32_MAX before the first; last_age as it travels.
void cm_view_writer_begin(cm_view_writer *writer, const cm_view_header *header, uint8_t *bytes,
                          size_t size)
{
    CM_ASSERT(header->public_size <= CAROM_MODULE_PUBLIC_MAX);
    memset(writer, 0, sizeof *writer);
    writer->last_index = UINT32_MAX;
    writer->has_drives = header->has_drives;
    writer->check = check_header(header);
    cm_bit_writer *bits = &writer->bits;
    cm_bit_writer_init(bits, bytes, size < CM_PACKET_MAX ? size : CM_PACKET_MAX);
    cm_write_bits(bits, CM_PACKET_VIEW, 8);
    cm_write_bits(bits, header->epoch, 8);
    cm_write_bits(bits, header->sequence, 16);
    cm_write_bits(bits, header->tick, 32);
    cm_write_bits(bits, header->input_ack, 32);
    cm_write_bits(bits, (uint16_t)header->input_lead, 16);
    cm_write_bits(bits, flags_of(header), 8);
    if (header->has_public) {
        CM_ASSERT(!header->public_unsure && header->public_back < CM_STATES_KEPT);
        cm_write_bits(bits, header->public_size, 16);
        cm_write_bits(bits, header->public_number, 8);
        cm_write_bits(bits, header->public_back, 8);
        cm_write_bits64(bits, header->present, 64);
        cm_write_byte_run(bits, header->public_state, header->public_size);
    }
    if (header->has_wrench) {
        uint32_t words[WRENCH_WORDS];
        wrench_words(header, words);
        for (uint32_t i = 0; i < WRENCH_WORDS; i++) {
            CM_ASSERT((words[i] & EXPONENT) != EXPONENT);
            cm_write_bits(bits, words[i], 32);
        }
    }
    if (header->has_durable) {
        CM_ASSERT(header->durable_age <= header->tick);
        cm_write_bits(bits, header->durable_age, 16);
    }
    if (header->has_messages) {
        cm_write_bits(bits, header->messages, 16);
    }
    if (header->relay_size > 0) {
        CM_ASSERT(header->relay_size <= CM_RELAY_MAX);
        cm_write_bits(bits, header->relay_size, 16);
        cm_write_byte_run(bits, header->relay, header->relay_size);
    }
}

static void write_slot(cm_bit_writer *bits, uint32_t last, uint32_t index)
{
    uint32_t skipped = index - (last + 1); // last + 1 is 0 before the first
    cm_write_bool(bits, skipped == 0);
    if (skipped == 0) {
        return;
    }
    if (skipped <= 1u << SLOT_SKIP_BITS) {
        cm_write_bits(bits, 0, 1);
        cm_write_bits(bits, skipped - 1, SLOT_SKIP_BITS);
    } else {
        cm_write_bits(bits, 1, 1);
        cm_write_bits(bits, index % CM_VIEW_DRIVES, SLOT_BITS);
    }
}

bool cm_view_writer_put(cm_view_writer *writer, const cm_view_entry *entry, cm_view_code code)
{
    CM_ASSERT(entry->index < 2 * CM_VIEW_DRIVES);
    CM_ASSERT(writer->count == 0 || entry->index > writer->last_index);
    CM_ASSERT(entry->baseline_age <= CM_BASELINE_AGE_MAX);
    bool first = entry->index >= CM_VIEW_DRIVES && writer->last_index + 1 <= CM_VIEW_DRIVES;
    CM_ASSERT(!first || writer->has_drives);
    if (writer->bits.overflow || writer->count >= CM_VIEW_ENTRIES_MAX) {
        return false;
    }
    cm_bit_writer before = writer->bits;
    cm_bit_writer *bits = &writer->bits;
    if (first) {
        cm_write_bool(bits, false); // of the bodies
    }
    uint32_t last_age = first ? 0 : writer->last_age;
    cm_write_bool(bits, true);
    write_slot(bits, first ? CM_VIEW_DRIVES - 1 : writer->last_index, entry->index);
    cm_write_bits(bits, entry->generation & 3u, 2);
    cm_write_bool(bits, entry->baseline_age == last_age);
    if (entry->baseline_age != last_age) {
        cm_write_bits(bits, entry->baseline_age, AGE_BITS);
    }
    cm_write_bit_run(bits, code.bytes, code.count);
    uint32_t end_bits = (writer->has_drives && !first ? 2u : 1u) + CHECK_BITS;
    if (bits->overflow || bits->position + end_bits > bits->capacity * 8) {
        *bits = before;
        if (before.position % 8 != 0) {
            bits->bytes[before.position / 8] &= (uint8_t)((1u << (before.position % 8)) - 1u);
        }
        return false;
    }
    writer->has_drives = writer->has_drives && !first;
    writer->last_index = entry->index;
    writer->last_age = entry->baseline_age;
    writer->check = check_entry(writer->check, entry);
    writer->count++;
    return true;
}

size_t cm_view_writer_end(cm_view_writer *writer)
{
    if (writer->has_drives) {
        cm_write_bool(&writer->bits, false); // none fitted
    }
    cm_write_bool(&writer->bits, false);
    cm_write_bits(&writer->bits, check_final(writer->check), CHECK_BITS);
    return writer->bits.overflow ? 0 : cm_bit_writer_bytes(&writer->bits);
}

// Reading --------------------------------------------------------------------------------------

static cm_packet_reason read_header(cm_bit_reader *bits, cm_view_header *header)
{
    if (bits->size > CM_PACKET_MAX) {
        return CM_PACKET_LONG;
    }
    if (bits->size < 1) {
        return CM_PACKET_SHORT;
    }
    if (bits->bytes[0] != CM_PACKET_VIEW) {
        return CM_PACKET_TYPE;
    }
    if (bits->size < VIEW_HEADER) {
        return CM_PACKET_SHORT;
    }
    cm_read_bits(bits, 8);
    header->epoch = (uint8_t)cm_read_bits(bits, 8);
    header->sequence = (uint16_t)cm_read_bits(bits, 16);
    header->tick = cm_read_bits(bits, 32);
    header->input_ack = cm_read_bits(bits, 32);
    uint32_t lead = cm_read_bits(bits, 16);
    header->input_lead = (int16_t)(lead < 0x8000u ? (int32_t)lead : (int32_t)lead - 0x10000);
    uint32_t flags = cm_read_bits(bits, 8);
    if (flags > FLAGS || (flags & (FLAG_PUBLIC | FLAG_UNSURE)) == (FLAG_PUBLIC | FLAG_UNSURE)) {
        return CM_PACKET_RANGE;
    }
    header->has_public = (flags & FLAG_PUBLIC) != 0;
    header->has_wrench = (flags & FLAG_WRENCH) != 0;
    header->has_durable = (flags & FLAG_DURABLE) != 0;
    header->has_messages = (flags & FLAG_MESSAGES) != 0;
    header->has_drives = (flags & FLAG_DRIVES) != 0;
    header->public_unsure = (flags & FLAG_UNSURE) != 0;
    if (header->has_public) {
        uint32_t public_size = cm_read_bits(bits, 16);
        if (public_size > CAROM_MODULE_PUBLIC_MAX) {
            return CM_PACKET_RANGE;
        }
        header->public_size = public_size;
        header->public_number = (uint8_t)cm_read_bits(bits, 8);
        header->public_back = (uint8_t)cm_read_bits(bits, 8);
        if (header->public_back >= CM_STATES_KEPT) {
            return CM_PACKET_RANGE;
        }
        header->present = cm_read_bits64(bits, 64);
        cm_read_byte_run(bits, header->public_state, public_size);
    }
    if (header->has_wrench) {
        uint32_t words[WRENCH_WORDS];
        for (uint32_t i = 0; i < WRENCH_WORDS; i++) {
            words[i] = cm_read_bits(bits, 32);
        }
        if (!bits->overflow && !set_wrench(header, words)) {
            return CM_PACKET_RANGE;
        }
    }
    if (header->has_durable) {
        header->durable_age = (uint16_t)cm_read_bits(bits, 16);
        if (!bits->overflow && header->durable_age > header->tick) {
            return CM_PACKET_RANGE;
        }
    }
    if (header->has_messages) {
        header->messages = (uint16_t)cm_read_bits(bits, 16);
    }
    if ((flags & FLAG_RELAY) != 0) {
        uint32_t relay_size = cm_read_bits(bits, 16);
        if (!bits->overflow && (relay_size == 0 || relay_size > CM_RELAY_MAX)) {
            return CM_PACKET_RANGE;
        }
        header->relay_size = relay_size;
        cm_read_byte_run(bits, header->relay, relay_size);
    }
    return bits->overflow ? CM_PACKET_SHORT : CM_PACKET_OK;
}

// The slot of the next body or joint; SLOT_BITS' limit or above where it is out of range.
static uint32_t read_slot(cm_bit_reader *bits, uint32_t last)
{
    uint32_t next = last + 1;
    if (cm_read_bool(bits)) {
        return next;
    }
    if (!cm_read_bool(bits)) {
        return next + 1 + cm_read_bits(bits, SLOT_SKIP_BITS);
    }
    uint32_t index = cm_read_bits(bits, SLOT_BITS);
    return index >= next ? index : 1u << SLOT_BITS; // slots ascend
}

typedef struct view_source {
    const cm_view_config *config;
    cm_baseline_lookup *lookup;
    void *context;
    uint16_t sequence;
    uint32_t first; // index of slot 0
} view_source;

static cm_packet_reason read_entry(cm_bit_reader *bits, const view_source *source, uint32_t last,
                                   uint32_t *last_age, cm_view_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    uint32_t slot = read_slot(bits, last);
    entry->index = source->first + slot;
    entry->generation = cm_read_bits(bits, 2);
    entry->baseline_age = *last_age;
    if (!cm_read_bool(bits)) {
        entry->baseline_age = cm_read_bits(bits, AGE_BITS);
    }
    if (bits->overflow) {
        return CM_PACKET_SHORT;
    }
    if (slot >= 1u << SLOT_BITS) {
        return CM_PACKET_RANGE;
    }
    const cm_view_body *baseline = NULL;
    if (entry->baseline_age != 0) {
        baseline = source->lookup != NULL
                       ? source->lookup(source->context, entry->index,
                                        (uint16_t)(source->sequence - entry->baseline_age))
                       : NULL;
        if (baseline == NULL) {
            return CM_PACKET_BASELINE;
        }
    }
    if (source->first == 0) {
        cm_view_read(bits, source->config, baseline, &entry->body);
    } else {
        cm_view_drive_read(bits, baseline, &entry->body);
    }
    *last_age = entry->baseline_age;
    return bits->overflow ? CM_PACKET_SHORT : CM_PACKET_OK;
}

// The bodies, or the drives, up to their end mark, behind the `count` that there are.
static cm_packet_reason read_list(cm_bit_reader *bits, const view_source *source, uint32_t *check,
                                  cm_view_entry *entries, uint32_t *count)
{
    uint32_t last = UINT32_MAX, last_age = 0;
    while (cm_read_bool(bits)) {
        if (*count == CM_VIEW_ENTRIES_MAX) {
            return CM_PACKET_RANGE;
        }
        cm_view_entry *entry = &entries[*count];
        cm_packet_reason reason = read_entry(bits, source, last, &last_age, entry);
        if (reason != CM_PACKET_OK) {
            return reason;
        }
        *check = check_entry(*check, entry);
        last = entry->index - source->first;
        (*count)++;
    }
    return CM_PACKET_OK;
}

cm_packet_reason cm_view_packet_read(const uint8_t *bytes, size_t size,
                                     const cm_view_config *config, cm_baseline_lookup *lookup,
                                     void *context, cm_view_header *header, cm_view_entry *entries,
                                     uint32_t *count)
{
    memset(header, 0, sizeof *header);
    *count = 0;
    cm_bit_reader bits;
    cm_bit_reader_init(&bits, bytes, size);
    cm_packet_reason reason = read_header(&bits, header);
    if (reason != CM_PACKET_OK) {
        return reason;
    }
    view_source source = {config, lookup, context, header->sequence, 0};
    uint32_t check = check_header(header), read = 0;
    reason = read_list(&bits, &source, &check, entries, &read);
    if (reason == CM_PACKET_OK && header->has_drives) {
        source.first = CM_VIEW_DRIVES;
        reason = read_list(&bits, &source, &check, entries, &read);
    }
    if (reason != CM_PACKET_OK) {
        return reason;
    }
    uint32_t expected = cm_read_bits(&bits, CHECK_BITS);
    reason = cm_packet_end(&bits);
    if (reason != CM_PACKET_OK) {
        return reason;
    }
    if (expected != check_final(check)) {
        return CM_PACKET_CHECK;
    }
    *count = read;
    return CM_PACKET_OK;
}
