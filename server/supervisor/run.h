// `carom serve` once its configuration is read: hosts until it is told to end.
#ifndef CM_SERVER_SUPERVISOR_RUN_H
#define CM_SERVER_SUPERVISOR_RUN_H

#include "server/supervisor/base.h"

// An exit status.
int cm_serve_run(const cm_config *config, char *const *environment, cm_serve_reread *reread);

// Its two ways, with a base that is open: everything in this process, or worker processes and this
// one over them. An exit status; what a start that failed has made is gone then.
int cm_serve_alone(cm_serve_base *base);
int cm_serve_supervise(cm_serve_base *base);

#endif
