// Goal: `carom doctor` names what is wrong, says how to mend it, and changes nothing. Method: the
// judgement of made-up machines; the real command with a bad set-up that was made for it.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/transport/enet/net.h"
#include "server/tools/doctor/judge.h"
#include "tests/unit/cli/command.h"

#define GIB (1024ull * 1024 * 1024)

static const cm_machine sound = {.receive_buffer = CM_HOST_RECEIVE_BUFFER,
                                 .files = 4096,
                                 .disk_known = true,
                                 .disk_free = 100 * GIB,
                                 .disk_free_files = UINT64_MAX,
                                 .fsync_ms_median = 1.0,
                                 .fsync_ms_max = 2.0,
                                 .clock_source = "tsc",
                                 .clock_read_ns = 25.0,
                                 .clock_in_step = 1,
                                 .unix_s = 1800000000,
                                 .cores = 4,
                                 .memory_available = 8 * GIB};

// What is found about a thing of a machine.
static cm_finding judge(const cm_machine *machine, const cm_needs *needs, const char *about)
{
    cm_finding findings[CM_MACHINE_FINDINGS], found = {.about = NULL};
    cm_machine_judge(machine, needs, findings);
    for (uint32_t i = 0; i < CM_MACHINE_FINDINGS; i++) {
        if (strcmp(findings[i].about, about) == 0) {
            found = findings[i];
        }
    }
    cr_assert_not_null(found.about, "%s", about);
    return found;
}

static void expect(const cm_machine *machine, const cm_needs *needs, const char *about,
                   cm_finding_level level, const char *said)
{
    cm_finding found = judge(machine, needs, about);
    cr_expect_eq(found.level, level, "%s: %s", about, found.found);
    cr_expect_not_null(strstr(found.found, said), "'%s' in: %s", said, found.found);
    if (level != CM_FINDING_OK) {
        cr_expect_not_null(strstr(found.found, "expected"), "%s", found.found);
        cr_expect_gt(strlen(found.mend), 0, "%s", about);
    }
    // What is wrong with one thing is not said of another.
    cm_finding all[CM_MACHINE_FINDINGS];
    cm_machine_judge(machine, needs, all);
    for (uint32_t i = 0; i < CM_MACHINE_FINDINGS; i++) {
        cr_expect(strcmp(all[i].about, about) == 0 || all[i].level == CM_FINDING_OK, "%s: %s",
                  all[i].about, all[i].found);
    }
}

static const cm_needs one_room = {.rooms = 1, .power = false};
static const cm_needs power = {.rooms = 1, .power = true};

Test(doctor, a_sound_machine_is_told_so)
{
    cm_finding findings[CM_MACHINE_FINDINGS];
    cm_machine_judge(&sound, &power, findings);
    for (uint32_t i = 0; i < CM_MACHINE_FINDINGS; i++) {
        cr_expect_eq(findings[i].level, CM_FINDING_OK, "%s: %s", findings[i].about,
                     findings[i].found);
        cr_expect_gt(strlen(findings[i].found), 0);
    }
}

Test(doctor, buffers_and_files)
{
    cm_machine m = sound;
    m.receive_buffer = 212992;
    expect(&m, &one_room, "buffer", CM_FINDING_WARNING, "212992");
    m = sound;
    m.files = cm_needs_files(1);
    expect(&m, &one_room, "files", CM_FINDING_WARNING, "the 256 rooms");
    cm_needs many = {.rooms = 2, .power = false};
    expect(&m, &many, "files", CM_FINDING_ERROR, "2 rooms to start");
    m.files = cm_needs_files(256);
    expect(&m, &many, "files", CM_FINDING_OK, "");
}

Test(doctor, disks)
{
    cm_machine m = sound;
    m.disk_free = GIB / 2;
    expect(&m, &one_room, "disk", CM_FINDING_WARNING, "512 MiB");
    m.disk_free = GIB / 64;
    expect(&m, &one_room, "disk", CM_FINDING_ERROR, "16 MiB");
    m = sound;
    m.disk_free_files = 3;
    expect(&m, &one_room, "disk", CM_FINDING_ERROR, "1000 files");
    m = sound;
    m.disk_remote = true;
    expect(&m, &one_room, "disk", CM_FINDING_ERROR, "another machine");
    m = sound;
    m.disk_volatile = true;
    expect(&m, &one_room, "disk", CM_FINDING_OK, "");
    expect(&m, &power, "disk", CM_FINDING_WARNING, "in memory");
    m = sound;
    m.disk_known = false;
    expect(&m, &one_room, "disk", CM_FINDING_ERROR, "does not answer");
    m = sound;
    m.fsync_ms_median = 60.0;
    expect(&m, &one_room, "fsync", CM_FINDING_OK, "60.00 ms");
    expect(&m, &power, "fsync", CM_FINDING_WARNING, "durability power");
    m.fsync_ms_median = 0.0;
    expect(&m, &one_room, "fsync", CM_FINDING_WARNING, "not measured");
}

Test(doctor, clocks_cores_and_memory)
{
    cm_machine m = sound;
    strcpy(m.clock_source, "hpet");
    expect(&m, &one_room, "clock", CM_FINDING_WARNING, "hpet");
    m = sound;
    m.clock_read_ns = 3000.0;
    expect(&m, &one_room, "clock", CM_FINDING_WARNING, "3000 ns");
    m.clock_backward = 2;
    expect(&m, &one_room, "clock", CM_FINDING_ERROR, "backward 2 times");
    m = sound;
    m.clock_in_step = 0;
    expect(&m, &one_room, "date", CM_FINDING_WARNING, "time server");
    m.clock_in_step = -1;
    expect(&m, &one_room, "date", CM_FINDING_OK, "plausible");
    m.unix_s = 86400;
    expect(&m, &one_room, "date", CM_FINDING_ERROR, "86400 s");
    m = sound;
    m.cores = 1;
    expect(&m, &one_room, "cores", CM_FINDING_WARNING, "1 core");
    m = sound;
    m.cores_quota = 0.5;
    expect(&m, &one_room, "cores", CM_FINDING_WARNING, "0.50");
    m = sound;
    m.memory_available = GIB / 8;
    expect(&m, &one_room, "memory", CM_FINDING_WARNING, "128 MiB");
    m = sound;
    m.swap_used = GIB;
    expect(&m, &one_room, "memory", CM_FINDING_WARNING, "1024 MiB are swapped out");
}

// The command ----------------------------------------------------------------------------------

typedef struct setup {
    char directory[64], key[96], database[96], address[32];
    int socket;
} setup;

static void make_setup(setup *s)
{
    command_result result;
    char arguments[256];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    strcpy(s->directory, "/tmp/carom-doctor-test-XXXXXX");
    cr_assert_not_null(mkdtemp(s->directory));
    snprintf(s->key, sizeof s->key, "%s/keys", s->directory);
    snprintf(s->database, sizeof s->database, "%s/carom.db", s->directory);
    snprintf(arguments, sizeof arguments, "token keygen --out %s", s->key);
    run_command(arguments, &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    s->socket = socket(AF_INET, SOCK_DGRAM, 0);
    cr_assert_eq(bind(s->socket, (const struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(getsockname(s->socket, (struct sockaddr *)&at, &size), 0);
    snprintf(s->address, sizeof s->address, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
}

static uint32_t count_files(const char *directory)
{
    uint32_t count = 0;
    DIR *folder = opendir(directory);
    cr_assert_not_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void remove_setup(setup *s)
{
    char command[128];
    close(s->socket);
    snprintf(command, sizeof command, "rm -rf '%s'", s->directory);
    cr_assert_eq(system(command), 0);
}

static void doctor(const setup *s, const char *more, int status, command_result *result)
{
    char arguments[1024];
    uint32_t files = count_files(s->directory);
    snprintf(arguments, sizeof arguments, "doctor --db %s %s", s->database, more);
    run_command(arguments, result);
    cr_expect_eq(result->status, status, "%d: %s%s", result->status, result->out, result->err);
    cr_expect_eq(count_files(s->directory), files, "something was left behind");
}

// A good configuration, but for what stands in `more`.
static void doctor_of_good(const setup *s, const char *more, int status, command_result *result)
{
    char good[512];
    snprintf(good, sizeof good,
             "--scene tests/scenes/hello.json --matches %s/matches --listen 127.0.0.1:0 %s",
             s->directory, more);
    doctor(s, good, status, result);
}

static void expect_line(const command_result *result, const char *begin, const char *part)
{
    const char *line = strstr(result->out, begin);
    cr_expect_not_null(line, "'%s' in: %s", begin, result->out);
    if (line != NULL) {
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        cr_expect_not_null(strstr(text, part), "'%s' in: %s", part, text);
    }
}

Test(doctor, a_good_setup_is_status_0)
{
    setup s;
    char more[160];
    command_result result;
    make_setup(&s);
    snprintf(more, sizeof more, "--key %s", s.key);
    doctor_of_good(&s, more, 0, &result);
    cr_expect_str_eq(result.err, "");
    expect_line(&result, "ok       catalogue: ", "or be made");
    expect_line(&result, "ok       key: ", "settled");
    expect_line(&result, "ok       port: ", "free");
    expect_line(&result, "ok       rooms: ", "opened");
    expect_line(&result, "ok       library: ", "ENet");
    cr_expect_not_null(strstr(result.out, " 0 errors\n"), "%s", result.out);
    remove_setup(&s);
}

Test(doctor, what_is_wrong_is_named_and_how_to_mend_it)
{
    setup s;
    char more[512];
    command_result result;
    make_setup(&s);
    cr_assert_eq(chmod(s.key, 0644), 0);
    struct rlimit few;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &few), 0);
    few.rlim_cur = 24;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    snprintf(more, sizeof more,
             "--scene tests/scenes/hello.json --key %s --sign-key %s --listen %s --matches "
             "/proc/carom --ready-file /proc/none/ready",
             s.key, s.key, s.address);
    doctor(&s, more, 2, &result);
    expect_line(&result, "error    key: ", "expected mode 0600, 0400 or 0440; to mend it: ");
    expect_line(&result, "error    sign_key: ", "expected mode 0600");
    expect_line(&result, "error    port: ", s.address);
    expect_line(&result, "error    matches: ", "/proc/carom");
    expect_line(&result, "error    ready_file: ", "/proc/none/ready");
    expect_line(&result, "error    files: ", "24 files may be open, expected 36 for 1 rooms");
    expect_line(&result, "warning  fsync: ", "not measured");
    snprintf(more, sizeof more,
             "--insecure --listen 127.0.0.1:0 --scene tests/scenes/bad/mass_zero.json");
    doctor(&s, more, 2, &result);
    expect_line(&result, "error    rooms: ", "mass_zero.json:");
    // The machine alone, and a port alone: an operation that fails.
    doctor_of_good(&s, "--insecure", 1, &result);
    few.rlim_cur = few.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    snprintf(more, sizeof more, "--scene tests/scenes/hello.json --insecure --listen %s",
             s.address);
    doctor(&s, more, 1, &result);
    cr_expect_not_null(strstr(result.out, " 1 errors"), "%s", result.out);
    remove_setup(&s);
}

// A server that runs with the same settings; one that was killed leaves a socket, which is no harm
// and stays.
Test(doctor, another_server_on_the_same_matches)
{
    setup s;
    char more[160];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    command_result result;
    make_setup(&s);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/admin", s.directory);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(server, (const struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(server, 1), 0);
    snprintf(more, sizeof more, "--insecure --admin %s", at.sun_path);
    doctor_of_good(&s, more, 1, &result);
    expect_line(&result, "error    admin: ", "another server answers there");
    close(server);
    doctor_of_good(&s, more, 0, &result);
    expect_line(&result, "ok       admin: ", "can be made");
    snprintf(more, sizeof more, "--insecure --admin %s", s.key);
    doctor_of_good(&s, more, 1, &result);
    expect_line(&result, "error    admin: ", "no socket");
    remove_setup(&s);
}

Test(doctor, settings_that_are_none_are_usage)
{
    setup s;
    command_result result;
    make_setup(&s);
    doctor_of_good(&s, "--max-players 65", 2, &result);
    cr_expect_not_null(strstr(result.err, "expected a whole number from 1 to 64"), "%s",
                       result.err);
    doctor_of_good(&s, "--check-config", 2, &result);
    doctor_of_good(&s, "--config /nowhere/at/all", 2, &result);
    setenv("CAROM_MAX_PLAYER", "3", 1);
    doctor_of_good(&s, "--insecure", 2, &result);
    expect_line(&result, "error    environment: ", "the nearest is CAROM_MAX_PLAYERS");
    remove_setup(&s);
}

static void write_bytes(const char *path, long at, const void *bytes, size_t size)
{
    FILE *file = fopen(path, at == 0 ? "wb" : "r+b");
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, at, SEEK_SET), 0);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// A start makes one that is missing only where its directory can be written to, and without rooms
// of their own the settings ask for the rooms that it has.
Test(doctor, a_catalogue_that_is_not_there)
{
    setup s;
    char more[256];
    command_result result;
    make_setup(&s);
    snprintf(more, sizeof more,
             "doctor --db %s/none/carom.db --scene tests/scenes/hello.json --insecure --listen "
             "127.0.0.1:0 --matches %s/matches",
             s.directory, s.directory);
    run_command(more, &result);
    cr_expect_eq(result.status, 1, "%s", result.out);
    expect_line(&result, "error    catalogue: ", "none/carom.db: No such file");
    snprintf(more, sizeof more, "--insecure --listen 127.0.0.1:0 --matches %s/matches",
             s.directory);
    doctor(&s, more, 2, &result);
    expect_line(&result, "ok       catalogue: ", "or be made");
    expect_line(&result, "error    rooms: ", "no scene given");
    remove_setup(&s);
}

// A start would bring an older one up to date; the doctor leaves it as it is.
Test(doctor, catalogues_of_another_version)
{
    static const uint8_t version[4] = {0, 0, 0, 99}; // SQLite's user_version, at 60
    setup s;
    char arguments[256];
    struct stat about;
    command_result result;
    make_setup(&s);
    write_bytes(s.database, 0, "", 0); // a database without a table
    doctor_of_good(&s, "--insecure", 0, &result);
    expect_line(&result, "warning  catalogue: ", "has schema 0, expected");
    cr_expect_null(strstr(result.out, "rooms: "));
    cr_assert_eq(stat(s.database, &about), 0);
    cr_expect_eq(about.st_size, 0);
    snprintf(arguments, sizeof arguments, "scene import tests/scenes/hello.json --db %s",
             s.database);
    run_command(arguments, &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    doctor_of_good(&s, "--insecure", 0, &result);
    expect_line(&result, "ok       catalogue: ", "can be read and written to");
    write_bytes(s.database, 60, version, sizeof version);
    doctor_of_good(&s, "--insecure", 2, &result);
    expect_line(&result, "error    catalogue: ", "made by a newer carom");
    remove_setup(&s);
}
