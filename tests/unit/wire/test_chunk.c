// Goal: the bytes of a chunk and of its file are those recorded in tests/protocol/vectors, which a
// second parser reads as well; and what was written is read. (test_stream.c of record/ runs them.)
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"
#include "tests/unit/wire/vector_text.h"

static const uint8_t secret[CM_KEY_BYTES] = {7, 7, 7};

static void write_ticks(uint8_t *bytes, size_t capacity, size_t *size)
{
    static const uint8_t hi[] = {'h', 'i'};
    const cm_game_event events[] = {{CM_EVENT_JOIN, 1, 1001, NULL, 0},
                                    {CM_EVENT_MESSAGE, 0, 0, hi, sizeof hi}};
    const carom_player_input inputs[] = {{.player = 0, .bytes = {1, 2, 3}}, {.player = 1}};
    const cm_confirmed_tick ticks[] = {
        {.tick = 1200, .hash = 0x1122334455667788u, .resumed = true},
        {.tick = 1201, .hash = 2, .input = {events, 2, NULL, 0}, .follows = true},
        {.tick = 1202, .hash = 3, .input = {NULL, 0, inputs, 2}, .follows = true}};
    *size = 0;
    for (size_t i = 0; i < 3; i++) {
        *size += cm_confirmed_write(&ticks[i], bytes + *size, capacity - *size);
    }
}

Test(vectors, chunk)
{
    static const cm_chunk_meta meta[] = {{"match_id", "c0ffee0000000001"}, {"module", ""}};
    uint8_t head[128], ticks[512], personal[CM_CHUNK_PERSONAL] = {0xb1, 4, [8] = 0xe9, 3, [16] = 5};
    cm_chunk chunk = {.end = CM_MATCH_ENDED,
                      .match_id = UINT64_C(0xc0ffee0000000001),
                      .first_tick = 1200,
                      .number = 10,
                      .tick_count = 3,
                      .before = {9, 8, 7},
                      .head = {head, cm_chunk_head_size(meta, 2, 5)},
                      .keyframe = {(const uint8_t *)"state", 5},
                      .personal = {personal, sizeof personal},
                      .ticks = {ticks, 0}};
    cm_chunk_head_write(meta, 2, (const uint8_t *)"scene", 5, head);
    write_ticks(ticks, sizeof ticks, &chunk.ticks.size);
    size_t size = cm_chunk_size(&chunk), file_size;
    uint8_t *body = malloc(size), public_key[CM_KEY_BYTES], hash[CM_CHUNK_HASH];
    cm_chunk_write(&chunk, body);
    cr_assert(cm_crypto_init());
    uint8_t *file = cm_chunk_seal(body, size, secret, &file_size);
    cm_crypto_sign_public(secret, public_key);
    cm_chunk_hash(body, size, hash);

    cm_chunk read;
    char text[32];
    cr_assert_null(cm_chunk_read(body, size, &read));
    cr_assert_eq(read.end, chunk.end);
    cr_assert_eq(read.first_tick, 1200u);
    cr_assert_eq(read.number, 10u);
    cr_assert_eq(read.ticks.size, chunk.ticks.size);
    cr_assert_arr_eq(read.before, chunk.before, sizeof chunk.before);
    cr_assert(cm_chunk_meta_text(&read, "module", text, sizeof text) && text[0] == '\0');
    cr_assert_not(cm_chunk_meta_text(&read, "modul", text, sizeof text));
    cr_assert_eq(cm_chunk_scene(&read).size, 5u);

    vector_text out = {.first = true};
    vector_put(&out, "{\"key\": ");
    vector_hex(&out, public_key, sizeof public_key);
    vector_put(&out, ", \"file_head\": ");
    vector_hex(&out, file, CM_CHUNK_FILE_HEAD);
    vector_put(&out, ", \"hash\": ");
    vector_hex(&out, hash, sizeof hash);
    vector_put(&out, ",\n\"body\": ");
    vector_hex(&out, body, size);
    vector_put(&out, "}\n");
    vector_finish(&out, "chunk");
    free(file);
    free(body);
}
