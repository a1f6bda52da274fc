// What lands on an edge or an end is turned by the blow, and its far end comes down within the
// tick. A rod of uniform mass whose near end stops turns at 3/4 v over its half length: its far end
// is then 3/2 v fast, a cube's far corner 6/5 v (E. J. Routh, "Dynamics of a System of Rigid
// Bodies", part 1, 1905, 171, on impulses). A solver that looks at bodies once a tick must know of
// the far end before it comes. Overlaps are in sizes: they are alike for dice and for houses, at
// any rate, by the way that two bodies come closer in a tick.
#include "tests/physics/physics.h"

#define BLOWS 60

static carom_quat any_turn(cm_case *c)
{
    float x = (float)cm_draw(c, -1.0, 1.0), y = (float)cm_draw(c, -1.0, 1.0);
    float z = (float)cm_draw(c, -1.0, 1.0), w = (float)cm_draw(c, -1.0, 1.0);
    float length = sqrtf(x * x + y * y + z * z + w * w + 1e-12f);
    return (carom_quat){x / length, y / length, z / length, w / length};
}

static carom_vec3 any_vec(cm_case *c, double most)
{
    float x = (float)cm_draw(c, -most, most), y = (float)cm_draw(c, -most, most);
    return cm_vec(x, y, (float)cm_draw(c, -most, most));
}

static carom_body_id any_body(cm_lab *lab, cm_case *c, bool box, float size, carom_vec3 position)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(lab, box ? CAROM_SHAPE_BOX : CAROM_SHAPE_CAPSULE);
    body.position = position;
    body.orientation = any_turn(c);
    shape.half_extents = cm_vec(size, size, size);
    shape.radius = 0.6f * size;
    shape.half_height = 0.6f * size;
    return cm_lab_add(lab, &body, &shape);
}

// One blow in empty space: the deepest overlap after any tick, in sizes.
static double blow(cm_case *c, bool box_a, bool box_b)
{
    carom_world_def def = cm_lab_def((uint32_t)cm_draw(c, 30.0, 240.0), 4);
    def.gravity = cm_vec(0, 0, 0);
    cm_lab lab = cm_lab_open(&def);
    float size = (float)cm_draw(c, 0.02, 10.0);
    double way = cm_draw(c, 0.1, 0.4), speed = way * (double)size * def.tick_rate;
    carom_body_id a = any_body(&lab, c, box_a, size, cm_vec(0, 0, 0));
    lab.surface.density *= (float)cm_draw(c, 0.1, 10.0);
    carom_vec3 aside = cm_scale(size, any_vec(c, 0.5));
    carom_body_id b = any_body(&lab, c, box_b, size, cm_vec(aside.x, 4.0f * size, aside.z));
    double turns = 0.3 * speed / (double)size;
    cm_lab_set_velocity(&lab, a, cm_vec(0, 0, 0), any_vec(c, turns));
    cm_lab_set_velocity(&lab, b, cm_vec(0, -(float)speed, 0), any_vec(c, turns));
    double deepest = 0.0;
    for (int tick = 0; tick < 8 + (int)(4.0 / way); tick++) {
        double depth;
        carom_world_step(lab.world);
        carom_world_measure_contacts(lab.world, NULL, &depth);
        deepest = fmax(deepest, depth / (double)size);
    }
    cm_lab_close(&lab);
    return deepest;
}

cm_law(landing, no_far_end_goes_in, SOFT, 2, 20)
{
    static const char *const names[] = {"capsules", "a capsule and a box", "boxes"};
    static const double mean[] = {0.0125, 0.0175, 0.022}, most[] = {0.15, 0.2, 0.4};
    for (int boxes = 0; boxes < 3; boxes++) {
        double sum = 0.0, deepest = 0.0;
        for (int i = 0; i < BLOWS; i++) {
            double depth = blow(c, boxes == 2, boxes >= 1);
            sum += depth;
            deepest = fmax(deepest, depth);
        }
        cm_within(sum / BLOWS, 0.0, mean[boxes], "of the size, mean overlap of %d blows of %s",
                  BLOWS, names[boxes]);
        cm_within(deepest, 0.0, most[boxes], "of the size, the deepest of %s", names[boxes]);
    }
}
