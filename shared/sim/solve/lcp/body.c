// Bodies of the lcp solver: from the state into binary64, and back with new velocities and poses.
//
// Forces and the rotational force -w x (I w) act on the velocity of the start of the step, so rows
// see them; then the new velocity moves the pose (quasi-implicit: JP2003526160A, (10)). Where a
// body turns so far in a step that the explicit rotational force would feed it, one Newton step of
// the implicit equation stands in (E. Catto, "Numerical Methods", GDC 2015). That is the source's
// form, "quasi_implicit"; by default the change of spin keeps the angular momentum (free_turn.h),
// whether rows turn the body or not. Locked axes are rows and columns without inverse mass. What
// would not be finite is put to rest. Typical: 20 bodies.
#include "shared/sim/state/wake.h"
#include "shared/sim/solve/free_turn.h"
#include "shared/sim/solve/lcp/lcp.h"
#include "shared/sim/state/tell.h"

#define RUNAWAY   1.0e6 // m, m/s, rad/s: of one tick
#define FAST_TURN 0.25  // rad a step
#define TINY      1.0e-14

static uint32_t locks_of(const carom_world *world, const cm_body *body)
{
    bool planar = (world->state.flags & CM_WORLD_PLANAR) != 0;
    return body->locks | (planar ? CAROM_LOCK_Z | CAROM_LOCK_RX | CAROM_LOCK_RY : 0u);
}

// R diag(d) R^T
static void turned_diagonal(const cm_dmat *r, cm_d3 d, double m[6])
{
    cm_d3 x = cm_d3_scale(d.x, r->x), y = cm_d3_scale(d.y, r->y), z = cm_d3_scale(d.z, r->z);
    m[0] = x.x * r->x.x + y.x * r->y.x + z.x * r->z.x;
    m[1] = x.x * r->x.y + y.x * r->y.y + z.x * r->z.y;
    m[2] = x.x * r->x.z + y.x * r->y.z + z.x * r->z.z;
    m[3] = x.y * r->x.y + y.y * r->y.y + z.y * r->z.y;
    m[4] = x.y * r->x.z + y.y * r->y.z + z.y * r->z.z;
    m[5] = x.z * r->x.z + y.z * r->y.z + z.z * r->z.z;
}

static cm_d3 sym_mul(const double m[6], cm_d3 v)
{
    return cm_d3_of(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[1] * v.x + m[3] * v.y + m[4] * v.z,
                    m[2] * v.x + m[4] * v.y + m[5] * v.z);
}

// The inverse of the free rows and columns of an inertia in world axes; the locked ones are zero.
static void invert_free(const double m[6], uint32_t locks, double inverse[6])
{
    double a[3][3] = {{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            bool locked = (locks >> (3 + i) & 1u) || (locks >> (3 + j) & 1u);
            a[i][j] = locked ? (i == j ? 1.0 : 0.0) : a[i][j];
        }
    }
    double c0 = a[1][1] * a[2][2] - a[1][2] * a[2][1], c1 = a[1][2] * a[2][0] - a[1][0] * a[2][2];
    double c2 = a[1][0] * a[2][1] - a[1][1] * a[2][0];
    double s = 1.0 / (a[0][0] * c0 + a[0][1] * c1 + a[0][2] * c2);
    inverse[0] = s * c0;
    inverse[1] = s * (a[0][2] * a[2][1] - a[0][1] * a[2][2]);
    inverse[2] = s * (a[0][1] * a[1][2] - a[0][2] * a[1][1]);
    inverse[3] = s * (a[0][0] * a[2][2] - a[0][2] * a[2][0]);
    inverse[4] = s * (a[0][2] * a[1][0] - a[0][0] * a[1][2]);
    inverse[5] = s * (a[0][0] * a[1][1] - a[0][1] * a[1][0]);
    static const uint32_t rows[6] = {0, 0, 0, 1, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 2};
    for (uint32_t i = 0; i < 6; i++) {
        bool locked = (locks >> (3 + rows[i]) & 1u) || (locks >> (3 + columns[i]) & 1u);
        inverse[i] = locked ? 0.0 : inverse[i];
    }
}

// Change of spin, in the principal axes, by the rotational force: explicit, or one Newton step.
static cm_d3 rotational(cm_d3 w, cm_d3 i, double h)
{
    cm_d3 iw = cm_d3_of(i.x * w.x, i.y * w.y, i.z * w.z);
    cm_d3 f = cm_d3_scale(h, cm_d3_cross(w, iw));
    if (h * cm_d3_length(w) < FAST_TURN) {
        return cm_d3_of(-f.x / i.x, -f.y / i.y, -f.z / i.z);
    }
    cm_d3 c1 = cm_d3_of(i.x, h * (w.z * i.x - iw.z), h * (iw.y - w.y * i.x));
    cm_d3 c2 = cm_d3_of(h * (iw.z - w.z * i.y), i.y, h * (w.x * i.y - iw.x));
    cm_d3 c3 = cm_d3_of(h * (w.y * i.z - iw.y), h * (iw.x - w.x * i.z), i.z);
    cm_d3 c23 = cm_d3_cross(c2, c3);
    double det = cm_d3_dot(c1, c23), s = det != 0.0 ? -1.0 / det : 0.0;
    return cm_d3_of(s * cm_d3_dot(f, c23), s * cm_d3_dot(f, cm_d3_cross(c3, c1)),
                    s * cm_d3_dot(f, cm_d3_cross(c1, c2)));
}

static cm_d3 unlocked(cm_d3 v, uint32_t locks)
{
    return cm_d3_of(locks & 1u ? 0.0 : v.x, locks & 2u ? 0.0 : v.y, locks & 4u ? 0.0 : v.z);
}

// I^-1 of a momentum, at an orientation.
static cm_d3 spin_of(const cm_body *body, cm_dquat orientation, cm_d3 momentum)
{
    cm_dquat q = cm_dquat_unit(cm_dquat_mul(orientation, cm_dquat_from(body->inertia_orientation)));
    cm_dmat axes = cm_lcp_axes(q);
    cm_d3 p = cm_dmat_mul_transpose(&axes, momentum), i = cm_d3_from(body->inertia);
    return cm_dmat_mul(&axes, cm_d3_of(p.x / i.x, p.y / i.y, p.z / i.z));
}

static void load_dynamic(const cm_lcp_step *step, const cm_body *body, cm_lcp_body *row)
{
    uint32_t locks = locks_of(step->world, body);
    double h = step->h, mass = (double)body->mass;
    double linear = 1.0 / (1.0 + h * (double)body->linear_damping);
    double angular = 1.0 / (1.0 + h * (double)body->angular_damping);
    cm_d3 one = cm_d3_of(linear / mass, linear / mass, linear / mass);
    row->dynamic = 1;
    row->inverse_mass = unlocked(one, locks);
    row->v = unlocked(row->v, locks);
    row->w = unlocked(row->w, locks >> 3);

    cm_d3 force = cm_d3_add(cm_d3_from(body->force), cm_d3_from(body->applied_force));
    cm_d3 gravity =
        cm_d3_scale((double)body->gravity_scale, cm_d3_from(step->world->state.gravity));
    cm_d3 v = cm_d3_mad(row->v, h, cm_d3_mad(gravity, 1.0 / mass, force));
    row->free_v = unlocked(cm_d3_scale(linear, v), locks);

    cm_dquat q =
        cm_dquat_unit(cm_dquat_mul(row->orientation, cm_dquat_from(body->inertia_orientation)));
    cm_dmat axes = cm_lcp_axes(q);
    cm_d3 inertia = cm_d3_from(body->inertia);
    double m[6];
    turned_diagonal(&axes, inertia, m);
    invert_free(m, locks, row->inverse);
    cm_d3 torque = cm_d3_add(cm_d3_from(body->torque), cm_d3_from(body->applied_torque));
    cm_d3 kick = cm_d3_scale(h, sym_mul(row->inverse, torque)), w = row->w;
    row->end = w;
    if (!cm_turns_freely(step->world, body, locks)) {
        cm_d3 turn = rotational(cm_dmat_mul_transpose(&axes, w), inertia, h);
        row->turned = cm_d3_add(w, unlocked(cm_dmat_mul(&axes, turn), locks >> 3));
        w = cm_d3_add(row->turned, kick);
    } else if (body->flags & CM_BODY_MIDWAY) {
        cm_halfway_turn turn = cm_turn_halfway(&axes, inertia, w, h);
        row->w = turn.now;
        row->turned = turn.middle;
        w = cm_d3_add(row->turned, kick);
    } else { // half of the torque acts before the turn, half after: the momentum grows by h torque
        cm_free_turn kept = cm_turn_freely(body, row->orientation, cm_d3_mad(w, 0.5, kick), h);
        row->end = cm_d3_mad(kept.end, 0.5 * h, spin_of(body, kept.orientation, torque));
        row->middle = kept.middle;
        row->turned = w = cm_d3_mad(kept.middle, 0.5, kick);
    }
    row->free_w = cm_d3_scale(angular, w);
    for (uint32_t i = 0; i < 6; i++) {
        row->inverse[i] *= angular;
    }
}

void cm_lcp_load_bodies(cm_lcp_step *step)
{
    const cm_body *bodies = cm_bodies(step->world);
    const cm_motion *motions = cm_motions(step->world);
    for (uint32_t i = 0; i < step->world->state.body_slots; i++) {
        cm_lcp_body *row = &step->bodies[i];
        cm_d3 force = row->contact_force, torque = row->contact_torque;
        *row = (cm_lcp_body){.orientation = {0.0, 0.0, 0.0, 1.0}};
        row->contact_force = force;
        row->contact_torque = torque;
        if (!bodies[i].alive) {
            continue;
        }
        row->position = cm_d3_from(motions[i].position);
        row->orientation = cm_dquat_unit(cm_dquat_from(motions[i].orientation));
        if (bodies[i].type == CAROM_BODY_STATIC || cm_body_is_asleep(&bodies[i])) {
            continue;
        }
        row->moving = 1;
        row->v = row->free_v = cm_d3_from(motions[i].linear_velocity);
        row->w = row->free_w = cm_d3_from(motions[i].angular_velocity);
        if (bodies[i].type == CAROM_BODY_DYNAMIC) {
            load_dynamic(step, &bodies[i], row);
        }
    }
}

static bool is_bounded(cm_d3 v)
{
    return cm_d_abs(v.x) <= RUNAWAY && cm_d_abs(v.y) <= RUNAWAY && cm_d_abs(v.z) <= RUNAWAY;
}

// Decaying speeds would creep through the denormal numbers.
static cm_d3 settled(cm_d3 v)
{
    return cm_d3_of(cm_d_abs(v.x) < TINY ? 0.0 : v.x, cm_d_abs(v.y) < TINY ? 0.0 : v.y,
                    cm_d_abs(v.z) < TINY ? 0.0 : v.z);
}

// The source's first-order turn.
static cm_dquat pushed(cm_dquat q, cm_d3 w, double h)
{
    cm_dquat spin = {w.x, w.y, w.z, 0.0}, d = cm_dquat_mul(spin, q);
    q = (cm_dquat){q.x + 0.5 * h * d.x, q.y + 0.5 * h * d.y, q.z + 0.5 * h * d.z,
                   q.w + 0.5 * h * d.w};
    return cm_dquat_unit(q);
}

// The pose's turn by one step; `w` becomes what it is at the end, unless rows turned the body: what
// was solved for stays.
static cm_dquat turn_body(const cm_lcp_step *step, uint32_t slot, cm_d3 *w)
{
    const cm_lcp_body *row = &step->bodies[slot];
    const cm_body *body = &cm_bodies(step->world)[slot];
    double h = step->h, left = 1.0 / (1.0 + h * (double)body->angular_damping);
    bool midway = (body->flags & CM_BODY_MIDWAY) != 0;
    if (midway) {
        cm_body_change(step->world, slot)->flags &= (uint8_t)~CM_BODY_MIDWAY;
    }
    if (!cm_turns_freely(step->world, body, locks_of(step->world, body))) {
        return pushed(row->orientation, *w, h);
    }
    if (row->dw.x != 0.0 || row->dw.y != 0.0 || row->dw.z != 0.0) {
        cm_body_change(step->world, slot)->flags |= CM_BODY_MIDWAY;
        return cm_turn(row->orientation, *w, h);
    }
    cm_d3 middle = cm_d3_scale(left, row->middle), end = row->end;
    if (midway) { // the last that rows turned was the step before
        cm_free_turn kept = cm_turn_freely(body, row->orientation, row->w, h);
        middle = cm_d3_mad(*w, left, cm_d3_sub(kept.middle, row->turned));
        end = kept.end;
    }
    *w = settled(cm_d3_mad(*w, left, cm_d3_sub(end, row->turned)));
    return cm_turn(row->orientation, middle, h);
}

static void store_body(cm_lcp_step *step, uint32_t slot)
{
    const cm_lcp_body *row = &step->bodies[slot];
    cm_motion *motion = &cm_motions(step->world)[slot];
    double h = step->h;
    cm_d3 v = settled(cm_d3_mad(row->free_v, h, row->dv));
    cm_d3 w = settled(cm_d3_mad(row->free_w, h, row->dw));
    cm_d3 p = cm_d3_mad(row->position, h, v);
    cm_dquat q = turn_body(step, slot, &w);
    carom_vec3 position = cm_d3_round(p);
    carom_quat orientation = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
    bool sound = is_bounded(v) && is_bounded(w) && cm_vec_is_finite(position) &&
                 cm_quat_is_finite(orientation);
    if (!sound) {
        motion->linear_velocity = motion->angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
        cm_tell(step->world, CAROM_LOG_BODY_PUT_TO_REST, slot, 1);
        return;
    }
    motion->position = position;
    motion->orientation = orientation;
    motion->linear_velocity = cm_d3_round(v);
    motion->angular_velocity = cm_d3_round(w);
}

static carom_vec3 stored_mean(cm_d3 sum, uint32_t substeps)
{
    carom_vec3 mean = cm_d3_round(cm_d3_scale(1.0 / (double)substeps, settled(sum)));
    return cm_vec_is_finite(mean) ? mean : cm_vec(0.0f, 0.0f, 0.0f);
}

void cm_lcp_store_bodies(cm_lcp_step *step, bool last)
{
    carom_world *world = step->world;
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const cm_body *body = &cm_bodies(world)[i];
        const cm_lcp_body *row = &step->bodies[i];
        if (row->moving) {
            store_body(step, i);
        }
        bool reports = (body->flags & CM_BODY_REPORT) || body->pointer != CAROM_NO_PLAYER;
        if (last && body->alive && reports && !cm_body_is_asleep(body)) {
            cm_body_set_contact(world, i, stored_mean(row->contact_force, step->substeps),
                                stored_mean(row->contact_torque, step->substeps));
        }
    }
}
