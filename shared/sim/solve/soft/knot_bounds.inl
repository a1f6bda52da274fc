// Rows of knots that have bounds (limits, motors, springs): included by knot_pass.inl, once a
// width. The rounds are those of tree_bounds.inl, which says why.

// Computes how much springs yield, by the masses of the joint's two bodies if they are known by
// their hertz.
static void yield_bounds(cm_soft_knot *k)
{
    for (uint32_t i = 0; i < k->singles; i++) {
        cm_soft_bound *g = &k->bound[i];
        float gamma = g->gamma, part = g->mass_scale, by_mass = 0.0f;
        if (part > 0.0f) {
            by_mass = k->alone[i] * g->impulse_scale / part;
        }
        float yield = gamma > 0.0f ? gamma : by_mass;
        g->yield = g->lasting > 0.0f ? yield : 0.0f;
    }
}

// A row's impulse changes: so do its bodies.
static inline void push_row(const cm_soft_joints *joints, const cm_soft_knot *k, uint32_t row,
                            float change)
{
    if (change == 0.0f) {
        return;
    }
    cm_soft_knot_body *child = &joints->knot_bodies[k->child],
                      *parent = &joints->knot_bodies[k->parent];
    eight_store(child->now, eight_load(child->now) +
                                pushed_by(eight_load(child->mass), k->child_turn[row], change));
    eight_store(parent->now, eight_load(parent->now) +
                                 pushed_by(eight_load(parent->mass), k->parent_turn[row], change));
}

// J v of the single rows.
static inline void knot_speeds(const cm_soft_joints *joints, const cm_soft_knot *k, float *to)
{
    const float *child = k->child_across[0], *parent = k->parent_across[0];
    const float *of_child = joints->knot_bodies[k->child].now,
                *of_parent = joints->knot_bodies[k->parent].now;
    const float *a = k->flipped ? child : parent, *b = k->flipped ? parent : child;
    const float *of_a = k->flipped ? of_child : of_parent;
    const float *of_b = k->flipped ? of_parent : of_child;
    eight speed = across_load(child, 0) * (of_child[0] - of_parent[0]) +
                  across_load(child, 1) * (of_child[1] - of_parent[1]) +
                  across_load(child, 2) * (of_child[2] - of_parent[2]);
    speed = speed + (across_load(a, 3) * of_a[3] + across_load(a, 4) * of_a[4] +
                     across_load(a, 5) * of_a[5]);
    speed = speed + (across_load(b, 3) * of_b[3] + across_load(b, 4) * of_b[4] +
                     across_load(b, 5) * of_b[5]);
    eight_store(to, speed);
}

// The bias of a substep, or of its relax pass; a spring keeps that of where the substep began.
static inline void bias_bound(const cm_soft *soft, cm_soft_bound *g, float error, bool relax)
{
    float push = g->bias_limit, velocity = g->velocity;
    float bias = clamp_to(g->rate * error, -push, push);
    if (relax) {
        bias = g->lasting > 0.0f ? g->bias[0] + velocity : 0.0f;
    }
    bias = g->limit > 0.0f && error > 0.0f ? error * (1.0f / soft->h) : bias;
    g->bias[relax] = bias - velocity;
}

// True if the row changed sides.
static inline bool begin_bound(const cm_soft_joints *joints, cm_soft_knot *k, uint32_t row)
{
    cm_soft_bound *g = &k->bound[row];
    float old = k->impulse[row], lower = g->lower, upper = g->upper;
    bool in = old > lower && upper > old;
    bool holds = g->mass_scale > 0.0f || g->gamma > 0.0f;
    float active = in && holds ? 1.0f : 0.0f;
    bool none = (in && g->limit > 0.0f) || !holds;
    bool changed = active != g->active;
    g->active = active;
    k->impulse[row] = none ? 0.0f : clamp_to(old, lower, upper);
    push_row(joints, k, row, k->impulse[row]);
    return changed;
}

// Before the first round.
static void begin_knots(cm_soft *soft, cm_soft_knot_tree *tree, bool relax)
{
    const cm_soft_joints *joints = soft->joints;
    bool changed = false;
    for (uint32_t i = tree->first; i < tree->end; i++) {
        cm_soft_knot *k = &joints->knots[i];
        for (uint32_t r = 0; r < k->singles; r++) {
            bias_bound(soft, &k->bound[r], k->error[r], relax);
            changed |= !relax && begin_bound(joints, k, r);
        }
    }
    tree->factored &= !changed;
}

// A row of the equations that a round took out of its bounds.
typedef struct way_out {
    bool out;
    float bound, part; // which bound, and the part of the round that reaches it; else 1
} way_out;

static inline way_out find_way_out(const cm_soft_knot *k, uint32_t i)
{
    const cm_soft_bound *g = &k->bound[i];
    float now = k->impulse[i], moved = k->right[i];
    float lower = g->lower, upper = g->upper;
    bool below = lower > now;
    way_out l = {below || now > upper, below ? lower : upper, 1.0f};
    if (l.out && (moved > 0.0f || moved < 0.0f)) {
        l.part = clamp_to(1.0f - (now - l.bound) / moved, 0.0f, 1.0f);
    }
    return l;
}

// The part of a round that a tree keeps.
typedef struct kept_part {
    float step, back;    // the part that is kept, and the rest
    bool whole, started; // all of it; from a solution within bounds
    bool last;           // only one round is left: rows go, none comes, and of what is no
                         // solution all go
} kept_part;

// Puts the impulse of a row of the equations within its bounds. True if it goes out of the
// equations.
static inline bool clamp_bound(const cm_soft_joints *joints, cm_soft_knot *k, uint32_t row,
                               const kept_part *of)
{
    cm_soft_bound *g = &k->bound[row];
    way_out l = find_way_out(k, row);
    float old = k->impulse[row] - of->back * k->right[row];
    bool leaves = l.out && (l.part <= of->step || !of->started);
    if (of->last && !of->started && !of->whole) {
        float lower = g->lower, upper = g->upper;
        l.bound = g->limit > 0.0f ? lower : clamp_to(old, lower, upper);
        leaves = true;
    }
    k->impulse[row] = leaves ? l.bound : old;
    push_row(joints, k, row, k->impulse[row] - old);
    g->active = leaves ? 0.0f : 1.0f;
    return leaves;
}

// True if a row that was not in the equations comes back, since its speed asks for it.
static inline bool ask_bound(cm_soft_knot *k, uint32_t row, float speed, bool relax)
{
    cm_soft_bound *g = &k->bound[row];
    float now = k->impulse[row], lower = g->lower, upper = g->upper;
    float x = speed + bound_wants(g, now, relax);
    bool asks =
        upper > lower && ((now <= lower && -TREE_SPEED > x) || (upper <= now && x > TREE_SPEED));
    g->active = asks ? 1.0f : 0.0f;
    return asks;
}

static bool clamp_knot(const cm_soft_joints *joints, cm_soft_knot *k, const kept_part *of,
                       bool relax)
{
    const cm_soft_bound *g = k->bound;
    bool changed = false;
    cm_soft_across speed = {0};
    if (k->singles > 0) {
        knot_speeds(joints, k, speed);
    }
    for (uint32_t i = 0; i < k->singles; i++) {
        if (g[i].active > 0.0f) {
            bool leaves = clamp_bound(joints, k, i, of);
            changed |= leaves;
            if (leaves) {
                knot_speeds(joints, k, speed);
            }
        } else if (of->whole && !of->last) {
            changed |= ask_bound(k, i, speed[i], relax);
        }
    }
    for (uint32_t i = k->singles; i < k->count && !of->whole; i++) {
        k->impulse[i] = k->impulse[i] - of->back * k->right[i];
    }
    return changed;
}

// Bodies go back to a part of the round.
static void go_back(const cm_soft_joints *joints, const cm_soft_knot_tree *tree, float part)
{
    for (uint32_t i = tree->first_body; i < tree->end_body; i++) {
        cm_soft_knot_body *body = &joints->knot_bodies[i];
        eight start = eight_load(body->start);
        eight_store(body->now, start + (eight_load(body->now) - start) * part);
    }
}

// After a round; true if one more is to be solved.
static bool clamp_knots(const cm_soft_joints *joints, cm_soft_knot_tree *tree, bool relax,
                        uint32_t round, bool *feasible)
{
    float step = 1.0f;
    for (uint32_t i = tree->first; i < tree->end; i++) {
        const cm_soft_knot *k = &joints->knots[i];
        const cm_soft_bound *bound = k->bound;
        for (uint32_t r = 0; r < k->singles; r++) {
            float part = 1.0f;
            if (bound[r].active > 0.0f) {
                part = find_way_out(k, r).part;
            }
            step = part < step ? part : step;
        }
    }
    kept_part of = {step, 0.0f, step >= 1.0f, *feasible, round + 2 > TREE_ROUNDS};
    if (!of.whole) {
        of.back = of.started ? 1.0f - step : 1.0f;
        go_back(joints, tree, of.started ? step : 0.0f);
    }
    bool changed = false;
    for (uint32_t i = tree->first; i < tree->end; i++) {
        changed |= clamp_knot(joints, &joints->knots[i], &of, relax);
    }
    *feasible = *feasible || of.whole;
    tree->factored &= !changed;
    return changed && round < TREE_ROUNDS;
}
