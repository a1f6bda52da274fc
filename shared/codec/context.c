// Cubes as predictions see them: see context.h.
#include "shared/codec/context.h"

#include <string.h>

#define HALF       102 // of a small cube, 1/512 m
#define GUESS_MOST 1000000

const int cm_past_span[CM_PAST_SPANS] = {1, 2, 4, 6, 8};

// 32 log2(1 + i/32), rounded.
static const uint8_t LOG[33] = {0,  1,  3,  4,  5,  7,  8,  9,  10, 11, 13, 14, 15, 16, 17, 18, 19,
                                20, 21, 22, 22, 23, 24, 25, 26, 27, 27, 28, 29, 30, 31, 31, 32};

int32_t cm_context_log(int32_t value)
{
    uint32_t v = (value < 0 ? 0u - (uint32_t)value : (uint32_t)value) + 1u;
    uint32_t top = 31u - (uint32_t)__builtin_clz(v);
    uint32_t rest = top >= 5 ? (v >> (top - 5)) & 31u : (v << (5 - top)) & 31u;
    int32_t log = (int32_t)(32u * top + LOG[rest]);
    return value < 0 ? -log : log;
}

int32_t cm_context_root(int32_t value)
{
    if (value <= 0) {
        return 0;
    }
    // A first guess within 4%, then Newton's step.
    uint32_t v = (uint32_t)value;
    uint32_t top = (31u - (uint32_t)__builtin_clz(v)) & ~1u;
    uint32_t lead = top >= 6 ? v >> (top - 6) : v << (6 - top); // 64 to 255
    uint32_t guess = ((lead + 80u) * 91u) >> 8;                 // about 16 sqrt(lead / 64) * 3.1
    guess = top >= 6 ? (guess << (top / 2)) / 52u : 1u;
    guess += guess == 0;
    guess = (guess + v / guess) / 2u;
    guess += guess == 0;
    return (int32_t)((guess + v / guess) / 2u);
}

void cm_context_quat(const cm_cube *cube, int32_t q[4])
{
    int32_t left = 522242;
    for (int i = 0, k = 0; i < 4; i++) {
        if (i != cube->largest) {
            int32_t u = 2 * cube->turn[k++] - CM_CUBE_TURN;
            left -= u * u;
            q[i] = 16 * u;
        }
    }
    q[cube->largest & 3] = cm_context_root(256 * (left < 0 ? 0 : left));
}

// The half angle's vector from b to a.
static void turn_between(const int32_t a[4], const int32_t b[4], int32_t out[3])
{
    int64_t x =
        -(int64_t)a[3] * b[0] + (int64_t)a[0] * b[3] - (int64_t)a[1] * b[2] + (int64_t)a[2] * b[1];
    int64_t y =
        -(int64_t)a[3] * b[1] + (int64_t)a[0] * b[2] + (int64_t)a[1] * b[3] - (int64_t)a[2] * b[0];
    int64_t z =
        -(int64_t)a[3] * b[2] - (int64_t)a[0] * b[1] + (int64_t)a[1] * b[0] + (int64_t)a[2] * b[3];
    int64_t w =
        (int64_t)a[0] * b[0] + (int64_t)a[1] * b[1] + (int64_t)a[2] * b[2] + (int64_t)a[3] * b[3];
    int64_t sign = w < 0 ? -181 : 181;
    out[0] = (int32_t)(sign * x / 2097152);
    out[1] = (int32_t)(sign * y / 2097152);
    out[2] = (int32_t)(sign * z / 2097152);
}

static int32_t size2(int32_t x, int32_t y)
{
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    return x > y ? x + 3 * y / 8 : y + 3 * x / 8;
}

static int32_t clamp(int32_t v, int32_t most)
{
    return v < -most ? -most : v > most ? most : v;
}

// 64 times the cosine between two vectors of the plane.
static int32_t along(int32_t ax, int32_t ay, int32_t bx, int32_t by)
{
    int32_t length = size2(ax, ay), other = size2(bx, by);
    if (length == 0 || other == 0) {
        return 0;
    }
    int64_t dot = (int64_t)ax * bx + (int64_t)ay * by;
    return clamp((int32_t)(64 * dot / ((int64_t)length * other)), 80);
}

bool cm_context_still(const cm_past *past, uint32_t cube)
{
    const cm_cube *base = &past->base[cube];
    uint64_t b[2], o[2], differ = 0;
    memcpy(b, base, 16);
    for (int k = 0; k < CM_PAST_SPANS; k++) {
        memcpy(o, &past->older[k][cube], 16);
        differ |= (b[0] ^ o[0]) | (b[1] ^ o[1]);
    }
    return differ == 0;
}

// The vertical parts of the cube's axes, and its lowest corner.
static void stand(cm_context *s, int32_t rows[3])
{
    int32_t axis[3][3];
    const int32_t *q = s->q;
    int32_t x = q[0], y = q[1], z = q[2], w = q[3];
    // Columns of the rotation matrix, 2^13 is 1: 2 q q / CM_TURN_ONE^2 * 2^13.
#define PART(a, b) (int32_t)(((int64_t)(a)*2 * (b)*257) >> 22)
    axis[0][0] = 8192 - PART(y, y) - PART(z, z);
    axis[0][1] = PART(x, y) + PART(w, z);
    axis[0][2] = PART(x, z) - PART(w, y);
    axis[1][0] = PART(x, y) - PART(w, z);
    axis[1][1] = 8192 - PART(x, x) - PART(z, z);
    axis[1][2] = PART(y, z) + PART(w, x);
    axis[2][0] = PART(x, z) + PART(w, y);
    axis[2][1] = PART(y, z) - PART(w, x);
    axis[2][2] = 8192 - PART(x, x) - PART(y, y);
#undef PART
    int32_t corner[3] = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
        // Nearly level edges have no lower end: their share fades.
        int32_t side = clamp(-8 * axis[j][2], 8192);
        rows[j] = axis[j][2] < 0 ? -axis[j][2] : axis[j][2];
        for (int i = 0; i < 3; i++) {
            corner[i] += (axis[j][i] >> 2) * (side >> 2) / 2048;
        }
    }
    for (int i = 0; i < 3; i++) {
        s->corner[i] = corner[i] * HALF / 2048;
    }
    for (int i = 0; i < 2; i++) { // descending
        for (int j = 0; j < 2 - i; j++) {
            if (rows[j] < rows[j + 1]) {
                int32_t swap = rows[j];
                rows[j] = rows[j + 1];
                rows[j + 1] = swap;
            }
        }
    }
}

void cm_context_make(const cm_past *past, const cm_lead *lead, uint32_t cube, cm_context *s)
{
    const cm_cube *base = &past->base[cube];
    int32_t d[CM_PAST_SPANS][3], r[CM_PAST_SPANS][3], rows[3], g = past->ahead;
    int16_t *in = s->input;
    memset(s, 0, sizeof *s);
    cm_context_quat(base, s->q);
    for (int k = 0; k < CM_PAST_SPANS; k++) {
        const cm_cube *old = &past->older[k][cube];
        int32_t q[4], scale = past->scale[k];
        if (memcmp(old->turn, base->turn, sizeof old->turn) == 0 && old->largest == base->largest) {
            r[k][0] = r[k][1] = r[k][2] = 0;
        } else {
            cm_context_quat(old, q);
            turn_between(s->q, q, r[k]);
        }
        for (int i = 0; i < 3; i++) {
            d[k][i] = (base->at[i] - old->at[i]) * scale / 256;
            r[k][i] = r[k][i] * scale / 256;
            // The movement over the time ahead at this speed.
            int32_t b = d[k][i] * g / cm_past_span[k], t = r[k][i] * g / cm_past_span[k];
            if (i < 2) {
                s->plane[k < 3 ? k : 3][i] = clamp(b, 16383);
            } else {
                s->lift[k < 3 ? k : 3] = clamp(b, 16383);
            }
            s->turn[k < 3 ? k : 3][i] = clamp(t, 16383);
        }
        in[k] = (int16_t)cm_context_log(size2(d[k][0], d[k][1]));
        in[5 + k] = (int16_t)cm_context_log(d[k][2]);
        in[10 + k] = (int16_t)cm_context_log(size2(size2(r[k][0], r[k][1]), r[k][2]) / 4);
    }
    stand(s, rows);
    int32_t lowest = HALF * (rows[0] + rows[1] + rows[2]) / 8192;
    int32_t gap = base->at[2] - lowest;
    // The error of a constant-speed prediction the last time, and over shorter times.
    int32_t e[3], f[3];
    for (int i = 0; i < 3; i++) {
        e[i] = d[3][i] - 3 * (d[4][i] - d[3][i]);
        f[i] = 2 * d[1][i] - d[2][i];
    }
    in[15] = (int16_t)cm_context_log(size2(e[0], e[1]));
    in[16] = (int16_t)cm_context_log(e[2]);
    in[17] = (int16_t)cm_context_log(size2(f[0], f[1]));
    in[18] = (int16_t)cm_context_log(f[2]);
    int32_t t[3], u[3];
    for (int i = 0; i < 3; i++) {
        t[i] = (r[3][i] - 3 * (r[4][i] - r[3][i])) / 4;
        u[i] = (2 * r[1][i] - r[2][i]) / 4;
    }
    in[19] = (int16_t)cm_context_log(size2(size2(t[0], t[1]), t[2]));
    in[20] = (int16_t)cm_context_log(size2(size2(u[0], u[1]), u[2]));
    in[21] = (int16_t)cm_context_log(gap);
    in[22] = (int16_t)cm_context_log(base->at[2]);
    in[23] = (int16_t)((8192 - rows[0]) / 16);
    in[24] = (int16_t)cm_context_log(rows[1] / 16);
    in[25] = (int16_t)cm_context_log(rows[2] / 16);
    // A rolling cube moves by what it turns: half angles to 1/512 m.
    int32_t roll[2] = {s->turn[1][1] * HALF / (CM_TURN_ONE / 2),
                       -s->turn[1][0] * HALF / (CM_TURN_ONE / 2)};
    s->plane[4][0] = roll[0];
    s->plane[4][1] = roll[1];
    // About its lowest corner, which stays: - turn x corner.
    const int32_t *w = s->turn[1], *c = s->corner;
    s->plane[5][0] = -(w[1] * c[2] - w[2] * c[1]) / (CM_TURN_ONE / 2);
    s->plane[5][1] = -(w[2] * c[0] - w[0] * c[2]) / (CM_TURN_ONE / 2);
    s->lift[4] = -(w[0] * c[1] - w[1] * c[0]) / (CM_TURN_ONE / 2);
    s->plane[6][0] = -c[0];
    s->plane[6][1] = -c[1];
    s->lift[5] = clamp(gap, 4095);
    s->lift[6] = 64;
    in[26] = (int16_t)(along(d[1][0], d[1][1], roll[0], roll[1]) * 4);
    in[27] = (int16_t)cm_context_log(r[1][2] / 4);
    in[28] = (int16_t)(along(d[1][0], d[1][1], c[0], c[1]) * 4);
    in[29] = (int16_t)cm_context_log(s->lift[4]);
    int32_t to[3], near;
    for (int i = 0; i < 3; i++) {
        to[i] = lead->at[i] - base->at[i];
    }
    near = size2(to[0], to[1]);
    in[30] = (int16_t)cm_context_log(near);
    in[31] = (int16_t)cm_context_log(to[2]);
    in[32] = (int16_t)(along(lead->moved[0], lead->moved[1], -to[0], -to[1]) * 4);
    in[33] = (int16_t)(along(d[1][0], d[1][1], to[0], to[1]) * 4);
    in[34] = (int16_t)cm_context_log(size2(lead->moved[0], lead->moved[1]));
    in[35] = (int16_t)(base->touched * 128);
    in[36] = (int16_t)((d[0][0] | d[0][1] | d[0][2]) != 0 ? 128 : 0);
    in[37] = (int16_t)((r[0][0] | r[0][1] | r[0][2]) != 0 ? 128 : 0);
    in[38] = (int16_t)cm_context_log(lead->moved[2]);
    in[39] = (int16_t)(along(d[0][0], d[0][1], d[2][0], d[2][1]) * 4);
    // Pushed by the player's cube: where it goes, while it is near.
    int32_t share = near >= 1024 ? 0 : 1024 - near;
    s->plane[7][0] = clamp(lead->moved[0] * share / 1024, 8191);
    s->plane[7][1] = clamp(lead->moved[1] * share / 1024, 8191);
    s->lift[7] = clamp(lead->moved[2] * share / 1024, 8191);
}

void cm_context_guess(const cm_context *s, const int32_t *output, int32_t guess[3])
{
    int64_t sum[3] = {0, 0, 0};
    for (int k = 0; k < CM_PLANE_TERMS; k++) {
        sum[0] += (int64_t)output[k] * s->plane[k][0];
        sum[1] += (int64_t)output[k] * s->plane[k][1];
        sum[2] += (int64_t)output[CM_PLANE_TERMS + k] * s->lift[k];
    }
    for (int i = 0; i < 3; i++) {
        int64_t g = sum[i] >> 8;
        guess[i] = (int32_t)(g < -GUESS_MOST ? -GUESS_MOST : g > GUESS_MOST ? GUESS_MOST : g);
    }
}

void cm_context_moved(cm_context *s, const int32_t moved[3], const int32_t wrong[3], int32_t scale)
{
    int16_t *in = s->input + CM_CONTEXT_INPUTS;
    const int32_t *c = s->corner;
    int32_t x = clamp(moved[0], 4095), y = clamp(moved[1], 4095), z = clamp(moved[2], 4095);
    // Rolling without slip, then about the corner: corner x moved / |corner|^2.
    s->turn[4][0] = -y * (CM_TURN_ONE / 2) / HALF;
    s->turn[4][1] = x * (CM_TURN_ONE / 2) / HALF;
    int32_t square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + 2500;
    s->turn[5][0] = (int32_t)((int64_t)(c[1] * z - c[2] * y) * -(CM_TURN_ONE / 2) / square);
    s->turn[5][1] = (int32_t)((int64_t)(c[2] * x - c[0] * z) * -(CM_TURN_ONE / 2) / square);
    s->turn[5][2] = (int32_t)((int64_t)(c[0] * y - c[1] * x) * -(CM_TURN_ONE / 2) / square);
    // Gravity about the corner.
    s->turn[6][0] = c[1] * 16;
    s->turn[6][1] = -c[0] * 16;
    s->turn[7][0] = s->turn[1][0];
    s->turn[7][1] = s->turn[1][1]; // apart from the vertical
    in[0] = (int16_t)cm_context_log(size2(x, y));
    in[1] = (int16_t)cm_context_log(z);
    in[2] = (int16_t)cm_context_log(size2(wrong[0], wrong[1]));
    in[3] = (int16_t)cm_context_log(wrong[2]);
    in[4] = (int16_t)(along(x, y, s->turn[1][1], -s->turn[1][0]) * 4);
    in[5] = (int16_t)clamp(scale, 1024);
    in[6] = (int16_t)((moved[0] | moved[1] | moved[2]) != 0 ? 128 : 0);
    in[7] = (int16_t)(along(x, y, c[0], c[1]) * 4);
}
