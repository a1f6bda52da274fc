// The passes over plain ball joints, path by path: included by joint_pass.inl, once a width.
//
// Balls that hang one on the other (joint_path.c) are solved at once: their equations, three a
// joint, are block tridiagonal, and a heavy end asks no more of them than a light one (for trees:
// D. Baraff, "Linear-Time Dynamics using Lagrange Multipliers", SIGGRAPH 1996). K = L D L^T is made
// at the poses that a substep ends with, serves its relax pass and the next substep's solve, and
// nothing is over-relaxed. A joint's a is the body that it shares with the one before, so that each
// body is read once on the way down and moved once on the way up. Typical: 13 times 20 groups.

static void ball_prepare(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_balls *g = &soft->joints->balls[i];
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            quat qa, qb;
            place_ends(soft, &g->ends, at, &qa, &qb);
            cm_fvec_store(g->ra, at, cm_fvec_load(g->ends.start.ra, at));
            cm_fvec_store(g->rb, at, cm_fvec_load(g->ends.start.rb, at));
            cm_fvec_store(g->gap, at, cm_fvec_load(g->ends.start.gap, at));
            pack_masses(soft, &g->who, &g->m, at);
        }
        memcpy(g->start_inertia_a, g->m.inertia_a, sizeof g->start_inertia_a);
        memcpy(g->start_inertia_b, g->m.inertia_b, sizeof g->start_inertia_b);
    }
}

// The response at arm r of a body to an impulse at its arm q: mass - [r] I^-1 [q].
static inline void ball_response(cm_f mass, const cm_soft_lanes *inertia, uint32_t at, cm_fvec r,
                                 cm_fvec q, cm_f o[9])
{
    cm_f i[6];
    for (uint32_t k = 0; k < 6; k++) {
        i[k] = cm_lanes_load(inertia[k] + at);
    }
    // Rows of [r] I^-1.
    cm_fvec x = {r.y * i[2] - r.z * i[1], r.y * i[4] - r.z * i[3], r.y * i[5] - r.z * i[4]};
    cm_fvec y = {r.z * i[0] - r.x * i[2], r.z * i[1] - r.x * i[4], r.z * i[2] - r.x * i[5]};
    cm_fvec z = {r.x * i[1] - r.y * i[0], r.x * i[3] - r.y * i[1], r.x * i[4] - r.y * i[2]};
    cm_fvec rows[3] = {cm_fvec_cross(q, x), cm_fvec_cross(q, y), cm_fvec_cross(q, z)};
    for (uint32_t k = 0; k < 3; k++) { // q x row = -(row [q])
        o[3 * k] = k == 0 ? mass + rows[k].x : rows[k].x;
        o[3 * k + 1] = k == 1 ? mass + rows[k].y : rows[k].y;
        o[3 * k + 2] = k == 2 ? mass + rows[k].z : rows[k].z;
    }
}

// Inverse of a symmetric positive matrix; zero where it has none.
static inline void invert(const cm_f m[6], cm_f out[6])
{
    cm_f xx = m[3] * m[5] - m[4] * m[4], xy = m[2] * m[4] - m[1] * m[5];
    cm_f xz = m[1] * m[4] - m[2] * m[3], zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_f det = m[0] * xx + m[1] * xy + m[2] * xz;
    cm_mask some = cm_lanes_greater(det, zero);
    cm_f s = cm_lanes_select(some, one / cm_lanes_select(some, det, one), zero);
    out[0] = s * xx;
    out[1] = s * xy;
    out[2] = s * xz;
    out[3] = s * (m[0] * m[5] - m[2] * m[2]);
    out[4] = s * (m[1] * m[2] - m[0] * m[4]);
    out[5] = s * (m[0] * m[3] - m[1] * m[1]);
}

// Row k of a 3x3 matrix.
static inline cm_fvec ball_row(const cm_f l[9], uint32_t k)
{
    return (cm_fvec){l[3 * k], l[3 * k + 1], l[3 * k + 2]};
}

// The joint's part of K = L D L^T. What couples it to the joint before, through its a, which is the
// b of that, has the other sign; so has `couple`.
static inline void ball_factor_lanes(cm_soft_balls *g, bool begins, uint32_t at)
{
    cm_f o[9], own[9], k[6], inverse_k[6];
    const cm_soft_lanes *inertia_a = begins ? g->m.inertia_a : g[-1].m.inertia_b;
    cm_fvec ra = cm_fvec_load(g->ra, at), rb = cm_fvec_load(g->rb, at);
    ball_response(LOAD(m.mass_a), inertia_a, at, ra, ra, o);
    ball_response(LOAD(m.mass_b), g->m.inertia_b, at, rb, rb, own);
    for (uint32_t i = 0, at_k = 0; i < 3; i++) {
        for (uint32_t j = i; j < 3; j++, at_k++) {
            k[at_k] = cm_lanes_set(1.0f + CM_JOINT_YIELD) * (o[3 * i + j] + own[3 * i + j]);
        }
    }
    if (!begins) {
        cm_f l[9], before[6];
        ball_response(LOAD(m.mass_a), inertia_a, at, ra, cm_fvec_load(g[-1].rb, at), o);
        for (uint32_t i = 0; i < 6; i++) {
            before[i] = cm_lanes_load(g[-1].mass[i] + at);
        }
        for (uint32_t i = 0; i < 3; i++) {
            cm_fvec row = cm_fsym_mul(before, ball_row(o, i));
            l[3 * i] = row.x;
            l[3 * i + 1] = row.y;
            l[3 * i + 2] = row.z;
        }
        for (uint32_t i = 0, at_k = 0; i < 3; i++) {
            for (uint32_t j = i; j < 3; j++, at_k++) {
                k[at_k] = k[at_k] - cm_fvec_dot(ball_row(l, i), ball_row(o, j));
            }
        }
        for (uint32_t i = 0; i < 9; i++) {
            STORE(coupling[i], l[i]);
        }
    }
    invert(k, inverse_k);
    for (uint32_t i = 0; i < 6; i++) {
        STORE(mass[i], inverse_k[i]);
    }
}

// One body of a group's lanes.
typedef struct ball_body {
    cm_f pose[8], speed[8]; // rows, as gathered
} ball_body;

static inline void ball_gather(const cm_soft *soft, const uint32_t *who, bool relax, ball_body *o)
{
    const float *rows = (const float *)soft->bodies; // 16 floats a row
    cm_lanes_gather(rows, 16, who, o->speed);
    if (relax) {
        cm_lanes_gather(&soft->bodies[0].shift.x, 16, who, o->pose);
    }
}

static inline cm_fvec ball_speed(const ball_body *body, cm_fvec r)
{
    const cm_f *s = body->speed;
    cm_fvec w = {s[3], s[4], s[5]};
    return cm_fvec_add((cm_fvec){s[0], s[1], s[2]}, cm_fvec_cross(w, r));
}

// The speed at which the joint's ends part, less what the joints before it take.
static inline void ball_eliminate(const cm_soft *soft, cm_soft_balls *g, bool begins, uint32_t at,
                                  bool relax, const ball_body *a, const ball_body *b)
{
    cm_fvec ra = cm_fvec_load(g->ra, at), rb = cm_fvec_load(g->rb, at);
    cm_fvec v = cm_fvec_sub(ball_speed(b, rb), ball_speed(a, ra));
    if (!relax) {
        cm_f rate = cm_lanes_set(soft->joints->ball.bias_rate);
        v = cm_fvec_add(v, cm_fvec_scale(rate, cm_fvec_load(g->gap, at)));
    }
    if (!begins) {
        cm_fvec y = cm_fvec_load(g[-1].right, at);
        cm_f l[9];
        for (uint32_t i = 0; i < 9; i++) {
            l[i] = LOAD(coupling[i]);
        }
        v.x = v.x + cm_fvec_dot(ball_row(l, 0), y);
        v.y = v.y + cm_fvec_dot(ball_row(l, 1), y);
        v.z = v.z + cm_fvec_dot(ball_row(l, 2), y);
    }
    cm_fvec_store(g->right, at, v);
}

// The joint's own unknown, from that of the joint after.
static inline cm_fvec ball_substitute(const cm_soft_balls *g, bool ends, uint32_t at, cm_fvec after)
{
    cm_f mass[6];
    for (uint32_t i = 0; i < 6; i++) {
        mass[i] = LOAD(mass[i]);
    }
    cm_fvec x = cm_fsym_mul(mass, cm_fvec_load(g->right, at));
    if (!ends) {
        cm_f l[9];
        for (uint32_t i = 0; i < 9; i++) {
            l[i] = cm_lanes_load(g[1].coupling[i] + at);
        }
        x.x = x.x + (l[0] * after.x + l[3] * after.y + l[6] * after.z);
        x.y = x.y + (l[1] * after.x + l[4] * after.y + l[7] * after.z);
        x.z = x.z + (l[2] * after.x + l[5] * after.y + l[8] * after.z);
    }
    return x;
}

// The change of the joint's impulse.
static inline cm_fvec ball_push(const cm_soft *soft, cm_soft_balls *g, uint32_t at, bool relax,
                                cm_fvec x)
{
    const cm_softness *ball = &soft->joints->ball;
    cm_fvec old = cm_fvec_load(g->impulse, at), change;
    if (relax) {
        change = cm_fvec_scale(cm_lanes_set(-1.0f), x);
    } else if (g->who.leads) {
        // As below, since mass_scale and impulse_scale add up to one.
        old = (cm_fvec){cm_lanes_set(0.0f), cm_lanes_set(0.0f), cm_lanes_set(0.0f)};
        change = cm_fvec_scale(cm_lanes_set(-ball->mass_scale), x);
    } else {
        change = cm_fvec_sub(cm_fvec_scale(cm_lanes_set(-ball->mass_scale), x),
                             cm_fvec_scale(cm_lanes_set(ball->impulse_scale), old));
    }
    cm_fvec now = cm_fvec_add(old, change);
    cm_fvec_store(g->impulse, at, now);
    if (relax) {
        cm_fvec_store(g->total, at, cm_fvec_add(cm_fvec_load(g->total, at), now));
    }
    return change;
}

// The change of the joint `after` and of the joint `before` a body, either may be NULL. What cannot
// be pushed keeps its row: zero times an infinite impulse is no number.
static inline void ball_move_body(cm_soft *soft, const cm_soft_balls *before,
                                  const cm_soft_balls *after, uint32_t at, cm_fvec pull,
                                  cm_fvec push)
{
    const uint32_t *who = before ? before->who.b + at : after->who.a + at;
    const cm_soft_lanes *inertia = before ? before->m.inertia_b : after->m.inertia_a;
    cm_f mass = cm_lanes_load((before ? before->m.mass_b : after->m.mass_a) + at);
    float *rows = (float *)soft->bodies; // 16 floats a row
    cm_f zero = cm_lanes_set(0.0f);
    cm_fvec impulse = {zero, zero, zero}, turn = impulse;
    cm_f s[8], old[6], i[6];
    cm_lanes_gather(rows, 16, who, s);
    memcpy(old, s, sizeof old);
    for (uint32_t k = 0; k < 6; k++) {
        i[k] = cm_lanes_load(inertia[k] + at);
    }
    if (before) {
        impulse = push;
        turn = cm_fvec_cross(cm_fvec_load(before->rb, at), push);
    }
    if (after) {
        impulse = cm_fvec_sub(impulse, pull);
        turn = cm_fvec_sub(turn, cm_fvec_cross(cm_fvec_load(after->ra, at), pull));
    }
    cm_fvec w = cm_fsym_mul(i, turn);
    s[0] = s[0] + mass * impulse.x;
    s[1] = s[1] + mass * impulse.y;
    s[2] = s[2] + mass * impulse.z;
    s[3] = s[3] + w.x;
    s[4] = s[4] + w.y;
    s[5] = s[5] + w.z;
    if (before ? before->who.guarded : after->who.guarded) {
        cm_mask pushed = cm_lanes_greater(mass, zero);
        for (uint32_t k = 0; k < 6; k++) {
            s[k] = cm_lanes_select(pushed, s[k], old[k]);
        }
    }
    cm_lanes_scatter(rows, 16, who, s);
}

static inline void ball_warm_path(cm_soft *soft, const cm_soft_balls *path, uint32_t at)
{
    uint32_t steps = path->who.steps;
    cm_fvec pull = cm_fvec_load(path->impulse, at), push = pull;
    ball_move_body(soft, NULL, path, at, pull, push);
    for (uint32_t i = 0; i < steps; i++) {
        bool ends = i + 1 == steps;
        push = pull;
        pull = ends ? pull : cm_fvec_load(path[i + 1].impulse, at);
        ball_move_body(soft, &path[i], ends ? NULL : &path[i + 1], at, pull, push);
    }
}

// A path that leads needs none: its equations are solved whole, whatever it did before.
static void ball_warm(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i += soft->joints->balls[i].who.steps) {
        const cm_soft_balls *path = &soft->joints->balls[i];
        for (uint32_t at = 0; !path->who.leads && at < CM_SOFT_LANES; at += CM_LANES) {
            ball_warm_path(soft, path, at);
        }
    }
}

// The inertias of the joint's bodies where they are now; its a is the b of the joint before.
static inline void ball_turn_inertias(cm_soft_balls *g, bool begins, uint32_t at, const arms *r)
{
    turn_inertias(g->start_inertia_b, at, r->turn_b, g->m.inertia_b);
    if (begins) {
        turn_inertias(g->start_inertia_a, at, r->turn_a, g->m.inertia_a);
    }
}

// Body by body from the path's first joint to its last, and back.
static inline void ball_solve_path(cm_soft *soft, cm_soft_balls *path, uint32_t at, bool relax)
{
    uint32_t steps = path->who.steps;
    cm_f zero = cm_lanes_set(0.0f);
    cm_fvec x = {zero, zero, zero}, pull = x;
    ball_body a, b;
    ball_gather(soft, path->who.a + at, relax, &a);
    for (uint32_t i = 0; i < steps; i++) {
        cm_soft_balls *g = &path[i];
        ball_gather(soft, g->who.b + at, relax, &b);
        if (relax) {
            arms r = reach_by(&g->ends, at, a.pose, b.pose);
            cm_fvec_store(g->ra, at, r.ra);
            cm_fvec_store(g->rb, at, r.rb);
            cm_fvec_store(g->gap, at, r.gap);
            if (path->turns) {
                ball_turn_inertias(g, i == 0, at, &r);
            }
        }
        if (relax || !path->made) {
            ball_factor_lanes(g, i == 0, at);
        }
        ball_eliminate(soft, g, i == 0, at, relax, &a, &b);
        a = b;
    }
    for (uint32_t i = steps; i-- > 0;) {
        x = ball_substitute(&path[i], i + 1 == steps, at, x);
        cm_fvec push = ball_push(soft, &path[i], at, relax, x);
        ball_move_body(soft, &path[i], i + 1 == steps ? NULL : &path[i + 1], at, pull, push);
        pull = push;
    }
    ball_move_body(soft, NULL, path, at, pull, pull);
}

static void ball_solve(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i += soft->joints->balls[i].who.steps) {
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            ball_solve_path(soft, &soft->joints->balls[i], at, false);
        }
        soft->joints->balls[i].made = 1;
    }
}

static void ball_relax(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i += soft->joints->balls[i].who.steps) {
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            ball_solve_path(soft, &soft->joints->balls[i], at, true);
        }
    }
}
