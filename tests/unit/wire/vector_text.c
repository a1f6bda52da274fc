// Text of the recorded vectors; see vector_text.h. Written without a JSON library, so that what is
// compared is text.
#include "tests/unit/wire/vector_text.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/wire/confirmed.h"
#include "shared/wire/events.h"

void vector_put(vector_text *out, const char *format, ...)
{
    char piece[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    cr_assert(size >= 0 && (size_t)size < sizeof piece);
    if (out->size + (size_t)size + 1 > out->capacity) {
        out->capacity = 2 * (out->capacity + (size_t)size + 1);
        out->text = realloc(out->text, out->capacity);
        cr_assert(out->text);
    }
    memcpy(out->text + out->size, piece, (size_t)size + 1);
    out->size += (size_t)size;
}

void vector_next(vector_text *out)
{
    vector_put(out, out->first ? "\n" : ",\n");
    out->first = false;
}

void vector_hex(vector_text *out, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    vector_put(out, "\"");
    for (size_t i = 0; i < size; i++) {
        vector_put(out, "%02x", b[i]);
    }
    vector_put(out, "\"");
}

void vector_body(vector_text *out, const cm_view_body *b)
{
    vector_put(out, "{\"at_rest\": %u, \"has_velocity\": %u, \"position\": [%u, %u, %u], ",
               b->at_rest, b->has_velocity, b->position[0], b->position[1], b->position[2]);
    vector_put(out, "\"largest\": %u, \"orientation\": [%u, %u, %u], ", b->largest,
               b->orientation[0], b->orientation[1], b->orientation[2]);
    vector_put(out, "\"linear\": [%d, %d, %d], \"angular\": [%d, %d, %d]}", b->linear[0],
               b->linear[1], b->linear[2], b->angular[0], b->angular[1], b->angular[2]);
}

void vector_pose(vector_text *out, const cm_view_pose *pose)
{
    const carom_vec3 p = pose->position, v = pose->linear_velocity, w = pose->angular_velocity;
    const carom_quat q = pose->orientation;
    vector_put(out, "{\"position\": [%.9g, %.9g, %.9g], ", (double)p.x, (double)p.y, (double)p.z);
    vector_put(out, "\"orientation\": [%.6f, %.6f, %.6f, %.6f], ", (double)q.x, (double)q.y,
               (double)q.z, (double)q.w);
    vector_put(out, "\"linear\": [%.9g, %.9g, %.9g], ", (double)v.x, (double)v.y, (double)v.z);
    vector_put(out, "\"angular\": [%.9g, %.9g, %.9g]}", (double)w.x, (double)w.y, (double)w.z);
}

void vector_input(vector_text *out, const cm_input_packet *packet, uint32_t input_size)
{
    vector_put(out, "{\"epoch\": %u, \"has_ack\": %d, \"ack_sequence\": %u, ", packet->epoch,
               packet->has_ack, packet->ack_sequence);
    vector_put(out, "\"ack_bits\": %u, ", packet->ack_bits);
    vector_put(out, "\"newest_tick\": %u, \"inputs\": [", packet->newest_tick);
    for (uint32_t n = 0; n < packet->count; n++) {
        vector_put(out, n > 0 ? ", " : "");
        vector_hex(out, packet->inputs[n], input_size);
    }
    vector_put(out, "]}");
}

void vector_header(vector_text *out, const cm_view_header *header)
{
    vector_put(out, "{\"epoch\": %u, \"sequence\": %u, \"tick\": %u", header->epoch,
               header->sequence, header->tick);
    vector_put(out, ", \"input_ack\": %u, \"input_lead\": %d", header->input_ack,
               header->input_lead);
    if (header->has_public) {
        vector_put(out, ", \"public_number\": %u, \"public_back\": %u", header->public_number,
                   header->public_back);
        vector_put(out,
                   ", \"present\": %llu, \"public_state\": ", (unsigned long long)header->present);
        vector_hex(out, header->public_state, header->public_size);
    }
    if (header->public_unsure) {
        vector_put(out, ", \"public_unsure\": 1");
    }
    if (header->has_wrench) {
        vector_put(out, ", \"force\": [%.9g, %.9g, %.9g], \"torque\": [%.9g, %.9g, %.9g]",
                   (double)header->force.x, (double)header->force.y, (double)header->force.z,
                   (double)header->torque.x, (double)header->torque.y, (double)header->torque.z);
    }
    if (header->has_durable) {
        vector_put(out, ", \"durable_age\": %u", header->durable_age);
    }
    if (header->has_messages) {
        vector_put(out, ", \"messages\": %u", header->messages);
    }
    if (header->relay_size > 0) {
        vector_put(out, ", \"relay\": ");
        vector_hex(out, header->relay, header->relay_size);
    }
    vector_put(out, "}");
}

void vector_entry(vector_text *out, const cm_view_entry *entry)
{
    bool drives = entry->index >= CM_VIEW_DRIVES;
    vector_put(out, "{\"%s\": %u, \"generation\": %u, \"baseline_age\": %u, ",
               drives ? "joint" : "index", entry->index % CM_VIEW_DRIVES, entry->generation,
               entry->baseline_age);
    for (uint32_t i = 0; i < CM_VIEW_DRIVE_WORDS && drives; i++) {
        vector_put(out, i == 0 ? "\"words\": [%u" : ", %u", entry->body.drive[i]);
    }
    if (drives) {
        vector_put(out, "]}");
        return;
    }
    vector_put(out, "\"body\": ");
    vector_body(out, &entry->body);
    vector_put(out, "}");
}

static void put_string(vector_text *out, const char *key, const char *text)
{
    if (text != NULL) {
        vector_put(out, ", \"%s\": \"%s\"", key, text); // ours hold nothing that needs escapes
    }
}

static void put_world_change(vector_text *out, const cm_control *control)
{
    vector_put(out, ", \"tick\": %llu, \"spawned\": [", (unsigned long long)control->tick);
    for (uint32_t i = 0; i < control->spawned_count; i++) {
        vector_put(out, i > 0 ? ", " : "");
        vector_hex(out, control->spawned[i].data, control->spawned[i].size);
    }
    vector_put(out, "], \"gone\": [");
    for (uint32_t i = 0; i < control->gone_count; i++) {
        vector_put(out, "%s[%u, %u]", i > 0 ? ", " : "", control->gone[i].index,
                   control->gone[i].generation);
    }
    vector_put(out, "], \"frame\": ");
    vector_hex(out, control->frame.data, control->frame.size);
}

static void put_players(vector_text *out, const cm_control *control)
{
    vector_put(out, ", \"players\": [");
    for (uint32_t i = 0; i < control->player_count; i++) {
        const cm_control_player *p = &control->players[i];
        vector_put(out, "%s{\"player\": %u, \"name\": \"%s\", ", i > 0 ? ", " : "", p->player,
                   p->name);
        vector_put(out, "\"body_index\": %u, \"body_generation\": %u, ", p->body.index,
                   p->body.generation);
        vector_put(out, "\"rtt_ms\": %u, \"away\": %d}", p->rtt_ms, p->away);
    }
    vector_put(out, "]");
}

static void put_events(vector_text *out, const cm_control *control)
{
    carom_event events[CAROM_EVENTS_MAX];
    uint32_t count;
    cr_assert(cm_events_read(control->payload.data, control->payload.size, control->tick, events,
                             &count));
    vector_put(out, ", \"tick\": %llu, \"rows\": [", (unsigned long long)control->tick);
    for (uint32_t i = 0; i < count; i++) {
        vector_put(out, "%s[%u, %u, %llu, %llu, ", i > 0 ? ", " : "", events[i].kind, events[i].key,
                   (unsigned long long)events[i].subjects[0],
                   (unsigned long long)events[i].subjects[1]);
        vector_hex(out, events[i].bytes, events[i].size);
        vector_put(out, "]");
    }
    vector_put(out, "]");
}

static void put_rooms(vector_text *out, const cm_control *control)
{
    vector_put(out, ", \"first\": %u, \"total\": %u, \"rooms\": [", control->first, control->total);
    for (uint32_t i = 0; i < control->room_count; i++) {
        const cm_control_room *room = &control->rooms[i];
        vector_put(out, "%s{\"name\": \"%s\", \"scene\": \"%s\", \"module\": \"%s\", ",
                   i > 0 ? ", " : "", room->name, room->scene, room->module);
        vector_put(out, "\"players\": %u, \"max_players\": %u, \"port\": %u}", room->players,
                   room->max_players, room->port);
    }
    vector_put(out, "]");
}

static void put_tick(vector_text *out, const cm_confirmed_tick *tick)
{
    vector_put(out, "[%llu, %llu, %d, [", (unsigned long long)tick->tick,
               (unsigned long long)tick->hash, tick->resumed);
    for (uint32_t i = 0; i < tick->input.event_count; i++) {
        const cm_game_event *event = &tick->input.events[i];
        vector_put(out, "%s[%u, %u, %llu, ", i > 0 ? ", " : "", event->type, event->player,
                   (unsigned long long)event->client_id);
        vector_hex(out, event->bytes, event->size);
        vector_put(out, "]");
    }
    vector_put(out, "], [");
    for (uint32_t i = 0; i < tick->input.input_count; i++) {
        const carom_player_input *input = &tick->input.inputs[i];
        vector_put(out, "%s[%u, ", i > 0 ? ", " : "", input->player);
        vector_hex(out, input->bytes, sizeof input->bytes);
        vector_put(out, "]");
    }
    vector_put(out, "]]");
}

static void put_confirmed(vector_text *out, const cm_control *control)
{
    if (control->tick > 0) {
        vector_put(out, ", \"differs\": %llu", (unsigned long long)control->tick);
        return;
    }
    cm_confirmed_read_tick read = {.tick = {.tick = 0}};
    vector_put(out, ", \"ticks\": [");
    for (size_t at = 0, used; at < control->payload.size; at += used) {
        cr_assert_null(cm_confirmed_read(control->payload.data + at, control->payload.size - at,
                                         &read, &used));
        vector_put(out, "%s", at > 0 ? ", " : "");
        put_tick(out, &read.tick);
    }
    vector_put(out, "]");
}

void vector_control(vector_text *out, const cm_control *control)
{
    vector_put(out, "{\"type\": %d", (int)control->type);
    switch (control->type) {
    case CM_CONTROL_HELLO:
        vector_put(out, ", \"protocol\": %u, \"engine\": %u, \"predict\": %d, \"spectate\": %d",
                   control->protocol, control->engine, control->predict, control->spectate);
        put_string(out, "name", control->name);
        put_string(out, "room", control->room);
        vector_put(out, ", \"user_data\": ");
        vector_hex(out, control->user_data.data, control->user_data.size);
        if (control->comes_back) {
            vector_put(out, ", \"epoch\": %u, \"messages_had\": %llu", control->epoch,
                       (unsigned long long)control->messages_had);
        }
        put_string(out, "module", control->module);
        put_string(out, "module_source", control->module_source);
        if (control->module != NULL) {
            vector_put(out, ", \"module_version\": %u, \"module_abi\": %u", control->module_version,
                       control->module_abi);
        }
        break;
    case CM_CONTROL_WELCOME:
        vector_put(out, ", \"player\": %u, \"client_id\": %llu, \"tick_rate\": %u", control->player,
                   (unsigned long long)control->client_id, control->tick_rate);
        vector_put(out, ", \"view_rate\": %u, \"input_rate\": %u, \"rewind_ms\": %u",
                   control->view_rate, control->input_rate, control->rewind_ms);
        put_string(out, "module", control->module);
        put_string(out, "module_source", control->module_source);
        vector_put(out, ", \"module_abi\": %u, \"seed\": %llu", control->module_abi,
                   (unsigned long long)control->seed);
        vector_put(out, ", \"module_version\": %u, \"tick\": %llu, \"present\": %llu",
                   control->module_version, (unsigned long long)control->tick,
                   (unsigned long long)control->present);
        vector_put(out, ", \"epoch\": %u, \"messages\": %llu, \"grace_ms\": %u, \"ticket\": ",
                   control->epoch, (unsigned long long)control->messages, control->grace_ms);
        vector_hex(out, control->ticket.data, control->ticket.size);
        vector_put(out, ", \"ticket_key\": ");
        vector_hex(out, control->ticket_key.data, control->ticket_key.size);
        vector_put(out, ", \"durability\": %d, \"durable_tick\": %llu", (int)control->durability,
                   (unsigned long long)control->durable_tick);
        vector_put(out, ", \"messages_before\": %llu",
                   (unsigned long long)control->messages_before);
        if (control->keyframe_size > 0) {
            vector_put(out, ", \"keyframe_size\": %u", control->keyframe_size);
        }
        break;
    case CM_CONTROL_REFUSED:
        vector_put(out, ", \"reason\": %d", (int)control->reason);
        put_string(out, "text", control->text);
        break;
    case CM_CONTROL_WORLD_CHANGE:
        put_world_change(out, control);
        break;
    case CM_CONTROL_GAME_MESSAGE:
        vector_put(out, ", \"tick\": %llu, \"payload\": ", (unsigned long long)control->tick);
        vector_hex(out, control->payload.data, control->payload.size);
        break;
    case CM_CONTROL_EVENTS:
        put_events(out, control);
        break;
    case CM_CONTROL_ROOM_CLOCK:
        vector_put(out, ", \"rate_permille\": %u", control->rate_permille);
        break;
    case CM_CONTROL_GOODBYE:
        vector_put(out, ", \"reason\": %d", (int)control->reason);
        break;
    case CM_CONTROL_DURABILITY:
        vector_put(out, ", \"tick\": %llu, \"durability\": %d", (unsigned long long)control->tick,
                   (int)control->durability);
        break;
    case CM_CONTROL_PLAYERS:
        put_players(out, control);
        break;
    case CM_CONTROL_ROOMS_ASK:
        break;
    case CM_CONTROL_ROOMS:
        put_rooms(out, control);
        break;
    case CM_CONTROL_NOTICE:
        put_string(out, "text", control->text);
        if (control->reason != CAROM_REASON_NONE) {
            vector_put(out, ", \"reason\": %d", (int)control->reason);
        }
        if (control->seconds_left > 0) {
            vector_put(out, ", \"seconds_left\": %u", control->seconds_left);
        }
        break;
    case CM_CONTROL_CONFIRMED:
        put_confirmed(out, control);
        break;
    case CM_CONTROL_KEYFRAME_PART: // of the frame a second parser sees the size alone
        vector_put(out, ", \"size\": %zu", control->payload.size);
        break;
    }
    vector_put(out, "}");
}

const char *vector_reason(cm_packet_reason reason)
{
    static const char *const names[] = {
#define REASON_NAME(name, text) #name,
        CM_PACKET_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    return names[reason];
}

void vector_finish(vector_text *out, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/protocol/vectors/%s.json", name);
    if (getenv("CAROM_RECORD_VECTORS") != NULL) {
        FILE *file = fopen(path, "w");
        cr_assert(file, "cannot write %s", path);
        cr_assert_eq(fwrite(out->text, 1, out->size, file), out->size);
        cr_assert_eq(fclose(file), 0);
    }
    FILE *file = fopen(path, "r");
    cr_assert(file, "cannot read %s: run from the top of the repository", path);
    char *recorded = calloc(1, out->size + 2);
    size_t size = fread(recorded, 1, out->size + 1, file);
    fclose(file);
    size_t at = 0;
    while (at < size && at < out->size && recorded[at] == out->text[at]) {
        at++;
    }
    cr_assert(size == out->size && at == size,
              "%s differs at byte %zu: the wire changed. Where that is meant, raise "
              "CM_PROTOCOL_VERSION and record with CAROM_RECORD_VECTORS=1; now: %.80s",
              path, at, out->text + (at > 20 ? at - 20 : 0));
    free(recorded);
    free(out->text);
}
