// The intersection by direct clipping: each plane's face is a large square, cut by every other
// plane (I. Sutherland, G. Hodgman, 1974).
//
// It needs no interior point and cannot fail, but takes planes x planes x corners: the check of the
// dual hull in the tests, and what is left where that hull fails its own checks. Faces do not share
// vertices here; the integrals do not mind.
#include "shared/sim/solve/volume/poly.h"

#define CORNERS 1200u

static uint32_t cut(const cm_d3 *from, uint32_t count, cm_d3 n, double d, cm_d3 *to)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        cm_d3 p = from[i], q = from[(i + 1) % count];
        double here = cm_d3_dot(n, p) - d, there = cm_d3_dot(n, q) - d;
        if (here <= 0.0) {
            to[made++] = p;
        }
        if ((here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0)) {
            to[made++] = cm_d3_mad(p, here / (here - there), cm_d3_sub(q, p));
        }
        if (made + 2 > CORNERS) {
            return 0;
        }
    }
    return made;
}

bool cm_volume_clip(cm_volume_work *work, double size)
{
    cm_d3 corners[2][CORNERS];
    uint32_t vertices = 0, at = 0;
    work->clipped = true;
    work->face_count = 0;
    work->first[0] = 0;
    for (uint32_t p = 4; p < work->plane_count; p++) {
        cm_d3 n = work->normals[p], u, v;
        cm_d3_basis(n, &u, &v);
        cm_d3 o = cm_d3_scale(work->offsets[p], n);
        u = cm_d3_scale(2.0 * size, u);
        v = cm_d3_scale(2.0 * size, v);
        corners[0][0] = cm_d3_add(o, cm_d3_add(u, v));
        corners[0][1] = cm_d3_add(o, cm_d3_sub(v, u));
        corners[0][2] = cm_d3_sub(o, cm_d3_add(u, v));
        corners[0][3] = cm_d3_add(o, cm_d3_sub(u, v));
        uint32_t count = 4, side = 0;
        for (uint32_t k = 4; k < work->plane_count && count >= 3; k++) {
            // Of two planes in one place the first keeps the face.
            bool same = cm_d3_dot(n, work->normals[k]) > 1.0 - 1.0e-14 &&
                        cm_d_abs(work->offsets[p] - work->offsets[k]) <= 1.0e-12 * size;
            if (k == p || (same && k > p)) {
                continue;
            }
            count = same ? 0
                         : cut(corners[side], count, work->normals[k], work->offsets[k],
                               corners[1 - side]);
            side = 1 - side;
        }
        if (count < 3 || vertices + count > CM_VOLUME_FACETS) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            work->vertices[vertices] = cm_d3_add(work->interior, corners[side][i]);
            work->loop[at++] = (uint16_t)vertices++;
        }
        work->first[++work->face_count] = (uint16_t)at;
    }
    work->vertex_count = vertices;
    return work->face_count >= 4;
}
