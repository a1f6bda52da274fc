// The table of modules, and what makes one fit to be run. Typical: one built in, one from a file.
#include "shared/game/modules.h"

#include <string.h>

static const carom_module module_none = {
    .abi = CAROM_MODULE_ABI,
    .version = 1,
    .name = "",
};

static const carom_module *const modules_built_in[] = {&carom_module_sandbox};

static struct {
    const carom_module *module;
    char file_hash[CM_MODULE_HASH_TEXT];
} added[CM_MODULES_MAX];
static uint32_t added_count;

const carom_module *cm_module_find(const char *name)
{
    if (name[0] == '\0') {
        return &module_none;
    }
    for (size_t i = 0; i < sizeof modules_built_in / sizeof modules_built_in[0]; i++) {
        if (strcmp(modules_built_in[i]->name, name) == 0) {
            return modules_built_in[i];
        }
    }
    for (uint32_t i = 0; i < added_count; i++) {
        if (strcmp(added[i].module->name, name) == 0) {
            return added[i].module;
        }
    }
    return NULL;
}

carom_result cm_module_add(const carom_module *module, const char file_hash[CM_MODULE_HASH_TEXT])
{
    if (!carom_module_is_valid(module, NULL) || module->name[0] == '\0') {
        return CAROM_ERROR_ARGUMENT;
    }
    if (cm_module_find(module->name) != NULL) {
        return CAROM_ERROR_STATE;
    }
    if (added_count == CM_MODULES_MAX) {
        return CAROM_ERROR_FULL;
    }
    added[added_count].module = module;
    memcpy(added[added_count].file_hash, file_hash, CM_MODULE_HASH_TEXT);
    added_count++;
    return CAROM_OK;
}

const char *cm_module_file_hash(const carom_module *module)
{
    for (uint32_t i = 0; i < added_count; i++) {
        if (added[i].module == module) {
            return added[i].file_hash;
        }
    }
    return "";
}

static const char *source_of(const carom_module *module)
{
    return module->source != NULL ? module->source : "";
}

bool cm_module_agrees(const carom_module *module, const char *name, uint32_t version, uint32_t abi,
                      const char *source)
{
    return strcmp(module->name, name) == 0 && module->version == version && module->abi == abi &&
           strcmp(source_of(module), source) == 0;
}

static bool is_source_hash(const char *source)
{
    return source == NULL || source[0] == '\0' ||
           (strlen(source) == CM_MODULE_HASH_TEXT - 1 &&
            strspn(source, "0123456789abcdef") == CM_MODULE_HASH_TEXT - 1);
}

static bool is_module_name(const char *name)
{
    size_t length = name != NULL ? strlen(name) : SIZE_MAX;
    for (size_t i = 0; i < length && length <= CAROM_MODULE_NAME_MAX; i++) {
        bool plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9');
        if (!plain && name[i] != '_') {
            return false;
        }
    }
    return length <= CAROM_MODULE_NAME_MAX;
}

static bool has_buttons_within(const carom_module *module)
{
    for (uint32_t i = module->input_size; i < CAROM_INPUT_MAX; i++) {
        if (module->buttons[i] != 0) {
            return false;
        }
    }
    return true;
}

bool carom_module_is_valid(const carom_module *module, carom_error *error)
{
    const struct {
        bool sound;
        const char *field, *expected;
    } rules[] = {
        {module->abi == CAROM_MODULE_ABI, "abi", "CAROM_MODULE_ABI"},
        {is_module_name(module->name), "name", "at most 31 characters of a-z, 0-9 and _"},
        {is_source_hash(module->source), "source", "NULL, or 64 hexadecimal digits"},
        {module->input_size <= CAROM_INPUT_MAX, "input_size", "at most 64 bytes"},
        {has_buttons_within(module), "buttons", "zeros beyond input_size"},
        {module->state_size <= CAROM_MODULE_STATE_MAX && module->state_size % 4u == 0, "state_size",
         "a multiple of 4, at most 65536 bytes"},
        {module->public_size <= CAROM_MODULE_PUBLIC_MAX && module->public_size % 4u == 0,
         "public_size", "a multiple of 4, at most 1024 bytes"},
        {module->public_size <= module->state_size, "public_size", "at most state_size"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].sound) {
            if (error != NULL) {
                *error = (carom_error){CAROM_ERROR_ARGUMENT, rules[i].field, rules[i].expected,
                                       CAROM_NO_SHAPE};
            }
            return false;
        }
    }
    return true;
}

bool carom_module_suits(const carom_module *module, carom_solver_type solver, carom_error *error)
{
    bool suits = module->forces == NULL || solver == CAROM_SOLVER_LCP;
    if (!suits && error != NULL) {
        *error =
            (carom_error){CAROM_ERROR_STATE, "forces", "a world of the lcp solver", CAROM_NO_SHAPE};
    }
    return suits;
}
