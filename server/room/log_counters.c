// See log_counters.h. Ticks that are stepped again are counted again: it is work that was done.
#include "server/room/log_counters.h"

static void add(void *context, const carom_log_message *message)
{
    cm_log_counters *counters = context;
    cm_log_counter *row = &counters->rows[message->code];
    if (row->count == 0) {
        row->first_tick = message->tick;
        row->first_body = message->body;
    }
    row->count += message->count;
    row->last_tick = message->tick;
    row->last_body = message->body;
}

carom_log cm_log_counters_log(cm_log_counters *counters)
{
    return (carom_log){counters, add};
}

void cm_log_counters_write(cm_log_counters *counters, const cm_log *log)
{
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        cm_log_counter *row = &counters->rows[i];
        carom_log_code code = (carom_log_code)i;
        if (row->count == row->logged || carom_log_level_of(code) == CAROM_LOG_DEBUG) {
            continue;
        }
        cm_line line;
        cm_line_log(&line, CM_LOG_WARNING, carom_log_text(code));
        cm_line_put(&line, CM_T("code", carom_log_name(code)),
                    CM_U("count", row->count - row->logged), CM_U("in_all", row->count),
                    CM_U("tick", row->last_tick));
        if (!carom_body_id_is_null(row->last_body)) {
            cm_line_uint(&line, "body", row->last_body.index);
        }
        cm_log_write(log, CM_LOG_WARNING, &line);
        row->logged = row->count;
    }
}
