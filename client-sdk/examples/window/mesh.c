// Shapes as polygons: boxes and hulls as they are, round ones in 16 parts about their axis.
#include "mesh.h"

#include <carom/hull.h>

#define AROUND    16u
#define UPWARD    8u   // parts of a ball from pole to pole
#define BAND      2u   // of them, about each pole, in the second colour
#define TILES     14   // each way
#define WALL_HIGH 1.2f // tiles

static const float pi = 3.14159265f;
static const SDL_Color wall_colour = {176, 164, 150, 255};

static carom_vec3 place_of(mesh_pose pose, float x, float y, float z)
{
    return carom_add(pose.position, carom_rotate(pose.orientation, carom_vec(x, y, z)));
}

void mesh_box(canvas *c, mesh_pose pose, carom_vec3 h, SDL_Color colour)
{
    static const uint8_t sides[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3},
                                        {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
    carom_vec3 corners[8];
    for (uint32_t i = 0; i < 8; i++) {
        corners[i] = place_of(pose, i & 1u ? h.x : -h.x, i & 2u ? h.y : -h.y, i & 4u ? h.z : -h.z);
    }
    for (uint32_t i = 0; i < 6; i++) {
        carom_vec3 side[4];
        for (uint32_t k = 0; k < 4; k++) {
            side[k] = corners[sides[i][k]];
        }
        canvas_face(c, side, 4, colour);
    }
}

// A ball, cut at its middle and pulled apart along y where it is a capsule.
static void draw_round(canvas *c, mesh_pose pose, float radius, float half, mesh_colours colours)
{
    for (uint32_t row = 0; row < UPWARD; row++) {
        float low = pi * ((float)row / UPWARD - 0.5f),
              high = pi * ((float)(row + 1) / UPWARD - 0.5f);
        float shift = row < UPWARD / 2u ? -half : half;
        bool pole = row < BAND || row >= UPWARD - BAND;
        for (uint32_t i = 0; i < AROUND; i++) {
            float a = 2.0f * pi * (float)i / AROUND, b = 2.0f * pi * (float)(i + 1) / AROUND;
            float r = radius * carom_cos(low), s = radius * carom_cos(high);
            float y = shift + radius * carom_sin(low), z = shift + radius * carom_sin(high);
            carom_vec3 q[4] = {place_of(pose, r * carom_cos(b), y, r * carom_sin(b)),
                               place_of(pose, r * carom_cos(a), y, r * carom_sin(a)),
                               place_of(pose, s * carom_cos(a), z, s * carom_sin(a)),
                               place_of(pose, s * carom_cos(b), z, s * carom_sin(b))};
            if (row == 0) { // its first corners are one
                canvas_face(c, q + 1, 3, pole ? colours.second : colours.first);
            } else {
                canvas_face(c, q, row + 1 == UPWARD ? 3 : 4, pole ? colours.second : colours.first);
            }
        }
    }
}

// The wall of a cylinder, and with `caps` its ends, of which a sector has the second colour.
static void draw_tube(canvas *c, mesh_pose pose, float radius, float half, mesh_colours colours,
                      bool caps)
{
    for (uint32_t i = 0; i < AROUND; i++) {
        float a = 2.0f * pi * (float)i / AROUND, b = 2.0f * pi * (float)(i + 1) / AROUND;
        float x = radius * carom_cos(a), z = radius * carom_sin(a);
        float u = radius * carom_cos(b), w = radius * carom_sin(b);
        carom_vec3 wall[4] = {place_of(pose, u, -half, w), place_of(pose, x, -half, z),
                              place_of(pose, x, half, z), place_of(pose, u, half, w)};
        carom_vec3 top[3] = {place_of(pose, 0.0f, half, 0.0f), wall[3], wall[2]};
        carom_vec3 bottom[3] = {place_of(pose, 0.0f, -half, 0.0f), wall[1], wall[0]};
        canvas_face(c, wall, 4, colours.first);
        SDL_Color colour = i % (AROUND / 4u) == 0 ? colours.second : colours.first;
        if (caps) {
            canvas_face(c, top, 3, colour);
            canvas_face(c, bottom, 3, colour);
        }
    }
}

static void draw_hull(canvas *c, const carom_hull *hull, mesh_pose pose, SDL_Color colour)
{
    uint32_t vertices, count = 0;
    const carom_vec3 *places = carom_hull_vertices(hull, &vertices);
    for (uint32_t face = 0;; face++) {
        const uint8_t *corners = carom_hull_face(hull, face, &count);
        carom_vec3 polygon[CANVAS_CORNERS_MAX];
        if (corners == NULL) {
            return;
        }
        count = count < CANVAS_CORNERS_MAX ? count : CANVAS_CORNERS_MAX;
        for (uint32_t i = 0; i < count; i++) {
            carom_vec3 p = places[corners[i]];
            polygon[i] = place_of(pose, p.x, p.y, p.z);
        }
        canvas_face(c, polygon, count, colour);
    }
}

void mesh_shape(canvas *c, const carom_shape_def *shape, mesh_pose body, mesh_colours colours)
{
    mesh_pose pose = {place_of(body, shape->position.x, shape->position.y, shape->position.z),
                      carom_quat_mul(body.orientation, shape->orientation)};
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        draw_round(c, pose, shape->radius, 0.0f, colours);
        break;
    case CAROM_SHAPE_CAPSULE:
        draw_tube(c, pose, shape->radius, shape->half_height, colours, false);
        draw_round(c, pose, shape->radius, shape->half_height, colours);
        break;
    case CAROM_SHAPE_CYLINDER:
        draw_tube(c, pose, shape->radius, shape->half_height, colours, true);
        break;
    case CAROM_SHAPE_BOX:
        mesh_box(c, pose, shape->half_extents, colours.first);
        break;
    case CAROM_SHAPE_HULL:
        draw_hull(c, shape->hull, pose, colours.first);
        break;
    default:
        break;
    }
}

static void draw_wall(canvas *c, const carom_shape_def *plane, float tile)
{
    carom_vec3 n = plane->normal, along = carom_normalize(carom_vec(n.z, 0.0f, -n.x));
    carom_vec3 foot = carom_scale(plane->offset, n);
    float half = carom_abs(plane->offset);
    carom_vec3 side = carom_scale(half, along), up = carom_vec(0.0f, WALL_HIGH * tile, 0.0f);
    carom_vec3 q[4] = {carom_sub(foot, side), carom_add(foot, side),
                       carom_add(carom_add(foot, side), up), carom_add(carom_sub(foot, side), up)};
    canvas_face(c, q, 4, wall_colour);
}

void mesh_plane(canvas *c, const carom_shape_def *plane, carom_vec3 middle, float tile,
                mesh_colours colours)
{
    if (plane->normal.y < 0.9f) {
        draw_wall(c, plane, tile);
        return;
    }
    int x = (int)SDL_floorf(middle.x / tile), z = (int)SDL_floorf(middle.z / tile);
    for (int i = x - TILES; i < x + TILES; i++) {
        for (int k = z - TILES; k < z + TILES; k++) {
            float left = (float)i * tile, near = (float)k * tile, y = plane->offset;
            carom_vec3 q[4] = {carom_vec(left, y, near + tile),
                               carom_vec(left + tile, y, near + tile),
                               carom_vec(left + tile, y, near), carom_vec(left, y, near)};
            canvas_face(c, q, 4, (i + k) % 2 == 0 ? colours.first : colours.second);
        }
    }
}

void mesh_disc(canvas *c, carom_vec3 middle, float radius, SDL_Color colour)
{
    carom_vec3 q[AROUND];
    for (uint32_t i = 0; i < AROUND; i++) {
        float a = -2.0f * pi * (float)i / AROUND;
        q[i] = carom_add(middle, carom_vec(radius * carom_cos(a), 0.0f, radius * carom_sin(a)));
    }
    canvas_face(c, q, AROUND, colour);
}
