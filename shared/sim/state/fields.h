// The table of the state's fields at run time, and rows as words. Private to shared/sim and tools
// that compare worlds (replay, sim --rollback).
//
// A row of a section flattens into 32-bit words in the order of fields.def: a float is its bits, a
// U64 two words, low first, a U8 a word of its own. Words are values, so that whatever is made of
// them (hash, portable form, difference) is the same on every architecture. Typical: 13 words of
// motion and 46 of body a body, 36 a shape, 42 a contact, 49 a joint.
#ifndef CM_SIM_STATE_FIELDS_H
#define CM_SIM_STATE_FIELDS_H

#include "shared/sim/state/image.h"

typedef enum cm_section {
    CM_SECTION_world,
    CM_SECTION_motion,
    CM_SECTION_body,
    CM_SECTION_shape,
    CM_SECTION_contact,
    CM_SECTION_joint,
    CM_SECTION_rule,
    CM_SECTION_COUNT
} cm_section;

typedef enum cm_kind { CM_U8, CM_U32, CM_U64, CM_I32, CM_F32 } cm_kind;

#define CM_WORDS_U8  1
#define CM_WORDS_U32 1
#define CM_WORDS_U64 2
#define CM_WORDS_I32 1
#define CM_WORDS_F32 1

// Words of a row of the widest section.
#define CM_ROW_WORDS_MAX 64

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
uint32_t cm_section_rows(const carom_world *world, cm_section section);
void *cm_section_row(const carom_world *world, cm_section section, uint32_t row);

// Between a row's struct and its words. Storing sets the padding to zero and is false where a word
// is outside its kind (a U8 above 255).
void cm_row_load(cm_section section, const void *row, uint32_t *words);
bool cm_row_store(cm_section section, const uint32_t *words, void *row);

// A hash of the table's names, kinds and counts and of the image's version: images and encoded
// worlds of another table are refused.
uint64_t cm_layout_hash(void);

// The first field in which two worlds differ, in the order of the sections.
typedef struct cm_difference {
    uint64_t tick; // of the first world
    const char *section;
    const char *field;
    uint32_t row;     // slot, or row of the contact
    uint32_t element; // of the field
    uint32_t body;    // slot of the body that it belongs to, CM_NONE for the world's own fields
    char first[32];   // values as text, floats with nine significant digits
    char second[32];
} cm_difference;

// False where the states are equal in every bit of every field.
bool cm_world_difference(const carom_world *first, const carom_world *second, cm_difference *out);

#endif
