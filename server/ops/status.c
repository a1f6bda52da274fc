// A status on a terminal is below all else that was written: what comes later erases it first.
#include "server/ops/status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/ops/failure.h"
#include "shared/base/utf8.h"

void cm_status_screen_open(cm_status_screen *screen, const char *level)
{
    memset(screen, 0, sizeof *screen);
    screen->terminal = isatty(STDOUT_FILENO) != 0;
    (void)cm_log_level_find(level, &screen->level); // the configuration knows the choices
}

void cm_status_screen_erase(cm_status_screen *screen)
{
    if (screen->drawn > 0) {
        printf("\033[%uA\033[J", screen->drawn);
        screen->drawn = 0;
    }
}

void cm_status_screen_log(void *user, int level, const char *json_line)
{
    cm_status_screen *screen = user;
    char time[CM_LOG_TIME_MAX];
    struct timespec now;
    if (level > (int)screen->level) {
        return;
    }
    if (screen->terminal && isatty(STDERR_FILENO)) {
        cm_status_screen_erase(screen);
        fflush(stdout);
        screen->disturbed = true;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    cm_log_time((uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u, time);
    fprintf(stderr, "{\"time\":\"%s\",%s\n", time, json_line + 1);
}

void cm_status_screen_error(const char *text)
{
    char shown[4 * CM_FAILURE_TEXT_MAX];
    if (text[0] != '\0') {
        cm_utf8_printable(text, shown, sizeof shown);
        fprintf(stderr, "carom: %s\n", shown);
    }
}

void cm_status_screen_print(cm_status_screen *screen, const char *line)
{
    if (screen->drawn > 0) {
        cm_status_screen_erase(screen);
        screen->disturbed = true;
    }
    puts(line);
}

void cm_status_screen_draw(cm_status_screen *screen, const char *lines)
{
    fputs(lines, stdout);
    for (; *lines != '\0'; lines++) {
        screen->drawn += *lines == '\n';
    }
}

void cm_status_screen_flush(void)
{
    fflush(stdout);
}
