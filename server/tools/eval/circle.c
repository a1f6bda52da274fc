// `carom eval circle`: two circles (every quantity of the article's steps), or a list of them run
// for frames.

#include "carom/impact.h"
#include "server/tools/eval/eval.h"

#define LARGE       1.0e30
#define CIRCLES_MAX 256u
#define FRAMES_MAX  100000.0
#define HITS_MAX    10000u

static const char TEXT[] =
    "  a, b          circles: {\"position\": [x, y], \"velocity\": [x, y], \"radius\", \"mass\"\n"
    "                (pi radius^2)}\n"
    "  e             restitution, 0..1 (or \"restitution\"); 1\n"
    "  pixel         the hit test rounds the gap to whole pixels: hit where gap / pixel <= -0.5;\n"
    "                0: hit where gap < 0, without rounding; 1\n"
    "  form          \"scalar\" (default) or \"vector\": step 5 on vectors\n"
    "  out: hit, collides (they approached), ab, n (from a to b), gap, a and b after {position,\n"
    "  velocity}; on a hit as, bs, avx, avy, bvx, bvy, as2, bs2, avx2, bvx2, and mirror_a,\n"
    "  mirror_b: what a mirror would do, for contrast.\n"
    "  Or circles: [..] and frames: n instead of a and b. Each frame every pair i < j in order\n"
    "  collides, then all circles move by their velocity. out: hits [{frame, pairs}], circles.\n"
    "  example: {\"a\": {\"position\": [260, 208], \"velocity\": [76, -112], \"radius\": 150},\n"
    "            \"b\": {\"position\": [558.4, 192], \"velocity\": [-94.4, -96], \"radius\": "
    "150},\n"
    "            \"e\": 0.8}\n"
    "  gives \"velocity\": [-77.690253925707196, -103.7592357144393]\n";

static void read_circle(cm_eval *eval, const cm_json_value *json, carom_circle *circle)
{
    cm_json_numbers(&eval->in, json, "position", 2, 2, false, circle->position);
    cm_json_numbers(&eval->in, json, "velocity", 2, 2, true, circle->velocity);
    circle->radius = cm_json_number(&eval->in, json, "radius", 1.0e-30, LARGE, NULL);
    double disc = 3.14159265358979323846 * circle->radius * circle->radius;
    circle->mass = cm_json_number(&eval->in, json, "mass", 1.0e-30, LARGE, &disc);
    cm_json_end_keys(&eval->in, json, "position|velocity|radius|mass", CM_EVAL_HELP);
}

static void out_circle(cm_eval *eval, const char *key, const carom_circle *circle)
{
    cm_out_object(eval, key);
    cm_out_numbers(eval, "position", circle->position, 2);
    cm_out_numbers(eval, "velocity", circle->velocity, 2);
    cm_out_end(eval);
}

static void run_pair(cm_eval *eval, const cm_json_value *root, double e, double pixel, bool vectors)
{
    carom_circle a = {0}, b = {0};
    read_circle(eval, cm_json_enter_object(&eval->in, root, "a"), &a);
    cm_json_leave(&eval->in);
    read_circle(eval, cm_json_enter_object(&eval->in, root, "b"), &b);
    cm_json_leave(&eval->in);
    if (cm_json_failed(&eval->in)) {
        return;
    }
    carom_circle_impact c;
    carom_result result =
        (vectors ? carom_circle_collide_vectors : carom_circle_collide)(&a, &b, e, pixel, &c);
    if (result != CAROM_OK) {
        cm_json_fail(&eval->in, NULL, "%s", carom_result_text(result));
        return;
    }
    cm_out_bool(eval, "hit", c.hit);
    cm_out_bool(eval, "collides", c.collided);
    cm_out_numbers(eval, "ab", c.ab, 2);
    cm_out_numbers(eval, "n", c.n, 2);
    cm_out_number(eval, "gap", c.gap);
    out_circle(eval, "a", &c.a);
    out_circle(eval, "b", &c.b);
    if (!c.hit) {
        return;
    }
    double mirror_a[2], mirror_b[2];
    carom_circle_mirror(a.velocity, c.n, mirror_a);
    carom_circle_mirror(b.velocity, c.n, mirror_b);
    cm_out_number(eval, "as", c.as);
    cm_out_number(eval, "bs", c.bs);
    cm_out_numbers(eval, "avx", c.avx, 2);
    cm_out_numbers(eval, "avy", c.avy, 2);
    cm_out_numbers(eval, "bvx", c.bvx, 2);
    cm_out_numbers(eval, "bvy", c.bvy, 2);
    cm_out_number(eval, "as2", c.as2);
    cm_out_number(eval, "bs2", c.bs2);
    cm_out_numbers(eval, "avx2", c.avx2, 2);
    cm_out_numbers(eval, "bvx2", c.bvx2, 2);
    cm_out_numbers(eval, "mirror_a", mirror_a, 2);
    cm_out_numbers(eval, "mirror_b", mirror_b, 2);
}

static void run_frames(cm_eval *eval, const cm_json_value *root, double e, double pixel)
{
    static carom_circle circles[CIRCLES_MAX];
    uint32_t count, listed = 0;
    uint32_t frames = (uint32_t)cm_json_number(&eval->in, root, "frames", 0.0, FRAMES_MAX, NULL);
    const cm_json_value *array = cm_json_enter_array(&eval->in, root, "circles", &count);
    if (array != NULL && count > CIRCLES_MAX) {
        cm_json_fail(&eval->in, NULL, "%u circles, expected at most %u", (unsigned)count,
                     CIRCLES_MAX);
    }
    for (uint32_t i = 0; i < count && !cm_json_failed(&eval->in); i++) {
        read_circle(eval, cm_json_enter_item(&eval->in, array, i), &circles[i]);
        cm_json_leave(&eval->in);
    }
    cm_json_leave(&eval->in);
    if (cm_json_failed(&eval->in)) {
        return;
    }
    cm_out_array(eval, "hits");
    for (uint32_t frame = 0; frame < frames; frame++) {
        uint32_t pairs = carom_circle_frame(circles, count, e, pixel);
        if (pairs > 0 && listed++ < HITS_MAX) {
            cm_out_object(eval, NULL);
            cm_out_number(eval, "frame", frame);
            cm_out_number(eval, "pairs", pairs);
            cm_out_end(eval);
        }
    }
    cm_out_end(eval);
    cm_out_array(eval, "circles");
    for (uint32_t i = 0; i < count; i++) {
        out_circle(eval, NULL, &circles[i]);
    }
    cm_out_end(eval);
}

static void run(cm_eval *eval, const cm_json_value *root)
{
    const double whole = 1.0;
    const char *name = cm_json_name(&eval->in, root, "e", "restitution");
    double e = cm_json_number(&eval->in, root, name, 0.0, 1.0, &whole);
    double pixel = cm_json_number(&eval->in, root, "pixel", 0.0, LARGE, &whole);
    if (cm_json_has(root, "circles")) {
        cm_json_end_keys(&eval->in, root, "circles|frames|e|restitution|pixel", CM_EVAL_HELP);
        run_frames(eval, root, e, pixel);
        return;
    }
    bool vectors = cm_json_choice(&eval->in, root, "form", "scalar|vector") == 1;
    cm_json_end_keys(&eval->in, root, "a|b|e|restitution|pixel|form", CM_EVAL_HELP);
    run_pair(eval, root, e, pixel, vectors);
}

const cm_eval_case cm_eval_circle_case = {
    "circle", "circles that collide in the plane (zenn.dev article of 2023)", TEXT, run};
