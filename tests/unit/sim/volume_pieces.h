// Pieces for the tests of the volume solver: boxes and hulls of random points in random places.
#ifndef CM_TESTS_VOLUME_PIECES_H
#define CM_TESTS_VOLUME_PIECES_H

#include "shared/sim/solve/volume/friction.h"
#include "shared/sim/solve/volume/gjk.h"
#include "tests/unit/sim/hulls.h"

double cm_pieces_random(uint64_t *state); // in [-1, 1)
cm_d3 cm_pieces_vec(uint64_t *state, double size);
cm_dmat cm_pieces_rotation(uint64_t *state);
cm_dmat cm_pieces_turn(cm_d3 axis, double angle);

void cm_pieces_box(cm_d3 half, cm_d3 position, cm_dmat rotation, cm_volume_piece *piece);
void cm_pieces_floor(double height, cm_volume_piece *piece);
void cm_pieces_hull(const carom_hull *hull, cm_d3 position, cm_dmat rotation,
                    cm_volume_piece *piece);
void cm_pieces_round(carom_shape_type type, float radius, float half, cm_d3 position,
                     cm_dmat rotation, uint32_t segments, cm_volume_piece *piece);

#endif
