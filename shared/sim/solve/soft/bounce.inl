// Restitution, CM_LANES contacts at once: included by pass.inl, once a width.
//
// After the last substep: a point that approached faster than a threshold when the tick began, and
// that has pressed since, leaves at its share of that speed. Typical: no group.

CM_WHOLE void bounce_lanes(cm_soft *soft, cm_soft_group *g, cm_soft_special *e, uint32_t at)
{
    static const uint8_t cross_of[4][4] = {{0, 0, 1, 2}, {0, 0, 3, 4}, {0, 0, 0, 5}, {0}};
    uint32_t points = points_of(g);
    frame f;
    speeds s;
    gather_speeds(soft, g, at, &s);
    load_frame(g, e, at, g->round, &s, &f);
    local v = localise(&f, &s);
    cm_f zero = cm_lanes_set(0.0f), vn[4], restitution = LOAD(restitution);
    for (uint32_t i = 0; i < points; i++) {
        vn[i] = v.normal + LOAD(at_point[i].y) * v.turn1 - LOAD(at_point[i].x) * v.turn2;
    }
    cm_f normal = zero, turn1 = zero, turn2 = zero;
    cm_mask bouncy = cm_lanes_greater(restitution, zero);
    for (uint32_t i = 0; i < points; i++) {
        cm_f approach = LOAD(approach[i]), old = LOAD(at_point[i].normal_impulse);
        cm_mask now = bouncy & cm_lanes_greater(cm_lanes_set(-RESTITUTION_THRESHOLD), approach) &
                      cm_lanes_greater(LOAD(largest_impulse[i]), zero);
        cm_f p = old - LOAD(at_point[i].effective_mass) * (vn[i] + restitution * approach);
        p = cm_lanes_select(now, cm_lanes_max(p, zero), old);
        cm_f change = p - old;
        STORE(at_point[i].normal_impulse, p);
        if (e) {
            STORE_SPECIAL(sum_normal[i], LOAD_SPECIAL(sum_normal[i]) + change);
        }
        for (uint32_t j = i + 1; j < points; j++) {
            vn[j] = vn[j] + LOAD(cross[cross_of[i][j]]) * change;
        }
        normal = normal + change;
        turn1 = turn1 + LOAD(at_point[i].y) * change;
        turn2 = turn2 - LOAD(at_point[i].x) * change;
    }
    STORE(total_impulse, LOAD(total_impulse) + normal);
    cm_fvec impulse = cm_fvec_scale(normal, f.n);
    cm_fvec torque = cm_fvec_add(cm_fvec_scale(turn1, f.t1), cm_fvec_scale(turn2, f.t2));
    apply(&f, e, impulse, torque, g->round, &s);
    scatter_speeds(soft, g, at, &s);
}

static void bounce(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_group *g = &soft->groups[i];
        for (uint32_t at = 0; g->bounces && at < g->lanes; at += CM_LANES) {
            if (g->special) {
                bounce_lanes(soft, g, &soft->specials[i], at);
            } else {
                bounce_lanes(soft, g, NULL, at);
            }
        }
    }
}
