// Polygons of the world, shaded and seen by a camera, in pixels with their depths: so little is
// drawn in these games that no graphics card is asked. What shines through is drawn last.
#ifndef WINDOW_CANVAS_H
#define WINDOW_CANVAS_H

#include <SDL.h>
#include <carom/math.h>
#include <stdbool.h>

#define CANVAS_CORNERS_MAX 24u // of a polygon

typedef struct canvas canvas;

canvas *canvas_create(SDL_Renderer *renderer, int width, int height); // pixels; NULL: cannot
void canvas_destroy(canvas *c);
// Begins a frame. Colours are half those of the sky at a distance of `haze` metres.
void canvas_begin(canvas *c, SDL_Color sky, float haze);
void canvas_look(canvas *c, carom_vec3 eye, carom_vec3 at);
// A convex polygon, counter-clockwise as its front is seen; its back is not drawn. What lies on
// another face lies a millimetre or two above it.
void canvas_face(canvas *c, const carom_vec3 *corners, uint32_t count, SDL_Color colour);
// A line in the air, so wide in metres.
void canvas_line(canvas *c, carom_vec3 from, carom_vec3 to, float width, SDL_Color colour);
// Between the two, faces are not drawn: their shadow on the ground is.
void canvas_begin_shadow(canvas *c);
void canvas_end_shadow(canvas *c);
// Puts the frame on the window, whose size may be another.
void canvas_show(canvas *c);

#endif
