// Capital letters, digits and a few marks of five by seven points, drawn for this program.
#include "text.h"

#include <stdint.h>

#define WIDE 5
#define HIGH 7

// From '!' to 'Z': 35 points of each, row by row from the top left, the first in the highest bit.
static const uint64_t glyphs[] = {
    0x108421004, 0,           0,           0,           0x672222273, 0,           0x108400000,
    0x088842082, 0x208210888, 0,           0x0084f9080, 0x000003188, 0x000070000, 0x00000018c,
    0x042222210, 0x3a33ae62e, 0x11842108e, 0x3a213221f, 0x3a213062e, 0x08ca97c42, 0x7e1e0862e,
    0x3a10f462e, 0x7c2211084, 0x3a317462e, 0x3a317842e, 0x018c03180, 0,           0,
    0,           0,           0x3a2131004, 0,           0x3a31fc631, 0x7a31f463e, 0x3a308422e,
    0x7a318c63e, 0x7e10f421f, 0x7e10f4210, 0x3a30bc62e, 0x4631fc631, 0x38842108e, 0x04210c62e,
    0x4654c5251, 0x42108421f, 0x4775ac631, 0x4739ace71, 0x3a318c62e, 0x7a31f4210, 0x3a318d64d,
    0x7a31f5251, 0x3e107043e, 0x7c8421084, 0x46318c62e, 0x46318a944, 0x4631ad771, 0x462a22a31,
    0x462a21084, 0x7c222221f};

int text_width(const char *text, int scale)
{
    return (int)SDL_strlen(text) * (WIDE + 1) * scale;
}

void text_draw(SDL_Renderer *renderer, int x, int y, int scale, SDL_Color colour, const char *text)
{
    SDL_SetRenderDrawColor(renderer, colour.r, colour.g, colour.b, colour.a);
    for (; *text != '\0'; text++, x += (WIDE + 1) * scale) {
        int letter = SDL_toupper((unsigned char)*text);
        uint64_t points = letter > ' ' && letter <= 'Z' ? glyphs[letter - '!'] : 0;
        SDL_Rect dots[WIDE * HIGH];
        int count = 0;
        for (int i = 0; i < WIDE * HIGH; i++) {
            if ((points >> (WIDE * HIGH - 1 - i) & 1u) != 0) {
                dots[count++] =
                    (SDL_Rect){x + i % WIDE * scale, y + i / WIDE * scale, scale, scale};
            }
        }
        SDL_RenderFillRects(renderer, dots, count);
    }
}
