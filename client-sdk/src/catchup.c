// The ring of states holds both: up to `branch` the corrected ticks, behind it the uncorrected.
#include "client-sdk/src/catchup.h"

#include "client-sdk/src/nearby.h"

#define LEAST 4u // ticks an update: more than go by meanwhile, whatever they cost

static uint64_t part_of(const cm_predictor *p)
{
    double ticks = cm_nearby_steps(p);
    return ticks > LEAST ? (uint64_t)ticks : LEAST;
}

uint64_t cm_catchup_most(const cm_predictor *p)
{
    return p->part_us > 0.0 ? part_of(p) : UINT64_MAX;
}

// True where it came to `newest`.
static bool step_part(cm_predictor *p, uint64_t newest)
{
    uint64_t part = part_of(p);
    while (part-- > 0 && cm_predictor_tick(p) < newest) {
        cm_predictor_step(p, cm_predictor_tick(p) + 1 == newest);
    }
    return cm_predictor_tick(p) == newest;
}

bool cm_catchup_begin(cm_predictor *p, uint64_t newest)
{
    p->branch = 0;
    if (step_part(p, newest)) {
        return true;
    }
    uint64_t branch = cm_predictor_tick(p);
    if (!cm_predictor_back(p, newest)) { // no memory was there to keep it
        while (cm_predictor_tick(p) < newest) {
            cm_predictor_step(p, cm_predictor_tick(p) + 1 == newest);
        }
        return true;
    }
    p->branch = branch;
    p->began = true;
    return false;
}

void cm_catchup_step(cm_predictor *p)
{
    uint64_t newest = cm_predictor_tick(p);
    bool rests = p->branch == 0 || p->began; // it had its part of this update
    p->began = false;
    if (rests) {
        return;
    }
    carom_body_id own = cm_predictor_own(p);
    cm_predictor_hold_shown(p, newest);
    cm_touch_before(p->touch, p->world, own);
    if (!cm_predictor_back(p, p->branch)) {
        p->branch = 0;
        p->rebuild = true;
        return;
    }
    if (step_part(p, newest)) {
        p->branch = 0;
        cm_predictor_corrected(p, own);
        return;
    }
    p->branch = cm_predictor_tick(p);
    if (!cm_predictor_back(p, newest)) {
        p->branch = 0;
        p->rebuild = true;
    }
}
