// Axis arithmetic. A tick is computed as an integer times the step, so that zero is zero.
#include "server/tools/plot/ticks.h"

#include <math.h>
#include <stdio.h>

#define NOISE 1e-6 // of a value: what binary32 may lose over a few operations

double cm_round_below(double most)
{
    double power = pow(10.0, floor(log10(most) + 1e-3));
    double factor = most / power;
    return power * (factor > 4.99 ? 5.0 : factor > 1.99 ? 2.0 : 1.0);
}

cm_ticks cm_ticks_for(double low, double high, uint32_t wanted)
{
    cm_ticks ticks;
    double raw = (high - low) / wanted, power = pow(10.0, floor(log10(raw) + 1e-9));
    double factor = raw / power;
    ticks.step = power * (factor < 1.5 ? 1.0 : factor < 3.5 ? 2.0 : factor < 7.5 ? 5.0 : 10.0);
    double first = ceil(low / ticks.step - 1e-9), last = floor(high / ticks.step + 1e-9);
    ticks.first = first * ticks.step;
    ticks.count = last < first ? 0 : (uint32_t)(last - first) + 1;
    return ticks;
}

void cm_tick_text(const cm_ticks *ticks, uint32_t i, char *text, size_t size)
{
    double units = floor(ticks->first / ticks->step + 0.5) + i, value = units * ticks->step;
    if (units == 0.0) {
        snprintf(text, size, "0");
    } else if (ticks->step >= 1e5 || ticks->step < 1e-5) {
        snprintf(text, size, "%.3g", value);
    } else {
        int decimals = ticks->step >= 1.0 ? 0 : (int)ceil(-log10(ticks->step) - 1e-9);
        snprintf(text, size, "%.*f", decimals, value);
    }
}

void cm_axis_range(double *low, double *high)
{
    double size = fmax(fabs(*low), fabs(*high)), least = size > 0.0 ? size * NOISE : 1.0;
    double middle = 0.5 * (*low + *high);
    if (*high - *low < least) {
        double half = size > 0.0 ? 0.1 * size : 0.5;
        *low = middle - half;
        *high = middle + half;
        return;
    }
    double margin = 0.05 * (*high - *low);
    *low -= *low == 0.0 ? 0.0 : margin;
    *high += *high == 0.0 ? 0.0 : margin;
}
