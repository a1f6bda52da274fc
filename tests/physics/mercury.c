// Materials of a game (saharan, "Rigid body physics", 2012, which names them without a rule): drops
// of mercury join where they touch and part under more force than the game lets them bear;
// what is joined shares its heat; what is hotter than 798 K glows (J. W. Draper, 1847). A piece of
// wood that is joined to a wall stands still. The rule is a game's, of public calls alone: a fixed
// joint where a contact begins, with the force that breaks it; temperatures are the game's numbers.
#include "tests/physics/physics.h"

#define DROPS   3
#define GLOWS   798.0 // K
#define CONDUCT 2.0   // of a difference, a second

typedef struct mercury_pool {
    cm_lab lab;
    carom_body_id drops[DROPS];
    double kelvin[DROPS];
    bool joined[DROPS][DROPS];
    float holds; // N
} mercury_pool;

static int drop_of(const mercury_pool *pool, carom_body_id body)
{
    for (int i = 0; i < DROPS; i++) {
        if (pool->drops[i].index == body.index) {
            return i;
        }
    }
    return -1;
}

static void join(mercury_pool *pool, carom_body_id a, carom_body_id b, carom_vec3 at)
{
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_FIXED;
    joint.body_a = a;
    joint.body_b = b;
    joint.anchor = joint.anchor_b = at;
    joint.break_force = pool->holds;
    joint.collide = true; // so that their contact ends where they part, and begins anew
    cm_lab_join(&pool->lab, &joint);
}

static void set_joined(mercury_pool *pool, carom_body_id a, carom_body_id b, bool joined)
{
    int i = drop_of(pool, a), k = drop_of(pool, b);
    if (i >= 0 && k >= 0) {
        pool->joined[i][k] = pool->joined[k][i] = joined;
    }
}

// One tick of the game.
static void tick(mercury_pool *pool, double h)
{
    carom_contact_event begun[8];
    uint32_t count, events, used = 0;
    carom_world_step(pool->lab.world);
    const carom_joint_event *broken = carom_world_joint_events(pool->lab.world, &count);
    for (uint32_t i = 0; i < count; i++) {
        set_joined(pool, broken[i].body_a, broken[i].body_b, false);
    }
    const carom_contact_event *contacts = carom_world_contact_events(pool->lab.world, &events);
    for (uint32_t i = 0; i < events && used < 8; i++) {
        int a = drop_of(pool, contacts[i].body_a), b = drop_of(pool, contacts[i].body_b);
        if (contacts[i].begin && a >= 0 && b >= 0 && !pool->joined[a][b]) {
            begun[used++] = contacts[i]; // events are gone with the first joint
        }
    }
    for (uint32_t i = 0; i < used; i++) {
        join(pool, begun[i].body_a, begun[i].body_b, begun[i].point);
        set_joined(pool, begun[i].body_a, begun[i].body_b, true);
    }
    for (int i = 0; i < DROPS; i++) {
        for (int k = i + 1; k < DROPS; k++) {
            double flow =
                pool->joined[i][k] ? h * CONDUCT * (pool->kelvin[k] - pool->kelvin[i]) : 0;
            pool->kelvin[i] += flow;
            pool->kelvin[k] -= flow;
        }
    }
}

// Drops in a row along x, `apart` between their surfaces; their joints bear so many weights of one.
static mercury_pool pour(const cm_case *c, float radius, float apart, float weights)
{
    mercury_pool pool = {.holds = 0.0f};
    carom_world_def def = cm_case_def(c, 8);
    def.gravity = cm_vec(0, 0, 0);
    pool.lab = cm_lab_open(&def);
    pool.lab.surface.density = 13534.0f;
    for (int i = 0; i < DROPS; i++) {
        float x = (float)i * (2.0f * radius + apart);
        pool.drops[i] = cm_lab_ball(&pool.lab, cm_vec(x, 0, 0), radius);
        pool.holds = weights * 9.81f * cm_lab_get(&pool.lab, pool.drops[i]).mass;
        pool.kelvin[i] = i == 0 ? 1500.0 : 293.0;
    }
    return pool;
}

cm_law(mercury, joins_shares_heat_and_parts, SOFT | LCP, 2, 20)
{
    float radius = (float)cm_draw(c, 0.01, 0.05), apart = 0.1f * radius;
    mercury_pool pool = pour(c, radius, apart, (float)cm_draw(c, 1.0, 10.0));
    double h = 1.0 / c->rate, heat = 0.0;
    cm_lab_set_velocity(&pool.lab, pool.drops[0], cm_vec(radius, 0, 0), cm_vec(0, 0, 0));
    cm_lab_set_velocity(&pool.lab, pool.drops[2], cm_vec(-radius, 0, 0), cm_vec(0, 0, 0));
    for (uint32_t i = 0; i < 3 * c->rate; i++) {
        tick(&pool, h);
    }
    cr_assert(pool.joined[0][1] && pool.joined[1][2] && !pool.joined[0][2]);
    double middle = (1500.0 + 2.0 * 293.0) / DROPS;
    for (int i = 0; i < DROPS; i++) {
        heat += pool.kelvin[i];
        cm_within(pool.kelvin[i] / middle, 0.95, 1.05, "of the mean temperature, drop %d", i);
        cr_assert_lt(pool.kelvin[i], GLOWS, "the hot one shone, and shines no more");
    }
    cm_within(heat / (1500.0 + 2.0 * 293.0), 1.0 - 1e-9, 1.0 + 1e-9, "of the heat");

    // The last one is pulled, more in each tick, and the first one as much the other way.
    double mass = (double)cm_lab_get(&pool.lab, pool.drops[0]).mass, force = 0.0;
    for (uint32_t i = 0; i < 4 * c->rate && pool.joined[0][1] && pool.joined[1][2]; i++) {
        force = 2.0 * (double)pool.holds * i / (4.0 * c->rate);
        for (int k = 0; k < DROPS; k++) {
            double share = k == 2 ? force : k == 0 ? -force : 0.0;
            cr_assert_eq(carom_body_set_force(pool.lab.world, pool.drops[k],
                                              cm_vec((float)share, 0, 0), cm_vec(0, 0, 0)),
                         CAROM_OK);
        }
        tick(&pool, h);
    }
    cm_within(force / (double)pool.holds, 0.95, 1.05,
              "of the force that joins drops of %g m and %g kg", (double)radius, mass);
    cm_lab_close(&pool.lab);
}

cm_law(mercury, wood_on_a_wall_stands_still, SOFT | LCP, 2, 20)
{
    float half = (float)cm_draw(c, 0.05, 0.5);
    carom_world_def def = cm_case_def(c, 8);
    def.sleep = false;
    mercury_pool pool = {.lab = cm_lab_open(&def)};
    pool.lab.surface.density = 600.0f;
    carom_body_id wood = cm_lab_box(&pool.lab, cm_vec(half, 1, 0), cm_vec(half, half, half));
    join(&pool, (carom_body_id){0}, wood, cm_vec(0, 1, 0));
    cm_lab_run(&pool.lab, 1.0);
    double fastest = 0.0;
    for (uint32_t i = 0; i < c->rate; i++) {
        carom_world_step(pool.lab.world);
        fastest = fmax(fastest, cm_lab_fastest(&pool.lab));
    }
    cm_within(fastest, 0.0, 1e-3, "m/s of %g m of wood on a wall", 2.0 * (double)half);
    cm_lab_close(&pool.lab);
}
