// Goal: `carom serve` plays its part from the outside: bad usage is status 2 with a message, a
// signal drains, verifies and ends with 0, a second one ends it at once; a killed server leaves a
// match that verifies. Method: the command in a child process, with signals; what it prints is read
// from a file.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "carom/client.h"
#include "carom/token.h"
#include "server/cli/match_live.h"
#include "server/ops/admin_socket.h"
#include "server/auth/key_file.h"
#include "server/cli/cli.h"
#include "server/node/node_rooms.h"
#include "server/record/replay/replay.h"
#include "server/node/node.h"
#include "tests/unit/node/serving.h"
#include "tests/unit/record/faulty_vfs.h"

static void serve_there(serving *c)
{
    serving_host(c, (char *[]){"--scene", "tests/scenes/sandbox.json", "--status-interval-ms",
                               "100", "--status", "full", NULL});
    serving_wait_for_size(c, c->out, 1500); // some status lines
}

static void serve(serving *c)
{
    serving_make_directory(c);
    serve_there(c);
}

static int usage(char **argv, const char *expected)
{
    serving c;
    serving_make_directory(&c);
    serving_start(&c, argv);
    int status = serving_finish(&c);
    char text[4096];
    serving_read_text(c.err, text, sizeof text);
    cr_assert(strstr(text, expected) != NULL, "'%s' has no '%s'", text, expected);
    serving_remove_directory(&c);
    return status;
}

Test(serve, bad_usage_is_status_2)
{
    char *insecure[] = {"carom", "serve", "--scene", "x", NULL};
    cr_assert_eq(usage(insecure, "--insecure"), 2);
    char *no_scene[] = {"carom", "serve", "--insecure", NULL};
    cr_assert_eq(usage(no_scene, "--scene"), 2);
    char *no_file[] = {"carom", "serve", "--insecure", "--scene", "/nowhere.json", NULL};
    cr_assert_eq(usage(no_file, "/nowhere.json"), 2);
    char *bad_scene[] = {
        "carom", "serve", "--insecure", "--scene", "tests/scenes/bad/mass_zero.json", NULL};
    cr_assert_eq(usage(bad_scene, "mass_zero.json"), 2);
    char *public_address[] = {"carom", "serve", "--insecure", "--listen", "0.0.0.0:1", NULL};
    cr_assert_eq(usage(public_address, "loopback"), 2);
}

static void write_scene(const serving *c, char path[128], const char *keys)
{
    snprintf(path, 128, "%s/scene.json", c->directory);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    fprintf(file, "{\"carom\": 1, \"module\": \"sandbox\", %s}", keys);
    cr_assert_eq(fclose(file), 0);
}

// A good scene that no server can serve: said at once, by its keys, also by `scene validate`.
Test(serve, what_cannot_be_served_is_status_2)
{
    serving c;
    serving_make_directory(&c);
    char path[128];
    write_scene(&c, path,
                "\"bounds\": [[-400000, 0, 0], [400000, 1, 1]],"
                " \"replication\": {\"position_step\": 0.001953125}");
    char *serve_bounds[] = {"carom",   "serve", "--insecure", "--listen", "127.0.0.1:0",
                            "--scene", path,    "--matches",  c.matches,  NULL};
    cr_assert_eq(usage(serve_bounds, "$.bounds"), 2);
    cr_assert_eq(usage(serve_bounds, "$.replication.position_step"), 2);
    char *validate[] = {"carom", "scene", "validate", path, NULL};
    cr_assert_eq(usage(validate, "$.replication.position_step"), 2);
    write_scene(&c, path,
                "\"tick_rate\": 1000, \"limits\": {\"bodies\": 10000, \"shapes\": 10000, "
                "\"contacts\": 40000}");
    cr_assert_eq(usage(validate, ""), 0);
    char *serve_rewind[] = {"carom",       "serve",     "--insecure", "--listen",
                            "127.0.0.1:0", "--scene",   path,         "--rewind-ms",
                            "1000",        "--matches", c.matches,    NULL};
    cr_assert_eq(usage(serve_rewind, "512 MiB that a history may take"), 2);
    serving_remove_directory(&c);
}

Test(serve, the_log_tells_start_listen_drain_and_stop)
{
    serving c;
    char found[256], address[64];
    setenv("CAROM_LISTN", "1", 1);
    setenv("CAROM_PORT", "udp://10.0.0.1:9400", 1);
    unsetenv("CAROM_BINARY");
    serve(&c);
    serving_read_text(c.ready, address, sizeof address);
    address[strcspn(address, "\n")] = '\0';
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "room", "scene", found), 1);
    cr_expect_str_eq(found, "sandbox");
    cr_expect_eq(serving_read_log(c.err, "listen", "address", found), 1);
    cr_expect_str_eq(found, address);
    cr_expect_eq(serving_read_log(c.err, "drain", "reason", found), 1);
    cr_expect_str_eq(found, "SIGTERM");
    cr_expect_eq(serving_read_log(c.err, "stop", "outcome", found), 1);
    cr_expect_str_eq(found, "the same hash at every tick");
    cr_expect_eq(serving_read_log(c.err, "unknown variable of the environment", "nearest", found),
                 1);
    cr_expect_str_eq(found, "CAROM_LISTEN");
    cr_expect_eq(serving_read_log(c.err, "unknown variable of the environment", "variable", found),
                 1);
    cr_expect_str_eq(found, "CAROM_LISTN");
    serving_remove_directory(&c);
}

static void fail_disk(int signal_number)
{
    (void)signal_number;
    faulty.fail_writes = true;
}

// The sync that hangs fails, and those after it.
static void fail_closing(int signal_number)
{
    (void)signal_number;
    faulty.fail_syncs = true;
    faulty.hang[0] = false;
}

Test(serve, an_operator_opens_closes_and_drains)
{
    serving c;
    serve(&c);
    serving_wait_for_size(&c, c.ready, 1);
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"rooms\"}"), "\"room\":\"sandbox\""));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"players\",\"room\":\"sandbox\"}"), "");
    const char *open = "{\"command\":\"open\",\"room\":\"side\",\"scene\":"
                       "\"tests/scenes/sandbox.json\"}";
    cr_expect_str_eq(serving_ask(&c, open), "{\"done\":\"open\"}\n");
    cr_expect_not_null(strstr(serving_ask(&c, open), "there is a room of that name"));
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"rooms\"}"), "\"room\":\"side\""));
    const char *refused[] = {"nothing",
                             "[]",
                             "{}",
                             "{\"command\":\"fly\"}",
                             "{\"command\":\"open\",\"room\":\"x\"}",
                             "{\"command\":\"open\",\"room\":\"a b\",\"scene\":\"x\"}",
                             "{\"command\":\"open\",\"room\":\"x\",\"scene\":\"nowhere\"}",
                             "{\"command\":\"close\",\"room\":\"nowhere\"}",
                             "{\"command\":\"players\",\"room\":\"nowhere\"}",
                             "{\"command\":\"kick\",\"room\":\"side\",\"who\":\"1\"}",
                             "{\"command\":\"kick\",\"room\":\"side\",\"who\":\"-1\"}",
                             "{\"command\":\"ban\",\"who\":7}"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        cr_expect_eq(strncmp(serving_ask(&c, refused[i]), "{\"error\":", 9), 0, "%s", refused[i]);
    }
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"ban\",\"who\":\"18446744073709551615\"}"),
                     "{\"done\":\"ban\"}\n");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"side\"}"),
                     "{\"done\":\"close\"}\n");
    cr_expect_null(strstr(serving_ask(&c, "{\"command\":\"rooms\"}"), "\"room\":\"side\""));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\"}"), "{\"done\":\"drain\"}\n");
    cr_assert_eq(serving_finish(&c), 0);
    char found[256];
    cr_expect_eq(serving_read_log(c.err, "drain", "reason", found), 1);
    cr_expect_str_eq(found, "admin");
    cr_expect_eq(serving_read_log(c.err, "admin", "command", found), 4, "open, ban, close, drain");
    serving_remove_directory(&c);
}

// SIGHUP: the log level is that of the file as it is now; one that is wrong changes nothing. A
// match that runs is told of by its server.
Test(serve, a_signal_reads_the_configuration_again)
{
    serving c;
    char config[160], key[160], text[256], match[256];
    const carom_token_key made = {.id = 1, .secret = {2}};
    const char *const levels[] = {"info", "warning", "loud", "info"};
    serving_make_directory(&c);
    snprintf(config, sizeof config, "%s/serve.json", c.directory);
    snprintf(key, sizeof key, "%s/key", c.directory);
    cr_assert_eq(cm_key_file_make(key, &made, text, sizeof text), CAROM_OK, "%s", text);
    char *argv[] = {"carom",     "serve",    "--key",        key,       "--workers",
                    "0",         "--listen", "127.0.0.1:0",  "--scene", "tests/scenes/sandbox.json",
                    "--matches", c.matches,  "--ready-file", c.ready,   "--config",
                    config,      NULL};
    for (uint32_t i = 0; i < 4; i++) {
        FILE *file = fopen(config, "w");
        cr_assert_not_null(file);
        fprintf(file, "{\"log\": \"%s\"}", levels[i]);
        fclose(file);
        if (i == 0) {
            serving_start(&c, argv);
            serving_wait_for_size(&c, c.ready, 1);
            serving_wait_for_log(&c, "room", 1);
            continue;
        }
        if (i == 1) {
            unlink(key); // an error is said at any level: it has read all by then
        }
        kill(c.pid, SIGHUP);
        if (i == 2) {
            serving_wait_for_log(&c, "configuration not read again", 1);
        } else if (i == 1) {
            serving_wait_for_log(&c, "keys not read again", 1);
            serving_ask(&c, "{\"command\":\"ban\",\"who\":\"7\"}"); // is said at "info"
        }
    }
    serving_wait_for_log(&c, "configuration read again", 1);
    cr_expect_eq(serving_read_log(c.err, "admin", "command", text), 0);
    serving_read_log(c.err, "room", "match", match);
    cr_expect(cm_match_live_info(match, NULL));
    cr_expect_not(cm_match_live_info("elsewhere/0000000000000001.match", NULL));
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

static void write_bans(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

// A player with a token, until it plays (CAROM_REASON_NONE) or is refused or sent away.
static carom_reason play(carom_client *client, bool until_it_ends)
{
    for (int i = 0; i < 600000; i++) {
        carom_client_update(client, cm_now_us());
        carom_client_state state = carom_client_get_state(client);
        if (state == CAROM_CLIENT_IDLE) {
            return carom_client_get_reason(client);
        }
        if (state == CAROM_CLIENT_PLAYING && !until_it_ends) {
            return CAROM_REASON_NONE;
        }
        usleep(1000);
    }
    return CAROM_REASON_COUNT;
}

static carom_client *connect_as(uint64_t id, const char *server, const carom_token_key *key)
{
    char text[CAROM_TOKEN_TEXT_MAX];
    carom_client *client;
    carom_token_def token = carom_default_token_def();
    carom_client_def def = carom_default_client_def();
    token.client_id = id;
    token.expires_unix_s = (uint64_t)time(NULL) + 600;
    token.servers[0] = server;
    cr_assert_eq(carom_token_issue(&token, key, text, sizeof text, NULL), CAROM_OK);
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    cr_assert_eq(carom_client_connect_token(client, text, cm_now_us()), CAROM_OK);
    return client;
}

static carom_reason try_to_play(uint64_t id, const char *server, const carom_token_key *key)
{
    carom_client *client = connect_as(id, server, key);
    carom_reason reason = play(client, false);
    carom_client_destroy(client);
    return reason;
}

// The file of bans, at the start and by SIGHUP, beside those of operators.
static void check_bans(char *workers)
{
    serving c;
    char bans[160], key[160], text[256];
    const carom_token_key made = {.id = 1, .secret = {2}};
    serving_make_directory(&c);
    snprintf(bans, sizeof bans, "%s/bans", c.directory);
    snprintf(key, sizeof key, "%s/key", c.directory);
    cr_assert_eq(cm_key_file_make(key, &made, text, sizeof text), CAROM_OK, "%s", text);
    write_bans(bans, "9 # for ever\n5\n");
    char *argv[] = {"carom",     "serve",    "--key",        key,       "--workers",
                    workers,     "--listen", "127.0.0.1:0",  "--scene", "tests/scenes/sandbox.json",
                    "--matches", c.matches,  "--ready-file", c.ready,   "--bans",
                    bans,        NULL};
    serving_start(&c, argv);
    serving_wait_for_size(&c, c.ready, 1);
    char server[64];
    serving_read_text(c.ready, text, sizeof text);
    snprintf(server, sizeof server, "%.*s", (int)strcspn(text, "\n"), text);
    cr_expect_eq(try_to_play(9, server, &made), CAROM_REASON_BANNED);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"ban\",\"who\":\"5\"}"),
                     "{\"done\":\"ban\"}\n");
    cr_expect_not_null(strstr(serving_ask(&c, "{\"command\":\"unban\",\"who\":\"9\"}"), "SIGHUP"));
    cr_expect_not_null(
        strstr(serving_ask(&c, "{\"command\":\"unban\",\"who\":\"6\"}"), "no client of that"));
    carom_client *seven = connect_as(7, server, &made);
    cr_assert_eq(play(seven, false), CAROM_REASON_NONE);
    write_bans(bans, "7\nx\n");
    kill(c.pid, SIGHUP);
    serving_wait_for_log(&c, "bans not read again", 1);
    serving_read_log(c.err, "bans not read again", "error", text);
    cr_expect_not_null(strstr(text, "bans:2: expected a client id"), "%s", text);
    write_bans(bans, "7\n");
    kill(c.pid, SIGHUP);
    serving_wait_for_log(&c, "bans read again", 1);
    cr_expect_eq(play(seven, true), CAROM_REASON_BANNED, "whoever plays is sent away");
    carom_client_destroy(seven);
    cr_expect_eq(try_to_play(7, server, &made), CAROM_REASON_BANNED);
    cr_expect_eq(try_to_play(9, server, &made), CAROM_REASON_NONE, "no longer in the file");
    cr_expect_eq(try_to_play(5, server, &made), CAROM_REASON_BANNED, "nor it, but an operator's");
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

Test(serve, a_file_of_bans_is_read_and_read_again)
{
    check_bans("0");
    check_bans("2");
}

// A place of recordings whose path is too long for a socket: nobody asked for one.
Test(serve, a_long_path_has_no_admin_socket)
{
    serving c;
    char found[256];
    serving_make_directory(&c);
    size_t size = strlen(c.matches);
    memset(c.matches + size, 's', 110 - size);
    c.matches[110] = '\0';
    serve_there(&c);
    cr_expect_eq(serving_read_log(c.err, "no admin socket", "path", found), 1);
    cr_expect_eq(strncmp(found, c.matches, strlen(c.matches)), 0, "%s", found);
    kill(c.pid, SIGTERM);
    cr_expect_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

// Rooms that are opened later have places, too.
Test(serve, there_are_places_for_rooms_to_come)
{
    static cm_node_rooms rooms;
    rooms.count = 2;
    rooms.rooms[0].spec.max_players = rooms.rooms[1].spec.max_players = 8;
    cr_expect_eq(cm_node_rooms_clients(&rooms), 256);
    rooms.rooms[0].spec.max_players = 400;
    cr_expect_eq(cm_node_rooms_clients(&rooms), 408);
    rooms.rooms[0].spec.max_players = CM_CLIENTS_MAX;
    cr_expect_eq(cm_node_rooms_clients(&rooms), CM_CLIENTS_MAX);
}

// The disk fails in mid-match: the log says so while the match goes on, not at its end.
Test(serve, a_recording_that_fails_is_told_at_once)
{
    serving c;
    char found[256];
    unsetenv("CAROM_BINARY");
    faulty_install();
    serving_stay_here();
    signal(SIGUSR1, fail_disk);
    serve(&c);
    cr_assert_eq(serving_read_log(c.err, "recording failed", "reason", found), 0);
    kill(c.pid, SIGUSR1);
    for (int i = 0; i < 60000 && serving_read_log(c.err, "recording failed", "reason", found) == 0;
         i++) {
        usleep(10000);
        cr_assert_eq(waitpid(c.pid, NULL, WNOHANG), 0, "the server ended");
    }
    cr_assert_neq(found[0], '\0');
    cr_assert_eq(serving_read_log(c.err, "drain", "reason", found), 0);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 1);
    char text[4096];
    serving_read_text(c.err, text, sizeof text);
    cr_assert_not_null(strstr(text, "\ncarom: "), "%s", text);
    cr_assert_eq(strstr(strstr(text, "recording failed") + 1, "recording failed"), NULL, "once");
    serving_remove_directory(&c);
}

// The disk fails while the recording of a room that an operator closed is written: it is told, and
// the server's status is 1, though the room is no more.
Test(serve, a_closed_room_that_is_not_written_is_told)
{
    serving c;
    char found[256];
    volatile bool *hang = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(hang != MAP_FAILED);
    unsetenv("CAROM_BINARY");
    faulty_install();
    serving_stay_here();
    faulty.hang = hang;
    signal(SIGUSR1, fail_closing);
    serve(&c);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"open\",\"room\":\"side\",\"scene\":"
                                     "\"tests/scenes/sandbox.json\"}"),
                     "{\"done\":\"open\"}\n");
    hang[0] = true;
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"side\"}"),
                     "{\"done\":\"close\"}\n");
    for (int i = 0; i < 60000 && !hang[1]; i++) {
        usleep(10000);
    }
    cr_assert(hang[1], "it syncs at the end");
    cr_assert_eq(serving_read_log(c.err, "recording failed", "room", found), 0);
    kill(c.pid, SIGUSR1); // the sync goes on, and fails
    for (int i = 0; i < 60000 && serving_read_log(c.err, "recording failed", "room", found) == 0;
         i++) {
        usleep(10000);
        cr_assert_eq(waitpid(c.pid, NULL, WNOHANG), 0, "the server ended");
    }
    cr_assert_str_eq(found, "side");
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 1);
    char text[65536];
    serving_read_text(c.err, text, sizeof text);
    cr_assert_not_null(strstr(text, "1 recordings are not whole"), "%s", text);
    serving_remove_directory(&c);
}

// Numbers of a room go before those of its scene; such as the scene cannot be made with are
// refused.
Test(serve, a_room_has_limits_of_its_own)
{
    static cm_config config;
    static cm_node_rooms rooms;
    static const char text[] = "{\"rooms\": {\"lobby\": {\"scene\": \"tests/scenes/hello.json\", "
                               "\"bodies\": 300, \"contacts\": 77, \"tick_rate\": 30}}}";
    cm_failure failure;
    cm_config_error error = {0};
    carom_world_def world;
    serving c;
    char path[128];
    cm_config_default(&config);
    cr_assert(cm_config_parse(&config, text, sizeof text - 1, "test.json", &error), "%s",
              error.message);
    cr_assert_eq(cm_node_rooms_load(&config, &rooms, NULL, &failure), CAROM_OK, "%s", failure.text);
    cm_scene_world_def(rooms.rooms[0].scene, &world);
    cr_expect_eq(world.limits.bodies, 300);
    cr_expect_eq(world.limits.contacts, 77);
    cr_expect_eq(world.limits.shapes, 64, "the scene's");
    cr_expect_eq(world.tick_rate, 30);
    cm_node_rooms_free(&rooms);
    unsetenv("CAROM_BINARY");
    serving_make_directory(&c);
    snprintf(path, sizeof path, "%s/few.json", c.directory);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    fputs("{\"insecure\": true, \"listen\": \"127.0.0.1:0\", \"rooms\": {\"lobby\":\n"
          "  {\"scene\": \"tests/scenes/sandbox.json\", \"bodies\": 100}}}\n",
          file);
    fclose(file);
    char *argv[] = {"carom", "serve", "--config", path, "--matches", c.matches, NULL};
    serving_start(&c, argv);
    cr_expect_eq(serving_finish(&c), 2);
    unlink(path);
    serving_expect_nothing_left(&c, "room lobby: tests/scenes/sandbox.json: $.limits.bodies: 100, "
                                    "but the scene holds 405: expected 405 to 65536");
    serving_remove_directory(&c);
}

// Nothing stays of a start that failed, and nothing was said of a server.
Test(serve, a_failed_start_leaves_nothing_behind)
{
    serving c;
    char address[64], deep[256], nowhere[256];
    unsetenv("CAROM_BINARY");
    serving_make_directory(&c);
    serving_take_port(address);
    snprintf(deep, sizeof deep, "%s/a/b/c", c.directory);
    snprintf(nowhere, sizeof nowhere, "%s/none/ready", c.directory);
    char *taken[] = {"carom",
                     "serve",
                     "--insecure",
                     "--listen",
                     address,
                     "--scene",
                     "tests/scenes/sandbox.json",
                     "--matches",
                     deep,
                     NULL};
    serving_start(&c, taken);
    cr_expect_eq(serving_finish(&c), 1);
    serving_expect_nothing_left(&c, address);
    char *ready[] = {"carom",
                     "serve",
                     "--insecure",
                     "--listen",
                     "127.0.0.1:0",
                     "--scene",
                     "tests/scenes/sandbox.json",
                     "--matches",
                     deep,
                     "--ready-file",
                     nowhere,
                     NULL};
    serving_start(&c, ready);
    cr_expect_eq(serving_finish(&c), 1);
    serving_expect_nothing_left(&c, "none/ready: No such file or directory");
    // What was there before stays.
    cr_assert_eq(mkdir(c.matches, 0700), 0);
    ready[8] = c.matches;
    serving_start(&c, ready);
    cr_expect_eq(serving_finish(&c), 1);
    cr_expect_eq(rmdir(c.matches), 0, "it is there, and empty");
    serving_remove_directory(&c);
}

// --check-config reports everything that serve would stumble over, and leaves nothing behind.
Test(serve, check_config_checks_what_serve_needs)
{
    serving c;
    char address[64], nowhere[256], text[4096];
    unsetenv("CAROM_BINARY");
    setenv("CAROM_PORT", "udp://10.0.0.1:9400", 1);
    serving_make_directory(&c);
    serving_take_port(address);
    snprintf(nowhere, sizeof nowhere, "%s/none/ready", c.directory);
    char *good[] = {"carom",
                    "serve",
                    "--check-config",
                    "--insecure",
                    "--listen",
                    "127.0.0.1:0",
                    "--scene",
                    "tests/scenes/sandbox.json",
                    "--matches",
                    c.matches,
                    NULL};
    serving_start(&c, good);
    cr_expect_eq(serving_finish(&c), 0);
    serving_read_text(c.out, text, sizeof text);
    cr_expect_str_eq(text, "the configuration is good\n");
    serving_read_text(c.err, text, sizeof text);
    cr_expect_str_eq(text, "");
    setenv("CAROM_MAX_PLAYER", "3", 1);
    char *bad[] = {"carom",
                   "serve",
                   "--check-config",
                   "--listen",
                   address,
                   "--scene",
                   "tests/scenes/bad/mass_zero.json",
                   "--matches",
                   "README.md",
                   "--ready-file",
                   nowhere,
                   NULL};
    serving_start(&c, bad);
    cr_expect_eq(serving_finish(&c), 2);
    serving_expect_nothing_left(
        &c, "CAROM_MAX_PLAYER: no such setting, the nearest is CAROM_MAX_PLAYERS");
    serving_read_text(c.err, text, sizeof text);
    const char *said[] = {"or --insecure", "README.md: Not a directory", "none/ready: No such file",
                          address, "mass_zero.json:"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        cr_expect_not_null(strstr(text, said[i]), "'%s' in: %s", said[i], text);
    }
    cr_expect_null(strstr(text, "CAROM_PORT"));
    unsetenv("CAROM_MAX_PLAYER");
    good[5] = address;
    serving_start(&c, good);
    cr_expect_eq(serving_finish(&c), 1);
    serving_expect_nothing_left(&c, address);
    serving_remove_directory(&c);
}

Test(serve, a_status_that_nobody_reads_does_not_end_it)
{
    serving c;
    int ends[2];
    serving_make_directory(&c);
    cr_assert_eq(pipe(ends), 0);
    char *argv[] = {"carom",
                    "serve",
                    "--insecure",
                    "--listen",
                    "127.0.0.1:0",
                    "--scene",
                    "tests/scenes/sandbox.json",
                    "--matches",
                    c.matches,
                    "--ready-file",
                    c.ready,
                    NULL};
    c.pid = serving_fork_child();
    if (c.pid == 0) {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        dup2(open(c.err, O_CREAT | O_WRONLY | O_TRUNC, 0600), STDERR_FILENO);
        serving_use_catalogue(&c);
        execv(serving_binary(), argv);
        _exit(127);
    }
    close(ends[1]);
    serving_wait_for_size(&c, c.ready, 1);
    close(ends[0]);
    kill(c.pid, SIGTERM);
    // Its last lines could not be printed, which is a failure; the match is whole.
    cr_assert_eq(serving_finish(&c), 1);
    char command[512];
    snprintf(command, sizeof command, "ls '%s' | grep -q 'match$' && ! ls '%s' | grep -q wal",
             c.matches, c.matches);
    cr_assert_eq(system(command), 0);
    serving_remove_directory(&c);
}

Test(serve, a_signal_drains_and_verifies)
{
    serving c;
    serve(&c);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    static char text[1 << 20];
    serving_read_text(c.out, text, sizeof text);
    cr_assert_eq(strncmp(text, "listening on 127.0.0.1:", 23), 0);
    cr_assert(strstr(text, "\"verified\":true") != NULL, "%s", text);
    cr_assert(strstr(text, "replay ") != NULL);
    char ready[64];
    serving_read_text(c.ready, ready, sizeof ready);
    cr_assert_eq(strncmp(ready, text + 13, strlen(ready)), 0, "the same address");
    serving_remove_directory(&c);
}

// Also while it waits for a disk that never answers: then no tick and no verification ends.
Test(serve, a_second_signal_ends_it_before_a_dead_disk)
{
    volatile bool *hang = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(hang != MAP_FAILED);
    faulty_install();
    serving_stay_here();
    faulty.hang = hang;
    serving c;
    serve(&c);
    hang[0] = true;
    kill(c.pid, SIGTERM);
    for (int i = 0; i < 60000 && !hang[1]; i++) {
        usleep(10000);
    }
    cr_assert(hang[1], "it syncs at the end");
    kill(c.pid, SIGINT);
    cr_assert_eq(serving_finish(&c), 1);
    char text[65536];
    serving_read_text(c.err, text, sizeof text);
    cr_assert(strstr(text, "second signal") != NULL);
    serving_remove_directory(&c);
}

Test(serve, a_second_signal_ends_it_at_once)
{
    serving c;
    serve(&c);
    kill(c.pid, SIGSTOP); // so that both signals are there when it looks
    kill(c.pid, SIGTERM);
    kill(c.pid, SIGINT);
    kill(c.pid, SIGCONT);
    cr_assert_eq(serving_finish(&c), 1);
    char text[65536];
    serving_read_text(c.err, text, sizeof text);
    cr_assert(strstr(text, "second signal") != NULL);
    serving_remove_directory(&c);
}

Test(serve, a_killed_server_leaves_a_match_that_verifies)
{
    serving c;
    serve(&c);
    serving_wait_for_next_ticks(&c, 1);
    kill(c.pid, SIGKILL);
    cr_assert_eq(serving_finish(&c), 128 + SIGKILL);
    int matches = open(c.matches, O_RDONLY | O_DIRECTORY);
    cr_assert_eq(flock(matches, LOCK_EX), 0); // until its worker, which dies with it, is gone too
    char command[256], path[256];
    snprintf(command, sizeof command, "ls '%s'/*.match", c.matches);
    FILE *list = popen(command, "r");
    cr_assert(list != NULL && fgets(path, sizeof path, list) != NULL);
    pclose(list);
    path[strcspn(path, "\n")] = '\0';
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    carom_result result = cm_replay_verify(path, NULL, &report);
    cr_assert_eq(result, CAROM_OK, "%s: %s", carom_result_text(result), report.error.message);
    cr_assert_gt(report.verified_ticks, 0);
    cr_assert(!report.complete);
    serving_remove_directory(&c);
}

// Another program holds the catalogue as the server stops: the match is whole, and who reads the
// index will miss it.
Test(serve, a_match_that_the_index_cannot_take_is_no_clean_end)
{
    serving c;
    sqlite3 *other;
    char text[16384], holder[64];
    serving_make_directory(&c);
    char *more[] = {"--workers", "1", "--scene", "tests/scenes/sandbox.json", NULL};
    serving_host(&c, more);
    snprintf(text, sizeof text, "%s/carom.db", c.directory);
    cr_assert_eq(sqlite3_open(text, &other), SQLITE_OK);
    sqlite3_busy_timeout(other, 60000);
    cr_assert_eq(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    kill(c.pid, SIGTERM);
    cr_expect_eq(serving_finish(&c), 1);
    serving_read_text(c.err, text, sizeof text);
    snprintf(holder, sizeof holder, "locked by process %d (", (int)getpid());
    cr_expect_not_null(strstr(text, "not in the index"), "%s", text);
    cr_expect_not_null(strstr(text, holder), "%s", text);
    sqlite3_close(other);
    serving_remove_directory(&c);
}

// As logrotate's copytruncate does it. Seen: a log that began with as many zeros as it had had
// bytes.
Test(serve, a_log_that_is_cut_goes_on_at_its_beginning)
{
    serving c;
    char text[4096];
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--workers", "1", "--scene", "tests/scenes/sandbox.json", NULL});
    cr_assert_eq(truncate(c.err, 0), 0);
    cr_assert_not_null(strstr(
        serving_ask(&c, "{\"command\":\"message\",\"room\":\"sandbox\",\"text\":\"x\"}"), "done"));
    serving_wait_for_size(&c, c.err, 1);
    serving_read_text(c.err, text, sizeof text);
    cr_expect_eq(text[0], '{', "byte %d", text[0]);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}
