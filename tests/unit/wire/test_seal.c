// Goal: what one end seals the other opens once, and nothing else opens. Method: two ends from the
// same secrets; every bit changed; replays and orders by a seed against a model that remembers all.
#include "shared/base/rng.h"
#include "shared/wire/handshake.h"

#include <criterion/criterion.h>
#include <string.h>

#define PLAIN 40u

static void ends(cm_seal *client, cm_seal *server, uint64_t seed)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    cm_seal_secrets secrets;
    memset(&secrets, 0, sizeof secrets);
    for (size_t i = 0; i < sizeof secrets; i++) {
        ((uint8_t *)&secrets)[i] = (uint8_t)cm_rng_next(&rng);
    }
    cm_seal_begin(client, CM_SEAL_CLIENT, 77, &secrets);
    cm_seal_begin(server, CM_SEAL_SERVER, 77, &secrets);
}

static size_t write_plain(cm_seal *seal, uint8_t mark, uint8_t datagram[PLAIN + CM_SEAL_OVERHEAD])
{
    memset(datagram + CM_SEAL_HEADER, mark, PLAIN);
    return cm_seal_close(seal, CM_WIRE_SEALED, datagram, PLAIN);
}

Test(seal, both_ways)
{
    cm_seal client, server;
    ends(&client, &server, 1);
    uint8_t datagram[PLAIN + CM_SEAL_OVERHEAD];
    size_t plain;
    for (uint8_t i = 0; i < 3; i++) {
        size_t size = write_plain(&client, i, datagram);
        cr_assert_eq(size, PLAIN + 29);
        cr_assert_eq(cm_seal_id(datagram, size), 77);
        cr_assert_eq((int)cm_seal_open(&server, datagram, size, &plain), CM_SEAL_OK);
        cr_assert_eq(plain, PLAIN);
        cr_assert_eq(datagram[CM_SEAL_HEADER + PLAIN - 1], i);
        size = write_plain(&server, i, datagram);
        cr_assert_eq((int)cm_seal_open(&client, datagram, size, &plain), CM_SEAL_OK);
    }
    // What an end sent is nothing to itself: the directions have keys of their own.
    size_t size = write_plain(&client, 0, datagram);
    cr_assert_eq((int)cm_seal_open(&client, datagram, size, &plain), CM_SEAL_FORGED);
}

Test(seal, any_change_is_refused)
{
    cm_seal client, server;
    ends(&client, &server, 2);
    uint8_t datagram[PLAIN + CM_SEAL_OVERHEAD], changed[sizeof datagram];
    size_t plain, size = write_plain(&client, 9, datagram);
    // The type alone is not looked at here but stands under the tag like all else.
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(changed, datagram, size);
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_neq((int)cm_seal_open(&server, changed, size, &plain), CM_SEAL_OK, "%zu", bit);
    }
    for (size_t cut = 0; cut < size; cut++) {
        memcpy(changed, datagram, size);
        cr_assert_neq((int)cm_seal_open(&server, changed, cut, &plain), CM_SEAL_OK);
    }
    cr_assert_eq((int)cm_seal_open(&server, datagram, size, &plain), CM_SEAL_OK);
}

// Forgeries leave the window as it was: a sequence far ahead must not shut honest ones out.
Test(seal, window_moves_by_what_is_genuine)
{
    cm_seal client, server;
    ends(&client, &server, 3);
    uint8_t datagram[PLAIN + CM_SEAL_OVERHEAD];
    size_t plain, size = write_plain(&client, 1, datagram);
    memset(datagram + 5, 0xee, 8);
    cr_assert_eq((int)cm_seal_open(&server, datagram, size, &plain), CM_SEAL_FORGED);
    memset(datagram + 5, 0xff, 8);
    cr_assert_eq((int)cm_seal_open(&server, datagram, size, &plain), CM_SEAL_REPLAY);
    size = write_plain(&client, 2, datagram);
    cr_assert_eq((int)cm_seal_open(&server, datagram, size, &plain), CM_SEAL_OK);
}

#define SENT 6000u

// Against a model with all sequences: taken if new and less than 1,024 behind the newest.
Test(seal, each_sequence_once)
{
    static uint8_t datagrams[SENT][PLAIN + CM_SEAL_OVERHEAD];
    static bool came[SENT];
    cm_seal client, server;
    ends(&client, &server, 4);
    for (uint32_t i = 0; i < SENT; i++) {
        write_plain(&client, (uint8_t)i, datagrams[i]);
    }
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    uint32_t newest = 0, taken = 0, replayed = 0, old = 0;
    bool any = false;
    for (uint32_t turn = 0; turn < 40000; turn++) {
        // Mostly near the front, which moves on; sometimes anywhere, sometimes far ahead.
        uint32_t front = turn * (SENT - 1100) / 40000;
        uint32_t pick = front + cm_rng_below(&rng, 1100);
        if (cm_rng_below(&rng, 8) == 0) {
            pick = cm_rng_below(&rng, front + 1);
        }
        uint8_t copy[sizeof datagrams[0]];
        memcpy(copy, datagrams[pick], sizeof copy);
        bool fresh = !came[pick] && (!any || pick > newest || newest - pick < CM_SEAL_WINDOW);
        size_t plain;
        cm_seal_reason reason = cm_seal_open(&server, copy, sizeof copy, &plain);
        cr_assert_eq((int)reason, fresh ? CM_SEAL_OK : CM_SEAL_REPLAY, "turn %u pick %u", turn,
                     pick);
        taken += fresh;
        replayed += came[pick];
        old += !fresh && !came[pick];
        came[pick] |= fresh;
        newest = !any || pick > newest ? pick : newest;
        any = true;
    }
    cr_assert(taken > 1000 && replayed > 1000 && old > 100, "%u %u %u", taken, replayed, old);
}

// The oldest sequence that may still come is 1,023 behind the newest, the first that may not 1,024.
Test(seal, the_window_has_its_whole_length)
{
    static uint8_t datagrams[CM_SEAL_WINDOW + 1][PLAIN + CM_SEAL_OVERHEAD];
    for (uint32_t newest = CM_SEAL_WINDOW - 1; newest <= CM_SEAL_WINDOW; newest++) {
        cm_seal client, server;
        ends(&client, &server, 6);
        for (uint32_t i = 0; i <= newest; i++) {
            write_plain(&client, (uint8_t)i, datagrams[i]);
        }
        size_t plain, size = sizeof datagrams[0];
        cr_assert_eq((int)cm_seal_open(&server, datagrams[newest], size, &plain), CM_SEAL_OK);
        cm_seal_reason first = cm_seal_open(&server, datagrams[0], size, &plain);
        cr_expect_eq((int)first, newest < CM_SEAL_WINDOW ? CM_SEAL_OK : CM_SEAL_REPLAY);
        cr_expect_eq((int)cm_seal_open(&server, datagrams[1], size, &plain), CM_SEAL_OK);
    }
}

// Every part of the secrets counts.
Test(seal, keys_follow_from_everything)
{
    cm_seal_secrets secrets;
    memset(&secrets, 0, sizeof secrets);
    cm_seal first, other;
    cm_seal_begin(&first, CM_SEAL_CLIENT, 1, &secrets);
    cr_assert_arr_neq(first.send_key, first.receive_key, CM_KEY_BYTES);
    for (size_t i = 0; i < sizeof secrets; i++) {
        ((uint8_t *)&secrets)[i] ^= 1;
        cm_seal_begin(&other, CM_SEAL_CLIENT, 1, &secrets);
        cr_assert_arr_neq(first.send_key, other.send_key, CM_KEY_BYTES);
        cr_assert_arr_neq(first.receive_key, other.receive_key, CM_KEY_BYTES);
        ((uint8_t *)&secrets)[i] ^= 1;
    }
}
