// Interpolation between the values of views.
//
// Typical: 400 bodies, of which 25 have a new value in a view; 6 values kept of each. If the newest
// value is older than the requested time (a lost view, a budget), a moving body continues straight
// for at most EXTRAPOLATE_S.
#include "client-sdk/src/interp.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/base/vec.h"

#define EXTRAPOLATE_S 0.1

bool cm_interp_init(cm_interp *interp, const carom_allocator *allocator, uint32_t slots)
{
    interp->allocator = allocator;
    interp->slots = slots;
    interp->snap_m = CM_SNAP_M;
    interp->bodies = cm_memory_take(allocator, slots * sizeof *interp->bodies);
    return interp->bodies != NULL;
}

void cm_interp_free(cm_interp *interp)
{
    cm_memory_give(interp->allocator, interp->bodies);
    memset(interp, 0, sizeof *interp);
}

static void insert(cm_interp_body *body, const cm_interp_sample *sample)
{
    uint32_t at = body->count;
    while (at > 0 && body->samples[at - 1].tick >= sample->tick) {
        at--;
    }
    if (at < body->count && body->samples[at].tick == sample->tick) {
        body->samples[at] = *sample;
        return;
    }
    if (body->count == CM_INTERP_SAMPLES) {
        if (at == 0) {
            return; // older than all that is kept
        }
        memmove(body->samples, body->samples + 1, (at - 1) * sizeof *sample);
        body->samples[at - 1] = *sample;
        return;
    }
    memmove(body->samples + at + 1, body->samples + at, (body->count - at) * sizeof *sample);
    body->samples[at] = *sample;
    body->count++;
}

// The samples of a body; NULL where there are none of it.
static const cm_interp_body *find(const cm_interp *interp, carom_body_id id)
{
    if (id.index >= interp->slots) {
        return NULL;
    }
    const cm_interp_body *body = &interp->bodies[id.index];
    return body->count > 0 && body->generation == id.generation ? body : NULL;
}

void cm_interp_add(cm_interp *interp, carom_body_id id, uint32_t tick, const cm_view_pose *pose,
                   double interval)
{
    cm_interp_body *body = &interp->bodies[id.index];
    if (body->generation != id.generation) {
        body->generation = id.generation;
        body->count = 0;
    }
    cm_interp_sample sample = {.tick = tick, .pose = *pose};
    uint32_t step = interval < 1.0 ? 1u : (interval > 60.0 ? 60u : (uint32_t)interval);
    if (body->count > 0) {
        const cm_interp_sample *last = &body->samples[body->count - 1];
        if (last->pose.at_rest && tick > last->tick + step) {
            // It lay still until one view ago.
            cm_interp_sample held = *last;
            held.tick = tick - step;
            insert(body, &held);
        }
    }
    insert(body, &sample);
}

carom_quat cm_interp_turn(carom_quat from, carom_quat to, float at)
{
    float dot = from.x * to.x + from.y * to.y + from.z * to.z + from.w * to.w;
    float b = dot < 0.0f ? -at : at;
    float a = 1.0f - at;
    carom_quat q = {a * from.x + b * to.x, a * from.y + b * to.y, a * from.z + b * to.z,
                    a * from.w + b * to.w};
    return cm_quat_normalize(q);
}

carom_vec3 cm_interp_spin(carom_quat from, carom_quat to, float seconds)
{
    carom_quat d = cm_quat_mul(to, cm_quat_conjugate(from));
    float s = (d.w < 0.0f ? -2.0f : 2.0f) / seconds;
    return cm_vec(s * d.x, s * d.y, s * d.z);
}

bool cm_interp_is_jump(carom_vec3 from, carom_vec3 to, float speed, float seconds, float snap_m)
{
    // A body that speeds up or is hit in between has half as much again.
    return cm_length(cm_sub(to, from)) > snap_m + 1.5f * speed * seconds;
}

static float seconds_between(const cm_interp_sample *a, const cm_interp_sample *b, double tick_rate)
{
    return (float)((b->tick - a->tick) / tick_rate);
}

// The greatest speed that the values about two tell, or below 0 where they tell none.
static float speed_about(const cm_interp_body *body, uint32_t next, double tick_rate)
{
    float most = -1.0f;
    for (uint32_t i = next - 1; i <= next; i++) {
        const cm_interp_sample *s = &body->samples[i];
        float speed = s->pose.at_rest ? 0.0f : cm_length(s->pose.linear_velocity);
        most = (s->pose.at_rest || s->pose.has_velocity) && speed > most ? speed : most;
    }
    // Of the ways before and behind.
    for (uint32_t i = next > 1 ? next - 1 : next + 1; i <= next + 1 && i < body->count; i += 2) {
        const cm_interp_sample *a = &body->samples[i - 1], *b = &body->samples[i];
        float speed = cm_length(cm_sub(b->pose.position, a->pose.position)) /
                      seconds_between(a, b, tick_rate);
        most = speed > most ? speed : most;
    }
    return most;
}

// The body was put elsewhere between the value `next` and the one before it.
static bool jumps(const cm_interp *interp, const cm_interp_body *body, uint32_t next,
                  double tick_rate)
{
    const cm_interp_sample *a = &body->samples[next - 1], *b = &body->samples[next];
    float speed = speed_about(body, next, tick_rate);
    return speed >= 0.0f && cm_interp_is_jump(a->pose.position, b->pose.position, speed,
                                              seconds_between(a, b, tick_rate), interp->snap_m);
}

static void between(const cm_interp_sample *a, const cm_interp_sample *b, double tick_rate,
                    carom_vec3 *linear, carom_vec3 *angular)
{
    float seconds = seconds_between(a, b, tick_rate);
    *linear = cm_scale(1.0f / seconds, cm_sub(b->pose.position, a->pose.position));
    *angular = cm_interp_spin(a->pose.orientation, b->pose.orientation, seconds);
}

void cm_interp_velocity(const cm_interp *interp, carom_body_id id, double tick_rate,
                        carom_vec3 *linear, carom_vec3 *angular)
{
    const cm_interp_body *body = find(interp, id);
    *linear = cm_vec(0.0f, 0.0f, 0.0f);
    *angular = cm_vec(0.0f, 0.0f, 0.0f);
    if (body == NULL) {
        return;
    }
    const cm_interp_sample *last = &body->samples[body->count - 1];
    if (last->pose.at_rest) {
        return;
    }
    if (last->pose.has_velocity) {
        *linear = last->pose.linear_velocity;
        *angular = last->pose.angular_velocity;
    } else if (body->count > 1 && !jumps(interp, body, body->count - 1, tick_rate)) {
        between(last - 1, last, tick_rate, linear, angular);
    }
}

static void from_sample(const cm_interp_sample *sample, carom_client_pose *pose)
{
    pose->position = sample->pose.position;
    pose->orientation = sample->pose.orientation;
    pose->linear_velocity = sample->pose.linear_velocity;
    pose->angular_velocity = sample->pose.angular_velocity;
}

bool cm_interp_pose(const cm_interp *interp, carom_body_id id, double tick, double tick_rate,
                    carom_client_pose *pose)
{
    const cm_interp_body *body = find(interp, id);
    memset(pose, 0, sizeof *pose);
    if (body == NULL) {
        return false;
    }
    const cm_interp_sample *samples = body->samples;
    const cm_interp_sample *last = &samples[body->count - 1];
    if (tick >= last->tick) {
        from_sample(last, pose);
        if (!last->pose.at_rest) {
            double ahead = (tick - last->tick) / tick_rate;
            float seconds = (float)(ahead > EXTRAPOLATE_S ? EXTRAPOLATE_S : ahead);
            cm_interp_velocity(interp, id, tick_rate, &pose->linear_velocity,
                               &pose->angular_velocity);
            pose->position = cm_mul_add(pose->position, seconds, pose->linear_velocity);
            pose->orientation =
                cm_quat_integrate(pose->orientation, cm_scale(seconds, pose->angular_velocity));
        }
        return true;
    }
    uint32_t next = 0;
    while (samples[next].tick <= tick) {
        next++;
    }
    if (next == 0) {
        from_sample(&samples[0], pose);
        return true;
    }
    const cm_interp_sample *a = &samples[next - 1], *b = &samples[next];
    if (jumps(interp, body, next, tick_rate)) {
        from_sample(a, pose);
        return true;
    }
    float at = (float)((tick - a->tick) / (double)(b->tick - a->tick));
    pose->position = cm_mul_add(a->pose.position, at, cm_sub(b->pose.position, a->pose.position));
    pose->orientation = cm_interp_turn(a->pose.orientation, b->pose.orientation, at);
    between(a, b, tick_rate, &pose->linear_velocity, &pose->angular_velocity);
    return true;
}
