// The stages that find contacts, once more for processors with AVX2 (chosen at run time, stages.c):
// the same sources compiled for it, under names that end in _8. The same bits: AVX2 is turned on
// for this file's functions, FMA is not, and the build forbids contraction. Three operands in place
// of two and fewer spills: a tenth of a step of 1,000 boxes in motion.
#if defined(__x86_64__)

#include "shared/base/target.inl"

#include "shared/sim/collide/wide_names.h"

#include "shared/sim/collide/axis.c"
#include "shared/sim/collide/bounds_tree.c"
#include "shared/sim/collide/box.c"
#include "shared/sim/collide/broadphase.c"
#include "shared/sim/collide/clip.c"
#include "shared/sim/collide/collide.c"
#include "shared/sim/collide/convex.c"
#include "shared/sim/collide/convex_pair.c"
#include "shared/sim/collide/convex_plane.c"
#include "shared/sim/collide/dispatch.c"
#include "shared/sim/collide/gjk.c"
#include "shared/sim/collide/hull.c"
#include "shared/sim/collide/hull_apart.c"
#include "shared/sim/collide/morton.c"
#include "shared/sim/collide/shape_transform.c"
#include "shared/sim/collide/plane.c"
#include "shared/sim/collide/poly.c"
#include "shared/sim/collide/recycle.c"
#include "shared/sim/collide/round.c"
#include "shared/sim/collide/round_box.c"

#include "shared/base/target.inl"

#else

typedef int cm_no_wide_stages_here;

#endif
