// See the header. A millisecond: the net and the worker have theirs, then the hand's pose goes to
// the client, the client updates, and gives its wrench; the local world takes the same pose and
// makes its step.
#include "server/tools/feel/hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/client.h"
#include "server/node/worker.h"
#include "server/tools/bench/samples.h"
#include "server/tools/feel/games.h"
#include "server/tools/feel/tally.h"
#include "shared/game/pointer.h"
#include "shared/scene/scene_json.h"

#define PORT      9500u
#define PERIOD_US 1000u
#define PERIOD_S  1.0e-3
#define JOIN_MS   20000u
#define SETTLE_MS 3000u // the client's clock, and the pile under its own weight
#define HEADERS   28u   // bytes of IP and UDP
#define HALF_M    0.25  // of the pointer, a cube
#define TRAVEL_MS 600u
#define WALL_MS   2000u
#define REST_MS   200u // of it: at rest by then

const cm_hand_path cm_hand_paths[] = {
    {"perfect", {0}, 2.0},
    {"5ms", {.latency_us = 5000, .jitter_us = 1000}, 5.0},
    {"20ms", {.latency_us = 20000, .jitter_us = 3000}, 10.0},
    {"r60", {.latency_us = 30000, .jitter_us = 5000, .loss = 0.01f}, 0.0},
    {NULL, {0}, 0.0},
};

// The places where the hand starts and stops, softly. A stroke ends where it
// began, out of touch.
typedef struct point {
    double s; // from the point before
    float x, y, z;
    int stroke; // that ends here; -1: on its way
} point;

static const point way[] = {
    {0.0, 0.0f, 3.4f, 0.0f, -1},
    {0.5, 0.0f, 3.13f, 0.0f, -1}, // presses the top block, and the pile with it
    {0.3, 0.0f, 3.13f, 0.0f, -1},
    {0.5, 0.0f, 3.4f, 0.0f, 0},
    {0.4, -0.1f, 3.17f, 0.0f, -1}, // rubs to and fro on it
    {0.4, 0.1f, 3.17f, 0.2f, -1},
    {0.4, -0.1f, 3.17f, -0.2f, -1},
    {0.4, 0.0f, 3.4f, 0.0f, 1},
    {0.5, -1.1f, 3.4f, 0.0f, -1},
    {0.5, -1.1f, 2.6f, 0.0f, -1},
    {0.6, -0.6f, 2.6f, 0.0f, -1}, // pushes it by 15 cm
    {0.6, -1.1f, 2.6f, 0.0f, 2},
    {0.8, -2.5f, 0.5f, 0.0f, -1},
    {0.3, -2.5f, 0.15f, 0.0f, -1}, // the floor
    {0.3, -2.5f, 0.15f, 0.0f, -1},
    {0.3, -2.5f, 0.5f, 0.0f, 3},
    {0.6, -2.5f, 1.5f, 0.0f, -1},
    {1.0, -0.9f, 1.5f, 0.0f, -1}, // knocks the upper rows over
    {1.0, -2.5f, 1.5f, 0.0f, 4},
    {1.0, -2.5f, 0.6f, 0.0f, -1},
    {1.2, 0.5f, 0.6f, 0.4f, -1}, // through what is left
    {1.2, -2.5f, 0.6f, 0.0f, 5},
};
#define POINTS (sizeof way / sizeof way[0])

typedef struct run {
    const cm_hand_options *options;
    cm_config config;
    cm_net *net;
    cm_scene *scene;
    cm_worker *worker;
    carom_client *client;
    void *memory; // of the local world
    carom_world *local;
    carom_body_id tip;
    uint64_t local_tick;
    carom_pointer_pose pose;
    carom_pointer_wrench wrench;
    carom_body_state felt; // the local tip
    double update_us;
    uint64_t steps, steps_max;
    char *error;
    size_t error_size;
} run;

// Of one stroke, while it lasts.
typedef struct tally {
    cm_feel_tally force, torque;
    double square, local_square;
    uint64_t count;
    cm_hand_stroke found;
} tally;

static carom_result open_scene(run *r)
{
    cm_scene_error error;
    carom_result result =
        cm_scene_from_json(cm_feel_hand_scene, strlen(cm_feel_hand_scene), &r->scene, &error);
    const cm_scene_change exact = {.sync_inputs = true};
    if (result == CAROM_OK && r->options->sync_inputs) {
        cm_scene *own = r->scene;
        result = cm_scene_changed(own, &exact, &r->scene, &error);
        cm_scene_free(own);
    }
    if (result != CAROM_OK) {
        snprintf(r->error, r->error_size, "%s: %s", error.path, error.message);
    }
    return result;
}

static carom_result open_local(run *r)
{
    carom_world_def def;
    cm_scene_world_def(r->scene, &def);
    size_t size = (carom_world_size(&def) + 63u) & ~(size_t)63u;
    r->memory = aligned_alloc(64, size);
    carom_result result = r->memory != NULL ? carom_world_create(&def, r->memory, size, &r->local)
                                            : CAROM_ERROR_MEMORY;
    result = result == CAROM_OK ? cm_scene_populate(r->scene, r->local) : result;
    r->tip = cm_pointer_body(r->local, 0);
    return result;
}

static carom_result make(run *r)
{
    snprintf(r->config.listen, sizeof r->config.listen, "127.0.0.1:%u", PORT);
    r->config.insecure = true; // datagrams are sealed all the same
    r->config.key[0] = '\0';
    r->config.public[0] = '\0';
    r->config.room_seed = (int64_t)(r->options->seed % 1000000u) + 1;
    cm_worker_def def = {.config = &r->config,
                         .seed = r->options->seed,
                         .random = cm_net_random,
                         .now_us = cm_net_now_us(r->net)};
    carom_client_def own = carom_default_client_def();
    own.random = cm_net_random;
    own.predict_cost_ns = 1000;
    carom_result result = open_scene(r);
    def.scene = r->scene;
    const carom_pointer_device device = {.period = (float)PERIOD_S};
    result = result == CAROM_OK ? open_local(r) : result;
    result =
        result == CAROM_OK ? cm_worker_create(&def, &r->worker, r->error, r->error_size) : result;
    result = result == CAROM_OK ? carom_client_create(&own, &r->client) : result;
    result = result == CAROM_OK ? carom_client_connect(r->client, "127.0.0.1", PORT, def.now_us)
                                : result;
    if (result == CAROM_OK) {
        (void)carom_client_pointer_device(r->client, &device);
        cm_net_link_port(r->net, cm_net_last_port(r->net), &r->options->path->link);
    }
    return result;
}

static void millisecond(run *r)
{
    cm_net_advance(r->net, PERIOD_US);
    uint64_t now = cm_net_now_us(r->net);
    cm_worker_run_once(r->worker, now);
    (void)carom_client_pointer_set(r->client, &r->pose);
    double from_ms = cm_bench_thread_ms();
    carom_client_update(r->client, now);
    (void)carom_client_pointer_wrench(r->client, &r->wrench);
    r->update_us = 1e3 * (cm_bench_thread_ms() - from_ms);
    carom_client_stats stats;
    carom_client_stats_get(r->client, &stats);
    uint64_t steps = stats.predicted_steps - r->steps;
    r->steps = stats.predicted_steps;
    r->steps_max = steps > r->steps_max ? steps : r->steps_max;
}

static void step_local(run *r, const carom_pointer_pose *pose)
{
    cm_pointer_put(r->local, r->tip, pose);
    carom_world_step(r->local);
    (void)carom_body_get(r->local, r->tip, &r->felt);
    r->local_tick++;
}

// Between two points, with no speed at either: 3 u^2 - 2 u^3.
static void move(run *r, const point *from, const point *to, double u)
{
    float at = (float)(u * u * (3.0 - 2.0 * u));
    float rate = to->s > 0.0 ? (float)(6.0 * u * (1.0 - u) / to->s) : 0.0f;
    carom_vec3 gone = {to->x - from->x, to->y - from->y, to->z - from->z};
    r->pose.position =
        (carom_vec3){from->x + at * gone.x, from->y + at * gone.y, from->z + at * gone.z};
    r->pose.linear_velocity = (carom_vec3){rate * gone.x, rate * gone.y, rate * gone.z};
}

static double length(carom_vec3 v)
{
    return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

static carom_vec3 less(carom_vec3 a, carom_vec3 b)
{
    return (carom_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double along(carom_vec3 a, carom_vec3 b)
{
    return (double)a.x * (double)b.x + (double)a.y * (double)b.y + (double)a.z * (double)b.z;
}

static void note(run *r, tally *t)
{
    double off = length(less(r->wrench.force, r->felt.contact_force));
    double twist = length(less(r->wrench.torque, r->felt.contact_torque));
    double force = length(r->felt.contact_force);
    cm_feel_tally_add(&t->force, (float)off);
    cm_feel_tally_add(&t->torque, (float)twist);
    t->square += off * off;
    t->local_square += force * force;
    t->count++;
    t->found.peak_n = fmax(t->found.peak_n, force);
}

static double percent(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

static void close_stroke(tally *t, cm_hand_stroke *stroke)
{
    *stroke = t->found;
    stroke->force_p99_percent = percent(cm_feel_tally_share(&t->force, 0.99), t->found.peak_n);
    stroke->torque_p99_percent =
        percent(cm_feel_tally_share(&t->torque, 0.99), HALF_M * t->found.peak_n);
    stroke->force_rms_percent = percent(sqrt(t->square), sqrt(t->local_square));
    memset(t, 0, sizeof *t);
}

static void raise(double *worst, double value)
{
    *worst = value > *worst ? value : *worst;
}

static void find_worst(cm_hand_figures *f)
{
    cm_hand_stroke *worst = &f->worst;
    *worst = f->strokes[0];
    for (uint32_t i = 1; i < CM_HAND_STROKES; i++) {
        const cm_hand_stroke *s = &f->strokes[i];
        raise(&worst->force_p99_percent, s->force_p99_percent);
        raise(&worst->force_rms_percent, s->force_rms_percent);
        raise(&worst->torque_p99_percent, s->torque_p99_percent);
        raise(&worst->peak_n, s->peak_n);
        raise(&worst->work_j, s->work_j);
        raise(&worst->work_local_j, s->work_local_j);
    }
}

// A device above the floor, held by a hand: a mass with damping on a spring.
typedef struct device {
    double y, v, force;
    double sum_n, sum_m; // over the rest: force, and depth in the floor
} device;

// A millisecond under a force that is held.
static void move_device(device *d, bool rests)
{
    const double mass = 0.5, damping = 8.0, hand = 300.0, target = HALF_M - 0.1;
    for (int i = 0; i < 20; i++) {
        double push = d->force + hand * (target - d->y) - damping * d->v;
        d->v += PERIOD_S / 20.0 * push / mass;
        d->y += PERIOD_S / 20.0 * d->v;
    }
    d->sum_n += rests ? d->force : 0.0;
    d->sum_m += rests ? HALF_M - d->y : 0.0;
}

static carom_pointer_pose pose_of(const device *d)
{
    carom_pointer_pose pose = {.position = {-2.5f, (float)d->y, 0.0f},
                               .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                               .linear_velocity = {0.0f, (float)d->v, 0.0f}};
    return pose;
}

static void travel(run *r, const point *from, const point *to)
{
    for (uint32_t n = 1; n <= TRAVEL_MS; n++) {
        move(r, from, to, (double)n / TRAVEL_MS);
        millisecond(r);
        step_local(r, &r->pose);
    }
}

static void press_wall(run *r, cm_hand_figures *f)
{
    const point aside = {0.6, -2.5f, 3.4f, 0.0f, -1}, above = {0.6, -2.5f, 0.5f, 0.0f, -1};
    const point back = {0.6, 0.0f, 3.4f, 0.0f, -1};
    device there = {.y = (double)above.y}, alone = there;
    travel(r, &way[0], &aside);
    travel(r, &aside, &above);
    for (uint32_t i = 0; i < WALL_MS; i++) {
        bool rests = i >= WALL_MS - REST_MS;
        move_device(&there, rests);
        move_device(&alone, rests);
        r->pose = pose_of(&there);
        const carom_pointer_pose pose = pose_of(&alone);
        millisecond(r);
        step_local(r, &pose);
        there.force = (double)r->wrench.force.y;
        alone.force = (double)r->felt.contact_force.y;
        raise(&f->wall_off_mm, 1e3 * fabs(there.y - alone.y));
    }
    f->wall_alone_n_m = alone.sum_n / alone.sum_m;
    f->wall_percent =
        percent(fabs(there.sum_n / there.sum_m - f->wall_alone_n_m), f->wall_alone_n_m);
    const point in = {0.6, -2.5f, (float)there.y, 0.0f, -1};
    travel(r, &in, &above);
    travel(r, &above, &aside);
    travel(r, &aside, &back);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void play(run *r, cm_hand_figures *f)
{
    static tally t;
    uint64_t total = 0, done = 0, local = 0, withheld = 0;
    for (size_t i = 1; i < POINTS; i++) {
        total += (uint64_t)(way[i].s / PERIOD_S + 0.5);
    }
    double *updates = calloc(total + 1, sizeof *updates);
    memset(&t, 0, sizeof t);
    for (size_t i = 1; i < POINTS; i++) {
        uint64_t steps = (uint64_t)(way[i].s / PERIOD_S + 0.5);
        for (uint64_t n = 1; n <= steps; n++) {
            carom_vec3 before = r->pose.position;
            move(r, &way[i - 1], &way[i], (double)n / (double)steps);
            carom_vec3 gone = less(r->pose.position, before);
            t.found.work_j += along(r->wrench.force, gone);
            t.found.work_local_j += along(r->felt.contact_force, gone);
            millisecond(r);
            step_local(r, &r->pose);
            note(r, &t);
            local += r->wrench.local;
            withheld += r->wrench.withheld;
            updates[done++] = r->update_us;
        }
        if (way[i].stroke >= 0) {
            close_stroke(&t, &f->strokes[way[i].stroke]);
        }
    }
    f->local_percent = percent((double)local, (double)done);
    f->withheld_percent = percent((double)withheld, (double)done);
    qsort(updates, done, sizeof *updates, by_size);
    f->update_us_p50 = updates[done / 2];
    f->update_us_p999 = updates[(done * 999) / 1000];
    f->update_us_max = updates[done - 1];
    free(updates);
}

static double kbit(uint64_t bytes, uint64_t datagrams, double seconds)
{
    return (double)(bytes + HEADERS * datagrams) * 8e-3 / seconds;
}

static carom_result play_all(run *r, cm_hand_figures *f)
{
    r->pose.orientation = (carom_quat){0.0f, 0.0f, 0.0f, 1.0f};
    move(r, &way[0], &way[1], 0.0);
    uint32_t waited = 0;
    while (carom_client_get_state(r->client) != CAROM_CLIENT_PLAYING && waited++ < JOIN_MS) {
        millisecond(r);
    }
    if (carom_client_get_state(r->client) != CAROM_CLIENT_PLAYING) {
        snprintf(r->error, r->error_size, "the hand does not get in");
        return CAROM_ERROR_STATE;
    }
    for (uint32_t i = 0; i < SETTLE_MS; i++) {
        millisecond(r);
    }
    carom_client_stats before, after;
    cm_worker_stats server, server_after;
    cm_net_port_stats traffic, traffic_after;
    uint16_t port = cm_net_last_port(r->net);
    uint64_t from_us = cm_net_now_us(r->net);
    carom_client_stats_get(r->client, &before);
    cm_worker_stats_get(r->worker, &server);
    cm_net_port_stats_get(r->net, port, &traffic);
    while (r->local_tick < before.predicted_tick) {
        step_local(r, &r->pose);
    }
    press_wall(r, f);
    r->steps_max = 0;
    play(r, f);
    find_worst(f);
    carom_client_stats_get(r->client, &after);
    cm_worker_stats_get(r->worker, &server_after);
    cm_net_port_stats_get(r->net, port, &traffic_after);
    double seconds = (double)(cm_net_now_us(r->net) - from_us) * 1e-6;
    f->corrections = after.reconciles - before.reconciles;
    f->felt = r->wrench.corrections;
    f->steps_max = r->steps_max;
    f->steps = after.predicted_steps - before.predicted_steps;
    f->late_percent = percent((double)(server_after.late_inputs - server.late_inputs +
                                       server_after.refused_inputs - server.refused_inputs),
                              (double)(server_after.tick - server.tick));
    f->kbit_up = kbit(traffic_after.bytes_sent - traffic.bytes_sent,
                      traffic_after.sent - traffic.sent, seconds);
    f->kbit_down = kbit(traffic_after.bytes_addressed - traffic.bytes_addressed,
                        traffic_after.addressed - traffic.addressed, seconds);
    return CAROM_OK;
}

static void release(run *r)
{
    carom_client_destroy(r->client);
    if (r->worker != NULL) {
        cm_worker_destroy(r->worker);
    }
    free(r->memory);
    cm_scene_free(r->scene);
}

carom_result cm_hand_measure(const cm_hand_options *options, cm_hand_figures *figures, char *error,
                             size_t error_size)
{
    static run r;
    cm_net *net = cm_net_virtual_create(options->seed);
    if (net == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    memset(figures, 0, sizeof *figures);
    r = (run){.options = options,
              .config = *options->config,
              .net = net,
              .error = error,
              .error_size = error_size};
    cm_net *before = cm_net_use(net);
    snprintf(error, error_size, "it cannot be made");
    carom_result result = make(&r);
    result = result == CAROM_OK ? play_all(&r, figures) : result;
    release(&r);
    cm_net_use(before);
    cm_net_destroy(net);
    return result;
}
