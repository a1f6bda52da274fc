// Figures as they were agreed upon, so that measurements of different days compare. The walk is an
// Ornstein-Uhlenbeck process (G. E. Uhlenbeck and L. S. Ornstein, 1930), kept within 0 to 1.6.
#include "server/tools/feel/paths.h"

#include <stddef.h>
#include <string.h>

#define EACH_US   10000000u // between blackouts, and steps
#define GOOD_US   1880000.0 // mean, of bursts
#define BAD_US    120000.0
#define BAD_LOSS  0.6f
#define WALK_US   50000u // between two steps of the walk
#define WALK_PULL 0.05   // to its mean, a step
#define WALK_MEAN 0.5
#define WALK_SPAN 0.15 // of a step
#define WALK_MOST 1.6
#define MOBILE_US 60000.0
#define R200                                                                                       \
    {                                                                                              \
        .latency_us = 100000, .jitter_us = 20000, .loss = 0.05f                                    \
    }

const cm_feel_path cm_feel_paths[] = {
    {.name = "perfect"},
    {.name = "r60", .link = {.latency_us = 30000, .jitter_us = 5000, .loss = 0.01f}},
    {.name = "r200", .link = R200},
    {.name = "r300", .link = {.latency_us = 150000, .jitter_us = 20000, .loss = 0.10f}},
    {.name = "asym",
     .link = {.latency_us = 150000, .jitter_us = 5000, .loss = 0.01f},
     .apart = true,
     .down = {.latency_us = 50000, .jitter_us = 5000, .loss = 0.01f}},
    {.name = "burst",
     .link = {.latency_us = 50000, .jitter_us = 5000, .loss = 0.005f},
     .change = CM_FEEL_BURST},
    {.name = "blackout250", .link = R200, .change = CM_FEEL_BLACKOUT, .other_us = 250000},
    {.name = "blackout2000", .link = R200, .change = CM_FEEL_BLACKOUT, .other_us = 2000000},
    {.name = "step", .link = {.latency_us = 50000}, .change = CM_FEEL_STEP, .other_us = 100000},
    {.name = "mobile",
     .link = {.latency_us = 25000, .jitter_us = 15000, .loss = 0.02f},
     .change = CM_FEEL_MOBILE},
    {.name = NULL},
};

const cm_feel_path *cm_feel_path_find(const char *name)
{
    const cm_feel_path *path = cm_feel_paths;
    while (path->name != NULL && strcmp(path->name, name) != 0) {
        path++;
    }
    return path->name != NULL ? path : NULL;
}

bool cm_feel_paths_wrong(const char *names)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        const cm_feel_path *path = cm_feel_paths;
        while (path->name != NULL &&
               (strlen(path->name) != length || strncmp(path->name, at, length) != 0)) {
            path++;
        }
        if (path->name == NULL) {
            return true;
        }
        at += length;
        if (*at == '\0') {
            return false;
        }
    }
}

void cm_feel_way_begin(cm_feel_way *way, const cm_feel_path *path, uint64_t seed, uint64_t now_us)
{
    *way = (cm_feel_way){
        .path = path, .link = path->link, .until_us = now_us, .walk = WALK_MEAN, .bad = true};
    cm_rng_seed(&way->rng, seed);
}

static void turn_burst(cm_feel_way *way, uint64_t now_us)
{
    if (now_us < way->until_us) {
        return;
    }
    way->bad = !way->bad;
    double mean = way->bad ? BAD_US : GOOD_US;
    way->until_us = now_us + (uint64_t)(mean * (0.5 + cm_rng_unit(&way->rng)));
    way->link.loss = way->bad ? BAD_LOSS : way->path->link.loss;
}

static void turn_walk(cm_feel_way *way, uint64_t now_us)
{
    if (now_us < way->until_us) {
        return;
    }
    way->until_us = now_us + WALK_US;
    double step = WALK_SPAN * (2.0 * cm_rng_unit(&way->rng) - 1.0);
    way->walk += WALK_PULL * (WALK_MEAN - way->walk) + step;
    way->walk = way->walk < 0.0 ? 0.0 : (way->walk > WALK_MOST ? WALK_MOST : way->walk);
    way->link.latency_us = way->path->link.latency_us + (uint32_t)(MOBILE_US * way->walk);
}

// A blackout, or a step, in every second half of the ten seconds.
void cm_feel_way_turn(cm_feel_way *way, uint64_t now_us, bool still)
{
    const cm_feel_path *path = way->path;
    uint64_t phase_us = now_us % EACH_US;
    bool was_cut = way->cut;
    switch (path->change) {
    case CM_FEEL_STEADY:
        break;
    case CM_FEEL_BURST:
        turn_burst(way, now_us);
        break;
    case CM_FEEL_MOBILE:
        turn_walk(way, now_us);
        break;
    case CM_FEEL_STEP:
        way->link.latency_us =
            !still && now_us / EACH_US % 2 == 1 ? path->other_us : path->link.latency_us;
        break;
    case CM_FEEL_BLACKOUT:
        way->cut = (!still || was_cut) && phase_us >= EACH_US / 2 &&
                   phase_us < EACH_US / 2 + path->other_us;
        way->healed_us = was_cut && !way->cut ? now_us : way->healed_us;
        break;
    }
}
