// See api_document.h. A message is written once, in the order in which routes name it; messages in
// messages stand before those that have them.
#include "server/supervisor/api_document.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/api.pb-c.h"
#include "server/ops/version.h"
#include "server/supervisor/api_lists.h"
#include "server/supervisor/api_routes.h"

#define MESSAGES_MAX 32u

typedef struct messages {
    const ProtobufCMessageDescriptor *all[MESSAGES_MAX];
    uint32_t count;
} messages;

static void put(cm_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(cm_page *page, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cm_page_text(page, text);
}

static void add(messages *m, const ProtobufCMessageDescriptor *message)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->all[i] == message) {
            return;
        }
    }
    for (unsigned i = 0; i < message->n_fields; i++) {
        if (message->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            add(m, message->fields[i].descriptor);
        }
    }
    if (m->count < MESSAGES_MAX) {
        m->all[m->count++] = message;
    }
}

static void find_messages(messages *m)
{
    m->count = 0;
    add(m, &cm__api__failure_answer__descriptor);
    for (size_t i = 0; i < cm_api_route_count; i++) {
        if (cm_api_routes[i].body != NULL) {
            add(m, cm_api_routes[i].body);
        }
        if (cm_api_routes[i].answer != NULL) {
            add(m, cm_api_routes[i].answer);
        }
    }
}

static const char *method_name(cm_http_method method)
{
    return method == CM_HTTP_POST ? "post" : method == CM_HTTP_DELETE ? "delete" : "get";
}

// OpenAPI --------------------------------------------------------------------------------------

static void put_type(cm_page *page, const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        put(page, "{\"$ref\":\"#/components/schemas/%s\"}",
            ((const ProtobufCMessageDescriptor *)field->descriptor)->short_name);
        break;
    case PROTOBUF_C_TYPE_STRING:
        cm_page_text(page, "{\"type\":\"string\"}");
        break;
    case PROTOBUF_C_TYPE_BOOL:
        cm_page_text(page, "{\"type\":\"boolean\"}");
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        cm_page_text(page, "{\"type\":\"number\"}");
        break;
    case PROTOBUF_C_TYPE_UINT64: // above 2^53 a text of digits
        cm_page_text(page, "{\"oneOf\":[{\"type\":\"integer\",\"minimum\":0},"
                           "{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"}]}");
        break;
    default:
        cm_page_text(page, "{\"type\":\"integer\",\"minimum\":0,\"maximum\":4294967295}");
        break;
    }
}

static void put_schema(cm_page *page, const ProtobufCMessageDescriptor *message)
{
    put(page, "\"%s\":{\"type\":\"object\",\"properties\":{", message->short_name);
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        bool many = field->label == PROTOBUF_C_LABEL_REPEATED;
        put(page, "%s\"%s\":%s", i > 0 ? "," : "", field->name,
            many ? "{\"type\":\"array\",\"items\":" : "");
        put_type(page, field);
        cm_page_text(page, many ? "}" : "");
    }
    cm_page_text(page, "},\"required\":[");
    bool any = false;
    for (unsigned i = 0; i < message->n_fields; i++) {
        if (message->fields[i].label != PROTOBUF_C_LABEL_OPTIONAL) {
            put(page, "%s\"%s\"", any ? "," : "", message->fields[i].name);
            any = true;
        }
    }
    cm_page_text(page, "],\"additionalProperties\":false}");
}

static void put_parameters(cm_page *page, const cm_api_route *route)
{
    static const char *const places[] = {"room", "who"};
    const char *before = "";
    cm_page_text(page, "\"parameters\":[");
    for (uint32_t i = 0; i < 2; i++) {
        if (strstr(route->path, i == 0 ? "{room}" : "{who}") != NULL) {
            put(page,
                "%s{\"name\":\"%s\",\"in\":\"path\",\"required\":true,\"schema\":"
                "{\"type\":\"string\"}}",
                before, places[i]);
            before = ",";
        }
    }
    if (route->pages) {
        put(page,
            "{\"name\":\"limit\",\"in\":\"query\",\"schema\":{\"type\":\"integer\",\"minimum\":1,"
            "\"maximum\":%u,\"default\":%u}},{\"name\":\"after\",\"in\":\"query\",\"schema\":"
            "{\"type\":\"string\"}}",
            CM_API_LIST_MAX, CM_API_LIST);
    }
    cm_page_text(page, "],");
}

static void put_operation(cm_page *page, const cm_api_route *route)
{
    put(page, "\"%s\":{\"summary\":\"%s\",\"x-scope\":\"%s\",", method_name(route->method),
        route->summary, cm_api_scope_name(route->scope));
    put_parameters(page, route);
    if (route->body != NULL) {
        put(page,
            "\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{\"$ref\":"
            "\"#/components/schemas/%s\"}}}},",
            route->body->short_name);
    }
    put(page, "\"security\":[%s{\"key\":[]}],", route->scope == CM_API_READ ? "{}," : "");
    put(page,
        "\"responses\":{\"%u\":{\"description\":\"done\",\"content\":{\"application/json\":"
        "{\"schema\":",
        (unsigned)route->status);
    if (route->answer != NULL) {
        put(page, "{\"$ref\":\"#/components/schemas/%s\"}}}},", route->answer->short_name);
    } else {
        cm_page_text(page, "{\"type\":\"object\"}}}},");
    }
    cm_page_text(page, "\"default\":{\"description\":\"refused, or failed\",\"content\":"
                       "{\"application/json\":{\"schema\":{\"$ref\":"
                       "\"#/components/schemas/FailureAnswer\"}}}}}}");
}

void cm_api_openapi(cm_page *page)
{
    messages m;
    find_messages(&m);
    put(page,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Carom\",\"version\":\"%s\"},"
        "\"servers\":[{\"url\":\"/api/v1\"}],\"paths\":{",
        cm_version_number);
    for (size_t i = 0; i < cm_api_route_count; i++) { // routes of a path stand together
        bool same = i > 0 && strcmp(cm_api_routes[i].path, cm_api_routes[i - 1].path) == 0;
        if (!same) {
            put(page, "%s\"/%s\":{", i > 0 ? "},\n" : "", cm_api_routes[i].path);
        } else {
            cm_page_text(page, ",\n");
        }
        put_operation(page, &cm_api_routes[i]);
    }
    cm_page_text(page, "}},\"components\":{\"securitySchemes\":{\"key\":{\"type\":\"http\","
                       "\"scheme\":\"bearer\"}},\"schemas\":{");
    for (uint32_t i = 0; i < m.count; i++) {
        cm_page_text(page, i > 0 ? ",\n" : "\n");
        put_schema(page, m.all[i]);
    }
    cm_page_text(page, "}}}\n");
}

// TypeScript -----------------------------------------------------------------------------------

static const char *type_name(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return ((const ProtobufCMessageDescriptor *)field->descriptor)->short_name;
    case PROTOBUF_C_TYPE_STRING:
        return "string";
    case PROTOBUF_C_TYPE_BOOL:
        return "boolean";
    case PROTOBUF_C_TYPE_UINT64:
        return "number | string";
    default:
        return "number";
    }
}

void cm_api_typescript(cm_page *page)
{
    messages m;
    find_messages(&m);
    put(page, "// Types of /api/v1 of Carom %s; `carom api --typescript` makes them.\n",
        cm_version_number);
    for (uint32_t i = 0; i < m.count; i++) {
        put(page, "\nexport interface %s {\n", m.all[i]->short_name);
        for (unsigned f = 0; f < m.all[i]->n_fields; f++) {
            const ProtobufCFieldDescriptor *field = &m.all[i]->fields[f];
            put(page, "  %s%s: %s%s;\n", field->name,
                field->label == PROTOBUF_C_LABEL_OPTIONAL ? "?" : "", type_name(field),
                field->label == PROTOBUF_C_LABEL_REPEATED ? "[]" : "");
        }
        cm_page_text(page, "}\n");
    }
    cm_page_text(page, "\nexport interface Routes {\n");
    for (size_t i = 0; i < cm_api_route_count; i++) {
        const cm_api_route *r = &cm_api_routes[i];
        put(page, "  /** %s */\n  \"%s /api/v1/%s\": { body: %s; answer: %s };\n", r->summary,
            method_name(r->method), r->path, r->body != NULL ? r->body->short_name : "undefined",
            r->answer != NULL ? r->answer->short_name : "unknown");
    }
    cm_page_text(page, "}\n");
}
