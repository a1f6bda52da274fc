// Scenes whose module failed in its own callbacks so often that they are hosted no more, until the
// server is started anew. Pure. Typical: none.
#ifndef CM_SERVER_NODE_QUARANTINE_H
#define CM_SERVER_NODE_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/scene/scene.h"

#define CM_QUARANTINE_FAULTS 3u // of a scene
#define CM_QUARANTINE_SCENES                                                                       \
    64u // that are remembered; of more, the one with the fewest is forgotten

typedef struct cm_quarantine_row {
    char scene[CM_NAME_MAX];
    uint32_t faults;
} cm_quarantine_row;

typedef struct cm_quarantine {
    uint32_t count;
    cm_quarantine_row rows[CM_QUARANTINE_SCENES];
} cm_quarantine; // zeroed: none

// One more; how many that are of the scene now.
uint32_t cm_quarantine_fault(cm_quarantine *quarantine, const char *scene);
// As if it had failed often enough.
void cm_quarantine_add(cm_quarantine *quarantine, const char *scene);
// The reason why it is not hosted.
void cm_quarantine_log(const char *scene, char *text, size_t size);
bool cm_quarantine_has(const cm_quarantine *quarantine, const char *scene);

#endif
