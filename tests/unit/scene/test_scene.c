// Scenes: defaults, arrays, names, limits, bounds, and that every form of a scene makes the same
// world. Method: small scenes in text, and all of tests/scenes through JSON, packed bytes and JSON
// again, comparing the world's hash.
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/scene/scene_json.h"

static cm_scene *parse(const char *text)
{
    cm_scene *scene;
    cm_scene_error error;
    carom_result result = cm_scene_from_json(text, strlen(text), &scene, &error);
    cr_assert_eq(result, CAROM_OK, "%u: %s: %s", error.line, error.path, error.message);
    return scene;
}

static uint64_t hash_after(const cm_scene *scene, int ticks)
{
    carom_world_def def;
    carom_world *world;
    cm_scene_world_def(scene, &def);
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    cr_assert_neq(size, 0);
    void *memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    for (int i = 0; i < ticks; i++) {
        carom_world_step(world);
    }
    uint64_t hash = carom_world_hash(world);
    free(memory);
    return hash;
}

#define CUBE "\"shapes\": [{\"box\": {\"half_extents\": [0.5, 0.5, 0.5]}}]"

Test(scene, defaults)
{
    cm_scene *scene = parse("{\"carom\": 1}");
    carom_world_def def;
    cm_scene_replication replication;
    cm_scene_world_def(scene, &def);
    cm_scene_replication_get(scene, &replication);
    cr_assert_eq(def.tick_rate, 60u);
    cr_assert_float_eq(def.gravity.y, -9.81f, 0);
    cr_assert_eq(def.solver.soft.substeps, 0u);
    cr_assert_eq(def.friction_combine, CAROM_COMBINE_PRODUCT);
    cr_assert_eq(def.limits.bodies, 64u);
    cr_assert_eq(def.limits.shapes, 64u);
    cr_assert_eq(def.limits.joints, 64u);
    cr_assert_eq(def.limits.contacts, 512u);
    cr_assert_eq(replication.view_rate, 30u);
    cr_assert_eq(replication.budget_kbit, 64u);
    cr_assert_float_eq(replication.position_step, 1.0f / 512.0f, 0);
    cr_assert_float_eq(replication.interest_radius, 0.0f, 0);
    cr_assert_not(replication.sync_inputs);
    cr_assert_str_eq(cm_scene_name(scene), "");
    cr_assert_str_eq(cm_scene_module(scene), "");
    cm_scene_free(scene);
}

// The defaults of solvers, by the names that scene files have.
Test(scene, solver_defaults_may_be_written_out)
{
    static const struct {
        const char *type, *keys;
    } cases[] = {
        {"soft", "\"restitution_threshold\": 1"},
        {"impulse", "\"substeps\": 1, \"model\": \"interpolated\", \"pixel\": 0, "
                    "\"restitution_threshold\": 0"},
        {"lcp", "\"epsilon\": 1e-4, \"gamma\": 0.2, \"rounds\": 1, \"friction_model\": "
                "\"box_estimated\", \"integration\": \"source\""},
        {"volume", "\"segments\": 16, \"contact\": \"volume\""},
    };
    static const char scene[] =
        "{\"carom\": 1, \"solver\": {\"type\": \"%s\"%s%s}, \"bodies\": "
        "[{\"type\": \"static\", " CUBE "}, {\"position\": [0, 1, 0], " CUBE "}]}";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        uint64_t hashes[2];
        for (int written = 0; written < 2; written++) {
            snprintf(text, sizeof text, scene, cases[i].type, written ? ", " : "",
                     written ? cases[i].keys : "");
            cm_scene *made = parse(text);
            hashes[written] = hash_after(made, 5);
            cm_scene_free(made);
        }
        cr_expect_eq(hashes[0], hashes[1], "%s", cases[i].type);
    }
}

Test(scene, arrays_expand_x_fastest_z_slowest)
{
    cm_scene *scene =
        parse("{\"carom\": 1, \"bodies\": [{\"type\": \"static\"}, {\"name\": \"b\", "
              "\"type\": \"static\"}], \"arrays\": [{\"name\": \"c\", \"origin\": [10, "
              "20, 30], \"count\": [2, 3, 2], \"spacing\": [1, 2, 4], \"of\": "
              "{\"position\": [0.5, 0, 0], " CUBE "}}, {\"count\": [2, 1, 1], \"of\": "
              "{" CUBE "}}]}");
    cr_assert_eq(cm_scene_body_count(scene), 2u + 12u + 2u);
    const struct {
        uint32_t index;
        const char *name;
        float x, y, z;
    } rows[] = {{0, "body_0", 0, 0, 0},      {1, "b", 0, 0, 0},         {2, "c_0", 10.5f, 20, 30},
                {3, "c_1", 11.5f, 20, 30},   {4, "c_2", 10.5f, 22, 30}, {8, "c_6", 10.5f, 20, 34},
                {13, "c_11", 11.5f, 24, 34}, {14, "body_14", 0, 0, 0},  {15, "body_15", 1, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        carom_body_def def;
        cm_scene_body_def(scene, rows[i].index, &def);
        cr_expect_str_eq(cm_scene_body_name(scene, rows[i].index), rows[i].name);
        cr_expect_eq(cm_scene_find_body(scene, rows[i].name), rows[i].index);
        cr_expect_float_eq(def.position.x, rows[i].x, 0, "%s", rows[i].name);
        cr_expect_float_eq(def.position.y, rows[i].y, 0, "%s", rows[i].name);
        cr_expect_float_eq(def.position.z, rows[i].z, 0, "%s", rows[i].name);
    }
    cr_assert_eq(cm_scene_find_body(scene, "c_12"), CM_SCENE_NO_BODY);
    cm_scene_free(scene);
}

Test(scene, limits_are_twice_the_scene)
{
    cm_scene *scene = parse("{\"carom\": 1, \"arrays\": [{\"count\": [100, 1, 1], \"of\": {" CUBE
                            "}}], \"limits\": {\"shapes\": 150}}");
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    cr_assert_eq(def.limits.bodies, 200u);
    cr_assert_eq(def.limits.shapes, 150u);
    cr_assert_eq(def.limits.contacts, 1600u);
    cm_scene_free(scene);
}

Test(scene, bounds_by_origin_of_static_and_reach_of_others)
{
    cm_scene *scene = parse(
        "{\"carom\": 1, \"bodies\": [{\"type\": \"static\", \"position\": [0, -5, 0], \"shapes\": "
        "[{\"box\": {\"half_extents\": [9000, 1, 9000]}}]}, {\"position\": [100, 3, 0], "
        "\"shapes\": [{\"sphere\": {\"radius\": 2}}]}]}");
    carom_vec3 low, high;
    cm_scene_bounds(scene, &low, &high);
    cr_assert_float_eq(low.x, -64.0f, 0);
    cr_assert_float_eq(low.y, -69.0f, 0);
    cr_assert_float_eq(high.x, 166.0f, 0);
    cr_assert_float_eq(high.y, 69.0f, 0);
    cr_assert_float_eq(high.z, 66.0f, 0);
    cm_scene_free(scene);
    scene = parse("{\"carom\": 1, \"bounds\": [[-1, -2, -3], [4, 5, 6]]}");
    cm_scene_bounds(scene, &low, &high);
    cr_assert_float_eq(low.z, -3.0f, 0);
    cr_assert_float_eq(high.y, 5.0f, 0);
    cm_scene_free(scene);
}

Test(scene, body_keys_reach_the_world)
{
    cm_scene *scene = parse(
        "{\"carom\": 1, \"bodies\": [{\"type\": \"kinematic\", \"name\": \"k\", \"position\": [1, "
        "2, "
        "3], \"orientation\": [0, 0.0005, 0, 1], \"linear_velocity\": [4, 5, 6], "
        "\"angular_velocity\": [7, 8, 9], \"mass\": 11, \"inertia\": [1, 2, 3], "
        "\"center_of_mass\": "
        "[0.1, 0.2, 0.3], \"force\": [1, 0, 0], \"torque\": [0, 1, 0], \"gravity_scale\": 0.5, "
        "\"linear_damping\": 0.1, \"angular_damping\": 0.2, \"user_data\": \"9007199254740993\", "
        "\"bullet\": false, \"sleep\": true, \"axis_locks\": [], \"report_force\": false, "
        "\"tags\": "
        "[\"x\"]}]}");
    carom_body_def def;
    cm_scene_body_def(scene, 0, &def);
    cr_assert_eq(def.type, CAROM_BODY_KINEMATIC);
    cr_assert_eq(def.user_data, 9007199254740993u);
    cr_assert_float_eq(def.position.z, 3.0f, 0);
    cr_assert_float_eq(def.linear_velocity.y, 5.0f, 0);
    cr_assert_float_eq(def.angular_velocity.z, 9.0f, 0);
    cr_assert_float_eq(def.mass, 11.0f, 0);
    cr_assert(def.has_mass);
    cr_assert(def.has_inertia);
    cr_assert(def.has_center_of_mass);
    cr_assert_float_eq(def.inertia.z, 3.0f, 0);
    cr_assert_float_eq(def.center_of_mass.y, 0.2f, 0);
    cr_assert_float_eq(def.gravity_scale, 0.5f, 0);
    double norm = sqrt((double)def.orientation.y * def.orientation.y +
                       (double)def.orientation.w * def.orientation.w);
    cr_assert_float_eq(norm, 1.0, 1e-7);
    cm_scene_free(scene);
}

// JSON -> scene -> packed -> scene -> JSON -> scene: same text, same bytes, same world.
static void check_forms(const char *path)
{
    cm_scene *first, *second, *third;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_file(path, &first, &error), CAROM_OK, "%s: %s: %s", path, error.path,
                 error.message);
    size_t size = cm_scene_packed_size(first);
    uint8_t *packed = malloc(size);
    cm_scene_pack(first, packed);
    cr_assert_eq(cm_scene_unpack(packed, size, NULL, &second, &error), CAROM_OK, "%s: %s", path,
                 error.message);
    char *text = cm_scene_to_json(second);
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &third, &error), CAROM_OK, "%s: %s: %s",
                 path, error.path, error.message);
    char *again = cm_scene_to_json(third);
    cr_assert_str_eq(text, again);
    cr_assert_eq(cm_scene_packed_size(third), size, "%s", path);
    uint64_t start = hash_after(first, 0), later = hash_after(first, 60);
    cr_assert_eq(hash_after(second, 0), start, "%s", path);
    cr_assert_eq(hash_after(third, 0), start, "%s", path);
    cr_assert_eq(hash_after(third, 60), later, "%s", path);
    cr_assert_neq(start, later);
    cm_scene_free(first);
    cm_scene_free(second);
    cm_scene_free(third);
    free(packed);
    free(text);
    free(again);
}

Test(scene, every_form_makes_the_same_world)
{
    unsigned count = 0;
    DIR *folder = opendir("tests/scenes");
    cr_assert_not_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[512];
        if (strstr(entry->d_name, ".json") != NULL) {
            snprintf(path, sizeof path, "tests/scenes/%s", entry->d_name);
            check_forms(path);
            count++;
        }
    }
    closedir(folder);
    cr_assert_geq(count, 7u);
}

// A sign of zero and a number of 17 digits survive the text.
Test(scene, export_keeps_every_bit)
{
    cm_scene *scene = parse("{\"carom\": 1, \"gravity\": [-0.0, 0.1, 1e-300], \"bodies\": [{"
                            "\"position\": [0.30000000000000004, 123456.789, 1e5], " CUBE "}]}");
    char *text = cm_scene_to_json(scene);
    cr_assert_not_null(strstr(text, "[-0.0, 0.1, 1e-300]"), "%s", text);
    cr_assert_not_null(strstr(text, "[0.30000000000000004, 123456.789, 100000]"), "%s", text);
    free(text);
    cm_scene_free(scene);
}

Test(scene, json_strings_are_quoted)
{
    char out[64];
    cr_assert_eq(cm_json_quote("a\"b\\\n", out, sizeof out), 14u);
    cr_assert_str_eq(out, "\"a\\\"b\\\\\\u000a\"");
    cm_json_quote("abcdef", out, 4);
    cr_assert_str_eq(out, "\"ab");
}

// A row of each joint's keys, as the world has them.
Test(scene, joint_keys_reach_the_world)
{
    cm_scene *scene = parse(
        "{\"carom\": 1, \"bodies\": [{\"name\": \"a\", \"position\": [1, 2, 3], " CUBE
        "}, {\"name\": \"b\", \"position\": [4, 2, 3], " CUBE "}], \"joints\": [{\"name\": \"h\", "
        "\"type\": \"hinge\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [2, 2, 3], \"axis\": [0, 0, "
        "1]}, {\"type\": \"distance\", \"a\": \"a\", \"b\": \"b\"}, {\"type\": \"steering\", "
        "\"a\": \"a\", \"b\": \"b\"}, {\"type\": \"prismatic\", \"a\": \"world\", \"b\": \"b\"}]}");
    carom_world_def def;
    carom_world *world;
    cm_scene_world_def(scene, &def);
    cr_assert_eq(def.limits.joints, 64u);
    cr_assert_eq(cm_scene_joint_count(scene), 4u);
    cr_assert_str_eq(cm_scene_joint_name(scene, 0), "h");
    cr_assert_str_eq(cm_scene_joint_name(scene, 2), "joint_2");
    // What stands in a slot of the scene's later has another name.
    char name[CM_NAME_MAX];
    cm_scene_call_joint(scene, (carom_joint_id){0, 1}, name, sizeof name);
    cr_assert_str_eq(name, "h");
    cm_scene_call_joint(scene, (carom_joint_id){0, 2}, name, sizeof name);
    cr_assert_str_eq(name, "joint_0");
    cm_scene_call_body(scene, (carom_body_id){1, 1}, name, sizeof name);
    cr_assert_str_eq(name, "b");
    cm_scene_call_body(scene, (carom_body_id){1, 2}, name, sizeof name);
    cr_assert_str_eq(name, "body_1");
    cm_scene_call_body(scene, (carom_body_id){7, 1}, name, sizeof name);
    cr_assert_str_eq(name, "body_7");
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    carom_joint_state state;
    cr_assert_eq(carom_joint_get(world, carom_world_joint_at(world, 0), &state), CAROM_OK);
    cr_assert(state.type == CAROM_JOINT_HINGE && state.body_a.index == 0);
    cr_assert_float_eq(state.anchor_a.x, 2.0f, 1e-6f);
    cr_assert_float_eq(state.anchor_b.x, 2.0f, 1e-6f);
    cr_assert_float_eq(state.axis.z, 1.0f, 1e-6f);
    cr_assert_eq(carom_joint_get(world, carom_world_joint_at(world, 1), &state), CAROM_OK);
    cr_assert_float_eq(state.anchor_a.x, 1.0f, 1e-6f, "a's origin");
    cr_assert_float_eq(state.anchor_b.x, 4.0f, 1e-6f, "b's origin");
    cr_assert_eq(carom_joint_get(world, carom_world_joint_at(world, 2), &state), CAROM_OK);
    cr_assert_float_eq(state.anchor_a.x, 4.0f, 1e-6f);
    cr_assert_float_eq(state.axis.y, 1.0f, 1e-6f, "steers about y");
    cr_assert_float_eq(state.axis_b.z, 1.0f, 1e-6f, "rolls about z");
    cr_assert_eq(carom_joint_get(world, carom_world_joint_at(world, 3), &state), CAROM_OK);
    cr_assert(carom_body_id_is_null(state.body_a));
    cr_assert_float_eq(state.axis.y, 1.0f, 1e-6f);
    free(memory);
    cm_scene_free(scene);
}

// A room's numbers are those of the record too, which has the packed scene.
Test(scene, changed_numbers_are_packed)
{
    static const char *const texts[] = {
        "{\"carom\": 1}",
        "{\"carom\": 1, \"tick_rate\": 60, \"limits\": {\"bodies\": 100}}",
    };
    const cm_scene_change change = {.tick_rate = 30,
                                    .limits = {.bodies = 70, .shapes = 71, .contacts = 900},
                                    .sync_inputs = true};
    for (size_t i = 0; i < 2; i++) {
        cm_scene *scene = parse(texts[i]), *changed, *again;
        cr_assert_eq(cm_scene_changed(scene, &change, &changed, NULL), CAROM_OK);
        size_t size = cm_scene_packed_size(changed);
        uint8_t *bytes = malloc(size);
        cm_scene_pack(changed, bytes);
        cr_assert_eq(cm_scene_unpack(bytes, size, NULL, &again, NULL), CAROM_OK);
        carom_world_def def;
        cm_scene_replication replication;
        cm_scene_world_def(again, &def);
        cm_scene_replication_get(again, &replication);
        cr_assert_eq(def.tick_rate, 30u);
        cr_assert_eq(def.limits.bodies, 70u);
        cr_assert_eq(def.limits.shapes, 71u);
        cr_assert_eq(def.limits.joints, 64u);
        cr_assert_eq(def.limits.contacts, 900u);
        cr_assert(replication.sync_inputs);
        free(bytes);
        cm_scene_free(again);
        cm_scene_free(changed);
        cm_scene_free(scene);
    }
}
