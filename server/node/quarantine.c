// An array, looked through when a room is opened or a worker died.
#include "server/node/quarantine.h"

#include <stdio.h>
#include <string.h>

static uint32_t find(const cm_quarantine *quarantine, const char *scene)
{
    uint32_t i = 0;
    while (i < quarantine->count && strcmp(quarantine->rows[i].scene, scene) != 0) {
        i++;
    }
    return i;
}

// A place for one more: the next, or that with the fewest faults.
static uint32_t make_place(cm_quarantine *quarantine)
{
    uint32_t fewest = 0;
    if (quarantine->count < CM_QUARANTINE_SCENES) {
        return quarantine->count++;
    }
    for (uint32_t i = 1; i < quarantine->count; i++) {
        fewest = quarantine->rows[i].faults < quarantine->rows[fewest].faults ? i : fewest;
    }
    return fewest;
}

static cm_quarantine_row *row_of(cm_quarantine *quarantine, const char *scene)
{
    uint32_t at = find(quarantine, scene);
    if (at == quarantine->count) {
        at = make_place(quarantine);
        snprintf(quarantine->rows[at].scene, sizeof quarantine->rows[at].scene, "%s", scene);
        quarantine->rows[at].faults = 0;
    }
    return &quarantine->rows[at];
}

uint32_t cm_quarantine_fault(cm_quarantine *quarantine, const char *scene)
{
    return ++row_of(quarantine, scene)->faults;
}

void cm_quarantine_add(cm_quarantine *quarantine, const char *scene)
{
    row_of(quarantine, scene)->faults = CM_QUARANTINE_FAULTS;
}

void cm_quarantine_log(const char *scene, char *text, size_t size)
{
    snprintf(text, size, "scene %s is not hosted any more: its module failed %u times", scene,
             CM_QUARANTINE_FAULTS);
}

bool cm_quarantine_has(const cm_quarantine *quarantine, const char *scene)
{
    uint32_t at = find(quarantine, scene);
    return at < quarantine->count && quarantine->rows[at].faults >= CM_QUARANTINE_FAULTS;
}
