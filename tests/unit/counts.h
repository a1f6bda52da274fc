// How many seeds, worlds or files a test goes through: few in `make test`, all of them in `make
// check-counts`, which sets CAROM_TEST_COUNTS=full. Either is a fixed number of fixed seeds.
#ifndef TESTS_COUNTS_H
#define TESTS_COUNTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t test_count(uint32_t few, uint32_t all)
{
    const char *asked = getenv("CAROM_TEST_COUNTS");
    return asked != NULL && strcmp(asked, "full") == 0 ? all : few;
}

#endif
