// Goal: values come from file, environment and flags in that order of growing precedence; what is
// wrong is refused with its place and what was expected; every key is documented, and the
// configuration in deploy/ is a good one that names them all. Method: texts and argument lists.
#include "server/config/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/flags.h"

static bool parse(const char *text, cm_config *config, cm_config_error *error)
{
    cm_config_default(config);
    return cm_config_parse(config, text, strlen(text), "test.json", error);
}

static void refused(const char *text, const char *expected)
{
    cm_config config;
    cm_config_error error = {0};
    cr_assert(!parse(text, &config, &error), "accepted: %s", text);
    cr_assert(strstr(error.message, expected) != NULL, "'%s' does not have '%s'", error.message,
              expected);
}

static char *write_file(const char *text, char path[64])
{
    strcpy(path, "/tmp/carom-config-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

Test(config, later_sources_win)
{
    char path[64];
    write_file("{\"max_players\": 3, \"rewind_ms\": 50, \"log\": \"debug\"}", path);
    char *environment[] = {"CAROM_REWIND_MS=60", "CAROM_LOG=error", "OTHER=1", NULL};
    char config_flag[80];
    snprintf(config_flag, sizeof config_flag, "--config=%s", path);
    char *argv[] = {"serve", config_flag, "--log", "warning", "--insecure", "--view-rate=20", NULL};
    cm_flags options;
    cm_failure failure;
    cr_assert_eq(cm_flags_read(6, argv, environment, &options, NULL, &failure), CAROM_OK);
    remove(path);
    cr_assert_eq(options.config.max_players, 3);
    cr_assert_eq(options.config.rewind_ms, 60);
    cr_assert_str_eq(options.config.log, "warning");
    cr_assert_eq(options.config.view_rate, 20);
    cr_assert(options.config.insecure);
    cr_assert_eq(options.config.input_rate, 60, "what nobody set keeps its default");
}

Test(config, flags_with_underscores_too)
{
    char *environment[] = {NULL};
    char *argv[] = {"serve", "--max_players", "5", "--check-config", NULL};
    cm_flags options;
    cm_failure failure;
    cr_assert_eq(cm_flags_read(4, argv, environment, &options, NULL, &failure), CAROM_OK);
    cr_assert_eq(options.config.max_players, 5);
    cr_assert(options.check_config);
}

Test(config, a_flag_can_take_back_what_a_file_says)
{
    char *environment[] = {"CAROM_INSECURE=1", NULL};
    char *no[] = {"serve", "--insecure=false", NULL};
    char *yes[] = {"serve", "--insecure=true", NULL};
    char *maybe[] = {"serve", "--insecure=maybe", NULL};
    char *silent[] = {"serve", NULL};
    cm_flags options;
    cm_failure failure;
    cr_assert_eq(cm_flags_read(2, no, environment, &options, NULL, &failure), CAROM_OK);
    cr_assert(!options.config.insecure);
    cr_assert_eq(cm_flags_read(1, silent, environment, &options, NULL, &failure), CAROM_OK);
    cr_assert(options.config.insecure);
    cr_assert_eq(cm_flags_read(2, yes, environment + 1, &options, NULL, &failure), CAROM_OK);
    cr_assert(options.config.insecure);
    cr_assert_eq(cm_flags_read(2, maybe, environment, &options, NULL, &failure),
                 CAROM_ERROR_ARGUMENT);
}

Test(config, wrong_values_name_place_and_expectation)
{
    refused("{\n\"max_players\": 65}", "test.json:2: max_players: 65, expected a whole number "
                                       "from 1 to 64");
    refused("{\"insecure\": 1}", "test.json:1: insecure: expected true or false");
    refused("{\"db\": 3}", "db: expected a text");
    refused("{\n\n\"durability\": \"maybe\"}", "test.json:3: durability: 'maybe', expected one of");
    refused("{\"rewind_ms\": 1.5}", "rewind_ms: expected a whole number");
    refused("{\"colour\": 1}", "test.json:1: unknown key 'colour', 'carom serve");
    refused("{\n\"workes\": 1}", "test.json:2: unknown key 'workes', did you mean 'workers'?");
    refused("{\"db\": \"a\", \"db\": \"b\"}", "test.json:1");
    refused("{\n\"db\": \"a\",\n}", "test.json:3");
    refused("{\n\"listen\": \"host\"}", "test.json:2: listen: 'host', expected an address");
    refused("{\n\n\"http\": \"localhost\"}", "test.json:3: http: 'localhost', expected an address");
    refused("[]", "expected a JSON object");
    refused("", "test.json:1");
}

Test(config, wrong_flags_and_environment_are_status_2)
{
    char *none[] = {NULL};
    char *bad_environment[] = {"CAROM_MAX_PLAYERS=many", NULL};
    char *unknown[] = {"serve", "--colour", "red", NULL};
    char *range[] = {"serve", "--max-players", "0", NULL};
    char *alone[] = {"serve", NULL};
    char *missing[] = {"serve", "--config", "/nowhere/at/all", NULL};
    char *http[] = {"serve", "--http", "127.0.0.1:x", NULL};
    cm_flags options;
    cm_failure failure;
    cr_assert_eq(cm_flags_read(3, unknown, none, &options, NULL, &failure), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_flags_read(3, range, none, &options, NULL, &failure), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_flags_read(1, alone, bad_environment, &options, NULL, &failure),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_flags_read(3, missing, none, &options, NULL, &failure), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_flags_read(3, http, none, &options, NULL, &failure), CAROM_ERROR_ARGUMENT);
}

Test(config, comments_are_keys_that_begin_with_slashes)
{
    cm_config config;
    cm_config_error error = {0};
    cr_assert(parse("{\"// why\": [1, 2], \"//\": {}, \"rewind_ms\": 7}", &config, &error), "%s",
              error.message);
    cr_assert_eq(config.rewind_ms, 7);
}

// Whoever serves says who may come in: by keys, or on loopback alone by nothing.
Test(config, who_may_come_in)
{
    static const struct {
        const char *listen, *key, *public;
        bool insecure;
        const char *says; // NULL: good
    } cases[] = {
        {"127.0.0.1:1", "", "", true, NULL},
        {"127.0.0.1:1", "k", "", false, NULL},
        {"127.0.0.1:1", "", "", false, "--insecure"},
        {"127.0.0.1:1", "k", "", true, "insecure: expected false"},
        {"10.0.0.1:1", "k", "", false, NULL},
        {"10.0.0.1:1", "", "", true, "expected --key FILE"},
        {"0.0.0.0:1", "k", "", false, "public: expected"},
        {"[::]:1", "k", "", false, "public: expected"},
        {"[::]:1", "", "", true, "listen: '[::]:1', expected --key"},
        {"[::1]:1", "", "", true, NULL},
        {"[2001:db8::1]:1", "", "", true, "listen: '[2001:db8::1]:1', expected --key"},
        {"0.0.0.0:1", "k", "203.0.113.7:1,203.0.113.8:2", false, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cm_config config;
        cm_config_error error = {""};
        cm_config_default(&config);
        strcpy(config.listen, cases[i].listen);
        strcpy(config.key, cases[i].key);
        strcpy(config.public, cases[i].public);
        config.insecure = cases[i].insecure;
        cr_assert(cm_config_check(&config, &error), "%zu: %s", i, error.message);
        cr_expect_eq(cm_config_check_gate(&config, &error), cases[i].says == NULL, "%zu: %s", i,
                     error.message);
        cr_expect(cases[i].says == NULL || strstr(error.message, cases[i].says) != NULL, "%zu: %s",
                  i, error.message);
    }
}

Test(config, public_is_a_list_of_addresses)
{
    refused("{\"public\": \"1.2.3.4\"}", "public: '1.2.3.4', expected up to 8 addresses");
    refused("{\"public\": \"1.2.3.4:5,\"}", "public");
    refused("{\"public\": \"1.2.3.4:0\"}", "public");
    refused("{\"public\": \"0.0.0.0:1\"}", "public");
    refused("{\"public\": \"[::]:1\"}", "public");
    refused("{\"public\": \"[fe80::1]:1\"}", "public");
    refused("{\"public\": \"[2001:db8::1%eth0]:1\"}", "public");
    refused("{\"public\": \"2001:db8::1:1\"}", "public");
    cm_address address;
    const char *list = "[2001:db8::1]:9400,192.0.2.1:9401";
    cr_assert(cm_config_next_address(&list, &address));
    cr_expect(!cm_address_is_ipv4(address.ip) && address.port == 9400);
    cr_assert(cm_config_next_address(&list, &address));
    cr_expect(cm_address_equal(&address, &CM_ADDRESS_IPV4(192, 0, 2, 1, 9401)));
    cr_expect_not(cm_config_next_address(&list, &address));
    refused("{\"public\": \"1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,"
            "1.1.1.1:1,1.1.1.1:1\"}",
            "public");
}

Test(config, only_addresses)
{
    cm_config config;
    cm_config_error error = {0};
    const char *good[] = {
        "127.0.0.1:0", "127.1.2.3:65535",     "localhost:9400",        "0.0.0.0:1",
        "[::1]:9400",  "[2001:db8::1]:65535", "[::ffff:127.0.0.1]:80", "[::]:0"};
    const char *bad[] = {"127.0.0.1",
                         "127.0.0.1:65536",
                         "127.0.0.1:x",
                         ":9400",
                         "[::1%lo]:9400",
                         "127.0.0.1:",
                         "",
                         "127.0.0.1:-1",
                         "example.org:1",
                         "::1:9400",
                         "[::1]",
                         "[127.0.0.1]:1",
                         "[::1:9400",
                         "[]:1",
                         "localhost",
                         "[fe80::1%eth0]:1",
                         "127.0.0.1:09400"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cm_config_default(&config);
        strcpy(config.listen, good[i]);
        cr_assert(cm_config_check(&config, &error), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cm_config_default(&config);
        strcpy(config.listen, bad[i]);
        cr_assert(!cm_config_check(&config, &error), "%s", bad[i]);
    }
}

Test(config, what_is_printed_is_read_back)
{
    cm_config config, again;
    cm_config_error error = {0};
    cm_config_default(&config);
    config.rewind_ms = 77;
    config.insecure = true;
    strcpy(config.scene, "a \"quoted\" \\ name\n");
    static char text[65536];
    size_t size = cm_config_print(&config, text, sizeof text);
    cr_assert_lt(size, sizeof text);
    cr_assert_eq(cm_config_print(&config, NULL, 0), size);
    cr_assert(parse(text, &again, &error), "%s", error.message);
    cr_assert_eq(again.rewind_ms, 77);
    cr_assert(again.insecure);
    cr_assert_str_eq(again.scene, config.scene);
}

Test(config, every_key_is_documented)
{
    FILE *file = fopen("deploy/carom.json", "rb");
    cr_assert(file != NULL);
    static char text[65536];
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    uint32_t count = 0;
    const cm_config_key *keys = cm_config_keys(&count);
    cr_assert_gt(count, 10);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_gt(strlen(keys[i].help), 10, "%s", keys[i].name);
        char key[80], comment[80];
        snprintf(key, sizeof key, "\"%s\":", keys[i].name);
        snprintf(comment, sizeof comment, "\"// %s\":", keys[i].name);
        cr_assert(strstr(text, key) != NULL, "deploy/carom.json has no %s", key);
        cr_assert(strstr(text, comment) != NULL, "deploy/carom.json has no %s", comment);
    }
    cr_expect_null(strstr(text, "not built"), "what it says of tokens was once so");
    cm_config config;
    cm_config_error error = {0};
    cr_assert(parse(text, &config, &error), "%s", error.message);
    cr_assert(cm_config_check(&config, &error), "%s", error.message);
}

// A variable that looks like a setting and is none is named with the one it may have meant; what
// Kubernetes sets for a service of our name is not ours.
Test(config, unknown_variables)
{
    char name[CM_CONFIG_VARIABLE_MAX], nearest[CM_CONFIG_VARIABLE_MAX];
    static const char *const pairs[][2] = {
        {"CAROM_MAX_PLAYER=3", "CAROM_MAX_PLAYERS"}, {"CAROM_LISTN", "CAROM_LISTEN"},
        {"CAROM_LISTEN_=x", "CAROM_LISTEN"},         {"CAROM_BUDGETKBIT=1", "CAROM_BUDGET_KBIT"},
        {"CAROM_HTTP_PORT=80", "CAROM_HTTP"},        {"CAROM_=", "CAROM_DB"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        cr_expect(cm_config_unknown(pairs[i][0], name, nearest), "%s", pairs[i][0]);
        cr_expect_str_eq(nearest, pairs[i][1], "%s: %s", pairs[i][0], nearest);
        cr_expect_eq(strncmp(name, pairs[i][0], strlen(name)), 0);
    }
    static const char *const passing[] = {"CAROM_LISTEN=x",
                                          "CAROM=1",
                                          "PATH=/bin",
                                          "carom_listen=1",
                                          "CAROM_PORT=udp://10.0.0.1:9400",
                                          "CAROM_PORT_9400_UDP=udp://10.0.0.1:9400",
                                          "CAROM_PORT_9400_UDP_PROTO=udp",
                                          "CAROM_PORT_9400_UDP_PORT=9400",
                                          "CAROM_PORT_9400_UDP_ADDR=10.0.0.1",
                                          "CAROM_SERVICE_HOST=10.0.0.1",
                                          "CAROM_SERVICE_PORT=9400",
                                          "CAROM_SERVICE_PORT_GAME=9400",
                                          "CAROM_EU_SERVICE_HOST=10.0.0.1",
                                          "CAROM_EU_PORT=tcp://10.0.0.1:9400"};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        cr_expect_not(cm_config_unknown(passing[i], name, nearest), "%s", passing[i]);
    }
    static char longest[4096] = "CAROM_";
    memset(longest + 6, 'X', sizeof longest - 7);
    cr_expect(cm_config_unknown(longest, name, nearest));
    cr_expect_eq(strlen(name), CM_CONFIG_VARIABLE_MAX - 1);
}
