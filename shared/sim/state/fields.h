// The table of the state's fields at run time, and rows as words. What is made
// of it as a whole, the layout hash and the difference of two worlds, inspect.h declares. Private
// to shared/sim.
//
// A row of a section flattens into 32-bit words in the order of fields.def: a float is its bits, a
// U64 two words, low first, a U8 a word of its own. Words are values, so that whatever is made of
// them (hash, portable form, difference) is the same on every architecture. Typical: 13 words of
// motion and 46 of body a body, 36 a shape, 22 a contact and 6 a point of soft, 49 a joint.
#ifndef CM_SIM_STATE_FIELDS_H
#define CM_SIM_STATE_FIELDS_H

#include "shared/sim/inspect.h"
#include "shared/sim/state/image.h"

typedef enum cm_kind { CM_U8, CM_U32, CM_U64, CM_I32, CM_F32 } cm_kind;

#define CM_WORDS_U8  1
#define CM_WORDS_U32 1
#define CM_WORDS_U64 2
#define CM_WORDS_I32 1
#define CM_WORDS_F32 1

// Words of a row of the widest section.
#define CM_ROW_WORDS_MAX 64
#define CM_ROW_BYTES_MAX 200

typedef struct cm_field {
    const char *name;
    cm_section section;
    cm_kind kind;
    uint32_t count;  // elements
    uint32_t offset; // bytes in the row's struct
    uint32_t word;   // first word in the flattened row
} cm_field;

const cm_field *cm_fields(uint32_t *count);
const char *cm_section_name(cm_section section);
uint32_t cm_section_words(cm_section section);  // of a row
uint32_t cm_section_stride(cm_section section); // bytes of a row's struct
// Rows in use; 0 where the world's solver has no such section.
uint32_t cm_section_rows(const carom_world *world, cm_section section);
// The count of rows of such a state, whether or not a world has the section.
uint32_t cm_section_count(const cm_world_state *state, cm_section section);
// The counts of a world of these limits that is full.
cm_world_state cm_full_counts(const carom_limits *limits);
const void *cm_section_row(const carom_world *world, cm_section section, uint32_t row);
// The row, to be changed (cm_body_change).
void *cm_section_change(carom_world *world, cm_section section, uint32_t row);

// Between a row's struct and its words. Storing sets the padding to zero and is false where a word
// is outside its kind (a U8 above 255).
void cm_row_load(cm_section section, const void *row, uint32_t *words);
bool cm_row_store(cm_section section, const uint32_t *words, void *row);

// A hash of words, two at a time: four chains, taken in turn by the pairs of a row, so that none
// waits for another. Each link can be undone, so that a change of one value cannot be lost.
#define CM_CHAINS 4u
typedef struct cm_chains {
    uint64_t link[CM_CHAINS];
} cm_chains;

static inline void cm_chain(uint64_t *link, uint64_t pair)
{
    uint64_t s = (*link ^ pair) * UINT64_C(0xd6e8feb86659fd93);
    *link = s << 27 | s >> 37; // not by 32: the signs of two floats would undo each other
}

// One word of the four, mixed so that sums of such words can be told apart.
static inline uint64_t cm_chains_end(const cm_chains *chains)
{
    uint64_t h = chains->link[0];
    for (uint32_t i = 1; i < CM_CHAINS; i++) {
        cm_chain(&h, chains->link[i]);
    }
    h = (h ^ h >> 29) * UINT64_C(0xa0761d6478bd642f);
    return h ^ h >> 32;
}

// Rows of a section that lie one after the other; a last word without a partner has zero.
void cm_rows_hash(cm_section section, const void *rows, uint32_t count, cm_chains *chains);
// The sum of the hashes of contacts that lie one after the other in a list of those offsets, each
// with its points, of all sections that the world has.
uint64_t cm_contacts_hash(const carom_world *world, const uint32_t *offset, cm_contact_at at,
                          uint32_t count);

#endif
