// Two polyhedra: separating axes over faces and edges, then face clipping or the closest points of
// two edges; as boxes do it (box.c), with the same tolerances, so that a hull in the shape of a box
// behaves as one.
//
// Of the pairs of edges only those whose arcs cross on the Gauss map can carry the axis of least
// overlap (D. Gregorius, "The Separating Axis Test between Convex Polyhedra", 2013); the test is
// four products, and nearly all pairs fail it. Features: clip.c's for faces; bit 30 and the two
// edges' numbers for edges.
#include "shared/sim/collide/convex.h"
#include "shared/sim/collide/narrow.h"

#define FACE_TOLERANCE 0.0005f // m; a's face before b's
#define PARALLEL       1.0e-4f // squared sine below which two edges give no axis

typedef struct face_axis {
    float separation;
    uint32_t face;
} face_axis;

typedef struct edge_axis {
    float separation;
    uint32_t a, b; // CM_NONE: no edge axis at all
    carom_vec3 normal;
} edge_axis;

// The face of a that b is farthest beyond. Stops at the first beyond margin.
static face_axis search_faces(const cm_poly *a, const cm_poly *b, float margin)
{
    face_axis best = {-1.0e30f, 0};
    for (uint32_t f = 0; f < a->face_count; f++) {
        carom_vec3 n = a->normals[f];
        float low = cm_dot(n, b->vertices[0]);
        for (uint32_t i = 1; i < b->vertex_count; i++) {
            low = cm_min(low, cm_dot(n, b->vertices[i]));
        }
        float s = low - a->offsets[f];
        if (s > best.separation) {
            best.separation = s;
            best.face = f;
            if (s > margin) {
                return best;
            }
        }
    }
    return best;
}

// The arcs of an edge of a (from normal to normal, about its direction) and of b's mirrored one
// cross.
static bool arcs_cross(const cm_poly *a, const cm_hull_edge *ea, carom_vec3 u, const cm_poly *b,
                       const cm_hull_edge *eb, carom_vec3 v)
{
    carom_vec3 c = b->normals[eb->face[0]], d = b->normals[eb->face[1]];
    float cu = cm_dot(c, u), du = cm_dot(d, u);
    if (!(cu * du < 0.0f)) {
        return false;
    }
    float av = cm_dot(a->normals[ea->face[0]], v), bv = cm_dot(a->normals[ea->face[1]], v);
    return av * bv < 0.0f && cu * bv < 0.0f;
}

static edge_axis search_edges(const cm_poly *a, const cm_poly *b, float margin)
{
    edge_axis best = {-1.0e30f, CM_NONE, CM_NONE, {0.0f, 1.0f, 0.0f}};
    for (uint32_t i = 0; i < a->edge_count; i++) {
        const cm_hull_edge *ea = &a->edges[i];
        carom_vec3 p = a->vertices[ea->vertex[0]], u = cm_sub(a->vertices[ea->vertex[1]], p);
        float uu = cm_dot(u, u);
        for (uint32_t k = 0; k < b->edge_count; k++) {
            const cm_hull_edge *eb = &b->edges[k];
            carom_vec3 q = b->vertices[eb->vertex[0]], v = cm_sub(b->vertices[eb->vertex[1]], q);
            if (!arcs_cross(a, ea, u, b, eb, v)) {
                continue;
            }
            carom_vec3 n = cm_cross(u, v);
            float nn = cm_dot(n, n);
            if (nn < PARALLEL * uu * cm_dot(v, v)) {
                continue;
            }
            n = cm_scale(1.0f / cm_sqrt(nn), n);
            if (cm_dot(n, cm_sub(p, a->center)) < 0.0f) {
                n = cm_neg(n);
            }
            float s = cm_dot(n, cm_sub(q, p));
            if (s > best.separation) {
                best = (edge_axis){s, i, k, n};
                if (s > margin) {
                    return best;
                }
            }
        }
    }
    return best;
}

// Closest points of two segments p + s u and q + t v, s and t in [0, 1], not parallel.
static carom_vec3 between_edges(carom_vec3 p, carom_vec3 u, carom_vec3 q, carom_vec3 v)
{
    carom_vec3 w = cm_sub(q, p);
    float uu = cm_dot(u, u), vv = cm_dot(v, v), uv = cm_dot(u, v);
    float uw = cm_dot(u, w), vw = cm_dot(v, w), det = uu * vv - uv * uv;
    float s = cm_clamp((uw * vv - uv * vw) / det, 0.0f, 1.0f);
    float t = cm_clamp((uv * uw - uu * vw) / det, 0.0f, 1.0f);
    return cm_scale(0.5f, cm_add(cm_mul_add(p, s, u), cm_mul_add(q, t, v)));
}

static void add_edges(const cm_poly *a, const cm_poly *b, const edge_axis *axis, carom_vec3 a_to_b,
                      cm_manifold *manifold)
{
    const cm_hull_edge *ea = &a->edges[axis->a], *eb = &b->edges[axis->b];
    carom_vec3 p = a->vertices[ea->vertex[0]], q = b->vertices[eb->vertex[0]];
    carom_vec3 u = cm_sub(a->vertices[ea->vertex[1]], p);
    carom_vec3 v = cm_sub(b->vertices[eb->vertex[1]], q);
    manifold->normal = axis->normal;
    cm_manifold_add(manifold, between_edges(p, u, q, v), a_to_b, axis->separation,
                    1u << 30 | axis->a | axis->b << 8);
}

// The face of the polyhedron that is most against a direction.
static uint32_t facing(const cm_poly *poly, carom_vec3 against)
{
    uint32_t best = 0;
    float least = cm_dot(poly->normals[0], against);
    for (uint32_t f = 1; f < poly->face_count; f++) {
        float here = cm_dot(poly->normals[f], against);
        if (here < least - 1.0e-5f) {
            least = here;
            best = f;
        }
    }
    return best;
}

static void add_faces(const cm_poly *a, const cm_poly *b, uint32_t face, bool reference_b,
                      carom_vec3 a_to_b, float margin, cm_manifold *manifold)
{
    cm_feature reference, incident;
    cm_clip_point list[CM_CLIP_POINTS];
    const cm_poly *other = reference_b ? a : b;
    cm_poly_face(reference_b ? b : a, face, &reference);
    cm_poly_face(other, facing(other, reference.normal), &incident);
    uint32_t count = cm_clip(&reference, &incident, 0.0f, margin, list);
    count = cm_clip_reduce(list, count, reference.normal);
    manifold->normal = reference_b ? cm_neg(reference.normal) : reference.normal;
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 p = cm_mul_add(list[i].p, -0.5f * list[i].separation, reference.normal);
        cm_manifold_add(manifold, p, a_to_b, list[i].separation,
                        list[i].feature | (reference_b ? 1u << 28 : 0u));
    }
}

uint32_t cm_collide_polys(const cm_poly *a, const cm_poly *b, carom_vec3 a_to_b, float margin,
                          cm_manifold *manifold)
{
    manifold->point_count = 0;
    manifold->normal = cm_fixed_direction();
    face_axis fa = search_faces(a, b, margin);
    if (fa.separation > margin) {
        return 0;
    }
    face_axis fb = search_faces(b, a, margin);
    if (fb.separation > margin) {
        return 0;
    }
    edge_axis edge = search_edges(a, b, margin);
    if (edge.separation > margin) {
        return 0;
    }
    bool reference_b = fb.separation > fa.separation + FACE_TOLERANCE;
    face_axis face = reference_b ? fb : fa;
    if (edge.a != CM_NONE && edge.separation > cm_edge_bound(face.separation)) {
        add_edges(a, b, &edge, a_to_b, manifold);
        return manifold->point_count;
    }
    add_faces(a, b, face.face, reference_b, a_to_b, margin, manifold);
    // Overlapping polyhedra always touch somewhere: where clipping left nothing, their edges do.
    if (manifold->point_count == 0 && edge.a != CM_NONE && face.separation <= 0.0f) {
        add_edges(a, b, &edge, a_to_b, manifold);
    }
    return manifold->point_count;
}
