// See the header.
#include "server/replicate/confirmed_stream.h"

#include <stdlib.h>

#include "shared/base/assert.h"
#include "shared/room/event_list.h"

// A tick of full events and inputs fits behind what may wait.
#define TICK_MAX                                                                                   \
    (CM_CONFIRMED_HEAD + CM_CONFIRMED_CHANGED_MAX + CM_EVENTS_MAX * CM_CONFIRMED_EVENT_HEAD +      \
     CM_EVENT_BYTES_MAX)
_Static_assert(2 * TICK_MAX < CM_CONTROL_TICKS_MAX, "the largest tick has room in a message");

bool cm_confirmed_stream_init(cm_confirmed_stream *stream, uint32_t tick_rate)
{
    stream->is_on = true;
    stream->tick_rate = tick_rate;
    stream->bytes = malloc(CM_CONTROL_TICKS_MAX);
    return stream->bytes != NULL;
}

void cm_confirmed_stream_free(cm_confirmed_stream *stream)
{
    free(stream->bytes);
}

void cm_confirmed_stream_send(cm_confirmed_stream *stream, const cm_roster *roster,
                              cm_transport *transport)
{
    if (stream->count == 0) {
        return;
    }
    const cm_control control = {.type = CM_CONTROL_CONFIRMED,
                                .payload = {stream->bytes, stream->size}};
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool is_made = cm_control_encode(&control, NULL, &bytes, &size) == CAROM_OK;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *member = roster->members[player];
        if (cm_client_has_joined(member)) {
            bool sent = is_made && cm_transport_send(transport, member->connection, CM_SEND_CONTROL,
                                                     bytes, size);
            stream->failed |= (uint64_t)!sent << player;
        }
    }
    cm_control_release_bytes(NULL, bytes);
    stream->count = 0;
    stream->size = 0;
}

void cm_confirmed_stream_add(cm_confirmed_stream *stream, const cm_history_slot *slot,
                             const cm_roster *roster, cm_transport *transport)
{
    // Only the recording is told when the inputs arrived.
    cm_confirmed_tick tick = {.tick = slot->tick, .hash = slot->hash, .input = slot->input};
    size_t size = cm_confirmed_size(&tick);
    CM_ASSERT(size <= TICK_MAX);
    if (stream->size + size > CM_CONTROL_TICKS_MAX) {
        cm_confirmed_stream_send(stream, roster, transport);
    }
    tick.follows = stream->count > 0; // the first of a message says which tick it is
    size = cm_confirmed_size(&tick);
    stream->size += cm_confirmed_write(&tick, stream->bytes + stream->size, size);
    stream->count++;
}

bool cm_confirmed_stream_is_due(const cm_confirmed_stream *stream)
{
    return stream->count > 0 && stream->count * CM_CONFIRMED_RATE >= stream->tick_rate;
}

bool cm_confirmed_stream_ails(const cm_roster *roster)
{
    bool ails = false;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *member = roster->members[player];
        ails = ails || (cm_client_has_joined(member) && member->session.differs != 0);
    }
    return ails;
}

void cm_confirmed_stream_heal(cm_confirmed_stream *stream, const cm_roster *roster,
                              cm_transport *transport, uint64_t tick)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_client *member = roster->members[player];
        if (!cm_client_has_joined(member) || member->session.differs == 0) {
            continue;
        }
        uint64_t *healed = &stream->healed[player];
        if (*healed != 0 && tick < *healed + (uint64_t)CM_HEAL_S * stream->tick_rate) {
            stream->heals_refused++;
        } else {
            *healed = tick;
            stream->heals++;
            // To the tick of the keyframe: there it names what differs.
            cm_confirmed_stream_send(stream, roster, transport);
            cm_session_begin_again(&member->session);
        }
        member->session.differs = 0;
    }
}
