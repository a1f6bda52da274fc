// Header, segments and dynamic section of a shared library.
#include "server/node/elf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The form of this machine's libraries; others are not served, and every file is refused there
// (s390x: its hash tables have another width).
#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE EM_RISCV
#elif defined(__i386__)
#define MACHINE EM_386
#elif defined(__arm__)
#define MACHINE EM_ARM
#else
#define MACHINE EM_NONE
#endif

#define CLASS (sizeof(cm_elf_address) == 8 ? ELFCLASS64 : ELFCLASS32)
#define DATA  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

carom_result cm_elf_refuse(cm_elf *r, carom_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error, r->error_size, format, arguments);
    va_end(arguments);
    return result;
}

carom_result cm_elf_corrupt(cm_elf *r, const char *what)
{
    return cm_elf_refuse(r, CAROM_ERROR_CORRUPT, "broken: %s", what);
}

// Reading -------------------------------------------------------------------------------------

static bool is_inside(const cm_elf *r, uint64_t offset, uint64_t size)
{
    return offset <= r->size && size <= r->size - offset;
}

bool cm_elf_at(const cm_elf *r, uint64_t offset, void *out, size_t size)
{
    if (!is_inside(r, offset, size)) {
        return false;
    }
    memcpy(out, r->bytes + offset, size);
    return true;
}

// Finds mapped bytes in the file: `size` of them, all in one segment's file content.
static bool find_bytes(const cm_elf *r, uint64_t address, uint64_t size, uint64_t *offset)
{
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr <= s->p_filesz &&
            size <= s->p_filesz - (address - s->p_vaddr)) {
            *offset = s->p_offset + (address - s->p_vaddr);
            return true;
        }
    }
    return false;
}

bool cm_elf_is_mapped(const cm_elf *r, uint64_t address, uint64_t size)
{
    for (uint32_t i = 0; i < r->part_count; i++) {
        if (address >= r->parts[i].start && address <= r->parts[i].end &&
            size <= r->parts[i].end - address) {
            return true;
        }
    }
    return false;
}

const char *cm_elf_string(const cm_elf *r, uint64_t index)
{
    return index < r->string_size ? (const char *)r->bytes + r->strings + index : NULL;
}

const char *cm_elf_printable(const char *name, char text[64])
{
    size_t n = 0;
    for (; name[n] != '\0' && n < 63; n++) {
        text[n] = name[n] <= ' ' || name[n] > '~' ? '?' : name[n];
    }
    text[n] = '\0';
    return text;
}

// Header and segments -------------------------------------------------------------------------

static carom_result read_header(cm_elf *r, cm_elf_header *header)
{
    if (!cm_elf_at(r, 0, header, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
        return cm_elf_refuse(r, CAROM_ERROR_MAGIC, "not an ELF file, expected a shared library");
    }
    if (header->e_ident[EI_CLASS] != CLASS || header->e_ident[EI_DATA] != DATA ||
        header->e_machine != MACHINE || MACHINE == EM_NONE) {
        return cm_elf_refuse(
            r, CAROM_ERROR_MAGIC,
            "made for another machine (class %u, order %u, machine %u), expected this "
            "server's",
            header->e_ident[EI_CLASS], header->e_ident[EI_DATA], header->e_machine);
    }
    if (header->e_type != ET_DYN) {
        return cm_elf_refuse(r, CAROM_ERROR_MAGIC, "ELF type %u, expected a shared library",
                             header->e_type);
    }
    // Linkers mark a file so that has indirect functions, which run as it is linked.
    if (header->e_ident[EI_OSABI] != ELFOSABI_NONE) {
        return cm_elf_refuse(
            r, CAROM_ERROR_ARGUMENT,
            "made for another system (OSABI %u), expected no indirect functions and no "
            "unique symbols",
            header->e_ident[EI_OSABI]);
    }
    if (header->e_phentsize != sizeof(cm_elf_segment) || header->e_phnum > CM_ELF_SEGMENTS_MAX ||
        !is_inside(r, header->e_phoff, (uint64_t)header->e_phnum * sizeof(cm_elf_segment))) {
        return cm_elf_corrupt(r, "the table of segments has another form");
    }
    return CAROM_OK;
}

static carom_result add_part(cm_elf *r, const cm_elf_segment *s)
{
    if (s->p_filesz > s->p_memsz || !is_inside(r, s->p_offset, s->p_filesz) ||
        s->p_vaddr > CM_ELF_MEMORY_MAX || s->p_memsz > CM_ELF_MEMORY_MAX - s->p_vaddr) {
        return cm_elf_corrupt(r, "a segment lies outside of the file, or takes more than 64 MiB");
    }
    if ((s->p_flags & PF_W) != 0 && (s->p_flags & PF_X) != 0) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "code that can be written to, expected none");
    }
    r->parts[r->part_count++] = (cm_elf_part){.start = s->p_vaddr,
                                              .end = s->p_vaddr + s->p_memsz,
                                              .executable = (s->p_flags & PF_X) != 0};
    return CAROM_OK;
}

static const cm_elf_segment *find_segment(const cm_elf *r, uint32_t type)
{
    for (uint32_t i = 0; i < r->segment_count; i++) {
        if (r->segments[i].p_type == type) {
            return &r->segments[i];
        }
    }
    return NULL;
}

// Memory stays writable that the dynamic linker does not protect again: whole pages of RELRO.
static carom_result check_writable(cm_elf *r)
{
    const cm_elf_segment *relro = find_segment(r, PT_GNU_RELRO);
    uint64_t mask = ~(r->page - 1);
    uint64_t first = relro != NULL ? relro->p_vaddr & mask : 0;
    uint64_t end = relro != NULL ? (relro->p_vaddr + relro->p_memsz) & mask : 0;
    bool is_own = relro == NULL; // else the linker would protect memory of others
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        uint64_t segment_end = s->p_vaddr + s->p_memsz;
        if (s->p_type != PT_LOAD || (s->p_flags & PF_W) == 0) {
            continue;
        }
        is_own = is_own || (relro->p_vaddr >= s->p_vaddr && relro->p_vaddr <= segment_end &&
                            end <= ((segment_end + r->page - 1) & mask));
        if (s->p_vaddr < first || segment_end > end) {
            return cm_elf_refuse(
                r, CAROM_ERROR_ARGUMENT,
                "%llu bytes of data that stay writable, expected none: a module's state "
                "is carom_game_state, not variables of its own",
                (unsigned long long)(segment_end - (end > s->p_vaddr ? end : s->p_vaddr)));
        }
    }
    return is_own ? CAROM_OK : cm_elf_corrupt(r, "RELRO is not in what is mapped");
}

static carom_result read_segments(cm_elf *r, const cm_elf_header *header)
{
    carom_result result = CAROM_OK;
    for (uint32_t i = 0; i < header->e_phnum && result == CAROM_OK; i++) {
        cm_elf_segment *s = &r->segments[i];
        (void)cm_elf_at(r, header->e_phoff + (uint64_t)i * sizeof *s, s, sizeof *s);
        r->segment_count++;
        if (s->p_type == PT_LOAD) {
            result = add_part(r, s);
        } else if (s->p_type == PT_TLS) {
            result = cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "thread-local data, expected none");
        } else if (s->p_type == PT_GNU_RELRO && find_segment(r, PT_GNU_RELRO) != s) {
            result = cm_elf_corrupt(r, "RELRO is there twice");
        }
    }
    const cm_elf_segment *stack = find_segment(r, PT_GNU_STACK);
    if (result == CAROM_OK && (stack == NULL || (stack->p_flags & PF_X) != 0)) {
        result = cm_elf_refuse(r, CAROM_ERROR_ARGUMENT,
                               "wants an executable stack, expected -Wl,-z,noexecstack");
    }
    return result == CAROM_OK ? check_writable(r) : result;
}

// Dynamic section -----------------------------------------------------------------------------

static const int64_t ALLOWED[] = {DT_STRTAB,   DT_STRSZ,   DT_SYMTAB,   DT_SYMENT,  DT_HASH,
                                  DT_RELA,     DT_RELASZ,  DT_RELAENT,  DT_REL,     DT_RELACOUNT,
                                  DT_RELSZ,    DT_RELENT,  DT_RELCOUNT, DT_JMPREL,  DT_PLTREL,
                                  DT_PLTRELSZ, DT_PLTGOT,  DT_FLAGS,    DT_FLAGS_1, DT_BIND_NOW,
                                  DT_SONAME,   DT_SYMBOLIC};

static const struct {
    int64_t tag;
    const char *why;
} REFUSED[] = {
    {DT_NEEDED, "needs a library, expected -nostdlib"},
    {DT_INIT, "a constructor, expected none"},
    {DT_INIT_ARRAY, "constructors, expected none"},
    {DT_INIT_ARRAYSZ, "constructors, expected none"},
    {DT_PREINIT_ARRAY, "constructors, expected none"},
    {DT_FINI, "a destructor, expected none"},
    {DT_FINI_ARRAY, "destructors, expected none"},
    {DT_FINI_ARRAYSZ, "destructors, expected none"},
    {DT_TEXTREL, "relocations of code, expected -fPIC"},
    {DT_GNU_HASH, "a hash table of another kind, expected -Wl,--hash-style=sysv"},
};

static carom_result check_tag(cm_elf *r, int64_t tag)
{
    for (size_t i = 0; i < sizeof ALLOWED / sizeof ALLOWED[0]; i++) {
        if (tag == ALLOWED[i]) {
            return CAROM_OK;
        }
    }
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        if (tag == REFUSED[i].tag) {
            return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "%s", REFUSED[i].why);
        }
    }
    return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "an unknown dynamic tag %08llx",
                         (unsigned long long)tag);
}

static bool tag_at(const cm_elf *r, uint64_t index, cm_elf_tag *tag)
{
    const cm_elf_segment *section = find_segment(r, PT_DYNAMIC);
    return section != NULL && index < section->p_filesz / sizeof *tag &&
           cm_elf_at(r, section->p_offset + index * sizeof *tag, tag, sizeof *tag);
}

// 0 where the tag is not there.
static uint64_t value_of(const cm_elf *r, int64_t wanted)
{
    cm_elf_tag tag;
    uint64_t value = 0;
    for (uint64_t i = 0; tag_at(r, i, &tag) && tag.d_tag != DT_NULL; i++) {
        value = (int64_t)tag.d_tag == wanted ? tag.d_un.d_val : value;
    }
    return value;
}

static carom_result check_tags(cm_elf *r)
{
    cm_elf_tag tag = {.d_tag = 1};
    carom_result result = CAROM_OK;
    bool binds_now =
        ((value_of(r, DT_FLAGS) & DF_BIND_NOW) | (value_of(r, DT_FLAGS_1) & DF_1_NOW)) != 0;
    for (uint64_t i = 0; result == CAROM_OK && tag.d_tag != DT_NULL; i++) {
        if (!tag_at(r, i, &tag)) {
            return cm_elf_corrupt(r, "the dynamic section has no end");
        }
        binds_now = binds_now || tag.d_tag == DT_BIND_NOW;
        result = tag.d_tag == DT_NULL ? CAROM_OK : check_tag(r, (int64_t)tag.d_tag);
    }
    if (result == CAROM_OK && (value_of(r, DT_FLAGS) & DF_TEXTREL) != 0) {
        result = cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "relocations of code, expected -fPIC");
    }
    if (result == CAROM_OK && !binds_now) {
        result =
            cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "binds its imports late, expected -Wl,-z,now");
    }
    return result;
}

// Strings and symbols, whose number the hash table says.
static carom_result find_symbols(cm_elf *r)
{
    uint32_t counts[2]; // buckets, symbols
    uint64_t hash;
    r->string_size = value_of(r, DT_STRSZ);
    if (r->string_size == 0 ||
        !find_bytes(r, value_of(r, DT_STRTAB), r->string_size, &r->strings) ||
        r->bytes[r->strings + r->string_size - 1] != '\0') {
        return cm_elf_corrupt(r, "the strings are cut off");
    }
    if (!find_bytes(r, value_of(r, DT_HASH), sizeof counts, &hash) ||
        !cm_elf_at(r, hash, counts, sizeof counts) || counts[1] > CM_ELF_SYMBOLS_MAX) {
        return cm_elf_corrupt(r, "the hash table is cut off, or holds more than 4096 symbols, "
                                 "expected -Wl,--hash-style=sysv");
    }
    r->symbol_count = counts[1];
    if (!find_bytes(r, value_of(r, DT_SYMTAB), counts[1] * sizeof(cm_elf_symbol), &r->symbols)) {
        return cm_elf_corrupt(r, "the symbols are cut off");
    }
    return CAROM_OK;
}

carom_result cm_elf_read(cm_elf *r)
{
    cm_elf_header header;
    carom_result result = read_header(r, &header);
    if (result == CAROM_OK) {
        result = read_segments(r, &header);
    }
    if (result == CAROM_OK) {
        result = check_tags(r);
    }
    return result == CAROM_OK ? find_symbols(r) : result;
}
