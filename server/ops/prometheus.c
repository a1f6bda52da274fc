// See prometheus.h. Help and label values are escaped as the format wants it.
#include "server/ops/prometheus.h"

#include <string.h>

// Within quotes a quote is escaped too.
static void put_escaped(cm_page *page, const char *text, bool quoted)
{
    const char *special = quoted ? "\\\n\"" : "\\\n";
    while (*text != '\0') {
        size_t plain = strcspn(text, special);
        cm_page_bytes(page, text, plain);
        text += plain;
        if (*text != '\0') {
            cm_page_text(page, *text == '\n' ? "\\n" : *text == '"' ? "\\\"" : "\\\\");
            text++;
        }
    }
}

void cm_prometheus_family(cm_page *page, const char *name, cm_metric_kind kind, const char *help)
{
    static const char *const types[] = {"gauge", "counter", "histogram"};
    cm_page_text(page, "# HELP ");
    cm_page_text(page, name);
    cm_page_text(page, " ");
    put_escaped(page, help, false);
    cm_page_text(page, "\n# TYPE ");
    cm_page_text(page, name);
    cm_page_text(page, " ");
    cm_page_text(page, types[kind]);
    cm_page_text(page, "\n");
}

void cm_prometheus_sample(cm_page *page, const char *name, const char *suffix,
                          const cm_label labels[CM_LABELS_MAX], cm_metric_unit unit, uint64_t value)
{
    static const uint64_t millionths[] = {
        [CM_METRIC_ONE] = 0, [CM_METRIC_THOUSANDTH] = 1000, [CM_METRIC_MILLIONTH] = 1};
    cm_page_text(page, name);
    cm_page_text(page, suffix);
    for (uint32_t i = 0; i < CM_LABELS_MAX && labels[i].name != NULL; i++) {
        cm_page_text(page, i == 0 ? "{" : ",");
        cm_page_text(page, labels[i].name);
        cm_page_text(page, "=\"");
        put_escaped(page, labels[i].value, true);
        cm_page_text(page, "\"");
    }
    cm_page_text(page, labels[0].name != NULL ? "} " : " ");
    if (unit == CM_METRIC_ONE) {
        cm_page_uint(page, value);
    } else {
        cm_page_millionths(page, value * millionths[unit]);
    }
    cm_page_text(page, "\n");
}

const char *cm_prometheus_lower(const char *name, char text[CM_LABEL_MAX])
{
    size_t length = strlen(name);
    length = length < CM_LABEL_MAX - 1 ? length : CM_LABEL_MAX - 1;
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)(name[i] | (name[i] >= 'A' && name[i] <= 'Z' ? 32 : 0));
    }
    text[length] = '\0';
    return text;
}
