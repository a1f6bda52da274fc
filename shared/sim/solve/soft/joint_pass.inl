// The passes over groups of joints, CM_LANES lanes at once: included by pass.inl, once a width.
//
// Of joints that are rows (ball_pass.inl has the plain balls) the rows are packed by row.c, and
// masses, softness and factors follow from them here. Typical: 100 groups, three passes a substep.
//
// Balls and blocks of rows relax at the poses that a substep ends with. So a substep is a step of
// RATTLE (H. Andersen, 1983): held at its start, by a bias that brings the ends together at its
// end, then without relative velocity there, and what swings keeps its energy. With the arms of the
// start each substep takes the part (turn)^2 of it: a chain of balls lost twice as much, and one of
// hinges left its plane and flew. Of rows relaxing goes beyond what one joint alone wants, since
// its neighbours undo most of it (over-relaxation: D. Young, 1954).
#include "shared/sim/solve/soft/joint.h"

#include <stddef.h>

_Static_assert(offsetof(cm_joint_row, error) == 36 && offsetof(cm_joint_row, velocity) == 48,
               "rows are read as floats");

#define PIVOT_MIN        1.0e-6f // of a row's own
#define JOINT_PUSH_SPEED 40.0f   // m/s, rad/s: the most that a block's error is corrected at
#define JOINT_RELAX      1.4f    // of what ends a relative velocity; from 2 on it grows

// Returns true if lanes of a group of rows from `at` on are used.
static inline bool lanes_go_on(const cm_soft_rows *g, uint32_t at)
{
    return at < CM_SOFT_LANES && at < g->who.lanes;
}

static inline void gather_members(const cm_soft *soft, const cm_soft_members *who, uint32_t at,
                                  speeds *s)
{
    const float *rows = (const float *)soft->bodies; // 16 floats a row
    cm_lanes_gather(rows, 16, who->a + at, s->row_a);
    cm_lanes_gather(rows, 16, who->b + at, s->row_b);
    s->va = (cm_fvec){s->row_a[0], s->row_a[1], s->row_a[2]};
    s->wa = (cm_fvec){s->row_a[3], s->row_a[4], s->row_a[5]};
    s->vb = (cm_fvec){s->row_b[0], s->row_b[1], s->row_b[2]};
    s->wb = (cm_fvec){s->row_b[3], s->row_b[4], s->row_b[5]};
}

// A body that cannot be pushed keeps its row: zero times an infinite impulse is no number.
static inline void scatter_members(cm_soft *soft, const cm_soft_members *who,
                                   const cm_soft_masses *m, uint32_t at, const speeds *s)
{
    float *rows = (float *)soft->bodies; // 16 floats a row
    cm_f zero = cm_lanes_set(0.0f);
    cm_f a[8] = {s->va.x, s->va.y, s->va.z, s->wa.x, s->wa.y, s->wa.z, s->row_a[6], s->row_a[7]};
    cm_f b[8] = {s->vb.x, s->vb.y, s->vb.z, s->wb.x, s->wb.y, s->wb.z, s->row_b[6], s->row_b[7]};
    if (who->guarded) {
        cm_mask pushed_a = cm_lanes_greater(cm_lanes_load(m->mass_a + at), zero);
        cm_mask pushed_b = cm_lanes_greater(cm_lanes_load(m->mass_b + at), zero);
        for (uint32_t k = 0; k < 6; k++) {
            a[k] = cm_lanes_select(pushed_a, a[k], s->row_a[k]);
            b[k] = cm_lanes_select(pushed_b, b[k], s->row_b[k]);
        }
    }
    cm_lanes_scatter(rows, 16, who->a + at, a);
    cm_lanes_scatter(rows, 16, who->b + at, b);
}

typedef struct masses {
    cm_f ma, mb, ia[6], ib[6];
    bool locked; // of rows: inverse masses by axis instead
    cm_fvec free_a, free_b;
} masses;

static inline masses load_masses(const cm_soft_masses *m, uint32_t at)
{
    masses f;
    f.ma = cm_lanes_load(m->mass_a + at);
    f.mb = cm_lanes_load(m->mass_b + at);
    for (uint32_t i = 0; i < 6; i++) {
        f.ia[i] = cm_lanes_load(m->inertia_a[i] + at);
        f.ib[i] = cm_lanes_load(m->inertia_b[i] + at);
    }
    return f;
}

// From the bodies into the group.
static inline void pack_masses(const cm_soft *soft, const cm_soft_members *who, cm_soft_masses *m,
                               uint32_t at)
{
    const float *rows = &soft->inertias[0].inverse_mass; // 8 floats a row
    cm_f a[8], b[8];
    cm_lanes_gather(rows, 8, who->a + at, a);
    cm_lanes_gather(rows, 8, who->b + at, b);
    cm_lanes_store(m->mass_a + at, a[0]);
    cm_lanes_store(m->mass_b + at, b[0]);
    for (uint32_t i = 0; i < 6; i++) {
        cm_lanes_store(m->inertia_a[i] + at, a[1 + i]);
        cm_lanes_store(m->inertia_b[i] + at, b[1 + i]);
    }
}

// T i T^T, of an inverse inertia whose body has turned by q.
static inline void turned_inverse(cm_f i[6], quat q)
{
    cm_f one = cm_lanes_set(1.0f), two = cm_lanes_set(2.0f);
    cm_f xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z;
    cm_f yz = q.y * q.z, wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    cm_fvec a = {one - two * (yy + zz), two * (xy + wz), two * (xz - wy)};
    cm_fvec b = {two * (xy - wz), one - two * (xx + zz), two * (yz + wx)};
    cm_fvec c = {two * (xz + wy), two * (yz - wx), one - two * (xx + yy)};
    cm_fvec x = cm_fvec_mix(i[0], a, i[1], b, i[2], c);
    cm_fvec y = cm_fvec_mix(i[1], a, i[3], b, i[4], c);
    cm_fvec z = cm_fvec_mix(i[2], a, i[4], b, i[5], c);
    i[0] = a.x * x.x + b.x * y.x + c.x * z.x;
    i[1] = a.y * x.x + b.y * y.x + c.y * z.x;
    i[2] = a.z * x.x + b.z * y.x + c.z * z.x;
    i[3] = a.y * x.y + b.y * y.y + c.y * z.y;
    i[4] = a.z * x.y + b.z * y.y + c.z * z.y;
    i[5] = a.z * x.z + b.z * y.z + c.z * z.z;
}

// The inverse inertias of bodies that have turned. With those of the start of the tick slender
// links that leave their plane gain energy.
static inline void turn_inertias(const cm_soft_lanes *start, uint32_t at, quat q, cm_soft_lanes *to)
{
    cm_f i[6];
    for (uint32_t k = 0; k < 6; k++) {
        i[k] = cm_lanes_load(start[k] + at);
    }
    turned_inverse(i, q);
    for (uint32_t k = 0; k < 6; k++) {
        cm_lanes_store(to[k] + at, i[k]);
    }
}

// The way of r's end in a turn by a quaternion, as cm_soft_turned.
static inline cm_fvec turned_by(quat q, cm_fvec r)
{
    cm_fvec u = {q.x, q.y, q.z};
    cm_fvec t = cm_fvec_add(cm_fvec_cross(u, r), cm_fvec_scale(q.w, r));
    return cm_fvec_scale(cm_lanes_set(2.0f), cm_fvec_cross(u, t));
}

// Arms and gap at the start of the tick, from the anchors that were packed; and how the bodies are
// turned there.
static inline void place_ends(const cm_soft *soft, cm_soft_ends *g, uint32_t at, quat *qa, quat *qb)
{
    const float *rows = &soft->motions[0].position.x; // 16 floats a row
    cm_f a[8], b[8], zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_mask held = cm_lanes_greater(LOAD(held), zero);
    cm_lanes_gather(rows, 16, g->pose_a + at, a);
    cm_lanes_gather(rows, 16, g->pose_b + at, b);
    for (uint32_t i = 0; i < 6; i++) {
        a[i] = cm_lanes_select(held, a[i], zero);
    }
    *qa = (quat){a[3], a[4], a[5], cm_lanes_select(held, a[6], one)};
    *qb = (quat){b[3], b[4], b[5], b[6]};
    cm_fvec ra = cm_fvec_load(g->packed.anchor_a, at), rb = cm_fvec_load(g->packed.anchor_b, at);
    ra = cm_fvec_add(ra, turned_by(*qa, ra));
    rb = cm_fvec_add(rb, turned_by(*qb, rb));
    cm_fvec apart = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    cm_fvec_store(g->start.ra, at, ra);
    cm_fvec_store(g->start.rb, at, rb);
    cm_fvec_store(g->start.gap, at, cm_fvec_sub(cm_fvec_add(apart, rb), ra));
}

// Arms and gap now.
typedef struct arms {
    cm_fvec ra, rb, gap;
    quat turn_a, turn_b; // of the bodies since the start of the tick
} arms;

static inline arms reach_by(const cm_soft_ends *g, uint32_t at, const cm_f a[8], const cm_f b[8])
{
    arms r;
    r.turn_a = (quat){a[3], a[4], a[5], a[6]};
    r.turn_b = (quat){b[3], b[4], b[5], b[6]};
    r.ra = cm_fvec_load(g->start.ra, at);
    r.rb = cm_fvec_load(g->start.rb, at);
    cm_fvec da = turned_by(r.turn_a, r.ra), db = turned_by(r.turn_b, r.rb);
    r.ra = cm_fvec_add(r.ra, da);
    r.rb = cm_fvec_add(r.rb, db);
    cm_fvec to_a = cm_fvec_add((cm_fvec){a[0], a[1], a[2]}, da);
    cm_fvec to_b = cm_fvec_add((cm_fvec){b[0], b[1], b[2]}, db);
    r.gap = cm_fvec_add(cm_fvec_load(g->start.gap, at), cm_fvec_sub(to_b, to_a));
    return r;
}

static inline arms reach(const cm_soft *soft, const cm_soft_members *who, const cm_soft_ends *g,
                         uint32_t at)
{
    const float *rows = &soft->bodies[0].shift.x; // 16 floats a row
    cm_f a[8], b[8];
    cm_lanes_gather(rows, 16, who->a + at, a);
    cm_lanes_gather(rows, 16, who->b + at, b);
    return reach_by(g, at, a, b);
}

#include "shared/sim/solve/soft/ball_pass.inl"

// Rows -----------------------------------------------------------------------------------------

static inline cm_f joint_clamp(cm_f x, cm_f low, cm_f high)
{
    return cm_lanes_max(cm_lanes_min(x, high), low);
}

// J_i M^-1 J_k^T of two rows of one joint.
static inline cm_f row_coupling(const masses *m, const cm_soft_row *i, const cm_soft_row *k,
                                uint32_t at)
{
    cm_fvec li = cm_fvec_load(i->linear, at), lk = cm_fvec_load(k->linear, at);
    cm_f linear = (m->ma + m->mb) * cm_fvec_dot(li, lk);
    if (m->locked) {
        linear = cm_fvec_dot(li, each(cm_fvec_add(m->free_a, m->free_b), lk));
    }
    return linear + cm_fvec_dot(cm_fvec_load(i->angular_a, at), cm_fvec_load(k->turn_a, at)) +
           cm_fvec_dot(cm_fvec_load(i->angular_b, at), cm_fvec_load(k->turn_b, at));
}

// The measure of a row's own coupling: less than PIVOT_MIN of it is nothing. Along locked
// axes the coupling itself is rounding, so there it is what free axes would give.
static inline cm_f row_whole(const cm_soft_rows *g, const masses *m, const cm_soft_row *row,
                             uint32_t at, cm_f own)
{
    if (!m->locked) {
        return own;
    }
    cm_fvec l = cm_fvec_load(row->linear, at), a = cm_fvec_load(row->angular_a, at);
    cm_fvec b = cm_fvec_load(row->angular_b, at);
    cm_f whole = (m->ma + m->mb) * cm_fvec_dot(l, l) +
                 (m->ia[0] + m->ia[3] + m->ia[5]) * cm_fvec_dot(a, a) +
                 (m->ib[0] + m->ib[3] + m->ib[5]) * cm_fvec_dot(b, b);
    return cm_lanes_select(cm_lanes_greater(LOAD(locks), cm_lanes_set(0.0f)), whole, own);
}

static inline masses row_masses(const cm_soft_rows *g, uint32_t at)
{
    cm_f zero = cm_lanes_set(0.0f);
    masses m = load_masses(&g->m, at);
    m.locked = g->locked != 0;
    m.free_a = m.locked ? cm_fvec_load(g->free_a, at) : (cm_fvec){zero, zero, zero};
    m.free_b = m.locked ? cm_fvec_load(g->free_b, at) : (cm_fvec){zero, zero, zero};
    return m;
}

static inline quat load_quat(const cm_soft_lanes *from, uint32_t at)
{
    return (quat){cm_lanes_load(from[0] + at), cm_lanes_load(from[1] + at),
                  cm_lanes_load(from[2] + at), cm_lanes_load(from[3] + at)};
}

static inline void store_quat(cm_soft_lanes *to, uint32_t at, quat q)
{
    cm_lanes_store(to[0] + at, q.x);
    cm_lanes_store(to[1] + at, q.y);
    cm_lanes_store(to[2] + at, q.z);
    cm_lanes_store(to[3] + at, q.w);
}

static void row_prepare(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_rows *g = &soft->joints->rows[i];
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            quat qa, qb;
            place_ends(soft, &g->ends, at, &qa, &qb);
            store_quat(g->start_frame.a, at, multiply(qa, load_quat(g->body_frame.a, at)));
            store_quat(g->start_frame.b, at, multiply(qb, load_quat(g->body_frame.b, at)));
            pack_masses(soft, &g->who, &g->m, at);
        }
        memcpy(g->start_inertia_a, g->m.inertia_a, sizeof g->start_inertia_a);
        memcpy(g->start_inertia_b, g->m.inertia_b, sizeof g->start_inertia_b);
    }
}

// The axes of a turned frame, nine numbers.
static inline void axes_of(quat q, cm_f out[9])
{
    cm_f one = cm_lanes_set(1.0f), two = cm_lanes_set(2.0f);
    cm_f xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    cm_f xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    cm_f wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    out[0] = one - two * (yy + zz);
    out[1] = two * (xy + wz);
    out[2] = two * (xz - wy);
    out[3] = two * (xy - wz);
    out[4] = one - two * (xx + zz);
    out[5] = two * (yz + wx);
    out[6] = two * (xz + wy);
    out[7] = two * (yz - wx);
    out[8] = one - two * (xx + yy);
}

// None of a lane where a turn is locked: that inertia is zero along axes of the world.
static inline quat free_turn(const cm_soft_rows *g, uint32_t at, quat turn)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    if (!g->locked) {
        return turn;
    }
    cm_mask bound = cm_lanes_greater(LOAD(locks), one);
    return (quat){cm_lanes_select(bound, zero, turn.x), cm_lanes_select(bound, zero, turn.y),
                  cm_lanes_select(bound, zero, turn.z), cm_lanes_select(bound, one, turn.w)};
}

// Arms of this substep; inertias turn with the bodies.
static inline arms row_arms(const cm_soft *soft, cm_soft_rows *g, uint32_t at)
{
    arms r = reach(soft, &g->who, &g->ends, at);
    if (g->turns) {
        turn_inertias(g->start_inertia_a, at, free_turn(g, at, r.turn_a), g->m.inertia_a);
        turn_inertias(g->start_inertia_b, at, free_turn(g, at, r.turn_b), g->m.inertia_b);
    }
    return r;
}

// The poses of this substep, as the types take them.
static inline void row_pose(const cm_soft *soft, cm_soft_rows *g, uint32_t at)
{
    const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    arms r = row_arms(soft, g, at);
    quat a = multiply(r.turn_a, load_quat(g->start_frame.a, at));
    quat b = multiply(r.turn_b, load_quat(g->start_frame.b, at));
    quat turn = multiply((quat){-a.x, -a.y, -a.z, a.w}, b);
    cm_f out[32] = {r.ra.x, r.ra.y, r.ra.z, r.rb.x, r.rb.y, r.rb.z, r.gap.x, r.gap.y, r.gap.z};
    axes_of(a, out + 9);
    axes_of(b, out + 18);
    out[27] = turn.x;
    out[28] = turn.y;
    out[29] = turn.z;
    out[30] = turn.w;
    out[31] = cm_lanes_set(0.0f);
    for (uint32_t k = 0; k < 32; k += 8) {
        cm_lanes_scatter(&g->poses[at].pose.ra.x + k, 32, index, out + k);
    }
}

// Rows that were made joint by joint, from row `first` on, into the lanes.
static inline void turn_rows(const cm_soft_made made, cm_soft_rows *group, uint32_t first,
                             uint32_t at)
{
    const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t stride = (CM_JOINT_GROUP_ROWS + 1) * (sizeof(cm_joint_row) / sizeof(float));
    for (uint32_t i = first; i < group->singles + group->block; i++) {
        cm_soft_row *g = &group->rows[i];
        const float *rows = &made[at][i].linear.x;
        cm_f x[8], y[8];
        cm_lanes_gather(rows, stride, index, x);
        cm_lanes_gather(rows + 8, stride, index, y);
        for (uint32_t k = 0; k < 3; k++) {
            STORE(linear[k], x[k]);
            STORE(angular_a[k], x[3 + k]);
        }
        STORE(angular_b[0], x[6]);
        STORE(angular_b[1], x[7]);
        STORE(angular_b[2], y[0]);
        STORE(error, y[1]);
        if (i < group->singles) {
            cm_lanes_store(group->single[i].velocity + at, y[4]);
        }
    }
}

// Makes the softness of a row by itself, for the solve pass (0) and the relax pass (1).
static inline void soften(const cm_soft *soft, cm_soft_rows *group, uint32_t i, uint32_t at,
                          const masses *m)
{
    const cm_soft_row *row = &group->rows[i];
    cm_soft_single *g = &group->single[i];
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_f error = cm_lanes_load(row->error + at), gamma = LOAD(gamma);
    cm_f own = row_coupling(m, row, row, at), effective = inverse(own);
    if (m->locked) {
        cm_f least = cm_lanes_set(PIVOT_MIN) * row_whole(group, m, row, at, own);
        effective = cm_lanes_select(cm_lanes_greater(own, least), effective, zero);
    }
    cm_mask stiff = cm_lanes_greater(gamma, zero);
    cm_f share = one / (cm_lanes_select(stiff, own + gamma, one));
    cm_f mass_scale = cm_lanes_select(stiff, own * share, LOAD(mass_scale));
    cm_f impulse_scale = cm_lanes_select(stiff, gamma * share, LOAD(impulse_scale));
    cm_f most = LOAD(bias_limit), velocity = LOAD(velocity);
    cm_f bias = joint_clamp(LOAD(rate) * error, -most, most);
    cm_mask open = cm_lanes_greater(LOAD(limit), zero) & cm_lanes_greater(error, zero);
    cm_mask lasting = cm_lanes_greater(LOAD(lasting), zero);
    bias = cm_lanes_select(open, error * cm_lanes_set(1.0f / soft->h), bias);
    mass_scale = cm_lanes_select(open, one, mass_scale);
    impulse_scale = cm_lanes_select(open, zero, impulse_scale);
    STORE(mass[0], effective * mass_scale);
    STORE(bias[0], bias - velocity);
    STORE(scale[0], impulse_scale);
    STORE(mass[1], effective * cm_lanes_select(lasting, mass_scale, one));
    STORE(bias[1], cm_lanes_select(lasting | open, bias, zero) - velocity);
    STORE(scale[1], cm_lanes_select(lasting, impulse_scale, zero));
}

// K = L D L^T of a block; a pivot that vanishes (rows that say the same) lets its row go.
static inline void factorise(cm_soft_rows *g, uint32_t at, const masses *f)
{
    const cm_soft_row *rows = &g->rows[g->singles];
    cm_f pivot[CM_JOINT_BLOCK_MAX], l[CM_JOINT_GROUP_FACTORS], one = cm_lanes_set(1.0f);
    cm_f inverse_pivot[CM_JOINT_BLOCK_MAX], zero = cm_lanes_set(0.0f);
    for (uint32_t i = 0, row = 0; i < g->block; row += i, i++) {
        cm_f diagonal = row_coupling(f, &rows[i], &rows[i], at);
        cm_f whole = row_whole(g, f, &rows[i], at, diagonal);
        for (uint32_t k = 0, from = 0; k < i; from += k, k++) {
            cm_f sum = row_coupling(f, &rows[i], &rows[k], at);
            for (uint32_t m = 0; m < k; m++) {
                sum = sum - l[row + m] * pivot[m] * l[from + m];
            }
            l[row + k] = sum * inverse_pivot[k];
            diagonal = diagonal - sum * l[row + k];
            STORE(factor[row + k], l[row + k]);
        }
        pivot[i] = diagonal;
        cm_mask some = cm_lanes_greater(diagonal, cm_lanes_set(PIVOT_MIN) * whole);
        inverse_pivot[i] = cm_lanes_select(some, one / cm_lanes_select(some, diagonal, one), zero);
        STORE(inverse_pivot[i], inverse_pivot[i]);
    }
}

static inline cm_f row_speed(const cm_soft_row *g, uint32_t at, const speeds *s)
{
    return cm_fvec_dot(cm_fvec_load(g->linear, at), cm_fvec_sub(s->vb, s->va)) +
           cm_fvec_dot(cm_fvec_load(g->angular_a, at), s->wa) +
           cm_fvec_dot(cm_fvec_load(g->angular_b, at), s->wb);
}

static inline void row_apply(const cm_soft_row *g, uint32_t at, const masses *m, cm_f impulse,
                             speeds *s)
{
    cm_fvec linear = cm_fvec_scale(impulse, cm_fvec_load(g->linear, at));
    cm_fvec push_a = m->locked ? each(m->free_a, linear) : cm_fvec_scale(m->ma, linear);
    cm_fvec push_b = m->locked ? each(m->free_b, linear) : cm_fvec_scale(m->mb, linear);
    s->va = cm_fvec_sub(s->va, push_a);
    s->vb = cm_fvec_add(s->vb, push_b);
    s->wa = cm_fvec_add(s->wa, cm_fvec_scale(impulse, cm_fvec_load(g->turn_a, at)));
    s->wb = cm_fvec_add(s->wb, cm_fvec_scale(impulse, cm_fvec_load(g->turn_b, at)));
}

// Makes the turns that a row gives its bodies; as constant as the row.
static inline void turn_bodies(cm_soft_rows *g, uint32_t first, uint32_t at)
{
    masses m = load_masses(&g->m, at);
    for (uint32_t i = first; i < g->singles + g->block; i++) {
        cm_soft_row *row = &g->rows[i];
        cm_fvec_store(row->turn_a, at, cm_fsym_mul(m.ia, cm_fvec_load(row->angular_a, at)));
        cm_fvec_store(row->turn_b, at, cm_fsym_mul(m.ib, cm_fvec_load(row->angular_b, at)));
    }
}

#include "shared/sim/solve/soft/row_form.inl"

// The rows of the present poses, from row `first` on.
static inline void make_rows(const cm_soft *soft, cm_soft_rows *g, uint32_t first)
{
    cm_soft_made made;
    g->made = 1;
    if (g->form != CM_FORM_ANY) {
        for (uint32_t at = 0; lanes_go_on(g, at); at += CM_LANES) {
            make_form(soft, g, first, at);
            turn_bodies(g, first, at);
        }
        return;
    }
    for (uint32_t at = 0; lanes_go_on(g, at); at += CM_LANES) {
        row_pose(soft, g, at);
    }
    cm_soft_make_rows(soft, g, CM_LANES, made);
    for (uint32_t at = 0; lanes_go_on(g, at); at += CM_LANES) {
        turn_rows(made, g, first, at);
        turn_bodies(g, first, at);
    }
}

static inline void row_warm_lanes(cm_soft *soft, cm_soft_rows *g, uint32_t at)
{
    masses m = row_masses(g, at);
    uint32_t count = g->singles + g->block;
    speeds s;
    gather_members(soft, &g->who, at, &s);
    for (uint32_t i = 0; i < count; i++) {
        const cm_soft_row *row = &g->rows[i];
        row_apply(row, at, &m, cm_lanes_load(row->impulse + at), &s);
        if (i < g->singles) {
            soften(soft, g, i, at, &m);
        }
    }
    factorise(g, at, &m);
    scatter_members(soft, &g->who, &g->m, at, &s);
}

// Single rows are those of the poses here: relaxed at their new direction, distances gain energy.
// Blocks have theirs from the relax pass of the substep before, but for the first one.
static void row_warm(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_rows *g = &soft->joints->rows[i];
        if (g->whole) {
            continue; // its equations are solved whole, whatever it did before
        }
        if (!g->made || g->singles > 0) {
            make_rows(soft, g, 0);
        }
        for (uint32_t at = 0; lanes_go_on(g, at); at += CM_LANES) {
            row_warm_lanes(soft, g, at);
        }
    }
}

static inline void solve_single(cm_soft_row *row, const cm_soft_single *g, uint32_t at,
                                const masses *m, bool relax, speeds *s)
{
    cm_f old = cm_lanes_load(row->impulse + at);
    cm_f now = old - LOAD(mass[relax]) * (row_speed(row, at, s) + LOAD(bias[relax])) -
               LOAD(scale[relax]) * old;
    now = joint_clamp(now, LOAD(lower), LOAD(upper));
    cm_lanes_store(row->impulse + at, now);
    row_apply(row, at, m, now - old, s);
}

// x := K^-1 x
static inline void substitute(const cm_soft_rows *g, uint32_t at, cm_f x[CM_JOINT_BLOCK_MAX])
{
    for (uint32_t i = 0, row = 0; i < g->block; row += i, i++) {
        for (uint32_t k = 0; k < i; k++) {
            x[i] = x[i] - LOAD(factor[row + k]) * x[k];
        }
    }
    for (uint32_t i = 0; i < g->block; i++) {
        x[i] = x[i] * LOAD(inverse_pivot[i]);
    }
    for (uint32_t i = g->block; i-- > 0;) {
        for (uint32_t k = i + 1; k < g->block; k++) {
            x[i] = x[i] - LOAD(factor[k * (k - 1) / 2 + i]) * x[k];
        }
    }
}

// Solves at once all that a joint holds.
static inline void solve_block(const cm_softness *rigid, cm_soft_rows *g, uint32_t at,
                               const masses *m, bool relax, speeds *s)
{
    cm_f x[CM_JOINT_BLOCK_MAX], push = cm_lanes_set(JOINT_PUSH_SPEED);
    cm_f rate = cm_lanes_set(rigid->bias_rate), mass_scale = cm_lanes_set(rigid->mass_scale);
    cm_f impulse_scale = cm_lanes_set(rigid->impulse_scale);
    for (uint32_t i = 0; i < g->block; i++) {
        const cm_soft_row *row = &g->rows[g->singles + i];
        x[i] = row_speed(row, at, s);
        if (!relax) {
            x[i] = x[i] + joint_clamp(rate * cm_lanes_load(row->error + at), -push, push);
        }
    }
    substitute(g, at, x);
    for (uint32_t i = 0; i < g->block; i++) {
        cm_soft_row *row = &g->rows[g->singles + i];
        cm_f old = cm_lanes_load(row->impulse + at), change = -x[i];
        if (relax) {
            change = change * cm_lanes_set(JOINT_RELAX);
        } else {
            change = change * mass_scale - impulse_scale * old;
        }
        cm_lanes_store(row->impulse + at, old + change);
        row_apply(row, at, m, change, s);
    }
}

// Impulses of this substep, for the mean force of the tick.
static inline void sum_rows(cm_soft_rows *g, uint32_t at)
{
    cm_fvec force = cm_fvec_load(g->force, at), torque = cm_fvec_load(g->torque, at);
    for (uint32_t i = 0; i < g->singles + g->block; i++) {
        const cm_soft_row *row = &g->rows[i];
        cm_f impulse = cm_lanes_load(row->impulse + at);
        cm_f turning = impulse * cm_lanes_load(row->turning + at);
        force = cm_fvec_add(force, cm_fvec_scale(impulse, cm_fvec_load(row->linear, at)));
        torque = cm_fvec_add(torque, cm_fvec_scale(turning, cm_fvec_load(row->angular_b, at)));
    }
    cm_fvec_store(g->force, at, force);
    cm_fvec_store(g->torque, at, torque);
}

#include "shared/sim/solve/soft/tree_pass.inl"

#include "shared/sim/solve/soft/knot_pass.inl"

static inline void row_solve_lanes(cm_soft *soft, cm_soft_rows *g, uint32_t at, bool relax)
{
    masses m = row_masses(g, at);
    speeds s;
    gather_members(soft, &g->who, at, &s);
    for (uint32_t i = 0; i < g->singles; i++) {
        solve_single(&g->rows[i], &g->single[i], at, &m, relax, &s);
    }
    solve_block(&soft->joints->rigid, g, at, &m, relax, &s);
    if (relax) {
        sum_rows(g, at);
    }
    scatter_members(soft, &g->who, &g->m, at, &s);
}

static void row_solve(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_rows *g = &soft->joints->rows[i];
        if (g->whole) {
            tree_solve(soft, g, false);
            i += g->who.steps - 1;
            continue;
        }
        for (uint32_t at = 0; lanes_go_on(g, at); at += CM_LANES) {
            row_solve_lanes(soft, g, at, false);
        }
    }
}

static void row_relax(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_rows *g = &soft->joints->rows[i];
        if (g->whole) {
            tree_solve(soft, g, true);
            i += g->who.steps - 1;
            continue;
        }
        if (g->block > 0) {
            make_rows(soft, g, g->singles);
        }
        for (uint32_t at = 0; lanes_go_on(g, at); at += CM_LANES) {
            row_solve_lanes(soft, g, at, true);
        }
    }
}
