// See the header. The reader goes over the bits twice: first to check, then to tell.
#include "shared/wire/input_relay.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/input_delta.h"

enum { BACK_BITS = 7, SLOT_BITS = 6, AHEAD_BITS = 5 };
_Static_assert(CAROM_PLAYERS_MAX == 1u << SLOT_BITS, "a slot's number has SLOT_BITS");

static const uint8_t zeros[CAROM_INPUT_MAX];

// Ticks after the view's for which the player's input is known, without a gap.
static uint32_t known_ahead(const cm_input_relay *relay, uint32_t player, cm_relay_input *input,
                            void *context)
{
    uint32_t ahead = 0;
    while (ahead < CM_RELAY_AHEAD_MAX && input(context, player, relay->tick + ahead + 1) != NULL) {
        ahead++;
    }
    return ahead;
}

// Returns true where an input differs from the one before it.
static bool write_player(cm_bit_writer *writer, const cm_input_relay *relay, uint32_t player,
                         uint32_t ahead, cm_relay_input *input, void *context)
{
    uint64_t first = relay->tick - relay->back + 1, last = relay->tick + ahead;
    const uint8_t *base = NULL;
    if ((relay->based >> player & 1) != 0) {
        base = input(context, player, first - 1);
    }
    base = base != NULL ? base : zeros;
    bool same = true;
    const uint8_t *from = base;
    for (uint64_t tick = first; tick <= last && same; tick++) {
        const uint8_t *to = input(context, player, tick);
        same = to == NULL || relay->input_size == 0 || memcmp(from, to, relay->input_size) == 0;
    }
    cm_write_bool(writer, same);
    for (uint64_t tick = first; tick <= last && !same; tick++) {
        const uint8_t *to = input(context, player, tick);
        to = to != NULL ? to : from; // held
        (void)cm_input_delta_write(writer, from, to, relay->input_size);
        from = to;
    }
    return !same;
}

size_t cm_input_relay_write(const cm_input_relay *relay, cm_relay_input *input, void *context,
                            uint8_t *bytes, size_t size, bool *news)
{
    CM_ASSERT(relay->back <= CM_RELAY_BACK_MAX && relay->back <= relay->tick);
    CM_ASSERT(relay->input_size <= CAROM_INPUT_MAX);
    *news = false;
    if (relay->players == 0) {
        return 0;
    }
    cm_bit_writer writer;
    cm_bit_writer_init(&writer, bytes, size);
    uint32_t slots = 64u - (uint32_t)__builtin_clzll(relay->players);
    cm_write_bits(&writer, relay->back, BACK_BITS);
    cm_write_bits(&writer, slots - 1, SLOT_BITS);
    cm_write_bits64(&writer, relay->players, slots);
    uint32_t ahead = 0;
    for (uint64_t left = relay->players; left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        bool based = (relay->based >> player & 1) != 0;
        uint32_t now = known_ahead(relay, player, input, context);
        cm_write_bool(&writer, based);
        cm_write_bool(&writer, now == ahead);
        if (now != ahead) {
            cm_write_bits(&writer, now, AHEAD_BITS);
        }
        ahead = now;
        bool differs = write_player(&writer, relay, player, ahead, input, context);
        *news = *news || differs || !based;
    }
    return writer.overflow ? 0 : cm_bit_writer_bytes(&writer);
}

typedef struct relay_reader {
    cm_bit_reader bits;
    uint64_t tick;
    uint32_t back, input_size;
    cm_relay_input *input;
    cm_relay_told *told; // NULL: only checked
    void *context;
} relay_reader;

static bool read_player(relay_reader *r, uint32_t player, bool based, uint32_t ahead)
{
    uint64_t first = r->tick - r->back + 1, last = r->tick + ahead;
    const uint8_t *base = based ? r->input(r->context, player, first - 1) : zeros;
    uint8_t input[CAROM_INPUT_MAX] = {0};
    if (base != NULL) {
        memcpy(input, base, r->input_size);
    }
    bool same = cm_read_bool(&r->bits);
    for (uint64_t tick = first; tick <= last && !r->bits.overflow; tick++) {
        if (!same && !cm_input_delta_read(&r->bits, input, r->input_size)) {
            return false;
        }
        if (r->told != NULL && base != NULL) {
            r->told(r->context, player, tick, input);
        }
    }
    return true;
}

static cm_packet_reason read_relay(relay_reader *r)
{
    r->back = cm_read_bits(&r->bits, BACK_BITS);
    uint32_t slots = cm_read_bits(&r->bits, SLOT_BITS) + 1;
    uint64_t players = cm_read_bits64(&r->bits, slots);
    if (r->bits.overflow) {
        return CM_PACKET_SHORT;
    }
    if (r->back > r->tick || (players >> (slots - 1) & 1) == 0) {
        return CM_PACKET_RANGE;
    }
    uint32_t ahead = 0;
    for (; players != 0; players &= players - 1) {
        bool based = cm_read_bool(&r->bits);
        ahead = cm_read_bool(&r->bits) ? ahead : cm_read_bits(&r->bits, AHEAD_BITS);
        bool read = read_player(r, (uint32_t)__builtin_ctzll(players), based, ahead);
        if (r->bits.overflow) {
            return CM_PACKET_SHORT;
        }
        if (!read) {
            return CM_PACKET_RANGE;
        }
    }
    return cm_packet_end(&r->bits);
}

cm_packet_reason cm_input_relay_read(const uint8_t *bytes, size_t size, uint64_t tick,
                                     uint32_t input_size, cm_relay_input *input,
                                     cm_relay_told *told, void *context)
{
    relay_reader r = {.tick = tick, .input_size = input_size, .input = input, .context = context};
    cm_bit_reader_init(&r.bits, bytes, size);
    cm_packet_reason reason = read_relay(&r);
    if (reason == CM_PACKET_OK) {
        cm_bit_reader_init(&r.bits, bytes, size);
        r.told = told;
        reason = read_relay(&r);
    }
    return reason;
}
