// See the header.
#include "server/replicate/keyframe_stream.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

#define CREDIT_MAX (256 << 10) // bytes

typedef struct part {
    uint8_t *bytes; // an encoded message
    size_t size;
} part;

struct cm_keyframe {
    uint32_t holders;
    size_t size;
    uint8_t *bytes; // released once all of it is in parts
    cm_snapshot_moment moment;
    uint32_t count, packed;
    part parts[];
};

cm_keyframe *cm_keyframe_create(size_t size, const cm_snapshot *snapshot)
{
    CM_ASSERT(size > CM_CONTROL_PART_SIZE);
    CM_ASSERT(size <= CM_CONTROL_KEYFRAME_MAX);
    uint32_t count = (uint32_t)((size + CM_CONTROL_PART_SIZE - 1) / CM_CONTROL_PART_SIZE);
    cm_keyframe *keyframe = calloc(1, sizeof *keyframe + count * sizeof keyframe->parts[0]);
    if (keyframe == NULL) {
        return NULL;
    }
    *keyframe = (cm_keyframe){.holders = 1, .size = size, .count = count};
    keyframe->bytes = malloc(size);
    if (!cm_snapshot_moment_capture(&keyframe->moment, snapshot) || keyframe->bytes == NULL) {
        cm_keyframe_release(keyframe);
        return NULL;
    }
    return keyframe;
}

uint8_t *cm_keyframe_bytes(cm_keyframe *keyframe)
{
    return keyframe->bytes;
}

void cm_keyframe_release(cm_keyframe *keyframe)
{
    if (keyframe == NULL || --keyframe->holders > 0) {
        return;
    }
    for (uint32_t i = 0; i < keyframe->packed; i++) {
        cm_control_release_bytes(NULL, keyframe->parts[i].bytes);
    }
    cm_snapshot_moment_free(&keyframe->moment);
    free(keyframe->bytes);
    free(keyframe);
}

void cm_keyframe_streams_begin(cm_keyframe_streams *streams, uint32_t player, cm_keyframe *keyframe)
{
    cm_keyframe_streams_end(streams, player);
    keyframe->holders++;
    streams->of[player].keyframe = keyframe;
    streams->of[player].part = 0;
    streams->of[player].credit = CREDIT_MAX;
}

void cm_keyframe_streams_end(cm_keyframe_streams *streams, uint32_t player)
{
    cm_keyframe_release(streams->of[player].keyframe);
    streams->of[player].keyframe = NULL;
}

bool cm_keyframe_streams_has(const cm_keyframe_streams *streams, uint32_t player)
{
    return streams->of[player].keyframe != NULL;
}

static bool pack_next(cm_keyframe *keyframe)
{
    size_t at = (size_t)keyframe->packed * CM_CONTROL_PART_SIZE;
    size_t left = keyframe->size - at;
    cm_control control = {.type = CM_CONTROL_KEYFRAME_PART,
                          .payload = {keyframe->bytes + at,
                                      left < CM_CONTROL_PART_SIZE ? left : CM_CONTROL_PART_SIZE}};
    part *to = &keyframe->parts[keyframe->packed];
    if (cm_control_encode(&control, NULL, &to->bytes, &to->size) != CAROM_OK) {
        return false;
    }
    if (++keyframe->packed == keyframe->count) {
        free(keyframe->bytes);
        keyframe->bytes = NULL;
    }
    return true;
}

bool cm_keyframe_streams_tick(cm_keyframe_streams *streams, uint32_t tick_rate)
{
    bool packed = false;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_keyframe *keyframe = streams->of[player].keyframe;
        if (keyframe == NULL) {
            continue;
        }
        int64_t credit = streams->of[player].credit + CM_KEYFRAME_KBIT * 125 / tick_rate;
        streams->of[player].credit = credit < CREDIT_MAX ? credit : CREDIT_MAX;
        if (!packed && keyframe->packed < keyframe->count &&
            streams->of[player].part == keyframe->packed) {
            packed = pack_next(keyframe);
            if (!packed) {
                return false;
            }
        }
    }
    return true;
}

const uint8_t *cm_keyframe_streams_part(const cm_keyframe_streams *streams, uint32_t player,
                                        size_t outstanding, size_t *size)
{
    const cm_keyframe *keyframe = streams->of[player].keyframe;
    uint32_t next = streams->of[player].part;
    if (keyframe == NULL || next == keyframe->packed || streams->of[player].credit <= 0 ||
        outstanding > CM_KEYFRAME_WINDOW) {
        return NULL;
    }
    *size = keyframe->parts[next].size;
    return keyframe->parts[next].bytes;
}

void cm_keyframe_streams_sent(cm_keyframe_streams *streams, uint32_t player)
{
    uint32_t sent = streams->of[player].part++;
    streams->of[player].credit -= (int64_t)streams->of[player].keyframe->parts[sent].size;
}

const cm_snapshot_moment *cm_keyframe_streams_whole(const cm_keyframe_streams *streams,
                                                    uint32_t player)
{
    const cm_keyframe *keyframe = streams->of[player].keyframe;
    bool whole = keyframe != NULL && streams->of[player].part == keyframe->count;
    return whole ? &keyframe->moment : NULL;
}
