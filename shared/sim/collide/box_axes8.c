// The separating axes and faces of eight pairs of boxes at a time, for processors with AVX2 (chosen
// at run time, stages.c).
#if defined(__x86_64__)

#define CM_LANES 8
#define CM_AXES  cm_box_axes_8
#define CM_FACES cm_box_faces_8

#include "shared/base/target.inl"

#include "shared/sim/collide/box_axes.inl"
#include "shared/sim/collide/box_faces.inl"

#include "shared/base/target.inl"

#else

typedef int cm_no_eight_lanes_here;

#endif
