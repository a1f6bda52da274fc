// Warnings of what a scene's world will not stand, each with its figure (strength.h): loads on
// chains of joints, heavy bodies that may lie on light ones, stacks of small things at low rates,
// and bodies that pass through others. Of each kind the worst is told.
//
// Joints are walked as a forest whose roots never move; a joint carries what hangs below it. A
// joint that closes a loop carries nothing here, and what hangs on nothing is left out. Typical:
// 400 bodies, 40 joints, 20 us; a pair of bodies
// takes 5 ns.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/scene/message.h"
#include "shared/scene/strength.h"

#define PART_SHARE  0.05    // of a link's length, by which joints may part
#define SINK_SHARE  0.1     // of a size
#define STACK_LEAST 4.0     // things that stand on one another
#define APART       4.0     // times beyond what it bears: told of wherever the heavy body is
#define PAIRS_MAX   1000000 // that are looked at
#define NONE        UINT32_MAX

typedef struct kind {
    uint32_t body;
    double mass, size, speed; // kg, 0: nothing pushes it; m, the least of its thickest shape; m/s
    const carom_shape_def *shape; // that one
    carom_vec3 center;
    float reach;   // m
    bool repeated; // as two others of its array, which stand for all that is no matter of place
} kind;

typedef struct node {
    double mass, carried, length; // kg, kg with what hangs on it, m; mass 0: it never moves
    uint32_t parent, joint;       // NONE: a root, or not reached
    uint32_t top;                 // the first body of all that hangs together
    bool rows;                    // of a top: its joints are solved one after another
    carom_vec3 out;               // where the heaviest of what hangs on it is held
    double out_mass;
} node;

typedef struct loads {
    const cm_scene *scene;
    const carom_world *world;
    cm_strength strength;
    cm_scene_error *warnings;
    uint32_t capacity, count;
} loads;

static uint32_t more_substeps(const cm_strength *s)
{
    uint32_t open = s->solver == CAROM_SOLVER_LCP ? 16 : 4;
    uint32_t now = s->substeps > 0 ? s->substeps : open;
    return 2 * now > CAROM_SUBSTEPS_MAX ? CAROM_SUBSTEPS_MAX : 2 * now;
}

static cm_scene_error *warn(loads *l)
{
    return l->count < l->capacity ? &l->warnings[l->count++] : NULL;
}

// "8 substeps". Left open they follow from what lies on what; joints of the soft solver get 4.
static void tell_substeps(const cm_strength *s, bool joints, char *text, size_t size)
{
    if (s->substeps == 0 && !(joints && s->solver == CAROM_SOLVER_SOFT)) {
        snprintf(text, size, "substeps left open");
    } else {
        snprintf(text, size, "%u substeps", (unsigned)(s->substeps > 0 ? s->substeps : 4));
    }
}

// Joints --------------------------------------------------------------------------------------

static bool carries(const Cm__Scene__Joint *joint)
{
    bool soft = joint->spring != NULL && (joint->type == CM__SCENE__JOINT__TYPE__FIXED ||
                                          joint->type == CM__SCENE__JOINT__TYPE__DISTANCE);
    return joint->type != CM__SCENE__JOINT__TYPE__MOTOR && !soft;
}

// The other end of a joint; NONE where both are one root.
static uint32_t other_end(const cm_scene_joint *joint, uint32_t body)
{
    return joint->a == body ? joint->b : joint->a;
}

// Bodies by their distance from what never moves; returns how many are reached.
static uint32_t walk(const cm_scene *scene, node *nodes, uint32_t *order, uint32_t *first,
                     uint32_t *arcs)
{
    uint32_t count = 0, bodies = scene->body_count;
    for (uint32_t i = 0; i < scene->joint_count; i++) {
        const cm_scene_joint *joint = &scene->joints[i];
        bool rooted = joint->a == CM_SCENE_NO_BODY && carries(joint->source);
        if (rooted && nodes[joint->b].mass > 0.0 && nodes[joint->b].joint == NONE) {
            nodes[joint->b].joint = i;
            order[count++] = joint->b;
        }
        first[joint->b + 1] += 1;
        first[joint->a == CM_SCENE_NO_BODY ? bodies + 1 : joint->a + 1] += 1;
    }
    for (uint32_t i = 0; i <= bodies; i++) {
        first[i + 1] += first[i];
    }
    for (uint32_t i = scene->joint_count; i-- > 0;) {
        const cm_scene_joint *joint = &scene->joints[i];
        arcs[--first[joint->b + 1]] = i;
        arcs[--first[joint->a == CM_SCENE_NO_BODY ? bodies + 1 : joint->a + 1]] = i;
    }
    for (uint32_t i = 0; i < bodies; i++) {
        if (nodes[i].mass == 0.0) {
            order[count++] = i;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t body = order[at], end = first[body + 2];
        for (uint32_t k = first[body + 1]; k < end; k++) {
            uint32_t child = other_end(&scene->joints[arcs[k]], body);
            if (child != CM_SCENE_NO_BODY && nodes[child].mass > 0.0 &&
                nodes[child].joint == NONE && carries(scene->joints[arcs[k]].source)) {
                nodes[child].joint = arcs[k];
                nodes[child].parent = body;
                nodes[child].top = nodes[body].mass > 0.0 ? nodes[body].top : child;
                order[count++] = child;
            }
        }
    }
    return count;
}

// Trees of joints are solved at once (soft/joint_tree.c), and bridges; locked axes and other loops
// make rows of all that hangs together.
static void find_rows(const cm_scene *scene, node *nodes)
{
    for (uint32_t i = 0; i < scene->joint_count; i++) {
        const cm_scene_joint *joint = &scene->joints[i];
        bool held = joint->a == CM_SCENE_NO_BODY;
        node *b = &nodes[joint->b], *a = held ? b : &nodes[joint->a];
        bool in_tree = b->joint == i || a->joint == i;
        bool bridge = held || a->mass == 0.0 || b->mass == 0.0 || a->top != b->top;
        bool locked = scene->bodies[joint->b].source->n_axis_locks > 0 ||
                      (!held && scene->bodies[joint->a].source->n_axis_locks > 0);
        if (locked || (!in_tree && !bridge)) {
            nodes[a->top].rows = nodes[b->top].rows = true;
        }
    }
}

static carom_vec3 anchor_of(const loads *l, uint32_t joint)
{
    carom_joint_state state;
    bool there =
        carom_joint_get(l->world, carom_world_joint_at(l->world, joint), &state) == CAROM_OK;
    return there ? state.anchor_b : cm_vec(0.0f, 0.0f, 0.0f);
}

// Sums the mass that hangs on each, and measures each link: from the joint above to the one below,
// twice as far as its centre of mass where it is the last.
static void sum_loads(const loads *l, node *nodes, const uint32_t *order, uint32_t count)
{
    for (uint32_t at = count; at-- > 0;) {
        node *n = &nodes[order[at]];
        if (n->joint == NONE) {
            continue;
        }
        carom_body_state state;
        carom_vec3 in = anchor_of(l, n->joint), out = n->out;
        if (n->out_mass == 0.0 && carom_body_get(l->world, carom_world_body_at(l->world, order[at]),
                                                 &state) == CAROM_OK) {
            out = cm_add(state.center_of_mass, cm_sub(state.center_of_mass, in));
        }
        n->length = (double)cm_length(cm_sub(out, in));
        n->carried += n->mass;
        if (n->parent != NONE) {
            node *parent = &nodes[n->parent];
            parent->carried += n->carried;
            if (n->carried > parent->out_mass) {
                parent->out_mass = n->carried;
                parent->out = in;
            }
        }
    }
}

// The share of its limit that a joint is at, above 1 where it will not stand; and the figures.
static double judge(const cm_strength *s, const node *nodes, const node *n, double *stretch,
                    double *bears, double *links)
{
    bool plain = !nodes[n->top].rows;
    const node *parent = n->parent != NONE ? &nodes[n->parent] : n;
    double above = n->parent != NONE && parent->mass > 0.0 ? 1.0 / parent->mass : 0.0;
    const node *light = above > 0.0 && parent->mass < n->mass ? parent : n;
    *stretch = cm_strength_stretch(s, n->carried * (above + 1.0 / n->mass), plain);
    *links = n->carried / light->mass;
    *bears = cm_strength_load(s, light->length, plain);
    bool swings = light->length > 1e-4 && *links > 3.0; // else nothing is flung
    return fmax(*stretch / fmax(PART_SHARE * light->length, 1e-3), swings ? *links / *bears : 0.0);
}

static void tell_chain(loads *l, const node *nodes, const node *n)
{
    double stretch, bears, links, then, most, unused;
    char now[64];
    cm_strength more = l->strength;
    cm_scene_error *warning = warn(l);
    if (warning == NULL) {
        return;
    }
    judge(&l->strength, nodes, n, &stretch, &bears, &links);
    more.substeps = more_substeps(&more);
    judge(&more, nodes, n, &then, &most, &unused);
    tell_substeps(&l->strength, true, now, sizeof now);
    snprintf(warning->path, sizeof warning->path, "$.joints[%u]", (unsigned)n->joint);
    if (links > bears) {
        snprintf(warning->message, sizeof warning->message,
                 "a load of %.3g links (%.3g kg) tears this chain at %s, which bears %.3g links as "
                 "it swings; %u substeps: %.3g, expected heavier links or more substeps",
                 links, n->carried, now, bears, (unsigned)more.substeps, most);
    } else {
        snprintf(warning->message, sizeof warning->message,
                 "a load of %.3g links (%.3g kg) at %s stretches this joint by %.3g mm as it "
                 "swings; %u substeps: %.3g mm, expected heavier links or more substeps",
                 links, n->carried, now, 1e3 * stretch, (unsigned)more.substeps, 1e3 * then);
    }
}

static void find_chains(loads *l, node *nodes, uint32_t *order, uint32_t *first, uint32_t *arcs)
{
    uint32_t count = walk(l->scene, nodes, order, first, arcs), worst = NONE;
    double most = 1.0;
    sum_loads(l, nodes, order, count);
    find_rows(l->scene, nodes);
    for (uint32_t at = 0; at < count; at++) {
        const node *n = &nodes[order[at]];
        double stretch, bears, links;
        if (n->joint == NONE) {
            continue;
        }
        double beyond = judge(&l->strength, nodes, n, &stretch, &bears, &links);
        if (beyond > most) {
            most = beyond;
            worst = order[at];
        }
    }
    if (worst != NONE) {
        tell_chain(l, nodes, &nodes[worst]);
    }
}

static void check_chains(loads *l)
{
    uint32_t bodies = l->scene->body_count, joints = l->scene->joint_count;
    bool has_joints =
        l->strength.solver == CAROM_SOLVER_SOFT || l->strength.solver == CAROM_SOLVER_LCP;
    if (joints == 0 || !has_joints || l->strength.gravity == 0.0) {
        return;
    }
    node *nodes = calloc(bodies, sizeof *nodes);
    uint32_t *order = calloc(2 * (size_t)bodies + 3 + 2 * (size_t)joints, sizeof *order);
    for (uint32_t i = 0; nodes != NULL && i < bodies; i++) {
        carom_body_state state;
        bool there = carom_body_get(l->world, carom_world_body_at(l->world, i), &state) == CAROM_OK;
        bool moves = there && state.type == CAROM_BODY_DYNAMIC;
        nodes[i] = (node){
            .parent = NONE, .joint = NONE, .top = i, .mass = moves ? (double)state.mass : 0.0};
    }
    if (nodes != NULL && order != NULL) {
        find_chains(l, nodes, order, order + bodies, order + 2 * (size_t)bodies + 3);
    }
    free(nodes);
    free(order);
}

// Bodies --------------------------------------------------------------------------------------

static bool collide(const carom_shape_def *a, const carom_shape_def *b)
{
    if (a->group == b->group && a->group != 0) {
        return a->group > 0;
    }
    return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

static bool read_kind(const loads *l, uint32_t index, kind *k)
{
    const cm_scene_body *body = &l->scene->bodies[index];
    carom_body_state state;
    if (carom_body_get(l->world, carom_world_body_at(l->world, index), &state) != CAROM_OK) {
        return false;
    }
    *k = (kind){.body = index,
                .mass = state.type == CAROM_BODY_DYNAMIC ? (double)state.mass : 0.0,
                .center = state.center_of_mass,
                .speed = (double)cm_length(state.linear_velocity)};
    for (size_t i = 0; i < body->source->n_shapes; i++) {
        double size = body->shapes[i].sensor ? 0.0 : 2.0 * (double)cm_shape_least(&body->shapes[i]);
        if (size > k->size) {
            k->size = size;
            k->shape = &body->shapes[i];
            k->reach = cm_length(body->shapes[i].half_extents);
            if (k->shape->type != CAROM_SHAPE_BOX) {
                k->reach = k->shape->radius + k->shape->half_height;
            }
        }
    }
    return k->shape != NULL;
}

// `heavy` is over `light`, or is so heavy that it had better never be.
static bool may_press(const loads *l, const kind *heavy, const kind *light, double beyond)
{
    carom_vec3 up = cm_scale(-1.0f, cm_normalize(carom_world_gravity(l->world)));
    carom_vec3 apart = cm_sub(heavy->center, light->center);
    float height = cm_dot(apart, up);
    float aside = cm_length(cm_sub(apart, cm_scale(height, up)));
    bool above = height > 0.0f && aside < heavy->reach + light->reach;
    return (above || beyond > APART) && collide(heavy->shape, light->shape);
}

static int lighter_first(const void *a, const void *b)
{
    const kind *x = a, *y = b;
    return x->mass != y->mass ? (x->mass < y->mass ? -1 : 1) : (x->body < y->body ? -1 : 1);
}

static void check_weights(loads *l, const kind *kinds, uint32_t count)
{
    const kind *light = NULL, *heavy = NULL;
    double most = 1.0;
    uint32_t looked = 0;
    for (uint32_t i = 0; i < count; i++) {
        // A round body rolls away from under a load.
        bool flat = kinds[i].mass > 0.0 && (kinds[i].shape->type == CAROM_SHAPE_BOX ||
                                            kinds[i].shape->type == CAROM_SHAPE_CYLINDER);
        double bears = flat ? cm_strength_weight(&l->strength, kinds[i].size) : 0.0;
        for (uint32_t k = count; bears > 0.0 && k-- > i + 1 && looked++ < PAIRS_MAX;) {
            double ratio = kinds[k].mass / kinds[i].mass;
            double sink = cm_strength_sink(&l->strength, kinds[i].size, ratio);
            double beyond = fmax(ratio / bears, sink / (SINK_SHARE * kinds[i].size));
            if (beyond <= most) {
                break; // those below are lighter
            }
            if (may_press(l, &kinds[k], &kinds[i], beyond)) {
                most = beyond;
                light = &kinds[i];
                heavy = &kinds[k];
                break;
            }
        }
    }
    cm_scene_error *warning = light != NULL ? warn(l) : NULL;
    if (warning == NULL) {
        return;
    }
    char now[64];
    double ratio = heavy->mass / light->mass;
    double bears = cm_strength_weight(&l->strength, light->size);
    double sink = cm_strength_sink(&l->strength, light->size, ratio);
    tell_substeps(&l->strength, false, now, sizeof now);
    cm_scene_body_path(l->scene, light->body, warning->path, sizeof warning->path);
    snprintf(
        warning->message, sizeof warning->message,
        "'%.48s' is %.3g times as heavy and %s this by %.3g mm where it lies on it (%s), which "
        "bears %.3g times its mass, expected masses nearer to each other%s",
        l->scene->bodies[heavy->body].name, ratio, ratio > bears ? "presses through" : "sinks",
        1e3 * fmin(sink, light->size), now, bears,
        l->strength.substeps > 0 ? " or substeps left open" : " or a higher tick rate");
}

static void check_stacks(loads *l, const kind *kinds, uint32_t count)
{
    const kind *least = NULL;
    uint32_t moving = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kinds[i].mass > 0.0) {
            moving += 1;
            least = least == NULL || kinds[i].size < least->size ? &kinds[i] : least;
        }
    }
    double stack = least != NULL ? cm_strength_stack(&l->strength, least->size) : STACK_LEAST;
    cm_scene_error *warning = moving > 1 && stack < STACK_LEAST ? warn(l) : NULL;
    if (warning != NULL) {
        cm_strength more = l->strength;
        more.rate *= 4.0;
        cm_scene_body_path(l->scene, least->body, warning->path, sizeof warning->path);
        snprintf(warning->message, sizeof warning->message,
                 "of things of %.3g mm %.1f stand on one another at %g Hz; %.1f at %g Hz, expected "
                 "larger bodies or a higher tick rate",
                 1e3 * least->size, stack, l->strength.rate, cm_strength_stack(&more, least->size),
                 more.rate);
    }
}

static void check_speeds(loads *l, const kind *kinds, uint32_t count)
{
    const kind *fast = NULL, *wall = NULL;
    double most = 1.0;
    for (uint32_t i = 0, looked = 0; i < count; i++) {
        bool asks = kinds[i].speed > 0.0 && !kinds[i].repeated;
        for (uint32_t k = 0; asks && k < count && looked++ < PAIRS_MAX; k++) {
            double speed = cm_strength_speed(&l->strength, kinds[i].size, kinds[k].size);
            bool meets = (kinds[i].mass > 0.0 || kinds[k].mass > 0.0) && i != k &&
                         !kinds[k].repeated && collide(kinds[i].shape, kinds[k].shape);
            if (meets && kinds[i].speed / speed > most) {
                most = kinds[i].speed / speed;
                fast = &kinds[i];
                wall = &kinds[k];
            }
        }
    }
    cm_scene_error *warning = fast != NULL ? warn(l) : NULL;
    if (warning != NULL) {
        cm_scene_body_path(l->scene, fast->body, warning->path, sizeof warning->path);
        snprintf(warning->message, sizeof warning->message,
                 "moves %.3g m in a tick and passes through '%.48s', %.3g m thick, from %.3g m/s "
                 "on, expected it slower or a tick rate of %.0f",
                 fast->speed / l->strength.rate, l->scene->bodies[wall->body].name, wall->size,
                 cm_strength_speed(&l->strength, fast->size, wall->size),
                 ceil(most * l->strength.rate));
    }
}

uint32_t cm_scene_loads(const cm_scene *scene, const carom_world *world, int solver,
                        cm_scene_error *warnings, uint32_t capacity)
{
    carom_world_def def;
    cm_scene_world_def_with(scene, solver, &def);
    loads l = {scene, world, cm_strength_of(&def), warnings, capacity, 0};
    memset(warnings, 0, capacity * sizeof *warnings);
    check_chains(&l);
    kind *kinds = calloc(scene->body_count + 1, sizeof *kinds);
    uint32_t count = 0;
    for (uint32_t i = 0; kinds != NULL && i < scene->body_count; i++) {
        if (read_kind(&l, i, &kinds[count])) {
            kinds[count++].repeated =
                i > 1 && scene->bodies[i].source == scene->bodies[i - 2].source;
        }
    }
    if (kinds != NULL) {
        qsort(kinds, count, sizeof *kinds, lighter_first);
        if (def.solver.type == CAROM_SOLVER_SOFT && l.strength.gravity > 0.0) {
            check_weights(&l, kinds, count);
            check_stacks(&l, kinds, count);
        }
        check_speeds(&l, kinds, count);
    }
    free(kinds);
    return l.count;
}
