// A stable radix sort: our own, because qsort's order of equal keys is the library's business.
#ifndef CM_SIM_STATE_SORT_H
#define CM_SIM_STATE_SORT_H

#include <stdint.h>

// Sorts count keys below 2^30 ascending, with their values; equal keys keep their order. spare_keys
// and spare_values are room for count entries each; the result is in keys and values.
void cm_sort(uint32_t *keys, uint32_t *values, uint32_t *spare_keys, uint32_t *spare_values,
             uint32_t count);

#endif
