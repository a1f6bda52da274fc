// ENet's commands, as far as they are checked here, big-endian:
//
//   OFFSET  SIZE  a command
//   0       1     kind (4 bits); 0x80: an ack is wanted; 0x40: unsequenced
//   1       1     channel; 0xff: the connection's own
//   2       2     reliable sequence
//   4       …     of its kind; then, for those that carry data, `length` bytes of it
#include "server/transport/enet/commands.h"

#include <stdbool.h>

#define HEAD          4u
#define WANTS_ACK     0x80u
#define UNSEQUENCED   0x40u
#define OWN_CHANNEL   0xffu
#define CHANNEL_FIRST 0u
#define CHANNEL_PLAY  1u

enum { ACK = 1, DISCONNECT = 4, PING = 5, RELIABLE = 6, FRAGMENT = 8, UNSEQUENCED_PACKET = 9 };

const char *cm_command_reason_text(cm_command_reason reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(name, text) text,
        CM_COMMAND_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return reason < CM_COMMAND_REASON_COUNT ? texts[reason] : "unknown";
}

static uint32_t get16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t get32(const uint8_t *bytes)
{
    return get16(bytes) << 16 | get16(bytes + 2);
}

// Each kind's size without data, and where its data's length stands (0: it carries none).
static const struct {
    uint8_t size, length_at;
} kinds[16] = {[ACK] = {8, 0},      [DISCONNECT] = {8, 0}, [PING] = {4, 0},
               [RELIABLE] = {6, 4}, [FRAGMENT] = {24, 6},  [UNSEQUENCED_PACKET] = {8, 6}};

// True for a sequence too far ahead, mod 2^16. One that is behind passes: ENet drops it and acks it
// again, as it should.
static bool is_ahead(uint32_t sequence, const cm_command_context *context)
{
    uint16_t ahead = (uint16_t)(sequence - context->reliable);
    return ahead > CM_COMMANDS_AHEAD && ahead < 0x8000u;
}

static cm_command_reason check_reliable(const uint8_t *command, uint32_t length,
                                        const cm_command_context *context)
{
    if (command[1] != CHANNEL_FIRST) {
        return CM_COMMAND_CHANNEL;
    }
    if ((command[0] & (WANTS_ACK | UNSEQUENCED)) != WANTS_ACK) {
        return CM_COMMAND_FLAGS;
    }
    if (length == 0 || length > CM_COMMANDS_MESSAGE) {
        return CM_COMMAND_SIZE;
    }
    return is_ahead(get16(command + 2), context) ? CM_COMMAND_AHEAD : CM_COMMAND_REASON_COUNT;
}

static cm_command_reason check_fragment(const uint8_t *command, uint32_t length,
                                        const cm_command_context *context)
{
    cm_command_reason reason = check_reliable(command, length, context);
    if (reason != CM_COMMAND_REASON_COUNT) {
        return reason;
    }
    if (is_ahead(get16(command + 4), context)) {
        return CM_COMMAND_AHEAD;
    }
    uint32_t count = get32(command + 8), number = get32(command + 12);
    uint32_t total = get32(command + 16), offset = get32(command + 20);
    bool sound = total > 0 && total <= CM_COMMANDS_MESSAGE && count > 0 && count <= total &&
                 count <= CM_COMMANDS_AHEAD && number < count && offset <= total &&
                 length <= total - offset;
    return sound ? CM_COMMAND_REASON_COUNT : CM_COMMAND_SIZE;
}

static cm_command_reason check_command(const uint8_t *command, uint32_t length,
                                       const cm_command_context *context)
{
    uint8_t flags = command[0] & (WANTS_ACK | UNSEQUENCED);
    switch (command[0] & 15u) {
    case ACK:
        return flags == 0 ? CM_COMMAND_REASON_COUNT : CM_COMMAND_FLAGS;
    case PING:
        return command[1] != OWN_CHANNEL ? CM_COMMAND_CHANNEL
               : flags != WANTS_ACK      ? CM_COMMAND_FLAGS
                                         : CM_COMMAND_REASON_COUNT;
    case DISCONNECT:
        return command[1] != OWN_CHANNEL            ? CM_COMMAND_CHANNEL
               : flags == (WANTS_ACK | UNSEQUENCED) ? CM_COMMAND_FLAGS
                                                    : CM_COMMAND_REASON_COUNT;
    case RELIABLE:
        return check_reliable(command, length, context);
    case FRAGMENT:
        return check_fragment(command, length, context);
    default: // an unsequenced packet
        if (command[1] != CHANNEL_PLAY) {
            return CM_COMMAND_CHANNEL;
        }
        if (flags != UNSEQUENCED) {
            return CM_COMMAND_FLAGS;
        }
        return length > 0 && length <= CM_COMMANDS_PACKET ? CM_COMMAND_REASON_COUNT
                                                          : CM_COMMAND_SIZE;
    }
}

static void note_ack(cm_command_count *count, uint16_t sequence)
{
    if (!count->has_acked || (uint16_t)(sequence - count->acked) < 0x8000u) {
        count->has_acked = true;
        count->acked = sequence;
    }
}

cm_command_reason cm_commands_check(const uint8_t *frame, size_t size,
                                    const cm_command_context *context, cm_command_count *count)
{
    size_t at = (frame[0] & 0x80u) != 0 ? 8 : 6; // behind head and checksum
    *count = (cm_command_count){0, 0, 0, false};
    if (at > size) {
        return CM_COMMAND_TRUNCATED;
    }
    while (at < size) {
        const uint8_t *command = frame + at;
        if (size - at < HEAD) {
            return CM_COMMAND_TRUNCATED;
        }
        uint32_t kind = command[0] & 15u;
        if (kinds[kind].size == 0 || (command[0] & 0x30u) != 0) {
            return CM_COMMAND_KIND;
        }
        if (++count->commands > CM_COMMANDS_MAX) {
            return CM_COMMAND_COUNT;
        }
        if (size - at < kinds[kind].size) {
            return CM_COMMAND_TRUNCATED;
        }
        uint32_t length = kinds[kind].length_at > 0 ? get16(command + kinds[kind].length_at) : 0;
        at += kinds[kind].size;
        if (size - at < length) {
            return CM_COMMAND_TRUNCATED;
        }
        at += length;
        cm_command_reason reason = check_command(command, length, context);
        if (reason != CM_COMMAND_REASON_COUNT) {
            return reason;
        }
        count->acks_wanted += (command[0] & WANTS_ACK) != 0;
        if (kind == ACK && command[1] == CHANNEL_FIRST) {
            note_ack(count, (uint16_t)get16(command + 4));
        }
    }
    return CM_COMMAND_REASON_COUNT;
}
