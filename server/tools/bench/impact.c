// Measures carom/impact.h: 1,024 cases made beforehand, each computed again and again. The time
// includes reading the cases, checking and computing them, and summing the results.
#include "server/tools/bench/impact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASES    1024u
#define RUNS_MAX 1000u

typedef struct cases {
    carom_impact_case pairs[CASES];
    carom_circle circles[CASES][2];
} cases;

static double unit(uint64_t *chance) // -1..1
{
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    return (double)(*chance >> 11) * 0x1p-52 - 1.0;
}

static carom_dvec3 vector(uint64_t *chance, double size)
{
    double x = size * unit(chance), y = size * unit(chance);
    carom_dvec3 v = {x, y, size * unit(chance)};
    return v;
}

// About an axis in x-y: rotations without much ado.
static carom_dmat3 attitude(uint64_t *chance)
{
    double a = 3.0 * unit(chance), b = 3.0 * unit(chance);
    double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b);
    carom_dmat3 m = {{ca, sa * cb, sa * sb}, {-sa, ca * cb, ca * sb}, {0.0, -sb, cb}};
    return m;
}

static void make_cases(cases *c)
{
    uint64_t chance = 1;
    for (uint32_t i = 0; i < CASES; i++) {
        carom_impact_case *pair = &c->pairs[i];
        for (int k = 0; k < 2; k++) {
            carom_impact_body *body = &pair->bodies[k];
            double side = k == 0 ? -1.0 : 1.0;
            body->mass = 1.1 + unit(&chance);
            body->inertia = (carom_dsym3){0.5, 0.6 + 0.3 * unit(&chance), 0.7, 0.0, 0.0, 0.0};
            body->attitude = attitude(&chance);
            body->center = vector(&chance, 0.3);
            body->center.x += side;
            body->velocity = vector(&chance, 1.0);
            body->velocity.x -= 6.0 * side;
            body->angular_velocity = vector(&chance, 2.0);
            c->circles[i][k] = (carom_circle){{body->center.x, body->center.y},
                                              {body->velocity.x, body->velocity.y},
                                              1.4,
                                              body->mass};
        }
        pair->normal = vector(&chance, 0.3);
        pair->normal.x += 1.0;
        pair->friction = 0.5 + 0.5 * unit(&chance);
        pair->restitution = 0.5 + 0.5 * unit(&chance);
    }
}

static double collide(const cases *c, uint32_t which, uint32_t i)
{
    carom_impact impact;
    carom_circle_impact circle;
    i %= CASES;
    if (which == 2) {
        carom_circle_collide(&c->circles[i][0], &c->circles[i][1], c->pairs[i].restitution, 1.0,
                             &circle);
        return circle.as2;
    }
    (which == 0 ? carom_impact_interpolated : carom_impact_normal)(&c->pairs[i], &impact);
    return impact.impulse.x;
}

carom_result cm_impact_bench_measure(uint32_t which, uint32_t collisions, uint32_t runs,
                                     cm_impact_bench *bench)
{
    static const char *const MODELS[] = {"interpolated", "normal", "circle"};
    double samples[RUNS_MAX];
    cases *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    make_cases(c);
    runs = runs < RUNS_MAX ? runs : RUNS_MAX;
    *bench = (cm_impact_bench){.model = MODELS[which], .collisions = collisions};
    for (uint32_t run = 0; run < runs; run++) {
        double sum = 0.0, start = cm_bench_thread_ms();
        for (uint32_t i = 0; i < collisions; i++) {
            sum += collide(c, which, i);
        }
        samples[run] = cm_bench_thread_ms() - start;
        bench->sum = sum;
    }
    cm_samples_summarise(samples, runs, &bench->time);
    free(c);
    return CAROM_OK;
}
