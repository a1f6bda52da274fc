// The separating axes and faces of four pairs of boxes at a time: SSE2, NEON, WebAssembly;
// elsewhere the compiler takes them apart.
#include <stddef.h>
#include <string.h>

#define CM_LANES 4
#define CM_AXES  cm_box_axes_4
#define CM_FACES cm_box_faces_4

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "shared/sim/collide/box_axes.inl"
#include "shared/sim/collide/box_faces.inl"
