// Goal: what waits comes out in order, unchanged, within its bound, and costs nothing once empty.
// Method: pushes and pops from a seed against a shadow of running numbers.
#include "server/room/outbox.h"

#include <criterion/criterion.h>
#include <string.h>

#include "shared/base/rng.h"

Test(outbox, messages_come_out_in_order_and_whole)
{
    cm_outbox box;
    memset(&box, 0, sizeof box);
    cm_rng rng;
    cm_rng_seed(&rng, 4);
    uint64_t pushed = 0, popped = 0;
    uint8_t bytes[300];
    for (uint32_t i = 0; i < 20000; i++) {
        if (cm_rng_below(&rng, 100) < (i / 1000 % 2 == 0 ? 60u : 40u)) {
            uint32_t size = (uint32_t)(pushed * 7 % sizeof bytes);
            memset(bytes, (int)(pushed & 0xff), size);
            pushed += cm_outbox_push(&box, pushed, bytes, size, 40000);
            cr_assert_leq(box.end - box.begin, 40000);
        } else if (box.count > 0) {
            cm_outbox_message message;
            cr_assert(cm_outbox_peek(&box, &message));
            cr_assert_eq(message.tick, popped);
            cr_assert_eq(message.size, popped * 7 % sizeof bytes);
            for (uint32_t n = 0; n < message.size; n++) {
                cr_assert_eq(message.bytes[n], popped & 0xff);
            }
            cm_outbox_pop(&box);
            popped++;
        }
        cr_assert_eq(box.count, pushed - popped);
        cr_assert_leq(box.capacity, 2 * 40000);
    }
    cr_assert_gt(popped, 5000);
    cm_outbox_clear(&box);
    cm_outbox_message none;
    cr_assert_not(cm_outbox_peek(&box, &none));
    cr_assert_null(box.bytes);
}

Test(outbox, it_has_a_bound)
{
    cm_outbox box;
    memset(&box, 0, sizeof box);
    cr_assert(cm_outbox_push(&box, 1, "12345678", 8, 34));
    cr_assert_not(cm_outbox_push(&box, 1, "123", 3, 34));
    cr_assert(cm_outbox_push(&box, 1, "12", 2, 34));
    cr_assert_not(cm_outbox_push(&box, 1, NULL, 0, 34), "an empty one counts too");
    cr_assert_not(cm_outbox_push(&box, 1, "1", 1, 4), "also where the bound became less");
    cr_assert_eq(box.count, 2);
    cm_outbox_clear(&box);
}

Test(outbox, all_can_be_read_before_any_goes)
{
    cm_outbox box;
    cm_outbox_message message;
    memset(&box, 0, sizeof box);
    size_t at = 0;
    cr_assert_not(cm_outbox_next(&box, &at, &message));
    for (uint32_t i = 0; i < 9; i++) {
        cr_assert(cm_outbox_push(&box, i, "messages", i, 1000));
    }
    cm_outbox_pop(&box);
    uint32_t next = 1;
    for (at = 0; cm_outbox_next(&box, &at, &message); next++) {
        cr_assert_eq(message.tick, next);
        cr_assert_eq(message.size, next);
        cr_assert_arr_eq(message.bytes, "messages", next);
    }
    cr_assert_eq(next, 9);
    cr_assert_eq(box.count, 8);
    cm_outbox_clear(&box);
}
