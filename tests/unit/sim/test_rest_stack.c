// Goal: what masons build stays: a tower of twenty cubes, a house of cards of three levels, an arch
// of wedges, for a minute, whether its bodies may sleep or not. Method: 3,600 ticks; once settled,
// no body may have drifted by more than a few millimetres awake, nor at all asleep.
// Awake the tower is one of fourteen: higher ones stand, but sway for longer
// (test_recycle_scenes.c).
#include "tests/unit/sim/hulls.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define MINUTE 3600u
#define SECOND 60u
#define MOST   64u

// Runs for a minute; returns the longest way that any body went since it had settled.
static float drift(cm_rig *rig, bool sleep, uint32_t settle)
{
    carom_vec3 start[MOST];
    carom_world_stats stats;
    uint32_t slots = carom_world_body_slots(rig->world);
    float most = 0.0f;
    cr_assert_leq(slots, MOST);
    cm_rig_step(rig, settle);
    for (uint32_t i = 0; i < slots; i++) {
        start[i] = cm_rig_get(rig, carom_world_body_at(rig->world, i)).position;
    }
    cm_rig_step(rig, MINUTE - settle);
    for (uint32_t i = 0; i < slots; i++) {
        carom_body_state state = cm_rig_get(rig, carom_world_body_at(rig->world, i));
        float way = cm_length(cm_sub(state.position, start[i]));
        most = way > most ? way : most;
    }
    carom_world_stats_get(rig->world, &stats);
    cr_assert_eq(stats.sleeping, sleep ? slots - 1 : 0); // all but the ground
    return most;
}

static cm_rig open_rig(bool sleep, const cm_hulls *hulls)
{
    carom_world_def def = cm_rig_def(MOST);
    def.sleep = sleep;
    def.hulls = hulls != NULL ? hulls->list : NULL;
    def.hull_count = hulls != NULL ? hulls->count : 0;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    return rig;
}

static float tower(bool sleep, uint32_t count)
{
    cm_rig rig = open_rig(sleep, NULL);
    for (uint32_t i = 0; i < count; i++) {
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f + (float)i, 0.0f),
                   cm_vec(0.5f, 0.5f, 0.5f));
    }
    float way = drift(&rig, sleep, sleep ? 2 * SECOND : 20 * SECOND); // awake it sways first
    carom_vec3 top = cm_rig_get(&rig, carom_world_body_at(rig.world, count)).position;
    cr_assert_float_eq(top.y, (float)count - 0.5f, 0.1f, "%g", (double)top.y);
    cr_assert_float_eq(top.x, 0.0f, 0.03f, "%g", (double)top.x);
    cr_assert_float_eq(top.z, 0.0f, 0.03f, "%g", (double)top.z);
    cm_rig_close(&rig);
    return way;
}

Test(rest_stack, a_tower_of_twenty_stands)
{
    float awake = tower(false, 14), slept = tower(true, 20);
    cr_assert_lt(awake, 0.003f, "%g", (double)awake);
    cr_assert_eq(slept, 0.0f, "%g", (double)slept);
}

// Cards of 1 m by 0.7 m, 2 cm thick, pairs leaning at `lean` from the vertical, a card across each
// gap between two levels.
static const carom_vec3 card_half = {0.01f, 0.5f, 0.35f};

static void add_card(cm_rig *rig, float x, float y, float turn)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(x, y, 0.0f);
    body.orientation = cm_rig_turn_z(turn);
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = card_half;
    shape.density = 500.0f;
    cm_rig_body(rig, &body, &shape);
}

static float card_house(bool sleep)
{
    const float lean = 0.3f, t = card_half.x;
    float height = 2.0f * (card_half.y * cosf(lean) + t * sinf(lean));
    float foot = card_half.y * sinf(lean) + t * cosf(lean); // half of what a card covers
    cm_rig rig = open_rig(sleep, NULL);
    float pitch = 4.0f * foot + 0.004f, y = 0.0f;
    for (uint32_t level = 0; level < 3; level++) {
        uint32_t tents = 3 - level;
        float x = -0.5f * pitch * (float)(tents - 1);
        for (uint32_t i = 0; i < tents; i++, x += pitch) {
            add_card(&rig, x - foot, y + 0.5f * height, -lean);
            add_card(&rig, x + foot, y + 0.5f * height, lean);
            if (i + 1 < tents) {
                add_card(&rig, x + 0.5f * pitch, y + height + t, 1.57079633f);
            }
        }
        y += height + 2.0f * t;
    }
    float way = drift(&rig, sleep, 2 * SECOND);
    uint32_t top = carom_world_body_slots(rig.world) - 1;
    float high = cm_rig_get(&rig, carom_world_body_at(rig.world, top)).position.y;
    cr_assert_float_eq(high, y - 2.0f * t - 0.5f * height, 0.02f, "%g", (double)high);
    cm_rig_close(&rig);
    return way;
}

Test(rest_stack, a_house_of_cards_stands)
{
    float awake = card_house(false), slept = card_house(true);
    cr_assert_lt(awake, 0.003f, "%g", (double)awake);
    cr_assert_eq(slept, 0.0f, "%g", (double)slept);
}

// Eleven wedges of a half circle, 2 m to 2.6 m from its centre, on the ground; nothing but their
// weight and friction holds them.
#define WEDGES 11u

static const carom_hull *add_wedge(cm_hulls *hulls)
{
    const float half = 0.5f * 3.14159265f / (float)WEDGES, inner = 2.0f, outer = 2.6f;
    carom_vec3 points[8];
    for (uint32_t i = 0; i < 8; i++) {
        float angle = i & 1u ? half : -half, radius = i & 2u ? outer : inner;
        points[i] = cm_vec(radius * sinf(angle), radius * cosf(angle) - 0.5f * (inner + outer),
                           i & 4u ? 0.4f : -0.4f);
    }
    return cm_hulls_add(hulls, points, 8);
}

static float arch(bool sleep)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    const carom_hull *wedge = add_wedge(&hulls);
    cm_rig rig = open_rig(sleep, &hulls);
    for (uint32_t i = 0; i < WEDGES; i++) {
        float angle = 3.14159265f * (((float)i + 0.5f) / (float)WEDGES - 0.5f);
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(2.3f * sinf(angle), 2.3f * cosf(angle), 0.0f);
        body.orientation = cm_rig_turn_z(-angle);
        shape.type = CAROM_SHAPE_HULL;
        shape.hull = wedge;
        cm_rig_body(&rig, &body, &shape);
    }
    float way = drift(&rig, sleep, SECOND);
    float key = cm_rig_get(&rig, carom_world_body_at(rig.world, 1 + WEDGES / 2)).position.y;
    cr_assert_float_eq(key, 2.3f, 0.03f, "%g", (double)key);
    cm_rig_close(&rig);
    cm_hulls_close(&hulls);
    return way;
}

Test(rest_stack, an_arch_stands)
{
    float awake = arch(false), slept = arch(true);
    cr_assert_lt(awake, 0.003f, "%g", (double)awake);
    cr_assert_eq(slept, 0.0f, "%g", (double)slept);
}
