// The figures of a hand as a line of JSON, beside what is to be reached.
#include "server/tools/feel/hand.h"

#include <stdio.h>

bool cm_hand_reached(const cm_hand_options *options, const cm_hand_figures *f)
{
    double most = options->path->force_percent;
    bool is_felt =
        most == 0.0 || (f->worst.force_p99_percent <= most && f->worst.torque_p99_percent <= most);
    return is_felt && f->worst.work_j <= CM_HAND_WORK_J &&
           f->wall_percent <= CM_HAND_WALL_PERCENT && f->update_us_p999 <= CM_HAND_UPDATE_US;
}

void cm_hand_line(const cm_hand_options *options, const cm_hand_figures *f, char line[CM_HAND_LINE])
{
    const cm_hand_stroke *w = &f->worst;
    double most = options->path->force_percent;
    char bound[16] = "null";
    if (most > 0.0) {
        snprintf(bound, sizeof bound, "%.0f", most);
    }
    snprintf(line, CM_HAND_LINE,
             "{\"hand\":\"%s\",\"sync\":\"%s\",\"reached\":%s,\"force_p99_percent\":%.2f,"
             "\"force_p99_percent_most\":%s,\"force_rms_percent\":%.2f,\"torque_p99_percent\":%.2f,"
             "\"torque_p99_percent_most\":%s,\"peak_n\":%.1f,\"work_j\":%.2e,\"work_j_most\":%.0e,"
             "\"work_alone_j\":%.2e,\"wall_alone_n_m\":%.1f,\"wall_percent\":%.3f,"
             "\"wall_percent_most\":%.0f,\"wall_off_mm\":%.3f,\"local_percent\":%.2f,"
             "\"withheld_percent\":%.2f,\"corrections\":%llu,\"felt\":%llu,\"steps\":%llu,"
             "\"steps_max\":%llu,\"late_percent\":%.3f,\"update_us_p50\":%.0f,"
             "\"update_us_p999\":%.0f,\"update_us_p999_most\":%.0f,\"update_us_max\":%.0f,"
             "\"kbit_down\":%.0f,\"kbit_up\":%.0f}",
             options->path->name, options->sync_inputs ? "inputs" : "state",
             cm_hand_reached(options, f) ? "true" : "false", w->force_p99_percent, bound,
             w->force_rms_percent, w->torque_p99_percent, bound, w->peak_n, w->work_j,
             CM_HAND_WORK_J, w->work_local_j, f->wall_alone_n_m, f->wall_percent,
             CM_HAND_WALL_PERCENT, f->wall_off_mm, f->local_percent, f->withheld_percent,
             (unsigned long long)f->corrections, (unsigned long long)f->felt,
             (unsigned long long)f->steps, (unsigned long long)f->steps_max, f->late_percent,
             f->update_us_p50, f->update_us_p999, CM_HAND_UPDATE_US, f->update_us_max, f->kbit_down,
             f->kbit_up);
}
