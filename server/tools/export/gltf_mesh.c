// Few triangles a shape: pictures of a match, not its geometry.
#include "server/tools/export/gltf_mesh.h"

#include <math.h>
#include <string.h>

#define TURN  16 // segments of a circle
#define RINGS 8  // of a sphere, from pole to pole
#define PI    3.14159265358979323846

static void put_vertex(cm_gltf_mesh *mesh, double x, double y, double z)
{
    mesh->vertices[mesh->vertex_count++] = (carom_vec3){(float)x, (float)y, (float)z};
}

static void put_triangle(cm_gltf_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    mesh->indices[mesh->index_count++] = (uint16_t)a;
    mesh->indices[mesh->index_count++] = (uint16_t)b;
    mesh->indices[mesh->index_count++] = (uint16_t)c;
}

static void put_square(cm_gltf_mesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    put_triangle(mesh, a, b, c);
    put_triangle(mesh, a, c, d);
}

// Vertex 4x + 2y + z.
static void make_box(cm_gltf_mesh *mesh)
{
    for (int i = 0; i < 8; i++) {
        put_vertex(mesh, (i & 4) != 0 ? 1 : -1, (i & 2) != 0 ? 1 : -1, (i & 1) != 0 ? 1 : -1);
    }
    put_square(mesh, 0, 1, 3, 2);
    put_square(mesh, 4, 6, 7, 5);
    put_square(mesh, 0, 4, 5, 1);
    put_square(mesh, 2, 3, 7, 6);
    put_square(mesh, 0, 2, 6, 4);
    put_square(mesh, 1, 5, 7, 3);
}

// Rings of TURN vertices, each above the one before, closed by fans at both ends.
static void close_rings(cm_gltf_mesh *mesh, uint32_t rings)
{
    for (uint32_t ring = 0; ring + 1 < rings; ring++) {
        for (uint32_t i = 0; i < TURN; i++) {
            uint32_t next = (i + 1) % TURN, low = ring * TURN, high = low + TURN;
            put_square(mesh, low + i, high + i, high + next, low + next);
        }
    }
    for (uint32_t i = 1; i + 1 < TURN; i++) {
        uint32_t top = (rings - 1) * TURN;
        put_triangle(mesh, 0, i, i + 1);
        put_triangle(mesh, top, top + i + 1, top + i);
    }
}

static void put_ring(cm_gltf_mesh *mesh, double radius, double y)
{
    for (int i = 0; i < TURN; i++) {
        double angle = 2.0 * PI * i / TURN;
        put_vertex(mesh, radius * cos(angle), y, radius * sin(angle));
    }
}

static void make_sphere(cm_gltf_mesh *mesh)
{
    for (int ring = 0; ring <= RINGS; ring++) { // the poles are rings of next to nothing
        double angle = PI * ring / RINGS;
        put_ring(mesh, fmax(sin(angle), 1e-3), -cos(angle));
    }
    close_rings(mesh, RINGS + 1);
}

static void find_bounds(cm_gltf_mesh *mesh)
{
    mesh->low = mesh->high = mesh->vertices[0];
    for (uint32_t i = 1; i < mesh->vertex_count; i++) {
        carom_vec3 v = mesh->vertices[i];
        mesh->low.x = fminf(mesh->low.x, v.x);
        mesh->low.y = fminf(mesh->low.y, v.y);
        mesh->low.z = fminf(mesh->low.z, v.z);
        mesh->high.x = fmaxf(mesh->high.x, v.x);
        mesh->high.y = fmaxf(mesh->high.y, v.y);
        mesh->high.z = fmaxf(mesh->high.z, v.z);
    }
}

_Static_assert((RINGS + 1) * TURN <= CM_GLTF_VERTICES_MAX, "a sphere fits");
_Static_assert(RINGS *TURN * 6 + (TURN - 2) * 6 <= CM_GLTF_INDICES_MAX, "a sphere fits");

void cm_gltf_mesh_form(cm_gltf_form form, cm_gltf_mesh *mesh)
{
    memset(mesh, 0, sizeof *mesh);
    switch (form) {
    case CM_GLTF_BOX:
        make_box(mesh);
        break;
    case CM_GLTF_SPHERE:
        make_sphere(mesh);
        break;
    case CM_GLTF_CYLINDER:
        put_ring(mesh, 1, -1);
        put_ring(mesh, 1, 1);
        close_rings(mesh, 2);
        break;
    default:
        put_vertex(mesh, -1, 0, -1);
        put_vertex(mesh, -1, 0, 1);
        put_vertex(mesh, 1, 0, 1);
        put_vertex(mesh, 1, 0, -1);
        put_square(mesh, 0, 1, 2, 3);
        break;
    }
    find_bounds(mesh);
}

void cm_gltf_mesh_hull(const carom_hull *hull, cm_gltf_mesh *mesh)
{
    uint32_t count = 0;
    memset(mesh, 0, sizeof *mesh);
    const carom_vec3 *vertices = carom_hull_vertices(hull, &mesh->vertex_count);
    memcpy(mesh->vertices, vertices, mesh->vertex_count * sizeof *vertices);
    for (uint32_t face = 0;; face++) {
        const uint8_t *corner = carom_hull_face(hull, face, &count);
        if (corner == NULL) {
            break;
        }
        for (uint32_t i = 1; i + 1 < count; i++) {
            put_triangle(mesh, corner[0], corner[i], corner[i + 1]);
        }
    }
    find_bounds(mesh);
}
