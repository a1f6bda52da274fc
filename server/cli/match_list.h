// `carom match list` and `prune`: files of a directory beside the catalogue's index.
#ifndef CM_SERVER_CLI_MATCH_LIST_H
#define CM_SERVER_CLI_MATCH_LIST_H

#include "server/record/catalogue/match_index.h"

int cm_match_list(int argc, char **argv);
int cm_match_prune(int argc, char **argv);

// One JSON object of what a file holds, left open. In match.c.
void cm_match_print_info(const cm_match_file *file);

// True if the index has this file in its present form. False without a database.
bool cm_match_is_indexed(const char *db, const char *path, cm_match_entry *entry);
// Puts the entry again, with the hashes of what became of the file. False after a message.
bool cm_match_index_again(const char *db, const char *path, const cm_match_entry *entry);

#endif
