// Adds up what bots measured. Rewinds here are the clients' own (reconciliations); only the server
// knows late inputs: `late_inputs` counts the views that reported one.
#include "server/tools/bots/summary.h"

#include "server/tools/feel/table.h"

#include <string.h>

void cm_bots_summary_init(cm_bots_summary *summary)
{
    memset(summary, 0, sizeof *summary);
}

void cm_bot_gaps_add(cm_bot_gaps *gaps, uint64_t gap_us)
{
    uint64_t bucket = gap_us / (1000u * CM_BOT_GAP_MS);
    double ms = (double)gap_us * 1.0e-3;
    gaps->count++;
    gaps->max_ms = ms > gaps->max_ms ? ms : gaps->max_ms;
    gaps->buckets[bucket < CM_BOT_GAP_BUCKETS ? bucket : CM_BOT_GAP_BUCKETS - 1]++;
}

static void add_gaps(cm_bot_gaps *sum, const cm_bot_gaps *gaps)
{
    sum->count += gaps->count;
    sum->max_ms = gaps->max_ms > sum->max_ms ? gaps->max_ms : sum->max_ms;
    for (uint32_t i = 0; i < CM_BOT_GAP_BUCKETS; i++) {
        sum->buckets[i] += gaps->buckets[i];
    }
}

// Upper edge of the bucket that holds the share of them, at most the longest.
static double gap_percentile(const cm_bot_gaps *gaps, double share)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i + 1 < CM_BOT_GAP_BUCKETS; i++) {
        double edge = (double)((i + 1) * CM_BOT_GAP_MS);
        sum += gaps->buckets[i];
        if (sum > 0 && (double)sum >= share * (double)gaps->count) {
            return edge < gaps->max_ms ? edge : gaps->max_ms;
        }
    }
    return gaps->max_ms;
}

static void add_stats(cm_bots_summary *s, const carom_client_stats *stats)
{
    s->bytes_in += stats->bytes_in;
    s->bytes_out += stats->bytes_out;
    s->views += stats->views;
    s->view_packets += stats->view_packets;
    s->packets_lost += stats->packets_lost;
    s->packets_refused += stats->packets_refused;
    s->reconciles += stats->reconciles;
    s->steps += stats->predicted_steps;
    s->desyncs += stats->desyncs;
    s->comebacks += stats->comebacks;
    s->inputs_sent += stats->inputs_sent;
    s->late_reports += stats->late_reports;
    s->lead_reports += stats->lead_reports;
    s->lead_sum += stats->lead_sum;
    s->rtt_sum += stats->rtt_ms;
    s->delay_sum += stats->interpolation_delay_ms;
    s->error_count += stats->error_count;
    s->error_sum += stats->error_sum;
    s->error_max = stats->error_max > s->error_max ? stats->error_max : s->error_max;
    for (uint32_t i = 0; i < CAROM_ERROR_BUCKETS; i++) {
        s->error_buckets[i] += stats->error_buckets[i];
    }
}

void cm_bots_summary_add(cm_bots_summary *s, const cm_bot_result *result)
{
    s->clients++;
    if (!result->opened) {
        s->unopened++;
        return;
    }
    if (!result->played) {
        s->refused[result->reason]++;
        return;
    }
    s->connected++;
    s->predicting += result->predicts;
    s->spectators += result->watches;
    s->frames += result->frames;
    s->frames_late += result->frames_late;
    s->unstable += result->unstable;
    if (!result->stayed) {
        s->ended++;
        s->refused[result->reason]++;
    }
    double seconds = (double)(result->playing_until_us - result->playing_since_us) * 1.0e-6;
    s->client_seconds += seconds;
    s->longest_seconds = seconds > s->longest_seconds ? seconds : s->longest_seconds;
    if (result->acks.simulated_tick >= s->acks.simulated_tick) {
        s->acks = result->acks;
    }
    uint64_t ticks = result->stats.server_tick - result->first_tick;
    s->ticks = ticks > s->ticks ? ticks : s->ticks;
    add_stats(s, &result->stats);
    add_gaps(&s->gaps, &result->gaps);
}

static const char *durability_name(carom_durability durability)
{
    static const char *const names[] = {"none", "process", "power", "lost"};
    return names[durability];
}

double cm_bots_summary_percentile(const cm_bots_summary *s, double share)
{
    double wanted = share * (double)s->error_count, bound = 1.0e-4;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < CAROM_ERROR_BUCKETS; i++, bound *= 1.25) {
        sum += s->error_buckets[i];
        if (sum > 0 && (double)sum >= wanted) {
            return bound < s->error_max ? bound : s->error_max;
        }
    }
    return s->error_max;
}

static void print_refused(const cm_bots_summary *s, FILE *out)
{
    static const char *const names[] = {
#define NAME(name, text) #name,
        CAROM_REASON_TABLE(NAME)
#undef NAME
    };
    const char *comma = "";
    fputs("\"refused\":{", out);
    for (uint32_t i = 0; i < CAROM_REASON_COUNT; i++) {
        if (s->refused[i] > 0) {
            fprintf(out, "%s\"%s\":%llu", comma, names[i], (unsigned long long)s->refused[i]);
            comma = ",";
        }
    }
    if (s->unopened > 0) {
        fprintf(out, "%s\"NO_SOCKET\":%llu", comma, (unsigned long long)s->unopened);
    }
    fputs("}", out);
}

static double per(double a, double b)
{
    return b > 0.0 ? a / b : 0.0;
}

// As `carom bench feel` has them; of late inputs only the share of views that report one is known.
static void print_feel(const cm_bots_summary *s, FILE *out)
{
    char fields[CM_FEEL_LINE];
    cm_feel_figures f = s->feel;
    f.late_percent = 100.0 * per((double)s->late_reports, (double)s->lead_reports);
    f.lead_ticks = per(s->lead_sum, (double)s->lead_reports);
    f.reconciles = s->reconciles;
    f.errors = s->error_count;
    f.error_max_mm = 1.0e3 * s->error_max;
    cm_feel_fields(&f, fields);
    fprintf(out, "%s,", fields);
}

bool cm_bots_summary_well(const cm_bots_summary *s)
{
    return s->connected == s->clients && s->ended == 0 && s->desyncs == 0;
}

void cm_bots_summary_print(const cm_bots_summary *s, FILE *out)
{
    fprintf(out, "{\"connected\":%u,\"ticks\":%llu,\"seconds\":%.3f,\"clients\":%u,", s->connected,
            (unsigned long long)s->ticks, s->longest_seconds, s->clients);
    fprintf(out, "\"predicting\":%u,\"bytes_in_per_client_second\":%.1f,", s->predicting,
            per((double)s->bytes_in, s->client_seconds));
    fprintf(out, "\"bytes_out_per_client_second\":%.1f,\"packets_lost\":%llu,",
            per((double)s->bytes_out, s->client_seconds), (unsigned long long)s->packets_lost);
    fprintf(out, "\"packets_refused\":%llu,\"views\":%llu,\"view_packets\":%llu,",
            (unsigned long long)s->packets_refused, (unsigned long long)s->views,
            (unsigned long long)s->view_packets);
    fprintf(out, "\"prediction_error\":{\"mean\":%.6f,\"p99\":%.6f,\"max\":%.6f,\"count\":%llu},",
            per(s->error_sum, (double)s->error_count), cm_bots_summary_percentile(s, 0.99),
            s->error_max, (unsigned long long)s->error_count);
    fprintf(out, "\"rewinds\":%llu,\"predicted_steps\":%llu,\"inputs_sent\":%llu,",
            (unsigned long long)s->reconciles, (unsigned long long)s->steps,
            (unsigned long long)s->inputs_sent);
    fprintf(out, "\"late_inputs\":%llu,\"input_lead_ticks\":%.2f,",
            (unsigned long long)s->late_reports, per(s->lead_sum, (double)s->lead_reports));
    fprintf(out, "\"rtt_ms\":%.1f,\"interpolation_delay_ms\":%.1f,", per(s->rtt_sum, s->connected),
            per(s->delay_sum, s->connected));
    fprintf(out, "\"durability\":\"%s\",\"server_tick\":%llu,\"durable_tick\":%llu,",
            durability_name(s->acks.durability), (unsigned long long)s->acks.simulated_tick,
            (unsigned long long)s->acks.durable_tick);
    fprintf(out, "\"gap_ms\":{\"count\":%llu,\"p99\":%.1f,\"max\":%.1f},",
            (unsigned long long)s->gaps.count, gap_percentile(&s->gaps, 0.99), s->gaps.max_ms);
    fprintf(out, "\"ended\":%u,\"unstable\":%u,\"comebacks\":%llu,\"desyncs\":%llu,", s->ended,
            s->unstable, (unsigned long long)s->comebacks, (unsigned long long)s->desyncs);
    fprintf(out, "\"spectators\":%u,\"frames_late_percent\":%.2f,", s->spectators,
            100.0 * per((double)s->frames_late, (double)s->frames));
    fprintf(out, "\"watched\":%u,", s->watched);
    print_feel(s, out);
    print_refused(s, out);
    fputs("}\n", out);
}
