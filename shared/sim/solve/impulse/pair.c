// The contacts of a step, for the models `interpolated` (JP3308685B2) and `normal` (saharan): a row
// for each pair of shapes that touches, then hits (hit.c), what presses (contact.c), and what is
// left of an overlap.
//
// Pressing is a property of a contact and its direction: a contact presses where it approaches by
// no more than what one step's forces make along its normal. Forces are those of the world and, on
// each body, the normal impulses that pressed it in the step before, so that what lies on a pile
// presses, however high it lies, and what touches beside it in the same pile may be hit. Without
// forces nothing presses, and bodies go where their collisions send them, overlap or not.
#include "shared/sim/solve/impulse/impulse.h"
#include "shared/sim/state/tell.h"

#include <stddef.h>
#include <string.h>

static double largest(double a, double b)
{
    return a > b ? a : b;
}

// Across; a plane has no size of its own.
static double size_of(const cm_shape *shape)
{
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return 2.0 * (double)shape->size[0];
    case CAROM_SHAPE_CAPSULE:
        return 2.0 * ((double)shape->size[0] + (double)shape->size[1]);
    case CAROM_SHAPE_CYLINDER:
        return 2.0 * largest((double)shape->size[0], (double)shape->size[1]);
    case CAROM_SHAPE_BOX:
        return 2.0 * largest((double)shape->size[0],
                             largest((double)shape->size[1], (double)shape->size[2]));
    case CAROM_SHAPE_HULL:
        return 2.0 * (double)shape->size[1];
    default:
        return 0.0;
    }
}

// Of the smaller one: what touches must not depend on how large the floor is.
static double smaller_size(const cm_shape *a, const cm_shape *b)
{
    double size_a = size_of(a), size_b = size_of(b);
    bool smaller_a = size_b == 0.0 || (size_a > 0.0 && size_a < size_b);
    return smaller_a ? size_a : size_b;
}

// Points lie halfway between the surfaces; where a sphere overlaps something else the point is the
// sphere's deepest one, as the patent's figure 12 has it.
static void to_sphere(const cm_shape *a, const cm_shape *b, cm_manifold *m)
{
    bool sphere_a = a->type == CAROM_SHAPE_SPHERE, sphere_b = b->type == CAROM_SHAPE_SPHERE;
    float sign = sphere_a ? -0.5f : 0.5f;
    for (uint32_t i = 0; sphere_a != sphere_b && i < m->point_count; i++) {
        cm_manifold_point *p = &m->points[i];
        float along = sign * p->separation;
        p->anchor_a = cm_mul_add(p->anchor_a, along, m->normal);
        p->anchor_b = cm_mul_add(p->anchor_b, along, m->normal);
    }
}

// A bit for each point that touches.
static uint32_t touching_points(const cm_manifold *m, double size)
{
    uint32_t points = 0;
    for (uint32_t i = 0; i < m->point_count; i++) {
        points |= (uint32_t)((double)m->points[i].separation <= CM_IMPULSE_TOUCH * size) << i;
    }
    return points;
}

static void fill_centroid(const cm_manifold *m, cm_impulse_row *row)
{
    double count = 0.0, squares = 0.0;
    for (uint32_t i = 0; i < m->point_count; i++) {
        if ((row->points >> i & 1u) != 0) {
            carom_dvec3 on_a = cm_d3_from(m->points[i].anchor_a);
            double depth = -(double)m->points[i].separation;
            row->overlap += depth;
            row->deepest = depth > row->deepest ? depth : row->deepest;
            row->on_a = cm_d3_add(row->on_a, on_a);
            row->on_b = cm_d3_add(row->on_b, cm_d3_from(m->points[i].anchor_b));
            squares += cm_d3_dot(on_a, on_a);
            count += 1.0;
        }
    }
    if (count > 1.0) {
        row->overlap /= count;
        row->on_a = cm_d3_scale(1.0 / count, row->on_a);
        row->on_b = cm_d3_scale(1.0 / count, row->on_b);
        double spread = squares / count - cm_d3_dot(row->on_a, row->on_a);
        row->reach = spread > 0.0 ? __builtin_sqrt(spread) : 0.0;
    }
}

// A row without points where nothing touches.
static void fill_row(const carom_world *world, cm_impulse *impulse, cm_manifold *m,
                     const cm_contact *contact, const cm_impulse_contact *last, cm_impulse_row *row)
{
    const cm_shape *a = cm_shapes(world) + contact->shape_a;
    const cm_shape *b = cm_shapes(world) + contact->shape_b;
    row->points = 0;
    row->forced = row->has_friction = row->rebounds = false;
    m->impulse = 0.0f;
    if (m->body_a == CM_NONE || m->point_count == 0) {
        return;
    }
    double size = smaller_size(a, b);
    uint32_t points = touching_points(m, size);
    carom_dvec3 n = cm_d3_from(m->normal);
    n.z = impulse->planar ? 0.0 : n.z;
    double length = points != 0 ? cm_d3_length(n) : 0.0;
    if (!(length > 0.1)) {
        return;
    }
    memset(row, 0, offsetof(cm_impulse_row, normals));
    row->points = points;
    row->size = size;
    row->normal = cm_d3_scale(1.0 / length, n);
    row->mu = m->friction < 1.0f ? (double)m->friction : 1.0;
    to_sphere(a, b, m);
    fill_centroid(m, row);
    const float *j = last->normal_impulse;
    if (j[0] > 0.0f || j[1] > 0.0f || j[2] > 0.0f || j[3] > 0.0f) {
        cm_impulse_load(impulse, m, j, row);
    }
}

// Approach that one step's forces make at the centroid: what all other contacts carried counts
// as a force, so what this one carried is added again.
static void find_force(const cm_impulse *impulse, const cm_manifold *m, cm_impulse_row *row)
{
    const cm_impulse_body *a = &impulse->bodies[m->body_a], *b = &impulse->bodies[m->body_b];
    row->forced = a->forced || b->forced;
    if (!row->forced) {
        return;
    }
    cm_impulse_side one = {.r = row->on_a}, two = {.r = row->on_b};
    one.v = cm_d3_add(a->dv, a->load_v);
    one.w = cm_d3_add(a->dw, a->load_w);
    two.v = cm_d3_add(b->dv, b->load_v);
    two.w = cm_d3_add(b->dw, b->load_w);
    row->force = cm_d3_dot(cm_impulse_relative(&one, &two), row->normal);
    if (!row->loaded) {
        return;
    }
    double carried = 0.0;
    for (uint32_t i = 0; i < m->point_count; i++) {
        carried += row->normals[i].impulse;
    }
    if (m->point_count == 1) {
        row->force += row->normals[0].mass > 0.0 ? carried / row->normals[0].mass : 0.0;
        return;
    }
    carom_dsym3 vf = {0};
    if (a->dynamic) {
        one.inverse_mass = a->side.inverse_mass;
        one.inverse = a->side.inverse;
        cm_impulse_add_response(&vf, &one);
    }
    if (b->dynamic) {
        two.inverse_mass = b->side.inverse_mass;
        two.inverse = b->side.inverse;
        cm_impulse_add_response(&vf, &two);
    }
    row->force += carried * cm_d3_dot(cm_dsym_mul(&vf, row->normal), row->normal);
}

// Impulses that the contact carried in the step before, its points found again.
static cm_impulse_contact carried_over(const cm_impulse_contact *old, const cm_contact_match *match)
{
    cm_impulse_contact contact = {0};
    if (match->row == CM_NONE) {
        return contact;
    }
    contact = old[match->row];
    for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
        uint8_t point = match->point[i];
        contact.normal_impulse[i] =
            point == CM_NO_POINT ? 0.0f : old[match->row].normal_impulse[point];
    }
    return contact;
}

static cm_impulse_contact remembered(const cm_manifold *m, const cm_impulse_row *row)
{
    cm_impulse_contact contact = {0};
    for (uint32_t i = 0; row->forced && i < m->point_count; i++) {
        contact.normal_impulse[i] = (float)row->normals[i].impulse;
    }
    if (row->has_friction) {
        carom_dvec3 f = cm_d3_scale(row->tangents[0].impulse, row->tangents[0].along);
        f = cm_d3_mad(f, row->tangents[1].impulse, row->tangents[1].along);
        contact.friction_impulse = cm_vec((float)f.x, (float)f.y, (float)f.z);
        contact.twist_impulse = (float)row->tangents[2].impulse;
    }
    bool finite = cm_vec_is_finite(contact.friction_impulse) && cm_is_finite(contact.twist_impulse);
    for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
        finite = finite && cm_is_finite(contact.normal_impulse[i]);
    }
    return finite ? contact : (cm_impulse_contact){0};
}

void cm_impulse_collide(carom_world *world, const cm_scratch *scratch, cm_impulse *impulse)
{
    uint32_t count = world->state.contact_count, model = world->state.model;
    model = model == CAROM_IMPULSE_CIRCLE ? CAROM_IMPULSE_NORMAL : model; // circles that press
    const cm_contact *contacts = cm_contacts(world);
    const cm_impulse_contact *old = cm_old_rows(world, CM_SECTION_impulse_contact);
    cm_impulse_contact *carried = cm_rows(world, CM_SECTION_impulse_contact);
    for (uint32_t i = 0; i < count; i++) {
        carried[i] = carried_over(old, &scratch->matches[i]);
        fill_row(world, impulse, &scratch->manifolds[i], &contacts[i], &carried[i],
                 &impulse->rows[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (impulse->rows[i].points != 0) {
            find_force(impulse, &scratch->manifolds[i], &impulse->rows[i]);
        }
    }
    bool ended = cm_impulse_hit(model, scratch, impulse, count);
    bool settled =
        cm_impulse_solve_contacts(model, carried, scratch, impulse, count, world->state.body_slots);
    for (uint32_t i = 0; i < count; i++) {
        const cm_impulse_row *row = &impulse->rows[i];
        const cm_manifold *m = &scratch->manifolds[i];
        if (row->forced && !row->rebounds && row->deepest > CM_IMPULSE_KEPT * row->size) {
            cm_impulse_separate(impulse, m, row);
        }
        carried[i] = remembered(m, row);
    }
    cm_tell(world, CAROM_LOG_IMPULSE_HITS_CAPPED, CM_NONE, !ended);
    cm_tell(world, CAROM_LOG_IMPULSE_PRESS_CAPPED, CM_NONE, !settled);
}
