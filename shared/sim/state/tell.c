// The world's messages (carom/log.h). Rare: most worlds never say anything.
#include "shared/sim/state/tell.h"

#include "shared/sim/state/slots.h"

typedef struct entry {
    const char *name, *text;
    carom_log_level level;
} entry;

static entry entry_of(carom_log_code code)
{
    static const entry entries[] = {
#define LOG_ENTRY(id, name, level, text) {name, text, CAROM_LOG_##level},
        CAROM_LOG_TABLE(LOG_ENTRY)
#undef LOG_ENTRY
    };
    const entry none = {"", "", CAROM_LOG_DEBUG};
    return (uint32_t)code < CAROM_LOG_CODE_COUNT ? entries[code] : none;
}

const char *carom_log_name(carom_log_code code)
{
    return entry_of(code).name;
}

const char *carom_log_text(carom_log_code code)
{
    return entry_of(code).text;
}

carom_log_level carom_log_level_of(carom_log_code code)
{
    return entry_of(code).level;
}

carom_result carom_world_set_log(carom_world *world, const carom_log *log)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    world->log = log != NULL ? *log : (carom_log){0};
    return CAROM_OK;
}

void cm_tell(carom_world *world, carom_log_code code, uint32_t body, uint64_t count)
{
    if (count == 0) {
        return;
    }
    world->stats.log_counts[code] += count;
    if (world->log.tell == NULL) {
        return;
    }
    const entry of = entry_of(code);
    const carom_log_message message = {
        .world = world,
        .code = code,
        .level = of.level,
        .tick = world->state.tick,
        .body = body != CM_NONE ? cm_body_id(world, body) : (carom_body_id){0},
        .count = count,
        .text = of.text,
    };
    world->log.tell(world->log.context, &message);
}
