// See awake.h.
#include "shared/sim/state/awake.h"

#include "shared/sim/state/repeat.h"
#include "shared/sim/state/wake.h"

static bool runs(carom_vec3 velocity)
{
    return velocity.x != 0.0f || velocity.y != 0.0f || velocity.z != 0.0f;
}

// Of a live body.
static inline bool is_active(const carom_world *world, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    if (body->type == CAROM_BODY_DYNAMIC) {
        return !cm_body_is_asleep(body);
    }
    const cm_motion *motion = &cm_motions(world)[slot];
    return (body->flags & CM_BODY_STIRRED) ||
           (world->pointers && body->pointer != CAROM_NO_PLAYER) || runs(motion->linear_velocity) ||
           runs(motion->angular_velocity);
}

// A bit of what is known: the change of how many there are.
static inline uint32_t put_bit(uint64_t *word, uint64_t bit, bool now)
{
    bool was = (*word & bit) != 0;
    *word = now ? *word | bit : *word & ~bit;
    return (uint32_t)now - (uint32_t)was;
}

// True where it is to be looked at again: its velocity says whether it moves.
static bool look_at(carom_world *world, uint32_t slot, cm_page *page, cm_turns *turns)
{
    uint64_t bit = (uint64_t)1 << slot % CM_PAGE_ROWS;
    uint8_t *active = cm_active(world) + slot;
    const cm_body *body = &cm_bodies(world)[slot];
    bool alive = slot < world->state.body_slots && body->alive;
    bool asleep = alive && cm_body_is_asleep(body), now = alive && is_active(world, slot);
    bool moving = alive && !asleep && body->type != CAROM_BODY_STATIC;
    put_bit(&page->moving, bit, moving);
    world->known.asleep += put_bit(&page->asleep, bit, asleep);
    world->known.reports += put_bit(&page->reports, bit, alive && cm_body_reports(body));
    if (now != *active) {
        *active = now;
        page->moved |= bit;
        turns->rose = turns->rose || now;
        turns->fell = turns->fell || !now;
    }
    return now && body->type != CAROM_BODY_DYNAMIC;
}

static cm_turns look(carom_world *world, bool last)
{
    cm_turns turns = {false, false, false};
    uint32_t slots = world->state.body_slots;
    world->known.slots = slots > world->known.slots ? slots : world->known.slots;
    cm_page *page = cm_pages(world, CM_SECTION_body);
    for (uint32_t i = 0, pages = cm_body_pages(world); i < pages; i++, page++) {
        turns.any = turns.any || (page->noted | page->moving) != 0;
        for (uint64_t bits = page->noted; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * CM_PAGE_ROWS + (uint32_t)__builtin_ctzll(bits);
            bool again = look_at(world, slot, page, &turns);
            if (last && !again) {
                page->noted &= ~(bits & -bits);
            }
        }
    }
    return turns;
}

cm_turns cm_bodies_look(carom_world *world)
{
    return look(world, false);
}

cm_turns cm_bodies_look_last(carom_world *world)
{
    cm_turns turns = look(world, true);
    world->known.slots = world->state.body_slots;
    return turns;
}

void cm_bodies_forget(carom_world *world)
{
    uint32_t bodies = world->limits.bodies, shapes = world->limits.shapes;
    memset(cm_pages(world, CM_SECTION_body), 0, cm_repeat_known_size(bodies));
    memset(cm_pages(world, CM_SECTION_shape), 0, cm_repeat_known_size(shapes));
    memset(cm_active(world), 0, bodies);
    world->known.asleep = world->known.reports = 0;
    world->known.slots = bodies;
    for (uint32_t i = 0; i < bodies; i++) {
        cm_body_note(world, i);
    }
    for (uint32_t i = 0; i < shapes; i++) {
        cm_row_note(world, CM_SECTION_shape, i);
    }
}
