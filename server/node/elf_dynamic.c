// The dynamic section of a shared library: its tags, string, symbol and hash tables, relocations.
// Typical: 16 tags, 30 symbols, 40 relocations.
#include "server/node/elf.h"

#include <string.h>

// What this machine's modules look like. s390x has hash tables of another width, and others are not
// served: there every file is refused.
#if defined(__x86_64__)
#define KIND        DT_RELA
#define IS_RELATIVE R_X86_64_RELATIVE
#define IS_SYMBOLIC(type)                                                                          \
    ((type) == R_X86_64_64 || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_JUMP_SLOT)
#elif defined(__aarch64__)
#define KIND        DT_RELA
#define IS_RELATIVE R_AARCH64_RELATIVE
#define IS_SYMBOLIC(type)                                                                          \
    ((type) == R_AARCH64_ABS64 || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_JUMP_SLOT)
#elif defined(__riscv) && __riscv_xlen == 64
#define KIND              DT_RELA
#define IS_RELATIVE       R_RISCV_RELATIVE
#define IS_SYMBOLIC(type) ((type) == R_RISCV_64 || (type) == R_RISCV_JUMP_SLOT)
#elif defined(__i386__)
#define KIND        DT_REL
#define IS_RELATIVE R_386_RELATIVE
#define IS_SYMBOLIC(type)                                                                          \
    ((type) == R_386_32 || (type) == R_386_GLOB_DAT || (type) == R_386_JMP_SLOT)
#elif defined(__arm__)
#define KIND        DT_REL
#define IS_RELATIVE R_ARM_RELATIVE
#define IS_SYMBOLIC(type)                                                                          \
    ((type) == R_ARM_ABS32 || (type) == R_ARM_GLOB_DAT || (type) == R_ARM_JUMP_SLOT)
#else
#define KIND              DT_RELA
#define IS_RELATIVE       UINT32_MAX
#define IS_SYMBOLIC(type) false
#endif

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_OF(info)  ((uint64_t)(info) >> 32)
#define RELOC_TYPE(info) ((uint32_t)(info))
#else
#define SYMBOL_OF(info)  ((uint64_t)(info) >> 8)
#define RELOC_TYPE(info) ((uint32_t)(info)&0xffu)
#endif

// Dynamic section -----------------------------------------------------------------------------

static int tag_of(const cm_elf_tag *tag)
{
    static const struct {
        int64_t tag;
        int kind;
    } known[] = {{DT_STRTAB, CM_ELF_STRTAB},    {DT_STRSZ, CM_ELF_STRSZ},
                 {DT_SYMTAB, CM_ELF_SYMTAB},    {DT_SYMENT, CM_ELF_SYMENT},
                 {DT_HASH, CM_ELF_HASH},        {DT_RELA, CM_ELF_RELA},
                 {DT_RELASZ, CM_ELF_RELASZ},    {DT_RELAENT, CM_ELF_RELAENT},
                 {DT_REL, CM_ELF_REL},          {DT_RELSZ, CM_ELF_RELSZ},
                 {DT_RELENT, CM_ELF_RELENT},    {DT_JMPREL, CM_ELF_JMPREL},
                 {DT_PLTREL, CM_ELF_PLTREL},    {DT_PLTRELSZ, CM_ELF_PLTRELSZ},
                 {DT_PLTGOT, CM_ELF_PLTGOT},    {DT_FLAGS, CM_ELF_FLAGS},
                 {DT_FLAGS_1, CM_ELF_FLAGS_1},  {DT_RELACOUNT, CM_ELF_RELACOUNT},
                 {DT_SONAME, CM_ELF_SONAME},    {DT_BIND_NOW, CM_ELF_BIND_NOW},
                 {DT_RELCOUNT, CM_ELF_RELCOUNT}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((int64_t)tag->d_tag == known[i].tag) {
            return known[i].kind;
        }
    }
    return CM_ELF_TAGS;
}

static carom_result refuse_tag(cm_elf *r, const cm_elf_tag *tag)
{
    static const struct {
        int64_t tag;
        const char *what;
    } known[] = {
        {DT_NEEDED, "needs a library, expected -nostdlib"},
        {DT_INIT, "a constructor, expected none"},
        {DT_INIT_ARRAY, "constructors, expected none"},
        {DT_INIT_ARRAYSZ, "constructors, expected none"},
        {DT_PREINIT_ARRAY, "constructors, expected none"},
        {DT_FINI, "a destructor, expected none"},
        {DT_FINI_ARRAY, "destructors, expected none"},
        {DT_FINI_ARRAYSZ, "destructors, expected none"},
        {DT_TEXTREL, "relocations of code, expected -fPIC"},
        {DT_RPATH, "a path of libraries, expected none"},
        {DT_RUNPATH, "a path of libraries, expected none"},
        {DT_GNU_HASH, "a hash table of another kind, expected -Wl,--hash-style=sysv"},
        {DT_VERNEED, "versions of libraries' symbols, expected -nostdlib"},
        {DT_VERSYM, "versions of symbols, expected none"},
        {DT_VERDEF, "versions of symbols, expected none"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((int64_t)tag->d_tag == known[i].tag) {
            return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "%s", known[i].what);
        }
    }
    return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "an unknown dynamic tag %08llx",
                         (unsigned long long)tag->d_tag);
}

static carom_result check_flags(cm_elf *r)
{
    uint64_t flags = r->has[CM_ELF_FLAGS] ? r->tags[CM_ELF_FLAGS] : 0;
    uint64_t flags_1 = r->has[CM_ELF_FLAGS_1] ? r->tags[CM_ELF_FLAGS_1] : 0;
    if ((flags & DF_TEXTREL) != 0) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "relocations of code, expected -fPIC");
    }
    if ((flags & DF_STATIC_TLS) != 0) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT, "thread-local data, expected none");
    }
    if ((flags & ~(uint64_t)(DF_BIND_NOW | DF_SYMBOLIC)) != 0 ||
        (flags_1 & ~(uint64_t)DF_1_NOW) != 0) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT,
                             "dynamic flags %llx and %llx, expected now alone",
                             (unsigned long long)flags, (unsigned long long)flags_1);
    }
    if ((flags & DF_BIND_NOW) == 0 && (flags_1 & DF_1_NOW) == 0 && !r->has[CM_ELF_BIND_NOW]) {
        return cm_elf_refuse(r, CAROM_ERROR_ARGUMENT,
                             "binds its imports late, expected -Wl,-z,now");
    }
    return CAROM_OK;
}

static carom_result read_tags(cm_elf *r)
{
    uint64_t count = r->dynamic.p_filesz / sizeof(cm_elf_tag);
    bool ended = false;
    for (uint64_t i = 0; i < count && !ended; i++) {
        cm_elf_tag tag;
        if (!cm_elf_at(r, r->dynamic.p_offset + i * sizeof tag, &tag, sizeof tag)) {
            return cm_elf_corrupt(r, "the dynamic section is cut off");
        }
        if (tag.d_tag == DT_NULL) {
            ended = true;
        } else if (tag.d_tag != DT_SYMBOLIC) {
            int kind = tag_of(&tag);
            if (kind == CM_ELF_TAGS) {
                return refuse_tag(r, &tag);
            }
            if (r->has[kind]) {
                return cm_elf_corrupt(r, "a dynamic tag is there twice");
            }
            r->has[kind] = true;
            r->tags[kind] = tag.d_un.d_val;
        }
    }
    if (!ended) {
        return cm_elf_corrupt(r, "the dynamic section has no end");
    }
    return check_flags(r);
}

// Strings and symbols: their tables, and how many symbols the hash table tells.
static carom_result find_symbols(cm_elf *r)
{
    uint32_t counts[2];
    uint64_t hash;
    if (r->tags[CM_ELF_HASH] % 4 != 0 || r->tags[CM_ELF_SYMTAB] % sizeof(cm_elf_address) != 0) {
        return cm_elf_corrupt(r, "the symbols are not aligned");
    }
    if (!r->has[CM_ELF_STRTAB] || !r->has[CM_ELF_STRSZ] || !r->has[CM_ELF_SYMTAB] ||
        !r->has[CM_ELF_SYMENT] || !r->has[CM_ELF_HASH]) {
        return cm_elf_corrupt(r, "no symbols, expected strings, symbols and -Wl,--hash-style=sysv");
    }
    r->string_size = r->tags[CM_ELF_STRSZ];
    if (r->string_size == 0 ||
        !cm_elf_find_constant(r, r->tags[CM_ELF_STRTAB], r->string_size, &r->strings) ||
        r->bytes[r->strings + r->string_size - 1] != '\0') {
        return cm_elf_corrupt(r, "the strings are cut off");
    }
    if (!cm_elf_find_constant(r, r->tags[CM_ELF_HASH], sizeof counts, &hash) ||
        !cm_elf_at(r, hash, counts, sizeof counts) || counts[0] == 0 ||
        counts[0] > CM_ELF_SYMBOLS_MAX || counts[1] == 0 || counts[1] > CM_ELF_SYMBOLS_MAX) {
        return cm_elf_corrupt(r, "the hash table is cut off, or holds more than 4096 symbols");
    }
    uint64_t words = (uint64_t)counts[0] + counts[1];
    r->symbol_count = counts[1];
    if (!cm_elf_find_constant(r, r->tags[CM_ELF_HASH], sizeof counts + 4 * words, &hash) ||
        r->tags[CM_ELF_SYMENT] != sizeof(cm_elf_symbol) ||
        !cm_elf_find_constant(r, r->tags[CM_ELF_SYMTAB], r->symbol_count * sizeof(cm_elf_symbol),
                              &r->symbols)) {
        return cm_elf_corrupt(r, "the symbols are cut off");
    }
    // Every chain ends, so that nobody who follows one goes round for ever.
    const uint64_t buckets = hash + sizeof counts, chains = buckets + 4 * (uint64_t)counts[0];
    uint32_t seen = 0;
    for (uint32_t bucket = 0; bucket < counts[0]; bucket++) {
        uint32_t symbol = 0;
        (void)cm_elf_at(r, buckets + 4 * (uint64_t)bucket, &symbol, sizeof symbol);
        while (symbol != 0) {
            if (symbol >= counts[1] || seen++ > counts[1]) {
                return cm_elf_corrupt(r, "the hash table's chains have no end");
            }
            (void)cm_elf_at(r, chains + 4 * (uint64_t)symbol, &symbol, sizeof symbol);
        }
    }
    if (r->has[CM_ELF_SONAME] && cm_elf_string(r, r->tags[CM_ELF_SONAME]) == NULL) {
        return cm_elf_corrupt(r, "its own name is cut off");
    }
    if (r->has[CM_ELF_PLTGOT] && !cm_elf_is_mapped(r, r->tags[CM_ELF_PLTGOT], 0, 0)) {
        return cm_elf_corrupt(r, "the table of calls is not in what is mapped");
    }
    return CAROM_OK;
}

carom_result cm_elf_read_dynamic(cm_elf *r)
{
    carom_result result = read_tags(r);
    return result == CAROM_OK ? find_symbols(r) : result;
}

// Relocations ---------------------------------------------------------------------------------

static carom_result check_relocation(cm_elf *r, uint64_t place, uint64_t info, uint64_t addend,
                                     bool must_be_relative)
{
    uint32_t type = RELOC_TYPE(info);
    uint64_t number = SYMBOL_OF(info);
    uint64_t dynamic = r->dynamic.p_vaddr, dynamic_end = dynamic + r->dynamic.p_memsz;
    if (!cm_elf_is_mapped(r, place, sizeof(cm_elf_address), PF_W) ||
        (place < dynamic_end && dynamic < place + sizeof(cm_elf_address))) {
        return cm_elf_corrupt(r, "a relocation of what cannot be written");
    }
    if (type == IS_RELATIVE) {
        return cm_elf_is_mapped(r, addend, 0, 0) ? CAROM_OK
                                                 : cm_elf_corrupt(r, "an address out of the file");
    }
    if (!IS_SYMBOLIC(type) || must_be_relative) {
        return cm_elf_refuse(
            r, CAROM_ERROR_ARGUMENT,
            "a relocation of type %u, expected none of indirect functions, thread-local "
            "data or copies",
            (unsigned)type);
    }
    cm_elf_symbol symbol;
    if (number == 0 || number >= r->symbol_count) {
        return cm_elf_corrupt(r, "a relocation without its symbol");
    }
    (void)cm_elf_at(r, r->symbols + number * sizeof symbol, &symbol, sizeof symbol);
    bool sound = symbol.st_shndx == SHN_UNDEF ? ELF32_ST_BIND(symbol.st_info) == STB_GLOBAL
                                              : cm_elf_is_mapped(r, symbol.st_value, 0, 0);
    return sound ? CAROM_OK : cm_elf_corrupt(r, "a relocation of a symbol that is nowhere");
}

// `relative`: how many of the first must be relative, as the linker takes them to be.
static carom_result check_table(cm_elf *r, int start, int bytes, bool with_addend,
                                uint64_t relative)
{
    uint64_t offset, entry = with_addend ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
    uint64_t size = r->has[bytes] ? r->tags[bytes] : 0;
    if (!r->has[start] || size == 0) {
        return size == 0 && relative == 0 ? CAROM_OK
                                          : cm_elf_corrupt(r, "relocations without their table");
    }
    if (relative > size / entry) {
        return cm_elf_corrupt(r, "more relative relocations than there are");
    }
    if (size % entry != 0 || !cm_elf_find_constant(r, r->tags[start], size, &offset)) {
        return cm_elf_corrupt(r, "the relocations are cut off");
    }
    for (uint64_t i = 0; i < size / entry; i++) {
        ElfW(Rela) one;
        memset(&one, 0, sizeof one);
        (void)cm_elf_at(r, offset + i * entry, &one, (size_t)entry);
        uint64_t addend = (uint64_t)one.r_addend, where;
        if (!with_addend) {
            cm_elf_address in_place = 0;
            if (cm_elf_find_bytes(r, one.r_offset, sizeof in_place, &where)) {
                (void)cm_elf_at(r, where, &in_place, sizeof in_place);
            }
            addend = in_place;
        }
        carom_result result = check_relocation(r, one.r_offset, one.r_info, addend, i < relative);
        if (result != CAROM_OK) {
            return result;
        }
    }
    return CAROM_OK;
}

// The dynamic linker takes it that what belongs together is there together, and of this machine's
// kind.
carom_result cm_elf_check_relocations(cm_elf *r)
{
    bool with_addend = KIND == DT_RELA;
    int start = with_addend ? CM_ELF_RELA : CM_ELF_REL,
        bytes = with_addend ? CM_ELF_RELASZ : CM_ELF_RELSZ;
    int entry = with_addend ? CM_ELF_RELAENT : CM_ELF_RELENT,
        relative = with_addend ? CM_ELF_RELACOUNT : CM_ELF_RELCOUNT;
    uint64_t size = with_addend ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
    bool other = r->has[with_addend ? CM_ELF_REL : CM_ELF_RELA] ||
                 r->has[with_addend ? CM_ELF_RELSZ : CM_ELF_RELASZ];
    bool one_kind = !r->has[start] || (r->has[bytes] && r->has[entry] && r->tags[entry] == size);
    bool calls = !r->has[CM_ELF_JMPREL] || (r->has[CM_ELF_PLTRELSZ] && r->has[CM_ELF_PLTREL]);
    if (other || !one_kind || !calls || (r->has[CM_ELF_PLTREL] && r->tags[CM_ELF_PLTREL] != KIND)) {
        return cm_elf_corrupt(r, "relocations of another form");
    }
    carom_result result =
        check_table(r, start, bytes, with_addend, r->has[relative] ? r->tags[relative] : 0);
    return result == CAROM_OK ? check_table(r, CM_ELF_JMPREL, CM_ELF_PLTRELSZ, with_addend, 0)
                              : result;
}
