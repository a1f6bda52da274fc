// Contacts under load (JP3308685B2, figure 12): after the hits the step's forces act, and the
// approach that is left at each point of a touching contact is taken away without rebound, in
// rounds, until none is left. 128 rounds at most, up and down the contacts by turns.
//
// A point's normal impulse is a sum over the rounds and never pulls, so a point gives back what
// turned out to be too much when another point took it over. It starts from what it was at the end
// of the step before, so what 128 rounds leave of a high tower goes on in the next step. Points
// that do not touch yet may come as far as their gap in this step, so that what rests does not rock
// from one corner to the next. A contact that rebounds in this step keeps the speed that its hit
// gave it: the forces' share is all that is taken.
//
// Friction is of the whole contact: sliding of the centroid of its n touching points, and the turn
// about the normal. What slides is left with (1 - mu)^n of the speed that it would have without
// this friction: the source's fraction of sticking, mu at each point. What forces alone would set
// sliding by no more than mu of what they press sticks, with at most mu of the normal impulse, so
// that what rests stays where it is.
#include "shared/sim/solve/impulse/impulse.h"

#define ROUNDS    128u
#define STILL     3.0e-5 // of what forces add in a step: a round that changes less was the last
#define LEAST     1.0e-9 // m/s, rad/s: the same

#define SEPARATED 0.2 // of the overlap, a step

static void make_axis(const cm_impulse_body *a, const cm_impulse_body *b, carom_dvec3 along,
                      carom_dvec3 turn_a, carom_dvec3 turn_b, cm_impulse_axis *axis)
{
    carom_dvec3 ia = a->side.inverse_mass, ib = b->side.inverse_mass;
    axis->along = along;
    axis->turn_a = turn_a;
    axis->turn_b = turn_b;
    if (a->dynamic) {
        axis->spin_a = cm_dsym_mul(&a->side.inverse, turn_a);
    }
    if (b->dynamic) {
        axis->spin_b = cm_dsym_mul(&b->side.inverse, turn_b);
    }
    double k = along.x * along.x * (ia.x + ib.x) + along.y * along.y * (ia.y + ib.y) +
               along.z * along.z * (ia.z + ib.z);
    double spin_a = a->dynamic ? cm_d3_dot(turn_a, axis->spin_a) : 0.0;
    k += spin_a + (b->dynamic ? cm_d3_dot(turn_b, axis->spin_b) : 0.0);
    axis->mass = k > 1.0e-200 ? 1.0 / k : 0.0;
    axis->impulse = 0.0;
}

static double rate_of(const cm_impulse_axis *axis, const cm_impulse_body *a,
                      const cm_impulse_body *b)
{
    return cm_d3_dot(axis->along, cm_d3_sub(b->side.v, a->side.v)) +
           cm_d3_dot(axis->turn_b, b->side.w) - cm_d3_dot(axis->turn_a, a->side.w);
}

static carom_dvec3 times(carom_dvec3 a, carom_dvec3 b)
{
    return cm_d3_of(a.x * b.x, a.y * b.y, a.z * b.z);
}

static void push(const cm_impulse_axis *axis, cm_impulse_body *a, cm_impulse_body *b, double j)
{
    if (a->dynamic) {
        a->side.v = cm_d3_mad(a->side.v, -j, times(a->side.inverse_mass, axis->along));
        a->side.w = cm_d3_mad(a->side.w, -j, axis->spin_a);
    }
    if (b->dynamic) {
        b->side.v = cm_d3_mad(b->side.v, j, times(b->side.inverse_mass, axis->along));
        b->side.w = cm_d3_mad(b->side.w, j, axis->spin_b);
    }
}

static void make_normals(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row)
{
    const cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    carom_dvec3 n = row->normal;
    for (uint32_t i = 0; i < m->point_count; i++) {
        carom_dvec3 turn_a = cm_d3_cross(cm_d3_from(m->points[i].anchor_a), n);
        carom_dvec3 turn_b = cm_d3_cross(cm_d3_from(m->points[i].anchor_b), n);
        make_axis(a, b, n, turn_a, turn_b, &row->normals[i]);
    }
}

void cm_impulse_load(cm_impulse *impulse, const cm_manifold *m, const float *last,
                     cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    make_normals(impulse, m, row);
    row->loaded = true;
    for (uint32_t i = 0; i < m->point_count; i++) {
        cm_impulse_axis *axis = &row->normals[i];
        double j = last[i] > 0.0f && axis->mass > 0.0 ? (double)last[i] : 0.0;
        axis->impulse = j;
        if (a->dynamic) {
            a->load_v = cm_d3_mad(a->load_v, -j, times(a->side.inverse_mass, axis->along));
            a->load_w = cm_d3_mad(a->load_w, -j, axis->spin_a);
        }
        if (b->dynamic) {
            b->load_v = cm_d3_mad(b->load_v, j, times(b->side.inverse_mass, axis->along));
            b->load_w = cm_d3_mad(b->load_w, j, axis->spin_b);
        }
    }
    a->forced = b->forced = true;
}

static void set_tangents(carom_dvec3 n, carom_dvec3 *s, carom_dvec3 *t)
{
    double x = n.x < 0.0 ? -n.x : n.x;
    carom_dvec3 across = x < 0.6 ? cm_d3_of(1.0, 0.0, 0.0) : cm_d3_of(0.0, 1.0, 0.0);
    carom_dvec3 first = cm_d3_cross(n, across);
    *s = cm_d3_scale(1.0 / cm_d3_length(first), first);
    *t = cm_d3_cross(n, *s);
}

static void make_tangents(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row)
{
    const cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    carom_dvec3 n = row->normal, tangents[2];
    set_tangents(n, &tangents[0], &tangents[1]);
    for (uint32_t k = 0; k < 2; k++) {
        carom_dvec3 turn_a = cm_d3_cross(row->on_a, tangents[k]);
        make_axis(a, b, tangents[k], turn_a, cm_d3_cross(row->on_b, tangents[k]),
                  &row->tangents[k]);
    }
    make_axis(a, b, cm_d3_of(0.0, 0.0, 0.0), n, n, &row->tangents[2]);
    // One point does not hinder a turn.
    row->tangents[2].mass = (row->points & (row->points - 1u)) != 0 ? row->tangents[2].mass : 0.0;
}

// Velocities that the contact asks for, while the velocities are still those without the step's
// forces.
static void ask(uint32_t model, const cm_impulse *impulse, const cm_manifold *m,
                cm_impulse_row *row)
{
    const cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    if (!row->loaded) {
        make_normals(impulse, m, row);
    }
    for (uint32_t i = 0; i < m->point_count; i++) {
        cm_impulse_axis *axis = &row->normals[i];
        double gap = (double)m->points[i].separation;
        axis->rate = (row->points >> i & 1u) != 0 ? 0.0 : -gap / impulse->h;
        if (row->rebounds) {
            double now = rate_of(axis, a, b);
            axis->rate = (row->points >> i & 1u) != 0 || now < axis->rate ? now : axis->rate;
        }
    }
    row->has_friction = model == CAROM_IMPULSE_INTERPOLATED && row->mu > 0.0;
    if (row->has_friction) {
        make_tangents(impulse, m, row);
        for (uint32_t k = 0; k < 3; k++) {
            row->tangents[k].rate = row->hits > 0 ? rate_of(&row->tangents[k], a, b) : 0.0;
        }
    }
    double dv_a = cm_d3_dot(a->dv, a->dv), dv_b = cm_d3_dot(b->dv, b->dv);
    row->still = STILL * __builtin_sqrt(dv_a > dv_b ? dv_a : dv_b) + LEAST;
}

// Chooses between sticking and sliding, with the step's forces in the velocities.
static void choose_friction(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row)
{
    const cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    double s = rate_of(&row->tangents[0], a, b) - row->tangents[0].rate;
    double t = rate_of(&row->tangents[1], a, b) - row->tangents[1].rate;
    double turn = row->reach * (rate_of(&row->tangents[2], a, b) - row->tangents[2].rate);
    double most = row->mu * row->force, left = 1.0;
    for (uint32_t points = row->points; points != 0; points &= points - 1u) {
        left *= 1.0 - row->mu;
    }
    row->sticks = most > 0.0 && s * s + t * t + turn * turn <= most * most;
    row->left = row->sticks ? 0.0 : left;
}

static void add(cm_impulse_axis *axis, cm_impulse_body *a, cm_impulse_body *b, double j)
{
    push(axis, a, b, j - axis->impulse);
    axis->impulse = j;
}

static double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

// Impulse that leaves the axis with its rate, or with the part that friction leaves of what the
// rate would be without the impulse.
static double wanted(const cm_impulse_axis *axis, const cm_impulse_body *a,
                     const cm_impulse_body *b, double left)
{
    double without = (axis->rate - rate_of(axis, a, b)) * axis->mass + axis->impulse;
    return (1.0 - left) * without;
}

static double solve_friction(cm_impulse_row *row, cm_impulse_body *a, cm_impulse_body *b,
                             uint32_t points)
{
    double normal_impulse = 0.0, change = 0.0;
    for (uint32_t i = 0; i < points; i++) {
        normal_impulse += row->normals[i].impulse;
    }
    double most = row->mu * normal_impulse, j[3];
    for (uint32_t k = 0; k < 3; k++) {
        cm_impulse_axis *axis = &row->tangents[k];
        if (axis->mass == 0.0) {
            continue;
        }
        j[k] = normal_impulse > 0.0 ? wanted(axis, a, b, row->left) : 0.0;
        double limit = k < 2 ? most : most * row->reach;
        if (row->sticks) {
            j[k] = j[k] < -limit ? -limit : j[k] > limit ? limit : j[k];
        }
        double by = magnitude(j[k] - axis->impulse);
        change = by > change * axis->mass ? by / axis->mass : change;
        add(axis, a, b, j[k]);
    }
    return change;
}

// One round over a contact: the largest change of a velocity.
static double solve(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    double most = row->has_friction ? solve_friction(row, a, b, m->point_count) : 0.0;
    for (uint32_t i = 0; i < m->point_count; i++) {
        cm_impulse_axis *axis = &row->normals[i];
        if (axis->mass == 0.0) {
            continue;
        }
        double j = wanted(axis, a, b, 0.0);
        j = j > 0.0 ? j : 0.0;
        if (j != axis->impulse) {
            double by = magnitude(j - axis->impulse);
            most = by > most * axis->mass ? by / axis->mass : most;
            add(axis, a, b, j);
        }
    }
    return most;
}

static bool solve_all(const cm_scratch *scratch, const cm_impulse *impulse, uint32_t count)
{
    bool any = true;
    for (uint32_t round = 0; any && round < ROUNDS; round++) {
        any = false;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t i = (round & 1u) != 0 ? count - 1 - k : k;
            cm_impulse_row *row = &impulse->rows[i];
            if (row->forced && solve(impulse, &scratch->manifolds[i], row) > row->still) {
                any = true;
            }
        }
    }
    return !any;
}

void cm_impulse_act(cm_impulse *impulse, uint32_t bodies)
{
    for (uint32_t i = 0; i < bodies; i++) {
        cm_impulse_body *body = &impulse->bodies[i];
        if (body->forced) {
            body->side.v = cm_d3_add(body->side.v, body->dv);
            body->side.w = cm_d3_add(body->side.w, body->dw);
        }
    }
}

static void add_report(const cm_impulse_axis *axis, cm_impulse_body *a, cm_impulse_body *b)
{
    double j = axis->impulse;
    a->push = cm_d3_mad(a->push, -j, axis->along);
    b->push = cm_d3_mad(b->push, j, axis->along);
    a->turn = cm_d3_mad(a->turn, -j, axis->turn_a);
    b->turn = cm_d3_mad(b->turn, j, axis->turn_b);
}

static void report(const cm_impulse *impulse, cm_manifold *m, const cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    bool reports = a->reports || b->reports;
    for (uint32_t i = 0; i < m->point_count; i++) {
        m->impulse += (float)row->normals[i].impulse;
        if (reports) {
            add_report(&row->normals[i], a, b);
        }
    }
    for (uint32_t k = 0; reports && row->has_friction && k < 3; k++) {
        add_report(&row->tangents[k], a, b);
    }
}

// The impulses of the step before, to begin with.
static void begin(const cm_impulse *impulse, const cm_manifold *m,
                  const cm_impulse_contact *contact, cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    for (uint32_t i = 0; i < m->point_count; i++) {
        push(&row->normals[i], a, b, row->normals[i].impulse);
    }
    if (row->has_friction) {
        carom_dvec3 f = cm_d3_from(contact->friction_impulse);
        add(&row->tangents[0], a, b, cm_d3_dot(f, row->tangents[0].along));
        add(&row->tangents[1], a, b, cm_d3_dot(f, row->tangents[1].along));
        add(&row->tangents[2], a, b,
            row->tangents[2].mass > 0.0 ? (double)contact->twist_impulse : 0.0);
    }
}

bool cm_impulse_solve_contacts(uint32_t model, const cm_impulse_contact *contacts,
                               const cm_scratch *scratch, cm_impulse *impulse, uint32_t count,
                               uint32_t bodies)
{
    for (uint32_t i = 0; i < count; i++) {
        if (impulse->rows[i].forced) {
            ask(model, impulse, &scratch->manifolds[i], &impulse->rows[i]);
        }
    }
    cm_impulse_act(impulse, bodies);
    for (uint32_t i = 0; i < count; i++) {
        if (impulse->rows[i].forced && impulse->rows[i].has_friction) {
            choose_friction(impulse, &scratch->manifolds[i], &impulse->rows[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (impulse->rows[i].forced && impulse->rows[i].loaded) {
            begin(impulse, &scratch->manifolds[i], &contacts[i], &impulse->rows[i]);
        }
    }
    bool settled = solve_all(scratch, impulse, count);
    for (uint32_t i = 0; i < count; i++) {
        if (impulse->rows[i].forced) {
            report(impulse, &scratch->manifolds[i], &impulse->rows[i]);
        }
    }
    return settled;
}

// Overlap that is left to what does not rebound goes by a fifth a step, down to what keeps contact.
void cm_impulse_separate(const cm_impulse *impulse, const cm_manifold *m, const cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    double kept = CM_IMPULSE_KEPT * row->size, sum = 0.0, count = 0.0;
    carom_dvec3 on_a = {0}, on_b = {0};
    for (uint32_t i = 0; i < m->point_count; i++) {
        carom_dvec3 r_a = cm_d3_from(m->points[i].anchor_a);
        carom_dvec3 r_b = cm_d3_from(m->points[i].anchor_b);
        carom_dvec3 moved = cm_d3_sub(cm_d3_add(b->shift, cm_d3_cross(b->twist, r_b)),
                                      cm_d3_add(a->shift, cm_d3_cross(a->twist, r_a)));
        double depth = -(double)m->points[i].separation - cm_d3_dot(moved, row->normal);
        if (depth > kept) {
            on_a = cm_d3_add(on_a, r_a);
            on_b = cm_d3_add(on_b, r_b);
            sum += depth - kept;
            count += 1.0;
        }
    }
    if (count == 0.0) {
        return;
    }
    cm_impulse_axis axis;
    carom_dvec3 n = row->normal, turn_a = cm_d3_cross(cm_d3_scale(1.0 / count, on_a), n);
    make_axis(a, b, n, turn_a, cm_d3_cross(cm_d3_scale(1.0 / count, on_b), n), &axis);
    double j = SEPARATED * sum / count * axis.mass;
    a->shift = cm_d3_mad(a->shift, -j, times(a->side.inverse_mass, n));
    b->shift = cm_d3_mad(b->shift, j, times(b->side.inverse_mass, n));
    if (a->dynamic) {
        a->twist = cm_d3_mad(a->twist, -j, axis.spin_a);
    }
    if (b->dynamic) {
        b->twist = cm_d3_mad(b->twist, j, axis.spin_b);
    }
}
