// The scene of joints: a chain that breaks where a weight hangs, a car with four steering hinges
// over a bump, a door with motor and limits, a sprung slider, a winch, a soft weld, a drive. Bodies
// and joints come and go inside the span of every rewind.
#include "tests/unit/sim/golden_joints.h"

static carom_vec3 position_of(cm_rig *rig, carom_body_id body)
{
    return cm_rig_get(rig, body).position;
}

static carom_joint_def between(cm_rig *rig, carom_joint_type type, carom_body_id a, carom_body_id b)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = type;
    def.body_a = a;
    def.body_b = b;
    def.anchor = def.anchor_b = position_of(rig, b);
    return def;
}

static void add(cm_rig *rig, const carom_joint_def *def)
{
    carom_joint_create(rig->world, def, NULL);
}

static void build_chain(cm_rig *rig)
{
    carom_body_id before = {0, 0};
    for (uint32_t i = 0; i < 8; i++) {
        carom_vec3 at = cm_vec(-8.0f + 0.5f * (float)i, 4.5f, 0.0f);
        carom_body_id link = i < 7
                                 ? cm_rig_box(rig, CAROM_BODY_DYNAMIC, at, cm_vec(0.2f, 0.1f, 0.1f))
                                 : cm_rig_sphere(rig, at, 0.4f);
        carom_joint_def def =
            between(rig, i % 3 ? CAROM_JOINT_BALL : CAROM_JOINT_HINGE, before, link);
        def.anchor = cm_vec(at.x - 0.25f, at.y, at.z);
        def.axis = cm_vec(0.0f, 0.0f, 1.0f);
        def.break_force = i == 5 ? 3000.0f : 0.0f;
        add(rig, &def);
        before = link;
    }
}

static void build_car(cm_rig *rig)
{
    cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(3.0f, 0.0f, 0.0f), cm_vec(0.3f, 0.15f, 3.0f));
    carom_body_id chassis =
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.9f, 0.0f), cm_vec(1.2f, 0.2f, 0.6f));
    for (uint32_t i = 0; i < 4; i++) {
        carom_vec3 at = cm_vec(i < 2 ? 1.0f : -1.0f, 0.4f, i % 2 ? 0.9f : -0.9f);
        carom_body_id wheel = cm_rig_sphere(rig, at, 0.4f);
        carom_body_set_force(rig->world, wheel, cm_vec(0.0f, 0.0f, 0.0f),
                             cm_vec(0.0f, 0.0f, -60.0f));
        carom_joint_def def = between(rig, CAROM_JOINT_STEERING, chassis, wheel);
        def.axis = cm_vec(0.0f, 0.0f, 1.0f);
        def.has_limits = true;
        def.lower = def.upper = i < 2 ? 0.1f : 0.0f;
        def.spring = i < 2 ? CAROM_SPRING_HERTZ : CAROM_SPRING_NONE;
        def.spring_hertz = 3.0f;
        def.spring_damping_ratio = 1.0f;
        add(rig, &def);
    }
}

static void build_rest(cm_rig *rig)
{
    const carom_vec3 small = {0.3f, 0.3f, 0.1f};
    const carom_body_id world = {0, 0};
    carom_body_id post =
        cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(0.0f, 1.0f, -5.0f), cm_vec(0.1f, 1.0f, 0.1f));
    carom_body_id door =
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(0.6f, 1.0f, -5.0f), cm_vec(0.5f, 0.8f, 0.05f));
    carom_joint_def def = between(rig, CAROM_JOINT_HINGE, post, door);
    def.anchor = cm_vec(0.0f, 1.0f, -5.0f);
    def.has_motor = def.has_limits = true;
    def.motor_velocity = 2.0f;
    def.motor_max = 80.0f;
    def.lower = -1.0f;
    def.upper = 1.25f;
    add(rig, &def);

    def = between(rig, CAROM_JOINT_PRISMATIC, world,
                  cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(4.0f, 3.0f, -5.0f), small));
    def.axis = cm_vec(0.6f, 0.8f, 0.0f);
    def.has_limits = true;
    def.lower = -0.5f;
    def.upper = 2.0f;
    def.spring = CAROM_SPRING_STIFFNESS;
    def.spring_stiffness = 900.0f;
    def.spring_damping = 10.0f;
    add(rig, &def);

    def = between(rig, CAROM_JOINT_DISTANCE, world,
                  cm_rig_sphere(rig, cm_vec(6.0f, 1.0f, -5.0f), 0.3f));
    def.anchor = cm_vec(6.5f, 5.0f, -5.0f);
    def.has_motor = def.has_limits = true;
    def.motor_velocity = -0.5f;
    def.motor_max = 5000.0f;
    def.lower = 1.0f;
    def.upper = 6.0f;
    add(rig, &def);

    carom_body_id one = cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(8.0f, 2.0f, -5.0f), small);
    carom_body_id two = cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(8.7f, 2.0f, -5.0f), small);
    def = between(rig, CAROM_JOINT_FIXED, one, two);
    def.spring = CAROM_SPRING_HERTZ;
    def.spring_hertz = 8.0f;
    def.spring_damping_ratio = 0.2f;
    def.collide = true;
    add(rig, &def);

    def = between(rig, CAROM_JOINT_MOTOR, world,
                  cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(11.0f, 2.0f, -5.0f), small));
    def.has_motor = true;
    def.motor_velocity = 0.5f;
    def.motor_max = 4000.0f;
    add(rig, &def);
}

void cm_golden_joints_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    build_chain(rig);
    build_car(rig);
    build_rest(rig);
}

// The joint whose b is this body; the null id for none.
static carom_joint_id joint_of(const carom_world *world, uint32_t body)
{
    carom_joint_id id = {0, 0};
    for (uint32_t slot = 0; slot < carom_world_joint_slots(world); slot++) {
        carom_joint_state state;
        carom_joint_id at = carom_world_joint_at(world, slot);
        if (carom_joint_get(world, at, &state) == CAROM_OK && state.body_b.index == body) {
            id = at;
        }
    }
    return id;
}

// At times a motor turns and a weld is replaced; then a link of the chain goes for good.
void cm_golden_joints_drive(carom_world *world, uint32_t tick)
{
    if (tick % 40 == 13) {
        carom_joint_set_motor(world, joint_of(world, 16), tick % 80 == 13 ? -2.0f : 2.0f, 80.0f);
    }
    if (tick % 50 == 7) {
        carom_joint_destroy(world, joint_of(world, 20));
        carom_joint_def def = carom_default_joint_def();
        carom_body_state state;
        def.type = tick % 100 == 7 ? CAROM_JOINT_HINGE : CAROM_JOINT_FIXED;
        def.body_a = carom_world_body_at(world, 19);
        def.body_b = carom_world_body_at(world, 20);
        carom_body_get(world, def.body_b, &state);
        def.anchor = state.position;
        carom_joint_create(world, &def, NULL);
    }
    if (tick == 150) {
        carom_body_destroy(world, carom_world_body_at(world, 3));
    }
}
