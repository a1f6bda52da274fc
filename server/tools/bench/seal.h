// Measures the cost of sealing per datagram, and of a handshake on the server.
#ifndef CM_SERVER_TOOLS_BENCH_SEAL_H
#define CM_SERVER_TOOLS_BENCH_SEAL_H

#include "carom/types.h"

#include "server/tools/bench/samples.h"

typedef struct cm_seal_bench {
    cm_samples_summary seal, open, handshake; // microseconds of CPU time each
} cm_seal_bench;

// `runs` batches: of datagrams of `size` bytes on the wire, and of handshakes from hello to keys,
// the server's part alone.
carom_result cm_seal_bench_measure(uint32_t runs, size_t size, cm_seal_bench *bench);

#endif
