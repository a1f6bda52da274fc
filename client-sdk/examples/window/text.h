// Letters on the window. Small ones are drawn as capitals.
#ifndef WINDOW_TEXT_H
#define WINDOW_TEXT_H

#include <SDL.h>

int text_width(const char *text, int scale); // pixels
void text_draw(SDL_Renderer *renderer, int x, int y, int scale, SDL_Color colour, const char *text);

#endif
