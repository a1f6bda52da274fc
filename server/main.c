// The entry of `carom`: puts the process in order and runs the command.
//
// A reader that goes away gives a failed write and status 1, not a signal's death. The three
// standard streams are open before anything else is opened: a database on descriptor 1 would
// otherwise be overwritten by a printf. Large blocks of memory are mapped each by itself, so that
// what a room took goes back to the system when it closes: malloc would otherwise raise its own
// limit with the first one that is freed, and keep all later ones on its heap.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "server/cli/cli.h"

#define MAPPED_LEAST (256 << 10) // bytes of a block: an image, a world, what a client has of one

static void hold_standard_streams(void)
{
    // The stand-in for stdin is write-only and the ones for output are read-only, so that using
    // them fails as using a closed stream would.
    const int mode[3] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd) {
            _exit(CM_STATUS_FAILED);
        }
    }
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    mallopt(M_MMAP_THRESHOLD, MAPPED_LEAST);
    return cm_cli_run(argc, argv);
}
