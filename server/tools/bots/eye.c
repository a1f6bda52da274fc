// Opened at the first look, when the world's size is known.
#include "server/tools/bots/eye.h"

#define FRAME_US 16667u

static void open_eye(cm_bot_eye *eye, const carom_client *client, uint64_t now_us,
                     uint64_t settle_us)
{
    uint32_t slots = carom_world_limits(carom_client_world(client)).bodies;
    eye->tried = true;
    eye->from_us = now_us + settle_us;
    eye->open = slots <= CM_BOT_EYE_BODIES && cm_feel_watch_init(&eye->watch, slots) &&
                cm_feel_told_init(&eye->told, slots);
}

void cm_bot_eye_look(cm_bot_eye *eye, const carom_client *client, uint64_t now_us,
                     uint64_t settle_us, double update_us, cm_feel_found *found)
{
    const cm_feel_way way = {.path = NULL}; // no blackouts are known
    const cm_feel_known known = {{0}};
    if (!eye->tried) {
        open_eye(eye, client, now_us, settle_us);
    }
    if (!eye->open) {
        return;
    }
    cm_feel_told_follow(&eye->told, client);
    if (now_us >= eye->from_us) {
        cm_feel_tally_add(&found->updates, (float)update_us);
    }
    if (now_us + FRAME_US / 2 >= eye->frame_us) {
        eye->frame_us = eye->frame_us + FRAME_US > now_us ? eye->frame_us + FRAME_US : now_us;
        cm_feel_watch_draw(&eye->watch, client, now_us, &way, &known);
        cm_feel_watch_judge(&eye->watch, &eye->told.truth, eye->from_us, found);
    }
}

void cm_bot_eye_close(cm_bot_eye *eye)
{
    cm_feel_watch_free(&eye->watch);
    cm_feel_told_free(&eye->told);
}
