// `carom help [COMMAND]`: what each command does, its options, its output.
//
// A command's own file could hold its text; here they stand together so that they read alike. A
// test asks for the help of every command.
#include <stdio.h>
#include <string.h>

#include "server/tools/cli/cli.h"
#include "server/tools/cli/options.h"

typedef struct help_page {
    const char *command;
    const char *summary;
    const char *text;
} help_page;

#define LATER "token, module, admin, capacity, doctor"

static const help_page PAGES[] = {
    {"serve", "hosts rooms",
     "usage: carom serve [options]\n"
     "\n"
     "Hosts a room and records its match until SIGTERM or SIGINT, which drain: the recording is\n"
     "closed and verified, then the server ends. A second signal stops at once.\n"
     "\n"
     "  --config FILE       configuration, JSON\n"
     "  --db FILE           database of scenes\n"
     "  --matches DIR       where match files are written\n"
     "  --listen HOST:PORT  UDP address\n"
     "  --scene NAME|FILE   the scene: a name in the database, or a file\n"
     "  --insecure          no tokens; loopback only\n"
     "  --print-config      prints every key with its value and meaning, and ends\n"
     "  --check-config      checks the configuration, and ends\n"
     "\n"
     "Every configuration key is a flag as well (max_players: --max-players N; true or false:\n"
     "--insecure, --insecure=false) and a variable of the environment (CAROM_MAX_PLAYERS); later\n"
     "wins: file, environment, flags. --print-config lists all keys with ranges and meanings.\n"
     "\n"
     "stdout: \"listening on HOST:PORT\", then the status: a block on a terminal, else a JSON "
     "line\n"
     "each status_interval_ms, and what was recorded and verified. stderr: the log, JSON lines.\n"
     "Status 1 where the recording could not be kept or does not verify.\n"},
    {"sim", "runs a scene offline",
     "usage: carom sim SCENE [options]\n"
     "\n"
     "Runs a scene from tick 0 and prints its state. SCENE is a file, or with --db a name.\n"
     "\n"
     "  --ticks N            ticks to run (600)\n"
     "  --every K            prints every K-th tick; tick 0 and the last one always (1)\n"
     "  --format jsonl|csv   output (jsonl)\n"
     "  --solver NAME        of another type than the scene's, with its defaults\n"
     "  --inputs FILE        JSON lines ordered by tick: {\"tick\", \"player\", \"input\": "
     "\"hex\"}\n"
     "                       for the module; {\"tick\", \"body\", \"force\", \"torque\"} held "
     "until\n"
     "                       changed; {\"tick\", \"body\", \"position\", \"orientation\",\n"
     "                       \"linear_velocity\", \"angular_velocity\"} for a kinematic body.\n"
     "                       A line of tick T acts on the step from T to T + 1. A player's first\n"
     "                       line joins that player. Where the scene has a pointer, a\n"
     "                       player's bytes begin with the 52 of its pose (PROTOCOL.md, 5.1).\n"
     "  --events             adds \"events\" since the line before: {\"type\": \"begin\" or "
     "\"end\",\n"
     "                       \"tick\", \"a\", \"b\", \"point\", \"normal\" (from a to b), "
     "\"impulse\"\n"
     "                       (N s), \"sensor\": true where one is a sensor},\n"
     "                       {\"type\": \"break\", \"tick\", \"joint\", \"force\", "
     "\"torque\"},\n"
     "                       {\"type\": \"sleep\" or \"wake\", \"tick\", \"body\"}\n"
     "  --timing             adds \"timing\" to the last line: {\"ticks\", \"seconds\" of wall "
     "time,\n"
     "                       those of each stage of the step, and of a hash and a\n"
     "                       save a tick beside it} (csv: on stderr)\n"
     "  --rollback R         at every tick: save, step R, restore into a second world, step R\n"
     "                       again, compare every byte. Adds one last line: {\"ticks\",\n"
     "                       \"rollback\", \"hash\", \"rewinds\", \"contacts\", "
     "\"joints\", \"sleeps\",\n"
     "                       \"creations\", \"difference\": null or {...}}; status 1 with a\n"
     "                       difference, 2 where nothing ever touched\n"
     "  --db FILE            SCENE is a name in this database\n"
     "\n"
     "jsonl: one object a sampled tick: tick, time (s), hash, bodies (name, position of the\n"
     "origin, orientation, linear_velocity of the centre of mass, angular_velocity, asleep,\n"
     "center_of_mass where it is not the origin, and with report_force the contacts' force (N)\n"
     "and torque (N m) about the centre of mass, mean over the tick), joints (name, angle (rad) "
     "or\n"
     "position (m), rate, error (m), force (N), torque (N m)), contacts (touching shape pairs),\n"
     "kinetic_energy, potential_energy (J), max_penetration (m). Nine significant digits.\n"
     "csv: a header, then one line a body and sampled tick: tick,time,hash,name,\n"
     "px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,asleep.\n"},
    {"scene", "imports, exports, lists and checks scenes",
     "usage: carom scene import FILE|export NAME|list|validate FILE|show NAME|delete NAME\n"
     "                   [--db FILE]\n"
     "\n"
     "  import FILE    checks a scene file and keeps it under its name (or --name NAME);\n"
     "                 a scene of that name is replaced\n"
     "  export NAME    prints a kept scene as JSON; it imports to the same world, hash for hash\n"
     "  list           one line for each kept scene: name, bodies, bytes, time of import\n"
     "  show NAME      one JSON object: counts, limits, module, hash of tick 0\n"
     "  delete NAME    forgets a scene\n"
     "  validate FILE  checks a scene file and prints nothing but what is wrong\n"
     "  --db FILE      database of scenes (carom.db)\n"},
    {"bots", "connects SDK clients to a server",
     "usage: carom bots --connect HOST:PORT [options]\n"
     "\n"
     "  --count N       clients (1)\n"
     "  --seconds S     how long they play, from when all do (10)\n"
     "  --latency MS    delay, one way, each way (0)\n"
     "  --jitter MS     one way, each way (0)\n"
     "  --loss PCT      of the packets, each way (0)\n"
     "  --predict K     how many simulate (all); the rest only speak the protocol\n"
     "  --pattern P     wander, drive (never holds nor jumps) or idle (wander)\n"
     "  --seed N        of the link's chance and of the inputs (1)\n"
     "\n"
     "Prints one JSON summary: connected, ticks, seconds, clients, predicting,\n"
     "bytes_in_per_client_second, bytes_out_per_client_second, packets_lost, packets_refused, "
     "views,\n"
     "view_packets, prediction_error (mean, p99, max in metres, count), rewinds, predicted_steps,\n"
     "inputs_sent, late_inputs, input_lead_ticks, rtt_ms, interpolation_delay_ms, ended, desyncs,\n"
     "refused (reason: clients). Status 0 where all connected, stayed and none desynced.\n"},
    {"replay", "runs a recorded match again",
     "usage: carom replay MATCH --verify\n"
     "\n"
     "  --verify   re-simulates and compares the hash of every tick: status 0 where all agree,\n"
     "             1 where one differs, 2 where the file was recorded by another engine version\n"},
    {"match", "looks into match files",
     "usage: carom match info FILE\n"
     "\n"
     "Prints what a match file holds: scene, module, versions, players, ticks, how it ended.\n"},
    {"bench", "measures speed and quality",
     "usage: carom bench [SCENE...] [options]\n"
     "       carom bench rollback [--runs N]\n"
     "       carom bench impact [--runs N] [--collisions N]\n"
     "\n"
     "Runs benchmark scenes (files, or names in the folder; all of it by default) and prints a\n"
     "JSON line for each: scene, bodies (that can move), solver, steps, ms_median, ms_mean, "
     "ms_p99\n"
     "(of a step), hash, save_us, restore_us, state_bytes, max_penetration, mean_penetration,\n"
     "top_height (of the highest body's origin), joint_error. Thread CPU time; metres. Quality is\n"
     "measured after the last step, in double precision, on the true shapes.\n"
     "\n"
     "  --steps N      steps of a run (360)\n"
     "  --from N       first step that is timed (60; 0 where --steps is not above that)\n"
     "  --runs N       runs of each scene, figures are the medians (3)\n"
     "  --scenes DIR   the folder (tests/scenes/bench)\n"
     "\n"
     "rollback: restores a tick of the towers scene and comes forward again, saving every tick:\n"
     "12 ticks of 256 bodies, 8 of 901; wall time; --runs rewinds (101).\n"
     "impact: collisions a second of the pure functions (carom/impact.h), one line a model; CPU\n"
     "time; --collisions in a run (1000000), --runs (11).\n"
     "codec, load, replay: not built yet.\n"},
    {"eval", "one case of a pure function",
     "usage: carom eval impact|circle|lcp|volume < CASE.json\n"
     "\n"
     "Reads one JSON object from standard input, prints one line of JSON with 17 digits. SI "
     "units.\n"
     "A case that is refused: status 2 and `carom: <stdin>:LINE: $.path: what, expected what`.\n"},
    {"plot", "draws scenes and their traces",
     "usage: carom plot SCENE... [options]\n"
     "\n"
     "Draws one SVG file: pictures of bodies at ticks, charts of traces over time, maps. Every\n"
     "scene is run with every solver named, and all is shown side by side at one scale. Without\n"
     "--at and --trace: tick 0, and the last one.\n"
     "\n"
     "  --at T[,T...]        pictures at these ticks, in ascending order\n"
     "  --ticks N            ticks to run (what --at needs; 600 for traces; 1)\n"
     "  --trace NAME[,...]   charts; of the world: energy, kinetic_energy, potential_energy,\n"
     "                       momentum_x, _y, _z, angular_momentum (about z, each body about its\n"
     "                       centre), angular_momentum_x, _y, angular_momentum_of_origin, "
     "contacts,\n"
     "                       penetration, joint_error; of bodies: x, y, z, height, vx, vy, vz,\n"
     "                       speed, wx, wy, wz, angular_speed, path (y over x),\n"
     "                       path_xz (z over x), contact_force, contact_torque (of\n"
     "                       report_force and pointers);\n"
     "                       of joints: joint (angle or position), joint_rate, joint_force,\n"
     "                       joint_torque; energy_map: kinetic energy after the tick of the first\n"
     "                       contact over friction and restitution, as a heat map; cost: thread "
     "CPU\n"
     "                       time of a step over the number of bodies of the scenes given\n"
     "  --body NAME[,...]    the bodies that traces follow and sum up (those that can move; at "
     "most\n"
     "                       eight have lines)\n"
     "  --solver NAME[,...]  instead of the scene's: soft, impulse, lcp, volume; scene: its own\n"
     "  --view V             auto, xy, xz (from above), zy, screen (y down), oblique; auto is xy\n"
     "                       where all motion is in that plane, screen for circles, else oblique\n"
     "  --arrows on|off      velocity, angular velocity, and the impulse of contacts and joints "
     "in\n"
     "                       the tick; the number is the magnitude, with the sign of x + y + z\n"
     "  --names on|off       names of bodies that can move\n"
     "  --grid N             values of friction, and of restitution, in a map (11)\n"
     "  --inputs FILE        as for carom sim\n"
     "  --out FILE           instead of stdout\n"
     "  --db FILE            SCENE is a name in this database\n"
     "\n"
     "The same input gives the same bytes, but for the chart of costs.\n"},
    {"help", "this, or the help of one command", "usage: carom help [COMMAND]\n"},
    {"version", "version, engine version, commit, compiler", "usage: carom version\n"},
};

#define PAGE_COUNT (sizeof PAGES / sizeof PAGES[0])

bool cm_cli_print_help(void *out, const char *command)
{
    for (size_t i = 0; i < PAGE_COUNT; ++i) {
        if (strcmp(PAGES[i].command, command) == 0) {
            fprintf(out, "carom %s: %s\n%s", command, PAGES[i].summary, PAGES[i].text);
            if (strcmp(command, "eval") == 0) {
                cm_cli_eval_help(out);
            }
            return true;
        }
    }
    fprintf(out, "carom %s: not built yet\n", command);
    return false;
}

int cm_cli_help(int argc, char **argv)
{
    const char *command = NULL;
    uint32_t count = 0;
    int status = cm_options_parse(argc, argv, NULL, 0, &command, 1, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count == 1) {
        for (size_t i = 0; i < PAGE_COUNT; ++i) {
            if (strcmp(PAGES[i].command, command) == 0) {
                cm_cli_print_help(stdout, command);
                return cm_cli_finish(CM_STATUS_DONE);
            }
        }
        const char *at = strstr(", " LATER ",", command);
        bool later = at != NULL && at[-1] == ' ' && at[strlen(command)] == ',' &&
                     strchr(command, ',') == NULL;
        cm_cli_error(later ? "help: %s: not built yet"
                           : "help: unknown command '%s', see 'carom help'",
                     command);
        return CM_STATUS_USAGE;
    }
    printf("carom: multiplayer physics matches, deterministic and recorded\n\n"
           "usage: carom COMMAND [arguments]\n\n");
    for (size_t i = 0; i < PAGE_COUNT; ++i) {
        printf("  %-9s %s\n", PAGES[i].command, PAGES[i].summary);
    }
    printf("\nnot built yet: " LATER "\n"
           "exit status: 0 done, 1 the operation failed, 2 bad usage or bad input\n");
    return cm_cli_finish(CM_STATUS_DONE);
}
