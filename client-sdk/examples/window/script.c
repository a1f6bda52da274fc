// Lines of a script, each at its time.
#include "script.h"

#include <SDL.h>
#include <string.h>

bool script_open(script *s, const char *path)
{
    memset(s, 0, sizeof *s);
    s->file = fopen(path, "r");
    return s->file != NULL;
}

static void push_key(const char *name, bool down)
{
    SDL_Event event = {.type = down ? SDL_KEYDOWN : SDL_KEYUP};
    event.key.keysym.scancode = SDL_GetScancodeFromName(name);
    if (event.key.keysym.scancode == SDL_SCANCODE_UNKNOWN) {
        fprintf(stderr, "script: %s: expected a key's name\n", name);
        return;
    }
    SDL_PushEvent(&event);
}

const char *script_play(script *s, double seconds)
{
    char line[256];
    while (s->file != NULL) {
        if (!s->waits) {
            if (fgets(line, sizeof line, s->file) == NULL) {
                fclose(s->file);
                s->file = NULL;
                return NULL;
            }
            s->what[0] = '\0';
            s->waits = sscanf(line, "%lf %7s %199[^\n]", &s->at, s->verb, s->what) >= 2;
            continue; // empty lines and remarks
        }
        if (s->at > seconds) {
            return NULL;
        }
        s->waits = false;
        if (strcmp(s->verb, "shot") == 0) {
            return s->what;
        }
        if (strcmp(s->verb, "quit") == 0) {
            SDL_PushEvent(&(SDL_Event){.type = SDL_QUIT});
        } else {
            push_key(s->what, strcmp(s->verb, "down") == 0);
        }
    }
    return NULL;
}
