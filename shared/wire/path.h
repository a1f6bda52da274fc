// Path MTU discovery: the largest datagram that reaches the other end. Every path is assumed to
// carry CM_PATH_LEAST; probes find out whether larger ones arrive, and whether they still do. Pure:
// time is an argument.
//
// An answer to a probe shows that the path carries its size. First the sizes are tried from the
// largest down; then the known one is tried every five seconds. After a probe without an answer
// each further one is followed by a small one: only a pair of which the small one alone is answered
// counts against the size, since a path that is cut, in one direction or both, carries neither.
// While not even small ones are answered the pairs are sent ever less often, down to one every five
// seconds. After four such pairs in a row the next size is tried; eight pairs of a known size mean
// that the path has changed: back to the least. On a path that loses a tenth of its datagrams that
// happens by chance once in centuries. Cost: 1,200 bytes every five seconds.
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
