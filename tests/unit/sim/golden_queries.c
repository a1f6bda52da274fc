// See golden_queries.h. Some 60 questions a world: about every third body, up to a dozen of them.
#include "tests/unit/sim/golden_queries.h"

#include "shared/base/fpenv.h"
#include "shared/base/hash.h"
#include "shared/base/vec.h"

#define BODIES 12u
#define HITS   8u

static void add_vec(cm_hash *hash, carom_vec3 v)
{
    cm_hash_f32(hash, v.x);
    cm_hash_f32(hash, v.y);
    cm_hash_f32(hash, v.z);
}

static void add_hits(cm_hash *hash, carom_result result, const carom_query_hit *hits,
                     uint32_t count)
{
    cm_hash_u32(hash, (uint32_t)result);
    cm_hash_u32(hash, result == CAROM_OK ? count : 0);
    for (uint32_t i = 0; result == CAROM_OK && i < count; i++) {
        cm_hash_u32(hash, hits[i].body.index);
        cm_hash_u32(hash, hits[i].body.generation);
        cm_hash_u32(hash, hits[i].shape.index);
        cm_hash_u32(hash, hits[i].shape.generation);
        add_vec(hash, hits[i].point);
        add_vec(hash, hits[i].normal);
        cm_hash_f32(hash, hits[i].distance);
        cm_hash_u32(hash, hits[i].inside);
    }
}

CM_FP_BODY static carom_vec3 sum(carom_vec3 a, carom_vec3 b)
{
    return cm_add(a, b);
}

// In the usual environment, whatever the caller's is: the question is the same.
static carom_vec3 beside(carom_vec3 middle, float x, float y, float z)
{
    cm_fpenv saved = cm_fpenv_enter();
    carom_vec3 place = sum(middle, cm_vec(x, y, z));
    cm_fpenv_leave(saved);
    return place;
}

static void ask_about(const carom_world *world, carom_body_id body, carom_vec3 middle,
                      cm_hash *hash)
{
    static const carom_shape_type types[] = {CAROM_SHAPE_SPHERE, CAROM_SHAPE_CAPSULE,
                                             CAROM_SHAPE_BOX, CAROM_SHAPE_CYLINDER};
    carom_query_hit hits[HITS];
    uint32_t count = 0;
    carom_query_filter others = carom_default_query_filter();
    others.exclude = body;
    carom_ray ray = {beside(middle, 3.0f, 4.0f, -2.0f), {-6.5f, -8.25f, 4.5f}};
    carom_result result = carom_world_cast_ray(world, &ray, NULL, hits, HITS, &count);
    add_hits(hash, result, hits, count);
    carom_shape_def shape = carom_default_shape_def();
    shape.type = types[body.index % 4];
    shape.radius = 0.3f;
    shape.half_height = 0.4f;
    shape.half_extents = cm_vec(0.2f, 0.3f, 0.4f);
    shape.orientation = (carom_quat){0.6f, 0.0f, 0.0f, 0.8f};
    shape.position = beside(middle, -2.5f, 1.5f, 0.25f);
    result =
        carom_world_cast_shape(world, &shape, cm_vec(5.0f, -3.0f, -0.5f), NULL, hits, HITS, &count);
    add_hits(hash, result, hits, count);
    shape.position = middle;
    result = carom_world_overlap(world, &shape, &others, hits, HITS, &count);
    add_hits(hash, result, hits, count);
    result = carom_world_closest(world, middle, 4.0f, &others, hits, HITS, &count);
    add_hits(hash, result, hits, count);
}

uint64_t cm_golden_queries(const carom_world *world)
{
    cm_hash hash = cm_hash_begin(0);
    uint32_t asked = 0, slots = carom_world_body_slots(world);
    for (uint32_t slot = 0; slot < slots && asked < BODIES; slot += 3) {
        carom_body_id body = carom_world_body_at(world, slot);
        carom_body_state state;
        if (carom_body_get(world, body, &state) == CAROM_OK) {
            ask_about(world, body, state.position, &hash);
            asked++;
        }
    }
    return cm_hash_end(&hash);
}
