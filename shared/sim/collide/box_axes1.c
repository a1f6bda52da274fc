// The separating axes and faces of one pair of boxes: where a pair comes alone. The reference for
// the other widths: the tests compare them bit by bit.
#include <stddef.h>
#include <string.h>

#define CM_LANES 1
#define CM_AXES  cm_box_axes_1
#define CM_FACES cm_box_faces_1

#include "shared/sim/collide/box_axes.inl"
#include "shared/sim/collide/box_faces.inl"
