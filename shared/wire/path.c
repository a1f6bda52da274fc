// See path.h.
#include "shared/wire/path.h"

#include <string.h>

#define PROBE_US  400000u  // between two probes while a size is looked for, or doubted
#define AGAIN_US  5000000u // between two of the size that is known
#define TRIES     4u       // of a size that is looked for
#define KNOWN     8u       // of one that is known
#define PATIENT   3u       // pairs without any answer before they go less often, as a loss may be
#define DOUBLINGS 4u       // of PROBE_US then, above which AGAIN_US is less
#define LARGEST   0u

// From above; the last one is taken for granted.
static const uint16_t sizes[] = {CM_DATAGRAM_MAX, 1024, 800, CM_PATH_LEAST};
#define SIZES (sizeof sizes / sizeof *sizes)

void cm_path_begin(cm_path *path, uint64_t now_us)
{
    memset(path, 0, sizeof *path);
    path->known = CM_PATH_LEAST;
    path->next_us = now_us;
}

static bool is_known(const cm_path *path)
{
    return sizes[path->tried] == path->known;
}

static void count_missed(cm_path *path)
{
    bool known = is_known(path);
    path->missed = (uint8_t)(path->missed + path->passed);
    path->silent =
        path->passed
            ? 0
            : (uint8_t)(path->silent + (path->paired && path->silent < PATIENT + DOUBLINGS));
    path->passed = false;
    if (path->missed < (known ? KNOWN : TRIES)) {
        return;
    }
    path->missed = 0;
    if (known && path->known > CM_PATH_LEAST) {
        path->known = CM_PATH_LEAST;
        path->tried = LARGEST;
    } else if (path->tried + 1u < SIZES) {
        path->tried++;
    }
}

uint32_t cm_path_probe(cm_path *path, uint64_t now_us)
{
    if (path->pairs) {
        path->pairs = false;
        path->paired = true;
        return CM_PATH_SMALL;
    }
    if (now_us < path->next_us) {
        return 0;
    }
    if (path->waits) {
        count_missed(path);
    }
    if (path->known == CM_PATH_LEAST && is_known(path)) {
        path->tried = LARGEST; // nothing larger passed: look again in a while
        path->waits = false;
        path->next_us = now_us + AGAIN_US;
        return 0;
    }
    path->pairs = path->waits;
    uint64_t pause_us = PROBE_US << (path->silent > PATIENT ? path->silent - PATIENT : 0);
    bool rare = (path->waits && !path->received) || pause_us > AGAIN_US;
    path->next_us = now_us + (rare ? AGAIN_US : pause_us);
    path->waits = true;
    path->received = path->paired = false;
    return sizes[path->tried];
}

void cm_path_received(cm_path *path)
{
    path->received = true;
}

void cm_path_answered(cm_path *path, size_t size, uint64_t now_us)
{
    path->passed = path->passed || size == CM_PATH_SMALL;
    for (uint8_t i = 0; i < SIZES; i++) {
        // A late answer to a larger probe counts as well; one to a smaller probe is ignored.
        if (sizes[i] == size && size >= path->known) {
            path->known = (uint16_t)size;
            path->tried = i;
            path->missed = path->silent = 0;
            path->waits = path->pairs = path->passed = false;
            path->next_us = now_us + AGAIN_US;
        }
    }
}
