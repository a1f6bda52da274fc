// `carom eval impact`: a case of carom/impact.h with two bodies. Names are the patent's letters;
// each has the name that scene files use as well.
#include <math.h>

#include "carom/impact.h"
#include "server/tools/eval/eval.h"

#define LARGE    1.0e30
#define MAP_SIDE 101.0
#define UNEVEN   1.0e-9 // of the trace: rounding by the tensor's author

static const char TEXT[] =
    "  model         \"interpolated\" (default; JP3308685B2) or \"normal\" (saharan 2012: no "
    "friction)\n"
    "  bodies        two objects:\n"
    "    M           mass, kg\n"
    "    I           inertia about the centre of mass in body axes, kg m^2: a number (alike about\n"
    "                all axes), [xx, yy, zz] or [[...], [...], [...]]\n"
    "    O           centre of mass, m, [0, 0, 0]\n"
    "    V           velocity, m/s, [0, 0, 0]\n"
    "    S           attitude, rows of the matrix body -> world, or quaternion [x, y, z, w];\n"
    "                identity\n"
    "    W           angular velocity in body axes, rad/s (a number: about z); 0\n"
    "    mu, epsilon friction and restitution of the body, 0..1: where the pair has none\n"
    "    R           contact point from the centre of mass in body axes, m: instead of O and P\n"
    "    immovable   true: 1/M = 0, I^-1 = 0 (M and I are not read); false\n"
    "  P             contact point, m (not with R)\n"
    "  N             direction of the contact normal, either way round\n"
    "  mu, epsilon   of the pair, 0..1; default: the product of the bodies'\n"
    "  regardless    true: collides even where the bodies do not approach; false\n"
    "  energy_map    n, 2..101: adds E' over n restitutions (rows) and n frictions (columns)\n"
    "  Longer names are taken too: mass, inertia, center_of_mass, linear_velocity, orientation,\n"
    "  body_angular_velocity, friction, restitution, arm; point, normal, friction, restitution.\n"
    "  Vectors may have two numbers (z = 0).\n"
    "  out: model, collides, branch (F00 F01 F10 F11, first digit friction; bilinear; normal;\n"
    "  none), Ft (impulse on body 1, N s, world; body 2: the opposite), V0, dV (velocity of 1 at "
    "P\n"
    "  less that of 2, before and after), E, E_after (J, with the half), mu, epsilon, bodies:\n"
    "  [{V, W (body axes), angular_velocity (world axes), F (impulse, body axes), R}];\n"
    "  interpolated: corners {F00, F01, F10, F11}, Vf (rows); normal: J, vR, denominator.\n"
    "  example: {\"bodies\": [{\"M\": 1, \"I\": 0.4, \"O\": [-1, 0], \"V\": [1, 0], \"W\": 1},\n"
    "            {\"M\": 1, \"I\": 0.4, \"O\": [1, 0], \"V\": [-1, 0], \"W\": 1}],\n"
    "            \"P\": [0, 0], \"N\": [1, 0], \"mu\": 1, \"epsilon\": 1}\n"
    "  gives figure 5: \"Ft\": [-2.1338934190276815, -0.2857142857142857, 0]\n";

static carom_dvec3 vector(const double v[3])
{
    carom_dvec3 r = {v[0], v[1], v[2]};
    return r;
}

static carom_dvec3 read_vector(cm_eval *eval, const cm_json_value *object, const char *name,
                               const char *other, bool optional)
{
    double v[3];
    cm_json_vector(&eval->in, object, cm_json_name(&eval->in, object, name, other), optional, v);
    return vector(v);
}

// Mirrored elements may differ by rounding; the mean of the two counts.
static carom_dsym3 symmetric(cm_eval *eval, const char *key, double m[3][3], uint32_t rows)
{
    double allowed = UNEVEN * (fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]));
    if (rows != 3 || !(fabs(m[0][1] - m[1][0]) <= allowed) ||
        !(fabs(m[0][2] - m[2][0]) <= allowed) || !(fabs(m[1][2] - m[2][1]) <= allowed)) {
        cm_json_fail(&eval->in, key, "not symmetric, expected three rows of a symmetric matrix");
    }
    carom_dsym3 inertia = {m[0][0],
                           m[1][1],
                           m[2][2],
                           0.5 * (m[0][1] + m[1][0]),
                           0.5 * (m[0][2] + m[2][0]),
                           0.5 * (m[1][2] + m[2][1])};
    return inertia;
}

// Returns how many rows there are, of which three are read.
static uint32_t read_rows(cm_eval *eval, const cm_json_value *body, const char *key,
                          double rows[3][3])
{
    uint32_t count;
    const cm_json_value *array = cm_json_enter_array(&eval->in, body, key, &count);
    for (uint32_t i = 0; i < 3; i++) {
        const cm_json_value *row = cm_json_enter_item(&eval->in, array, i);
        for (uint32_t k = 0; k < 3; k++) {
            rows[i][k] = cm_json_item(&eval->in, row, k);
        }
        cm_json_leave(&eval->in);
    }
    cm_json_leave(&eval->in);
    return count;
}

static carom_dsym3 read_inertia(cm_eval *eval, const cm_json_value *body)
{
    const char *key = cm_json_name(&eval->in, body, "I", "inertia");
    const cm_json_value *value = cm_json_member(body, key);
    carom_dsym3 inertia = {0};
    if (cm_json_is_number(value)) {
        double i = cm_json_number(&eval->in, body, key, 0.0, LARGE, NULL);
        inertia = (carom_dsym3){i, i, i, 0.0, 0.0, 0.0};
    } else if (cm_json_is_array(cm_json_at(value, 0))) {
        double m[3][3];
        uint32_t rows = read_rows(eval, body, key, m);
        if (!cm_json_failed(&eval->in)) {
            inertia = symmetric(eval, key, m, rows);
        }
    } else {
        double v[3];
        cm_json_numbers(&eval->in, body, key, 3, 3, false, v);
        inertia = (carom_dsym3){v[0], v[1], v[2], 0.0, 0.0, 0.0};
    }
    // The rest of the check is the library's: here only that this field is what it refuses.
    carom_impact_case probe = {.bodies = {{.mass = 1.0, .inertia = inertia}, {.immovable = true}}};
    for (int i = 0; i < 2; i++) {
        probe.bodies[i].attitude = (carom_dmat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    }
    probe.normal.x = 1.0;
    if (!cm_json_failed(&eval->in) && carom_impact_check(&probe) != CAROM_OK) {
        cm_json_fail(&eval->in, key, "singular, expected a positive definite inertia");
    }
    return inertia;
}

static carom_dmat3 from_quaternion(const double q[4])
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double x = q[0] / length, y = q[1] / length, z = q[2] / length, w = q[3] / length;
    carom_dmat3 m = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)},
        {2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)},
        {2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)},
    };
    return m;
}

static bool is_rotation(const carom_dmat3 *m)
{
    carom_impact_case probe = {.bodies = {{.immovable = true}, {.mass = 1.0}}};
    probe.bodies[0].attitude = *m;
    probe.bodies[1].attitude = (carom_dmat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    probe.bodies[1].inertia = (carom_dsym3){1, 1, 1, 0, 0, 0};
    probe.normal.x = 1.0;
    return carom_impact_check(&probe) == CAROM_OK;
}

static carom_dmat3 read_attitude(cm_eval *eval, const cm_json_value *body)
{
    const char *key = cm_json_name(&eval->in, body, "S", "orientation");
    const cm_json_value *value = cm_json_member(body, key);
    carom_dmat3 m = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (value == NULL) {
        return m;
    }
    if (!cm_json_is_array(cm_json_at(value, 0))) {
        double q[4];
        cm_json_numbers(&eval->in, body, key, 4, 4, false, q);
        double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!cm_json_failed(&eval->in) && !(fabs(sqrt(square) - 1.0) <= 1.0e-3)) {
            cm_json_fail(&eval->in, key, "norm %.9g, expected a unit quaternion", sqrt(square));
        }
        return cm_json_failed(&eval->in) ? m : from_quaternion(q);
    }
    double row[3][3];
    uint32_t rows = read_rows(eval, body, key, row);
    m = (carom_dmat3){{row[0][0], row[1][0], row[2][0]},
                      {row[0][1], row[1][1], row[2][1]},
                      {row[0][2], row[1][2], row[2][2]}};
    if (!cm_json_failed(&eval->in) && (rows != 3 || !is_rotation(&m))) {
        cm_json_fail(&eval->in, key, "no rotation, expected orthonormal rows (to 1e-6)");
    }
    return m;
}

static carom_dvec3 read_spin(cm_eval *eval, const cm_json_value *body)
{
    const char *key = cm_json_name(&eval->in, body, "W", "body_angular_velocity");
    if (cm_json_is_number(cm_json_member(body, key))) {
        carom_dvec3 w = {0.0, 0.0, cm_json_number(&eval->in, body, key, -LARGE, LARGE, NULL)};
        return w;
    }
    return read_vector(eval, body, "W", "body_angular_velocity", true);
}

static double read_coefficient(cm_eval *eval, const cm_json_value *object, const char *name,
                               const char *other, double fallback)
{
    return cm_json_number(&eval->in, object, cm_json_name(&eval->in, object, name, other), 0.0, 1.0,
                          &fallback);
}

static void read_body(cm_eval *eval, const cm_json_value *json, carom_impact_body *body,
                      bool has_point)
{
    const double minute = 1.0e-30;
    body->immovable = cm_json_bool(&eval->in, json, "immovable", false);
    if (!body->immovable) {
        const char *mass = cm_json_name(&eval->in, json, "M", "mass");
        body->mass = cm_json_number(&eval->in, json, mass, minute, LARGE, NULL);
        body->inertia = read_inertia(eval, json);
    }
    body->center = read_vector(eval, json, "O", "center_of_mass", true);
    body->velocity = read_vector(eval, json, "V", "linear_velocity", true);
    body->attitude = read_attitude(eval, json);
    body->angular_velocity = read_spin(eval, json);
    body->friction = read_coefficient(eval, json, "mu", "friction", 1.0);
    body->restitution = read_coefficient(eval, json, "epsilon", "restitution", 1.0);
    const char *arm = cm_json_name(&eval->in, json, "R", "arm");
    if (cm_json_has(json, arm)) {
        // Only P - O enters: with P at 0 the centre is where R puts it.
        carom_dvec3 r = read_vector(eval, json, "R", "arm", false);
        const carom_dmat3 *s = &body->attitude;
        if (has_point || cm_json_has(json, "O") || cm_json_has(json, "center_of_mass")) {
            cm_json_fail(&eval->in, arm, "with O or P, expected one or the other");
        }
        body->center.x = -(s->x.x * r.x + s->y.x * r.y + s->z.x * r.z);
        body->center.y = -(s->x.y * r.x + s->y.y * r.y + s->z.y * r.z);
        body->center.z = -(s->x.z * r.x + s->y.z * r.y + s->z.z * r.z);
    } else if (!has_point && !body->immovable) {
        cm_json_fail(&eval->in, NULL, "no contact point, expected P, or R of each body");
    }
    cm_json_end_keys(&eval->in, json,
                     "M|mass|I|inertia|O|center_of_mass|V|linear_velocity|S|orientation|W|body_"
                     "angular_velocity|mu|friction|epsilon|restitution|R|arm|immovable",
                     CM_EVAL_HELP);
}

static void out_corners(cm_eval *eval, const carom_impact_case *input)
{
    carom_impact_corners c;
    carom_impact_corner_impulses(input, &c);
    cm_out_object(eval, "corners");
    cm_out_vector(eval, "F00", c.f00);
    cm_out_vector(eval, "F01", c.f01);
    cm_out_vector(eval, "F10", c.f10);
    cm_out_vector(eval, "F11", c.f11);
    cm_out_end(eval);
    const carom_dsym3 *m = &c.response;
    const double rows[3][3] = {{m->xx, m->xy, m->xz}, {m->xy, m->yy, m->yz}, {m->xz, m->yz, m->zz}};
    cm_out_array(eval, "Vf");
    for (int i = 0; i < 3; i++) {
        cm_out_numbers(eval, NULL, rows[i], 3);
    }
    cm_out_end(eval);
}

static void out_map(cm_eval *eval, const carom_impact_case *input, uint32_t side)
{
    static double energies[(size_t)MAP_SIDE * (size_t)MAP_SIDE];
    carom_impact_energy_map(input, side, side, energies);
    cm_out_array(eval, "energy_map");
    for (uint32_t i = 0; i < side; i++) {
        cm_out_numbers(eval, NULL, energies + (size_t)i * side, side);
    }
    cm_out_end(eval);
}

static void out_impact(cm_eval *eval, const carom_impact *impact)
{
    static const char *const BRANCHES[] = {"none", "F00",      "F01",   "F10",
                                           "F11",  "bilinear", "normal"};
    cm_out_bool(eval, "collides", impact->branch != CAROM_IMPACT_NONE);
    cm_out_text(eval, "branch", BRANCHES[impact->branch]);
    cm_out_vector(eval, "Ft", impact->impulse);
    cm_out_vector(eval, "V0", impact->before);
    cm_out_vector(eval, "dV", impact->after);
    cm_out_number(eval, "E", impact->energy_before);
    cm_out_number(eval, "E_after", impact->energy_after);
    cm_out_number(eval, "mu", impact->friction);
    cm_out_number(eval, "epsilon", impact->restitution);
    cm_out_array(eval, "bodies");
    for (int i = 0; i < 2; i++) {
        cm_out_object(eval, NULL);
        cm_out_vector(eval, "V", impact->velocities[i]);
        cm_out_vector(eval, "W", impact->spins[i]);
        cm_out_vector(eval, "angular_velocity", impact->world_spins[i]);
        cm_out_vector(eval, "F", impact->impulses[i]);
        cm_out_vector(eval, "R", impact->arms[i]);
        cm_out_end(eval);
    }
    cm_out_end(eval);
}

// A coefficient that the pair does not have: both bodies must.
static void need_of_bodies(cm_eval *eval, const cm_json_value *root, const cm_json_value *bodies,
                           const char *name, const char *other)
{
    for (size_t i = 0; i < 2 && !cm_json_failed(&eval->in); i++) {
        const cm_json_value *body = cm_json_at(bodies, i);
        if (!cm_json_has(root, name) && !cm_json_has(body, name) && !cm_json_has(body, other)) {
            cm_json_fail(&eval->in, NULL,
                         "'%s' is missing, expected it of the pair or of both bodies", name);
        }
    }
}

static void run(cm_eval *eval, const cm_json_value *root)
{
    const double none = 0.0;
    carom_impact_case input = {0};
    bool normal_model = cm_json_choice(&eval->in, root, "model", "interpolated|normal") == 1;
    bool has_point = cm_json_has(root, "P") || cm_json_has(root, "point");
    uint32_t count;
    const cm_json_value *bodies = cm_json_enter_array(&eval->in, root, "bodies", &count);
    for (uint32_t i = 0; i < 2; i++) {
        if (i < count) {
            read_body(eval, cm_json_enter_item(&eval->in, bodies, i), &input.bodies[i], has_point);
            cm_json_leave(&eval->in);
        }
    }
    if (bodies != NULL && count != 2) {
        cm_json_fail(&eval->in, NULL, "%u bodies, expected two", (unsigned)count);
    }
    cm_json_leave(&eval->in);
    input.point = read_vector(eval, root, "P", "point", true);
    input.normal = read_vector(eval, root, "N", "normal", false);
    input.friction = read_coefficient(eval, root, "mu", "friction", -1.0);
    input.restitution = read_coefficient(eval, root, "epsilon", "restitution", -1.0);
    input.regardless = cm_json_bool(&eval->in, root, "regardless", false);
    if (input.friction < 0.0 && !normal_model) {
        need_of_bodies(eval, root, bodies, "mu", "friction");
    }
    if (input.restitution < 0.0) {
        need_of_bodies(eval, root, bodies, "epsilon", "restitution");
    }
    uint32_t map =
        cm_json_has(root, "energy_map")
            ? (uint32_t)cm_json_number(&eval->in, root, "energy_map", 2.0, MAP_SIDE, &none)
            : 0;
    cm_json_end_keys(
        &eval->in, root,
        "model|bodies|P|point|N|normal|mu|friction|epsilon|restitution|regardless|energy_map",
        CM_EVAL_HELP);
    if (cm_json_failed(&eval->in)) {
        return;
    }
    if (input.bodies[0].immovable && input.bodies[1].immovable) {
        cm_json_fail(&eval->in, "bodies", "both immovable, expected one that can move");
        return;
    }
    if (carom_impact_check(&input) != CAROM_OK) {
        cm_json_fail(&eval->in, "N", "no direction, expected a vector that is not zero");
        return;
    }
    carom_impact impact;
    (normal_model ? carom_impact_normal : carom_impact_interpolated)(&input, &impact);
    cm_out_text(eval, "model", normal_model ? "normal" : "interpolated");
    out_impact(eval, &impact);
    if (normal_model) {
        cm_out_number(eval, "J", impact.magnitude);
        cm_out_number(eval, "vR", impact.approach);
        cm_out_number(eval, "denominator", impact.denominator);
    } else {
        out_corners(eval, &input);
    }
    if (map > 0) {
        out_map(eval, &input, map);
    }
}

const cm_eval_case cm_eval_impact_case = {"impact", "one collision of two bodies", TEXT, run};
