// Bodies from the state into their blocks, CM_LANES at once: included by pass.inl, once a width.
//
// Only of blocks all of whose bodies are dynamic, awake and without locked axes ("free"); body.c
// does the others one by one, and both perform the same operations on a body. One by one this was a
// twentieth of a step. Typical: 125 blocks a tick.

#define BODY_FLOATS (sizeof(cm_body) / sizeof(float))
#define FORCE       4u // floats of a body: its first gathered one

_Static_assert(sizeof(cm_body) % 4 == 0 && offsetof(cm_body, force) == 4 * FORCE &&
                   offsetof(cm_body, torque) == 4 * (FORCE + 3) &&
                   offsetof(cm_body, applied_force) == 4 * (FORCE + 6) &&
                   offsetof(cm_body, applied_torque) == 4 * (FORCE + 9) &&
                   offsetof(cm_body, mass) == 4 * (FORCE + 12) &&
                   offsetof(cm_body, inertia) == 4 * (FORCE + 13) &&
                   offsetof(cm_body, inertia_orientation) == 4 * (FORCE + 16) &&
                   offsetof(cm_body, gravity_scale) == 4 * (FORCE + 23) &&
                   offsetof(cm_body, angular_damping) == 4 * (FORCE + 25) &&
                   offsetof(cm_body, alive) == 4 * (FORCE + 26) &&
                   offsetof(cm_body, flags) == 4 * (FORCE + 26) + 3 &&
                   offsetof(cm_body, pointer) == 4 * (FORCE + 31),
               "gathered as thirty-two floats");

// The forces and the inertia of bodies.
typedef struct body_lanes {
    cm_fvec force, torque, applied_force, applied_torque, inertia;
    cm_f mass, axes[4], gravity_scale, linear_damping, angular_damping;
    cm_mask kind, pointer; // alive, type, locks and flags, as they stand; player
} body_lanes;

CM_WHOLE body_lanes load_bodies(const cm_soft *soft, uint32_t first)
{
    const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const float *floats = (const float *)&soft->states[first] + FORCE;
    cm_f f[32];
    for (uint32_t k = 0; k < 32; k += 8) {
        cm_lanes_gather(floats + k, BODY_FLOATS, index, f + k);
    }
    return (body_lanes){
        .force = {f[0], f[1], f[2]},
        .torque = {f[3], f[4], f[5]},
        .applied_force = {f[6], f[7], f[8]},
        .applied_torque = {f[9], f[10], f[11]},
        .mass = f[12],
        .inertia = {f[13], f[14], f[15]},
        .axes = {f[16], f[17], f[18], f[19]},
        .gravity_scale = f[23],
        .linear_damping = f[24],
        .angular_damping = f[25],
        .kind = cm_lanes_as_bits(f[26]),
        .pointer = cm_lanes_as_bits(f[31]),
    };
}

CM_WHOLE cm_mask is_same(cm_f a, cm_f b)
{
    return cm_lanes_at_most(a, b) & cm_lanes_at_most(b, a);
}

// Inverse inertias that are alike about all axes.
CM_WHOLE cm_mask is_ball(const cm_f inverse[6])
{
    cm_f zero = cm_lanes_set(0.0f);
    return is_same(inverse[0], inverse[3]) & is_same(inverse[0], inverse[5]) &
           is_same(inverse[1], zero) & is_same(inverse[2], zero) & is_same(inverse[4], zero);
}

// The last number of a row: no locks, and whether the inertia is alike about all axes.
CM_WHOLE cm_f row_end(const cm_f inverse[6])
{
    const uint16_t halves[2] = {0, 1};
    int32_t word;
    memcpy(&word, halves, sizeof word);
    cm_f end;
    cm_mask round = is_ball(inverse) & ((cm_mask){0} + word);
    memcpy(&end, &round, sizeof end);
    return end;
}

// Four bytes of a body's row as they stand in one number, whatever the order of bytes.
static inline int32_t kind_word(uint8_t type, uint8_t locks, uint8_t flags)
{
    const uint8_t bytes[4] = {0, type, locks, flags};
    int32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

CM_WHOLE cm_mask is_free(const body_lanes *b)
{
    cm_mask asked = (cm_mask){0} + kind_word(0xff, 0xff, CM_BODY_ASLEEP);
    return cm_lanes_same(b->kind & asked, (cm_mask){0} + kind_word(CAROM_BODY_DYNAMIC, 0, 0));
}

// Alike about all axes.
CM_WHOLE cm_mask is_round(const body_lanes *b)
{
    return cm_lanes_at_most(b->inertia.x, b->inertia.y) &
           cm_lanes_at_most(b->inertia.y, b->inertia.x) &
           cm_lanes_at_most(b->inertia.y, b->inertia.z) &
           cm_lanes_at_most(b->inertia.z, b->inertia.y);
}

// Neither torque nor damping.
CM_WHOLE cm_mask is_left_alone(const body_lanes *b)
{
    const cm_f zeros[8] = {b->torque.x,         b->torque.y,         b->torque.z,
                           b->applied_torque.x, b->applied_torque.y, b->applied_torque.z,
                           b->linear_damping,   b->angular_damping};
    cm_mask any = (cm_mask){0};
    for (uint32_t i = 0; i < 8; i++) {
        any |= cm_lanes_as_bits(zeros[i]);
    }
    return cm_lanes_same(any & ((cm_mask){0} + 0x7fffffff), (cm_mask){0});
}

CM_WHOLE bool is_reported(const body_lanes *b)
{
    cm_mask none = (cm_mask){0}, report = none + kind_word(0, 0, CM_BODY_REPORT);
    cm_mask quiet = cm_lanes_same(b->kind & report, none) &
                    cm_lanes_same(b->pointer, none + (int32_t)CAROM_NO_PLAYER);
    return cm_lanes_any(~quiet);
}

// Principal axes in the world, and the inverse inertia about the world's.
CM_WHOLE quat turn_inertia(const cm_soft *soft, uint32_t first, const body_lanes *b, cm_fvec i,
                           cm_f inverse_out[6])
{
    const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cm_f m[8], one = cm_lanes_set(1.0f), two = cm_lanes_set(2.0f), zero = cm_lanes_set(0.0f);
    cm_lanes_gather(&soft->motions[first].position.x, 16, index, m);
    quat q = multiply((quat){m[3], m[4], m[5], m[6]},
                      (quat){b->axes[0], b->axes[1], b->axes[2], b->axes[3]});
    cm_f length = cm_lanes_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    cm_mask none = cm_lanes_greater(cm_lanes_set(1.0e-18f), length);
    cm_f s = one / length;
    q = (quat){cm_lanes_select(none, zero, s * q.x), cm_lanes_select(none, zero, s * q.y),
               cm_lanes_select(none, zero, s * q.z), cm_lanes_select(none, one, s * q.w)};
    cm_f xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z;
    cm_f yz = q.y * q.z, wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    cm_fvec rx = {one - two * (yy + zz), two * (xy + wz), two * (xz - wy)};
    cm_fvec ry = {two * (xy - wz), one - two * (xx + zz), two * (yz + wx)};
    cm_fvec rz = {two * (xz + wy), two * (yz - wx), one - two * (xx + yy)};
    cm_fvec x = cm_fvec_scale(i.x, rx), y = cm_fvec_scale(i.y, ry), z = cm_fvec_scale(i.z, rz);
    inverse_out[0] = x.x * rx.x + y.x * ry.x + z.x * rz.x;
    inverse_out[1] = x.x * rx.y + y.x * ry.y + z.x * rz.y;
    inverse_out[2] = x.x * rx.z + y.x * ry.z + z.x * rz.z;
    inverse_out[3] = x.y * rx.y + y.y * ry.y + z.y * rz.y;
    inverse_out[4] = x.y * rx.z + y.y * ry.z + z.y * rz.z;
    inverse_out[5] = x.z * rx.z + y.z * ry.z + z.z * rz.z;
    return q;
}

// Fields that only blocks that are not plain have; the inverse inertia of lanes that are not round.
CM_WHOLE void begin_rest(const cm_soft *soft, cm_soft_block *block, uint32_t first, uint32_t at,
                         const body_lanes *b, cm_fvec i, cm_f inverse_inertia[6])
{
    cm_f one = cm_lanes_set(1.0f), zero = cm_lanes_set(0.0f), h = cm_lanes_set(soft->h);
    cm_fvec_store(block->torque, at, cm_fvec_add(b->torque, b->applied_torque));
    cm_fvec_store(block->inertia, at, b->inertia);
    cm_fvec_store(block->inverse_inertia, at, i);
    BLOCK_STORE(linear_decay, one / (one + h * b->linear_damping));
    BLOCK_STORE(angular_decay, one / (one + h * b->angular_damping));
    BLOCK_STORE(dynamic, one);
    quat axes = {zero, zero, zero, one};
    if (!block->round) {
        cm_f turned[6];
        cm_mask round = is_round(b);
        quat q = turn_inertia(soft, first + at, b, i, turned);
        for (uint32_t k = 0; k < 6; k++) {
            inverse_inertia[k] = cm_lanes_select(round, inverse_inertia[k], turned[k]);
        }
        axes = (quat){cm_lanes_select(round, zero, q.x), cm_lanes_select(round, zero, q.y),
                      cm_lanes_select(round, zero, q.z), cm_lanes_select(round, one, q.w)};
    }
    BLOCK_STORE(axes[0], axes.x);
    BLOCK_STORE(axes[1], axes.y);
    BLOCK_STORE(axes[2], axes.z);
    BLOCK_STORE(axes[3], axes.w);
}

CM_WHOLE void begin_lanes(cm_soft *soft, cm_soft_block *block, uint32_t first, uint32_t at)
{
    const uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), low[8], high[8];
    body_lanes b = load_bodies(soft, first + at);
    const float *motions = &soft->motions[first + at].position.x;
    cm_lanes_gather(motions, 16, index, low);
    cm_lanes_gather(motions + 8, 16, index, high);
    cm_fvec v = {low[7], high[0], high[1]}, w = {high[2], high[3], high[4]};
    cm_fvec_store(block->warm_v, at, v);
    cm_fvec_store(block->warm_w, at, w);
    cm_f inverse_mass = inverse(b.mass);
    cm_fvec i = {inverse(b.inertia.x), inverse(b.inertia.y), inverse(b.inertia.z)};
    carom_vec3 g = soft->gravity;
    cm_fvec gravity = {cm_lanes_set(g.x), cm_lanes_set(g.y), cm_lanes_set(g.z)};
    cm_fvec force = cm_fvec_add(b.force, b.applied_force);
    cm_fvec_store(
        block->acceleration, at,
        cm_fvec_add(cm_fvec_scale(b.gravity_scale, gravity), cm_fvec_scale(inverse_mass, force)));
    BLOCK_STORE(sound, one);
    cm_f about[6] = {i.x, zero, zero, i.x, zero, i.x};
    if (!block->plain) {
        begin_rest(soft, block, first, at, &b, i, about);
    }
    cm_f inertia[8] = {inverse_mass, about[0], about[1], about[2],
                       about[3],     about[4], about[5], row_end(about)};
    cm_f speeds_row[8] = {v.x, v.y, v.z, w.x, w.y, w.z, inverse_mass, about[0]};
    cm_f pose[8] = {zero, zero, zero, zero, zero, zero, one, zero};
    cm_lanes_scatter(&soft->inertias[first + at].inverse_mass, 8, index, inertia);
    store_rows(soft, first + at, 0, speeds_row);
    store_rows(soft, first + at, 1, pose);
}

// Up to here, 4,096 bodies, rows come from the caches fast enough without being asked for ahead.
#define NEAR_BLOCKS  512u
#define BLOCKS_AHEAD 3u

CM_WHOLE void fetch_bytes(const void *at, size_t size, bool write)
{
    for (const char *line = at, *end = line + size; line < end; line += CM_CACHE_LINE) {
        if (write) {
            __builtin_prefetch(line, 1);
        } else {
            __builtin_prefetch(line);
        }
    }
}

// Fetches what is read and written of a block further on.
CM_WHOLE void fetch_block(const cm_soft *soft, uint32_t block)
{
    uint32_t body = block * CM_SOFT_LANES;
    if (soft->block_count > NEAR_BLOCKS && block < soft->body_count / CM_SOFT_LANES) {
        fetch_bytes(&soft->states[body], CM_SOFT_LANES * sizeof *soft->states, false);
        fetch_bytes(&soft->motions[body], CM_SOFT_LANES * sizeof *soft->motions, false);
        fetch_bytes(&soft->bodies[body], CM_SOFT_LANES * sizeof *soft->bodies, true);
        fetch_bytes(&soft->inertias[body], CM_SOFT_LANES * sizeof *soft->inertias, true);
        fetch_bytes(&soft->blocks[block], offsetof(cm_soft_block, torque), true);
    }
}

static void begin(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_block *block = &soft->blocks[i];
        fetch_block(soft, i + BLOCKS_AHEAD);
        block->free = block->plain = block->round = 1;
        block->locked = 0;
        for (uint32_t at = 0; at < CM_SOFT_LANES; at += CM_LANES) {
            body_lanes b = load_bodies(soft, i * CM_SOFT_LANES + at);
            cm_mask round = is_round(&b);
            block->free &= !cm_lanes_any(~is_free(&b));
            block->round &= !cm_lanes_any(~round);
            block->plain &= !cm_lanes_any(~(round & is_left_alone(&b)));
            soft->special = soft->special || (block->free && is_reported(&b));
        }
        for (uint32_t at = 0; block->free && at < CM_SOFT_LANES; at += CM_LANES) {
            begin_lanes(soft, block, i * CM_SOFT_LANES, at);
        }
    }
}
