// Goal: rooms are read from text and JSON alike, printed as what is read back, and what is unsound
// is refused with what was expected. Method: tables of good and bad ones.
#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "server/config/room_spec.h"

static bool read_json(cm_room_list *list, const char *text, char *error, size_t error_size)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(value, "%s", text);
    bool good = cm_room_list_read(list, value, error, error_size);
    json_decref(value);
    return good;
}

Test(room_list, text_and_json_say_the_same)
{
    cm_room_list text = {0}, json = {0}, again = {0};
    char error[256], printed[4096], other[4096];
    cr_assert(cm_room_list_add(&text, "lobby=lobby.json,arena=big arena", error, sizeof error),
              "%s", error);
    cr_assert(read_json(&json, "{\"lobby\": \"lobby.json\", \"arena\": {\"scene\": \"big arena\"}}",
                        error, sizeof error),
              "%s", error);
    size_t size = cm_room_list_print(&text, printed, sizeof printed);
    cr_expect_eq(size, strlen(printed));
    cr_expect_eq(cm_room_list_print(&text, NULL, 0), size);
    cm_room_list_print(&json, other, sizeof other);
    cr_expect_str_eq(printed, other);
    json.rooms[1].max_players = 8;
    json.rooms[1].tick_rate = 120;
    json.rooms[1].view_rate = 20;
    json.rooms[1].budget_kbit = 128;
    json.rooms[1].empty_s = 300;
    cm_room_list_print(&json, printed, sizeof printed);
    cr_assert(read_json(&again, printed, error, sizeof error), "%s", error);
    cr_expect_eq(memcmp(&again, &json, sizeof json), 0);
}

// Behind a scene, whose own text may have a colon.
Test(room_list, numbers_are_read_from_text_too)
{
    cm_room_list text = {0}, json = {0};
    char error[256];
    cr_assert(cm_room_list_add(&text,
                               "a=x:max_players=8:tick_rate=120:view_rate=20:budget_kbit=128"
                               ":empty_s=300:bodies=65536:shapes=2:joints=3:contacts=4,"
                               "b=c:d=e.json:bodies=5,c=c:d",
                               error, sizeof error) == false,
              "d= is no number");
    text.count = 0;
    cr_assert(cm_room_list_add(&text,
                               "a=x:max_players=8:tick_rate=120:view_rate=20:budget_kbit=128"
                               ":empty_s=300:bodies=65536:shapes=2:joints=3:contacts=4,"
                               "b=c:d.json:bodies=5,c=c:d",
                               error, sizeof error),
              "%s", error);
    cr_assert(
        read_json(&json,
                  "{\"a\": {\"scene\": \"x\", \"max_players\": 8, \"tick_rate\": 120, "
                  "\"view_rate\": 20, \"budget_kbit\": 128, \"empty_s\": 300, \"bodies\": 65536, "
                  "\"shapes\": 2, \"joints\": 3, \"contacts\": 4}, "
                  "\"b\": {\"scene\": \"c:d.json\", \"bodies\": 5}, \"c\": \"c:d\"}",
                  error, sizeof error),
        "%s", error);
    cr_assert_eq(json.count, 3);
    cr_expect_eq(memcmp(&text.rooms, &json.rooms, 3 * sizeof text.rooms[0]), 0);
}

Test(room_list, what_is_unsound_is_refused)
{
    static const char *const texts[] = {"lobby",
                                        "=scene",
                                        "lobby=",
                                        "a b=scene",
                                        "a=x,a=y",
                                        "a=x,b",
                                        "a\x7f=x",
                                        "n2345678901234567890123456789012=x",
                                        "a=x:bodies=0",
                                        "a=x:bodies=65537",
                                        "a=x:bodies=",
                                        "a=x:bodies=5k",
                                        "a=x:bodys=5",
                                        "a=x:=5",
                                        "a=x:bodies=5:bodies=6",
                                        "a=:bodies=5",
                                        "a=x:bodies=99999999999999999999",
                                        "a=x:bodies=4:colour=red"};
    static const char *const values[] = {"[]",
                                         "3",
                                         "{\"a\": 3}",
                                         "{\"a\": {}}",
                                         "{\"a\": {\"scene\": 4}}",
                                         "{\"a\": {\"scene\": \"x\", \"max_players\": 0}}",
                                         "{\"a\": {\"scene\": \"x\", \"max_players\": 65}}",
                                         "{\"a\": {\"scene\": \"x\", \"tick_rate\": 1001}}",
                                         "{\"a\": {\"scene\": \"x\", \"empty_s\": -1}}",
                                         "{\"a\": {\"scene\": \"x\", \"colour\": \"red\"}}",
                                         "{\"\": \"x\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cm_room_list list = {0};
        char error[256] = "";
        cr_expect_not(cm_room_list_add(&list, texts[i], error, sizeof error), "%s", texts[i]);
        cr_expect_gt(strlen(error), 5, "%s", texts[i]);
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        cm_room_list list = {0};
        char error[256] = "";
        cr_expect_not(read_json(&list, values[i], error, sizeof error), "%s", values[i]);
        cr_expect_gt(strlen(error), 5, "%s", values[i]);
    }
    static cm_room_list full;
    char one[32], error[256];
    for (uint32_t i = 0; i <= CM_ROOM_LIST_MAX; i++) {
        snprintf(one, sizeof one, "room%u=x", (unsigned)i);
        cr_expect_eq(cm_room_list_add(&full, one, error, sizeof error), i < CM_ROOM_LIST_MAX);
    }
}

// What a match file keeps is what an operator gave but for what its scene has, and is read again.
Test(room_list, who_opened_a_room_is_kept_and_read_again)
{
    cm_room_spec spec = {.name = "cup", .scene = "hockey"}, again = {.name = "cup"};
#define HIGHEST(key, low, high, without) spec.key = high;
    CM_ROOM_KEYS(HIGHEST)
    cm_room_spec_open_by_admin(&spec);
    cr_assert_str_eq(spec.opened,
                     "admin:max_players=64:view_rate=1000:budget_kbit=100000:spectators=64:"
                     "spectator_delay_s=600:stream_delay_s=3600:empty_s=86400");
    char numbers[CM_ROOM_NUMBERS_MAX];
    cm_room_spec_numbers(&spec, numbers);
    cr_assert_str_eq(numbers,
                     "max_players=64:tick_rate=1000:view_rate=1000:budget_kbit=100000:"
                     "spectators=64:spectator_delay_s=600:stream_delay_s=3600:"
                     "empty_s=86400:bodies=65536:shapes=131072:joints=65536:contacts=1048576");
    cm_room_spec_numbers(&(cm_room_spec){.name = "cup"}, numbers);
    cr_assert_str_eq(numbers, "");
    cr_assert(cm_room_spec_take_opened(&again, spec.opened));
    cr_assert_eq(again.max_players, 64);
    cr_assert_eq(again.view_rate, 1000);
    cr_assert_eq(again.budget_kbit, 100000);
    cr_assert_eq(again.spectators, 64);
    cr_assert_eq(again.empty_s, 86400);
    cr_assert_eq(again.bodies, 0);
    cr_assert_str_eq(again.name, "cup");
    cr_assert_str_eq(again.opened, spec.opened);
    static const char *const wrong[] = {"", "someone", "admin:max_players=65", "admin:foo=1",
                                        "admin:max_players=2:max_players=3"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_not(cm_room_spec_take_opened(&again, wrong[i]), "%s", wrong[i]);
        cr_assert_eq(again.max_players, 64);
    }
}
