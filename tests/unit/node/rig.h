// What the tests of the server share: small scenes, inputs of the sandbox, a bare client.
#ifndef CM_HOST_RIG_H
#define CM_HOST_RIG_H

#include "client-sdk/src/link.h"
#include "shared/game/game_host.h"

#define RIG_INPUT_SIZE 9u

// A sandbox of side x side cubes on a plane.
cm_scene *rig_scene(uint32_t side);
// The same; nobody is told the inputs of others.
cm_scene *rig_secret_scene(uint32_t side);
// The same with exact sync; where its cubes were is remembered, if they are few.
cm_scene *rig_exact_scene(uint32_t side);
// An input of the sandbox.
void rig_input(uint8_t bytes[CAROM_INPUT_MAX], float x, float z, uint8_t buttons);

// Whether this machine has ::1. Where it has not, a test of IPv6 is SKIPPED.
bool rig_has_ipv6(void);
// The SDK's own link, connecting to a port of the loopback address; with a pass by its token.
cm_transport *rig_dial(uint16_t port, const cm_token_pass *pass);

#endif
