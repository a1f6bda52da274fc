// Typical: 7 other players, a view 30 times a second, acknowledged after 4 to 16 ticks.
#include "server/replicate/room_relay.h"

#include <string.h>

#include "shared/wire/input_relay.h"

#define REACH_MAX    96u // ticks since the acknowledged view: after more the relay begins anew
#define CREDIT_VIEWS 8u  // that were not sent, and may go besides
#define REFRESH_MIN  32u // ticks: then one that tells nothing new goes too, to be acknowledged

// The newest input of a player is another than at the last tick.
static bool is_news(cm_room_relay *relay, const cm_room *room, uint32_t player)
{
    uint64_t tick = cm_room_tick(room), at = tick + CM_RELAY_AHEAD_MAX;
    const uint8_t *input = cm_room_input_at(room, player, at);
    while (input == NULL && at > tick) {
        input = cm_room_input_at(room, player, --at);
    }
    uint8_t *newest = relay->newest[player];
    size_t size = cm_game_input_size(cm_room_game(room));
    bool news = input != NULL && memcmp(input, newest, size) != 0;
    if (news) {
        memcpy(newest, input, size);
    }
    return news;
}

bool cm_room_relay_look(cm_room_relay *relay, const cm_room *room)
{
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    if (relay->view_rate == 0 || stats.inputs == relay->inputs) {
        return false;
    }
    relay->inputs = stats.inputs;
    uint64_t news = 0;
    for (uint64_t left = cm_room_present(room); left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        news |= (uint64_t)is_news(relay, room, player) << player;
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX && news != 0; player++) {
        cm_relay_turn *turn = &relay->turns[player];
        turn->waits = turn->waits || (news & ~(UINT64_C(1) << player)) != 0;
    }
    return news != 0;
}

void cm_room_relay_frame(cm_room_relay *relay, const cm_room *room)
{
    uint64_t tick = cm_room_tick(room), made = cm_room_made(room);
    relay->made[tick % CM_RELAY_FRAMES] = made;
    (void)cm_room_relay_look(relay, room);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX && relay->view_rate > 0; player++) {
        cm_relay_turn *turn = &relay->turns[player];
        uint32_t most = (relay->is_all ? 2 * CREDIT_VIEWS : 5) * cm_room_tick_rate(room) / 2;
        turn->waits = turn->waits || made < tick;
        turn->credit += relay->view_rate;
        turn->credit = turn->credit < most ? turn->credit : most;
    }
}

bool cm_room_relay_is_due(cm_room_relay *relay, const cm_room *room, uint32_t player, bool late)
{
    const cm_relay_turn *turn = &relay->turns[player];
    uint64_t rate = cm_room_tick_rate(room), since = cm_room_tick(room) - turn->sent;
    bool news = turn->waits || late;
    if (!relay->is_all) {
        return 2 * turn->credit >= 3 * rate || (turn->credit >= rate && news);
    }
    return turn->credit >= rate && (news || 2 * since * relay->view_rate >= 5 * rate);
}

void cm_room_relay_went(cm_room_relay *relay, const cm_room *room, uint32_t player)
{
    cm_relay_turn *turn = &relay->turns[player];
    *turn = (cm_relay_turn){.sent = cm_room_tick(room),
                            .credit = turn->credit - cm_room_tick_rate(room)};
}

static const uint8_t *input_of(void *context, uint32_t player, uint64_t tick)
{
    return cm_room_input_at(context, player, tick);
}

// Players whose inputs count by now.
static uint64_t playing(const cm_roster *roster, uint64_t tick)
{
    uint64_t players = 0;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        const cm_session *session = cm_roster_session(roster, i);
        players |= (uint64_t)(session != NULL && session->join_tick <= tick) << i;
    }
    return players;
}

// The first tick that may be new to a client which knows all up to `acked`.
static uint64_t first_new(const cm_room_relay *relay, uint64_t acked, uint64_t tick)
{
    uint64_t first = acked + 1;
    for (uint64_t t = first; t <= tick; t++) {
        uint64_t made = relay->made[t % CM_RELAY_FRAMES];
        first = made < first ? made : first;
    }
    return first;
}

// Of a relay that begins: as far back as a rewind reaches.
static uint64_t oldest_told(const cm_room *room)
{
    uint64_t tick = cm_room_tick(room), window = cm_room_window(room) + 2;
    window = window < CM_RELAY_BACK_MAX ? window : CM_RELAY_BACK_MAX;
    return tick > window ? tick - window + 1 : 1;
}

// Of a relay that is too long with poses, which change with each of 1,000 ticks a second, only the
// view's tick and what came for later ones is told: clients move poses on by their velocities. Then
// the last players are left out: their bodies go on as they moved.
static void write_fitting(cm_room_relay *relay, const cm_room *room, cm_input_relay *told,
                          cm_view_header *header, bool *news)
{
    header->relay_size = 0;
    while (told->players != 0 && header->relay_size == 0) {
        header->relay_size = (uint32_t)cm_input_relay_write(told, input_of, (void *)(uintptr_t)room,
                                                            header->relay, CM_RELAY_MAX, news);
        if (header->relay_size == 0 && told->back > 1 && told->input_size >= CAROM_POINTER_BYTES) {
            told->back = 1;
            told->based = 0;
        } else if (header->relay_size == 0) {
            told->players &= ~(UINT64_C(1) << (63 - __builtin_clzll(told->players)));
            told->based &= told->players;
            relay->left_out++;
        }
    }
}

void cm_room_relay_view(cm_room_relay *relay, const cm_room *room, const cm_roster *roster,
                        uint32_t player, cm_replica *replica, cm_view_header *header)
{
    uint64_t tick = cm_room_tick(room), *since = relay->since[player];
    if (!relay->is_on) {
        return;
    }
    const cm_replica_relay acked = cm_replica_relay_acked(replica);
    bool begins = acked.tick == 0 || tick - acked.tick > REACH_MAX;
    uint64_t first = begins ? oldest_told(room) : first_new(relay, acked.tick, tick);
    begins = begins || tick - first + 1 > CM_RELAY_BACK_MAX;
    first = begins ? oldest_told(room) : first;
    cm_input_relay told = {.tick = tick,
                           .back = (uint32_t)(tick - first + 1),
                           .players = playing(roster, tick) & ~(UINT64_C(1) << player),
                           .input_size = cm_game_input_size(cm_room_game(room))};
    for (uint64_t left = begins ? 0 : told.players & acked.players; left != 0; left &= left - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(left);
        bool known = since[other] < first && cm_room_input_at(room, other, first - 1) != NULL;
        told.based |= (uint64_t)known << other;
    }
    bool news;
    write_fitting(relay, room, &told, header, &news);
    first = tick - told.back + 1;
    if (header->relay_size == 0 || (!news && tick - acked.tick < REFRESH_MIN)) {
        header->relay_size = 0;
        return;
    }
    // Of several without a baseline only one may arrive: the latest beginning is safe.
    for (uint64_t left = told.players & ~told.based; left != 0; left &= left - 1) {
        uint64_t *begun = &since[__builtin_ctzll(left)];
        *begun = first > *begun ? first : *begun;
    }
    cm_replica_tells(replica, told.players);
}
