// Reads /proc/locks, where each lock names process, device and inode. To ask by fcntl would need a
// descriptor of the file, and closing that would give up this process's own locks.
#include "server/record/format/lock_holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void put_name(long pid, char *text, size_t size)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fgets(name, sizeof name, file) != NULL) {
            name[strcspn(name, "\n")] = '\0';
        }
        fclose(file);
    }
    snprintf(text, size, "process %ld%s%s%s", pid, name[0] != '\0' ? " (" : "", name,
             name[0] != '\0' ? ")" : "");
}

static int find(FILE *locks, const struct stat *about, char *text, size_t size)
{
    char line[256];
    while (fgets(line, sizeof line, locks) != NULL) {
        long pid;
        unsigned major_part, minor_part;
        unsigned long long inode;
        if (sscanf(line, "%*s %*s %*s WRITE %ld %x:%x:%llu", &pid, &major_part, &minor_part,
                   &inode) == 4 &&
            pid > 0 && pid != (long)getpid() && inode == (unsigned long long)about->st_ino &&
            major_part == major(about->st_dev) && minor_part == minor(about->st_dev)) {
            put_name(pid, text, size);
            return 1;
        }
    }
    return 0;
}

void cm_lock_holder(const char *path, char *text, size_t size)
{
    static const char *const suffixes[] = {"", "-shm"};
    int found = 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && !found; i++) {
        char name[4096];
        struct stat about;
        FILE *locks = NULL;
        if (snprintf(name, sizeof name, "%s%s", path, suffixes[i]) < (int)sizeof name &&
            stat(name, &about) == 0 && (locks = fopen("/proc/locks", "r")) != NULL) {
            found = find(locks, &about, text, size);
            fclose(locks);
        }
    }
    if (!found) {
        snprintf(text, size, "another program");
    }
}
