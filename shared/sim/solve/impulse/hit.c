// Hits: contacts that approach faster than forces press collide by the formulas of core.h, in
// rounds until none approaches. 256 rounds at most. Hits of a round come at the same time: of those
// of one body each parts at the speed at which it would part alone (I. Newton's law of restitution
// for all of them), so that no order of slots breaks the symmetry of what meets. Without
// restitution one comes after the other, in the order of slots: towers lean less by that.
//
// A hit acts on the velocities before the step's forces, whose share along its normal it takes away
// as well: contact.c where they push the bodies together, here where they pull them apart.
//
// The time of impact counts, if forces act. At the start of a step two bodies overlap by what
// they moved since they touched. With f the approach that one step's forces make, h the step and V
// the approach that is stored, the true one (of the parabola through the poses of three steps) is U
// = V + f/2; overlapping by d they touched at speed s, s^2 = U^2 - 2 f d/h, a time tau = 2 d/(U +
// s) ago. Restitution is that of what would have been stored at the touch, s - f/2; what forces
// have added since stays added; and the bodies are put where the parabola from the touch has the
// speed that they leave with, after tau + (1 + e) h/2. So a bounce rises to e^2 of the height
// whatever the overlap was. Without forces a hit changes velocities alone, as in the sources.
//
// Typical: 1 round; a blow through n balls in a row: n.
#include "shared/sim/solve/impulse/impulse.h"

#define GRAZES 1.0e-6  // of the relative speed: less along the normal is rounding
#define ALIKE  1.0e-12 // of an impulse: less is no change
#define STILL  1.0e-6  // of the fastest hit of the two bodies: less is no approach in later rounds

// The overlap, with the shifts of bodies beside their motion.
static double overlap_of(const cm_impulse_body *a, const cm_impulse_body *b,
                         const cm_impulse_row *row)
{
    carom_dvec3 moved_a = cm_d3_add(a->shift, cm_d3_cross(a->twist, row->on_a));
    carom_dvec3 moved_b = cm_d3_add(b->shift, cm_d3_cross(b->twist, row->on_b));
    return row->overlap - cm_d3_dot(cm_d3_sub(moved_b, moved_a), row->normal);
}

double cm_impulse_restitution(const cm_impulse *impulse, double approach, double of_pair)
{
    return impulse->threshold > 0.0 && approach < impulse->threshold ? 0.0 : of_pair;
}

cm_impulse_touch cm_impulse_find_touch(double depth, double force, double approach, double h)
{
    double most = approach * h, now = approach + 0.5 * force;
    cm_impulse_touch t;
    t.depth = depth < most ? (depth > 0.0 ? depth : 0.0) : most;
    double square = now * now - 2.0 * force * t.depth / h;
    t.speed = square > 0.0 ? __builtin_sqrt(square) : 0.0;
    t.late = now + t.speed > 0.0 ? 2.0 * t.depth / (now + t.speed) : 0.0;
    double stored = t.speed - 0.5 * force;
    t.lost = stored > 0.0 ? approach - stored : 0.0;
    return t;
}

double cm_impulse_shift(const cm_impulse_touch *touch, double force, double kept, double approach,
                        double leaves, double h)
{
    double rebound = leaves + touch->lost; // at the touch
    if (!(rebound > 0.0)) {
        double depth = touch->depth - kept;
        return depth > 0.0 ? depth : 0.0;
    }
    double e = rebound / (approach - touch->lost);
    double flight = touch->late + 0.5 * (1.0 + e) * h;
    double rise = 0.5 * flight * (e * touch->speed + leaves - 0.5 * force);
    return touch->depth + (rise > 0.0 ? rise : 0.0) - h * (leaves > 0.0 ? leaves : 0.0);
}

static void push(cm_impulse_body *a, cm_impulse_body *b, carom_dvec3 f)
{
    cm_impulse_push(&a->side, 1.0, f);
    cm_impulse_push(&b->side, -1.0, f);
    a->push = cm_d3_add(a->push, f);
    b->push = cm_d3_sub(b->push, f);
    a->turn = cm_d3_add(a->turn, cm_d3_cross(a->side.r, f));
    b->turn = cm_d3_sub(b->turn, cm_d3_cross(b->side.r, f));
}

static void move_by_change(cm_impulse_body *body, const cm_impulse_side *before, double time)
{
    body->shift = cm_d3_mad(body->shift, time, cm_d3_sub(body->side.v, before->v));
    body->twist = cm_d3_mad(body->twist, time, cm_d3_sub(body->side.w, before->w));
}

// One collision, as if no other came at the same time.
static void hit(uint32_t model, const cm_impulse *impulse, const cm_manifold *m,
                cm_impulse_row *row)
{
    carom_dvec3 v0 = row->v0;
    double approach = row->approach;
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    a->side.r = row->on_a;
    b->side.r = row->on_b;
    const cm_impulse_side before_a = a->side, before_b = b->side;
    double epsilon = row->restitution;
    carom_dvec3 n = row->normal;
    cm_impulse_touch t = {0};
    if (row->forced) {
        t = cm_impulse_find_touch(overlap_of(a, b, row), row->force, approach, impulse->h);
        v0 = cm_d3_mad(v0, -t.lost, n);
    }
    carom_dsym3 vf = cm_impulse_response(&a->side, &b->side);
    carom_dvec3 f = model == CAROM_IMPULSE_NORMAL
                        ? cm_d3_scale((1.0 + epsilon) * cm_impulse_slip(&vf, n, v0), n)
                        : cm_impulse_interpolate(&vf, n, v0, row->mu, epsilon);
    push(a, b, f);
    row->answer = cm_d3_dot(cm_dsym_mul(&vf, n), n);
    row->alone = row->pushes = -cm_d3_dot(f, n);
    row->late = 0.0;
    row->parts = -row->approach - cm_d3_dot(cm_dsym_mul(&vf, f), n);
    double leaves =
        epsilon == 0.0 ? -cm_d3_dot(cm_impulse_relative(&a->side, &b->side), n) : row->parts;
    if (row->forced) {
        // The first hit alone is put where its parabola is; what follows in this step comes late.
        double kept = CM_IMPULSE_KEPT * row->size;
        double further = row->hits == 0
                             ? cm_impulse_shift(&t, row->force, kept, approach, leaves, impulse->h)
                             : 0.0;
        double change = approach + leaves, time = change > 0.0 ? further / change : 0.0;
        row->late = time;
        move_by_change(a, &before_a, time);
        move_by_change(b, &before_b, time);
    }
    double fastest = approach > a->fastest ? approach : a->fastest;
    a->fastest = b->fastest = fastest > b->fastest ? fastest : b->fastest;
    row->carried -= cm_d3_dot(f, n);
    row->rebounds = row->rebounds || epsilon > 0.0;
    row->hits++;
}

static bool finds_hit(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row,
                      bool first)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    a->side.r = row->on_a;
    b->side.r = row->on_b;
    row->v0 = cm_impulse_relative(&a->side, &b->side);
    row->approach = cm_d3_dot(row->v0, row->normal);
    row->restitution = cm_impulse_restitution(impulse, row->approach, (double)m->restitution);
    double least = row->force > 0.0 ? CM_IMPULSE_PRESSED * row->force : 0.0;
    double fastest = a->fastest > b->fastest ? a->fastest : b->fastest;
    if (row->restitution == 0.0) {
        return row->approach > least + (first ? 0.0 : STILL * fastest);
    }
    double grazes = GRAZES * cm_d3_length(row->v0);
    return row->approach > least + (first ? grazes : cm_d_max(grazes, STILL * fastest));
}

// If a body is hit by several at once, each is to part at the speed at which it would part
// alone, by impulses along the normal, which do not pull; friction is that of the hits alone. False
// where all do.
static bool part(const cm_scratch *scratch, const cm_impulse *impulse, uint32_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        cm_impulse_row *row = &impulse->rows[i];
        const cm_manifold *m = &scratch->manifolds[i];
        if (!row->meets || row->restitution == 0.0 || !(row->answer > 0.0)) {
            continue;
        }
        cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
        a->side.r = row->on_a;
        b->side.r = row->on_b;
        double now = -cm_d3_dot(cm_impulse_relative(&a->side, &b->side), row->normal);
        double more = (row->parts - now) / row->answer;
        more = more > -row->pushes ? more : -row->pushes;
        if (cm_d_abs(more) <= ALIKE * row->alone) {
            continue;
        }
        const cm_impulse_side before_a = a->side, before_b = b->side;
        carom_dvec3 f = cm_d3_scale(-more, row->normal);
        push(a, b, f);
        move_by_change(a, &before_a, row->late);
        move_by_change(b, &before_b, row->late);
        row->carried += more;
        row->pushes += more;
        any = true;
    }
    return any;
}

static bool hit_round(uint32_t model, const cm_scratch *scratch, const cm_impulse *impulse,
                      uint32_t count, bool first)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        cm_impulse_row *row = &impulse->rows[i];
        row->meets = row->points != 0 && finds_hit(impulse, &scratch->manifolds[i], row, first);
    }
    for (uint32_t i = 0; i < count; i++) {
        cm_impulse_row *row = &impulse->rows[i];
        const cm_manifold *m = &scratch->manifolds[i];
        if (row->points != 0 && row->restitution == 0.0) {
            row->meets = finds_hit(impulse, m, row, first);
        }
        if (row->meets) {
            hit(model, impulse, m, row);
            any = true;
        }
    }
    for (uint32_t turn = 0; any && turn < CM_IMPULSE_ROUNDS; turn++) {
        if (!part(scratch, impulse, count)) {
            break;
        }
    }
    return any;
}

// Forces that pull the bodies apart have their share along the normal taken away too, out of what
// the hits gave.
static void give_back(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row)
{
    cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    a->side.r = row->on_a;
    b->side.r = row->on_b;
    carom_dsym3 vf = cm_impulse_response(&a->side, &b->side);
    double response = cm_d3_dot(cm_dsym_mul(&vf, row->normal), row->normal);
    double back = response > 0.0 ? -row->force / response : 0.0;
    back = back < row->carried ? back : row->carried;
    push(a, b, cm_d3_scale(back, row->normal));
    row->carried -= back;
}

bool cm_impulse_hit(uint32_t model, const cm_scratch *scratch, cm_impulse *impulse, uint32_t count)
{
    bool any = true;
    for (uint32_t round = 0; any && round < CM_IMPULSE_ROUNDS; round++) {
        any = hit_round(model, scratch, impulse, count, round == 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        cm_impulse_row *row = &impulse->rows[i];
        if (row->points != 0 && row->hits > 0) {
            if (row->force < 0.0) {
                give_back(impulse, &scratch->manifolds[i], row);
            }
            scratch->manifolds[i].impulse = (float)row->carried;
        }
    }
    return !any;
}
