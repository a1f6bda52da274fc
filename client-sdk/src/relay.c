// Two connected sockets, so the kernel drops what comes from anybody else. Nothing blocks: a
// datagram that cannot go on at once is lost, as any may be.
#include "client-sdk/src/relay.h"

#include <enet/enet.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shared/transport/socket_address.h"

#define TURN      256   // datagrams in one direction, then the other has its turn
#define BYTES_MAX 2048u // above what either end sends

// The address of ENet's socket: it may not have been bound yet.
static bool find_enet(ENetHost *host, cm_address *address)
{
    ENetAddress own = {.port = 0}, any = {.host = ENET_HOST_ANY, .port = 0};
    bool known = enet_socket_get_address(host->socket, &own) == 0 && own.port != 0;
    known = known || (enet_socket_bind(host->socket, &any) == 0 &&
                      enet_socket_get_address(host->socket, &own) == 0);
    *address = CM_ADDRESS_IPV4(127, 0, 0, 1, own.port);
    return known && own.port != 0;
}

// -1: there is none of its kind, or no way to the other end.
static int open_socket(const cm_address *own, const cm_address *other)
{
    struct sockaddr_storage at, to;
    socklen_t size = cm_socket_address_write(other, &to);
    int made = socket(to.ss_family, SOCK_DGRAM, 0);
    bool good = made >= 0 && fcntl(made, F_SETFL, O_NONBLOCK) == 0 &&
                fcntl(made, F_SETFD, FD_CLOEXEC) == 0 &&
                (own == NULL ||
                 bind(made, (struct sockaddr *)&at, cm_socket_address_write(own, &at)) == 0) &&
                connect(made, (struct sockaddr *)&to, size) == 0;
    if (made >= 0 && !good) {
        close(made);
    }
    return good ? made : -1;
}

static bool open_near(cm_relay *relay, ENetHost *host)
{
    const cm_address own = CM_ADDRESS_IPV4(127, 0, 0, 1, 0);
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    cm_address enet, bound;
    relay->near = find_enet(host, &enet) ? open_socket(&own, &enet) : -1;
    relay->open = relay->near >= 0 &&
                  getsockname(relay->near, (struct sockaddr *)&at, &size) == 0 &&
                  cm_socket_address_read(&at, &bound);
    relay->port = relay->open ? bound.port : 0;
    relay->far = -1;
    return relay->open;
}

bool cm_relay_aim(cm_relay *relay, ENetHost *host, const cm_address *server)
{
    if (!relay->open && !open_near(relay, host)) {
        return false;
    }
    if (relay->far >= 0) {
        close(relay->far);
    }
    relay->far = open_socket(NULL, server); // nothing comes from the server before it
    return relay->far >= 0;
}

static void pump(int from, int to)
{
    uint8_t bytes[BYTES_MAX];
    for (int i = 0; i < TURN; i++) {
        ssize_t size = recv(from, bytes, sizeof bytes, 0);
        if (size <= 0) { // none, or nobody is there: its silence says as much
            return;
        }
        (void)!send(to, bytes, (size_t)size, MSG_NOSIGNAL);
    }
}

void cm_relay_pump(cm_relay *relay)
{
    if (relay->open && relay->far >= 0) {
        pump(relay->near, relay->far);
        pump(relay->far, relay->near);
    }
}

void cm_relay_close(cm_relay *relay)
{
    if (relay->open) {
        close(relay->near);
        if (relay->far >= 0) {
            close(relay->far);
        }
        memset(relay, 0, sizeof *relay);
    }
}
