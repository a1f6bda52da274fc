// Triangles of shapes for glTF: unit ones, which a node scales, and hulls as they are.
#ifndef CM_SERVER_TOOLS_EXPORT_GLTF_MESH_H
#define CM_SERVER_TOOLS_EXPORT_GLTF_MESH_H

#include "carom/world.h"

#define CM_GLTF_VERTICES_MAX 160u
#define CM_GLTF_INDICES_MAX  880u

typedef struct cm_gltf_mesh {
    uint32_t vertex_count, index_count;
    carom_vec3 vertices[CM_GLTF_VERTICES_MAX];
    uint16_t indices[CM_GLTF_INDICES_MAX]; // counter-clockwise seen from outside
    carom_vec3 low, high;
} cm_gltf_mesh;

typedef enum cm_gltf_form {
    CM_GLTF_BOX,      // half extents 1
    CM_GLTF_SPHERE,   // radius 1
    CM_GLTF_CYLINDER, // axis y, radius 1, half height 1
    CM_GLTF_SQUARE,   // of a plane: y 0, half extents 1
    CM_GLTF_FORMS,
} cm_gltf_form;

void cm_gltf_mesh_form(cm_gltf_form form, cm_gltf_mesh *mesh);
void cm_gltf_mesh_hull(const carom_hull *hull, cm_gltf_mesh *mesh);

#endif
