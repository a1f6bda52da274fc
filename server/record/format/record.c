// Rows, packs and zstd; MATCH_FILE.md lays out both. 8 players who steer with sticks take 30 to 50
// bytes a tick, their input timing 10 to 20.
#include "server/record/format/record.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "shared/base/array.h"
#include "shared/base/assert.h"
#include "shared/base/bytes.h"

#define LEVEL_BLOB 3
#define LEVEL_PACK 9
#define MASKS      3

size_t cm_recorded_tick_size(const cm_recorded_tick *tick)
{
    size_t size = sizeof *tick + tick->input.event_count * sizeof(cm_game_event) +
                  tick->input.input_count * sizeof(carom_player_input) +
                  tick->arrival_count * sizeof(cm_arrival);
    for (uint32_t i = 0; i < tick->input.event_count; i++) {
        size += tick->input.events[i].size;
    }
    return (size + 15) / 16 * 16;
}

// The lists with the widest alignment first.
void cm_recorded_tick_copy(const cm_recorded_tick *tick, uint8_t *bytes)
{
    cm_recorded_tick *copy = (cm_recorded_tick *)bytes;
    const cm_tick_input *input = &tick->input;
    cm_game_event *events = (cm_game_event *)(copy + 1);
    carom_player_input *inputs = (carom_player_input *)(events + input->event_count);
    cm_arrival *arrivals = (cm_arrival *)(inputs + input->input_count);
    uint8_t *payload = (uint8_t *)(arrivals + tick->arrival_count);
    *copy = *tick;
    copy->input.events = events;
    copy->input.inputs = inputs;
    copy->arrivals = arrivals;
    for (uint32_t i = 0; i < input->event_count; i++) {
        events[i] = input->events[i];
        events[i].bytes = payload;
        if (events[i].size > 0) {
            memcpy(payload, input->events[i].bytes, events[i].size);
            payload += events[i].size;
        }
    }
    if (input->input_count > 0) {
        memcpy(inputs, input->inputs, input->input_count * sizeof *inputs);
    }
    if (tick->arrival_count > 0) {
        memcpy(arrivals, tick->arrivals, tick->arrival_count * sizeof *arrivals);
    }
}

// Packs ---------------------------------------------------------------------------------------

struct cm_record_pack {
    uint32_t count, capacity;
    cm_record_inputs *rows;
};

cm_record_pack *cm_record_pack_create(void)
{
    return calloc(1, sizeof(cm_record_pack));
}

void cm_record_pack_free(cm_record_pack *pack)
{
    if (pack != NULL) {
        free(pack->rows);
        free(pack);
    }
}

uint32_t cm_record_pack_count(const cm_record_pack *pack)
{
    return pack->count;
}

const cm_record_inputs *cm_record_pack_row(const cm_record_pack *pack, uint32_t index)
{
    CM_ASSERT(index < pack->count);
    return &pack->rows[index];
}

void cm_record_pack_clear(cm_record_pack *pack)
{
    pack->count = 0;
}

static bool reserve(cm_record_pack *pack, uint32_t count)
{
    return cm_array_reserve(&pack->rows, &pack->capacity, count, sizeof *pack->rows);
}

bool cm_record_pack_add(cm_record_pack *pack, const cm_recorded_tick *tick)
{
    CM_ASSERT(cm_confirmed_fits(tick));
    if (pack->count == CM_RECORD_PACK_ROWS || !reserve(pack, pack->count + 1)) {
        return false;
    }
    cm_record_inputs *row = &pack->rows[pack->count++];
    row->tick = tick->tick;
    row->input_count = tick->input.input_count;
    row->arrival_count = tick->arrival_count;
    if (row->input_count > 0) {
        memcpy(row->inputs, tick->input.inputs, row->input_count * sizeof row->inputs[0]);
    }
    if (row->arrival_count > 0) {
        memcpy(row->arrivals, tick->arrivals, row->arrival_count * sizeof row->arrivals[0]);
    }
    return true;
}

static void masks_of(const cm_record_inputs *row, uint64_t masks[MASKS])
{
    memset(masks, 0, MASKS * sizeof masks[0]);
    for (uint32_t i = 0; i < row->input_count; i++) {
        masks[0] |= UINT64_C(1) << row->inputs[i].player;
    }
    for (uint32_t i = 0; i < row->arrival_count; i++) {
        masks[1] |= UINT64_C(1) << row->arrivals[i].player;
        masks[2] |= (uint64_t)row->arrivals[i].rewound << row->arrivals[i].player;
    }
}

// One player's inputs and input timing, in the order of the rows.
typedef struct column {
    uint32_t inputs, arrivals;
    carom_player_input *input[CM_RECORD_PACK_ROWS];
    cm_arrival *arrival[CM_RECORD_PACK_ROWS];
} column;

static void find_column(const cm_record_pack *pack, uint32_t player, column *found)
{
    found->inputs = found->arrivals = 0;
    for (uint32_t i = 0; i < pack->count; i++) {
        cm_record_inputs *row = &pack->rows[i];
        for (uint32_t j = 0; j < row->input_count; j++) {
            if (row->inputs[j].player == player) {
                found->input[found->inputs++] = &row->inputs[j];
                break;
            }
        }
        for (uint32_t j = 0; j < row->arrival_count; j++) {
            if (row->arrivals[j].player == player) {
                found->arrival[found->arrivals++] = &row->arrivals[j];
                break;
            }
        }
    }
}

static void put_numbers(const cm_record_pack *pack, cm_byte_writer *out)
{
    uint64_t masks[MASKS], before[MASKS];
    for (uint32_t byte = 0; byte < 4; byte++) {
        for (uint32_t i = 1; i < pack->count; i++) {
            uint64_t step = pack->rows[i].tick - pack->rows[i - 1].tick;
            cm_put_u8(out, (uint8_t)(step >> (8 * byte)));
        }
    }
    for (uint32_t which = 0; which < MASKS; which++) {
        for (uint32_t byte = 0; byte < 8; byte++) {
            memset(before, 0, sizeof before);
            for (uint32_t i = 0; i < pack->count; i++) {
                masks_of(&pack->rows[i], masks);
                cm_put_u8(out, (uint8_t)((masks[which] ^ before[which]) >> (8 * byte)));
                memcpy(before, masks, sizeof before);
            }
        }
    }
}

static void put_inputs(const column *of, uint32_t width, cm_byte_writer *out)
{
    for (uint32_t byte = 0; byte < width; byte++) {
        uint8_t last = 0;
        for (uint32_t i = 0; i < of->inputs; i++) {
            cm_put_u8(out, of->input[i]->bytes[byte] ^ last);
            last = of->input[i]->bytes[byte];
        }
    }
}

static void put_leads(const column *of, cm_byte_writer *out)
{
    for (uint32_t byte = 0; byte < 2; byte++) {
        uint16_t last = 0;
        for (uint32_t i = 0; i < of->arrivals; i++) {
            uint16_t step = (uint16_t)((uint16_t)of->arrival[i]->lead - last);
            cm_put_u8(out, (uint8_t)(step >> (8 * byte)));
            last = (uint16_t)of->arrival[i]->lead;
        }
    }
}

static void put_pack(const cm_record_pack *pack, cm_byte_writer *out)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < pack->count; i++) {
        uint32_t row = cm_confirmed_width(pack->rows[i].inputs, pack->rows[i].input_count);
        width = row > width ? row : width;
    }
    cm_put_u32(out, pack->count);
    cm_put_u8(out, (uint8_t)width);
    cm_put_u64(out, pack->count > 0 ? pack->rows[0].tick : 0);
    put_numbers(pack, out);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        column of;
        find_column(pack, player, &of);
        put_inputs(&of, width, out);
        put_leads(&of, out);
    }
}

static uint8_t *compress(const void *bytes, size_t size, const void *base, size_t base_size,
                         int level, size_t *packed_size)
{
    size_t bound = ZSTD_compressBound(size);
    uint8_t *packed = malloc(bound);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t code = 0;
    if (packed != NULL && context != NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
        if (base_size > 0) {
            int window = 10;
            while (window < 27 && ((size_t)1 << window) < base_size + size) {
                window++;
            }
            ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
            ZSTD_CCtx_refPrefix(context, base, base_size);
        }
        code = ZSTD_compress2(context, packed, bound, bytes, size);
    }
    bool good = packed != NULL && context != NULL && !ZSTD_isError(code);
    ZSTD_freeCCtx(context);
    if (!good) {
        free(packed);
        return NULL;
    }
    *packed_size = code;
    return packed;
}

uint8_t *cm_record_pack_encode(const cm_record_pack *pack, size_t *size)
{
    cm_byte_writer out = cm_byte_writer_make(NULL, 0);
    put_pack(pack, &out);
    CM_ASSERT(out.size <= CM_RECORD_PACK_MAX);
    uint8_t *bytes = malloc(out.size), *packed = NULL;
    if (bytes != NULL) {
        out = cm_byte_writer_make(bytes, out.size);
        put_pack(pack, &out);
        packed = compress(bytes, out.size, NULL, 0, LEVEL_PACK, size);
    }
    free(bytes);
    return packed;
}

static const char *take_ticks(cm_record_pack *pack, uint64_t tick, cm_byte_reader *in)
{
    size_t steps = pack->count - 1;
    const uint8_t *planes = cm_get_bytes(in, steps * 4);
    if (in->overflow) {
        return "truncated";
    }
    pack->rows[0].tick = tick;
    for (size_t i = 0; i < steps; i++) {
        uint32_t step = 0;
        for (uint32_t byte = 0; byte < 4; byte++) {
            step |= (uint32_t)planes[byte * steps + i] << (8 * byte);
        }
        if (step == 0 || tick > (uint64_t)INT64_MAX - step) {
            return "its ticks do not ascend";
        }
        tick += step;
        pack->rows[i + 1].tick = tick;
    }
    return NULL;
}

// Players of a row get their places; what they hold comes with the planes.
static const char *open_row(cm_record_inputs *row, const uint64_t masks[MASKS])
{
    row->input_count = row->arrival_count = 0;
    if (masks[0] == 0 && masks[1] == 0) {
        return "a row of it has neither inputs nor arrivals";
    }
    if ((masks[2] & ~masks[1]) != 0) {
        return "a rewind of no arrival";
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if ((masks[0] >> player & 1u) != 0) {
            carom_player_input *input = &row->inputs[row->input_count++];
            memset(input, 0, sizeof *input);
            input->player = player;
        }
        if ((masks[1] >> player & 1u) != 0) {
            row->arrivals[row->arrival_count++] =
                (cm_arrival){(uint8_t)player, (masks[2] >> player & 1u) != 0, 0};
        }
    }
    return NULL;
}

static const char *take_masks(cm_record_pack *pack, cm_byte_reader *in)
{
    size_t n = pack->count;
    const uint8_t *planes = cm_get_bytes(in, n * 8 * MASKS);
    if (in->overflow) {
        return "truncated";
    }
    uint64_t masks[MASKS] = {0};
    for (size_t i = 0; i < n; i++) {
        for (uint32_t at = 0; at < MASKS * 8; at++) {
            masks[at / 8] ^= (uint64_t)planes[at * n + i] << (8 * (at % 8));
        }
        const char *wrong = open_row(&pack->rows[i], masks);
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

static void take_inputs(const column *of, uint32_t width, cm_byte_reader *in)
{
    for (uint32_t byte = 0; byte < width; byte++) {
        uint8_t last = 0;
        for (uint32_t i = 0; i < of->inputs; i++) {
            last ^= cm_get_u8(in);
            of->input[i]->bytes[byte] = last;
        }
    }
}

static void take_leads(const column *of, cm_byte_reader *in)
{
    const uint8_t *planes = cm_get_bytes(in, (size_t)of->arrivals * 2);
    uint16_t last = 0;
    for (uint32_t i = 0; !in->overflow && i < of->arrivals; i++) {
        last = (uint16_t)(last + planes[i] + (planes[of->arrivals + i] << 8));
        of->arrival[i]->lead = (int16_t)last;
    }
}

static const char *take_pack(cm_record_pack *pack, cm_byte_reader *in)
{
    uint32_t count = cm_get_u32(in), width = cm_get_u8(in);
    uint64_t tick = cm_get_u64(in);
    if (in->overflow || count == 0 || count > CM_RECORD_PACK_ROWS || width > CAROM_INPUT_MAX ||
        tick > INT64_MAX) {
        return "its head is none, expected 1 to 1024 rows of inputs of at most 64 bytes";
    }
    if (!reserve(pack, count)) {
        return "no memory";
    }
    pack->count = count;
    const char *wrong = take_ticks(pack, tick, in);
    wrong = wrong == NULL ? take_masks(pack, in) : wrong;
    for (uint32_t player = 0; wrong == NULL && player < CAROM_PLAYERS_MAX; player++) {
        column of;
        find_column(pack, player, &of);
        take_inputs(&of, width, in);
        take_leads(&of, in);
    }
    if (wrong == NULL && (in->overflow || in->position != in->size)) {
        wrong = "truncated, or longer than its rows";
    }
    return wrong;
}

const char *cm_record_pack_decode(cm_record_pack *pack, const uint8_t *packed, size_t packed_size)
{
    size_t size = 0;
    pack->count = 0;
    uint8_t *bytes = cm_record_expand(packed, packed_size, NULL, 0, CM_RECORD_PACK_MAX, &size);
    if (bytes == NULL) {
        return "no whole zstd frame of at most 6 MiB";
    }
    cm_byte_reader in = cm_byte_reader_make(bytes, size);
    const char *wrong = take_pack(pack, &in);
    free(bytes);
    pack->count = wrong == NULL ? pack->count : 0;
    return wrong;
}

// Blobs ---------------------------------------------------------------------------------------

uint8_t *cm_record_compress(const void *bytes, size_t size, const void *base, size_t base_size,
                            size_t *packed_size)
{
    return compress(bytes, size, base, base_size, LEVEL_BLOB, packed_size);
}

uint64_t cm_record_announced_size(const void *packed, size_t packed_size)
{
    unsigned long long announced = ZSTD_getFrameContentSize(packed, packed_size);
    bool is_announced =
        announced != ZSTD_CONTENTSIZE_UNKNOWN && announced != ZSTD_CONTENTSIZE_ERROR;
    return is_announced ? announced : UINT64_MAX;
}

uint8_t *cm_record_expand(const void *packed, size_t packed_size, const void *base,
                          size_t base_size, size_t limit, size_t *size)
{
    uint64_t announced = cm_record_announced_size(packed, packed_size);
    if (announced > limit) {
        return NULL;
    }
    uint8_t *bytes = malloc(announced > 0 ? (size_t)announced : 1);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    size_t code = 0;
    if (bytes != NULL && context != NULL) {
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
        if (base_size > 0) {
            ZSTD_DCtx_refPrefix(context, base, base_size);
        }
        code = ZSTD_decompressDCtx(context, bytes, (size_t)announced, packed, packed_size);
    }
    bool good = bytes != NULL && context != NULL && !ZSTD_isError(code) && code == announced;
    ZSTD_freeDCtx(context);
    if (!good) {
        free(bytes);
        return NULL;
    }
    *size = code;
    return bytes;
}
