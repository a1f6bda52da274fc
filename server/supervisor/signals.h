// Signals of `carom serve`, read from a descriptor: the loop wakes for them and no handler runs.
#ifndef CM_SERVER_SUPERVISOR_SIGNALS_H
#define CM_SERVER_SUPERVISOR_SIGNALS_H

// SIGINT, SIGTERM, SIGHUP and SIGCHLD from now on; SIGPIPE is ignored. -1 with errno on failure.
int cm_signals_open(void);
// The next one that came, or 0.
int cm_signals_next(int descriptor);
// "SIGINT" or "SIGTERM", of one that ends the server; NULL of others.
const char *cm_signal_ends(int signal);

#endif
