// Bodies that a joint holds together pass through each other: for each body the other ends of
// its joints, in scratch, made anew by every step that asks: most ragdolls and chains have filters
// of their own, and none does.
//
// Layout: made (1) | starts (limits.bodies + 2) | partners (2 x limits.joints). A counting sort by
// body: two walks over the joints, nothing to compare. Typical: 2 partners a body; a hub's many are
// never walked, since the shorter list of the two is.
#include "shared/sim/joint/joint.h"

#include <string.h>

size_t cm_joint_filter_size(const carom_limits *limits)
{
    return ((size_t)limits->bodies + 3 + 2 * (size_t)limits->joints) * sizeof(uint32_t);
}

static bool separates(const cm_joint *joint)
{
    return cm_joint_holds(joint) && joint->body_a != CM_NONE && !(joint->flags & CM_JOINT_COLLIDE);
}

void cm_joint_filter_forget(cm_scratch *scratch)
{
    scratch->joint_partners[0] = 0;
}

static void build(const carom_world *world, const cm_scratch *scratch)
{
    uint32_t bodies = world->state.body_slots, slots = world->state.joint_slots;
    const cm_joint *joints = cm_joints(world);
    uint32_t *starts = scratch->joint_partners + 1;
    uint32_t *partners = starts + world->limits.bodies + 2;
    scratch->joint_partners[0] = 1;
    memset(starts, 0, ((size_t)bodies + 2) * sizeof *starts);
    // Counted one place late, so that the second walk, moving each start on, leaves starts right.
    for (uint32_t i = 0; i < slots; i++) {
        if (separates(&joints[i])) {
            starts[joints[i].body_a + 2]++;
            starts[joints[i].body_b + 2]++;
        }
    }
    for (uint32_t i = 2; i < bodies + 2; i++) {
        starts[i] += starts[i - 1];
    }
    for (uint32_t i = 0; i < slots; i++) {
        if (separates(&joints[i])) {
            partners[starts[joints[i].body_a + 1]++] = joints[i].body_b;
            partners[starts[joints[i].body_b + 1]++] = joints[i].body_a;
        }
    }
}

bool cm_joint_filter_finds(const carom_world *world, const cm_scratch *scratch, uint32_t body_a,
                           uint32_t body_b)
{
    if (!scratch->joint_partners[0]) {
        build(world, scratch);
    }
    const uint32_t *starts = scratch->joint_partners + 1;
    const uint32_t *partners = starts + world->limits.bodies + 2;
    uint32_t count_a = starts[body_a + 1] - starts[body_a];
    uint32_t count_b = starts[body_b + 1] - starts[body_b];
    uint32_t body = count_a <= count_b ? body_a : body_b;
    uint32_t other = count_a <= count_b ? body_b : body_a;
    for (uint32_t i = starts[body]; i < starts[body + 1]; i++) {
        if (partners[i] == other) {
            return true;
        }
    }
    return false;
}
