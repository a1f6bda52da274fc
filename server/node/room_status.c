// The two forms of the status, from the same numbers.
#include "server/node/room_status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/utf8.h"

typedef struct block {
    char *text;
    size_t size;
    uint32_t lines;
} block;

static void add(block *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(block *b, const char *format, ...)
{
    size_t left = CM_STATUS_BLOCK_MAX - b->size;
    va_list arguments;
    va_start(arguments, format);
    int wrote = vsnprintf(b->text + b->size, left, format, arguments);
    va_end(arguments);
    if (wrote > 0 && (size_t)wrote < left) {
        b->size += (size_t)wrote;
        b->lines++;
    } else {
        b->text[b->size] = '\0';
    }
}

// The stages from `first` to `last` on one line; the whole step is the sum of its parts.
static void add_stages(block *b, const char *title, const cm_worker_stats *stats, uint32_t first,
                       uint32_t last)
{
    char text[96] = "";
    size_t size = 0;
    for (uint32_t i = first; i <= last; i++) {
        if (i != CAROM_STAGE_STEP && size < sizeof text) {
            size +=
                (size_t)snprintf(text + size, sizeof text - size, "%s%s %.3f", size > 0 ? "  " : "",
                                 carom_stage_name((carom_stage)i), stats->stage_ms[i]);
        }
    }
    add(b, "  %-8s  %s\n", title, text);
}

static void add_clients(block *b, const cm_status *status)
{
    uint32_t shown =
        status->client_count < CM_STATUS_CLIENTS ? status->client_count : CM_STATUS_CLIENTS;
    for (uint32_t i = 0; i < shown; i++) {
        const cm_hosted_player *c = &status->clients[i];
        char name[17];
        cm_utf8_printable(c->name[0] != '\0' ? c->name : "-", name, sizeof name);
        add(b, "    %2u %-16s %6.1f kbit/s   rtt %4u ms   late %llu   refused %llu\n", c->player,
            name, c->kbit, c->round_trip_ms, (unsigned long long)c->late_inputs,
            (unsigned long long)c->refused_inputs);
    }
    if (status->client_count > shown) {
        add(b, "    and %u more\n", status->client_count - shown);
    }
}

uint32_t cm_status_block(const cm_status *status, char text[CM_STATUS_BLOCK_MAX])
{
    const cm_worker_stats *w = &status->worker;
    block b = {text, 0, 0};
    char scene[41], error[161];
    cm_utf8_printable(status->scene, scene, sizeof scene);
    cm_utf8_printable(status->match.error, error, sizeof error);
    text[0] = '\0';
    double seconds = status->tick_rate > 0 ? (double)w->tick / status->tick_rate : 0.0;
    add(&b, "  room      %s%s\n", scene, status->draining ? "  (draining)" : "");
    add(&b, "  tick      %llu  (%.1f s)   behind %llu\n", (unsigned long long)w->tick, seconds,
        (unsigned long long)w->ticks_behind);
    add(&b, "  tick ms   p50 %.3f   p99 %.3f\n", w->tick_ms_p50, w->tick_ms_p99);
    add_stages(&b, "stage ms", w, CAROM_STAGE_PAIRS, CAROM_STAGE_SOLVE);
    add_stages(&b, "", w, CAROM_STAGE_RELAX, CAROM_STAGE_SAVE);
    add(&b, "  asleep    %u bodies   %u islands\n", w->bodies_asleep, w->islands);
    add(&b, "  players   %u   %.1f kbit/s to each\n", w->players, w->kbit_per_client);
    add_clients(&b, status);
    add(&b, "  inputs    %llu   late %llu   refused %llu\n", (unsigned long long)w->inputs,
        (unsigned long long)w->late_inputs, (unsigned long long)w->refused_inputs);
    add(&b, "  rewinds   %llu   ticks stepped again %llu\n", (unsigned long long)w->rewinds,
        (unsigned long long)w->rewound_ticks);
    if (w->seen_clamped > 0) {
        add(&b, "  clamped   %llu inputs that claim to have seen what they cannot have\n",
            (unsigned long long)w->seen_clamped);
    }
    if (w->datagrams_refused > 0) {
        add(&b, "  refused   %llu datagrams\n", (unsigned long long)w->datagrams_refused);
    }
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        carom_log_code code = (carom_log_code)i;
        if (w->log_counts[i] > 0 && carom_log_level_of(code) != CAROM_LOG_DEBUG) {
            add(&b, "  WORLD     %llu %s\n", (unsigned long long)w->log_counts[i],
                carom_log_text(code));
        }
    }
    if (w->messages_dropped > 0 || w->events_dropped > 0) {
        add(&b, "  LEFT OUT  %llu messages and %llu events of the module\n",
            (unsigned long long)w->messages_dropped, (unsigned long long)w->events_dropped);
    }
    add(&b, "  recorded  %llu bytes to tick %llu%s\n", (unsigned long long)status->match.bytes,
        (unsigned long long)status->match.committed_tick,
        status->match.durable ? "" : "  NOT DURABLE");
    if (!status->match.durable && status->match.error[0] != '\0') {
        add(&b, "            %s\n", error);
    }
    return b.lines;
}

uint32_t cm_status_row(const cm_status *status, char text[CM_STATUS_BLOCK_MAX])
{
    const cm_worker_stats *w = &status->worker;
    block b = {text, 0, 0};
    char name[17];
    text[0] = '\0';
    cm_utf8_printable(status->room, name, sizeof name);
    add(&b, "  %-16s tick %9llu  p99 %7.3f ms  players %2u  behind %llu%s%s\n", name,
        (unsigned long long)w->tick, w->tick_ms_p99, w->players,
        (unsigned long long)w->ticks_behind, status->match.durable ? "" : "  NOT DURABLE",
        status->draining ? "  (draining)" : "");
    return b.lines;
}

// True if all is well.
static void add_short(cm_line *line, const cm_status *status)
{
    const cm_worker_stats *w = &status->worker;
    cm_line_put(line, CM_N("tick_ms_p99", w->tick_ms_p99), CM_U("players", w->players),
                CM_N("kbit_per_client", w->kbit_per_client), CM_U("late_inputs", w->late_inputs),
                CM_U("rewinds", w->rewinds), CM_U_IF("refused_inputs", w->refused_inputs),
                CM_U_IF("seen_clamped", w->seen_clamped),
                CM_U_IF("datagrams_refused", w->datagrams_refused),
                CM_U_IF("ticks_behind", w->ticks_behind),
                CM_U_IF("messages_dropped", w->messages_dropped),
                CM_U_IF("events_dropped", w->events_dropped));
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        if (carom_log_level_of((carom_log_code)i) != CAROM_LOG_DEBUG) {
            cm_line_put(line, CM_U_IF(carom_log_name((carom_log_code)i), w->log_counts[i]));
        }
    }
}

#define NAME(name, text) #name,

// The reasons for which datagrams were refused: by the gate, by the list of commands, by the reader
// of packets.
static void add_refused(cm_line *line, const cm_worker_stats *w)
{
    static const char *const datagrams[] = {CM_DATAGRAM_REASONS(NAME)};
    static const char *const commands[] = {CM_COMMAND_REASONS(NAME)};
    cm_line_counts(line, "refused", datagrams, w->refused, CM_DATAGRAM_REASON_COUNT);
    cm_line_counts(line, "refused_commands", commands, w->commands_refused,
                   CM_COMMAND_REASON_COUNT);
}

static void add_full(cm_line *line, const cm_status *status)
{
    const cm_worker_stats *w = &status->worker;
    cm_line_put(line, CM_X("hash", w->room_hash), CM_N("tick_ms_p50", w->tick_ms_p50),
                CM_N("tick_ms_p99", w->tick_ms_p99));
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; i++) {
        if (i != CAROM_STAGE_STEP) {
            char key[32];
            snprintf(key, sizeof key, "%s_ms", carom_stage_name((carom_stage)i));
            cm_line_number(line, key, w->stage_ms[i]);
        }
    }
    cm_line_put(line, CM_U("bodies_asleep", w->bodies_asleep), CM_U("islands", w->islands),
                CM_U("players", w->players), CM_U("peers", w->peers),
                CM_N("kbit_per_client", w->kbit_per_client), CM_U("inputs", w->inputs),
                CM_U("late_inputs", w->late_inputs), CM_U("refused_inputs", w->refused_inputs),
                CM_U("seen_clamped", w->seen_clamped),
                CM_U("poses_not_finite", w->poses_refused[CM_POINTER_NOT_FINITE]),
                CM_U("poses_not_unit", w->poses_refused[CM_POINTER_NOT_UNIT]),
                CM_U("poses_out_of_range", w->poses_refused[CM_POINTER_RANGE]),
                CM_U("rewinds", w->rewinds), CM_U("rewound_ticks", w->rewound_ticks),
                CM_U("views", w->views), CM_U("view_bytes", w->view_bytes),
                CM_U("datagrams_refused", w->datagrams_refused));
    add_refused(line, w);
    cm_line_put(line, CM_U("handshakes", w->handshakes), CM_U("sent_bytes", w->sent_bytes),
                CM_U("received_bytes", w->received_bytes),
                CM_U("turn_datagrams_max", w->turn_datagrams_max),
                CM_U("turn_steps_max", w->turn_steps_max), CM_U("ticks_behind", w->ticks_behind));
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        cm_line_put(line, CM_U_IF(carom_log_name((carom_log_code)i), w->log_counts[i]));
    }
    cm_line_put(line, CM_U("messages_dropped", w->messages_dropped), CM_U("events", w->events),
                CM_U("events_dropped", w->events_dropped),
                CM_U("recorded_bytes", status->match.bytes));
}

const char *cm_status_line(const cm_status *status, bool full, cm_line *line)
{
    char time[CM_LOG_TIME_MAX];
    cm_log_time(status->unix_ms, time);
    cm_line_begin(line);
    cm_line_put(line, CM_T("time", time), CM_T_IF("room", status->room != NULL ? status->room : ""),
                CM_U("tick", status->worker.tick));
    if (full) {
        add_full(line, status);
    } else {
        add_short(line, status);
    }
    cm_line_put(line, CM_U("recorded_tick", status->match.committed_tick),
                CM_B("durable", status->match.durable),
                CM_T_IF("record_error", status->match.durable ? "" : status->match.error),
                CM_U_IF("matches_left", status->left),
                CM_B(full || status->draining ? "draining" : NULL, status->draining));
    return cm_line_end(line);
}
