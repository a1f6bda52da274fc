// How large a datagram may be on its way to the other end. Every path is taken to carry
// CM_PATH_LEAST; probes find out whether larger ones arrive, and whether they still do. Pure: time
// is an argument.
//
// A probe of the size looked for goes out; its answer makes that size known. Until the largest is
// known the sizes are tried from above; then the known one is tried every five seconds. Where one
// has no answer the next ones go each with a small one behind it: a small one that is answered
// while the large one is not counts against the size, and nothing else does, since a path that is
// cut, in one direction or both, carries neither. While not even a small one is answered the pairs
// go ever less often, down to one every five seconds. Four such pairs in a row and the next size is
// tried; eight, of a size that was known, mean that the path has changed: back to the least. Of a
// path that loses a tenth that happens by chance once in centuries. Cost: 1,200 bytes every five
// seconds.
#ifndef CM_WIRE_PATH_H
#define CM_WIRE_PATH_H

#include "shared/wire/frame.h"

#define CM_PATH_SMALL 64u // bytes of a probe that every path carries

typedef struct cm_path {
    uint16_t known; // bytes
    uint8_t tried;  // index of the size that is looked for
    uint8_t missed; // pairs of which the small one alone was answered
    bool waits;     // a probe is out
    bool pairs;     // a small one is to follow it
    bool paired;    // it has
    bool passed;    // a small one was answered since it went
    bool received;  // something came since it went
    uint8_t silent; // pairs in a row of which none was answered
    uint64_t next_us;
} cm_path;

void cm_path_begin(cm_path *path, uint64_t now_us);
// The size of a probe that is due now, 0: none. The caller sends it.
uint32_t cm_path_probe(cm_path *path, uint64_t now_us);
// A datagram of the other end came.
void cm_path_received(cm_path *path);
// It answered a probe of this size.
void cm_path_answered(cm_path *path, size_t size, uint64_t now_us);

#endif
