// Rows of bodies and shapes that repeat the row before them, so that a save copies each kind once.
// Private to shared/sim.
//
// Most bodies of a world are alike, and what a row holds beside pose and velocity changes rarely.
// Row i repeats row i - 1 where it is the same, but for the word that counts up: the first shape of
// a body, the body of a shape. Which rows do is a function of the rows alone, so equal states are
// equal saves; what is known of it, 64 rows a page, is neither state nor scratch, and is found out
// when a save asks.
//
// Who changes a row asks for it by cm_body_change or cm_shape_change, and writes before the next
// save; rows are otherwise read only.
//
// In an image, for each of the two sections:
//
//   OFFSET   SIZE                CONTENT
//   0        8 x pages           a bit a row, the lowest first: it repeats the row before
//   …        stride x rows       the rows that do not, in order
//
// Typical: 1,000 cubes and 5 walls: 9 rows of each section.
#ifndef CM_SIM_STATE_REPEAT_H
#define CM_SIM_STATE_REPEAT_H

#include "shared/sim/state/image.h"

// Bytes of a section in an image, at most; and of what is known of so many rows.
uint64_t cm_repeat_bound(cm_section section, uint32_t rows);
uint64_t cm_repeat_known_size(uint32_t rows);

// Asks for the rows of a section that repeat nothing: they lie far apart.
void cm_repeat_fetch(const carom_world *world, cm_section section);

// Bytes of a world's section in an image, as it is.
uint64_t cm_repeat_size(carom_world *world, cm_section section);
// Writes the section; right behind cm_repeat_size. The end of what is written.
char *cm_repeat_put(const carom_world *world, cm_section section, char *to);

// Bytes of a section of so many rows in an image of which `size` are left; 0 where it is not sound.
uint64_t cm_repeat_measure(cm_section section, uint32_t rows, const char *from, uint64_t size);
// Reads a section that was measured into the world, whose counts are set. The end of what is read.
// What stands there already is not written again.
const char *cm_repeat_take(carom_world *world, cm_section section, const char *from);

#endif
