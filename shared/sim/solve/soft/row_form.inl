// Rows of groups whose joints are all balls, or all hinges, made in lanes: included by
// joint_pass.inl, once a width.
//
// The same operations as in ../../joint/{rows,ball,hinge}.c, by which all other joints are made, in
// the same order: so a group makes the same rows either way, but for the signs of zeros. The linear
// parts are constant (row.c). Typical: 20 ragdolls, 6 groups of balls to 4 of hinges.

static inline void put_row(cm_soft_row *g, uint32_t at, cm_fvec a, cm_fvec b, cm_f error)
{
    cm_fvec_store(g->angular_a, at, a);
    cm_fvec_store(g->angular_b, at, b);
    STORE(error, error);
}

static inline void make_point(cm_soft_row *rows, uint32_t at, const arms *r)
{
    cm_f zero = cm_lanes_set(0.0f);
    cm_fvec a = r->ra, b = r->rb;
    put_row(&rows[0], at, (cm_fvec){zero, -a.z, a.y}, (cm_fvec){zero, b.z, -b.y}, r->gap.x);
    put_row(&rows[1], at, (cm_fvec){a.z, zero, -a.x}, (cm_fvec){-b.z, zero, b.x}, r->gap.y);
    put_row(&rows[2], at, (cm_fvec){-a.y, a.x, zero}, (cm_fvec){b.y, -b.x, zero}, r->gap.z);
}

static inline cm_fvec opposite(cm_fvec v)
{
    return (cm_fvec){-v.x, -v.y, -v.z};
}

static inline void make_tilt(cm_soft_row *row, uint32_t at, cm_fvec axis, cm_fvec across)
{
    cm_fvec about = cm_fvec_cross(axis, across);
    put_row(row, at, opposite(about), about, cm_fvec_dot(across, axis));
}

// Angles about a's axis of b's frames in a's.
static inline cm_f twists(quat turn)
{
    float x[CM_LANES], w[CM_LANES], angle[CM_LANES];
    cm_lanes_store(x, turn.x);
    cm_lanes_store(w, turn.w);
    for (uint32_t i = 0; i < CM_LANES; i++) {
        angle[i] = cm_joint_twist((carom_quat){x[i], 0.0f, 0.0f, w[i]});
    }
    return cm_lanes_load(angle);
}

static inline void make_turns(cm_soft_rows *g, uint32_t at, cm_fvec axis, quat turn)
{
    cm_f angle = twists(turn);
    for (uint32_t i = 0; i < g->singles; i++) {
        const cm_soft_single *single = &g->single[i];
        cm_f side = cm_lanes_load(single->side + at), from = cm_lanes_load(single->from + at);
        put_row(&g->rows[i], at, cm_fvec_scale(side, opposite(axis)), cm_fvec_scale(side, axis),
                side * (angle - from));
    }
}

static inline void make_form(const cm_soft *soft, cm_soft_rows *g, uint32_t first, uint32_t at)
{
    arms r = row_arms(soft, g, at);
    cm_soft_row *block = &g->rows[g->singles];
    if (g->form == CM_FORM_BALL) {
        make_point(block, at, &r);
        return;
    }
    quat frame_a = multiply(r.turn_a, load_quat(g->start_frame.a, at));
    quat frame_b = multiply(r.turn_b, load_quat(g->start_frame.b, at));
    cm_f a[9], b[9];
    axes_of(frame_a, a);
    axes_of(frame_b, b);
    if (first < g->singles) {
        quat back = {-frame_a.x, -frame_a.y, -frame_a.z, frame_a.w};
        make_turns(g, at, (cm_fvec){a[0], a[1], a[2]}, multiply(back, frame_b));
    }
    cm_fvec axis = {b[0], b[1], b[2]};
    make_tilt(&block[0], at, axis, (cm_fvec){a[6], a[7], a[8]});
    make_tilt(&block[1], at, axis, (cm_fvec){a[3], a[4], a[5]});
    make_point(&block[2], at, &r);
}
