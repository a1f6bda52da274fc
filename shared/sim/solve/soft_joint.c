// Joints of the soft-step solver: all types through their rows; plain balls in soft_ball.c.
//
// Rows are made anew for each substep from the poses there. What is rigid is held by a stiff soft
// constraint in the solve pass and without bias in the relax pass; springs and motors are the same
// in both. What a joint holds rigidly (up to six rows) is solved at once. Typical: 20 ragdolls of
// 12 hinges and balls.
#include "shared/sim/sleep.h"
#include "shared/sim/solve/soft_joint.h"

#include <string.h>

#define JOINT_HERTZ         60.0f
#define JOINT_DAMPING_RATIO 0.5f
#define PIVOT_MIN           1.0e-6f // of a row's own
#define PUSH_SPEED          40.0f   // m/s, rad/s: the most that an error is corrected at

const cm_soft_body cm_soft_world = {.turn = {0.0f, 0.0f, 0.0f, 1.0f}};
const cm_soft_inertia cm_soft_world_inertia = {0};

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

size_t cm_soft_joints_size(const carom_limits *limits)
{
    return line(limits->joints * sizeof(cm_soft_ball)) +
           line(limits->joints * sizeof(cm_soft_joint));
}

void cm_soft_joints_map(const carom_limits *limits, void *memory, cm_soft_joints *joints)
{
    joints->balls = memory;
    joints->joints = (void *)((char *)memory + line(limits->joints * sizeof(cm_soft_ball)));
    joints->ball_count = joints->joint_count = 0;
}

// A spring as factors of a velocity constraint (E. Catto, "Soft Constraints", GDC 2011); of no
// stiffness and damping it does nothing.
static cm_softness hertz_softness(float hertz, float damping_ratio, float h)
{
    float omega = 2.0f * 3.14159265f * hertz;
    float a1 = 2.0f * damping_ratio + h * omega, a2 = h * omega * a1, a3 = 1.0f / (1.0f + a2);
    if (!(a2 > 0.0f)) {
        return (cm_softness){0.0f, 0.0f, 1.0f};
    }
    return (cm_softness){omega / a1, a2 * a3, a3};
}

// inverse_mass: of the row.
static cm_softness stiffness_softness(float stiffness, float damping, float inverse_mass, float h)
{
    float rate = damping + h * stiffness;
    if (!(rate > 0.0f)) {
        return (cm_softness){0.0f, 0.0f, 1.0f};
    }
    float gamma = 1.0f / (h * rate), sum = inverse_mass + gamma;
    return (cm_softness){stiffness / rate, inverse_mass / sum, gamma / sum};
}

static void prepare_joint(const carom_world *world, uint32_t slot, cm_soft_joint *j)
{
    const cm_joint *joint = &cm_joints(world)[slot];
    cm_joint_pose pose;
    cm_joint_pose_get(world, joint, &pose);
    *j = (cm_soft_joint){0};
    j->slot = slot;
    j->body_a = joint->body_a;
    j->body_b = joint->body_b;
    j->ra0 = pose.ra;
    j->rb0 = pose.rb;
    j->gap0 = pose.gap;
    j->frame_a0 = joint->frame_a;
    if (joint->body_a != CM_NONE) {
        j->frame_a0 = cm_quat_mul(cm_motions(world)[joint->body_a].orientation, joint->frame_a);
    }
    j->frame_b0 = cm_quat_mul(cm_motions(world)[joint->body_b].orientation, joint->frame_b);
    for (uint32_t i = 0; i < CM_JOINT_ROWS_MAX; i++) {
        j->impulse[i] = joint->impulse[i];
    }
}

// A joint that holds what sleeps stays as it is.
static bool sleeps(const carom_world *world, const cm_joint *joint)
{
    const cm_body *bodies = cm_bodies(world);
    return cm_body_is_asleep(&bodies[joint->body_b]) ||
           (joint->body_a != CM_NONE && cm_body_is_asleep(&bodies[joint->body_a]));
}

void cm_soft_prepare_joints(carom_world *world, const cm_soft *soft, cm_soft_joints *joints)
{
    const uint8_t extras = CM_JOINT_MOTOR | CM_JOINT_SPRING_HERTZ | CM_JOINT_SPRING_STIFFNESS;
    joints->rigid =
        hertz_softness(cm_min(JOINT_HERTZ, 0.25f / soft->h), JOINT_DAMPING_RATIO, soft->h);
    joints->ball_count = joints->joint_count = 0;
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        cm_joint *joint = &cm_joints(world)[i];
        if (!joint->alive) {
            continue;
        }
        if (cm_soft_end_inertia(soft, joint->body_a)->inverse_mass == 0.0f &&
            soft->inertias[joint->body_b].inverse_mass == 0.0f) {
            if (sleeps(world, joint)) {
                continue;
            }
            memset(joint->impulse, 0, sizeof joint->impulse); // neither can be pushed for now
            joint->force = joint->torque = 0.0f;
            continue;
        }
        if (joint->type == CAROM_JOINT_BALL && !(joint->flags & extras)) {
            cm_soft_prepare_ball(world, i, &joints->balls[joints->ball_count++]);
        } else {
            prepare_joint(world, i, &joints->joints[joints->joint_count++]);
        }
    }
}

// Rows of a substep ------------------------------------------------------------------------------

// J_i M^-1 J_k^T of two rows of one block.
static float coupling(const cm_soft_inertia *a, const cm_soft_inertia *b, const cm_joint_row *i,
                      const cm_joint_row *k)
{
    return (a->inverse_mass + b->inverse_mass) * cm_dot(i->linear, k->linear) +
           cm_dot(i->angular_a, cm_sym3_mul(&a->inverse, k->angular_a)) +
           cm_dot(i->angular_b, cm_sym3_mul(&b->inverse, k->angular_b));
}

static float inverse(float x)
{
    return x > 0.0f ? 1.0f / x : 0.0f;
}

// K = L D L^T of a block; a pivot that vanishes (rows that say the same) lets its row go.
static void factorise(const cm_soft_inertia *a, const cm_soft_inertia *b, const cm_joint_row *rows,
                      cm_soft_joint *j)
{
    float pivot[CM_JOINT_BLOCK_MAX];
    for (uint32_t i = 0, at = 0; i < rows[0].block; at += i, i++) {
        float *li = &j->lower[at]; // row i of L
        float diagonal = coupling(a, b, &rows[i], &rows[i]);
        const float whole = diagonal;
        for (uint32_t k = 0, from = 0; k < i; from += k, k++) {
            float sum = coupling(a, b, &rows[i], &rows[k]);
            for (uint32_t m = 0; m < k; m++) {
                sum -= li[m] * pivot[m] * j->lower[from + m];
            }
            li[k] = sum * j->inverse_pivot[k];
            diagonal -= sum * li[k];
        }
        pivot[i] = diagonal;
        j->inverse_pivot[i] = diagonal > PIVOT_MIN * whole ? 1.0f / diagonal : 0.0f;
    }
}

// x := K^-1 x
static void substitute(const cm_soft_joint *j, uint32_t count, float *x)
{
    for (uint32_t i = 0, at = 0; i < count; at += i, i++) {
        for (uint32_t k = 0; k < i; k++) {
            x[i] -= j->lower[at + k] * x[k];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        x[i] *= j->inverse_pivot[i];
    }
    for (uint32_t i = count; i-- > 0;) {
        for (uint32_t k = i + 1; k < count; k++) {
            x[i] -= j->lower[k * (k - 1) / 2 + i] * x[k];
        }
    }
}

static cm_softness row_softness(const cm_joint *joint, const cm_soft_joints *joints,
                                const cm_joint_row *row, float mass, float h)
{
    switch (row->kind) {
    case CM_ROW_MOTOR:
        return (cm_softness){0.0f, 1.0f, 0.0f};
    case CM_ROW_SPRING:
        if (joint->flags & CM_JOINT_SPRING_HERTZ) {
            return hertz_softness(joint->spring[0], joint->spring[1], h);
        }
        return stiffness_softness(joint->spring[0], joint->spring[1], inverse(mass), h);
    default:
        return joints->rigid;
    }
}

static void make_rows(const cm_joint *joint, const cm_soft *soft, const cm_soft_joints *joints,
                      cm_soft_joint *j)
{
    const cm_soft_body *a = cm_soft_end(soft, j->body_a), *b = cm_soft_end(soft, j->body_b);
    cm_joint_pose pose;
    carom_vec3 da = cm_soft_turned(a, j->ra0), db = cm_soft_turned(b, j->rb0);
    pose.ra = cm_add(j->ra0, da);
    pose.rb = cm_add(j->rb0, db);
    pose.gap = cm_add(j->gap0, cm_sub(cm_add(b->shift, db), cm_add(a->shift, da)));
    cm_joint_pose_turned(cm_quat_mul(a->turn, j->frame_a0), cm_quat_mul(b->turn, j->frame_b0),
                         &pose);
    j->row_count = cm_joint_kind_of(joint->type)->rows(joint, &pose, j->rows);
    const cm_soft_inertia *ia = cm_soft_end_inertia(soft, j->body_a);
    const cm_soft_inertia *ib = cm_soft_end_inertia(soft, j->body_b);
    uint32_t used = 0;
    for (uint32_t i = 0; i < j->row_count; i++) {
        used |= 1u << j->rows[i].place;
        if (j->rows[i].block > 1) {
            factorise(ia, ib, &j->rows[i], j);
        } else if (j->rows[i].block == 1) {
            j->mass[i] = inverse(coupling(ia, ib, &j->rows[i], &j->rows[i]));
        }
        j->softness[i] = row_softness(joint, joints, &j->rows[i], j->mass[i], soft->h);
    }
    // A row that is not there now starts from nothing when it comes back.
    for (uint32_t place = 0; place < CM_JOINT_ROWS_MAX; place++) {
        if (!(used >> place & 1u)) {
            j->impulse[place] = 0.0f;
        }
    }
}

// Solving ----------------------------------------------------------------------------------------

// Both bodies while a joint is solved.
typedef struct pair {
    carom_vec3 va, wa, vb, wb;
    const cm_soft_inertia *a, *b;
} pair;

static pair load(const cm_soft *soft, const cm_soft_joint *j)
{
    const cm_soft_body *a = cm_soft_end(soft, j->body_a), *b = cm_soft_end(soft, j->body_b);
    return (pair){a->v,
                  a->w,
                  b->v,
                  b->w,
                  cm_soft_end_inertia(soft, j->body_a),
                  cm_soft_end_inertia(soft, j->body_b)};
}

// What cannot be pushed keeps its row: zero times an infinite impulse is no number.
static void store(const cm_soft *soft, const cm_soft_joint *j, const pair *p)
{
    if (p->a->inverse_mass > 0.0f) {
        soft->bodies[j->body_a].v = p->va;
        soft->bodies[j->body_a].w = p->wa;
    }
    if (p->b->inverse_mass > 0.0f) {
        soft->bodies[j->body_b].v = p->vb;
        soft->bodies[j->body_b].w = p->wb;
    }
}

static void apply(pair *p, const cm_joint_row *row, float impulse)
{
    p->va = cm_mul_add(p->va, -impulse * p->a->inverse_mass, row->linear);
    p->vb = cm_mul_add(p->vb, impulse * p->b->inverse_mass, row->linear);
    p->wa = cm_mul_add(p->wa, impulse, cm_sym3_mul(&p->a->inverse, row->angular_a));
    p->wb = cm_mul_add(p->wb, impulse, cm_sym3_mul(&p->b->inverse, row->angular_b));
}

static float speed(const pair *p, const cm_joint_row *row)
{
    return cm_dot(row->linear, cm_sub(p->vb, p->va)) + cm_dot(row->angular_a, p->wa) +
           cm_dot(row->angular_b, p->wb);
}

void cm_soft_warm_start_joints(const carom_world *world, const cm_soft *soft,
                               cm_soft_joints *joints)
{
    cm_soft_warm_start_balls(soft, joints);
    for (uint32_t i = 0; i < joints->joint_count; i++) {
        cm_soft_joint *j = &joints->joints[i];
        make_rows(&cm_joints(world)[j->slot], soft, joints, j);
        pair p = load(soft, j);
        for (uint32_t k = 0; k < j->row_count; k++) {
            apply(&p, &j->rows[k], j->impulse[j->rows[k].place]);
        }
        store(soft, j, &p);
    }
}

// A row by itself, with bounds of its impulse.
static void solve_single(cm_soft_joint *j, uint32_t k, pair *p, float h, bool relax)
{
    const cm_joint_row *row = &j->rows[k];
    cm_softness s = j->softness[k];
    float *impulse = &j->impulse[row->place], wanted = row->velocity, bias;
    if (row->kind == CM_ROW_LIMIT && row->error > 0.0f) {
        s = (cm_softness){0.0f, 1.0f, 0.0f};
        bias = row->error / h;
    } else if (relax && (row->kind == CM_ROW_RIGID || row->kind == CM_ROW_LIMIT)) {
        s = (cm_softness){0.0f, 1.0f, 0.0f};
        bias = 0.0f;
    } else {
        bias = s.bias_rate * row->error;
        bias = row->kind == CM_ROW_SPRING ? bias : cm_clamp(bias, -PUSH_SPEED, PUSH_SPEED);
    }
    float change =
        -j->mass[k] * s.mass_scale * (speed(p, row) - wanted + bias) - s.impulse_scale * *impulse;
    float sum = cm_clamp(*impulse + change, h * row->lower, h * row->upper);
    change = sum - *impulse;
    *impulse = sum;
    apply(p, row, change);
}

// What a joint holds, at once.
static void solve_block(cm_soft_joint *j, uint32_t k, pair *p, bool relax)
{
    float x[CM_JOINT_BLOCK_MAX];
    cm_softness s = j->softness[k];
    if (relax) {
        s = (cm_softness){0.0f, 1.0f, 0.0f};
    }
    uint32_t count = j->rows[k].block;
    for (uint32_t i = 0; i < count; i++) {
        const cm_joint_row *row = &j->rows[k + i];
        x[i] = speed(p, row) + cm_clamp(s.bias_rate * row->error, -PUSH_SPEED, PUSH_SPEED);
    }
    substitute(j, count, x);
    for (uint32_t i = 0; i < count; i++) {
        const cm_joint_row *row = &j->rows[k + i];
        float *impulse = &j->impulse[row->place];
        float change = -s.mass_scale * x[i] - s.impulse_scale * *impulse;
        *impulse += change;
        apply(p, row, change);
    }
}

void cm_soft_solve_joints(const cm_soft *soft, cm_soft_joints *joints, bool relax)
{
    cm_soft_solve_balls(soft, joints, relax);
    for (uint32_t i = 0; i < joints->joint_count; i++) {
        cm_soft_joint *j = &joints->joints[i];
        pair p = load(soft, j);
        for (uint32_t k = 0; k < j->row_count; k++) {
            if (j->rows[k].block == 1) {
                solve_single(j, k, &p, soft->h, relax);
            } else if (j->rows[k].block > 1) {
                solve_block(j, k, &p, relax);
            }
        }
        store(soft, j, &p);
    }
}

void cm_soft_sum_joints(cm_soft_joints *joints)
{
    for (uint32_t i = 0; i < joints->ball_count; i++) {
        joints->balls[i].total = cm_add(joints->balls[i].total, joints->balls[i].impulse);
    }
    for (uint32_t i = 0; i < joints->joint_count; i++) {
        cm_soft_joint *j = &joints->joints[i];
        for (uint32_t k = 0; k < j->row_count; k++) {
            const cm_joint_row *row = &j->rows[k];
            float impulse = j->impulse[row->place];
            if (row->turning) {
                j->total_torque = cm_mul_add(j->total_torque, impulse, row->angular_b);
            } else {
                j->total_force = cm_mul_add(j->total_force, impulse, row->linear);
            }
        }
    }
}

// What is not finite comes from a body that is put to rest; what is tiny would become denormal.
static float stored(float x)
{
    return cm_is_finite(x) && cm_abs(x) >= CM_SOFT_TINY ? x : 0.0f;
}

void cm_soft_store_joints(carom_world *world, const cm_soft *soft, const cm_soft_joints *joints)
{
    cm_joint *rows = cm_joints(world);
    float rate = 1.0f / soft->dt; // the impulses of a tick add up to its mean force
    for (uint32_t i = 0; i < joints->ball_count; i++) {
        const cm_soft_ball *ball = &joints->balls[i];
        cm_joint *joint = &rows[ball->slot];
        joint->impulse[0] = stored(ball->impulse.x);
        joint->impulse[1] = stored(ball->impulse.y);
        joint->impulse[2] = stored(ball->impulse.z);
        joint->force = stored(rate * cm_length(ball->total));
        joint->torque = 0.0f;
    }
    for (uint32_t i = 0; i < joints->joint_count; i++) {
        const cm_soft_joint *j = &joints->joints[i];
        cm_joint *joint = &rows[j->slot];
        for (uint32_t k = 0; k < CM_JOINT_ROWS_MAX; k++) {
            joint->impulse[k] = stored(j->impulse[k]);
        }
        joint->force = stored(rate * cm_length(j->total_force));
        joint->torque = stored(rate * cm_length(j->total_torque));
    }
}
