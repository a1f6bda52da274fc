// The same motion seen otherwise is the same motion: in a mirror, turned about the vertical, far
// from the origin, from a floor that moves on evenly (Galilei, "Dialogo", 1632, the second day),
// and with the bodies listed in another order. Three bodies: a box that lands and slides, a ball
// that strikes it from above, and a cylinder that rolls along; with joints where there are any, a
// pendulum of two rods. In the impulse solver, which has one point a pair and tick, balls alone: a
// box that lands on an edge goes one way or the other.
#include "tests/physics/physics.h"

typedef enum view { PLAIN, MIRROR, TURNED, FAR, MOVING, LISTED, VIEWS } view;

enum { BODIES = 5 };

typedef struct scene {
    view view;
    double angle, far; // TURNED, FAR
    carom_vec3 v;      // MOVING
} scene;

static carom_quat about_y(double angle)
{
    return (carom_quat){0, (float)sin(0.5 * angle), 0, (float)cos(0.5 * angle)};
}

// A vector of the plain scene in another view; `axial`: an angular velocity.
static carom_vec3 seen(const scene *s, carom_vec3 a, bool axial)
{
    if (s->view == MIRROR) {
        return axial ? cm_vec(a.x, -a.y, -a.z) : cm_vec(-a.x, a.y, a.z);
    }
    return s->view == TURNED ? cm_rotate(about_y(s->angle), a) : a;
}

static carom_vec3 origin(const scene *s, double t)
{
    if (s->view == FAR) {
        return cm_vec((float)s->far, 0, (float)-s->far);
    }
    return s->view == MOVING ? cm_scale((float)t, s->v) : cm_vec(0, 0, 0);
}

static carom_quat seen_turn(const scene *s, carom_quat q)
{
    if (s->view == MIRROR) {
        return (carom_quat){q.x, -q.y, -q.z, q.w};
    }
    return s->view == TURNED ? cm_quat_mul(about_y(s->angle), q) : q;
}

static carom_body_id add(cm_lab *lab, const scene *s, carom_shape_def *shape, carom_vec3 at,
                         carom_quat q, carom_vec3 v, carom_vec3 w)
{
    carom_body_def body = carom_default_body_def();
    body.position = cm_add(seen(s, at, false), origin(s, 0.0));
    body.orientation = seen_turn(s, q);
    body.linear_velocity = seen(s, v, false);
    body.angular_velocity = seen(s, w, true);
    if (s->view == MOVING) {
        body.linear_velocity = cm_add(body.linear_velocity, s->v);
    }
    return cm_lab_add(lab, &body, shape);
}

static void add_floor(cm_lab *lab, const scene *s)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = s->view == MOVING ? CAROM_BODY_KINEMATIC : CAROM_BODY_STATIC;
    body.position = cm_add(cm_vec(0, -1, 0), origin(s, 0.0));
    body.linear_velocity = s->view == MOVING ? s->v : cm_vec(0, 0, 0);
    body.orientation = seen_turn(s, cm_quat_identity());
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(30, 1, 30);
    shape.friction = 1.0f;
    cm_lab_add(lab, &body, &shape);
}

// The bodies by number, whatever the order in which they are made.
static void build(cm_lab *lab, const scene *s, cm_case c, carom_body_id ids[BODIES])
{
    float half = (float)cm_draw(&c, 0.1, 0.5), u = 0.70710678f;
    bool joints = c.solver == CAROM_SOLVER_SOFT || c.solver == CAROM_SOLVER_LCP;
    lab->surface.friction = 0.5f;
    lab->surface.restitution = 0.3f;
    lab->surface.density = (float)cm_draw(&c, 200.0, 2000.0);
    float slide = (float)cm_draw(&c, 0.5, 3.0), roll = (float)cm_draw(&c, 0.5, 3.0);
    float turn = (float)cm_draw(&c, -1.0, 1.0), off = 0.5f * half * (float)cm_draw(&c, -1.0, 1.0);
    for (int k = 0; k < BODIES; k++) {
        int i = s->view == LISTED ? (3 * k + 2) % BODIES : k;
        carom_shape_def shape = cm_lab_shape(lab, CAROM_SHAPE_BOX);
        shape.half_extents = cm_vec(half, half, half);
        shape.radius = 0.5f * half;
        shape.half_height = half;
        carom_vec3 none = cm_vec(0, 0, 0);
        if (i == 0) {
            shape.type = c.solver == CAROM_SOLVER_IMPULSE ? CAROM_SHAPE_SPHERE : shape.type;
            shape.radius = half;
            ids[i] = add(lab, s, &shape, cm_vec(0, 1.2f * half, 0), about_y((double)turn),
                         cm_vec(slide, 0, 0.3f * slide), none);
        } else if (i == 1) {
            shape.type = CAROM_SHAPE_SPHERE;
            ids[i] = add(lab, s, &shape, cm_vec(off, 3.5f * half, off), cm_quat_identity(),
                         cm_vec(slide, -1, 0.3f * slide), cm_vec(1, 2, 3));
        } else if (i == 2) {
            shape.type =
                c.solver == CAROM_SOLVER_IMPULSE ? CAROM_SHAPE_SPHERE : CAROM_SHAPE_CYLINDER;
            ids[i] = add(lab, s, &shape, cm_vec(-6.0f * half, 0.5f * half, 8.0f * half),
                         (carom_quat){u, 0, 0, u}, cm_vec(roll, 0, 0),
                         cm_vec(0, 0, -roll / (0.5f * half)));
        } else {
            shape.half_extents = cm_vec(half, 0.2f * half, 0.2f * half);
            ids[i] = add(lab, s, &shape,
                         cm_vec(((float)i * 2.2f - 12.0f) * half, 10.0f * half, -10.0f * half),
                         cm_quat_identity(), none, none);
        }
    }
    for (int i = 3; i < BODIES && joints; i++) { // of a ball joint at -x, 3 on the floor
        carom_joint_def joint = carom_default_joint_def();
        carom_vec3 at = cm_vec(((float)i * 2.2f - 13.1f) * half, 10.0f * half, -10.0f * half);
        joint.body_a = i == 3 ? carom_world_body_at(lab->world, 0) : ids[3];
        joint.body_b = ids[i];
        joint.anchor = cm_add(seen(s, at, false), origin(s, 0.0));
        cm_lab_join(lab, &joint);
    }
}

static void run(cm_case *c, const scene *s, double seconds, carom_vec3 at[BODIES])
{
    carom_world_def def = cm_case_def(c, 16);
    cm_lab lab = cm_lab_open(&def);
    carom_body_id ids[BODIES];
    add_floor(&lab, s);
    build(&lab, s, *c, ids);
    cm_lab_run(&lab, seconds);
    for (int i = 0; i < BODIES; i++) {
        at[i] = cm_sub(cm_lab_get(&lab, ids[i]).position,
                       origin(s, round(seconds * c->rate) / c->rate));
    }
    cm_lab_close(&lab);
}

// m: rounding of a binary32 far away, and what a blow makes of it.
static double allowed(const cm_case *c, const scene *s)
{
    (void)c;
    return s->view == FAR ? 0.02 : 0.01;
}

cm_law(invariance, same_motion_seen_otherwise, ALL_SOLVERS, 2, 40)
{
    static const char *const names[] = {"plain",    "in a mirror",     "turned",
                                        "far away", "from what moves", "listed otherwise"};
    cm_case draws = *c;
    scene s = {.angle = cm_draw(&draws, 0.1, 6.0), .far = cm_draw(&draws, 100.0, 500.0)};
    s.v = cm_vec((float)cm_draw(&draws, -5.0, 5.0), 0, (float)cm_draw(&draws, -5.0, 5.0));
    carom_vec3 plain[BODIES], other[BODIES];
    run(c, &s, 1.0, plain);
    for (s.view = MIRROR; s.view < VIEWS; s.view++) {
        run(c, &s, 1.0, other);
        double worst = 0.0;
        for (int i = 0; i < BODIES; i++) {
            worst = fmax(worst, (double)cm_length(cm_sub(other[i], seen(&s, plain[i], false))));
        }
        cm_within(worst, 0.0, allowed(c, &s), "m off after 1 s, %s", names[s.view]);
    }
}
