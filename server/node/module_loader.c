// From a path to a table of callbacks. Typical: one file of 20 KB at the start of a server.
#include "server/node/module_loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/assert.h"
#include "shared/wire/crypto.h"

#define PATH_MAX_BYTES 4096u
#define TRIAL_S        10u // processor and waiting; linking takes a millisecond
#define LINK_NAME_MAX  96u // 14 + 2 x 32 + 11

cm_module_rules cm_module_rules_here(void)
{
    cm_module_rules rules = {.flags = CAROM_DETERMINISM,
                             .page = (uint64_t)sysconf(_SC_PAGESIZE),
                             .descriptor_size = sizeof(carom_module)};
    return rules;
}

// Reading -------------------------------------------------------------------------------------

static const char *refuse_file(const struct stat *file)
{
    if (!S_ISREG(file->st_mode)) {
        return "not a regular file";
    }
    if (file->st_uid != 0 && file->st_uid != geteuid()) {
        return "belongs to another user, expected this one or root";
    }
    if ((file->st_mode & S_IWOTH) != 0) {
        return "can be written by everyone, expected mode 0755 or less";
    }
    return file->st_size > (off_t)CM_MODULE_FILE_MAX ? "larger than 16 MiB" : NULL;
}

static bool read_whole(int descriptor, uint8_t *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(descriptor, bytes + done, size - done);
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static carom_result read_file(const char *path, uint8_t **bytes, size_t *size, char *error,
                              size_t error_size)
{
    struct stat file;
    *bytes = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &file) != 0) {
        snprintf(error, error_size, "%.200s: %s", path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return CAROM_ERROR_IO;
    }
    const char *wrong = refuse_file(&file);
    carom_result result = CAROM_OK;
    *size = (size_t)file.st_size;
    if (wrong != NULL) {
        snprintf(error, error_size, "%.200s: %s", path, wrong);
        result = CAROM_ERROR_ARGUMENT;
    } else {
        *bytes = malloc(*size + 1);
        if (*bytes == NULL || !read_whole(descriptor, *bytes, *size)) {
            snprintf(error, error_size, "%.200s: could not be read", path);
            result = CAROM_ERROR_IO;
        }
    }
    close(descriptor);
    return result;
}

// Linking -------------------------------------------------------------------------------------

// A file in memory with these bytes, which cannot change any more; its descriptor, or -1.
static int seal(const uint8_t *bytes, size_t size)
{
    int descriptor = memfd_create("carom-module", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    for (size_t done = 0; descriptor >= 0 && done < size;) {
        ssize_t wrote = write(descriptor, bytes + done, size - done);
        if (wrote <= 0 && !(wrote < 0 && errno == EINTR)) {
            close(descriptor);
            return -1;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (descriptor >= 0 && fcntl(descriptor, F_ADD_SEALS,
                                 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// Links it in a child first: the dynamic linker trusts a file, and dies of one that lies.
static bool survives_trial(const char *name)
{
    static const int DEADLY[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < sizeof DEADLY / sizeof DEADLY[0]; i++) {
            signal(DEADLY[i], SIG_DFL);
        }
        prctl(PR_SET_DUMPABLE, 0); // no core file
        alarm(TRIAL_S);
        (void)dlopen(name, RTLD_NOW | RTLD_LOCAL); // what it refuses, it refuses below by name
        _exit(0);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

// The linker knows what is linked by its name, and a descriptor's number is given again: each file
// has another path to it, `/` and `./` for the bits of a count.
static void name_file(int descriptor, char name[LINK_NAME_MAX])
{
    static uint32_t count;
    size_t at = (size_t)snprintf(name, LINK_NAME_MAX, "/proc/self/fd/");
    for (uint32_t left = ++count; left > 0; left >>= 1) {
        at += (size_t)snprintf(name + at, LINK_NAME_MAX - at, left % 2 == 1 ? "./" : "/");
    }
    snprintf(name + at, LINK_NAME_MAX - at, "%d", descriptor);
}

static carom_result link_bytes(const char *path, const uint8_t *bytes, size_t size,
                               const struct link_map **map, char *error, size_t error_size)
{
    char name[LINK_NAME_MAX];
    int descriptor = seal(bytes, size);
    if (descriptor < 0) {
        snprintf(error, error_size, "%.200s: no file in memory: %s", path, strerror(errno));
        return CAROM_ERROR_IO;
    }
    name_file(descriptor, name);
    if (!survives_trial(name)) {
        snprintf(error, error_size, "%.200s: broken: the dynamic linker dies of it", path);
        close(descriptor);
        return CAROM_ERROR_CORRUPT;
    }
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *wrong = handle == NULL ? dlerror() : NULL;
    close(descriptor);
    if (wrong != NULL) {
        snprintf(error, error_size, "%.200s: %.200s", path, wrong);
        return CAROM_ERROR_IO;
    }
    struct link_map *found = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &found) != 0) {
        snprintf(error, error_size, "%.200s: %.200s", path, dlerror());
        return CAROM_ERROR_IO;
    }
    *map = found;
    return CAROM_OK;
}

// The descriptor ------------------------------------------------------------------------------

// The part that holds an address, or NULL.
static const cm_elf_part *part_of(const cm_module_file *file, uintptr_t base, const void *address)
{
    uintptr_t offset = (uintptr_t)address - base;
    for (uint32_t i = 0; i < file->part_count; i++) {
        if (offset >= file->parts[i].start && offset < file->parts[i].end) {
            return &file->parts[i];
        }
    }
    return NULL;
}

static bool is_text(const cm_module_file *file, uintptr_t base, const char *text)
{
    const cm_elf_part *part = part_of(file, base, text);
    return part != NULL && memchr(text, '\0', (size_t)(base + part->end - (uintptr_t)text)) != NULL;
}

static bool is_code(const cm_module_file *file, uintptr_t base, const void *function)
{
    const cm_elf_part *part = part_of(file, base, function);
    return function == NULL || (part != NULL && part->executable);
}

// Everything of the descriptor that is an address must be the module's own.
static bool is_own(const cm_module_file *file, uintptr_t base, const carom_module *module)
{
    enum { FIRST = offsetof(carom_module, configure), END = offsetof(carom_module, buttons) };
    void *functions[(END - FIRST) / sizeof(void *)];
    _Static_assert(sizeof functions == END - FIRST && END + CAROM_INPUT_MAX == sizeof *module,
                   "from configure to buttons, which end a descriptor, it is functions alone");
    memcpy(functions, (const char *)module + FIRST, sizeof functions);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (!is_code(file, base, functions[i])) {
            return false;
        }
    }
    return is_text(file, base, module->name) && is_text(file, base, module->source);
}

static carom_result check_descriptor(const char *path, const cm_module_file *file, uintptr_t base,
                                     const carom_module *module, char *error, size_t error_size)
{
    carom_error wrong;
    if (module->abi != CAROM_MODULE_ABI) {
        snprintf(error, error_size, "%.200s: made for ABI %u, expected %u", path,
                 (unsigned)module->abi, (unsigned)CAROM_MODULE_ABI);
        return CAROM_ERROR_VERSION;
    }
    if (!is_own(file, base, module)) {
        snprintf(error, error_size,
                 "%.200s: broken: the descriptor's name, source or a callback is not in the file",
                 path);
        return CAROM_ERROR_CORRUPT;
    }
    if (!carom_module_is_valid(module, &wrong)) {
        snprintf(error, error_size, "%.200s: %s: expected %s", path, wrong.field, wrong.expected);
        return CAROM_ERROR_ARGUMENT;
    }
    if (strcmp(module->name, file->name) != 0 || strcmp(module->source, file->source) != 0) {
        snprintf(error, error_size,
                 "%.200s: descriptor, symbol and record name different modules or sources, "
                 "expected what CAROM_MODULE makes",
                 path);
        return CAROM_ERROR_ARGUMENT;
    }
    return CAROM_OK;
}

static void hash_file(const uint8_t *bytes, size_t size, char text[CM_MODULE_HASH_TEXT])
{
    uint8_t hash[(CM_MODULE_HASH_TEXT - 1) / 2];
    cm_crypto_hash(hash, sizeof hash, bytes, size, NULL);
    for (size_t i = 0; i < sizeof hash; i++) {
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    }
}

static carom_result load_bytes(const char *path, const uint8_t *bytes, size_t size,
                               cm_loaded_module *loaded, char *error, size_t error_size)
{
    cm_module_file file;
    char reason[400];
    const struct link_map *map = NULL;
    cm_module_rules rules = cm_module_rules_here();
    memset(loaded, 0, sizeof *loaded);
    carom_result result = cm_module_file_check(bytes, size, &rules, &file, reason, sizeof reason);
    if (result != CAROM_OK) {
        snprintf(error, error_size, "%.200s: %s", path, reason);
    } else {
        CM_ASSERT(cm_crypto_init());
        hash_file(bytes, size, loaded->file_hash);
        result = link_bytes(path, bytes, size, &map, error, error_size);
    }
    if (result != CAROM_OK) {
        return result;
    }
    // It stays linked: a descriptor that was refused is never looked at again.
    const carom_module *module = (const carom_module *)(map->l_addr + (uintptr_t)file.descriptor);
    result = check_descriptor(path, &file, map->l_addr, module, error, error_size);
    loaded->module = result == CAROM_OK ? module : NULL;
    return result;
}

carom_result cm_module_load(const char *path, cm_loaded_module *loaded, char *error,
                            size_t error_size)
{
    uint8_t *bytes;
    size_t size;
    memset(loaded, 0, sizeof *loaded);
    carom_result result = read_file(path, &bytes, &size, error, error_size);
    result = result == CAROM_OK ? load_bytes(path, bytes, size, loaded, error, error_size) : result;
    free(bytes);
    return result;
}

static carom_result add_bytes(const char *path, const uint8_t *bytes, size_t size, char *error,
                              size_t error_size)
{
    cm_loaded_module loaded;
    carom_result result = load_bytes(path, bytes, size, &loaded, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    result = cm_module_add(loaded.module, loaded.file_hash);
    if (result != CAROM_OK) {
        snprintf(error, error_size, "%.200s: module '%s': %s", path, loaded.module->name,
                 result == CAROM_ERROR_STATE  ? "there is one of that name, expected another"
                 : result == CAROM_ERROR_FULL ? "more than 16 modules"
                                              : "without a name, expected one");
    }
    return result;
}

carom_result cm_module_load_bytes(const uint8_t *bytes, size_t size, char *error, size_t error_size)
{
    return add_bytes("module", bytes, size, error, error_size);
}

void cm_module_files_free(cm_module_files *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        free(files->files[i].bytes);
    }
    files->count = 0;
}

static carom_result add_file(const char *path, cm_module_files *kept, char *error,
                             size_t error_size)
{
    uint8_t *bytes;
    size_t size;
    carom_result result = read_file(path, &bytes, &size, error, error_size);
    result = result == CAROM_OK ? add_bytes(path, bytes, size, error, error_size) : result;
    if (result == CAROM_OK && kept != NULL && kept->count < CM_MODULES_MAX) {
        kept->files[kept->count].bytes = bytes;
        kept->files[kept->count++].size = size;
    } else {
        free(bytes);
    }
    return result;
}

carom_result cm_module_load_list(const char *paths, cm_module_files *kept, char *error,
                                 size_t error_size)
{
    carom_result result = CAROM_OK;
    for (const char *at = paths; *at != '\0' && result == CAROM_OK;) {
        char path[PATH_MAX_BYTES];
        size_t length = strcspn(at, ",");
        snprintf(path, sizeof path, "%.*s", (int)(length < sizeof path ? length : sizeof path - 1),
                 at);
        if (length > 0) {
            result = add_file(path, kept, error, error_size);
        }
        at += length + (at[length] == ',');
    }
    return result;
}
