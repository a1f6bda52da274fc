// Goal: of what comes by a WebSocket only whole binary messages, unmasked rightly, become
// datagrams, and everything else ends it with the right code. Method: frames as bytes, whole and
// cut at every byte; the examples of RFC 6455.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/transport/websocket/frames.h"
#include "server/transport/websocket/upgrade.h"

#define MASK "\x37\xfa\x21\x3d"

typedef struct frames_row {
    const char *what, *bytes;
    size_t size;
    const char *seen; // m: a message, p: a ping, c: a close; then the code of what is refused
} frames_row;

#define ROW(what, bytes, seen)                                                                     \
    {                                                                                              \
        what, bytes, sizeof(bytes) - 1, seen                                                       \
    }

static const frames_row rows[] = {
    ROW("a masked one (5.7)", "\x82\x85" MASK "\x7f\x9f\x4d\x51\x58", "m"),
    ROW("in pieces round a ping",
        "\x02\x82" MASK "\x7f\x9f"
        "\x89\x81" MASK "x"
        "\x80\x83" MASK "\x5b\x96\x4e",
        "pm"),
    ROW("two, an empty one between",
        "\x82\x81" MASK "a"
        "\x82\x80" MASK "\x82\x81" MASK "b",
        "mm"),
    ROW("pong and close", "\x8a\x80" MASK "\x88\x80" MASK, "c"),
    ROW("unmasked",
        "\x82\x01"
        "a",
        "1002"),
    ROW("text", "\x81\x81" MASK "a", "1003"),
    ROW("1,201 bytes", "\x82\xfe\x04\xb1" MASK, "1009"),
    ROW("2^63 bytes", "\x82\xff\x80\0\0\0\0\0\0\0" MASK, "1009"),
    ROW("pieces above a datagram",
        "\x02\x81" MASK "a"
        "\x80\xfe\x04\xb0" MASK,
        "1009"),
    ROW("a long ping", "\x89\xfe\0\x7e" MASK, "1002"),
    ROW("a ping in pieces", "\x09\x80" MASK, "1002"),
    ROW("a reserved bit", "\xc2\x81" MASK "a", "1002"),
    ROW("a reserved opcode", "\x83\x81" MASK "a", "1002"),
    ROW("a piece of nothing", "\x80\x81" MASK "a", "1002"),
    ROW("a message in another",
        "\x02\x81" MASK "a"
        "\x82\x81" MASK "b",
        "1002"),
};

// What comes out of the bytes, `step` at a time.
static void read_all(const frames_row *row, size_t step, char seen[16], uint8_t *message,
                     size_t *message_size)
{
    static cm_frames_reader reader;
    size_t count = 0, taken;
    memset(&reader, 0, sizeof reader);
    memset(seen, 0, 16);
    for (size_t at = 0; at < row->size; at += taken) {
        size_t left = row->size - at;
        cm_frames_event event = cm_frames_read(&reader, (const uint8_t *)row->bytes + at,
                                               left < step ? left : step, &taken);
        if (event == CM_FRAMES_REFUSED) {
            snprintf(seen + count, 16 - count, "%u", cm_frame_reason_code(reader.reason));
            cr_expect(cm_frame_reason_text(reader.reason)[0] != '\0');
            return;
        }
        if (event != CM_FRAMES_MORE) {
            seen[count++] = event == CM_FRAMES_MESSAGE ? 'm' : event == CM_FRAMES_PING ? 'p' : 'c';
        }
        if (event == CM_FRAMES_MESSAGE) {
            memcpy(message, reader.message, reader.size);
            *message_size = reader.size;
        }
    }
}

Test(websocket, frames_that_clients_send)
{
    uint8_t message[CM_FRAMES_MESSAGE_MAX];
    char seen[16];
    size_t size = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t step = 1; step <= rows[i].size; step++) {
            read_all(&rows[i], step, seen, message, &size);
            cr_expect_str_eq(seen, rows[i].seen, "%s, %zu bytes at a time: %s", rows[i].what, step,
                             seen);
            cr_expect(i > 1 || (size == 5 && memcmp(message, "Hello", 5) == 0), "%s", rows[i].what);
        }
    }
}

// Goal: what a server writes has the shortest head. Method: sizes round where it changes.
Test(websocket, heads_that_servers_write)
{
    uint8_t head[CM_FRAMES_HEAD_MAX];
    cr_expect_eq(cm_frames_head(head, CM_FRAMES_BINARY, 125), 2);
    cr_expect(head[0] == 0x82 && head[1] == 125);
    cr_expect_eq(cm_frames_head(head, CM_FRAMES_BINARY, 126), 4);
    cr_expect(head[1] == 126 && head[2] == 0 && head[3] == 126);
    cr_expect_eq(cm_frames_head(head, CM_FRAMES_PONG, 0), 2);
    cr_expect(head[0] == 0x8a && head[1] == 0);
}

Test(websocket, upgrades)
{
    char accept[CM_UPGRADE_ACCEPT_MAX], name[9];
    cr_expect(cm_upgrade_accept("dGhlIHNhbXBsZSBub25jZQ==", accept)); // RFC 6455, 1.3
    cr_expect_str_eq(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    cr_expect(!cm_upgrade_accept("dGhlIHNhbXBsZSBub25jZQ=", accept));
    cr_expect(!cm_upgrade_accept("dGhlIHNhbXBsZSBub25jZQAA", accept));
    cr_expect(cm_upgrade_offers("chat ,\tcarom.5"));
    cr_expect(!cm_upgrade_offers("carom.55, carom, xcarom.5"));
    cr_expect(cm_upgrade_is_allowed("", "a:1", ""));
    cr_expect(cm_upgrade_is_allowed("http://a:1", "A:1", ""));
    cr_expect(!cm_upgrade_is_allowed("http://a:1", "a", ""));
    cr_expect(!cm_upgrade_is_allowed("null", "null", ""));
    cr_expect(cm_upgrade_is_allowed("https://b", "a", "https://c, https://B"));
    cr_expect(!cm_upgrade_is_allowed("https://b", "a", "https://bb"));
    cr_expect(cm_upgrade_room("/x/play/y/play/%61%2Fb", name, sizeof name));
    cr_expect_str_eq(name, "a/b");
    cr_expect(cm_upgrade_room("/play/", name, sizeof name) && name[0] == '\0');
    cr_expect(cm_upgrade_room("/play/12345678", name, sizeof name));
    cr_expect(!cm_upgrade_room("/play/123456789", name, sizeof name));
    cr_expect(!cm_upgrade_room("/rooms", name, sizeof name));
    cr_expect(!cm_upgrade_room("/play/%", name, sizeof name));
    cr_expect(!cm_upgrade_room("/play/%0", name, sizeof name));
    cr_expect(!cm_upgrade_room("/play/%0a", name, sizeof name));
    cr_expect(!cm_upgrade_room("/play/%ff", name, sizeof name));
}
