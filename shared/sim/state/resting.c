// See resting.h. Both directions are one walk from the end, which opens room for what enters among
// what is there, and one from the front, which closes what is left.
#include "shared/sim/state/resting.h"

#include "shared/base/assert.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/fields.h"

static bool can_rest(const carom_world *world)
{
    return world->offset.resting[CM_SECTION_contact] != 0;
}

cm_world_state cm_whole_state(const carom_world *world)
{
    cm_world_state state = world->state;
    state.contact_count += world->resting.rows;
    state.point_count += world->resting.points;
    return state;
}

static const cm_contact *contacts_of(const carom_world *world, const cm_contact_rows *of)
{
    return (const cm_contact *)((const char *)world + of->offset[CM_SECTION_contact]);
}

static bool before(const cm_contact *a, const cm_contact *b)
{
    return a->shape_a < b->shape_a || (a->shape_a == b->shape_a && a->shape_b < b->shape_b);
}

static inline bool has_active(const carom_world *world, const cm_contact *contact)
{
    const cm_shape *shapes = cm_shapes(world);
    const uint8_t *active = cm_active(world);
    return active[shapes[contact->shape_a].body] | active[shapes[contact->shape_b].body];
}

// Rows of some sections: from one list to another place of it or of another list.
static void copy(carom_world *world, int first, int last, const uint32_t *to, uint32_t to_row,
                 const uint32_t *from, uint32_t from_row, uint32_t count)
{
    for (int section = first; section <= last && count > 0; section++) {
        uint32_t stride = cm_section_stride((cm_section)section);
        if (cm_has_rows(world, (cm_section)section)) {
            memmove((char *)world + to[section] + (size_t)to_row * stride,
                    (char *)world + from[section] + (size_t)from_row * stride,
                    (size_t)count * stride);
        }
    }
}

// One contact and its points.
static void copy_contact(carom_world *world, const cm_contact_rows *to, cm_contact_at to_at,
                         const cm_contact_rows *from, cm_contact_at from_at, uint32_t points)
{
    copy(world, CM_CONTACTS_FIRST, CM_CONTACTS_LAST, to->offset, to_at.row, from->offset,
         from_at.row, 1);
    copy(world, CM_POINTS_FIRST, CM_POINTS_LAST, to->offset, to_at.point, from->offset,
         from_at.point, points);
}

typedef struct transfer {
    const cm_contact_rows *from, *to;
    bool active, all; // which go: those that have an active body, or have none; all of them
    int sum;          // what one that goes is to the hash of those at rest: 1, 0 or -1
} transfer;

static inline bool goes(const carom_world *world, const transfer *t, const cm_contact *contact)
{
    return t->all || has_active(world, contact) == t->active;
}

// From the end: what goes enters the other list. `count`: how many go, and their points.
static void merge(carom_world *world, const transfer *t, cm_contact_at count,
                  const cm_contact_moves *moves)
{
    const cm_contact *from = contacts_of(world, t->from), *to = contacts_of(world, t->to);
    cm_contact_at read = {*t->from->rows, *t->from->points};
    cm_contact_at held = {*t->to->rows, *t->to->points};
    cm_contact_at write = {held.row + count.row, held.point + count.point};
    *t->to->rows = write.row;
    *t->to->points = write.point;
    while (read.row > 0 && write.row > held.row) {
        const cm_contact *contact = &from[--read.row];
        read.point -= contact->point_count;
        if (!goes(world, t, contact)) {
            continue;
        }
        while (held.row > 0 && before(contact, &to[held.row - 1])) {
            uint32_t points = to[--held.row].point_count;
            held.point -= points;
            write.row--;
            write.point -= points;
            copy_contact(world, t->to, write, t->to, held, points);
            if (moves != NULL) {
                moves->shift(moves->context, write.row, held.row);
            }
        }
        write.row--;
        write.point -= contact->point_count;
        copy_contact(world, t->to, write, t->from, read, contact->point_count);
        if (t->sum != 0) {
            uint64_t hash = cm_contacts_hash(world, t->from->offset, read, 1);
            world->hashed.resting_sum += t->sum > 0 ? hash : 0 - hash;
        }
        if (moves != NULL) {
            moves->enter(moves->context, write.row);
        }
    }
    CM_ASSERT(write.row == held.row);
    CM_ASSERT(write.point == held.point);
}

// From the front: what goes is left out. What stays moves in runs.
static void close_up(carom_world *world, const transfer *t)
{
    const cm_contact *contacts = contacts_of(world, t->from);
    uint32_t rows = *t->from->rows;
    cm_contact_at write = {0}, read = {0};
    while (read.row < rows) {
        if (goes(world, t, &contacts[read.row])) {
            read.point += contacts[read.row].point_count;
            read.row++;
            continue;
        }
        cm_contact_at end = read;
        while (end.row < rows && !goes(world, t, &contacts[end.row])) {
            end.point += contacts[end.row].point_count;
            end.row++;
        }
        uint32_t count = end.row - read.row, points = end.point - read.point;
        if (write.row != read.row) {
            copy(world, CM_CONTACTS_FIRST, CM_CONTACTS_LAST, t->from->offset, write.row,
                 t->from->offset, read.row, count);
            copy(world, CM_POINTS_FIRST, CM_POINTS_LAST, t->from->offset, write.point,
                 t->from->offset, read.point, points);
        }
        write.row += count;
        write.point += points;
        read = end;
    }
    *t->from->rows = write.row;
    *t->from->points = write.point;
}

static cm_contact_at count_going(const carom_world *world, const transfer *t)
{
    const cm_contact *contacts = contacts_of(world, t->from);
    cm_contact_at count = {0};
    for (uint32_t i = 0; i < *t->from->rows; i++) {
        if (goes(world, t, &contacts[i])) {
            count.row++;
            count.point += contacts[i].point_count;
        }
    }
    return count;
}

static void run_transfer(carom_world *world, const transfer *t, bool leave,
                         const cm_contact_moves *moves)
{
    cm_contact_at count = count_going(world, t);
    if (count.row > 0) {
        merge(world, t, count, moves);
        if (leave) {
            close_up(world, t);
        }
    }
}

static cm_contact_rows resting_rows(carom_world *world)
{
    return (cm_contact_rows){world->offset.resting, &world->resting.rows, &world->resting.points};
}

static cm_contact_rows other_rows(carom_world *world)
{
    return (cm_contact_rows){world->offset.rows, &world->state.contact_count,
                             &world->state.point_count};
}

void cm_contacts_enter(carom_world *world, const cm_contact_rows *to, bool leave,
                       const cm_contact_moves *moves)
{
    cm_contact_rows rest = resting_rows(world);
    int sum = leave ? -(int)world->hashed.resting : 0;
    run_transfer(world, &(transfer){&rest, to, true, false, sum}, leave, moves);
}

void cm_contacts_wake(carom_world *world, bool all)
{
    cm_contact_rows rest = resting_rows(world), others = other_rows(world);
    int sum = -(int)world->hashed.resting;
    run_transfer(world, &(transfer){&rest, &others, true, all, sum}, true, NULL);
}

void cm_contacts_rest(carom_world *world)
{
    cm_contact_rows rest = resting_rows(world), others = other_rows(world);
    if (can_rest(world)) {
        int sum = world->hashed.resting;
        run_transfer(world, &(transfer){&others, &rest, false, false, sum}, true, NULL);
    }
}

void cm_contacts_settle(carom_world *world)
{
    cm_turns turns = cm_bodies_look(world);
    if (turns.rose) {
        cm_contacts_wake(world, false);
    }
    if (turns.fell) {
        cm_contacts_rest(world);
    }
}

// The contacts of one list from `at` on, as far as they come before `end`.
static void take_run(const cm_contact *contacts, uint32_t rows, const cm_contact *end,
                     cm_contact_at *at, cm_contact_run *run)
{
    run->row = at->row;
    run->point = at->point;
    do {
        at->point += contacts[at->row].point_count;
        at->row++;
    } while (at->row < rows && (end == NULL || before(&contacts[at->row], end)));
    run->rows = at->row - run->row;
    run->points = at->point - run->point;
}

bool cm_contacts_next(const carom_world *world, cm_contact_run *run)
{
    const cm_contact *now = cm_contacts(world);
    const cm_contact *rest =
        (const cm_contact *)cm_contact_row(world, CM_SECTION_contact, true, 0, 0);
    uint32_t now_rows = world->state.contact_count, rest_rows = world->resting.rows;
    bool has_now = run->now.row < now_rows, has_rest = run->rest.row < rest_rows;
    if (!has_now && !has_rest) {
        return false;
    }
    const cm_contact *next = &now[run->now.row], *other = &rest[run->rest.row];
    run->resting = !has_now || (has_rest && before(other, next));
    if (run->resting) {
        take_run(rest, rest_rows, has_now ? next : NULL, &run->rest, run);
    } else {
        take_run(now, now_rows, has_rest ? other : NULL, &run->now, run);
    }
    return true;
}
