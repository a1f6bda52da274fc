// The speed of a hit is that of the two shapes towards each other at the points of contact, where
// they approach the fastest, as the tick found them. A pair that presses does not approach, so it
// hits nothing, however hard; one that already touches may hit again (a box that falls over). In
// lcp and volume worlds contacts yield, and stop a body over several ticks: there a pair hits where
// it begins to touch, with what the rest of that tick pushes.
//
// Kept in order of the pairs: a solver may report more than once a tick (report.h). Of more than
// limits.contacts the last are left out. Typical: none; ten where a wall falls.
#include "shared/sim/solve/hits.h"

#include <string.h>

static cm_before *before_of(const carom_world *world, const cm_scratch *scratch)
{
    return (cm_before *)((carom_hit_event *)scratch->hits + world->limits.contacts);
}

size_t cm_hits_size(const carom_limits *limits, float hit_speed)
{
    return hit_speed > 0.0f
               ? limits->contacts * sizeof(carom_hit_event) + limits->bodies * sizeof(cm_before)
               : 0;
}

const carom_hit_event *cm_hits(const cm_scratch *scratch)
{
    return scratch->hits;
}

void cm_hits_begin(carom_world *world, cm_scratch *scratch)
{
    const cm_motion *motions = cm_motions(world);
    cm_before *before = before_of(world, scratch);
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        before[i] = (cm_before){motions[i].linear_velocity, motions[i].angular_velocity};
    }
}

static carom_vec3 velocity_at(const cm_before *before, carom_vec3 arm)
{
    return cm_add(before->linear, cm_cross(before->angular, arm));
}

static float approach(const cm_manifold *manifold, const cm_before *a, const cm_before *b)
{
    float most = 0.0f;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        const cm_manifold_point *point = &manifold->points[i];
        carom_vec3 apart = cm_sub(velocity_at(b, point->anchor_b), velocity_at(a, point->anchor_a));
        most = cm_max(most, -cm_dot(apart, manifold->normal));
    }
    return most;
}

static int order(const carom_hit_event *hit, const cm_contact *contact)
{
    if (hit->shape_a.index != contact->shape_a) {
        return hit->shape_a.index < contact->shape_a ? -1 : 1;
    }
    return hit->shape_b.index < contact->shape_b ? -1 : hit->shape_b.index > contact->shape_b;
}

static carom_hit_event describe(const carom_world *world, const cm_contact *contact,
                                const cm_manifold *manifold, float speed)
{
    const cm_shape *a = cm_shapes(world) + contact->shape_a;
    const cm_shape *b = cm_shapes(world) + contact->shape_b;
    const cm_body *bodies = cm_bodies(world);
    carom_vec3 sum = cm_vec(0.0f, 0.0f, 0.0f);
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        sum = cm_add(sum, manifold->points[i].anchor_a);
    }
    carom_hit_event hit;
    memset(&hit, 0, sizeof hit);
    hit.body_a = (carom_body_id){a->body, bodies[a->body].generation};
    hit.body_b = (carom_body_id){b->body, bodies[b->body].generation};
    hit.shape_a = (carom_shape_id){contact->shape_a, a->generation};
    hit.shape_b = (carom_shape_id){contact->shape_b, b->generation};
    hit.point =
        cm_mul_add(cm_motions(world)[a->body].position, 1.0f / (float)manifold->point_count, sum);
    hit.normal = manifold->normal;
    hit.speed = speed;
    hit.impulse = manifold->impulse;
    return hit;
}

void cm_hits_note(carom_world *world, cm_scratch *scratch, const cm_contact *contact,
                  const cm_manifold *manifold, bool begins)
{
    carom_hit_event *hits = scratch->hits;
    uint32_t at = world->hit_event_count;
    while (at > 0 && order(&hits[at - 1], contact) >= 0) {
        at--;
    }
    bool known = at < world->hit_event_count && order(&hits[at], contact) == 0;
    if (known) {
        hits[at].impulse += manifold->impulse;
        return;
    }
    const cm_shape *shapes = cm_shapes(world);
    const cm_before *before = before_of(world, scratch);
    float speed = approach(manifold, &before[shapes[contact->shape_a].body],
                           &before[shapes[contact->shape_b].body]);
    uint32_t solver = world->state.solver;
    bool yields = solver == CAROM_SOLVER_LCP || solver == CAROM_SOLVER_VOLUME;
    if (speed < world->hit_speed || manifold->impulse <= 0.0f || (yields && !begins) ||
        world->hit_event_count == world->limits.contacts) {
        return;
    }
    memmove(&hits[at + 1], &hits[at], (world->hit_event_count - at) * sizeof *hits);
    hits[at] = describe(world, contact, manifold, speed);
    world->hit_event_count++;
}
