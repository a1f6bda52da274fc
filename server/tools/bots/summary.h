// The sum of the bots' measurements, as one JSON object.
#ifndef CM_SERVER_TOOLS_BOTS_SUMMARY_H
#define CM_SERVER_TOOLS_BOTS_SUMMARY_H

#include <stdio.h>

#include "carom/client.h"

#include "server/tools/feel/feel.h"

// Times without a view round each comeback, by their length: of each bucket CM_BOT_GAP_MS.
#define CM_BOT_GAP_MS      10u
#define CM_BOT_GAP_BUCKETS 1024u // the last: of that length and above

typedef struct cm_bot_gaps {
    uint64_t count;
    double max_ms;
    uint32_t buckets[CM_BOT_GAP_BUCKETS];
} cm_bot_gaps;

typedef struct cm_bot_result {
    bool tried, opened, played, predicts, watches;
    bool stayed;         // has its slot at the end of the run, and plays or
    bool unstable;       // was cut off and may come back
    carom_reason reason; // why it ended, where it did
    uint64_t playing_since_us, playing_until_us;
    uint64_t first_tick;
    uint64_t frames, frames_late; // updates; those more than half a frame after their time
    carom_client_stats stats;     // of the last moment of playing
    carom_client_acks acks;       // the same
    uint64_t view_us;             // when the newest view was there
    cm_bot_gaps gaps;
} cm_bot_result;

typedef struct cm_bots_summary {
    uint32_t clients, connected, predicting, spectators, ended, unstable;
    uint64_t frames, frames_late;
    uint64_t refused[CAROM_REASON_COUNT];
    uint64_t unopened;
    uint64_t ticks; // most that one client saw
    double client_seconds, longest_seconds;
    uint64_t bytes_in, bytes_out, views, view_packets, packets_lost, packets_refused;
    uint64_t reconciles, steps, desyncs, inputs_sent, late_reports, lead_reports, comebacks;
    double lead_sum, rtt_sum, delay_sum;
    carom_client_acks acks; // of the client that saw most
    uint64_t error_count, error_buckets[CAROM_ERROR_BUCKETS];
    double error_sum, error_max;
    cm_bot_gaps gaps;
    uint32_t watched;     // bots with an eye (eye.h)
    cm_feel_figures feel; // of what they saw
} cm_bots_summary;

void cm_bots_summary_init(cm_bots_summary *summary);
void cm_bots_summary_add(cm_bots_summary *summary, const cm_bot_result *result);
// A view came after a comeback, so long after the last one before it.
void cm_bot_gaps_add(cm_bot_gaps *gaps, uint64_t gap_us);
// Upper edge of the bucket that holds the share of the errors, at most the greatest one.
double cm_bots_summary_percentile(const cm_bots_summary *summary, double share);
// All played, none left, and none desynced.
bool cm_bots_summary_well(const cm_bots_summary *summary);
// One line of JSON.
void cm_bots_summary_print(const cm_bots_summary *summary, FILE *out);

#endif
