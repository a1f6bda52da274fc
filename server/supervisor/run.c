// `carom serve`: hosts rooms until a signal, then drains and verifies.
//
// SIGTERM and SIGINT are blocked and read from a descriptor. The first drains; a second one, at any
// time after it, ends the server at once. Output: "listening on HOST:PORT" first; then the status;
// at the end what was recorded and verified. Log lines are JSON on stderr.
#include "server/supervisor/run.h"

#include "server/cli/cli.h"

int cm_serve_run(const cm_config *config, char *const *environment, cm_serve_reread *reread)
{
    static cm_serve_base base; // too large for a stack
    int status = cm_serve_base_open(&base, config, environment);
    base.reread = reread;
    if (status == CM_STATUS_DONE) {
        status = config->workers == 0 ? cm_serve_alone(&base) : cm_serve_supervise(&base);
    } else {
        cm_serve_base_undo(&base);
    }
    cm_serve_base_close(&base);
    return status;
}
