// See cube_file.h. A file comes from anybody: each number is checked, and its size is bounded.
#include "server/tools/bench/cube_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if CM_WITH_xz
#include <lzma.h>
#endif

#include "server/ops/parts.h"

#define NUMBERS     8u
#define FRAME_BYTES ((size_t)CM_CODEC_CUBES * NUMBERS * 4u)
#define READ_BYTES  65536u
#define MEMORY_MAX  (UINT64_C(256) << 20)

typedef struct source {
    FILE *file;
#if CM_WITH_xz
    lzma_stream xz;
#endif
    bool packed, ended;
    uint8_t in[READ_BYTES];
    size_t in_at, in_size;
} source;

static const uint8_t MAGIC[6] = {0xfd, '7', 'z', 'X', 'Z', 0};

static bool more(source *s)
{
    if (s->in_at == s->in_size) {
        s->in_at = 0;
        s->in_size = fread(s->in, 1, sizeof s->in, s->file);
    }
    return s->in_at < s->in_size;
}

static size_t read_plain(source *s, uint8_t *bytes, size_t size)
{
    size_t got = 0;
    while (got < size && more(s)) {
        size_t part = s->in_size - s->in_at < size - got ? s->in_size - s->in_at : size - got;
        memcpy(bytes + got, s->in + s->in_at, part);
        s->in_at += part;
        got += part;
    }
    return got;
}

#if CM_WITH_xz
static const char *open_packed(source *s)
{
    s->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&s->xz, MEMORY_MAX, 0) == LZMA_OK ? NULL : "out of memory";
}

static void close_packed(source *s)
{
    lzma_end(&s->xz);
}

// Fewer than asked for at the end, or where the packing is broken.
static size_t read_packed(source *s, uint8_t *bytes, size_t size, bool *broken)
{
    s->xz.next_out = bytes;
    s->xz.avail_out = size;
    while (s->xz.avail_out > 0 && !s->ended) {
        bool last = !more(s);
        s->xz.next_in = s->in + s->in_at;
        s->xz.avail_in = s->in_size - s->in_at;
        lzma_ret result = lzma_code(&s->xz, last ? LZMA_FINISH : LZMA_RUN);
        s->in_at = s->in_size - s->xz.avail_in;
        s->ended = result != LZMA_OK;
        *broken |= result != LZMA_OK && result != LZMA_STREAM_END;
    }
    return size - s->xz.avail_out;
}
#else
static const char *open_packed(source *s)
{
    static char absent[256];
    (void)s;
    cm_part_report_absent(CM_PART_XZ, absent, sizeof absent);
    return absent;
}

static void close_packed(source *s)
{
    (void)s;
}

static size_t read_packed(source *s, uint8_t *bytes, size_t size, bool *broken)
{
    (void)s, (void)bytes, (void)size;
    *broken = true;
    return 0;
}
#endif

static int32_t number_at(const uint8_t *bytes)
{
    return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24);
}

// Reads one cube. Returns the index of the first number out of range; NUMBERS: none.
static uint32_t take_cube(const uint8_t *bytes, cm_cube *cube)
{
    static const int32_t LOW[NUMBERS] = {0, 0, 0, 0, -CM_CUBE_SIDE, -CM_CUBE_SIDE, 0, 0};
    static const int32_t HIGH[NUMBERS] = {
        3, CM_CUBE_TURN, CM_CUBE_TURN, CM_CUBE_TURN, CM_CUBE_SIDE, CM_CUBE_SIDE, CM_CUBE_HEIGHT, 1};
    int16_t value[NUMBERS];
    for (uint32_t i = 0; i < NUMBERS; i++) {
        int32_t number = number_at(bytes + (size_t)4 * i);
        if (number < LOW[i] || number > HIGH[i]) {
            return i;
        }
        value[i] = (int16_t)number;
    }
    memcpy(cube, value, sizeof *cube);
    return NUMBERS;
}

static const char *take_frame(cm_cube_file *to, const uint8_t *bytes)
{
    if (to->frames == CM_CUBE_FILE_FRAMES_MAX) {
        return "more frames than 100000";
    }
    size_t held = (size_t)to->frames * CM_CODEC_CUBES;
    // Grows by halves at powers of two.
    if ((to->frames & (to->frames - 1)) == 0) {
        size_t room = to->frames == 0 ? 1 : (size_t)to->frames * 2;
        cm_cube *grown = realloc(to->cubes, room * CM_CODEC_CUBES * sizeof *grown);
        if (grown == NULL) {
            return "out of memory";
        }
        to->cubes = grown;
    }
    for (uint32_t i = 0; i < CM_CODEC_CUBES; i++) {
        uint32_t wrong = take_cube(bytes + (size_t)i * NUMBERS * 4u, &to->cubes[held + i]);
        if (wrong < NUMBERS) {
            to->at = to->frames * (uint64_t)FRAME_BYTES + (i * NUMBERS + wrong) * UINT64_C(4);
            return "a number outside its range";
        }
    }
    to->frames++;
    return NULL;
}

static void read_frames(source *s, cm_cube_file *to)
{
    static uint8_t frame[FRAME_BYTES];
    while (to->wrong == NULL) {
        bool broken = false;
        size_t got = s->packed ? read_packed(s, frame, sizeof frame, &broken)
                               : read_plain(s, frame, sizeof frame);
        to->at = to->frames * (uint64_t)FRAME_BYTES + got;
        if (broken) {
            to->wrong = "its packing is broken";
        } else if (got == sizeof frame) {
            to->wrong = take_frame(to, frame);
        } else {
            to->wrong = got == 0 ? NULL : "ends within a frame of 901 cubes of 32 bytes";
            break;
        }
    }
}

cm_cube_file cm_cube_file_read(const char *path)
{
    static source s;
    cm_cube_file made = {0};
    s = (source){.file = fopen(path, "rb")};
    if (s.file == NULL) {
        made.wrong = strerror(errno);
        return made;
    }
    s.packed = more(&s) && s.in_size >= sizeof MAGIC && memcmp(s.in, MAGIC, sizeof MAGIC) == 0;
    made.wrong = s.packed ? open_packed(&s) : NULL;
    if (made.wrong == NULL) {
        read_frames(&s, &made);
    }
    if (s.packed) {
        close_packed(&s);
    }
    fclose(s.file);
    if (made.wrong == NULL && made.frames == 0) {
        made.wrong = "no frame of 901 cubes of 32 bytes";
    }
    if (made.wrong != NULL) {
        free(made.cubes);
        made.cubes = NULL;
    }
    return made;
}
