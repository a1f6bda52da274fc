// One loop round one node.
#include "server/node/node_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "server/node/node_control.h"

#define WAIT_US 100000u // at most

static void wait_for_link(void *user, uint32_t most_ms)
{
    const cm_worker_link *link = user;
    struct pollfd fd = {.fd = link->descriptor, .events = POLLIN};
    if (most_ms > 0) {
        (void)poll(&fd, 1, (int)most_ms);
    }
}

static void wait_until(const cm_node_control *node, const cm_worker_link *link, uint64_t due)
{
    uint64_t now = cm_node_control_rest(node, due);
    uint64_t left = due > now ? due - now : 0;
    left = left < WAIT_US ? left : WAIT_US;
    short out = cm_worker_link_is_full(link) ? POLLOUT : 0;
    struct pollfd fds[] = {{.fd = cm_node_control_descriptor(node), .events = POLLIN},
                           {.fd = cm_node_control_sockets_descriptor(node), .events = POLLIN},
                           {.fd = link->descriptor, .events = (short)(POLLIN | out)}};
    struct timespec timeout = {.tv_nsec = (long)left * 1000};
    (void)ppoll(fds, sizeof fds / sizeof fds[0], &timeout, NULL);
}

carom_result cm_node_process(void)
{
    static cm_worker_link link;
    int type = 0;
    socklen_t size = sizeof type;
    cm_crash_marker *crash_marker = cm_crash_marker_open(CM_WORKER_CRASH_MARKER_FD);
    if (getsockopt(CM_WORKER_LINK_FD, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        type != SOCK_SEQPACKET || crash_marker == NULL) {
        return CAROM_ERROR_STATE;
    }
    prctl(PR_SET_NAME, "carom worker"); // it was run as /proc/self/exe
    cm_worker_link_open(&link, CM_WORKER_LINK_FD);
    const cm_node_control_def def = {.link = &link,
                                     .crash_marker = crash_marker,
                                     .own_process = true,
                                     .wait = wait_for_link,
                                     .user = &link};
    cm_node_control *node = cm_node_control_create(&def);
    carom_result result = CAROM_ERROR_MEMORY;
    while (node != NULL && !cm_node_control_is_over(node, &result)) {
        wait_until(node, &link, cm_node_control_turn(node, cm_now_us()));
    }
    while (cm_worker_link_flush(&link) && cm_worker_link_is_full(&link)) {
        struct pollfd fd = {.fd = link.descriptor, .events = POLLOUT};
        (void)poll(&fd, 1, 5);
    }
    cm_node_control_destroy(node);
    cm_worker_link_close(&link);
    cm_crash_marker_destroy(crash_marker);
    return result;
}
