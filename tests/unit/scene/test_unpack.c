// Packed scenes from an enemy. Goal: bytes of any kind give a scene that passed every check, or an
// error, in bounded memory. Method: cuts and bit flips of a real scene from a seed, numbers that
// JSON cannot write, messages that unpack to far more than their bytes, an allocator that fails.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/scene.pb-c.h"
#include "shared/scene/pool.h"
#include "shared/scene/ranges.h"
#include "shared/scene/scene_json.h"

static uint8_t *pack_file(const char *path, size_t *size)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_file(path, &scene, &error), CAROM_OK);
    *size = cm_scene_packed_size(scene);
    uint8_t *bytes = malloc(*size);
    cm_scene_pack(scene, bytes);
    cm_scene_free(scene);
    return bytes;
}

static carom_result unpack(const uint8_t *bytes, size_t size, cm_scene_error *error)
{
    cm_scene *scene;
    carom_result result = cm_scene_unpack(bytes, size, NULL, &scene, error);
    cr_expect_eq(scene == NULL, result != CAROM_OK);
    cm_scene_free(scene);
    return result;
}

Test(scene_unpack, cuts_and_flips)
{
    size_t size;
    cm_scene_error error;
    uint8_t *bytes = pack_file("tests/scenes/shapes.json", &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut + 1); // so that the address sanitiser sees the end
        memcpy(copy, bytes, cut);
        unpack(copy, cut, &error);
        free(copy);
    }
    uint32_t random = 7;
    unsigned refused = 0;
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = (random >> 9) % size;
        uint8_t old = bytes[at];
        bytes[at] ^= (uint8_t)(1u << (random >> 29));
        refused += unpack(bytes, size, &error) != CAROM_OK;
        bytes[at] = old;
    }
    cr_assert_gt(refused, 1000u);
    free(bytes);
}

// Packs the message and expects a refusal whose path and message hold the parts given.
static void refuse(const Cm__Scene__Scene *scene, const char *path, const char *message)
{
    cm_scene_error error;
    size_t size = cm__scene__scene__get_packed_size(scene);
    uint8_t *bytes = malloc(size);
    cm__scene__scene__pack(scene, bytes);
    cr_expect_neq(unpack(bytes, size, &error), CAROM_OK, "%s", path);
    cr_expect_str_eq(error.path, path);
    cr_expect_not_null(strstr(error.message, message), "'%s' lacks '%s'", error.message, message);
    cr_expect_eq(error.line, 0u);
    free(bytes);
}

Test(scene_unpack, values_that_json_cannot_write)
{
    Cm__Scene__Scene scene = CM__SCENE__SCENE__INIT;
    Cm__Scene__Vec3 v = CM__SCENE__VEC3__INIT;
    Cm__Scene__Material a = CM__SCENE__MATERIAL__INIT, b = CM__SCENE__MATERIAL__INIT;
    Cm__Scene__Material *materials[] = {&a, &b};
    scene.carom = 1;
    scene.gravity = &v;
    v.y = NAN;
    refuse(&scene, "$.gravity[1]", "not finite");
    v.y = -INFINITY;
    refuse(&scene, "$.gravity[1]", "not finite");
    scene.gravity = NULL;
    scene.name = "bell \a";
    refuse(&scene, "$.name", "not printable");
    scene.name = "half \xc3";
    refuse(&scene, "$.name", "not printable");
    scene.name = NULL;
    a.name = b.name = "wood";
    scene.materials = materials;
    scene.n_materials = 2;
    refuse(&scene, "$.materials.wood", "given twice");
    scene.n_materials = 0;
    Cm__Scene__Combine combine = CM__SCENE__COMBINE__INIT;
    combine.has_friction = 1;
    combine.friction = (Cm__Scene__CombineRule)77;
    scene.combine = &combine;
    refuse(&scene, "$.combine.friction", "77, expected a value of CombineRule");
}

Test(scene_unpack, unknown_fields_are_refused)
{
    cm_scene_error error;
    const uint8_t bytes[] = {0x08, 0x01, 0x98, 0x3f, 0x05}; // carom: 1, field 1011: 5
    cr_assert_eq(unpack(bytes, sizeof bytes, &error), CAROM_ERROR_VERSION);
    cr_assert_not_null(strstr(error.message, "field 1011 is unknown"));
}

static size_t taken, most;

static void *count_allocate(void *context, size_t size)
{
    size_t limit = *(size_t *)context;
    if (taken + size > limit) {
        return NULL;
    }
    taken += size;
    most = taken > most ? taken : most;
    size_t *memory = malloc(size + 16);
    *memory = size;
    return (char *)memory + 16;
}

static void count_release(void *context, void *memory)
{
    (void)context;
    if (memory != NULL) {
        taken -= *(size_t *)((char *)memory - 16);
        free((char *)memory - 16);
    }
}

// 16 MiB of two-byte bodies would be gigabytes of structs: refused at the pool's bound.
Test(scene_unpack, memory_is_bounded)
{
    size_t limit = (size_t)1 << 40, size = CM_SCENE_PACKED_MAX;
    carom_allocator allocator = {&limit, count_allocate, count_release};
    uint8_t *bytes = malloc(size);
    bytes[0] = 0x08;
    bytes[1] = 0x01;
    for (size_t i = 2; i + 1 < size; i += 2) {
        bytes[i] = 15 << 3 | 2; // bodies, empty
        bytes[i + 1] = 0;
    }
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_neq(cm_scene_unpack(bytes, size, &allocator, &scene, &error), CAROM_OK);
    cr_assert_leq(most, CM_POOL_LIMIT + 4096);
    cr_assert_eq(taken, 0u);
    cr_assert_eq(cm_scene_unpack(bytes, size + 1, &allocator, &scene, &error),
                 CAROM_ERROR_LIMIT_SIZE);
    free(bytes);
}

Test(scene_unpack, every_failed_allocation_is_an_error)
{
    size_t size, limit = 0;
    carom_allocator allocator = {&limit, count_allocate, count_release};
    uint8_t *bytes = pack_file("tests/scenes/pyramid.json", &size);
    cm_scene *scene = NULL;
    cm_scene_error error;
    unsigned failed = 0;
    while (cm_scene_unpack(bytes, size, &allocator, &scene, &error) != CAROM_OK) {
        cr_assert_null(scene);
        cr_assert_eq(taken, 0u);
        limit += 8192;
        failed++;
        cr_assert_lt(failed, 1000u);
    }
    cr_assert_gt(failed, 1u);
    cm_scene_free(scene);
    cr_assert_eq(taken, 0u);
    free(bytes);
}

// Walks the schema: each numeric field has a range of its own, or is part of a vector.
static unsigned check_ranges(const ProtobufCMessageDescriptor *descriptor)
{
    unsigned numbers = 0;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        bool vector =
            field->type == PROTOBUF_C_TYPE_MESSAGE && cm_message_is_array(field->descriptor) &&
            strcmp(((const ProtobufCMessageDescriptor *)field->descriptor)->short_name, "Bounds") !=
                0;
        bool number = field->type == PROTOBUF_C_TYPE_DOUBLE ||
                      field->type == PROTOBUF_C_TYPE_UINT32 ||
                      field->type == PROTOBUF_C_TYPE_INT32 || field->type == PROTOBUF_C_TYPE_UINT64;
        if ((number && !cm_message_is_array(descriptor)) || vector) {
            const cm_range *range = cm_range_find(descriptor->short_name, field->name);
            cr_expect_not_null(range, "%s.%s has no range", descriptor->short_name, field->name);
            cr_expect(range == NULL || range->low < range->high);
            numbers++;
        }
        if (field->type == PROTOBUF_C_TYPE_MESSAGE && !vector) {
            numbers += check_ranges(field->descriptor);
        }
    }
    return numbers;
}

Test(scene_unpack, every_number_has_a_range)
{
    cr_assert_gt(check_ranges(&cm__scene__scene__descriptor), 80u);
    cr_assert_gt(check_ranges(&cm__scene__input_line__descriptor), 6u);
}
