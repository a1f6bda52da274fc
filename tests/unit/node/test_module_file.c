// Game modules as files. Goal: a file is either taken, and then links and has a sound table, or it
// is refused with a reason; nothing that is done to its bytes crashes the check or the linker.
// Method: a sound module (tests/modules/counter.c, built beside this program) is cut at every
// length and changed in seeded places, in its tables more often than in its code; what the check
// takes of that is really linked, in this process.
#include <criterion/criterion.h>

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/node/module_loader.h"
#include "shared/base/rng.h"

static void path_of(const char *name, char *path, size_t size)
{
    char program[512];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    cr_assert_gt(length, 0);
    program[length] = '\0';
    snprintf(path, size, "%s/tests/modules/%s.so", dirname(program), name);
}

static void module_path(char *path, size_t size)
{
    path_of("counter", path, size);
}

static uint8_t *read_module(size_t *size)
{
    char path[1024];
    struct stat file;
    module_path(path, sizeof path);
    int descriptor = open(path, O_RDONLY);
    cr_assert(descriptor >= 0 && fstat(descriptor, &file) == 0, "%s: build it with make", path);
    *size = (size_t)file.st_size;
    uint8_t *bytes = malloc(*size);
    cr_assert_eq(read(descriptor, bytes, *size), (ssize_t)*size);
    close(descriptor);
    return bytes;
}

static carom_result check(const uint8_t *bytes, size_t size, cm_module_file *file, char error[400])
{
    cm_module_rules rules = cm_module_rules_here();
    error[0] = '\0';
    return cm_module_file_check(bytes, size, &rules, file, error, 400);
}

Test(module_file, a_sound_module_is_taken)
{
    char path[1024], error[512];
    cm_loaded_module loaded;
    module_path(path, sizeof path);
    cr_assert_eq(cm_module_load(path, &loaded, error, sizeof error), CAROM_OK, "%s", error);
    cr_expect_str_eq(loaded.module->name, "counter");
    cr_expect_eq(loaded.module->version, 3);
    cr_expect_eq(strlen(loaded.module->source), 64);
    cr_expect_eq(strlen(loaded.file_hash), 64);
    cr_expect_null(cm_module_find("counter"));
    cr_expect_eq(cm_module_load_list(path, NULL, error, sizeof error), CAROM_OK, "%s", error);
    const carom_module *module = cm_module_find("counter");
    cr_assert_not_null(module);
    cr_expect_str_eq(cm_module_file_hash(module), loaded.file_hash);
    cr_expect_eq(cm_module_load_list(path, NULL, error, sizeof error), CAROM_ERROR_STATE);
    cr_expect_not_null(strstr(error, "there is one of that name"), "%s", error);
}

// Seen: the second of two games was "broken", since the linker took it for the first, whose file in
// memory had had the same descriptor.
Test(module_file, a_server_takes_several)
{
    static const char *const names[] = {"counter", "slow", "failing"};
    char path[1024], error[512];
    for (uint32_t i = 0; i < 3; i++) {
        path_of(names[i], path, sizeof path);
        cr_assert_eq(cm_module_load_list(path, NULL, error, sizeof error), CAROM_OK, "%s", error);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const carom_module *module = cm_module_find(names[i]);
        cr_assert_not_null(module, "%s", names[i]);
        cr_expect_str_eq(module->name, names[i]);
    }
}

Test(module_file, what_cannot_be_opened_is_named)
{
    char error[512];
    cm_loaded_module loaded;
    cr_expect_eq(cm_module_load("/no/such.so", &loaded, error, sizeof error), CAROM_ERROR_IO);
    cr_expect_not_null(strstr(error, "/no/such.so: No such file"), "%s", error);
    cr_expect_eq(cm_module_load("/dev", &loaded, error, sizeof error), CAROM_ERROR_ARGUMENT);
    cr_expect_not_null(strstr(error, "not a regular file"), "%s", error);
    cr_expect_eq(cm_module_load("/proc/self/exe", &loaded, error, sizeof error) == CAROM_OK, false);
}

Test(module_file, every_cut_is_refused)
{
    size_t size, refused = 0;
    uint8_t *bytes = read_module(&size);
    cm_module_file file;
    char error[400];
    cr_assert_eq(check(bytes, size, &file, error), CAROM_OK, "%s", error);
    for (size_t length = 0; length < size; length++) {
        // A block of its own, so that a sanitizer sees what is read beyond the end.
        uint8_t *cut = malloc(length > 0 ? length : 1);
        memcpy(cut, bytes, length);
        carom_result result = check(cut, length, &file, error);
        refused += result != CAROM_OK;
        cr_assert(result == CAROM_OK || error[0] != '\0');
        free(cut);
    }
    // What follows the last segment is sections and names, which nobody reads.
    cr_expect(refused > size / 2 && refused < size, "%zu of %zu", refused, size);
    free(bytes);
}

// A name in the file's strings, changed in its last letter.
static void change_name(uint8_t *bytes, size_t size, const char *name, char last)
{
    size_t length = strlen(name) + 1;
    uint8_t *found = memmem(bytes, size, name, length);
    cr_assert_not_null(found, "%s", name);
    found[length - 2] = (uint8_t)last;
}

// One letter of what is imported or exported, and the file is another: the reason names it.
Test(module_file, one_letter_of_a_name_is_another_import)
{
    static const struct {
        const char *name;
        char last;
        const char *said;
    } cases[] = {
        {"carom_body_create", 's', "imports carom_body_creats: expected carom_"},
        {"carom_game_tick", 'g', "imports carom_game_ticg"},
        {"carom_module_counter", 'R', "carom_module_counteR: expected at most 31"},
    };
    for (uint32_t i = 0; i < 3; i++) {
        size_t size;
        uint8_t *bytes = read_module(&size);
        cm_module_file file;
        char error[400];
        if (memmem(bytes, size, cases[i].name, strlen(cases[i].name) + 1) != NULL) {
            change_name(bytes, size, cases[i].name, cases[i].last);
            cr_expect_eq(check(bytes, size, &file, error), CAROM_ERROR_ARGUMENT);
            cr_expect_not_null(strstr(error, cases[i].said), "%s", error);
        }
        free(bytes);
    }
}

// Built with all flags but one: the record says so.
Test(module_file, a_flag_that_is_missing_is_named)
{
    size_t size;
    uint8_t *bytes = read_module(&size);
    cm_module_file file;
    char error[400];
    uint8_t *found = memmem(bytes, size, "-ffp-contract=off", 17);
    cr_assert_not_null(found);
    memcpy(found, "-ffp-contract=on ", 17);
    cr_expect_eq(check(bytes, size, &file, error), CAROM_ERROR_ARGUMENT);
    cr_expect_not_null(strstr(error, "built without -ffp-contract=off"), "%s", error);
    free(bytes);
}

// Links bytes that the check took, as a server does: whatever kills the linker kills a child.
static carom_result load(const uint8_t *bytes, size_t size)
{
    char path[64], error[512] = "";
    cm_loaded_module loaded;
    int descriptor = memfd_create("mutant", MFD_CLOEXEC);
    cr_assert_eq(write(descriptor, bytes, size), (ssize_t)size);
    cr_assert_eq(fchmod(descriptor, 0700), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    carom_result result = cm_module_load(path, &loaded, error, sizeof error);
    close(descriptor);
    cr_assert((result == CAROM_OK) == (error[0] == '\0'));
    return result;
}

#define MUTANTS 3000u // CAROM_MODULE_MUTANTS=n of other seeds: n times as many

Test(module_file, changed_files_are_refused_or_link)
{
    size_t size;
    uint8_t *bytes = read_module(&size);
    uint8_t *mutant = malloc(size);
    uint32_t taken = 0, linked = 0;
    cm_rng rng;
    const char *more = getenv("CAROM_MODULE_MUTANTS");
    uint32_t mutants = MUTANTS * (more != NULL ? (uint32_t)atoi(more) : 1);
    cm_rng_seed(&rng, 10 + mutants / MUTANTS);
    for (uint32_t i = 0; i < mutants; i++) {
        cm_module_file file;
        char error[400];
        memcpy(mutant, bytes, size);
        for (uint32_t n = 1 + (uint32_t)(cm_rng_next(&rng) % 4); n > 0; n--) {
            // Header, segments and tables are in the first 0x600 bytes, the dynamic section and
            // what is relocated in the last page that is mapped.
            uint64_t draw = cm_rng_next(&rng);
            size_t span = draw % 3 == 0 ? size : draw % 3 == 1 ? 0x600 : 64 * 56;
            size_t place = (size_t)(cm_rng_next(&rng) % (span < size ? span : size));
            static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
            uint64_t kind = cm_rng_next(&rng);
            mutant[place] = kind % 2 == 0 ? values[kind / 2 % sizeof values]
                                          : (uint8_t)(mutant[place] ^ (1u << kind / 2 % 8));
        }
        carom_result result = check(mutant, size, &file, error);
        cr_assert(result == CAROM_OK || error[0] != '\0');
        if (result == CAROM_OK) {
            taken++;
            linked += load(mutant, size) == CAROM_OK;
        }
    }
    cr_expect(taken > mutants / 100 && taken < mutants, "%u taken", taken);
    // The linker has rules of its own, and a table that was changed is refused when it is linked.
    cr_expect(linked > taken / 10 * 8, "%u of %u linked", linked, taken);
    free(mutant);
    free(bytes);
}

// Where the dynamic section says that relocations are, which only the linker follows.
static cm_elf_tag *find_relocations(uint8_t *bytes)
{
    const cm_elf_header *header = (const cm_elf_header *)bytes;
    cm_elf_segment *segments = (cm_elf_segment *)(bytes + header->e_phoff);
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        cm_elf_tag *tag = (cm_elf_tag *)(bytes + segments[i].p_offset);
        for (; segments[i].p_type == PT_DYNAMIC && tag->d_tag != DT_NULL; tag++) {
            if (tag->d_tag == DT_RELA || tag->d_tag == DT_REL || tag->d_tag == DT_JMPREL) {
                return tag;
            }
        }
    }
    cr_assert_fail("a module without relocations");
    return NULL;
}

Test(module_file, what_kills_the_linker_kills_a_child)
{
    size_t size;
    uint8_t *bytes = read_module(&size);
    cm_module_file file;
    char error[400];
    find_relocations(bytes)->d_un.d_val = CM_ELF_MEMORY_MAX * UINT64_C(16);
    cr_assert_eq(check(bytes, size, &file, error), CAROM_OK, "%s", error);
    cr_expect_eq(load(bytes, size), CAROM_ERROR_CORRUPT);
    free(bytes);
}
