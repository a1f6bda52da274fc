// Copies of a world's bodies and shapes for pictures. Impulses come from momentum, not from any
// solver's rows, so that they mean the same for each solver.
#include "server/tools/plot/moment.h"

#include <stdlib.h>
#include <string.h>

carom_result cm_before_take(const cm_offline *run, cm_before *before)
{
    uint32_t count = carom_world_body_slots(run->world);
    cm_before_free(before);
    before->velocity = calloc(count + 1, sizeof *before->velocity);
    if (before->velocity == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    before->count = count;
    for (uint32_t slot = 0; slot < count; slot++) {
        carom_body_state state;
        if (carom_body_get(run->world, carom_world_body_at(run->world, slot), &state) == CAROM_OK) {
            before->velocity[slot] = state.linear_velocity;
        }
    }
    return CAROM_OK;
}

void cm_before_free(cm_before *before)
{
    free(before->velocity);
    *before = (cm_before){NULL, 0};
}

static void find_impulse(const carom_world *world, uint32_t slot, const cm_before *before,
                         cm_moment_body *body)
{
    const carom_body_state *s = &body->state;
    carom_body_def def;
    body->point = cm_d3_from(s->center_of_mass);
    if (before == NULL || slot >= before->count || s->type != CAROM_BODY_DYNAMIC) {
        return;
    }
    double h = 1.0 / carom_world_tick_rate(world), m = (double)s->mass;
    (void)carom_body_get_def(world, carom_world_body_at(world, slot), &def); // it lives
    cm_d3 gained = cm_d3_sub(cm_d3_from(s->linear_velocity), cm_d3_from(before->velocity[slot]));
    cm_d3 held = cm_d3_mad(cm_d3_from(def.force), (double)def.gravity_scale * m,
                           cm_d3_from(carom_world_gravity(world)));
    body->impulse = cm_d3_mad(cm_d3_scale(m, gained), -h, held);
    uint32_t count = 0, mine = 0;
    const carom_contact_event *events = carom_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        const carom_contact_event *e = &events[i];
        if (e->begin && !e->sensor && (e->body_a.index == slot || e->body_b.index == slot)) {
            body->point = cm_d3_from(mine++ == 0 ? e->point : s->center_of_mass);
        }
    }
}

static void take_joints(const carom_world *world, cm_moment *moment)
{
    for (uint32_t slot = 0; slot < carom_world_joint_slots(world); slot++) {
        cm_moment_joint *joint = &moment->joints[moment->joint_count];
        carom_body_state a, b;
        if (carom_joint_get(world, carom_world_joint_at(world, slot), &joint->state) != CAROM_OK ||
            carom_body_get(world, joint->state.body_b, &b) != CAROM_OK) {
            continue;
        }
        joint->center_b = b.center_of_mass;
        bool moves = carom_body_get(world, joint->state.body_a, &a) == CAROM_OK &&
                     a.type != CAROM_BODY_STATIC;
        joint->has_a = moves;
        joint->center_a = moves ? a.center_of_mass : joint->state.anchor_a;
        moment->joint_count++;
    }
}

carom_result cm_moment_take(const cm_offline *run, const cm_before *before, cm_moment *moment)
{
    const carom_world *world = run->world;
    carom_world_stats stats;
    carom_world_stats_get(world, &stats);
    uint32_t slots = carom_world_body_slots(world), room = stats.shapes;
    memset(moment, 0, sizeof *moment);
    moment->tick = carom_world_tick(world);
    moment->time = (double)moment->tick / carom_world_tick_rate(world);
    moment->bodies = calloc(slots + 1, sizeof *moment->bodies);
    moment->shapes = calloc(room + 1, sizeof *moment->shapes);
    moment->joints = calloc(carom_world_joint_slots(world) + 1, sizeof *moment->joints);
    carom_shape_id *ids = calloc(room + 1, sizeof *ids);
    if (moment->bodies == NULL || moment->shapes == NULL || moment->joints == NULL || ids == NULL) {
        free(ids);
        cm_moment_free(moment);
        return CAROM_ERROR_MEMORY;
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        carom_body_id id = carom_world_body_at(world, slot);
        cm_moment_body *body = &moment->bodies[moment->body_count];
        if (carom_body_get(world, id, &body->state) != CAROM_OK) {
            continue;
        }
        cm_offline_body_name(run, slot, body->name, sizeof body->name);
        find_impulse(world, slot, before, body);
        body->first_shape = moment->shape_count;
        uint32_t count = carom_body_shapes(world, id, ids, room);
        for (uint32_t i = 0; i < count && i < room; i++) {
            carom_body_id owner;
            if (carom_shape_get(world, ids[i], &moment->shapes[moment->shape_count], &owner) ==
                CAROM_OK) {
                moment->shape_count++;
                body->shape_count++;
            }
        }
        moment->body_count++;
    }
    take_joints(world, moment);
    free(ids);
    return CAROM_OK;
}

void cm_moment_free(cm_moment *moment)
{
    free(moment->bodies);
    free(moment->shapes);
    free(moment->joints);
    memset(moment, 0, sizeof *moment);
}
