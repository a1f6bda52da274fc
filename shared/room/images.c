// A save is the used part of the world's and module's state: some 150 KB with 400 bodies, a copy of
// 10 us. Typical: 10 images in a server's room, 128 of a client.
#include "shared/room/images.h"

#include <string.h>

#define LINE 64u // bytes of a cache line

typedef struct image {
    uint64_t tick;
    size_t size, capacity; // size 0: none
    void *bytes;
} image;

struct cm_images {
    carom_allocator allocator;
    uint32_t count;
    bool grows;
    size_t bound;
    void *block; // of all images; where they grow: one save of any size
    image images[];
};

static size_t rounded(size_t bound)
{
    return (bound + LINE - 1) & ~(size_t)(LINE - 1);
}

uint64_t cm_images_size(uint32_t count, size_t bound)
{
    if (bound >= SIZE_MAX / 4) {
        return UINT64_MAX;
    }
    uint64_t each = rounded(bound);
    return count > 0 && each > UINT64_MAX / count ? UINT64_MAX : each * count;
}

static void place_all(cm_images *images)
{
    uint8_t *bytes = images->block;
    bytes += (LINE - (uintptr_t)bytes % LINE) % LINE;
    for (uint32_t i = 0; i < images->count; i++) {
        images->images[i].bytes = bytes + images->bound * i;
        images->images[i].capacity = images->bound;
    }
}

cm_images *cm_images_create(const carom_allocator *allocator, uint32_t count, size_t bound,
                            bool grows)
{
    size_t size = sizeof(cm_images) + count * sizeof(image);
    cm_images *images = allocator->allocate(allocator->context, size);
    if (images == NULL) {
        return NULL;
    }
    memset(images, 0, size);
    images->allocator = *allocator;
    images->count = count;
    images->grows = grows;
    images->bound = rounded(bound);
    size = grows ? images->bound : images->bound * count + LINE;
    images->block = allocator->allocate(allocator->context, size);
    if (images->block == NULL) {
        cm_images_destroy(images);
        return NULL;
    }
    if (!grows) {
        place_all(images);
    }
    return images;
}

void cm_images_destroy(cm_images *images)
{
    if (images == NULL) {
        return;
    }
    carom_allocator allocator = images->allocator;
    for (uint32_t i = 0; images->grows && i < images->count; i++) {
        allocator.release(allocator.context, images->images[i].bytes);
    }
    allocator.release(allocator.context, images->block);
    allocator.release(allocator.context, images);
}

// Measures with the block, and leaves room to grow.
static bool save_grown(cm_images *images, image *kept, const carom_game *game)
{
    kept->size = cm_game_save(game, images->block, images->bound);
    images->allocator.release(images->allocator.context, kept->bytes);
    kept->capacity = kept->size + kept->size / 8;
    kept->bytes = images->allocator.allocate(images->allocator.context, kept->capacity);
    if (kept->bytes == NULL) {
        kept->capacity = kept->size = 0;
        return false;
    }
    memcpy(kept->bytes, images->block, kept->size);
    return true;
}

bool cm_images_save(cm_images *images, const carom_game *game)
{
    uint64_t tick = carom_game_tick(game);
    image *kept = &images->images[tick % images->count];
    kept->tick = tick;
    kept->size = kept->bytes != NULL ? cm_game_save(game, kept->bytes, kept->capacity) : 0;
    return kept->size > 0 || (images->grows && save_grown(images, kept, game));
}

bool cm_images_restore(const cm_images *images, uint64_t tick, carom_game *game)
{
    const image *kept = &images->images[tick % images->count];
    return kept->size > 0 && kept->tick == tick &&
           cm_game_restore(game, kept->bytes, kept->size) == CAROM_OK;
}

bool cm_images_copy(cm_images *images, const carom_game *from, carom_game *to)
{
    size_t size = images->grows ? cm_game_save(from, images->block, images->bound) : 0;
    return size > 0 && cm_game_restore(to, images->block, size) == CAROM_OK;
}
