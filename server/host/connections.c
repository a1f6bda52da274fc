// Places and their index. Ids are chosen by chance, by us, so that the index needs no hash; it is
// made anew when a connection comes or goes, which is rare beside the datagrams that look in it.
#include "server/host/connections.h"

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

uint32_t cm_connections_find_place(const cm_connections *connections)
{
    uint32_t oldest = CM_CONNECTION_NONE;
    for (uint32_t i = 0; i < connections->capacity; i++) {
        const cm_connection *c = &connections->places[i];
        if (c->seal.id == 0) {
            return i;
        }
        if (!c->confirmed && (oldest == CM_CONNECTION_NONE ||
                              c->opened_us < connections->places[oldest].opened_us)) {
            oldest = i;
        }
    }
    return oldest;
}

void cm_connections_put(cm_connections *connections, uint32_t place, const cm_connection *made)
{
    CM_ASSERT(place < connections->capacity);
    connections->places[place] = *made;
    make_index(connections);
}

void cm_connections_end(cm_connections *connections, uint32_t place)
{
    CM_ASSERT(place < connections->capacity);
    cm_crypto_wipe(&connections->places[place], sizeof connections->places[place]);
    make_index(connections);
}
