#include "tests/cluster/matches.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool matches_make(char directory[MATCHES_DIRECTORY], cm_store **store)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, MATCHES_DIRECTORY, "%s/matches.XXXXXX",
             temporary != NULL ? temporary : P_tmpdir);
    const cm_store_def def = {.directory = directory, .queue_max = 64u << 20};
    *store = NULL;
    return mkdtemp(directory) != NULL && cm_store_create(&def, store) == CAROM_OK;
}

bool matches_copy(const char *from, char directory[MATCHES_DIRECTORY], cm_store **store)
{
    char command[2 * MATCHES_DIRECTORY + 16];
    if (!matches_make(directory, store)) {
        return false;
    }
    snprintf(command, sizeof command, "cp %s/* %s", from, directory);
    return system(command) == 0;
}

void matches_remove(const char *directory)
{
    DIR *files = opendir(directory);
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL) {
        char name[MATCHES_DIRECTORY + sizeof entry->d_name + 1];
        snprintf(name, sizeof name, "%s/%s", directory, entry->d_name);
        unlink(name);
    }
    if (files != NULL) {
        closedir(files);
        rmdir(directory);
    }
}
