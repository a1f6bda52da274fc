// The places of the public structs' fields in wasm32: layout.mjs reads these rows and writes
// layout.ts, so that no offset stands in a source. Built apart from the simulation; with CW_CLIENT
// those of carom-client.
#include <stddef.h>

#include "carom/query.h"
#include "carom/world.h"
#ifdef CW_CLIENT
#include "client-sdk/web/client/native/frame.h"
#endif

typedef struct cw_field {
    const char *type, *field;
    uint32_t offset, size, total;
} cw_field;

#define FIELD(type, field)                                                                         \
    {#type, #field, (uint32_t)offsetof(type, field), (uint32_t)sizeof(((type *)0)->field),         \
     (uint32_t)sizeof(type)},

static const cw_field rows[] = {
#ifdef CW_CLIENT
#include "client-sdk/web/client/native/fields.def"
#else
#include "client-sdk/web/sim/native/fields.def"
#endif
};

CAROM_API const cw_field *cw_fields(void)
{
    return rows;
}

CAROM_API uint32_t cw_field_count(void)
{
    return (uint32_t)(sizeof rows / sizeof *rows);
}
