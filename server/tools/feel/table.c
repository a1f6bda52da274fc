// Every figure is the worse, the larger it is.
#include "server/tools/feel/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    raise(&worst->bound_own_mm, f->bound_own_mm);
    raise(&worst->bare_own_mm, f->bare_own_mm);
    raise(&worst->bound_others_mm, f->bound_others_mm);
    raise(&worst->bare_others_mm, f->bare_others_mm);
    raise(&worst->bound_shared_mm, f->bound_shared_mm);
    raise(&worst->bare_shared_mm, f->bare_shared_mm);
    raise(&worst->bound_pops_mm, f->bound_pops_mm);
    raise(&worst->bare_pops_mm, f->bare_pops_mm);
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

#define ALL 1e9 // no bar

// p99, mm; kbit/s down with IP: issue 23's table.
static const struct {
    const char *game, *path;
    bool sync_inputs;
    uint32_t budget_kbit;
    double own, others, shared, pops, kbit;
} rows[] = {
    {"crowd", "r60", true, 0, 35, 155, 55, 50, 34},
    {"crowd", "r200", true, 0, 200, 1000, 290, 250, 40},
    {"crowd", "r60", false, 128, 75, 160, 200, 50, 130},
    {"crowd", "r60", false, 64, ALL, ALL, ALL, ALL, ALL},
    {"pushball", "r60", false, 0, 20, 165, 20, 50, 33},
    {"pushball", "r200", false, 0, 130, 900, 145, 220, 57},
    {"race", "r60", true, 0, 19, 57, 60, 14, 64},
    {"race", "r200", true, 0, 88, 286, 300, 45, 64},
    {"pressing", "r60", false, 0, 5, 5, ALL, 5, ALL},
    {"pressing", "r60", true, 0, 5, 5, ALL, 5, ALL},
    {"pressing", "r200", false, 0, 5, 5, ALL, 5, ALL},
    {"pressing", "r200", true, 0, 5, 5, ALL, 5, ALL},
};

static void add(char line[CM_FEEL_LINE], const char *format, ...)
{
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + used, CM_FEEL_LINE - used, format, arguments);
    va_end(arguments);
}

// A figure, its bound with jumps worn off and bare, what is to be reached. Exact sync is to be
// within 1.15 times the bound.
static uint32_t cell(double is, double bound, double bare, double to_reach, bool exact,
                     char line[CM_FEEL_LINE])
{
    bool reached = is <= to_reach;
    bool near = !exact || is <= 1.15 * bound + 1.0; // a millimetre is nobody's
    char text[48], bar[16] = "";
    if (to_reach < ALL) {
        snprintf(bar, sizeof bar, " <%.0f", to_reach);
    }
    snprintf(text, sizeof text, "%.0f (%.0f, %.0f)%s%s%s", is, bound, bare, bar,
             reached ? "" : " MISSED", near ? "" : " FAR");
    add(line, "  %-29s", text);
    return reached && near ? 0 : 1;
}

void cm_feel_row_head(char line[CM_FEEL_LINE])
{
    snprintf(line, CM_FEEL_LINE, "%-28s  %-29s  %-29s  %-29s  %-29s  kbit/s down",
             "p99, mm (bound, bare) <bar", "own", "others", "shared", "others' pops");
}

const char *cm_feel_row_game(uint32_t row)
{
    return row < sizeof rows / sizeof rows[0] ? rows[row].game : NULL;
}

const char *cm_feel_row_path(uint32_t row)
{
    return rows[row].path;
}

uint32_t cm_feel_row_budget(uint32_t row)
{
    return rows[row].budget_kbit;
}

carom_result cm_feel_row(const cm_feel_options *options, uint32_t row, uint32_t seeds,
                         char line[CM_FEEL_LINE], uint32_t *missed, char *error, size_t error_size)
{
    const bool exact = rows[row].sync_inputs;
    cm_feel_options one = *options;
    one.game = cm_feel_game_find(rows[row].game);
    one.path = cm_feel_path_find(rows[row].path);
    one.sync_inputs = exact;
    one.budget_kbit = rows[row].budget_kbit;
    one.with_bound = true;
    cm_feel_figures f;
    carom_result result = cm_feel_worst(&one, seeds, &f, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    char name[64];
    snprintf(name, sizeof name, one.budget_kbit > 0 ? "%s %s, %s at %u" : "%s %s, %s",
             rows[row].game, rows[row].path, exact ? "inputs" : "state", one.budget_kbit);
    snprintf(line, CM_FEEL_LINE, "%-28s", name);
    *missed += cell(f.own_p99_mm, f.bound_own_mm, f.bare_own_mm, rows[row].own, exact, line);
    *missed +=
        cell(f.others_p99_mm, f.bound_others_mm, f.bare_others_mm, rows[row].others, exact, line);
    *missed +=
        cell(f.shared_p99_mm, f.bound_shared_mm, f.bare_shared_mm, rows[row].shared, exact, line);
    *missed += cell(f.pops_p99_mm, f.bound_pops_mm, f.bare_pops_mm, rows[row].pops, exact, line);
    bool cheap = f.kbit_down <= rows[row].kbit;
    *missed += !cheap;
    add(line, rows[row].kbit < ALL ? "  %.1f <%.0f%s" : "  %.1f", f.kbit_down, rows[row].kbit,
        cheap ? "" : " MISSED");
    return CAROM_OK;
}

void cm_feel_fields(const cm_feel_figures *f, char line[CM_FEEL_LINE])
{
    snprintf(line, CM_FEEL_LINE,
             "\"own_p50_mm\":%.1f,\"own_p99_mm\":%.1f,\"own_max_mm\":%.1f,"
             "\"own_pops_p99_mm\":%.1f,\"others_p99_mm\":%.1f,\"shared_p99_mm\":%.1f,"
             "\"pops_p99_mm\":%.1f,\"recovery_ms_max\":%.0f,\"late_percent\":%.3f,"
             "\"lead_ticks\":%.2f,\"update_us_p99\":%.0f,\"kbit_down\":%.1f,\"kbit_up\":%.1f,"
             "\"corrections\":%llu,\"errors_counted\":%llu,\"error_max_mm\":%.1f",
             f->own_p50_mm, f->own_p99_mm, f->own_max_mm, f->own_pops_p99_mm, f->others_p99_mm,
             f->shared_p99_mm, f->pops_p99_mm, f->recovery_ms_max, f->late_percent, f->lead_ticks,
             f->update_us_p99, f->kbit_down, f->kbit_up, (unsigned long long)f->reconciles,
             (unsigned long long)f->errors, f->error_max_mm);
}

void cm_feel_line(const cm_feel_options *options, const cm_feel_figures *f, char line[CM_FEEL_LINE])
{
    char fields[CM_FEEL_LINE];
    cm_feel_fields(f, fields);
    carom_client_def def = carom_default_client_def();
    uint32_t predict_us = options->predict_us > 0 ? options->predict_us : def.predict_budget_us;
    int room = snprintf(line, CM_FEEL_LINE,
                        "{\"game\":\"%s\",\"condition\":\"%s\",\"sync\":\"%s\",\"players\":%u,"
                        "\"predict_us\":%u,\"seconds\":%u,",
                        options->game->name, options->path->name,
                        options->sync_inputs ? "inputs" : "state", (unsigned)options->game->players,
                        (unsigned)predict_us, (unsigned)options->seconds);
    snprintf(line + room, CM_FEEL_LINE - (size_t)room, "%s}", fields);
}
