// Goal: what a client decodes is what was sent, and in the end what the server has; the byte budget
// is kept with all headers; a body at rest is repeated until acked, and then nothing is sent for
// it; a lost packet costs its own bodies only; nothing starves. Method: snapshots made by hand, a
// client's side made of the packet reader and a table of baselines, losses from a seed.
#include "server/replicate/replica.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/base/vec.h"

#define SLOTS     200u
#define TICK_RATE 60u
#define VIEW_RATE 30u
#define STORED    256u

// What a client keeps: the packets it has, by sequence, and the newest value of each body.
typedef struct receiver {
    cm_view_body stored[STORED][SLOTS];
    bool held[STORED][SLOTS];
    uint16_t sequences[STORED];
    bool used[STORED];
    cm_view_body bodies[SLOTS];
    uint32_t ticks[SLOTS];
    uint32_t public_first; // first byte of the public state
    bool told, unsure;     // by the newest packet
} receiver;

typedef struct bench {
    cm_snapshot snapshot;
    cm_view_config config;
    cm_replica *replica;
    cm_view_out out;
    receiver *client;
    uint16_t sequence;
    uint64_t bytes; // sent, headers counted
    uint32_t packets, entries;
} bench;

static const cm_view_body *lookup(void *context, uint32_t index, uint16_t sequence)
{
    receiver *r = context;
    uint32_t at = sequence % STORED;
    bool there = r->used[at] && r->sequences[at] == sequence && r->held[at][index];
    return there ? &r->stored[at][index] : NULL;
}

static void set_body(bench *b, uint32_t slot, carom_vec3 position, carom_vec3 velocity)
{
    carom_body_state state;
    memset(&state, 0, sizeof state);
    state.type = CAROM_BODY_DYNAMIC;
    state.position = position;
    state.orientation = cm_quat_identity();
    state.linear_velocity = velocity;
    b->snapshot.generation[slot] = 1;
    b->snapshot.positions[slot] = position;
    b->snapshot.speeds[slot] = cm_length(velocity);
    cm_view_quantise(&b->config, &state, true, &b->snapshot.bodies[slot]);
    b->snapshot.version[slot]++;
}

static carom_vec3 place(uint32_t slot)
{
    return cm_vec((float)(slot % 20) * 2.0f - 20.0f, 1.0f, (float)(slot / 20) * 2.0f - 10.0f);
}

static void open_bench(bench *b, uint32_t kbit, bool predict)
{
    memset(b, 0, sizeof *b);
    cr_assert_eq(
        cm_view_config_make(cm_vec(-64, -8, -64), cm_vec(64, 56, 64), 1.0f / 512.0f, &b->config),
        CAROM_OK);
    cr_assert(cm_snapshot_init(&b->snapshot, SLOTS, 0));
    b->snapshot.slots = SLOTS;
    b->snapshot.public_version = 1;
    for (uint32_t i = 0; i < SLOTS; i++) {
        set_body(b, i, place(i), cm_vec(0, 0, 0));
    }
    cm_replica_def def = {.rows = SLOTS,
                          .tick_rate = TICK_RATE,
                          .view_rate = VIEW_RATE,
                          .budget_kbit = kbit,
                          .predict = predict};
    b->replica = cm_replica_create(&def);
    b->client = calloc(1, sizeof *b->client);
    cm_replica_begin(b->replica, &b->snapshot, NULL);
    memcpy(b->client->bodies, b->snapshot.bodies, SLOTS * sizeof(cm_view_body));
}

static void close_bench(bench *b)
{
    cm_replica_destroy(b->replica);
    cm_snapshot_free(&b->snapshot);
    free(b->client);
}

static void receive(bench *b, const uint8_t *bytes, size_t size, uint16_t sequence)
{
    static cm_view_entry entries[CM_VIEW_ENTRIES_MAX];
    cm_view_header header;
    uint32_t count = 0;
    receiver *r = b->client;
    cm_packet_reason reason =
        cm_view_packet_read(bytes, size, &b->config, lookup, r, &header, entries, &count);
    cr_assert_eq(reason, CM_PACKET_OK, "%s", cm_packet_reason_text(reason));
    cr_assert_eq(header.sequence, sequence);
    uint32_t at = sequence % STORED;
    memset(r->held[at], 0, sizeof r->held[at]);
    r->used[at] = true;
    r->sequences[at] = sequence;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = entries[i].index;
        r->held[at][slot] = true;
        r->stored[at][slot] = entries[i].body;
        if (header.tick >= r->ticks[slot]) {
            r->ticks[slot] = header.tick;
            r->bodies[slot] = entries[i].body;
        }
    }
    r->told = header.has_public;
    r->unsure = header.public_unsure;
    if (header.has_public && header.public_size > 0) {
        r->public_first = header.public_state[0];
    }
    b->entries += count;
}

// One view two ticks on; packet i arrives (and is acked at once) unless bit i of `lost` is set.
static uint32_t view(bench *b, carom_body_id own, uint32_t lost)
{
    b->snapshot.tick += TICK_RATE / VIEW_RATE;
    cm_view_header header = {.tick = (uint32_t)b->snapshot.tick, .input_lead = CM_LEAD_UNKNOWN};
    cm_replica_view(b->replica, &b->snapshot, &b->config, &header, own, CM_PACKET_MAX, &b->out);
    for (uint32_t i = 0; i < b->out.count; i++) {
        b->sequence++;
        b->packets++;
        b->bytes += b->out.sizes[i] + CM_PACKET_OVERHEAD;
        cr_assert_leq(b->out.sizes[i], CM_PACKET_MAX);
        if ((lost >> i & 1) == 0) {
            receive(b, b->out.bytes[i], b->out.sizes[i], b->sequence);
            cm_replica_ack(b->replica, b->sequence, 0);
        }
    }
    return b->out.count;
}

static const carom_body_id nobody = {0, 0};

// Poses and rest are the server's; velocities need not be there.
static bool is_exact(const bench *b, uint32_t slot)
{
    cm_view_body mine = b->client->bodies[slot], server = b->snapshot.bodies[slot];
    mine.has_velocity = server.has_velocity = 0;
    memset(mine.linear, 0, sizeof mine.linear);
    memset(mine.angular, 0, sizeof mine.angular);
    memset(server.linear, 0, sizeof server.linear);
    memset(server.angular, 0, sizeof server.angular);
    return cm_view_equal(&mine, &server);
}

Test(replicate, where_nothing_changes_five_headers_a_second_go)
{
    bench b;
    open_bench(&b, 64, false);
    for (uint32_t i = 0; i < 10 * VIEW_RATE; i++) {
        view(&b, nobody, 0);
    }
    cr_assert_geq(b.packets, 49);
    cr_assert_leq(b.packets, 51);
    cr_assert_eq(b.entries, 0);
    close_bench(&b);
}

Test(replicate, a_body_that_comes_to_rest_is_exact_and_then_silent)
{
    bench b;
    open_bench(&b, 64, false);
    for (uint32_t i = 0; i < 20; i++) {
        set_body(&b, 7, cm_vec(0.1f * (float)i, 1, 0), cm_vec(3, 0, 0));
        view(&b, nobody, 0);
        cr_assert(is_exact(&b, 7));
    }
    set_body(&b, 7, cm_vec(2, 1, 0), cm_vec(0, 0, 0));
    uint32_t before = b.entries;
    view(&b, nobody, ~0u); // lost
    cr_assert(!is_exact(&b, 7));
    for (uint32_t i = 0; i < 40 && !is_exact(&b, 7); i++) {
        view(&b, nobody, 0);
    }
    cr_assert(is_exact(&b, 7), "it was repeated");
    cr_assert_eq(b.entries, before + 1);
    for (uint32_t i = 0; i < 300; i++) {
        view(&b, nobody, 0);
    }
    cr_assert_eq(b.entries, before + 1, "nothing after the ack");
    // An hour later its old ack must not be taken for a baseline.
    for (uint32_t i = 0; i < 70000; i++) {
        set_body(&b, 3, cm_vec(0.001f * (float)(i % 1000), 1, 5), cm_vec(1, 0, 0));
        view(&b, nobody, 0);
    }
    set_body(&b, 7, cm_vec(9, 1, 0), cm_vec(0, 0, 0));
    view(&b, nobody, 0);
    cr_assert(is_exact(&b, 7));
    close_bench(&b);
}

Test(replicate, the_budget_is_kept_and_nothing_starves)
{
    bench b;
    open_bench(&b, 64, false);
    cm_rng rng;
    cm_rng_seed(&rng, 1);
    uint32_t last_sent[SLOTS] = {0}, longest = 0;
    for (uint32_t i = 0; i < 20 * VIEW_RATE; i++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            carom_vec3 p = place(slot);
            p.y += cm_rng_range(&rng, 0, 1);
            set_body(&b, slot, p, cm_vec(0, 1, 0));
        }
        if (i == 2 * VIEW_RATE) {
            b.bytes = 0; // the first burst is over
        }
        view(&b, (carom_body_id){5, 1}, 0);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            last_sent[slot] = b.client->ticks[slot] == b.snapshot.tick ? i : last_sent[slot];
            longest = i - last_sent[slot] > longest ? i - last_sent[slot] : longest;
        }
        cr_assert(is_exact(&b, 5), "the own body goes with every view");
    }
    double kbit = (double)b.bytes * 8.0 / 18.0 / 1000.0;
    cr_assert_leq(kbit, 64.0 * 1.02);
    cr_assert_geq(kbit, 64.0 * 0.85);
    cr_assert_leq(longest, 4 * VIEW_RATE);
    close_bench(&b);
}

// More than the burst can carry moves all the time: the burst ends all the same, once as many
// bodies went as waited for the first view.
Test(replicate, the_burst_ends_where_everything_moves)
{
    enum { MANY = 1000, SECONDS = 6 };
    static bench b;
    open_bench(&b, 64, false);
    cm_replica_destroy(b.replica);
    cm_snapshot_free(&b.snapshot);
    memset(&b.snapshot, 0, sizeof b.snapshot);
    cr_assert(cm_snapshot_init(&b.snapshot, MANY, 0));
    b.snapshot.slots = MANY;
    const cm_replica_def def = {
        .rows = MANY, .tick_rate = TICK_RATE, .view_rate = VIEW_RATE, .budget_kbit = 64};
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    for (uint32_t i = 0; i < SECONDS * VIEW_RATE; i++) {
        for (uint32_t slot = 0; slot < MANY; slot++) {
            float x = cm_rng_range(&rng, -60, 60), z = cm_rng_range(&rng, -60, 60);
            set_body(&b, slot, cm_vec(x, cm_rng_range(&rng, 0, 50), z), cm_vec(0, 0, 1));
        }
        if (i == 0) { // and all have moved when the first view goes
            b.replica = cm_replica_create(&def);
            cm_replica_begin(b.replica, &b.snapshot, NULL);
            continue;
        }
        b.bytes = i == VIEW_RATE ? 0 : b.bytes;
        b.snapshot.tick += TICK_RATE / VIEW_RATE;
        const cm_view_header header = {.tick = (uint32_t)b.snapshot.tick};
        cm_replica_view(b.replica, &b.snapshot, &b.config, &header, nobody, CM_PACKET_MAX, &b.out);
        for (uint32_t k = 0; k < b.out.count; k++) {
            b.bytes += b.out.sizes[k] + CM_PACKET_OVERHEAD;
            cm_replica_ack(b.replica, ++b.sequence, 0);
        }
    }
    double kbit = (double)b.bytes * 8.0 / (SECONDS - 1) / 1000.0;
    cr_expect_leq(kbit, 64.0 * 1.02, "%.0f kbit/s", kbit);
    cr_expect_geq(kbit, 64.0 * 0.85, "%.0f kbit/s", kbit);
    close_bench(&b);
}

// Of many that move, what a player steers comes far more often, with its velocity, however far.
Test(replicate, steered_bodies_go_before_others)
{
    bench b;
    open_bench(&b, 64, true);
    const uint32_t steered = SLOTS - 1, other = SLOTS - 2;
    b.snapshot.steered[steered] = true;
    uint32_t news[2] = {0, 0}, before[2] = {0, 0};
    for (uint32_t i = 0; i < 120; i++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            float x = 0.01f * (float)(i % 50);
            set_body(&b, slot, cm_add(place(slot), cm_vec(x, 0, 0)), cm_vec(1, 0, 0));
        }
        view(&b, (carom_body_id){0, 1}, 0);
        news[0] += b.client->ticks[steered] != before[0];
        news[1] += b.client->ticks[other] != before[1];
        before[0] = b.client->ticks[steered];
        before[1] = b.client->ticks[other];
    }
    cr_expect_gt(news[0], 6 * news[1], "%u views of 120, %u of a body beside it", news[0], news[1]);
    cr_expect(b.client->bodies[steered].has_velocity);
    close_bench(&b);
}

Test(replicate, lost_packets_heal)
{
    bench b;
    open_bench(&b, 256, true);
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    carom_body_id own = {0, 1};
    for (uint32_t i = 0; i < 40 * VIEW_RATE; i++) {
        for (uint32_t n = 0; n < 20; n++) {
            uint32_t slot = cm_rng_below(&rng, SLOTS);
            carom_vec3 p = place(slot);
            p.y += cm_rng_range(&rng, 0, 2);
            set_body(&b, slot, p, cm_vec(0, cm_rng_range(&rng, 0, 1), 0));
        }
        view(&b, own, cm_rng_below(&rng, 5) == 0 ? ~0u : 0);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        set_body(&b, slot, place(slot), cm_vec(0, 0, 0));
    }
    for (uint32_t i = 0; i < 5 * VIEW_RATE; i++) {
        view(&b, own, 0);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        cr_assert(is_exact(&b, slot), "slot %u", slot);
    }
    cm_replica_stats stats;
    cm_replica_stats_get(b.replica, &stats);
    cr_assert_gt(stats.resent, 0);
    cr_assert_lt(stats.alone, stats.entries / 2);
    close_bench(&b);
}

Test(replicate, a_lost_packet_costs_its_own_bodies_only)
{
    bench b;
    open_bench(&b, 64, false);
    set_body(&b, 10, cm_vec(1, 2, 3), cm_vec(0, 0, 0));
    view(&b, nobody, ~0u);
    set_body(&b, 20, cm_vec(3, 2, 1), cm_vec(0, 0, 0));
    view(&b, nobody, 0);
    cr_assert(is_exact(&b, 20), "the packet after it stands alone");
    close_bench(&b);
}

Test(replicate, velocities_travel_near_the_own_body_of_one_who_predicts)
{
    bench b;
    open_bench(&b, 1000, true);
    set_body(&b, 0, cm_vec(0, 1, 0), cm_vec(1, 0, 0));
    set_body(&b, 1, cm_vec(3, 1, 0), cm_vec(0, 0, 2));
    set_body(&b, 2, cm_vec(40, 1, 0), cm_vec(0, 0, 2));
    view(&b, (carom_body_id){0, 1}, 0);
    cr_assert_eq(b.client->bodies[0].has_velocity, 1);
    cr_assert_eq(b.client->bodies[1].has_velocity, 1);
    cr_assert_eq(b.client->bodies[1].linear[2], 512);
    cr_assert_eq(b.client->bodies[2].has_velocity, 0);
    cr_assert(is_exact(&b, 2));
    // Out of its neighbourhood the velocity is no longer needed, and is not sent for its own sake.
    uint32_t before = b.entries;
    set_body(&b, 0, cm_vec(-40, 1, 0), cm_vec(1, 0, 0));
    view(&b, (carom_body_id){0, 1}, 0);
    cr_assert_eq(b.entries, before + 1, "the own body alone");
    close_bench(&b);
}

Test(replicate, public_state_goes_until_acked)
{
    bench b;
    open_bench(&b, 64, false);
    b.snapshot.public_size = 4;
    b.snapshot.public_state[0] = 42;
    b.snapshot.public_version = 2;
    view(&b, nobody, ~0u);
    cr_assert_eq(b.client->public_first, 0);
    for (uint32_t i = 0; i < 60; i++) {
        view(&b, nobody, 0);
    }
    cr_assert_eq(b.client->public_first, 42);
    uint64_t before = b.bytes;
    uint32_t packets = b.packets;
    for (uint32_t i = 0; i < VIEW_RATE; i++) {
        view(&b, nobody, 0);
    }
    cr_assert_leq(b.bytes - before, (b.packets - packets) * (18u + CM_PACKET_OVERHEAD));
    close_bench(&b);
}

// A small one goes again with the next view; a large one once it is lost, and until then no view
// claims that the client has it.
Test(replicate, a_large_public_state_is_not_repeated_while_it_may_arrive)
{
    for (uint32_t size = 4; size <= 1000; size += 996) {
        bench b;
        open_bench(&b, 256, false);
        b.snapshot.public_size = size;
        b.snapshot.public_version = 2;
        view(&b, nobody, ~0u);
        uint32_t views = 0;
        b.client->told = false;
        for (; views < 60 && !b.client->told; views++) {
            b.client->unsure = true; // where no view is due
            view(&b, nobody, 0);
            cr_assert_neq(b.client->told, b.client->unsure);
        }
        cr_assert(b.client->told);
        cr_expect(size > 256 ? views > 2 : views == 1, "%u bytes: view %u", size, views);
        set_body(&b, 1, cm_vec(1, 1, 1), cm_vec(1, 0, 0));
        view(&b, nobody, 0);
        cr_expect(!b.client->told && !b.client->unsure);
        close_bench(&b);
    }
}

Test(replicate, a_world_change_starts_a_slot_anew)
{
    bench b;
    open_bench(&b, 64, false);
    set_body(&b, 4, cm_vec(1, 1, 1), cm_vec(0, 0, 0));
    view(&b, nobody, 0);
    uint32_t before = b.entries;
    b.snapshot.generation[4] = 0;
    cm_replica_changed(b.replica, &b.snapshot, 4);
    view(&b, nobody, 0);
    cr_assert_eq(b.entries, before, "nothing is said of a body that is gone");
    set_body(&b, 4, cm_vec(5, 1, 5), cm_vec(0, 0, 0));
    b.snapshot.generation[4] = 2;
    view(&b, nobody, 0);
    cr_assert_eq(b.entries, before, "nor of one that was not announced");
    cm_replica_changed(b.replica, &b.snapshot, 4);
    view(&b, nobody, 0);
    cr_assert_eq(b.entries, before, "announced as it is");
    set_body(&b, 4, cm_vec(6, 1, 5), cm_vec(0, 0, 0));
    b.snapshot.generation[4] = 2;
    view(&b, nobody, 0);
    cr_assert_eq(b.entries, before + 1);
    cr_assert(is_exact(&b, 4));
    close_bench(&b);
}

// Bodies come and go in their slots while packets of the ones before are lost, or acked late: what
// the client decodes must be exact in the end, whichever body an ack was for. Losses, changes and
// how late an ack comes follow from the seed.
Test(replicate, acks_of_a_body_that_is_gone_say_nothing_of_the_next_in_its_slot)
{
    bench b;
    open_bench(&b, 64, false);
    cm_rng rng;
    cm_rng_seed(&rng, 77);
    uint32_t crossed = 0;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t slot = cm_rng_below(&rng, 8);
        set_body(&b, slot, cm_vec(cm_rng_range(&rng, -9, 9), 1, 1), cm_vec(1, 0, 0));
        b.snapshot.generation[slot] = 2 * round + 1;
        cm_replica_changed(b.replica, &b.snapshot, slot);
        set_body(&b, slot, cm_vec(cm_rng_range(&rng, -9, 9), 1, 1), cm_vec(1, 0, 0));
        b.snapshot.generation[slot] = 2 * round + 1;
        uint16_t late = (uint16_t)(b.sequence + 1);
        view(&b, nobody, ~0u); // sent, its ack still out
        set_body(&b, slot, cm_vec(cm_rng_range(&rng, -9, 9), 1, 1), cm_vec(0, 0, 0));
        b.snapshot.generation[slot] = 2 * round + 2;
        cm_replica_changed(b.replica, &b.snapshot, slot);
        b.client->bodies[slot] = b.snapshot.bodies[slot];
        crossed += cm_replica_ack(b.replica, late, 0);
        for (uint32_t i = 0; i < 3; i++) {
            view(&b, nobody, 0);
        }
        cr_assert(is_exact(&b, slot), "round %u: slot %u", round, slot);
    }
    cr_assert_gt(crossed, 100, "acks that crossed a change: %u", crossed);
    close_bench(&b);
}

Test(replicate, an_ack_that_was_overtaken_takes_nothing_back)
{
    bench b;
    open_bench(&b, 64, false);
    set_body(&b, 9, cm_vec(1, 1, 1), cm_vec(1, 0, 0));
    view(&b, nobody, ~0u);
    set_body(&b, 9, cm_vec(2, 1, 1), cm_vec(0, 0, 0));
    view(&b, nobody, ~0u);
    cm_replica_stats before, after;
    cm_replica_stats_get(b.replica, &before);
    cr_assert_eq(before.entries, 2);
    cm_replica_ack(b.replica, 2, 0);
    cm_replica_ack(b.replica, 1, 0);
    for (uint32_t i = 0; i < 60; i++) {
        view(&b, nobody, 0);
    }
    cm_replica_stats_get(b.replica, &after);
    cr_assert_eq(after.entries, before.entries, "the newest value was acked");
    close_bench(&b);
}

// Entries that take all they can: no slot near the one before, no age like the one before.
Test(replicate, entries_as_large_as_they_come_fit_as_counted)
{
    enum { MANY = 20000, APART = 40 };
    cm_view_config config;
    cr_assert_eq(cm_view_config_make(cm_vec(-4, -4, -4), cm_vec(4, 4, 4), 1.0f / 16.0f, &config),
                 CAROM_OK);
    cm_snapshot snapshot;
    cr_assert(cm_snapshot_init(&snapshot, MANY, 0));
    snapshot.slots = MANY;
    snapshot.public_version = 1;
    for (uint32_t slot = 0; slot < MANY; slot += APART) {
        snapshot.generation[slot] = snapshot.version[slot] = 1;
        snapshot.bodies[slot].at_rest = 1;
    }
    cm_replica_def def = {
        .rows = MANY, .tick_rate = TICK_RATE, .view_rate = VIEW_RATE, .budget_kbit = 100000};
    cm_replica *replica = cm_replica_create(&def);
    cm_replica_begin(replica, &snapshot, NULL);
    cm_view_header header = {.input_lead = CM_LEAD_UNKNOWN};
    static cm_view_out out;
    uint16_t sequence = 0;
    uint32_t largest = 0;
    for (uint32_t round = 0; round < 30; round++) {
        // By turns every second body, and all of them against what the turns left.
        for (uint32_t slot = 0; slot < MANY; slot += APART) {
            if (round % 3 == 2 || slot / APART % 2 == round % 3) {
                snapshot.bodies[slot].position[0] ^= 1;
                snapshot.version[slot]++;
            }
        }
        snapshot.tick += TICK_RATE / VIEW_RATE;
        cm_replica_view(replica, &snapshot, &config, &header, nobody, CM_PACKET_MAX, &out);
        for (uint32_t i = 0; i < out.count; i++) {
            largest = out.sizes[i] > largest ? out.sizes[i] : largest;
            cm_replica_ack(replica, ++sequence, 0);
        }
    }
    cm_replica_stats stats;
    cm_replica_stats_get(replica, &stats);
    cr_assert_eq(stats.entries, 10 * 2 * (MANY / APART), "nothing is put off");
    cr_assert_gt(largest, 1100);
    cm_replica_destroy(replica);
    cm_snapshot_free(&snapshot);
}

// A packet with each view: a wrench is news.
static void pack_one(bench *b, uint32_t expected)
{
    b->snapshot.tick += TICK_RATE / VIEW_RATE;
    cm_view_header header = {.input_lead = CM_LEAD_UNKNOWN, .has_wrench = true};
    cm_replica_view(b->replica, &b->snapshot, &b->config, &header, nobody, CM_PACKET_MAX, &b->out);
    cr_assert_eq(b->out.count, 1);
    uint16_t sequence;
    memcpy(&sequence, b->out.bytes[0] + 2, sizeof sequence);
    cr_assert_eq(sequence, (uint16_t)expected, "it owns the sequence");
}

Test(replicate, acks_of_what_was_never_sent_are_ignored)
{
    bench b;
    open_bench(&b, 64, false);
    cr_assert_eq(cm_replica_ack(b.replica, 1, 0xffffffffu), 0);
    cr_assert_eq(cm_replica_ack(b.replica, 0, 0xffffffffu), 0);
    for (uint32_t i = 1; i <= 3; i++) {
        pack_one(&b, i);
    }
    cr_assert_eq(cm_replica_ack(b.replica, 4, 0xffffffffu), 3, "3, 2 and 1 were sent");
    cr_assert_eq(cm_replica_ack(b.replica, 3, 3), 0, "acked before");
    close_bench(&b);
}

// Past the wrap of the sequence.
Test(replicate, acks_against_a_shadow)
{
    bench b;
    open_bench(&b, 64, false);
    cm_rng rng;
    cm_rng_seed(&rng, 11);
    static bool acked[70001];
    uint32_t total = 0;
    for (uint32_t sent = 1; sent <= 70000; sent++) {
        pack_one(&b, sent);
        uint32_t back = cm_rng_below(&rng, 160);
        uint32_t bits = (uint32_t)cm_rng_next(&rng);
        uint32_t expected = 0;
        for (uint32_t n = 0; n < 33; n++) {
            uint32_t age = back + n;
            bool named = n == 0 || (bits >> (n - 1) & 1) != 0;
            if (named && age < sent && age < CM_SENT_PACKETS && !acked[sent - age]) {
                acked[sent - age] = true;
                expected++;
            }
        }
        uint32_t count = cm_replica_ack(b.replica, (uint16_t)(sent - back), bits);
        cr_assert_eq(count, expected, "packet %u", sent);
        total += count;
    }
    cr_assert_gt(total, 45000);
    close_bench(&b);
}

// An older view may reach the client after the message: the value goes until it is acked.
Test(replicate, a_body_that_comes_again_under_its_id_is_sent_once_more)
{
    bench b;
    open_bench(&b, 64, false);
    set_body(&b, 4, cm_vec(1, 1, 1), cm_vec(0, 0, 0));
    view(&b, nobody, 0);
    uint32_t before = b.entries;
    cm_replica_changed(b.replica, &b.snapshot, 4);
    view(&b, nobody, ~0u);
    for (uint32_t i = 0; i < 60; i++) {
        view(&b, nobody, 0);
    }
    cr_assert_eq(b.entries, before + 1, "again after the loss, and not after the ack");
    close_bench(&b);
}

// A client whose keyframe was ten ticks on its way has the bodies of then: what moved since, and
// rests again, is sent, and nothing else.
Test(replicate, what_changed_since_a_keyframe_is_sent)
{
    bench b;
    open_bench(&b, 1000, false);
    cm_replica_destroy(b.replica);
    cm_snapshot_moment moment;
    cr_assert(cm_snapshot_moment_capture(&moment, &b.snapshot));
    for (uint32_t slot = 3; slot < 6; slot++) {
        set_body(&b, slot, cm_vec(1.0f, 2.0f, (float)slot), cm_vec(0, 0, 0));
    }
    b.snapshot.tick += 10;
    cm_replica_def def = {
        .rows = SLOTS, .tick_rate = TICK_RATE, .view_rate = VIEW_RATE, .budget_kbit = 1000};
    b.replica = cm_replica_create(&def);
    cm_replica_begin(b.replica, &b.snapshot, &moment);
    cm_snapshot_moment_free(&moment);
    for (uint32_t i = 0; i < 4; i++) {
        view(&b, nobody, 0);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        cr_assert(is_exact(&b, slot), "slot %u", slot);
    }
    cr_assert_leq(b.entries, 3u * 4u);
    close_bench(&b);
}
