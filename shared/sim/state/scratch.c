// Layout of the scratch region: arrays one after another, each on a cache line, sized from the
// limits.
//
//   OFFSET   SIZE                                  CONTENT
//   0        24  x limits.shapes                   bounds
//   …        64  x limits.shapes                   transforms
//   …        172 x limits.contacts                 manifolds
//   …        8   x limits.contacts                 matches
//   …        64  x limits.contacts                 events
//   …        32  x limits.joints                   joint events
//   …        12  x 2 x limits.bodies               sleep events
//   …        4 + 4 + 1 x limits.bodies             awake, parents, marks
//   …        1   x limits.shapes                   ranks of shapes
//   …        own.joint_filter                      partners by joints
//   …        own.broadphase                        lists and trees
//   …        8 + 8 + 4 x room for pairs            pairs, found, sorted
//   …        own.solver                            solver; over the pairs if it has manifolds
//   …        own.hits                              hits
//
// Offsets are computed by the same walk that sums the size, so the two cannot differ.
#include "shared/sim/state/scratch.h"

#include "shared/sim/inspect.h"
#include "shared/sim/state/awake.h"

#include <string.h>

static size_t align_line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

// The next array of the walk: where it starts, or NULL where only the size is asked for.
static void *take(char *base, size_t *offset, size_t size)
{
    void *start = base != NULL ? base + *offset : NULL;
    *offset += align_line(size);
    return start;
}

static size_t walk(const carom_limits *limits, const cm_scratch_own *own, char *base,
                   cm_scratch *scratch)
{
    size_t bodies = limits->bodies, shapes = limits->shapes, joints = limits->joints,
           contacts = limits->contacts, offset = 0;
    scratch->bounds = take(base, &offset, shapes * sizeof(cm_aabb));
    scratch->transforms = take(base, &offset, shapes * sizeof(cm_shape_transform));
    scratch->manifolds = take(base, &offset, contacts * sizeof(cm_manifold));
    scratch->matches = take(base, &offset, contacts * sizeof(cm_contact_match));
    scratch->events = take(base, &offset, contacts * sizeof(carom_contact_event));
    scratch->joint_events = take(base, &offset, joints * sizeof(carom_joint_event));
    scratch->sleep_events = take(base, &offset, 2 * bodies * sizeof(carom_sleep_event));
    scratch->awake = take(base, &offset, bodies * sizeof(uint32_t));
    scratch->parents = take(base, &offset, bodies * sizeof(uint32_t));
    scratch->marks = take(base, &offset, bodies);
    scratch->rank = take(base, &offset, shapes);
    scratch->joint_partners = take(base, &offset, own->joint_filter);
    scratch->broadphase = take(base, &offset, own->broadphase);
    size_t start = offset, pairs = own->pairs_stay ? contacts : CM_PAIRS_A_CONTACT * contacts;
    scratch->pair_room = (uint32_t)pairs;
    scratch->pairs = take(base, &offset, pairs * sizeof(cm_pair));
    scratch->found = take(base, &offset, pairs * sizeof(cm_pair));
    scratch->sorted = take(base, &offset, pairs * sizeof(uint32_t));
    size_t end = offset;
    offset = own->pairs_stay ? offset : start;
    scratch->solver = take(base, &offset, own->solver);
    offset = offset > end ? offset : end;
    scratch->hits = take(base, &offset, own->hits);
    return offset;
}

size_t cm_scratch_size(const carom_limits *limits, const cm_scratch_own *own)
{
    cm_scratch unused;
    return walk(limits, own, NULL, &unused);
}

void cm_scratch_map(const carom_world *world, cm_scratch *scratch)
{
    scratch->pair_count = scratch->round = 0;
    scratch->old_contact_count = 0;
    scratch->thin = scratch->rubbing = scratch->pointers = false;
    scratch->active_count = scratch->sleeping_count = 0;
    cm_scratch_own own = {world->own.joint_filter, world->own.broadphase, world->own.solver,
                          world->own.hits, world->own.pairs_stay};
    walk(&world->limits, &own, (char *)world + world->offset.scratch, scratch);
    scratch->active = cm_active(world);
}

void cm_world_spoil_scratch(carom_world *world, uint8_t byte)
{
    cm_query_forget(world);
    memset((char *)world + world->offset.scratch, byte, world->offset.scratch_size);
}
