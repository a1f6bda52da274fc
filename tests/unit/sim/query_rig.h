// What the tests of queries share: questions from seeds, and the answers of a scan over all shapes,
// without tree, boxes or bounds, in the order that query.h promises.
#ifndef CM_TESTS_UNIT_SIM_QUERY_RIG_H
#define CM_TESTS_UNIT_SIM_QUERY_RIG_H

#include "shared/sim/query/query.h"
#include "tests/fuzz/random_world.h"

#define CM_QUERY_RIG_HITS 200u

// A question, and the same as the engine's inside takes it.
typedef struct cm_question {
    carom_ray ray;         // of a cast: where the shape begins and its way
    carom_shape_def shape; // of casts and overlaps
    float max_distance;    // of the nearest
    carom_query_filter filter;
    cm_query inside;
} cm_question;

// Of a kind, mostly where bodies are. Its points may be beyond what the API takes, in wild worlds:
// then false.
bool cm_question_draw(cm_query_kind kind, const cm_random_world *random, cm_rng *rng,
                      cm_question *question);
// By the API.
carom_result cm_question_ask(const carom_world *world, const cm_question *question,
                             carom_query_hit *hits, uint32_t capacity, uint32_t *count);
// All answers, by asking every shape.
uint32_t cm_question_scan(const carom_world *world, const cm_question *question,
                          carom_query_hit *hits);
// Asks both, by a look at all shapes and by a tree, with room for all and for some; fails the test
// where a bit differs. How many answers.
uint32_t cm_question_check(carom_world *world, const cm_question *question);

bool cm_same_hit(const carom_query_hit *a, const carom_query_hit *b);

// Changes the world by calls, steps and rewinds; `twin` takes part.
void cm_question_stir(cm_random_world *random, carom_world *twin, cm_rng *rng);

carom_vec3 cm_around(cm_rng *rng, float width);

#endif
