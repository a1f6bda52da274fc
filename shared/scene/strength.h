// The strength of a world: the load that a chain of joints bears, the weight that a light body
// bears, the height of a stack, the speed at which a thing passes through another, each as a
// function of the tick rate, the substeps and the sizes. Private to shared/scene, for its warnings
// (loads.c).
//
// The formulas are those of the soft constraint (stiffness as a frequency: a spring of w rad/s on a
// mass m sags by F / (m w^2)); their factors are measured. `make measure-strength` prints measured
// beside computed figures over the whole grid and what each factor should be: whoever changes
// joints or contacts runs it and writes the factors anew, in strength.c and nowhere else.
#ifndef CM_SCENE_STRENGTH_H
#define CM_SCENE_STRENGTH_H

#include "carom/world.h"

typedef struct cm_strength {
    carom_solver_type solver;
    uint32_t substeps; // of a tick; 0: the world chooses
    double rate;       // ticks a second
    double gravity;    // m/s^2, above 0
} cm_strength;

cm_strength cm_strength_of(const carom_world_def *def);

// m, by which a joint parts as its load swings down from the height of its anchor. `ratio`: the
// mass that hangs on the joint over the reduced mass of its two bodies. 0 where it is
// plain: solved at once with all that hangs together, as trees and bridges without locked
// axes are, and in lcp worlds.
double cm_strength_stretch(const cm_strength *s, double ratio, bool plain);
// The most masses of a link that a chain of links of `length` m bears as it swings: beyond, the
// links are flung aside and the joints tear.
double cm_strength_load(const cm_strength *s, double length, bool plain);
// m, by which `ratio` times its mass presses a body of `size` m into what it lies on; and the most
// times that it bears: beyond, it is pressed through.
double cm_strength_sink(const cm_strength *s, double size, double ratio);
double cm_strength_weight(const cm_strength *s, double size);
// The number of cubes of `size` m that stand on one another.
double cm_strength_stack(const cm_strength *s, double size);
// m/s, from which on a body of `size` m passes through a wall of `thickness` m.
double cm_strength_speed(const cm_strength *s, double size, double thickness);

#endif
