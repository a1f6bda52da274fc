// Reading a match to go on with it: its newest keyframe, what came since, and who was there. The
// ticks that are played are compared with their hashes; the chain is the store's to prove.
#include "server/record/replay/live_match.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_rows.h"
#include "server/record/replay/playback.h"
#include "shared/base/bytes.h"

static cm_live_player *player_of(cm_live_match *match, uint32_t player)
{
    for (uint32_t i = 0; i < match->player_count; i++) {
        if (match->players[i].player == player) {
            return &match->players[i];
        }
    }
    return NULL;
}

// `messages`: those that it sent before the file began, where it was there then.
static void take_join(cm_live_match *match, uint64_t tick, uint32_t player, uint64_t client_id,
                      uint64_t messages)
{
    cm_live_player *who = player_of(match, player);
    if (who == NULL) {
        who = &match->players[match->player_count++];
    }
    *who = (cm_live_player){.player = player,
                            .client_id = client_id,
                            .join_tick = tick,
                            .messages = messages,
                            .statistics = {.player = player}};
}

// False: with this one the match ended.
static bool take_event(cm_live_match *match, uint64_t tick, const char *type, uint32_t player,
                       uint64_t client_id, uint64_t messages)
{
    cm_live_player *who = player_of(match, player);
    if (strcmp(type, "join") == 0) {
        take_join(match, tick, player, client_id, messages);
    } else if (strcmp(type, "message") == 0 && who != NULL) {
        who->messages++;
    } else if (strcmp(type, "leave") == 0 && who != NULL) {
        *who = match->players[--match->player_count];
    }
    return strcmp(type, "end") != 0;
}

// Of the joins with which a file begins after a gap; 0 of all others.
static uint64_t messages_before(const cm_live_match *match, const cm_cursor *rows)
{
    if (rows->tick != match->info.gap_to || match->info.gap_to == 0) {
        return 0;
    }
    const void *payload = sqlite3_column_blob(rows->query, 4);
    cm_byte_reader bytes =
        cm_byte_reader_make(payload, (size_t)sqlite3_column_bytes(rows->query, 4));
    return cm_get_u64(&bytes);
}

// Without the ticks: joins and leaves of an hour are few.
static carom_result take_events(cm_live_match *match, cm_match_file *file, cm_match_error *error)
{
    cm_cursor rows = {0};
    char type[16];
    uint64_t player, client_id;
    carom_result result = cm_cursor_open(
        file, &rows, "events",
        "SELECT tick, type, player, client_id, payload FROM events WHERE type <> 'resumed' "
        "ORDER BY tick, number",
        error);
    while (result == CAROM_OK && rows.has_row) {
        if (!cm_column_text(rows.query, 1, type, sizeof type) ||
            !cm_column_u64(rows.query, 2, &player) || player >= CAROM_PLAYERS_MAX ||
            !cm_column_id(rows.query, 3, &client_id)) {
            result = cm_match_corrupt(error, "events: row %llu: unreadable",
                                      (unsigned long long)rows.tick);
            break;
        }
        uint64_t messages = messages_before(match, &rows);
        result = take_event(match, rows.tick, type, (uint32_t)player, client_id, messages)
                     ? cm_cursor_step(file, &rows, error)
                     : cm_match_wrong(error, CAROM_ERROR_STATE,
                                      "the match has ended, though that was not written");
    }
    cm_cursor_close(&rows);
    return result;
}

// The newest of each kind; texts that were erased are not there.
static carom_result take_personal(cm_live_match *match, cm_match_file *file, cm_match_error *error)
{
    cm_cursor rows = {0};
    char kind[16], text[CM_RECORD_PERSONAL_MAX + 1];
    uint64_t id;
    carom_result result = cm_cursor_open(file, &rows, "personal",
                                         "SELECT tick, client_id, kind, value FROM personal WHERE "
                                         "value IS NOT NULL ORDER BY number",
                                         error);
    while (result == CAROM_OK && rows.has_row) {
        if (cm_column_id(rows.query, 1, &id) && cm_column_text(rows.query, 2, kind, sizeof kind) &&
            cm_column_text(rows.query, 3, text, sizeof text)) {
            for (uint32_t i = 0; i < match->player_count; i++) {
                cm_live_player *who = &match->players[i];
                bool name = strcmp(kind, "name") == 0 && strlen(text) < sizeof who->name;
                bool address = strcmp(kind, "address") == 0 && strlen(text) < sizeof who->address;
                if (who->client_id == id && (name || address)) {
                    strcpy(name ? who->name : who->address, text);
                }
            }
        }
        result = cm_cursor_step(file, &rows, error);
    }
    cm_cursor_close(&rows);
    return result;
}

// Reads the players' statistics; ticks after the last keyframe are not counted.
static carom_result take_statistics(cm_live_match *match, cm_match_file *file,
                                    cm_match_error *error)
{
    cm_cursor rows = {0};
    carom_result result = cm_cursor_open(
        file, &rows, "statistics",
        "SELECT tick, player, inputs, late, rewound_ticks, refused FROM statistics WHERE tick = "
        "(SELECT max(tick) FROM statistics)",
        error);
    while (result == CAROM_OK && rows.has_row) {
        uint64_t numbers[5] = {0};
        for (int i = 0; i < 5; i++) {
            cm_column_u64(rows.query, i + 1, &numbers[i]);
        }
        cm_live_player *who =
            numbers[0] < CAROM_PLAYERS_MAX ? player_of(match, (uint32_t)numbers[0]) : NULL;
        if (who != NULL && who->join_tick <= rows.tick) {
            who->statistics = (cm_player_statistics){.player = who->player,
                                                     .inputs = numbers[1],
                                                     .late = numbers[2],
                                                     .rewound_ticks = numbers[3],
                                                     .refused = numbers[4]};
        }
        result = cm_cursor_step(file, &rows, error);
    }
    cm_cursor_close(&rows);
    return result;
}

// The checks that need no rows.
static carom_result check(cm_live_match *match, const cm_match_file *file,
                          const carom_module *module, cm_match_error *error)
{
    cm_match_info_get(file, &match->info);
    if (match->info.end != CM_MATCH_LIVE) {
        return cm_match_wrong(error, CAROM_ERROR_STATE, "the match has ended: %s",
                              cm_match_end_name(match->info.end));
    }
    return cm_playback_check(&match->info, &module, error);
}

static carom_result encode(cm_live_match *match, const carom_game *game, cm_match_error *error)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_game_has_slot(game, player) != (player_of(match, player) != NULL)) {
            return cm_match_corrupt(error, "events: joins and leaves are not those of the game");
        }
    }
    match->hash = cm_game_hash(game);
    match->image_size = cm_game_encode_size(game);
    match->image = malloc(match->image_size);
    if (match->image == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    cm_game_encode(game, match->image, match->image_size);
    return CAROM_OK;
}

// The game at the last tick; the scene stays when the file is closed.
static carom_result play(cm_live_match *match, cm_match_file *file, const carom_module *module,
                         cm_match_error *error)
{
    cm_playback *playback;
    carom_result result = cm_playback_apply(file, module, &playback, error);
    if (result != CAROM_OK) {
        return result;
    }
    result = cm_playback_seek(playback, match->info.ticks, error);
    result = result == CAROM_OK ? encode(match, cm_playback_game(playback), error) : result;
    if (result == CAROM_OK) {
        match->module = cm_game_module(cm_playback_game(playback));
        match->scene = file->scene;
        file->scene = NULL;
    }
    cm_playback_close(playback);
    return result;
}

carom_result cm_live_match_read(const char *path, const carom_module *module, cm_live_match **out,
                                cm_match_error *error)
{
    cm_match_file *file;
    *out = NULL;
    cm_live_match *match = calloc(1, sizeof *match);
    if (match == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    carom_result result = cm_match_open_unread(path, &file, error);
    if (result == CAROM_OK) {
        result = check(match, file, module, error);
        result = result == CAROM_OK ? take_events(match, file, error) : result;
        result = result == CAROM_OK ? take_personal(match, file, error) : result;
        result = result == CAROM_OK ? take_statistics(match, file, error) : result;
        if (result == CAROM_OK) {
            result = play(match, file, module, error);
        } else {
            cm_match_close(file);
        }
    }
    if (result != CAROM_OK) {
        cm_live_match_free(match);
        return result;
    }
    *out = match;
    return CAROM_OK;
}

void cm_live_match_free(cm_live_match *match)
{
    if (match != NULL) {
        cm_scene_free(match->scene);
        free(match->image);
        free(match);
    }
}
