// Stacks, awake. What stands of cubes of 1 m stands at any size: lengths, times and speeds scale
// (Froude: two stacks are alike where g t^2 / L is the same). A stack stands if no block has moved
// by more than a share of its smallest side after a minute, and rests if nothing moves faster than
// 1 cm/s. What lies on something lighter sinks by its weight over the stiffness; here at most .1 m.
#include "tests/physics/physics.h"

typedef enum stack_kind { COLUMN, PYRAMID, JENGA, WALL, HEAVY, PLATES } stack_kind;

typedef struct stack_case {
    stack_kind kind;
    carom_vec3 side; // of a block, m
    uint32_t levels;
    uint32_t rate;
    float ratio;    // of masses, of what lies on top
    float seconds;  // until it must rest
    float moved[2]; // m: at most, sideways and down
} stack_case;

static void block(cm_lab *lab, float x, float y, float z, carom_vec3 side)
{
    cm_lab_box(lab, cm_vec(x, y, z), cm_scale(0.5f, side));
}

static void level_of_three(cm_lab *lab, uint32_t level, float y, carom_vec3 side)
{
    carom_vec3 turned = cm_vec(side.z, side.y, side.x);
    for (int i = -1; i <= 1; i++) {
        float off = (float)i * side.z;
        if (level % 2 == 0) {
            block(lab, 0.0f, y, off, side);
        } else {
            block(lab, off, y, 0.0f, turned);
        }
    }
}

// Bricks in a bond, with half ones at the ends of every other row.
static void row_of_bricks(cm_lab *lab, uint32_t level, float y, carom_vec3 side)
{
    const uint32_t bricks = 30;
    float left = -0.5f * (float)bricks * side.x;
    carom_vec3 half = cm_vec(0.5f * side.x, side.y, side.z);
    for (uint32_t i = level % 2; i < bricks; i++) {
        float x = left + side.x * ((float)i + (level % 2 ? 0.0f : 0.5f));
        block(lab, x, y, 0.0f, side);
    }
    if (level % 2) {
        block(lab, left + 0.25f * side.x, y, 0.0f, half);
        block(lab, -left - 0.25f * side.x, y, 0.0f, half);
    }
}

static void build(cm_lab *lab, const stack_case *c)
{
    carom_vec3 side = c->side;
    for (uint32_t i = 0; i < c->levels; i++) {
        float y = side.y * ((float)i + 0.5f);
        switch (c->kind) {
        case PYRAMID:
            for (uint32_t k = 0; k < c->levels - i; k++) {
                float x = (float)k - 0.5f * (float)(c->levels - i - 1);
                block(lab, 1.02f * side.x * x, y, 0.0f, side);
            }
            break;
        case JENGA:
            level_of_three(lab, i, y, side);
            break;
        case WALL:
            row_of_bricks(lab, i, y, side);
            break;
        default:
            lab->surface.density *= i + 1 == c->levels ? c->ratio : 1.0f;
            block(lab, 0.0f, y, 0.0f, side);
        }
    }
}

ParameterizedTestParameters(stacks, stand)
{
    static stack_case cases[] = {
        {COLUMN, {0.05f, 0.05f, 0.05f}, 10, 60, 1.0f, 5.0f, {0.005f, 0.01f}},
        {COLUMN, {0.05f, 0.05f, 0.05f}, 20, 60, 1.0f, 5.0f, {0.01f, 0.02f}},
        {COLUMN, {0.03f, 0.03f, 0.03f}, 12, 60, 1.0f, 5.0f, {0.006f, 0.01f}},
        {COLUMN, {0.05f, 0.05f, 0.05f}, 10, 120, 1.0f, 5.0f, {0.005f, 0.01f}},
        {PYRAMID, {0.05f, 0.05f, 0.05f}, 10, 60, 1.0f, 5.0f, {0.005f, 0.01f}},
        {PYRAMID, {0.05f, 0.05f, 0.05f}, 20, 60, 1.0f, 5.0f, {0.005f, 0.01f}},
        {JENGA, {0.15f, 0.03f, 0.05f}, 18, 60, 1.0f, 5.0f, {0.005f, 0.012f}},
        {JENGA, {0.075f, 0.015f, 0.025f}, 18, 60, 1.0f, 5.0f, {0.004f, 0.01f}},
        {JENGA, {0.15f, 0.03f, 0.05f}, 18, 30, 1.0f, 5.0f, {0.005f, 0.012f}},
        {JENGA, {0.15f, 0.03f, 0.05f}, 18, 120, 1.0f, 5.0f, {0.005f, 0.012f}},
        {JENGA, {0.15f, 0.03f, 0.05f}, 18, 240, 1.0f, 5.0f, {0.005f, 0.012f}},
        {JENGA, {0.075f, 0.015f, 0.025f}, 18, 240, 1.0f, 5.0f, {0.004f, 0.01f}},
        {PYRAMID, {0.5f, 0.5f, 0.5f}, 20, 30, 1.0f, 5.0f, {0.05f, 0.1f}},
        {PYRAMID, {0.5f, 0.5f, 0.5f}, 20, 50, 1.0f, 5.0f, {0.05f, 0.1f}},
        {WALL, {0.4f, 0.2f, 0.2f}, 12, 60, 1.0f, 5.0f, {0.01f, 0.02f}},
        {WALL, {0.5f, 0.25f, 0.25f}, 12, 60, 1.0f, 5.0f, {0.01f, 0.02f}},
        {WALL, {1.0f, 0.5f, 0.5f}, 12, 30, 1.0f, 5.0f, {0.02f, 0.04f}},
        {WALL, {1.0f, 0.5f, 0.5f}, 12, 60, 1.0f, 5.0f, {0.02f, 0.04f}},
        {PLATES, {0.6f, 0.02f, 0.6f}, 10, 60, 1.0f, 5.0f, {0.005f, 0.03f}},
        {PLATES, {0.6f, 0.02f, 0.6f}, 25, 60, 1.0f, 5.0f, {0.005f, 0.03f}},
        {PLATES, {0.6f, 0.02f, 0.6f}, 50, 60, 1.0f, 5.0f, {0.005f, 0.06f}},
        {PLATES, {0.6f, 0.02f, 0.6f}, 50, 240, 1.0f, 5.0f, {0.005f, 0.06f}},
        {HEAVY, {1.0f, 1.0f, 1.0f}, 2, 60, 100.0f, 5.0f, {0.05f, 0.1f}},
        {HEAVY, {1.0f, 1.0f, 1.0f}, 2, 60, 1000.0f, 10.0f, {0.05f, 0.1f}},
        {HEAVY, {0.3f, 0.3f, 0.3f}, 2, 60, 1000.0f, 20.0f, {0.05f, 0.1f}},
    };
    return cr_make_param_array(stack_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(stack_case *c, stacks, stand)
{
    carom_world_def def = cm_lab_def(c->rate, 512);
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    carom_vec3 first[512];
    cm_lab_floor(&lab);
    lab.surface.friction = 0.6f;
    build(&lab, c);
    uint32_t slots = carom_world_body_slots(lab.world);
    for (uint32_t i = 1; i < slots; i++) {
        first[i] = cm_lab_get(&lab, carom_world_body_at(lab.world, i)).position;
    }
    cm_lab_run(&lab, (double)c->seconds);
    cm_within(cm_lab_fastest(&lab), 0.0, 0.01, "m/s, kind %d of %g m after %g s", (int)c->kind,
              (double)c->side.y, (double)c->seconds);
    cm_lab_run(&lab, 60.0 - (double)c->seconds);
    double aside = 0.0, down = 0.0;
    for (uint32_t i = 1; i < slots; i++) {
        carom_vec3 at = cm_lab_get(&lab, carom_world_body_at(lab.world, i)).position;
        aside = fmax(aside, hypot((double)(at.x - first[i].x), (double)(at.z - first[i].z)));
        down = fmax(down, (double)(first[i].y - at.y));
    }
    cm_within(aside, 0.0, (double)c->moved[0], "m aside, kind %d of %g m", (int)c->kind,
              (double)c->side.y);
    cm_within(down, 0.0, (double)c->moved[1], "m down, kind %d of %g m, ratio %g", (int)c->kind,
              (double)c->side.y, (double)c->ratio);
    cm_lab_close(&lab);
}

// Where something small comes to lie on something, the substeps of the whole world change: what
// stands elsewhere must not feel it.
Test(stacks, finer_steps_shake_nothing)
{
    carom_world_def def = cm_lab_def(60, 64);
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    for (uint32_t i = 0; i < 5; i++) {
        block(&lab, 0.0f, (float)i + 0.5f, 0.0f, cm_vec(1.0f, 1.0f, 1.0f));
    }
    cm_lab_run(&lab, 10.0);
    carom_body_id top = carom_world_body_at(lab.world, 5);
    float before = cm_lab_get(&lab, top).position.y;
    block(&lab, 9.0f, 0.025f, 0.0f, cm_vec(0.05f, 0.05f, 0.05f));
    block(&lab, 9.0f, 0.075f, 0.0f, cm_vec(0.05f, 0.05f, 0.05f));
    double fastest = 0.0;
    for (int tick = 0; tick < 30; tick++) {
        carom_world_step(lab.world);
        fastest = fmax(fastest, (double)cm_length(cm_lab_get(&lab, top).linear_velocity));
    }
    // It rises, since its contacts are stiffer now.
    cm_within(fastest, 0.0, 0.25, "m/s of a column's top");
    cm_within((double)(cm_lab_get(&lab, top).position.y - before), 0.0, 0.005, "m that it rises");
    cm_lab_close(&lab);
}

// A tower that lies on stiff springs as it sleeps finds them again when it wakes: it does not sag.
// Nor does it while it is built in a world in which softer ones would do.
Test(stacks, woken_ones_stay)
{
    carom_world_def def = cm_lab_def(60, 64);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    carom_body_id ball = cm_lab_ball(&lab, cm_vec(-8.0f, 0.2f, 0.0f), 0.2f);
    cm_lab_run(&lab, 1.0);
    carom_body_id top = {0};
    for (uint32_t i = 0; i < 20; i++) {
        top = cm_lab_box(&lab, cm_vec(0.0f, 0.025f + 0.05f * (float)i, 0.0f),
                         cm_vec(0.025f, 0.025f, 0.025f));
    }
    cm_lab_run(&lab, 10.0);
    cr_assert(cm_lab_get(&lab, top).asleep);
    float height = cm_lab_get(&lab, top).position.y;
    cm_within((double)height, 0.955, 0.975, "m, a tower's top that was built later");
    cm_lab_set_velocity(&lab, ball, cm_vec(0.5f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, -2.5f));
    cm_lab_run(&lab, 5.0); // one rolls, for which soft springs do
    cr_assert(cm_lab_get(&lab, top).asleep);
    cr_assert_eq(carom_body_wake(lab.world, top), CAROM_OK);
    double sag = 0.0;
    for (int tick = 0; tick < 60; tick++) {
        carom_world_step(lab.world);
        sag = fmax(sag, (double)(height - cm_lab_get(&lab, top).position.y));
    }
    cm_within(sag, -0.001, 0.001, "m that it sags as it wakes");
    cm_lab_close(&lab);
}

// Coins: hulls of many sides, whose chosen points jump from tick to tick and whose vertices lie
// over each other within the margin of contacts. They stand straight, rest soon, touch their
// neighbours alone, and fall flat.
typedef struct coin_case {
    float radius, half; // m
    uint32_t sides, count, rate;
} coin_case;

ParameterizedTestParameters(stacks, coins_stand)
{
    static coin_case cases[] = {
        {0.1f, 0.01f, 16, 20, 60},     {0.1f, 0.01f, 8, 20, 60},  {0.1f, 0.01f, 4, 20, 60},
        {0.0125f, 0.001f, 16, 20, 60}, {0.1f, 0.01f, 16, 20, 30}, {0.1f, 0.01f, 16, 20, 240},
        {0.025f, 0.0025f, 24, 20, 60},
    };
    return cr_make_param_array(coin_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(coin_case *c, stacks, coins_stand)
{
    carom_world_def def = cm_lab_def(c->rate, 64);
    carom_vec3 points[64];
    carom_hull *hull;
    for (uint32_t i = 0; i < c->sides; i++) {
        double angle = 2.0 * 3.14159265358979 * i / c->sides;
        float x = c->radius * (float)cos(angle), z = c->radius * (float)sin(angle);
        points[i] = cm_vec(x, -c->half, z);
        points[c->sides + i] = cm_vec(x, c->half, z);
    }
    cr_assert_eq(carom_hull_create(points, 2 * c->sides, &cm_lab_allocator, &hull), CAROM_OK);
    const carom_hull *hulls[1] = {hull};
    def.hulls = hulls;
    def.hull_count = 1;
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_HULL);
    shape.hull = hull;
    for (uint32_t i = 0; i < c->count; i++) {
        carom_body_def body = carom_default_body_def();
        body.position.y = (float)(2 * i + 1) * c->half;
        cm_lab_add(&lab, &body, &shape);
    }
    cm_lab_run(&lab, 5.0);
    cm_within(cm_lab_fastest(&lab), 0.0, 0.01, "m/s, %g m thick, %u sides", (double)c->half,
              c->sides);
    cm_lab_run(&lab, 10.0);
    carom_world_stats stats;
    carom_world_stats_get(lab.world, &stats);
    cm_within(stats.contacts, c->count, 2.0 * c->count, "contacts, %g m thick", (double)c->half);
    double aside = 0.0;
    for (uint32_t i = 1; i <= c->count; i++) {
        carom_vec3 at = cm_lab_get(&lab, carom_world_body_at(lab.world, i)).position;
        aside = fmax(aside, hypot((double)at.x, (double)at.z));
    }
    cm_within(aside, 0.0, 0.1 * (double)c->radius, "m aside, %g m thick", (double)c->half);
    // One falls flat beside them, so fast that its upper vertices are within the margin, too.
    carom_body_def body = carom_default_body_def();
    body.position = cm_vec(5.0f * c->radius, 0.3f, 0.0f);
    body.linear_velocity.y = -4.0f;
    carom_body_id fallen = cm_lab_add(&lab, &body, &shape);
    double turns = 0.0;
    for (uint32_t tick = 0; tick < c->rate; tick++) {
        carom_world_step(lab.world);
        turns = fmax(turns, (double)cm_length(cm_lab_get(&lab, fallen).angular_velocity));
    }
    cm_within(turns * (double)c->radius, 0.0, 0.2, "m/s of its rim, %g m thick", (double)c->half);
    cm_lab_close(&lab);
    carom_hull_destroy(hull);
}
