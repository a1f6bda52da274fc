// Header and segments of a shared library, and reading by offset and address. Typical: 7 segments.
#include "server/node/elf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What this machine's libraries look like; others are not served, and every file is refused there
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

bool cm_elf_is_inside(const cm_elf *r, uint64_t offset, uint64_t size)
{
    return offset <= r->size && size <= r->size - offset;
}

bool cm_elf_at(const cm_elf *r, uint64_t offset, void *out, size_t size)
{
    if (!cm_elf_is_inside(r, offset, size)) {
        return false;
    }
    memcpy(out, r->bytes + offset, size);
    return true;
}

// Where mapped bytes lie in the file: `size` of them, all in one segment's file content.
bool cm_elf_find_bytes(const cm_elf *r, uint64_t address, uint64_t size, uint64_t *offset)
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

// The same of what nothing can write to: so a relocation cannot change what was checked.
bool cm_elf_find_constant(const cm_elf *r, uint64_t address, uint64_t size, uint64_t *offset)
{
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        if (s->p_type == PT_LOAD && (s->p_flags & PF_W) != 0 && address < s->p_vaddr + s->p_memsz &&
            s->p_vaddr < address + size) {
            return false;
        }
    }
    return cm_elf_find_bytes(r, address, size, offset);
}

// Whether mapped memory is all in one segment that has these permissions.
bool cm_elf_is_mapped(const cm_elf *r, uint64_t address, uint64_t size, uint32_t permission)
{
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        if (s->p_type == PT_LOAD && (s->p_flags & permission) == permission &&
            address >= s->p_vaddr && address - s->p_vaddr <= s->p_memsz &&
            size <= s->p_memsz - (address - s->p_vaddr)) {
            return true;
        }
    }
    return false;
}

// A string of the string table, or NULL.
const char *cm_elf_string(const cm_elf *r, uint64_t index)
{
    if (index >= r->string_size) {
        return NULL; // the last byte of the table is a NUL
    }
    return (const char *)r->bytes + r->strings + index;
}

// A name of the file for a message: nothing but plain letters reaches a terminal.
const char *cm_elf_printable(const char *name, char text[64])
{
    size_t n = 0;
    for (; name[n] != '\0' && n < 63; n++) {
        text[n] = name[n];
        if (name[n] <= ' ' || name[n] > '~') {
            text[n] = '?';
        }
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
    if (header->e_type != ET_DYN || header->e_version != EV_CURRENT ||
        header->e_ident[EI_VERSION] != EV_CURRENT) {
        return cm_elf_refuse(r, CAROM_ERROR_MAGIC, "ELF type %u, expected a shared library",
                             header->e_type);
    }
    if (header->e_ident[EI_OSABI] != ELFOSABI_NONE) {
        return cm_elf_refuse(
            r, CAROM_ERROR_ARGUMENT,
            "made for another system (OSABI %u), expected no indirect functions and no "
            "unique symbols",
            header->e_ident[EI_OSABI]);
    }
    if (header->e_phentsize != sizeof(cm_elf_segment) || header->e_phnum < 1 ||
        header->e_phnum > CM_ELF_SEGMENTS_MAX ||
        !cm_elf_is_inside(r, header->e_phoff, (uint64_t)header->e_phnum * sizeof(cm_elf_segment))) {
        return cm_elf_corrupt(r, "the table of segments has another form");
    }
    return CAROM_OK;
}

static carom_result check_load(cm_elf *r, const cm_elf_segment *s, uint64_t *end)
{
    uint64_t page = r->page;
    if (s->p_filesz > s->p_memsz || !cm_elf_is_inside(r, s->p_offset, s->p_filesz) ||
        s->p_memsz == 0 || s->p_vaddr > CM_ELF_MEMORY_MAX ||
        s->p_memsz > CM_ELF_MEMORY_MAX - s->p_vaddr) {
        return cm_elf_corrupt(r, "a segment lies outside of the file, or takes more than 64 MiB");
    }
    if (s->p_align < page || (s->p_align & (s->p_align - 1)) != 0 ||
        s->p_align > CM_ELF_MEMORY_MAX || ((s->p_vaddr ^ s->p_offset) & (s->p_align - 1)) != 0) {
        return cm_elf_corrupt(r, "a segment is not aligned to pages");
    }
    // A page belongs to one segment, in ascending order, and the first one begins at 0.
    if ((s->p_vaddr & ~(page - 1)) < *end || (*end == 0 && s->p_vaddr != 0)) {
        return cm_elf_corrupt(r, "segments overlap, or are out of order");
    }
    if ((s->p_flags & PF_R) == 0) {
        return cm_elf_corrupt(r, "a segment that cannot be read");
    }
    if ((s->p_flags & PF_W) != 0 && (s->p_flags & PF_X) != 0) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "code that can be written to, expected none");
    }
    *end = (s->p_vaddr + s->p_memsz + page - 1) & ~(page - 1);
    cm_elf_part *part = &r->parts[r->part_count++];
    part->start = s->p_vaddr;
    part->end = s->p_vaddr + s->p_memsz;
    part->executable = (s->p_flags & PF_X) != 0;
    return CAROM_OK;
}

// The one segment of a kind.
static carom_result take_only(cm_elf *r, const cm_elf_segment *s, cm_elf_segment *out, bool *has)
{
    if (*has) {
        return cm_elf_corrupt(r, "a segment that there may be once is there twice");
    }
    *has = true;
    *out = *s;
    return CAROM_OK;
}

static carom_result check_segment(cm_elf *r, const cm_elf_segment *s, uint64_t *end)
{
    switch (s->p_type) {
    case PT_LOAD:
        return check_load(r, s, end);
    case PT_DYNAMIC:
        return take_only(r, s, &r->dynamic, &r->has_dynamic);
    case PT_GNU_RELRO:
        return take_only(r, s, &r->relro, &r->has_relro);
    case PT_GNU_STACK:
        r->has_stack = true;
        return (s->p_flags & PF_X) == 0
                   ? CAROM_OK
                   : cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "wants an executable stack");
    case PT_TLS:
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "thread-local data, expected none");
    case PT_INTERP:
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "names an interpreter, expected a library");
    case PT_NULL:
    case PT_NOTE:
    case PT_PHDR:
    case PT_GNU_EH_FRAME:
#ifdef PT_GNU_PROPERTY
    case PT_GNU_PROPERTY:
#endif
#if defined(__riscv) || defined(__arm__)
    case PT_LOPROC + 1: // ARM_EXIDX
    case PT_LOPROC + 3: // RISCV_ATTRIBUTES
#endif
        return CAROM_OK;
    default:
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "a segment of unknown type %08x",
                             (unsigned)s->p_type);
    }
}

// RELRO lies within the pages of one writable segment: the linker protects what it names, and that
// must not be its own memory.
static bool relro_is_valid(const cm_elf *r)
{
    uint64_t page = r->page, start = r->relro.p_vaddr, size = r->relro.p_memsz;
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        uint64_t end = (s->p_vaddr + s->p_memsz + page - 1) & ~(page - 1);
        if (s->p_type == PT_LOAD && (s->p_flags & PF_W) != 0 && start >= s->p_vaddr &&
            start < end && size <= end - start) {
            return true;
        }
    }
    return !r->has_relro;
}

// Writable memory is what the dynamic linker makes read-only again: whole pages of RELRO.
static carom_result check_writable(cm_elf *r)
{
    uint64_t page = r->page;
    if (!relro_is_valid(r)) {
        return cm_elf_corrupt(r, "RELRO is not in what is mapped");
    }
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        if (s->p_type != PT_LOAD || (s->p_flags & PF_W) == 0) {
            continue;
        }
        uint64_t first = r->has_relro ? r->relro.p_vaddr & ~(page - 1) : 0;
        uint64_t end = r->has_relro ? (r->relro.p_vaddr + r->relro.p_memsz) & ~(page - 1) : 0;
        if (s->p_vaddr < first || s->p_vaddr + s->p_memsz > end) {
            return cm_elf_refuse(
                r, CAROM_ERROR_ARGUMENT,
                "%llu bytes of data that stay writable, expected none: a module's state "
                "is carom_game_state, not variables of its own",
                (unsigned long long)(s->p_vaddr + s->p_memsz -
                                     (end > s->p_vaddr ? end : s->p_vaddr)));
        }
    }
    return CAROM_OK;
}

static carom_result read_table(cm_elf *r, const cm_elf_header *header)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        cm_elf_segment *s = &r->segments[i];
        (void)cm_elf_at(r, header->e_phoff + (uint64_t)i * sizeof *s, s, sizeof *s);
        r->segment_count++;
        carom_result result = check_segment(r, s, &end);
        if (result != CAROM_OK) {
            return result;
        }
    }
    if (!r->has_dynamic || r->part_count == 0) {
        return cm_elf_corrupt(r, "nothing to link, expected a shared library");
    }
    if (!r->has_stack) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT,
                             "does not say that its stack is not executable (PT_GNU_STACK)");
    }
    // All that the linker, or an unwinder, may read by address lies in what is mapped of the file.
    for (uint32_t i = 0; i < r->segment_count; i++) {
        const cm_elf_segment *s = &r->segments[i];
        uint64_t offset;
        bool is_read = s->p_type != PT_LOAD && s->p_type != PT_NULL && s->p_type != PT_GNU_STACK &&
                       s->p_type < PT_LOPROC && s->p_type != PT_GNU_RELRO;
        if (is_read &&
            (s->p_filesz != s->p_memsz || !cm_elf_find_bytes(r, s->p_vaddr, s->p_filesz, &offset) ||
             offset != s->p_offset)) {
            return cm_elf_corrupt(r, "a segment is not in what is mapped");
        }
        if (s->p_type == PT_PHDR && (s->p_offset != header->e_phoff ||
                                     s->p_filesz != header->e_phnum * sizeof(cm_elf_segment))) {
            return cm_elf_corrupt(r, "the table of segments is not where it says");
        }
    }
    if (!cm_elf_is_mapped(r, r->dynamic.p_vaddr, r->dynamic.p_memsz, PF_W) ||
        r->dynamic.p_vaddr % sizeof(cm_elf_address) != 0) {
        return cm_elf_corrupt(r, "the dynamic section is not where the linker can write to it");
    }
    return check_writable(r);
}

carom_result cm_elf_read_segments(cm_elf *r)
{
    cm_elf_header header;
    carom_result result = read_header(r, &header);
    return result == CAROM_OK ? read_table(r, &header) : result;
}
