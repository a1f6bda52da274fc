// Random convex pieces, the same in every run; see volume_pieces.h.
#include "tests/unit/sim/volume_pieces.h"

#include <math.h>
#include <string.h>

double cm_pieces_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

cm_d3 cm_pieces_vec(uint64_t *state, double size)
{
    double x = cm_pieces_random(state), y = cm_pieces_random(state);
    return cm_d3_of(size * x, size * y, size * cm_pieces_random(state));
}

cm_dmat cm_pieces_rotation(uint64_t *state)
{
    cm_d3 v = cm_pieces_vec(state, 1.0);
    cm_dquat q = {v.x, v.y, v.z, cm_pieces_random(state)};
    return cm_dmat_from_quat(cm_dquat_unit(q));
}

cm_dmat cm_pieces_turn(cm_d3 axis, double angle)
{
    cm_d3 v = cm_d3_scale(sin(0.5 * angle), axis);
    cm_dquat q = {v.x, v.y, v.z, cos(0.5 * angle)};
    return cm_dmat_from_quat(q);
}

void cm_pieces_box(cm_d3 half, cm_d3 position, cm_dmat rotation, cm_volume_piece *piece)
{
    cm_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.type = CAROM_SHAPE_BOX;
    shape.size[0] = (float)half.x;
    shape.size[1] = (float)half.y;
    shape.size[2] = (float)half.z;
    cm_volume_transform transform = {position, rotation};
    cm_volume_piece_make(&shape, NULL, &transform, 16, piece);
}

void cm_pieces_floor(double height, cm_volume_piece *piece)
{
    cm_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.type = CAROM_SHAPE_PLANE;
    shape.size[1] = 1.0f;
    cm_volume_transform transform = {cm_d3_of(0.0, height, 0.0),
                                     cm_pieces_turn(cm_d3_of(0.0, 1.0, 0.0), 0.0)};
    cm_volume_piece_make(&shape, NULL, &transform, 16, piece);
}

void cm_pieces_hull(const carom_hull *hull, cm_d3 position, cm_dmat rotation,
                    cm_volume_piece *piece)
{
    cm_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.type = CAROM_SHAPE_HULL;
    cm_volume_transform transform = {position, rotation};
    cm_volume_piece_make(&shape, hull, &transform, 16, piece);
}

void cm_pieces_round(carom_shape_type type, float radius, float half, cm_d3 position,
                     cm_dmat rotation, uint32_t segments, cm_volume_piece *piece)
{
    cm_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.type = (uint8_t)type;
    shape.size[0] = radius;
    shape.size[1] = half;
    cm_volume_transform transform = {position, rotation};
    cm_volume_piece_make(&shape, NULL, &transform, segments, piece);
}
