// Blobs first, then whole ticks of them.
#include "shared/wire/confirmed.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

enum { RESUMED = 1, EVENTS = 2, INPUTS = 4, ARRIVED = 8, FOLLOWS = 16, FLAGS = 31 };

static uint32_t bits_in(uint64_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1) {
        count++;
    }
    return count;
}

uint32_t cm_confirmed_payload_max(uint32_t type)
{
    return type == CM_EVENT_JOIN      ? CAROM_USER_DATA_MAX
           : type == CM_EVENT_MESSAGE ? CAROM_MESSAGE_MAX
           : type == CM_EVENT_LEAVE   ? (uint32_t)sizeof CM_LEAVE_REFUSED - 1
                                      : 0;
}

bool cm_confirmed_fits(const cm_confirmed_tick *tick)
{
    const cm_tick_input *input = &tick->input;
    if (input->event_count > CM_CONFIRMED_EVENTS_MAX || input->input_count > CAROM_PLAYERS_MAX ||
        tick->arrival_count > CAROM_PLAYERS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < input->event_count; i++) {
        const cm_game_event *event = &input->events[i];
        if (event->player >= CAROM_PLAYERS_MAX || event->type < CM_EVENT_JOIN ||
            event->type > CM_EVENT_END || event->size > cm_confirmed_payload_max(event->type)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < input->input_count; i++) {
        if (input->inputs[i].player >= CAROM_PLAYERS_MAX ||
            (i > 0 && input->inputs[i].player <= input->inputs[i - 1].player)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < tick->arrival_count; i++) {
        if (tick->arrivals[i].player >= CAROM_PLAYERS_MAX ||
            (i > 0 && tick->arrivals[i].player <= tick->arrivals[i - 1].player)) {
            return false;
        }
    }
    return true;
}

uint32_t cm_confirmed_width(const carom_player_input *inputs, uint32_t count)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = CAROM_INPUT_MAX; at > width; at--) {
            if (inputs[i].bytes[at - 1] != 0) {
                width = at;
                break;
            }
        }
    }
    return width;
}

void cm_confirmed_row_write(const cm_confirmed_tick *tick, cm_confirmed_row *row)
{
    CM_ASSERT(cm_confirmed_fits(tick));
    uint64_t players = 0, arrived = 0, rewound = 0;
    cm_byte_writer out = cm_byte_writer_make(row->changed, sizeof row->changed);
    uint32_t width = cm_confirmed_width(tick->input.inputs, tick->input.input_count);
    for (uint32_t i = 0; i < tick->input.input_count; i++) {
        players |= UINT64_C(1) << tick->input.inputs[i].player;
    }
    cm_put_u64(&out, players);
    for (uint32_t i = 0; i < tick->input.input_count; i++) {
        cm_put_bytes(&out, tick->input.inputs[i].bytes, width);
    }
    row->tick = tick->tick;
    row->changed_size = players != 0 ? out.size : 0;
    for (uint32_t i = 0; i < tick->arrival_count; i++) {
        arrived |= UINT64_C(1) << tick->arrivals[i].player;
        rewound |= (uint64_t)tick->arrivals[i].rewound << tick->arrivals[i].player;
    }
    out = cm_byte_writer_make(row->arrived, sizeof row->arrived);
    cm_put_u64(&out, arrived);
    cm_put_u64(&out, rewound);
    for (uint32_t i = 0; i < tick->arrival_count; i++) {
        cm_put_u16(&out, (uint16_t)tick->arrivals[i].lead);
    }
    row->arrived_size = arrived != 0 ? out.size : 0;
}

static void get_inputs(cm_byte_reader *in, uint64_t players, size_t width, cm_confirmed_inputs *out)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if ((players >> player & 1u) != 0) {
            carom_player_input *to = &out->inputs[out->input_count++];
            memset(to, 0, sizeof *to);
            to->player = player;
            const uint8_t *bytes = cm_get_bytes(in, width);
            if (width > 0 && !in->overflow) {
                memcpy(to->bytes, bytes, width);
            }
        }
    }
}

static const char *decode_changed(const uint8_t *bytes, size_t size, cm_confirmed_inputs *out)
{
    cm_byte_reader in = cm_byte_reader_make(bytes, size);
    uint64_t players = cm_get_u64(&in);
    uint32_t count = bits_in(players);
    if (in.overflow || count == 0 || (size - 8) % count != 0) {
        return "changed: the bytes of inputs do not divide among the players";
    }
    if ((size - 8) / count > CAROM_INPUT_MAX) {
        return "changed: an input is too large, expected at most 64 bytes";
    }
    get_inputs(&in, players, (size - 8) / count, out);
    return NULL;
}

static const char *decode_arrived(const uint8_t *bytes, size_t size, cm_confirmed_inputs *out)
{
    cm_byte_reader in = cm_byte_reader_make(bytes, size);
    uint64_t arrived = cm_get_u64(&in), rewound = cm_get_u64(&in);
    if (in.overflow || arrived == 0 || (rewound & ~arrived) != 0 ||
        size != 16 + 2u * bits_in(arrived)) {
        return "arrived: expected 16 bytes of players, then 2 for each";
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if ((arrived >> player & 1u) != 0) {
            out->arrivals[out->arrival_count++] = (cm_arrival){
                (uint8_t)player, (rewound >> player & 1u) != 0, (int16_t)cm_get_u16(&in)};
        }
    }
    return NULL;
}

const char *cm_confirmed_row_read(const uint8_t *changed, size_t changed_size,
                                  const uint8_t *arrived, size_t arrived_size,
                                  cm_confirmed_inputs *out)
{
    out->input_count = out->arrival_count = 0;
    const char *wrong = changed_size > 0 ? decode_changed(changed, changed_size, out) : NULL;
    if (wrong == NULL && arrived_size > 0) {
        wrong = decode_arrived(arrived, arrived_size, out);
    }
    if (wrong == NULL && changed_size == 0 && arrived_size == 0) {
        wrong = "neither inputs nor arrivals";
    }
    return wrong;
}

// Whole ticks ----------------------------------------------------------------------------------

// Players: 7 bits a byte, the lowest first.
static void put_mask(cm_byte_writer *out, uint64_t mask)
{
    for (; mask > 127; mask >>= 7) {
        cm_put_u8(out, (uint8_t)(mask & 127) | 128);
    }
    cm_put_u8(out, (uint8_t)mask);
}

// 0 for one that is not spelt so.
static uint64_t get_mask(cm_byte_reader *in)
{
    uint64_t mask = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        uint64_t byte = cm_get_u8(in);
        if (shift == 63 && byte > 1) {
            return 0;
        }
        mask |= (byte & 127) << shift;
        if (byte < 128) {
            return byte == 0 ? 0 : mask;
        }
    }
    return 0;
}

static uint32_t mask_size(uint64_t mask)
{
    uint32_t size = 1;
    for (; mask > 127; mask >>= 7) {
        size++;
    }
    return size;
}

static uint64_t players_of(const carom_player_input *inputs, uint32_t count)
{
    uint64_t players = 0;
    for (uint32_t i = 0; i < count; i++) {
        players |= UINT64_C(1) << inputs[i].player;
    }
    return players;
}

size_t cm_confirmed_size(const cm_confirmed_tick *tick)
{
    const cm_tick_input *input = &tick->input;
    size_t size = 9 + (tick->follows ? 0 : 8) + (input->event_count > 0 ? 2 : 0);
    for (uint32_t i = 0; i < input->event_count; i++) {
        size += CM_CONFIRMED_EVENT_HEAD + input->events[i].size;
    }
    if (input->input_count > 0) {
        size += mask_size(players_of(input->inputs, input->input_count)) + 1u +
                (size_t)input->input_count * cm_confirmed_width(input->inputs, input->input_count);
    }
    return size + (tick->arrival_count > 0 ? 18u + 2u * tick->arrival_count : 0u);
}

static void put_events(cm_byte_writer *out, const cm_tick_input *input)
{
    cm_put_u16(out, (uint16_t)input->event_count);
    for (uint32_t i = 0; i < input->event_count; i++) {
        const cm_game_event *event = &input->events[i];
        cm_put_u8(out, (uint8_t)event->type);
        cm_put_u8(out, (uint8_t)event->player);
        cm_put_u64(out, event->client_id);
        cm_put_u16(out, (uint16_t)event->size);
        cm_put_bytes(out, event->bytes, event->size);
    }
}

size_t cm_confirmed_write(const cm_confirmed_tick *tick, uint8_t *bytes, size_t size)
{
    const cm_tick_input *input = &tick->input;
    cm_confirmed_row row;
    cm_confirmed_row_write(tick, &row);
    cm_byte_writer out = cm_byte_writer_make(bytes, size);
    cm_put_u8(&out, (uint8_t)((tick->resumed ? RESUMED : 0) | (tick->follows ? FOLLOWS : 0) |
                              (input->event_count > 0 ? EVENTS : 0) |
                              (row.changed_size > 0 ? INPUTS : 0) |
                              (row.arrived_size > 0 ? ARRIVED : 0)));
    cm_put_u64(&out, tick->hash);
    if (!tick->follows) {
        cm_put_u64(&out, tick->tick);
    }
    if (input->event_count > 0) {
        put_events(&out, input);
    }
    if (row.changed_size > 0) {
        put_mask(&out, players_of(input->inputs, input->input_count));
        cm_put_u8(&out, (uint8_t)((row.changed_size - 8) / input->input_count));
        cm_put_bytes(&out, row.changed + 8, row.changed_size - 8);
    }
    if (row.arrived_size > 0) {
        cm_put_u16(&out, (uint16_t)row.arrived_size);
        cm_put_bytes(&out, row.arrived, row.arrived_size);
    }
    CM_ASSERT(out.size <= size);
    return out.size;
}

static void read_events(cm_byte_reader *in, uint32_t count, cm_game_event *events)
{
    for (uint32_t i = 0; i < count && !in->overflow; i++) {
        events[i].type = cm_get_u8(in);
        events[i].player = cm_get_u8(in);
        events[i].client_id = cm_get_u64(in);
        events[i].size = cm_get_u16(in);
        events[i].bytes = cm_get_bytes(in, events[i].size);
    }
}

static const char *read_inputs(cm_byte_reader *in, cm_confirmed_inputs *out)
{
    uint64_t players = get_mask(in);
    uint32_t width = cm_get_u8(in);
    if (players == 0 || width > CAROM_INPUT_MAX) {
        return "inputs: expected at least one player, at most 64 bytes each";
    }
    get_inputs(in, players, width, out);
    return in->overflow ? "truncated" : NULL;
}

static const char *read_arrived(cm_byte_reader *in, cm_confirmed_inputs *out)
{
    size_t size = cm_get_u16(in);
    const uint8_t *bytes = cm_get_bytes(in, size);
    return in->overflow ? "truncated" : decode_arrived(bytes, size, out);
}

const char *cm_confirmed_read(const uint8_t *bytes, size_t size, cm_confirmed_read_tick *out,
                              size_t *used)
{
    cm_byte_reader in = cm_byte_reader_make(bytes, size);
    cm_confirmed_tick *tick = &out->tick;
    uint64_t next = tick->tick + 1;
    memset(tick, 0, sizeof *tick);
    uint8_t flags = cm_get_u8(&in);
    tick->hash = cm_get_u64(&in);
    tick->resumed = (flags & RESUMED) != 0;
    tick->follows = (flags & FOLLOWS) != 0;
    tick->tick = tick->follows ? next : cm_get_u64(&in);
    uint32_t events = (flags & EVENTS) != 0 ? cm_get_u16(&in) : 0;
    if (in.overflow || flags > FLAGS || events > CM_CONFIRMED_EVENTS_MAX ||
        ((flags & EVENTS) != 0 && events == 0)) {
        return "head: expected known flags, at most 256 events";
    }
    read_events(&in, events, out->events);
    if (in.overflow) {
        return "truncated";
    }
    out->inputs.tick = tick->tick;
    out->inputs.input_count = out->inputs.arrival_count = 0;
    const char *wrong = (flags & INPUTS) != 0 ? read_inputs(&in, &out->inputs) : NULL;
    if (wrong == NULL && (flags & ARRIVED) != 0) {
        wrong = read_arrived(&in, &out->inputs);
    }
    if (wrong != NULL) {
        return wrong;
    }
    tick->input = (cm_tick_input){out->events, events, out->inputs.inputs, out->inputs.input_count};
    tick->arrivals = out->inputs.arrivals;
    tick->arrival_count = out->inputs.arrival_count;
    *used = in.position;
    return cm_confirmed_fits(tick) ? NULL : "events: an unknown type, player or size";
}
