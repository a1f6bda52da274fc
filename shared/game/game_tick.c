// Ticking a game: events, held inputs, the module, the world, contacts.
//
// The order is fixed, because a recording is replayed through it: events as given, inputs in order
// of player slots, module tick, world step, contact callbacks in order of shape ids. The module
// runs in the simulation's floating-point environment, so that a process with denormals turned off,
// or another rounding mode, changes nothing.
#include <string.h>

#include "shared/base/fpenv.h"
#include "shared/game/game_host.h"
#include "shared/game/game_state.h"
#include "shared/game/pointer.h"

#define HITS_MAX 256u // per tick, passed to a module; later ones are dropped

static void forget_kick(carom_game *game, uint32_t player)
{
    game->kicked &= ~(UINT64_C(1) << player);
    game->kick_reasons[player] = 0;
}

static void join(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    uint64_t bit = UINT64_C(1) << player;
    game->present |= bit; // holds zeros, as every slot that is free
    if (game->module->join != NULL) {
        cm_game_mark(game, CM_CALLBACK_JOIN);
        if (!game->module->join(game, player, bytes, size)) {
            game->refused |= bit;
            forget_kick(game, player); // refused is all that it can be
        }
    }
}

static void leave(carom_game *game, uint32_t player)
{
    if (game->module->leave != NULL && cm_game_player_present(game, player)) {
        cm_game_mark(game, CM_CALLBACK_LEAVE);
        game->module->leave(game, player);
    }
    cm_pointer_put(game->world, cm_game_pointer(game, player), NULL);
    game->present &= ~(UINT64_C(1) << player);
    game->refused &= game->present;
    forget_kick(game, player);
    memset(game->held[player], 0, CAROM_INPUT_MAX);
}

static void apply_event(carom_game *game, const cm_game_event *event)
{
    const carom_module *module = game->module;
    uint32_t player = event->player;
    // An empty payload is passed as NULL, whether the event is live or comes from a record.
    const uint8_t *bytes = event->size > 0 ? event->bytes : NULL;
    switch (event->type) {
    case CM_EVENT_JOIN:
        if (player < CAROM_PLAYERS_MAX && !cm_game_has_slot(game, player)) {
            join(game, player, bytes, event->size);
        }
        break;
    case CM_EVENT_LEAVE:
        if (cm_game_has_slot(game, player)) {
            leave(game, player);
        }
        break;
    case CM_EVENT_MESSAGE:
        if (cm_game_player_present(game, player) && module->message != NULL) {
            cm_game_mark(game, CM_CALLBACK_MESSAGE);
            module->message(game, player, bytes, event->size);
        }
        break;
    case CM_EVENT_END:
        if (module->end != NULL) {
            cm_game_mark(game, CM_CALLBACK_END);
            module->end(game);
        }
        break;
    default:
        break; // an unknown event of a hostile file does nothing
    }
    cm_game_mark(game, CM_CALLBACK_NONE);
}

static void hold_inputs(carom_game *game, const cm_tick_input *input)
{
    for (uint32_t i = 0; i < input->input_count; i++) {
        const carom_player_input *in = &input->inputs[i];
        if (cm_game_player_present(game, in->player)) {
            // Bytes beyond the input are not stored: they would become part of the state.
            memcpy(game->held[in->player], in->bytes, cm_game_input_size(game));
        }
    }
}

// The held poses, of each pointer whose player is there, in order of the bodies' slots.
static void put_pointers(carom_game *game)
{
    for (uint32_t slot = 0; slot < carom_world_body_slots(game->world); slot++) {
        carom_body_id body = carom_world_body_at(game->world, slot);
        uint32_t player = carom_body_pointer(game->world, body);
        if (!cm_game_player_present(game, player)) {
            continue;
        }
        carom_pointer_pose pose;
        cm_pointer_reason reason = cm_pointer_read(game->held[player], &pose);
        if (reason == CM_POINTER_OK) {
            cm_pointer_put(game->world, body, &pose);
        } else {
            game->poses_refused += reason != CM_POINTER_NONE;
        }
    }
}

static void run_module_tick(carom_game *game)
{
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_game_player_present(game, player)) {
            inputs[count].player = player;
            memset(inputs[count].bytes, 0, CAROM_INPUT_MAX);
            memcpy(inputs[count].bytes, game->held[player] + game->prefix_bytes,
                   CAROM_INPUT_MAX - game->prefix_bytes);
            count++;
        }
    }
    cm_game_mark(game, CM_CALLBACK_TICK);
    game->module->tick(game, inputs, count);
    cm_game_mark(game, CM_CALLBACK_NONE);
}

static void run_contacts(carom_game *game)
{
    uint32_t count;
    const carom_contact_event *events = carom_world_contact_events(game->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        // A copy: the callback may change the world, which ends the events' life.
        carom_contact_event event = events[i];
        cm_game_mark(game, CM_CALLBACK_CONTACT);
        game->module->contact(game, &event);
    }
    cm_game_mark(game, CM_CALLBACK_NONE);
}

// Taken before any callback ran: those may change the world, which ends the events' life.
static uint32_t take_hits(carom_game *game, carom_hit_event hits[HITS_MAX])
{
    uint32_t count;
    const carom_hit_event *events = carom_world_hit_events(game->world, &count);
    count = count < HITS_MAX ? count : HITS_MAX;
    memcpy(hits, events, count * sizeof *hits);
    return count;
}

static void run_hits(carom_game *game, const carom_hit_event *hits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cm_game_mark(game, CM_CALLBACK_HIT);
        game->module->hit(game, &hits[i]);
    }
    cm_game_mark(game, CM_CALLBACK_NONE);
}

void cm_game_tick(carom_game *game, const cm_tick_input *input)
{
    cm_fpenv saved = cm_fpenv_enter();
    game->message_count = game->event_count = 0;
    game->closes = false;
    game->ticking = 1;
    // Until the step a module sees no events: those of the last tick are gone after a restore.
    carom_world_clear_events(game->world);
    for (uint32_t i = 0; i < input->event_count; i++) {
        apply_event(game, &input->events[i]);
    }
    hold_inputs(game, input);
    if (game->pointer_bytes > 0) {
        put_pointers(game);
    }
    if (game->module->tick != NULL) {
        run_module_tick(game);
    }
    carom_world_step(game->world);
    game->ticking = 0;
    game->stepped = 1;
    carom_hit_event hits[HITS_MAX];
    uint32_t hit_count = game->module->hit != NULL ? take_hits(game, hits) : 0;
    if (game->module->contact != NULL) {
        run_contacts(game);
    }
    run_hits(game, hits, hit_count);
    game->stepped = 0;
    cm_past_note(&game->past, game->world);
    cm_game_refresh_public(game);
    cm_fpenv_leave(saved);
}
