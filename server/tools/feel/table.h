// The worst of several runs, field by field, and the line that is printed of it.
#ifndef CM_SERVER_TOOLS_FEEL_TABLE_H
#define CM_SERVER_TOOLS_FEEL_TABLE_H

#include "server/tools/feel/feel.h"

// Runs seeds `seed` to `seed` + `seeds` - 1.
carom_result cm_feel_worst(const cm_feel_options *options, uint32_t seeds, cm_feel_figures *worst,
                           char *error, size_t error_size);
// JSON, without a newline; at most CM_FEEL_LINE bytes with its NUL.
#define CM_FEEL_LINE 768u
// Its fields alone, without braces, of any run.
void cm_feel_fields(const cm_feel_figures *figures, char line[CM_FEEL_LINE]);
void cm_feel_line(const cm_feel_options *options, const cm_feel_figures *figures,
                  char line[CM_FEEL_LINE]);

// The table of what is to be reached, row by row, beside what is, and the bound. NULL: no such row.
const char *cm_feel_row_game(uint32_t row);
const char *cm_feel_row_path(uint32_t row);
uint32_t cm_feel_row_budget(uint32_t row); // 0: the scene's
void cm_feel_row_head(char line[CM_FEEL_LINE]);
// Adds to `missed` the figures that are not reached.
carom_result cm_feel_row(const cm_feel_options *options, uint32_t row, uint32_t seeds,
                         char line[CM_FEEL_LINE], uint32_t *missed, char *error, size_t error_size);

#endif
