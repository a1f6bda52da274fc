// The eye of a bot: what its client draws, 60 times a second, against what the server tells it: the
// figures of `carom bench feel`, of a real server.
#ifndef CM_SERVER_TOOLS_BOTS_EYE_H
#define CM_SERVER_TOOLS_BOTS_EYE_H

#include "server/tools/feel/told.h"
#include "server/tools/feel/watch.h"

#define CM_BOT_EYES       8u    // bots that are watched, of those that predict
#define CM_BOT_EYE_BODIES 1024u // slots of a world, above which none is: 5 MB each

typedef struct cm_bot_eye {
    bool tried, open;
    uint64_t frame_us, from_us; // the next frame; what is drawn before it counts for nothing
    cm_feel_watch watch;
    cm_feel_told told;
} cm_bot_eye;

// After an update that took `update_us` of the thread's time, while the client plays. `settle_us`
// after the first, what it draws counts.
void cm_bot_eye_look(cm_bot_eye *eye, const carom_client *client, uint64_t now_us,
                     uint64_t settle_us, double update_us, cm_feel_found *found);
void cm_bot_eye_close(cm_bot_eye *eye);

#endif
