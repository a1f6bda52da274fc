// Colours of contacts, and groups of sixteen of one colour.
//
// Greedy, in the order of the state's contacts, so that it depends on ids alone: a contact takes
// the lowest colour that neither of its bodies has. What cannot be pushed takes no part. Contacts
// with what cannot be pushed come last: the last solved is the best satisfied, and the ground
// matters most. A contact that finds no colour goes to the loose groups, which are solved lane by
// lane, first. In a colour contacts of fewer points come first, so that most groups have as many
// points in each lane.
//
// Order of buckets: loose | colours | the same for contacts with the fixed.
// Typical: 3,500 contacts, 14 colours, 240 groups.
#include "shared/sim/solve/soft/soft.h"

#include <string.h>

#define AHEAD        8u
#define NEAR_BODIES  4096u // as many of them come from the caches fast enough
#define HALF_BUCKETS (CM_SOFT_BUCKETS / 2u)
#define KINDS        (CM_SOFT_BUCKETS * CM_MANIFOLD_MAX)

uint32_t cm_soft_group_limit(const carom_limits *limits)
{
    // Each bucket may end with a group that is not full, but no group is empty.
    uint64_t full = limits->contacts / CM_SOFT_WIDE + CM_SOFT_BUCKETS;
    return full < limits->contacts ? (uint32_t)full : limits->contacts;
}

// Returns true if a contact is solved. Where neither body can be pushed there is nothing to solve,
// and what cannot be pushed keeps its row: contacts of one group may share it, and zero times an
// impulse has a sign. Its impulses stay as they are.
static bool takes_part(const cm_soft *soft, cm_manifold *m)
{
    if (m->point_count == 0) {
        return false; // of a sensor
    }
    if (soft->inertias[m->body_a].inverse_mass == 0.0f &&
        soft->inertias[m->body_b].inverse_mass == 0.0f) {
        m->impulse = 0.0f;
        return false;
    }
    return true;
}

static void choose_bucket(cm_soft *soft, const cm_manifold *m, cm_soft_link *link)
{
    const cm_soft_inertia *inertia_a = &soft->inertias[m->body_a];
    const cm_soft_inertia *inertia_b = &soft->inertias[m->body_b];
    bool fixed_a = inertia_a->inverse_mass == 0.0f, fixed_b = inertia_b->inverse_mass == 0.0f;
    bool fixed = fixed_a || fixed_b;
    *link = (cm_soft_link){.a = fixed_b ? m->body_b : m->body_a,
                           .b = fixed_b ? m->body_a : m->body_b,
                           .points = (uint8_t)m->point_count,
                           .bounces = m->restitution > 0.0f,
                           .rolls = m->round_a + m->round_b > 0.0f,
                           .round = (uint8_t)(inertia_a->round & inertia_b->round),
                           .flipped = fixed_b};
    // Contacts with the fixed have colours of their own: the second words.
    uint32_t *a = &soft->taken[2 * m->body_a + fixed], *b = &soft->taken[2 * m->body_b + fixed];
    uint32_t taken = (fixed_a ? 0u : *a) | (fixed_b ? 0u : *b);
    uint32_t first = fixed ? HALF_BUCKETS : 0u;
    if (taken == 0xffffffffu) {
        link->kind = (uint16_t)(first * CM_MANIFOLD_MAX);
        return;
    }
    uint32_t color = (uint32_t)__builtin_ctz(~taken), bit = 1u << color;
    if (!fixed_a) {
        *a |= bit;
    }
    if (!fixed_b) {
        *b |= bit;
    }
    link->kind = (uint16_t)((first + 1u + color) * CM_MANIFOLD_MAX + m->point_count - 1u);
}

// First group of each bucket; one more entry ends the last. Of each kind of contact: how many there
// are becomes where the first one goes. Those of loose buckets stay in their order.
static void place_buckets(cm_soft *soft, uint32_t of_kind[KINDS],
                          uint32_t start[CM_SOFT_BUCKETS + 1])
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < CM_SOFT_BUCKETS; i++) {
        uint32_t next = at * CM_SOFT_WIDE;
        start[i] = at;
        for (uint32_t k = 0; k < CM_MANIFOLD_MAX; k++) {
            uint32_t here = of_kind[i * CM_MANIFOLD_MAX + k];
            of_kind[i * CM_MANIFOLD_MAX + k] = next;
            next += here;
        }
        at = (next + CM_SOFT_WIDE - 1) / CM_SOFT_WIDE;
    }
    start[CM_SOFT_BUCKETS] = at;
    soft->ranges = (cm_soft_ranges){start[0], start[1], start[HALF_BUCKETS],
                                    start[HALF_BUCKETS + 1], start[CM_SOFT_BUCKETS]};
}

static void clear_group(cm_soft_group *g, uint32_t unused_body, bool fixed)
{
    for (uint32_t k = 0; k < CM_SOFT_WIDE; k++) {
        g->a[k] = g->b[k] = unused_body * CM_SOFT_ROW;
        g->row[k] = CM_NONE;
        g->point[k] = 0;
    }
    g->lanes = g->points = g->bounces = g->flipped = g->special = g->rolls = 0;
    g->late = g->early = g->meets = 0;
    g->fixed = fixed;
    g->round = 1;
    memset(g->point_count, 0, sizeof g->point_count);
}

void cm_soft_color_contacts(const carom_world *world, const cm_scratch *scratch, cm_soft *soft)
{
    uint32_t start[CM_SOFT_BUCKETS + 1], next[KINDS] = {0};
    bool far = soft->body_count > NEAR_BODIES;
    uint32_t contacts = world->state.contact_count;
    soft->special = soft->special || scratch->rubbing;
    for (uint32_t r = 0; r < soft->run_count; r++) { // of others no colour is asked
        memset(soft->taken + 2 * CM_SOFT_LANES * soft->runs[r].first, 0,
               2 * CM_SOFT_LANES * (size_t)(soft->runs[r].end - soft->runs[r].first) *
                   sizeof *soft->taken);
    }
    for (uint32_t i = 0; i < contacts; i++) {
        __builtin_prefetch(&scratch->manifolds[i + 2 * AHEAD].body_a);
        __builtin_prefetch(&scratch->manifolds[i + 2 * AHEAD].point_count);
        if (far && i + AHEAD < contacts && scratch->manifolds[i + AHEAD].body_a != CM_NONE) {
            uint32_t b = scratch->manifolds[i + AHEAD].body_b;
            __builtin_prefetch(&soft->inertias[b]);
            __builtin_prefetch(&soft->taken[2 * b], 1);
        }
        if (!takes_part(soft, &scratch->manifolds[i])) {
            soft->links[i].points = 0;
            continue;
        }
        choose_bucket(soft, &scratch->manifolds[i], &soft->links[i]);
        next[soft->links[i].kind]++;
    }
    place_buckets(soft, next, start);
    uint32_t bucket = 0;
    for (uint32_t i = 0; i < soft->ranges.end; i++) {
        while (i >= start[bucket + 1]) {
            bucket++;
        }
        // Heads of groups lie far apart.
        __builtin_prefetch(&soft->groups[i + AHEAD].a, 1);
        __builtin_prefetch(&soft->groups[i + AHEAD].row, 1);
        clear_group(&soft->groups[i], soft->body_count, i >= soft->ranges.fixed_loose);
        soft->groups[i].color = bucket % HALF_BUCKETS;
    }
    uint32_t point = 0;
    for (uint32_t i = 0; i < contacts; i++) {
        cm_soft_link *link = &soft->links[i];
        if (link->points == 0) {
            point += cm_contacts(world)[i].point_count; // of what sleeps
            continue;
        }
        uint32_t place = next[link->kind]++, lane = place % CM_SOFT_WIDE;
        cm_soft_group *g = &soft->groups[place / CM_SOFT_WIDE];
        link->place = place;
        g->a[lane] = link->a * CM_SOFT_ROW;
        g->b[lane] = link->b * CM_SOFT_ROW;
        g->row[lane] = i;
        g->point[lane] = point;
        point += link->points;
        g->lanes = lane + 1 > g->lanes ? lane + 1 : g->lanes;
        g->flipped |= (uint32_t)link->flipped << lane;
        g->point_count[lane] = (float)link->points;
        g->round &= link->round;
        g->bounces |= link->bounces;
        g->rolls |= link->rolls;
        g->points = link->points > g->points ? link->points : g->points;
        if (soft->special) {
            g->special |= cm_soft_is_special(world, soft, i, &scratch->manifolds[i]);
            g->round &= !g->special;
        }
    }
}
