// The own pointer: poses into the input, the contact's wrench to the device.
//
// Energy. Between two samples the device feels a constant wrench (f, t), so what it did against it
// is exactly -(f . dx + t . dtheta), dx of the centre of mass. What it touches brought f . dy + t .
// dphi meanwhile, by its own velocity: a block that falls on a hand. The hand may have what it
// gave, and what was brought in all, where that is above zero: the wrench is scaled so that it
// cannot get more within the next period, by the velocities and the mass. The hand may add to the
// motion meanwhile and get more by one sample's worth; later samples repay that first. A correction
// moves bodies by no velocity, so it brings nothing.
//
// The sampled bound: Colgate, Schenkel, "Passivity of a class of sampled-data systems" (1994),
// for an implicit wall under a zero-order hold: b > K T / 2 + |B|.
#include "client-sdk/src/pointer.h"

#include <string.h>

#include "carom/volume.h"
#include "client-sdk/src/state.h"
#include "shared/base/vec.h"

#define STRICT      0.999f // of the bound that a limited contact keeps to
#define TOUCHED_MAX 32u
#define TICKS_MAX   4u // that a velocity stands for; after a longer pause the rest brought nothing

void cm_pointer_reset(cm_client_pointer *pointer)
{
    carom_pointer_device device = pointer->device;
    memset(pointer, 0, sizeof *pointer);
    pointer->device = device;
}

static float not_negative(float value)
{
    return value > 0.0f ? value : 0.0f; // NaN is 0 as well
}

carom_pointer_limit carom_pointer_limit_of(float device_damping, float period, float stiffness,
                                           float contact_damping)
{
    float b = not_negative(device_damping), t = not_negative(period);
    float k = not_negative(stiffness), c = not_negative(contact_damping);
    float need = 0.5f * k * t + c;
    carom_pointer_limit limit = {k, c, 1.0f, false};
    if (need > 0.0f && !(b > need)) {
        limit.scale = STRICT * b / need;
        limit.limited = true;
        limit.stiffness = limit.scale * k;
        limit.damping = limit.scale * c;
    }
    return limit;
}

static carom_vec3 center_of(const carom_pointer_pose *pose, carom_vec3 arm)
{
    return cm_add(pose->position, cm_rotate(pose->orientation, arm));
}

static double power(carom_vec3 force, carom_vec3 torque, carom_vec3 linear, carom_vec3 angular)
{
    return (double)cm_dot(force, linear) + (double)cm_dot(torque, angular);
}

void cm_pointer_moved(cm_client_pointer *pointer, const carom_pointer_pose *pose, carom_vec3 arm)
{
    if (pointer->set) {
        carom_vec3 way = cm_sub(center_of(pose, arm), center_of(&pointer->pose, arm));
        carom_vec3 turn = cm_interp_spin(pointer->pose.orientation, pose->orientation, 1.0f);
        pointer->gave = power(pointer->force, pointer->torque, way, turn);
        pointer->energy -= pointer->gave;
    }
    pointer->set = true;
    pointer->pose = *pose;
}

// Of several bodies the one that brings the least: the world tells the sum of their forces alone.
static carom_body_id find_touched(const carom_world *world, carom_body_id body, carom_vec3 force,
                                  carom_vec3 torque, carom_vec3 *linear, carom_vec3 *angular)
{
    carom_body_contact contacts[TOUCHED_MAX];
    carom_body_id found = {0, 0};
    carom_body_state own, other;
    double least = 0.0;
    uint32_t count = carom_body_contacts(world, body, contacts, TOUCHED_MAX);
    if (count > TOUCHED_MAX || carom_body_get(world, body, &own) != CAROM_OK) {
        return found;
    }
    for (uint32_t i = 0; i < count; i++) {
        carom_body_id id = contacts[i].other_body;
        carom_vec3 v;
        if (contacts[i].points == 0 || carom_body_get(world, id, &other) != CAROM_OK ||
            carom_body_velocity_at(world, id, own.center_of_mass, &v) != CAROM_OK) {
            continue;
        }
        double brings = power(force, torque, v, other.angular_velocity);
        if (carom_body_id_is_null(found) || brings < least) {
            found = id;
            least = brings;
            *linear = v;
            *angular = other.angular_velocity;
        }
    }
    return found;
}

void cm_pointer_carried(cm_client_pointer *pointer, const carom_world *world, carom_body_id body,
                        carom_vec3 force, carom_vec3 torque, double seconds)
{
    carom_vec3 linear = cm_vec(0.0f, 0.0f, 0.0f), angular = linear;
    carom_body_id touched = {0, 0};
    if (cm_length_squared(force) + cm_length_squared(torque) > 0.0f) {
        touched = find_touched(world, body, force, torque, &linear, &angular);
    }
    bool again = carom_body_id_equal(touched, pointer->touched);
    // A force that is constant in a step does its work at the mean of the velocities around it.
    carom_vec3 v = again ? cm_scale(0.5f, cm_add(linear, pointer->linear)) : linear;
    carom_vec3 w = again ? cm_scale(0.5f, cm_add(angular, pointer->angular)) : angular;
    pointer->brought += seconds * power(force, torque, v, w);
    pointer->touched = touched;
    pointer->linear = linear;
    pointer->angular = angular;
}

// The share of a wrench that can be held for a period and give no more than `energy`. Held at a
// share s it gives c s + a s^2: c by the present motion, a by the motion that it causes, f^2 T^2 /
// 2m for a free mass m. If energy is owed, the share that takes the most.
static double share_of(double a, double c, double energy)
{
    if (c + a <= energy) {
        return 1.0;
    }
    double root = c * c + 4.0 * a * energy;
    if (a <= 0.0) {
        return c > 0.0 && energy > 0.0 ? energy / c : (c > 0.0 ? 0.0 : 1.0);
    }
    double share = (root > 0.0 ? __builtin_sqrt(root) - c : (c < 0.0 ? -c : 0.0)) / (2.0 * a);
    return share < 0.0 ? 0.0 : (share < 1.0 ? share : 1.0);
}

double cm_pointer_budget(const cm_client_pointer *pointer)
{
    return pointer->energy + (pointer->brought > 0.0 ? pointer->brought : 0.0);
}

bool cm_pointer_hold(cm_client_pointer *pointer, carom_vec3 *force, carom_vec3 *torque)
{
    const carom_pointer_device *device = &pointer->device;
    double period = (double)device->period;
    // A device of unknown mass has at least the mass that makes its damping stable: b T.
    double mass = device->mass > 0.0f ? (double)device->mass : (double)device->damping * period;
    double inertia = (double)device->angular_damping * period;
    double a = 0.0, half = 0.5 * period * period;
    a += mass > 0.0 ? half * (double)cm_length_squared(*force) / mass : 0.0;
    a += inertia > 0.0 ? half * (double)cm_length_squared(*torque) / inertia : 0.0;
    double c =
        power(*force, *torque, pointer->pose.linear_velocity, pointer->pose.angular_velocity);
    c -= pointer->brought > 0.0 ? power(*force, *torque, pointer->linear, pointer->angular) : 0.0;
    double share = share_of(a, period * c, cm_pointer_budget(pointer));
    pointer->force = *force = cm_scale((float)share, *force);
    pointer->torque = *torque = cm_scale((float)share, *torque);
    return share < 1.0;
}

bool cm_pointer_correct(cm_client_pointer *pointer, carom_vec3 *force, carom_vec3 *torque,
                        uint64_t now_us)
{
    double seconds = (double)(now_us - pointer->felt_us) * 1.0e-6;
    bool gives = pointer->gave > 0.0 || power(*force, *torque, pointer->pose.linear_velocity,
                                              pointer->pose.angular_velocity) > 0.0;
    pointer->felt_us = now_us;
    double share = cm_touch_share(&pointer->touch, *force, *torque, gives, seconds);
    *force = cm_scale((float)share, *force);
    *torque = cm_scale((float)share, *torque);
    return share != 1.0;
}

// The client's face --------------------------------------------------------------------------

// From the body's origin to its centre of mass, in the body.
static carom_vec3 arm_of(const carom_client *client, carom_body_id body)
{
    carom_body_state state;
    if (carom_body_get(client->mirror->world, body, &state) != CAROM_OK) {
        return cm_vec(0.0f, 0.0f, 0.0f);
    }
    return cm_rotate_inverse(state.orientation, cm_sub(state.center_of_mass, state.position));
}

carom_body_id carom_client_pointer(const carom_client *client)
{
    carom_body_id none = {0, 0};
    return client != NULL && client->mirror != NULL
               ? cm_game_pointer(client->mirror->game, client->mirror->player)
               : none;
}

carom_result carom_client_pointer_device(carom_client *client, const carom_pointer_device *device)
{
    if (client == NULL || device == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    const float numbers[] = {device->period,    device->damping,         device->angular_damping,
                             device->stiffness, device->contact_damping, device->mass,
                             device->force_max, device->torque_max};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!cm_is_finite(numbers[i]) || numbers[i] < 0.0f) {
            return CAROM_ERROR_ARGUMENT;
        }
    }
    client->pointer.device = *device;
    return CAROM_OK;
}

carom_result carom_client_pointer_set(carom_client *client, const carom_pointer_pose *pose)
{
    carom_body_id body = carom_client_pointer(client);
    if (carom_body_id_is_null(body)) {
        return CAROM_ERROR_STATE;
    }
    if (pose == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_pointer_reason reason = cm_pointer_check(pose);
    if (reason != CM_POINTER_OK) {
        return reason == CM_POINTER_NOT_FINITE ? CAROM_ERROR_NOT_FINITE : CAROM_ERROR_ARGUMENT;
    }
    cm_pointer_moved(&client->pointer, pose, arm_of(client, body));
    cm_pointer_write(pose, client->input);
    return CAROM_OK;
}

// The distance that a shape reaches from the body's centre.
static float reach_of(const carom_shape_def *shape, carom_vec3 arm)
{
    float own = shape->radius + shape->half_height;
    if (shape->type == CAROM_SHAPE_BOX) {
        own = cm_length(shape->half_extents);
    } else if (shape->type == CAROM_SHAPE_HULL && shape->hull != NULL) {
        uint32_t count = 0;
        const carom_vec3 *vertices = carom_hull_vertices(shape->hull, &count);
        own = 0.0f;
        for (uint32_t i = 0; i < count; i++) {
            own = cm_max(own, cm_length(vertices[i]));
        }
    }
    return own + cm_length(cm_sub(shape->position, arm));
}

static float reach_of_body(const carom_client *client, carom_body_id body)
{
    const carom_world *world = client->mirror->world;
    carom_vec3 arm = arm_of(client, body);
    carom_shape_id shapes[32];
    uint32_t count = carom_body_shapes(world, body, shapes, 32);
    float reach = 0.0f;
    for (uint32_t i = 0; i < count && i < 32; i++) {
        carom_shape_def shape;
        carom_body_id owner;
        if (carom_shape_get(world, shapes[i], &shape, &owner) == CAROM_OK) {
            reach = cm_max(reach, reach_of(&shape, arm));
        }
    }
    return reach;
}

static carom_pointer_limit limit_of(carom_client *client, carom_body_id body)
{
    const carom_pointer_device *device = &client->pointer.device;
    float stiffness = 0.0f, damping = 0.0f, reach = reach_of_body(client, body);
    carom_volume_bound(client->mirror->world, body, &stiffness, &damping);
    stiffness = device->stiffness > 0.0f ? device->stiffness : stiffness;
    damping = device->contact_damping > 0.0f ? device->contact_damping : damping;
    client->pointer.touch.reach = reach;
    client->pointer.touch.stiffness = stiffness;
    carom_pointer_limit limit = {stiffness, damping, 1.0f, false};
    if (device->period > 0.0f && device->damping > 0.0f) {
        limit = carom_pointer_limit_of(device->damping, device->period, stiffness, damping);
    }
    if (device->period > 0.0f && device->angular_damping > 0.0f) {
        // About the centre each element of the contact acts at `reach` at most, at half its square
        // in the mean over a disc.
        float square = 0.5f * reach * reach;
        carom_pointer_limit turn = carom_pointer_limit_of(device->angular_damping, device->period,
                                                          stiffness * square, damping * square);
        if (turn.scale < limit.scale) {
            limit = (carom_pointer_limit){turn.scale * stiffness, turn.scale * damping, turn.scale,
                                          true};
        }
    }
    return limit;
}

static bool saturate(float most, carom_vec3 *v)
{
    float length = cm_length(*v);
    if (most <= 0.0f || length <= most) {
        return false;
    }
    *v = cm_scale(most / length, *v);
    return true;
}

carom_result carom_client_pointer_wrench(carom_client *client, carom_pointer_wrench *wrench)
{
    memset(wrench, 0, sizeof *wrench);
    carom_body_id body = carom_client_pointer(client);
    if (carom_body_id_is_null(body)) {
        return CAROM_ERROR_STATE;
    }
    const cm_mirror *mirror = client->mirror;
    carom_body_state state;
    if (mirror->has_wrench) {
        wrench->server_tick = mirror->wrench_tick;
        wrench->server_force = wrench->force = mirror->force;
        wrench->server_torque = wrench->torque = mirror->torque;
    }
    if (client->predictor != NULL && cm_predictor_state(client->predictor, body, &state)) {
        wrench->local = true;
        wrench->force = state.contact_force;
        wrench->torque = state.contact_torque;
        wrench->corrected =
            cm_pointer_correct(&client->pointer, &wrench->force, &wrench->torque, client->now_us);
    }
    wrench->limit = limit_of(client, body);
    wrench->limited = wrench->limit.limited;
    wrench->force = cm_scale(wrench->limit.scale, wrench->force);
    wrench->torque = cm_scale(wrench->limit.scale, wrench->torque);
    const carom_pointer_device *device = &client->pointer.device;
    wrench->saturated = saturate(device->force_max, &wrench->force);
    wrench->saturated = saturate(device->torque_max, &wrench->torque) || wrench->saturated;
    if (wrench->local) {
        uint64_t tick = cm_predictor_tick(client->predictor), since = client->pointer.tick;
        uint64_t ticks = tick > since ? tick - since : 0;
        ticks = ticks < TICKS_MAX ? ticks : TICKS_MAX;
        cm_pointer_carried(&client->pointer, client->predictor->world, body, wrench->force,
                           wrench->torque, (double)ticks / mirror->tick_rate);
        client->pointer.tick = tick;
    }
    wrench->withheld = cm_pointer_hold(&client->pointer, &wrench->force, &wrench->torque);
    wrench->energy = cm_pointer_budget(&client->pointer);
    wrench->foreign = (float)client->pointer.touch.foreign;
    wrench->corrections = client->pointer.touch.corrections;
    return CAROM_OK;
}
