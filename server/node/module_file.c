// Checks that a shared library is a game module: the record of its build (a note), its imports, and
// its one descriptor. The form of the file is elf.h's matter. Typical: 20 imports.
#include "server/node/module_file.h"

#include <stdio.h>
#include <string.h>

#include "shared/game/imports.h"

#define NOTE_OWNER    "Carom" // of the record: type 1, text "SOURCE_HASH FLAG FLAG …"
#define NOTE_TYPE     1u
#define NOTE_TEXT_MAX 2048u

typedef struct checker {
    cm_elf elf;
    const cm_module_rules *rules;
    cm_module_file *file;
} checker;

// Notes ---------------------------------------------------------------------------------------

static carom_result missing_flag(checker *c, const char *text)
{
    for (const char *flag = c->rules->flags; *flag != '\0';) {
        size_t length = strcspn(flag, " ");
        bool found = length == 0;
        for (const char *word = text; !found && *word != '\0';) {
            size_t n = strcspn(word, " ");
            found = n == length && memcmp(word, flag, n) == 0;
            word += n + strspn(word + n, " ");
        }
        if (!found) {
            return cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT,
                                 "built without %.*s, expected the flags of "
                                 "'pkg-config --variable=determinism carom-sim'",
                                 (int)(length < 60 ? length : 60), flag);
        }
        flag += length + strspn(flag + length, " ");
    }
    return CAROM_OK;
}

static carom_result read_record(checker *c, uint64_t offset, uint64_t size, bool *has)
{
    char text[NOTE_TEXT_MAX];
    if (*has) {
        return cm_elf_corrupt(&c->elf, "two records of the build");
    }
    *has = true;
    if (size >= sizeof text || !cm_elf_at(&c->elf, offset, text, (size_t)size)) {
        return cm_elf_corrupt(&c->elf, "the record of the build is too long");
    }
    text[size] = '\0';
    if (strlen(text) < 64 || strspn(text, "0123456789abcdef") != 64 ||
        (text[64] != ' ' && text[64] != '\0')) {
        return cm_elf_refuse(
            &c->elf, CAROM_ERROR_ARGUMENT,
            "the record of the build has no source hash, expected 64 hexadecimal digits");
    }
    memcpy(c->file->source, text, 64);
    c->file->source[64] = '\0';
    return missing_flag(c, text + 64);
}

static uint64_t padded(uint64_t size, uint64_t align)
{
    return (size + align - 1) & ~(align - 1);
}

static carom_result read_notes(checker *c)
{
    bool has = false;
    for (uint32_t i = 0; i < c->elf.segment_count; i++) {
        const cm_elf_segment *s = &c->elf.segments[i];
        if (s->p_type != PT_NOTE) {
            continue;
        }
        uint64_t align = s->p_align == 8 ? 8 : 4;
        uint64_t end = s->p_offset + s->p_filesz;
        for (uint64_t offset = s->p_offset; offset < end;) {
            uint32_t head[3]; // sizes of name and text, type
            char owner[sizeof NOTE_OWNER] = "";
            if (end - offset < sizeof head || !cm_elf_at(&c->elf, offset, head, sizeof head)) {
                return cm_elf_corrupt(&c->elf, "a note is cut off");
            }
            uint64_t text = offset + padded(sizeof head + (uint64_t)head[0], align);
            uint64_t next = offset + padded(text - offset + (uint64_t)head[1], align);
            if (text + head[1] > end) {
                return cm_elf_corrupt(&c->elf, "a note is cut off");
            }
            if (head[2] == NOTE_TYPE && head[0] == sizeof owner &&
                cm_elf_at(&c->elf, offset + sizeof head, owner, sizeof owner) &&
                memcmp(owner, NOTE_OWNER, sizeof owner) == 0) {
                carom_result result = read_record(c, text, head[1], &has);
                if (result != CAROM_OK) {
                    return result;
                }
            }
            offset = next;
        }
    }
    return has ? CAROM_OK
               : cm_elf_refuse(
                     &c->elf, CAROM_ERROR_ARGUMENT,
                     "no record of how it was built, expected CAROM_MODULE of carom/module.h, and "
                     "the Makefile that 'carom module new' writes");
}

// Symbols -------------------------------------------------------------------------------------

static carom_result check_import(checker *c, const char *name)
{
    char text[64];
    const char *why;
    if (!cm_module_may_import(name, &why)) {
        return cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT, "imports %s: %s",
                             cm_elf_printable(name, text), why);
    }
    return CAROM_OK;
}

static carom_result read_descriptor(checker *c, const cm_elf_symbol *symbol, const char *name)
{
    const char *own = name + strlen(CM_MODULE_PREFIX);
    char text[64];
    if (c->file->name[0] != '\0') {
        return cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT,
                             "two descriptors, " CM_MODULE_PREFIX "%s and %s", c->file->name,
                             cm_elf_printable(name, text));
    }
    if (own[0] == '\0' || strlen(own) >= sizeof c->file->name ||
        strspn(own, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(own)) {
        return cm_elf_refuse(
            &c->elf, CAROM_ERROR_ARGUMENT,
            "%s: expected at most 31 characters of a-z, 0-9, _ after " CM_MODULE_PREFIX,
            cm_elf_printable(name, text));
    }
    if (ELF32_ST_TYPE(symbol->st_info) != STT_OBJECT ||
        symbol->st_size != c->rules->descriptor_size ||
        symbol->st_value % sizeof(cm_elf_address) != 0 ||
        !cm_elf_is_mapped(&c->elf, symbol->st_value, symbol->st_size)) {
        return cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT,
                             "%s has %llu bytes, expected a carom_module of %llu (another ABI?)",
                             cm_elf_printable(name, text), (unsigned long long)symbol->st_size,
                             (unsigned long long)c->rules->descriptor_size);
    }
    strcpy(c->file->name, own);
    c->file->descriptor = symbol->st_value;
    return CAROM_OK;
}

static carom_result check_symbols(checker *c)
{
    for (uint64_t i = 1; i < c->elf.symbol_count; i++) {
        cm_elf_symbol symbol;
        char text[64];
        (void)cm_elf_at(&c->elf, c->elf.symbols + i * sizeof symbol, &symbol, sizeof symbol);
        const char *name = cm_elf_string(&c->elf, symbol.st_name);
        uint32_t type = ELF32_ST_TYPE(symbol.st_info), binding = ELF32_ST_BIND(symbol.st_info);
        if (name == NULL) {
            return cm_elf_corrupt(&c->elf, "a symbol's name is cut off");
        }
        if (type == STT_GNU_IFUNC) {
            return cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT,
                                 "%s is an indirect function, expected none",
                                 cm_elf_printable(name, text));
        }
        if (type == STT_TLS) {
            return cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT, "%s is thread-local, expected none",
                                 cm_elf_printable(name, text));
        }
        carom_result result = CAROM_OK;
        if (symbol.st_shndx == SHN_UNDEF && binding != STB_LOCAL) {
            result = check_import(c, name);
        } else if (binding != STB_LOCAL &&
                   strncmp(name, CM_MODULE_PREFIX, strlen(CM_MODULE_PREFIX)) == 0) {
            result = read_descriptor(c, &symbol, name);
        }
        if (result != CAROM_OK) {
            return result;
        }
    }
    return c->file->name[0] != '\0'
               ? CAROM_OK
               : cm_elf_refuse(&c->elf, CAROM_ERROR_ARGUMENT,
                               "exports no descriptor, expected one carom_module, " CM_MODULE_PREFIX
                               "NAME");
}

carom_result cm_module_file_check(const uint8_t *bytes, size_t size, const cm_module_rules *rules,
                                  cm_module_file *file, char *error, size_t error_size)
{
    checker c = {.elf = {.bytes = bytes,
                         .size = size,
                         .page = rules->page,
                         .error = error,
                         .error_size = error_size},
                 .rules = rules,
                 .file = file};
    memset(file, 0, sizeof *file);
    carom_result result = cm_elf_read(&c.elf);
    if (result == CAROM_OK) {
        result = read_notes(&c);
    }
    if (result == CAROM_OK) {
        result = check_symbols(&c);
    }
    memcpy(file->parts, c.elf.parts, sizeof file->parts);
    file->part_count = c.elf.part_count;
    return result;
}
