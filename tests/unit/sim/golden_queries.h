// A hash of what every kind of query finds in a world, by questions that follow from the world and
// constants alone: for tests of determinism.
#ifndef CM_TESTS_UNIT_SIM_GOLDEN_QUERIES_H
#define CM_TESTS_UNIT_SIM_GOLDEN_QUERIES_H

#include "carom/query.h"

uint64_t cm_golden_queries(const carom_world *world);

#endif
