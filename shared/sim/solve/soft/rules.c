// The soft solver asks nothing of scenes but that they want no other solver's fields.
#include "shared/sim/solve/soft/soft.h"

#include "shared/sim/solve/rules.h"

static void check_shape(const carom_world_def *world, const carom_shape_def *def,
                        cm_findings *findings)
{
    (void)world;
    cm_refuse_lcp_of_shape(def, findings);
}

const cm_scene_rules cm_soft_rules = {
    .body = cm_refuse_lcp_of_body,
    .shape = check_shape,
    .joint = cm_refuse_lcp_of_joint,
};
