// The inside of a glTF export: what was gathered of a match, and the parts of the file but for the
// tracks. For export_gltf.c and gltf_json.c alone.
#ifndef CM_SERVER_TOOLS_EXPORT_GLTF_JSON_H
#define CM_SERVER_TOOLS_EXPORT_GLTF_JSON_H

#include <stdio.h>

#include "server/tools/export/gltf_mesh.h"
#include "shared/scene/scene.h"

#define CM_GLTF_SAMPLE_BYTES 28u // of a body: position, orientation

typedef struct cm_gltf_body {
    carom_body_id id;
    carom_body_type type;
    carom_vec3 position; // when it was first seen
    carom_quat orientation;
    carom_shape_def *shapes;
    uint32_t shape_count;
    bool moves;
    uint64_t track;       // its number among those that move
    uint64_t first, last; // samples
} cm_gltf_body;

typedef struct cm_gltf {
    const cm_scene *scene;
    double step_s;    // between two samples
    uint64_t samples; // in all
    uint64_t sample;  // the present one
    cm_gltf_body *bodies;
    uint32_t body_count, body_capacity;
    uint32_t *slots; // number of the body in each, plus one
    uint32_t slot_count;
    uint32_t track_count;
    const carom_hull **hulls; // of the scene
    uint32_t hull_count;
    int tracks; // file of the tracks
} cm_gltf;

bool cm_gltf_hulls(cm_gltf *g); // false: no memory
// Of the binary part.
uint64_t cm_gltf_bytes(const cm_gltf *g);
void cm_gltf_put_times(const cm_gltf *g, FILE *out);
void cm_gltf_put_rest(const cm_gltf *g, FILE *out); // after the tracks
void cm_gltf_print(const cm_gltf *g, FILE *out);    // the JSON

#endif
