// Pictures of bodies. Everything that one set shows has the same scale in metres, and each kind of
// arrow the same pixels a unit, so that ticks and solvers compare by eye.
//
// Drawn in this order: half-spaces, static bodies, the others by depth, joints, arrows, their
// numbers, names. A name lies on no body but its own, on no arrow and on no other text.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/plot/canvas.h"
#include "server/tools/plot/chart.h"
#include "server/tools/plot/ticks.h"

#define GAP    16.0
#define HEADER 30.0 // px above each frame, for the caption
#define MARGIN 62.0 // px inside each frame, for arrows and names
// A static body is shown whole if it is at most so many times as large as all that moves, and as
// far away; of others what is near.
#define WHOLE 4.0
#define AWAY  8.0
#define NEAR  0.35

static const int FILLS[][3] = {{183, 213, 240}, {250, 214, 165}, {190, 226, 190}, {232, 199, 226},
                               {240, 232, 170}, {200, 222, 226}, {240, 200, 190}, {214, 210, 236}};
static const int STATIC_FILL[3] = {222, 219, 212}, KINEMATIC_FILL[3] = {205, 205, 205};

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

static void grow_by(const cm_moment *moment, const cm_moment_body *body, const cm_camera *camera,
                    cm_box *box)
{
    for (uint32_t i = 0; i < body->shape_count; i++) {
        cm_outline outline;
        cm_outline_set(&outline, &moment->shapes[body->first_shape + i], body->state.position,
                       body->state.orientation);
        cm_outline_grow(&outline, camera, box);
    }
    if (body->state.type != CAROM_BODY_STATIC) {
        cm_box_grow(box, cm_camera_flat(camera, cm_d3_from(body->state.center_of_mass)));
    }
}

uint32_t cm_movable_count(const cm_moment *moment)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < moment->body_count; i++) {
        count += moment->bodies[i].state.type != CAROM_BODY_STATIC;
    }
    return count;
}

static void join_box(cm_box *box, const cm_box *more)
{
    cm_box_grow(box, (cm_point){more->left, more->low});
    cm_box_grow(box, (cm_point){more->right, more->high});
}

static bool is_empty(const cm_box *box)
{
    return box->left > box->right;
}

static double size_of(const cm_box *box)
{
    return fmax(box->right - box->left, box->high - box->low);
}

// All that can move, and the anchors of joints.
static void grow_by_movable(const cm_canvas *c, cm_box *box)
{
    for (uint32_t i = 0; i < c->set->count; i++) {
        const cm_moment *moment = c->set->pictures[i].moment;
        for (uint32_t b = 0; b < moment->body_count; b++) {
            if (moment->bodies[b].state.type != CAROM_BODY_STATIC) {
                grow_by(moment, &moment->bodies[b], &c->camera, box);
            }
        }
        for (uint32_t j = 0; j < moment->joint_count; j++) {
            const carom_joint_state *joint = &moment->joints[j].state;
            cm_box_grow(box, cm_camera_flat(&c->camera, cm_d3_from(joint->anchor_a)));
            cm_box_grow(box, cm_camera_flat(&c->camera, cm_d3_from(joint->anchor_b)));
        }
    }
}

static void grow_by_static(const cm_canvas *c, cm_box *box)
{
    const cm_box moving = *box;
    double size = fmax(size_of(box), 1e-6);
    bool alone = is_empty(box);
    for (uint32_t i = 0; i < c->set->count; i++) {
        const cm_moment *moment = c->set->pictures[i].moment;
        for (uint32_t b = 0; b < moment->body_count; b++) {
            cm_box still = CM_BOX_EMPTY, both = moving;
            if (moment->bodies[b].state.type == CAROM_BODY_STATIC) {
                grow_by(moment, &moment->bodies[b], &c->camera, &still);
            }
            if (is_empty(&still)) {
                continue;
            }
            join_box(&both, &still);
            if (!alone && (size_of(&still) > WHOLE * size || size_of(&both) > AWAY * size)) {
                double more = NEAR * size;
                still.left = fmin(fmax(still.left, moving.left - more), moving.right);
                still.low = fmin(fmax(still.low, moving.low - more), moving.high);
                still.right = fmax(fmin(still.right, moving.right + more), moving.left);
                still.high = fmax(fmin(still.high, moving.high + more), moving.low);
            }
            join_box(box, &still);
        }
    }
}

// Finds the box to show; then the scale and the size of planes' patches.
static void find_box(cm_canvas *c)
{
    cm_box *box = &c->box;
    *box = CM_BOX_EMPTY;
    grow_by_movable(c, box);
    grow_by_static(c, box);
    if (is_empty(box)) {
        *box = (cm_box){-1.0, -1.0, 1.0, 1.0};
    }
    double width = fmax(box->right - box->left, 1e-6), height = fmax(box->high - box->low, 1e-6);
    double scale = fmin((CM_PICTURE_WIDTH - 2.0 * MARGIN) / width,
                        (CM_PICTURE_HEIGHT - 2.0 * MARGIN) / height);
    c->camera.scale = scale;
    c->about = cm_d3_mad(cm_d3_scale(0.5 * (box->left + box->right), c->camera.right),
                         0.5 * (box->low + box->high), c->camera.up);
    c->reach = 0.62 * fmax(CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT) / scale;
}

// The middle of what is shown, in space: planes are drawn about it.
static void find_middle(cm_canvas *c)
{
    cm_d3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < c->set->count; i++) {
        const cm_moment *m = c->set->pictures[i].moment;
        for (uint32_t b = 0; b < m->body_count; b++) {
            const carom_body_state *s = &m->bodies[b].state;
            cm_d3 at = cm_d3_from(s->position);
            cm_point flat = cm_camera_flat(&c->camera, at);
            bool shown = flat.x >= c->box.left && flat.x <= c->box.right && flat.y >= c->box.low &&
                         flat.y <= c->box.high;
            bool plane = m->bodies[b].shape_count > 0 &&
                         m->shapes[m->bodies[b].first_shape].type == CAROM_SHAPE_PLANE;
            if (s->type != CAROM_BODY_STATIC || (shown && !plane)) {
                low = cm_d3_of(fmin(low.x, at.x), fmin(low.y, at.y), fmin(low.z, at.z));
                high = cm_d3_of(fmax(high.x, at.x), fmax(high.y, at.y), fmax(high.z, at.z));
            }
        }
    }
    if (low.x <= high.x) {
        cm_d3 size = cm_d3_sub(high, low);
        double spread = fmax(fmax(size.x, size.y), size.z);
        c->about = cm_d3_scale(0.5, cm_d3_add(low, high));
        c->reach =
            c->camera.kind == CM_VIEW_OBLIQUE ? 0.6 * fmax(size_of(&c->box), spread) : c->reach;
    }
}

static void draw_body(const cm_canvas *c, cm_svg *svg, const cm_moment *moment,
                      const cm_moment_body *body, uint32_t index)
{
    const int *fill = FILLS[index % (sizeof FILLS / sizeof FILLS[0])];
    if (body->state.type != CAROM_BODY_DYNAMIC) {
        fill = body->state.type == CAROM_BODY_STATIC ? STATIC_FILL : KINEMATIC_FILL;
    }
    cm_svg_group(svg, "class=\"body\"");
    for (uint32_t i = 0; i < body->shape_count; i++) {
        cm_outline outline;
        cm_outline_set(&outline, &moment->shapes[body->first_shape + i], body->state.position,
                       body->state.orientation);
        cm_outline_draw(svg, &outline, &c->camera, fill);
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

static void draw_bodies(const cm_canvas *c, cm_svg *svg, const cm_moment *moment)
{
    drawn *order = calloc(moment->body_count + 1, sizeof *order);
    if (order == NULL) {
        svg->failed = true;
        return;
    }
    for (uint32_t i = 0; i < moment->body_count; i++) {
        const carom_body_state *s = &moment->bodies[i].state;
        double depth = cm_camera_depth(&c->camera, cm_d3_from(s->center_of_mass));
        order[i] = (drawn){depth, i, s->type == CAROM_BODY_STATIC};
    }
    qsort(order, moment->body_count, sizeof *order, far_first);
    for (uint32_t i = 0; i < moment->body_count; i++) {
        draw_body(c, svg, moment, &moment->bodies[order[i].index], order[i].index);
    }
    free(order);
}

// The rectangle of a body on the page: left, top, right, bottom; false where it has none.
static bool page_box(const cm_canvas *c, const cm_moment *moment, const cm_moment_body *body,
                     double page[4])
{
    cm_box box = CM_BOX_EMPTY;
    if (body->state.type == CAROM_BODY_STATIC) {
        return false;
    }
    grow_by(moment, body, &c->camera, &box);
    page[0] = c->camera.x + c->camera.scale * box.left;
    page[1] = c->camera.y - c->camera.scale * box.high;
    page[2] = c->camera.x + c->camera.scale * box.right;
    page[3] = c->camera.y - c->camera.scale * box.low;
    return true;
}

static void draw_names(cm_canvas *c, cm_svg *svg, const cm_moment *moment)
{
    double page[4];
    if (!c->set->names || cm_movable_count(moment) > CM_MANY_BODIES) {
        return;
    }
    for (uint32_t i = 0; i < moment->body_count; i++) {
        if (page_box(c, moment, &moment->bodies[i], page)) {
            cm_labels_take(&c->labels, page[0], page[1], page[2], page[3]);
        }
    }
    for (uint32_t i = 0; i < moment->body_count; i++) {
        if (page_box(c, moment, &moment->bodies[i], page)) {
            cm_labels_put_far(&c->labels, svg, page, 11.0,
                              "fill=\"#222222\" class=\"name\" " CM_HALO, moment->bodies[i].name);
        }
    }
}

static void draw_scale(const cm_canvas *c, cm_svg *svg, double right, double bottom,
                       cm_labels *labels)
{
    double metres = cm_round_below(90.0 / c->camera.scale), px = metres * c->camera.scale;
    char text[32];
    double x = right - 12.0 - px, y = bottom - 14.0;
    const char *style = "stroke=\"#222222\" stroke-width=\"1.6\"";
    snprintf(text, sizeof text, "%g m", metres);
    cm_svg_line(svg, x, y, x + px, y, style);
    cm_svg_line(svg, x, y - 4.0, x, y + 4.0, style);
    cm_svg_line(svg, x + px, y - 4.0, x + px, y + 4.0, style);
    cm_svg_text(svg, x + 0.5 * px, y - 6.0, 11.0, "middle", "class=\"scale\" " CM_HALO, text);
    double half = fmax(0.5 * px, 0.5 * cm_text_width(text, 11.0));
    cm_labels_take(labels, x + 0.5 * px - half - 4.0, y - 20.0, right, bottom);
}

static void draw_tripod(const cm_canvas *c, cm_svg *svg, double left, double bottom,
                        cm_labels *labels)
{
    static const char *const NAME[3] = {"x", "y", "z"};
    bool down = c->camera.kind == CM_VIEW_SCREEN || c->camera.kind == CM_VIEW_XZ;
    double x = left + (c->camera.kind == CM_VIEW_ZY        ? 50.0
                       : c->camera.kind == CM_VIEW_OBLIQUE ? 30.0
                                                           : 18.0);
    double y = bottom - (down ? 50.0 : c->camera.kind == CM_VIEW_OBLIQUE ? 30.0 : 18.0);
    for (int k = 0; k < 3; k++) {
        const cm_d3 axis = {k == 0, k == 1, k == 2};
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

static void draw_picture(cm_canvas *c, cm_svg *svg, uint32_t index, double x, double y)
{
    const cm_picture *picture = &c->set->pictures[index];
    double top = y + HEADER, right = x + CM_PICTURE_WIDTH, bottom = top + CM_PICTURE_HEIGHT;
    char text[CM_LABEL_MAX + 96], clip[32], group[64];
    c->camera.x = x + 0.5 * CM_PICTURE_WIDTH - c->camera.scale * 0.5 * (c->box.left + c->box.right);
    c->camera.y =
        top + 0.5 * CM_PICTURE_HEIGHT + c->camera.scale * 0.5 * (c->box.low + c->box.high);
    snprintf(text, sizeof text, "%s: tick %llu, %.6g s", picture->title,
             (unsigned long long)picture->moment->tick, picture->moment->time);
    cm_svg_group(svg, "class=\"picture\"");
    cm_svg_text(svg, x, y + 21.0, 14.0, "start", "class=\"caption\" font-weight=\"bold\"", text);
    snprintf(clip, sizeof clip, "frame%u", (unsigned)index);
    snprintf(group, sizeof group, "clip-path=\"url(#%s)\"", clip);
    cm_svg_clip(svg, clip, x, top, CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT);
    cm_svg_rect(svg, x, top, CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT, "fill=\"#fcfcfc\"");
    cm_svg_group(svg, group);
    cm_planes_draw(c, svg, picture->moment);
    draw_bodies(c, svg, picture->moment);
    cm_joints_draw(c, svg, picture->moment);
    cm_svg_group_end(svg);
    cm_labels_open(&c->labels, x + 2.0, top + 2.0, right - 2.0, bottom - 2.0);
    draw_scale(c, svg, right, bottom, &c->labels);
    draw_tripod(c, svg, x, bottom, &c->labels);
    cm_svg_group(svg, group);
    cm_arrows_draw(c, svg, picture->moment);
    cm_svg_group_end(svg);
    draw_names(c, svg, picture->moment);
    cm_svg_rect(svg, x, top, CM_PICTURE_WIDTH, CM_PICTURE_HEIGHT,
                "fill=\"none\" stroke=\"#555555\"");
    if (cm_movable_count(picture->moment) > CM_MANY_BODIES) {
        snprintf(text, sizeof text, "above %u bodies: the %u strongest arrows of a kind, no names",
                 CM_MANY_BODIES, CM_STRONGEST_ARROWS);
        cm_svg_text(svg, right, y + 21.0, 10.0, "end", "fill=\"#777777\"", text);
    } else if (c->labels.left_out > 0) {
        snprintf(text, sizeof text, "%u texts had no room", (unsigned)c->labels.left_out);
        cm_svg_text(svg, right, y + 21.0, 10.0, "end", "fill=\"#777777\"", text);
    }
    cm_svg_group_end(svg);
}

double cm_pictures_draw(cm_svg *svg, const cm_picture_set *set, double x, double y)
{
    cm_canvas c = {.set = set};
    cm_camera_set(&c.camera, set->view);
    find_box(&c);
    find_middle(&c);
    cm_arrows_measure(&c);
    for (uint32_t i = 0; i < set->count; i++) {
        draw_picture(&c, svg, i, x + (i % set->columns) * (CM_PICTURE_WIDTH + GAP),
                     y + (i / set->columns) * (CM_PICTURE_HEIGHT + HEADER + GAP));
    }
    double below = y + cm_pictures_height(set) - CM_PICTURE_LEGEND;
    double end = cm_joints_legend(&c, svg, cm_arrows_legend(&c, svg, x, below), below);
    return fmax(end, x + cm_pictures_width(set));
}
