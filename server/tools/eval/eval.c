// Code shared by all cases: a reader (json_reader.h), and writing with 17 digits. The largest case
// is a few kB; the cap is the scene's.
#include "server/tools/eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cm_eval_case *const cm_eval_cases[] = {&cm_eval_impact_case, &cm_eval_circle_case,
                                             &cm_eval_lcp_case, &cm_eval_volume_case, NULL};

// Out --------------------------------------------------------------------------------------------

static void put_key(cm_eval *eval, const char *key)
{
    if (eval->started[eval->depth]) {
        fputs(", ", eval->out);
    }
    eval->started[eval->depth] = true;
    if (key != NULL) {
        fprintf(eval->out, "\"%s\": ", key);
    }
}

static void open_level(cm_eval *eval, const char *key, bool array)
{
    put_key(eval, key);
    fputc(array ? '[' : '{', eval->out);
    if (eval->depth < CM_EVAL_DEPTH_MAX) {
        eval->depth++;
    }
    eval->started[eval->depth] = false;
    eval->closes_array[eval->depth] = array;
}

void cm_out_object(cm_eval *eval, const char *key)
{
    open_level(eval, key, false);
}

void cm_out_array(cm_eval *eval, const char *key)
{
    open_level(eval, key, true);
}

void cm_out_end(cm_eval *eval)
{
    fputc(eval->closes_array[eval->depth] ? ']' : '}', eval->out);
    eval->depth--;
}

void cm_out_number(cm_eval *eval, const char *key, double value)
{
    if (!isfinite(value)) {
        cm_json_fail(&eval->in, NULL, "the result is not finite, expected smaller numbers");
    }
    put_key(eval, key);
    fprintf(eval->out, "%.17g", value + 0.0); // no -0
}

void cm_out_bool(cm_eval *eval, const char *key, bool value)
{
    put_key(eval, key);
    fputs(value ? "true" : "false", eval->out);
}

void cm_out_text(cm_eval *eval, const char *key, const char *text)
{
    put_key(eval, key);
    fprintf(eval->out, "\"%s\"", text);
}

void cm_out_numbers(cm_eval *eval, const char *key, const double *values, size_t count)
{
    cm_out_array(eval, key);
    for (size_t i = 0; i < count; i++) {
        cm_out_number(eval, NULL, values[i]);
    }
    cm_out_end(eval);
}

void cm_out_vector(cm_eval *eval, const char *key, carom_dvec3 v)
{
    cm_out_numbers(eval, key, (const double[]){v.x, v.y, v.z}, 3);
}

// One case ---------------------------------------------------------------------------------------

carom_result cm_eval_run(const cm_eval_case *which, const char *text, size_t size, char **line,
                         cm_scene_error *error)
{
    cm_eval eval = {0};
    size_t length = 0;
    *line = NULL;
    const cm_json_value *root = cm_json_open(&eval.in, text, size, CM_EVAL_TEXT_MAX, error);
    eval.out = root != NULL ? open_memstream(line, &length) : NULL;
    if (eval.out != NULL) {
        cm_out_object(&eval, NULL);
        which->run(&eval, root);
        cm_out_end(&eval);
    }
    bool written = eval.out != NULL && fclose(eval.out) == 0;
    cm_json_close(&eval.in);
    if (written && !cm_json_failed(&eval.in)) {
        return CAROM_OK;
    }
    free(*line);
    *line = NULL;
    if (!cm_json_failed(&eval.in)) {
        strcpy(error->message, "out of memory");
    }
    return cm_json_failed(&eval.in) ? CAROM_ERROR_ARGUMENT : CAROM_ERROR_MEMORY;
}
