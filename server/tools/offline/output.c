// The lines of `carom sim`. Numbers have nine significant digits, which give a binary32 back
// exactly; energies are summed in binary64 in order of slots.
//
// Typical: 400 bodies a line, 70 KB. Names are quoted once a body and line: the cost is printf's.
#include "server/tools/offline/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/array.h"
#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"

bool cm_sim_events_add(cm_sim_events *events, const cm_offline *run)
{
    const carom_world *world = run->world;
    uint32_t emitted_count = 0;
    const carom_event *emitted =
        run->game != NULL ? cm_game_events(run->game, &emitted_count) : NULL;
    uint32_t count = 0;
    const carom_contact_event *rows = carom_world_contact_events(world, &count);
    uint32_t break_count = 0;
    const carom_joint_event *breaks = carom_world_joint_events(world, &break_count);
    uint32_t sleep_count = 0;
    const carom_sleep_event *sleeps = carom_world_sleep_events(world, &sleep_count);
    uint32_t hit_count = 0;
    const carom_hit_event *hits = carom_world_hit_events(world, &hit_count);
    uint32_t all = count + hit_count + break_count + sleep_count + emitted_count;
    if (!cm_array_reserve(&events->rows, &events->capacity, events->count + all,
                          sizeof *events->rows)) {
        return false;
    }
    uint64_t tick = carom_world_tick(world);
    cm_sim_event *row = events->rows + events->count;
    for (uint32_t i = 0; i < count; i++) {
        *row++ = (cm_sim_event){.tick = tick, .event = rows[i]};
    }
    for (uint32_t i = 0; i < hit_count; i++) {
        *row++ = (cm_sim_event){.tick = tick, .is_hit = true, .hit = hits[i]};
    }
    for (uint32_t i = 0; i < break_count; i++) {
        *row++ = (cm_sim_event){.tick = tick, .is_break = true, .broken = breaks[i]};
    }
    for (uint32_t i = 0; i < sleep_count; i++) {
        *row++ = (cm_sim_event){.tick = tick, .is_sleep = true, .sleep = sleeps[i]};
    }
    for (uint32_t i = 0; i < emitted_count; i++) {
        *row++ = (cm_sim_event){.tick = emitted[i].tick, .is_game = true, .game = emitted[i]};
    }
    events->count += all;
    return true;
}

static void print_number(FILE *out, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%.9g", value);
    } else {
        fputs("null", out);
    }
}

static void print_vec(FILE *out, const char *key, carom_vec3 v)
{
    fprintf(out, ", \"%s\": [%.9g, %.9g, %.9g]", key, (double)v.x, (double)v.y, (double)v.z);
}

static void quote_name(const cm_offline *run, carom_body_id body, char *quoted, size_t size)
{
    char name[CM_NAME_MAX];
    cm_scene_call_body(run->scene, body, name, sizeof name);
    cm_json_quote(name, quoted, size);
}

static void print_body(FILE *out, const cm_offline *run, uint32_t slot,
                       const carom_body_state *state)
{
    char quoted[6 * CM_NAME_MAX + 3];
    quote_name(run, carom_world_body_at(run->world, slot), quoted, sizeof quoted);
    fprintf(out, "{\"name\": %s", quoted);
    print_vec(out, "position", state->position);
    fprintf(out, ", \"orientation\": [%.9g, %.9g, %.9g, %.9g]", (double)state->orientation.x,
            (double)state->orientation.y, (double)state->orientation.z,
            (double)state->orientation.w);
    print_vec(out, "linear_velocity", state->linear_velocity);
    print_vec(out, "angular_velocity", state->angular_velocity);
    carom_body_def def;
    (void)carom_body_get_def(run->world, carom_world_body_at(run->world, slot), &def); // it lives
    carom_vec3 local = def.center_of_mass;
    if (local.x != 0.0f || local.y != 0.0f || local.z != 0.0f) {
        print_vec(out, "center_of_mass", state->center_of_mass);
    }
    if (def.report_force) {
        print_vec(out, "force", state->contact_force);
        print_vec(out, "torque", state->contact_torque);
    }
    fprintf(out, ", \"asleep\": %s}", state->asleep ? "true" : "false");
}

// Kinetic energy 1/2 m v^2 + 1/2 w . I w, in the principal axes; of dynamic bodies.
static double kinetic_energy(const carom_world *world, uint32_t slot, const carom_body_state *state)
{
    carom_body_def body;
    (void)carom_body_get_def(world, carom_world_body_at(world, slot), &body); // it lives
    carom_vec3 v = state->linear_velocity;
    double linear = (double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z;
    carom_quat axes = cm_quat_mul(state->orientation, body.inertia_orientation);
    carom_vec3 w = cm_rotate_inverse(axes, state->angular_velocity);
    double angular = (double)body.inertia.x * w.x * w.x + (double)body.inertia.y * w.y * w.y +
                     (double)body.inertia.z * w.z * w.z;
    return 0.5 * state->mass * linear + 0.5 * angular;
}

static double potential_energy(carom_vec3 gravity, const carom_body_state *state)
{
    carom_vec3 x = state->center_of_mass;
    return -(double)state->mass *
           ((double)gravity.x * x.x + (double)gravity.y * x.y + (double)gravity.z * x.z);
}

// 64-bit numbers as text, as in scenes.
static void print_game_event(FILE *out, const carom_event *event)
{
    fprintf(out,
            "{\"type\": \"game\", \"tick\": %llu, \"kind\": %u, \"key\": %u, \"subjects\": "
            "[\"%llu\", \"%llu\"], \"bytes\": \"",
            (unsigned long long)event->tick, (unsigned)event->kind, (unsigned)event->key,
            (unsigned long long)event->subjects[0], (unsigned long long)event->subjects[1]);
    for (uint32_t i = 0; i < event->size; i++) {
        fprintf(out, "%02x", event->bytes[i]);
    }
    fputs("\"}", out);
}

static void print_event(FILE *out, const cm_offline *run, const cm_sim_event *row)
{
    char a[6 * CM_NAME_MAX + 3], b[6 * CM_NAME_MAX + 3];
    if (row->is_game) {
        print_game_event(out, &row->game);
        return;
    }
    if (row->is_break) {
        char name[CM_NAME_MAX];
        cm_scene_call_joint(run->scene, row->broken.joint, name, sizeof name);
        cm_json_quote(name, a, sizeof a);
        fprintf(out,
                "{\"type\": \"break\", \"tick\": %llu, \"joint\": %s, \"force\": %.9g, "
                "\"torque\": %.9g}",
                (unsigned long long)row->tick, a, (double)row->broken.force,
                (double)row->broken.torque);
        return;
    }
    if (row->is_sleep) {
        quote_name(run, row->sleep.body, a, sizeof a);
        fprintf(out, "{\"type\": \"%s\", \"tick\": %llu, \"body\": %s}",
                row->sleep.asleep ? "sleep" : "wake", (unsigned long long)row->tick, a);
        return;
    }
    const carom_contact_event *event = &row->event;
    const carom_hit_event *hit = &row->hit;
    quote_name(run, row->is_hit ? hit->body_a : event->body_a, a, sizeof a);
    quote_name(run, row->is_hit ? hit->body_b : event->body_b, b, sizeof b);
    fprintf(out, "{\"type\": \"%s\", \"tick\": %llu, \"a\": %s, \"b\": %s",
            row->is_hit    ? "hit"
            : event->begin ? "begin"
                           : "end",
            (unsigned long long)row->tick, a, b);
    print_vec(out, "point", row->is_hit ? hit->point : event->point);
    print_vec(out, "normal", row->is_hit ? hit->normal : event->normal);
    if (row->is_hit) {
        fprintf(out, ", \"speed\": %.9g", (double)hit->speed);
    }
    fprintf(out, ", \"impulse\": %.9g%s}", (double)(row->is_hit ? hit->impulse : event->impulse),
            event->sensor ? ", \"sensor\": true" : "");
}

static void print_joint(FILE *out, const cm_offline *run, uint32_t slot,
                        const carom_joint_state *state)
{
    char name[CM_NAME_MAX], quoted[6 * CM_NAME_MAX + 3];
    cm_offline_joint_name(run, slot, name, sizeof name);
    cm_json_quote(name, quoted, sizeof quoted);
    fprintf(out,
            "{\"name\": %s, \"%s\": %.9g, \"rate\": %.9g, \"error\": %.9g, \"force\": %.9g, "
            "\"torque\": %.9g}",
            quoted, state->is_angle ? "angle" : "position", (double)state->value,
            (double)state->rate, (double)state->error, (double)state->force, (double)state->torque);
}

static void print_joints(FILE *out, const cm_offline *run)
{
    bool first = true;
    for (uint32_t slot = 0; slot < carom_world_joint_slots(run->world); slot++) {
        carom_joint_state state;
        if (carom_joint_get(run->world, carom_world_joint_at(run->world, slot), &state) !=
            CAROM_OK) {
            continue;
        }
        fputs(first ? "" : ", ", out);
        first = false;
        print_joint(out, run, slot, &state);
    }
}

void cm_sim_print_timing(FILE *out, const cm_sim_timing *timing)
{
    fprintf(out, "{\"ticks\": %llu, \"seconds\": %.9g", (unsigned long long)timing->ticks,
            timing->wall);
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; i++) {
        fprintf(out, ", \"%s\": %.9g", carom_stage_name((carom_stage)i), timing->stage_s[i]);
    }
    fputc('}', out);
}

static double time_of(const carom_world *world)
{
    return (double)carom_world_tick(world) / (double)carom_world_tick_rate(world);
}

void cm_sim_print_json(FILE *out, const cm_offline *run, const cm_sim_events *events,
                       const cm_sim_timing *timing)
{
    const carom_world *world = run->world;
    carom_vec3 gravity = carom_world_gravity(world);
    double kinetic = 0.0, potential = 0.0, penetration = 0.0;
    uint32_t touching = 0;
    bool first = true;
    fprintf(out, "{\"tick\": %llu, \"time\": %.9g, \"hash\": \"%016llx\", \"bodies\": [",
            (unsigned long long)carom_world_tick(world), time_of(world),
            (unsigned long long)cm_offline_hash(run));
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state state;
        if (carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
            continue;
        }
        fputs(first ? "" : ", ", out);
        first = false;
        print_body(out, run, slot, &state);
        if (state.type == CAROM_BODY_DYNAMIC) {
            kinetic += kinetic_energy(world, slot, &state);
            potential += potential_energy(gravity, &state);
        }
    }
    carom_world_measure_contacts(world, &touching, &penetration);
    fputs("], \"joints\": [", out);
    print_joints(out, run);
    fprintf(out, "], \"contacts\": %u, \"kinetic_energy\": ", (unsigned)touching);
    print_number(out, kinetic);
    fputs(", \"potential_energy\": ", out);
    print_number(out, potential);
    fputs(", \"max_penetration\": ", out);
    print_number(out, penetration);
    for (uint32_t i = 0; events != NULL && i < events->count; i++) {
        fputs(i == 0 ? ", \"events\": [" : ", ", out);
        print_event(out, run, &events->rows[i]);
    }
    if (events != NULL) {
        fputs(events->count == 0 ? ", \"events\": []" : "]", out);
    }
    if (timing != NULL) {
        fputs(", \"timing\": ", out);
        cm_sim_print_timing(out, timing);
    }
    fputs("}\n", out);
}

void cm_sim_print_csv_header(FILE *out)
{
    fputs("tick,time,hash,name,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,asleep\n", out);
}

// A name with a comma, quote or newline stands in quotes, its quotes doubled (RFC 4180).
static void print_csv_name(FILE *out, const char *name)
{
    if (strpbrk(name, ",\"\n\r") == NULL) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') {
            fputc('"', out);
        }
        fputc(*c, out);
    }
    fputc('"', out);
}

void cm_sim_print_csv(FILE *out, const cm_offline *run)
{
    const carom_world *world = run->world;
    unsigned long long hash = cm_offline_hash(run);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state s;
        char name[CM_NAME_MAX];
        if (carom_body_get(world, carom_world_body_at(world, slot), &s) != CAROM_OK) {
            continue;
        }
        cm_offline_body_name(run, slot, name, sizeof name);
        fprintf(out, "%llu,%.9g,%016llx,", (unsigned long long)carom_world_tick(world),
                time_of(world), hash);
        print_csv_name(out, name);
        const float numbers[13] = {
            s.position.x,         s.position.y,        s.position.z,         s.orientation.x,
            s.orientation.y,      s.orientation.z,     s.orientation.w,      s.linear_velocity.x,
            s.linear_velocity.y,  s.linear_velocity.z, s.angular_velocity.x, s.angular_velocity.y,
            s.angular_velocity.z,
        };
        for (int i = 0; i < 13; i++) {
            fprintf(out, ",%.9g", (double)numbers[i]);
        }
        fprintf(out, ",%d\n", s.asleep);
    }
}
