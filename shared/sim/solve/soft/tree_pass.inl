// The passes over trees of joints (joint_tree.c): included by joint_pass.inl, once a width.
//
// The blocks of a tree are solved at once, leaves first, by what each body answers to a push (R.
// Featherstone, "Rigid Body Dynamics Algorithms", 2008, the articulated body; as inverses, so that
// what weighs nothing beside its load does no harm). Eliminating a joint takes from its parent's
// response what the joint gives way: response -= H D^-1 H^T, K = L D L^T, H = L^-1 times what the
// block does to the parent. A joint of a tree costs the same wherever it hangs. Rows by themselves
// (springs, motors, limits) are in the equations too, before the block's, as long as they are
// within their bounds (tree_bounds.inl). Typical: 13 times 10 groups.

// Single rows before the first that is in the equations of some lane are left out. Balls and hinges
// have code of their own, in which linear parts, and mostly counts, are constants.
#define FOR_BLOCK(f, soft, g, ...)                                                                 \
    do {                                                                                           \
        uint32_t singles = (g)->singles - (g)->from;                                               \
        if ((g)->form == CM_FORM_ANY) {                                                            \
            f(soft, g, __VA_ARGS__, singles, singles + (g)->block, false);                         \
        } else if ((g)->form == CM_FORM_BALL) {                                                    \
            f(soft, g, __VA_ARGS__, 0, 3, true);                                                   \
        } else if (singles == 0) {                                                                 \
            f(soft, g, __VA_ARGS__, 0, 5, true);                                                   \
        } else {                                                                                   \
            f(soft, g, __VA_ARGS__, singles, singles + 5, true);                                   \
        }                                                                                          \
    } while (0)

// A body's response, in the order of cm_soft_limb.
typedef struct limb_answers {
    cm_f w[24];
} limb_answers;

static inline void limb_load(const cm_soft *soft, const uint32_t *who, limb_answers *o)
{
    const float *limbs = soft->joints->limbs[0].response;
    cm_lanes_gather(limbs, CM_LIMB_FLOATS, who, o->w);
    cm_lanes_gather(limbs + 8, CM_LIMB_FLOATS, who, o->w + 8);
    cm_lanes_gather(limbs + 16, CM_LIMB_FLOATS, who, o->w + 16);
}

// The linear part of a row: along an axis of the world, none, or any.
enum { ALONG_X, ALONG_Z = 2, ALONG_NONE, ALONG_ANY };

// Row i of `count`: the last three of a ball or hinge hold its point, the others turn.
CM_LANES_INLINE uint32_t along_of(bool pointed, uint32_t i, uint32_t count)
{
    return !pointed ? ALONG_ANY : i + 3 < count ? ALONG_NONE : ALONG_X + i + 3 - count;
}

// A row as its child and as its parent have it: the linear part of the parent is the opposite.
typedef struct tree_row {
    uint32_t along;
    cm_f sign;      // of what is along an axis
    cm_fvec linear; // of what is along any
    cm_fvec child, parent;
} tree_row;

CM_LANES_INLINE tree_row tree_row_of(const cm_soft_row *g, uint32_t at, uint32_t along,
                                     cm_mask turned, cm_f sign)
{
    cm_fvec a = cm_fvec_load(g->angular_a, at), b = cm_fvec_load(g->angular_b, at);
    tree_row r = {.along = along, .sign = sign};
    if (along == ALONG_ANY) {
        r.linear = cm_fvec_scale(sign, cm_fvec_load(g->linear, at));
    }
    r.child = choose(turned, a, b);
    r.parent = choose(turned, b, a);
    return r;
}

// The row's end at the child, and at the parent.
typedef struct limb_end {
    uint32_t along;
    cm_f sign;
    cm_fvec linear, angular;
} limb_end;

CM_LANES_INLINE limb_end child_end(const tree_row *r)
{
    return (limb_end){r->along, r->sign, r->linear, r->child};
}

CM_LANES_INLINE limb_end parent_end(const tree_row *r)
{
    cm_f minus = cm_lanes_set(-1.0f);
    return (limb_end){r->along, minus * r->sign, cm_fvec_scale(minus, r->linear), r->parent};
}

CM_LANES_INLINE void limb_answer(const limb_answers *o, const limb_end *of, cm_f out[6])
{
    static const uint8_t symmetric[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const cm_f *m = o->w, *b = m + 6, *c = m + 15;
    cm_fvec l = of->linear, a = of->angular;
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *s = symmetric[i];
        cm_f linear = b[3 * i] * a.x + b[3 * i + 1] * a.y + b[3 * i + 2] * a.z;
        cm_f angular = c[s[0]] * a.x + c[s[1]] * a.y + c[s[2]] * a.z;
        if (of->along == ALONG_ANY) {
            linear = m[s[0]] * l.x + m[s[1]] * l.y + m[s[2]] * l.z + linear;
            angular = b[i] * l.x + b[3 + i] * l.y + b[6 + i] * l.z + angular;
        } else if (of->along != ALONG_NONE) {
            linear = m[s[of->along]] * of->sign + linear;
            angular = b[3 * of->along + i] * of->sign + angular;
        }
        out[i] = linear;
        out[3 + i] = angular;
    }
}

// Takes share h h^T away.
static inline void limb_yield(limb_answers *o, const cm_f h[6], cm_f share)
{
    cm_f *m = o->w;
    for (uint32_t i = 0, at = 0; i < 3; i++) {
        cm_f linear = share * h[i], angular = share * h[3 + i];
        for (uint32_t j = i; j < 3; j++, at++) {
            m[at] = m[at] - linear * h[j];
            m[15 + at] = m[15 + at] - angular * h[3 + j];
        }
        for (uint32_t j = 0; j < 3; j++) {
            m[6 + 3 * i + j] = m[6 + 3 * i + j] - linear * h[3 + j];
        }
    }
}

static inline cm_mask turned_lanes(const cm_soft_rows *g, uint32_t at, cm_f *sign)
{
    *sign = LOAD(sign);
    return cm_lanes_greater(cm_lanes_set(0.0f), *sign);
}

// J x of a limb whose six are x.
CM_LANES_INLINE cm_f row_of(const limb_end *of, const cm_f x[6])
{
    cm_f angular = cm_fvec_dot(of->angular, (cm_fvec){x[3], x[4], x[5]});
    if (of->along == ALONG_ANY) {
        return cm_fvec_dot(of->linear, (cm_fvec){x[0], x[1], x[2]}) + angular;
    }
    return of->along == ALONG_NONE ? angular : of->sign * x[of->along] + angular;
}

// The way that the joint's bodies alone give, as row_coupling.
CM_LANES_INLINE cm_f row_alone(const masses *m, const cm_soft_row *row, uint32_t at, uint32_t along)
{
    if (along == ALONG_ANY) {
        return row_coupling(m, row, row, at);
    }
    cm_f a = cm_fvec_dot(cm_fvec_load(row->angular_a, at), cm_fvec_load(row->turn_a, at));
    cm_f b = cm_fvec_dot(cm_fvec_load(row->angular_b, at), cm_fvec_load(row->turn_b, at));
    return along == ALONG_NONE ? a + b : m->ma + m->mb + a + b;
}

// K = L D L^T of the joint's rows; a pivot that vanishes (rows that say the same) lets its row go.
CM_LANES_INLINE void tree_factor(cm_soft *soft, cm_soft_rows *g, uint32_t at, uint32_t singles,
                                 uint32_t count, bool pointed)
{
    cm_f sign, zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_mask turned = turned_lanes(g, at, &sign);
    masses m = row_masses(g, at);
    limb_answers child, parent;
    const cm_soft_row *row_of_g = g->rows + g->from;
    const cm_soft_single *single = g->single + g->from;
    cm_soft_lanes *pivots = g->inverse_pivot + g->from, (*reach)[6] = g->reach + g->from;
    tree_row rows[CM_JOINT_GROUP_ROWS];
    cm_f h[CM_JOINT_GROUP_ROWS][6], l[CM_JOINT_TREE_FACTORS], pivot[CM_JOINT_GROUP_ROWS];
    cm_f inverse_pivot[CM_JOINT_GROUP_ROWS];
    limb_load(soft, g->child + at, &child);
    limb_load(soft, g->parent + at, &parent);
    CM_LANES_UNROLL(5)
    for (uint32_t i = 0, row = 0; i < count; row += i, i++) {
        cm_f own[6];
        uint32_t along = along_of(pointed, i, count);
        tree_row r = tree_row_of(&row_of_g[i], at, along, turned, sign);
        limb_end to_child = child_end(&r), to_parent = parent_end(&r);
        rows[i] = r;
        limb_answer(&child, &to_child, own);
        limb_answer(&parent, &to_parent, h[i]);
        cm_f diagonal = row_of(&to_child, own) + row_of(&to_parent, h[i]);
        cm_f alone = row_alone(&m, &row_of_g[i], at, along);
        diagonal = diagonal + LOAD(give) * alone;
        if (i < singles) {
            diagonal = diagonal + cm_lanes_load(single[i].yield + at);
        }
        cm_f raw[6];
        memcpy(raw, h[i], sizeof raw);
        CM_LANES_UNROLL(5)
        for (uint32_t k = 0, from = 0; k < i; from += k, k++) {
            rows[k].along = along_of(pointed, k, count);
            limb_end child_k = child_end(&rows[k]), parent_k = parent_end(&rows[k]);
            cm_f sum = row_of(&child_k, own) + row_of(&parent_k, raw);
            for (uint32_t n = 0; n < k; n++) {
                sum = sum - l[row + n] * pivot[n] * l[from + n];
            }
            l[row + k] = sum * inverse_pivot[k];
            diagonal = diagonal - sum * l[row + k];
            for (uint32_t n = 0; n < 6; n++) {
                h[i][n] = h[i][n] - l[row + k] * h[k][n];
            }
            STORE(factor[row + k], l[row + k]);
        }
        pivot[i] = diagonal;
        cm_mask some = cm_lanes_greater(diagonal, cm_lanes_set(PIVOT_MIN) * alone);
        if (i < singles) {
            some = some & cm_lanes_greater(cm_lanes_load(single[i].active + at), zero);
        }
        inverse_pivot[i] = cm_lanes_select(some, one / cm_lanes_select(some, diagonal, one), zero);
        cm_lanes_store(pivots[i] + at, inverse_pivot[i]);
        for (uint32_t n = 0; n < 6; n++) {
            cm_lanes_store(reach[i][n] + at, h[i][n]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        limb_yield(&parent, h[i], inverse_pivot[i]);
    }
    float *limbs = soft->joints->limbs[0].response;
    cm_lanes_scatter(limbs, CM_LIMB_FLOATS, g->parent + at, parent.w);
    cm_lanes_scatter(limbs + 8, CM_LIMB_FLOATS, g->parent + at, parent.w + 8);
    cm_lanes_scatter(limbs + 16, CM_LIMB_FLOATS, g->parent + at, parent.w + 16);
}

// A row by itself wants this beside its speed: its bias, and what it yields.
static inline cm_f single_wants(const cm_soft_row *row, const cm_soft_single *g, uint32_t at,
                                bool relax)
{
    return LOAD(bias[relax]) + LOAD(yield) * cm_lanes_load(row->impulse + at);
}

// The speed at which the joint's ends part, less what the joints below take: right = (L D)^-1 of
// that.
CM_LANES_INLINE void tree_eliminate(cm_soft *soft, cm_soft_rows *g, uint32_t at, bool relax,
                                    uint32_t round, uint32_t singles, uint32_t count, bool pointed)
{
    const cm_softness *ball = &soft->joints->ball;
    float *speeds_of = soft->joints->limbs[0].speed;
    cm_f sign, child[8], parent[8], push = cm_lanes_set(JOINT_PUSH_SPEED);
    cm_f zero = cm_lanes_set(0.0f);
    cm_mask turned = turned_lanes(g, at, &sign);
    cm_f x[CM_JOINT_GROUP_ROWS], rate = cm_lanes_set(ball->bias_rate);
    cm_lanes_gather(speeds_of, CM_LIMB_FLOATS, g->child + at, child);
    cm_lanes_gather(speeds_of, CM_LIMB_FLOATS, g->parent + at, parent);
    cm_f taken[6];
    memcpy(taken, parent, sizeof taken);
    const cm_soft_row *row_of_g = g->rows + g->from;
    const cm_soft_single *single = g->single + g->from;
    const cm_soft_lanes *pivots = g->inverse_pivot + g->from;
    const cm_soft_lanes(*reach)[6] = (const cm_soft_lanes(*)[6])(g->reach + g->from);
    cm_soft_lanes *rights = g->right + g->from;
    CM_LANES_UNROLL(5)
    for (uint32_t i = 0, row = 0; i < count; row += i, i++) {
        const cm_soft_row *r = &row_of_g[i];
        tree_row of = tree_row_of(r, at, along_of(pointed, i, count), turned, sign);
        limb_end to_child = child_end(&of), to_parent = parent_end(&of);
        x[i] = row_of(&to_child, child) + row_of(&to_parent, parent);
        if (i < singles) {
            x[i] = x[i] + single_wants(r, &single[i], at, relax);
        } else if (!relax) {
            x[i] = x[i] + joint_clamp(rate * cm_lanes_load(r->error + at), -push, push);
        }
        if (round > 0) {
            x[i] = cm_lanes_select(cm_lanes_greater(LOAD(live), zero), x[i], zero);
        }
        for (uint32_t k = 0; k < i; k++) {
            x[i] = x[i] - LOAD(factor[row + k]) * x[k];
        }
        cm_f right = x[i] * cm_lanes_load(pivots[i] + at);
        cm_lanes_store(rights[i] + at, right);
        for (uint32_t n = 0; n < 6; n++) {
            taken[n] = taken[n] - cm_lanes_load(reach[i][n] + at) * right;
        }
    }
    memcpy(parent, taken, sizeof taken);
    cm_lanes_scatter(speeds_of, CM_LIMB_FLOATS, g->parent + at, parent);
}

// As row_apply.
CM_LANES_INLINE void tree_apply(const cm_soft_row *row, uint32_t at, uint32_t along,
                                const masses *m, cm_f impulse, speeds *s)
{
    if (along == ALONG_ANY) {
        row_apply(row, at, m, impulse, s);
        return;
    }
    if (along != ALONG_NONE) {
        cm_f *a = &s->va.x, *b = &s->vb.x;
        a[along] = a[along] - m->ma * impulse;
        b[along] = b[along] + m->mb * impulse;
    }
    s->wa = cm_fvec_add(s->wa, cm_fvec_scale(impulse, cm_fvec_load(row->turn_a, at)));
    s->wb = cm_fvec_add(s->wb, cm_fvec_scale(impulse, cm_fvec_load(row->turn_b, at)));
}

// The joint's unknowns, from those above; and what they do.
CM_LANES_INLINE void tree_substitute(cm_soft *soft, cm_soft_rows *g, uint32_t at, bool relax,
                                     uint32_t round, uint32_t singles, uint32_t count, bool pointed)
{
    float *pushes = soft->joints->limbs[0].push;
    cm_f sign, child[8], parent[8], x[CM_JOINT_GROUP_ROWS];
    cm_mask turned = turned_lanes(g, at, &sign);
    masses m = row_masses(g, at);
    speeds s;
    gather_members(soft, &g->who, at, &s);
    cm_lanes_gather(pushes, CM_LIMB_FLOATS, g->parent + at, parent);
    for (uint32_t i = 0; i < 8; i++) {
        child[i] = cm_lanes_set(0.0f);
    }
    const cm_soft_lanes *pivots = g->inverse_pivot + g->from;
    const cm_soft_lanes(*reach)[6] = (const cm_soft_lanes(*)[6])(g->reach + g->from);
    cm_soft_lanes *rights = g->right + g->from;
    cm_soft_row *row_of_g = g->rows + g->from;
    for (uint32_t i = 0; i < count; i++) {
        cm_f sum = cm_lanes_load(reach[i][0] + at) * parent[0];
        for (uint32_t n = 1; n < 6; n++) {
            sum = sum + cm_lanes_load(reach[i][n] + at) * parent[n];
        }
        x[i] = cm_lanes_load(rights[i] + at) - cm_lanes_load(pivots[i] + at) * sum;
    }
    for (uint32_t i = count; i-- > 0;) {
        for (uint32_t k = i + 1; k < count; k++) {
            x[i] = x[i] - LOAD(factor[k * (k - 1) / 2 + i]) * x[k];
        }
    }
    CM_LANES_UNROLL(5)
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_row *row = &row_of_g[i];
        uint32_t along = along_of(pointed, i, count);
        tree_row of = tree_row_of(row, at, along, turned, sign);
        cm_f change = -x[i];
        if (along == ALONG_ANY) {
            child[0] = child[0] + of.linear.x * x[i], parent[0] = parent[0] - of.linear.x * x[i];
            child[1] = child[1] + of.linear.y * x[i], parent[1] = parent[1] - of.linear.y * x[i];
            child[2] = child[2] + of.linear.z * x[i], parent[2] = parent[2] - of.linear.z * x[i];
        } else if (along != ALONG_NONE) {
            child[along] = child[along] + sign * x[i], parent[along] = parent[along] - sign * x[i];
        }
        child[3] = child[3] + of.child.x * x[i], parent[3] = parent[3] + of.parent.x * x[i];
        child[4] = child[4] + of.child.y * x[i], parent[4] = parent[4] + of.parent.y * x[i];
        child[5] = child[5] + of.child.z * x[i], parent[5] = parent[5] + of.parent.z * x[i];
        change = relax ? change : LOAD(share) * change;
        bool adds = relax || round > 0 || i < singles;
        cm_f old = adds ? cm_lanes_load(row->impulse + at) : cm_lanes_set(0.0f);
        cm_lanes_store(row->impulse + at, adds ? old + change : change);
        cm_lanes_store(rights[i] + at, change);
        tree_apply(row, at, along, &m, change, &s);
    }
    cm_lanes_scatter(pushes, CM_LIMB_FLOATS, g->child + at, child);
    cm_lanes_scatter(pushes, CM_LIMB_FLOATS, g->parent + at, parent);
    scatter_members(soft, &g->who, &g->m, at, &s);
}

// The limbs of a group as their bodies are, before any joint is eliminated. Inertias turn with
// them.
static inline void limbs_respond(cm_soft *soft, const cm_soft_rows *tree)
{
    const uint32_t stride = sizeof(cm_soft_limb) / sizeof(float);
    const uint32_t last = tree->limbs[CM_SOFT_LANES] - 1;
    float *to = soft->joints->limbs[0].response;
    cm_f zero = cm_lanes_set(0.0f);
    for (uint32_t first = tree->limbs[0]; first <= last; first += CM_LANES) {
        uint32_t limb[CM_LANES], body[CM_LANES];
        cm_f i[8], start[8], pose[8];
        for (uint32_t k = 0; k < CM_LANES; k++) {
            limb[k] = first + k < last ? first + k : last;
            body[k] = soft->joints->limb_bodies[limb[k]];
        }
        cm_lanes_gather(&soft->inertias[0].inverse_mass, 8, body, start);
        cm_lanes_gather(&soft->bodies[0].shift.x, 16, body, pose);
        memcpy(i, start, sizeof i);
        turned_inverse(i + 1, (quat){pose[3], pose[4], pose[5], pose[6]});
        cm_mask round = is_ball(start + 1);
        for (uint32_t k = 1; k < 7; k++) {
            i[k] = cm_lanes_select(round, start[k], i[k]);
        }
        cm_f own[24] = {i[0], zero, zero, i[0], zero, i[0], zero, zero, zero, zero, zero, zero,
                        zero, zero, zero, i[1], i[2], i[3], i[4], i[5], i[6], zero, zero, zero};
        for (uint32_t k = 0; k < 24; k += 8) {
            cm_lanes_scatter(to + k, stride, limb, own + k);
        }
    }
}

static inline void limbs_move(cm_soft *soft, const cm_soft_rows *tree, uint32_t at)
{
    for (uint32_t i = tree->limbs[at]; i < tree->limbs[at + CM_LANES]; i++) {
        cm_soft_limb *limb = &soft->joints->limbs[i];
        memcpy(limb->start, &soft->bodies[soft->joints->limb_bodies[i]], sizeof limb->start);
        memcpy(limb->speed, &soft->bodies[soft->joints->limb_bodies[i]], sizeof limb->speed);
        memset(limb->push, 0, sizeof limb->push);
    }
}

#include "shared/sim/solve/soft/tree_bounds.inl"

// Rows of the present poses.
static void make_tree(cm_soft *soft, cm_soft_rows *tree)
{
    for (uint32_t i = 0; i < tree->who.steps; i++) {
        make_rows(soft, &tree[i], 0);
        for (uint32_t k = 0; k < tree[i].singles; k++) {
            for (uint32_t at = 0; lanes_go_on(tree, at); at += CM_LANES) {
                yield_single(&tree[i], k, at);
            }
        }
    }
}

// Leaves out single rows before the first one that is in the equations of some lane.
static inline void choose_single_rows(cm_soft_rows *g)
{
    float active = 0.0f;
    for (g->from = 0; g->from < g->singles; g->from++) {
        for (uint32_t lane = 0; lane < g->who.lanes; lane++) {
            active += g->single[g->from].active[lane];
        }
        if (active > 0.0f) {
            return;
        }
        memset(g->right[g->from], 0, sizeof g->right[g->from]);
    }
}

static void factor_tree(cm_soft *soft, cm_soft_rows *tree)
{
    limbs_respond(soft, tree);
    for (uint32_t i = 0; i < tree->who.steps; i++) {
        choose_single_rows(&tree[i]);
        for (uint32_t at = 0; lanes_go_on(tree, at); at += CM_LANES) {
            FOR_BLOCK(tree_factor, soft, &tree[i], at);
        }
    }
    tree->factored = 1;
}

// Solves for what the rows want, less what they have; after the first round in live lanes alone.
static void tree_round(cm_soft *soft, cm_soft_rows *tree, bool relax, uint32_t round)
{
    for (uint32_t at = 0; lanes_go_on(tree, at); at += CM_LANES) {
        limbs_move(soft, tree, at);
        for (uint32_t i = 0; i < tree->who.steps; i++) {
            FOR_BLOCK(tree_eliminate, soft, &tree[i], at, relax, round);
        }
        for (uint32_t i = tree->who.steps; i-- > 0;) {
            FOR_BLOCK(tree_substitute, soft, &tree[i], at, relax, round);
        }
    }
}

static void tree_solve(cm_soft *soft, cm_soft_rows *tree, bool relax)
{
    bool make = relax || !tree->made;
    if (make) {
        make_tree(soft, tree);
    }
    bool bounded = begin_tree(soft, tree, relax);
    if (make || !tree->factored) {
        factor_tree(soft, tree);
    }
    tree_round(soft, tree, relax, 0);
    for (uint32_t round = 1; bounded && clamp_tree(soft, tree, relax, round); round++) {
        factor_tree(soft, tree);
        tree_round(soft, tree, relax, round);
    }
    for (uint32_t i = 0; relax && i < tree->who.steps; i++) {
        for (uint32_t at = 0; lanes_go_on(tree, at); at += CM_LANES) {
            sum_rows(&tree[i], at);
        }
    }
}
