// The output of `carom serve`: a status on stdout, redrawn in place on a terminal, and the log on
// stderr, JSON lines, each with its time.
#ifndef CM_SERVER_OPS_STATUS_H
#define CM_SERVER_OPS_STATUS_H

#include "server/ops/log.h"

typedef struct cm_status_screen {
    cm_log_level level;
    bool terminal;  // stdout: the status is redrawn in place
    bool disturbed; // something was written where the status stood: it is to be shown again
    uint32_t drawn; // lines of the status on the terminal now
} cm_status_screen;

// `level`: of the log, by its name.
void cm_status_screen_open(cm_status_screen *screen, const char *level);
// Puts the time before a line of log.h. `screen` is a cm_status_screen: for cm_log.
void cm_status_screen_log(void *screen, int level, const char *json_line);
// Writes `carom: ` and the text of a failure to stderr; nothing if the text is empty.
void cm_status_screen_error(const char *text);
// A line of stdout, or several.
void cm_status_screen_print(cm_status_screen *screen, const char *line);
// A terminal's status goes; then more of the new one, whole lines.
void cm_status_screen_erase(cm_status_screen *screen);
void cm_status_screen_draw(cm_status_screen *screen, const char *lines);
void cm_status_screen_flush(void);

#endif
