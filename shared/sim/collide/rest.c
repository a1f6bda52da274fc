// See rest.h.
//
//   OFFSET   SIZE                       CONTENT
//   0        sizeof(rest_header)        header
//   …        192 x blocks               of the tree
//   …        4 x places                 shape of each place; CM_NONE: spare
//   …        4 x limits.shapes          the place of each shape and one; 0: none
//   …        4 x limits.shapes          planes, in no order
//   …        4 x blocks x 2             lists for asking
#include "shared/sim/collide/rest.h"

#include "shared/sim/body/shape.h"
#include "shared/sim/collide/collide.h"
#include "shared/sim/collide/shape_transform.h"
#include "shared/sim/state/awake.h"

#include <string.h>

#define LOOSE_PARTS 4u  // built anew once a quarter of the places was filled again somewhere else
#define LOOSE_LEAST 64u // at least so many

typedef struct rest_header {
    uint32_t built;
    uint32_t levels, first[CM_BLOCK_LEVELS];
    uint32_t places; // of shapes; the spare ones behind them, up to `end`
    uint32_t end;
    uint32_t loose; // boxes that lie outside of what was around their place
    uint32_t plane_count;
    uint32_t shape_slots; // looked at
    uint32_t pad[3];
} rest_header;

typedef struct rest {
    rest_header *head;
    cm_bounds_tree tree;
    uint32_t *home, *planes;
    cm_bounds_room room;
    bool full;
} rest;

_Static_assert(sizeof(rest_header) % CM_CACHE_LINE == 0, "blocks begin on a line");

static uint32_t blocks_of(uint32_t boxes)
{
    return (boxes + CM_BLOCK_BOXES - 1) / CM_BLOCK_BOXES;
}

static uint32_t spare_blocks(uint32_t boxes)
{
    return blocks_of(boxes) / 4 + 4;
}

static size_t places_of(const carom_limits *limits)
{
    return CM_BLOCK_BOXES * ((size_t)blocks_of(limits->shapes) + spare_blocks(limits->shapes));
}

size_t cm_rest_size(const carom_limits *limits)
{
    size_t places = places_of(limits);
    return sizeof(rest_header) + cm_bounds_tree_blocks(places) * sizeof(cm_bounds_block) +
           (places + 2 * (size_t)limits->shapes + places / 4) * sizeof(uint32_t);
}

static rest map(const carom_world *world)
{
    size_t places = places_of(&world->limits);
    char *at = (char *)(uintptr_t)world + world->offset.rest;
    rest r = {.head = (rest_header *)(void *)at};
    at += sizeof(rest_header);
    r.tree.blocks = (cm_bounds_block *)(void *)at;
    at += cm_bounds_tree_blocks(places) * sizeof(cm_bounds_block);
    r.tree.ids = (uint32_t *)(void *)at;
    r.home = r.tree.ids + places;
    r.planes = r.home + world->limits.shapes;
    r.room.keys = r.planes + world->limits.shapes;
    r.room.spare_keys = r.room.keys + places / CM_BLOCK_BOXES;
    r.tree.levels = r.head->levels;
    r.tree.count = r.head->end;
    memcpy(r.tree.first, r.head->first, sizeof r.tree.first);
    return r;
}

void cm_rest_forget(carom_world *world)
{
    memset((char *)world + world->offset.rest, 0, sizeof(rest_header));
}

// A shape stands in the tree, among the planes, or nowhere.
static bool is_plane(const carom_world *world, uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    return slot < world->state.shape_slots && shape->alive && shape->type == CAROM_SHAPE_PLANE &&
           cm_shape_meets(shape);
}

static bool rests(const carom_world *world, uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    return slot < world->state.shape_slots && shape->alive && shape->type != CAROM_SHAPE_PLANE &&
           cm_shape_meets(shape) && !cm_active(world)[shape->body];
}

static void build(carom_world *world, cm_scratch *scratch, rest *r, cm_bounds_room *room)
{
    uint32_t slots = world->state.shape_slots, count = 0, planes = 0;
    memset(r->home, 0, world->limits.shapes * sizeof *r->home);
    for (uint32_t i = 0; i < slots; i++) {
        if (is_plane(world, i)) {
            r->planes[planes++] = i;
        } else if (rests(world, i)) {
            r->tree.ids[count++] = i;
        }
    }
    cm_update_shape_transforms(world, scratch, r->tree.ids, count, CM_SPECULATIVE_MARGIN, 0.0f);
    r->tree.count = count;
    cm_bounds_tree_build_loose(&r->tree, scratch->bounds, room, spare_blocks(count));
    for (uint32_t i = 0; i < count; i++) {
        r->home[r->tree.ids[i]] = i + 1;
    }
    *r->head = (rest_header){.built = 1,
                             .levels = r->tree.levels,
                             .places = count,
                             .end = r->tree.count,
                             .plane_count = planes,
                             .shape_slots = slots};
    memcpy(r->head->first, r->tree.first, sizeof r->tree.first);
}

// Changes --------------------------------------------------------------------------------------

static void look_at_plane(const carom_world *world, rest *r, uint32_t slot)
{
    uint32_t at = 0, count = r->head->plane_count;
    while (at < count && r->planes[at] != slot) {
        at++;
    }
    bool plane = is_plane(world, slot);
    if (plane && at == count) {
        r->planes[r->head->plane_count++] = slot;
    } else if (!plane && at < count) {
        r->planes[at] = r->planes[--r->head->plane_count];
    }
}

static void look_at_shape(carom_world *world, cm_scratch *scratch, rest *r, uint32_t slot)
{
    uint32_t place = r->home[slot];
    look_at_plane(world, r, slot);
    if (!rests(world, slot)) {
        if (place > 0) {
            cm_bounds_tree_take(&r->tree, place - 1);
        }
        return;
    }
    if (place == 0) {
        if (r->head->places == r->head->end) {
            r->full = true;
            return;
        }
        r->tree.ids[r->head->places] = slot;
        place = r->home[slot] = ++r->head->places;
    }
    cm_update_shape_transforms(world, scratch, &slot, 1, CM_SPECULATIVE_MARGIN, 0.0f);
    r->head->loose += cm_bounds_tree_put(&r->tree, place - 1, &scratch->bounds[slot]);
}

static void look_at_body(carom_world *world, cm_scratch *scratch, rest *r, uint32_t slot)
{
    if (slot < world->state.body_slots && cm_bodies(world)[slot].alive) {
        for (uint32_t at = cm_bodies(world)[slot].first_shape; at != CM_NONE;
             at = cm_shapes(world)[at].next) {
            look_at_shape(world, scratch, r, at);
        }
    }
}

// Goes over what was noted in a section, and clears the notes.
static void look_at_notes(carom_world *world, cm_scratch *scratch, rest *r, cm_section section,
                          uint32_t rows)
{
    cm_page *pages = cm_pages(world, section);
    for (uint32_t i = 0; i < (rows + CM_PAGE_ROWS - 1) / CM_PAGE_ROWS; i++) {
        for (uint64_t bits = pages[i].moved; bits != 0 && r != NULL; bits &= bits - 1) {
            uint32_t slot = i * CM_PAGE_ROWS + (uint32_t)__builtin_ctzll(bits);
            if (section == CM_SECTION_body) {
                look_at_body(world, scratch, r, slot);
            } else {
                look_at_shape(world, scratch, r, slot);
            }
        }
        pages[i].moved = 0;
    }
}

cm_rest cm_rest_update(carom_world *world, cm_scratch *scratch, cm_bounds_room *room)
{
    rest r = map(world);
    uint32_t bodies = world->known.slots, shapes = world->state.shape_slots;
    bool built = r.head->built != 0;
    uint32_t before = built ? r.head->shape_slots : world->limits.shapes;
    look_at_notes(world, scratch, built ? &r : NULL, CM_SECTION_body, bodies);
    look_at_notes(world, scratch, built ? &r : NULL, CM_SECTION_shape,
                  shapes > before ? shapes : before);
    r.head->shape_slots = shapes;
    if (!built || r.full || r.head->loose > LOOSE_LEAST + r.head->places / LOOSE_PARTS) {
        build(world, scratch, &r, room);
    }
    return (cm_rest){r.tree, r.room, r.planes, r.head->plane_count};
}
