// The bodies that a prediction simulates: as many as the budget of a frame pays for, those first
// that touch the own body, then by distance from it, from where it will be, and, counting twice,
// from the players whose inputs are relayed, who push what is near them.
//
// A step costs about as much as STEP_BODIES bodies do, each that moves the same, and each at rest a
// tenth: it sleeps soon. A frame in which a view comes steps again all ticks since that view.
// Typical: 2 ms, 1 us a body, 20 ticks: 80 bodies.
#ifndef CM_CLIENT_NEARBY_H
#define CM_CLIENT_NEARBY_H

#include "client-sdk/src/predict.h"

// Places round which bodies are simulated.
typedef struct cm_middles {
    uint32_t count, own; // of these, the own body's, which come first
    carom_vec3 at[CAROM_PLAYERS_MAX + 1];
} cm_middles;

cm_middles cm_nearby_middles(const cm_predictor *predictor, carom_vec3 here, carom_vec3 ahead);
// Distance of a place from the nearest middle, as it counts.
float cm_nearby_distance(const cm_middles *middles, carom_vec3 place);
// Bodies that the budget pays for, besides the own one; a few at least, where it is not 0.
uint32_t cm_nearby_room(const cm_predictor *predictor);
// Ticks that an update may step for a correction.
double cm_nearby_steps(const cm_predictor *predictor);
// Orders a list of bodies, nearest first, and of equals the lower slot.
void cm_nearby_order(cm_near *list, uint32_t count);
// Time that so many steps take, us.
double cm_nearby_us(const cm_predictor *p, uint64_t steps);
// `us` of time went by while so many steps were made; true costs follow slowly.
void cm_nearby_measure(cm_predictor *predictor, double us, uint64_t steps);

#endif
