// A tag is the room's number and one, above the byte of the callback.
#include "server/node/crash_marker.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAG_SHIFT 8u

cm_vitals *cm_vitals_open(int descriptor)
{
    void *memory = mmap(NULL, sizeof(cm_vitals), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

cm_vitals *cm_vitals_create(int *descriptor)
{
    *descriptor = memfd_create("carom-vitals", MFD_CLOEXEC);
    if (*descriptor >= 0 && ftruncate(*descriptor, sizeof(cm_vitals)) == 0) {
        return cm_vitals_open(*descriptor);
    }
    return NULL;
}

void cm_vitals_destroy(cm_vitals *vitals)
{
    if (vitals != NULL) {
        munmap(vitals, sizeof *vitals);
    }
}

uint32_t cm_vitals_take(cm_vitals *vitals, const char *name, const char *scene)
{
    for (uint32_t i = 0; vitals != NULL && i < CM_VITALS_ROOMS; i++) {
        cm_vitals_room *room = &vitals->rooms[i];
        if (!room->taken) {
            room->taken = true;
            snprintf(room->name, sizeof room->name, "%s", name);
            snprintf(room->scene, sizeof room->scene, "%s", scene);
            return (i + 1) << TAG_SHIFT;
        }
    }
    return 0;
}

void cm_vitals_give_back(cm_vitals *vitals, uint32_t tag)
{
    if (vitals != NULL && tag != 0) {
        vitals->rooms[(tag >> TAG_SHIFT) - 1].taken = false;
    }
}

const cm_vitals_room *cm_vitals_called(cm_vitals *vitals, uint32_t *callback)
{
    uint32_t mark = vitals->mark, room = mark >> TAG_SHIFT;
    *callback = mark & ((1u << TAG_SHIFT) - 1);
    if (room < 1 || room > CM_VITALS_ROOMS) {
        return NULL;
    }
    cm_vitals_room *called = &vitals->rooms[room - 1];
    called->name[sizeof called->name - 1] = called->scene[sizeof called->scene - 1] = '\0';
    return called;
}
