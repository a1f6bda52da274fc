// Goal: what an operator says reaches players; a ban lasts as long as it says, and the list tells
// why; a drain that waits opens no room and ends when it said, or before; a handover loses nothing
// that a crash would have kept. Method: real processes, real clients; the log and what players
// received judge.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/client.h"

#include "server/node/node.h"
#include "server/record/format/match_file.h"
#include "tests/unit/node/serving.h"
#include "tests/unit/record/recording.h"

#define SCENE "tests/scenes/sandbox.json"

// A player, and the last notice that came.
typedef struct person {
    carom_client *client;
    char text[300];
    carom_reason reason;
    uint32_t seconds_left, notices;
} person;

static void keep_notice(void *user, const carom_client_notice *notice)
{
    person *p = user;
    snprintf(p->text, sizeof p->text, "%s", notice->text);
    p->reason = notice->reason;
    p->seconds_left = notice->seconds_left;
    p->notices++;
}

static uint16_t port_of(const serving *c)
{
    char text[256];
    serving_read_text(c->ready, text, sizeof text);
    return (uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10);
}

static void join(person *p, const char *room, uint16_t port)
{
    carom_client_def def = carom_default_client_def();
    memset(p, 0, sizeof *p);
    def.room = room;
    def.predict = false;
    def.notice = keep_notice;
    def.user = p;
    cr_assert_eq(carom_client_create(&def, &p->client), CAROM_OK);
    cr_assert_eq(carom_client_connect(p->client, "127.0.0.1", port, cm_now_us()), CAROM_OK);
}

// Until the condition holds of the person whose life goes on here.
#define LIVE_UNTIL(p, condition)                                                                   \
    do {                                                                                           \
        for (int turn_ = 0; turn_ < 600000 && !(condition); turn_++) {                             \
            carom_client_update((p)->client, cm_now_us());                                         \
            usleep(1000);                                                                          \
        }                                                                                          \
        cr_assert(condition, "%s", carom_reason_text(carom_client_get_reason((p)->client)));       \
    } while (0)

static bool plays(const person *p)
{
    return carom_client_get_state(p->client) == CAROM_CLIENT_PLAYING;
}

static void start(serving *c, char *workers)
{
    serving_make_directory(c);
    serving_host(c, (char *[]){"--workers", workers, "--room", "a=" SCENE, "--room", "b=" SCENE,
                               "--grace-ms", "2000", NULL});
}

static void expect_error(const serving *c, const char *request, const char *said)
{
    const char *answer = serving_ask(c, request);
    cr_expect(strncmp(answer, "{\"error\":", 9) == 0 && strstr(answer, said) != NULL, "%s: %s",
              request, answer);
}

Test(operator, messages_and_bans_reach_players)
{
    serving c;
    person a, b;
    char request[512], id[32], text[256];
    start(&c, "2");
    join(&a, "a", port_of(&c));
    join(&b, "b", port_of(&c));
    LIVE_UNTIL(&a, plays(&a));
    LIVE_UNTIL(&b, plays(&b));
    cr_expect_str_eq(
        serving_ask(&c, "{\"command\":\"message\",\"room\":\"a\",\"text\":\"Zug fährt ab\"}"),
        "{\"done\":\"message\"}\n");
    LIVE_UNTIL(&a, a.notices == 1);
    cr_expect_str_eq(a.text, "Zug fährt ab");
    cr_expect_eq(a.reason, CAROM_REASON_NONE);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"message\",\"room\":\"b\",\"text\":\"you\","
                                     "\"who\":\"0\"}"),
                     "{\"done\":\"message\"}\n");
    LIVE_UNTIL(&b, b.notices == 1);
    expect_error(&c, "{\"command\":\"message\",\"room\":\"a\",\"text\":\"x\",\"who\":\"1\"}",
                 "nobody");
    expect_error(&c, "{\"command\":\"message\",\"room\":\"a\",\"text\":\"a\\nb\"}", "printable");
    expect_error(&c, "{\"command\":\"message\",\"room\":\"a\"}", "missing");
    // Of who is banned, what the list has, until it has expired.
    const char *players = serving_ask(&c, "{\"command\":\"players\",\"room\":\"a\"}");
    const char *at = strstr(players, "\"client_id\":\"");
    cr_assert_not_null(at, "%s", players);
    snprintf(id, sizeof id, "%.*s", (int)strspn(at + 13, "0123456789"), at + 13);
    const char *wrong[] = {"0", "-1", "1.5", "315360001", "18446744073709551617", "soon"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(request, sizeof request, "{\"command\":\"ban\",\"who\":\"%s\",\"seconds\":\"%s\"}",
                 id, wrong[i]);
        expect_error(&c, request, "seconds: expected");
    }
    expect_error(&c, "{\"command\":\"ban\",\"who\":\"99999999999999999999\"}", "who: expected");
    snprintf(request, sizeof request,
             "{\"command\":\"ban\",\"who\":\"%s\",\"seconds\":\"1\",\"text\":\"too loud\"}", id);
    cr_expect_str_eq(serving_ask(&c, request), "{\"done\":\"ban\"}\n");
    LIVE_UNTIL(&a, carom_client_get_state(a.client) == CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(a.client), CAROM_REASON_BANNED);
    cr_expect_str_eq(a.text, "too loud");
    cr_expect_eq(a.reason, CAROM_REASON_BANNED);
    serving_wait_for_log(&c, "ban expired", 1);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"bans\"}"), "");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"ban\",\"who\":\"7\",\"text\":\"bot\"}"),
                     "{\"done\":\"ban\"}\n");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"bans\"}"),
                     "{\"client_id\":\"7\",\"until\":\"\",\"reason\":\"bot\",\"in_file\":false}\n");
    // An address, for a second; the client that comes from there is told why. Nothing else is one.
    expect_error(&c, "{\"command\":\"ban\",\"who\":\"0\"}", "above 0, or an address");
    expect_error(&c, "{\"command\":\"unban\",\"who\":\"0\"}", "above 0, or an address");
    expect_error(&c, "{\"command\":\"ban\",\"who\":\"127.0.0.1:80\"}", "who: expected");
    expect_error(&c, "{\"command\":\"kick\",\"room\":\"b\",\"who\":\"127.0.0.1\"}",
                 "who: expected a player's number");
    expect_error(&c, "{\"command\":\"unban\",\"who\":\"127.0.0.1\"}", "or address, is banned");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"ban\",\"who\":\"2001:db8:1:2::5\"}"),
                     "{\"done\":\"ban\"}\n");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"ban\",\"who\":\"127.0.0.1\","
                                     "\"seconds\":\"1\",\"text\":\"a bot farm\"}"),
                     "{\"done\":\"ban\"}\n");
    LIVE_UNTIL(&b, carom_client_get_state(b.client) == CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(b.client), CAROM_REASON_BANNED);
    cr_expect_str_eq(b.text, "a bot farm");
    serving_wait_for_log(&c, "ban expired", 2);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"unban\",\"who\":\"2001:db8:1:2::9\"}"),
                     "{\"done\":\"unban\"}\n");
    carom_client_destroy(b.client);
    join(&b, "b", port_of(&c));
    LIVE_UNTIL(&b, plays(&b));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"bans\"}"),
                     "{\"client_id\":\"7\",\"until\":\"\",\"reason\":\"bot\",\"in_file\":false}\n");
    carom_client_destroy(a.client);
    carom_client_destroy(b.client);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "admin", "text", text), 7,
                 "two messages, four bans, one lifted");
    serving_remove_directory(&c);
}

Test(operator, bans_of_the_file_are_listed)
{
    serving c;
    char bans[128];
    serving_make_directory(&c);
    snprintf(bans, sizeof bans, "%s/bans", c.directory);
    FILE *file = fopen(bans, "w");
    cr_assert_not_null(file);
    fputs("2001:db8:1:2::5\n::ffff:192.0.2.7\n77\n", file);
    fclose(file);
    serving_host(&c, (char *[]){"--workers", "1", "--scene", SCENE, "--bans", bans, NULL});
#define ROW(key, who) "{\"" key "\":\"" who "\",\"until\":\"\",\"reason\":\"\",\"in_file\":true}\n"
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"bans\"}"),
                     ROW("client_id", "77") ROW("address", "192.0.2.7")
                         ROW("address", "2001:db8:1:2::/64"));
#undef ROW
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

// Who plays goes on, who comes is told, no room opens; the shorter of two waits holds.
Test(operator, a_drain_that_waits_tells_how_long)
{
    serving c;
    person a, late;
    char found[256];
    start(&c, "2");
    join(&a, "a", port_of(&c));
    LIVE_UNTIL(&a, plays(&a));
    expect_error(&c, "{\"command\":\"drain\",\"seconds\":\"99999999999\"}", "seconds: expected");
    expect_error(&c, "{\"command\":\"drain\",\"seconds\":\"5\",\"handover\":true}",
                 "does not wait");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\",\"seconds\":\"3600\"}"),
                     "{\"done\":\"drain\"}\n");
    LIVE_UNTIL(&a, a.notices == 1);
    cr_expect_eq(a.reason, CAROM_REASON_DRAINING);
    cr_expect(a.seconds_left > 3000 && a.seconds_left <= 3600, "%u", a.seconds_left);
    expect_error(&c, "{\"command\":\"drain\",\"seconds\":\"7200\"}", "the shorter time holds");
    expect_error(&c, "{\"command\":\"open\",\"room\":\"x\",\"scene\":\"" SCENE "\"}", "drains");
    join(&late, "b", port_of(&c));
    LIVE_UNTIL(&late, late.notices == 1);
    cr_expect(plays(&late) && late.seconds_left > 3000);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\",\"seconds\":\"2\"}"),
                     "{\"done\":\"drain\"}\n");
    LIVE_UNTIL(&a, a.notices == 2);
    cr_expect_leq(a.seconds_left, 2);
    LIVE_UNTIL(&a, carom_client_get_state(a.client) == CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(a.client), CAROM_REASON_DRAINING);
    carom_client_destroy(a.client);
    carom_client_destroy(late.client);
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "drain", "reason", found), 2, "each worker's");
    cr_expect_str_eq(found, "the wait is over");
    serving_remove_directory(&c);
}

Test(operator, a_drain_ends_early_where_nobody_is_left)
{
    serving c;
    char found[256];
    start(&c, "0");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\",\"seconds\":\"86400\"}"),
                     "{\"done\":\"drain\"}\n");
    cr_assert_eq(serving_finish(&c), 0);
    serving_read_log(c.err, "drain", "reason", found);
    cr_expect_str_eq(found, "nobody is left");
    serving_remove_directory(&c);
}

static void start_again(serving *c, uint16_t port, char *workers)
{
    char listen[64];
    snprintf(listen, sizeof listen, "127.0.0.1:%u", (unsigned)port);
    unlink(c->ready);
    char *argv[] = {"carom",     "serve",    "--insecure", "--workers", workers,
                    "--matches", c->matches, "--listen",   listen,      "--ready-file",
                    c->ready,    "--room",   "a=" SCENE,   NULL};
    serving_start(c, argv);
    serving_wait_for_size(c, c->ready, 1);
}

static uint64_t tick_told(const serving *c, const char *event)
{
    static char text[1 << 16];
    serving_read_text(c->err, text, sizeof text);
    const char *at = strstr(text, event);
    at = at != NULL ? strstr(at, "\"tick\":") : NULL;
    cr_assert_not_null(at, "%s", text);
    return strtoull(at + 7, NULL, 10);
}

// The next process goes on with the match, though nothing told it to resume any; its player comes
// back by itself.
Test(operator, a_handover_loses_nothing)
{
    serving c;
    person a;
    carom_client_stats stats;
    char found[256], path[200];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--workers", "1", "--room", "a=" SCENE, NULL});
    uint16_t port = port_of(&c);
    join(&a, "a", port);
    LIVE_UNTIL(&a, plays(&a));
    uint32_t player = carom_client_player(a.client);
    carom_client_acks acks;
    LIVE_UNTIL(&a, (carom_client_acks_get(a.client, &acks), acks.durable_tick > 30));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\",\"handover\":true}"),
                     "{\"done\":\"drain\"}\n");
    cr_assert_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "match handed over", "room", found), 1);
    uint64_t last = tick_told(&c, "match handed over");
    start_again(&c, port, "1");
    LIVE_UNTIL(&a, (carom_client_stats_get(a.client, &stats), stats.comebacks == 1 && plays(&a)));
    cr_expect_eq(carom_client_player(a.client), player);
    cr_expect_eq(serving_read_log(c.err, "match resumed", "room", found), 1);
    cr_expect_eq(tick_told(&c, "match resumed"), last, "no tick is lost");
    carom_client_destroy(a.client);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], 1);
    cr_expect_eq(resumes, 1);
    snprintf(path, sizeof path, "%s/handover", c.matches);
    cr_expect_neq(access(path, F_OK), 0, "it was read, and is gone");
    serving_remove_directory(&c);
}

// That of the last line that tells of one.
static pid_t process_of_worker(const serving *c)
{
    static char text[1 << 20];
    const char *at = text, *found = NULL;
    serving_read_text(c->err, text, sizeof text);
    while ((at = strstr(at, "\"process\":")) != NULL) {
        found = at += strlen("\"process\":");
    }
    cr_assert_not_null(found);
    return (pid_t)strtol(found, NULL, 10);
}

static uint16_t free_port_of_two(void)
{
    for (uint16_t port = 21000 + 2 * (uint16_t)(getpid() % 5000);; port += 2) {
        bool free = true;
        for (uint16_t i = 0; i < 2; i++) {
            struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port + i)};
            at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            int socket_of = socket(AF_INET, SOCK_DGRAM, 0);
            free = free && bind(socket_of, (struct sockaddr *)&at, sizeof at) == 0;
            close(socket_of);
        }
        if (free) {
            return port;
        }
    }
}

// The next process has the rooms in another order, so that each is in the other worker: whoever
// comes back to the port that it knows is sent to where its match is.
Test(operator, a_handover_finds_rooms_that_have_moved)
{
    serving c;
    person people[2];
    carom_client_stats stats;
    carom_client_acks acks;
    char listen[32];
    uint16_t port = free_port_of_two();
    serving_make_directory(&c);
    snprintf(listen, sizeof listen, "127.0.0.1:%u", (unsigned)port);
    serving_host(&c, (char *[]){"--listen", listen, "--workers", "2", "--room", "a=" SCENE,
                                "--room", "b=" SCENE, NULL});
    for (uint32_t i = 0; i < 2; i++) {
        person *p = &people[i];
        join(p, i == 0 ? "a" : "b", port);
        LIVE_UNTIL(p, plays(p));
        carom_client_acks_get(p->client, &acks);
        uint64_t join_tick = acks.simulated_tick;
        LIVE_UNTIL(p, (carom_client_acks_get(p->client, &acks), acks.durable_tick > join_tick));
    }
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\",\"handover\":true}"),
                     "{\"done\":\"drain\"}\n");
    cr_assert_eq(serving_finish(&c), 0);
    unlink(c.ready);
    serving_host(&c, (char *[]){"--listen", listen, "--workers", "2", "--room", "b=" SCENE,
                                "--room", "a=" SCENE, NULL});
    for (uint32_t i = 0; i < 2; i++) {
        person *p = &people[i];
        LIVE_UNTIL(p,
                   (carom_client_stats_get(p->client, &stats), stats.comebacks == 1 && plays(p)));
        carom_client_destroy(p->client);
    }
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}

// The next process has another engine or module than the match: its log names it, the match ends as
// cut, its room begins anew, and whoever comes back gets the reason.
static void hand_over_to_another(const char *sql, const char *said)
{
    serving c;
    person a;
    cm_match_head head;
    cm_match_error error;
    char found[256], pattern[200], path[300];
    glob_t matches;
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--workers", "1", "--room", "a=" SCENE, NULL});
    uint16_t port = port_of(&c);
    join(&a, "a", port);
    LIVE_UNTIL(&a, plays(&a));
    carom_client_acks acks;
    LIVE_UNTIL(&a, (carom_client_acks_get(a.client, &acks), acks.durable_tick > 30));
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"drain\",\"handover\":true}"),
                     "{\"done\":\"drain\"}\n");
    cr_assert_eq(serving_finish(&c), 0);
    snprintf(pattern, sizeof pattern, "%s/*.match", c.matches);
    cr_assert_eq(glob(pattern, 0, NULL, &matches), 0);
    cr_assert_eq(matches.gl_pathc, 1);
    snprintf(path, sizeof path, "%s", matches.gl_pathv[0]);
    recording_edit(path, sql, false);
    globfree(&matches);
    start_again(&c, port, "1");
    cr_expect_eq(serving_read_log(c.err, "match cut", "reason", found), 1);
    cr_expect_not_null(strstr(found, said), "%s", found);
    LIVE_UNTIL(&a, carom_client_get_state(a.client) == CAROM_CLIENT_IDLE);
    cr_expect_eq(carom_client_get_reason(a.client), CAROM_REASON_MATCH_CUT);
    carom_client_destroy(a.client);
    kill(c.pid, SIGTERM);
    cr_assert_eq(serving_finish(&c), 0);
    cr_assert_eq(cm_match_head_read(path, &head, &error), CAROM_OK, "%s", error.message);
    cr_expect_eq(head.info.end, CM_MATCH_CUT);
    serving_remove_directory(&c);
}

Test(operator, a_handover_to_another_engine_is_told)
{
    hand_over_to_another("UPDATE meta SET value = 9 WHERE key = 'engine_version'", "engine 9");
}

Test(operator, a_handover_to_another_module_is_told)
{
    hand_over_to_another("UPDATE meta SET value = 77 WHERE key = 'module_version'", "version 77");
}

// A worker that was killed comes back while the server is told to end: with its matches read again
// or not yet. A drain ends them; a handover leaves them to the next process.
static void end_while_one_comes_back(const char *request, uint32_t drained, const char *event)
{
    serving c;
    char line[256];
    uint32_t ends[CM_MATCH_CUT + 1], resumes;
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--workers", "2", "--room", "a=" SCENE, "--room", "b=" SCENE,
                                "--resume", NULL});
    serving_wait_for_next_ticks(&c, 2);
    cr_assert_eq(serving_read_log(c.err, "worker", "event", line), 2);
    kill(process_of_worker(&c), SIGKILL);
    serving_wait_for_log(&c, event, 1);
    cr_expect_not_null(strstr(serving_ask(&c, request), "{\"done\":\"drain\""));
    cr_assert_eq(serving_finish(&c), 0);
    serving_count_matches(&c, ends, &resumes);
    cr_expect_eq(ends[CM_MATCH_DRAINED], drained);
    cr_expect_eq(ends[CM_MATCH_LIVE], 2 - drained);
    if (drained == 0) { // both go on
        unlink(c.ready);
        serving_host(&c, (char *[]){"--workers", "2", "--room", "a=" SCENE, NULL});
        cr_expect_geq(serving_read_log(c.err, "match resumed", "room", line), 2);
        kill(c.pid, SIGTERM);
        cr_assert_eq(serving_finish(&c), 0);
    }
    serving_remove_directory(&c);
}

Test(operator, a_drain_reaches_one_that_came_back_just_now)
{
    end_while_one_comes_back("{\"command\":\"drain\"}", 2, "match resumed");
}

Test(operator, a_handover_reaches_one_that_came_back_just_now)
{
    end_while_one_comes_back("{\"command\":\"drain\",\"handover\":true}", 0, "match resumed");
}

Test(operator, a_handover_leaves_what_a_dead_worker_had)
{
    end_while_one_comes_back("{\"command\":\"drain\",\"handover\":true}", 0, "worker died");
}
