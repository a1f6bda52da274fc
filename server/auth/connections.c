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

// True if place `a` yields to a new connection before place `b`, which may be none.
static bool yields_before(const cm_connections *connections, uint32_t a, uint32_t b)
{
    if (b == CM_CONNECTION_NONE) {
        return true;
    }
    const cm_connection *x = &connections->places[a], *y = &connections->places[b];
    return x->confirmed != y->confirmed ? !x->confirmed : x->opened_us < y->opened_us;
}

// True if the place may be given to a new connection.
static bool yields(const cm_connection *c, uint64_t now_us)
{
    return !c->confirmed || (!c->joined && now_us >= c->opened_us + CM_CONNECTION_HELLO_US);
}

static bool same_slot(const cm_token *a, const cm_token *b)
{
    return a->kind == CM_TOKEN_RESUME && b->kind == CM_TOKEN_RESUME && a->match_id == b->match_id &&
           a->player == b->player;
}

uint32_t cm_connections_find_place(const cm_connections *connections, const cm_connection *made)
{
    uint32_t free_place = CM_CONNECTION_NONE, of_slot = 0;
    uint32_t first = CM_CONNECTION_NONE, first_of_slot = CM_CONNECTION_NONE;
    for (uint32_t i = 0; i < connections->capacity; i++) {
        const cm_connection *c = &connections->places[i];
        if (c->seal.id == 0) {
            free_place = free_place == CM_CONNECTION_NONE ? i : free_place;
            continue;
        }
        bool same = same_slot(&c->token, &made->token);
        of_slot += same;
        if (!yields(c, made->opened_us)) {
            continue;
        }
        first = yields_before(connections, i, first) ? i : first;
        if (same && yields_before(connections, i, first_of_slot)) {
            first_of_slot = i;
        }
    }
    return of_slot >= CM_CONNECTIONS_OF_SLOT  ? first_of_slot
           : free_place != CM_CONNECTION_NONE ? free_place
                                              : first;
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
