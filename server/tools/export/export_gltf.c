// A match as a glTF 2.0 scene in one binary file (.glb): a node for each body with its shapes below
// it, and one animation that moves them. Bodies that come or go are scaled to nothing while they
// are not there. Tracks are written to a file without a name as they come, each body's in one
// piece, and copied behind the head at the end; memory holds the list of bodies.
//
// The binary part: the times of the samples; for each body that can move its positions, then its
// orientations; triangles; for those that come or go when they are seen.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/match_db.h"
#include "server/tools/export/export.h"
#include "server/tools/export/gltf_json.h"
#include "shared/base/array.h"

#define SPOOL_PATH_MAX 4096u

static carom_result no_memory(cm_match_error *error)
{
    return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
}

static bool put_at(int file, const void *bytes, size_t size, uint64_t offset)
{
    return pwrite(file, bytes, size, (off_t)offset) == (ssize_t)size;
}

static cm_gltf_body *find_body(cm_gltf *g, carom_body_id id)
{
    uint32_t before = g->slot_count;
    if (!cm_array_reserve(&g->slots, &g->slot_count, id.index + 1, sizeof *g->slots)) {
        return NULL;
    }
    memset(g->slots + before, 0, (g->slot_count - before) * sizeof *g->slots);
    uint32_t number = g->slots[id.index];
    if (number > 0 && g->bodies[number - 1].id.generation == id.generation) {
        return &g->bodies[number - 1];
    }
    if (!cm_array_reserve(&g->bodies, &g->body_capacity, g->body_count + 1, sizeof *g->bodies)) {
        return NULL;
    }
    cm_gltf_body *body = &g->bodies[g->body_count++];
    *body = (cm_gltf_body){.id = id};
    g->slots[id.index] = g->body_count;
    return body;
}

// Describes a body's shapes when it is first seen.
static bool describe(cm_gltf *g, const carom_world *world, cm_gltf_body *body,
                     const carom_body_state *state)
{
    uint32_t count = carom_body_shapes(world, body->id, NULL, 0);
    carom_shape_id *ids = malloc((count + 1) * sizeof *ids);
    body->shapes = malloc((count + 1) * sizeof *body->shapes);
    if (ids == NULL || body->shapes == NULL) {
        free(ids);
        return false;
    }
    body->shape_count = carom_body_shapes(world, body->id, ids, count);
    for (uint32_t i = 0; i < body->shape_count; i++) {
        (void)carom_shape_get(world, ids[i], &body->shapes[i], NULL);
    }
    free(ids);
    body->type = state->type;
    body->position = state->position;
    body->orientation = state->orientation;
    body->moves = state->type != CAROM_BODY_STATIC;
    body->track = body->moves ? g->track_count++ : 0;
    body->first = body->last = g->sample;
    return true;
}

static carom_result take_body(cm_gltf *g, const carom_world *world, carom_body_id id,
                              cm_match_error *error)
{
    carom_body_state state;
    if (carom_body_get(world, id, &state) != CAROM_OK) {
        return CAROM_OK;
    }
    cm_gltf_body *body = find_body(g, id);
    if (body == NULL || (body->shapes == NULL && !describe(g, world, body, &state))) {
        return no_memory(error);
    }
    body->last = g->sample;
    if (!body->moves) {
        return CAROM_OK;
    }
    uint64_t track = body->track * g->samples * CM_GLTF_SAMPLE_BYTES;
    if (cm_gltf_bytes(g) > UINT32_MAX) {
        return cm_match_wrong(error, CAROM_ERROR_LIMIT_SIZE,
                              "more than 4 GiB of tracks, which no glTF file holds: expected fewer "
                              "ticks, or a larger --every");
    }
    if (!put_at(g->tracks, &state.position, 12, track + g->sample * 12) ||
        !put_at(g->tracks, &state.orientation, 16, track + g->samples * 12 + g->sample * 16)) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "tracks cannot be written: %s",
                              strerror(errno));
    }
    return CAROM_OK;
}

static carom_result sample(void *context, const carom_game *game, cm_match_error *error)
{
    cm_gltf *g = context;
    const carom_world *world = carom_game_world(game);
    carom_result result = CAROM_OK;
    for (uint32_t slot = 0; result == CAROM_OK && slot < carom_world_body_slots(world); slot++) {
        result = take_body(g, world, carom_world_body_at(world, slot), error);
    }
    g->sample++;
    return result;
}

// File ----------------------------------------------------------------------------------------

static bool copy_tracks(const cm_gltf *g, FILE *out)
{
    char block[65536];
    uint64_t left = (uint64_t)g->track_count * g->samples * CM_GLTF_SAMPLE_BYTES, at = 0;
    while (left > 0) {
        size_t size = left < sizeof block ? (size_t)left : sizeof block;
        ssize_t got = pread(g->tracks, block, size, (off_t)at);
        if (got < 0) {
            return false;
        }
        memset(block + got, 0, size - (size_t)got); // never written: a body that was not there
        if (fwrite(block, 1, size, out) != size) {
            return false;
        }
        at += size;
        left -= size;
    }
    return true;
}

static void put_u32(FILE *out, uint64_t value)
{
    const uint32_t number = (uint32_t)value;
    fwrite(&number, sizeof number, 1, out);
}

static bool write_file(const cm_gltf *g, FILE *out)
{
    char *json = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&json, &size);
    if (text == NULL) {
        return false;
    }
    cm_gltf_print(g, text);
    while (ftell(text) % 4 != 0) {
        fputc(' ', text);
    }
    bool good = fclose(text) == 0 && json != NULL;
    uint64_t binary = cm_gltf_bytes(g);
    if (good) {
        fputs("glTF", out);
        put_u32(out, 2);
        put_u32(out, 12 + 8 + size + 8 + binary);
        put_u32(out, size);
        fputs("JSON", out);
        fwrite(json, 1, size, out);
        put_u32(out, binary);
        fwrite("BIN", 1, 4, out);
        cm_gltf_put_times(g, out);
        good = copy_tracks(g, out);
        cm_gltf_put_rest(g, out);
        good = good && !ferror(out);
    }
    free(json);
    return good;
}

static void release(cm_gltf *g)
{
    for (uint32_t i = 0; i < g->body_count; i++) {
        free(g->bodies[i].shapes);
    }
    free(g->bodies);
    free(g->slots);
    free(g->hulls);
    if (g->tracks >= 0) {
        close(g->tracks);
    }
}

// Makes the file and fills it. An existing one is refused.
static carom_result put_file(cm_gltf *g, const char *path, cm_match_error *error)
{
    FILE *out;
    carom_result made = cm_export_make(path, &out, error);
    if (made != CAROM_OK) {
        return made;
    }
    bool good = write_file(g, out);
    good = fclose(out) == 0 && good;
    if (!good) {
        cm_match_wrong(error, CAROM_ERROR_IO, "%.200s: %s", path, strerror(errno));
        unlink(path);
    }
    return good ? CAROM_OK : CAROM_ERROR_IO;
}

carom_result cm_export_gltf(cm_playback *playback, const cm_export_options *options,
                            cm_match_error *error)
{
    cm_match_info info;
    cm_match_info_get(cm_playback_file(playback), &info);
    cm_gltf g = {.scene = cm_match_scene(cm_playback_file(playback)),
                 .step_s = (double)options->every / (double)info.tick_rate,
                 .samples = (options->to - options->from) / options->every + 1};
    if (access(options->path, F_OK) == 0) {
        return cm_match_wrong(error, CAROM_ERROR_STATE, "%.200s: is there already", options->path);
    }
    char spool[SPOOL_PATH_MAX];
    snprintf(spool, sizeof spool, "%.*s.XXXXXX", (int)sizeof spool - 8, options->path);
    g.tracks = mkostemp(spool, O_CLOEXEC); // beside the file, where its disk has to have room
    if (g.tracks >= 0) {
        unlink(spool);
    }
    carom_result result = CAROM_OK;
    if (g.tracks < 0) {
        result =
            cm_match_wrong(error, CAROM_ERROR_IO, "%.200s: no file for its tracks beside it: %s",
                           options->path, strerror(errno));
    } else if (!cm_gltf_hulls(&g)) {
        result = no_memory(error);
    }
    cm_export_calls calls = {&g, NULL, sample};
    result = result == CAROM_OK ? cm_export_walk(playback, options, &calls, error) : result;
    result = result == CAROM_OK ? put_file(&g, options->path, error) : result;
    release(&g);
    return result;
}
