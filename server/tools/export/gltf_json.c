// The JSON of a glTF file, and the small parts of its binary. Each list is printed by one function,
// and numbers of its rows are computed, not kept.
#include "server/tools/export/gltf_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"

#define PLANE_SIZE 200.0 // m, half the side of the square that stands for a plane
#define TYPES      3u    // of bodies, each with its colour
#define SEEN_BYTES 48u   // of a body that comes or goes: 3 times, 3 scales

static bool comes_or_goes(const cm_gltf *g, const cm_gltf_body *body)
{
    return body->first > 0 || body->last + 1 < g->samples;
}

static uint32_t seen_count(const cm_gltf *g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->body_count; i++) {
        count += comes_or_goes(g, &g->bodies[i]);
    }
    return count;
}

bool cm_gltf_hulls(cm_gltf *g)
{
    carom_world_def def;
    cm_scene_world_def(g->scene, &def);
    g->hulls = malloc((def.hull_count + 1) * sizeof(carom_hull *));
    if (g->hulls != NULL && def.hull_count > 0) {
        memcpy(g->hulls, def.hulls, def.hull_count * sizeof(carom_hull *));
    }
    g->hull_count = def.hull_count;
    return g->hulls != NULL;
}

static uint32_t mesh_count(const cm_gltf *g)
{
    return CM_GLTF_FORMS + g->hull_count;
}

static void make_mesh(const cm_gltf *g, uint32_t number, cm_gltf_mesh *mesh)
{
    if (number < CM_GLTF_FORMS) {
        cm_gltf_mesh_form((cm_gltf_form)number, mesh);
    } else {
        cm_gltf_mesh_hull(g->hulls[number - CM_GLTF_FORMS], mesh);
    }
}

// Indices of 2 bytes, in whole words.
static uint64_t index_bytes(const cm_gltf_mesh *mesh)
{
    return (mesh->index_count * 2u + 3u) / 4u * 4u;
}

static uint64_t mesh_bytes(const cm_gltf *g)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < mesh_count(g); i++) {
        cm_gltf_mesh mesh;
        make_mesh(g, i, &mesh);
        bytes += mesh.vertex_count * 12u + index_bytes(&mesh);
    }
    return bytes;
}

static uint64_t track_bytes(const cm_gltf *g)
{
    return (uint64_t)g->track_count * g->samples * CM_GLTF_SAMPLE_BYTES;
}

uint64_t cm_gltf_bytes(const cm_gltf *g)
{
    uint64_t rest = (uint64_t)g->body_count * SEEN_BYTES; // at most, while it is being filled
    if (g->sample == g->samples) {
        rest = mesh_bytes(g) + (uint64_t)seen_count(g) * SEEN_BYTES;
    }
    return g->samples * 4 + track_bytes(g) + rest;
}

// Binary --------------------------------------------------------------------------------------

static void put_f32(FILE *out, double value)
{
    const float single = (float)value;
    fwrite(&single, sizeof single, 1, out);
}

void cm_gltf_put_times(const cm_gltf *g, FILE *out)
{
    for (uint64_t i = 0; i < g->samples; i++) {
        put_f32(out, (double)i * g->step_s);
    }
}

static void put_mesh(const cm_gltf_mesh *mesh, FILE *out)
{
    const uint16_t none = 0; // to a whole word
    fwrite(mesh->vertices, sizeof mesh->vertices[0], mesh->vertex_count, out);
    fwrite(mesh->indices, sizeof mesh->indices[0], mesh->index_count, out);
    fwrite(&none, sizeof none, mesh->index_count % 2u, out);
}

// The times at which a body's visibility changes: hidden, visible, hidden; strictly ascending.
static void seen_times(const cm_gltf *g, const cm_gltf_body *body, double times[3])
{
    times[0] = 0.0;
    times[1] = (double)body->first * g->step_s;
    times[2] = (double)(body->last + 1) * g->step_s;
    times[1] = times[1] > 0.0 ? times[1] : g->step_s / 2.0;
}

void cm_gltf_put_rest(const cm_gltf *g, FILE *out)
{
    for (uint32_t i = 0; i < mesh_count(g); i++) {
        cm_gltf_mesh mesh;
        make_mesh(g, i, &mesh);
        put_mesh(&mesh, out);
    }
    for (uint32_t i = 0; i < g->body_count; i++) {
        const cm_gltf_body *body = &g->bodies[i];
        if (comes_or_goes(g, body)) {
            double times[3];
            seen_times(g, body, times);
            for (int k = 0; k < 3; k++) {
                put_f32(out, times[k]);
            }
            for (int k = 0; k < 9; k++) { // there from the start: nothing changes before it goes
                put_f32(out, k < 3 ? (body->first > 0 ? 0.0 : 1.0) : k < 6 ? 1.0 : 0.0);
            }
        }
    }
}

// Nodes ---------------------------------------------------------------------------------------

static void print_vec(FILE *out, const char *key, double x, double y, double z)
{
    fprintf(out, ", \"%s\": [%.9g, %.9g, %.9g]", key, x, y, z);
}

static void print_quat(FILE *out, carom_quat q)
{
    fprintf(out, ", \"rotation\": [%.9g, %.9g, %.9g, %.9g]", (double)q.x, (double)q.y, (double)q.z,
            (double)q.w);
}

static void print_part(FILE *out, const cm_gltf_body *body, uint32_t mesh, carom_vec3 position,
                       carom_quat turn, carom_vec3 scale)
{
    fprintf(out, ", {\"mesh\": %u", mesh * TYPES + (uint32_t)body->type);
    print_vec(out, "translation", (double)position.x, (double)position.y, (double)position.z);
    print_quat(out, turn);
    print_vec(out, "scale", (double)scale.x, (double)scale.y, (double)scale.z);
    fputc('}', out);
}

// The turn that takes y to a plane's normal.
static carom_quat turn_to(carom_vec3 normal)
{
    carom_quat q = {normal.z, 0.0f, -normal.x, 1.0f + normal.y};
    double length = sqrt((double)q.x * q.x + (double)q.z * q.z + (double)q.w * q.w);
    if (length < 1e-6) {
        return (carom_quat){1.0f, 0.0f, 0.0f, 0.0f};
    }
    return (carom_quat){(float)(q.x / length), 0.0f, (float)(q.z / length), (float)(q.w / length)};
}

static void print_capsule(FILE *out, const cm_gltf_body *body, const carom_shape_def *s)
{
    float r = s->radius;
    for (int end = -1; end <= 1; end += 2) {
        carom_vec3 along = {0.0f, (float)end * s->half_height, 0.0f};
        carom_vec3 place = cm_add(s->position, cm_rotate(s->orientation, along));
        print_part(out, body, CM_GLTF_SPHERE, place, s->orientation, (carom_vec3){r, r, r});
    }
    print_part(out, body, CM_GLTF_CYLINDER, s->position, s->orientation,
               (carom_vec3){r, s->half_height, r});
}

// The number of a shape's hull; hull_count: it has none that is known.
static uint32_t hull_of(const cm_gltf *g, const carom_shape_def *s)
{
    uint32_t hull = 0;
    while (hull < g->hull_count && g->hulls[hull] != s->hull) {
        hull++;
    }
    return hull;
}

static void print_shape(const cm_gltf *g, FILE *out, const cm_gltf_body *body,
                        const carom_shape_def *s)
{
    float r = s->radius, size = (float)PLANE_SIZE;
    uint32_t hull;
    switch (s->type) {
    case CAROM_SHAPE_SPHERE:
        print_part(out, body, CM_GLTF_SPHERE, s->position, s->orientation, (carom_vec3){r, r, r});
        break;
    case CAROM_SHAPE_CAPSULE:
        print_capsule(out, body, s);
        break;
    case CAROM_SHAPE_BOX:
        print_part(out, body, CM_GLTF_BOX, s->position, s->orientation, s->half_extents);
        break;
    case CAROM_SHAPE_PLANE:
        print_part(out, body, CM_GLTF_SQUARE, cm_scale(s->offset, s->normal), turn_to(s->normal),
                   (carom_vec3){size, 1.0f, size});
        break;
    case CAROM_SHAPE_CYLINDER:
        print_part(out, body, CM_GLTF_CYLINDER, s->position, s->orientation,
                   (carom_vec3){r, s->half_height, r});
        break;
    default:
        hull = hull_of(g, s);
        if (hull < g->hull_count) {
            print_part(out, body, CM_GLTF_FORMS + hull, s->position, s->orientation,
                       (carom_vec3){1.0f, 1.0f, 1.0f});
        }
        break;
    }
}

static uint32_t parts_of(const cm_gltf *g, const cm_gltf_body *body)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < body->shape_count; i++) {
        uint32_t one = body->shapes[i].type == CAROM_SHAPE_CAPSULE ? 3 : 1;
        bool drawn = body->shapes[i].type != CAROM_SHAPE_HULL ||
                     hull_of(g, &body->shapes[i]) < g->hull_count;
        parts += drawn ? one : 0;
    }
    return parts;
}

// Bodies first, so that node i is body i; their shapes after all of them.
static void print_nodes(const cm_gltf *g, FILE *out)
{
    uint32_t child = g->body_count;
    fputs("\"nodes\": [", out);
    for (uint32_t i = 0; i < g->body_count; i++) {
        const cm_gltf_body *body = &g->bodies[i];
        char name[CM_NAME_MAX], quoted[6 * CM_NAME_MAX + 3];
        cm_scene_call_body(g->scene, body->id, name, sizeof name);
        cm_json_quote(name, quoted, sizeof quoted);
        fprintf(out, "%s{\"name\": %s", i > 0 ? ",\n" : "", quoted);
        print_vec(out, "translation", (double)body->position.x, (double)body->position.y,
                  (double)body->position.z);
        print_quat(out, body->orientation);
        uint32_t parts = parts_of(g, body);
        for (uint32_t k = 0; k < parts; k++) {
            fprintf(out, "%s%u", k == 0 ? ", \"children\": [" : ", ", child++);
        }
        fputs(parts > 0 ? "]}" : "}", out);
    }
    for (uint32_t i = 0; i < g->body_count; i++) {
        for (uint32_t k = 0; k < g->bodies[i].shape_count; k++) {
            print_shape(g, out, &g->bodies[i], &g->bodies[i].shapes[k]);
        }
    }
    fputs("],\n", out);
}

// Buffers -------------------------------------------------------------------------------------

// Accessors and views have the same numbers: 0 the times; two a mesh; then of each body in turn
// (its times, positions, orientations; its times and scales of being seen), as `print_body_views`.
static void print_view(FILE *out, bool views, uint64_t offset, uint64_t bytes, uint64_t count,
                       uint32_t component, const char *type)
{
    if (views) {
        fprintf(out, "{\"buffer\": 0, \"byteOffset\": %llu, \"byteLength\": %llu}",
                (unsigned long long)offset, (unsigned long long)bytes);
    } else {
        fprintf(out, "\"componentType\": %u, \"count\": %llu, \"type\": \"%s\"", component,
                (unsigned long long)count, type);
    }
}

#define FLOAT 5126u
#define SHORT 5123u

static void open_accessor(FILE *out, bool views, uint32_t *number)
{
    fputs(*number > 0 ? ",\n" : "", out);
    if (!views) {
        fprintf(out, "{\"bufferView\": %u, ", *number);
    }
    (*number)++;
}

static void print_floats(FILE *out, bool views, uint32_t *number, uint64_t offset, uint64_t count,
                         const char *type, uint32_t width)
{
    open_accessor(out, views, number);
    print_view(out, views, offset, count * width * 4, count, FLOAT, type);
    fputs(views ? "" : "}", out);
}

static void print_times(FILE *out, bool views, uint32_t *number, uint64_t offset, uint64_t count,
                        double first, double last)
{
    open_accessor(out, views, number);
    print_view(out, views, offset, count * 4, count, FLOAT, "SCALAR");
    if (!views) {
        fprintf(out, ", \"min\": [%.9g], \"max\": [%.9g]}", (double)(float)first,
                (double)(float)last);
    }
}

static void print_mesh_views(const cm_gltf *g, FILE *out, bool views, uint32_t *number,
                             uint64_t *offset)
{
    for (uint32_t i = 0; i < mesh_count(g); i++) {
        cm_gltf_mesh mesh;
        make_mesh(g, i, &mesh);
        open_accessor(out, views, number);
        print_view(out, views, *offset, mesh.vertex_count * 12u, mesh.vertex_count, FLOAT, "VEC3");
        if (!views) {
            fprintf(out, ", \"min\": [%.9g, %.9g, %.9g], \"max\": [%.9g, %.9g, %.9g]}",
                    (double)mesh.low.x, (double)mesh.low.y, (double)mesh.low.z, (double)mesh.high.x,
                    (double)mesh.high.y, (double)mesh.high.z);
        }
        *offset += mesh.vertex_count * 12u;
        open_accessor(out, views, number);
        print_view(out, views, *offset, mesh.index_count * 2u, mesh.index_count, SHORT, "SCALAR");
        fputs(views ? "" : "}", out);
        *offset += index_bytes(&mesh);
    }
}

static void print_buffers(const cm_gltf *g, FILE *out, bool views)
{
    uint32_t number = 0;
    uint64_t rest = g->samples * 4 + track_bytes(g);
    fputs(views ? "\"bufferViews\": [" : "\"accessors\": [", out);
    print_mesh_views(g, out, views, &number, &rest);
    for (uint32_t i = 0; i < g->body_count; i++) {
        const cm_gltf_body *body = &g->bodies[i];
        uint64_t count = body->last - body->first + 1;
        uint64_t track = g->samples * 4 + body->track * g->samples * CM_GLTF_SAMPLE_BYTES;
        if (body->moves) {
            print_times(out, views, &number, body->first * 4, count,
                        (double)body->first * g->step_s, (double)body->last * g->step_s);
            print_floats(out, views, &number, track + body->first * 12, count, "VEC3", 3);
            print_floats(out, views, &number, track + g->samples * 12 + body->first * 16, count,
                         "VEC4", 4);
        }
        if (comes_or_goes(g, body)) {
            double times[3];
            seen_times(g, body, times);
            print_times(out, views, &number, rest, 3, times[0], times[2]);
            print_floats(out, views, &number, rest + 12, 3, "VEC3", 3);
            rest += SEEN_BYTES;
        }
    }
    fputs("],\n", out);
}

// Animation -----------------------------------------------------------------------------------

static void print_channel(FILE *out, bool samplers, uint32_t *number, uint32_t node, uint32_t input,
                          uint32_t output, const char *path)
{
    fputs(*number > 0 ? ",\n" : "", out);
    if (samplers) {
        fprintf(out, "{\"input\": %u, \"output\": %u, \"interpolation\": \"%s\"}", input, output,
                strcmp(path, "scale") == 0 ? "STEP" : "LINEAR");
    } else {
        fprintf(out, "{\"sampler\": %u, \"target\": {\"node\": %u, \"path\": \"%s\"}}", *number,
                node, path);
    }
    (*number)++;
}

static void print_channels(const cm_gltf *g, FILE *out, bool samplers)
{
    uint32_t number = 0, accessor = 2 * mesh_count(g);
    fputs(samplers ? "\"samplers\": [" : "\"channels\": [", out);
    for (uint32_t i = 0; i < g->body_count; i++) {
        if (g->bodies[i].moves) {
            print_channel(out, samplers, &number, i, accessor, accessor + 1, "translation");
            print_channel(out, samplers, &number, i, accessor, accessor + 2, "rotation");
            accessor += 3;
        }
        if (comes_or_goes(g, &g->bodies[i])) {
            print_channel(out, samplers, &number, i, accessor, accessor + 1, "scale");
            accessor += 2;
        }
    }
    fputs("]", out);
}

static void print_meshes(const cm_gltf *g, FILE *out)
{
    fputs("\"meshes\": [", out);
    for (uint32_t i = 0; i < mesh_count(g) * TYPES; i++) {
        fprintf(out,
                "%s{\"primitives\": [{\"attributes\": {\"POSITION\": %u}, \"indices\": %u, "
                "\"material\": %u}]}",
                i > 0 ? ",\n" : "", i / TYPES * 2, i / TYPES * 2 + 1, i % TYPES);
    }
    fputs("],\n\"materials\": [", out);
    static const char *const colors[TYPES] = {"0.55, 0.55, 0.55, 1", "0.2, 0.45, 0.8, 1",
                                              "0.85, 0.45, 0.15, 1"};
    for (uint32_t i = 0; i < TYPES; i++) {
        fprintf(out,
                "%s{\"pbrMetallicRoughness\": {\"baseColorFactor\": [%s], \"metallicFactor\": 0, "
                "\"roughnessFactor\": 0.8}}",
                i > 0 ? ", " : "", colors[i]);
    }
    fputs("],\n", out);
}

void cm_gltf_print(const cm_gltf *g, FILE *out)
{
    char scene[6 * CM_NAME_MAX + 3];
    cm_json_quote(cm_scene_name(g->scene), scene, sizeof scene);
    fprintf(out, "{\"asset\": {\"version\": \"2.0\", \"generator\": \"carom\"}, \"scene\": 0,\n");
    fprintf(out, "\"scenes\": [{\"name\": %s", scene);
    for (uint32_t i = 0; i < g->body_count; i++) {
        fprintf(out, "%s%u", i == 0 ? ", \"nodes\": [" : ", ", i);
    }
    fputs(g->body_count > 0 ? "]}],\n" : "}],\n", out);
    if (g->body_count > 0) {
        print_nodes(g, out);
    }
    print_meshes(g, out);
    print_buffers(g, out, false);
    print_buffers(g, out, true);
    bool moving = g->track_count > 0 || seen_count(g) > 0;
    if (moving) {
        fputs("\"animations\": [{\"name\": \"match\", ", out);
        print_channels(g, out, true);
        fputs(", ", out);
        print_channels(g, out, false);
        fputs("}],\n", out);
    }
    fprintf(out, "\"buffers\": [{\"byteLength\": %llu}]}\n", (unsigned long long)cm_gltf_bytes(g));
}
