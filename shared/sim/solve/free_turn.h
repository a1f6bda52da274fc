// A body that turns by itself keeps its angular momentum. For the impulse and the lcp solver.
// Private to shared/sim/solve.
//
// The body turns with the angular velocity that its momentum has at half the turn, so its energy
// stays to second order, and does not drift. In 6,000 ticks of 60 Hz the momentum moves by 6e-6 of
// itself and the energy by 3e-4 at 2 to 5 rad/s and 2.2e-3 at 20: poses are rounded to binary32.
// That velocity is a fixed point; a round leaves a part |w| h / 2 of the error, and what is left
// drives the energy on, so fast turns take more of them.
#ifndef CM_SIM_SOLVE_FREE_TURN_H
#define CM_SIM_SOLVE_FREE_TURN_H

#include "shared/base/dvec.h"
#include "shared/base/mathf.h"
#include "shared/sim/state/image.h"

#define CM_FREE_TURN_LEAST 1.0e-12 // of the momentum: a turn of it by less in a step is none

// exp(w h) q, exact for any angle.
static inline cm_dquat cm_turn(cm_dquat q, cm_d3 w, double h)
{
    double rate = cm_d3_length(w), half = 0.5 * rate * h;
    double s = rate * h > 1.0e-9 ? cm_sin(half) / rate : 0.5 * h;
    cm_dquat turn = {s * w.x, s * w.y, s * w.z, cm_cos(half)};
    return cm_dquat_unit(cm_dquat_mul(turn, q));
}

// Rounds of the fixed point: enough that what is left in 6,000 ticks is the rounding of poses.
static inline uint32_t cm_turn_rounds(double angle)
{
    return angle < 0.03 ? 1 : angle < 0.1 ? 3 : 6;
}

typedef struct cm_free_turn {
    cm_dquat orientation; // at the end
    cm_d3 middle, end;    // rad/s, world axes: the body turns with the first and has the second
} cm_free_turn;

static inline cm_free_turn cm_turn_freely(const cm_body *body, cm_dquat q, cm_d3 w, double h)
{
    cm_dquat own = cm_dquat_from(body->inertia_orientation);
    cm_d3 i = cm_d3_from(body->inertia);
    cm_dmat axes = cm_dmat_from_quat(cm_dquat_unit(cm_dquat_mul(q, own)));
    cm_d3 p = cm_dmat_mul_transpose(&axes, w);
    cm_d3 l = cm_d3_of(i.x * p.x, i.y * p.y, i.z * p.z), bent = cm_d3_cross(p, l);
    if (h * h * cm_d3_dot(bent, bent) <=
        CM_FREE_TURN_LEAST * CM_FREE_TURN_LEAST * cm_d3_dot(l, l)) {
        return (cm_free_turn){cm_turn(q, w, h), w, w}; // about a principal axis
    }
    cm_d3 momentum = cm_dmat_mul(&axes, l);
    cm_free_turn turn = {cm_turn(q, w, 0.5 * h), w, w};
    uint32_t rounds = cm_turn_rounds(h * cm_d3_length(w));
    for (uint32_t round = 0; round <= rounds; round++) {
        axes = cm_dmat_from_quat(cm_dquat_unit(cm_dquat_mul(turn.orientation, own)));
        p = cm_dmat_mul_transpose(&axes, momentum);
        turn.end = cm_dmat_mul(&axes, cm_d3_of(p.x / i.x, p.y / i.y, p.z / i.z));
        if (round < rounds) {
            turn.middle = turn.end;
            turn.orientation = cm_turn(q, turn.middle, round + 1 < rounds ? 0.5 * h : h);
        }
    }
    return turn;
}

// A body that rows turn has to turn with the velocity that they were solved for. That velocity
// stands halfway through the step: the momentum is I w with the axes as they are then. Forces act
// between two such velocities, at the poses, as in a leapfrog: the scheme is its own reverse.
// Momentum and energy swing with |w| h, and drift by the second order of it.
typedef struct cm_halfway_turn {
    cm_d3 now, middle; // rad/s, world axes: what the momentum is, here and half a turn from here
} cm_halfway_turn;

#define CM_HALFWAY_ROUNDS 2 // each leaves a part |w| h / 2 of the error

// Of a momentum: its angular velocity, with the axes as they are after half a step with `turn`.
static inline cm_d3 cm_velocity_after(const cm_dmat *axes, cm_d3 inertia, cm_d3 momentum,
                                      cm_d3 turn, double h)
{
    const cm_dquat none = {0.0, 0.0, 0.0, 1.0};
    cm_dmat half = cm_dmat_from_quat(cm_turn(none, turn, 0.5 * h));
    cm_d3 p = cm_dmat_mul_transpose(axes, cm_dmat_mul_transpose(&half, momentum));
    p = cm_dmat_mul(axes, cm_d3_of(p.x / inertia.x, p.y / inertia.y, p.z / inertia.z));
    return cm_dmat_mul(&half, p);
}

// axes: principal, in the world, at the pose. w stands halfway through the step before.
static inline cm_halfway_turn cm_turn_halfway(const cm_dmat *axes, cm_d3 inertia, cm_d3 w, double h)
{
    cm_d3 p = cm_dmat_mul_transpose(axes, w);
    cm_d3 l = cm_d3_of(inertia.x * p.x, inertia.y * p.y, inertia.z * p.z), bent = cm_d3_cross(p, l);
    cm_halfway_turn turn = {w, w};
    if (h * h * cm_d3_dot(bent, bent) <=
        CM_FREE_TURN_LEAST * CM_FREE_TURN_LEAST * cm_d3_dot(l, l)) {
        return turn; // about a principal axis
    }
    // Half a turn back, where w was, the momentum was I w of the axes there.
    cm_dmat half = cm_dmat_from_quat(cm_turn((cm_dquat){0.0, 0.0, 0.0, 1.0}, w, 0.5 * h));
    cm_d3 momentum = cm_dmat_mul_transpose(&half, cm_dmat_mul(axes, l));
    p = cm_dmat_mul_transpose(axes, momentum);
    turn.now = cm_dmat_mul(axes, cm_d3_of(p.x / inertia.x, p.y / inertia.y, p.z / inertia.z));
    turn.middle = turn.now;
    for (int i = 0; i < CM_HALFWAY_ROUNDS; i++) {
        turn.middle = cm_velocity_after(axes, inertia, momentum, turn.middle, h);
    }
    return turn;
}

// False where angular velocity and momentum are along one another, or not all turns are free, or
// the world's solver turns as its source does.
static inline bool cm_turns_freely(const carom_world *world, const cm_body *body, uint32_t locks)
{
    bool round = body->inertia.x == body->inertia.y && body->inertia.y == body->inertia.z;
    return body->type == CAROM_BODY_DYNAMIC && !round && locks >> 3 == 0 &&
           (world->state.flags & CM_WORLD_OWN_ROTATION) == 0;
}

#endif
