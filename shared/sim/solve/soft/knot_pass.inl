// The passes over trees that would leave most lanes of a group unused: included by joint_pass.inl,
// once a width.
//
// What is solved, and to the same bits, is said in tree_pass.inl, where a lane is a tree. One joint
// follows from the other, so that a chain by itself fills no lanes: here the lanes are the six
// numbers of a body, or the rows of a joint, eight at once in all widths. A joint costs 40% of what
// it costs in a lane of eight, so that it is worth it for two trees and less. Typical: a bridge of
// 21 hinges.

// Functions of eights are inlined, so that how they would be passed is all the same (-Wno-psabi).
typedef float eight __attribute__((vector_size(32)));

CM_LANES_INLINE eight eight_load(const float *from)
{
    eight value;
    memcpy(&value, from, sizeof value);
    return value;
}

CM_LANES_INLINE void eight_store(float *to, eight value)
{
    memcpy(to, &value, sizeof value);
}

// Calls f with the range of rows to solve: single rows that are all out of the equations are left
// out. Balls and hinges without more have code of their own, in which counts are constants.
#define FOR_KNOT(f, k, ...)                                                                        \
    do {                                                                                           \
        uint32_t left = (k)->count - (k)->from;                                                    \
        if ((k)->from < (k)->singles) {                                                            \
            f(__VA_ARGS__, (k)->singles - (k)->from, left);                                        \
        } else if (left == 5) {                                                                    \
            f(__VA_ARGS__, 0, 5);                                                                  \
        } else if (left == 3) {                                                                    \
            f(__VA_ARGS__, 0, 3);                                                                  \
        } else {                                                                                   \
            f(__VA_ARGS__, 0, left);                                                               \
        }                                                                                          \
    } while (0)

// Rows ------------------------------------------------------------------------------------------

// The first six numbers of rows that stand one by one beside each other, eight rows at once.
CM_LANES_INLINE void lay_across(const cm_soft_six *rows, uint32_t count, float *across)
{
    for (uint32_t from = 0; from < count; from += CM_KNOT_EIGHT) {
#if CM_LANES == 8
        cm_f turned[8];
        for (uint32_t i = 0; i < 8; i++) {
            turned[i] = cm_lanes_load(rows[from + i]);
        }
        cm_lanes_transpose(turned);
        for (uint32_t n = 0; n < 6; n++) {
            cm_lanes_store(across + n * CM_KNOT_ROWS + from, turned[n]);
        }
#else
        for (uint32_t i = 0; i < CM_KNOT_EIGHT; i++) {
            for (uint32_t n = 0; n < 6; n++) {
                across[n * CM_KNOT_ROWS + from + i] = rows[from + i][n];
            }
        }
#endif
    }
}

// Number n of eight rows.
CM_LANES_INLINE eight across_load(const float *across, uint32_t n)
{
    return eight_load(across + n * CM_KNOT_ROWS);
}

// J x of eight rows.
CM_LANES_INLINE eight rows_of(const float *across, const float *x)
{
    return (across_load(across, 0) * x[0] + across_load(across, 1) * x[1] +
            across_load(across, 2) * x[2]) +
           (across_load(across, 3) * x[3] + across_load(across, 4) * x[4] +
            across_load(across, 5) * x[5]);
}

// All bits: of the first three numbers, of the first six, and of those of a column of a matrix that
// are above its diagonal.
static const int32_t first_three[8] = {-1, -1, -1}, first_six[8] = {-1, -1, -1, -1, -1, -1};
#if CM_LANES == 8
static const int32_t above_diagonal[6][8] = {
    {0}, {-1}, {-1, -1}, {-1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1, -1}};
#endif

CM_LANES_INLINE eight eight_choose(const int32_t mask[8], eight a, eight b)
{
    typedef int32_t eight_mask __attribute__((vector_size(32)));
    eight_mask m;
    memcpy(&m, mask, sizeof m);
    return (eight)(((eight_mask)a & m) | ((eight_mask)b & ~m));
}

// A row as the child and the parent have it: the linear part of a is the opposite of b's.
CM_LANES_INLINE void split_row(const cm_joint_row *row, bool flipped, float *child, float *parent)
{
    static const cm_soft_six signs[2] = {{1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f},
                                         {-1.0f, -1.0f, -1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f}};
    const float *numbers = &row->linear.x;
    eight none = {0}, a = eight_choose(first_six, eight_load(numbers), none);
    eight b = eight_choose(first_six, eight_load(numbers + 3), none);
    b = eight_choose(first_three, a, b);
    eight_store(child, (flipped ? a : b) * eight_load(signs[flipped]));
    eight_store(parent, (flipped ? b : a) * eight_load(signs[!flipped]));
}

// The turns that a row gives a body; its linear part stays as it is.
CM_LANES_INLINE void turn_row(const cm_soft_six *inertia, const float *row, float *to)
{
    eight turn = eight_load(inertia[0]) * row[3] + eight_load(inertia[1]) * row[4] +
                 eight_load(inertia[2]) * row[5];
    eight_store(to, eight_choose(first_three, eight_load(row), turn));
}

CM_LANES_INLINE eight dot_across(const float *a, const float *b, uint32_t n)
{
    return across_load(a, n) * across_load(b, n) + across_load(a, n + 1) * across_load(b, n + 1) +
           across_load(a, n + 2) * across_load(b, n + 2);
}

// The rows of the present pose.
static void make_knot(const cm_soft_joints *joints, cm_soft_knot *k)
{
    const cm_soft_rows *g = &joints->rows[k->group];
    const cm_joint *joint = &joints->state[g->who.slot[k->lane]];
    const cm_soft_knot_body *child = &joints->knot_bodies[k->child],
                            *parent = &joints->knot_bodies[k->parent];
    const cm_soft_six *of_child = k->turns ? child->turned : child->alone + 3;
    const cm_soft_six *of_parent = k->turns ? parent->turned : parent->alone + 3;
    float mass = child->mass[0] + parent->mass[0];
    cm_joint_row made[CM_JOINT_GROUP_ROWS];
    cm_joint_kind_of(joint->type)->rows(joint, &g->poses[k->lane].pose, made);
    for (uint32_t i = 0; i < k->count; i++) {
        split_row(&made[i], k->flipped, k->child_row[i], k->parent_row[i]);
        turn_row(of_child, k->child_row[i], k->child_turn[i]);
        turn_row(of_parent, k->parent_row[i], k->parent_turn[i]);
        k->error[i] = made[i].error;
    }
    for (uint32_t i = 0; i < k->singles; i++) {
        k->bound[i].velocity = made[i].velocity;
    }
    cm_soft_across turn_a[6], turn_b[6];
    lay_across(k->child_row, k->count, k->child_across[0]);
    lay_across(k->parent_row, k->count, k->parent_across[0]);
    lay_across(k->flipped ? k->child_turn : k->parent_turn, k->count, turn_a[0]);
    lay_across(k->flipped ? k->parent_turn : k->child_turn, k->count, turn_b[0]);
    for (uint32_t at = 0; at < k->count; at += CM_KNOT_EIGHT) {
        const float *a = (k->flipped ? k->child_across : k->parent_across)[0] + at;
        const float *b = (k->flipped ? k->parent_across : k->child_across)[0] + at;
        eight_store(k->alone + at, dot_across(a, a, 0) * mass + dot_across(a, turn_a[0] + at, 3) +
                                       dot_across(b, turn_b[0] + at, 3));
    }
}

// Elimination -----------------------------------------------------------------------------------

CM_LANES_INLINE eight body_answer(const cm_soft_six *to_push, const float *x)
{
    return (eight_load(to_push[0]) * x[0] + eight_load(to_push[1]) * x[1] +
            eight_load(to_push[2]) * x[2]) +
           (eight_load(to_push[3]) * x[3] + eight_load(to_push[4]) * x[4] +
            eight_load(to_push[5]) * x[5]);
}

// Above the diagonal as below it.
CM_LANES_INLINE void mirror(cm_soft_six *columns)
{
#if CM_LANES == 8
    cm_f turned[8];
    for (uint32_t n = 0; n < 6; n++) {
        turned[n] = cm_lanes_load(columns[n]);
    }
    turned[6] = turned[7] = cm_lanes_set(0.0f);
    cm_lanes_transpose(turned);
    for (uint32_t n = 1; n < 6; n++) {
        eight_store(columns[n], eight_choose(above_diagonal[n], turned[n], eight_load(columns[n])));
    }
#else
    for (uint32_t n = 1; n < 6; n++) {
        for (uint32_t i = 0; i < n; i++) {
            columns[n][i] = columns[i][n];
        }
    }
#endif
}

// Takes share h h^T away for each row.
CM_LANES_INLINE void body_yield(cm_soft_six *to_push, const cm_soft_six *h,
                                const cm_soft_six *shares, uint32_t count)
{
    for (uint32_t n = 0; n < 6; n++) {
        eight now = eight_load(to_push[n]);
        for (uint32_t i = 0; i < count; i++) {
            now = now - eight_load(h[i]) * shares[i][n];
        }
        eight_store(to_push[n], now);
    }
    mirror(to_push);
}

// K = L D L^T of the joint's rows; a pivot that vanishes (rows that say the same) lets its row go.
CM_LANES_INLINE void factor_knot(const cm_soft_joints *joints, cm_soft_knot *k, uint32_t singles,
                                 uint32_t count)
{
    const cm_soft_six *of_child = joints->knot_bodies[k->child].response;
    cm_soft_six *of_parent = joints->knot_bodies[k->parent].response, shares[CM_KNOT_ROWS];
    const uint32_t from = k->from;
    const cm_soft_bound *bound = k->bound + from;
    const cm_soft_six *child_row = k->child_row + from, *parent_row = k->parent_row + from;
    const float *child = k->child_across[0] + from, *parent = k->parent_across[0] + from;
    const float *alone = k->alone + from, give = k->give;
    float *inverse_pivot = k->inverse_pivot + from, *l = k->factor, pivot[CM_JOINT_GROUP_ROWS];
    cm_soft_six *reach = k->reach + from;
    for (uint32_t i = 0, row = 0; i < count; row += i, i++) {
        cm_soft_six own, raw;
        cm_soft_across coupling;
        eight h = body_answer(of_parent, parent_row[i]);
        eight_store(own, body_answer(of_child, child_row[i]));
        eight_store(raw, h);
        for (uint32_t at = 0; at <= i; at += CM_KNOT_EIGHT) {
            eight_store(coupling + at, rows_of(child + at, own) + rows_of(parent + at, raw));
        }
        float diagonal = coupling[i] + give * alone[i];
        bool some = true;
        if (i < singles) {
            diagonal = diagonal + bound[i].yield;
            some = bound[i].active > 0.0f;
        }
        for (uint32_t c = 0, start = 0; c < i; start += c, c++) {
            float sum = coupling[c];
            for (uint32_t n = 0; n < c; n++) {
                sum = sum - l[row + n] * pivot[n] * l[start + n];
            }
            l[row + c] = sum * inverse_pivot[c];
            diagonal = diagonal - sum * l[row + c];
            h = h - eight_load(reach[c]) * l[row + c];
        }
        pivot[i] = diagonal;
        some = some && diagonal > PIVOT_MIN * alone[i];
        inverse_pivot[i] = some ? 1.0f / diagonal : 0.0f;
        eight_store(reach[i], h);
        eight_store(shares[i], h * inverse_pivot[i]);
    }
    lay_across(reach, count, k->reach_across[0] + from);
    body_yield(of_parent, reach, shares, count);
}

// A row by itself wants this beside its speed: its bias, and what it yields.
static inline float bound_wants(const cm_soft_bound *bound, float impulse, bool relax)
{
    return bound->bias[relax] + bound->yield * impulse;
}

static inline float clamp_to(float x, float low, float high)
{
    float y = x < high ? x : high;
    return y > low ? y : low;
}

// The speed at which the joint's ends part, less what the joints below take: right = (L D)^-1 of
// that.
CM_LANES_INLINE void eliminate_knot(const cm_soft_joints *joints, cm_soft_knot *k, bool relax,
                                    uint32_t singles, uint32_t count)
{
    const float *of_child = joints->knot_bodies[k->child].speed;
    float *of_parent = joints->knot_bodies[k->parent].speed, bias_rate = joints->ball.bias_rate;
    const uint32_t from = k->from;
    const cm_soft_bound *bound = k->bound + from;
    const float *child = k->child_across[0] + from, *parent = k->parent_across[0] + from;
    const float *impulse = k->impulse + from, *error = k->error + from, *l = k->factor;
    const float *inverse_pivot = k->inverse_pivot + from;
    const cm_soft_six *reach = k->reach + from;
    float *right = k->right + from;
    cm_soft_across x;
    for (uint32_t at = 0; at < count; at += CM_KNOT_EIGHT) {
        eight_store(x + at, rows_of(child + at, of_child) + rows_of(parent + at, of_parent));
    }
    eight taken = eight_load(of_parent);
    for (uint32_t i = 0, row = 0; i < count; row += i, i++) {
        if (i < singles) {
            x[i] = x[i] + bound_wants(&bound[i], impulse[i], relax);
        } else if (!relax) {
            x[i] = x[i] + clamp_to(bias_rate * error[i], -JOINT_PUSH_SPEED, JOINT_PUSH_SPEED);
        }
        for (uint32_t c = 0; c < i; c++) {
            x[i] = x[i] - l[row + c] * x[c];
        }
        right[i] = x[i] * inverse_pivot[i];
        taken = taken - eight_load(reach[i]) * right[i];
    }
    eight_store(of_parent, taken);
}

// The change of a body's velocity by that of a row's impulse.
CM_LANES_INLINE eight pushed_by(eight mass, const float *turn, float change)
{
    return mass * (eight_load(turn) * change);
}

// The joint's unknowns, from those above; and what they do.
CM_LANES_INLINE void substitute_knot(const cm_soft_joints *joints, cm_soft_knot *k, bool relax,
                                     uint32_t round, uint32_t singles, uint32_t count)
{
    cm_soft_knot_body *child = &joints->knot_bodies[k->child],
                      *parent = &joints->knot_bodies[k->parent];
    const uint32_t from = k->from;
    const cm_soft_six *child_row = k->child_row + from, *parent_row = k->parent_row + from;
    const cm_soft_six *child_turn = k->child_turn + from, *parent_turn = k->parent_turn + from;
    const float *reach = k->reach_across[0] + from, *l = k->factor, share = k->share;
    const float *inverse_pivot = k->inverse_pivot + from, *push = parent->push;
    float *right = k->right + from, *impulse = k->impulse + from;
    cm_soft_across x = {0};
    for (uint32_t at = 0; at < count; at += CM_KNOT_EIGHT) {
        eight sum = across_load(reach + at, 0) * push[0];
        for (uint32_t n = 1; n < 6; n++) {
            sum = sum + across_load(reach + at, n) * push[n];
        }
        eight_store(x + at, eight_load(right + at) - eight_load(inverse_pivot + at) * sum);
    }
    for (uint32_t i = count; i-- > 0;) {
        for (uint32_t c = i + 1; c < count; c++) {
            x[i] = x[i] - l[c * (c - 1) / 2 + i] * x[c];
        }
    }
    eight on_child = {0}, on_parent = eight_load(push);
    eight of_child = eight_load(child->now), of_parent = eight_load(parent->now);
    eight child_mass = eight_load(child->mass), parent_mass = eight_load(parent->mass);
    for (uint32_t i = 0; i < count; i++) {
        float change = relax ? -x[i] : share * -x[i];
        bool adds = relax || round > 0 || i < singles;
        on_child = on_child + eight_load(child_row[i]) * x[i];
        on_parent = on_parent + eight_load(parent_row[i]) * x[i];
        impulse[i] = adds ? impulse[i] + change : change;
        right[i] = change;
        of_child = of_child + pushed_by(child_mass, child_turn[i], change);
        of_parent = of_parent + pushed_by(parent_mass, parent_turn[i], change);
    }
    eight_store(child->push, on_child);
    eight_store(parent->push, on_parent);
    eight_store(child->now, of_child);
    eight_store(parent->now, of_parent);
}

#include "shared/sim/solve/soft/knot_bounds.inl"

// Trees -----------------------------------------------------------------------------------------

// Inertias turn with their bodies.
static inline void respond_bodies(const cm_soft *soft, const cm_soft_knot_block *block,
                                  cm_soft_knot_body *bodies, uint32_t at)
{
    static const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t stride = sizeof(cm_soft_knot_body) / sizeof(float);
    cm_f pose[8], i[6], now[6], zero = cm_lanes_set(0.0f);
    cm_mask turns = cm_lanes_greater(cm_lanes_load(block->turns + at), zero);
    cm_lanes_gather(&soft->bodies[0].shift.x, CM_SOFT_ROW, block->body + at, pose);
    for (uint32_t n = 0; n < 6; n++) {
        i[n] = now[n] = cm_lanes_load(block->inertia[n] + at);
    }
    turned_inverse(i, (quat){pose[3], pose[4], pose[5], pose[6]});
    for (uint32_t n = 0; n < 6; n++) {
        now[n] = cm_lanes_select(turns, i[n], now[n]);
    }
    cm_f alone[3][8] = {{zero, zero, zero, now[0], now[1], now[2], zero, zero},
                        {zero, zero, zero, now[1], now[3], now[4], zero, zero},
                        {zero, zero, zero, now[2], now[4], now[5], zero, zero}};
    cm_f turned[3][8] = {{zero, zero, zero, i[0], i[1], i[2], zero, zero},
                         {zero, zero, zero, i[1], i[3], i[4], zero, zero},
                         {zero, zero, zero, i[2], i[4], i[5], zero, zero}};
    for (uint32_t c = 0; c < 3; c++) {
        cm_lanes_scatter(bodies[at].alone[3 + c], stride, index, alone[c]);
        cm_lanes_scatter(bodies[at].turned[c], stride, index, turned[c]);
    }
}

// Rows and bodies of the present poses.
static void make_knots(cm_soft *soft)
{
    const cm_soft_joints *joints = soft->joints;
    for (uint32_t i = 0; i < joints->knot_blocks; i++) {
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            respond_bodies(soft, &joints->knot_block[i], &joints->knot_bodies[i * CM_SOFT_LANES],
                           at);
        }
    }
    for (uint32_t i = joints->knot_span.loose; i < joints->knot_span.end; i++) {
        for (uint32_t at = 0; lanes_go_on(&joints->rows[i], at); at += CM_LANES) {
            row_pose(soft, &joints->rows[i], at);
        }
    }
    for (uint32_t i = 0; i < joints->knot_tree_count; i++) {
        for (uint32_t n = joints->knot_trees[i].first; n < joints->knot_trees[i].end; n++) {
            make_knot(joints, &joints->knots[n]);
            yield_bounds(&joints->knots[n]);
        }
    }
}

// Leaves out the single rows before the first one that is in the equations.
static inline void choose_rows(cm_soft_knot *k)
{
    k->from = 0;
    while (k->from < k->singles && !(k->bound[k->from].active > 0.0f)) {
        k->right[k->from++] = 0.0f;
    }
    k->from = k->count - k->from <= CM_KNOT_EIGHT ? k->from : 0;
}

static void factor_knots(const cm_soft_joints *joints, cm_soft_knot_tree *tree)
{
    for (uint32_t i = tree->first_body; i < tree->end_body; i++) {
        memcpy(joints->knot_bodies[i].response, joints->knot_bodies[i].alone,
               sizeof joints->knot_bodies[i].alone);
    }
    for (uint32_t i = tree->first; i < tree->end; i++) {
        cm_soft_knot *k = &joints->knots[i];
        choose_rows(k);
        FOR_KNOT(factor_knot, k, joints, k);
    }
    tree->factored = 1;
}

// Solves for what the rows want, less what they have.
static void knots_round(const cm_soft_joints *joints, const cm_soft_knot_tree *tree, bool relax,
                        uint32_t round)
{
    for (uint32_t i = tree->first_body; i < tree->end_body; i++) {
        cm_soft_knot_body *body = &joints->knot_bodies[i];
        memcpy(body->start, body->now, sizeof body->start);
        memcpy(body->speed, body->now, sizeof body->speed);
        memset(body->push, 0, sizeof body->push);
    }
    for (uint32_t i = tree->first; i < tree->end; i++) {
        cm_soft_knot *k = &joints->knots[i];
        FOR_KNOT(eliminate_knot, k, joints, k, relax);
    }
    for (uint32_t i = tree->end; i-- > tree->first;) {
        cm_soft_knot *k = &joints->knots[i];
        FOR_KNOT(substitute_knot, k, joints, k, relax, round);
    }
}

// Impulses of this substep, for the mean force of the tick.
static void sum_knots(const cm_soft_joints *joints, const cm_soft_knot_tree *tree)
{
    static const cm_soft_six parts[2] = {{1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f}};
    for (uint32_t i = tree->first; i < tree->end; i++) {
        cm_soft_knot *k = &joints->knots[i];
        const cm_soft_six *rows = k->flipped ? k->parent_row : k->child_row;
        eight total = eight_load(k->total);
        for (uint32_t r = 0; r < k->count; r++) {
            eight part = eight_load(rows[r]) * k->impulse[r];
            total = total + part * eight_load(parts[k->turning >> r & 1u]);
        }
        eight_store(k->total, total);
    }
}

static void solve_knots(cm_soft *soft, cm_soft_knot_tree *tree, bool relax, bool make)
{
    const cm_soft_joints *joints = soft->joints;
    for (uint32_t i = tree->first_body; i < tree->end_body; i++) {
        cm_soft_knot_body *body = &joints->knot_bodies[i];
        memcpy(body->now, &soft->bodies[body->row], sizeof body->now);
    }
    if (tree->bounded) {
        begin_knots(soft, tree, relax);
    }
    if (make || !tree->factored) {
        factor_knots(joints, tree);
    }
    knots_round(joints, tree, relax, 0);
    bool feasible = false;
    for (uint32_t round = 1; tree->bounded; round++) {
        if (!clamp_knots(joints, tree, relax, round, &feasible)) {
            break;
        }
        factor_knots(joints, tree);
        knots_round(joints, tree, relax, round);
    }
    if (relax) {
        sum_knots(joints, tree);
    }
    for (uint32_t i = tree->first_body; i < tree->end_body; i++) {
        const cm_soft_knot_body *body = &joints->knot_bodies[i];
        if (body->pushed) {
            memcpy(&soft->bodies[body->row], body->now, 6 * sizeof *body->now);
        }
    }
}

static void solve_trees(cm_soft *soft, uint32_t first, uint32_t end, bool relax)
{
    cm_soft_joints *joints = soft->joints;
    bool make = relax || !joints->knots_made;
    if (make) {
        make_knots(soft);
    }
    joints->knots_made = 1;
    for (uint32_t i = first; i < end; i++) {
        solve_knots(soft, &joints->knot_trees[i], relax, make);
    }
}

static void knot_solve(cm_soft *soft, uint32_t first, uint32_t end)
{
    solve_trees(soft, first, end, false);
}

static void knot_relax(cm_soft *soft, uint32_t first, uint32_t end)
{
    solve_trees(soft, first, end, true);
}
