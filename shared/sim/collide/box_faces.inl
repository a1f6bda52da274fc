// A face of one box against the nearest face of another, CM_LANES pairs at once: included after
// box_axes.inl by box_axes1.c and its like, which define CM_LANES and CM_FACES.
//
// The incident face is cut by one side of the reference face after another (I. Sutherland, G.
// Hodgman, 1974). No list of vertices grows and shrinks, which no lane could do for another: each
// edge has a place of its own, alive or not. Four are the incident face's; along each side comes
// one from where the polygon goes out to where it comes back in. (A convex polygon does so once;
// rounding that made it twice was not found in 10^8 tries on boxes of one size that stand on each
// other, turned by 1e-7: the last would count.) Typical: 530 pairs a step of 1,000 boxes in motion.

#define EDGES 8u // of the incident face: 0 to 3; along sides: 4 to 7
// Edges of the incident face stand this far apart in the list; those along sides lie between.
#define APART 16

typedef struct edge_lanes {
    cm_f p[3], q[3]; // ends: along the reference's two sides and its normal, from its centre
    cm_mask alive, place;
} edge_lanes;

// The incident face in front of the reference's.
typedef struct face_lanes {
    cm_f half[3], sign; // of the reference: its sides and its normal; which way the normal is
    cm_mask incident;   // axis x 2 + side
    cm_f middle[3], way[2][3]; // of the incident face: its centre, and from there half of its edges
} face_lanes;

CM_LANES_INLINE cm_f pick_one(const cm_mask which[2], cm_f a, cm_f b, cm_f c)
{
    return cm_lanes_select(which[1], c, cm_lanes_select(which[0], b, a));
}

// x, y, z to side, side and normal.
CM_LANES_INLINE void turn_to(const cm_mask axis[2], const cm_f from[3], cm_f to[3])
{
    to[0] = pick_one(axis, from[1], from[2], from[0]);
    to[1] = pick_one(axis, from[2], from[0], from[1]);
    to[2] = pick_one(axis, from[0], from[1], from[2]);
}

CM_LANES_INLINE void face_to_face(const box_lanes *x, cm_mask of_b, const cm_mask axis[2],
                                  face_lanes *f)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), clearly = cm_lanes_set(1.0e-5f);
    cm_f seen[3][3], center[3], axes[3][3], reference[3], half[3], at[3];
    for (uint32_t i = 0; i < 3; i++) {
        cm_f along = x->t[0] * x->r[0][i] + x->t[1] * x->r[1][i] + x->t[2] * x->r[2][i];
        center[i] = cm_lanes_select(of_b, -along, x->t[i]);
        reference[i] = cm_lanes_select(of_b, x->half_b[i], x->half_a[i]);
        half[i] = cm_lanes_select(of_b, x->half_a[i], x->half_b[i]);
        for (uint32_t k = 0; k < 3; k++) {
            seen[k][i] = cm_lanes_select(of_b, x->r[k][i], x->r[i][k]);
        }
    }
    turn_to(axis, reference, f->half);
    turn_to(axis, center, at);
    for (uint32_t k = 0; k < 3; k++) {
        turn_to(axis, seen[k], axes[k]);
    }
    f->sign = cm_lanes_select(cm_lanes_greater(zero, at[2]), -one, one);
    // The incident face has the normal that is most against the reference's.
    cm_mask which[2];
    cm_f most = cm_lanes_abs(axes[0][2]), second = cm_lanes_abs(axes[1][2]);
    which[0] = cm_lanes_greater(second, most + clearly);
    most = cm_lanes_select(which[0], second, most);
    which[1] = cm_lanes_greater(cm_lanes_abs(axes[2][2]), most + clearly);
    cm_f normal = pick_one(which, axes[0][2], axes[1][2], axes[2][2]);
    cm_mask away = cm_lanes_greater(f->sign * normal, zero);
    f->incident = cm_lanes_pick(which[1], whole(4), cm_lanes_pick(which[0], whole(2), whole(0))) |
                  (~away & whole(1));
    cm_f out = pick_one(which, half[0], half[1], half[2]);
    cm_f half1 = pick_one(which, half[1], half[2], half[0]);
    cm_f half2 = pick_one(which, half[2], half[0], half[1]);
    out = cm_lanes_select(away, -out, out);
    for (uint32_t i = 0; i < 3; i++) {
        f->middle[i] = at[i] + out * pick_one(which, axes[0][i], axes[1][i], axes[2][i]);
        f->way[0][i] = half1 * pick_one(which, axes[1][i], axes[2][i], axes[0][i]);
        f->way[1][i] = half2 * pick_one(which, axes[2][i], axes[0][i], axes[1][i]);
    }
}

CM_LANES_INLINE void start_edges(const face_lanes *f, edge_lanes edge[EDGES])
{
    for (uint32_t i = 0; i < 3; i++) {
        cm_f minus = f->middle[i] - f->way[0][i], plus = f->middle[i] + f->way[0][i];
        cm_f across = f->way[1][i];
        edge[0].p[i] = edge[3].q[i] = minus - across;
        edge[1].p[i] = edge[0].q[i] = plus - across;
        edge[2].p[i] = edge[1].q[i] = plus + across;
        edge[3].p[i] = edge[2].q[i] = minus + across;
    }
    for (uint32_t k = 0; k < 4; k++) {
        edge[k].alive = whole(-1);
        edge[k].place = whole((int32_t)k * APART);
    }
}

// Cuts by side n of the reference: of axis n / 2, the upper one where n is odd.
CM_LANES_INLINE void cut_edges(edge_lanes edge[EDGES], uint32_t n, cm_f limit)
{
    cm_f zero = cm_lanes_set(0.0f);
    edge_lanes *side = &edge[4 + n];
    uint32_t axis = n / 2;
    side->alive = side->place = whole(0);
    for (uint32_t k = 0; k < 3; k++) {
        side->p[k] = side->q[k] = zero;
    }
    CM_LANES_UNROLL(8)
    for (uint32_t i = 0; i < 4 + n; i++) {
        edge_lanes *e = &edge[i];
        cm_f dp = (n % 2 == 0 ? -e->p[axis] : e->p[axis]) - limit;
        cm_f dq = (n % 2 == 0 ? -e->q[axis] : e->q[axis]) - limit;
        cm_mask p_in = cm_lanes_at_most(dp, zero), q_in = cm_lanes_at_most(dq, zero);
        cm_mask goes_out = e->alive & p_in & ~q_in, comes_in = e->alive & q_in & ~p_in;
        cm_f s = dp / (dp - dq);
        for (uint32_t k = 0; k < 3; k++) {
            cm_f c = e->p[k] + s * (e->q[k] - e->p[k]);
            e->q[k] = cm_lanes_select(goes_out, c, e->q[k]);
            e->p[k] = cm_lanes_select(comes_in, c, e->p[k]);
            side->p[k] = cm_lanes_select(goes_out, c, side->p[k]);
            side->q[k] = cm_lanes_select(comes_in, c, side->q[k]);
        }
        side->alive |= goes_out;
        // Right after the edge that goes out.
        side->place = cm_lanes_pick(goes_out, e->place + whole(APART >> (n + 1)), side->place);
        e->alive &= p_in | comes_in;
    }
}

// Results of the lanes, side by side, for taking a lane's polygon out.
typedef struct found_lanes {
    float p[EDGES][3][CM_LANES], sign[CM_LANES], half[CM_LANES];
    int32_t alive[CM_LANES], place[4][CM_LANES], incident[CM_LANES];
} found_lanes;

CM_LANES_INLINE void find_edges(const box_lanes *x, cm_mask of_b, const cm_mask axis[2],
                                found_lanes *found)
{
    face_lanes f;
    edge_lanes edge[EDGES];
    cm_mask alive = whole(0);
    face_to_face(x, of_b, axis, &f);
    start_edges(&f, edge);
    CM_LANES_UNROLL(4)
    for (uint32_t n = 0; n < 4; n++) {
        cut_edges(edge, n, f.half[n / 2]);
    }
    for (uint32_t i = 0; i < EDGES; i++) {
        alive |= edge[i].alive & whole(1 << i);
        for (uint32_t k = 0; k < 3; k++) {
            cm_lanes_store(found->p[i][k], edge[i].p[k]);
        }
        if (i >= 4) {
            memcpy(found->place[i - 4], &edge[i].place, sizeof edge[i].place);
        }
    }
    cm_lanes_store(found->sign, f.sign);
    cm_lanes_store(found->half, f.half[2]);
    memcpy(found->alive, &alive, sizeof alive);
    memcpy(found->incident, &f.incident, sizeof f.incident);
}

// One lane's points within the margin, in the order of the polygon.
static void take_lane(const found_lanes *found, uint32_t lane, float margin, cm_box_clipped *to)
{
    uint8_t edge_at[4 * APART];
    uint64_t places = 0;
    for (uint32_t bits = (uint32_t)found->alive[lane]; bits != 0; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(bits);
        uint32_t place = i < 4 ? i * APART : (uint32_t)found->place[i - 4][lane];
        places |= 1ull << place;
        edge_at[place] = (uint8_t)i;
    }
    uint32_t u = (to->axis + 1) % 3, v = (to->axis + 2) % 3;
    uint32_t before = places != 0 ? edge_at[63 - __builtin_clzll(places)] : 0;
    to->up = found->sign[lane] > 0.0f;
    to->incident = (uint8_t)found->incident[lane];
    to->count = 0;
    for (; places != 0; places &= places - 1) {
        uint32_t i = edge_at[__builtin_ctzll(places)];
        float p[3], separation = found->sign[lane] * found->p[i][2][lane] - found->half[lane];
        if (separation <= margin) {
            p[u] = found->p[i][0][lane];
            p[v] = found->p[i][1][lane];
            p[to->axis] = found->p[i][2][lane];
            to->points[to->count++] =
                (cm_clip_point){cm_vec(p[0], p[1], p[2]), separation, before | i << 4};
        }
        before = i;
    }
}

void CM_FACES(const cm_shape_transform *transforms_a, const cm_shape *shapes_a,
              const cm_shape_transform *transforms_b, const cm_shape *shapes_b,
              const cm_box_pairs *pairs, const uint8_t *chosen, uint32_t count,
              cm_box_clipped *clipped)
{
    int32_t of_b[CM_LANES], second[CM_LANES], third[CM_LANES];
    for (uint32_t i = 0; i < CM_LANES; i++) {
        of_b[i] = -(chosen[i] >= 3);
        second[i] = -(chosen[i] % 3 == 1);
        third[i] = -(chosen[i] % 3 == 2);
    }
    cm_mask b, axis[2];
    memcpy(&b, of_b, sizeof b);
    memcpy(&axis[0], second, sizeof axis[0]);
    memcpy(&axis[1], third, sizeof axis[1]);
    placed first = load_boxes(transforms_a, shapes_a, pairs->a);
    placed other = load_boxes(transforms_b, shapes_b, pairs->b);
    box_lanes x = compare(&first, &other);
    found_lanes found;
    find_edges(&x, b, axis, &found);
    for (uint32_t i = 0; i < count; i++) {
        clipped[i].of_b = chosen[i] >= 3;
        clipped[i].axis = chosen[i] % 3;
        take_lane(&found, i, pairs->margin[i], &clipped[i]);
    }
}
