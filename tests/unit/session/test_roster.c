// Goal: after a crash a slot waits for its own player and nobody else, and goes on counting what
// that player said. Method: a roster by hand.
#include "server/session/roster.h"

#include <criterion/criterion.h>

#include "tests/unit/node/rig.h"

#define MATCH UINT64_C(77)
#define OWNER UINT64_C(100)

static cm_token ticket_of(uint64_t match, uint32_t player, uint64_t client_id)
{
    cm_token ticket = {.kind = CM_TOKEN_RESUME, .match_id = match, .player = player};
    ticket.body.client_id = client_id;
    return ticket;
}

// Nobody knows which ticket was given last: the first of match, player and client is taken. One of
// a former player of the slot is none.
Test(roster, a_slot_after_a_crash_is_its_players_alone)
{
    cm_scene *scene = rig_scene(1);
    cm_room_loop_def def = {.scene = scene, .seed = 1, .max_players = 4, .rewind_ms = 133};
    cm_room_loop *loop;
    cm_roster roster;
    char error[256] = "";
    cr_assert_eq(cm_room_loop_create(&def, &loop, error, sizeof error), CAROM_OK, "%s", error);
    cm_roster_init(&roster, loop, 60);
    roster.match_id = MATCH;
    roster.grace_ms = 15000;
    const cm_roster_return player = {.player = 2,
                                     .client_id = OWNER,
                                     .join_tick = 5,
                                     .messages = 41,
                                     .name = "owner",
                                     .address = "10.0.0.2:4000"};
    cm_roster_expect(&roster, &player, 1000000);
    cr_assert(cm_roster_is_expected(&roster, 2));
    cm_token ticket = ticket_of(MATCH, 2, OWNER + 1);
    cr_expect_null(cm_roster_find(&roster, &ticket), "of another client");
    ticket = ticket_of(MATCH + 1, 2, OWNER);
    cr_expect_null(cm_roster_find(&roster, &ticket), "of another match");
    ticket = ticket_of(MATCH, 1, OWNER);
    cr_expect_null(cm_roster_find(&roster, &ticket), "of another slot");
    ticket = ticket_of(MATCH, CAROM_PLAYERS_MAX, OWNER);
    cr_expect_null(cm_roster_find(&roster, &ticket), "of no slot");
    ticket = ticket_of(MATCH, 2, OWNER);
    const cm_session *session = cm_roster_find(&roster, &ticket);
    cr_assert_not_null(session);
    cr_expect_eq(session->client_id, OWNER);
    cr_expect_eq(session->messages_received, 41);
    cr_expect_eq(session->join_tick, 5);
    cr_expect_str_eq(session->name, "owner");
    cm_room_loop_destroy(loop);
    cm_scene_free(scene);
}
