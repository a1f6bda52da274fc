// Goal: a service manager is told what the server does, in systemd's protocol. Method: a socket of
// our own in the place of the manager's, with times that are made up; then the whole `carom serve`.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/ops/notify.h"
#include "tests/unit/node/serving.h"

static char directory[64];
static char address[96];

// The manager's end; `address` names it afterwards.
static int make_manager(bool abstract)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy(directory, "/tmp/carom-notify-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(address, sizeof address, "%s%s/socket", abstract ? "@" : "", directory);
    memcpy(at.sun_path, address, strlen(address));
    at.sun_path[0] = abstract ? '\0' : address[0];
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address));
    cr_assert_eq(bind(manager, (const struct sockaddr *)&at, size), 0);
    return manager;
}

static void end_manager(int manager)
{
    close(manager);
    unlink(address);
    rmdir(directory);
}

// The next text, or "" where none waits.
static const char *next(int manager)
{
    static char text[256];
    ssize_t size = recv(manager, text, sizeof text - 1, MSG_DONTWAIT);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

static void tell_all(bool abstract)
{
    cm_notify n;
    int manager = make_manager(abstract);
    cr_assert(cm_notify_open(&n, address, "1000000", NULL));
    cr_expect_str_eq(next(manager), "");
    cm_notify_send(&n, "READY=1");
    cr_expect_str_eq(next(manager), "READY=1");
    // At half of the second that is asked for, and not more often.
    cm_notify_live(&n, 5000000);
    cr_expect_str_eq(next(manager), "WATCHDOG=1");
    cm_notify_live(&n, 5499999);
    cr_expect_str_eq(next(manager), "");
    cm_notify_live(&n, 5500000);
    cr_expect_str_eq(next(manager), "WATCHDOG=1");
    cm_notify_send(&n, "STOPPING=1");
    cr_expect_str_eq(next(manager), "STOPPING=1");
    cm_notify_close(&n);
    cm_notify_close(&n);
    end_manager(manager);
}

Test(notify, sockets_with_a_path)
{
    tell_all(false);
}

Test(notify, abstract_sockets)
{
    tell_all(true);
}

Test(notify, a_watchdog_is_for_the_process_that_it_names)
{
    cm_notify n;
    char pid[32];
    int manager = make_manager(false);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    cr_assert(cm_notify_open(&n, address, "1000000", "1"));
    cm_notify_live(&n, 5000000);
    cr_expect_str_eq(next(manager), "");
    cm_notify_close(&n);
    cr_assert(cm_notify_open(&n, address, "1000000", pid));
    cm_notify_live(&n, 5000000);
    cr_expect_str_eq(next(manager), "WATCHDOG=1");
    cm_notify_close(&n);
    cr_assert(cm_notify_open(&n, address, "no number", pid));
    cm_notify_live(&n, 5000000);
    cr_expect_str_eq(next(manager), "");
    cm_notify_close(&n);
    end_manager(manager);
}

Test(notify, without_a_manager_nothing_is_told)
{
    cm_notify n;
    char longer[200];
    memset(longer, 'a', sizeof longer);
    longer[0] = '/';
    longer[sizeof longer - 1] = '\0';
    cr_expect(cm_notify_open(&n, NULL, "1000000", NULL));
    cr_expect(cm_notify_open(&n, "", NULL, NULL));
    cr_expect_not(cm_notify_open(&n, "relative", NULL, NULL));
    cr_expect_not(cm_notify_open(&n, longer, NULL, NULL));
    cm_notify_send(&n, "READY=1");
    cm_notify_live(&n, 1);
    cr_expect(cm_notify_open(&n, "/nobody/listens", NULL, NULL));
    cm_notify_send(&n, "READY=1");
    cm_notify_close(&n);
}

// A manager that does not read: what it must know comes once it does, and nobody waits for it.
Test(notify, what_does_not_fit_is_told_later)
{
    cm_notify n;
    uint32_t ready = 0;
    int manager = make_manager(false);
    cr_assert(cm_notify_open(&n, address, "2", NULL));
    for (uint64_t now = 1; now < 100000; now++) {
        cm_notify_live(&n, now);
    }
    cm_notify_send(&n, "READY=1");
    cr_expect_not_null(n.waiting, "the kernel keeps more than 100,000 datagrams");
    while (next(manager)[0] != '\0') {
    }
    cm_notify_live(&n, 100000);
    for (const char *text = next(manager); text[0] != '\0'; text = next(manager)) {
        ready += strcmp(text, "READY=1") == 0;
    }
    cr_expect_eq(ready, 1);
    cr_expect_null(n.waiting);
    cm_notify_close(&n);
    end_manager(manager);
}

// The server --------------------------------------------------------------------------------------

static pid_t serve(void)
{
    static char matches[96], database[96];
    snprintf(matches, sizeof matches, "%s/matches", directory);
    snprintf(database, sizeof database, "%s/carom.db", directory);
    char *argv[] = {"carom",
                    "serve",
                    "--insecure",
                    "--listen",
                    "127.0.0.1:0",
                    "--scene",
                    "tests/scenes/hello.json",
                    "--matches",
                    matches,
                    "--db",
                    database,
                    NULL};
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        setenv("NOTIFY_SOCKET", address, 1);
        setenv("WATCHDOG_USEC", "20000", 1);
        if (getppid() == parent) {
            execv(serving_binary(), argv);
        }
        _exit(5);
    }
    return pid;
}

// Waits for the next text; a minute without one is a failure.
static const char *wait_next(int manager)
{
    static char text[256];
    struct timeval minute = {.tv_sec = 60};
    setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    ssize_t size = recv(manager, text, sizeof text - 1, 0);
    cr_assert_gt(size, 0, "nothing came");
    text[size] = '\0';
    return text;
}

Test(notify, a_server_says_when_it_is_ready_alive_and_stopping)
{
    char command[96];
    int manager = make_manager(false), status = 0;
    pid_t pid = serve();
    cr_expect_str_eq(wait_next(manager), "READY=1");
    for (int i = 0; i < 3; i++) {
        cr_expect_str_eq(wait_next(manager), "WATCHDOG=1");
    }
    kill(pid, SIGTERM);
    const char *text = wait_next(manager);
    while (strcmp(text, "WATCHDOG=1") == 0) {
        text = wait_next(manager);
    }
    cr_expect_str_eq(text, "STOPPING=1");
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (text = next(manager); text[0] != '\0'; text = next(manager)) {
        cr_expect_str_eq(text, "WATCHDOG=1", "after the last word");
    }
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_expect_eq(system(command), 0);
    end_manager(manager);
}
