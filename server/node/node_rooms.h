// The rooms of `carom serve`: their scenes, loaded, and the matches that they are.
#ifndef CM_SERVER_NODE_NODE_ROOMS_H
#define CM_SERVER_NODE_NODE_ROOMS_H

#include "server/node/module_loader.h"
#include "server/node/quarantine.h"
#include "server/node/worker.h"
#include "server/ops/failure.h"

#define CM_SERVE_PATH_MAX 512u

typedef struct cm_node_room {
    cm_room_spec spec;            // its name and numbers, completed from the configuration
    cm_scene *scene;              // changed as the spec asks
    cm_live_match *live;          // that it goes on with, whose the scene is; NULL: a new match
    uint32_t tick_rate;           // of its scene
    bool on_demand;               // opened for whoever named it first
    cm_match_handle match;        // once open and recorded
    char path[CM_SERVE_PATH_MAX]; // of the match file
    bool failure_told;            // that it is not durable
    bool released;                // closing here: it goes on in another process
    uint32_t gaps;                // told: times that it went on in another file
    uint32_t left; // matches of its name, in this process, that did not prove themselves
} cm_node_room;

// In the order of the worker's rooms.
typedef struct cm_node_rooms {
    uint32_t count;
    cm_node_room rooms[CM_WORKER_ROOMS_MAX];
    cm_scene *on_demand; // of rooms that players open; freed by who loaded it; NULL: they open none
    uint32_t closing_count; // rooms that were closed, whose recordings are still being written
    cm_node_room closing[CM_WORKER_ROOMS_MAX];
    cm_quarantine refused;   // scenes that are not opened
    cm_module_files modules; // of who loaded them
} cm_node_rooms;

// Receives what is wrong with each room, where a check goes on behind the first one.
typedef struct cm_node_rooms_wrong {
    void (*tell)(void *user, const char *text);
    void *user;
} cm_node_rooms_wrong;

// Loads the scenes that the configuration names: that of `scene`, whose room has the scene's own
// name, then those of `rooms`; without either, those of the catalogue, or none where matches are to
// be resumed. `all` is told of every room that fails (the failure is then the last one); NULL: the
// first one ends it.
carom_result cm_node_rooms_load(const cm_config *config, cm_node_rooms *rooms,
                                const cm_node_rooms_wrong *all, cm_failure *failure);
// The failure that there is none.
carom_result cm_node_rooms_none(const cm_config *config, cm_failure *failure);
// Clients that a process has places for where its max_clients is 0: as many as the rooms take
// together, at least CM_SERVE_CLIENTS_LEAST, at most CM_CLIENTS_MAX.
#define CM_SERVE_CLIENTS_LEAST 256u // for rooms that an operator opens later
uint32_t cm_node_rooms_clients(const cm_node_rooms *rooms);
// Opens them all in a worker; `all` as above.
carom_result cm_node_rooms_open(cm_node_rooms *rooms, cm_worker *worker,
                                const cm_node_rooms_wrong *all, cm_failure *failure);
// One more, while the server runs, as `spec` says. False, and why in `failure`.
bool cm_node_rooms_add(cm_node_rooms *rooms, const cm_config *config, cm_worker *worker,
                       cm_store *store, const cm_room_spec *spec, cm_failure *failure);
// The one that was removed once more, where the configuration (or the catalogue, for it) names it,
// with a new match. False: nobody does (its text is empty), or why.
bool cm_node_rooms_anew(cm_node_rooms *rooms, const cm_config *config, cm_worker *worker,
                        cm_store *store, const char *name, cm_failure *failure);
// One that a player named: where `rooms` names it as that says, else from the scene on demand.
// False: there are as many as the configuration allows, or why.
bool cm_node_rooms_demand(cm_node_rooms *rooms, const cm_config *config, cm_worker *worker,
                          cm_store *store, const char *name, cm_failure *failure);
// Closes one, which is then among the closing. False, and why.
bool cm_node_rooms_remove(cm_node_rooms *rooms, cm_worker *worker, const char *name,
                          cm_failure *failure);
// The same of one that goes on in another process, which may open its file once it is no more
// among the closing. False: there is none, or its match could not go on.
bool cm_node_rooms_release(cm_node_rooms *rooms, cm_worker *worker, cm_store *store,
                           const char *name);
// One of the closing is written, what there was to say of it was said, and its worker uses its
// scene no more.
void cm_node_rooms_closed(cm_node_rooms *rooms, uint32_t number);
// Fills in the files that record them; once they are open.
void cm_node_rooms_record(cm_node_rooms *rooms, const cm_worker *worker, cm_store *store);
// Releases the scenes; the worker must be gone. Not that of rooms on demand, which other processes'
// copies share.
void cm_node_rooms_free(cm_node_rooms *rooms);

#endif
