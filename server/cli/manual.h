// The help pages in two other forms: the manual page carom(1), and what bash completes by.
#ifndef CM_SERVER_CLI_MANUAL_H
#define CM_SERVER_CLI_MANUAL_H

#include <stdio.h>

// roff, for man.
void cm_manual_print(FILE *out);
// A script for bash: commands, their own commands, their options; files where none of these fits.
void cm_completion_print(FILE *out);

#endif
