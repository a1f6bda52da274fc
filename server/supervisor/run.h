// `carom serve` once its configuration is read: hosts until it is told to end.
#ifndef CM_SERVER_SUPERVISOR_RUN_H
#define CM_SERVER_SUPERVISOR_RUN_H

#include "server/supervisor/base.h"

// Failures while it runs and at its end go to stderr at once; the failure of a start is
// returned.
carom_result cm_server_run(const cm_config *config, char *const *environment,
                           cm_server_reread *reread, cm_failure *failure);

// With a base that is open. What a start that failed has made is gone then.
carom_result cm_supervise(cm_server_base *base, cm_failure *failure);

#endif
