// Contacts that land flat: faces, edges or segments whose points all meet the other surface within
// one substep, at speed.
//
// A pass goes over the points of a contact once, each with the impulse that stops it alone. The
// first ones so take too much of a blow, the body turns, and friction takes that turn for sliding.
// So for the tick in which a contact lands its points are relaxed each by a factor of its own
// (successive over-relaxation): those with which one pass stops what meets flat with an even share
// for each point, without a turn. Contacts of the bodies that are hit hand the blow on, so they are
// relaxed alike. The passes stay as they are: all of this is done once for a contact that lands.
//
// A blow is no load: the next tick does not start from its impulses. Contacts that bounce are
// solved in rounds (pass.inl). In the order of groups, one after another, so alike for any width of
// lanes. Typical: none; fifteen in a pile of 1,000 that tumbles, with as many contacts beside.
#include "shared/sim/solve/soft/soft.h"

#include <string.h>

#define LEAST_SPEED 0.125f // m/s, of each point of what lands flat
// m/s, of bodies: what lands slower does not hand the blow on. A tower that settles by millimetres
// would else forget its load level by level.
#define HANDED_ON 0.75f
// Substeps that the speeds of the tick's start may be wrong by: joints and other contacts come
// after.
#define EARLY 0.5f
// Rounds over the points that share a blow, and the part of the speed that may be left then.
#define ROUNDS     8u
#define STOPPED    1.0e-3f
#define LEAST_PART 0.25f // of what stops a point alone
#define MOST_PART  3.0f  // above it a contact that is not flat would be thrown about

typedef struct point_couplings {
    float of[4][4]; // velocity at a point of an impulse at another
} point_couplings;

static carom_vec3 vec_of(const cm_soft_wide *from, uint32_t at)
{
    return cm_vec(from[0][at], from[1][at], from[2][at]);
}

// Velocities of a contact of a group, in its frame.
typedef struct meeting {
    float normal, turn1, turn2; // of b against a
    float slide[2];             // of the surfaces, along t1 and t2
} meeting;

static meeting meet(const cm_soft *soft, uint32_t place)
{
    const cm_soft_group *g = &soft->groups[place / CM_SOFT_WIDE];
    uint32_t at = place % CM_SOFT_WIDE;
    const cm_soft_body *a = &soft->bodies[g->a[at] / CM_SOFT_ROW];
    const cm_soft_body *b = &soft->bodies[g->b[at] / CM_SOFT_ROW];
    carom_vec3 n = vec_of(g->normal, at), t1 = vec_of(g->t1, at), t2 = cm_cross(n, t1);
    carom_vec3 turn_a = cm_cross(a->w, vec_of(g->ra, at));
    carom_vec3 turn_b = cm_cross(b->w, vec_of(g->rb, at)), w = cm_sub(b->w, a->w);
    carom_vec3 v = cm_sub(cm_add(b->v, turn_b), cm_add(a->v, turn_a));
    meeting m = {cm_dot(v, n), cm_dot(w, t1), cm_dot(w, t2), {cm_dot(v, t1), cm_dot(v, t2)}};
    for (uint32_t i = 0; g->special && i < 2; i++) {
        m.slide[i] += soft->specials[place / CM_SOFT_WIDE].surface[i][at];
    }
    return m;
}

// True of what lands flat in this tick, or so soon after it that the last pass looks ahead to it.
// What goes on sliding has friction as large as may be, however it turns, and friction that turns
// it: its points do not share alike.
static bool lands(const cm_soft *soft, uint32_t place)
{
    const cm_soft_group *g = &soft->groups[place / CM_SOFT_WIDE];
    uint32_t at = place % CM_SOFT_WIDE;
    meeting m = meet(soft, place);
    float first = __builtin_inff(), last = 0.0f, held = g->friction[at] * m.normal;
    if (m.slide[0] * m.slide[0] + m.slide[1] * m.slide[1] > held * held) {
        return false;
    }
    for (uint32_t i = 0; i < (uint32_t)g->point_count[at]; i++) {
        float speed = g->at_point[i].x[at] * m.turn2 - g->at_point[i].y[at] * m.turn1 - m.normal;
        if (!(speed > LEAST_SPEED)) {
            return false;
        }
        float substeps = g->at_point[i].start[at] / (speed * soft->h);
        first = cm_min(first, substeps);
        last = cm_max(last, substeps);
    }
    return last - first < 1.0f && first < (float)soft->substeps + 1.0f + EARLY;
}

static void find_couplings(const cm_soft_group *g, uint32_t at, uint32_t points, point_couplings *k)
{
    static const uint8_t place[4][4] = {{0, 0, 1, 2}, {0, 0, 3, 4}, {0, 0, 0, 5}, {0}};
    for (uint32_t i = 0; i < points; i++) {
        float mass = g->at_point[i].effective_mass[at];
        k->of[i][i] = mass > 0.0f ? 1.0f / mass : 0.0f;
        for (uint32_t j = i + 1; j < points; j++) {
            k->of[i][j] = k->of[j][i] = g->point_coupling[place[i][j]][at];
        }
    }
}

// Takes from the speeds of all points what an impulse at point i stops.
static void push(const point_couplings *k, uint32_t points, uint32_t i, float impulse,
                 float speed[4])
{
    for (uint32_t j = 0; j < points; j++) {
        speed[j] -= k->of[i][j] * impulse;
    }
}

// The impulses that stop points which all meet at a speed of 1: one for all of them, and then as
// each needs more or less.
static void share(const point_couplings *k, uint32_t points, float impulse[4])
{
    float sum = 0.0f, speed[4], left = 1.0f;
    for (uint32_t i = 0; i < points; i++) {
        for (uint32_t j = 0; j < points; j++) {
            sum += k->of[i][j];
        }
        speed[i] = 1.0f;
    }
    float all = sum > 0.0f ? (float)points / sum : 0.0f;
    for (uint32_t i = 0; i < points; i++) {
        impulse[i] = all;
        push(k, points, i, all, speed);
    }
    for (uint32_t round = 0; round < ROUNDS && left > STOPPED; round++) {
        left = 0.0f;
        for (uint32_t i = 0; i < points; i++) {
            left = cm_max(left, cm_abs(speed[i]));
            float own = k->of[i][i];
            float more = own > 0.0f ? cm_max(speed[i] / own, -impulse[i]) : 0.0f;
            impulse[i] += more;
            push(k, points, i, more, speed);
        }
    }
}

// Scales effective masses so that one pass over the points gives each its share.
static void relax_points(cm_soft_group *g, uint32_t at)
{
    uint32_t points = (uint32_t)g->point_count[at];
    float impulse[4], speed[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    point_couplings k;
    if (points < 2 || g->bounces) {
        return;
    }
    find_couplings(g, at, points, &k);
    share(&k, points, impulse);
    for (uint32_t i = 0; i < points; i++) {
        float mass = g->at_point[i].effective_mass[at];
        float part = speed[i] > 0.0f ? impulse[i] * k.of[i][i] / speed[i] : 1.0f;
        mass *= cm_clamp(part, LEAST_PART, MOST_PART);
        g->at_point[i].effective_mass[at] = mass;
        push(&k, points, i, mass * speed[i], speed);
    }
}

static void add_blow(cm_soft *soft, uint32_t place)
{
    soft->blows[soft->blow_count++] = place;
    relax_points(&soft->groups[place / CM_SOFT_WIDE], place % CM_SOFT_WIDE);
}

static void mark_hit(cm_soft *soft, uint32_t row)
{
    uint32_t body = row / CM_SOFT_ROW;
    soft->hit[body] = soft->bodies[body].inverse_mass > 0.0f;
}

// Contacts of the bodies that are hit, besides those that land.
static void find_beside(const carom_world *world, cm_soft *soft)
{
    memset(soft->hit, 0, soft->block_count * CM_SOFT_LANES);
    for (uint32_t i = 0; i < soft->landing_count; i++) {
        const cm_soft_group *g = &soft->groups[soft->blows[i] / CM_SOFT_WIDE];
        if (-meet(soft, soft->blows[i]).normal < HANDED_ON) {
            continue;
        }
        mark_hit(soft, g->a[soft->blows[i] % CM_SOFT_WIDE]);
        mark_hit(soft, g->b[soft->blows[i] % CM_SOFT_WIDE]);
    }
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_soft_link *link = &soft->links[i];
        if (link->points > 0 && (soft->hit[link->a] | soft->hit[link->b]) && !link->lands) {
            add_blow(soft, link->place);
        }
    }
}

void cm_soft_find_blows(const carom_world *world, cm_soft *soft)
{
    soft->blow_count = 0;
    for (uint32_t i = 0; i < soft->ranges.end; i++) {
        const cm_soft_group *g = &soft->groups[i];
        for (uint32_t bits = g->bounces ? 0 : g->meets; bits != 0; bits &= bits - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(bits);
            if (lands(soft, i * CM_SOFT_WIDE + lane)) {
                soft->links[g->row[lane]].lands = 1;
                add_blow(soft, i * CM_SOFT_WIDE + lane);
            }
        }
    }
    soft->landing_count = soft->blow_count;
    if (soft->blow_count > 0) {
        find_beside(world, soft);
    }
}

void cm_soft_forget_blows(cm_soft *soft)
{
    for (uint32_t k = 0; k < soft->blow_count; k++) {
        uint32_t at = soft->blows[k] % CM_SOFT_WIDE;
        cm_soft_group *g = &soft->groups[soft->blows[k] / CM_SOFT_WIDE];
        for (uint32_t i = 0; i < (uint32_t)g->point_count[at]; i++) {
            float *impulse = &g->at_point[i].normal_impulse[at];
            *impulse = cm_min(*impulse, soft->points[g->point[at] + i].normal_impulse);
        }
        for (uint32_t i = 0; k < soft->landing_count && i < 3; i++) {
            g->friction_impulse[i][at] = 0.0f;
        }
    }
}
