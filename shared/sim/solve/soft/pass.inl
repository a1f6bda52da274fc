// The passes over groups of contacts, for CM_LANES lanes at once: included once a width by
// pass1.c, pass4.c, pass8.c and pass16.c, which define CM_LANES and CM_PASS(name); at most eight
// lanes do bodies and joints too.
//
// A group's sixteen lanes are gone through CM_LANES at a time, as far as they are used. All widths
// perform the same operations on each lane in the same order; see lanes.h. Typical: 3,500 contacts
// in 240 groups, nine passes a tick: most of the solver's time.
//
// In a contact's frame, u = (1, y, -x) is a point's lever: its normal velocity is u . (velocity of
// the centre, turn about t1, turn about t2), and an impulse P there acts on these three as P u.
#include "shared/sim/solve/soft/soft.h"

#include "shared/base/lanes.h"

#define PUSH_SPEED       3.0f // m/s, the most that an overlap is pushed out at
#define PARTING_ROUNDS   12u // over the points of a contact: four of a face converge to a thousandth
#define LEAST_PART       1.0e-4f // of the inverse mass: a hundredth of a radian off locked axes
#define RANK_ONE         1.0e-5f // determinant / trace^2

#define ALL_LANES        ((1u << CM_LANES) - 1u)

#define LOAD(member)     cm_lanes_load(g->member + at)
#define LOAD_VEC(member) load_vec(g->member, at)
// Inlined at each call, where the number of points and whether anything is special are constants.
#define CM_WHOLE                 static inline __attribute__((always_inline))
#define STORE(member, value)     cm_lanes_store(g->member + at, value)
#define STORE_VEC(member, value) store_vec(g->member, at, value)
// Of a special group; elsewhere `e` is a constant NULL, and nothing of it is compiled.
#define LOAD_SPECIAL(member)         cm_lanes_load(e->member + at)
#define LOAD_SPECIAL_VEC(member)     load_vec(e->member, at)
#define STORE_SPECIAL(member, value) cm_lanes_store(e->member + at, value)

// Returns true if lanes from `at` on are used. Loops by it are unrolled, since with eight lanes a
// place that is no constant costs a fifth of a pass.
static inline bool goes_on(const cm_soft_group *g, uint32_t at)
{
    return at < CM_SOFT_WIDE && at < g->lanes;
}

// Points that are gone through: few kinds of groups, so that there is little code.
static inline uint32_t points_of(const cm_soft_group *g)
{
    if (g->points > 2 || g->special) {
        return 4;
    }
    return g->points > 1 || !g->round ? 2 : 1;
}

static inline cm_fvec load_vec(const cm_soft_wide *from, uint32_t at)
{
    return (cm_fvec){cm_lanes_load(from[0] + at), cm_lanes_load(from[1] + at),
                     cm_lanes_load(from[2] + at)};
}

static inline void store_vec(cm_soft_wide *to, uint32_t at, cm_fvec v)
{
    cm_lanes_store(to[0] + at, v.x);
    cm_lanes_store(to[1] + at, v.y);
    cm_lanes_store(to[2] + at, v.z);
}

static inline cm_fvec choose(cm_mask mask, cm_fvec a, cm_fvec b)
{
    return (cm_fvec){cm_lanes_select(mask, a.x, b.x), cm_lanes_select(mask, a.y, b.y),
                     cm_lanes_select(mask, a.z, b.z)};
}

typedef struct frame {
    cm_fvec n, t1, t2, ra, rb;
    cm_f ma, mb, ia[6], ib[6];
    cm_fvec free_a, free_b; // of special groups
} frame;

// A contact as it is loaded, until its masses are made: points in world axes.
typedef struct staged {
    cm_fvec offset[4];        // of each point from the contact's centre
    cm_f used[4];             // 1 for a point, else 0
    cm_fvec friction_impulse; // warm start
} staged;

typedef struct speeds {
    cm_f row_a[8], row_b[8]; // as gathered; the last two of each are masses
    cm_fvec va, wa, vb, wb;
} speeds;

CM_WHOLE void load_frame(const cm_soft_group *g, const cm_soft_special *e, uint32_t at, bool round,
                         const speeds *s, frame *f)
{
    f->n = LOAD_VEC(normal);
    f->t1 = LOAD_VEC(t1);
    f->t2 = cm_fvec_cross(f->n, f->t1);
    f->ra = LOAD_VEC(ra);
    f->rb = LOAD_VEC(rb);
    f->ma = s->row_a[6];
    f->mb = s->row_b[6];
    f->ia[0] = s->row_a[7];
    f->ib[0] = s->row_b[7];
    for (uint32_t i = 0; !round && i < 6; i++) {
        f->ia[i] = LOAD(inertia_a[i]);
        f->ib[i] = LOAD(inertia_b[i]);
    }
    cm_f zero = cm_lanes_set(0.0f);
    f->free_a = e ? LOAD_SPECIAL_VEC(free_a) : (cm_fvec){zero, zero, zero};
    f->free_b = e ? LOAD_SPECIAL_VEC(free_b) : (cm_fvec){zero, zero, zero};
}

CM_WHOLE void gather_speeds(const cm_soft *soft, const cm_soft_group *g, uint32_t at, speeds *s)
{
    const float *rows = (const float *)soft->bodies;
    cm_lanes_gather(rows, 1, g->a + at, s->row_a);
    cm_lanes_gather(rows, 1, g->b + at, s->row_b);
    s->va = (cm_fvec){s->row_a[0], s->row_a[1], s->row_a[2]};
    s->wa = (cm_fvec){s->row_a[3], s->row_a[4], s->row_a[5]};
    s->vb = (cm_fvec){s->row_b[0], s->row_b[1], s->row_b[2]};
    s->wb = (cm_fvec){s->row_b[3], s->row_b[4], s->row_b[5]};
}

// A body that cannot be pushed keeps its row: zero times an infinite impulse is no number.
CM_WHOLE void scatter_speeds(cm_soft *soft, const cm_soft_group *g, uint32_t at, const speeds *s)
{
    float *rows = (float *)soft->bodies;
    cm_f b[8] = {s->vb.x, s->vb.y, s->vb.z, s->wb.x, s->wb.y, s->wb.z, s->row_b[6], s->row_b[7]};
    if (!g->fixed) {
        cm_f a[8] = {s->va.x, s->va.y, s->va.z,     s->wa.x,
                     s->wa.y, s->wa.z, s->row_a[6], s->row_a[7]};
        cm_lanes_scatter(rows, 1, g->a + at, a);
    }
    cm_lanes_scatter(rows, 1, g->b + at, b);
}

CM_WHOLE cm_fvec each(cm_fvec a, cm_fvec b)
{
    return (cm_fvec){a.x * b.x, a.y * b.y, a.z * b.z};
}

// Linear impulse and torque at the centre, on b; the reverse on a.
CM_WHOLE void apply(const frame *f, const cm_soft_special *e, cm_fvec impulse, cm_fvec torque,
                    bool round, speeds *s)
{
    cm_fvec turn_b = cm_fvec_add(cm_fvec_cross(f->rb, impulse), torque);
    cm_fvec turn_a = cm_fvec_add(cm_fvec_cross(f->ra, impulse), torque);
    cm_fvec push_a = e ? each(f->free_a, impulse) : cm_fvec_scale(f->ma, impulse);
    cm_fvec push_b = e ? each(f->free_b, impulse) : cm_fvec_scale(f->mb, impulse);
    turn_b = round ? cm_fvec_scale(f->ib[0], turn_b) : cm_fsym_mul(f->ib, turn_b);
    turn_a = round ? cm_fvec_scale(f->ia[0], turn_a) : cm_fsym_mul(f->ia, turn_a);
    s->vb = cm_fvec_add(s->vb, push_b);
    s->wb = cm_fvec_add(s->wb, turn_b);
    s->va = cm_fvec_sub(s->va, push_a);
    s->wa = cm_fvec_sub(s->wa, turn_a);
}

#if CM_LANES <= 8
#include "shared/sim/solve/soft/motion.inl"
#endif

#include "shared/sim/solve/soft/load.inl"

#include "shared/sim/solve/soft/prepare.inl"

#if CM_LANES <= 8
#include "shared/sim/solve/soft/begin.inl"
#endif

// Solve and relax ------------------------------------------------------------------------------

// The motion of a body's turn along the normal: (R^T - I) n, by the turn of its second half row.
CM_WHOLE cm_fvec turned(const cm_f row[8], cm_fvec n)
{
    cm_fvec u = {row[3], row[4], row[5]};
    cm_fvec t = cm_fvec_cross(u, n);
    cm_f two = cm_lanes_set(2.0f);
    return cm_fvec_scale(two, cm_fvec_sub(cm_fvec_cross(u, t), cm_fvec_scale(row[6], t)));
}

// Separations at the present poses. The levers' height over the centre's plane is left out: it
// counts only with the square of the turn.
CM_WHOLE void move_points(const cm_soft *soft, cm_soft_group *g, uint32_t at, const frame *f,
                          uint32_t points)
{
    const float *rows = &soft->bodies[0].shift.x;
    cm_f a[8], b[8];
    cm_lanes_gather(rows, 1, g->a + at, a);
    cm_lanes_gather(rows, 1, g->b + at, b);
    cm_fvec shift = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    cm_fvec turn_a = turned(a, f->n), turn_b = turned(b, f->n);
    cm_fvec turn = cm_fvec_sub(turn_b, turn_a);
    cm_f base = cm_fvec_dot(shift, f->n) + cm_fvec_dot(turn_b, f->rb) - cm_fvec_dot(turn_a, f->ra);
    if (g->rolls) { // by the centres of what is round
        base = base + LOAD(round_radius[0]) * cm_fvec_dot(turn_a, f->n) +
               LOAD(round_radius[1]) * cm_fvec_dot(turn_b, f->n);
    }
    cm_f along1 = cm_fvec_dot(turn, f->t1), along2 = cm_fvec_dot(turn, f->t2);
    for (uint32_t i = 0; i < points; i++) {
        STORE(at_point[i].separation, LOAD(at_point[i].start) + base +
                                          LOAD(at_point[i].x) * along1 +
                                          LOAD(at_point[i].y) * along2);
    }
}

// Velocities in the contact's frame.
typedef struct local {
    cm_f x, y, normal;         // of the centres
    cm_f turn1, turn2, turn_n; // of b against a
} local;

CM_WHOLE local localise(const frame *f, const speeds *s)
{
    cm_fvec b = cm_fvec_add(s->vb, cm_fvec_cross(s->wb, f->rb));
    cm_fvec a = cm_fvec_add(s->va, cm_fvec_cross(s->wa, f->ra));
    cm_fvec v = cm_fvec_sub(b, a), w = cm_fvec_sub(s->wb, s->wa);
    return (local){cm_fvec_dot(v, f->t1), cm_fvec_dot(v, f->t2), cm_fvec_dot(v, f->n),
                   cm_fvec_dot(w, f->t1), cm_fvec_dot(w, f->t2), cm_fvec_dot(w, f->n)};
}

CM_WHOLE cm_f pressure_of(const cm_soft_group *g, uint32_t at, uint32_t points)
{
    cm_f normal = LOAD(at_point[0].normal_impulse);
    for (uint32_t i = 1; i < points; i++) {
        normal = normal + LOAD(at_point[i].normal_impulse);
    }
    return normal;
}

// Coulomb friction at the centre, clamped to a circle, after a twist that the points' distance from
// the centre allows. Returns the changes (t1, t2, twist). Of lanes that `now` leaves out nothing
// changes; NULL: of none.
CM_WHOLE cm_fvec solve_friction(cm_soft_group *g, const cm_soft_special *e, uint32_t at,
                                const local *v, uint32_t points, const cm_mask *now)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f), normal = pressure_of(g, at, points);
    cm_f limit = LOAD(friction) * normal, twist_limit = limit * LOAD(radius);
    if (e) {
        twist_limit = twist_limit + LOAD_SPECIAL(spin_lever) * normal;
    }
    cm_f old = LOAD(friction_impulse[2]), twist = old - LOAD(twist_mass) * v->turn_n;
    twist = cm_lanes_max(cm_lanes_min(twist, twist_limit), zero - twist_limit);
    twist = now ? cm_lanes_select(*now, twist, old) : twist;
    STORE(friction_impulse[2], twist);
    cm_f dt = twist - old;
    cm_f vx = v->x + LOAD(twist_coupling[0]) * dt, vy = v->y + LOAD(twist_coupling[1]) * dt;
    if (e) {
        vx = vx + LOAD_SPECIAL(surface[0]);
        vy = vy + LOAD_SPECIAL(surface[1]);
    }

    cm_f old_x = LOAD(friction_impulse[0]), old_y = LOAD(friction_impulse[1]),
         shared = LOAD(tangent_mass[1]);
    cm_f x = old_x - (LOAD(tangent_mass[0]) * vx + shared * vy);
    cm_f y = old_y - (shared * vx + LOAD(tangent_mass[2]) * vy);
    cm_f squared = x * x + y * y;
    cm_mask slides = cm_lanes_greater(squared, limit * limit);
    cm_f scale = limit / cm_lanes_sqrt(cm_lanes_select(slides, squared, one));
    scale = cm_lanes_select(slides, scale, one);
    x = x * scale;
    y = y * scale;
    x = now ? cm_lanes_select(*now, x, old_x) : x;
    y = now ? cm_lanes_select(*now, y, old_y) : y;
    STORE(friction_impulse[0], x);
    STORE(friction_impulse[1], y);
    cm_f dx = x - old_x, dy = y - old_y;
    return (cm_fvec){dx, dy, dt};
}

// Adds to all points' normal velocities what a change of point i's impulse does.
CM_WHOLE void add_change(const cm_soft_group *g, uint32_t at, uint32_t i, uint32_t points,
                         cm_f change, cm_f vn[4])
{
    static const uint8_t coupling_of[4][4] = {
        {0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}};
    for (uint32_t j = 0; j < points; j++) {
        cm_f own = inverse(LOAD(at_point[i].effective_mass));
        vn[j] = vn[j] + change * (j == i ? own : LOAD(point_coupling[coupling_of[i][j]]));
    }
}

// The new impulse of a point with normal velocity vn.
CM_WHOLE cm_f solve_normal(const cm_soft_group *g, uint32_t at, uint32_t i, cm_f vn, cm_f inverse_h,
                           const cm_softness *softness, bool relax)
{
    cm_f zero = cm_lanes_set(0.0f), one = cm_lanes_set(1.0f),
         old = LOAD(at_point[i].normal_impulse);
    cm_f s = LOAD(at_point[i].separation), mass = LOAD(at_point[i].effective_mass);
    if (relax) {
        cm_f bias = cm_lanes_max(s, zero) * inverse_h;
        return cm_lanes_max(old - mass * (vn + bias), zero);
    }
    cm_mask gap = cm_lanes_greater(s, zero);
    float rate = softness->bias_rate;
    cm_f soft = s * (cm_lanes_set(rate) - cm_lanes_set(rate * CM_SOFT_STIFFENING) * s);
    soft = cm_lanes_max(soft, cm_lanes_set(-PUSH_SPEED));
    cm_f bias = cm_lanes_select(gap, s * inverse_h, soft);
    cm_f mass_scale = cm_lanes_select(gap, one, cm_lanes_set(softness->mass_scale));
    cm_f impulse_scale = cm_lanes_select(gap, zero, cm_lanes_set(softness->impulse_scale));
    return cm_lanes_max(old - mass * mass_scale * (vn + bias) - impulse_scale * old, zero);
}

// A contact's way through a pass.
typedef struct contact_lanes {
    cm_soft_group *g;
    frame f;
    speeds s;
    local v;
    cm_fvec friction; // changes of this pass
    cm_f normal, turn1, turn2;
    cm_f vn[4];
} contact_lanes;

CM_WHOLE void load_velocities(const cm_soft *soft, cm_soft_special *e, uint32_t at, uint32_t points,
                              bool round, bool relax, contact_lanes *c)
{
    gather_speeds(soft, c->g, at, &c->s);
    load_frame(c->g, e, at, round, &c->s, &c->f);
    if (relax) {
        move_points(soft, c->g, at, &c->f, points);
    }
    if (e && !relax) {
        solve_rolling(c->g, e, at, &c->f, &c->s);
    }
    c->v = localise(&c->f, &c->s);
}

// Adds to the velocities where `now` says so: all else must keep its bits, since a run of fewer
// lanes leaves this out where no lane of it is meant.
CM_WHOLE void add_where(const cm_mask *now, cm_f *to, cm_f more)
{
    cm_f sum = *to + more;
    *to = now ? cm_lanes_select(*now, sum, *to) : sum;
}

// Before the normals, which so have the last word on where bodies go.
CM_WHOLE void solve_friction_first(cm_soft_special *e, uint32_t at, uint32_t points, bool relax,
                                   contact_lanes *c)
{
    cm_soft_group *g = c->g;
    c->friction.x = c->friction.y = c->friction.z = cm_lanes_set(0.0f);
    uint32_t here = g->early >> at & ALL_LANES;
    if (relax && here == 0) {
        return;
    }
    cm_mask early = cm_lanes_bits(here);
    const cm_mask *now = relax && (g->late >> at & ALL_LANES) ? &early : NULL;
    c->friction = solve_friction(g, e, at, &c->v, points, now);
    cm_f dx = c->friction.x, dy = c->friction.y, dt = c->friction.z;
    local *v = &c->v;
    add_where(now, &v->normal,
              LOAD(friction_coupling[0]) * dx + LOAD(friction_coupling[1]) * dy +
                  LOAD(friction_coupling[2]) * dt);
    add_where(now, &v->turn1,
              LOAD(friction_coupling[3]) * dx + LOAD(friction_coupling[4]) * dy +
                  LOAD(friction_coupling[5]) * dt);
    add_where(now, &v->turn2,
              LOAD(friction_coupling[6]) * dx + LOAD(friction_coupling[7]) * dy +
                  LOAD(friction_coupling[8]) * dt);
}

// After the normals, whose impulses of this substep are now known and bound it: in a blow they come
// at once, and are gone in the next substep; what slides would have friction of the push that
// undoes overlap. What sticks is held before: a pyramid comes to rest sooner.
CM_WHOLE void solve_friction_last(cm_soft_special *e, uint32_t at, uint32_t points,
                                  contact_lanes *c)
{
    cm_soft_group *g = c->g;
    uint32_t here = g->late >> at & ALL_LANES;
    if (here == 0) {
        return;
    }
    cm_f n = c->normal, p = c->turn1, q = c->turn2;
    local *v = &c->v;
    v->x = v->x + (LOAD(friction_coupling[0]) * n + LOAD(friction_coupling[3]) * p +
                   LOAD(friction_coupling[6]) * q);
    v->y = v->y + (LOAD(friction_coupling[1]) * n + LOAD(friction_coupling[4]) * p +
                   LOAD(friction_coupling[7]) * q);
    v->turn_n = v->turn_n + (LOAD(friction_coupling[2]) * n + LOAD(friction_coupling[5]) * p +
                             LOAD(friction_coupling[8]) * q);
    cm_mask late = cm_lanes_bits(here);
    const cm_mask *now = g->early >> at & ALL_LANES ? &late : NULL;
    cm_fvec change = solve_friction(g, e, at, &c->v, points, now);
    c->friction = now ? choose(late, change, c->friction) : change;
}

CM_WHOLE void begin_points(uint32_t at, uint32_t points, contact_lanes *c)
{
    const cm_soft_group *g = c->g;
    for (uint32_t i = 0; i < points; i++) {
        c->vn[i] =
            c->v.normal + LOAD(at_point[i].y) * c->v.turn1 - LOAD(at_point[i].x) * c->v.turn2;
    }
    c->normal = c->turn1 = c->turn2 = cm_lanes_set(0.0f);
}

CM_WHOLE void press_point(const cm_soft *soft, uint32_t at, uint32_t i, uint32_t points, bool relax,
                          contact_lanes *c)
{
    static const uint8_t coupling_of[4][4] = {{0, 0, 1, 2}, {0, 0, 3, 4}, {0, 0, 0, 5}, {0}};
    cm_soft_group *g = c->g;
    cm_f inverse_h = cm_lanes_set(1.0f / soft->h);
    cm_f p = solve_normal(g, at, i, c->vn[i], inverse_h, &soft->softness[g->fixed], relax);
    cm_f change = p - LOAD(at_point[i].normal_impulse);
    STORE(at_point[i].normal_impulse, p);
    for (uint32_t j = i + 1; j < points; j++) {
        c->vn[j] = c->vn[j] + LOAD(point_coupling[coupling_of[i][j]]) * change;
    }
    c->normal = c->normal + change;
    c->turn1 = c->turn1 + LOAD(at_point[i].y) * change;
    c->turn2 = c->turn2 - LOAD(at_point[i].x) * change;
}

CM_WHOLE void store_velocities(cm_soft *soft, cm_soft_special *e, uint32_t at, uint32_t points,
                               bool round, bool relax, contact_lanes *c)
{
    cm_soft_group *g = c->g;
    const frame *f = &c->f;
    if (relax) {
        STORE(total_impulse, LOAD(total_impulse) + pressure_of(g, at, points));
    }
    cm_fvec impulse = cm_fvec_mix(c->normal, f->n, c->friction.x, f->t1, c->friction.y, f->t2);
    cm_fvec torque = cm_fvec_mix(c->turn1, f->t1, c->turn2, f->t2, c->friction.z, f->n);
    apply(f, e, impulse, torque, round, &c->s);
    if (e && relax) {
        solve_rolling(g, e, at, f, &c->s);
        sum_special(g, e, at);
    }
    scatter_speeds(soft, g, at, &c->s);
}

// As press_point for each point, over and over.
CM_WHOLE void press_evenly(const cm_soft *soft, uint32_t at, uint32_t points, bool relax,
                           contact_lanes *c)
{
    cm_soft_group *g = c->g;
    cm_f inverse_h = cm_lanes_set(1.0f / soft->h);
    for (uint32_t round = 0; round < PARTING_ROUNDS; round++) {
        for (uint32_t i = 0; i < points; i++) {
            cm_f p = solve_normal(g, at, i, c->vn[i], inverse_h, &soft->softness[g->fixed], relax);
            cm_f change = p - LOAD(at_point[i].normal_impulse);
            STORE(at_point[i].normal_impulse, p);
            STORE(largest_impulse[i], cm_lanes_max(LOAD(largest_impulse[i]), p));
            add_change(g, at, i, points, change, c->vn);
            c->normal = c->normal + change;
            c->turn1 = c->turn1 + LOAD(at_point[i].y) * change;
            c->turn2 = c->turn2 - LOAD(at_point[i].x) * change;
        }
    }
}

// A group that bounces: a face that lands flat must not turn, since each of its points is to part
// as it met. One round over the points gives the first ones too much.
__attribute__((noinline)) static void solve_bouncing_group(cm_soft *soft, uint32_t group,
                                                           bool relax)
{
    cm_soft_group *g = &soft->groups[group];
    cm_soft_special *e = g->special ? &soft->specials[group] : NULL;
    uint32_t points = points_of(g);
    for (uint32_t at = 0; at < g->lanes; at += CM_LANES) {
        contact_lanes c = {.g = g};
        load_velocities(soft, e, at, points, g->round, relax, &c);
        solve_friction_first(e, at, points, relax, &c);
        begin_points(at, points, &c);
        press_evenly(soft, at, points, relax, &c);
        if (relax) {
            solve_friction_last(e, at, points, &c);
        }
        store_velocities(soft, e, at, points, g->round, relax, &c);
    }
}

// `count` groups of one colour, step by step: each is a chain of operations that wait for each
// other, and those of another group fill the gaps.
CM_WHOLE void solve_lanes(cm_soft *soft, cm_soft_group *g, cm_soft_special *e, uint32_t at,
                          uint32_t count, uint32_t points, bool round, bool relax)
{
    contact_lanes c[2];
    for (uint32_t k = 0; k < count; k++) {
        c[k].g = g + k;
        load_velocities(soft, e, at, points, round, relax, &c[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
        solve_friction_first(e, at, points, relax, &c[k]);
        begin_points(at, points, &c[k]);
    }
    for (uint32_t i = 0; i < points; i++) {
        for (uint32_t k = 0; k < count; k++) {
            press_point(soft, at, i, points, relax, &c[k]);
        }
    }
    for (uint32_t k = 0; relax && k < count; k++) {
        solve_friction_last(e, at, points, &c[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
        store_velocities(soft, e, at, points, round, relax, &c[k]);
    }
}

// Special groups go through functions of their own, so that the others' code is not theirs.
__attribute__((noinline)) static void solve_special_group(cm_soft *soft, uint32_t group, bool relax)
{
    for (uint32_t at = 0; at < soft->groups[group].lanes; at += CM_LANES) {
        if (relax) {
            solve_lanes(soft, &soft->groups[group], &soft->specials[group], at, 1, 4, false, true);
        } else {
            solve_lanes(soft, &soft->groups[group], &soft->specials[group], at, 1, 4, false, false);
        }
    }
}

CM_WHOLE void solve_group(cm_soft *soft, cm_soft_group *g, uint32_t points, bool round, bool two,
                          bool relax)
{
    if (two) {
        solve_lanes(soft, g, NULL, 0, 2, points, round, relax);
        return;
    }
    CM_LANES_UNROLL(2)
    for (uint32_t at = 0; goes_on(g, at); at += CM_LANES) {
        solve_lanes(soft, g, NULL, at, 1, points, round, relax);
    }
}

// Returns true if the next group goes with this one. Only where a group is done at once: with eight
// lanes there are not enough registers for two, and they take half as long again.
CM_WHOLE bool goes_with_next(const cm_soft_group *g, bool is_last)
{
    const cm_soft_group *next = g + !is_last;
    return CM_LANES == CM_SOFT_WIDE && !is_last && g->color == next->color &&
           g->round == next->round && points_of(g) == points_of(next) && !g->special &&
           !next->special && !g->bounces && !next->bounces;
}

// The kind of a group is a constant at each call, so that the loops over points unroll.
CM_WHOLE void solve_groups(cm_soft *soft, uint32_t first, uint32_t end, bool relax)
{
    for (uint32_t i = first; i < end; i++) {
        cm_soft_group *g = &soft->groups[i];
        bool two = goes_with_next(g, i + 1 == end);
        fetch_groups(soft, i + 2, i + 3 + two < end ? i + 3 + two : end);
        if (g->bounces) {
            solve_bouncing_group(soft, i, relax);
        } else if (g->special) {
            solve_special_group(soft, i, relax);
        } else if (g->round) {
            switch (points_of(g)) {
            case 1:
                solve_group(soft, g, 1, true, two, relax);
                break;
            case 2:
                solve_group(soft, g, 2, true, two, relax);
                break;
            default:
                solve_group(soft, g, 4, true, two, relax);
            }
        } else if (g->points > 2) {
            solve_group(soft, g, 4, false, two, relax);
        } else {
            solve_group(soft, g, 2, false, two, relax);
        }
        i += two;
    }
}

static void solve(cm_soft *soft, uint32_t first, uint32_t end)
{
    solve_groups(soft, first, end, false);
}

static void relax(cm_soft *soft, uint32_t first, uint32_t end)
{
    solve_groups(soft, first, end, true);
}

#include "shared/sim/solve/soft/bounce.inl"

static void finish(cm_soft *soft, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const cm_soft_group *g = &soft->groups[i];
        fetch_rows(soft, i + 1 < end ? g + 1 : g);
        CM_LANES_UNROLL(2)
        for (uint32_t at = 0; goes_on(g, at); at += CM_LANES) {
            store_contacts(soft, g, at);
        }
    }
}

// In the order of cm_soft_kind.
#if CM_LANES <= 8
#include "shared/sim/solve/soft/joint_pass.inl"

const cm_soft_passes CM_PASS(cm_soft_passes) = {
    {prepare,     solve,    relax,     bounce,       finish,     begin,      velocities,
     poses,       flip,     store,     ball_prepare, ball_warm,  ball_solve, ball_relax,
     row_prepare, row_warm, row_solve, row_relax,    knot_solve, knot_relax}};
#else
const cm_soft_passes CM_PASS(cm_soft_passes) = {{prepare, solve, relax, bounce, finish}};
#endif
