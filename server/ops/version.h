// Version and commit of this binary.
#ifndef CM_SERVER_OPS_VERSION_H
#define CM_SERVER_OPS_VERSION_H

extern const char cm_version_text[]; // "0.1.0 (1a2b3c4)"
extern const char cm_version_number[], cm_version_commit[];

#endif
