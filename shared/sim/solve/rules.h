// Each solver asks some things of definitions, before there is a world (carom/check.h): one table
// for each, in rules.c of its folder. Private to shared/sim.
#ifndef CM_SIM_SOLVE_RULES_H
#define CM_SIM_SOLVE_RULES_H

#include "carom/check.h"

// The receiver of findings, and whether one of them was a refusal.
typedef struct cm_findings {
    const carom_findings *to;
    uint32_t shape; // under check, else CAROM_NO_SHAPE
    bool refused;
} cm_findings;

void cm_find_refused(cm_findings *findings, const char *field, const char *expected);
// Taken, and without effect or sense.
void cm_find_ignored(cm_findings *findings, const char *field, const char *expected);

// Any may be NULL. Shapes are asked one by one.
typedef struct cm_scene_rules {
    void (*world)(const carom_world_def *def, cm_findings *findings);
    void (*body)(const carom_body_def *def, cm_findings *findings);
    // A body with all its shapes, of which nothing was refused so far.
    void (*matter)(const carom_world_def *world, const carom_body_def *def,
                   const carom_shape_def *shapes, uint32_t count, cm_findings *findings);
    void (*shape)(const carom_world_def *world, const carom_shape_def *def, cm_findings *findings);
    void (*joint)(const carom_joint_def *def, cm_findings *findings);
    void (*pair)(const carom_pair_rule *rule, cm_findings *findings);
} cm_scene_rules;

// Refuse what only the lcp solver reads: for the tables of the others.
void cm_refuse_lcp_of_body(const carom_body_def *def, cm_findings *findings);
void cm_refuse_lcp_of_shape(const carom_shape_def *def, cm_findings *findings);
void cm_refuse_lcp_of_joint(const carom_joint_def *def, cm_findings *findings);
// Refuse or ignore what only the soft solver does.
void cm_refuse_rolling(const carom_shape_def *def, cm_findings *findings);
void cm_refuse_joint_friction(const carom_joint_def *def, cm_findings *findings);
void cm_ignore_restitution(const carom_shape_def *def, cm_findings *findings);
void cm_ignore_pair_restitution(const carom_pair_rule *rule, cm_findings *findings);

#endif
