// Nothing blocks: a datagram that cannot go on at once is lost, as any may be.
#include "client-sdk/src/relay.h"

#include <enet/enet.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shared/transport/socket_address.h"

#define LOOPBACK  0x7f000001u
#define TURN      256   // datagrams in one direction, then the other has its turn
#define BYTES_MAX 2048u // above what either end sends

// Where ENet's socket is: it may not have been bound yet.
static bool find_enet(cm_relay *relay, ENetHost *host)
{
    ENetAddress own = {.port = 0}, any = {.host = ENET_HOST_ANY, .port = 0};
    bool known = enet_socket_get_address(host->socket, &own) == 0 && own.port != 0;
    known = known || (enet_socket_bind(host->socket, &any) == 0 &&
                      enet_socket_get_address(host->socket, &own) == 0);
    relay->enet_port = own.port;
    return known && own.port != 0;
}

static bool open_near(cm_relay *relay)
{
    ENetAddress at = {.host = ENET_HOST_TO_NET_32(LOOPBACK), .port = 0};
    relay->near = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    if (relay->near == ENET_SOCKET_NULL) {
        return false;
    }
    enet_socket_set_option(relay->near, ENET_SOCKOPT_NONBLOCK, 1);
    bool bound =
        enet_socket_bind(relay->near, &at) == 0 && enet_socket_get_address(relay->near, &at) == 0;
    relay->port = at.port;
    return bound;
}

// A new one for each server: what is still on its way from another one does not come.
static bool open_far(cm_relay *relay, const cm_address *server)
{
    struct sockaddr_storage to;
    socklen_t size = cm_socket_address_write(server, &to);
    if (relay->far >= 0) {
        close(relay->far);
    }
    relay->far = socket(AF_INET6, SOCK_DGRAM, 0);
    return relay->far >= 0 && fcntl(relay->far, F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(relay->far, F_SETFD, FD_CLOEXEC) == 0 &&
           connect(relay->far, (struct sockaddr *)&to, size) == 0;
}

bool cm_relay_aim(cm_relay *relay, ENetHost *host, const cm_address *server)
{
    if (!relay->open) {
        *relay = (cm_relay){.open = true, .near = ENET_SOCKET_NULL, .far = -1};
        if (!find_enet(relay, host) || !open_near(relay)) {
            cm_relay_close(relay);
            return false;
        }
    }
    return open_far(relay, server);
}

static void pump_out(cm_relay *relay)
{
    uint8_t bytes[BYTES_MAX];
    for (int i = 0; i < TURN; i++) {
        ENetAddress from;
        ENetBuffer buffer = {.data = bytes, .dataLength = sizeof bytes};
        int size = enet_socket_receive(relay->near, &from, &buffer, 1);
        if (size <= 0) {
            return;
        }
        if (from.host == ENET_HOST_TO_NET_32(LOOPBACK) && from.port == relay->enet_port) {
            (void)!send(relay->far, bytes, (size_t)size, MSG_NOSIGNAL);
        }
    }
}

static void pump_in(cm_relay *relay)
{
    uint8_t bytes[BYTES_MAX];
    const ENetAddress to = {.host = ENET_HOST_TO_NET_32(LOOPBACK), .port = relay->enet_port};
    for (int i = 0; i < TURN; i++) {
        ssize_t size = recv(relay->far, bytes, sizeof bytes, 0);
        if (size <= 0) { // none, or nobody is there: its silence says as much
            return;
        }
        ENetBuffer buffer = {.data = bytes, .dataLength = (size_t)size};
        enet_socket_send(relay->near, &to, &buffer, 1);
    }
}

void cm_relay_pump(cm_relay *relay)
{
    if (relay->open && relay->far >= 0) {
        pump_out(relay);
        pump_in(relay);
    }
}

void cm_relay_close(cm_relay *relay)
{
    if (relay->open) {
        if (relay->near != ENET_SOCKET_NULL) {
            enet_socket_destroy(relay->near);
        }
        if (relay->far >= 0) {
            close(relay->far);
        }
        memset(relay, 0, sizeof *relay);
    }
}
