// Faces of a frame: clipped before the eye, projected, filled row by row where they are nearer than
// what is there. One over the distance is linear on the screen, so depths are that.
//
// Typical: 3,000 faces, some 4 ms a frame of 1280 by 720.
#include "canvas.h"

#include <stdlib.h>
#include <string.h>

#define NEAR        0.05f
#define FOCUS       1.5f    // of half the height: a view of 67 degrees
#define AGAIN       1.0005f // what shines through may lie in what it lies on
#define SHADOW_MAX  1024u   // corners
#define SHADOW_LIFT 0.003f  // m
#define SHADOW_DARK 80
#define CLEAR_MAX   4096u // faces that shine through

typedef struct clear_face {
    carom_vec3 corners[CANVAS_CORNERS_MAX]; // as seen
    uint32_t count;
    SDL_Color colour;
} clear_face;

struct canvas {
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    uint32_t *pixels;
    float *depths; // one over metres; 0: the sky
    clear_face *clear;
    uint32_t clear_count;
    int width, height;
    float haze;
    SDL_Color sky;
    carom_vec3 eye, forward, right, up;
    bool shadow;
    carom_vec3 cast[SHADOW_MAX];
    uint32_t cast_count;
};

static const carom_vec3 light = {0.36f, 0.80f, 0.48f}; // of unit length

canvas *canvas_create(SDL_Renderer *renderer, int width, int height)
{
    canvas *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    size_t pixels = (size_t)width * (size_t)height;
    c->renderer = renderer;
    c->width = width;
    c->height = height;
    c->texture = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING,
                                   width, height);
    c->pixels = malloc(pixels * sizeof *c->pixels);
    c->depths = malloc(pixels * sizeof *c->depths);
    c->clear = malloc(CLEAR_MAX * sizeof *c->clear);
    if (c->texture == NULL || c->pixels == NULL || c->depths == NULL || c->clear == NULL) {
        canvas_destroy(c);
        return NULL;
    }
    return c;
}

void canvas_destroy(canvas *c)
{
    if (c != NULL) {
        SDL_DestroyTexture(c->texture);
        free(c->pixels);
        free(c->depths);
        free(c->clear);
        free(c);
    }
}

static uint32_t pixel_of(SDL_Color colour)
{
    return 0xff000000u | (uint32_t)colour.r << 16 | (uint32_t)colour.g << 8 | colour.b;
}

void canvas_begin(canvas *c, SDL_Color sky, float haze)
{
    size_t pixels = (size_t)c->width * (size_t)c->height;
    c->sky = sky;
    c->haze = haze;
    c->clear_count = 0;
    for (size_t i = 0; i < pixels; i++) {
        c->pixels[i] = pixel_of(sky);
    }
    memset(c->depths, 0, pixels * sizeof *c->depths);
}

void canvas_look(canvas *c, carom_vec3 eye, carom_vec3 at)
{
    c->eye = eye;
    c->forward = carom_normalize(carom_sub(at, eye));
    c->right = carom_normalize(carom_cross(c->forward, carom_vec(0.0f, 1.0f, 0.0f)));
    c->up = carom_cross(c->right, c->forward);
}

static carom_vec3 to_view(const canvas *c, carom_vec3 place)
{
    carom_vec3 d = carom_sub(place, c->eye);
    return carom_vec(carom_dot(d, c->right), carom_dot(d, c->up), carom_dot(d, c->forward));
}

// Filling ---------------------------------------------------------------------------------------

static uint8_t mix(float a, float b, float at)
{
    return (uint8_t)carom_clamp(a + (b - a) * at, 0.0f, 255.0f);
}

// A row of a face: `depth` at its first pixel, and `step` for each further one.
static void fill_row(canvas *c, int y, int from, int to, float depth, float step, SDL_Color colour)
{
    uint32_t *pixels = c->pixels + (size_t)y * (size_t)c->width;
    float *depths = c->depths + (size_t)y * (size_t)c->width;
    uint32_t pixel = pixel_of(colour), a = colour.a;
    for (int x = from; x < to; x++, depth += step) {
        if (a == 255u && depth > depths[x]) {
            depths[x] = depth;
            pixels[x] = pixel;
        } else if (a < 255u && AGAIN * depth > depths[x]) {
            uint32_t p = pixels[x], b = 255u - a;
            uint32_t red = ((p >> 16 & 255u) * b + colour.r * a) / 255u;
            uint32_t green = ((p >> 8 & 255u) * b + colour.g * a) / 255u;
            uint32_t blue = ((p & 255u) * b + colour.b * a) / 255u;
            pixels[x] = 0xff000000u | red << 16 | green << 8 | blue;
        }
    }
}

// A polygon that is all before the eye. On its plane n . (X z, Y z, z) = d, so 1 / z is
// n . (X, Y, 1) / d.
static void fill(canvas *c, const carom_vec3 *seen, uint32_t count, carom_vec3 normal,
                 SDL_Color colour)
{
    const float scale = FOCUS * 0.5f * (float)c->height, cx = 0.5f * (float)c->width;
    const float cy = 0.5f * (float)c->height;
    float x[2 * CANVAS_CORNERS_MAX], y[2 * CANVAS_CORNERS_MAX], d = carom_dot(normal, seen[0]);
    float top = (float)c->height, bottom = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = cx + scale * seen[i].x / seen[i].z;
        y[i] = cy - scale * seen[i].y / seen[i].z;
        top = carom_min(top, y[i]);
        bottom = carom_max(bottom, y[i]);
    }
    if (carom_abs(d) < 1.0e-9f) {
        return; // seen from its edge
    }
    int last = (int)carom_min(SDL_ceilf(bottom), (float)c->height);
    for (int row = (int)carom_max(top, 0.0f); row < last; row++) {
        float middle = (float)row + 0.5f, left = (float)c->width, right = 0.0f;
        for (uint32_t i = 0, k = count - 1; i < count; k = i++) {
            if ((y[i] > middle) != (y[k] > middle)) {
                float at = x[k] + (middle - y[k]) / (y[i] - y[k]) * (x[i] - x[k]);
                left = carom_min(left, at);
                right = carom_max(right, at);
            }
        }
        int from = (int)SDL_ceilf(carom_max(left, 0.0f) - 0.5f);
        int to = (int)SDL_ceilf(carom_min(right, (float)c->width) - 0.5f);
        float u = ((float)from + 0.5f - cx) / scale, v = (cy - middle) / scale;
        fill_row(c, row, from, to, (normal.x * u + normal.y * v + normal.z) / d,
                 normal.x / (scale * d), colour);
    }
}

static carom_vec3 normal_of(const carom_vec3 *corners)
{
    return carom_normalize(
        carom_cross(carom_sub(corners[1], corners[0]), carom_sub(corners[2], corners[0])));
}

// Keeps what of a polygon is before the eye.
static uint32_t clip(const carom_vec3 *in, uint32_t count, carom_vec3 *out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 a = in[i], b = in[(i + 1) % count];
        if (a.z >= NEAR) {
            out[kept++] = a;
        }
        if ((a.z >= NEAR) != (b.z >= NEAR)) {
            out[kept++] = carom_add(a, carom_scale((NEAR - a.z) / (b.z - a.z), carom_sub(b, a)));
        }
    }
    return kept;
}

static void draw_seen(canvas *c, const carom_vec3 *seen, uint32_t count, SDL_Color colour)
{
    carom_vec3 clipped[2 * CANVAS_CORNERS_MAX];
    uint32_t kept = clip(seen, count, clipped);
    if (kept >= 3) {
        fill(c, clipped, kept, normal_of(seen), colour);
    }
}

// `lit`: by the light, 0 to 1.
static void draw(canvas *c, const carom_vec3 *corners, uint32_t count, SDL_Color colour, float lit)
{
    clear_face seen = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        seen.corners[i] = to_view(c, corners[i]);
    }
    float far = carom_length(seen.corners[0]), air = far / (far + c->haze);
    seen.colour =
        (SDL_Color){mix(lit * colour.r, c->sky.r, air), mix(lit * colour.g, c->sky.g, air),
                    mix(lit * colour.b, c->sky.b, air), colour.a};
    if (colour.a == 255) {
        draw_seen(c, seen.corners, count, seen.colour);
    } else if (c->clear_count < CLEAR_MAX) {
        c->clear[c->clear_count++] = seen;
    }
}

// Faces -----------------------------------------------------------------------------------------

void canvas_face(canvas *c, const carom_vec3 *corners, uint32_t count, SDL_Color colour)
{
    if (count < 3 || count > CANVAS_CORNERS_MAX) {
        return;
    }
    for (uint32_t i = 0; c->shadow && i < count && c->cast_count < SHADOW_MAX; i++) {
        carom_vec3 p = corners[i];
        p = carom_sub(p, carom_scale(carom_max(p.y, 0.0f) / light.y, light));
        c->cast[c->cast_count++] = carom_vec(p.x, SHADOW_LIFT, p.z);
    }
    carom_vec3 normal = normal_of(corners);
    if (!c->shadow && carom_dot(normal, carom_sub(c->eye, corners[0])) > 0.0f) {
        draw(c, corners, count, colour, 0.66f + 0.34f * carom_dot(normal, light));
    }
}

void canvas_line(canvas *c, carom_vec3 from, carom_vec3 to, float width, SDL_Color colour)
{
    carom_vec3 way = carom_sub(to, from), look = carom_sub(c->eye, from);
    carom_vec3 aside = carom_scale(0.5f * width, carom_normalize(carom_cross(way, look)));
    carom_vec3 corners[4] = {carom_sub(from, aside), carom_sub(to, aside), carom_add(to, aside),
                             carom_add(from, aside)};
    draw(c, corners, 4, colour, 1.0f);
}

void canvas_begin_shadow(canvas *c)
{
    c->shadow = true;
    c->cast_count = 0;
}

static int by_place(const void *a, const void *b)
{
    const carom_vec3 *p = a, *q = b;
    return p->x < q->x || (p->x <= q->x && p->z < q->z) ? -1 : 1;
}

static bool turns_left(carom_vec3 a, carom_vec3 b, carom_vec3 p)
{
    return (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x) > 1.0e-7f;
}

// The convex hull of what was cast: its lower chain, then its upper one (A. M. Andrew, "Another
// efficient algorithm for convex hulls in two dimensions", Information Processing Letters 9, 1979).
void canvas_end_shadow(canvas *c)
{
    carom_vec3 chain[SHADOW_MAX + 1u];
    uint32_t count = 0, lower = 1;
    c->shadow = false;
    qsort(c->cast, c->cast_count, sizeof c->cast[0], by_place);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = pass; i < c->cast_count; i++) {
            carom_vec3 p = c->cast[pass == 0 ? i : c->cast_count - 1u - i];
            while (count > lower && !turns_left(chain[count - 2], chain[count - 1], p)) {
                count--;
            }
            chain[count++] = p;
        }
        lower = count;
    }
    count = count > 0 ? count - 1u : 0;
    // As many corners as a face has, evenly taken.
    carom_vec3 corners[CANVAS_CORNERS_MAX];
    uint32_t most = count < CANVAS_CORNERS_MAX ? count : CANVAS_CORNERS_MAX;
    for (uint32_t i = 0; i < most; i++) {
        corners[i] = chain[i * count / most];
    }
    if (most >= 3) {
        draw(c, corners, most, (SDL_Color){0, 0, 0, SHADOW_DARK}, 1.0f);
    }
}

void canvas_show(canvas *c)
{
    for (uint32_t i = 0; i < c->clear_count; i++) {
        draw_seen(c, c->clear[i].corners, c->clear[i].count, c->clear[i].colour);
    }
    SDL_UpdateTexture(c->texture, NULL, c->pixels, c->width * (int)sizeof *c->pixels);
    SDL_RenderCopy(c->renderer, c->texture, NULL, NULL);
}
