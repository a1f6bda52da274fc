// Arrows of a picture: velocity, angular velocity, impulse. Each kind has the same pixels a unit in
// all pictures of a set, so that ticks and solvers compare by eye.
//
// Rotation is drawn as an arc if its axis points along the line of sight, else as an arrow along
// the axis (right-hand rule). Only arrows within 20 degrees of the line of sight are drawn as a
// ring, so that a short arrow means a small value. The number at an arrow is its magnitude with the
// sign of x + y + z, as the figures of JP3308685B2 have it. Arrows below 2% of the longest of their
// kind are left out, and above CM_MANY_BODIES bodies all but the strongest. Circles (zenn.dev,
// 2023): the velocity's arrow is at least a radius long.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/tools/plot/canvas.h"
#include "server/tools/plot/ticks.h"

#define ARROW    64.0 // px, the longest
#define ARC      22.0 // px, radius
#define ARC_TURN 4.6  // rad, the longest
#define LEAST    0.02 // of the longest of its kind
#define SHORTEST 6.0  // px
#define END_ON   0.94 // cosine to the eye's direction above which an arrow is a ring
// The longest arrow of a kind that is no more than the solver's noise beside what one sees.
#define STILL 1e-6 // m/s and rad/s, for a view of a metre
#define NOISE 2e-3 // turning moves the scene's edge by less than this share of its velocity

enum {
    VELOCITY = CM_ARROW_VELOCITY,
    TURNING = CM_ARROW_TURNING,
    IMPULSE = CM_ARROW_IMPULSE,
    KINDS = CM_ARROW_KINDS
};

static const char *const KIND_COLOR[KINDS] = {"#0057a8", "#8a2be2", "#c62828"};
static const char *const KIND_NAME[KINDS] = {"velocity", "angular velocity", "impulse"};
static const char *const KIND_UNIT[KINDS] = {"m/s", "rad/s", "N s"};

static cm_d3 vector(const cm_moment_body *body, int kind)
{
    return kind == IMPULSE    ? body->impulse
           : kind == VELOCITY ? cm_d3_from(body->state.linear_velocity)
                              : cm_d3_from(body->state.angular_velocity);
}

void cm_arrows_measure(cm_canvas *c)
{
    for (uint32_t i = 0; i < c->set->count; i++) {
        const cm_moment *moment = c->set->pictures[i].moment;
        for (uint32_t b = 0; b < moment->body_count; b++) {
            for (int kind = 0; kind < KINDS; kind++) {
                double length = cm_d3_length(vector(&moment->bodies[b], kind));
                c->longest[kind] = fmax(c->longest[kind], length);
            }
        }
    }
    double edge = fmax(c->box.right - c->box.left, c->box.high - c->box.low);
    const double still[KINDS] = {STILL * edge, STILL, 1e-9};
    for (int kind = 0; kind < KINDS; kind++) {
        c->longest[kind] = c->longest[kind] > still[kind] ? c->longest[kind] : 0.0;
    }
    // Turning that moves nothing visible beside the motion there is: noise of the solver.
    if (c->longest[TURNING] * edge < NOISE * c->longest[VELOCITY]) {
        c->longest[TURNING] = 0.0;
    }
}

static void number_text(cm_d3 v, char *text, size_t size)
{
    double length = cm_d3_length(v), sum = v.x + v.y + v.z;
    snprintf(text, size, length >= 999.5 && length < 1e6 ? "%.0f" : "%.3g",
             sum < -1e-6 * length ? -length : length);
}

// An arrow that points at the eye or away from it: a dot or a cross in a ring.
static void draw_end_on(cm_svg *svg, cm_point at, bool toward, const char *color)
{
    char line[96], dot[64];
    snprintf(line, sizeof line, "class=\"end-on\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"",
             color);
    snprintf(dot, sizeof dot, "fill=\"%s\"", color);
    cm_svg_circle(svg, at.x, at.y, 6.0, line);
    if (toward) {
        cm_svg_circle(svg, at.x, at.y, 2.2, dot);
    } else {
        cm_svg_line(svg, at.x - 4.2, at.y - 4.2, at.x + 4.2, at.y + 4.2, line);
        cm_svg_line(svg, at.x - 4.2, at.y + 4.2, at.x + 4.2, at.y - 4.2, line);
    }
}

static double sphere_radius(const cm_moment *moment, const cm_moment_body *body)
{
    const carom_shape_def *shape = &moment->shapes[body->first_shape];
    return body->shape_count == 1 && shape->type == CAROM_SHAPE_SPHERE ? (double)shape->radius
                                                                       : 0.0;
}

// The arrow of one kind; where its number goes and which way is left free.
static cm_point draw_arrow(cm_canvas *c, cm_svg *svg, const cm_moment *moment,
                           const cm_moment_body *body, int kind, cm_d3 v, cm_point *away)
{
    cm_d3 center = cm_d3_from(body->state.center_of_mass);
    double length = cm_d3_length(v), px = ARROW * length / c->longest[kind];
    cm_point at = cm_camera_place(&c->camera, kind == IMPULSE ? body->point : center);
    cm_point flat = cm_camera_flat(&c->camera, v);
    double along = cm_camera_depth(&c->camera, v) / length;
    const char *color = KIND_COLOR[kind];
    if (kind == TURNING && fabs(along) > 0.9) {
        double sweep = ARC_TURN * length / c->longest[kind] * (along < 0.0 ? -1.0 : 1.0);
        sweep *= c->camera.kind == CM_VIEW_SCREEN ? -1.0 : 1.0;
        cm_svg_arc_arrow(svg, at.x, at.y, ARC, 1.5707963267948966 - 0.5 * sweep, sweep, color);
        *away = (cm_point){0.0, -1.0};
        return (cm_point){at.x, at.y - ARC};
    }
    double radius = sphere_radius(moment, body);
    if (kind == VELOCITY && c->set->at_least_radius) {
        px = fmax(px, radius * c->camera.scale);
    }
    *away = (cm_point){1.0, 0.0};
    if (fabs(along) > END_ON) {
        draw_end_on(svg, at, along > 0.0, color);
        cm_labels_take(&c->labels, at.x - 6.0, at.y - 6.0, at.x + 6.0, at.y + 6.0);
        return (cm_point){at.x + 6.0, at.y};
    }
    double size = hypot(flat.x, flat.y), shown = fmax(px * size / length, SHORTEST);
    cm_point tip = {at.x + flat.x / size * shown, at.y - flat.y / size * shown};
    double aside = kind == IMPULSE ? 3.0 : 0.0; // beside the velocity where both lie on one line
    cm_point shift = {aside * flat.y / size, aside * flat.x / size};
    at = (cm_point){at.x + shift.x, at.y + shift.y};
    tip = (cm_point){tip.x + shift.x, tip.y + shift.y};
    cm_svg_arrow(svg, at.x, at.y, tip.x, tip.y, color);
    cm_labels_take_line(&c->labels, at, tip);
    *away = (cm_point){flat.x / size + shift.x, -flat.y / size + shift.y};
    return tip;
}

typedef struct strength {
    double size;
    uint32_t index;
} strength;

static int strongest_first(const void *a, const void *b)
{
    const strength *p = a, *q = b;
    return p->size > q->size ? -1 : p->size < q->size ? 1 : p->index < q->index ? -1 : 1;
}

// The bodies whose arrows of a kind are drawn, strongest first; returns how many.
static uint32_t choose(const cm_canvas *c, const cm_moment *moment, int kind, strength *chosen)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < moment->body_count && c->longest[kind] > 0.0; i++) {
        double size = cm_d3_length(vector(&moment->bodies[i], kind));
        if (size >= LEAST * c->longest[kind]) {
            chosen[count++] = (strength){size, i};
        }
    }
    qsort(chosen, count, sizeof *chosen, strongest_first);
    bool many = cm_movable_count(moment) > CM_MANY_BODIES;
    return many && count > CM_STRONGEST_ARROWS ? CM_STRONGEST_ARROWS : count;
}

typedef struct number {
    cm_point at, away;
    cm_d3 value;
    int kind;
} number;

// All arrows are drawn before the first number, so that no number lies under an arrow.
void cm_arrows_draw(cm_canvas *c, cm_svg *svg, const cm_moment *moment)
{
    if (!c->set->arrows) {
        return;
    }
    strength *chosen = calloc(moment->body_count + 1, sizeof *chosen);
    number *numbers = calloc((size_t)KINDS * moment->body_count + 1, sizeof *numbers);
    uint32_t count = 0;
    svg->failed = svg->failed || chosen == NULL || numbers == NULL;
    for (int kind = KINDS - 1; kind >= 0 && !svg->failed; kind--) {
        uint32_t drawn = choose(c, moment, kind, chosen);
        for (uint32_t i = 0; i < drawn; i++) {
            number *n = &numbers[count++];
            n->kind = kind;
            n->value = vector(&moment->bodies[chosen[i].index], kind);
            n->at = draw_arrow(c, svg, moment, &moment->bodies[chosen[i].index], kind, n->value,
                               &n->away);
        }
    }
    for (uint32_t i = 0; i < count && !svg->failed; i++) {
        char style[160], text[32];
        const number *n = &numbers[i];
        snprintf(style, sizeof style, "fill=\"%s\" class=\"%s\" " CM_HALO, KIND_COLOR[n->kind],
                 n->kind == TURNING ? "turning" : KIND_NAME[n->kind]);
        number_text(n->value, text, sizeof text);
        cm_labels_put(&c->labels, svg, n->at, n->away.x, n->away.y, 11.0, style, text);
    }
    free(chosen);
    free(numbers);
}

double cm_arrows_legend(const cm_canvas *c, cm_svg *svg, double x, double y)
{
    double at = x;
    bool any = false;
    for (int kind = 0; kind < KINDS && c->set->arrows; kind++) {
        char text[96];
        if (c->longest[kind] == 0.0) {
            continue;
        }
        double unit = cm_round_below(c->longest[kind]), share = unit / c->longest[kind];
        snprintf(text, sizeof text, "%s, %g %s", KIND_NAME[kind], unit, KIND_UNIT[kind]);
        if (kind == TURNING && c->camera.kind != CM_VIEW_OBLIQUE) {
            double sweep = ARC_TURN * share;
            cm_svg_arc_arrow(svg, at + 16.0, y + 18.0, 14.0, 1.5707963267948966 - 0.5 * sweep,
                             sweep, KIND_COLOR[kind]);
            at += 38.0;
        } else {
            cm_svg_arrow(svg, at, y + 14.0, at + ARROW * share, y + 14.0, KIND_COLOR[kind]);
            at += ARROW * share + 8.0;
        }
        cm_svg_text(svg, at, y + 18.0, 12.0, "start", "class=\"legend\"", text);
        at += cm_text_width(text, 12.0) + 18.0;
        any = true;
    }
    if (any) {
        cm_svg_text(svg, x, y + 40.0, 11.0, "start", "fill=\"#555555\"",
                    c->set->at_least_radius
                        ? "A number is the magnitude with the sign of x + y + z; a circle's "
                          "velocity is drawn at least a radius long."
                        : "A number is the magnitude with the sign of x + y + z.");
    }
    return at;
}
