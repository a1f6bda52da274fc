// The hash of a world: the proof that two states are one, asked once a tick.
//
// Each row of a body (with its motion), each shape and each contact (with its points) is hashed by
// itself, with its slot where it has one, and these hashes are added up: so a sum stays right when
// the old hash of a row is taken out and the new one put in, and what rests costs nothing. The
// world row, the three sums, joints and rules give the hash. A change of one row changes its hash
// for certain (cm_chain), and so the sum.
//
// Kept between calls, a function of the rows and no state: the hash of each body and shape below
// carom_world.hashed, and the sum over the contacts at rest. A body's may be wrong where its page
// says that the row was written, or noted since the last step, or moves (cm_page); a shape's where
// it was written. The sum over contacts follows those that come to rest or wake (resting.c), and is
// made anew where a restore or a decode brought others. In a build with CM_DEBUG every hash is held
// against the one without what was kept.
// Typical: of 20,000 bodies 2,000 awake, with 7,000 contacts.
#include "shared/base/assert.h"
#include "shared/base/hash.h"
#include "shared/sim/state/fields.h"
#include "shared/sim/state/resting.h"

static cm_chains chains_of(uint32_t slot)
{
    cm_chains c = {{1, 2, 3, 4}};
    cm_chain(&c.link[0], slot);
    return c;
}

static uint64_t hash_body(const carom_world *world, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    cm_chains c = chains_of(slot);
    if (body->alive) {
        cm_rows_hash(CM_SECTION_motion, &cm_motions(world)[slot], 1, &c);
        cm_rows_hash(CM_SECTION_body, body, 1, &c);
    } else {
        // Of a dead slot only the generation can change the future.
        cm_chain(&c.link[0], body->generation);
    }
    return cm_chains_end(&c);
}

static uint64_t hash_shape(const carom_world *world, uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    cm_chains c = chains_of(slot);
    if (shape->alive) {
        cm_rows_hash(CM_SECTION_shape, shape, 1, &c);
    } else {
        cm_chain(&c.link[0], shape->generation);
    }
    return cm_chains_end(&c);
}

static uint64_t hash_slot(const carom_world *world, cm_section section, uint32_t slot)
{
    return section == CM_SECTION_body ? hash_body(world, slot) : hash_shape(world, slot);
}

// Kept hashes  ---------------------------------------------------------------------------------

// A section's hashes, of slots below `count`, and their sum.
typedef struct kept {
    cm_section section;
    uint64_t *hashes, *sum;
    uint32_t *count;
} kept;

// Bits of a page's rows below a slot.
static uint64_t bits_below(uint32_t slot, uint32_t page)
{
    uint32_t first = page * CM_PAGE_ROWS;
    if (slot <= first) {
        return 0;
    }
    return slot - first < CM_PAGE_ROWS ? ((uint64_t)1 << (slot - first)) - 1 : UINT64_MAX;
}

// Rows whose hash is not known to be right.
static uint64_t doubtful(const cm_page *page, cm_section section)
{
    return section == CM_SECTION_body ? page->written | page->noted | page->moving : page->written;
}

static void bring_up_to_date(carom_world *world, const kept *k, uint32_t slots)
{
    for (uint32_t i = slots; i < *k->count; i++) {
        *k->sum -= k->hashes[i];
    }
    uint32_t old = *k->count < slots ? *k->count : slots;
    cm_page *page = cm_pages(world, k->section);
    for (uint32_t i = 0; i * CM_PAGE_ROWS < slots; i++, page++) {
        uint64_t ask = (doubtful(page, k->section) | ~bits_below(old, i)) & bits_below(slots, i);
        page->written &= ~ask;
        for (; ask != 0; ask &= ask - 1) {
            uint32_t slot = i * CM_PAGE_ROWS + (uint32_t)__builtin_ctzll(ask);
            uint64_t hash = hash_slot(world, k->section, slot);
            *k->sum += hash - (slot < old ? k->hashes[slot] : 0);
            k->hashes[slot] = hash;
        }
    }
    *k->count = slots;
}

static uint64_t hash_resting(const carom_world *world)
{
    return cm_contacts_hash(world, world->offset.resting, (cm_contact_at){0}, world->resting.rows);
}

// The whole ------------------------------------------------------------------------------------

typedef struct sums {
    uint64_t bodies, shapes, resting;
} sums;

static uint64_t hash_joints(const carom_world *world)
{
    cm_chains c = chains_of(0);
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (joint->alive) {
            cm_rows_hash(CM_SECTION_joint, joint, 1, &c);
        } else {
            cm_chain(&c.link[0], joint->generation);
        }
    }
    cm_rows_hash(CM_SECTION_rule, cm_rules(world), world->state.rule_count, &c);
    return cm_chains_end(&c);
}

static uint64_t hash_of(const carom_world *world, const sums *of)
{
    const cm_world_state all = cm_whole_state(world);
    cm_chains c = chains_of(0);
    cm_rows_hash(CM_SECTION_world, &all, 1, &c);
    cm_hash whole = cm_hash_begin(CM_WORLD_MAGIC);
    cm_hash_u64(&whole, cm_chains_end(&c));
    cm_hash_u64(&whole, of->bodies);
    cm_hash_u64(&whole, of->shapes);
    cm_hash_u64(&whole,
                of->resting + cm_contacts_hash(world, world->offset.rows, (cm_contact_at){0},
                                               world->state.contact_count));
    cm_hash_u64(&whole, hash_joints(world));
    return cm_hash_end(&whole);
}

uint64_t cm_world_hash_anew(const carom_world *world)
{
    sums of = {0, 0, hash_resting(world)};
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        of.bodies += hash_body(world, i);
    }
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        of.shapes += hash_shape(world, i);
    }
    return hash_of(world, &of);
}

uint64_t carom_world_hash(const carom_world *world)
{
    // The kept hashes change: they are no state.
    carom_world *noted = (carom_world *)(uintptr_t)world;
    char *base = (char *)noted;
    const kept bodies = {CM_SECTION_body, (uint64_t *)(void *)(base + world->offset.body_hashes),
                         &noted->hashed.body_sum, &noted->hashed.bodies};
    const kept shapes = {CM_SECTION_shape, (uint64_t *)(void *)(base + world->offset.shape_hashes),
                         &noted->hashed.shape_sum, &noted->hashed.shapes};
    bring_up_to_date(noted, &bodies, world->state.body_slots);
    bring_up_to_date(noted, &shapes, world->state.shape_slots);
    if (!world->hashed.resting) {
        noted->hashed.resting_sum = hash_resting(world);
        noted->hashed.resting = true;
    }
    const sums of = {world->hashed.body_sum, world->hashed.shape_sum, world->hashed.resting_sum};
    uint64_t hash = hash_of(world, &of);
#ifdef CM_DEBUG
    CM_ASSERT(hash == cm_world_hash_anew(world));
#endif
    return hash;
}
