// Knows which rows repeat the row before, and takes the others to an image and back. See repeat.h.
//
// Invariant: where a row's bit of `known` is set, its bit of `repeats` is right. A change of row i
// clears `known` of i and i + 1, which may be of the next page: there is one more than rows fill.
#include "shared/sim/state/repeat.h"

#include "shared/sim/state/fields.h"

#include <stddef.h>
#include <string.h>

#define HEAD    12u // bytes before the word that counts up
#define FETCHED 4u  // rows of a page: where there are more, they lie together

_Static_assert(offsetof(cm_body, first_shape) == HEAD, "counts up from row to row");
_Static_assert(offsetof(cm_shape, body) == HEAD, "counts up from row to row");

static uint32_t pages_of(uint32_t rows)
{
    return (rows + CM_PAGE_ROWS - 1) / CM_PAGE_ROWS;
}

// Bits of the rows of a page, where there are so many rows in all.
static uint64_t used_bits(uint32_t rows, uint32_t page)
{
    uint32_t left = rows - page * CM_PAGE_ROWS;
    return left < CM_PAGE_ROWS ? ((uint64_t)1 << left) - 1 : UINT64_MAX;
}

uint64_t cm_repeat_known_size(uint32_t rows)
{
    return (pages_of(rows) + 1) * sizeof(cm_page);
}

uint64_t cm_repeat_bound(cm_section section, uint32_t rows)
{
    return pages_of(rows) * sizeof(uint64_t) + (uint64_t)rows * cm_section_stride(section);
}

// The word that counts up, in the row behind this one if that one repeats it.
static inline uint32_t next_body_word(const cm_body *row)
{
    return row->first_shape + (row->alive && row->first_shape != CM_NONE);
}

static inline uint32_t next_shape_word(const cm_shape *row)
{
    return row->body + row->alive;
}

static inline bool body_repeats(const cm_body *row)
{
    const cm_body *last = row - 1;
    return memcmp(row, last, HEAD) == 0 && row->first_shape == next_body_word(last) &&
           memcmp(&row->first_shape + 1, &last->first_shape + 1, sizeof *row - HEAD - 4) == 0;
}

static inline bool shape_repeats(const cm_shape *row)
{
    const cm_shape *last = row - 1;
    return memcmp(row, last, HEAD) == 0 && row->body == next_shape_word(last) &&
           memcmp(&row->body + 1, &last->body + 1, sizeof *row - HEAD - 4) == 0;
}

// To an image --------------------------------------------------------------------------------

// Finds out what is not known of a page; how many of its rows do not repeat.
static uint32_t look(const carom_world *world, cm_section section, uint32_t page, uint64_t used)
{
    cm_page *of = cm_pages(world, section) + page;
    for (uint64_t ask = used & ~of->known; ask != 0; ask &= ask - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(ask), row = page * CM_PAGE_ROWS + bit;
        bool repeats =
            row > 0 && (section == CM_SECTION_body ? body_repeats(cm_bodies(world) + row)
                                                   : shape_repeats(cm_shapes(world) + row));
        of->repeats = (of->repeats & ~((uint64_t)1 << bit)) | (uint64_t)repeats << bit;
    }
    of->known = used;
    of->repeats &= used;
    return (uint32_t)__builtin_popcountll(used & ~of->repeats);
}

uint64_t cm_repeat_size(carom_world *world, cm_section section)
{
    uint32_t rows = cm_section_count(&world->state, section), kept = 0;
    for (uint32_t page = 0; page < pages_of(rows); page++) {
        kept += look(world, section, page, used_bits(rows, page));
    }
    return pages_of(rows) * sizeof(uint64_t) + (uint64_t)kept * cm_section_stride(section);
}

// The next run of rows that do not repeat, from *bit on: its length; 0: there is none.
static inline uint32_t next_run(uint64_t kept, uint32_t *bit)
{
    uint64_t rest = *bit < CM_PAGE_ROWS ? kept >> *bit << *bit : 0;
    if (rest == 0) {
        return 0;
    }
    *bit = (uint32_t)__builtin_ctzll(rest);
    uint64_t ends = ~(rest >> *bit);
    return ends != 0 ? (uint32_t)__builtin_ctzll(ends) : CM_PAGE_ROWS;
}

void cm_repeat_fetch(const carom_world *world, cm_section section)
{
    uint32_t rows = cm_section_count(&world->state, section), stride = cm_section_stride(section);
    const cm_page *of = cm_pages(world, section);
    const char *from = cm_rows(world, section);
    for (uint32_t page = 0; page < pages_of(rows); page++, from += CM_PAGE_ROWS * stride) {
        uint64_t kept = used_bits(rows, page) & ~of[page].repeats;
        for (uint32_t left = FETCHED; kept != 0 && left > 0; kept &= kept - 1, left--) {
            const char *row = from + (uint32_t)__builtin_ctzll(kept) * stride;
            for (uint32_t at = 0; at < stride; at += CM_CACHE_LINE) {
                __builtin_prefetch(row + at);
            }
            __builtin_prefetch(row + stride - 1);
        }
    }
}

char *cm_repeat_put(const carom_world *world, cm_section section, char *to)
{
    uint32_t rows = cm_section_count(&world->state, section), pages = pages_of(rows);
    size_t stride = cm_section_stride(section);
    const cm_page *of = cm_pages(world, section);
    const char *from = cm_rows(world, section);
    for (uint32_t page = 0; page < pages; page++, to += sizeof(uint64_t)) {
        memcpy(to, &of[page].repeats, sizeof(uint64_t));
    }
    for (uint32_t page = 0; page < pages; page++, from += CM_PAGE_ROWS * stride) {
        uint64_t kept = used_bits(rows, page) & ~of[page].repeats;
        uint32_t bit = 0;
        for (uint32_t run = next_run(kept, &bit); run > 0; run = next_run(kept, &bit)) {
            memcpy(to, from + bit * stride, run * stride);
            to += run * stride;
            bit += run;
        }
    }
    return to;
}

// From an image ------------------------------------------------------------------------------

uint64_t cm_repeat_measure(cm_section section, uint32_t rows, const char *from, uint64_t size)
{
    uint32_t pages = pages_of(rows);
    uint64_t needed = pages * sizeof(uint64_t);
    if (size < needed) {
        return 0;
    }
    for (uint32_t page = 0; page < pages; page++) {
        uint64_t repeats, used = used_bits(rows, page);
        memcpy(&repeats, from + page * sizeof repeats, sizeof repeats);
        if ((page == 0 && (repeats & 1)) || (repeats & ~used)) {
            return 0;
        }
        needed += (uint64_t)__builtin_popcountll(used & ~repeats) * cm_section_stride(section);
    }
    return needed <= size ? needed : 0;
}

// Returns true if the rows of a page are these already.
static bool stand(const cm_page *of, uint64_t used, uint64_t repeats, size_t stride,
                  const char *rows, const char *from)
{
    bool same = (of->known & used) == used && (of->repeats & used) == repeats;
    uint32_t bit = 0;
    for (uint32_t run = next_run(used & ~repeats, &bit); same && run > 0;
         run = next_run(used & ~repeats, &bit)) {
        same = memcmp(rows + bit * stride, from, run * stride) == 0;
        from += run * stride;
        bit += run;
    }
    return same;
}

// Rows of a page: those that the image holds, and after each those that repeat it. Returns which
// are others than before.
static uint64_t fill_bodies(cm_body *rows, uint64_t used, uint64_t repeats, const char *from)
{
    uint64_t written = 0;
    for (uint32_t i = 0; i < CM_PAGE_ROWS && used >> i & 1; i++) {
        cm_body row;
        if (repeats >> i & 1) {
            const cm_body *last = &rows[i] - 1; // of the page before, where i is 0
            row = *last;
            row.first_shape = next_body_word(last);
        } else {
            memcpy(&row, from, sizeof row);
            from += sizeof row;
        }
        if (memcmp(&rows[i], &row, sizeof row) != 0) {
            rows[i] = row;
            written |= (uint64_t)1 << i;
        }
    }
    return written;
}

static uint64_t fill_shapes(cm_shape *rows, uint64_t used, uint64_t repeats, const char *from)
{
    uint64_t written = 0;
    for (uint32_t i = 0; i < CM_PAGE_ROWS && used >> i & 1; i++) {
        cm_shape row;
        if (repeats >> i & 1) {
            const cm_shape *last = &rows[i] - 1; // of the page before, where i is 0
            row = *last;
            row.body = next_shape_word(last);
        } else {
            memcpy(&row, from, sizeof row);
            from += sizeof row;
        }
        if (memcmp(&rows[i], &row, sizeof row) != 0) {
            rows[i] = row;
            written |= (uint64_t)1 << i;
        }
    }
    return written;
}

// Of a page of bodies, or, where shapes changed, of all.
static void forget_names(carom_world *world, cm_section section, uint32_t page)
{
    cm_page *pages = cm_pages(world, CM_SECTION_body);
    bool all = section == CM_SECTION_shape;
    uint32_t end = all ? pages_of(world->limits.bodies) : page + 1;
    for (uint32_t i = all ? 0 : page; i < end; i++) {
        pages[i].named = 0;
    }
}

const char *cm_repeat_take(carom_world *world, cm_section section, const char *from)
{
    uint32_t rows = cm_section_count(&world->state, section), pages = pages_of(rows);
    size_t stride = cm_section_stride(section);
    const char *words = from;
    from += pages * sizeof(uint64_t);
    for (uint32_t page = 0; page < pages; page++) {
        cm_page *of = cm_pages(world, section) + page;
        char *to = (char *)cm_rows(world, section) + page * CM_PAGE_ROWS * stride;
        uint64_t repeats, used = used_bits(rows, page);
        memcpy(&repeats, words + page * sizeof repeats, sizeof repeats);
        if (!stand(of, used, repeats, stride, to, from)) {
            of->noted |= used;
            of->moved |= used;
            forget_names(world, section, page);
            of->written |= section == CM_SECTION_body
                               ? fill_bodies((cm_body *)to, used, repeats, from)
                               : fill_shapes((cm_shape *)to, used, repeats, from);
            of[1].known &= ~(uint64_t)1; // what is not the last row of this page any more
        }
        of->repeats = repeats;
        of->known = used;
        from += (size_t)__builtin_popcountll(used & ~repeats) * stride;
    }
    return from;
}
