// A shared library's ELF file, as far as rollback asks: what it imports, what runs when it is
// linked, and what of it can be written to. Only program headers and the dynamic section are read,
// as the dynamic linker does. Every offset that this reader follows is inside the file; whether the
// linker can follow the rest is found out by a forked trial (module_loader.h).
//
// Native files only: class, byte order and machine are this process's. Typical: 7 segments, 16
// tags, 30 symbols.
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
    uint64_t strings, string_size;  // offset in the file
    uint64_t symbols, symbol_count; // likewise
} cm_elf;

// Reads header, segments and dynamic section, and refuses what breaks a rule of module_file.h.
carom_result cm_elf_read(cm_elf *r);

// Both write the reason and return the result; corrupt: CAROM_ERROR_CORRUPT.
carom_result cm_elf_refuse(cm_elf *r, carom_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
carom_result cm_elf_corrupt(cm_elf *r, const char *what);

// Bytes of the file; false where it has not so many.
bool cm_elf_at(const cm_elf *r, uint64_t offset, void *out, size_t size);
// True if mapped memory is all in one part.
bool cm_elf_is_mapped(const cm_elf *r, uint64_t address, uint64_t size);
// A string of the string table, or NULL.
const char *cm_elf_string(const cm_elf *r, uint64_t index);
// A name of the file for a message: nothing but plain letters reaches a terminal.
const char *cm_elf_printable(const char *name, char text[64]);

#endif
