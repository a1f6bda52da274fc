// See the header.
#include "client-sdk/src/placed.h"

#include <string.h>

#include "shared/base/vec.h"

#define CARRY_S    0.25f // a neighbour, from its view to the predicted tick
#define REST_SPEED 0.05f // m/s, rad/s

void cm_placed_pose(const cm_predictor *p, carom_body_id id, uint64_t tick, cm_view_pose *pose)
{
    const cm_mirror_body *mine = &p->mirror->bodies[id.index];
    carom_body_state state;
    memset(pose, 0, sizeof *pose);
    if (!mine->known) {
        if (carom_body_get(p->mirror->world, id, &state) == CAROM_OK) {
            pose->position = state.position;
            pose->orientation = state.orientation;
            pose->linear_velocity = state.linear_velocity;
            pose->angular_velocity = state.angular_velocity;
            pose->has_velocity = true;
        }
        return;
    }
    *pose = mine->pose;
    if (pose->at_rest) {
        return;
    }
    if (!pose->has_velocity) {
        cm_interp_velocity(p->interp, id, p->mirror->tick_rate, &pose->linear_velocity,
                           &pose->angular_velocity);
    }
    if (tick > mine->tick) {
        float seconds = (float)((double)(tick - mine->tick) / p->mirror->tick_rate);
        seconds = seconds > CARRY_S ? CARRY_S : seconds;
        pose->position = cm_mul_add(pose->position, seconds, pose->linear_velocity);
        pose->orientation =
            cm_quat_integrate(pose->orientation, cm_scale(seconds, pose->angular_velocity));
    }
}

bool cm_placed_rests(const cm_predictor *p, carom_body_id id)
{
    const cm_mirror_body *mine = &p->mirror->bodies[id.index];
    if (mine->known) {
        return mine->pose.at_rest;
    }
    carom_body_state state;
    return carom_body_get(p->mirror->world, id, &state) == CAROM_OK &&
           cm_length_squared(state.linear_velocity) < REST_SPEED * REST_SPEED &&
           cm_length_squared(state.angular_velocity) < REST_SPEED * REST_SPEED;
}

static carom_body_type type_of(const cm_predict_slot *slot)
{
    return slot->simulated && !slot->blocked ? (carom_body_type)slot->was : CAROM_BODY_STATIC;
}

void cm_placed_put(cm_predictor *p, carom_body_id id, uint64_t tick)
{
    cm_predict_slot *slot = &p->slots[id.index];
    cm_view_pose pose;
    cm_placed_pose(p, id, slot->simulated ? tick : 0, &pose);
    carom_body_type type = type_of(slot);
    // The id is live and a dequantised value finite: none of these can fail.
    (void)carom_body_set_type(p->world, id, type);
    (void)carom_body_set_pose(p->world, id, pose.position, pose.orientation);
    if (type != CAROM_BODY_STATIC) {
        (void)carom_body_set_velocity(p->world, id, pose.linear_velocity, pose.angular_velocity);
    }
}

static float into(float a, float middle, float half)
{
    return cm_clamp(a, middle - half, middle + half);
}

static carom_vec3 into_all(carom_vec3 a, carom_vec3 middle, float half)
{
    return cm_vec(into(a.x, middle.x, half), into(a.y, middle.y, half), into(a.z, middle.z, half));
}

// Corrects a simulated body as little as the server's value asks for: a quantised number stands for
// an interval, and what lies inside it is kept. Moving it to the middle would lift a cube off the
// ground by half a millimetre and change its friction for some ticks.
void cm_placed_pull(cm_predictor *p, carom_body_id id, uint64_t tick)
{
    cm_view_pose pose;
    carom_body_state state;
    cm_placed_pose(p, id, tick, &pose);
    if (carom_body_get(p->world, id, &state) != CAROM_OK) {
        return;
    }
    float half = 0.5f * p->mirror->config.position_step;
    carom_quat a = state.orientation, b = pose.orientation;
    float dot = cm_abs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
    carom_quat turned = 1.0f - dot > CM_PLACED_TURN ? b : a;
    (void)carom_body_set_pose(p->world, id, into_all(state.position, pose.position, half), turned);
    (void)carom_body_set_velocity(
        p->world, id,
        into_all(state.linear_velocity, pose.linear_velocity, 0.5f * CM_VIEW_LINEAR_STEP),
        into_all(state.angular_velocity, pose.angular_velocity, 0.5f * CM_VIEW_ANGULAR_STEP));
}

// A state from the ring may be from before a body was touched by hand.
void cm_placed_again(cm_predictor *p)
{
    uint32_t slots = carom_world_body_slots(p->world);
    for (uint32_t i = 0; i < slots && i < p->mirror->slots; i++) {
        cm_predict_slot *slot = &p->slots[i];
        if (slot->generation == 0 || slot->touched < cm_predictor_tick(p)) {
            continue;
        }
        carom_body_id id = {i, slot->generation};
        carom_body_state state;
        if (carom_body_get(p->world, id, &state) == CAROM_OK &&
            (!slot->simulated || state.type != type_of(slot))) {
            cm_placed_put(p, id, cm_predictor_tick(p));
        }
    }
}

bool cm_predictor_back(cm_predictor *p, uint64_t tick)
{
    bool back = cm_timeline_restore(p->timeline, tick);
    if (back) {
        cm_placed_again(p);
    }
    return back;
}
