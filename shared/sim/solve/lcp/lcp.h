// The lcp solver inside a world: bodies, rows and islands of one step. Private to shared/sim.
//
// A step (JP2003526160A): forces and the rotational force; rows of joints, contacts and the game,
// each a Jacobian J, what is wanted of J v, an error, bounds, slip; per island A = J M^-1 J^T with
// epsilon and slip / h on its diagonal and a boxed LCP for the forces; new velocities, and with
// them new poses. All in binary64 from the state's binary32, and rounded into it at the end.
//
// Dampings are outside forces taken implicitly (carom_lcp_implicit_step): masses grow by h d, so
// that what a constraint does against a damped body is implicit too.
//
// A step remembers of a contact cm_lcp_contact, of a joint impulse[place], the force or
// torque.
//
// A tick is one step, or as many as its mechanisms want (rate.c).
//
// Typical: an island of 20 bodies and 100 rows.
#ifndef CM_SIM_SOLVE_LCP_LCP_H
#define CM_SIM_SOLVE_LCP_LCP_H

#include "shared/base/dvec.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/solve/rules.h"
#include "shared/sim/solve/lcp/system.h"
#include "shared/sim/state/scratch.h"

#define CM_LCP_ROWS_MAX  200000u // of a world; more are left out and counted
#define CM_LCP_BLOCK_MAX 12u     // rows that the iterative form solves at once
#define CM_LCP_SIDES_MAX 3u

typedef struct cm_lcp_body {
    cm_d3 position;
    cm_dquat orientation;
    cm_d3 v, w;           // at the start of the step
    cm_d3 free_v, free_w; // with all but constraint forces
    cm_d3 middle;         // the body turns with it, where rows do not turn it
    cm_d3 turned;         // what is damped into free_w
    cm_d3 end;            // that of a body that keeps its momentum, at the end of the step
    cm_d3 dv, dw;         // acceleration by constraint forces
    cm_d3 inverse_mass;   // along world axes: 0 where locked
    double inverse[6];    // inertia, world axes: xx xy xz yy yz zz
    cm_d3 contact_force, contact_torque;
    uint16_t dynamic; // it can be pushed
    uint16_t moving;  // it has a velocity
    uint16_t hangs;   // rate.c: of a mechanism's root: nothing moves what it hangs on
    double weight;    // N, likewise
} cm_lcp_body;

// Effect of a row on one body that can be pushed.
typedef struct cm_lcp_side {
    uint32_t body, pad;
    double j[6]; // linear, angular
    double m[6]; // M^-1 J^T
} cm_lcp_side;

typedef enum cm_lcp_owner {
    CM_LCP_OF_JOINT,   // owner: slot; place: of its impulse
    CM_LCP_OF_CONTACT, // owner: index of the contact; place: 3 k + (0 normal, 1 and 2 tangents)
    CM_LCP_OF_GAME,    // owner: number of the row
} cm_lcp_owner;

typedef struct cm_lcp_row {
    cm_lcp_side side[2];
    uint32_t third; // of the thirds; CM_NONE: none
    uint32_t owner;
    uint8_t kind, place, sides, set;
    bool rigid;      // of a joint, without bounds: it does no work
    uint32_t normal; // row whose force bounds this one; CM_NONE: none
    uint32_t local;  // index within the island's system
    double b;        // wanted acceleration of J v, less what it has without constraint forces
    double lower, upper;
    double diagonal; // epsilon + slip / h
    double friction, most;
    double lambda; // last step's, then this one's
} cm_lcp_row;

// A side of a row of the island that is solved, in the list of its body.
typedef struct cm_lcp_link {
    uint32_t next; // link; CM_NONE: the last
    uint32_t row;  // in the island's system
    const double *m;
} cm_lcp_link;

// Integration `energy`: a mechanism, at its root.
typedef struct cm_lcp_sum {
    double work, energy, mass; // of rigid rows; of what moves beside v and w. J, kg
    cm_d3 center, momentum;    // mass times centre
    cm_d3 angular;             // about the centre
    cm_dmat inertia;
    cm_d3 v, w; // as if it were rigid; 0 where it hangs on something
    bool hangs, touched;
} cm_lcp_sum;

typedef struct cm_lcp_step {
    carom_world *world;
    cm_scratch *scratch;
    double h;
    uint32_t substeps;                       // of the tick
    cm_lcp_contact *contacts, *old_contacts; // the state's, and last step's
    cm_lcp_body *bodies;
    cm_lcp_row *rows;
    uint32_t row_count, row_limit;
    cm_lcp_side *thirds;
    uint32_t third_count;
    uint32_t *axles; // of a body slot: joint slot of the hinge or steering it turns on, or CM_NONE
    uint32_t *parents;  // of a body slot: islands
    uint32_t *starts;   // of a body slot: its island's rows in `order`
    uint32_t *order;    // rows by island
    cm_lcp_sum *sums;   // of a body slot
    uint32_t *heads;    // of a body slot: first of its links
    cm_lcp_link *links; // of a side of the island's system
    uint32_t direct_rows;
    double *matrix;    // direct_rows^2
    double *work;      // cm_lcp_work(direct_rows), or of a block
    double *vectors;   // 10 a row of direct_rows, or of a block
    uint32_t *normals; // of the island's system
    uint8_t *sets;
} cm_lcp_step;

// rate.c: substeps of the tick.
uint32_t cm_lcp_substeps(cm_lcp_step *step);
bool cm_lcp_can_move(const carom_world *world, uint32_t slot); // dynamic
// Bodies that joints hold together: `parents`.
void cm_lcp_find_mechanisms(cm_lcp_step *step);

// energy.c: what joints took goes back to the mechanisms that nothing touches.
void cm_lcp_keep_energy(cm_lcp_step *step);

// body.c -----------------------------------------------------------------------------------------
void cm_lcp_load_bodies(cm_lcp_step *step);
void cm_lcp_store_bodies(cm_lcp_step *step, bool last);

// rows.c -----------------------------------------------------------------------------------------
// A row without bodies, free and without error; NULL where there is no room.
cm_lcp_row *cm_lcp_row_add(cm_lcp_step *step, cm_lcp_owner kind, uint32_t owner, uint32_t place);
// Adds a body's part: of what cannot be pushed only its velocity counts. CM_NONE: the world.
void cm_lcp_row_side(cm_lcp_step *step, cm_lcp_row *row, uint32_t body, cm_d3 linear,
                     cm_d3 angular);
// J M^-1 J^T of the row itself.
double cm_lcp_row_mobility(const cm_lcp_step *step, const cm_lcp_row *row);
// b from the wanted velocity and the error's part; J v with free velocities stands in b before.
void cm_lcp_row_want(const cm_lcp_step *step, cm_lcp_row *row, double velocity, double error,
                     double gamma);
static inline const cm_lcp_side *cm_lcp_row_at(const cm_lcp_step *step, const cm_lcp_row *row,
                                               uint32_t i)
{
    return i < 2 ? &row->side[i] : &step->thirds[row->third];
}
// Drops the last row, if nothing in it can be pushed; true where it stays.
bool cm_lcp_row_keep(cm_lcp_step *step, cm_lcp_row *row);
// Adds a row's force to the accelerations of its bodies.
void cm_lcp_row_push(cm_lcp_step *step, const cm_lcp_row *row, double force);

// Axes of a frame turned by q. The third is across the first two as they are rounded.
static inline cm_dmat cm_lcp_axes(cm_dquat q)
{
    cm_dmat m = cm_dmat_from_quat(q);
    m.z = cm_d3_cross(m.x, m.y);
    return m;
}

static inline double cm_lcp_choose(float own, float worlds)
{
    return (double)(own >= 0.0f ? own : worlds);
}

// Rows of each kind, in order, and what they leave in the state.
void cm_lcp_add_joints(cm_lcp_step *step);
void cm_lcp_store_joints(cm_lcp_step *step, uint32_t substep);
void cm_lcp_add_contacts(cm_lcp_step *step);
void cm_lcp_store_contacts(cm_lcp_step *step, uint32_t substep);
void cm_lcp_move_contacts(cm_lcp_step *step);
void cm_lcp_add_game_rows(cm_lcp_step *step);

// direct.c, block.c: an island's forces, into lambda and set of its rows. False: no
// solution was found, and nothing is written.
bool cm_lcp_solve_direct(cm_lcp_step *step, const uint32_t *rows, uint32_t count);
void cm_lcp_solve_blocks(cm_lcp_step *step, const uint32_t *rows, uint32_t count);

// Tangent rows that a friction model bounds by their normal row.
static inline bool cm_lcp_has_friction(const cm_lcp_row *row)
{
    return row->normal != CM_NONE;
}

// rules.c: what this solver asks of scenes.
extern const cm_scene_rules cm_lcp_rules;

#endif
