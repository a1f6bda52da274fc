// Contacts of the soft-step solver, on their way into the lanes and out of them.
//
// Anchors stay as they were at the start of the tick but turn with their bodies; the separation
// follows from the bodies' motion since then. A gap lets bodies approach to the surface and no
// further; an overlap is pushed out by a soft constraint, whose push the relax pass takes out of
// the velocity again. Friction acts at one centre, that of the pressure of the last tick, in both
// tangents at once and as a twist about the normal. Typical: 3,500 contacts of 1 to 4 points.
#include "shared/sim/solve/soft.h"

#include <stddef.h>
#include <string.h>

#define REST_OVERLAP 0.00025f // m; what rests is pushed out to here, so that it stays in touch

// The centre of the points, from a's centre of mass: of their pressure, where there is any. Returns
// the mean distance of the points from it, weighted alike.
static float find_center(const cm_manifold *m, const cm_contact *warm, carom_vec3 *center)
{
    float sum = 0.0f, weight[CM_MANIFOLD_MAX];
    for (uint32_t k = 0; k < m->point_count; k++) {
        sum += warm->normal_impulse[k];
    }
    bool pressed = sum > CM_SOFT_TINY;
    float each = 1.0f / (pressed ? sum : (float)m->point_count), radius = 0.0f;
    *center = cm_vec(0.0f, 0.0f, 0.0f);
    for (uint32_t k = 0; k < m->point_count; k++) {
        weight[k] = pressed ? each * warm->normal_impulse[k] : each;
        *center = cm_mul_add(*center, weight[k], m->points[k].anchor_a);
    }
    for (uint32_t k = 0; k < m->point_count && m->point_count > 1; k++) {
        radius += weight[k] * cm_length(cm_sub(m->points[k].anchor_a, *center));
    }
    return radius;
}

static inline void put(float (*to)[CM_SOFT_LANES], uint32_t lane, carom_vec3 v)
{
    to[0][lane] = v.x;
    to[1][lane] = v.y;
    to[2][lane] = v.z;
}

static void pack_point(cm_soft_group *g, uint32_t lane, uint32_t k, carom_vec3 offset,
                       float separation, float impulse)
{
    g->x[k][lane] = offset.x;
    g->y[k][lane] = offset.y;
    g->separation[k][lane] = offset.z;
    g->start[k][lane] = separation;
    g->impulse[k][lane] = impulse;
}

// Normal velocity of each point before forces and impulses of this tick: what bounces.
static void pack_approach(const cm_soft *soft, const cm_manifold *m, uint32_t lane,
                          cm_soft_group *g)
{
    const cm_soft_body *a = &soft->bodies[m->body_a], *b = &soft->bodies[m->body_b];
    for (uint32_t k = 0; k < CM_MANIFOLD_MAX; k++) {
        g->largest[k][lane] = 0.0f;
        g->approach[k][lane] = 0.0f;
        if (k < m->point_count) {
            carom_vec3 va = cm_add(a->v, cm_cross(a->w, m->points[k].anchor_a));
            carom_vec3 vb = cm_add(b->v, cm_cross(b->w, m->points[k].anchor_b));
            g->approach[k][lane] = cm_dot(cm_sub(vb, va), m->normal);
        }
    }
}

static void pack_lane(const carom_world *world, const cm_scratch *scratch, const cm_soft *soft,
                      uint32_t lane, cm_soft_group *g)
{
    const cm_manifold *m = &scratch->manifolds[g->row[lane]];
    const cm_contact *warm = cm_contacts(world) + g->row[lane];
    bool flipped = g->flipped >> lane & 1u;
    float sign = flipped ? -1.0f : 1.0f;
    carom_vec3 center, b_to_a = cm_sub(m->points[0].anchor_b, m->points[0].anchor_a);
    g->radius[lane] = find_center(m, warm, &center);
    carom_vec3 center_b = cm_add(center, b_to_a);
    put(g->ra, lane, flipped ? center_b : center);
    put(g->rb, lane, flipped ? center : center_b);
    put(g->normal, lane, cm_scale(sign, m->normal));
    put(g->world_push, lane, cm_scale(sign, warm->friction_impulse));
    g->push[2][lane] = warm->twist_impulse;
    g->friction[lane] = m->friction;
    g->restitution[lane] = m->restitution;
    g->total[lane] = 0.0f;
    for (uint32_t k = 0; k < CM_MANIFOLD_MAX; k++) {
        bool used = k < m->point_count;
        g->effective[k][lane] = used ? 1.0f : 0.0f;
        if (used) {
            pack_point(g, lane, k, cm_sub(m->points[k].anchor_a, center),
                       m->points[k].separation + REST_OVERLAP, warm->normal_impulse[k]);
        } else {
            pack_point(g, lane, k, cm_vec(0.0f, 0.0f, 0.0f), 0.0f, 0.0f);
        }
    }
    if (g->bounces) {
        pack_approach(soft, m, lane, g);
    }
}

// An unused lane: at rest, without mass, and with a normal of unit length.
static void clear_lanes(cm_soft_group *g)
{
    memset(g->normal, 0, sizeof *g - offsetof(cm_soft_group, normal));
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        g->normal[1][lane] = 1.0f;
    }
}

// A row of a group further on, which stands anywhere among the contacts: asked for in time. The
// group after the last is as large as any, and what it names is only looked for.
static inline void fetch_row(const carom_world *world, const cm_scratch *scratch, uint32_t row)
{
    if (row != CM_NONE) {
        const char *manifold = (const char *)&scratch->manifolds[row];
        __builtin_prefetch(manifold);
        __builtin_prefetch(manifold + CM_CACHE_LINE);
        __builtin_prefetch(manifold + sizeof(cm_manifold) - 1);
        __builtin_prefetch(&cm_contacts(world)[row].normal_impulse[0], 1);
    }
}

void cm_soft_pack(const carom_world *world, const cm_scratch *scratch, cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->ranges.end; i++) {
        cm_soft_group *g = &soft->groups[i];
        const cm_soft_group *next = i + 1 < soft->ranges.end ? g + 1 : g;
        if (g->row[CM_SOFT_LANES - 1] == CM_NONE) {
            clear_lanes(g);
        }
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->row[lane] != CM_NONE; lane++) {
            fetch_row(world, scratch, next->row[lane]);
            pack_lane(world, scratch, soft, lane, g);
        }
    }
}

void cm_soft_run(cm_soft *soft, cm_soft_kind kind)
{
    const cm_soft_ranges *r = &soft->ranges;
    soft->single->run[kind](soft, r->moving_loose, r->moving);
    soft->passes->run[kind](soft, r->moving, r->fixed_loose);
    soft->single->run[kind](soft, r->fixed_loose, r->fixed);
    soft->passes->run[kind](soft, r->fixed, r->end);
}

// An impulse that is not finite comes from a body that is put to rest: it must not return as warm
// start. A tiny one would become denormal.
static float stored(float impulse)
{
    return cm_is_finite(impulse) && cm_abs(impulse) >= CM_SOFT_TINY ? impulse : 0.0f;
}

void cm_soft_store_contacts(carom_world *world, cm_scratch *scratch, const cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->ranges.end; i++) {
        const cm_soft_group *g = &soft->groups[i], *next = i + 1 < soft->ranges.end ? g + 1 : g;
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->row[lane] != CM_NONE; lane++) {
            if (next->row[lane] != CM_NONE) {
                __builtin_prefetch(&cm_contacts(world)[next->row[lane]], 1);
                __builtin_prefetch(&cm_contacts(world)[next->row[lane]].twist_impulse, 1);
                __builtin_prefetch(&scratch->manifolds[next->row[lane]].impulse, 1);
            }
            cm_contact *contact = cm_contacts(world) + g->row[lane];
            for (uint32_t k = 0; k < contact->point_count; k++) {
                contact->normal_impulse[k] = stored(g->impulse[k][lane]);
            }
            float sign = g->flipped >> lane & 1u ? -1.0f : 1.0f;
            contact->friction_impulse =
                cm_vec(stored(sign * g->world_push[0][lane]), stored(sign * g->world_push[1][lane]),
                       stored(sign * g->world_push[2][lane]));
            contact->twist_impulse = stored(g->push[2][lane]);
            scratch->manifolds[g->row[lane]].impulse = stored(g->total[lane]);
        }
    }
}
