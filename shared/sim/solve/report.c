// Touching flags and contact events, from the merge of last step's contacts with this one's.
//
// A contact touches where its shapes overlap or where the solver pushed in this tick: what bounces
// off between two ticks has touched too. Hysteresis: a contact goes on touching until its gap
// exceeds the linear slop. A sensor's contact has no points for the solver; its deepest one stands
// first in the manifold all the same (collide.c). Events are sorted by (shape_a, shape_b); more
// than limits.contacts are cut, in that order. A contact that ends without points left reports the
// moving body's centre, with a zero normal. A contact that was kept (cm_manifold) stays as it was.
// Typical: 10 events a tick.
#include "shared/sim/solve/report.h"

#include "shared/sim/collide/collide.h"
#include "shared/sim/solve/hits.h"

static bool is_touching(const cm_manifold *manifold, bool before)
{
    if (manifold->impulse > 0.0f) {
        return true;
    }
    float lowest = manifold->points[0].separation;
    for (uint32_t i = 1; i < manifold->point_count; i++) {
        lowest = cm_min(lowest, manifold->points[i].separation);
    }
    return lowest <= (before ? CM_LINEAR_SLOP : 0.0f);
}

static void add_event(carom_world *world, cm_scratch *scratch, const cm_contact *contact,
                      const cm_manifold *manifold, bool begin)
{
    if (world->event_count == world->limits.contacts) {
        return;
    }
    const cm_shape *a = cm_shapes(world) + contact->shape_a;
    const cm_shape *b = cm_shapes(world) + contact->shape_b;
    const cm_body *bodies = cm_bodies(world);
    carom_contact_event *event = &scratch->events[world->event_count++];
    *event = (carom_contact_event){0};
    event->body_a = (carom_body_id){a->body, bodies[a->body].generation};
    event->body_b = (carom_body_id){b->body, bodies[b->body].generation};
    event->shape_a = (carom_shape_id){contact->shape_a, a->generation};
    event->shape_b = (carom_shape_id){contact->shape_b, b->generation};
    event->begin = begin;
    event->sensor = a->sensor || b->sensor;
    if (manifold != NULL && manifold->point_count == 0) {
        event->point = cm_add(cm_motions(world)[a->body].position, manifold->points[0].anchor_a);
        event->normal = manifold->normal;
    } else if (manifold != NULL) {
        carom_vec3 sum = cm_vec(0.0f, 0.0f, 0.0f);
        for (uint32_t i = 0; i < manifold->point_count; i++) {
            sum = cm_add(sum, manifold->points[i].anchor_a);
        }
        event->point = cm_mul_add(cm_motions(world)[a->body].position,
                                  1.0f / (float)manifold->point_count, sum);
        event->normal = manifold->normal;
        event->impulse = manifold->impulse;
    } else {
        uint32_t body = bodies[a->body].type == CAROM_BODY_DYNAMIC ? a->body : b->body;
        event->point = cm_motions(world)[body].position;
    }
}

static int order(const cm_contact *a, const cm_contact *b)
{
    if (a->shape_a != b->shape_a) {
        return a->shape_a < b->shape_a ? -1 : 1;
    }
    return a->shape_b < b->shape_b ? -1 : a->shape_b > b->shape_b;
}

void cm_report_contacts(carom_world *world, cm_scratch *scratch)
{
    cm_contact *contacts = cm_contacts(world);
    const cm_contact *old_contacts = cm_old_rows(world, CM_SECTION_contact);
    uint32_t count = world->state.contact_count, touching = 0, old = 0;
    for (uint32_t i = 0; i <= count; i++) {
        // Rows of last step that have no successor come to an end.
        while (old < scratch->old_contact_count &&
               (i == count || order(&old_contacts[old], &contacts[i]) < 0)) {
            const cm_contact *gone = &old_contacts[old++];
            if (gone->touching) {
                add_event(world, scratch, gone, NULL, false);
            }
        }
        if (i == count) {
            break;
        }
        cm_contact *contact = &contacts[i];
        const cm_manifold *manifold = &scratch->manifolds[i];
        bool kept = manifold->body_a == CM_NONE, before = contact->touching != 0;
        bool now = kept ? before : is_touching(manifold, before);
        if (before != now) {
            add_event(world, scratch, contact, manifold, now);
        }
        if (world->hit_speed > 0.0f && !kept && now && manifold->point_count > 0) {
            cm_hits_note(world, scratch, contact, manifold, !before);
        }
        contact->touching = now;
        touching += now;
        while (old < scratch->old_contact_count && order(&old_contacts[old], contact) == 0) {
            old++;
        }
    }
    world->stats.touching = touching;
}
