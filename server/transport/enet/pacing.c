// ENet's list of what was sent, walked once a turn for each peer: some dozens of commands.
#include "server/transport/enet/pacing.h"

#include <enet/enet.h>

#include "shared/transport/enet_hooks.h"

#define TWICE_MS         12u   // after which the fragments of a message go a second time
#define TWICE_FRAGMENTS  40u   // of a welcome of so many at most
#define RESEND_SILENT_MS 1000u // of a peer: then less is sent again to it

void cm_pacing_limits(ENetPeer *peer, size_t path)
{
    peer->mtu = (enet_uint32)CM_FRAME_MTU(path);
    peer->windowSize = ENET_PROTOCOL_MAXIMUM_WINDOW_SIZE;
    cm_enet_hold(peer);
}

// A fragment of a welcome goes twice: with a dozen of them one is lost on every other bad path, and
// would cost a round trip and a half. What comes later does not: it would take the views' bytes.
static bool goes_twice(const ENetOutgoingCommand *command, const cm_peer_budget *budget,
                       enet_uint32 age_ms)
{
    const ENetProtocol *sent = &command->command;
    bool fragment =
        (sent->header.command & ENET_PROTOCOL_COMMAND_MASK) == ENET_PROTOCOL_COMMAND_SEND_FRAGMENT;
    return fragment && !budget->welcomed && command->sendAttempts == 1 && age_ms >= TWICE_MS &&
           ENET_NET_TO_HOST_32(sent->sendFragment.fragmentCount) <= TWICE_FRAGMENTS;
}

void cm_pacing_hasten(ENetPeer *peer, const cm_peer_budget *budget, uint8_t channel)
{
    enet_uint32 now = enet_time_get(), trip = peer->roundTripTime;
    bool silent = now - budget->heard_ms > RESEND_SILENT_MS;
    enet_uint32 least = trip + 4 * peer->roundTripTimeVariance;
    enet_uint32 most = least + (silent ? RESEND_SILENT_MS : trip);
    for (ENetListIterator at = enet_list_begin(&peer->sentReliableCommands);
         at != enet_list_end(&peer->sentReliableCommands); at = enet_list_next(at)) {
        ENetOutgoingCommand *command = (ENetOutgoingCommand *)(void *)at;
        enet_uint32 age = now - command->sentTime, wait = command->roundTripTimeout;
        bool missed = command->command.header.channelID == channel && command->sendAttempts == 1 &&
                      cm_peer_budget_missed(budget, command->reliableSequenceNumber);
        if (missed || goes_twice(command, budget, age)) {
            wait = age;
        } else if (command->sendAttempts > 1) {
            wait = wait < least ? least : wait > most ? most : wait;
        }
        if (wait != command->roundTripTimeout) {
            command->roundTripTimeout = wait;
            peer->nextTimeout = now; // looked at again
        }
    }
}
