// Restitution, CM_LANES contacts at once: included by pass.inl, once a width.
//
// After the last substep: a point that met faster than the threshold, and that has pressed since,
// parts at its share of the speed that it met at (contact.c); friction of these impulses comes with
// them. Within the tick it stayed at the surface, so it starts from there with the energy that it
// had: of bodies that fall no height is lost. Typical: no group.

// The normal velocity that point i is to part at, and whether it is to.
CM_WHOLE cm_f part_speed(const cm_soft *soft, const cm_soft_group *g, uint32_t at, uint32_t i,
                         cm_mask *now)
{
    cm_f zero = cm_lanes_set(0.0f), restitution = LOAD(restitution), approach = LOAD(approach[i]);
    cm_f pull = LOAD(pull), speed = restitution * approach;
    *now = cm_lanes_greater(restitution, zero) &
           cm_lanes_greater(cm_lanes_set(-soft->restitution_threshold), approach) &
           cm_lanes_greater(LOAD(largest_impulse[i]), zero);
    cm_f squared = speed * speed + cm_lanes_set(2.0f) * pull * LOAD(at_point[i].separation);
    return cm_lanes_sqrt(cm_lanes_max(squared, zero)) - cm_lanes_set(0.5f * soft->h) * pull;
}

// Coulomb friction of impulses that part the surfaces: at most `friction` times `normal`, and no
// more than ends what they slide. Returns (t1, t2).
CM_WHOLE cm_fvec solve_parting_friction(const cm_soft_group *g, uint32_t at, const local *v,
                                        cm_f normal)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), shared = LOAD(tangent_mass[1]);
    cm_f limit = LOAD(friction) * cm_lanes_max(normal, zero);
    cm_f x = zero - (LOAD(tangent_mass[0]) * v->x + shared * v->y);
    cm_f y = zero - (shared * v->x + LOAD(tangent_mass[2]) * v->y);
    cm_f squared = x * x + y * y;
    cm_mask slides = cm_lanes_greater(squared, limit * limit);
    cm_f scale = limit / cm_lanes_sqrt(cm_lanes_select(slides, squared, one));
    scale = cm_lanes_select(slides, scale, one);
    return (cm_fvec){scale * x, scale * y, zero};
}

// Changes of the points' impulses until all part as they are to.
CM_WHOLE void part_points(const cm_soft *soft, cm_soft_group *g, uint32_t at, uint32_t points,
                          const local *v, cm_f change[4])
{
    cm_f zero = cm_lanes_set(0.0f), vn[4], wanted[4];
    cm_mask now[4];
    for (uint32_t i = 0; i < points; i++) {
        wanted[i] = part_speed(soft, g, at, i, &now[i]);
        vn[i] = v->normal + LOAD(at_point[i].y) * v->turn1 - LOAD(at_point[i].x) * v->turn2;
        change[i] = zero;
    }
    for (uint32_t round = 0; round < (points > 1 ? PARTING_ROUNDS : 1u); round++) {
        for (uint32_t i = 0; i < points; i++) {
            cm_f mass = LOAD(at_point[i].effective_mass),
                 least = zero - LOAD(at_point[i].normal_impulse);
            cm_f p = cm_lanes_max(change[i] - mass * (vn[i] - wanted[i]), least);
            cm_f more = cm_lanes_select(now[i], p - change[i], zero);
            change[i] = change[i] + more;
            add_change(g, at, i, points, more, vn);
        }
    }
}

CM_WHOLE void bounce_lanes(cm_soft *soft, cm_soft_group *g, cm_soft_special *e, uint32_t at)
{
    uint32_t points = points_of(g);
    frame f;
    speeds s;
    gather_speeds(soft, g, at, &s);
    load_frame(g, e, at, g->round, &s, &f);
    local v = localise(&f, &s);
    cm_f change[4], zero = cm_lanes_set(0.0f), normal = zero, turn1 = zero, turn2 = zero;
    part_points(soft, g, at, points, &v, change);
    for (uint32_t i = 0; i < points; i++) {
        normal = normal + change[i];
        turn1 = turn1 + LOAD(at_point[i].y) * change[i];
        turn2 = turn2 - LOAD(at_point[i].x) * change[i];
    }
    v.x = v.x + LOAD(friction_coupling[0]) * normal + LOAD(friction_coupling[3]) * turn1 +
          LOAD(friction_coupling[6]) * turn2;
    v.y = v.y + LOAD(friction_coupling[1]) * normal + LOAD(friction_coupling[4]) * turn1 +
          LOAD(friction_coupling[7]) * turn2;
    if (e) {
        v.x = v.x + LOAD_SPECIAL(surface[0]);
        v.y = v.y + LOAD_SPECIAL(surface[1]);
    }
    cm_fvec friction = solve_parting_friction(g, at, &v, normal);
    for (uint32_t i = 0; e && i < points; i++) {
        STORE_SPECIAL(sum_normal[i], LOAD_SPECIAL(sum_normal[i]) + change[i]);
    }
    if (e) {
        STORE_SPECIAL(sum_friction[0], LOAD_SPECIAL(sum_friction[0]) + friction.x);
        STORE_SPECIAL(sum_friction[1], LOAD_SPECIAL(sum_friction[1]) + friction.y);
    }
    // The next substep starts from the impulses that pressed in this one, without those that part.
    STORE(total_impulse, LOAD(total_impulse) + normal);
    cm_fvec impulse = cm_fvec_mix(normal, f.n, friction.x, f.t1, friction.y, f.t2);
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
