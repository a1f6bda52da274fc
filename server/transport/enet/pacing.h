// How fast ENet sends to a peer, and how often again: what it would do of its own costs round
// trips.
#ifndef CM_SERVER_TRANSPORT_ENET_PACING_H
#define CM_SERVER_TRANSPORT_ENET_PACING_H

#include "server/transport/enet/peer_budget.h"

struct _ENetPeer;

// What a peer must not choose. `path`: bytes that its datagrams may have.
void cm_pacing_limits(struct _ENetPeer *peer, size_t path);
// When a reliable command goes again. ENet waits for a round trip and four deviations, then each
// time twice as long. But later ones that are acknowledged tell of a loss sooner, a welcome's
// fragments go again unasked, and after a pause of the path nothing waits for many seconds. Nor
// does VERIFY_CONNECT: a few acknowledgements lost, and a client that thinks that it is in would be
// out. `channel`: of the commands that later ones tell of.
void cm_pacing_hasten(struct _ENetPeer *peer, const cm_peer_budget *budget, uint8_t channel);

#endif
