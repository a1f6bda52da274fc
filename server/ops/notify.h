// Notifications to a service manager: systemd's NOTIFY_SOCKET protocol, lines in a datagram.
#ifndef CM_SERVER_OPS_NOTIFY_H
#define CM_SERVER_OPS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

typedef struct cm_notify {
    int socket; // descriptor; -1: no service manager
    struct sockaddr_un to;
    uint32_t to_size;
    const char *waiting;        // what could not be sent yet, or NULL
    uint64_t period_us, due_us; // between signs of life, 0: none is wanted; of the next one
} cm_notify;

// The values of NOTIFY_SOCKET (a path, or "@" and an abstract name), WATCHDOG_USEC and
// WATCHDOG_PID; each may be NULL. False: the address is not valid, or there is no socket; no
// notification is sent then.
bool cm_notify_open(cm_notify *notify, const char *address, const char *watchdog_us,
                    const char *watchdog_pid);
void cm_notify_close(cm_notify *notify);
// "READY=1", "STOPPING=1": a text that lives on. Never waits: what the other side has no room for
// goes with the next sign of life; a newer text takes its place.
void cm_notify_send(cm_notify *notify, const char *text);
// From the loop: WATCHDOG=1 where it is time for one, which is at half of what is asked for.
void cm_notify_live(cm_notify *notify, uint64_t now_us);

#endif
