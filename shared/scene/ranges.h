// The range of each numeric field of the scene's messages, inclusive. Private to shared/scene.
#ifndef CM_SCENE_RANGES_H
#define CM_SCENE_RANGES_H

#include "shared/scene/message.h"

typedef struct cm_range {
    const char *message, *field; // as in scene.proto; of a vector: the field that holds it
    double low, high;
} cm_range;

// NULL for a field without a row.
const cm_range *cm_range_find(const char *message, const char *field);

#endif
