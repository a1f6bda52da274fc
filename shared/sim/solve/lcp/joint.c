// Rows of joints for the lcp solver: the types' own rows (joint/joint.h), as JP2003526160A uses
// them. Gamma and epsilon hold what is rigid, a spring is a gamma and an epsilon too (its appendix
// 3), a motor has a limited force, and a limit has a row only where it is passed or about to be.
//
// A limit that is not yet passed may be reached exactly: its whole gap counts, not gamma of it.
// Typical: a ragdoll's 19 joints, 60 to 95 rows.
#include "shared/sim/joint/joint.h"
#include "shared/sim/state/wake.h"
#include "shared/sim/solve/lcp/lcp.h"

#include "carom/lcp.h"

#include <string.h>

#define UNBOUNDED   1.0e29f // rows.c
#define NEAR_TURN   0.05    // rad short of a limit where its row comes in
#define NEAR_LENGTH 0.01    // m

// Stiffness and damping of a joint's spring, for a row that moves as `mobility` says.
static void spring_of(const cm_joint *joint, double mobility, double *stiffness, double *damping)
{
    *stiffness = (double)joint->spring[0];
    *damping = (double)joint->spring[1];
    if (joint->flags & CM_JOINT_SPRING_HERTZ) {
        double omega = 2.0 * 3.14159265358979323846 * (double)joint->spring[0];
        *stiffness = omega * omega / mobility;
        *damping = 2.0 * (double)joint->spring[1] * omega / mobility;
    }
}

// A limit's row is dropped while there is no way that this step reaches it.
static bool is_far(const cm_lcp_step *step, const cm_joint_row *from, const cm_lcp_row *row)
{
    double near = from->turning ? NEAR_TURN : NEAR_LENGTH, speed = cm_d_abs(row->b);
    return (double)from->error > near + 2.0 * step->h * speed;
}

// Fills in what the row wants; false where it is no row after all.
static bool fill_row(cm_lcp_step *step, const cm_joint *joint, const cm_joint_row *from,
                     cm_lcp_row *row)
{
    const cm_world_state *state = &step->world->state;
    double gamma = cm_lcp_choose(joint->gamma, state->gamma), error = (double)from->error;
    double velocity = from->kind == CM_ROW_MOTOR ? (double)from->velocity : 0.0;
    row->diagonal = cm_lcp_choose(joint->epsilon, state->epsilon);
    if (from->lower > -UNBOUNDED) {
        row->lower = (double)from->lower;
    }
    if (from->upper < UNBOUNDED) {
        row->upper = (double)from->upper;
    }
    if (from->kind == CM_ROW_SPRING) {
        double stiffness, damping;
        spring_of(joint, cm_lcp_row_mobility(step, row), &stiffness, &damping);
        if (carom_lcp_spring(step->h, stiffness, damping, &row->diagonal, &gamma) != CAROM_OK) {
            return false;
        }
        velocity = (1.0 - gamma) * (double)from->velocity;
    } else if (from->kind == CM_ROW_MOTOR) {
        error = 0.0;
    } else if (from->kind == CM_ROW_LIMIT) {
        if (is_far(step, from, row)) {
            return false;
        }
        gamma = error > 0.0 ? 1.0 : gamma;
    }
    cm_lcp_row_want(step, row, velocity, error, gamma);
    return true;
}

static uint8_t set_of(const cm_lcp_row *row)
{
    if (row->lambda <= row->lower) {
        return CM_LCP_LOWER;
    }
    return row->lambda >= row->upper ? CM_LCP_UPPER : CM_LCP_FREE;
}

static void add_joint(cm_lcp_step *step, uint32_t slot)
{
    const cm_joint *joint = &cm_joints(step->world)[slot];
    cm_joint_row rows[CM_JOINT_ROWS_MAX];
    cm_joint_pose pose;
    cm_joint_pose_get(step->world, joint, &pose);
    uint32_t count = cm_joint_kind_of(joint->type)->rows(joint, &pose, rows);
    for (uint32_t i = 0; i < count; i++) {
        const cm_joint_row *from = &rows[i];
        cm_lcp_row *row = cm_lcp_row_add(step, CM_LCP_OF_JOINT, slot, from->place);
        if (row == NULL) {
            return;
        }
        cm_d3 linear = cm_d3_from(from->linear);
        cm_lcp_row_side(step, row, joint->body_a, cm_d3_scale(-1.0, linear),
                        cm_d3_from(from->angular_a));
        cm_lcp_row_side(step, row, joint->body_b, linear, cm_d3_from(from->angular_b));
        if (!cm_lcp_row_keep(step, row)) {
            continue;
        }
        if (!fill_row(step, joint, from, row)) {
            step->row_count--;
            continue;
        }
        row->lambda = (double)joint->impulse[from->place];
        row->set = set_of(row);
        row->rigid = from->kind == CM_ROW_RIGID;
    }
}

static bool is_dynamic(const cm_lcp_step *step, uint32_t body)
{
    return body != CM_NONE && step->bodies[body].dynamic;
}

void cm_lcp_add_joints(cm_lcp_step *step)
{
    const cm_world_state *state = &step->world->state;
    for (uint32_t i = 0; i < state->body_slots; i++) {
        step->axles[i] = CM_NONE;
    }
    for (uint32_t slot = 0; slot < state->joint_slots; slot++) {
        const cm_joint *joint = &cm_joints(step->world)[slot];
        if (!cm_joint_holds(joint)) {
            continue;
        }
        if (joint->type == CAROM_JOINT_HINGE || joint->type == CAROM_JOINT_STEERING) {
            step->axles[joint->body_b] = slot;
        }
        if (is_dynamic(step, joint->body_a) || is_dynamic(step, joint->body_b)) {
            add_joint(step, slot);
        }
    }
}

// A sleeping joint keeps its impulses.
static bool sleeps(const carom_world *world, const cm_joint *joint)
{
    const cm_body *bodies = cm_bodies(world);
    return cm_body_is_asleep(&bodies[joint->body_b]) ||
           (joint->body_a != CM_NONE && cm_body_is_asleep(&bodies[joint->body_a]));
}

static float stored(double x)
{
    float f = (float)x;
    return cm_is_finite(f) && cm_abs(f) >= 1.0e-30f ? f : 0.0f;
}

// Clears what is anew; the mean of a tick of several substeps sums up.
static void clear_joints(cm_lcp_step *step, uint32_t substep)
{
    for (uint32_t slot = 0; slot < step->world->state.joint_slots; slot++) {
        cm_joint *joint = &cm_joints(step->world)[slot];
        bool holds = cm_joint_holds(joint);
        bool any = holds && (is_dynamic(step, joint->body_a) || is_dynamic(step, joint->body_b));
        if (!any && (!holds || sleeps(step->world, joint))) {
            continue;
        }
        memset(joint->impulse, 0, sizeof joint->impulse);
        if (substep == 0) {
            joint->force = joint->torque = 0.0f;
        }
    }
}

void cm_lcp_store_joints(cm_lcp_step *step, uint32_t substep)
{
    clear_joints(step, substep);
    double share = 1.0 / (double)step->substeps;
    for (uint32_t i = 0; i < step->row_count;) {
        if (step->rows[i].kind != CM_LCP_OF_JOINT) {
            break; // joints come first
        }
        uint32_t slot = step->rows[i].owner;
        cm_joint *joint = &cm_joints(step->world)[slot];
        cm_d3 force = cm_d3_of(0.0, 0.0, 0.0), torque = force;
        for (; i < step->row_count && step->rows[i].kind == CM_LCP_OF_JOINT &&
               step->rows[i].owner == slot;
             i++) {
            const cm_lcp_row *row = &step->rows[i];
            const double *j = row->side[row->sides - 1].j;
            double sign = row->side[row->sides - 1].body == joint->body_b ? 1.0 : -1.0;
            cm_d3 linear = cm_d3_of(sign * j[0], sign * j[1], sign * j[2]);
            cm_d3 angular = cm_d3_of(sign * j[3], sign * j[4], sign * j[5]);
            bool turning = linear.x == 0.0 && linear.y == 0.0 && linear.z == 0.0;
            joint->impulse[row->place] = stored(row->lambda);
            if (turning) {
                torque = cm_d3_mad(torque, row->lambda, angular);
            } else {
                force = cm_d3_mad(force, row->lambda, linear);
            }
        }
        joint->force = stored((double)joint->force + share * cm_d3_length(force));
        joint->torque = stored((double)joint->torque + share * cm_d3_length(torque));
    }
}
