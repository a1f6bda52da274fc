// Goal: packets come back as they were written, never exceed the size given, and whatever else
// arrives is refused as a whole with its reason; nothing crashes the reader.
// Method: seeded random packets; each truncation, flips, random bytes; the borders of each range.
// Under ASan the buffers are heap blocks of the exact size.
#include "shared/base/rng.h"
#include "shared/base/vec.h"
#include "shared/wire/packet.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Reads from a heap copy of the exact size, so that a byte too far is found.
static cm_packet_reason read_inputs(const uint8_t *bytes, size_t size, uint32_t input_size,
                                    cm_input_packet *packet)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    cm_packet_reason reason = cm_input_packet_read(copy, size, input_size, packet);
    free(copy);
    cr_assert_lt((int)reason, CM_PACKET_REASON_COUNT);
    return reason;
}

static void random_inputs(cm_rng *rng, uint32_t input_size, cm_input_packet *packet)
{
    memset(packet, 0, sizeof *packet);
    packet->has_ack = cm_rng_below(rng, 2) != 0;
    if (packet->has_ack) {
        packet->ack_sequence = (uint16_t)cm_rng_next(rng);
        packet->ack_bits = (uint32_t)cm_rng_next(rng);
    }
    packet->count = cm_rng_below(rng, CM_INPUTS_MAX + 1);
    packet->newest_tick = CM_INPUTS_MAX + (uint32_t)(cm_rng_next(rng) >> 33);
    for (uint32_t n = 0; n < packet->count; n++) {
        if (n > 0) {
            memcpy(packet->inputs[n], packet->inputs[n - 1], input_size);
        }
        for (uint32_t i = 0; i < input_size; i++) {
            if (cm_rng_below(rng, 6) == 0) {
                packet->inputs[n][i] = (uint8_t)cm_rng_next(rng);
            }
        }
    }
}

Test(packet, inputs_round_trip)
{
    cm_rng rng;
    cm_rng_seed(&rng, 1);
    for (int i = 0; i < 2000; i++) {
        uint32_t input_size = cm_rng_below(&rng, 13);
        cm_input_packet packet, back;
        random_inputs(&rng, input_size, &packet);
        uint8_t bytes[CM_PACKET_MAX];
        size_t size = cm_input_packet_write(&packet, input_size, bytes, sizeof bytes);
        cr_assert_geq(size, 13);
        cr_assert_eq(read_inputs(bytes, size, input_size, &back), CM_PACKET_OK);
        cr_assert_eq(memcmp(&packet, &back, sizeof back), 0);
    }
}

Test(packet, sixty_four_ticks_of_the_sandbox_fit)
{
    cm_input_packet packet, back;
    memset(&packet, 0, sizeof packet);
    packet.count = CM_INPUTS_MAX;
    packet.newest_tick = 1000;
    for (uint32_t n = 0; n < CM_INPUTS_MAX; n++) {
        memset(packet.inputs[n], (int)(n * 3 + 1), 9); // every byte changes every tick
    }
    uint8_t bytes[CM_PACKET_MAX];
    size_t size = cm_input_packet_write(&packet, 9, bytes, sizeof bytes);
    cr_assert_eq(size, 14 + (64 * (1 + 9 + 72) + 7) / 8);
    cr_assert_eq(read_inputs(bytes, size, 9, &back), CM_PACKET_OK);
    cr_assert_eq(memcmp(&packet, &back, sizeof back), 0);
    memset(packet.inputs, 1, sizeof packet.inputs);
    cr_assert_leq(cm_input_packet_write(&packet, 9, bytes, sizeof bytes), 14 + 11 + 8);
}

Test(packet, oldest_inputs_are_left_out_where_space_ends)
{
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    cm_input_packet packet, back;
    memset(&packet, 0, sizeof packet);
    packet.count = CM_INPUTS_MAX;
    packet.newest_tick = 1000;
    for (uint32_t n = 0; n < CM_INPUTS_MAX; n++) {
        for (uint32_t i = 0; i < CAROM_INPUT_MAX; i++) {
            packet.inputs[n][i] = (uint8_t)cm_rng_next(&rng);
        }
    }
    for (size_t space = 0; space <= CM_PACKET_MAX + 100; space += 7) {
        uint8_t *bytes = malloc(space + 1);
        memset(bytes, 0xee, space + 1);
        size_t size = cm_input_packet_write(&packet, CAROM_INPUT_MAX, bytes, space);
        cr_assert_leq(size, space);
        cr_assert_leq(size, CM_PACKET_MAX);
        cr_assert_eq(bytes[space], 0xee);
        cr_assert_eq(size == 0, space < 14);
        if (size > 0) {
            cr_assert_eq(read_inputs(bytes, size, CAROM_INPUT_MAX, &back), CM_PACKET_OK);
            cr_assert(size + 73 > space || size + 73 > CM_PACKET_MAX);
            cr_assert_eq(memcmp(back.inputs, packet.inputs, (size_t)back.count * 64), 0);
        }
        free(bytes);
    }
}

Test(packet, malformed_inputs_have_their_reasons)
{
    cm_input_packet packet, back;
    memset(&packet, 0, sizeof packet);
    packet.count = 3;
    packet.newest_tick = 2;
    memcpy(packet.inputs[1], "abc", 3);
    uint8_t bytes[2000] = {0};
    size_t size = cm_input_packet_write(&packet, 3, bytes, CM_PACKET_MAX);
    cr_assert_eq(read_inputs(bytes, size, 3, &back), CM_PACKET_OK);
    for (size_t cut = 0; cut < size; cut++) {
        cr_assert_eq(read_inputs(bytes, cut, 3, &back), CM_PACKET_SHORT, "cut at %zu", cut);
    }
    cr_assert_eq(read_inputs(bytes, size + 1, 3, &back), CM_PACKET_LONG);
    cr_assert_eq(read_inputs(bytes, CM_PACKET_MAX + 1, 3, &back), CM_PACKET_LONG);
    const struct {
        size_t at;
        uint8_t value;
        cm_packet_reason reason;
    } cases[] = {
        {0, 2, CM_PACKET_TYPE},
        {0, 0, CM_PACKET_TYPE},
        {1, 2, CM_PACKET_RANGE},           // reserved flag
        {3, 1, CM_PACKET_RANGE},           // ack without the flag
        {8, 1, CM_PACKET_RANGE},           // ack bits without the flag
        {9, 1, CM_PACKET_RANGE},           // three inputs up to tick 1: one before tick 0
        {13, 65, CM_PACKET_RANGE},         // too many
        {size - 1, 0x80, CM_PACKET_RANGE}, // padding
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bad[64];
        memcpy(bad, bytes, size);
        bad[cases[i].at] =
            cases[i].at == size - 1 ? (uint8_t)(bad[cases[i].at] | cases[i].value) : cases[i].value;
        cr_assert_eq(read_inputs(bad, size, 3, &back), cases[i].reason, "case %zu", i);
    }
    uint8_t none[15] = {CM_PACKET_INPUT, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0};
    cr_assert_eq(read_inputs(none, 15, 3, &back), CM_PACKET_RANGE, "a change of nothing");
}

// Views ---------------------------------------------------------------------------------------

enum { SLOTS = 200, JOINTS = 40 };

typedef struct history {
    cm_view_body bodies[SLOTS], drives[JOINTS];
    uint16_t sequence; // that they travelled in
} history;

static const cm_view_body *lookup(void *context, uint32_t index, uint16_t sequence)
{
    const history *h = context;
    if (sequence != h->sequence) {
        return NULL;
    }
    return index < SLOTS ? &h->bodies[index]
           : index >= CM_VIEW_DRIVES && index < CM_VIEW_DRIVES + JOINTS
               ? &h->drives[index - CM_VIEW_DRIVES]
               : NULL;
}

static cm_view_config config_make(void)
{
    cm_view_config config;
    cr_assert_eq(
        cm_view_config_make(cm_vec(-20, -5, -20), cm_vec(20, 20, 20), 1.0f / 512.0f, &config),
        CAROM_OK);
    return config;
}

static cm_view_body random_body(cm_rng *rng, const cm_view_config *config)
{
    carom_body_state state;
    memset(&state, 0, sizeof state);
    state.type = CAROM_BODY_DYNAMIC;
    state.position =
        cm_vec(cm_rng_range(rng, -20, 20), cm_rng_range(rng, -5, 20), cm_rng_range(rng, -20, 20));
    state.orientation = (carom_quat){cm_rng_range(rng, -1, 1), cm_rng_range(rng, -1, 1),
                                     cm_rng_range(rng, -1, 1), cm_rng_range(rng, -1, 1)};
    state.linear_velocity = cm_vec(cm_rng_range(rng, -9, 9), 0, 1);
    cm_view_body body;
    cm_view_quantise(config, &state, cm_rng_below(rng, 2) != 0, &body);
    return body;
}

static cm_view_body random_drive(cm_rng *rng)
{
    carom_joint_drives drives = {.max_force = cm_rng_range(rng, 0, 9e9f)};
    drives.linear.x = cm_rng_range(rng, -9, 9);
    drives.target = cm_rng_range(rng, -1, 1);
    return cm_view_drive_make(&drives);
}

typedef struct made {
    cm_view_header header;
    cm_view_entry entries[SLOTS + JOINTS];
    uint32_t count;
    uint8_t bytes[CM_PACKET_MAX];
    size_t size;
} made;

// Behind the bodies, where there is space.
static void make_drives(cm_rng *rng, const history *h, cm_view_writer *writer, made *m)
{
    for (uint32_t slot = cm_rng_below(rng, 20); slot < JOINTS; slot += 1 + cm_rng_below(rng, 30)) {
        cm_view_entry entry = {.index = CM_VIEW_DRIVES + slot, .generation = cm_rng_below(rng, 4)};
        bool alone = cm_rng_below(rng, 2) == 0;
        entry.body = random_drive(rng);
        entry.baseline_age = alone ? 0 : (uint16_t)(m->header.sequence - h->sequence);
        cm_view_code code = cm_view_drive_encode(alone ? NULL : &h->drives[slot], &entry.body);
        if (!cm_view_writer_put(writer, &entry, code)) {
            break;
        }
        m->entries[m->count++] = entry;
    }
}

static void make_view(cm_rng *rng, const cm_view_config *config, history *h, size_t space, made *m)
{
    memset(m, 0, sizeof *m);
    m->header.sequence = (uint16_t)(h->sequence + 1 + cm_rng_below(rng, CM_BASELINE_AGE_MAX));
    m->header.tick = (uint32_t)cm_rng_next(rng);
    m->header.input_ack = (uint32_t)cm_rng_next(rng);
    m->header.input_lead = (int16_t)(uint16_t)cm_rng_next(rng);
    m->header.has_public = cm_rng_below(rng, 4) == 0;
    if (m->header.has_public) {
        m->header.public_size = cm_rng_below(rng, 40);
        m->header.present = cm_rng_next(rng);
        for (uint32_t i = 0; i < m->header.public_size; i++) {
            m->header.public_state[i] = (uint8_t)cm_rng_next(rng);
        }
    }
    cm_view_writer writer;
    m->header.has_drives = cm_rng_below(rng, 3) == 0;
    cm_view_writer_begin(&writer, &m->header, m->bytes, space);
    for (uint32_t slot = cm_rng_below(rng, 30); slot < SLOTS; slot += 1 + cm_rng_below(rng, 3)) {
        cm_view_entry entry = {.index = slot, .generation = cm_rng_below(rng, 4)};
        entry.body = random_body(rng, config);
        const cm_view_body *baseline = NULL;
        if (cm_rng_below(rng, 3) != 0) {
            baseline = &h->bodies[slot];
            entry.baseline_age = (uint16_t)(m->header.sequence - h->sequence);
            if (cm_rng_below(rng, 2) != 0) {
                entry.body = *baseline;
            }
        }
        if (!cm_view_writer_put(&writer, &entry, cm_view_encode(config, baseline, &entry.body))) {
            break;
        }
        m->entries[m->count++] = entry;
    }
    if (m->header.has_drives) {
        make_drives(rng, h, &writer, m);
    }
    m->size = cm_view_writer_end(&writer);
}

static cm_packet_reason read_view(const uint8_t *bytes, size_t size, const cm_view_config *config,
                                  history *h, cm_view_header *header, cm_view_entry *entries,
                                  uint32_t *count)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    cm_packet_reason reason =
        cm_view_packet_read(copy, size, config, lookup, h, header, entries, count);
    free(copy);
    cr_assert_lt((int)reason, CM_PACKET_REASON_COUNT);
    return reason;
}

static cm_view_entry got[CM_VIEW_ENTRIES_MAX];

Test(packet, views_round_trip_in_any_space)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    static history h;
    for (uint32_t i = 0; i < SLOTS; i++) {
        h.bodies[i] = random_body(&rng, &config);
        h.drives[i % JOINTS] = random_drive(&rng);
    }
    uint32_t drives = 0;
    for (int round = 0; round < 1000; round++) {
        h.sequence = (uint16_t)cm_rng_next(&rng);
        static made m;
        size_t space = 80 + cm_rng_below(&rng, CM_PACKET_MAX - 80 + 1);
        make_view(&rng, &config, &h, space, &m);
        cr_assert(m.size > 0 && m.size <= space);
        cm_view_header header;
        uint32_t count;
        cr_assert_eq(read_view(m.bytes, m.size, &config, &h, &header, got, &count), CM_PACKET_OK);
        cr_assert_eq(memcmp(&header, &m.header, sizeof header), 0);
        cr_assert_eq(count, m.count);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert_eq(memcmp(&got[i], &m.entries[i], sizeof got[i]), 0, "entry %u", i);
            drives += got[i].index >= CM_VIEW_DRIVES;
        }
    }
    cr_assert_gt(drives, 50, "%u", drives);
}

Test(packet, a_refused_body_leaves_no_trace)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 4);
    cm_view_header header = {.sequence = 1};
    cm_view_entry entry = {.index = 3, .generation = 1};
    entry.body = random_body(&rng, &config);
    uint8_t full[256], less[256];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, full, sizeof full);
    cr_assert(cm_view_writer_put(&writer, &entry, cm_view_encode(&config, NULL, &entry.body)));
    size_t size = cm_view_writer_end(&writer);
    for (size_t space = 0; space < size; space++) {
        memset(less, 0xee, sizeof less);
        cm_view_writer_begin(&writer, &header, less, space);
        cr_assert_not(
            cm_view_writer_put(&writer, &entry, cm_view_encode(&config, NULL, &entry.body)),
            "space %zu", space);
        size_t used = cm_view_writer_end(&writer);
        cr_assert_eq(used, space < 18 ? 0 : 18, "an empty view");
        cr_assert_eq(less[space], 0xee);
        if (used > 0) {
            cm_view_header back;
            uint32_t count;
            cr_assert_eq(cm_view_packet_read(less, used, &config, NULL, NULL, &back, got, &count),
                         CM_PACKET_OK);
            cr_assert_eq(count, 0);
        }
    }
}

Test(packet, hostile_views_are_refused_with_a_reason)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    static history h;
    for (uint32_t i = 0; i < SLOTS; i++) {
        h.bodies[i] = random_body(&rng, &config);
    }
    cm_view_header header;
    uint32_t count, counts[CM_PACKET_REASON_COUNT] = {0};
    for (int round = 0; round < 60; round++) {
        static made m;
        make_view(&rng, &config, &h, 300, &m);
        for (size_t cut = 0; cut < m.size; cut++) {
            cm_packet_reason reason = read_view(m.bytes, cut, &config, &h, &header, got, &count);
            cr_assert_eq(reason, CM_PACKET_SHORT, "cut at %zu: %d", cut, (int)reason);
            cr_assert_eq(count, 0);
        }
        uint32_t accepted = 0, flips = 0;
        for (size_t bit = 0; bit < m.size * 8; bit++, flips++) {
            m.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            cm_packet_reason reason = read_view(m.bytes, m.size, &config, &h, &header, got, &count);
            counts[reason]++;
            accepted += reason == CM_PACKET_OK;
            m.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
        cr_assert_leq(accepted, 1, "%u of %u flips were not seen", accepted, flips);
        uint8_t longer[CM_PACKET_MAX] = {0};
        memcpy(longer, m.bytes, m.size);
        cr_assert_eq(read_view(longer, m.size + 1, &config, &h, &header, got, &count),
                     CM_PACKET_LONG);
        h.sequence = (uint16_t)(h.sequence + 200); // no baseline any more
        cr_assert_eq(read_view(m.bytes, m.size, &config, &h, &header, got, &count),
                     CM_PACKET_BASELINE);
    }
    cr_assert_gt(counts[CM_PACKET_TYPE], 0);
    cr_assert_gt(counts[CM_PACKET_RANGE], 0);
    cr_assert_gt(counts[CM_PACKET_SHORT], 0);
    cr_assert_gt(counts[CM_PACKET_CHECK], 0);
}

Test(packet, random_bytes_never_harm)
{
    cm_view_config config = config_make();
    cm_rng rng;
    cm_rng_seed(&rng, 6);
    static history h;
    uint32_t counts[CM_PACKET_REASON_COUNT] = {0};
    for (int round = 0; round < 60000; round++) {
        uint8_t bytes[CM_PACKET_MAX + 10];
        size_t size = cm_rng_below(&rng, round % 50 == 0 ? sizeof bytes : 60);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)cm_rng_next(&rng);
        }
        if (size > 14 && round % 2 == 0) {
            bytes[0] = CM_PACKET_VIEW;
            bytes[14] = 0;
            h.sequence = (uint16_t)(bytes[2] | bytes[3] << 8);
            h.sequence = (uint16_t)(h.sequence - 1 - cm_rng_below(&rng, 4));
        } else if (size > 14) {
            bytes[0] = CM_PACKET_INPUT;
            bytes[1] = 1;
            bytes[13] &= 63;
        }
        cm_view_header header;
        cm_input_packet inputs;
        uint32_t count;
        counts[read_view(bytes, size, &config, &h, &header, got, &count)]++;
        counts[read_inputs(bytes, size, cm_rng_below(&rng, 65), &inputs)]++;
    }
    for (int i = 0; i < CM_PACKET_REASON_COUNT; i++) {
        cr_assert(i == CM_PACKET_STALE || i == CM_PACKET_CHECK || counts[i] > 0, "no %s",
                  cm_packet_reason_text((cm_packet_reason)i));
    }
}

Test(packet, entries_are_capped_and_slots_bounded)
{
    cm_view_config config = config_make();
    cm_view_body still;
    memset(&still, 0, sizeof still);
    history h = {.sequence = 4};
    cm_view_header header = {.sequence = 5};
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
    uint32_t put = 0;
    for (uint32_t slot = 0; slot < 3000; slot++) {
        cm_view_entry entry = {.index = slot, .baseline_age = 1, .body = still};
        put += cm_view_writer_put(&writer, &entry, cm_view_encode(&config, &still, &entry.body));
    }
    cr_assert_eq(put, CM_VIEW_ENTRIES_MAX);
    size_t size = cm_view_writer_end(&writer);
    uint32_t count;
    // The same bits with one body more than may be: the end mark becomes a body.
    cr_assert_neq(read_view(bytes, size, &config, &h, &header, got, &count), CM_PACKET_OK,
                  "slots beyond the history have no baseline");
    // Slot 65,535 is the last.
    cm_view_header one = {.sequence = 9};
    cm_view_entry last = {.index = 65535, .body = still};
    cm_view_writer_begin(&writer, &one, bytes, sizeof bytes);
    cr_assert(cm_view_writer_put(&writer, &last, cm_view_encode(&config, NULL, &last.body)));
    size = cm_view_writer_end(&writer);
    cr_assert_eq(read_view(bytes, size, &config, &h, &one, got, &count), CM_PACKET_OK);
    cr_assert_eq(got[0].index, 65535);
}

Test(packet, sequences_compare_across_the_wrap)
{
    cr_assert(cm_sequence_newer(1, 0));
    cr_assert(cm_sequence_newer(0, 65535));
    cr_assert(cm_sequence_newer(10, 65000));
    cr_assert_not(cm_sequence_newer(5, 5));
    cr_assert_not(cm_sequence_newer(65000, 10));
}

Test(packet, reasons_have_texts)
{
    for (int i = -1; i <= CM_PACKET_REASON_COUNT; i++) {
        cr_assert(strlen(cm_packet_reason_text((cm_packet_reason)i)) > 3);
    }
}
