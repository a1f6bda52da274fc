// The state machine of a client's slot, its acks and its budgets. Typical: 60 input packets and
// 30 views a second, a control message now and then.
#include "server/session/session.h"

#include <string.h>

#define UNIT UINT64_C(1000000)

void cm_bucket_init(cm_bucket *bucket, uint64_t capacity, uint64_t rate, uint64_t now_us)
{
    bucket->capacity = capacity * UNIT;
    bucket->level = bucket->capacity;
    bucket->rate = rate;
    bucket->last_us = now_us;
}

void cm_bucket_refill(cm_bucket *bucket, uint64_t now_us)
{
    uint64_t passed = now_us > bucket->last_us ? now_us - bucket->last_us : 0;
    bucket->last_us += passed;
    uint64_t room = bucket->capacity - bucket->level;
    // Compared by division, so that a long pause cannot overflow.
    bucket->level = passed > room / (bucket->rate + 1) && passed * bucket->rate >= room
                        ? bucket->capacity
                        : bucket->level + passed * bucket->rate;
}

uint64_t cm_bucket_level(const cm_bucket *bucket)
{
    return bucket->level / UNIT;
}

bool cm_bucket_spend(cm_bucket *bucket, uint64_t amount, uint64_t now_us)
{
    cm_bucket_refill(bucket, now_us);
    if (bucket->level < amount * UNIT) {
        return false;
    }
    bucket->level -= amount * UNIT;
    return true;
}

void cm_session_open(cm_session *session, uint64_t now_us)
{
    memset(session, 0, sizeof *session);
    session->state = CM_SESSION_CONNECTED;
    session->connected_us = now_us;
    session->lead = CM_LEAD_UNKNOWN;
    cm_bucket_init(&session->messages, 32 * CM_SESSION_PAUSE_S, 32, now_us);
    cm_bucket_init(&session->malformed, CM_SESSION_MALFORMED, 1, now_us);
}

void cm_session_join(cm_session *session, uint32_t player, uint64_t client_id, uint64_t join_tick,
                     uint32_t input_rate, uint32_t tick_rate, uint64_t now_us)
{
    session->state = CM_SESSION_JOINING;
    session->player = player;
    session->client_id = client_id;
    session->join_tick = join_tick;
    session->newest_input = join_tick;
    // A client on a bad path sends at twice the rate; four times is what none needs.
    cm_bucket_init(&session->input_packets, 4 * input_rate * CM_SESSION_PAUSE_S, 4 * input_rate,
                   now_us);
    cm_bucket_init(&session->comebacks, 8, 1, now_us);
    // One step more for each tick on average; two seconds of that while a clock locks anew.
    cm_bucket_init(&session->rewinds, 2 * tick_rate, tick_rate, now_us);
}

bool cm_session_come_back(cm_session *session, const cm_session *before,
                          const uint8_t ticket[CM_TOKEN_NONCE_BYTES], uint64_t tick,
                          uint64_t now_us)
{
    uint64_t connected_us = session->connected_us;
    *session = *before;
    session->state = CM_SESSION_JOINING;
    session->connected_us = connected_us;
    session->newest_input = tick;
    session->lead = CM_LEAD_UNKNOWN;
    session->ack_count = 0;
    session->epoch++;
    session->came_back = true;
    memcpy(session->came_by, ticket, sizeof session->came_by);
    return cm_bucket_spend(&session->comebacks, 1, now_us);
}

void cm_session_begin_again(cm_session *session)
{
    session->state = CM_SESSION_JOINING;
    session->lead = CM_LEAD_UNKNOWN;
    session->ack_count = 0;
    session->epoch++;
}

void cm_session_recall(cm_session *session, const cm_control *hello)
{
    session->epoch = (uint8_t)(hello->epoch + 1u);
    session->recounts = true;
    session->messages_had = hello->messages_had;
}

carom_reason cm_session_control(cm_session *session, const cm_control *control, uint64_t now_us)
{
    if (session->state == CM_SESSION_LEAVING || session->state == CM_SESSION_FREE) {
        return CAROM_REASON_NONE;
    }
    if (!cm_bucket_spend(&session->messages, 1, now_us)) {
        return CAROM_REASON_FLOOD;
    }
    bool hello = control->type == CM_CONTROL_HELLO;
    if (hello != (session->state == CM_SESSION_CONNECTED)) {
        return CAROM_REASON_HELLO_EXPECTED;
    }
    if (hello && control->protocol != CM_PROTOCOL_VERSION) {
        return CAROM_REASON_PROTOCOL_VERSION;
    }
    if (hello && control->engine != CAROM_ENGINE_VERSION) {
        return CAROM_REASON_ENGINE_VERSION;
    }
    return CAROM_REASON_NONE;
}

carom_reason cm_session_input(cm_session *session, uint64_t now_us)
{
    if (session->state == CM_SESSION_CONNECTED) {
        return CAROM_REASON_HELLO_EXPECTED;
    }
    bool spent = cm_bucket_spend(&session->input_packets, 1, now_us);
    return spent || session->state == CM_SESSION_LEAVING ? CAROM_REASON_NONE : CAROM_REASON_FLOOD;
}

carom_reason cm_session_malformed(cm_session *session, uint64_t now_us)
{
    return cm_bucket_spend(&session->malformed, 1, now_us) ? CAROM_REASON_NONE
                                                           : CAROM_REASON_MALFORMED;
}

bool cm_session_overdue(const cm_session *session, uint64_t now_us)
{
    return session->state == CM_SESSION_CONNECTED &&
           now_us >= session->connected_us + CM_SESSION_HELLO_US;
}

void cm_session_ack_came(cm_session *session, uint16_t sequence, uint32_t bits)
{
    if (session->ack_count == CM_SESSION_ACKS) {
        session->ack_count--;
        memmove(session->acks, session->acks + 1, session->ack_count * sizeof *session->acks);
    }
    cm_session_ack ack = {sequence, bits};
    session->acks[session->ack_count++] = ack;
}

uint32_t cm_session_pop_acks(cm_session *session, cm_session_ack acks[CM_SESSION_ACKS])
{
    uint32_t count = session->ack_count;
    memcpy(acks, session->acks, count * sizeof *acks);
    session->ack_count = 0;
    return count;
}

void cm_session_lead(cm_session *session, int64_t sixteenths)
{
    int64_t lead = sixteenths < -32767 ? -32767 : (sixteenths > 32767 ? 32767 : sixteenths);
    if (session->lead == CM_LEAD_UNKNOWN || lead < session->lead) {
        session->lead = (int32_t)lead;
    }
}

int16_t cm_session_pop_lead(cm_session *session)
{
    int16_t lead = (int16_t)session->lead;
    session->lead = CM_LEAD_UNKNOWN;
    return lead;
}
