// Integration `energy` of the lcp solver: mechanisms that nothing touches keep their energy.
//
// A step projects velocities onto what the joints allow at its start, and what of them is across is
// lost: (w h)^2 / 2 of what swings with w, each step. Joints do no work (d'Alembert): so what their
// rigid rows did in the step, W = h sum lambda J (v + v') / 2, and what turning did, goes back to
// the motion that is left, by a factor s:
//
//   v' = u + s (v' - u)      s^2 = 1 - W / T(v' - u)
//
// u is the motion of the whole as if it were rigid, where the mechanism hangs on nothing, so that
// momentum and angular momentum stay; else 0. Both are allowed by all joints, and so is v'.
// Springs, motors and damping take and give as by default, and so does a mechanism that something
// touches or that something kinematic moves. Typical: 20 bodies, s = 1.0005.
#include "shared/sim/solve/lcp/lcp.h"
#include <string.h>

#define MOST 1.5 // s^2, of a step

// Mechanisms
// -----------------------------------------------------------------------------------------

static cm_lcp_sum *sum_of(cm_lcp_step *step, uint32_t slot)
{
    return &step->sums[cm_island_root(step->parents, slot)];
}

// Marks bodies that are not left to themselves, and those that hang on something.
static void mark(cm_lcp_step *step)
{
    const carom_world *world = step->world;
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_manifold *m = &step->scratch->manifolds[i];
        if (m->body_a != CM_NONE && m->point_count > 0) {
            sum_of(step, m->body_a)->touched = true;
            sum_of(step, m->body_b)->touched = true;
        }
    }
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        bool a = cm_lcp_can_move(world, joint->body_a), b = cm_lcp_can_move(world, joint->body_b);
        if (cm_joint_holds(joint) && a != b) {
            uint32_t other = a ? joint->body_b : joint->body_a;
            cm_lcp_sum *sum = sum_of(step, a ? joint->body_a : joint->body_b);
            sum->hangs = true;
            sum->touched |= other != CM_NONE && step->bodies[other].moving;
        }
    }
}

// Motion
// ---------------------------------------------------------------------------------------------

static cm_d3 after_v(const cm_lcp_step *step, const cm_lcp_body *row)
{
    return cm_d3_mad(row->free_v, step->h, row->dv);
}

static cm_d3 after_w(const cm_lcp_step *step, const cm_lcp_body *row)
{
    return cm_d3_mad(row->free_w, step->h, row->dw);
}

// The inertia of a body about its centre, times w, in world axes.
static cm_d3 momentum_of(const cm_lcp_step *step, uint32_t slot, cm_d3 w)
{
    const cm_body *body = &cm_bodies(step->world)[slot];
    cm_dquat own = cm_dquat_from(body->inertia_orientation);
    cm_dmat axes = cm_lcp_axes(cm_dquat_unit(cm_dquat_mul(step->bodies[slot].orientation, own)));
    cm_d3 i = cm_d3_from(body->inertia), p = cm_dmat_mul_transpose(&axes, w);
    return cm_dmat_mul(&axes, cm_d3_of(i.x * p.x, i.y * p.y, i.z * p.z));
}

// Adds the work of rigid rows, J.
static void add_work(cm_lcp_step *step)
{
    for (uint32_t i = 0; i < step->row_count; i++) {
        const cm_lcp_row *row = &step->rows[i];
        double speed = 0.0;
        for (uint32_t k = 0; row->rigid && k < row->sides; k++) {
            const cm_lcp_side *side = cm_lcp_row_at(step, row, k);
            const cm_lcp_body *body = &step->bodies[side->body];
            cm_d3 v = cm_d3_add(body->v, after_v(step, body));
            cm_d3 w = cm_d3_add(body->turned, after_w(step, body));
            speed += side->j[0] * v.x + side->j[1] * v.y + side->j[2] * v.z + side->j[3] * w.x +
                     side->j[4] * w.y + side->j[5] * w.z;
        }
        if (row->rigid) {
            sum_of(step, row->side[0].body)->work += 0.5 * step->h * row->lambda * speed;
        }
    }
}

// Adds what free turns did to the energy of bodies, J: nothing, if steps were short.
static void add_turns(cm_lcp_step *step)
{
    for (uint32_t i = 0; i < step->world->state.body_slots; i++) {
        const cm_lcp_body *row = &step->bodies[i];
        if (row->dynamic) {
            cm_d3 w = cm_d3_from(cm_motions(step->world)[i].angular_velocity);
            double more = cm_d3_dot(row->turned, momentum_of(step, i, row->turned));
            sum_of(step, i)->work += 0.5 * (more - cm_d3_dot(w, momentum_of(step, i, w)));
        }
    }
}

// Masses and momenta of mechanisms; `about`: angular momentum and inertia about their centres.
static void add_momenta(cm_lcp_step *step, bool about)
{
    for (uint32_t i = 0; i < step->world->state.body_slots; i++) {
        const cm_lcp_body *row = &step->bodies[i];
        if (!row->dynamic) {
            continue;
        }
        cm_lcp_sum *sum = sum_of(step, i);
        double m = (double)cm_bodies(step->world)[i].mass;
        cm_d3 v = after_v(step, row), w = after_w(step, row);
        if (!about) {
            sum->mass += m;
            sum->center = cm_d3_mad(sum->center, m, row->position);
            sum->momentum = cm_d3_mad(sum->momentum, m, v);
            continue;
        }
        cm_d3 r = cm_d3_sub(row->position, cm_d3_scale(1.0 / sum->mass, sum->center));
        cm_d3 spin = cm_d3_mad(momentum_of(step, i, w), m, cm_d3_cross(r, v));
        sum->angular = cm_d3_add(sum->angular, spin);
        for (uint32_t k = 0; k < 3; k++) {
            cm_d3 e = cm_d3_of(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
            cm_d3 of = cm_d3_mad(momentum_of(step, i, e), m, cm_d3_cross(r, cm_d3_cross(e, r)));
            cm_d3 *column = k == 0 ? &sum->inertia.x : k == 1 ? &sum->inertia.y : &sum->inertia.z;
            *column = cm_d3_add(*column, of);
        }
    }
}

// The whole as if it were rigid: V and W of a mechanism that hangs on nothing.
static void find_rigid(cm_lcp_step *step)
{
    bool planar = (step->world->state.flags & CM_WORLD_PLANAR) != 0;
    for (uint32_t i = 0; i < step->world->state.body_slots; i++) {
        cm_lcp_sum *sum = &step->sums[i];
        if (!(sum->mass > 0.0) || sum->hangs) {
            continue;
        }
        sum->v = cm_d3_scale(1.0 / sum->mass, sum->momentum);
        if (planar) {
            sum->w = cm_d3_of(0.0, 0.0, sum->angular.z / sum->inertia.z.z);
        } else {
            cm_dmat inverse = cm_dmat_inverse(&sum->inertia);
            sum->w = cm_dmat_mul(&inverse, sum->angular);
        }
    }
}

// The body's motion less that of the whole.
static void take_rigid(const cm_lcp_step *step, const cm_lcp_sum *sum, const cm_lcp_body *row,
                       cm_d3 *v, cm_d3 *w)
{
    cm_d3 r = cm_d3_sub(row->position, cm_d3_scale(1.0 / sum->mass, sum->center));
    *v = cm_d3_sub(after_v(step, row), cm_d3_add(sum->v, cm_d3_cross(sum->w, r)));
    *w = cm_d3_sub(after_w(step, row), sum->w);
}

void cm_lcp_keep_energy(cm_lcp_step *step)
{
    uint32_t bodies = step->world->state.body_slots;
    memset(step->sums, 0, bodies * sizeof *step->sums);
    cm_lcp_find_mechanisms(step);
    mark(step);
    add_work(step);
    add_turns(step);
    add_momenta(step, false);
    add_momenta(step, true);
    find_rigid(step);
    for (uint32_t i = 0; i < bodies; i++) {
        if (step->bodies[i].dynamic) {
            cm_lcp_sum *sum = sum_of(step, i);
            cm_d3 v, w;
            take_rigid(step, sum, &step->bodies[i], &v, &w);
            double m = (double)cm_bodies(step->world)[i].mass;
            sum->energy += 0.5 * (m * cm_d3_dot(v, v) + cm_d3_dot(w, momentum_of(step, i, w)));
        }
    }
    for (uint32_t i = 0; i < bodies; i++) {
        cm_lcp_body *row = &step->bodies[i];
        const cm_lcp_sum *sum = sum_of(step, i);
        if (!row->dynamic || sum->touched || sum->work == 0.0 || !(sum->energy > 0.0)) {
            continue;
        }
        double square = 1.0 - sum->work / sum->energy;
        square = square < 0.0 ? 0.0 : square > MOST ? MOST : square;
        cm_d3 v, w;
        take_rigid(step, sum, row, &v, &w);
        double more = (__builtin_sqrt(square) - 1.0) / step->h;
        row->dv = cm_d3_mad(row->dv, more, v);
        row->dw = cm_d3_mad(row->dw, more, w);
    }
}
