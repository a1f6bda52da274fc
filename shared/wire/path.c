// See path.h.
#include "shared/wire/path.h"

#include <string.h>

#define PROBE_US 400000u  // between two probes while a size is looked for
#define AGAIN_US 5000000u // between two of the size that is known
#define TRIES    3u
#define LARGEST  0u

// From above; the last one is taken for granted.
static const uint16_t sizes[] = {CM_DATAGRAM_MAX, 1024, 800, CM_PATH_LEAST};
#define SIZES (sizeof sizes / sizeof *sizes)

void cm_path_begin(cm_path *path, uint64_t now_us)
{
    memset(path, 0, sizeof *path);
    path->known = CM_PATH_LEAST;
    path->next_us = now_us;
}

static void count_missed(cm_path *path)
{
    path->missed = (uint8_t)(path->missed + path->heard);
    path->waits = path->heard = false;
    if (path->missed < TRIES) {
        return;
    }
    path->missed = 0;
    if (sizes[path->tried] == path->known && path->known > CM_PATH_LEAST) {
        path->known = CM_PATH_LEAST;
        path->tried = LARGEST;
    } else if (path->tried + 1u < SIZES) {
        path->tried++;
    }
}

uint32_t cm_path_probe(cm_path *path, uint64_t now_us)
{
    if (now_us < path->next_us) {
        return 0;
    }
    if (path->waits) {
        count_missed(path);
    }
    bool known = sizes[path->tried] == path->known;
    path->next_us = now_us + (known ? AGAIN_US : PROBE_US);
    if (path->known == CM_PATH_LEAST && known) {
        path->tried = LARGEST; // nothing larger passed: look again in a while
        return 0;
    }
    path->waits = true;
    return sizes[path->tried];
}

void cm_path_heard(cm_path *path)
{
    path->heard = true;
}

void cm_path_answered(cm_path *path, size_t size, uint64_t now_us)
{
    for (uint8_t i = 0; i < SIZES; i++) {
        // A late answer to a larger probe counts as well; one to a smaller says nothing new.
        if (sizes[i] == size && size >= path->known) {
            path->known = (uint16_t)size;
            path->tried = i;
            path->missed = 0;
            path->waits = path->heard = false;
            path->next_us = now_us + AGAIN_US;
        }
    }
}
