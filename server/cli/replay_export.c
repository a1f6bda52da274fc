// The options of an export: its contents and form, and refusals of options that do not go together.
#include "server/cli/replay_export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/tools/export/export.h"

bool cm_replay_export_asked(const cm_replay_export_options *o)
{
    return o->form != NULL || o->out != NULL || o->events || o->has_seek || o->has_from ||
           o->has_to || o->has_every || o->has_speed;
}

static int refuse(const char *what)
{
    return cm_cli_usage("replay: %s", what);
}

// The first rule that the options break, NULL for none.
static const char *conflict(const cm_replay_export_options *o, cm_export_kind kind)
{
    if (o->has_seek && (o->has_from || o->has_to)) {
        return "--seek: not with --from or --to, which name more than one tick";
    }
    if (o->has_seek && o->has_every) {
        return "--every: not with --seek, which names one tick";
    }
    if (o->has_from && o->has_to && o->from > o->to) {
        return "--to: before --from, expected a later tick";
    }
    bool is_file = kind == CM_EXPORT_SQLITE || kind == CM_EXPORT_GLTF;
    if (is_file && o->out == NULL) {
        return "--export sqlite and gltf: expected --out FILE, which must not be there yet";
    }
    if (is_file && o->has_speed) {
        return "--speed: only with lines (jsonl, csv)";
    }
    if (kind != CM_EXPORT_JSONL && o->events) {
        return kind == CM_EXPORT_SQLITE ? "--events: the table 'happenings' has them always"
                                        : "--events: not with --export csv or gltf, expected jsonl";
    }
    return NULL;
}

static int report(const char *match, const char *out, carom_result result,
                  const cm_match_error *error)
{
    // An error of the output file already names that file.
    bool ours = out != NULL && strncmp(error->message, out, strlen(out)) == 0;
    cm_cli_error("%s%s%s", ours ? "" : match, ours ? "" : ": ", error->message);
    switch (result) {
    case CAROM_ERROR_DIVERGED:
    case CAROM_ERROR_MEMORY:
        return CM_STATUS_FAILED;
    case CAROM_ERROR_IO:
        return access(match, R_OK) == 0 ? CM_STATUS_FAILED : CM_STATUS_USAGE;
    default:
        return CM_STATUS_USAGE;
    }
}

int cm_replay_export(const char *match, const cm_replay_export_options *o)
{
    cm_export_kind kind = CM_EXPORT_JSONL;
    if (o->form != NULL) {
        kind = strcmp(o->form, "csv") == 0      ? CM_EXPORT_CSV
               : strcmp(o->form, "sqlite") == 0 ? CM_EXPORT_SQLITE
               : strcmp(o->form, "gltf") == 0   ? CM_EXPORT_GLTF
                                                : CM_EXPORT_JSONL;
    }
    const char *wrong = conflict(o, kind);
    if (wrong != NULL) {
        return refuse(wrong);
    }
    cm_export_options options = {.kind = kind,
                                 .from = (uint64_t)(o->has_seek ? o->seek : o->from),
                                 .to = o->has_seek ? (uint64_t)o->seek
                                       : o->has_to ? (uint64_t)o->to
                                                   : UINT64_MAX,
                                 .every = (uint64_t)o->every,
                                 .events = o->events,
                                 .speed = o->has_speed ? o->speed : 0.0,
                                 .path = o->out,
                                 .out = stdout};
    // A tick that is played from goes on to the end.
    if (o->has_seek && o->has_speed) {
        options.to = UINT64_MAX;
    }
    cm_match_error error = {0};
    carom_result result = cm_export_run(match, &options, &error);
    if (result != CAROM_OK) {
        fflush(stdout);
        return report(match, o->out, result, &error);
    }
    if (error.message[0] != '\0') {
        cm_cli_error("%s: %s", match, error.message);
    }
    return cm_cli_finish(CM_STATUS_DONE);
}
