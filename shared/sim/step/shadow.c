// See shadow.h. The one place of the simulation that allocates: a debug build may.
#include "shared/sim/step/shadow.h"

#if defined(CM_CHECK_STEPS)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/sim/collide/rest.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/fields.h"

#define RUBBISH 0x5c // not what the tests fill scratch with

carom_world *cm_shadow_open(const carom_world *world)
{
    size_t image_size = carom_world_save_size(world);
    size_t world_size = (world->size_low + CM_CACHE_LINE - 1u) / CM_CACHE_LINE * CM_CACHE_LINE;
    carom_world *shadow = aligned_alloc(CM_CACHE_LINE, world_size);
    void *image = malloc(image_size);
    if (shadow == NULL || image == NULL) {
        free(shadow);
        free(image);
        return NULL;
    }
    memset((void *)shadow, RUBBISH, world_size);
    memcpy((void *)shadow, world,
           sizeof *world); // limits and offsets; the state comes by the image
    memset(&shadow->state, 0, sizeof shadow->state);
    // Restore believes what is known of rows: rubbish there would be a lie about rows that are
    // rubbish too, and not something that a step should do without.
    cm_bodies_forget(shadow);
    cm_rest_forget(shadow);
    shadow->clock = NULL;
    shadow->log.tell = NULL;
    shadow->lanes = world->lanes == 1 ? 4 : 1;
    carom_world_save(world, image, image_size);
    carom_result result = carom_world_restore(shadow, image, image_size);
    CM_ASSERT(result == CAROM_OK);
    free(image);
    return shadow;
}

void cm_shadow_close(carom_world *shadow, const carom_world *world)
{
    if (shadow == NULL) {
        return;
    }
    size_t size = carom_world_save_size(world);
    size_t shadow_size = carom_world_save_size(shadow);
    char *images = malloc(size + shadow_size);
    if (images != NULL) {
        carom_world_save(world, images, size);
        carom_world_save(shadow, images + size, shadow_size);
        if (size != shadow_size || memcmp(images, images + size, size) != 0) {
            cm_difference difference;
            memset(&difference, 0, sizeof difference);
            cm_world_difference(world, shadow, &difference);
            fprintf(stderr,
                    "carom: a step depends on what is not state: tick %llu, %s[%u].%s[%u]: %s "
                    "beside %s\n",
                    (unsigned long long)world->state.tick, difference.section,
                    (unsigned)difference.row, difference.field, (unsigned)difference.element,
                    difference.first, difference.second);
            abort();
        }
    }
    free(images);
    free(shadow);
}

#endif
