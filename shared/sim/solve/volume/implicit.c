// Contacts whose stiffness is derived: spring, damper and friction act at the velocities that the
// step ends with, all of them together.
//
// A pair has six coordinates (axis.h); with s its motion in them, x the springs' impulses at the
// step's start and E = h (B + h K) over the area, it is pressed by p = x + E s where that does not
// pull, and friction is the same, cut to mu times p along the normal. The pairs of two bodies are
// one group, of six unknowns, their relative motion V:
//
//   V + W sum J^T p(J V) = V without them           W: inverse mass of the two bodies
//
// solved by Newton's method. Sweeps over the groups, forth and back, solve each in turn (Gauss and
// Seidel); a group that is at its solution is passed over. They begin at what acted at the end of
// the last step, so that what rests is solved at once. Typical: 200 groups, each solved twice.
#include "shared/sim/solve/volume/axis.h"

#define SWEEPS 2500.0 // forth and back, a second; two to four a step
#define ROUNDS 8u     // of Newton's method
#define CUTS   6u     // of one of its steps
#define CLOSE  1.0e-5 // of the impulses: no nearer
#define ENOUGH 1.0e-4 // where a group is passed over

typedef struct motion {
    double v[6];
} motion;

static cm_volume_pair *pair_of(const cm_volume *volume, uint32_t i)
{
    return &volume->pairs[volume->order[i]];
}

// Order
// --------------------------------------------------------------------------------------------

static bool before(const cm_volume_pair *a, const cm_volume_pair *b)
{
    if (a->body_a != b->body_a) {
        return a->body_a < b->body_a;
    }
    return a->body_b != b->body_b ? a->body_b < b->body_b : a < b;
}

// The pairs of the same two bodies side by side. They nearly are.
void cm_volume_order_pairs(cm_volume *volume)
{
    uint32_t count = 0, *order = volume->order;
    for (uint32_t i = 0; i < volume->pair_count; i++) {
        if (volume->pairs[i].is_implicit && !volume->pairs[i].sensor) {
            order[count++] = i;
        }
    }
    volume->order_count = count;
    for (uint32_t gap = count / 2; gap > 0; gap /= 2) { // D. Shell 1959
        for (uint32_t i = gap; i < count; i++) {
            uint32_t moved = order[i], k = i;
            while (k >= gap && before(&volume->pairs[moved], &volume->pairs[order[k - gap]])) {
                order[k] = order[k - gap];
                k -= gap;
            }
            order[k] = moved;
        }
    }
}

// One pair
// -----------------------------------------------------------------------------------------

static void set_row(double *row, cm_d3 linear, cm_d3 angular)
{
    const double values[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (uint32_t i = 0; i < 6; i++) {
        row[i] = values[i];
    }
}

// Coordinates of the pair's motion about `o`, from that of the two bodies.
static void set_rows(cm_volume_pair *pair, cm_d3 o)
{
    const cm_volume_region *r = &pair->region;
    const cm_d3 none = cm_d3_of(0.0, 0.0, 0.0);
    double(*rows)[6] = pair->implicit.rows;
    cm_d3 at = cm_d3_sub(cm_d3_add(pair->origin, r->point), o);
    set_row(rows[0], r->normal, cm_d3_cross(at, r->normal));
    set_row(rows[1], none, r->t1);
    set_row(rows[2], none, r->t2);
    at = cm_d3_mad(cm_d3_mad(at, pair->patch.x, r->t1), pair->patch.y, r->t2);
    set_row(rows[3], r->t1, cm_d3_cross(at, r->t1));
    set_row(rows[4], r->t2, cm_d3_cross(at, r->t2));
    set_row(rows[5], none, cm_d3_scale(pair->implicit.reach, r->normal));
}

// Takes what rolls out of the tilts.
static void free_rolling(cm_volume_pair *pair)
{
    cm_dmat *e = &pair->implicit.normal;
    cm_d3 *start = &pair->implicit.normal_start;
    if (pair->rollers == 0) {
        return;
    }
    double x = cm_d3_dot(pair->axis, pair->region.t1), y = cm_d3_dot(pair->axis, pair->region.t2);
    double length = __builtin_sqrt(x * x + y * y), c = -y / length, s = x / length;
    if (pair->rollers > 1) {
        c = s = 0.0;
    }
    // The tilt that stays is about (c, s), across the axis.
    double push = c * start->y + s * start->z;
    double side = c * e->x.y + s * e->x.z;
    double tilt = c * c * e->y.y + 2.0 * c * s * e->y.z + s * s * e->z.z;
    *start = cm_d3_of(start->x, c * push, s * push);
    e->x = cm_d3_of(e->x.x, c * side, s * side);
    e->y = cm_d3_of(c * side, c * c * tilt, c * s * tilt);
    e->z = cm_d3_of(s * side, c * s * tilt, s * s * tilt);
}

static void set_pair(const cm_volume *volume, cm_volume_pair *pair, cm_d3 o)
{
    cm_volume_implicit *row = &pair->implicit;
    const cm_volume_region *r = &pair->region;
    const cm_volume_law *law = &pair->law;
    double h = volume->h, e = h * (law->damping + h * law->stiffness);
    row->reach = __builtin_sqrt(pair->patch.turn / r->area);
    set_rows(pair, o);
    row->normal = (cm_dmat){cm_d3_of(e * r->area, e * r->ay, -e * r->ax),
                            cm_d3_of(e * r->ay, e * r->ayy, -e * r->axy),
                            cm_d3_of(-e * r->ax, -e * r->axy, e * r->axx)};
    row->normal_start = cm_d3_of(h * pair->spring.force, h * pair->spring.mx, h * pair->spring.my);
    free_rolling(pair);
    row->stuck = h * (law->tangent_damping + h * law->tangent_stiffness) * r->area;
    double pull = -h * law->tangent_stiffness * r->area;
    bool sticks = pair->bristle.mode == CM_VOLUME_STATIC;
    row->stuck_start =
        cm_d3_scale(sticks ? pull : 0.0, cm_d3_of(cm_d3_dot(r->t1, pair->bristle.stretch),
                                                  cm_d3_dot(r->t2, pair->bristle.stretch),
                                                  row->reach * pair->bristle.twist));
    row->friction = row->grip * (sticks ? law->still : law->kinetic);
    row->drift[0] = cm_d3_dot(r->t1, pair->drift);
    row->drift[1] = cm_d3_dot(r->t2, pair->drift);
}

// Impulses at the motion m, and, where `slope` is not NULL, how it changes with it.
static void evaluate(cm_volume_pair *pair, const motion *m, double slope[6][6])
{
    cm_volume_implicit *row = &pair->implicit;
    double s[6];
    for (uint32_t i = 0; i < 6; i++) {
        s[i] = 0.0;
        for (uint32_t k = 0; k < 6; k++) {
            s[i] += row->rows[i][k] * m->v[k];
        }
    }
    cm_d3 slip = cm_d3_of(s[3] + row->drift[0], s[4] + row->drift[1], s[5]);
    cm_d3 q = cm_d3_mad(row->stuck_start, row->stuck, slip);
    pair->normal_impulse =
        cm_d3_add(row->normal_start, cm_dmat_mul(&row->normal, cm_d3_of(s[0], s[1], s[2])));
    double most = row->friction * pair->normal_impulse.x, size = cm_d3_length(q);
    row->slides = size > most;
    if (!(pair->normal_impulse.x > 0.0)) {
        pair->normal_impulse = pair->friction_impulse = cm_d3_of(0.0, 0.0, 0.0);
        return;
    }
    double share = row->slides ? most / size : 1.0;
    pair->friction_impulse = cm_d3_scale(share, q);
    if (slope == NULL) {
        return;
    }
    const cm_dmat *e = &row->normal;
    const double normal[3][3] = {
        {e->x.x, e->y.x, e->z.x}, {e->x.y, e->y.y, e->z.y}, {e->x.z, e->y.z, e->z.z}};
    double d[3] = {0.0, 0.0, 0.0}, local[6][6] = {{0.0}};
    if (row->slides) {
        d[0] = q.x / size;
        d[1] = q.y / size;
        d[2] = q.z / size;
    }
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            local[i][k] = normal[i][k];
            local[3 + i][k] = row->friction * d[i] * normal[0][k];
            local[3 + i][3 + k] = share * row->stuck * ((i == k ? 1.0 : 0.0) - d[i] * d[k]);
        }
    }
    double half[6][6];
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 0; k < 6; k++) {
            half[i][k] = 0.0;
            for (uint32_t j = 0; j < 6; j++) {
                half[i][k] += local[i][j] * row->rows[j][k];
            }
        }
    }
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 0; k < 6; k++) {
            for (uint32_t j = 0; j < 6; j++) {
                slope[i][k] += row->rows[j][i] * half[j][k];
            }
        }
    }
}

// Adds the pair's impulses, as force and torque about the group's point.
static void add_impulse(const cm_volume_pair *pair, double f[6])
{
    const double p[6] = {pair->normal_impulse.x,   pair->normal_impulse.y,
                         pair->normal_impulse.z,   pair->friction_impulse.x,
                         pair->friction_impulse.y, pair->friction_impulse.z};
    for (uint32_t j = 0; j < 6; j++) {
        for (uint32_t i = 0; i < 6; i++) {
            f[i] += pair->implicit.rows[j][i] * p[j];
        }
    }
}

// Two bodies
// ---------------------------------------------------------------------------------------

typedef struct group {
    uint32_t first, end; // of the order
    cm_volume_body *a, *b;
    cm_d3 o;
} group;

static cm_d3 velocity_at(const cm_volume_body *body, cm_d3 o)
{
    return cm_d3_add(body->velocity, cm_d3_cross(body->spin, cm_d3_sub(o, body->position)));
}

static motion motion_of(const group *g)
{
    cm_d3 v = cm_d3_sub(velocity_at(g->b, g->o), velocity_at(g->a, g->o));
    cm_d3 w = cm_d3_sub(g->b->spin, g->a->spin);
    return (motion){{v.x, v.y, v.z, w.x, w.y, w.z}};
}

static void push_body(cm_volume_body *body, cm_d3 o, const double f[6], double sign)
{
    if (!body->dynamic) {
        return;
    }
    cm_d3 force = cm_d3_of(sign * f[0], sign * f[1], sign * f[2]);
    cm_d3 torque = cm_d3_of(sign * f[3], sign * f[4], sign * f[5]);
    torque = cm_d3_add(torque, cm_d3_cross(cm_d3_sub(o, body->position), force));
    body->velocity = cm_d3_add(body->velocity, cm_volume_times(body->inverse_mass, force));
    body->spin = cm_d3_add(body->spin, cm_dmat_mul(&body->inverse, torque));
}

// The motion that a force and torque f take from the two, for each of the six.
static void inverse_mass(const group *g, double w[6][6])
{
    for (uint32_t k = 0; k < 6; k++) {
        double f[6] = {0.0};
        f[k] = 1.0;
        cm_volume_body a = *g->a, b = *g->b;
        a.velocity = a.spin = b.velocity = b.spin = cm_d3_of(0.0, 0.0, 0.0);
        push_body(&a, g->o, f, 1.0);
        push_body(&b, g->o, f, -1.0);
        group moved = {.a = &a, .b = &b, .o = g->o};
        motion m = motion_of(&moved);
        for (uint32_t i = 0; i < 6; i++) {
            w[i][k] = -m.v[i];
        }
    }
}

// x = M^-1 r in place, by elimination with the largest pivots. False where M is singular.
static bool eliminate(double m[6][6], double r[6])
{
    for (uint32_t k = 0; k < 6; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < 6; i++) {
            best = cm_d_abs(m[i][k]) > cm_d_abs(m[best][k]) ? i : best;
        }
        if (!(cm_d_abs(m[best][k]) > 0.0)) {
            return false;
        }
        for (uint32_t j = 0; j < 6; j++) {
            double t = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = t;
        }
        double t = r[k];
        r[k] = r[best];
        r[best] = t;
        for (uint32_t i = k + 1; i < 6; i++) {
            double f = m[i][k] / m[k][k];
            for (uint32_t j = k; j < 6; j++) {
                m[i][j] -= f * m[k][j];
            }
            r[i] -= f * r[k];
        }
    }
    for (uint32_t k = 6; k-- > 0;) {
        for (uint32_t j = k + 1; j < 6; j++) {
            r[k] -= m[k][j] * r[j];
        }
        r[k] /= m[k][k];
    }
    return true;
}

static void impulse_at(cm_volume *volume, const group *g, const motion *m, double f[6],
                       double slope[6][6])
{
    for (uint32_t i = 0; i < 6; i++) {
        f[i] = 0.0;
    }
    for (uint32_t i = g->first; i < g->end; i++) {
        cm_volume_pair *pair = pair_of(volume, i);
        if (pair->meets) {
            evaluate(pair, m, slope);
            add_impulse(pair, f);
        }
    }
}

static bool is_close(const double now[6], const double then[6], double share)
{
    double apart = 0.0, all = 0.0;
    for (uint32_t i = 0; i < 6; i++) {
        apart += (now[i] - then[i]) * (now[i] - then[i]);
        all += now[i] * now[i];
    }
    return apart <= share * share * all;
}

// The two bodies do f instead of what they did.
static void act(const group *g, const double f[6], double acted[6])
{
    double more[6];
    for (uint32_t i = 0; i < 6; i++) {
        more[i] = f[i] - acted[i];
        acted[i] = f[i];
    }
    push_body(g->a, g->o, more, 1.0);
    push_body(g->b, g->o, more, -1.0);
}

static double dot(const double a[6], const double b[6])
{
    double sum = 0.0;
    for (uint32_t i = 0; i < 6; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Of the motion m on its `way`, at `share` of it: what is left to push along the way, J. `lack` is
// what takes the motion that there would be without the pairs to m, and `less` what of it goes on
// the whole way.
static double left_at(cm_volume *volume, const group *g, const motion *m, const double way[6],
                      const double lack[6], const double less[6], double share, double f[6])
{
    motion next;
    double left = 0.0;
    for (uint32_t i = 0; i < 6; i++) {
        next.v[i] = m->v[i] + share * way[i];
    }
    impulse_at(volume, g, &next, f, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        left += way[i] * (lack[i] - share * less[i] - f[i]);
    }
    return left;
}

// A step of Newton's method, shortened to where nothing is left along it. False where it is there.
static bool approach(cm_volume *volume, const group *g, const double w[6][6], motion *m,
                     double lack[6], double f[6])
{
    double slope[6][6] = {{0.0}}, matrix[6][6], way[6], less[6], then[6];
    impulse_at(volume, g, m, then, slope);
    for (uint32_t i = 0; i < 6; i++) {
        less[i] = lack[i] - then[i];
    }
    for (uint32_t i = 0; i < 6; i++) {
        way[i] = dot(w[i], less);
        for (uint32_t k = 0; k < 6; k++) {
            matrix[i][k] = i == k ? 1.0 : 0.0;
            for (uint32_t j = 0; j < 6; j++) {
                matrix[i][k] += w[i][j] * slope[j][k];
            }
        }
    }
    if (!eliminate(matrix, way)) {
        return false;
    }
    double whole = dot(way, less);
    for (uint32_t i = 0; i < 6; i++) {
        less[i] -= dot(slope[i], way);
    }
    double low = 0.0, high = 1.0, at_low = whole, share = 1.0;
    double at_high = left_at(volume, g, m, way, lack, less, 1.0, f);
    for (uint32_t cut = 0; cut < CUTS && at_high < -0.1 * whole; cut++) {
        share = low + (high - low) * at_low / (at_low - at_high);
        share = cut % 2 == 0 ? share : 0.5 * (low + high);
        double at = left_at(volume, g, m, way, lack, less, share, f);
        if (cm_d_abs(at) <= 0.1 * whole) {
            break;
        }
        if (at > 0.0) {
            low = share;
            at_low = at;
        } else {
            high = share;
            at_high = at;
        }
    }
    for (uint32_t i = 0; i < 6; i++) {
        m->v[i] += share * way[i];
        lack[i] -= share * less[i];
    }
    return !is_close(f, lack, CLOSE);
}

// True where the group had to be solved.
static bool solve_group(cm_volume *volume, const group *g)
{
    double *acted = pair_of(volume, g->first)->implicit.acted, f[6], w[6][6], lack[6];
    motion m = motion_of(g);
    impulse_at(volume, g, &m, f, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        lack[i] = acted[i];
    }
    bool moved = !is_close(f, acted, ENOUGH);
    if (moved) {
        inverse_mass(g, w);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            if (!approach(volume, g, (const double(*)[6])w, &m, lack, f)) {
                break;
            }
        }
    }
    act(g, lack, acted); // of what is not there yet: what brings the motion found
    return moved;
}

// A step
// -------------------------------------------------------------------------------------------

static group group_at(const cm_volume *volume, uint32_t first)
{
    const cm_volume_pair *pair = pair_of(volume, first);
    group g = {.first = first, .end = first, .o = cm_d3_add(pair->origin, pair->region.point)};
    g.a = &volume->bodies[pair->body_a];
    g.b = &volume->bodies[pair->body_b];
    g.o = g.a->dynamic ? g.a->position : g.b->position;
    while (g.end < volume->order_count && pair_of(volume, g.end)->body_a == pair->body_a &&
           pair_of(volume, g.end)->body_b == pair->body_b) {
        g.end++;
    }
    return g;
}

static group group_before(const cm_volume *volume, uint32_t end)
{
    const cm_volume_pair *pair = pair_of(volume, end - 1);
    uint32_t first = end - 1;
    while (first > 0 && pair_of(volume, first - 1)->body_a == pair->body_a &&
           pair_of(volume, first - 1)->body_b == pair->body_b) {
        first--;
    }
    return group_at(volume, first);
}

static bool is_touching(const cm_volume *volume, const group *g)
{
    for (uint32_t i = g->first; i < g->end; i++) {
        if (pair_of(volume, i)->meets) {
            return true;
        }
    }
    return false;
}

// Tilting impulses are about the point of the plane in a step; from step to step, about the origin.
static cm_d3 moved_to(const cm_volume_pair *pair, cm_d3 p, double sign)
{
    const cm_volume_region *r = &pair->region;
    cm_d3 arm = cm_d3_scale(sign * p.x, cm_d3_cross(r->point, r->normal));
    return cm_d3_of(p.x, p.y + cm_d3_dot(r->t1, arm), p.z + cm_d3_dot(r->t2, arm));
}

// Impulses that pairs which touched before had at the end of the last step, or nearly.
static void begin_group(cm_volume *volume, const group *g, const motion *m, double f[6])
{
    for (uint32_t i = 0; i < 6; i++) {
        f[i] = 0.0;
    }
    for (uint32_t i = g->first; i < g->end; i++) {
        cm_volume_pair *pair = pair_of(volume, i);
        if (pair->meets) {
            cm_d3 pushed = moved_to(pair, pair->normal_about_origin, -1.0);
            evaluate(pair, m, NULL);
            pair->normal_impulse = pushed;
            double most = pair->implicit.friction * pushed.x;
            double size = cm_d3_length(pair->friction_impulse);
            bool slides = pair->bristle.mode == CM_VOLUME_KINETIC && size > 0.0;
            pair->friction_impulse = slides ? cm_d3_scale(most / size, pair->friction_impulse)
                                            : pair->implicit.stuck_start;
            add_impulse(pair, f);
        }
    }
}

void cm_volume_begin_implicit(cm_volume *volume)
{
    for (uint32_t i = 0; i < volume->order_count;) {
        group g = group_at(volume, i);
        double *acted = pair_of(volume, i)->implicit.acted;
        motion m = motion_of(&g);
        for (uint32_t k = g.first; k < g.end; k++) {
            cm_volume_pair *pair = pair_of(volume, k);
            if (pair->meets) {
                set_pair(volume, pair, g.o);
            }
        }
        begin_group(volume, &g, &m, acted);
        i = g.end;
    }
    for (uint32_t i = 0; i < volume->order_count;) {
        group g = group_at(volume, i);
        const double *acted = pair_of(volume, i)->implicit.acted;
        push_body(g.a, g.o, acted, 1.0);
        push_body(g.b, g.o, acted, -1.0);
        i = g.end;
    }
}

// Friction keeps the stretch that gives its force at the step's end.
static void keep(cm_volume_pair *pair)
{
    cm_volume_implicit *row = &pair->implicit;
    pair->friction_impulse.z *= row->reach;
    pair->impulse += pair->normal_impulse.x;
    pair->normal_about_origin = moved_to(pair, pair->normal_impulse, 1.0);
    if (row->slides) {
        pair->bristle = (cm_volume_bristle){.mode = CM_VOLUME_KINETIC};
    } else if (pair->bristle.mode == CM_VOLUME_KINETIC) {
        pair->bristle = (cm_volume_bristle){.mode = CM_VOLUME_STATIC};
    }
}

void cm_volume_solve_implicit(cm_volume *volume)
{
    bool moved = true;
    double sweeps = cm_d_min(cm_d_max(2.0, SWEEPS * volume->h), 4.0);
    for (uint32_t sweep = 0; (double)sweep < sweeps && moved; sweep++) {
        moved = false;
        for (uint32_t i = 0; i < volume->order_count;) {
            group g = group_at(volume, i);
            moved |= is_touching(volume, &g) && solve_group(volume, &g);
            i = g.end;
        }
        for (uint32_t end = volume->order_count; moved && end > 0;) {
            group g = group_before(volume, end);
            moved |= is_touching(volume, &g) && solve_group(volume, &g);
            end = g.first;
        }
    }
    for (uint32_t i = 0; i < volume->order_count; i++) {
        cm_volume_pair *pair = pair_of(volume, i);
        if (pair->meets) {
            keep(pair);
            cm_volume_make_axes(pair, &volume->bodies[pair->body_a], &volume->bodies[pair->body_b]);
            cm_volume_report(volume, pair);
        }
    }
}
