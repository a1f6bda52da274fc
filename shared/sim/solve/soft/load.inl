// Contacts into a group's lanes and out of them, CM_LANES at once: included by pass.inl, once a
// width.
//
// A group's rows lie anywhere among the contacts, so those of the next group are asked for while
// one is worked on; each is read in runs of eight floats that are transposed in registers.
// Friction acts at one centre, that of the pressure of the last tick. Typical: 240 groups, twice a
// tick.

#define SLIDING_PART    0.99f // of the largest friction impulse: what has more of it slides
#define MANIFOLD_FLOATS (sizeof(cm_manifold) / sizeof(float))
#define CONTACT_FLOATS  (sizeof(cm_soft_contact) / sizeof(float))

_Static_assert(offsetof(cm_manifold, normal) == 0 && offsetof(cm_manifold, friction) == 12 &&
                   offsetof(cm_manifold, restitution) == 16 &&
                   offsetof(cm_manifold, round_a) == 20 && offsetof(cm_manifold, round_b) == 24 &&
                   offsetof(cm_manifold, points) % 4 == 0 && sizeof(cm_manifold) % 4 == 0,
               "gathered as floats");
_Static_assert(sizeof(cm_manifold_point) == 32 && offsetof(cm_manifold_point, separation) == 24,
               "gathered as eight floats");
_Static_assert(offsetof(cm_soft_contact, friction_impulse) == 0 &&
                   offsetof(cm_soft_contact, twist_impulse) == 12 && CONTACT_FLOATS == 4,
               "gathered as four floats");
_Static_assert(sizeof(cm_soft_point) == sizeof(float), "gathered as floats in a row");

CM_WHOLE void fetch_rows(const cm_soft *soft, const cm_soft_group *g)
{
    for (uint32_t lane = 0; lane < CM_SOFT_WIDE && g->row[lane] != CM_NONE; lane++) {
        const char *manifold = (const char *)&soft->manifolds[g->row[lane]];
        __builtin_prefetch(manifold);
        __builtin_prefetch(manifold + CM_CACHE_LINE);
        __builtin_prefetch(manifold + sizeof(cm_manifold) - 1);
        __builtin_prefetch(&soft->contacts[g->row[lane]], 1); // a row lies in one line
        __builtin_prefetch(&soft->points[g->point[lane]], 1);
    }
}

// Up to here, 6 MB, groups come from the caches fast enough without being asked for ahead.
#define NEAR_GROUPS 1024u
#define HEADS_AHEAD 6u

// Asks for what a pass reads of a group. Of 2,200 groups (20,000 bodies in a pile) the passes took
// 0.55 of the time with it; of 100 to 700 groups 1.3 to 1.1 of it. CM_WHOLE, since GCC 12 leaves
// out calls of functions that only prefetch.
CM_WHOLE void fetch_group(const cm_soft_group *g)
{
    const cm_soft_wide *at = g->normal, *after = &g->at_point[points_of(g) - 1].effective_mass + 1;
    for (; at < after; at++) {
        __builtin_prefetch(at, 1);
    }
    after = g->round ? g->inertia_a : &g->restitution;
    for (at = g->round && points_of(g) < 2 ? after : g->point_coupling; at < after; at++) {
        __builtin_prefetch(at, 1);
    }
}

// Heads of groups further on: what of them is asked for follows from their heads.
CM_WHOLE void fetch_groups(const cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; soft->ranges.end > NEAR_GROUPS && i < end; i++) {
        const cm_soft_group *later = &soft->groups[i + HEADS_AHEAD];
        __builtin_prefetch(later->a);
        __builtin_prefetch(later->b);
        __builtin_prefetch(&later->lanes);
        fetch_group(&soft->groups[i]);
    }
}

// Point k of each lane: where it is from a's centre of mass, and its separation. Returns the way
// from one centre of mass to the other. What is not used is zero.
CM_WHOLE cm_fvec load_point(const cm_soft *soft, const uint32_t *index, uint32_t k, cm_mask used,
                            cm_fvec *anchor, cm_f *separation)
{
    cm_f p[8], zero = cm_lanes_set(0.0f);
    cm_lanes_gather(&soft->manifolds[0].points[k].anchor_a.x, MANIFOLD_FLOATS, index, p);
    for (uint32_t i = 0; i < 7; i++) {
        p[i] = cm_lanes_select(used, p[i], zero);
    }
    *anchor = (cm_fvec){p[0], p[1], p[2]};
    *separation = cm_lanes_select(used, p[6] + cm_lanes_set(CM_SOFT_REST_OVERLAP), zero);
    return (cm_fvec){p[3] - p[0], p[4] - p[1], p[5] - p[2]};
}

// The centre of the points, from a's centre of mass: of their pressure, where there is any; and
// half the gap there. Stores the mean distance of the points from it, weighted alike.
CM_WHOLE cm_fvec find_center(cm_soft_group *g, uint32_t at, const cm_mask used[4],
                             const cm_f pressure[4], const cm_fvec anchor[4],
                             const cm_f separation[4], cm_f *half_gap)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), sum = zero, count = zero;
    for (uint32_t k = 0; k < 4; k++) {
        sum = sum + pressure[k];
        count = count + cm_lanes_select(used[k], one, zero);
    }
    cm_mask pressed = cm_lanes_greater(sum, cm_lanes_set(CM_SOFT_TINY));
    cm_f each = one / cm_lanes_select(pressed, sum, cm_lanes_max(count, one)), weight[4];
    cm_fvec center = {zero, zero, zero};
    cm_f gap = zero;
    for (uint32_t k = 0; k < 4; k++) {
        weight[k] = cm_lanes_select(pressed, each * pressure[k], each);
        center = cm_fvec_add(center, cm_fvec_scale(weight[k], anchor[k]));
        gap = gap + weight[k] * separation[k];
    }
    *half_gap = cm_lanes_set(0.5f) * cm_lanes_max(gap, zero);
    cm_f radius = zero;
    for (uint32_t k = 0; k < 4; k++) {
        cm_fvec o = cm_fvec_sub(anchor[k], center);
        cm_f distance = weight[k] * cm_lanes_sqrt(cm_fvec_dot(o, o));
        radius = radius + cm_lanes_select(used[k], distance, zero);
    }
    STORE(radius, cm_lanes_select(used[1], radius, zero));
    return center;
}

// The impulses of the last tick: those of the points (of points that are not there: anything), and
// friction in world axes.
CM_WHOLE void load_impulses(const cm_soft *soft, cm_soft_group *g, uint32_t at,
                            const uint32_t *index, cm_mask used, cm_f pressure[4], staged *points)
{
    cm_f warm[4], zero = cm_lanes_set(0.0f);
    cm_mask flipped = cm_lanes_bits(g->flipped >> at);
    cm_lanes_gather4(&soft->contacts[0].friction_impulse.x, CONTACT_FLOATS, index, warm);
    cm_lanes_gather4(&soft->points[0].normal_impulse, 1, g->point + at, pressure);
    for (uint32_t i = 0; i < 4; i++) {
        warm[i] = cm_lanes_select(used, warm[i], zero);
    }
    STORE(friction_impulse[2], warm[3]);
    cm_fvec friction = {warm[0], warm[1], warm[2]};
    points->friction_impulse =
        choose(flipped, (cm_fvec){-friction.x, -friction.y, -friction.z}, friction);
}

// Finds contacts whose friction comes after the normals in the relax pass: those without friction
// in the last tick, as in a blow, or as much as the normal impulses allowed.
CM_WHOLE void find_late(cm_soft_group *g, uint32_t at, cm_f friction, const cm_f pressure[4],
                        const staged *points)
{
    cm_f limit = cm_lanes_set(SLIDING_PART) * friction *
                 (pressure[0] + pressure[1] + pressure[2] + pressure[3]);
    cm_fvec impulse = points->friction_impulse;
    cm_mask late = cm_lanes_at_most(limit * limit, cm_fvec_dot(impulse, impulse));
    uint32_t used = cm_lanes_true(cm_lanes_greater(points->used[0], cm_lanes_set(0.0f)));
    g->late |= (cm_lanes_true(late) & used) << at;
    g->early |= (~cm_lanes_true(late) & used) << at;
}

// A contact's frame, its points and the impulses of the last tick. An unused lane has a normal of
// unit length, else zeros.
CM_WHOLE void load_contacts(const cm_soft *soft, cm_soft_group *g, uint32_t at, frame *f,
                            staged *points)
{
    cm_f head[8], pressure[4], zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f);
    cm_mask used[4], flipped = cm_lanes_bits(g->flipped >> at);
    uint32_t index[CM_SOFT_WIDE];
    for (uint32_t k = 0; k < CM_SOFT_WIDE; k++) {
        index[k] = g->row[k] == CM_NONE ? 0 : g->row[k];
    }
    for (uint32_t k = 0; k < 4; k++) {
        used[k] = cm_lanes_greater(LOAD(point_count), cm_lanes_set((float)k));
    }
    cm_lanes_gather(&soft->manifolds[0].normal.x, MANIFOLD_FLOATS, index + at, head);
    load_impulses(soft, g, at, index + at, used[0], pressure, points);
    cm_fvec anchor[4], none = {zero, zero, zero}, b_to_a = none;
    cm_f separation[4], half_gap;
    for (uint32_t k = 0; k < 4; k++) {
        separation[k] = zero;
        anchor[k] = none;
        if (k < g->points) {
            cm_fvec way = load_point(soft, index + at, k, used[k], &anchor[k], &separation[k]);
            b_to_a = k == 0 ? way : b_to_a;
        }
        pressure[k] = cm_lanes_select(used[k], pressure[k], zero);
        if (k < points_of(g)) {
            STORE(at_point[k].start, separation[k]);
            STORE(at_point[k].normal_impulse, pressure[k]);
        }
        points->used[k] = cm_lanes_select(used[k], one, zero);
    }
    cm_fvec center = find_center(g, at, used, pressure, anchor, separation, &half_gap);
    cm_fvec center_b = cm_fvec_add(center, b_to_a);
    for (uint32_t k = 0; k < 4; k++) {
        cm_fvec o = cm_fvec_sub(anchor[k], center);
        points->offset[k] =
            (cm_fvec){cm_lanes_select(used[k], o.x, zero), cm_lanes_select(used[k], o.y, zero),
                      cm_lanes_select(used[k], o.z, zero)};
    }
    f->n =
        (cm_fvec){cm_lanes_select(used[0], head[0], zero), cm_lanes_select(used[0], head[1], one),
                  cm_lanes_select(used[0], head[2], zero)};
    f->n = choose(flipped, (cm_fvec){-f->n.x, -f->n.y, -f->n.z}, f->n);
    // Points lie halfway between the surfaces; where there is a gap, each body has its own lever.
    f->ra = cm_fvec_sub(choose(flipped, center_b, center), cm_fvec_scale(half_gap, f->n));
    f->rb = cm_fvec_add(choose(flipped, center, center_b), cm_fvec_scale(half_gap, f->n));
    STORE_VEC(normal, f->n);
    STORE_VEC(ra, f->ra);
    STORE_VEC(rb, f->rb);
    STORE(friction, cm_lanes_select(used[0], head[3], zero));
    find_late(g, at, head[3], pressure, points);
    if (g->bounces) {
        STORE(restitution, cm_lanes_select(used[0], head[4], zero));
    }
    if (g->rolls) {
        cm_f a = cm_lanes_select(used[0], head[5], zero);
        cm_f b = cm_lanes_select(used[0], head[6], zero);
        STORE(round_radius[0], cm_lanes_select(flipped, b, a));
        STORE(round_radius[1], cm_lanes_select(flipped, a, b));
    }
    STORE(total_impulse, zero);
}

// An impulse that is not finite comes from a body that is put to rest: it must not return as warm
// start. A tiny one would become denormal.
CM_WHOLE cm_f kept(cm_f impulse)
{
    cm_f size = cm_lanes_abs(impulse), zero = cm_lanes_set(0.0f);
    cm_mask finite = cm_lanes_greater(cm_lanes_set(__builtin_inff()), size);
    cm_mask tiny = cm_lanes_greater(cm_lanes_set(CM_SOFT_TINY), size);
    return cm_lanes_select(finite, cm_lanes_select(tiny, zero, impulse), zero);
}

// One to four of them. What lies behind is another contact's.
CM_WHOLE void store_points(cm_soft_point *to, const float *from, uint32_t count)
{
    if (count == 4) {
        memcpy(to, from, 4 * sizeof *to);
        return;
    }
    if (count & 2) {
        memcpy(to, from, 2 * sizeof *to);
    }
    if (count & 1) {
        memcpy(to + count - 1, from + count - 1, sizeof *to);
    }
}

// Stores what the next tick starts from, friction in world axes, and the sum for the report.
CM_WHOLE void store_contacts(const cm_soft *soft, const cm_soft_group *g, uint32_t at)
{
    static const uint32_t in_order[CM_SOFT_WIDE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                    8, 9, 10, 11, 12, 13, 14, 15};
    cm_fvec t1 = LOAD_VEC(t1), t2 = cm_fvec_cross(LOAD_VEC(normal), t1);
    cm_fvec friction = cm_fvec_add(cm_fvec_scale(LOAD(friction_impulse[0]), t1),
                                   cm_fvec_scale(LOAD(friction_impulse[1]), t2));
    friction = choose(cm_lanes_bits(g->flipped >> at),
                      (cm_fvec){-friction.x, -friction.y, -friction.z}, friction);
    cm_f zero = cm_lanes_set(0.0f);
    uint32_t points = points_of(g);
    cm_f row[8] = {LOAD(at_point[0].normal_impulse),
                   points > 1 ? LOAD(at_point[1].normal_impulse) : zero,
                   points > 2 ? LOAD(at_point[2].normal_impulse) : zero,
                   points > 2 ? LOAD(at_point[3].normal_impulse) : zero,
                   friction.x,
                   friction.y,
                   friction.z,
                   LOAD(friction_impulse[2])};
    float rows[8 * CM_SOFT_WIDE], total[CM_SOFT_WIDE];
    for (uint32_t i = 0; i < 8; i++) {
        row[i] = kept(row[i]);
    }
    cm_lanes_scatter(rows, 8, in_order, row);
    cm_lanes_store(total, kept(LOAD(total_impulse)));
    for (uint32_t k = 0; k < CM_LANES && g->row[at + k] != CM_NONE; k++) {
        store_points(&soft->points[g->point[at + k]], rows + 8 * k,
                     (uint32_t)g->point_count[at + k]);
        memcpy(&soft->contacts[g->row[at + k]], rows + 8 * k + 4, sizeof *soft->contacts);
        soft->manifolds[g->row[at + k]].impulse = total[k];
    }
}
