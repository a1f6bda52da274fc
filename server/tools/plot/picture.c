// Pictures of bodies. Everything that one set shows has the same scale in metres, and each kind of
// arrow the same pixels a unit, so that ticks and solvers compare by eye.
//
// Bodies are drawn static ones first, then by depth. Turning is an arc while its axis looks along
// the eye, else an arrow along the axis (right-hand rule). The number at an arrow is its magnitude
// with the sign of x + y + z, as the figures of JP3308685B2 have it. Arrows below 2% of the longest
// of their kind are left out. Circles (S1.5): the velocity's arrow is at least a radius long.
#include "server/tools/plot/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/plot/chart.h"
#include "server/tools/plot/label.h"
#include "server/tools/plot/ticks.h"

#define GAP       16.0
#define HEADER    30.0 // px above each frame, for the caption
#define MARGIN    62.0 // px inside each frame, for arrows and names
#define ARROW     64.0 // px, the longest
#define ARC       22.0 // px, radius
#define ARC_TURN  4.6  // rad, the longest
#define NAMES_MAX 40u  // movable bodies: with more, names and numbers are left out
#define NOISE     2e-3
#define LEAST     0.02 // of the longest of its kind

enum { VELOCITY, TURNING, IMPULSE, KINDS };

static const char *const KIND_COLOR[KINDS] = {"#0057a8", "#8a2be2", "#c62828"};
static const char *const KIND_NAME[KINDS] = {"velocity", "angular velocity", "impulse"};
static const char *const KIND_UNIT[KINDS] = {"m/s", "rad/s", "N s"};
#define HALO                                                                                       \
    "paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\""

static const int FILLS[][3] = {{183, 213, 240}, {250, 214, 165}, {190, 226, 190}, {232, 199, 226},
                               {240, 232, 170}, {200, 222, 226}, {240, 200, 190}, {214, 210, 236}};
static const int STATIC_FILL[3] = {222, 219, 212}, KINEMATIC_FILL[3] = {205, 205, 205};

typedef struct canvas {
    const cm_picture_set *set;
    cm_camera camera;
    double longest[KINDS];
    double about[3], reach; // of planes' patches
    double box[4];          // flat metres that are shown
    cm_labels labels;       // of the picture being drawn
} canvas;

double cm_pictures_width(const cm_picture_set *set)
{
    uint32_t columns = set->count < set->columns ? set->count : set->columns;
    return columns * (CM_PICTURE_WIDTH + GAP) - GAP;
}

double cm_pictures_height(const cm_picture_set *set)
{
    uint32_t rows = (set->count + set->columns - 1) / set->columns;
    return rows * (CM_PICTURE_HEIGHT + HEADER + GAP) + CM_PICTURE_LEGEND;
}

static void vector(const cm_moment_body *body, int kind, double v[3])
{
    carom_vec3 from = kind == VELOCITY ? body->state.linear_velocity : body->state.angular_velocity;
    if (kind == IMPULSE) {
        memcpy(v, body->impulse, 3 * sizeof *v);
        return;
    }
    v[0] = (double)from.x;
    v[1] = (double)from.y;
    v[2] = (double)from.z;
}

static double magnitude(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void grow_by(const cm_moment *moment, const cm_moment_body *body, const cm_camera *camera,
                    double box[4])
{
    for (uint32_t i = 0; i < body->shape_count; ++i) {
        cm_outline outline;
        cm_outline_set(&outline, &moment->shapes[body->first_shape + i], body->state.position,
                       body->state.orientation);
        cm_outline_grow(&outline, camera, box);
    }
    if (body->state.type != CAROM_BODY_STATIC) {
        double at[3] = {(double)body->state.center_of_mass.x, (double)body->state.center_of_mass.y,
                        (double)body->state.center_of_mass.z};
        cm_point p = cm_camera_flat(camera, at);
        box[0] = fmin(box[0], p.x);
        box[1] = fmin(box[1], p.y);
        box[2] = fmax(box[2], p.x);
        box[3] = fmax(box[3], p.y);
    }
}

static void grow_all(const cm_picture_set *set, const cm_camera *camera, bool movable,
                     double box[4])
{
    for (uint32_t i = 0; i < set->count; ++i) {
        const cm_moment *moment = set->pictures[i].moment;
        for (uint32_t b = 0; b < moment->body_count; ++b) {
            if ((moment->bodies[b].state.type != CAROM_BODY_STATIC) == movable) {
                grow_by(moment, &moment->bodies[b], camera, box);
            }
        }
    }
}

static bool is_empty(const double box[4])
{
    return box[0] > box[2];
}

// What is shown: all that can move, and what does not as far as it is near; then scale and patch.
static void find_box(canvas *c)
{
    double still[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    double *box = c->box;
    box[0] = box[1] = INFINITY;
    box[2] = box[3] = -INFINITY;
    grow_all(c->set, &c->camera, true, box);
    grow_all(c->set, &c->camera, false, still);
    if (is_empty(box)) {
        memcpy(box, still, sizeof still);
    } else if (!is_empty(still)) {
        double more = 0.35 * fmax(box[2] - box[0], box[3] - box[1]);
        double near[4] = {box[0] - more, box[1] - more, box[2] + more, box[3] + more};
        box[0] = fmin(box[0], fmax(near[0], still[0]));
        box[1] = fmin(box[1], fmax(near[1], still[1]));
        box[2] = fmax(box[2], fmin(near[2], still[2]));
        box[3] = fmax(box[3], fmin(near[3], still[3]));
    }
    if (is_empty(box)) {
        box[0] = box[1] = -1.0;
        box[2] = box[3] = 1.0;
    }
    double width = fmax(box[2] - box[0], 1e-6), height = fmax(box[3] - box[1], 1e-6);
    double scale = fmin((CM_PICTURE_WIDTH - 2.0 * MARGIN) / width,
                        (CM_PICTURE_HEIGHT - 2.0 * MARGIN) / height);
    c->camera.scale = scale;
    for (int k = 0; k < 3; ++k) {
        c->about[k] = 0.5 * (box[0] + box[2]) * c->camera.right[k] +
                      0.5 * (box[1] + box[3]) * c->camera.up[k];
    }
    c->reach = 0.62 * fmax(CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT) / scale;
}

// The middle of what can move, in space: planes are drawn about it.
static void find_middle(canvas *c)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < c->set->count; ++i) {
        const cm_moment *m = c->set->pictures[i].moment;
        for (uint32_t b = 0; b < m->body_count; ++b) {
            const carom_body_state *s = &m->bodies[b].state;
            double at[3] = {(double)s->position.x, (double)s->position.y, (double)s->position.z};
            for (int k = 0; k < 3 && s->type != CAROM_BODY_STATIC; ++k) {
                low[k] = fmin(low[k], at[k]);
                high[k] = fmax(high[k], at[k]);
            }
        }
    }
    double spread = 0.0;
    for (int k = 0; k < 3 && low[0] <= high[0]; ++k) {
        c->about[k] = 0.5 * (low[k] + high[k]);
        spread = fmax(spread, high[k] - low[k]);
    }
    if (low[0] <= high[0]) {
        double size = fmax(c->box[2] - c->box[0], c->box[3] - c->box[1]);
        c->reach = c->camera.kind == CM_VIEW_OBLIQUE ? fmax(0.6 * size, 0.6 * spread) : c->reach;
    }
}

static void find_longest(canvas *c)
{
    for (uint32_t i = 0; i < c->set->count; ++i) {
        const cm_moment *moment = c->set->pictures[i].moment;
        for (uint32_t b = 0; b < moment->body_count; ++b) {
            for (int kind = 0; kind < KINDS; ++kind) {
                double v[3];
                vector(&moment->bodies[b], kind, v);
                c->longest[kind] = fmax(c->longest[kind], magnitude(v));
            }
        }
    }
    for (int kind = 0; kind < KINDS; ++kind) {
        c->longest[kind] = c->longest[kind] > 1e-9 ? c->longest[kind] : 0.0;
    }
    // Turning that moves nothing visible beside the motion there is: noise of the solver.
    double size = fmax(c->box[2] - c->box[0], c->box[3] - c->box[1]);
    if (c->longest[TURNING] * size < NOISE * c->longest[VELOCITY]) {
        c->longest[TURNING] = 0.0;
    }
}

static void draw_body(const canvas *c, cm_svg *svg, const cm_moment *moment,
                      const cm_moment_body *body, uint32_t index)
{
    const int *fill = FILLS[index % (sizeof FILLS / sizeof FILLS[0])];
    if (body->state.type != CAROM_BODY_DYNAMIC) {
        fill = body->state.type == CAROM_BODY_STATIC ? STATIC_FILL : KINEMATIC_FILL;
    }
    cm_svg_group(svg, "class=\"body\"");
    for (uint32_t i = 0; i < body->shape_count; ++i) {
        cm_outline outline;
        cm_outline_set(&outline, &moment->shapes[body->first_shape + i], body->state.position,
                       body->state.orientation);
        cm_outline_draw(svg, &outline, &c->camera, fill, c->about, c->reach);
    }
    cm_svg_group_end(svg);
}

typedef struct drawn {
    double depth;
    uint32_t index;
    bool still;
} drawn;

static int far_first(const void *a, const void *b)
{
    const drawn *p = a, *q = b;
    if (p->still != q->still) {
        return p->still ? -1 : 1;
    }
    if (p->depth != q->depth) {
        return p->depth < q->depth ? -1 : 1;
    }
    return p->index < q->index ? -1 : p->index > q->index;
}

static void draw_bodies(const canvas *c, cm_svg *svg, const cm_moment *moment)
{
    drawn *order = calloc(moment->body_count + 1, sizeof *order);
    if (order == NULL) {
        svg->failed = true;
        return;
    }
    for (uint32_t i = 0; i < moment->body_count; ++i) {
        const carom_body_state *s = &moment->bodies[i].state;
        double at[3] = {(double)s->center_of_mass.x, (double)s->center_of_mass.y,
                        (double)s->center_of_mass.z};
        order[i] = (drawn){cm_camera_depth(&c->camera, at), i, s->type == CAROM_BODY_STATIC};
    }
    qsort(order, moment->body_count, sizeof *order, far_first);
    for (uint32_t i = 0; i < moment->body_count; ++i) {
        draw_body(c, svg, moment, &moment->bodies[order[i].index], order[i].index);
    }
    free(order);
}

static void number_text(const double v[3], char *text, size_t size)
{
    double length = magnitude(v), sum = v[0] + v[1] + v[2];
    snprintf(text, size, length >= 999.5 && length < 1e6 ? "%.0f" : "%.3g",
             sum < -1e-6 * length ? -length : length);
}

// An arrow that points at the eye or away from it: a dot or a cross in a ring.
static void draw_end_on(cm_svg *svg, cm_point at, bool toward, const char *color)
{
    char line[64], dot[64];
    snprintf(line, sizeof line, "fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"", color);
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
static cm_point draw_arrow(const canvas *c, cm_svg *svg, const cm_moment *moment,
                           const cm_moment_body *body, int kind, const double v[3], cm_point *away)
{
    double center[3] = {(double)body->state.center_of_mass.x, (double)body->state.center_of_mass.y,
                        (double)body->state.center_of_mass.z};
    double length = magnitude(v), px = ARROW * length / c->longest[kind];
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
    double size = hypot(flat.x, flat.y);
    *away = (cm_point){1.0, 0.0};
    if (size * px / length < 4.0) {
        draw_end_on(svg, at, along > 0.0, color);
        return (cm_point){at.x + 6.0, at.y};
    }
    cm_point tip = {at.x + flat.x / length * px, at.y - flat.y / length * px};
    double aside = kind == IMPULSE ? 3.0 : 0.0; // beside the velocity where both lie on one line
    cm_point shift = {aside * flat.y / size, aside * flat.x / size};
    cm_svg_arrow(svg, at.x + shift.x, at.y + shift.y, tip.x + shift.x, tip.y + shift.y, color);
    *away = (cm_point){flat.x / size + shift.x, -flat.y / size + shift.y};
    return (cm_point){tip.x + shift.x, tip.y + shift.y};
}

static uint32_t movable_count(const cm_moment *moment)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < moment->body_count; ++i) {
        count += moment->bodies[i].state.type != CAROM_BODY_STATIC;
    }
    return count;
}

static void draw_arrows(const canvas *c, cm_svg *svg, const cm_moment *moment, cm_labels *labels)
{
    for (int kind = KINDS - 1; kind >= 0 && c->set->arrows; --kind) {
        char style[160];
        snprintf(style, sizeof style, "fill=\"%s\" class=\"%s\" " HALO, KIND_COLOR[kind],
                 kind == TURNING ? "turning" : KIND_NAME[kind]);
        for (uint32_t i = 0; i < moment->body_count; ++i) {
            double v[3];
            char text[32];
            cm_point away;
            vector(&moment->bodies[i], kind, v);
            if (c->longest[kind] == 0.0 || magnitude(v) < LEAST * c->longest[kind]) {
                continue;
            }
            cm_point tip = draw_arrow(c, svg, moment, &moment->bodies[i], kind, v, &away);
            if (movable_count(moment) > NAMES_MAX) {
                continue;
            }
            number_text(v, text, sizeof text);
            cm_labels_put(labels, svg, tip, away.x, away.y, 11.0, style, text);
        }
    }
}

static void draw_names(const canvas *c, cm_svg *svg, const cm_moment *moment, cm_labels *labels)
{
    if (!c->set->names || movable_count(moment) > NAMES_MAX) {
        return;
    }
    for (uint32_t i = 0; i < moment->body_count; ++i) {
        const cm_moment_body *body = &moment->bodies[i];
        double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
        if (body->state.type == CAROM_BODY_STATIC) {
            continue;
        }
        grow_by(moment, body, &c->camera, box);
        cm_point at = {c->camera.x + c->camera.scale * 0.5 * (box[0] + box[2]),
                       c->camera.y - c->camera.scale * box[1]};
        cm_labels_put(labels, svg, at, 0.0, 1.0, 11.0, "fill=\"#222222\" class=\"name\" " HALO,
                      body->name);
    }
}

static void draw_scale(const canvas *c, cm_svg *svg, double right, double bottom, cm_labels *labels)
{
    double metres = cm_round_below(90.0 / c->camera.scale), px = metres * c->camera.scale;
    char text[32];
    double x = right - 12.0 - px, y = bottom - 14.0;
    const char *style = "stroke=\"#222222\" stroke-width=\"1.6\"";
    snprintf(text, sizeof text, "%g m", metres);
    cm_svg_line(svg, x, y, x + px, y, style);
    cm_svg_line(svg, x, y - 4.0, x, y + 4.0, style);
    cm_svg_line(svg, x + px, y - 4.0, x + px, y + 4.0, style);
    cm_svg_text(svg, x + 0.5 * px, y - 6.0, 11.0, "middle", "class=\"scale\" " HALO, text);
    double half = fmax(0.5 * px, 0.5 * cm_text_width(text, 11.0));
    cm_labels_take(labels, x + 0.5 * px - half - 4.0, y - 20.0, right, bottom);
}

static void draw_tripod(const canvas *c, cm_svg *svg, double left, double bottom, cm_labels *labels)
{
    static const char *const NAME[3] = {"x", "y", "z"};
    bool down = c->camera.kind == CM_VIEW_SCREEN || c->camera.kind == CM_VIEW_XZ;
    double x = left + (c->camera.kind == CM_VIEW_ZY        ? 50.0
                       : c->camera.kind == CM_VIEW_OBLIQUE ? 30.0
                                                           : 18.0);
    double y = bottom - (down ? 50.0 : c->camera.kind == CM_VIEW_OBLIQUE ? 30.0 : 18.0);
    for (int k = 0; k < 3; ++k) {
        double axis[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        cm_point flat = cm_camera_flat(&c->camera, axis);
        double size = hypot(flat.x, flat.y);
        if (size < 0.1) {
            continue;
        }
        double dx = 28.0 * flat.x, dy = -28.0 * flat.y;
        cm_svg_arrow(svg, x, y, x + dx, y + dy, "#888888");
        cm_svg_text(svg, x + dx + 7.0 * flat.x / size, y + dy - 7.0 * flat.y / size + 3.5, 10.0,
                    "middle", "fill=\"#666666\"", NAME[k]);
    }
    cm_labels_take(labels, left, bottom - 66.0, left + 66.0, bottom);
}

static void draw_picture(canvas *c, cm_svg *svg, uint32_t index, double x, double y)
{
    const cm_picture *picture = &c->set->pictures[index];
    double top = y + HEADER, right = x + CM_PICTURE_WIDTH, bottom = top + CM_PICTURE_HEIGHT;
    char text[CM_LABEL_MAX + 96], clip[32], group[64];
    c->camera.x = x + 0.5 * CM_PICTURE_WIDTH - c->camera.scale * 0.5 * (c->box[0] + c->box[2]);
    c->camera.y = top + 0.5 * CM_PICTURE_HEIGHT + c->camera.scale * 0.5 * (c->box[1] + c->box[3]);
    snprintf(text, sizeof text, "%s: tick %llu, %.6g s", picture->title,
             (unsigned long long)picture->moment->tick, picture->moment->time);
    cm_svg_group(svg, "class=\"picture\"");
    cm_svg_text(svg, x, y + 21.0, 14.0, "start", "class=\"caption\" font-weight=\"bold\"", text);
    snprintf(clip, sizeof clip, "frame%u", (unsigned)index);
    snprintf(group, sizeof group, "clip-path=\"url(#%s)\"", clip);
    cm_svg_clip(svg, clip, x, top, CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT);
    cm_svg_rect(svg, x, top, CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT, "fill=\"#fcfcfc\"");
    cm_svg_group(svg, group);
    draw_bodies(c, svg, picture->moment);
    cm_svg_group_end(svg);
    cm_labels_open(&c->labels, x + 2.0, top + 2.0, right - 2.0, bottom - 2.0);
    draw_scale(c, svg, right, bottom, &c->labels);
    draw_tripod(c, svg, x, bottom, &c->labels);
    cm_svg_group(svg, group);
    draw_arrows(c, svg, picture->moment, &c->labels);
    cm_svg_group_end(svg);
    draw_names(c, svg, picture->moment, &c->labels);
    cm_svg_rect(svg, x, top, CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT,
                "fill=\"none\" stroke=\"#555555\"");
    if (movable_count(picture->moment) > NAMES_MAX) {
        snprintf(text, sizeof text, "more than %u bodies: without numbers", NAMES_MAX);
        cm_svg_text(svg, right, y + 21.0, 10.0, "end", "fill=\"#777777\"", text);
    } else if (c->labels.left_out > 0) {
        snprintf(text, sizeof text, "%u texts had no room", (unsigned)c->labels.left_out);
        cm_svg_text(svg, right, y + 21.0, 10.0, "end", "fill=\"#777777\"", text);
    }
    cm_svg_group_end(svg);
}

static void draw_legend(const canvas *c, cm_svg *svg, double x, double y)
{
    double at = x;
    bool any = false;
    for (int kind = 0; kind < KINDS && c->set->arrows; ++kind) {
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
}

void cm_pictures_draw(cm_svg *svg, const cm_picture_set *set, double x, double y)
{
    canvas c = {.set = set};
    cm_camera_set(&c.camera, set->view);
    find_box(&c);
    find_middle(&c);
    find_longest(&c);
    for (uint32_t i = 0; i < set->count; ++i) {
        draw_picture(&c, svg, i, x + (i % set->columns) * (CM_PICTURE_WIDTH + GAP),
                     y + (i / set->columns) * (CM_PICTURE_HEIGHT + HEADER + GAP));
    }
    draw_legend(&c, svg, x, y + cm_pictures_height(set) - CM_PICTURE_LEGEND);
}
