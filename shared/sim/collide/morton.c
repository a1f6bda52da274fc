// Morton keys of boxes (G. Morton, 1966). Two loops: cells, then their bits spread, which compilers
// do for many keys at once. Typical: 1,000 boxes a step.
#include "shared/sim/collide/morton.h"

#define CELL_BITS  10u
#define CELLS      1024.0f
#define CELLS_FLAT 16.0f

// Spreads ten bits to every third place.
static inline uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
}

// 0 to 1023, whatever the value: the comparisons are false for NaN.
static inline uint32_t cell(float value, float low, float scale)
{
    float c = cm_max((value - low) * scale, 0.0f);
    return (uint32_t)(int32_t)cm_min(c, CELLS - 1.0f);
}

static inline carom_vec3 twice_center(const cm_aabb *box)
{
    return cm_add(box->lower, box->upper);
}

static float cell_scale(float size)
{
    return size > 1.0e-6f && size < 1.0e30f ? CELLS / size : 0.0f;
}

// Cells are cubes, so that boxes next to each other on the curve are near, not in a flat layer:
// unless space is so flat that too few of them were left across.
static float cell_length(float size, float longest)
{
    return size * CELLS_FLAT > longest ? longest : size;
}

void cm_morton_keys(const cm_aabb *bounds, const uint32_t *ids, uint32_t count, uint32_t *keys)
{
    if (count == 0) {
        return;
    }
    carom_vec3 low = twice_center(&bounds[ids[0]]), high = low;
    for (uint32_t i = 1; i < count; i++) {
        carom_vec3 c = twice_center(&bounds[ids[i]]);
        low = cm_vec(cm_min(c.x, low.x), cm_min(c.y, low.y), cm_min(c.z, low.z));
        high = cm_vec(cm_max(c.x, high.x), cm_max(c.y, high.y), cm_max(c.z, high.z));
    }
    carom_vec3 size = cm_sub(high, low);
    float longest = cm_max(size.x, cm_max(size.y, size.z));
    carom_vec3 scale =
        cm_vec(cell_scale(cell_length(size.x, longest)), cell_scale(cell_length(size.y, longest)),
               cell_scale(cell_length(size.z, longest)));
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 c = twice_center(&bounds[ids[i]]);
        keys[i] = cell(c.x, low.x, scale.x) | cell(c.y, low.y, scale.y) << CELL_BITS |
                  cell(c.z, low.z, scale.z) << 2 * CELL_BITS;
    }
    const uint32_t mask = (1u << CELL_BITS) - 1u;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = keys[i];
        keys[i] =
            spread(k & mask) | spread(k >> CELL_BITS & mask) << 1 | spread(k >> 2 * CELL_BITS) << 2;
    }
}
