// Velocities and poses of a substep, CM_LANES bodies at once: included by pass.inl, once a
// width.
//
// Bodies go in blocks of eight slots. What is not dynamic keeps its velocity; what does not move
// has none, so poses need no cases. A body whose velocity would not be finite stops and is marked;
// it spares its neighbours. Typical: 125 blocks, two passes a substep.

#define MAX_SPEED                  400.0f      // m/s
#define MAX_ROTATION               0.78539816f // rad a substep: pi / 4
#define LARGEST                    3.4e38f     // above it nothing is finite
#define MIDPOINT_ROUNDS            3u
#define MIDPOINT_TURN              4.0f // (tan of half a turn)^2: beyond it, or not finite, w stays
#define SHORTEST_TURN              1.0e-17f // of a quaternion that has a direction

#define BLOCK_LOAD(member)         cm_lanes_load(block->member + at)
#define BLOCK_STORE(member, value) cm_lanes_store(block->member + at, value)

// Rows of CM_LANES bodies from slot `first` on: half 0 or 1.
static inline void load_rows(const cm_soft *soft, uint32_t first, uint32_t half, cm_f out[8])
{
    uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cm_lanes_gather(&soft->bodies[first].v.x + 8 * half, 16, index, out);
}

static inline void store_rows(cm_soft *soft, uint32_t first, uint32_t half, cm_f in[8])
{
    uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cm_lanes_scatter(&soft->bodies[first].v.x + 8 * half, 16, index, in);
}

static inline cm_fvec limited(cm_fvec v, float limit)
{
    cm_f one = cm_lanes_set(1.0f), squared = cm_fvec_dot(v, v);
    cm_mask over = cm_lanes_greater(squared, cm_lanes_set(limit * limit));
    cm_f s = cm_lanes_set(limit) / cm_lanes_sqrt(cm_lanes_select(over, squared, one));
    return cm_fvec_scale(cm_lanes_select(over, s, one), v);
}

// Speeds that decay (friction, damping) would creep through the denormal numbers, where processors
// take a hundred times as long; below this nothing moves by a bit in a year.
static inline cm_f settled(cm_f x)
{
    cm_mask tiny = cm_lanes_greater(cm_lanes_set(CM_SOFT_TINY), cm_lanes_abs(x));
    return cm_lanes_select(tiny, cm_lanes_set(0.0f), x);
}

static inline cm_mask finite(cm_fvec v)
{
    cm_f most = cm_lanes_set(LARGEST);
    return cm_lanes_greater(most, cm_lanes_abs(v.x)) & cm_lanes_greater(most, cm_lanes_abs(v.y)) &
           cm_lanes_greater(most, cm_lanes_abs(v.z));
}

static inline cm_mask nonzero(cm_fvec v)
{
    cm_f zero = cm_lanes_set(0.0f);
    return cm_lanes_greater(cm_lanes_abs(v.x), zero) | cm_lanes_greater(cm_lanes_abs(v.y), zero) |
           cm_lanes_greater(cm_lanes_abs(v.z), zero);
}

typedef struct quat {
    cm_f x, y, z, w;
} quat;

static inline quat multiply(quat a, quat b)
{
    quat r;
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    return r;
}

static inline quat normalised(quat q)
{
    cm_f s = cm_lanes_set(1.0f) / cm_lanes_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (quat){s * q.x, s * q.y, s * q.z, s * q.w};
}

// Principal axes in the world at the present poses, as `half`, the second of the rows, has them.
static inline void principal_axes(const cm_soft_block *block, uint32_t at, const cm_f half[8],
                                  cm_fvec axes[3])
{
    cm_f two = cm_lanes_set(2.0f), one = cm_lanes_set(1.0f);
    quat turn = {half[3], half[4], half[5], half[6]};
    quat q = {BLOCK_LOAD(axes[0]), BLOCK_LOAD(axes[1]), BLOCK_LOAD(axes[2]), BLOCK_LOAD(axes[3])};
    q = multiply(turn, q);
    axes[0] = (cm_fvec){one - two * (q.y * q.y + q.z * q.z), two * (q.x * q.y + q.w * q.z),
                        two * (q.x * q.z - q.w * q.y)};
    axes[1] = (cm_fvec){two * (q.x * q.y - q.w * q.z), one - two * (q.x * q.x + q.z * q.z),
                        two * (q.y * q.z + q.w * q.x)};
    axes[2] = cm_fvec_cross(axes[0], axes[1]);
}

// Angular velocity after outer torque.
static inline cm_fvec spin(const cm_soft *soft, const cm_soft_block *block, uint32_t first,
                           uint32_t at, cm_fvec w, cm_f h)
{
    cm_f half[8];
    cm_fvec axes[3], torque = cm_fvec_load(block->torque, at);
    cm_fvec inverse_inertia = cm_fvec_load(block->inverse_inertia, at);
    load_rows(soft, first + at, 1, half);
    principal_axes(block, at, half, axes);
    return cm_fvec_add(w,
                       cm_fvec_mix(h * inverse_inertia.x * cm_fvec_dot(axes[0], torque), axes[0],
                                   h * inverse_inertia.y * cm_fvec_dot(axes[1], torque), axes[1],
                                   h * inverse_inertia.z * cm_fvec_dot(axes[2], torque), axes[2]));
}

static inline void move_velocities(cm_soft *soft, cm_soft_block *block, uint32_t first, uint32_t at,
                                   bool plain)
{
    cm_f row[8], h = cm_lanes_set(soft->h), zero = cm_lanes_set(0.0f);
    load_rows(soft, first + at, 0, row);
    cm_fvec v0 = {row[0], row[1], row[2]}, w0 = {row[3], row[4], row[5]};
    // Contacts do again what they did in the last substep: warm starting.
    cm_fvec rest = {zero, zero, zero}, warm_v = rest, warm_w = rest;
    if (soft->ranges.end > 0) {
        warm_v = cm_fvec_sub(v0, cm_fvec_load(block->warm_v, at));
        warm_w = cm_fvec_sub(w0, cm_fvec_load(block->warm_w, at));
    }
    cm_fvec w = w0, acceleration = cm_fvec_load(block->acceleration, at);
    if (plain) {
        // No torque: it goes on turning as it does.
    } else if (block->round) {
        cm_fvec torque = cm_fvec_load(block->torque, at);
        w = cm_fvec_add(w, cm_fvec_scale(h * BLOCK_LOAD(inverse_inertia[0]), torque));
    } else if (cm_lanes_any(nonzero(cm_fvec_load(block->torque, at)))) {
        w = spin(soft, block, first, at, w, h);
        if (block->locked) {
            cm_fvec spun = cm_fvec_load(block->torque, at);
            spun = cm_fvec_add(w0, cm_fvec_scale(h * BLOCK_LOAD(inverse_inertia[0]), spun));
            w = choose(cm_lanes_greater(BLOCK_LOAD(turns_plainly), zero), spun, w);
        }
    }
    cm_fvec v = cm_fvec_add(v0, cm_fvec_scale(h, acceleration));
    if (!plain) {
        v = cm_fvec_scale(BLOCK_LOAD(linear_decay), v);
        w = cm_fvec_scale(BLOCK_LOAD(angular_decay), w);
    }
    v = cm_fvec_add(v, warm_v);
    w = cm_fvec_add(w, warm_w);
    v = limited((cm_fvec){settled(v.x), settled(v.y), settled(v.z)}, MAX_SPEED);
    w = limited((cm_fvec){settled(w.x), settled(w.y), settled(w.z)}, MAX_ROTATION / soft->h);

    cm_mask dynamic = ~(cm_mask){0};
    if (!plain) {
        dynamic = cm_lanes_greater(BLOCK_LOAD(dynamic), zero);
    }
    cm_mask fine = finite(v) & finite(w);
    v = choose(dynamic, choose(fine, v, rest), v0);
    w = choose(dynamic, choose(fine, w, rest), w0);
    warm_v = choose(dynamic & fine, warm_v, rest);
    warm_w = choose(dynamic & fine, warm_w, rest);
    if (cm_lanes_any(~fine)) {
        BLOCK_STORE(sound, cm_lanes_select(fine, BLOCK_LOAD(sound), zero));
    }
    cm_fvec_store(block->warm_v, at, cm_fvec_sub(v, warm_v));
    cm_fvec_store(block->warm_w, at, cm_fvec_sub(w, warm_w));
    cm_f out[8] = {v.x, v.y, v.z, w.x, w.y, w.z, row[6], row[7]};
    store_rows(soft, first + at, 0, out);
}

static void velocities(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            if (soft->blocks[i].plain) {
                move_velocities(soft, &soft->blocks[i], i * CM_SOFT_LANES, at, true);
            } else {
                move_velocities(soft, &soft->blocks[i], i * CM_SOFT_LANES, at, false);
            }
        }
    }
}

// Half the turn of a substep, from the angular velocity at its start, which becomes that of its
// end: the implicit midpoint rule in the principal axes. Cayley's map of the rate in the middle
// turns the body, and takes the angular momentum there to that of the end. So it stays the same in
// the world, and the rule keeps the energy too (J. Simo and K. Wong, "Unconditionally stable
// algorithms for rigid body dynamics that exactly preserve energy and momentum", 1991), as far as
// the middle m is found: m = l + h/2 m x I^-1 m, by rounds of Gauss and Seidel. At 10 rad/s and 240
// substeps a second three rounds lose 1e-7 of the energy in 100 s. What is alike about all axes
// keeps its rate.
static inline cm_fvec turn_freely(const cm_soft_block *block, uint32_t at, cm_f half_h,
                                  const cm_f pose[8], cm_fvec *w)
{
    cm_f one = cm_lanes_set(1.0f), two = cm_lanes_set(2.0f), zero = cm_lanes_set(0.0f);
    cm_fvec axes[3], i = cm_fvec_load(block->inertia, at);
    cm_fvec inverse_i = cm_fvec_load(block->inverse_inertia, at);
    cm_fvec d = {half_h * (inverse_i.z - inverse_i.y), half_h * (inverse_i.x - inverse_i.z),
                 half_h * (inverse_i.y - inverse_i.x)};
    principal_axes(block, at, pose, axes);
    cm_fvec b = {cm_fvec_dot(axes[0], *w), cm_fvec_dot(axes[1], *w), cm_fvec_dot(axes[2], *w)};
    cm_fvec l = each(i, b), m = l;
    for (uint32_t round = 0; round < MIDPOINT_ROUNDS; round++) {
        m.x = l.x + d.x * (m.y * m.z);
        m.y = l.y + d.y * (m.z * m.x);
        m.z = l.z + d.z * (m.x * m.y);
    }
    cm_fvec a = cm_fvec_scale(half_h, each(inverse_i, m));
    cm_f squared = cm_fvec_dot(a, a), share = two / (one + squared);
    // The gain of the momentum in the body, then of the rate, seen from the axes at the start.
    cm_fvec gain = cm_fvec_cross(l, a);
    gain = cm_fvec_scale(share, cm_fvec_add(gain, cm_fvec_cross(gain, a)));
    gain = each(inverse_i, gain);
    cm_fvec end = cm_fvec_cross(a, cm_fvec_add(b, gain));
    end = cm_fvec_scale(share, cm_fvec_add(end, cm_fvec_cross(a, end)));
    gain = cm_fvec_add(gain, end);

    cm_mask turned = nonzero(d) & cm_lanes_greater(cm_lanes_set(MIDPOINT_TURN), squared);
    gain = choose(turned, gain, (cm_fvec){zero, zero, zero});
    a = choose(turned, cm_fvec_mix(a.x, axes[0], a.y, axes[1], a.z, axes[2]),
               cm_fvec_scale(half_h, *w));
    *w = cm_fvec_add(*w, cm_fvec_mix(gain.x, axes[0], gain.y, axes[1], gain.z, axes[2]));
    return a;
}

// The change by a turn is no part of what contacts have done.
static inline void keep_warm_delta(const cm_soft *soft, cm_soft_block *block, uint32_t at,
                                   cm_fvec before, cm_fvec w)
{
    if (soft->ranges.end > 0) {
        cm_fvec delta = cm_fvec_sub(before, cm_fvec_load(block->warm_w, at));
        cm_fvec_store(block->warm_w, at, cm_fvec_sub(w, delta));
    }
}

static void poses(cm_soft *soft, uint32_t first, uint32_t end)
{
    cm_f h = cm_lanes_set(soft->h), half = cm_lanes_set(0.5f), zero = cm_lanes_set(0.0f);
    for (uint32_t slot = first * CM_SOFT_LANES; slot < end * CM_SOFT_LANES; slot += CM_LANES) {
        cm_soft_block *block = &soft->blocks[slot / CM_SOFT_LANES];
        uint32_t at = slot % CM_SOFT_LANES;
        cm_f row[8], pose[8];
        load_rows(soft, slot, 0, row);
        load_rows(soft, slot, 1, pose);
        cm_fvec w = {row[3], row[4], row[5]};
        cm_fvec a = {half * (h * w.x), half * (h * w.y), half * (h * w.z)};
        cm_f x = h * row[0], y = h * row[1], z = h * row[2];
        if (!block->round) {
            a = turn_freely(block, at, half * h, pose, &w);
            keep_warm_delta(soft, block, at, (cm_fvec){row[3], row[4], row[5]}, w);
            row[3] = w.x, row[4] = w.y, row[5] = w.z;
            store_rows(soft, slot, 0, row);
        }
        // q + dt/2 (w, 0) q, as cm_quat_integrate.
        quat q = {pose[3], pose[4], pose[5], pose[6]};
        quat spun = {a.x, a.y, a.z, zero};
        quat d = multiply(spun, q);
        q = normalised((quat){q.x + d.x, q.y + d.y, q.z + d.z, q.w + d.w});
        cm_f out[8] = {pose[0] + x, pose[1] + y, pose[2] + z, q.x, q.y, q.z, q.w, zero};
        store_rows(soft, slot, 1, out);
    }
}

// Joints stand between two passes of the contacts: what they do is kept out of the warm-start
// delta.
static void flip(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t slot = first * CM_SOFT_LANES; slot < end * CM_SOFT_LANES; slot += CM_LANES) {
        cm_soft_block *block = &soft->blocks[slot / CM_SOFT_LANES];
        uint32_t at = slot % CM_SOFT_LANES;
        cm_f row[8];
        load_rows(soft, slot, 0, row);
        cm_fvec v = {row[0], row[1], row[2]}, w = {row[3], row[4], row[5]};
        cm_fvec_store(block->warm_v, at, cm_fvec_sub(v, cm_fvec_load(block->warm_v, at)));
        cm_fvec_store(block->warm_w, at, cm_fvec_sub(w, cm_fvec_load(block->warm_w, at)));
    }
}

_Static_assert(offsetof(cm_motion, position) == 0 && offsetof(cm_motion, orientation) == 12 &&
                   offsetof(cm_motion, linear_velocity) == 28 &&
                   offsetof(cm_motion, angular_velocity) == 40 && sizeof(cm_motion) == 64,
               "gathered as two halves of eight floats");

static inline cm_mask below(float most, cm_fvec v)
{
    cm_f m = cm_lanes_set(most);
    return cm_lanes_greater(m, cm_lanes_abs(v.x)) & cm_lanes_greater(m, cm_lanes_abs(v.y)) &
           cm_lanes_greater(m, cm_lanes_abs(v.z));
}

// As cm_soft_store_bodies stores one body; where something is wrong with one of these, nothing is
// written, and that does it.
static inline bool store_motions(const cm_soft *soft, const cm_soft_block *block, uint32_t first,
                                 uint32_t at)
{
    const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float *motions = &soft->motions[first + at].position.x;
    cm_f row[8], pose[8], low[8], high[8], zero = cm_lanes_set(0.0f);
    load_rows(soft, first + at, 0, row);
    load_rows(soft, first + at, 1, pose);
    cm_lanes_gather(motions, 16, index, low);
    cm_fvec shift = {pose[0], pose[1], pose[2]};
    cm_fvec p = cm_fvec_add((cm_fvec){low[0], low[1], low[2]}, shift);
    quat q = multiply((quat){pose[3], pose[4], pose[5], pose[6]},
                      (quat){low[3], low[4], low[5], low[6]});
    cm_f length = cm_lanes_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    cm_f s = cm_lanes_set(1.0f) / length;
    q = (quat){s * q.x, s * q.y, s * q.z, s * q.w};
    cm_mask sound = cm_lanes_greater(BLOCK_LOAD(sound), zero) &
                    cm_lanes_greater(length, cm_lanes_set(SHORTEST_TURN)) &
                    cm_lanes_greater(cm_lanes_set(LARGEST), length) & below(LARGEST, p) &
                    below(CM_SOFT_RUNAWAY, shift) &
                    below(CM_SOFT_RUNAWAY, (cm_fvec){row[0], row[1], row[2]}) &
                    below(CM_SOFT_RUNAWAY, (cm_fvec){row[3], row[4], row[5]});
    if (cm_lanes_any(~sound)) {
        return false;
    }
    low[0] = p.x, low[1] = p.y, low[2] = p.z;
    low[3] = q.x, low[4] = q.y, low[5] = q.z, low[6] = q.w;
    low[7] = row[0];
    high[0] = row[1], high[1] = row[2];
    high[2] = row[3], high[3] = row[4], high[4] = row[5];
    high[5] = high[6] = high[7] = zero; // padding
    cm_lanes_scatter(motions, 16, index, low);
    cm_lanes_scatter(motions + 8, 16, index, high);
    return true;
}

static void store(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_block *block = &soft->blocks[i];
        uint32_t at = 0;
        while (block->free && at < CM_SOFT_LANES &&
               store_motions(soft, block, i * CM_SOFT_LANES, at)) {
            at += CM_LANES;
        }
        block->stored = at;
    }
}
