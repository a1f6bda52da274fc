// What the volume solver asks of scenes: static friction is at least the kinetic; it has contacts
// alone, without rolling friction and restitution.
#include "shared/sim/solve/volume/volume.h"

#include "shared/sim/solve/rules.h"

static void check_world(const carom_world_def *def, cm_findings *findings)
{
    const carom_volume_def *volume = &def->solver.volume;
    if (volume->friction_kinetic >= 0.0f && volume->friction_static >= 0.0f &&
        volume->friction_static < volume->friction_kinetic) {
        cm_find_refused(findings, "solver.volume.friction_static", "at least friction_kinetic");
    }
}

static void check_shape(const carom_world_def *world, const carom_shape_def *def,
                        cm_findings *findings)
{
    (void)world;
    cm_refuse_rolling(def, findings);
    cm_refuse_lcp_of_shape(def, findings);
    cm_ignore_restitution(def, findings);
}

static void check_joint(const carom_joint_def *def, cm_findings *findings)
{
    (void)def;
    cm_find_refused(findings, "", "none: the volume solver has contacts alone");
}

const cm_scene_rules cm_volume_rules = {
    .world = check_world,
    .body = cm_refuse_lcp_of_body,
    .shape = check_shape,
    .joint = check_joint,
};
