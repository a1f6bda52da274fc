// The passes one lane at a time: for groups without a colour, whose lanes may share bodies and so
// must be solved one after another, and for architectures without vectors. The reference for the
// other widths: the tests compare them bit by bit.
#include <stddef.h>
#include <string.h>

#define CM_LANES      1
#define CM_PASS(name) name##_1

#include "shared/sim/solve/soft/pass.inl"
