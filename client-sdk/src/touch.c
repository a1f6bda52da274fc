// After the passivity observer and controller of B. Hannaford and J.-H. Ryu (2002; see client.h),
// applied to what corrections change instead of to all that the contact did: friction and dampers
// take energy all the time, and a sum over everything would let corrections spend it.
#include "client-sdk/src/touch.h"

#include <stddef.h>

#include "shared/base/vec.h"

#define TOUCHED_MAX 32u
#define FADE_S      0.02 // to a third of a jump
#define LESS_MIN    (-3.0)

static double size_of(const cm_touch *t, carom_vec3 force, carom_vec3 torque)
{
    double size = (double)cm_length_squared(force);
    double square = (double)t->reach * (double)t->reach;
    return square > 0.0 ? size + (double)cm_length_squared(torque) / square : size;
}

static double kinetic_of(const carom_world *world, carom_body_id body)
{
    carom_body_contact contacts[TOUCHED_MAX];
    uint32_t count = carom_body_contacts(world, body, contacts, TOUCHED_MAX);
    double sum = 0.0;
    for (uint32_t i = 0; i < count && i < TOUCHED_MAX; i++) {
        carom_body_state state;
        bool again =
            i > 0 && carom_body_id_equal(contacts[i].other_body, contacts[i - 1].other_body);
        if (!again && carom_body_get(world, contacts[i].other_body, &state) == CAROM_OK) {
            sum += 0.5 * (double)state.mass * (double)cm_length_squared(state.linear_velocity);
        }
    }
    return sum;
}

static bool is_pointer(const carom_world *world, carom_body_id body, carom_body_state *state)
{
    return carom_body_get(world, body, state) == CAROM_OK &&
           carom_body_pointer(world, body) != CAROM_NO_PLAYER;
}

void cm_touch_before(cm_touch *t, const carom_world *world, carom_body_id body)
{
    carom_body_state state;
    if (t == NULL) {
        return;
    }
    t->noted = is_pointer(world, body, &state);
    if (t->noted) {
        t->before = size_of(t, state.contact_force, state.contact_torque);
        t->kinetic = kinetic_of(world, body);
    }
}

static void forget(cm_touch *t)
{
    t->foreign = t->less = t->size = 0.0;
}

void cm_touch_after(cm_touch *t, const carom_world *world, carom_body_id body)
{
    carom_body_state state;
    if (t == NULL || !t->noted || !is_pointer(world, body, &state)) {
        return;
    }
    t->noted = false;
    double now = size_of(t, state.contact_force, state.contact_torque);
    double gained = kinetic_of(world, body) - t->kinetic;
    t->corrections += now != t->before;
    if (now <= 0.0) {
        forget(t);
        return;
    }
    // Of a spring, k^2 x^2 = 2 k (energy).
    double whole = now + (gained > 0.0 ? 2.0 * (double)t->stiffness * gained : 0.0);
    double own = (1.0 - t->foreign) * t->before / whole;
    t->foreign = own < 1.0 ? 1.0 - own : 0.0;
    t->less = 1.0 - (1.0 - t->less) * __builtin_sqrt(t->before / now);
    t->less = t->less > LESS_MIN ? t->less : LESS_MIN;
    t->size = now;
}

double cm_touch_share(cm_touch *t, carom_vec3 force, carom_vec3 torque, bool gives, double seconds)
{
    double size = size_of(t, force, torque);
    if (size <= 0.0) {
        forget(t);
        return 1.0;
    }
    if (size > t->size && t->size > 0.0) {
        double sum = t->foreign * t->size + t->less * (size - t->size);
        t->foreign = sum > 0.0 ? sum / size : 0.0;
    }
    t->size = size;
    t->less *= FADE_S / (FADE_S + seconds);
    t->less = gives && t->less < t->foreign ? t->foreign : t->less;
    return 1.0 - t->less;
}
