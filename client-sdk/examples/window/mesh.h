// The faces of a shape of the world.
#ifndef WINDOW_MESH_H
#define WINDOW_MESH_H

#include "canvas.h"

#include <carom/world.h>

// Two colours: round things show by the second that they turn.
typedef struct mesh_colours {
    SDL_Color first, second;
} mesh_colours;

// A body's pose; the shape lies in it as its def says. Planes are drawn about `middle`: those that
// one stands on as a floor of tiles of `tile` metres, the others as low walls.
typedef struct mesh_pose {
    carom_vec3 position;
    carom_quat orientation;
} mesh_pose;
void mesh_shape(canvas *c, const carom_shape_def *shape, mesh_pose pose, mesh_colours colours);
void mesh_plane(canvas *c, const carom_shape_def *plane, carom_vec3 middle, float tile,
                mesh_colours colours);
void mesh_box(canvas *c, mesh_pose pose, carom_vec3 half, SDL_Color colour);
// A disc that lies at a height above the ground.
void mesh_disc(canvas *c, carom_vec3 middle, float radius, SDL_Color colour);

#endif
