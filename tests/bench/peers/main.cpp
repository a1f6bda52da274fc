// Our engine beside Bullet and ODE: the same scenes, the same core, in turn, thread CPU time of
// each step, and one judge of quality for all (server/bench/quality.h).
//   peers LIMITS [--runs N] [--steps N] [--from N] SCENE.json ...
//   peers LIMITS --games [--runs N] [--steps N] SCENE.json ...     the scenes of games (games.cpp)
// A figure beyond its limit in the table LIMITS ends the program with status 1; a target that is
// missed is printed.
//
// Quote ratios, not times: a machine's speed drifts by tens of percent, but the engines take turns
// within seconds of each other. Each time is the median over the runs of the mean over steps from
// --from on. Overlaps, and the energies at the end, come from poses alone, so that every engine is
// measured in the same way.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <sched.h>

#include "engine.h"
#include "limits.h"
#include "server/tools/bench/samples.h"

namespace {

using namespace peers;

struct Maker {
    const char *name;
    std::unique_ptr<Engine> (*make)(const Scene &);
    const char *(*describe)();
};

const Maker MAKERS[] = {
    {"carom", make_carom, describe_carom},
    {"bullet", make_bullet, describe_bullet},
    {"ode", make_ode, describe_ode},
};
constexpr size_t ENGINES = sizeof MAKERS / sizeof MAKERS[0];

// Steps of the first run at which overlaps are looked at.
constexpr unsigned WATCH_FROM = 60, WATCH_TO = 360, WATCH_EVERY = 5;

struct Options {
    unsigned runs = 3, steps = 360, from = 60;
    std::vector<std::string> scenes;
};

struct Figures {
    bool ran = false;
    std::vector<double> means; // ms, one a run
    cm_quality quality{};
    double worst = 0.0;   // m, the largest overlap of the steps that are watched
    double kinetic = 0.0; // J a kg of what moves, over the last step
};

std::vector<cm_quality_pose> poses_of(const Scene &scene, Engine &engine)
{
    std::vector<cm_quality_pose> poses;
    for (size_t i = 0; i < scene.bodies.size(); i++) {
        poses.push_back(engine.pose(i));
    }
    return poses;
}

// Of the motion from one pose to another: v = dx / dt, and w = 2 u / dt along the body's axes, with
// u of the turn between (small turns).
double kinetic_energy(const Scene &scene, const std::vector<cm_quality_pose> &before,
                      const std::vector<cm_quality_pose> &after)
{
    double energy = 0.0, mass = 0.0;
    for (size_t i = 0; i < scene.bodies.size(); i++) {
        const Body &body = scene.bodies[i];
        const double m = mass_of(body);
        const double *p = before[i].orientation, *q = after[i].orientation;
        const double u[3] = {p[3] * q[0] - p[0] * q[3] - p[1] * q[2] + p[2] * q[1],
                             p[3] * q[1] - p[1] * q[3] - p[2] * q[0] + p[0] * q[2],
                             p[3] * q[2] - p[2] * q[3] - p[0] * q[1] + p[1] * q[0]};
        double moments[3];
        moments_of(body, moments);
        for (int k = 0; k < 3; k++) {
            const double v = (after[i].position[k] - before[i].position[k]) / scene.dt;
            const double w = 2.0 * u[k] / scene.dt;
            energy += body.dynamic ? 0.5 * (m * v * v + moments[k] * w * w) : 0.0;
        }
        mass += body.dynamic ? m : 0.0;
    }
    return mass > 0.0 ? energy / mass : 0.0;
}

cm_quality judge(const Scene &scene, Engine &engine)
{
    std::vector<cm_quality_pose> poses;
    std::vector<cm_solid> solids;
    std::vector<cm_quality_joint> joints;
    double top = -1e30;
    for (size_t i = 0; i < scene.bodies.size(); i++) {
        const Body &body = scene.bodies[i];
        poses.push_back(engine.pose(i));
        cm_solid solid;
        cm_solid_place(&solid, &body.shape, poses[i].position, poses[i].orientation);
        solid.body = static_cast<uint32_t>(i);
        solid.movable = body.dynamic;
        solids.push_back(solid);
        top = body.dynamic ? std::max(top, poses[i].position[1]) : top;
    }
    for (const BallJoint &source : scene.joints) {
        cm_quality_joint joint{source.a, source.b, {}, {}};
        const cm_quality_pose *ends[2] = {&scene.bodies[source.a].pose,
                                          &scene.bodies[source.b].pose};
        double *anchors[2] = {joint.anchor_a, joint.anchor_b};
        for (int end = 0; end < 2; end++) {
            double rows[3][3];
            cm_solid_rotation(ends[end]->orientation, rows);
            for (int i = 0; i < 3; i++) {
                for (int k = 0; k < 3; k++) {
                    anchors[end][i] += rows[k][i] * (source.anchor[k] - ends[end]->position[k]);
                }
            }
        }
        joints.push_back(joint);
    }
    cm_quality quality{};
    const auto count = static_cast<uint32_t>(joints.size());
    if (!cm_quality_of_solids(solids.data(), static_cast<uint32_t>(solids.size()), joints.data(),
                              count, &quality)) {
        throw std::runtime_error("out of memory");
    }
    quality.joint_error = cm_quality_joint_error(poses.data(), joints.data(), count);
    quality.top_height = top;
    return quality;
}

void run_once(const Maker &maker, const Scene &scene, const Options &options, Figures &figures)
{
    std::unique_ptr<Engine> engine = maker.make(scene);
    std::vector<cm_quality_pose> before;
    double sum = 0.0;
    for (unsigned i = 0; i < options.steps; i++) {
        if (!figures.ran && i + 1 == options.steps) {
            before = poses_of(scene, *engine);
        }
        double start = cm_bench_thread_ms();
        engine->step();
        double taken = cm_bench_thread_ms() - start;
        sum += i >= options.from ? taken : 0.0;
        const unsigned step = i + 1;
        if (!figures.ran && step >= WATCH_FROM && step <= WATCH_TO && step % WATCH_EVERY == 0) {
            figures.worst = std::max(figures.worst, judge(scene, *engine).max_penetration);
        }
    }
    if (!figures.ran) {
        figures.quality = judge(scene, *engine);
        figures.kinetic = kinetic_energy(scene, before, poses_of(scene, *engine));
        figures.ran = true;
    }
    figures.means.push_back(sum / (options.steps - options.from));
}

double median(std::vector<double> values)
{
    cm_samples_summary summary;
    cm_samples_summarise(values.data(), static_cast<uint32_t>(values.size()), &summary);
    return summary.median;
}

void print_row(const Scene &scene, const Figures *figures, Limits &limits)
{
    size_t moving = 0;
    for (const Body &body : scene.bodies) {
        moving += body.dynamic;
    }
    std::printf("%-15s %5zu", scene.name.c_str(), moving);
    for (size_t e = 0; e < ENGINES; e++) {
        if (figures[e].ran) {
            std::printf(" %8.3f", median(figures[e].means));
        } else {
            std::printf(" %8s", "-");
        }
    }
    const double ratio = figures[0].ran && figures[1].ran
                             ? median(figures[0].means) / median(figures[1].means)
                             : NAN;
    std::printf("  %6.2f ", ratio);
    for (size_t e = 0; e < ENGINES; e++) {
        const cm_quality &q = figures[e].quality;
        if (figures[e].ran) {
            std::printf(" | %6.1f %5.2f %6.1f %6.2f %7.2f %8.1e", 1e3 * q.max_penetration,
                        1e3 * q.mean_penetration, 1e3 * figures[e].worst, q.top_height,
                        1e3 * q.joint_error, figures[e].kinetic);
        } else {
            std::printf(" | %6s %5s %6s %6s %7s %8s", "-", "-", "-", "-", "-", "-");
        }
    }
    limits.hold(scene.name,
                {{ratio, 1e3 * figures[0].worst, 1e3 * figures[0].quality.joint_error, 0.0, 0.0}});
    std::printf("\n");
    std::fflush(stdout);
}

void print_head(const Options &options)
{
    for (const Maker &maker : MAKERS) {
        std::printf("%s: %s\n", maker.name, maker.describe());
    }
    std::printf("%u steps, mean from step %u on, median of %u runs, thread CPU time, core %d\n",
                options.steps, options.from, options.runs, sched_getcpu());
    std::printf("quality after the last step: worst and mean penetration, mm; the deepest of steps "
                "%u to %u, mm; highest body, m; worst joint error, mm; kinetic energy, J/kg\n\n",
                WATCH_FROM, WATCH_TO);
    std::printf("%-15s %5s %8s %8s %8s  %6s ", "ms a step", "", "carom", "bullet", "ode", "ratio");
    for (const Maker &maker : MAKERS) {
        std::printf(" | %-43s", maker.name);
    }
    std::printf("\n%-15s %5s %8s %8s %8s  %6s ", "scene", "moves", "", "", "", "c/b");
    for (size_t e = 0; e < ENGINES; e++) {
        std::printf(" | %6s %5s %6s %6s %7s %8s", "worst", "mean", "deepest", "top", "joint",
                    "energy");
    }
    std::printf("\n");
}

unsigned count_of(const char *text)
{
    char *end = nullptr;
    unsigned long value = std::strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value > 1000000) {
        throw std::runtime_error(std::string(text) + ": expected a count");
    }
    return static_cast<unsigned>(value);
}

Options read_options(int argc, char **argv)
{
    Options options;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        unsigned *value = word == "--runs"    ? &options.runs
                          : word == "--steps" ? &options.steps
                          : word == "--from"  ? &options.from
                                              : nullptr;
        if (value == nullptr) {
            options.scenes.push_back(word);
        } else if (i + 1 < argc) {
            *value = count_of(argv[++i]);
        }
    }
    if (options.runs == 0 || options.from >= options.steps || options.scenes.empty()) {
        throw std::runtime_error("expected --runs above 0, --from below --steps, and scenes");
    }
    return options;
}

// One core for all: the one it happens to be on.
void stay_on_this_core()
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(sched_getcpu(), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

} // namespace

int main(int argc, char **argv)
{
    int status = 0;
    try {
        if (argc < 2) {
            throw std::runtime_error("expected a table of limits");
        }
        const bool games = argc > 2 && std::strcmp(argv[2], "--games") == 0;
        const Options options = read_options(argc - 1 - games, argv + 1 + games);
        Limits limits(argv[1]);
        if (games) {
            stay_on_this_core();
            run_games(limits, options.runs, options.steps, options.scenes);
            return limits.finish();
        }
        stay_on_this_core();
        print_head(options);
        for (const std::string &path : options.scenes) {
            const Scene scene = load_scene(path);
            Figures figures[ENGINES];
            bool refused[ENGINES] = {};
            for (unsigned run = 0; run < options.runs; run++) {
                for (size_t e = 0; e < ENGINES; e++) {
                    try {
                        if (!refused[e]) {
                            run_once(MAKERS[e], scene, options, figures[e]);
                        }
                    } catch (const std::runtime_error &problem) {
                        std::fprintf(stderr, "peers: %s: %s: %s\n", scene.name.c_str(),
                                     MAKERS[e].name, problem.what());
                        refused[e] = true;
                        status = 2;
                    }
                }
            }
            print_row(scene, figures, limits);
        }
        status = std::max(status, limits.finish());
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "peers: %s\n", problem.what());
        return 2;
    }
    return status;
}
