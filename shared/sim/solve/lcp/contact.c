// Contact rows of the lcp solver: a normal row for each point, then its tangents (JP2003526160A).
//
// The normal points from body a to body b, so that b may move along +n. A gap may close exactly in
// the step; an overlap opens by gamma of it. Friction acts where a point touches or will within the
// step. Tangent 1 is the direction in which b slides, above 1e-3 m/s; else the last step's; else a
// function of the normal alone. Where a shape's mode names an axis, tangent 1 is that axis.
//
// A tyre on a body that turns on a hinge or a steering hinge rolls across that joint's axis; a
// cylinder or capsule whose contact axis is its own y rolls across it; any other shape rolls along
// its contact axis. The slip is the shape's: shared by the points that touch, so that it does not
// depend on how many they are. Typical: 14 points, 42 rows.
#include "shared/sim/collide/collide.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/solve/lcp/lcp.h"

#include <string.h>

#define SLIDING    1.0e-3 // m/s
#define FULL_TRAIL 1.0    // m/s: above it the trail is whole

// A contact with all its points share.
typedef struct touch {
    const cm_manifold *manifold;
    const cm_lcp_contact *old; // what last step left; NULL: nothing
    const cm_shape *mode;      // the shape whose contact mode counts
    uint32_t index, touching;
    cm_d3 normal, axis; // axis: of 1D and tyre, in the world
    cm_d3 surface;      // velocity of b's surface less that of a's, beside the bodies' own
    double epsilon, gamma, weight;
    double scale;       // of first estimates of normal forces
    double slip, trail; // of a tyre: m/s for a newton now; m, along `axis`
    bool has_axis;
} touch;

static bool is_dynamic(const cm_lcp_step *step, uint32_t body)
{
    return step->bodies[body].dynamic != 0;
}

// Two of a kind: the lower slot's. No friction comes before a direction, a direction before none.
static const cm_shape *mode_of(const cm_shape *a, const cm_shape *b)
{
    static const uint32_t rank[] = {[CAROM_CONTACT_2D] = 0,
                                    [CAROM_CONTACT_1D] = 1,
                                    [CAROM_CONTACT_NONE] = 3,
                                    [CAROM_CONTACT_TYRE] = 2};
    return rank[b->contact_mode] > rank[a->contact_mode] ||
                   (rank[b->contact_mode] == rank[a->contact_mode] &&
                    a->contact_max_force == 0.0f && b->contact_max_force > 0.0f)
               ? b
               : a;
}

static cm_d3 in_world(const cm_lcp_body *body, const cm_shape *shape, carom_vec3 local)
{
    cm_dquat q = cm_dquat_unit(cm_dquat_mul(body->orientation, cm_dquat_from(shape->orientation)));
    cm_dmat m = cm_lcp_axes(q);
    return cm_dmat_mul(&m, cm_d3_from(local));
}

static bool is_round_about_y(const cm_shape *shape)
{
    carom_vec3 axis = shape->contact_axis;
    bool round = shape->type == CAROM_SHAPE_CYLINDER || shape->type == CAROM_SHAPE_CAPSULE;
    return round && axis.x == 0.0f && axis.z == 0.0f && axis.y != 0.0f;
}

// The direction of tangent 1 that the mode names, laid into the plane of the contact.
static void find_axis(const cm_lcp_step *step, touch *t)
{
    const cm_shape *shape = t->mode;
    const cm_lcp_body *body = &step->bodies[shape->body];
    uint32_t axle = step->axles[shape->body];
    bool tyre = shape->contact_mode == CAROM_CONTACT_TYRE;
    t->has_axis = false;
    if (!tyre && shape->contact_mode != CAROM_CONTACT_1D) {
        return;
    }
    cm_d3 axis = in_world(body, shape, shape->contact_axis);
    if (tyre && axle != CM_NONE) {
        cm_dquat frame = cm_dquat_from(cm_joints(step->world)[axle].frame_b);
        cm_dmat m = cm_lcp_axes(cm_dquat_unit(cm_dquat_mul(body->orientation, frame)));
        axis = cm_d3_cross(m.x, t->normal);
    } else if (tyre && is_round_about_y(shape)) {
        axis = cm_d3_cross(axis, t->normal);
    }
    axis = cm_d3_mad(axis, -cm_d3_dot(axis, t->normal), t->normal);
    double length = cm_d3_length(axis);
    if (length > 1.0e-6) {
        t->axis = cm_d3_scale(1.0 / length, axis);
        t->has_axis = true;
    }
}

static double weight_of(const cm_lcp_step *step, uint32_t slot)
{
    const cm_body *body = &cm_bodies(step->world)[slot];
    double g = cm_d3_length(cm_d3_from(step->world->state.gravity));
    return is_dynamic(step, slot) ? (double)body->mass * g : __builtin_inf();
}

// A number that one body alone has set counts; of two the softer. Negative: neither has.
static float of_pair(float a, float b, bool larger)
{
    if (a < 0.0f || b < 0.0f) {
        return a < 0.0f ? b : a;
    }
    return (a > b) == larger ? a : b;
}

// Index of this point in the last step.
static uint32_t old_point(const cm_lcp_step *step, const touch *t, uint32_t k)
{
    uint8_t point = step->scratch->matches[t->index].point[k];
    return t->old != NULL && point != CM_NO_POINT ? point : CM_NONE;
}

// Normal forces to begin with are last step's, for points without one a share of the weight; all
// scaled so that the contact as a whole has no more friction than its last force allows.
static double scale_of(const cm_lcp_step *step, const touch *t)
{
    double carried = 0.0, sum = 0.0;
    for (uint32_t k = 0; t->old != NULL && k < CM_MANIFOLD_MAX; k++) {
        carried += (double)t->old->normal_force[k];
    }
    for (uint32_t k = 0; k < t->manifold->point_count; k++) {
        uint32_t point = old_point(step, t, k);
        double force = point != CM_NONE ? (double)t->old->normal_force[point] : 0.0;
        bool near = t->manifold->points[k].separation < CM_LINEAR_SLOP;
        sum += force > 0.0 ? force : (near ? t->weight : 0.0);
    }
    return carried > 0.0 && sum > carried ? carried / sum : 1.0;
}

// Speed of a tyre's hub over what it rolls on, along its rolling direction.
static double hub_speed(const cm_lcp_step *step, const touch *t)
{
    const cm_manifold_point *p = &t->manifold->points[0];
    bool is_b = t->mode->body == t->manifold->body_b;
    const cm_lcp_body *hub = &step->bodies[t->mode->body];
    const cm_lcp_body *road = &step->bodies[is_b ? t->manifold->body_a : t->manifold->body_b];
    cm_d3 at = cm_d3_from(is_b ? p->anchor_a : p->anchor_b);
    cm_d3 v = cm_d3_add(road->v, cm_d3_cross(road->w, at));
    // The surfaces' own velocities: a roller bench is a road that moves under a hub that stands.
    v = cm_d3_mad(v, is_b ? -1.0 : 1.0, t->surface);
    return cm_d3_dot(cm_d3_sub(hub->v, v), t->axis);
}

// Slip and trail of a tyre, which depend on its speed.
static void roll(const cm_lcp_step *step, touch *t)
{
    t->slip = (double)t->mode->contact_slip;
    if (t->mode->contact_slip_by_speed == 0.0f && t->mode->contact_trail == 0.0f) {
        return;
    }
    double u = t->has_axis ? hub_speed(step, t) : 0.0, speed = cm_d_abs(u);
    t->slip += (double)t->mode->contact_slip_by_speed * speed;
    t->trail = (double)t->mode->contact_trail * (speed > FULL_TRAIL ? u / speed : u / FULL_TRAIL);
}

static bool begin(const cm_lcp_step *step, uint32_t index, const cm_lcp_contact *old, touch *t)
{
    const cm_manifold *m = &step->scratch->manifolds[index];
    const cm_contact *contact = &cm_contacts(step->world)[index];
    const cm_world_state *state = &step->world->state;
    const cm_shape *a = &cm_shapes(step->world)[contact->shape_a];
    const cm_shape *b = &cm_shapes(step->world)[contact->shape_b];
    const cm_body *bodies = cm_bodies(step->world);
    *t = (touch){.manifold = m, .old = old, .mode = mode_of(a, b), .index = index};
    t->normal = cm_d3_from(m->normal);
    double length = cm_d3_length(t->normal);
    if (!(length > 0.5) || (!is_dynamic(step, a->body) && !is_dynamic(step, b->body))) {
        return false;
    }
    t->normal = cm_d3_scale(1.0 / length, t->normal);
    t->surface = cm_d3_sub(in_world(&step->bodies[b->body], b, b->surface_velocity),
                           in_world(&step->bodies[a->body], a, a->surface_velocity));
    t->epsilon = cm_lcp_choose(of_pair(bodies[a->body].epsilon, bodies[b->body].epsilon, true),
                               state->epsilon);
    t->gamma =
        cm_lcp_choose(of_pair(bodies[a->body].gamma, bodies[b->body].gamma, false), state->gamma);
    double weight_a = weight_of(step, a->body), weight_b = weight_of(step, b->body);
    t->weight = (weight_a < weight_b ? weight_a : weight_b) / (double)m->point_count;
    for (uint32_t k = 0; k < m->point_count; k++) {
        t->touching += m->points[k].separation < CM_LINEAR_SLOP;
    }
    t->scale = scale_of(step, t);
    find_axis(step, t);
    if (t->mode->contact_mode == CAROM_CONTACT_TYRE) {
        roll(step, t);
    }
    return true;
}

// A row along d at a point; NULL where it cannot be.
static cm_lcp_row *point_row(cm_lcp_step *step, const touch *t, uint32_t k, uint32_t which, cm_d3 d)
{
    const cm_manifold_point *p = &t->manifold->points[k];
    cm_d3 ra = cm_d3_from(p->anchor_a), rb = cm_d3_from(p->anchor_b);
    if (which == 2 && t->trail != 0.0) {
        ra = cm_d3_mad(ra, -t->trail, t->axis);
        rb = cm_d3_mad(rb, -t->trail, t->axis);
    }
    cm_lcp_row *row = cm_lcp_row_add(step, CM_LCP_OF_CONTACT, t->index, 3 * k + which);
    if (row == NULL) {
        return NULL;
    }
    cm_lcp_row_side(step, row, t->manifold->body_a, cm_d3_scale(-1.0, d), cm_d3_cross(d, ra));
    cm_lcp_row_side(step, row, t->manifold->body_b, d, cm_d3_cross(rb, d));
    row->diagonal = t->epsilon;
    return cm_lcp_row_keep(step, row) ? row : NULL;
}

static cm_d3 slide_velocity(const cm_lcp_step *step, const touch *t, uint32_t k)
{
    const cm_manifold_point *p = &t->manifold->points[k];
    const cm_lcp_body *a = &step->bodies[t->manifold->body_a];
    const cm_lcp_body *b = &step->bodies[t->manifold->body_b];
    cm_d3 va = cm_d3_add(a->v, cm_d3_cross(a->w, cm_d3_from(p->anchor_a)));
    cm_d3 vb = cm_d3_add(b->v, cm_d3_cross(b->w, cm_d3_from(p->anchor_b)));
    cm_d3 v = cm_d3_add(cm_d3_sub(vb, va), t->surface);
    return cm_d3_mad(v, -cm_d3_dot(v, t->normal), t->normal);
}

// Tangent 1; true where it is where it was, so that last step's forces are a start. `sliding`: m/s
// along it, if friction acts in both directions; else 0.
static bool find_tangent(const cm_lcp_step *step, const touch *t, uint32_t k, uint32_t point,
                         cm_d3 *tangent, double *sliding)
{
    *sliding = 0.0;
    cm_d3 kept = cm_d3_of(0.0, 0.0, 0.0), across, v = slide_velocity(step, t, k);
    if (point != CM_NONE) {
        kept = cm_d3_from(t->old->tangent[point]);
        kept = cm_d3_mad(kept, -cm_d3_dot(kept, t->normal), t->normal);
        double length = cm_d3_length(kept);
        kept = cm_d3_scale(length > 0.5 ? 1.0 / length : 0.0, kept);
    }
    double speed = cm_d3_length(v);
    if (t->has_axis) {
        *tangent = t->axis;
    } else if (speed > SLIDING) {
        *tangent = cm_d3_scale(1.0 / speed, v);
        *sliding = speed;
    } else if (cm_d3_dot(kept, kept) > 0.5) {
        *tangent = kept;
        return true;
    } else {
        cm_d3_basis(t->normal, tangent, &across);
        return false;
    }
    return cm_d3_dot(kept, *tangent) > 0.99;
}

// Coulomb's friction of what slides is along its slip: across it, a slip v2 beside v is met by
// mu N v2 / v, a row that slips v / mu N for a newton. As a row that sticks it would take mu N on
// top, and keep the sliding in the direction that it began in, whatever pulls at it.
static void add_tangent(cm_lcp_step *step, const touch *t, uint32_t k, uint32_t which, cm_d3 d,
                        uint32_t normal, double estimate, uint32_t point, double sliding)
{
    const cm_world_state *state = &step->world->state;
    cm_lcp_row *row = point_row(step, t, k, which, d);
    if (row == NULL) {
        return;
    }
    bool tyre = t->mode->contact_mode == CAROM_CONTACT_TYRE && which == 2;
    if (tyre && t->slip > 0.0) {
        double share = (double)(t->touching > 0 ? t->touching : 1u);
        row->diagonal += share * t->slip / step->h;
    }
    cm_lcp_row_want(step, row, -cm_d3_dot(t->surface, d), 0.0, 0.0);
    double own = (double)t->mode->contact_max_force;
    if (state->friction_model == CAROM_FRICTION_BOX_CONSTANT) {
        row->upper = own > 0.0 ? own : (double)state->max_friction;
        row->lower = -row->upper;
    } else {
        row->normal = normal;
        row->friction = (double)t->manifold->friction;
        row->most = own > 0.0 ? own : row->most;
        row->upper = row->friction * estimate < row->most ? row->friction * estimate : row->most;
        row->lower = -row->upper;
        if (which == 2 && sliding > 0.0 && row->upper > 0.0) {
            row->diagonal += sliding / (row->upper * step->h);
        }
    }
    if (point != CM_NONE) {
        row->lambda = (double)t->old->friction_force[point][which - 1];
        row->set = t->old->set[point][which];
    } else if (which == 1) {
        row->set = CM_LCP_LOWER; // it slides: friction is against it
    }
}

static void add_point(cm_lcp_step *step, const touch *t, uint32_t k)
{
    double gap = (double)t->manifold->points[k].separation;
    uint32_t point = old_point(step, t, k), normal = step->row_count;
    cm_lcp_contact *contact = &step->contacts[t->index];
    if (point != CM_NONE) {
        contact->tangent[k] = t->old->tangent[point];
    }
    cm_lcp_row *row = point_row(step, t, k, 0, t->normal);
    if (row == NULL) {
        return;
    }
    double closing = row->b; // J v, without constraint forces
    if (gap > (double)CM_LINEAR_SLOP && gap + 2.0 * step->h * closing > 0.0) {
        step->row_count--;
        return;
    }
    cm_lcp_row_want(step, row, 0.0, gap, gap > 0.0 ? 1.0 : t->gamma);
    row->lower = 0.0;
    row->lambda = point != CM_NONE ? (double)t->old->normal_force[point] : 0.0;
    row->set = point != CM_NONE ? t->old->set[point][0] : CM_LCP_FREE;
    double force = row->lambda;
    bool touches = gap + step->h * closing <= 0.0 || force > 0.0;
    if (t->mode->contact_mode == CAROM_CONTACT_NONE || !touches) {
        return;
    }
    cm_d3 tangent;
    double sliding;
    bool same = find_tangent(step, t, k, point, &tangent, &sliding);
    contact->tangent[k] = cm_d3_round(tangent);
    double estimate = t->scale * (force > 0.0 ? force : t->weight);
    add_tangent(step, t, k, 1, tangent, normal, estimate, same ? point : CM_NONE, sliding);
    if (t->mode->contact_mode != CAROM_CONTACT_1D) {
        cm_d3 across = cm_d3_cross(t->normal, tangent);
        add_tangent(step, t, k, 2, across, normal, estimate, same ? point : CM_NONE, sliding);
    }
}

void cm_lcp_add_contacts(cm_lcp_step *step)
{
    for (uint32_t i = 0; i < step->world->state.contact_count; i++) {
        const cm_manifold *m = &step->scratch->manifolds[i];
        uint32_t row = step->scratch->matches[i].row;
        const cm_lcp_contact *old = row != CM_NONE ? &step->old_contacts[row] : NULL;
        if (m->body_a == CM_NONE) {
            step->contacts[i] = *old; // kept as it is
            continue;
        }
        touch t;
        step->contacts[i] = (cm_lcp_contact){0};
        if (m->point_count == 0 || !begin(step, i, old, &t)) {
            continue;
        }
        for (uint32_t k = 0; k < m->point_count; k++) {
            add_point(step, &t, k);
        }
    }
}

// After the solve --------------------------------------------------------------------------------

static float stored(double x)
{
    float f = (float)x;
    return cm_is_finite(f) && cm_abs(f) >= 1.0e-30f ? f : 0.0f;
}

// Torque that a trailing side force adds about the anchor: the row's own lever tells.
static cm_d3 trailing(const cm_lcp_step *step, const cm_lcp_row *row, const cm_manifold *m,
                      cm_d3 force)
{
    const cm_contact *contact = &cm_contacts(step->world)[row->owner];
    const cm_shape *shapes = cm_shapes(step->world);
    bool trails = shapes[contact->shape_a].contact_trail > 0.0f ||
                  shapes[contact->shape_b].contact_trail > 0.0f;
    if (!trails || row->place % 3 != 2) {
        return cm_d3_of(0.0, 0.0, 0.0);
    }
    const cm_manifold_point *p = &m->points[row->place / 3];
    const cm_lcp_side *side = &row->side[row->sides - 1];
    bool of_b = side->body == m->body_b;
    cm_d3 torque = cm_d3_scale(of_b ? row->lambda : -row->lambda,
                               cm_d3_of(side->j[3], side->j[4], side->j[5]));
    return cm_d3_sub(torque, cm_d3_cross(cm_d3_from(of_b ? p->anchor_b : p->anchor_a), force));
}

// Adds the force and torque of the row on both bodies, about their centres of mass.
static void add_wrench(cm_lcp_step *step, const cm_lcp_row *row, const cm_manifold *m)
{
    const cm_manifold_point *p = &m->points[row->place / 3];
    const double *j = row->side[row->sides - 1].j;
    double sign = row->side[row->sides - 1].body == m->body_b ? row->lambda : -row->lambda;
    cm_d3 force = cm_d3_scale(sign, cm_d3_of(j[0], j[1], j[2]));
    cm_d3 more = trailing(step, row, m, force);
    cm_lcp_body *a = &step->bodies[m->body_a], *b = &step->bodies[m->body_b];
    b->contact_force = cm_d3_add(b->contact_force, force);
    b->contact_torque =
        cm_d3_add(b->contact_torque, cm_d3_add(cm_d3_cross(cm_d3_from(p->anchor_b), force), more));
    a->contact_force = cm_d3_sub(a->contact_force, force);
    a->contact_torque =
        cm_d3_sub(a->contact_torque, cm_d3_add(cm_d3_cross(cm_d3_from(p->anchor_a), force), more));
}

void cm_lcp_store_contacts(cm_lcp_step *step, uint32_t substep)
{
    cm_scratch *scratch = step->scratch;
    for (uint32_t i = 0; i < step->world->state.contact_count && substep == 0; i++) {
        scratch->manifolds[i].impulse = 0.0f;
    }
    for (uint32_t i = 0; i < step->row_count; i++) {
        const cm_lcp_row *row = &step->rows[i];
        if (row->kind != CM_LCP_OF_CONTACT) {
            continue;
        }
        cm_lcp_contact *contact = &step->contacts[row->owner];
        cm_manifold *m = &scratch->manifolds[row->owner];
        uint32_t k = row->place / 3u, which = row->place % 3u;
        contact->set[k][which] = row->set;
        if (which > 0) {
            contact->friction_force[k][which - 1] = stored(row->lambda);
        } else {
            contact->normal_force[k] = stored(row->lambda);
            m->impulse = stored((double)m->impulse + step->h * row->lambda);
        }
        add_wrench(step, row, m);
    }
}

// The stored contact stands for last step's in the next substep.
static void keep_forces(cm_lcp_step *step)
{
    static const uint8_t same[CM_MANIFOLD_MAX] = {0, 1, 2, 3};
    for (uint32_t i = 0; i < step->world->state.contact_count; i++) {
        cm_contact_match *match = &step->scratch->matches[i];
        if (match->row != CM_NONE) {
            step->old_contacts[match->row] = step->contacts[i];
            memcpy(match->point, same, sizeof same);
        }
    }
}

// Between two substeps: anchors turn with their bodies, gaps follow what has moved.
void cm_lcp_move_contacts(cm_lcp_step *step)
{
    const cm_motion *motions = cm_motions(step->world);
    for (uint32_t i = 0; i < step->world->state.contact_count; i++) {
        cm_manifold *m = &step->scratch->manifolds[i];
        if (m->body_a == CM_NONE) {
            continue;
        }
        const cm_lcp_body *a = &step->bodies[m->body_a], *b = &step->bodies[m->body_b];
        const cm_motion *to_a = &motions[m->body_a], *to_b = &motions[m->body_b];
        cm_dmat from_a = cm_lcp_axes(a->orientation), from_b = cm_lcp_axes(b->orientation);
        cm_dmat now_a = cm_lcp_axes(cm_dquat_unit(cm_dquat_from(to_a->orientation)));
        cm_dmat now_b = cm_lcp_axes(cm_dquat_unit(cm_dquat_from(to_b->orientation)));
        cm_d3 shift_a = cm_d3_sub(cm_d3_from(to_a->position), a->position);
        cm_d3 shift_b = cm_d3_sub(cm_d3_from(to_b->position), b->position);
        for (uint32_t k = 0; k < m->point_count; k++) {
            cm_manifold_point *p = &m->points[k];
            cm_d3 ra = cm_d3_from(p->anchor_a), rb = cm_d3_from(p->anchor_b);
            cm_d3 na = cm_dmat_mul(&now_a, cm_dmat_mul_transpose(&from_a, ra));
            cm_d3 nb = cm_dmat_mul(&now_b, cm_dmat_mul_transpose(&from_b, rb));
            cm_d3 moved = cm_d3_sub(cm_d3_add(shift_b, cm_d3_sub(nb, rb)),
                                    cm_d3_add(shift_a, cm_d3_sub(na, ra)));
            p->separation += (float)cm_d3_dot(moved, cm_d3_from(m->normal));
            p->anchor_a = cm_d3_round(na);
            p->anchor_b = cm_d3_round(nb);
        }
    }
    keep_forces(step);
}
