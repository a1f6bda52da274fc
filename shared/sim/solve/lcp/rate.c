// Substeps of a tick of the lcp solver, where the world leaves them open: 1, and more where joints
// carry much by light bodies.
//
// A force F at an arm r from the centre of a body of inertia I turns it back as a spring would,
// with w^2 = F r / I: 12 F / (m L) for a rod between two joints, F / (m L) for a mass on a string.
// A step takes F in the direction that it has at its start, so it flings what turns by w h > 2. F
// is the weight of the whole mechanism, if it hangs on something that nothing moves, and w h at
// most 1/2: what swings pulls three times as hard. The forces themselves would be nearer, but steps
// that change with them feed the swing (a chain gained its own height in 20 s). Substeps are a
// power of two. Typical: 1; a chain of 20 at 60 Hz 4, 8 with a load of 100 of its links, 16 with
// 1000.
#include "shared/sim/solve/lcp/lcp.h"
#include "shared/sim/state/wake.h"

#define MOST            16u
#define LEAST_OF_ENERGY 4u
#define ENDS            2.0 // joints that pull at a body, of which each is looked at by itself
#define SMOOTH          0.5 // w h

// Largest w^2 of a force of 1 N at `anchor`; the arm resists a turn about itself by no lever.
static double rate_at(const carom_world *world, uint32_t slot, carom_vec3 anchor)
{
    if (slot == CM_NONE) {
        return 0.0;
    }
    const cm_body *body = &cm_bodies(world)[slot];
    double arm = cm_d3_length(cm_d3_from(anchor));
    if (body->type != CAROM_BODY_DYNAMIC || cm_body_is_asleep(body) || !(arm > 0.0)) {
        return 0.0;
    }
    cm_dmat axes = cm_dmat_from_quat(cm_dquat_unit(cm_dquat_from(body->inertia_orientation)));
    cm_d3 u = cm_d3_scale(1.0 / arm, cm_dmat_mul_transpose(&axes, cm_d3_from(anchor)));
    cm_d3 i = cm_d3_from(body->inertia);
    double most = (1.0 - u.x * u.x) / i.x;
    most = cm_d_max(most, (1.0 - u.y * u.y) / i.y);
    most = cm_d_max(most, (1.0 - u.z * u.z) / i.z);
    return arm * most;
}

bool cm_lcp_can_move(const carom_world *world, uint32_t slot)
{
    const cm_body *body = slot != CM_NONE ? &cm_bodies(world)[slot] : NULL;
    return body != NULL && body->alive && body->type == CAROM_BODY_DYNAMIC;
}

static double inverse_mass(const carom_world *world, uint32_t slot)
{
    return cm_lcp_can_move(world, slot) ? 1.0 / (double)cm_bodies(world)[slot].mass : 0.0;
}

void cm_lcp_find_mechanisms(cm_lcp_step *step)
{
    const carom_world *world = step->world;
    cm_islands_begin(step->parents, world->state.body_slots);
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (cm_joint_holds(joint) && cm_lcp_can_move(world, joint->body_a) &&
            cm_lcp_can_move(world, joint->body_b)) {
            cm_islands_unite(step->parents, joint->body_a, joint->body_b);
        }
    }
}

// The weight of each mechanism, N, at its root; of one that hangs on nothing 0.
static void weigh(cm_lcp_step *step)
{
    const carom_world *world = step->world;
    const cm_world_state *state = &world->state;
    double g = cm_d3_length(cm_d3_from(state->gravity));
    cm_lcp_find_mechanisms(step);
    for (uint32_t i = 0; i < state->body_slots; i++) {
        step->bodies[i].weight = 0.0;
        step->bodies[i].hangs = 0;
    }
    for (uint32_t i = 0; i < state->joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        bool a = cm_lcp_can_move(world, joint->body_a), b = cm_lcp_can_move(world, joint->body_b);
        if (cm_joint_holds(joint) && a != b) {
            uint32_t slot = a ? joint->body_a : joint->body_b;
            step->bodies[cm_island_root(step->parents, slot)].hangs = 1;
        }
    }
    for (uint32_t i = 0; i < state->body_slots; i++) {
        const cm_body *body = &cm_bodies(world)[i];
        cm_lcp_body *root = &step->bodies[cm_island_root(step->parents, i)];
        if (cm_lcp_can_move(world, i) && root->hangs) {
            root->weight += g * cm_d_abs((double)body->gravity_scale) * (double)body->mass;
        }
    }
}

// The largest w^2 of a joint.
static double rate_of(cm_lcp_step *step, const cm_joint *joint)
{
    const carom_world *world = step->world;
    double a = rate_at(world, joint->body_a, joint->anchor_a);
    double b = rate_at(world, joint->body_b, joint->anchor_b), rate = cm_d_max(a, b);
    if (joint->type == CAROM_JOINT_DISTANCE && joint->rest > 0.0f) {
        double mass = inverse_mass(world, joint->body_a) + inverse_mass(world, joint->body_b);
        rate = cm_d_max(rate, mass / (double)joint->rest);
    }
    uint32_t slot = cm_lcp_can_move(world, joint->body_b) ? joint->body_b : joint->body_a;
    return slot == CM_NONE ? 0.0
                           : ENDS * rate * step->bodies[cm_island_root(step->parents, slot)].weight;
}

uint32_t cm_lcp_substeps(cm_lcp_step *step)
{
    const cm_world_state *state = &step->world->state;
    if (state->substeps > 0 || state->joint_slots == 0) {
        return state->substeps > 0 ? state->substeps : 1;
    }
    weigh(step);
    double most = 0.0;
    for (uint32_t i = 0; i < state->joint_slots; i++) {
        const cm_joint *joint = &cm_joints(step->world)[i];
        if (cm_joint_holds(joint)) {
            most = cm_d_max(most, rate_of(step, joint));
        }
    }
    double steps = __builtin_sqrt(most) / (SMOOTH * (double)state->tick_rate);
    uint32_t n = state->flags & CM_WORLD_ENERGY ? LEAST_OF_ENERGY : 1;
    while (n < MOST && (double)n < steps) {
        n *= 2;
    }
    return n;
}
