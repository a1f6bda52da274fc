// Contacts of the soft-step solver.
//
// Anchors stay as they were at the start of the tick but turn with their bodies; the separation
// follows from the bodies' motion since then. A gap lets bodies approach to the surface and no
// further; an overlap is pushed out by a soft constraint, whose push the relax pass takes out of
// the velocity again. Friction is Coulomb's, in both tangents at once, clamped to a circle.
// Typical: 3,500 contacts of 1 to 4 points, two passes a substep: nearly all of the solver's time.
#include "shared/sim/solve/soft.h"

#define CONTACT_HERTZ         30.0f
#define CONTACT_DAMPING_RATIO 10.0f
#define PUSH_SPEED            3.0f     // m/s, the most that an overlap is pushed out at
#define RESTITUTION_THRESHOLD 1.0f     // m/s
#define REST_OVERLAP          0.00025f // m; what rests is pushed out to here, so that it stays in touch

// A spring's stiffness and damping as factors of a velocity constraint (E. Catto, "Soft
// Constraints", GDC 2011).
static cm_softness make_soft(float hertz, float damping_ratio, float h)
{
    float omega = 2.0f * 3.14159265f * hertz;
    float a1 = 2.0f * damping_ratio + h * omega, a2 = h * omega * a1, a3 = 1.0f / (1.0f + a2);
    return (cm_softness){omega / a1, a2 * a3, a3};
}

// One body's share of the tangents' 2x2 effective mass.
static inline void add_tangents(const cm_soft_body *body, carom_vec3 r, const cm_soft_contact *c,
                                float *xx, float *xy, float *yy)
{
    carom_vec3 x = cm_cross(r, c->t1), y = cm_cross(r, c->t2);
    carom_vec3 ix = cm_sym3_mul(&body->inverse_inertia, x);
    *xx += body->inverse_mass + cm_dot(x, ix);
    *xy += cm_dot(y, ix);
    *yy += body->inverse_mass + cm_dot(y, cm_sym3_mul(&body->inverse_inertia, y));
}

// Both bodies of a contact while it is solved: in registers, not in their rows.
typedef struct working_pair {
    carom_vec3 va, wa, vb, wb;
    float ma, mb;
    cm_sym3 ia, ib;
} working_pair;

static inline working_pair load_pair(const cm_soft_body *a, const cm_soft_body *b)
{
    return (working_pair){a->v,
                          a->w,
                          b->v,
                          b->w,
                          a->inverse_mass,
                          b->inverse_mass,
                          a->inverse_inertia,
                          b->inverse_inertia};
}

// What cannot be pushed keeps its row: zero times an infinite impulse is no number.
static inline void store_pair(const working_pair *w, cm_soft_body *a, cm_soft_body *b, bool fixed)
{
    if (!fixed) {
        a->v = w->va;
        a->w = w->wa;
    }
    b->v = w->vb;
    b->w = w->wb;
}

// Here and below `fixed` is a constant at every call: a cannot be pushed, its point moves steadily.
static inline carom_vec3 relative_velocity(const working_pair *w, const cm_soft_point *p,
                                           bool fixed)
{
    carom_vec3 a = fixed ? p->surface : cm_add(w->va, cm_cross(w->wa, p->ra));
    return cm_sub(cm_add(w->vb, cm_cross(w->wb, p->rb)), a);
}

static inline void apply(working_pair *w, const cm_soft_point *p, carom_vec3 impulse, bool fixed)
{
    if (!fixed) {
        w->va = cm_mul_add(w->va, -w->ma, impulse);
        w->wa = cm_sub(w->wa, cm_sym3_mul(&w->ia, cm_cross(p->ra, impulse)));
    }
    w->vb = cm_mul_add(w->vb, w->mb, impulse);
    w->wb = cm_add(w->wb, cm_sym3_mul(&w->ib, cm_cross(p->rb, impulse)));
}

static void prepare_point(const cm_soft_contact *c, const cm_soft_body *a, const cm_soft_body *b,
                          const cm_manifold_point *from, const cm_contact *warm, uint32_t k,
                          cm_soft_point *p)
{
    p->ra = c->flipped ? from->anchor_b : from->anchor_a;
    p->rb = c->flipped ? from->anchor_a : from->anchor_b;
    p->surface = cm_add(a->v, cm_cross(a->w, p->ra));
    p->separation = from->separation + REST_OVERLAP;
    p->turn_a = cm_cross(p->ra, c->normal);
    p->turn_b = cm_cross(p->rb, c->normal);
    p->spin_a = cm_sym3_mul(&a->inverse_inertia, p->turn_a);
    p->spin_b = cm_sym3_mul(&b->inverse_inertia, p->turn_b);
    float n = a->inverse_mass + b->inverse_mass + cm_dot(p->turn_a, p->spin_a) +
              cm_dot(p->turn_b, p->spin_b);
    p->normal_mass = n > 0.0f ? 1.0f / n : 0.0f;
    float xx = 0.0f, xy = 0.0f, yy = 0.0f;
    add_tangents(b, p->rb, c, &xx, &xy, &yy);
    if (a->inverse_mass > 0.0f) {
        add_tangents(a, p->ra, c, &xx, &xy, &yy);
    }
    float middle = 0.5f * (xx + yy), difference = 0.5f * (xx - yy);
    float largest = middle + cm_sqrt(difference * difference + xy * xy);
    p->tangent_mass = largest > 0.0f ? 1.0f / largest : 0.0f;
    p->normal_impulse = warm->normal_impulse[k];
    p->tangent_impulse[0] = warm->tangent_impulse[2 * k];
    p->tangent_impulse[1] = warm->tangent_impulse[2 * k + 1];
    p->max_impulse = 0.0f;
    p->total_impulse = 0.0f;
    carom_vec3 vb = cm_add(b->v, cm_cross(b->w, p->rb));
    p->approach = cm_dot(cm_sub(vb, p->surface), c->normal);
}

static void prepare_contact(const carom_world *world, const cm_scratch *scratch,
                            const cm_soft *soft, uint32_t row, cm_softness softness,
                            cm_soft_contact *c)
{
    const cm_manifold *m = &scratch->manifolds[row];
    const cm_contact *warm = cm_contacts(world) + row;
    c->flipped = soft->bodies[m->body_b].inverse_mass == 0.0f;
    c->body_a = c->flipped ? m->body_b : m->body_a;
    c->body_b = c->flipped ? m->body_a : m->body_b;
    c->row = row;
    c->point_count = m->point_count;
    c->normal = m->normal;
    c->t1 = warm->tangent;
    c->t2 = cm_cross(c->normal, c->t1);
    if (c->flipped) {
        c->normal = cm_neg(c->normal);
        c->t1 = cm_neg(c->t1);
        c->t2 = cm_neg(c->t2);
    }
    c->friction = m->friction;
    c->restitution = m->restitution;
    c->softness = softness;
    for (uint32_t k = 0; k < m->point_count; k++) {
        prepare_point(c, &soft->bodies[c->body_a], &soft->bodies[c->body_b], &m->points[k], warm, k,
                      &c->points[k]);
    }
}

void cm_soft_prepare_contacts(const carom_world *world, const cm_scratch *scratch, cm_soft *soft)
{
    float hertz = cm_min(CONTACT_HERTZ, 0.25f / soft->h);
    cm_softness moving = make_soft(hertz, CONTACT_DAMPING_RATIO, soft->h);
    cm_softness fixed = make_soft(2.0f * hertz, CONTACT_DAMPING_RATIO, soft->h);
    soft->contact_count = 0;
    for (uint32_t round = 0; round < 2; round++) {
        soft->moving_count = soft->contact_count;
        for (uint32_t i = 0; i < world->state.contact_count; i++) {
            const cm_manifold *m = &scratch->manifolds[i];
            bool against_fixed = soft->bodies[m->body_a].inverse_mass == 0.0f ||
                                 soft->bodies[m->body_b].inverse_mass == 0.0f;
            if (against_fixed == (round == 1)) {
                prepare_contact(world, scratch, soft, i, round == 1 ? fixed : moving,
                                &soft->contacts[soft->contact_count++]);
            }
        }
    }
}

static inline carom_vec3 tangent_impulse(const cm_soft_contact *c, float x, float y)
{
    return cm_add(cm_scale(x, c->t1), cm_scale(y, c->t2));
}

static inline void warm_start(cm_soft_contact *c, cm_soft_body *bodies, bool fixed)
{
    cm_soft_body *a = &bodies[c->body_a], *b = &bodies[c->body_b];
    working_pair w = load_pair(a, b);
    for (uint32_t k = 0; k < c->point_count; k++) {
        const cm_soft_point *p = &c->points[k];
        carom_vec3 impulse =
            cm_add(cm_scale(p->normal_impulse, c->normal),
                   tangent_impulse(c, p->tangent_impulse[0], p->tangent_impulse[1]));
        apply(&w, p, impulse, fixed);
    }
    store_pair(&w, a, b, fixed);
}

void cm_soft_warm_start(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->moving_count; i++) {
        warm_start(&soft->contacts[i], soft->bodies, false);
    }
    for (uint32_t i = soft->moving_count; i < soft->contact_count; i++) {
        warm_start(&soft->contacts[i], soft->bodies, true);
    }
}

// How far an anchor has moved with its body since the start of the tick.
static inline carom_vec3 moved(const cm_soft_body *body, carom_vec3 r)
{
    return cm_add(body->shift, cm_mat3_mul(body->turning, r));
}

static inline void solve_friction(const cm_soft_contact *c, working_pair *w, cm_soft_point *p,
                                  bool fixed)
{
    carom_vec3 v = relative_velocity(w, p, fixed);
    float vx = cm_dot(v, c->t1), vy = cm_dot(v, c->t2);
    float x = p->tangent_impulse[0] - p->tangent_mass * vx;
    float y = p->tangent_impulse[1] - p->tangent_mass * vy;
    float limit = c->friction * p->normal_impulse, squared = x * x + y * y;
    if (squared > limit * limit) {
        float s = limit / cm_sqrt(squared);
        x *= s;
        y *= s;
    }
    float dx = x - p->tangent_impulse[0], dy = y - p->tangent_impulse[1];
    p->tangent_impulse[0] = x;
    p->tangent_impulse[1] = y;
    apply(w, p, tangent_impulse(c, dx, dy), fixed);
}

static inline void solve_normal(const cm_soft_contact *c, working_pair *w, cm_soft_point *p,
                                float s, float inverse_h, bool relax, bool fixed)
{
    float bias = 0.0f, mass_scale = 1.0f, impulse_scale = 0.0f;
    if (s > 0.0f) {
        bias = s * inverse_h;
    } else if (!relax) {
        bias = cm_max(c->softness.bias_rate * s, -PUSH_SPEED);
        mass_scale = c->softness.mass_scale;
        impulse_scale = c->softness.impulse_scale;
    }
    float vn =
        cm_dot(cm_sub(w->vb, fixed ? p->surface : w->va), c->normal) + cm_dot(w->wb, p->turn_b);
    vn = fixed ? vn : vn - cm_dot(w->wa, p->turn_a);
    float impulse = p->normal_impulse - p->normal_mass * mass_scale * (vn + bias) -
                    impulse_scale * p->normal_impulse;
    impulse = cm_max(impulse, 0.0f);
    float change = impulse - p->normal_impulse;
    p->normal_impulse = impulse;
    p->max_impulse = cm_max(p->max_impulse, impulse);
    if (!fixed) {
        w->va = cm_mul_add(w->va, -w->ma * change, c->normal);
        w->wa = cm_mul_add(w->wa, -change, p->spin_a);
    }
    w->vb = cm_mul_add(w->vb, w->mb * change, c->normal);
    w->wb = cm_mul_add(w->wb, change, p->spin_b);
}

static inline void solve_contact(cm_soft_contact *c, cm_soft_body *bodies, float inverse_h,
                                 bool relax, bool fixed)
{
    cm_soft_body *a = &bodies[c->body_a], *b = &bodies[c->body_b];
    working_pair w = load_pair(a, b);
    for (uint32_t k = 0; k < c->point_count; k++) {
        solve_friction(c, &w, &c->points[k], fixed);
    }
    for (uint32_t k = 0; k < c->point_count; k++) {
        cm_soft_point *p = &c->points[k];
        carom_vec3 drift = moved(b, p->rb);
        if (!fixed || a->moving) {
            drift = cm_sub(drift, moved(a, p->ra));
        }
        float separation = p->separation + cm_dot(drift, c->normal);
        solve_normal(c, &w, p, separation, inverse_h, relax, fixed);
    }
    store_pair(&w, a, b, fixed);
}

void cm_soft_solve_contacts(cm_soft *soft, bool relax)
{
    float inverse_h = 1.0f / soft->h;
    for (uint32_t i = 0; i < soft->moving_count; i++) {
        solve_contact(&soft->contacts[i], soft->bodies, inverse_h, relax, false);
    }
    for (uint32_t i = soft->moving_count; i < soft->contact_count; i++) {
        solve_contact(&soft->contacts[i], soft->bodies, inverse_h, relax, true);
    }
}

void cm_soft_sum_impulses(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->contact_count; i++) {
        cm_soft_contact *c = &soft->contacts[i];
        for (uint32_t k = 0; k < c->point_count; k++) {
            c->points[k].total_impulse += c->points[k].normal_impulse;
        }
    }
}

static inline void bounce(cm_soft_contact *c, cm_soft_body *bodies, bool fixed)
{
    cm_soft_body *a = &bodies[c->body_a], *b = &bodies[c->body_b];
    working_pair w = load_pair(a, b);
    for (uint32_t k = 0; k < c->point_count; k++) {
        cm_soft_point *p = &c->points[k];
        if (p->approach > -RESTITUTION_THRESHOLD || !(p->max_impulse > 0.0f)) {
            continue;
        }
        float vn = cm_dot(relative_velocity(&w, p, fixed), c->normal);
        float impulse = p->normal_impulse - p->normal_mass * (vn + c->restitution * p->approach);
        impulse = cm_max(impulse, 0.0f);
        float change = impulse - p->normal_impulse;
        p->normal_impulse = impulse;
        p->total_impulse += change;
        apply(&w, p, cm_scale(change, c->normal), fixed);
    }
    store_pair(&w, a, b, fixed);
}

void cm_soft_restitution(cm_soft *soft)
{
    for (uint32_t i = 0; i < soft->contact_count; i++) {
        cm_soft_contact *c = &soft->contacts[i];
        if (c->restitution > 0.0f) {
            bounce(c, soft->bodies, i >= soft->moving_count);
        }
    }
}

// An impulse that is not finite comes from a body that is put to rest: it must not return as warm
// start. A tiny one would become denormal.
static float stored(float impulse)
{
    return cm_is_finite(impulse) && cm_abs(impulse) >= CM_SOFT_TINY ? impulse : 0.0f;
}

void cm_soft_store_contacts(carom_world *world, cm_scratch *scratch, const cm_soft *soft)
{
    cm_contact *contacts = cm_contacts(world);
    for (uint32_t i = 0; i < soft->contact_count; i++) {
        const cm_soft_contact *c = &soft->contacts[i];
        cm_contact *contact = &contacts[c->row];
        float sum = 0.0f;
        for (uint32_t k = 0; k < c->point_count; k++) {
            const cm_soft_point *p = &c->points[k];
            contact->normal_impulse[k] = stored(p->normal_impulse);
            contact->tangent_impulse[2 * k] = stored(p->tangent_impulse[0]);
            contact->tangent_impulse[2 * k + 1] = stored(p->tangent_impulse[1]);
            sum += p->total_impulse;
        }
        scratch->manifolds[c->row].impulse = stored(sum);
    }
}
