// The rollback oracle itself. Goal: it says nothing about a sound world, and names tick, body and
// field where a bit differs. Method: runs of small scenes; a difference is planted by changing the
// second world after a restore, one velocity in one body at one tick.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/offline/rollback.h"
#include "shared/scene/scene_json.h"

typedef struct fixture {
    cm_scene *scene;
    cm_offline run;
    cm_rollback rollback;
} fixture;

static void start(fixture *f, const char *path, uint32_t back)
{
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_file(path, &f->scene, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_offline_create(f->scene, NULL, &f->run), CAROM_OK);
    cr_assert_eq(cm_rollback_create(&f->run, back, &f->rollback), CAROM_OK);
}

static void end(fixture *f)
{
    cm_rollback_destroy(&f->rollback);
    cm_offline_destroy(&f->run);
    cm_scene_free(f->scene);
}

Test(cli_rollback, a_sound_world_shows_no_difference)
{
    fixture f;
    cm_offline straight;
    start(&f, "tests/scenes/crowd.json", 5);
    cr_assert_eq(cm_offline_create(f.scene, NULL, &straight), CAROM_OK);
    for (int i = 0; i < 60; i++) {
        cr_assert_eq(cm_rollback_tick(&f.rollback, &f.run), CAROM_OK);
        cm_offline_step(&straight);
        cr_assert_eq(cm_offline_hash(&straight), cm_offline_hash(&f.run));
    }
    cr_assert_not(f.rollback.differs);
    cr_assert_eq(f.rollback.rewinds, 120u);
    cr_assert_gt(f.rollback.contacts, 0u);
    cm_offline_destroy(&straight);
    end(&f);
}

// Bodies that fall asleep are counted once each, however often the tick is stepped again.
Test(cli_rollback, what_falls_asleep_is_counted)
{
    fixture f;
    start(&f, "tests/scenes/sleepers.json", 7);
    for (int i = 0; i < 60; i++) {
        cr_assert_eq(cm_rollback_tick(&f.rollback, &f.run), CAROM_OK);
    }
    cr_assert_not(f.rollback.differs);
    cr_assert_eq(f.rollback.sleeps, 13u); // twelve bricks and a log
    end(&f);
}

Test(cli_rollback, with_a_module)
{
    fixture f;
    start(&f, "tests/scenes/sandbox.json", 3);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(cm_rollback_tick(&f.rollback, &f.run), CAROM_OK);
    }
    cr_assert_not(f.rollback.differs);
    end(&f);
}

typedef struct plant {
    uint64_t tick;
    uint32_t slot;
} plant;

static void change_velocity(void *context, carom_world *world)
{
    const plant *p = context;
    carom_body_state state;
    carom_body_id id = carom_world_body_at(world, p->slot);
    if (carom_world_tick(world) == p->tick && carom_body_get(world, id, &state) == CAROM_OK) {
        uint32_t bits;
        memcpy(&bits, &state.linear_velocity.y, sizeof bits);
        bits ^= 1u << 12;
        memcpy(&state.linear_velocity.y, &bits, sizeof bits);
        carom_body_set_velocity(world, id, state.linear_velocity, state.angular_velocity);
    }
}

Test(cli_rollback, a_planted_bit_is_named)
{
    fixture f;
    plant p = {20, 1}; // the crate of hello falls at tick 20
    start(&f, "tests/scenes/hello.json", 4);
    f.rollback.perturb = change_velocity;
    f.rollback.perturb_context = &p;
    for (int i = 0; i < 25; i++) {
        cr_assert_eq(cm_rollback_tick(&f.rollback, &f.run), CAROM_OK);
        cr_assert_eq(f.rollback.differs, i >= 20, "tick %d", i);
    }
    cr_assert_eq(f.rollback.difference.tick, 24u);
    cr_assert_str_eq(f.rollback.difference.body, "crate");
    cr_assert_eq(strncmp(f.rollback.difference.field, "motion.", 7), 0, "%s",
                 f.rollback.difference.field);
    cr_assert_str_neq(f.rollback.difference.first, f.rollback.difference.second);
    char line[2048];
    FILE *out = fmemopen(line, sizeof line, "w");
    cm_rollback_print(out, &f.rollback, &f.run);
    fclose(out);
    cr_assert_not_null(strstr(line,
                              "\"difference\": {\"tick\": 24, \"body\": \"crate\", \"field\": "
                              "\"motion."),
                       "%s", line);
    end(&f);
}

// What comes into a slot that a body of the scene has left is not that body.
Test(cli_rollback, a_name_goes_with_its_body)
{
    fixture f;
    char name[CM_NAME_MAX];
    start(&f, "tests/scenes/crowd.json", 5);
    cm_offline_body_name(&f.run, 1, name, sizeof name);
    cr_assert_str_eq(name, cm_scene_body_name(f.scene, 1));
    carom_body_def def = carom_default_body_def();
    def.has_mass = def.has_inertia = true;
    def.mass = 1.0f;
    def.inertia = (carom_vec3){1.0f, 1.0f, 1.0f};
    carom_body_id id;
    cr_assert_eq(carom_body_destroy(f.run.world, carom_world_body_at(f.run.world, 1)), CAROM_OK);
    cr_assert_eq(carom_body_create(f.run.world, &def, NULL, 0, &id), CAROM_OK);
    cr_assert_eq(id.index, 1);
    cm_offline_body_name(&f.run, 1, name, sizeof name);
    cr_assert_str_eq(name, "body_1");
    end(&f);
}
