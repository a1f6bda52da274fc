// Scenes, inputs and a bare client for the tests of the server; see rig.h.
#include "tests/unit/node/rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/memory.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"

// `keys` of the scene, and of its cubes.
static cm_scene *make_scene(uint32_t side, const char *keys, const char *of)
{
    char text[1024];
    double spacing = side <= 16 ? 1.5 : 28.0 / side; // inside the bounds
    int size = snprintf(
        text, sizeof text,
        "{\"carom\": 1, \"name\": \"rig\", \"module\": \"sandbox\",%s"
        " \"bounds\": [[-32, -8, -32], [32, 24, 32]],"
        " \"bodies\": [{\"name\": \"ground\", \"type\": \"static\","
        "   \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}],"
        " \"arrays\": [{\"name\": \"cube\", \"origin\": [-4, 0.2, -4], \"count\": [%u, 1, %u],"
        "   \"spacing\": [%g, 1, %g], \"of\": {%s\"mass\": 0.5,"
        "     \"shapes\": [{\"box\": {\"half_extents\": [0.2, 0.2, 0.2]}}]}}]}",
        keys, side, side, spacing, spacing, of);
    cm_scene *scene = NULL;
    cm_scene_error error;
    carom_result result = cm_scene_from_json(text, (size_t)size, &scene, &error);
    cr_assert_eq(result, CAROM_OK, "%s: %s", error.path, error.message);
    return scene;
}

cm_scene *rig_scene(uint32_t side)
{
    return make_scene(side, "", "");
}

cm_scene *rig_secret_scene(uint32_t side)
{
    return make_scene(side, " \"replication\": {\"relay\": false},", "");
}

cm_scene *rig_exact_scene(uint32_t side)
{
    return make_scene(side, " \"replication\": {\"sync\": \"inputs\"},",
                      side <= 8 ? "\"history\": true, " : "");
}

static void put_float(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

void rig_input(uint8_t bytes[CAROM_INPUT_MAX], float x, float z, uint8_t buttons)
{
    memset(bytes, 0, CAROM_INPUT_MAX);
    put_float(bytes, x);
    put_float(bytes + 4, z);
    bytes[8] = buttons;
}

cm_transport *rig_dial(uint16_t port, const cm_token_pass *pass)
{
    cm_client_link_def def = {.allocator = &cm_by_malloc,
                              .pass = pass,
                              .host = "127.0.0.1",
                              .port = port,
                              .random = cm_net_random};
    cm_transport *link = NULL;
    cr_assert_eq(cm_client_link_open(&def, &link), CAROM_OK);
    return link;
}

bool rig_has_ipv6(void)
{
    const struct sockaddr_in6 one = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int probe = socket(AF_INET6, SOCK_DGRAM, 0);
    bool bound = probe >= 0 && bind(probe, (const struct sockaddr *)&one, sizeof one) == 0;
    if (probe >= 0) {
        close(probe);
    }
    if (!bound) { // as tests/suites.py reads it
        fputs("SKIPPED: IPv6: this machine has no ::1\n", stderr);
    }
    return bound;
}
