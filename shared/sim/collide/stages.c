// Chooses the code that finds contacts: for the widest lanes of the processor, or those that a
// test names. Any of them gives the same bits.
#include "shared/base/processor.h"
#include "shared/sim/collide/box_axes.h"
#include "shared/sim/collide/collide.h"

static const cm_collide_stages plain = {cm_stage_pairs, cm_stage_collide, cm_collide_woken};

static const cm_box_lanes four = {4, cm_box_axes_4, cm_box_faces_4};

#if defined(__x86_64__)

static const cm_box_lanes eight = {8, cm_box_axes_8, cm_box_faces_8};
static const cm_box_lanes sixteen = {16, cm_box_axes_16, cm_box_faces_16};

void cm_stage_pairs_8(carom_world *world, cm_scratch *scratch);
void cm_stage_collide_8(carom_world *world, cm_scratch *scratch);
void cm_collide_woken_8(carom_world *world, cm_scratch *scratch);

static const cm_collide_stages wide = {cm_stage_pairs_8, cm_stage_collide_8, cm_collide_woken_8};

const cm_collide_stages *cm_collide_stages_of(const carom_world *world)
{
    bool chosen = world->lanes >= 8 || world->lanes == 0;
    return chosen && cm_processor_lanes() >= 8 ? &wide : &plain;
}

const cm_box_lanes *cm_box_lanes_of(const carom_world *world)
{
    if ((world->lanes == 16 || world->lanes == 0) && cm_processor_lanes() == 16) {
        return &sixteen;
    }
    return cm_collide_stages_of(world) == &wide ? &eight : &four;
}

#else

const cm_box_lanes *cm_box_lanes_of(const carom_world *world)
{
    (void)world;
    return &four;
}

const cm_collide_stages *cm_collide_stages_of(const carom_world *world)
{
    (void)world;
    return &plain;
}

#endif
