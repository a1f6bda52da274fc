// A tag is the room's number and one, above the byte of the callback.
#include "server/node/crash_marker.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAG_SHIFT 8u

cm_crash_marker *cm_crash_marker_open(int descriptor)
{
    void *memory =
        mmap(NULL, sizeof(cm_crash_marker), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

cm_crash_marker *cm_crash_marker_create(int *descriptor)
{
    *descriptor = memfd_create("carom-crash_marker", MFD_CLOEXEC);
    if (*descriptor >= 0 && ftruncate(*descriptor, sizeof(cm_crash_marker)) == 0) {
        return cm_crash_marker_open(*descriptor);
    }
    return NULL;
}

void cm_crash_marker_destroy(cm_crash_marker *crash_marker)
{
    if (crash_marker != NULL) {
        munmap(crash_marker, sizeof *crash_marker);
    }
}

uint32_t cm_crash_marker_read(cm_crash_marker *crash_marker, const char *name, const char *scene)
{
    for (uint32_t i = 0; crash_marker != NULL && i < CM_CRASH_MARKER_ROOMS; i++) {
        cm_crash_marker_room *room = &crash_marker->rooms[i];
        if (!room->taken) {
            room->taken = true;
            snprintf(room->name, sizeof room->name, "%s", name);
            snprintf(room->scene, sizeof room->scene, "%s", scene);
            return (i + 1) << TAG_SHIFT;
        }
    }
    return 0;
}

void cm_crash_marker_release(cm_crash_marker *crash_marker, uint32_t tag)
{
    if (crash_marker != NULL && tag != 0) {
        crash_marker->rooms[(tag >> TAG_SHIFT) - 1].taken = false;
    }
}

const cm_crash_marker_room *cm_crash_marker_called(cm_crash_marker *crash_marker,
                                                   uint32_t *callback)
{
    uint32_t mark = crash_marker->mark, room = mark >> TAG_SHIFT;
    *callback = mark & ((1u << TAG_SHIFT) - 1);
    if (room < 1 || room > CM_CRASH_MARKER_ROOMS) {
        return NULL;
    }
    cm_crash_marker_room *called = &crash_marker->rooms[room - 1];
    called->name[sizeof called->name - 1] = called->scene[sizeof called->scene - 1] = '\0';
    return called;
}
