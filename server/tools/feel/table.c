// Every figure is the worse, the larger it is.
#include "server/tools/feel/table.h"

#include <stdio.h>

static void raise(double *worst, double value)
{
    *worst = value > *worst ? value : *worst;
}

static void raise_all(cm_feel_figures *worst, const cm_feel_figures *f)
{
    raise(&worst->own_p50_mm, f->own_p50_mm);
    raise(&worst->own_p99_mm, f->own_p99_mm);
    raise(&worst->own_max_mm, f->own_max_mm);
    raise(&worst->own_pops_p99_mm, f->own_pops_p99_mm);
    raise(&worst->others_p99_mm, f->others_p99_mm);
    raise(&worst->shared_p99_mm, f->shared_p99_mm);
    raise(&worst->pops_p99_mm, f->pops_p99_mm);
    raise(&worst->recovery_ms_max, f->recovery_ms_max);
    raise(&worst->late_percent, f->late_percent);
    raise(&worst->lead_ticks, f->lead_ticks);
    raise(&worst->update_us_p99, f->update_us_p99);
    raise(&worst->kbit_down, f->kbit_down);
    raise(&worst->kbit_up, f->kbit_up);
    raise(&worst->kbit_told, f->kbit_told);
    raise(&worst->error_max_mm, f->error_max_mm);
    worst->reconciles += f->reconciles;
    worst->errors += f->errors;
}

carom_result cm_feel_worst(const cm_feel_options *options, uint32_t seeds, cm_feel_figures *worst,
                           char *error, size_t error_size)
{
    *worst = (cm_feel_figures){0};
    for (uint32_t i = 0; i < seeds; i++) {
        cm_feel_options one = *options;
        cm_feel_figures figures;
        one.seed += i;
        carom_result result = cm_feel_measure(&one, &figures, error, error_size);
        if (result != CAROM_OK) {
            return result;
        }
        raise_all(worst, &figures);
    }
    return CAROM_OK;
}

void cm_feel_line(const cm_feel_options *options, const cm_feel_figures *f, char line[CM_FEEL_LINE])
{
    snprintf(line, CM_FEEL_LINE,
             "{\"game\":\"%s\",\"condition\":\"%s\",\"sync\":\"%s\",\"players\":%u,"
             "\"seconds\":%u,\"own_p50_mm\":%.1f,\"own_p99_mm\":%.1f,\"own_max_mm\":%.1f,"
             "\"own_pops_p99_mm\":%.1f,\"others_p99_mm\":%.1f,\"shared_p99_mm\":%.1f,"
             "\"pops_p99_mm\":%.1f,\"recovery_ms_max\":%.0f,\"late_percent\":%.3f,"
             "\"lead_ticks\":%.2f,\"update_us_p99\":%.0f,\"kbit_down\":%.1f,\"kbit_up\":%.1f,"
             "\"corrections\":%llu,\"errors_counted\":%llu,\"error_max_mm\":%.1f}",
             options->game->name, options->path->name, options->sync_inputs ? "inputs" : "state",
             (unsigned)options->game->players, (unsigned)options->seconds, f->own_p50_mm,
             f->own_p99_mm, f->own_max_mm, f->own_pops_p99_mm, f->others_p99_mm, f->shared_p99_mm,
             f->pops_p99_mm, f->recovery_ms_max, f->late_percent, f->lead_ticks, f->update_us_p99,
             f->kbit_down, f->kbit_up, (unsigned long long)f->reconciles,
             (unsigned long long)f->errors, f->error_max_mm);
}
