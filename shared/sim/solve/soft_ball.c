// Plain ball joints of the soft-step solver: a 3x3 block each, on its own path, because chains and
// ragdolls are made of them.
//
// Anchors turn with their bodies: arms, gap and effective mass are made anew for each substep, so
// that what spins fast is still pushed where it is held. Typical: 2,000 joints, two passes a
// substep.
#include "shared/sim/solve/soft_joint.h"

void cm_soft_prepare_ball(const carom_world *world, uint32_t slot, cm_soft_ball *ball)
{
    const cm_joint *joint = &cm_joints(world)[slot];
    cm_joint_pose pose;
    cm_joint_pose_get(world, joint, &pose);
    *ball = (cm_soft_ball){0};
    ball->slot = slot;
    ball->body_a = joint->body_a;
    ball->body_b = joint->body_b;
    ball->ra0 = pose.ra;
    ball->rb0 = pose.rb;
    ball->gap0 = pose.gap;
    ball->impulse = cm_vec(joint->impulse[0], joint->impulse[1], joint->impulse[2]);
}

// One body's share of the inverse mass at an arm: m - [r] I^-1 [r].
static inline void add_mass(const cm_soft_inertia *body, carom_vec3 r, cm_sym3 *k)
{
    const cm_sym3 *i = &body->inverse;
    // Rows of [r] I^-1.
    carom_vec3 x =
        cm_vec(r.y * i->xz - r.z * i->xy, r.y * i->yz - r.z * i->yy, r.y * i->zz - r.z * i->yz);
    carom_vec3 y =
        cm_vec(r.z * i->xx - r.x * i->xz, r.z * i->xy - r.x * i->yz, r.z * i->xz - r.x * i->zz);
    carom_vec3 z =
        cm_vec(r.x * i->xy - r.y * i->xx, r.x * i->yy - r.y * i->xy, r.x * i->yz - r.y * i->xz);
    k->xx += body->inverse_mass + (x.z * r.y - x.y * r.z);
    k->xy += x.x * r.z - x.z * r.x;
    k->xz += x.y * r.x - x.x * r.y;
    k->yy += body->inverse_mass + (y.x * r.z - y.z * r.x);
    k->yz += y.y * r.x - y.x * r.y;
    k->zz += body->inverse_mass + (z.y * r.x - z.x * r.y);
}

static inline void apply(const cm_soft *soft, const cm_soft_ball *ball, const cm_soft_inertia *a,
                         const cm_soft_inertia *b, carom_vec3 impulse)
{
    // What cannot be pushed keeps its row: zero times an infinite impulse is no number.
    if (a->inverse_mass > 0.0f) {
        cm_soft_body *row = &soft->bodies[ball->body_a];
        row->v = cm_mul_add(row->v, -a->inverse_mass, impulse);
        row->w = cm_sub(row->w, cm_sym3_mul(&a->inverse, cm_cross(ball->ra, impulse)));
    }
    if (b->inverse_mass > 0.0f) {
        cm_soft_body *row = &soft->bodies[ball->body_b];
        row->v = cm_mul_add(row->v, b->inverse_mass, impulse);
        row->w = cm_add(row->w, cm_sym3_mul(&b->inverse, cm_cross(ball->rb, impulse)));
    }
}

void cm_soft_warm_start_balls(const cm_soft *soft, cm_soft_joints *joints)
{
    for (uint32_t i = 0; i < joints->ball_count; i++) {
        cm_soft_ball *ball = &joints->balls[i];
        const cm_soft_body *a = cm_soft_end(soft, ball->body_a);
        const cm_soft_body *b = cm_soft_end(soft, ball->body_b);
        carom_vec3 da = cm_soft_turned(a, ball->ra0);
        carom_vec3 db = cm_soft_turned(b, ball->rb0);
        ball->ra = cm_add(ball->ra0, da);
        ball->rb = cm_add(ball->rb0, db);
        carom_vec3 moved = cm_sub(cm_add(b->shift, db), cm_add(a->shift, da));
        ball->gap = cm_add(ball->gap0, moved);
        cm_sym3 k = {0};
        const cm_soft_inertia *ia = cm_soft_end_inertia(soft, ball->body_a);
        const cm_soft_inertia *ib = cm_soft_end_inertia(soft, ball->body_b);
        add_mass(ia, ball->ra, &k);
        add_mass(ib, ball->rb, &k);
        ball->mass = cm_sym3_inverse(&k);
        apply(soft, ball, ia, ib, ball->impulse);
    }
}

static inline void solve_ball(const cm_soft *soft, cm_soft_ball *ball, const cm_softness *s)
{
    const cm_soft_body *a = cm_soft_end(soft, ball->body_a);
    const cm_soft_body *b = cm_soft_end(soft, ball->body_b);
    carom_vec3 v =
        cm_sub(cm_add(b->v, cm_cross(b->w, ball->rb)), cm_add(a->v, cm_cross(a->w, ball->ra)));
    v = cm_mul_add(v, s->bias_rate, ball->gap);
    carom_vec3 change = cm_scale(-s->mass_scale, cm_sym3_mul(&ball->mass, v));
    change = cm_mul_add(change, -s->impulse_scale, ball->impulse);
    ball->impulse = cm_add(ball->impulse, change);
    apply(soft, ball, cm_soft_end_inertia(soft, ball->body_a),
          cm_soft_end_inertia(soft, ball->body_b), change);
}

void cm_soft_solve_balls(const cm_soft *soft, cm_soft_joints *joints, bool relax)
{
    const cm_softness hard = {0.0f, 1.0f, 0.0f};
    const cm_softness *softness = relax ? &hard : &joints->rigid;
    for (uint32_t i = 0; i < joints->ball_count; i++) {
        solve_ball(soft, &joints->balls[i], softness);
    }
}
