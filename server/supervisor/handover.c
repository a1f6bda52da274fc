// A line that is no id names no match.
#include "server/supervisor/handover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES (CM_CONFIG_TEXT_MAX + 16)

static const char *path_of(const cm_config *config, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/handover", config->matches);
    return path;
}

bool cm_handover_write(const cm_config *config, const cm_room_directory *rooms)
{
    char path[PATH_BYTES], part[PATH_BYTES + 8];
    snprintf(part, sizeof part, "%s.part", path_of(config, path));
    FILE *file = fopen(part, "we");
    bool written = file != NULL;
    for (uint32_t i = 0; written && i < rooms->count; i++) {
        unsigned long long id = rooms->list[i].room.match_id;
        written = id == 0 || fprintf(file, "%016llx\n", id) > 0;
    }
    written = written && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL) {
        written = fclose(file) == 0 && written;
    }
    return written && rename(part, path) == 0;
}

bool cm_handover_is_there(const cm_config *config)
{
    char path[PATH_BYTES];
    return access(path_of(config, path), F_OK) == 0;
}

void cm_handover_select(const cm_config *config, cm_unfinished_matches *matches)
{
    char path[PATH_BYTES], line[64];
    FILE *file = fopen(path_of(config, path), "re");
    uint32_t kept = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        bool is_id = strspn(line, "0123456789abcdef") == 16 && line[16] == '\n';
        uint64_t id = is_id ? strtoull(line, NULL, 16) : 0;
        for (uint32_t i = kept; id != 0 && i < matches->count; i++) {
            if (matches->list[i].match_id == id) {
                cm_unfinished_match found = matches->list[i];
                matches->list[i] = matches->list[kept];
                matches->list[kept++] = found;
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    matches->count = kept;
}

void cm_handover_remove(const cm_config *config)
{
    char path[PATH_BYTES];
    (void)unlink(path_of(config, path));
}
