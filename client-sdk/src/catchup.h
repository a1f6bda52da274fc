// A correction whose ticks do not all fit into one update: the corrected past is stepped on a part
// at a time, while the prediction goes on from the uncorrected one, until both stand at the same
// tick; then the corrected one is shown. Typical, at 1 kHz and 40 ms of round trip: 60 ticks since
// the view, 20 an update, so the correction comes 3 ms later than it might.
#ifndef CM_CLIENT_CATCHUP_H
#define CM_CLIENT_CATCHUP_H

#include "client-sdk/src/predict.h"

// Ticks that an update may step besides, where a device waits for it; without one, all.
uint64_t cm_catchup_most(const cm_predictor *predictor);
// The game was corrected at its tick and kept; it stood at `newest` before. Steps it there, or as
// far as one update may: then it stands at `newest` uncorrected, and cm_catchup_step goes on. True
// where it is corrected.
bool cm_catchup_begin(cm_predictor *predictor, uint64_t newest);
// An update's part of what cm_catchup_begin left; nothing where it left nothing.
void cm_catchup_step(cm_predictor *predictor);

#endif
