// The drives of a joint as bits: ten words of binary32 as they are, against a baseline or zeros.
// See PROTOCOL.md, "A drive".
//
//   BITS
//   0                 the word is the baseline's
//   1, 0, then s(20)  its bits, as an integer, less the baseline's: within some percent of it
//   1, 1, then 32     the word
// Any bits are ten words; what no joint may have is refused where it is put
// (carom_joint_put_drives). Typical: a motor whose speed follows a stick, 31 bits.
#include "shared/view/view.h"

#include "shared/base/assert.h"

#include <string.h>

#define NEAR_BITS 20u

_Static_assert(sizeof(carom_joint_drives) == CM_VIEW_DRIVE_WORDS * sizeof(uint32_t),
               "a drive is told whole, without padding");

cm_view_body cm_view_drive_make(const carom_joint_drives *drives)
{
    cm_view_body drive = {.has_velocity = 1};
    memcpy(drive.drive, drives, sizeof *drives);
    return drive;
}

carom_joint_drives cm_view_drive_get(const cm_view_body *drive)
{
    carom_joint_drives drives;
    memcpy(&drives, drive->drive, sizeof drives);
    return drives;
}

cm_view_code cm_view_drive_encode(const cm_view_body *baseline, const cm_view_body *drive)
{
    cm_view_code code = {0};
    cm_bit_writer writer;
    cm_bit_writer_init(&writer, code.bytes, sizeof code.bytes);
    for (uint32_t i = 0; i < CM_VIEW_DRIVE_WORDS; i++) {
        uint32_t less = drive->drive[i] - (baseline != NULL ? baseline->drive[i] : 0);
        bool near = less + (1u << (NEAR_BITS - 1)) < 1u << NEAR_BITS;
        cm_write_bool(&writer, less != 0);
        if (less != 0) {
            cm_write_bool(&writer, !near);
            cm_write_bits(&writer, near ? less & ((1u << NEAR_BITS) - 1) : drive->drive[i],
                          near ? NEAR_BITS : 32);
        }
    }
    CM_ASSERT(!writer.overflow);
    code.count = (uint32_t)writer.position;
    return code;
}

void cm_view_drive_read(cm_bit_reader *reader, const cm_view_body *baseline, cm_view_body *drive)
{
    static const cm_view_body nothing = {.has_velocity = 1};
    *drive = baseline != NULL ? *baseline : nothing;
    for (uint32_t i = 0; i < CM_VIEW_DRIVE_WORDS; i++) {
        if (!cm_read_bool(reader)) {
            continue;
        }
        if (cm_read_bool(reader)) {
            drive->drive[i] = cm_read_bits(reader, 32);
        } else {
            const uint32_t top = 1u << (NEAR_BITS - 1);
            drive->drive[i] += (cm_read_bits(reader, NEAR_BITS) ^ top) - top;
        }
    }
}
