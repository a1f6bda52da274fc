// Normals, contact planes and the integrals of S. Hasegawa et al. 2003 over an intersection.
//
// Per triangle with vertices p_i in the plane, heights h_i and signed projected area s (S = |s|):
// the integral of a product of two linear functions f g is S / 12 (sum f sum g + sum f_i g_i).
// Products s h make the spring exact also for faces that cross the plane: below it both change
// sign. Typical: 20 triangles, of which a third are seen edge on.
#include "shared/sim/solve/volume/region.h"

#include "shared/sim/solve/volume/gjk.h"

#define APART        1.0e-3 // of the size, how far a pair is moved apart beyond its overlap
#define FIRST_ROUNDS 16u    // of the first normal
#define EDGES        48u    // directions of a piece's edges that are tried for it

static double overlap_along(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 n)
{
    return cm_volume_reach(b, n) + cm_volume_reach(a, cm_d3_scale(-1.0, n));
}

static double smaller_size(const cm_volume_piece *a, const cm_volume_piece *b)
{
    if (a->half_space || b->half_space) {
        return a->half_space ? b->size : a->size;
    }
    return cm_d_min(a->size, b->size);
}

// Over a half-space the normal is always its own.
static bool normal_of_plane(const cm_volume_piece *a, const cm_volume_piece *b,
                            cm_volume_region *region)
{
    const cm_volume_piece *plane = b->half_space ? b : a, *solid = b->half_space ? a : b;
    cm_d3 up = plane->normals[0];
    cm_d3 low = solid->vertices[cm_volume_support(solid, cm_d3_scale(-1.0, up))];
    region->depth = plane->offsets[0] - cm_d3_dot(up, low);
    region->normal = b->half_space ? up : cm_d3_scale(-1.0, up);
    region->point = cm_d3_mad(low, 0.5 * region->depth, up);
    cm_d3_basis(region->normal, &region->t1, &region->t2);
    return region->depth > 0.0;
}

bool cm_volume_find_normal(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 last,
                           cm_volume_region *region)
{
    if (a->half_space || b->half_space) {
        return normal_of_plane(a, b, region);
    }
    region->normal = last;
    region->depth = overlap_along(a, b, last);
    if (!(region->depth > 0.0)) {
        return false;
    }
    cm_d3 shift = cm_d3_scale(region->depth + APART * smaller_size(a, b), last);
    cm_volume_gap gap;
    cm_volume_gjk(a, b, shift, last, &gap);
    if (gap.apart) {
        region->normal = gap.direction;
        region->depth = overlap_along(a, b, gap.direction);
    }
    cm_d3 on_a = cm_d3_sub(gap.on_a, shift);
    region->point = cm_d3_scale(0.5, cm_d3_add(on_a, gap.on_b));
    cm_d3_basis(region->normal, &region->t1, &region->t2);
    return region->depth > 0.0;
}

static void try_direction(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 n,
                          double *least, cm_d3 *best)
{
    double overlap = overlap_along(a, b, n);
    if (overlap < *least) {
        *least = overlap;
        *best = n;
    }
}

// Directions of edges, each once, the first EDGES of them: round pieces have more.
static uint32_t edges_of(const cm_volume_piece *piece, cm_d3 edges[EDGES])
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < piece->face_count; f++) {
        uint32_t first = piece->first[f], end = piece->first[f + 1];
        for (uint32_t i = first; i < end && count < EDGES; i++) {
            uint32_t next = i + 1 < end ? i + 1 : first, same = 0;
            cm_d3 d = cm_d3_unit(
                cm_d3_sub(piece->vertices[piece->loop[next]], piece->vertices[piece->loop[i]]));
            while (same < count && cm_d_abs(cm_d3_dot(d, edges[same])) < 1.0 - 1.0e-9) {
                same++;
            }
            if (same == count) {
                edges[count++] = d;
            }
        }
    }
    return count;
}

// The direction, normal to a face of either piece or to an edge of each, of the least overlap.
static cm_d3 least_overlap(const cm_volume_piece *a, const cm_volume_piece *b, double *least)
{
    cm_d3 best = cm_d3_of(0.0, 1.0, 0.0), edges_a[EDGES], edges_b[EDGES];
    *least = overlap_along(a, b, best);
    for (uint32_t f = 0; f < a->face_count; f++) {
        try_direction(a, b, cm_d3_scale(-1.0, a->normals[f]), least, &best);
    }
    for (uint32_t f = 0; f < b->face_count; f++) {
        try_direction(a, b, b->normals[f], least, &best);
    }
    uint32_t count_a = edges_of(a, edges_a), count_b = edges_of(b, edges_b);
    for (uint32_t i = 0; i < count_a * count_b; i++) {
        cm_d3 n = cm_d3_cross(edges_a[i / count_b], edges_b[i % count_b]);
        if (cm_d3_dot(n, n) > 1.0e-12) {
            n = cm_d3_unit(n);
            try_direction(a, b, n, least, &best);
            try_direction(a, b, cm_d3_scale(-1.0, n), least, &best);
        }
    }
    return best;
}

cm_d3 cm_volume_first_normal(const cm_volume_piece *a, const cm_volume_piece *b)
{
    if (a->half_space || b->half_space) {
        return a->half_space ? cm_d3_scale(-1.0, a->normals[0]) : b->normals[0];
    }
    cm_volume_gap gap;
    const cm_d3 none = cm_d3_of(0.0, 0.0, 0.0);
    cm_volume_gjk(a, b, none, none, &gap);
    if (gap.apart && gap.distance > 1.0e-9 * smaller_size(a, b)) {
        return gap.direction;
    }
    double least;
    cm_d3 best = least_overlap(a, b, &least);
    // Moving apart and looking for the nearest points never adds to the overlap: it finds what the
    // edges left out would have given.
    for (uint32_t round = 0; round < FIRST_ROUNDS; round++) {
        cm_d3 shift = cm_d3_scale(least + APART * smaller_size(a, b), best);
        cm_volume_gjk(a, b, shift, best, &gap);
        double overlap = gap.apart ? overlap_along(a, b, gap.direction) : least;
        if (!(overlap < least)) {
            break;
        }
        least = overlap;
        best = gap.direction;
    }
    return best;
}

static void add_triangle(cm_volume_region *r, cm_d3 p, cm_d3 q, cm_d3 w)
{
    double s = 0.5 * ((q.x - p.x) * (w.y - p.y) - (q.y - p.y) * (w.x - p.x));
    double x = p.x + q.x + w.x, y = p.y + q.y + w.y, h = p.z + q.z + w.z;
    double s12 = s * (1.0 / 12.0), a12 = 0.5 * cm_d_abs(s12), a = 4.0 * a12;
    r->volume += 4.0 * s12 * h;
    r->hx += s12 * (x * h + p.x * p.z + q.x * q.z + w.x * w.z);
    r->hy += s12 * (y * h + p.y * p.z + q.y * q.z + w.y * w.z);
    r->hh += 0.5 * s12 * (h * h + p.z * p.z + q.z * q.z + w.z * w.z);
    r->area += 3.0 * a;
    r->ax += a * x;
    r->ay += a * y;
    r->axx += a12 * (x * x + p.x * p.x + q.x * q.x + w.x * w.x);
    r->axy += a12 * (x * y + p.x * p.y + q.x * q.y + w.x * w.y);
    r->ayy += a12 * (y * y + p.y * p.y + q.y * q.y + w.y * w.y);
}

void cm_volume_sum(cm_volume_work *work, cm_volume_region *region)
{
    cm_volume_region r = *region;
    r.volume = r.hx = r.hy = r.hh = r.area = r.ax = r.ay = r.axx = r.axy = r.ayy = 0.0;
    for (uint32_t i = 0; i < work->vertex_count; i++) {
        cm_d3 p = cm_d3_sub(work->vertices[i], r.point);
        work->flat[i] = cm_d3_of(cm_d3_dot(r.t1, p), cm_d3_dot(r.t2, p), cm_d3_dot(r.normal, p));
    }
    for (uint32_t f = 0; f < work->face_count; f++) {
        uint32_t last = work->first[f + 1];
        cm_d3 p = work->flat[work->loop[work->first[f]]];
        for (uint32_t i = work->first[f] + 1u; i + 1 < last; i++) {
            add_triangle(&r, p, work->flat[work->loop[i]], work->flat[work->loop[i + 1]]);
        }
    }
    r.clipped = work->clipped;
    *region = r;
}

static bool sum_up(const cm_volume_piece *a, const cm_volume_piece *b, cm_volume_work *work,
                   cm_volume_region *region)
{
    if (!cm_volume_intersect(a, b, region->point, 0.1 * region->depth, work)) {
        return false;
    }
    cm_volume_sum(work, region);
    return region->volume > 0.0 && region->area > 0.0;
}

bool cm_volume_meet(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 last,
                    cm_volume_work *work, cm_volume_region *region)
{
    return cm_volume_find_normal(a, b, last, region) && sum_up(a, b, work, region);
}

// The plane goes half way between what reaches farthest, at the one of more vertices: it is round.
bool cm_volume_meet_along(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 normal,
                          cm_volume_work *work, cm_volume_region *region)
{
    region->normal = normal;
    region->depth = overlap_along(a, b, normal);
    cm_d3_basis(normal, &region->t1, &region->t2);
    if (a->vertex_count >= b->vertex_count) {
        cm_d3 low = a->vertices[cm_volume_support(a, cm_d3_scale(-1.0, normal))];
        region->point = cm_d3_mad(low, 0.5 * region->depth, normal);
    } else {
        cm_d3 high = b->vertices[cm_volume_support(b, normal)];
        region->point = cm_d3_mad(high, -0.5 * region->depth, normal);
    }
    return region->depth > 0.0 && sum_up(a, b, work, region);
}

cm_d3 cm_volume_centroid(const cm_volume_region *region)
{
    double s = 1.0 / region->volume;
    cm_d3 c = cm_d3_mad(region->point, s * region->hx, region->t1);
    c = cm_d3_mad(c, s * region->hy, region->t2);
    return cm_d3_mad(c, s * region->hh, region->normal);
}

void cm_volume_middle(const cm_volume_region *region, double *x, double *y)
{
    *x = region->ax / region->area;
    *y = region->ay / region->area;
}

cm_volume_push cm_volume_spring(const cm_volume_region *region, double stiffness)
{
    cm_volume_push push = {stiffness * region->volume, stiffness * region->hy,
                           -stiffness * region->hx};
    return push;
}

// The normal velocity at (x, y) is n + wx y - wy x: the same basis 1, y, -x gives the torques.
cm_volume_push cm_volume_damper(const cm_volume_region *region, double damping,
                                const cm_volume_slip *slip)
{
    const cm_volume_region *r = region;
    cm_volume_push push;
    push.force = damping * (r->area * slip->n + r->ay * slip->wx - r->ax * slip->wy);
    push.mx = damping * (r->ay * slip->n + r->ayy * slip->wx - r->axy * slip->wy);
    push.my = -damping * (r->ax * slip->n + r->axy * slip->wx - r->axx * slip->wy);
    return push;
}

// The unit vector along the field at p; zero where there is none.
static void field_at(cm_d3 p, double gx, double gy, double turn, double *x, double *y)
{
    double u = gx - turn * p.y, v = gy + turn * p.x, squared = u * u + v * v;
    double s = squared > 1.0e-40 ? 1.0 / __builtin_sqrt(squared) : 0.0;
    *x = s * u;
    *y = s * v;
}

typedef struct shear_sample {
    double x, y, m; // force of a unit pressure and its moment about c0
    double damper;  // half the damper's pressure
    double height;
} shear_sample;

static void add_shear(cm_volume_shear *sum, const cm_d3 p[3], const shear_sample r[3],
                      double stiffness)
{
    double s =
        0.5 * ((p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[1].y - p[0].y) * (p[2].x - p[0].x));
    double k = s < 0.0 ? -stiffness : stiffness, area = cm_d_abs(s);
    double fx = 0.0, fy = 0.0, m = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        double pressure = k * r[i].height + r[i].damper;
        fx += pressure * r[i].x;
        fy += pressure * r[i].y;
        m += pressure * r[i].m;
    }
    double x = p[0].x + p[1].x + p[2].x, y = p[0].y + p[1].y + p[2].y;
    sum->x += area * (1.0 / 3.0) * fx;
    sum->y += area * (1.0 / 3.0) * fy;
    sum->m += area * (1.0 / 12.0) * (x * fy - y * fx + m);
}

static shear_sample shear_at(cm_d3 p, double damping, const cm_volume_slip *slip, double gx,
                             double gy, double turn)
{
    shear_sample r;
    field_at(p, gx, gy, turn, &r.x, &r.y);
    r.m = p.x * r.y - p.y * r.x;
    r.damper = 0.5 * damping * (slip->n + slip->wx * p.y - slip->wy * p.x);
    r.height = p.z;
    return r;
}

cm_volume_shear cm_volume_coulomb(const cm_volume_work *work, double stiffness, double damping,
                                  const cm_volume_slip *slip, double gx, double gy, double turn)
{
    cm_volume_shear sum = {0.0, 0.0, 0.0};
    for (uint32_t f = 0; f < work->face_count; f++) {
        const uint16_t *loop = work->loop + work->first[f];
        uint32_t count = (uint32_t)(work->first[f + 1] - work->first[f]);
        cm_d3 p[3] = {work->flat[loop[0]], work->flat[loop[1]], work->flat[loop[1]]};
        shear_sample r[3] = {shear_at(p[0], damping, slip, gx, gy, turn),
                             shear_at(p[1], damping, slip, gx, gy, turn)};
        for (uint32_t i = 2; i < count; i++) {
            p[2] = work->flat[loop[i]];
            r[2] = shear_at(p[2], damping, slip, gx, gy, turn);
            add_shear(&sum, p, r, stiffness);
            p[1] = p[2];
            r[1] = r[2];
        }
    }
    return sum;
}
