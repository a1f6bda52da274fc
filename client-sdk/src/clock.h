// The client's clocks. All count ticks, as doubles, against the local time that is handed in.
//
//   local      ticks of this machine's time at the room's rate, from 0
//   predicted  = local + lead offset: the tick that the client plays, ahead of the server so that
//              its inputs arrive just in time; stretched by at most 5% to hold the lead
//   render     = local + render offset: the past tick at which bodies are interpolated
//
// Pure: time and reports in, ticks out; no socket, no real clock.
#ifndef CM_CLIENT_CLOCK_H
#define CM_CLIENT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CM_CLOCK_HISTORY 512u // ticks whose making is remembered
#define CM_CLOCK_BUCKETS 8u   // of a third of a second each: the window of the least lead

typedef struct cm_client_clock {
    uint32_t tick_rate, rate_permille;
    uint64_t last_us;
    double local;
    double frame; // ticks between the last two updates
    bool started; // a view has come
    // Views: tick minus local time at arrival.
    double arrival_mean, arrival_deviation;
    double view_interval; // ticks
    uint64_t newest_view;
    double heard;        // local time when what comes at even times came last
    double gap, longest; // time between two of them: the last one; the longest of late
    // Doubt: the path got slower, for all that is known. 0: none.
    double doubt;        // ticks by which it may have
    uint64_t doubt_tick; // the first input that was made in it
    double doubt_ends;   // local time
    // Lead.
    double offset;
    double rtt_ticks;
    double unreported; // ticks that an input waits for its packet, beyond those that are reported
    bool lead_known;
    double least[CM_CLOCK_BUCKETS]; // of (lead - how far ahead the input was made); 1e9: none
    double after[CM_CLOCK_BUCKETS]; // most that an input was made after its tick began
    bool jumped;                    // the next inputs are late for another reason than the frames
    double short_of;                // ticks that the lead is to grow by, and inputs are made ahead
    uint64_t bucket;                // number of the newest one
    double made_ahead[CM_CLOCK_HISTORY]; // tick - local, when it was made
    // Interpolation.
    double render_offset;
} cm_client_clock;

void cm_client_clock_init(cm_client_clock *clock, uint32_t tick_rate, uint32_t view_rate,
                          uint64_t now_us);
// Inputs go input_rate times a second: of ticks shorter than that, several wait for one packet.
void cm_client_clock_packets(cm_client_clock *clock, uint32_t input_rate);
// Moves all clocks on; never back.
void cm_client_clock_advance(cm_client_clock *clock, uint64_t now_us);
// The room's clock runs at permille / 1000 of tick_rate.
void cm_client_clock_rate(cm_client_clock *clock, uint32_t permille);
void cm_client_clock_rtt(cm_client_clock *clock, uint32_t rtt_ms);
// A view came now, or confirmed ticks: these go at even times.
void cm_client_clock_heard(cm_client_clock *clock);
// A view of `tick` came now.
void cm_client_clock_view(cm_client_clock *clock, uint64_t tick);
// The server's report: inputs up to `input_tick` came `lead` ticks early at the least.
void cm_client_clock_lead(cm_client_clock *clock, double lead, uint64_t input_tick);
// Inputs are to be made now for so many ticks beyond the predicted one, so that they come in time:
// while the clock stretches up to a longer lead, and, on a path that loses nothing and is `even`,
// as soon as a view is overdue. `*begins`: this is the first sign of that.
double cm_client_clock_ahead(cm_client_clock *clock, bool even);
// The inputs of ticks `first` to `last` were made now, in one go.
void cm_client_clock_made(cm_client_clock *clock, uint64_t first, uint64_t last);

double cm_client_clock_predicted(const cm_client_clock *clock);
double cm_client_clock_render(const cm_client_clock *clock);
double cm_client_clock_delay_ms(const cm_client_clock *clock);
// Of the views' arrival: mean absolute deviation from what they have as a rule.
double cm_client_clock_jitter_ms(const cm_client_clock *clock);

#endif
