// The Makefile passes the commit, and compiles this file again when it changes.
#include "server/ops/version.h"

#ifndef CAROM_VERSION
#define CAROM_VERSION "0.1.0"
#endif
#ifndef CAROM_COMMIT
#define CAROM_COMMIT "unknown"
#endif

const char cm_version_number[] = CAROM_VERSION, cm_version_commit[] = CAROM_COMMIT;
const char cm_version_text[] = CAROM_VERSION " (" CAROM_COMMIT ")";
