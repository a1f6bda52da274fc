// Rows of contacts as wholes: every section that a world has of them at once. See contact.h.
#include "shared/base/assert.h"
#include "shared/sim/state/fields.h"

#include <string.h>

void cm_contacts_turn(carom_world *world)
{
    for (int section = CM_CONTACTS_FIRST; section <= CM_CONTACTS_LAST; section++) {
        uint32_t old = world->offset.rows[section];
        world->offset.rows[section] = world->offset.spare[section];
        world->offset.spare[section] = old;
    }
}

void cm_contacts_move(carom_world *world, uint32_t to, uint32_t from)
{
    CM_ASSERT(to <= from);
    for (int section = CM_CONTACTS_FIRST; section <= CM_CONTACTS_LAST && to != from; section++) {
        if (cm_has_rows(world, (cm_section)section)) {
            memcpy(cm_section_change(world, (cm_section)section, to),
                   cm_section_row(world, (cm_section)section, from),
                   cm_section_stride((cm_section)section));
        }
    }
}
