// `carom eval CASE`: reads standard input, runs the case, prints its line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/tools/eval/eval.h"
#include "shared/scene/scene_json.h"

static int run_case(const cm_eval_case *which)
{
    size_t size = 0;
    char *line = NULL;
    cm_scene_error error;
    char *text = cm_scene_read_file("-", CM_EVAL_TEXT_MAX, &size, &error);
    if (text == NULL) {
        cm_cli_scene_error("<stdin>", &error);
        return CM_STATUS_USAGE;
    }
    carom_result result = cm_eval_run(which, text, size, &line, &error);
    free(text);
    if (result != CAROM_OK) {
        cm_cli_scene_error("<stdin>", &error);
        return result == CAROM_ERROR_MEMORY ? CM_STATUS_FAILED : CM_STATUS_USAGE;
    }
    puts(line);
    free(line);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int run_command(int argc, char **argv)
{
    const char *name = NULL;
    uint32_t count = 0;
    int status = cm_cli_options(argc, argv, NULL, 0, &name, 1, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    for (uint32_t i = 0; count == 1 && cm_eval_cases[i] != NULL; i++) {
        if (strcmp(cm_eval_cases[i]->name, name) == 0) {
            return run_case(cm_eval_cases[i]);
        }
    }
    return cm_cli_usage("eval: %s%s%s, expected impact, circle, lcp or volume",
                        count == 1 ? "unknown case '" : "no case given", count == 1 ? name : "",
                        count == 1 ? "'" : "");
}

static void print_cases(void *out)
{
    for (uint32_t i = 0; cm_eval_cases[i] != NULL; i++) {
        const cm_eval_case *which = cm_eval_cases[i];
        fprintf(out, "\n%s: %s\n%s", which->name, which->summary, which->text);
    }
}

const cm_command cm_eval_command = {
    "eval", run_command,
    "one case of a pure function\n"
    "usage: carom eval impact|circle|lcp|volume < CASE.json\n"
    "\n"
    "Reads one JSON object from standard input, prints one line of JSON with 17 digits. SI "
    "units.\n"
    "A case that is refused: status 2 and `carom: <stdin>:LINE: $.path: what, expected what`.\n",
    print_cases};
