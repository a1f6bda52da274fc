// Files of game modules from strangers. A fuzzer would spend its time on the four bytes that make
// an ELF file, so its data are changes of a sound one: {place, 2 bytes; value, 1 byte} again and
// again; and the data as they are.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/game.h"
#include "server/node/module_file.h"
#include "shared/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t sound[1 << 17];
static size_t sound_size;

static void read_sound(void)
{
    FILE *file = fopen(CAROM_SOUND_MODULE, "rb");
    CM_ASSERT(file != NULL);
    sound_size = fread(sound, 1, sizeof sound, file);
    fclose(file);
}

static carom_result check(const uint8_t *bytes, size_t size)
{
    const cm_module_rules rules = {"-ffp-contract=off", 4096, sizeof(carom_module)};
    cm_module_file file;
    char error[400] = "";
    carom_result result = cm_module_file_check(bytes, size, &rules, &file, error, sizeof error);
    CM_ASSERT(result == CAROM_OK || error[0] != '\0');
    if (result == CAROM_OK) {
        CM_ASSERT(file.part_count > 0 && file.part_count <= CM_ELF_SEGMENTS_MAX);
        CM_ASSERT(strlen(file.source) == 64 && file.name[0] != '\0');
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (sound_size == 0) {
        read_sound();
    }
    uint8_t *changed = malloc(sound_size);
    CM_ASSERT(changed != NULL);
    memcpy(changed, sound, sound_size);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        changed[(data[i] | (size_t)data[i + 1] << 8) % sound_size] = data[i + 2];
    }
    (void)check(changed, sound_size);
    free(changed);
    (void)check(data, size);
    return 0;
}
