// `carom serve`: hosts rooms until a signal, then drains and verifies.
//
// SIGTERM and SIGINT are blocked and read from a descriptor. The first drains; a second one, at any
// time after it, ends the server at once. Output: "listening on HOST:PORT" first; then the status;
// at the end what was recorded and verified. Log lines are JSON on stderr.
#include "server/supervisor/run.h"

carom_result cm_server_run(const cm_config *config, char *const *environment,
                           cm_server_reread *reread, cm_failure *failure)
{
    static cm_server_base base; // too large for a stack
    carom_result result = cm_server_base_open(&base, config, environment, failure);
    base.reread = reread;
    if (result == CAROM_OK) {
        failure->text[0] = '\0';
        result = cm_supervise(&base, failure);
    } else {
        cm_server_base_undo(&base);
    }
    cm_server_base_close(&base);
    return result;
}
