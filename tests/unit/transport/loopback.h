// A transport within one process: what is sent is there with the next poll, in order and whole. It
// needs no socket, no clock and no keys: tests of sessions run over it.
//
// One thread has both ends. The clients' ends are destroyed before the loopback.
#ifndef CM_TEST_TRANSPORT_LOOPBACK_H
#define CM_TEST_TRANSPORT_LOOPBACK_H

#include "shared/transport/transport.h"

typedef struct cm_loopback cm_loopback;

cm_loopback *cm_loopback_create(uint32_t capacity); // NULL: no memory
void cm_loopback_destroy(cm_loopback *loopback);
// The server's end.
cm_transport *cm_loopback_transport(cm_loopback *loopback);
// A client's end, which is connected: OPENED comes with the first poll of either. NULL: no place is
// free, or memory is short.
cm_transport *cm_loopback_connect(cm_loopback *loopback);

#endif
