// Datagrams under way: what a link does to one (lose, delay, double), and queues ordered by (due
// time, number), so that two runs from one seed deliver alike.
#ifndef CM_NET_LINK_H
#define CM_NET_LINK_H

#include "shared/base/rng.h"
#include "shared/net/net.h"

#include <stddef.h>

typedef struct cm_datagram {
    uint64_t due_us;
    uint64_t number;  // breaks ties: the order in which they were sent
    int socket;       // that sends or receives it
    cm_address other; // the other end
    uint32_t size;
    uint8_t *bytes; // owned
} cm_datagram;

// A binary heap; the earliest first.
typedef struct cm_datagram_queue {
    cm_datagram *items;
    uint32_t count, capacity;
    size_t bytes, bytes_max; // beyond it a push is refused
} cm_datagram_queue;

// Takes a copy of the bytes. False: the queue is full (or memory is).
bool cm_datagram_push(cm_datagram_queue *queue, const cm_datagram *datagram, const uint8_t *bytes);
// Moves the earliest out; the caller frees its bytes.
cm_datagram cm_datagram_pop(cm_datagram_queue *queue);
void cm_datagram_queue_clear(cm_datagram_queue *queue);

// The fate of one datagram on a link: copies 0, 1 or 2, and the delay of each. It always draws the
// same count of random numbers, so that the settings of one link never shift the random sequence of
// another.
typedef struct cm_link_fate {
    uint32_t copies;
    uint64_t delay_us[2];
} cm_link_fate;

cm_link_fate cm_link_draw(const cm_link_def *link, cm_rng *rng);

#endif
