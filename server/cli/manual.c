// Both forms are made from the help pages of the commands, and from the table of settings, so that
// a new page is in both forms at once. Typical: 17 pages of 40 lines.
//
// The words that a command takes stand in its usage, which ends with an empty line:
//
//   usage: carom scene import FILE|export NAME|list [--db FILE]     import, export, list
//   usage: carom admin [--admin SOCKET] COMMAND                     the first word of each row
//
// Words in brackets and values of options do not count. Its options are all those that its page
// names, and for a page with --config also every setting of serve.
#include "server/cli/manual.h"

#include <stdlib.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/config/config.h"
#include "server/ops/version.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define WORDS 64u
#define WORD  32u

typedef struct word_list {
    uint32_t count;
    char words[WORDS][WORD];
} word_list;

static void add_word(word_list *list, const char *text, size_t size)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strncmp(list->words[i], text, size) == 0 && list->words[i][size] == '\0') {
            return;
        }
    }
    if (list->count < WORDS && size < WORD) {
        memcpy(list->words[list->count], text, size);
        list->words[list->count++][size] = '\0';
    }
}

// The whole page of a command, to be freed; NULL without memory.
static char *page_of(const cm_command *command)
{
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    if (out == NULL) {
        return NULL;
    }
    fputs(command->help, out);
    if (command->more != NULL) {
        command->more(out);
    }
    fclose(out);
    return page;
}

static void find_options(word_list *list, const char *page)
{
    for (const char *at = page; (at = strstr(at, "--")) != NULL;) {
        size_t size = 2 + strspn(at + 2, LOWER "-");
        bool is_option = size > 3 && (at == page || at[-1] != '-');
        if (is_option) {
            add_word(list, at, size);
        }
        at += size;
    }
    uint32_t count;
    const cm_config_key *keys = cm_config_keys(&count);
    for (uint32_t i = 0; i < count && strstr(page, "--config") != NULL; i++) {
        char option[WORD];
        int size = snprintf(option, sizeof option, "--%s", keys[i].name);
        for (char *c = option; *c != '\0'; c++) {
            *c = *c == '_' ? '-' : *c;
        }
        add_word(list, option, (size_t)size);
    }
}

// The first word of each row that two blanks are before.
static void find_rows(word_list *list, const char *page)
{
    for (const char *line = page; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, "  ", 2) == 0) {
            size_t size = strspn(line + 2, LOWER "-");
            if (size > 0 && line[2] != '-' && line[2 + size] == ' ') {
                add_word(list, line + 2, size);
            }
        }
    }
}

// The words of one piece of a usage, between blanks: those without capitals, with | between them.
static void find_in_piece(word_list *list, const char *piece, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = strcspn(piece + at, "| \n");
        length = at + length > size ? size - at : length;
        if (length > 1 && strspn(piece + at, LOWER "-") == length) {
            add_word(list, piece + at, length);
        }
        at += length + 1;
    }
}

static void find_words(word_list *list, const char *name, const char *page)
{
    const char *usage = strstr(page, "usage: ");
    const char *end = usage != NULL ? strstr(usage, "\n\n") : NULL;
    size_t left = usage == NULL ? 0 : end != NULL ? (size_t)(end - usage) : strlen(usage);
    int depth = 0;
    bool value = false; // of an option
    for (const char *at = usage; left > 0;) {
        size_t blanks = strspn(at, " \n"), size = strcspn(at + blanks, " \n");
        blanks = blanks > left ? left : blanks;
        const char *piece = at + blanks;
        bool own = size == strlen(name) && strncmp(piece, name, size) == 0;
        bool outside = depth == 0 && piece[0] != '[' && piece[0] != '<' && piece[0] != '-';
        if (outside && !value && !own && strncmp(piece, "carom", 5) != 0) {
            find_in_piece(list, piece, size);
        }
        value = outside ? false : depth == 0 && piece[0] == '-';
        for (size_t i = 0; i < size; i++) {
            depth += piece[i] == '[' ? 1 : piece[i] == ']' ? -1 : 0;
        }
        at = piece + size;
        left = blanks + size < left ? left - blanks - size : 0;
    }
    if (usage != NULL && list->count == 0 && strstr(page, "] COMMAND\n") != NULL) {
        find_rows(list, page);
    }
}

static void print_words(FILE *out, const word_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", list->words[i]);
    }
}

void cm_completion_print(FILE *out)
{
    fprintf(out, "# bash completion of carom, made by 'carom help --completion'.\n"
                 "_carom()\n{\n    local words=''\n    COMPREPLY=()\n"
                 "    [ \"$COMP_CWORD\" -le 1 ] && words='");
    for (uint32_t i = 0; cm_commands[i] != NULL; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", cm_commands[i]->name);
    }
    fprintf(out, "'\n    [ \"$COMP_CWORD\" -le 1 ] || case ${COMP_WORDS[1]} in\n");
    for (uint32_t i = 0; cm_commands[i] != NULL; i++) {
        word_list *list = calloc(1, sizeof *list);
        char *page = page_of(cm_commands[i]);
        if (list != NULL && page != NULL) {
            find_words(list, cm_commands[i]->name, page);
            for (uint32_t k = 0; cm_commands[i] == &cm_help_command && cm_commands[k] != NULL;
                 k++) {
                add_word(list, cm_commands[k]->name, strlen(cm_commands[k]->name));
            }
            find_options(list, page);
            fprintf(out, "    %s) words='", cm_commands[i]->name);
            print_words(out, list);
            fprintf(out, "' ;;\n");
        }
        free(page);
        free(list);
    }
    fprintf(out,
            "    esac\n"
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
            "}\ncomplete -o default -F _carom carom\n");
}

// Text as roff takes it: no line of it is a request, no character of it means something.
static void print_roff(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        bool begins = c == text || c[-1] == '\n';
        if (begins && (*c == '.' || *c == '\'')) {
            fputs("\\&", out);
        }
        if (strncmp(c, "\u2026", 3) == 0) {
            fputs("...", out);
            c += 2;
        } else if (*c == '\\') {
            fputs("\\e", out);
        } else if (*c == '\'') {
            fputs("\\(aq", out);
        } else if (*c == '`') {
            fputs("\\(ga", out);
        } else {
            fputs(*c == '-' ? "\\" : "", out);
            fputc(*c, out);
        }
    }
}

void cm_manual_print(FILE *out)
{
    fprintf(out,
            ".TH CAROM 1 \"\" \"carom %s\" \"Carom\"\n"
            ".SH NAME\ncarom \\- multiplayer physics matches, deterministic and recorded\n"
            ".SH SYNOPSIS\n.B carom\n.I COMMAND\n[arguments]\n"
            ".SH COMMANDS\n",
            cm_version_number);
    for (uint32_t i = 0; cm_commands[i] != NULL; i++) {
        char *page = page_of(cm_commands[i]);
        const char *rest = page != NULL ? strchr(page, '\n') : NULL;
        fprintf(out, ".SS carom %s\n", cm_commands[i]->name);
        if (rest != NULL) {
            fprintf(out, "%.*s.\n.PP\n.nf\n", (int)(rest - page), page);
            print_roff(out, rest + 1);
            fprintf(out, ".fi\n");
        }
        free(page);
    }
    fprintf(out,
            ".SH SETTINGS\nOf\n.BR \"carom serve\" ,\nfrom a JSON file (\\-\\-config), then the "
            "environment, then flags; the later wins.\n");
    uint32_t count;
    const cm_config_key *keys = cm_config_keys(&count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, ".TP\n.B %s\n", keys[i].name);
        print_roff(out, keys[i].help);
        fputc('\n', out);
    }
    fprintf(out, ".SH EXIT STATUS\n0: done. 1: the operation failed. 2: bad usage or bad input.\n"
                 ".SH FILES\n.TP\n.I carom.db\nscenes, rooms to start, index of matches\n"
                 ".TP\n.I matches/ID.match\na recorded match each\n"
                 ".TP\n.I matches/admin.sock\nwhere\n.B carom admin\nasks\n");
}
