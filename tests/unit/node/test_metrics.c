// Goal: a page of metrics is what Prometheus reads, with every counter where it belongs. Method: a
// strict reader of the format, which is shown to refuse what is wrong; metrics with a number of
// their own in each place.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/supervisor/metrics_page.h"
#include "tests/unit/ops/prometheus_reader.h"

static const prometheus_text *read_page(const cm_metrics_server *server, uint32_t *families)
{
    static char text[1 << 20];
    cm_page *page = cm_page_create();
    *families = 0;
    while (cm_metrics_page_family(page, server, *families)) {
        ++*families;
    }
    cr_assert_lt(page->size, sizeof text);
    memcpy(text, page->text, page->size);
    text[page->size] = '\0';
    cm_page_drop(page);
    return prometheus_text_read(text);
}

Test(metrics, the_reader_refuses_what_is_wrong)
{
#define HEAD      "# HELP a_total x\n# TYPE a_total counter\n"
#define HISTOGRAM "# HELP h x\n# TYPE h histogram\n"
    static const char *const good[] = {
        "", HEAD, HEAD "a_total 1\n", HEAD "a_total{b=\"\\\\\\\"\\n,}\",c=\"\"} 1.5\n",
        HISTOGRAM "h_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"};
    static const char *const bad[] = {
        "a_total 1\n",
        HEAD "a_total 1",
        HEAD "\na_total 1\n",
        HEAD "a_total  1\n",
        HEAD "a_total NaN\n",
        HEAD "a_total -1\n",
        HEAD "a_total 1 \n",
        HEAD "a_total{} 1\n",
        HEAD "a_total{b=\"1\",} 1\n",
        HEAD "a_total{b=\"1\",b=\"2\"} 1\n",
        HEAD "a_total{b=\"1} 1\n",
        HEAD "a_total{b=\"\\t\"} 1\n",
        HEAD "a_total{b=1} 1\n",
        HEAD "a_total{1=\"\"} 1\n",
        HEAD "b_total 1\n",
        HEAD "a_total 1\na_total 1\n",
        HEAD HEAD,
        HEAD "# HELP b x\n# TYPE b gauge\nb 1\n" HEAD,
        "# HELP a x\n# TYPE a counter\na 1\n",
        "# HELP a_total x\n# TYPE a_total gauge\n",
        "# HELP a x\n# TYPE b gauge\n",
        "# HELP a x\\t\n# TYPE a gauge\n",
        "# TYPE a gauge\na 1\n",
        "# a\n",
        HISTOGRAM "h 1\n",
        HISTOGRAM "h_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 1\n",
        HISTOGRAM "h_bucket{le=\"0.1\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n",
        HISTOGRAM "h_bucket{le=\"0.1\"} 2\nh_sum 3\nh_count 2\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const char *wrong = prometheus_text_wrong(good[i]);
        cr_expect_null(wrong, "%s", wrong != NULL ? wrong : "");
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_not_null(prometheus_text_wrong(bad[i]), "%s", bad[i]);
    }
}

Test(metrics, numbers_are_written_in_base_units)
{
    static const struct {
        uint64_t millionths;
        const char *text;
    } rows[] = {{0, "0"},
                {1, "0.000001"},
                {1000000, "1"},
                {1500000, "1.5"},
                {1000001, "1.000001"},
                {10203040, "10.20304"},
                {999999, "0.999999"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cm_page *page = cm_page_create();
        cm_page_millionths(page, rows[i].millionths);
        cr_expect_eq(page->size, strlen(rows[i].text));
        cr_expect_eq(memcmp(page->text, rows[i].text, page->size), 0, "%s", rows[i].text);
        cm_page_drop(page);
    }
    cm_page *page = cm_page_create();
    cm_page_uint(page, UINT64_MAX);
    cr_expect_eq(memcmp(page->text, "18446744073709551615", page->size), 0);
    cm_page_drop(page);
}

static void number(uint64_t *values, size_t count, uint64_t *next)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (*next)++;
    }
}

static void expect_row(const prometheus_text *e, const char *prefix, const char *name,
                       const char *labels, const char *unit, uint64_t value)
{
    char whole[128];
    double scale = strcmp(unit, "ONE") == 0 ? 1.0 : strcmp(unit, "THOUSANDTH") == 0 ? 1e3 : 1e6;
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    cr_expect_float_eq(prometheus_text_value(e, whole, labels), (double)value / scale, 1e-9, "%s",
                       whole);
}

// A number of its own in every place, so that none stands in another's.
Test(metrics, each_is_in_its_place)
{
    static cm_metrics_worker workers[3];
    static cm_room_metrics rooms[2];
    cm_metrics_server server = {
        .version = "1", .commit = "c", .engine = 7, .worker_count = 3, .workers = workers};
    uint64_t next = 1000;
    uint32_t families;
    number(server.values, CM_SERVER_METRIC_COUNT, &next);
    number(server.http_refused, CM_HTTP_REFUSAL_COUNT, &next);
    cm_metrics_worker *w = &workers[1];
    *w = (cm_metrics_worker){.is_there = true,
                             .is_up = true,
                             .restarts = 5,
                             .is_known = true,
                             .room_count = 2,
                             .rooms = rooms};
    number((uint64_t *)&w->metrics, sizeof w->metrics / sizeof(uint64_t), &next);
    for (uint32_t i = 0; i < 2; i++) {
        cm_room_metrics *r = &rooms[i];
        snprintf(r->info.name, sizeof r->info.name, "%s", i == 0 ? "a" : "\"\\");
        snprintf(r->info.scene, sizeof r->info.scene, "new\nline");
        number(r->values, CM_ROOM_METRIC_COUNT, &next);
        number(r->inputs_refused, CM_INPUT_VERDICT_COUNT, &next);
        number(r->log_counts, CAROM_LOG_CODE_COUNT, &next);
        number(r->tick_buckets, CM_METRICS_BUCKETS, &next);
    }
    workers[2].is_there = true; // down, and has told nothing
    const prometheus_text *e = read_page(&server, &families);
    cr_expect_eq(e->families, families);
    cr_expect_eq(
        prometheus_text_value(e, "carom_build_info", "version=\"1\",commit=\"c\",engine=\"7\""),
        1.0);
    cr_expect_eq(prometheus_text_value(e, "carom_worker_up", "worker=\"1\""), 1.0);
    cr_expect_eq(prometheus_text_value(e, "carom_worker_up", "worker=\"2\""), 0.0);
    cr_expect_not(prometheus_text_has(e, "carom_worker_up", "worker=\"0\""));
    cr_expect_eq(prometheus_text_value(e, "carom_worker_restarts_total", "worker=\"1\""), 5.0);
    cr_expect_not(prometheus_text_has(e, "carom_worker_rooms", "worker=\"2\""));
#define SERVER(id, kind, unit, name, help)                                                         \
    expect_row(e, "carom_", name, "", #unit, server.values[CM_SERVER_HAS_##id]);
    CM_SERVER_METRICS(SERVER)
#define WORKER(id, kind, unit, name, help)                                                         \
    expect_row(e, "carom_worker_", name, "worker=\"1\"", #unit,                                    \
               w->metrics.values[CM_WORKER_HAS_##id]);
    CM_WORKER_METRICS(WORKER)
#define ROOM(id, kind, unit, name, help)                                                           \
    expect_row(e, "carom_room_", name, "room=\"\\\"\\\\\"", #unit,                                 \
               rooms[1].values[CM_ROOM_HAS_##id]);
    CM_ROOM_METRICS(ROOM)
    cr_expect_eq(prometheus_text_value(e, "carom_worker_datagrams_refused_total",
                                       "worker=\"1\",reason=\"token\""),
                 (double)w->metrics.datagrams_refused[CM_DATAGRAM_TOKEN]);
    cr_expect_eq(prometheus_text_value(e, "carom_worker_clients_refused_total",
                                       "worker=\"1\",reason=\"room_full\""),
                 (double)w->metrics.clients_refused[CAROM_REASON_ROOM_FULL]);
    cr_expect_eq(prometheus_text_value(e, "carom_room_inputs_refused_total",
                                       "room=\"a\",reason=\"too_old\""),
                 (double)rooms[0].inputs_refused[CM_INPUT_TOO_OLD]);
    cr_expect_eq(prometheus_text_value(e, "carom_room_world_messages_total",
                                       "room=\"a\",code=\"lcp_rows_cut\""),
                 (double)rooms[0].log_counts[CAROM_LOG_LCP_ROWS_CUT]);
    cr_expect_eq(prometheus_text_value(e, "carom_http_refused_total", "reason=\"slow\""),
                 (double)server.http_refused[CM_HTTP_SLOW]);
    uint64_t ticks = rooms[0].tick_buckets[0] + rooms[0].tick_buckets[1];
    cr_expect_eq(
        prometheus_text_value(e, "carom_room_tick_seconds_bucket", "room=\"a\",le=\"0.00025\""),
        (double)ticks, "a bucket holds those below it");
}

// Bounds belong to the bucket below them.
Test(metrics, ticks_are_in_buckets)
{
    static cm_tick_times metrics;
    cm_tick_times_add(&metrics, 0);
    cm_tick_times_add(&metrics, 125);
    cm_tick_times_add(&metrics, 126);
    cm_tick_times_add(&metrics, 1000000);
    cm_tick_times_add(&metrics, 1000001);
    cr_expect_eq(metrics.buckets[0], 2);
    cr_expect_eq(metrics.buckets[1], 1);
    cr_expect_eq(metrics.buckets[CM_METRICS_BUCKETS - 2], 1);
    cr_expect_eq(metrics.buckets[CM_METRICS_BUCKETS - 1], 1);
    cr_expect_eq(metrics.sum_us, 2000252);
    cr_expect_eq(cm_tick_times_bound_us(CM_METRICS_BUCKETS - 1), UINT32_MAX);
}
