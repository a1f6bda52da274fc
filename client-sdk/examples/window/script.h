// Keys and pictures by a script, for trying the window without a hand at it. A line each:
//   SECONDS down|up KEY      as SDL names keys: Left, Space, A
//   SECONDS shot FILE.bmp
//   SECONDS quit
// Seconds count from when the client plays.
#ifndef WINDOW_SCRIPT_H
#define WINDOW_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct script {
    FILE *file;
    double at; // of the line in hand
    char verb[8], what[200];
    bool waits; // a line is in hand
} script;

bool script_open(script *s, const char *path); // false: no such file
// Pushes the keys that are due as events. Returns the picture that is due, NULL for none.
const char *script_play(script *s, double seconds);

#endif
