// Some forty lines instead of a library. The signs of life come from the loop itself: one that
// hangs is silent.
#include "server/ops/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint64_t read_number(const char *text)
{
    return text != NULL && text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : 0;
}

bool cm_notify_open(cm_notify *notify, const char *address, const char *watchdog_us,
                    const char *watchdog_pid)
{
    memset(notify, 0, sizeof *notify);
    notify->socket = -1;
    if (address == NULL || address[0] == '\0') {
        return true;
    }
    size_t length = strlen(address);
    bool abstract = address[0] == '@';
    if ((!abstract && address[0] != '/') || length >= sizeof notify->to.sun_path) {
        return false;
    }
    notify->to.sun_family = AF_UNIX;
    memcpy(notify->to.sun_path, address, length);
    notify->to.sun_path[0] = abstract ? '\0' : address[0];
    notify->to_size = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + length);
    notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint64_t pid = read_number(watchdog_pid);
    if (pid == 0 || pid == (uint64_t)getpid()) {
        notify->period_us = read_number(watchdog_us) / 2;
    }
    return notify->socket >= 0;
}

void cm_notify_close(cm_notify *notify)
{
    if (notify->socket >= 0) {
        close(notify->socket);
        notify->socket = -1;
    }
}

static bool send_text(const cm_notify *notify, const char *text)
{
    return sendto(notify->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
                  (const struct sockaddr *)&notify->to, notify->to_size) >= 0;
}

void cm_notify_send(cm_notify *notify, const char *text)
{
    if (notify->socket >= 0) {
        notify->waiting = send_text(notify, text) ? NULL : text;
    }
}

void cm_notify_live(cm_notify *notify, uint64_t now_us)
{
    if (notify->waiting != NULL) {
        cm_notify_send(notify, notify->waiting);
    }
    if (notify->socket >= 0 && notify->period_us > 0 && now_us >= notify->due_us &&
        send_text(notify, "WATCHDOG=1")) {
        notify->due_us = now_us + notify->period_us;
    }
}
