// The plain encoder: delta codes by the table of view fields. Typical: 40 bits a body that moves.
#include "server/replicate/encoder.h"

#include "shared/base/assert.h"

#define HEAD_BYTES   40u // of a view header without public state, wrench and relay, generously
#define WRENCH_BYTES 24u
#define ENTRY_BITS   29u // of an entry beside its body, at most: 1 + 18 slot + 2 + 8 baseline
_Static_assert(CM_ENCODER_LEAST_BITS == ENTRY_BITS + 1, "a body's code has one bit at least");

size_t cm_encoder_head_bytes(const cm_view_header *header)
{
    return HEAD_BYTES + (header->has_public ? header->public_size + 18u : 0u) +
           (header->has_wrench ? WRENCH_BYTES : 0u) + header->relay_size +
           (header->relay_size > 0 ? 2u : 0u);
}

uint32_t cm_encoder_worst_bits(const cm_view_config *config, const cm_view_body *baseline,
                               cm_encoder_body *body)
{
    body->code = body->entry.index < CM_VIEW_DRIVES
                     ? cm_view_encode(config, baseline, &body->entry.body)
                     : cm_view_drive_encode(baseline, &body->entry.body);
    return body->code.count + ENTRY_BITS;
}

void cm_encoder_begin(cm_encoder *encoder, const cm_view_header *header, uint8_t *bytes,
                      size_t size)
{
    cm_view_writer_begin(&encoder->writer, header, bytes, size);
}

void cm_encoder_put(cm_encoder *encoder, const cm_encoder_body *body)
{
    bool fits = cm_view_writer_put(&encoder->writer, &body->entry, body->code);
    CM_ASSERT(fits); // it was chosen by the bits that it takes at most
}

size_t cm_encoder_end(cm_encoder *encoder)
{
    size_t written = cm_view_writer_end(&encoder->writer);
    CM_ASSERT(written > 0);
    return written;
}
