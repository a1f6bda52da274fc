// Typical: a question a minute.
#include "server/node/admin_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"
#include "shared/wire/address.h"
#include "shared/wire/control_text.h"

#define TEXT_OF(number)  #number
#define TEXT(number)     TEXT_OF(number)
#define TEXT_MAX_TEXT    TEXT(CM_CONTROL_TEXT_MAX)
#define SECONDS_MAX_TEXT TEXT(CM_ADMIN_SECONDS_MAX)

static const struct {
    const char *name;
    cm_admin_scope scope;
    bool needs_room, needs_scene, needs_number, needs_text;
} ROWS[CM_ADMIN_COMMAND_COUNT] = {
#define ROW(id, name, scope, room, scene, number, text)                                            \
    {name, CM_ADMIN_##scope, room, scene, number, text},
    CM_ADMIN_COMMANDS(ROW)};

void cm_admin_fields(cm_admin_reply *reply, const cm_field *fields, size_t count)
{
    cm_line line;
    cm_line_begin(&line);
    cm_line_fields(&line, fields, count);
    cm_admin_write_line(reply, cm_line_end(&line));
}

void cm_admin_error(cm_admin_reply *reply, cm_admin_fault fault, const char *text)
{
#define CODE(id, code, status) code,
    static const char *const codes[] = {CM_ADMIN_FAULTS(CODE)};
    cm_admin_say(reply, CM_T("error", text), CM_T("code", codes[fault]));
}

const char *cm_admin_command_name(cm_admin_command command)
{
    return ROWS[command].name;
}

// The log names each thing that an operator did.
void cm_admin_report(const cm_log *log, const cm_admin_request *asked, cm_admin_reply *reply)
{
    char address[CM_ADDRESS_TEXT_MAX] = "", numbers[CM_ROOM_NUMBERS_MAX];
    cm_room_spec_numbers(&asked->with, numbers);
    if (asked->by_address) {
        cm_address_write_network(asked->number, address);
    }
    cm_admin_say(reply, CM_T("done", ROWS[asked->command].name));
    cm_log_say(log, CM_LOG_INFO, "admin", CM_T("command", ROWS[asked->command].name),
               CM_T_IF("by", asked->by), CM_T("room", asked->room),
               CM_D(asked->has_number && !asked->by_address ? "who" : NULL, asked->number),
               CM_T_IF("address", address), CM_T_IF("scene", asked->scene),
               CM_T_IF("with", numbers), CM_T_IF("text", asked->text),
               CM_U_IF("seconds", asked->seconds), CM_B(asked->handover ? "handover" : NULL, true));
}

// A field that is a text, or "" where there is none. False: too long.
static bool text_of(const cm_json_value *object, const char *key, char *text, size_t size)
{
    const char *value = cm_json_text_of(cm_json_member(object, key));
    return snprintf(text, size, "%s", value != NULL ? value : "") < (int)size;
}

// Whole decimal digits, since a client id needs all 64 bits; or a number, which has 53.
static bool number_of(const cm_json_value *object, const char *key, uint64_t *number)
{
    char text[24];
    int64_t whole;
    if (cm_json_integer_of(cm_json_member(object, key), &whole)) {
        *number = (uint64_t)whole;
        return whole >= 0;
    }
    return text_of(object, key, text, sizeof text) && cm_parse_id(text, number);
}

// A player's number, a client id, or an address.
static void who_of(const cm_json_value *object, cm_admin_request *request)
{
    const char *text = cm_json_text_of(cm_json_member(object, "who"));
    request->has_number = number_of(object, "who", &request->number);
    if (!request->has_number && text != NULL) {
        request->by_address = cm_address_read_network(text, &request->number);
        request->has_number = request->by_address;
    }
}

// False: it is there, and no duration.
static bool seconds_of(const cm_json_value *object, uint32_t *seconds)
{
    uint64_t number = 0;
    bool good = !cm_json_has(object, "seconds") || (number_of(object, "seconds", &number) &&
                                                    number > 0 && number <= CM_ADMIN_SECONDS_MAX);
    *seconds = good ? (uint32_t)number : 0;
    return good;
}

// False: one has no such name, or is out of its range.
static bool numbers_of(const cm_json_value *object, cm_room_spec *spec)
{
    const cm_json_value *with = cm_json_member(object, "with"), *value;
    const char *key;
    void *next = NULL;
    bool all = with == NULL || cm_json_is_object(with);
    while (all && (value = cm_json_each(with, &next, &key)) != NULL) {
        int64_t number = 0;
        all = cm_json_integer_of(value, &number) && cm_room_spec_set(spec, key, number);
    }
    return all;
}

static bool refuse(char wrong[256], const char *why)
{
    snprintf(wrong, 256, "%s", why);
    return false;
}

// Bans are of client ids, none of which is 0, or of addresses; all else is of players' numbers.
static bool check_who(const cm_admin_request *asked, bool as_text, char wrong[256])
{
    bool bans = asked->command == CM_ADMIN_BAN || asked->command == CM_ADMIN_UNBAN;
    if (bans && !as_text) { // a number of JSON has not all bits of an id
        return refuse(wrong, "who: expected a client id as a text, or an address");
    }
    if (bans && !asked->by_address && asked->number == 0) {
        return refuse(wrong, "who: expected a client id above 0, or an address");
    }
    return bans || !asked->by_address ||
           refuse(wrong, "who: expected a player's number, not an address");
}

// The command, and what it needs.
static bool check(const char *command, bool as_text, cm_admin_request *asked, char wrong[256])
{
    size_t at = (size_t)snprintf(wrong, 256, "expected a command: ");
    for (uint32_t i = 0; i < CM_ADMIN_COMMAND_COUNT; i++) {
        if (strcmp(ROWS[i].name, command) == 0) {
            bool lacks = (ROWS[i].needs_room && asked->room[0] == '\0') ||
                         (ROWS[i].needs_scene && asked->scene[0] == '\0') ||
                         (ROWS[i].needs_number && !asked->has_number) ||
                         (ROWS[i].needs_text && asked->text[0] == '\0');
            asked->command = (cm_admin_command)i;
            asked->scope = ROWS[i].scope;
            return lacks ? refuse(wrong, "a field is missing: expected room, scene, text or "
                                         "who (a whole number as a text)")
                         : check_who(asked, as_text, wrong);
        }
        at += (size_t)snprintf(wrong + at, 256 - at, "%s%s", i > 0 ? ", " : "", ROWS[i].name);
    }
    return false;
}

bool cm_admin_request_read(const char *text, cm_admin_request *request, char wrong[256])
{
    char command[16];
    cm_json_reader reader;
    cm_scene_error error;
    const cm_json_value *object =
        cm_json_open(&reader, text, strlen(text), CM_ADMIN_REQUEST_MAX, &error);
    memset(request, 0, sizeof *request);
    if (object == NULL) {
        cm_json_close(&reader);
        return refuse(wrong, "expected one JSON object on one line");
    }
    bool fits = text_of(object, "command", command, sizeof command) &&
                text_of(object, "room", request->room, sizeof request->room) &&
                text_of(object, "scene", request->scene, sizeof request->scene) &&
                text_of(object, "out", request->out, sizeof request->out) &&
                text_of(object, "by", request->by, sizeof request->by);
    who_of(object, request);
    bool has_who = cm_json_has(object, "who");
    bool as_text = cm_json_text_of(cm_json_member(object, "who")) != NULL;
    bool told = text_of(object, "text", request->text, sizeof request->text) &&
                cm_text_is_printable(request->text, CM_CONTROL_TEXT_MAX);
    bool lasts = seconds_of(object, &request->seconds);
    (void)cm_json_bool_of(cm_json_member(object, "handover"), &request->handover);
    bool known = numbers_of(object, &request->with);
    cm_json_close(&reader);
    if (!known) {
        return refuse(wrong, "with: expected numbers in their range: " CM_ROOM_KEY_NAMES
                             "and nothing else");
    }
    if (!told) {
        return refuse(wrong, "text: expected at most " TEXT_MAX_TEXT " bytes of printable UTF-8");
    }
    if (!lasts || (has_who && !request->has_number)) {
        return refuse(wrong, lasts ? "who: expected a whole number as a text, or an address"
                                   : "seconds: expected a whole number from 1 to " SECONDS_MAX_TEXT
                                     " as a text");
    }
    return fits ? check(command, as_text, request, wrong)
                : refuse(wrong, "a command, room, scene or file is too long");
}
