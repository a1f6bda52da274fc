// The pacing of a peer: the rate of sending and the times of resending. ENet's own rules cost round
// trips.
#ifndef CM_SERVER_TRANSPORT_ENET_PACING_H
#define CM_SERVER_TRANSPORT_ENET_PACING_H

#include "server/transport/enet/peer_budget.h"

struct _ENetPeer;

// Sets the limits that a peer must not choose. `path`: bytes that its datagrams may have.
void cm_pacing_limits(struct _ENetPeer *peer, size_t path);
// Resends reliable commands earlier than ENet does, which waits for a round trip and four
// deviations, then doubles the wait each time. A command counts as lost when later ones are
// acknowledged, a welcome's fragments are resent early, and after a pause of the path no command
// waits for many seconds. VERIFY_CONNECT is bounded too: without that, a few lost acks would end a
// connection that its client believes open. `channel`: of the commands whose loss later acks show.
void cm_pacing_hasten(struct _ENetPeer *peer, const cm_peer_budget *budget, uint8_t channel);

#endif
