// Rows of trees that have bounds (limits, motors, springs): included by tree_pass.inl, once a
// width.
//
// A row within its bounds is in the tree's equations; one at a bound stays there and is out of
// them, until its speed asks for it. They are solved in rounds until no row changes sides. From a
// solution within all bounds a round goes only as far as the first row that reaches one (C. Lawson,
// R. Hanson, "Solving Least Squares Problems", 1974: NNLS), so each round is nearer to the end and
// any may be the last: nothing is gained. Before the first such solution rows that are out of their
// bounds leave at once. Lanes whose rows keep their sides take no part in further rounds, so that
// no tree depends on what lies beside it. Typical: none to two rounds more; a whip of 20 limits
// takes all.

#define TREE_ROUNDS 8u
#define TREE_SPEED  1.0e-4f // m/s, rad/s: what is slower asks for nothing

// Computes how much a spring yields, by the masses of the joint's two bodies if it is known by its
// hertz.
static inline void yield_single(cm_soft_rows *group, uint32_t i, uint32_t at)
{
    cm_soft_single *g = &group->single[i];
    masses m = row_masses(group, at);
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), gamma = LOAD(gamma);
    cm_f own = row_coupling(&m, &group->rows[i], &group->rows[i], at), part = LOAD(mass_scale);
    cm_mask some = cm_lanes_greater(part, zero), lasting = cm_lanes_greater(LOAD(lasting), zero);
    cm_f by_mass = own * LOAD(impulse_scale) / cm_lanes_select(some, part, one);
    by_mass = cm_lanes_select(some, by_mass, zero);
    cm_f yield = cm_lanes_select(cm_lanes_greater(gamma, zero), gamma, by_mass);
    STORE(yield, cm_lanes_select(lasting, yield, zero));
}

// The bias of a substep, or of its relax pass; a spring keeps that of where the substep began.
static inline void bias_single(const cm_soft *soft, cm_soft_single *g, const cm_soft_row *row,
                               uint32_t at, bool relax)
{
    cm_f zero = cm_lanes_set(0.0f), push = LOAD(bias_limit), velocity = LOAD(velocity);
    cm_f error = cm_lanes_load(row->error + at);
    cm_mask open = cm_lanes_greater(LOAD(limit), zero) & cm_lanes_greater(error, zero);
    cm_f bias = joint_clamp(LOAD(rate) * error, -push, push);
    if (relax) {
        bias =
            cm_lanes_select(cm_lanes_greater(LOAD(lasting), zero), LOAD(bias[0]) + velocity, zero);
    }
    bias = cm_lanes_select(open, error * cm_lanes_set(1.0f / soft->h), bias);
    STORE(bias[relax], bias - velocity);
}

// A row is in the equations if what it did in the last substep is within its bounds. What it did it
// does again, so that a motor that holds a load yields nothing; a limit begins from nothing, else
// chains of limits with a load gain a percent.
static inline cm_f begin_single(cm_soft_row *row, cm_soft_single *g, uint32_t at, const masses *m,
                                speeds *s)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_f old = cm_lanes_load(row->impulse + at), lower = LOAD(lower), upper = LOAD(upper);
    cm_mask in = cm_lanes_greater(old, lower) & cm_lanes_greater(upper, old);
    cm_mask holds = cm_lanes_greater(LOAD(mass_scale), zero) | cm_lanes_greater(LOAD(gamma), zero);
    cm_f active = cm_lanes_select(in & holds, one, zero);
    cm_mask none = (in & cm_lanes_greater(LOAD(limit), zero)) | ~holds;
    cm_f now = cm_lanes_select(none, zero, joint_clamp(old, lower, upper));
    cm_f changed = cm_lanes_abs(active - LOAD(active));
    STORE(active, active);
    cm_lanes_store(row->impulse + at, now);
    row_apply(row, at, m, now, s);
    return changed;
}

static inline void begin_singles(cm_soft *soft, cm_soft_rows *g, cm_soft_rows *tree, uint32_t at,
                                 bool relax)
{
    speeds s;
    masses m = row_masses(g, at);
    cm_f changed = cm_lanes_load(tree->changed + at);
    gather_members(soft, &g->who, at, &s);
    for (uint32_t i = 0; i < g->singles; i++) {
        bias_single(soft, &g->single[i], &g->rows[i], at, relax);
        if (!relax) {
            changed = cm_lanes_max(changed, begin_single(&g->rows[i], &g->single[i], at, &m, &s));
        }
    }
    scatter_members(soft, &g->who, &g->m, at, &s);
    cm_lanes_store(tree->changed + at, changed);
}

// Marks lanes that changed as live: true if there are any. They have no factors then.
static bool wake_lanes(cm_soft_rows *tree)
{
    bool any = false;
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        any |= tree->changed[lane] > 0.0f;
    }
    for (uint32_t i = 0; any && i < tree->who.steps; i++) {
        memcpy(tree[i].live, tree->changed, sizeof tree->live);
    }
    tree->factored &= !any;
    return any;
}

// Before the first round; false if no row has bounds.
static bool begin_tree(cm_soft *soft, cm_soft_rows *tree, bool relax)
{
    bool bounded = false;
    for (uint32_t i = 0; i < tree->who.steps; i++) {
        bounded |= tree[i].singles > 0;
    }
    if (!bounded) {
        return false;
    }
    memset(tree->feasible, 0, sizeof tree->feasible);
    memset(tree->changed, 0, sizeof tree->changed);
    for (uint32_t i = 0; i < tree->who.steps; i++) {
        for (uint32_t at = 0; tree[i].singles > 0 && lanes_go_on(tree, at); at += CM_LANES) {
            begin_singles(soft, &tree[i], tree, at, relax);
        }
    }
    wake_lanes(tree);
    return true;
}

// A row that the round took out of its bounds.
typedef struct leaving {
    cm_mask out;
    cm_f bound, part; // which one, and the part of the round that reaches it; else 1
} leaving;

static inline leaving find_leaving(const cm_soft_rows *group, uint32_t i, uint32_t at)
{
    const cm_soft_single *g = &group->single[i];
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_f now = cm_lanes_load(group->rows[i].impulse + at);
    cm_f moved = cm_lanes_load(group->right[i] + at), lower = LOAD(lower), upper = LOAD(upper);
    cm_mask below = cm_lanes_greater(lower, now), some;
    leaving l = {(below | cm_lanes_greater(now, upper)) & cm_lanes_greater(LOAD(active), zero),
                 cm_lanes_select(below, lower, upper), one};
    some = cm_lanes_greater(cm_lanes_abs(moved), zero);
    cm_f part = one - (now - l.bound) / cm_lanes_select(some, moved, one);
    l.part = cm_lanes_select(l.out & some, joint_clamp(part, zero, one), one);
    return l;
}

static inline void step_singles(const cm_soft_rows *g, cm_soft_rows *tree, uint32_t at)
{
    cm_f step = cm_lanes_load(tree->step + at);
    for (uint32_t i = 0; i < g->singles; i++) {
        step = cm_lanes_min(step, find_leaving(g, i, at).part);
    }
    cm_lanes_store(tree->step + at, step);
}

// The part of a round that a group keeps.
typedef struct kept_round {
    cm_f step, back;        // the part that is kept, and the rest
    cm_mask whole, started; // all of it; from a solution within bounds
    bool last;              // only one round is left: rows go, none comes, and of what is no
                            // solution all go
} kept_round;

// Puts a row's impulse within its bounds, and the row into the equations or out of them. Returns 1
// where it changed sides.
static inline cm_f clamp_single(cm_soft_row *row, cm_soft_single *g, uint32_t at, const masses *m,
                                leaving l, const kept_round *of, bool relax, speeds *s)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), least = cm_lanes_set(TREE_SPEED);
    cm_f old = cm_lanes_load(row->impulse + at), active = LOAD(active);
    cm_f lower = LOAD(lower), upper = LOAD(upper);
    cm_mask in = cm_lanes_greater(active, zero);
    cm_mask leaves = l.out & (cm_lanes_at_most(l.part, of->step) | ~of->started);
    if (of->last) {
        cm_mask all = in & ~of->started & ~of->whole, limit = cm_lanes_greater(LOAD(limit), zero);
        cm_f still = cm_lanes_select(limit, lower, joint_clamp(old, lower, upper));
        l.bound = cm_lanes_select(all, still, l.bound);
        leaves = leaves | all;
    }
    cm_f now = cm_lanes_select(leaves, l.bound, old);
    row_apply(row, at, m, now - old, s);
    cm_lanes_store(row->impulse + at, now);
    cm_f side = cm_lanes_select(leaves, zero, active);
    if (!of->last) {
        cm_f x = row_speed(row, at, s) + single_wants(row, g, at, relax);
        cm_mask asks = (cm_lanes_at_most(now, lower) & cm_lanes_greater(-least, x)) |
                       (cm_lanes_at_most(upper, now) & cm_lanes_greater(x, least));
        asks = asks & cm_lanes_greater(upper, lower) & of->whole & ~in;
        side = cm_lanes_select(asks, one, side);
    }
    STORE(active, side);
    return cm_lanes_abs(side - active);
}

// Its first `count` rows.
static inline void clamp_group(cm_soft *soft, cm_soft_rows *g, cm_soft_rows *tree, uint32_t count,
                               uint32_t at, bool relax, bool last)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_f changed = cm_lanes_load(tree->changed + at);
    kept_round of = {.step = cm_lanes_load(tree->step + at), .last = last};
    of.whole = cm_lanes_at_most(one, of.step);
    of.started = cm_lanes_greater(cm_lanes_load(tree->feasible + at), zero);
    of.back = cm_lanes_select(of.whole, zero, cm_lanes_select(of.started, one - of.step, one));
    speeds s;
    masses m = row_masses(g, at);
    gather_members(soft, &g->who, at, &s);
    for (uint32_t i = 0; i < count; i++) {
        cm_soft_row *row = &g->rows[i];
        cm_f now = cm_lanes_load(row->impulse + at);
        leaving l = {of.whole, zero, zero};
        if (i < g->singles) {
            l = find_leaving(g, i, at);
        }
        cm_lanes_store(row->impulse + at, now - of.back * LOAD(right[i]));
        if (i < g->singles) {
            cm_f turned = clamp_single(row, &g->single[i], at, &m, l, &of, relax, &s);
            changed = cm_lanes_max(changed, turned);
        }
    }
    cm_lanes_store(tree->changed + at, changed);
    scatter_members(soft, &g->who, &g->m, at, &s);
}

// Bodies go back to the part of the round that their lane keeps.
static void step_back(cm_soft *soft, const cm_soft_rows *tree)
{
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        float part = tree->step[lane] < 1.0f ? tree->feasible[lane] * tree->step[lane] : 1.0f;
        for (uint32_t i = tree->limbs[lane]; part < 1.0f && i < tree->limbs[lane + 1]; i++) {
            const float *start = soft->joints->limbs[i].start;
            uint32_t body = soft->joints->limb_bodies[i];
            float *now = &soft->bodies[body].v.x;
            for (uint32_t k = 0; k < 6 && soft->inertias[body].inverse_mass > 0.0f; k++) {
                now[k] = start[k] + part * (now[k] - start[k]);
            }
        }
    }
}

// After a round; true if one more is to be solved, in the lanes that are live.
static bool clamp_tree(cm_soft *soft, cm_soft_rows *tree, bool relax, uint32_t round)
{
    memset(tree->changed, 0, sizeof tree->changed);
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        tree->step[lane] = 1.0f;
    }
    for (uint32_t i = 0; i < tree->who.steps; i++) {
        for (uint32_t at = 0; tree[i].singles > 0 && lanes_go_on(tree, at); at += CM_LANES) {
            step_singles(&tree[i], tree, at);
        }
    }
    step_back(soft, tree);
    bool whole = true; // of all lanes: then single rows alone may change
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        whole &= tree->step[lane] >= 1.0f;
    }
    for (uint32_t i = 0; i < tree->who.steps; i++) {
        uint32_t count = tree[i].singles + (whole ? 0 : tree[i].block);
        for (uint32_t at = 0; count > 0 && lanes_go_on(tree, at); at += CM_LANES) {
            clamp_group(soft, &tree[i], tree, count, at, relax, round + 2 > TREE_ROUNDS);
        }
    }
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        tree->feasible[lane] = tree->step[lane] < 1.0f ? tree->feasible[lane] : 1.0f;
    }
    return wake_lanes(tree) && round < TREE_ROUNDS;
}
