// The part of special groups alone, CM_LANES contacts at once: included by pass.inl, once a width.
//
// Rolling friction: a torque against the relative turn about the tangents, clamped to a circle of
// the normal impulse times a lever (as E. Catto's Box2D v3 has it in the plane). It starts each
// tick from nothing: it is solved before sliding friction, whose warm start then finds the body
// already at rest; in the relax pass after the normals, since what rolls is pushed harder by the
// soft constraint than it weighs. Sums over the tick are kept at the end of each substep, where
// impulses are what that substep did. Typical: no group, or those of a few conveyors, wheels and
// locked bodies.

// Along t1 and t2: the surface's velocity, and the inverse of what a torque turns.
CM_WHOLE void prepare_special(cm_soft_special *e, uint32_t at, const frame *f, const cm_f sum[6])
{
    cm_fvec surface = LOAD_SPECIAL_VEC(surface);
    cm_fvec s1 = cm_fsym_mul(sum, f->t1), s2 = cm_fsym_mul(sum, f->t2);
    cm_f mass[3];
    STORE_SPECIAL(surface[0], cm_fvec_dot(surface, f->t1));
    STORE_SPECIAL(surface[1], cm_fvec_dot(surface, f->t2));
    invert_pair(cm_fvec_dot(f->t1, s1), cm_fvec_dot(f->t1, s2), cm_fvec_dot(f->t2, s2),
                cm_lanes_set(RANK_ONE), mass);
    for (uint32_t k = 0; k < 3; k++) {
        STORE_SPECIAL(roll_mass[k], mass[k]);
    }
}

CM_WHOLE void solve_rolling(const cm_soft_group *g, cm_soft_special *e, uint32_t at, const frame *f,
                            speeds *s)
{
    cm_f normal = LOAD(at_point[0].normal_impulse) + LOAD(at_point[1].normal_impulse) +
                  LOAD(at_point[2].normal_impulse) + LOAD(at_point[3].normal_impulse);
    cm_f limit = LOAD_SPECIAL(roll_lever) * normal, one = cm_lanes_set(1.0f);
    cm_fvec w = cm_fvec_sub(s->wb, s->wa);
    cm_f w1 = cm_fvec_dot(w, f->t1), w2 = cm_fvec_dot(w, f->t2);
    cm_f old_x = LOAD_SPECIAL(roll[0]), old_y = LOAD_SPECIAL(roll[1]);
    cm_f shared = LOAD_SPECIAL(roll_mass[1]);
    cm_f x = old_x - (LOAD_SPECIAL(roll_mass[0]) * w1 + shared * w2);
    cm_f y = old_y - (shared * w1 + LOAD_SPECIAL(roll_mass[2]) * w2);
    cm_f squared = x * x + y * y;
    cm_mask over = cm_lanes_greater(squared, limit * limit);
    cm_f scale = limit / cm_lanes_sqrt(cm_lanes_select(over, squared, one));
    scale = cm_lanes_select(over, scale, one);
    x = x * scale;
    y = y * scale;
    STORE_SPECIAL(roll[0], x);
    STORE_SPECIAL(roll[1], y);
    cm_f dx = x - old_x, dy = y - old_y;
    cm_fvec torque = cm_fvec_add(cm_fvec_scale(dx, f->t1), cm_fvec_scale(dy, f->t2));
    s->wb = cm_fvec_add(s->wb, cm_fsym_mul(f->ib, torque));
    s->wa = cm_fvec_sub(s->wa, cm_fsym_mul(f->ia, torque));
}

CM_WHOLE void sum_special(const cm_soft_group *g, cm_soft_special *e, uint32_t at)
{
    for (uint32_t k = 0; k < 4; k++) {
        STORE_SPECIAL(sum_normal[k],
                      LOAD_SPECIAL(sum_normal[k]) + LOAD(at_point[k].normal_impulse));
    }
    for (uint32_t k = 0; k < 3; k++) {
        STORE_SPECIAL(sum_friction[k], LOAD_SPECIAL(sum_friction[k]) + LOAD(friction_impulse[k]));
    }
    for (uint32_t k = 0; k < 2; k++) {
        STORE_SPECIAL(sum_roll[k], LOAD_SPECIAL(sum_roll[k]) + LOAD_SPECIAL(roll[k]));
    }
}
