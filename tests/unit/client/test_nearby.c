// Goal: a frame's budget decides how many bodies are simulated, and the nearest are. Method: the
// choice's parts, with numbers; what a whole prediction makes of it is in test_correction.c.
#include "client-sdk/src/nearby.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static cm_mirror mirror = {.slots = 400, .tick_rate = 60};

static cm_predictor *made(double budget_us, double cost_ns, double age)
{
    cm_predictor *p = calloc(1, sizeof *p);
    p->mirror = &mirror;
    p->budget_us = budget_us;
    p->cost_ns = cost_ns;
    p->age = age;
    return p;
}

static uint32_t room(double budget_us, double cost_ns, double age)
{
    cm_predictor *p = made(budget_us, cost_ns, age);
    uint32_t bodies = cm_nearby_room(p);
    free(p);
    return bodies;
}

Test(nearby, the_budget_pays_for_bodies)
{
    cr_expect_eq(room(0.0, 1000.0, 12.0), 0);
    cr_expect_eq(room(2000.0, 1000.0, 12.8), 85); // 100 us a step, of which 15 are its own
    cr_expect_eq(room(4000.0, 1000.0, 12.8), 185);
    cr_expect_eq(room(2000.0, 2000.0, 12.8), 35, "a slower machine");
    cr_expect_eq(room(2000.0, 1000.0, 28.8), 35, "a longer path");
    cr_expect_eq(room(2000.0, 1000.0, 300.0), 8, "a thousand ticks a second: what it touches");
    cr_expect_eq(room(1.0e6, 1000.0, 2.0), 400, "all there are");
}

Test(nearby, costs_are_measured)
{
    cm_predictor *p = made(2000.0, 1000.0, 12.0);
    p->simulated = 85;
    cm_nearby_measure(p, 1.0e6, 3); // too few steps to tell
    cr_expect_eq(p->cost_ns, 1000.0);
    cm_nearby_measure(p, 1.0e6, 10); // somebody else had the processor
    cr_expect_leq(p->cost_ns, 1200.0);
    for (uint32_t i = 0; i < 200; i++) {
        cm_nearby_measure(p, 3000.0, 10); // 300 us a step of 100
    }
    cr_expect_float_eq(p->cost_ns, 3000.0, 10.0);
    free(p);
}

Test(nearby, the_nearest_go_first)
{
    cm_near list[] = {{2.0f, 1}, {0.5f, 7}, {0.5f, 3}, {0.0f, 9}};
    static const uint32_t slots[] = {9, 3, 7, 1};
    cm_nearby_order(list, 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(list[i].slot, slots[i]);
    }
    const cm_middles m = {.count = 3, .own = 2, .at = {{0, 0, 0}, {0, 0, 4}, {10, 0, 0}}};
    cr_expect_eq(cm_nearby_distance(&m, (carom_vec3){0, 0, 3}), 1.0f, "where it will be");
    cr_expect_eq(cm_nearby_distance(&m, (carom_vec3){9, 0, 0}), 2.0f, "from another player");
}
