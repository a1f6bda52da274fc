// Libraries that a build may do without. The Makefile builds the parts whose library pkg-config
// finds, or those that WITH= names; a part that is left out reports its name where it is used.
#ifndef CM_SERVER_OPS_PARTS_H
#define CM_SERVER_OPS_PARTS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cm_part_id {
    CM_PART_HTTP,
    CM_PART_XZ,
    CM_PART_COUNT,
} cm_part_id;

typedef struct cm_part {
    const char *name, *package, *gives; // of WITH=, of Debian, what it is for
    bool is_built;
} cm_part;

extern const cm_part cm_parts[CM_PART_COUNT];

// Writes the error of an absent part: its name, and how to build with it.
void cm_part_report_absent(cm_part_id id, char *error, size_t error_size);

#endif
