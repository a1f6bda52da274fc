// The figures of a hand as a line of JSON.
#include "server/tools/feel/hand.h"

#include <stdio.h>

void cm_hand_line(const cm_hand_options *options, const cm_hand_figures *f, char line[CM_HAND_LINE])
{
    const cm_hand_stroke *w = &f->worst;
    snprintf(line, CM_HAND_LINE,
             "{\"hand\":\"%s\",\"sync\":\"%s\",\"force_p99_percent\":%.2f,"
             "\"force_rms_percent\":%.2f,\"torque_p99_percent\":%.2f,\"peak_n\":%.1f,"
             "\"work_j\":%.2e,\"work_alone_j\":%.2e,\"wall_alone_n_m\":%.1f,\"wall_percent\":%.3f,"
             "\"wall_off_mm\":%.3f,\"local_percent\":%.2f,\"withheld_percent\":%.2f,"
             "\"corrections\":%llu,\"felt\":%llu,\"steps\":%llu,\"steps_max\":%llu,"
             "\"late_percent\":%.3f,\"update_us_p50\":%.0f,\"update_us_p999\":%.0f,"
             "\"update_us_max\":%.0f,\"kbit_down\":%.0f,\"kbit_up\":%.0f}",
             options->path->name, options->sync_inputs ? "inputs" : "state", w->force_p99_percent,
             w->force_rms_percent, w->torque_p99_percent, w->peak_n, w->work_j, w->work_local_j,
             f->wall_alone_n_m, f->wall_percent, f->wall_off_mm, f->local_percent,
             f->withheld_percent, (unsigned long long)f->corrections, (unsigned long long)f->felt,
             (unsigned long long)f->steps, (unsigned long long)f->steps_max, f->late_percent,
             f->update_us_p50, f->update_us_p999, f->update_us_max, f->kbit_down, f->kbit_up);
}
