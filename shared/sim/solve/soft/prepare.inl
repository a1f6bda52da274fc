// Prepares a tick's contacts, CM_LANES at once: included by pass.inl, once a width.
//
// Frames, effective masses and what one impulse does to the others' velocities, made once from the
// poses at the start of the tick; then the warm start. Typical: 240 groups a tick.

// Two tangents of the normal alone, as cm_basis.
CM_WHOLE void make_basis(frame *f)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_mask steep = cm_lanes_greater(cm_lanes_set(0.57735027f), cm_lanes_abs(f->n.x));
    cm_fvec t;
    t.x = cm_lanes_select(steep, zero, f->n.y);
    t.y = cm_lanes_select(steep, f->n.z, -f->n.x);
    t.z = cm_lanes_select(steep, -f->n.y, zero);
    f->t1 = cm_fvec_scale(one / cm_lanes_sqrt(cm_fvec_dot(t, t)), t);
    f->t2 = cm_fvec_cross(f->n, f->t1);
}

CM_WHOLE cm_f inverse(cm_f x)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_mask some = cm_lanes_greater(x, zero);
    return cm_lanes_select(some, one / cm_lanes_select(some, x, one), zero);
}

// Turn that a unit impulse along `axis` at the centre gives: of each body, and their sum.
typedef struct response {
    cm_fvec arm_a, arm_b, turn_a, turn_b, sum;
} response;

CM_WHOLE response respond(const frame *f, cm_fvec axis)
{
    response r;
    r.arm_a = cm_fvec_cross(f->ra, axis);
    r.arm_b = cm_fvec_cross(f->rb, axis);
    r.turn_a = cm_fsym_mul(f->ia, r.arm_a);
    r.turn_b = cm_fsym_mul(f->ib, r.arm_b);
    r.sum = cm_fvec_add(r.turn_a, r.turn_b);
    return r;
}

// Velocity along p's axis of an impulse along q's, but for the masses.
CM_WHOLE cm_f between(const response *p, const response *q)
{
    return cm_fvec_dot(p->arm_b, q->turn_b) + cm_fvec_dot(p->arm_a, q->turn_a);
}

// The part of the sum of inverse masses that locked axes take, between impulses along p and
// velocities along q.
CM_WHOLE cm_f locked_mass(const cm_soft_special *e, uint32_t at, cm_fvec p, cm_fvec q)
{
    return cm_fvec_dot(p, each(LOAD_SPECIAL_VEC(locked), q));
}

// A body of which locked axes leave less than this part of a mass cannot be pushed that way.
CM_WHOLE cm_f locked_part(const cm_soft_special *e, uint32_t at, float part)
{
    cm_fvec l = LOAD_SPECIAL_VEC(locked);
    cm_f zero = cm_lanes_set(0.0f);
    return cm_lanes_select(cm_lanes_greater(l.x + l.y + l.z, zero), cm_lanes_set(part), zero);
}

// Inverse xx xy yy of a symmetric positive 2x2 matrix; one whose determinant is less than `part` of
// its trace squared counts as of rank one, and what its axis cannot do is left out.
CM_WHOLE void invert_pair(cm_f xx, cm_f xy, cm_f yy, cm_f part, cm_f out[3])
{
    cm_f zero = cm_lanes_set(0.0f), det = xx * yy - xy * xy, trace = xx + yy;
    cm_f squared = trace * trace;
    cm_mask whole = cm_lanes_greater(det, part * squared);
    cm_f s = inverse(cm_lanes_select(whole, det, squared));
    out[0] = s * cm_lanes_select(whole, yy, xx);
    out[1] = s * cm_lanes_select(whole, zero - xy, xy);
    out[2] = s * cm_lanes_select(whole, xx, yy);
}

CM_WHOLE void prepare_points(cm_soft_group *g, const cm_soft_special *e, uint32_t at,
                             const frame *f, const staged *points, const response *n,
                             const cm_f sum[6])
{
    cm_f mass = f->ma + f->mb, one = cm_lanes_set(1.0f), zero = cm_lanes_set(0.0f);
    cm_fvec s1 = cm_fsym_mul(sum, f->t1), s2 = cm_fsym_mul(sum, f->t2);
    cm_f nn = mass + between(n, n), n1 = cm_fvec_dot(n->sum, f->t1);
    cm_f least = zero;
    if (e) {
        nn = nn - locked_mass(e, at, f->n, f->n);
        least = mass * locked_part(e, at, LEAST_PART);
    }
    cm_f n2 = cm_fvec_dot(n->sum, f->t2), k11 = cm_fvec_dot(f->t1, s1);
    cm_f k12 = cm_fvec_dot(f->t1, s2), k22 = cm_fvec_dot(f->t2, s2);
    uint32_t count = points_of(g);
    cm_fvec lever[4];
    for (uint32_t i = 0; i < 4; i++) {
        cm_f x = cm_fvec_dot(points->offset[i], f->t1), y = cm_fvec_dot(points->offset[i], f->t2);
        if (i < count) {
            STORE(at_point[i].x, x);
            STORE(at_point[i].y, y);
            STORE(at_point[i].separation, LOAD(at_point[i].start));
        }
        lever[i] = (cm_fvec){one, y, -x};
    }
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        cm_fvec l = lever[i];
        cm_fvec k = {nn + n1 * l.y + n2 * l.z, n1 + k11 * l.y + k12 * l.z,
                     n2 + k12 * l.y + k22 * l.z};
        cm_f used = points->used[i];
        cm_f own = cm_fvec_dot(k, l);
        if (e) {
            used = cm_lanes_select(cm_lanes_greater(own, least), used, zero);
        }
        STORE(at_point[i].effective_mass,
              cm_lanes_select(cm_lanes_greater(used, zero), inverse(own), zero));
        for (uint32_t j = i + 1; j < 4; j++) {
            if (j < count) {
                STORE(point_coupling[place], cm_fvec_dot(k, lever[j]));
            }
            place++;
        }
    }
}

CM_WHOLE void prepare_friction(cm_soft_group *g, const cm_soft_special *e, uint32_t at,
                               const frame *f, const response *n, const cm_f sum[6])
{
    response p = respond(f, f->t1), q = respond(f, f->t2);
    cm_f mass = f->ma + f->mb, zero = cm_lanes_set(0.0f);
    cm_fvec sn = cm_fsym_mul(sum, f->n);
    cm_f np = between(n, &p), nq = between(n, &q);
    if (e) {
        np = np - locked_mass(e, at, f->n, f->t1);
        nq = nq - locked_mass(e, at, f->n, f->t2);
    }
    STORE(friction_coupling[0], np);
    STORE(friction_coupling[1], nq);
    STORE(friction_coupling[2], cm_fvec_dot(n->sum, f->n));
    STORE(friction_coupling[3], cm_fvec_dot(p.sum, f->t1));
    STORE(friction_coupling[4], cm_fvec_dot(q.sum, f->t1));
    STORE(friction_coupling[5], cm_fvec_dot(sn, f->t1));
    STORE(friction_coupling[6], cm_fvec_dot(p.sum, f->t2));
    STORE(friction_coupling[7], cm_fvec_dot(q.sum, f->t2));
    STORE(friction_coupling[8], cm_fvec_dot(sn, f->t2));
    cm_f xx = mass + between(&p, &p), xy = between(&p, &q), yy = mass + between(&q, &q);
    if (e) {
        cm_f tangent[3];
        xx = xx - locked_mass(e, at, f->t1, f->t1);
        xy = xy - locked_mass(e, at, f->t1, f->t2);
        yy = yy - locked_mass(e, at, f->t2, f->t2);
        invert_pair(xx, xy, yy, locked_part(e, at, RANK_ONE), tangent);
        STORE(tangent_mass[0], tangent[0]);
        STORE(tangent_mass[1], tangent[1]);
        STORE(tangent_mass[2], tangent[2]);
    } else {
        cm_f s = inverse(xx * yy - xy * xy);
        STORE(tangent_mass[0], s * yy);
        STORE(tangent_mass[1], zero - s * xy);
        STORE(tangent_mass[2], s * xx);
    }
    STORE(twist_mass, inverse(cm_fvec_dot(sn, f->n)));
    STORE(twist_coupling[0], cm_fvec_dot(p.sum, f->n));
    STORE(twist_coupling[1], cm_fvec_dot(q.sum, f->n));
}

#include "shared/sim/solve/soft/special.inl"

CM_WHOLE void load_inertias(const cm_soft *soft, cm_soft_group *g, uint32_t at, frame *f)
{
    const float *rows = &soft->inertias[0].inverse_mass;
    cm_f a[8], b[8];
    uint32_t row_a[CM_LANES], row_b[CM_LANES];
    for (uint32_t i = 0; i < CM_LANES; i++) { // half as long as a body's
        row_a[i] = g->a[at + i] / 2;
        row_b[i] = g->b[at + i] / 2;
    }
    cm_lanes_gather(rows, 1, row_a, a);
    cm_lanes_gather(rows, 1, row_b, b);
    f->ma = a[0];
    f->mb = b[0];
    for (uint32_t i = 0; i < 6; i++) {
        f->ia[i] = a[1 + i];
        f->ib[i] = b[1 + i];
    }
    for (uint32_t i = 0; !g->round && i < 6; i++) {
        STORE(inertia_a[i], f->ia[i]);
        STORE(inertia_b[i], f->ib[i]);
    }
}

// Finds contacts of several points, none of which presses, of bodies that come together at speed.
CM_WHOLE void find_meeting(cm_soft_group *g, uint32_t at, const frame *f, const speeds *s,
                           cm_f normal)
{
    cm_f approach = cm_fvec_dot(cm_fvec_sub(s->vb, s->va), f->n);
    cm_mask meets = cm_lanes_greater(cm_lanes_set(-CM_SOFT_BLOW_SPEED), approach) &
                    cm_lanes_at_most(normal, cm_lanes_set(0.0f)) &
                    cm_lanes_greater(LOAD(point_count), cm_lanes_set(1.0f));
    g->meets |= cm_lanes_true(meets) << at;
}

CM_WHOLE void warm_start(cm_soft *soft, cm_soft_group *g, const cm_soft_special *e, uint32_t at,
                         const frame *f, cm_fvec friction)
{
    speeds s;
    gather_speeds(soft, g, at, &s);
    cm_f px = cm_fvec_dot(friction, f->t1), py = cm_fvec_dot(friction, f->t2),
         twist = LOAD(friction_impulse[2]);
    STORE(friction_impulse[0], px);
    STORE(friction_impulse[1], py);
    cm_f normal = cm_lanes_set(0.0f), turn1 = normal, turn2 = normal;
    for (uint32_t i = 0; i < points_of(g); i++) {
        cm_f p = LOAD(at_point[i].normal_impulse);
        normal = normal + p;
        turn1 = turn1 + LOAD(at_point[i].y) * p;
        turn2 = turn2 - LOAD(at_point[i].x) * p;
    }
    find_meeting(g, at, f, &s, normal);
    cm_fvec impulse = cm_fvec_mix(normal, f->n, px, f->t1, py, f->t2);
    cm_fvec torque = cm_fvec_mix(turn1, f->t1, turn2, f->t2, twist, f->n);
    apply(f, e, impulse, torque, false, &s);
    scatter_speeds(soft, g, at, &s);
}

CM_WHOLE void prepare_lanes(cm_soft *soft, cm_soft_group *g, cm_soft_special *e, uint32_t at)
{
    frame f;
    staged points;
    load_contacts(soft, g, at, &f, &points);
    make_basis(&f);
    STORE_VEC(t1, f.t1);
    load_inertias(soft, g, at, &f);
    cm_f sum[6];
    for (uint32_t k = 0; k < 6; k++) {
        sum[k] = f.ia[k] + f.ib[k];
    }
    response n = respond(&f, f.n);
    cm_f zero = cm_lanes_set(0.0f);
    f.free_a = e ? LOAD_SPECIAL_VEC(free_a) : (cm_fvec){zero, zero, zero};
    f.free_b = e ? LOAD_SPECIAL_VEC(free_b) : (cm_fvec){zero, zero, zero};
    if (e) {
        prepare_special(e, at, &f, sum);
    }
    prepare_points(g, e, at, &f, &points, &n, sum);
    prepare_friction(g, e, at, &f, &n, sum);
    warm_start(soft, g, e, at, &f, points.friction_impulse);
}

__attribute__((noinline)) static void prepare_special_group(cm_soft *soft, uint32_t group)
{
    for (uint32_t at = 0; at < soft->groups[group].lanes; at += CM_LANES) {
        prepare_lanes(soft, &soft->groups[group], &soft->specials[group], at);
    }
}

static void prepare(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_group *g = &soft->groups[i];
        fetch_rows(soft, i + 1 < end ? g + 1 : g);
        if (g->special) {
            prepare_special_group(soft, i);
            continue;
        }
        CM_LANES_UNROLL(2)
        for (uint32_t at = 0; goes_on(g, at); at += CM_LANES) {
            prepare_lanes(soft, g, NULL, at);
        }
    }
}
