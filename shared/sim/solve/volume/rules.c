// Demands of the volume solver on scenes: static friction is at least the kinetic; it has contacts
// alone, without rolling friction and restitution. Where a scene gives stiffness or damping, a body
// whose contacts they leave far from what would be derived (law.c) is worth a warning.
#include "shared/sim/solve/volume/volume.h"

#include "carom/volume.h"
#include "shared/sim/body/mass.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/solve/rules.h"

#define SUNK    0.2   // of the root of its section: how deep a body may stand in the floor
#define THROWN  2.0   // w h
#define BOUNCES 0.025 // of critical damping

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

// The body on the floor, in the substeps that it wants.
static void check_fit(const carom_world_def *world, double mass, double section,
                      cm_findings *findings)
{
    const carom_volume_def *def = &world->solver.volume;
    const cm_volume_body_law law = {(double)def->stiffness, (double)def->damping,
                                    def->contact == CAROM_VOLUME_DEEPEST_POINT};
    double dt = 1.0 / (double)world->tick_rate, area = law.point ? 1.0 : section, k, b;
    double gravity = cm_d3_length(cm_d3_from(world->gravity));
    double size = law.point ? 0.0 : __builtin_sqrt(section);
    double steps = (double)carom_volume_substeps(dt, gravity, size);
    if (law.stiffness >= 0.0) {
        steps = cm_d_min(cm_volume_steps(&law, mass, section, dt), (double)CAROM_SUBSTEPS_MAX);
    }
    steps = def->substeps > 0 ? (double)def->substeps : cm_d_max(steps, 1.0);
    carom_volume_contact_of(mass, dt / steps, def->contact, &k, &b);
    k = law.stiffness >= 0.0 ? law.stiffness * area : k;
    double weight = mass * gravity;
    if (weight > SUNK * k * __builtin_sqrt(section)) {
        cm_find_ignored(findings, "mass",
                        "less, or more solver.stiffness (none: derived): by its own weight it "
                        "sinks into the floor by more than a fifth of its size");
    }
    if (k * dt * dt > THROWN * THROWN * steps * steps * mass) {
        cm_find_ignored(findings, "mass",
                        "more, or less solver.stiffness (none: derived): no substep is short "
                        "enough, and what touches it throws it");
    }
    if (law.damping >= 0.0 && law.damping * area < BOUNCES * 2.0 * __builtin_sqrt(k * mass)) {
        cm_find_ignored(findings, "mass",
                        "less, or more solver.damping (none: derived): its contacts have less "
                        "than 1/40 of critical damping, and it bounces");
    }
}

static void check_matter(const carom_world_def *world, const carom_body_def *def,
                         const carom_shape_def *shapes, uint32_t count, cm_findings *findings)
{
    const carom_volume_def *volume = &world->solver.volume;
    bool given = volume->stiffness >= 0.0f || volume->damping >= 0.0f;
    double section = 0.0;
    for (uint32_t i = 0; given && i < count; i++) {
        cm_shape row;
        if (cm_shape_from_def(&shapes[i], &row, NULL) == CAROM_OK) {
            section = cm_d_max(section, cm_volume_section(&row, shapes[i].hull));
        }
    }
    if (section > 0.0 && def->type == CAROM_BODY_DYNAMIC && world->tick_rate > 0) {
        double mass = (double)cm_mass_of(def, shapes, count, world->planar).mass;
        check_fit(world, mass, section, findings);
    }
}

static void check_joint(const carom_joint_def *def, cm_findings *findings)
{
    (void)def;
    cm_find_refused(findings, "", "none: the volume solver has contacts alone");
}

const cm_scene_rules cm_volume_rules = {
    .world = check_world,
    .body = cm_refuse_lcp_of_body,
    .matter = check_matter,
    .shape = check_shape,
    .joint = check_joint,
    .pair = cm_ignore_pair_restitution,
};
