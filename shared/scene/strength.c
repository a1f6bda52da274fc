// See strength.h. Accuracy, of each figure over the grid of tests/unit/scene/test_strength.c:
// within a factor of 2.5, most within 1.5.
#include "shared/scene/strength.h"

#include <math.h>

// The soft solver's own numbers (shared/sim/solve/soft/soft.c and joint.c).
#define CONTACT_HERTZ    38.0 // at most so much of the substeps' rate
#define CONTACT_SHARE    0.16
#define JOINT_HERTZ      120.0 // likewise
#define JOINT_SHARE      0.25
#define LEAST_SUBSTEPS   4u
#define MOST_SUBSTEPS    16u
#define STACK_HEIGHT     15.0
#define STACK_RATE       45.0
#define REFINED_RATE     240.0
#define SLACK            0.8
#define LEAST_REFINEMENT 0.5
#define MOST_REFINEMENT  4.0

// Measured; what is fallen from a horizontal start pulls with 3 times its weight at the bottom.
#define SWING      3.0
#define TEAR_ROWS  0.11 // of a link's length over g h^2
#define TEAR_PLAIN 0.13
#define SINK       0.85   // of the spring's sag
#define SINK_SHARE 0.33   // of a size that may sink
#define WEIGHT_W   3.0    // s/rad, of the spring's frequency
#define WEIGHT_H   6.5e-3 // s^2, of its square, over (w h)^4
#define STACK      3.2    // of g / w^2, times the square of the height
#define STACK_H    0.7

#define TURN       6.283185307179586

cm_strength cm_strength_of(const carom_world_def *def)
{
    double x = (double)def->gravity.x, y = (double)def->gravity.y, z = (double)def->gravity.z;
    return (cm_strength){def->solver.type,
                         def->solver.type == CAROM_SOLVER_LCP ? def->solver.lcp.substeps
                                                              : def->solver.soft.substeps,
                         (double)def->tick_rate, sqrt(x * x + y * y + z * z)};
}

// Seconds of a substep of joints: left open, the soft solver takes 4, the lcp solver by the load.
static double joint_step(const cm_strength *s)
{
    uint32_t open = s->solver == CAROM_SOLVER_LCP ? MOST_SUBSTEPS : LEAST_SUBSTEPS;
    return 1.0 / (s->rate * (s->substeps > 0 ? s->substeps : open));
}

double cm_strength_stretch(const cm_strength *s, double ratio, bool plain)
{
    if (plain || s->solver != CAROM_SOLVER_SOFT) {
        return 0.0;
    }
    double w = TURN * fmin(JOINT_HERTZ, JOINT_SHARE / joint_step(s));
    return SWING * ratio * s->gravity / (w * w);
}

double cm_strength_load(const cm_strength *s, double length, bool plain)
{
    double h = joint_step(s);
    if (plain || s->solver == CAROM_SOLVER_LCP) {
        return TEAR_PLAIN * length / (s->gravity * h * h);
    }
    h = fmax(h, JOINT_SHARE / JOINT_HERTZ);
    return TEAR_ROWS * length / (s->gravity * h * h);
}

typedef struct spring {
    double w, wh; // rad/s; times the substep
} spring;

static spring make_spring(const cm_strength *s, uint32_t substeps, double refined)
{
    double h = 1.0 / (s->rate * substeps);
    double w = TURN * fmin(CONTACT_HERTZ * fmax(refined, 1.0), CONTACT_SHARE / h);
    return (spring){w, w * h};
}

// The spring of a contact of something of that size under so many times its mass.
static spring contact_spring(const cm_strength *s, double size, double ratio)
{
    if (s->substeps > 0) {
        return make_spring(s, s->substeps, 1.0);
    }
    double load = fmax(ratio / STACK_HEIGHT, 1.0);
    double wanted = STACK_RATE * sqrt(s->gravity * load / size) / REFINED_RATE;
    double refinement = LEAST_REFINEMENT;
    while (refinement < MOST_REFINEMENT && refinement < wanted) {
        refinement *= 2.0;
    }
    uint32_t substeps = LEAST_SUBSTEPS;
    while (substeps < MOST_SUBSTEPS && substeps * s->rate < SLACK * REFINED_RATE * refinement) {
        substeps *= 2;
    }
    return make_spring(s, substeps, refinement);
}

double cm_strength_sink(const cm_strength *s, double size, double ratio)
{
    spring p = contact_spring(s, size, ratio);
    return SINK * ratio * s->gravity / (p.w * p.w);
}

static double weight_on(const cm_strength *s, double size, const spring *p)
{
    double ww = p->w * p->w, wh2 = p->wh * p->wh;
    double sunk = SINK_SHARE * size * ww / s->gravity;
    return fmin(sunk, fmin(WEIGHT_W * p->w, WEIGHT_H * ww / (wh2 * wh2)));
}

double cm_strength_weight(const cm_strength *s, double size)
{
    double most = 0.0;
    for (double ratio = 1.0; ratio < 1e9; ratio *= 2.0) { // heavier may take more substeps
        spring p = contact_spring(s, size, ratio);
        most = fmax(most, weight_on(s, size, &p));
        if (most < ratio) {
            break;
        }
    }
    return most;
}

double cm_strength_stack(const cm_strength *s, double size)
{
    spring p = contact_spring(s, size, 1.0);
    double one = STACK * s->gravity / (p.w * p.w) * (1.0 + STACK_H * p.wh * p.wh);
    return sqrt(size / one);
}

double cm_strength_speed(const cm_strength *s, double size, double thickness)
{
    return (size + thickness) * s->rate;
}
