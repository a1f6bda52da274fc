// Joints that are not plain balls, on their way into the lanes and out of them: all types through
// the rows that they describe themselves in.
//
// Rows are made anew for each substep from the poses there, joint by joint; how many there are, and
// of which kind, depends on no pose. What is rigid is held by a stiff soft
// constraint in the solve pass and without bias in the relax pass; springs and motors are the same
// in both. Typical: 20 ragdolls of 12 hinges and balls.
#include "shared/sim/solve/soft/joint.h"

#include <stddef.h>
#include <string.h>

#define BIAS_MAX  40.0f   // m/s, rad/s: the most that an error is corrected at
#define UNBOUNDED 3.4e38f // of what a spring asks for
#define NO_PLACE  255u

// Packing: what stays over the tick --------------------------------------------------------------

static inline void put_quat(cm_soft_lanes *to, uint32_t lane, carom_quat q)
{
    to[0][lane] = q.x;
    to[1][lane] = q.y;
    to[2][lane] = q.z;
    to[3][lane] = q.w;
}

// Rows before the block, which is last.
static uint32_t count_singles(const cm_joint_row *rows, uint32_t count)
{
    uint32_t singles = 0;
    while (singles < count && rows[singles].block == 1) {
        singles++;
    }
    return singles;
}

// As factors: hertz and stiffness, the latter by `gamma`, since it depends on the row's mass.
static void pack_spring(const cm_joint *joint, float h, uint32_t lane, cm_soft_single *to)
{
    if (joint->flags & CM_JOINT_SPRING_HERTZ) {
        cm_softness s = cm_softness_of(joint->spring[0], joint->spring[1], h);
        to->rate[lane] = s.bias_rate;
        to->mass_scale[lane] = s.mass_scale;
        to->impulse_scale[lane] = s.impulse_scale;
        return;
    }
    float rate = joint->spring[1] + h * joint->spring[0];
    to->impulse_scale[lane] = 1.0f;
    if (rate > 0.0f) {
        to->rate[lane] = joint->spring[0] / rate;
        to->gamma[lane] = 1.0f / (h * rate);
    }
}

static void pack_kind(const cm_soft *soft, const cm_joint *joint, const cm_joint_row *row,
                      uint32_t lane, cm_soft_single *to)
{
    const cm_softness *rigid = &soft->joints->rigid;
    to->lower[lane] = soft->h * row->lower;
    to->upper[lane] = soft->h * row->upper;
    to->bias_limit[lane] = BIAS_MAX;
    if (row->kind == CM_ROW_SPRING) {
        to->bias_limit[lane] = UNBOUNDED;
        to->lasting[lane] = 1.0f;
        pack_spring(joint, soft->h, lane, to);
    } else if (row->kind == CM_ROW_MOTOR) {
        to->mass_scale[lane] = 1.0f;
    } else {
        to->limit[lane] = row->kind == CM_ROW_LIMIT ? 1.0f : 0.0f;
        to->rate[lane] = rigid->bias_rate;
        to->mass_scale[lane] = rigid->mass_scale;
        to->impulse_scale[lane] = rigid->impulse_scale;
    }
}

static void pack_locks(const cm_soft *soft, cm_soft_rows *g)
{
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        g->locked |= soft->inertias[g->who.a[lane]].locks | soft->inertias[g->who.b[lane]].locks;
    }
    for (uint32_t lane = 0; g->locked && lane < CM_SOFT_LANES; lane++) {
        const cm_soft_inertia *a = &soft->inertias[g->who.a[lane]];
        const cm_soft_inertia *b = &soft->inertias[g->who.b[lane]];
        carom_vec3 one = cm_vec(1.0f, 1.0f, 1.0f);
        cm_soft_put(g->free_a, lane, cm_soft_pushed(a, 1.0f, one));
        cm_soft_put(g->free_b, lane, cm_soft_pushed(b, 1.0f, one));
        uint32_t locks = a->locks | b->locks;
        g->locks[lane] = locks > CM_LOCKS_LINEAR ? 2.0f : locks ? 1.0f : 0.0f;
    }
}

// The form that all used lanes of a group have.
static cm_soft_form form_of(const cm_joint *state, const cm_soft_members *who)
{
    cm_soft_form form = CM_FORM_ANY;
    for (uint32_t lane = 0; lane < CM_SOFT_LANES && who->slot[lane] != CM_NONE; lane++) {
        const cm_joint *joint = &state[who->slot[lane]];
        bool springs = cm_joint_has_spring(joint), drives = (joint->flags & CM_JOINT_MOTOR) != 0;
        cm_soft_form own = CM_FORM_ANY;
        if (joint->type == CAROM_JOINT_BALL && !springs && !drives) {
            own = CM_FORM_BALL;
        } else if (joint->type == CAROM_JOINT_HINGE && !springs) {
            own = CM_FORM_HINGE;
        }
        if (own == CM_FORM_ANY || (lane > 0 && own != form)) {
            return CM_FORM_ANY;
        }
        form = own;
    }
    return form;
}

// Packs what is constant of the rows of a lane that are made in lanes.
static void pack_form(cm_soft_rows *g, const cm_joint_row *rows, uint32_t lane)
{
    uint32_t skipped = g->singles - g->lane_singles[lane], points = g->singles + g->block - 3;
    for (uint32_t i = 0; i < g->lane_singles[lane]; i++) {
        cm_soft_single *to = &g->single[skipped + i];
        to->side[lane] = rows[i].angular_b.x;
        to->from[lane] = -rows[i].angular_b.x * rows[i].error;
        to->velocity[lane] = rows[i].velocity;
    }
    for (uint32_t k = 0; k < 3; k++) {
        g->rows[points + k].linear[k][lane] = 1.0f;
    }
}

// Counts the group's rows, and puts what of them is constant in its place.
static void pack_group(const cm_soft *soft, cm_soft_rows *g)
{
    // Of which kind rows are depends on no pose; any will do.
    static const cm_joint_pose upright = {
        .a = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}},
        .b = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}},
        .turn = {0.0f, 0.0f, 0.0f, 1.0f}};
    const cm_joint *state = soft->joints->state;
    cm_joint_row rows[CM_SOFT_LANES][CM_JOINT_ROWS_MAX];
    memset(&g->ends, 0, offsetof(cm_soft_rows, place) - offsetof(cm_soft_rows, ends));
    memset(g->place, NO_PLACE, sizeof g->place);
    memset(g->force, 0, sizeof g->force + sizeof g->torque);
    for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
        const cm_joint *joint = &state[g->who.slot[lane]];
        uint32_t count = cm_joint_kind_of(joint->type)->rows(joint, &upright, rows[lane]);
        uint32_t singles = count_singles(rows[lane], count), block = count - singles;
        g->lane_rows[lane] = (uint8_t)count;
        g->lane_singles[lane] = (uint8_t)singles;
        g->singles = singles > g->singles ? singles : g->singles;
        g->block = block > g->block ? block : g->block;
    }
    g->turns = cm_soft_members_turn(soft, &g->who);
    g->form = form_of(state, &g->who);
    pack_locks(soft, g);
    memset(g->rows, 0, (g->singles + g->block) * sizeof g->rows[0]);
    memset(g->single, 0, g->singles * sizeof g->single[0]);
    for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
        const cm_joint *joint = &state[g->who.slot[lane]];
        cm_soft_pack_ends(joint, false, lane, &g->ends);
        put_quat(g->body_frame.a, lane, joint->frame_a);
        put_quat(g->body_frame.b, lane, joint->frame_b);
        if (g->form != CM_FORM_ANY) {
            pack_form(g, rows[lane], lane);
        }
        for (uint32_t i = 0; i < g->lane_rows[lane]; i++) {
            uint32_t at = g->singles - g->lane_singles[lane] + i;
            g->place[at][lane] = rows[lane][i].place;
            g->rows[at].impulse[lane] = joint->impulse[rows[lane][i].place];
            g->rows[at].turning[lane] = rows[lane][i].turning ? 1.0f : 0.0f;
            if (at < g->singles) {
                pack_kind(soft, joint, &rows[lane][i], lane, &g->single[at]);
            }
        }
    }
}

void cm_soft_pack_rows(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->joints->knot_span.end; i++) {
        pack_group(soft, &soft->joints->rows[i]);
        soft->joints->rows[i].whole = i >= soft->joints->tree_span.loose;
    }
    soft->passes->run[CM_SOFT_ROW_PREPARE](soft, 0, soft->joints->knot_span.end);
}

// Rows of a substep ------------------------------------------------------------------------------

void cm_soft_make_rows(const cm_soft *soft, const cm_soft_rows *g, uint32_t width,
                       cm_soft_made made)
{
    uint32_t count = g->singles + g->block;
    for (uint32_t lane = 0; lane < g->who.lanes || lane % width != 0; lane++) {
        if (lane >= g->who.lanes) {
            memset(made[lane], 0, count * sizeof made[lane][0]);
            continue;
        }
        const cm_joint *joint = &soft->joints->state[g->who.slot[lane]];
        uint32_t skipped = g->singles - g->lane_singles[lane], used = skipped + g->lane_rows[lane];
        memset(made[lane], 0, skipped * sizeof made[lane][0]);
        cm_joint_kind_of(joint->type)->rows(joint, &g->poses[lane].pose, &made[lane][skipped]);
        memset(&made[lane][used], 0, (count - used) * sizeof made[lane][0]);
    }
}

void cm_soft_store_rows(carom_world *world, const cm_soft *soft)
{
    float rate = 1.0f / soft->dt; // the impulses of a tick add up to its mean force
    for (uint32_t i = 0; i < soft->joints->knot_span.end; i++) {
        const cm_soft_rows *g = &soft->joints->rows[i];
        for (uint32_t lane = 0; lane < CM_SOFT_LANES && g->who.slot[lane] != CM_NONE; lane++) {
            cm_joint *joint = &cm_joints(world)[g->who.slot[lane]];
            // A row that is not there now starts from nothing when it comes back.
            memset(joint->impulse, 0, sizeof joint->impulse);
            for (uint32_t k = 0; k < g->singles + g->block; k++) {
                if (g->place[k][lane] != NO_PLACE) {
                    joint->impulse[g->place[k][lane]] = cm_soft_stored(g->rows[k].impulse[lane]);
                }
            }
            joint->force = cm_soft_stored(rate * cm_length(cm_soft_get(g->force, lane)));
            joint->torque = cm_soft_stored(rate * cm_length(cm_soft_get(g->torque, lane)));
        }
    }
}
