// `carom doctor`: the checks of `serve --check-config`, whose messages become findings, then the
// catalogue and the machine. Nothing stays behind: what is made goes at once, and a catalogue that
// a start would bring up to date is left as it is.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/transport/enet/net.h"
#include "server/record/catalogue/catalogue.h"
#include "server/cli/cli.h"
#include "server/supervisor/check.h"
#include "server/node/bootstrap.h"
#include "server/config/flags.h"
#include "server/node/node_rooms.h"
#include "server/tools/doctor/judge.h"

extern char **environ;

typedef struct doctor {
    const cm_config *config;
    const cm_server_check_part *part; // whose messages come now
    int status;
    uint32_t counts[3]; // of each level
} doctor;

// Commands that say what they want end messages with "expected …"; how to mend it stands last.
static void report(doctor *d, cm_finding_level level, const char *about, const char *found,
                   const char *mend)
{
    d->counts[level]++;
    printf("%-7s  %s: %s%s%s\n", cm_finding_level_name(level), about, found,
           level != CM_FINDING_OK ? "; to mend it: " : "", level != CM_FINDING_OK ? mend : "");
}

static void add_status(doctor *d, int status)
{
    d->status = status > d->status ? status : d->status;
}

static void add_wrong(void *user, const char *message)
{
    static const char command[] = "serve: ";
    doctor *d = user;
    size_t skip = strncmp(message, command, sizeof command - 1) == 0 ? sizeof command - 1 : 0;
    report(d, CM_FINDING_ERROR, d->part->name, message + skip, d->part->mend);
}

static void check_part(doctor *d, const cm_server_check_part *part)
{
    d->part = part;
    const cm_check check = {
        .config = d->config, .environment = environ, .wrong = add_wrong, .user = d};
    carom_result result = part->run(&check);
    add_status(d, cm_cli_status(result, &(const cm_failure){""})); // the error was printed
    if (result == CAROM_OK) {
        report(d, CM_FINDING_OK, part->name, part->good, "");
    }
}

// A start would bring an older one up to date: it is left as it is, and its rooms are not opened.
static bool is_outdated(doctor *d)
{
    const char *path = d->config->db;
    char found[CM_FINDING_TEXT_MAX];
    cm_scene_error error;
    int64_t version, newest;
    if (cm_catalogue_version(path, &version, &newest, &error) != CAROM_OK || version >= newest) {
        return false;
    }
    snprintf(found, sizeof found,
             "%.128s has schema %lld, expected %lld: a start changes it, so its rooms were not "
             "opened here",
             path, (long long)version, (long long)newest);
    report(d, CM_FINDING_WARNING, "catalogue", found, "keep a copy, then carom scene list --db DB");
    return true;
}

// That ENet runs on our functions shows when a host is made; on a port that is free.
static void check_library(doctor *d)
{
    cm_host_def def = {.peers = 1, .timeout_ms = 1000};
    char error[256] = "";
    cm_config_address("127.0.0.1:0", &def.listen);
    cm_host *host = cm_host_create(&def, error, sizeof error);
    if (host == NULL) {
        report(d, CM_FINDING_ERROR, "library", error, "link with a shared libenet, as make does");
        add_status(d, CM_STATUS_FAILED);
    } else {
        report(d, CM_FINDING_OK, "library", "ENet calls our socket functions, sealing works", "");
    }
    cm_host_destroy(host);
}

static void check_machine(doctor *d, bool may_open)
{
    cm_node_rooms rooms = {.count = 0};
    cm_failure told; // by check_part
    cm_machine machine;
    cm_finding findings[CM_MACHINE_FINDINGS];
    cm_needs needs = {.rooms = 1, .power = strcmp(d->config->durability, "power") == 0};
    if (may_open && cm_node_rooms_load(d->config, &rooms, NULL, &told) == CAROM_OK) {
        needs.rooms = rooms.count;
    }
    cm_node_rooms_free(&rooms);
    char directory[CM_CONFIG_TEXT_MAX];
    snprintf(directory, sizeof directory, "%.*s", (int)cm_bootstrap_file_exists(d->config->matches),
             d->config->matches);
    cm_machine_measure(directory, &machine);
    cm_machine_judge(&machine, &needs, findings);
    for (uint32_t i = 0; i < CM_MACHINE_FINDINGS; i++) {
        const cm_finding *f = &findings[i];
        report(d, f->level, f->about, f->found, f->mend);
        add_status(d, f->level == CM_FINDING_ERROR ? CM_STATUS_FAILED : CM_STATUS_DONE);
    }
}

static void print_wrong(void *user, const char *message)
{
    (void)user;
    cm_cli_error("%s", message);
}

static int run_command(int argc, char **argv)
{
    cm_config config;
    cm_failure failure;
    cm_config_wrong wrong = {.tell = print_wrong};
    carom_result result =
        cm_flags_read_config(argc, argv, environ, NULL, 0, &config, &wrong, &failure);
    int status = cm_cli_status(result, &failure);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    doctor d = {.config = &config, .status = CM_STATUS_DONE};
    bool outdated = is_outdated(&d);
    for (uint32_t i = 0; i < CM_SERVE_CHECKS; i++) {
        const cm_server_check_part *part = &cm_server_checks[i];
        bool is_of_catalogue =
            strcmp(part->name, "rooms") == 0 || strcmp(part->name, "catalogue") == 0;
        if (!outdated || !is_of_catalogue) {
            check_part(&d, part);
        }
    }
    check_library(&d);
    check_machine(&d, !outdated);
    printf("%u good, %u warnings, %u errors\n", (unsigned)d.counts[CM_FINDING_OK],
           (unsigned)d.counts[CM_FINDING_WARNING], (unsigned)d.counts[CM_FINDING_ERROR]);
    return cm_cli_finish(d.status);
}

const cm_command cm_doctor_command = {
    "doctor", run_command,
    "what is wrong with a machine's set-up\n"
    "usage: carom doctor [--config FILE] [settings of serve]\n"
    "\n"
    "Looks at everything that `carom serve` with the same settings needs, and changes nothing:\n"
    "files that are made for a measurement are gone when it ends. A line for each finding:\n"
    "\n"
    "  ok | warning | error  WHAT: what was found, what was expected; to mend it: how\n"
    "\n"
    "  catalogue             its schema is one that this program knows, and it can be written to;\n"
    "                        or it is not there yet, and a start makes it\n"
    "  environment           no CAROM_ variable that means nothing\n"
    "  key, sign_key         files of ours or of root that nobody else can read or change\n"
    "  matches, ready_file   can be written to\n"
    "  port                  the address of --listen is free\n"
    "  admin                 no other server answers at the socket of --admin\n"
    "  http                  the address of --http is free\n"
    "  rooms                 every scene is there and fit to be served\n"
    "  library               ENet calls our socket functions; the cryptography works\n"
    "  buffer                bytes that the kernel grants the socket (net.core.rmem_max)\n"
    "  files                 how many may be open, beside what the rooms need\n"
    "  disk, fsync           space where matches are, the kind of file system, time of an fsync\n"
    "  clock, date           source, cost and steps of the clock; whether the date is kept\n"
    "  cores, memory         what the process and its control group may use; swapping\n"
    "\n"
    "Status 0 without errors (warnings may be there), 1 where the machine or a file fails, 2\n"
    "where the settings are at fault.\n",
    NULL};
