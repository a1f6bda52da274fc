// Bodies as the bits of a view packet. An encoder writes one packet: begin, put bodies in ascending
// slots, end. The packer first gets the most bits that each body can take, in any order, and puts
// no more bodies than fit.
//
// This one codes each body alone, or as its difference from a baseline. Other encoders (entropy
// coded, predicted) would have the same four functions.
#ifndef CM_SERVER_REPLICATE_ENCODER_H
#define CM_SERVER_REPLICATE_ENCODER_H

#include "shared/wire/packet.h"

// A body that may go with the next packet.
typedef struct cm_encoder_body {
    cm_view_entry entry;
    cm_view_code code; // worst_bits writes it, put reads it: a body is coded once
} cm_encoder_body;
#define CM_ENCODER_LEAST_BITS 30u // worst_bits of any body is no less

typedef struct cm_encoder {
    cm_view_writer writer;
} cm_encoder;

// Bytes that a packet's header takes at most.
size_t cm_encoder_head_bytes(const cm_view_header *header);
uint32_t cm_encoder_worst_bits(const cm_view_config *config, const cm_view_body *baseline,
                               cm_encoder_body *body);
void cm_encoder_begin(cm_encoder *encoder, const cm_view_header *header, uint8_t *bytes,
                      size_t size);
void cm_encoder_put(cm_encoder *encoder, const cm_encoder_body *body);
size_t cm_encoder_end(cm_encoder *encoder); // the packet's bytes

#endif
