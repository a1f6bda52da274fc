// Pieces from shapes: boxes and hulls as they are, round shapes as facets.
//
// A sphere of `segments` meridians has half as many rings; a cylinder is a prism; a capsule is a
// sphere cut in two. Their vertices lie on the true surface, so a faceted ball of 16 segments
// stands at most 2% of its radius deeper than the true one. Planes of faces are fitted in binary64
// to the placed vertices (M. Newell's normal, mean offset). Typical: 2 boxes a pair.
#include "shared/sim/solve/volume/piece.h"

#include "shared/base/mathf.h"
#include "shared/sim/state/hull.h"

// Corner i has the sign bits x 1, y 2, z 4; faces -x +x -y +y -z +z.
static const uint16_t box_first[7] = {0, 4, 8, 12, 16, 20, 24};
static const uint16_t box_loop[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                      2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};

static cm_d3 put(const cm_volume_transform *transform, cm_d3 local)
{
    return cm_d3_add(transform->position, cm_dmat_mul(&transform->rotation, local));
}

static void make_box(const double *half, const cm_volume_transform *transform,
                     cm_volume_piece *piece)
{
    const cm_d3 axes[3] = {transform->rotation.x, transform->rotation.y, transform->rotation.z};
    piece->box = true;
    piece->vertex_count = 8;
    piece->face_count = 6;
    piece->center = transform->position;
    piece->first = box_first;
    piece->loop = box_loop;
    piece->size = __builtin_sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    for (uint32_t k = 0; k < 3; k++) {
        double middle = cm_d3_dot(axes[k], transform->position);
        piece->axis[k] = cm_d3_scale(half[k], axes[k]);
        piece->normals[2 * k] = cm_d3_scale(-1.0, axes[k]);
        piece->normals[2 * k + 1] = axes[k];
        piece->offsets[2 * k] = half[k] - middle;
        piece->offsets[2 * k + 1] = half[k] + middle;
    }
    cm_d3 x = piece->axis[0], y = piece->axis[1], z = piece->axis[2];
    cm_d3 low = cm_d3_sub(piece->center, z), high = cm_d3_add(piece->center, z);
    cm_d3 a = cm_d3_sub(cm_d3_scale(-1.0, x), y), b = cm_d3_sub(x, y);
    piece->vertices[0] = cm_d3_add(low, a);
    piece->vertices[1] = cm_d3_add(low, b);
    piece->vertices[2] = cm_d3_sub(low, b);
    piece->vertices[3] = cm_d3_sub(low, a);
    piece->vertices[4] = cm_d3_add(high, a);
    piece->vertices[5] = cm_d3_add(high, b);
    piece->vertices[6] = cm_d3_sub(high, b);
    piece->vertices[7] = cm_d3_sub(high, a);
}

static void make_plane(const double *size, const cm_volume_transform *transform,
                       cm_volume_piece *piece)
{
    cm_d3 n = cm_d3_unit(cm_d3_of(size[0], size[1], size[2]));
    piece->half_space = true;
    piece->face_count = 1;
    piece->normals[0] = cm_dmat_mul(&transform->rotation, n);
    piece->offsets[0] = size[3] + cm_d3_dot(piece->normals[0], transform->position);
    piece->center = cm_d3_scale(piece->offsets[0], piece->normals[0]);
}

// Planes of the faces and the radius, from placed vertices and loops.
static void fit_planes(cm_volume_piece *piece)
{
    for (uint32_t f = 0; f < piece->face_count; f++) {
        const uint16_t *loop = piece->loop + piece->first[f];
        uint32_t count = (uint32_t)(piece->first[f + 1] - piece->first[f]);
        cm_d3 o = piece->vertices[loop[0]], sum = cm_d3_of(0.0, 0.0, 0.0);
        for (uint32_t i = 1; i + 1 < count; i++) {
            cm_d3 p = cm_d3_sub(piece->vertices[loop[i]], o);
            sum = cm_d3_add(sum, cm_d3_cross(p, cm_d3_sub(piece->vertices[loop[i + 1]], o)));
        }
        cm_d3 n = cm_d3_unit(sum);
        double offset = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            offset += cm_d3_dot(n, piece->vertices[loop[i]]);
        }
        piece->normals[f] = n;
        piece->offsets[f] = offset / (double)count;
    }
    piece->size = 0.0;
    for (uint32_t i = 0; i < piece->vertex_count; i++) {
        double r = cm_d3_length(cm_d3_sub(piece->vertices[i], piece->center));
        piece->size = cm_d_max(piece->size, r);
    }
}

static void make_hull(const cm_volume_form *form, const cm_volume_transform *transform,
                      cm_volume_piece *piece)
{
    const carom_hull *hull = form->hull;
    piece->vertex_count = hull->vertex_count;
    piece->face_count = hull->face_count;
    piece->center =
        put(transform, cm_d3_of(hull->centroid[0], hull->centroid[1], hull->centroid[2]));
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        cm_d3 v = form->vertices != NULL ? form->vertices[i] : cm_d3_from(hull->vertices[i]);
        piece->vertices[i] = put(transform, v);
    }
    for (uint32_t f = 0; f <= hull->face_count; f++) {
        piece->own_first[f] = hull->first[f];
    }
    for (uint32_t i = 0; i < hull->first[hull->face_count]; i++) {
        piece->own_loop[i] = hull->loop[i];
    }
    fit_planes(piece);
}

static void add_face(cm_volume_piece *piece, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t at = piece->own_first[piece->face_count];
    piece->own_loop[at++] = (uint16_t)a;
    piece->own_loop[at++] = (uint16_t)b;
    piece->own_loop[at++] = (uint16_t)c;
    if (d != CM_NONE) {
        piece->own_loop[at++] = (uint16_t)d;
    }
    piece->own_first[++piece->face_count] = (uint16_t)at;
}

// Rings about the axis y from the top down: ring i at height y[i] with radius r[i]; a radius of 0
// at either end is a pole, else a cap closes it.
static void make_rings(const cm_volume_transform *transform, const double *y, const double *r,
                       uint32_t rings, uint32_t segments, cm_volume_piece *piece)
{
    uint32_t start[CM_VOLUME_ROUND + 2];
    piece->own_first[0] = 0;
    for (uint32_t i = 0; i < rings; i++) {
        start[i] = piece->vertex_count;
        uint32_t count = r[i] > 0.0 ? segments : 1;
        for (uint32_t k = 0; k < count; k++) {
            double angle = 2.0 * CM_PI * (double)k / (double)segments;
            cm_d3 v = cm_d3_of(r[i] * cm_sin(angle), y[i], r[i] * cm_cos(angle));
            piece->vertices[piece->vertex_count++] = put(transform, v);
        }
    }
    for (uint32_t i = 0; i + 1 < rings; i++) {
        for (uint32_t k = 0; k < segments; k++) {
            uint32_t next = (k + 1) % segments, up = start[i], down = start[i + 1];
            if (r[i] > 0.0 && r[i + 1] > 0.0) {
                add_face(piece, up + k, down + k, down + next, up + next);
            } else if (r[i] > 0.0) {
                add_face(piece, up + k, down, up + next, CM_NONE);
            } else {
                add_face(piece, up, down + k, down + next, CM_NONE);
            }
        }
    }
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t ring = end == 0 ? 0 : rings - 1, at = piece->own_first[piece->face_count];
        if (r[ring] > 0.0) {
            for (uint32_t k = 0; k < segments; k++) {
                uint32_t i = end == 0 ? k : segments - 1 - k;
                piece->own_loop[at++] = (uint16_t)(start[ring] + i);
            }
            piece->own_first[++piece->face_count] = (uint16_t)at;
        }
    }
    piece->center = transform->position;
    fit_planes(piece);
}

static void make_ball(double radius, double half, const cm_volume_transform *transform,
                      uint32_t segments, cm_volume_piece *piece)
{
    double y[CM_VOLUME_ROUND + 2], r[CM_VOLUME_ROUND + 2];
    uint32_t rings = 0, steps = segments / 2 < 2 ? 2 : segments / 2;
    bool capsule = half > 0.0;
    steps += capsule ? steps % 2 : 0; // a capsule is cut at its equator
    for (uint32_t i = 0; i <= steps; i++) {
        double angle = CM_PI * (double)i / (double)steps, out = radius * cm_sin(angle);
        bool pole = i == 0 || i == steps;
        double shift = 2 * i <= steps ? half : -half;
        y[rings] = radius * cm_cos(angle) + shift;
        r[rings++] = pole ? 0.0 : out;
        if (capsule && 2 * i == steps) {
            y[rings] = y[rings - 1] - 2.0 * half;
            r[rings] = r[rings - 1];
            rings++;
        }
    }
    make_rings(transform, y, r, rings, segments, piece);
}

cm_dmat cm_volume_facing(carom_shape_type type, const cm_dmat *rotation, cm_d3 normal)
{
    cm_dmat r = *rotation;
    if (type == CAROM_SHAPE_SPHERE) {
        r.y = normal;
        cm_d3_basis(normal, &r.z, &r.x);
        return r;
    }
    cm_d3 z = cm_d3_mad(normal, -cm_d3_dot(normal, r.y), r.y);
    bool round = type == CAROM_SHAPE_CAPSULE || type == CAROM_SHAPE_CYLINDER;
    if (round && cm_d3_dot(z, z) > 1.0e-12) { // vertices begin at z
        r.z = cm_d3_unit(z);
        r.x = cm_d3_cross(r.y, r.z);
    }
    return r;
}

void cm_volume_core(const cm_volume_form *form, const cm_volume_transform *transform,
                    cm_volume_piece *piece)
{
    cm_d3 arm = cm_d3_scale(form->size[1], transform->rotation.y);
    bool capsule = form->type == CAROM_SHAPE_CAPSULE;
    piece->vertex_count = capsule ? 2 : 1;
    piece->face_count = 0;
    piece->half_space = piece->box = false;
    piece->size = form->size[0];
    piece->center = transform->position;
    piece->vertices[0] = capsule ? cm_d3_add(transform->position, arm) : transform->position;
    piece->vertices[1] = cm_d3_sub(transform->position, arm);
}

bool cm_volume_piece_form(const cm_volume_form *form, const cm_volume_transform *transform,
                          uint32_t segments, cm_volume_piece *piece)
{
    uint32_t round = segments < CM_VOLUME_ROUND ? segments : CM_VOLUME_ROUND;
    double radius = form->size[0], half = form->size[1];
    const double y[2] = {half, -half}, r[2] = {radius, radius};
    piece->vertex_count = piece->face_count = 0;
    piece->half_space = piece->box = false;
    piece->size = 0.0;
    piece->first = piece->own_first;
    piece->loop = piece->own_loop;
    switch (form->type) {
    case CAROM_SHAPE_BOX:
        make_box(form->size, transform, piece);
        return true;
    case CAROM_SHAPE_PLANE:
        make_plane(form->size, transform, piece);
        return true;
    case CAROM_SHAPE_SPHERE:
        make_ball(radius, 0.0, transform, round, piece);
        return true;
    case CAROM_SHAPE_CAPSULE:
        make_ball(radius, half, transform, round, piece);
        return true;
    case CAROM_SHAPE_CYLINDER:
        make_rings(transform, y, r, 2, segments, piece);
        return true;
    default:
        if (form->hull == NULL) {
            return false;
        }
        make_hull(form, transform, piece);
        return true;
    }
}

bool cm_volume_piece_make(const cm_shape *shape, const carom_hull *hull,
                          const cm_volume_transform *transform, uint32_t segments,
                          cm_volume_piece *piece)
{
    cm_volume_form form = {.type = (carom_shape_type)shape->type, .hull = hull};
    for (uint32_t i = 0; i < 4; i++) {
        form.size[i] = (double)shape->size[i];
    }
    return cm_volume_piece_form(&form, transform, segments, piece);
}

uint32_t cm_volume_support(const cm_volume_piece *piece, cm_d3 d)
{
    if (piece->box) {
        return (uint32_t)(cm_d3_dot(piece->axis[0], d) > 0.0) |
               (uint32_t)(cm_d3_dot(piece->axis[1], d) > 0.0) << 1 |
               (uint32_t)(cm_d3_dot(piece->axis[2], d) > 0.0) << 2;
    }
    uint32_t best = 0;
    double most = cm_d3_dot(piece->vertices[0], d);
    for (uint32_t i = 1; i < piece->vertex_count; i++) {
        double here = cm_d3_dot(piece->vertices[i], d);
        if (here > most) {
            most = here;
            best = i;
        }
    }
    return best;
}

double cm_volume_reach(const cm_volume_piece *piece, cm_d3 d)
{
    if (piece->half_space) {
        return piece->offsets[0];
    }
    if (piece->box) {
        return cm_d3_dot(piece->center, d) + cm_d_abs(cm_d3_dot(piece->axis[0], d)) +
               cm_d_abs(cm_d3_dot(piece->axis[1], d)) + cm_d_abs(cm_d3_dot(piece->axis[2], d));
    }
    return cm_d3_dot(piece->vertices[cm_volume_support(piece, d)], d);
}
