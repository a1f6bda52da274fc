// The portable forms of a world and of a body share header, rows and rules. Private to
// shared/sim.
#ifndef CM_SIM_STATE_PORTABLE_H
#define CM_SIM_STATE_PORTABLE_H

#include "shared/base/bytes.h"
#include "shared/sim/state/fields.h"

// Magic, engine version, layout hash.
#define CM_PORTABLE_HEADER 16u

void cm_portable_put_header(cm_byte_writer *writer, uint32_t magic, uint64_t layout_hash);
// OK, MAGIC, VERSION, or CORRUPT where the bytes end in it.
carom_result cm_portable_check_header(cm_byte_reader *reader, uint32_t magic, uint64_t layout_hash);

void cm_portable_put_row(cm_byte_writer *writer, cm_section section, const void *row);
// False where a word does not fit its kind. Past the end the reader's flag is set and zeros are
// read.
bool cm_portable_get_row(cm_byte_reader *reader, cm_section section, void *row);

// A dead row is zero but for its generation.
bool cm_portable_is_dead(cm_section section, const void *row);
// A live body's rows by themselves: OK or CORRUPT.
carom_result cm_portable_check_body(const cm_motion *motion, const cm_body *body);

#endif
