// Colliding circles as pure functions, after the zenn.dev article of 2023: its steps in its
// order, so that its printed digits come out.
//
// The article has no test of approach and would pull separating circles together; here velocities
// then stay (the separation is kept).
#include "shared/sim/solve/impulse/impulse.h"

#include <string.h>

static carom_result check_circle(const carom_circle *c)
{
    const double values[] = {c->position[0], c->position[1], c->velocity[0],
                             c->velocity[1], c->radius,      c->mass};
    for (int i = 0; i < 6; i++) {
        if (values[i] - values[i] != 0.0) {
            return CAROM_ERROR_NOT_FINITE;
        }
    }
    return c->radius > 0.0 && c->mass > 0.0 ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

static carom_result check(const carom_circle *a, const carom_circle *b, double e, double pixel)
{
    if (e - e != 0.0 || pixel - pixel != 0.0) {
        return CAROM_ERROR_NOT_FINITE;
    }
    if (!(e >= 0.0 && e <= 1.0 && pixel >= 0.0)) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_result result = check_circle(a);
    return result == CAROM_OK ? check_circle(b) : result;
}

// Steps 1 and 2.
static void test_hit(double pixel, double touch, carom_circle_impact *out)
{
    const carom_circle *a = &out->a, *b = &out->b;
    out->ab[0] = b->position[0] - a->position[0];
    out->ab[1] = b->position[1] - a->position[1];
    double distance = __builtin_sqrt(out->ab[0] * out->ab[0] + out->ab[1] * out->ab[1]);
    out->n[0] = distance > 0.0 ? out->ab[0] / distance : 1.0;
    out->n[1] = distance > 0.0 ? out->ab[1] / distance : 0.0;
    out->gap = distance - a->radius - b->radius;
    // round(gap) < 0 where halves go away from zero
    out->hit = pixel > 0.0 ? out->gap / pixel <= -0.5 : out->gap < 0.0 || out->gap < touch;
}

// Step 3. A mass without end moves nothing and leaves all to the other.
static void separate(const bool fixed[2], carom_circle_impact *out)
{
    double am = out->a.mass, bm = out->b.mass, len = -out->gap;
    double to_a = fixed[0] ? 0.0 : (fixed[1] ? -1.0 : -bm / (am + bm));
    double to_b = fixed[1] ? 0.0 : (fixed[0] ? 1.0 : am / (am + bm));
    for (int i = 0; i < 2; i++) {
        out->a.position[i] += out->n[i] * len * to_a;
        out->b.position[i] += out->n[i] * len * to_b;
    }
}

// Step 4.
static void split(carom_circle_impact *out)
{
    const double *av = out->a.velocity, *bv = out->b.velocity, *n = out->n;
    out->as = av[0] * n[0] + av[1] * n[1];
    out->bs = bv[0] * n[0] + bv[1] * n[1];
    for (int i = 0; i < 2; i++) {
        out->avx[i] = n[i] * out->as;
        out->avy[i] = av[i] - out->avx[i];
        out->bvx[i] = n[i] * out->bs;
        out->bvy[i] = bv[i] - out->bvx[i];
    }
}

// Step 5, and what of it the velocities are made of.
static void restitute(double e, const bool fixed[2], carom_circle_impact *out)
{
    double am = out->a.mass, bm = out->b.mass, as = out->as, bs = out->bs;
    out->as2 = (am * as + bm * bs - e * bm * (as - bs)) / (am + bm);
    out->bs2 = (am * as + bm * bs + e * am * (as - bs)) / (am + bm);
    if (fixed[0]) { // the limits for an infinite mass
        out->as2 = as;
        out->bs2 = as + e * (as - bs);
    } else if (fixed[1]) {
        out->as2 = bs - e * (as - bs);
        out->bs2 = bs;
    }
    for (int i = 0; i < 2; i++) {
        out->avx2[i] = out->n[i] * out->as2;
        out->bvx2[i] = out->n[i] * out->bs2;
    }
}

static void restitute_vectors(double e, carom_circle_impact *out)
{
    double am = out->a.mass, bm = out->b.mass;
    for (int i = 0; i < 2; i++) {
        double a = out->avx[i], b = out->bvx[i];
        out->avx2[i] = (am * a + bm * b - e * bm * (a - b)) / (am + bm);
        out->bvx2[i] = (am * a + bm * b + e * am * (a - b)) / (am + bm);
    }
    out->as2 = out->avx2[0] * out->n[0] + out->avx2[1] * out->n[1];
    out->bs2 = out->bvx2[0] * out->n[0] + out->bvx2[1] * out->n[1];
}

void cm_circle_meet(const carom_circle *a, const carom_circle *b, double pixel, double touch,
                    carom_circle_impact *out)
{
    memset(out, 0, sizeof *out);
    out->a = *a;
    out->b = *b;
    test_hit(pixel, touch, out);
}

typedef struct way {
    double pixel, touch;
    bool fixed[2];
    bool vectors;
} way;

static void run_steps(const carom_circle *a, const carom_circle *b, double e, const way *how,
                      carom_circle_impact *out)
{
    cm_circle_meet(a, b, how->pixel, how->touch, out);
    if (!out->hit) {
        return;
    }
    if (out->gap < 0.0) {
        separate(how->fixed, out);
    }
    split(out);
    out->collided = out->as - out->bs > 0.0;
    out->as2 = out->as;
    out->bs2 = out->bs;
    memcpy(out->avx2, out->avx, sizeof out->avx2);
    memcpy(out->bvx2, out->bvx, sizeof out->bvx2);
    if (!out->collided) {
        return;
    }
    if (how->vectors) {
        restitute_vectors(e, out);
    } else {
        restitute(e, how->fixed, out);
    }
    for (int i = 0; i < 2; i++) { // step 6
        out->a.velocity[i] = out->avy[i] + out->avx2[i];
        out->b.velocity[i] = out->bvy[i] + out->bvx2[i];
    }
}

carom_result carom_circle_collide(const carom_circle *a, const carom_circle *b, double restitution,
                                  double pixel, carom_circle_impact *out)
{
    memset(out, 0, sizeof *out);
    carom_result result = check(a, b, restitution, pixel);
    if (result == CAROM_OK) {
        run_steps(a, b, restitution, &(way){.pixel = pixel}, out);
    }
    return result;
}

void cm_circle_collide(const carom_circle *a, const carom_circle *b, const bool fixed[2],
                       double restitution, double pixel, double touch, carom_circle_impact *out)
{
    way how = {.pixel = pixel, .touch = touch, .fixed = {fixed[0], fixed[1]}};
    run_steps(a, b, restitution, &how, out);
}

carom_result carom_circle_collide_vectors(const carom_circle *a, const carom_circle *b,
                                          double restitution, double pixel,
                                          carom_circle_impact *out)
{
    memset(out, 0, sizeof *out);
    carom_result result = check(a, b, restitution, pixel);
    if (result == CAROM_OK) {
        run_steps(a, b, restitution, &(way){.pixel = pixel, .vectors = true}, out);
    }
    return result;
}

void carom_circle_mirror(const double velocity[2], const double n[2], double out[2])
{
    double along = velocity[0] * n[0] + velocity[1] * n[1];
    double x = velocity[0] - 2.0 * along * n[0], y = velocity[1] - 2.0 * along * n[1];
    out[0] = x;
    out[1] = y;
}

uint32_t carom_circle_frame(carom_circle *circles, uint32_t count, double restitution, double pixel)
{
    uint32_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            carom_circle_impact impact;
            run_steps(&circles[i], &circles[j], restitution, &(way){.pixel = pixel}, &impact);
            if (impact.hit) {
                circles[i] = impact.a;
                circles[j] = impact.b;
                hits++;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        circles[i].position[0] += circles[i].velocity[0];
        circles[i].position[1] += circles[i].velocity[1];
    }
    return hits;
}
