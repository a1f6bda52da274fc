// Sleep changes nothing. What is at rest falls asleep and stays where it is; what is at rest for a
// moment alone (the top of a throw, the end of a swing) does not; a sleeper that is struck, or
// whose support goes, moves as one that was awake all the time. Nothing sleeps in the impulse and
// the volume solver.
#include "tests/physics/physics.h"

#define G 9.81

static carom_world_def sleepy(cm_case *c)
{
    carom_world_def def = cm_case_def(c, 16);
    def.sleep = true;
    return def;
}

cm_law(sleep, at_rest_and_only_then, SOFT | LCP, 2, 30)
{
    carom_world_def def = sleepy(c);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    float half = (float)cm_draw(c, 0.05, 1.0);
    lab.surface.density = (float)cm_draw(c, 100.0, 5000.0);
    carom_body_id box = cm_lab_box(&lab, cm_vec(0, half, 0), cm_vec(half, half, half));
    carom_body_id ball = cm_lab_ball(&lab, cm_vec(10, 2, 0), 0.1f);
    double v = cm_draw(c, 5.0, 15.0);
    cm_lab_set_velocity(&lab, ball, cm_vec(0, (float)v, 0), cm_vec(0, 0, 0));
    for (uint32_t tick = 0; tick < (uint32_t)(2.0 * v / G * c->rate); tick++) {
        carom_world_step(lab.world);
        cr_assert_not(cm_lab_get(&lab, ball).asleep, "asleep in the air");
    }
    cm_lab_run(&lab, 3.0);
    carom_body_state s = cm_lab_get(&lab, box);
    cm_within(s.asleep ? 1.0 : 0.0, 1.0, 1.0, "sleeps, a box of %g m", (double)half);
    cm_lab_run(&lab, 3.0);
    cm_within((double)cm_length(cm_sub(cm_lab_get(&lab, box).position, s.position)), 0.0, 0.0,
              "m that it moved asleep");
    cm_lab_close(&lab);
}

// A ball that rolls up a slope (here: gravity leans) stands still at its highest point, and comes
// back as fast as it went: of its 2.2 v^2 (sleep.c) that is quiet for less than a quarter of a
// second.
cm_law(sleep, a_turning_point_is_no_rest, SOFT | LCP, 2, 30)
{
    carom_world_def def = sleepy(c);
    double pull = cm_draw(c, 0.3, 1.0), v = cm_draw(c, 0.3, 1.0); // m/s^2 of what rolls
    def.gravity = cm_vec(-1.4f * (float)pull, -(float)G, 0);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 1.0f;
    float radius = (float)cm_draw(c, 0.1, 0.5);
    carom_body_id ball = cm_lab_ball(&lab, cm_vec(0, radius, 0), radius);
    cm_lab_set_velocity(&lab, ball, cm_vec((float)v, 0, 0), cm_vec(0, 0, -(float)v / radius));
    double top = 0.0;
    for (uint32_t tick = 0; tick < (uint32_t)(2.0 * v / pull * c->rate); tick++) {
        carom_world_step(lab.world);
        cr_assert_not(cm_lab_get(&lab, ball).asleep, "asleep on a slope, %g m/s^2", pull);
        top = fmax(top, (double)cm_lab_get(&lab, ball).position.x);
    }
    cm_within(top / (0.5 * v * v / pull), 0.9, 1.1, "of its way up");
    cm_within((double)cm_lab_get(&lab, ball).linear_velocity.x / -v, 0.9, 1.1, "of its speed back");
    cm_lab_close(&lab);
}

// Two boxes, one on the other, for 4 s; then the lower one goes, or a ball strikes the upper one.
static void disturb(cm_case c, bool sleep, bool struck, carom_body_state *last)
{
    carom_world_def def = sleepy(&c);
    def.sleep = sleep;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    float half = (float)cm_draw(&c, 0.12, 0.5); // it falls by 0.213 m at most
    lab.surface.friction = 0.5f;
    lab.surface.density = (float)cm_draw(&c, 100.0, 2000.0);
    carom_body_id low = cm_lab_box(&lab, cm_vec(0, half, 0), cm_vec(half, half, half));
    carom_body_id high = cm_lab_box(&lab, cm_vec(0, 3.0f * half, 0), cm_vec(half, half, half));
    cm_lab_run(&lab, 4.0);
    cm_within(cm_lab_get(&lab, high).asleep ? 1.0 : 0.0, sleep ? 1.0 : 0.0, sleep ? 1.0 : 0.0,
              "asleep");
    if (struck) {
        carom_body_id ball = cm_lab_ball(&lab, cm_vec(-4.0f * half, 3.0f * half, 0), 0.5f * half);
        cm_lab_set_velocity(&lab, ball, cm_vec((float)cm_draw(&c, 4.0, 10.0), 0.5f, 0),
                            cm_vec(0, 0, 0));
    } else {
        cr_assert_eq(carom_body_destroy(lab.world, low), CAROM_OK);
    }
    cm_lab_run(&lab, struck ? 1.0 : 0.2);
    *last = cm_lab_get(&lab, high);
    if (!struck) {
        cm_within((double)last->linear_velocity.y / (-0.2 * G), 0.9, 1.1,
                  "of free fall, the support gone");
    }
    cm_lab_close(&lab);
}

cm_law(sleep, changes_nothing, SOFT | LCP, 2, 30)
{
    for (int i = 0; i < 2; i++) {
        carom_body_state asleep, awake;
        disturb(*c, true, i == 1, &asleep);
        disturb(*c, false, i == 1, &awake);
        cm_within((double)cm_length(cm_sub(asleep.position, awake.position)), 0.0, 0.01,
                  "m between what slept and what did not, %s", i == 1 ? "struck" : "let fall");
        cm_within((double)awake.position.x, i == 1 ? 0.001 : -0.01, i == 1 ? 100.0 : 0.01,
                  "m, moved");
    }
}

// A solver takes a sleeper for a wall: a blow that it solves before the sleeper wakes is lost. So
// in the tick that changes a striker's flight the struck one is awake, wherever in a tick they
// meet.
cm_law(sleep, struck_is_awake, SOFT | LCP, 4, 30)
{
    enum { PHASES = 8 };
    carom_world_def def = cm_case_def(c, 2 * PHASES + 1);
    def.sleep = true;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    float half = (float)cm_draw(c, 0.2, 0.5), v = (float)cm_draw(c, 0.5, 12.0);
    bool falls = cm_draw(c, 0.0, 1.0) < 0.5;
    carom_vec3 way = falls ? cm_vec(0, -v, 0) : cm_vec(v, 0, 0);
    carom_body_id box[PHASES], ball[PHASES];
    for (int i = 0; i < PHASES; i++) {
        box[i] = cm_lab_box(&lab, cm_vec(0, half, 4.0f * (float)i), cm_vec(half, half, half));
    }
    cm_lab_run(&lab, 2.0);
    for (int i = 0; i < PHASES; i++) {
        cr_assert(cm_lab_get(&lab, box[i]).asleep);
        carom_vec3 at = cm_lab_get(&lab, box[i]).position;
        float reach = 1.5f * half + v / (float)c->rate * (2.0f + (float)i / PHASES);
        at = cm_sub(at, cm_scale(reach / v, way));
        ball[i] = cm_lab_ball(&lab, at, 0.5f * half);
        cm_lab_set_velocity(&lab, ball[i], way, cm_vec(0, 0, 0));
    }
    for (uint32_t tick = 1, met = 0; met < (1u << PHASES) - 1u; tick++) {
        carom_world_step(lab.world);
        carom_vec3 flight = cm_add(way, cm_vec(0, -(float)(G * tick / c->rate), 0));
        for (int i = 0; i < PHASES; i++) {
            carom_vec3 now = cm_lab_get(&lab, ball[i]).linear_velocity;
            if (!(met >> i & 1) && cm_length(cm_sub(now, flight)) > 1.0e-3f) {
                met |= 1u << i;
                cm_within(cm_lab_get(&lab, box[i]).asleep ? 1.0 : 0.0, 0.0, 0.0,
                          "asleep under a blow, phase %d of %d, %s at %g m/s", i, PHASES,
                          falls ? "from above" : "from aside", (double)v);
            }
        }
        cr_assert_lt(tick, 10u, "nothing met");
    }
    cm_lab_close(&lab);
}
