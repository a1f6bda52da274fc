// Places and their index. Ids are chosen by chance, by us, so that the index needs no hash; it is
// made anew when a connection comes or goes, which is rare beside the datagrams that look in it.
#include "server/auth/connections.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

bool cm_connections_init(cm_connections *connections, uint32_t capacity)
{
    uint32_t index = 16;
    while (index < 2 * capacity) {
        index *= 2;
    }
    connections->capacity = capacity;
    connections->index_mask = index - 1;
    connections->places = calloc(capacity, sizeof *connections->places);
    connections->index = calloc(index, sizeof *connections->index);
    return connections->places != NULL && connections->index != NULL;
}

void cm_connections_free(cm_connections *connections)
{
    if (connections->places != NULL) {
        cm_crypto_wipe(connections->places, connections->capacity * sizeof *connections->places);
    }
    free(connections->places);
    free(connections->index);
}

uint32_t cm_connections_find(const cm_connections *connections, uint32_t id)
{
    for (uint32_t at = id;; at++) {
        uint32_t entry = connections->index[at & connections->index_mask];
        if (entry == 0 || id == 0) {
            return CM_CONNECTION_NONE;
        }
        if (connections->places[entry - 1].seal.id == id) {
            return entry - 1;
        }
    }
}

static void make_index(cm_connections *connections)
{
    uint32_t mask = connections->index_mask;
    memset(connections->index, 0, (mask + 1) * sizeof *connections->index);
    for (uint32_t i = 0; i < connections->capacity; i++) {
        uint32_t at = connections->places[i].seal.id;
        if (at == 0) {
            continue;
        }
        while (connections->index[at & mask] != 0) {
            at++;
        }
        connections->index[at & mask] = i + 1;
    }
}

// Than place b, which may be none.
static bool is_older(const cm_connections *connections, uint32_t a, uint32_t b)
{
    return b == CM_CONNECTION_NONE ||
           connections->places[a].opened_us < connections->places[b].opened_us;
}

static bool same_slot(const cm_token *a, const cm_token *b)
{
    return a->kind == CM_TOKEN_RESUME && b->kind == CM_TOKEN_RESUME && a->match_id == b->match_id &&
           a->player == b->player;
}

uint32_t cm_connections_find_place(const cm_connections *connections, const cm_token *token)
{
    uint32_t free_place = CM_CONNECTION_NONE, of_slot = 0;
    uint32_t oldest = CM_CONNECTION_NONE, oldest_of_slot = CM_CONNECTION_NONE;
    for (uint32_t i = 0; i < connections->capacity; i++) {
        const cm_connection *c = &connections->places[i];
        if (c->seal.id == 0) {
            free_place = free_place == CM_CONNECTION_NONE ? i : free_place;
            continue;
        }
        bool same = same_slot(&c->token, token);
        of_slot += same;
        if (!c->confirmed && is_older(connections, i, oldest)) {
            oldest = i;
        }
        if (!c->confirmed && same && is_older(connections, i, oldest_of_slot)) {
            oldest_of_slot = i;
        }
    }
    return of_slot >= CM_CONNECTIONS_OF_SLOT  ? oldest_of_slot
           : free_place != CM_CONNECTION_NONE ? free_place
                                              : oldest;
}

void cm_connections_put(cm_connections *connections, uint32_t place, const cm_connection *made)
{
    CM_ASSERT(place < connections->capacity);
    connections->count += connections->places[place].seal.id == 0;
    connections->places[place] = *made;
    make_index(connections);
}

void cm_connections_end(cm_connections *connections, uint32_t place)
{
    CM_ASSERT(place < connections->capacity);
    connections->count -= connections->places[place].seal.id != 0;
    cm_crypto_wipe(&connections->places[place], sizeof connections->places[place]);
    make_index(connections);
}
