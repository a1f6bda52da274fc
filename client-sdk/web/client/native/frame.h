// A client's state for JavaScript, which reads it after each update (client.ts, by layout.ts).
#ifndef CW_FRAME_H
#define CW_FRAME_H

#include "carom/client_more.h"

typedef struct cw_frame {
    uint32_t state, reason; // carom_client_state, carom_reason
    uint32_t player;
    carom_body_id own, pointer;
    uint32_t tick_rate;
    uint32_t slots;                  // of bodies: rows
    const float *rows;               // 8 floats each, as cw_transforms has them
    uint32_t input_size;             // 0: not joined
    uint8_t input[CAROM_INPUT_MAX];  // written by the page, taken by the next update
    const uint8_t *notes;            // what the callbacks told since the last update
    uint32_t notes_size, notes_lost; // bytes; those that there was no memory for
    const void *state_public, *state_predicted;
    uint32_t public_size;
    uint32_t refused; // datagrams of this link that the handshake or the seal refused
    carom_client_acks acks;
    carom_client_stats stats;
} cw_frame;

// Callbacks become notes: a head, then its payload, then at a multiple of 8 bytes the next one.
typedef enum cw_note_kind {
    CW_NOTE_STATE = 1,  // number: state, other: reason
    CW_NOTE_MESSAGE,    // tick; bytes
    CW_NOTE_UNRELIABLE, // tick; bytes
    CW_NOTE_EVENT,      // number: phase, tick: predicted; carom_event
    CW_NOTE_BODY,       // number: change, other: owner; carom_body_id
    CW_NOTE_NOTICE,     // number: reason, other: seconds; text
    CW_NOTE_ROOM,       // number: players, other: most; tick: rows to come; three texts
    CW_NOTE_LOG,        // number: level; text
} cw_note_kind;

typedef struct cw_note {
    uint32_t kind, size; // of the payload
    uint32_t number, other;
    uint64_t tick;
} cw_note;

#endif
