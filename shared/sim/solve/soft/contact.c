// Contacts of the soft-step solver, group by group.
//
// Anchors stay as they were at the start of the tick but turn with their bodies; the separation
// follows from the bodies' motion since then. A gap lets bodies approach to the surface and no
// further; an overlap is pushed out by a soft constraint, whose push the relax pass takes out of
// the velocity again. Friction acts at one centre, that of the pressure of the last tick, in both
// tangents at once and as a twist about the normal. Typical: 3,500 contacts of 1 to 4 points.
#include "shared/sim/solve/soft/soft.h"

#include <string.h>

void cm_soft_match_impulses(const carom_world *world, const cm_scratch *scratch,
                            const cm_soft *soft)
{
    static const uint8_t same[CM_MANIFOLD_MAX] = {0, 1, 2, 3};
    const cm_soft_contact *old = cm_old_rows(world, CM_SECTION_soft_contact);
    const cm_soft_point *old_points = cm_old_rows(world, CM_SECTION_soft_point);
    cm_soft_point *to = soft->points;
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_contact_match *match = &scratch->matches[i];
        const cm_soft_point *from = old_points + match->first_point;
        bool known = match->row != CM_NONE;
        soft->contacts[i] = known ? old[match->row] : (cm_soft_contact){0};
        if (known && memcmp(match->point, same, sizeof same) == 0) {
            memcpy(to, from, CM_MANIFOLD_MAX * sizeof *to); // the next contact's go over the rest
        } else {
            for (uint32_t k = 0; k < CM_MANIFOLD_MAX; k++) {
                to[k].normal_impulse =
                    match->point[k] == CM_NO_POINT ? 0.0f : from[match->point[k]].normal_impulse;
            }
        }
        to += cm_contacts(world)[i].point_count;
    }
}

// The acceleration of a body by forces; of a block in which nothing moves nothing is known.
static carom_vec3 acceleration(const cm_soft *soft, uint32_t body)
{
    const cm_soft_block *block = &soft->blocks[body / CM_SOFT_LANES];
    uint32_t lane = body % CM_SOFT_LANES;
    if (!soft->busy[body / CM_SOFT_LANES]) {
        return cm_vec(0.0f, 0.0f, 0.0f);
    }
    return cm_vec(block->acceleration[0][lane], block->acceleration[1][lane],
                  block->acceleration[2][lane]);
}

// Normal velocity of each point where it meets the other surface, from before the forces and
// impulses of this tick: through the gap it falls on. Velocities are those of half a substep
// earlier, since a substep moves bodies by what they have at its end, so half a substep's fall is
// put to them.
static void pack_approach(const cm_soft *soft, const cm_manifold *m, uint32_t lane,
                          cm_soft_group *g)
{
    const cm_soft_body *a = &soft->bodies[m->body_a], *b = &soft->bodies[m->body_b];
    carom_vec3 fall = cm_sub(acceleration(soft, m->body_b), acceleration(soft, m->body_a));
    float pull = cm_dot(fall, m->normal);
    g->pull[lane] = pull;
    for (uint32_t k = 0; k < m->point_count; k++) {
        carom_vec3 va = cm_add(a->v, cm_cross(a->w, m->points[k].anchor_a));
        carom_vec3 vb = cm_add(b->v, cm_cross(b->w, m->points[k].anchor_b));
        float speed = cm_dot(cm_sub(vb, va), m->normal) + 0.5f * soft->h * pull;
        float gap = m->points[k].separation + CM_SOFT_REST_OVERLAP;
        float squared = cm_max(speed * speed - 2.0f * pull * gap, 0.0f);
        g->approach[k][lane] = speed < 0.0f ? -cm_sqrt(squared) : speed;
    }
}

void cm_soft_build_groups(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->ranges.end; i++) {
        cm_soft_group *g = &soft->groups[i];
        if (g->bounces) {
            memset(g->approach, 0, sizeof g->approach);
            memset(g->pull, 0, sizeof g->pull);
            memset(g->largest_impulse, 0, sizeof g->largest_impulse);
            for (uint32_t lane = 0; lane < CM_SOFT_WIDE && g->row[lane] != CM_NONE; lane++) {
                pack_approach(soft, &soft->manifolds[g->row[lane]], lane, g);
            }
        }
    }
}

void cm_soft_run(cm_soft *soft, cm_soft_kind kind)
{
    const cm_soft_ranges *r = &soft->ranges;
    soft->single->run[kind](soft, r->moving_loose, r->moving);
    soft->contact_passes->run[kind](soft, r->moving, r->fixed_loose);
    soft->single->run[kind](soft, r->fixed_loose, r->fixed);
    soft->contact_passes->run[kind](soft, r->fixed, r->end);
}
