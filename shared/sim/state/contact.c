// Rows of contacts and points as wholes: every section that a world has of them at once. See
// contact.h.
#include "shared/base/assert.h"
#include "shared/sim/state/fields.h"
#include "shared/sim/state/resting.h"

#include <string.h>

void cm_contacts_turn(carom_world *world)
{
    for (int section = CM_CONTACTS_FIRST; section <= CM_POINTS_LAST; section++) {
        uint32_t old = world->offset.rows[section];
        world->offset.rows[section] = world->offset.spare[section];
        world->offset.spare[section] = old;
    }
}

static void move_rows(carom_world *world, cm_section section, uint32_t to, uint32_t from,
                      uint32_t count)
{
    if (cm_has_rows(world, section) && count > 0 && to != from) {
        uint32_t stride = cm_section_stride(section);
        memmove(cm_contact_row(world, section, false, to, stride),
                cm_contact_row(world, section, false, from, stride), (size_t)count * stride);
    }
}

void cm_contacts_move(carom_world *world, cm_contact_at *to, cm_contact_at *from)
{
    uint32_t points = cm_contacts(world)[from->row].point_count;
    CM_ASSERT(to->row <= from->row);
    CM_ASSERT(to->point <= from->point);
    for (int section = CM_CONTACTS_FIRST; section <= CM_CONTACTS_LAST; section++) {
        move_rows(world, (cm_section)section, to->row, from->row, 1);
    }
    for (int section = CM_POINTS_FIRST; section <= CM_POINTS_LAST; section++) {
        move_rows(world, (cm_section)section, to->point, from->point, points);
    }
    to->row++;
    from->row++;
    to->point += points;
    from->point += points;
}

uint32_t cm_points_to_end(carom_world *world, uint32_t point)
{
    uint32_t rest = world->state.point_count - point;
    uint32_t to = CM_MANIFOLD_MAX * world->limits.contacts - rest;
    for (int section = CM_POINTS_FIRST; section <= CM_POINTS_LAST; section++) {
        move_rows(world, (cm_section)section, to, point, rest);
    }
    return to;
}
