// A shared library's ELF file, read with the dynamic linker's eyes: program headers and the dynamic
// section count, section headers do not. The linker trusts what it loads, and dies of what lies; so
// whatever it will follow is checked here first: every offset, count and string is inside the file,
// what is checked cannot be written to by a relocation, and nothing of it is needed twice.
//
// Native files only: class, byte order and machine are this process's. Each stage uses only what an
// earlier one has checked: segments, dynamic section, then (module_file.c) notes and symbols, and
// relocations.
#ifndef CM_SERVER_NODE_ELF_H
#define CM_SERVER_NODE_ELF_H

#include <elf.h>
#include <link.h>

#include "carom/types.h"

#define CM_ELF_SEGMENTS_MAX 32u
#define CM_ELF_SYMBOLS_MAX  4096u
#define CM_ELF_MEMORY_MAX   (64u << 20) // bytes that it may take once mapped

typedef ElfW(Ehdr) cm_elf_header;
typedef ElfW(Phdr) cm_elf_segment;
typedef ElfW(Dyn) cm_elf_tag;
typedef ElfW(Sym) cm_elf_symbol;
typedef ElfW(Addr) cm_elf_address;

// Tags of the dynamic section that a module may have, and what they hold here.
typedef enum cm_elf_tag_kind {
    CM_ELF_STRTAB,
    CM_ELF_STRSZ,
    CM_ELF_SYMTAB,
    CM_ELF_SYMENT,
    CM_ELF_HASH,
    CM_ELF_RELA,
    CM_ELF_RELASZ,
    CM_ELF_RELAENT,
    CM_ELF_RELACOUNT,
    CM_ELF_REL,
    CM_ELF_RELSZ,
    CM_ELF_RELENT,
    CM_ELF_RELCOUNT,
    CM_ELF_JMPREL,
    CM_ELF_PLTRELSZ,
    CM_ELF_PLTREL,
    CM_ELF_PLTGOT,
    CM_ELF_FLAGS,
    CM_ELF_FLAGS_1,
    CM_ELF_SONAME,
    CM_ELF_BIND_NOW,
    CM_ELF_TAGS
} cm_elf_tag_kind;

// A part of a mapped library, relative to where it is mapped.
typedef struct cm_elf_part {
    uint64_t start, end; // end is the first byte after it
    bool executable;
} cm_elf_part;

typedef struct cm_elf {
    const uint8_t *bytes;
    size_t size;
    uint64_t page; // of this machine's memory: a power of two
    char *error;   // why it was refused, for people
    size_t error_size;
    cm_elf_segment segments[CM_ELF_SEGMENTS_MAX];
    uint32_t segment_count;
    cm_elf_part parts[CM_ELF_SEGMENTS_MAX];
    uint32_t part_count;
    cm_elf_segment dynamic, relro;
    bool has_dynamic, has_relro, has_stack;
    uint64_t tags[CM_ELF_TAGS];
    bool has[CM_ELF_TAGS];
    uint64_t strings, string_size;  // offset in the file
    uint64_t symbols, symbol_count; // likewise
} cm_elf;

// Both write the reason and give back the result; corrupt: CAROM_ERROR_CORRUPT.
carom_result cm_elf_refuse(cm_elf *r, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
carom_result cm_elf_corrupt(cm_elf *r, const char *what);

// Bytes of the file; false where it has not so many.
bool cm_elf_is_inside(const cm_elf *r, uint64_t offset, uint64_t size);
bool cm_elf_at(const cm_elf *r, uint64_t offset, void *out, size_t size);
// Where mapped bytes lie in the file: all in one segment's content. Constant: nothing can write to
// them, so that a relocation cannot change what was checked.
bool cm_elf_find_bytes(const cm_elf *r, uint64_t address, uint64_t size, uint64_t *offset);
bool cm_elf_find_constant(const cm_elf *r, uint64_t address, uint64_t size, uint64_t *offset);
// Whether mapped memory is all in one segment that has these permissions.
bool cm_elf_is_mapped(const cm_elf *r, uint64_t address, uint64_t size, uint32_t permission);
// A string of the string table, or NULL.
const char *cm_elf_string(const cm_elf *r, uint64_t index);
// A name of the file for a message: nothing but plain letters reaches a terminal.
const char *cm_elf_printable(const char *name, char text[64]);

// The stages, in this order.
carom_result cm_elf_read_segments(cm_elf *r);
carom_result cm_elf_read_dynamic(cm_elf *r);
carom_result cm_elf_check_relocations(cm_elf *r);

#endif
