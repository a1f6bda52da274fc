// The lcp solver: its scratch, its islands, and the order of a step (lcp.h).
//
// Rows come in the order joints, contacts, rows of the game, each by its index; islands in the
// order of their lowest body; so what is solved and how never depends on anything but ids. An
// island of more than direct_rows rows, or one whose system defies solution, is solved iteratively
// and counted. Typical: one mechanism of 100 rows; a heap is better off with the soft solver.
#include "shared/sim/solve/lcp/lcp.h"
#include "shared/sim/solve/report.h"
#include "shared/sim/solve/solver.h"
#include "shared/sim/state/tell.h"

#include "carom/rows.h"

#include <string.h>

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

static void *take(char *base, size_t *offset, size_t size)
{
    void *start = base != NULL ? base + *offset : NULL;
    *offset += line(size);
    return start;
}

static uint32_t row_limit(const carom_limits *limits)
{
    uint64_t rows = 3u * CM_MANIFOLD_MAX * (uint64_t)limits->contacts +
                    CM_JOINT_ROWS_MAX * (uint64_t)limits->joints + CAROM_ROWS_MAX;
    return rows < CM_LCP_ROWS_MAX ? (uint32_t)rows : CM_LCP_ROWS_MAX;
}

static size_t walk(const carom_limits *limits, uint32_t direct_rows, char *base, cm_lcp_step *step)
{
    size_t offset = 0, rows = row_limit(limits), bodies = limits->bodies;
    // Blocks of the iterative form are solved in the same place.
    size_t n = direct_rows > CM_LCP_BLOCK_MAX ? direct_rows : CM_LCP_BLOCK_MAX;
    step->row_limit = (uint32_t)rows;
    step->bodies = take(base, &offset, bodies * sizeof(cm_lcp_body));
    step->rows = take(base, &offset, rows * sizeof(cm_lcp_row));
    step->thirds = take(base, &offset, CAROM_ROWS_MAX * sizeof(cm_lcp_side));
    step->axles = take(base, &offset, bodies * sizeof(uint32_t));
    step->parents = take(base, &offset, bodies * sizeof(uint32_t));
    step->starts = take(base, &offset, (bodies + 1) * sizeof(uint32_t));
    step->order = take(base, &offset, rows * sizeof(uint32_t));
    step->sums = take(base, &offset, bodies * sizeof(cm_lcp_sum));
    step->heads = take(base, &offset, bodies * sizeof(uint32_t));
    step->links = take(base, &offset, CM_LCP_SIDES_MAX * n * sizeof(cm_lcp_link));
    step->matrix = take(base, &offset, n * n * sizeof(double));
    step->work = take(base, &offset, (cm_lcp_work((uint32_t)n) + n) * sizeof(double));
    step->vectors = take(base, &offset, 10 * n * sizeof(double));
    step->normals = take(base, &offset, n * sizeof(uint32_t));
    step->sets = take(base, &offset, n);
    return offset;
}

static size_t scratch_size(const carom_limits *limits, const carom_solver_def *def)
{
    cm_lcp_step unused;
    return walk(limits, def->lcp.direct_rows, NULL, &unused);
}

static void link_rows(cm_lcp_step *step)
{
    cm_islands_begin(step->parents, step->world->state.body_slots);
    for (uint32_t i = 0; i < step->row_count; i++) {
        const cm_lcp_row *row = &step->rows[i];
        for (uint32_t k = 1; k < row->sides; k++) {
            cm_islands_unite(step->parents, row->side[0].body, cm_lcp_row_at(step, row, k)->body);
        }
    }
}

// Rows by island, in their order within it: starts[root] to starts[root + 1] of `order`.
static void sort_rows(cm_lcp_step *step)
{
    uint32_t bodies = step->world->state.body_slots, sum = 0;
    memset(step->starts, 0, (bodies + 1) * sizeof *step->starts);
    for (uint32_t i = 0; i < step->row_count; i++) {
        step->starts[cm_island_root(step->parents, step->rows[i].side[0].body)]++;
    }
    for (uint32_t i = 0; i <= bodies; i++) {
        uint32_t count = step->starts[i];
        step->starts[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < step->row_count; i++) {
        uint32_t root = cm_island_root(step->parents, step->rows[i].side[0].body);
        step->order[step->starts[root]++] = i;
    }
    for (uint32_t i = bodies; i > 0; i--) {
        step->starts[i] = step->starts[i - 1];
    }
    step->starts[0] = 0;
}

static void solve_islands(cm_lcp_step *step)
{
    carom_world_stats *stats = &step->world->stats;
    for (uint32_t i = 0; i < step->world->state.body_slots; i++) {
        uint32_t count = step->starts[i + 1] - step->starts[i];
        const uint32_t *rows = step->order + step->starts[i];
        if (count == 0) {
            continue;
        }
        stats->lcp_rows = count > stats->lcp_rows ? count : stats->lcp_rows;
        bool large = count > step->direct_rows;
        if (!large && cm_lcp_solve_direct(step, rows, count)) {
            for (uint32_t k = 0; k < count; k++) {
                cm_lcp_row_push(step, &step->rows[rows[k]], step->rows[rows[k]].lambda);
            }
            continue;
        }
        cm_tell(step->world, large ? CAROM_LOG_LCP_ISLAND_LARGE : CAROM_LOG_LCP_UNSOLVED, i, 1);
        cm_lcp_solve_blocks(step, rows, count);
    }
}

static void add_rows(cm_lcp_step *step)
{
    step->row_count = step->third_count = 0;
    cm_lcp_load_bodies(step);
    cm_lcp_add_joints(step);
    cm_lcp_add_contacts(step);
    cm_lcp_add_game_rows(step);
}

static void solve(carom_world *world, cm_scratch *scratch)
{
    cm_lcp_step step = {.world = world, .scratch = scratch};
    walk(&world->limits, world->room.direct_rows, scratch->solver, &step);
    step.contacts = cm_rows(world, CM_SECTION_lcp_contact);
    step.old_contacts = cm_old_rows(world, CM_SECTION_lcp_contact);
    step.direct_rows = world->state.direct_rows;
    uint32_t substeps = step.substeps = cm_lcp_substeps(&step);
    step.h = 1.0 / ((double)world->state.tick_rate * (double)substeps);
    world->stats.lcp_rows = world->stats.lcp_solves = 0;
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        step.bodies[i].contact_force = step.bodies[i].contact_torque = cm_d3_of(0.0, 0.0, 0.0);
    }
    double at = cm_clock(world);
    for (uint32_t i = 0; i < substeps; i++) {
        add_rows(&step);
        link_rows(&step);
        sort_rows(&step);
        cm_lap(world, &at, CAROM_STAGE_PREPARE);
        solve_islands(&step);
        if (world->state.flags & CM_WORLD_ENERGY) {
            cm_lcp_keep_energy(&step);
        }
        cm_lap(world, &at, CAROM_STAGE_SOLVE);
        cm_lcp_store_joints(&step, i);
        cm_lcp_store_contacts(&step, i);
        cm_lcp_store_bodies(&step, i + 1 == substeps);
        if (i + 1 < substeps) {
            cm_lcp_move_contacts(&step);
        }
        cm_lap(world, &at, CAROM_STAGE_INTEGRATE);
    }
    cm_report_contacts(world, scratch);
}

const cm_solver cm_solver_lcp = {
    .remembers = CM_REMEMBERS(CM_SECTION_contact) | CM_REMEMBERS(CM_SECTION_feature) |
                 CM_REMEMBERS(CM_SECTION_lcp_contact),
    .manifolds = true,
    .sleeps = true,
    .least_substeps = 1,
    .solve = solve,
    .scratch_size = scratch_size,
    .rules = &cm_lcp_rules,
};
