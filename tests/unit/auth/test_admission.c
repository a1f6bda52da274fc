// Goal: what opens once opens once, for as long as it could: tokens until they expire, public keys
// for a minute; whoever is to be told of a used token is told of each, once; a ban that is lifted
// takes no other with it. Method: the lists by hand.
#include "server/auth/admission.h"

#include <criterion/criterion.h>
#include <string.h>

#define UNIX_S UINT64_C(1900000000)

static const uint8_t hash_key[CM_KEY_BYTES] = {1};

// What a client without a token shows: its public key.
static void use_key(cm_admission *admission, uint32_t number, uint64_t unix_s)
{
    uint8_t key[CM_KEY_BYTES] = {0};
    cm_connect connect = {.client_public = key};
    cm_token none = {0};
    memcpy(key, &number, sizeof number);
    cr_assert(cm_admission_use(admission, &connect, &none, unix_s));
}

static bool is_used(const cm_admission *admission, uint32_t number, uint64_t unix_s)
{
    uint8_t key[CM_KEY_BYTES] = {0};
    cm_connect connect = {.client_public = key};
    cm_token none = {0};
    memcpy(key, &number, sizeof number);
    carom_reason why =
        cm_admission_check(admission, &connect, CM_ADDRESS_IPV4(1, 0, 0, 0, 2), unix_s, &none);
    cr_assert(why == CAROM_REASON_NONE || why == CAROM_REASON_TOKEN_USED);
    return why == CAROM_REASON_TOKEN_USED;
}

// A CONNECT that is repeated opens nothing for as long as its cookie is good, however many others
// come meanwhile; and a server without tokens does not keep every key that it ever saw.
Test(admission, a_public_key_is_used_for_a_minute)
{
    cm_admission admission = {0};
    cm_used_tokens_init(&admission.used, hash_key);
    use_key(&admission, 1, UNIX_S);
    for (uint32_t s = 1; s < 60; s++) { // the table is made anew on the way
        for (uint32_t i = 0; i < 10; i++) {
            use_key(&admission, 10 * s + i, UNIX_S + s);
        }
        cr_assert(is_used(&admission, 1, UNIX_S + s), "after %u s", s);
    }
    cr_expect_geq(60u * 1000000u, 2 * CM_COOKIE_US);
    for (uint32_t i = 0; i < 10000; i++) {
        use_key(&admission, 1000 + i, UNIX_S + 60 + i / 100);
    }
    cr_expect_not(is_used(&admission, 1, UNIX_S + 160));
    cr_expect_leq(admission.used.capacity, 32768);
    cr_expect_eq(admission.used.news_count, 0, "a key is nobody's business");
    cm_admission_free(&admission);
}

// Used tokens: full of living ones it says so; the expired make place.
Test(used_tokens, are_bounded)
{
    uint8_t key[CM_KEY_BYTES] = {1};
    cm_used_tokens used;
    cm_used_tokens_init(&used, key);
    cm_used_token token = {.expires_unix_s = 10};
    for (uint32_t i = 0; i < CM_USED_TOKENS_MAX; i++) {
        memcpy(token.id, &i, sizeof i);
        token.expires_unix_s = 10 + i % 2;
        cr_assert(cm_used_tokens_add(&used, &token, 5, false), "%u", i);
    }
    memset(token.id, 0xff, sizeof token.id);
    cr_assert_not(cm_used_tokens_add(&used, &token, 5, false));
    cr_assert(cm_used_tokens_add(&used, &token, 10, false), "half of them have expired");
    cr_assert(cm_used_tokens_have(&used, token.id));
    uint32_t odd = 1, even = 2;
    memset(token.id, 0, sizeof token.id);
    memcpy(token.id, &odd, sizeof odd);
    cr_assert(cm_used_tokens_have(&used, token.id));
    memcpy(token.id, &even, sizeof even);
    cr_assert_not(cm_used_tokens_have(&used, token.id));
    cm_used_tokens_free(&used);
}

Test(bans, are_kept_sorted)
{
    cm_bans bans = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        cr_assert(cm_bans_add(&bans, i * 7919 % 1009));
        cr_assert(cm_bans_add(&bans, i * 7919 % 1009));
    }
    cr_assert_eq(bans.count, 1000);
    for (uint32_t i = 1; i < bans.count; i++) {
        cr_assert_lt(bans.ids[i - 1], bans.ids[i]);
    }
    cm_bans_remove(&bans, 0);
    cr_assert_not(cm_bans_have(&bans, 0));
    cr_assert(cm_bans_have(&bans, 7919 % 1009));
    cm_bans_free(&bans);
}

// Those who use a token are told in parts, in order, each once.
Test(used_tokens, are_told_each_once_however_they_are_asked_for)
{
    cm_used_tokens used;
    cm_used_token out[8];
    cm_used_tokens_init(&used, hash_key);
    uint32_t told = 0, taken = 0;
    for (uint32_t round = 1; round <= 40; round++) {
        for (uint32_t i = 0; i < 7; i++, told++) {
            cm_used_token token = {.expires_unix_s = UNIX_S + told};
            memcpy(token.id, &told, sizeof told);
            cr_assert(cm_used_tokens_add(&used, &token, UNIX_S, true));
            cm_used_tokens_announce(&used, &token);
        }
        for (uint32_t part = 1; part <= 3; part++) {
            uint32_t count = cm_used_tokens_pop_new(&used, out, part);
            cr_assert_eq(count, part);
            for (uint32_t i = 0; i < count; i++, taken++) {
                uint32_t id;
                memcpy(&id, out[i].id, sizeof id);
                cr_assert_eq(id, taken);
                cr_assert_eq(out[i].expires_unix_s, UNIX_S + taken);
            }
        }
    }
    for (uint32_t count; (count = cm_used_tokens_pop_new(&used, out, 8)) > 0;) {
        taken += count;
    }
    cr_expect_eq(taken, told);
    cm_used_tokens_free(&used);
}

// Of every list of up to seven, each one: it alone is lifted.
Test(bans, lifting_one_leaves_the_others)
{
    for (uint64_t count = 1; count <= 7; count++) {
        for (uint64_t lifted = 1; lifted <= count; lifted++) {
            cm_bans bans = {0};
            for (uint64_t id = count; id > 0; id--) {
                cr_assert(cm_bans_add(&bans, 10 * id));
            }
            cm_bans_remove(&bans, 10 * lifted);
            cm_bans_remove(&bans, 10 * lifted + 1); // nobody
            cr_expect_eq(bans.count, count - 1);
            for (uint64_t id = 1; id <= count; id++) {
                cr_expect_eq(cm_bans_have(&bans, 10 * id), id != lifted, "%u of %u, without %u",
                             (unsigned)id, (unsigned)count, (unsigned)lifted);
            }
            cm_bans_free(&bans);
        }
    }
}
