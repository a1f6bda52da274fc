// carom/volume.h: one contact by itself, of the parts that the solver's step is made of.
#include "carom/volume.h"

#include "shared/base/fpenv.h"
#include "shared/sim/solve/volume/friction.h"
#include "shared/sim/solve/volume/gjk.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/hull.h"

#include <string.h>

typedef struct meeting {
    cm_volume_piece piece[2];
    cm_volume_work work;
} meeting;

size_t carom_volume_work_size(void)
{
    return sizeof(meeting);
}

static cm_d3 in(carom_dvec3 v)
{
    return cm_d3_of(v.x, v.y, v.z);
}

static carom_dvec3 out_of(cm_d3 v)
{
    return (carom_dvec3){v.x, v.y, v.z};
}

// Arguments --------------------------------------------------------------------------------------

static bool are_finite(const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(values[i] - values[i] == 0.0)) {
            return false;
        }
    }
    return true;
}

static bool is_finite(carom_dvec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return are_finite(values, 3);
}

static carom_result check_piece(const carom_volume_piece *p)
{
    bool finite = are_finite(p->size, 4) && are_finite(p->orientation, 4) &&
                  is_finite(p->position) && is_finite(p->center) && is_finite(p->velocity) &&
                  is_finite(p->spin);
    if (!finite) {
        return CAROM_ERROR_NOT_FINITE;
    }
    for (uint32_t i = 0; p->hull != NULL && p->vertices != NULL && i < p->hull->vertex_count; i++) {
        if (!is_finite(p->vertices[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
    }
    const double *s = p->size, *q = p->orientation;
    bool sized;
    switch (p->type) {
    case CAROM_SHAPE_SPHERE:
        sized = s[0] > 0.0;
        break;
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        sized = s[0] > 0.0 && s[1] > 0.0;
        break;
    case CAROM_SHAPE_BOX:
        sized = s[0] > 0.0 && s[1] > 0.0 && s[2] > 0.0;
        break;
    case CAROM_SHAPE_PLANE:
        sized = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] > 0.0;
        break;
    case CAROM_SHAPE_HULL:
        sized = p->hull != NULL;
        break;
    default:
        sized = false;
        break;
    }
    bool turned = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0.0;
    return sized && turned ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

static carom_result check_law(const carom_volume_law *law)
{
    const double values[6] = {law->stiffness,       law->damping,          law->tangent_stiffness,
                              law->tangent_damping, law->friction_kinetic, law->friction_static};
    if (!are_finite(values, 6)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    for (uint32_t i = 0; i < 6; i++) {
        if (values[i] < 0.0) {
            return CAROM_ERROR_ARGUMENT;
        }
    }
    return law->friction_static >= law->friction_kinetic ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

static carom_result check(const carom_volume_piece pieces[2], const carom_volume_law *law,
                          const carom_dvec3 *normal, double dt, uint32_t segments,
                          const carom_volume_memory *memory)
{
    CM_TRY(check_piece(&pieces[0]));
    CM_TRY(check_piece(&pieces[1]));
    CM_TRY(check_law(law));
    if (!are_finite(&dt, 1) || !is_finite(memory->stretch) || !are_finite(&memory->twist, 1) ||
        (normal != NULL && !is_finite(*normal))) {
        return CAROM_ERROR_NOT_FINITE;
    }
    bool planes = pieces[0].type == CAROM_SHAPE_PLANE && pieces[1].type == CAROM_SHAPE_PLANE;
    bool directed = normal == NULL || cm_d3_length(in(*normal)) > 0.0;
    bool known = (unsigned)memory->state <= CAROM_VOLUME_KINETIC && dt >= 0.0 &&
                 segments >= CAROM_SEGMENTS_MIN && segments <= CAROM_SEGMENTS_MAX;
    return !planes && directed && known ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

// Contact ----------------------------------------------------------------------------------------

static void make_piece(const carom_volume_piece *from, uint32_t segments, cm_volume_piece *piece)
{
    cm_d3 vertices[CM_HULL_VERTICES];
    cm_volume_form form = {.type = from->type, .hull = from->hull};
    memcpy(form.size, from->size, sizeof form.size);
    if (from->type == CAROM_SHAPE_HULL && from->vertices != NULL) {
        for (uint32_t i = 0; i < from->hull->vertex_count; i++) {
            vertices[i] = in(from->vertices[i]);
        }
        form.vertices = vertices;
    }
    const double *q = from->orientation;
    cm_dquat turn = cm_dquat_unit((cm_dquat){q[0], q[1], q[2], q[3]});
    cm_volume_transform transform = {in(from->position), cm_dmat_from_quat(turn)};
    cm_volume_piece_form(&form, &transform, segments, piece);
}

static cm_volume_slip slip_at(const cm_volume_region *r, const carom_volume_piece pieces[2])
{
    cm_d3 v[2], w[2] = {in(pieces[0].spin), in(pieces[1].spin)};
    for (uint32_t i = 0; i < 2; i++) {
        cm_d3 arm = cm_d3_sub(r->point, in(pieces[i].center));
        v[i] = cm_d3_add(in(pieces[i].velocity), cm_d3_cross(w[i], arm));
    }
    cm_d3 slip = cm_d3_sub(v[1], v[0]), turn = cm_d3_sub(w[1], w[0]);
    return (cm_volume_slip){cm_d3_dot(r->t1, slip),     cm_d3_dot(r->t2, slip),
                            cm_d3_dot(r->normal, slip), cm_d3_dot(r->t1, turn),
                            cm_d3_dot(r->t2, turn),     cm_d3_dot(r->normal, turn)};
}

// Size of the Coulomb force of coefficient `mu` along the motion, or against the stretch.
static double limit_of(const cm_volume_patch *patch, const cm_volume_law *law, double mu, double gx,
                       double gy, double turn)
{
    cm_volume_shear f = cm_volume_coulomb(patch->work, law->stiffness, law->damping, &patch->slip,
                                          gx + turn * patch->y, gy - turn * patch->x, turn);
    f.m -= patch->x * f.y - patch->y * f.x;
    return mu * cm_volume_shear_size(patch, &f);
}

static carom_wrench wrench_of(const cm_volume_region *r, cm_volume_push push)
{
    cm_d3 force = cm_d3_scale(push.force, r->normal);
    return (carom_wrench){out_of(force),
                          out_of(cm_d3_mad(cm_d3_scale(push.mx, r->t1), push.my, r->t2))};
}

// Force and torque about c0 as they act on a body, about its centre of mass.
static carom_wrench about_center(const cm_volume_region *r, const carom_volume_piece *piece,
                                 cm_d3 force, cm_d3 torque)
{
    cm_d3 arm = cm_d3_sub(r->point, in(piece->center));
    return (carom_wrench){out_of(force), out_of(cm_d3_add(torque, cm_d3_cross(arm, force)))};
}

static void touch(const carom_volume_piece pieces[2], const cm_volume_law *law, double dt,
                  const cm_volume_work *work, const cm_volume_region *r, cm_volume_bristle *bristle,
                  carom_volume_touch *out)
{
    cm_volume_slip slip = slip_at(r, pieces);
    cm_volume_push spring = cm_volume_spring(r, law->stiffness);
    cm_volume_push damper = cm_volume_damper(r, law->damping, &slip);
    cm_volume_patch patch = cm_volume_patch_of(r, work, &slip);
    double u = slip.x - slip.wn * patch.y, v = slip.y + slip.wn * patch.x;
    out->kinetic = limit_of(&patch, law, law->kinetic, u, v, slip.wn);
    cm_volume_shear shear = cm_volume_friction_step(&patch, law, r, dt, bristle, NULL);
    cm_d3 middle = cm_d3_mad(cm_d3_mad(r->point, patch.x, r->t1), patch.y, r->t2);
    cm_d3 f = cm_d3_mad(cm_d3_scale(shear.x, r->t1), shear.y, r->t2);
    cm_d3 m = cm_d3_scale(shear.m, r->normal);
    out->most_static = limit_of(&patch, law, law->still, shear.x, shear.y,
                                patch.turn > 0.0 ? shear.m * patch.area / patch.turn : 0.0);
    out->touching = true;
    out->normal = out_of(r->normal);
    out->depth = r->depth;
    out->point = out_of(r->point);
    out->volume = r->volume;
    out->area = r->area;
    out->centroid = out_of(cm_volume_centroid(r));
    out->area_centroid = out_of(middle);
    out->clipped = r->clipped;
    out->spring = wrench_of(r, spring);
    out->damper = wrench_of(r, damper);
    out->friction = (carom_wrench){out_of(f), out_of(m)};
    double n = spring.force + damper.force < 0.0 ? 0.0 : 1.0;
    cm_d3 force = cm_d3_scale(n, cm_d3_mad(f, spring.force + damper.force, r->normal));
    cm_d3 torque = cm_d3_add(m, cm_d3_cross(cm_d3_sub(middle, r->point), f));
    torque = cm_d3_mad(torque, spring.mx + damper.mx, r->t1);
    torque = cm_d3_scale(n, cm_d3_mad(torque, spring.my + damper.my, r->t2));
    out->total[0] = about_center(r, &pieces[0], force, torque);
    out->total[1] =
        about_center(r, &pieces[1], cm_d3_scale(-1.0, force), cm_d3_scale(-1.0, torque));
}

CM_FP_BODY static void meet(const carom_volume_piece pieces[2], const carom_volume_law *law,
                            const carom_dvec3 *normal, double dt, uint32_t segments, meeting *room,
                            carom_volume_memory *memory, carom_volume_touch *out)
{
    cm_volume_piece *a = &room->piece[0], *b = &room->piece[1];
    make_piece(&pieces[0], segments, a);
    make_piece(&pieces[1], segments, b);
    cm_d3 last = normal != NULL ? cm_d3_unit(in(*normal)) : cm_volume_first_normal(a, b);
    cm_volume_region region = {.clipped = false};
    memset(out, 0, sizeof *out);
    if (cm_volume_meet(a, b, last, &room->work, &region)) {
        const cm_volume_law own = {law->stiffness,         law->damping,
                                   law->tangent_stiffness, law->tangent_damping,
                                   law->friction_kinetic,  law->friction_static};
        cm_volume_bristle bristle = {(uint32_t)memory->state, in(memory->stretch), memory->twist};
        touch(pieces, &own, dt, &room->work, &region, &bristle, out);
        *memory = (carom_volume_memory){(carom_volume_state)bristle.mode, out_of(bristle.stretch),
                                        bristle.twist};
        return;
    }
    cm_volume_gap gap;
    cm_volume_gjk(a, b, cm_d3_of(0.0, 0.0, 0.0), cm_d3_of(0.0, 0.0, 0.0), &gap);
    out->distance = gap.distance;
    out->normal = out_of(gap.direction);
    out->nearest[0] = out_of(gap.on_a);
    out->nearest[1] = out_of(gap.on_b);
    *memory = (carom_volume_memory){0};
}

carom_result carom_volume_meet(const carom_volume_piece pieces[2], const carom_volume_law *law,
                               const carom_dvec3 *normal, double dt, uint32_t segments, void *work,
                               carom_volume_memory *memory, carom_volume_touch *out)
{
    if (pieces == NULL || law == NULL || work == NULL || memory == NULL || out == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(check(pieces, law, normal, dt, segments, memory));
    cm_fpenv saved = cm_fpenv_enter();
    meet(pieces, law, normal, dt, segments, (meeting *)work, memory, out);
    cm_fpenv_leave(saved);
    return CAROM_OK;
}
