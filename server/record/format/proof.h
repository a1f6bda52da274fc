// The proof of a match file by itself: its chain, computed again from its rows, and the signatures.
// replay.h checks that the simulation gives the same rows.
//
// A chain without a signature shows damage and careless changes only: anyone with the file can
// compute a new chain. A signature shows that the recorder had the key.
#ifndef CM_SERVER_RECORD_FORMAT_PROOF_H
#define CM_SERVER_RECORD_FORMAT_PROOF_H

#include "server/record/format/match_file.h"

#define CM_PUBLIC_KEY_BYTES 32u

typedef enum cm_proof_verdict {
    CM_PROOF_NONE = 0,   // not asked, or it could not be read
    CM_PROOF_CHANGED,    // rows and chain differ, a signature is not of the file's own key, or the
                         // head differs from the scene
    CM_PROOF_CONSISTENT, // rows and chain agree
    CM_PROOF_AUTHENTIC,  // and the whole, to its end, is signed by the key that was asked for
} cm_proof_verdict;

typedef struct cm_proof {
    cm_proof_verdict verdict;
    bool complete;        // an end was recorded, and all before it is there
    uint64_t ticks;       // the last one in the file
    uint64_t linked_tick; // up to here rows and chain agree
    bool is_signed;
    bool has_key;              // a public key was given
    bool key_is_theirs;        // it is the one that the file names
    uint64_t signed_tick;      // up to here the signatures are good; 0: none
    uint32_t personal, erased; // rows; their texts erased are no part of the proof
    char changed[200];         // for CM_PROOF_CHANGED: where
    uint8_t chain[32];         // what the rows give, up to where it stopped
} cm_proof;

// `public_key` of CM_PUBLIC_KEY_BYTES, or NULL. CAROM_OK also where the verdict is CHANGED;
// CAROM_ERROR_CORRUPT or _IO where a row cannot be read.
carom_result cm_match_prove(cm_match_file *file, const uint8_t *public_key, cm_proof *proof,
                            cm_match_error *error);

// Proves only the rows after the newest link; the link itself is trusted if its signature is good.
// For a file that the calling server has proved or begun, and that no other process has had since.
// The same results; the head is compared with the scene as there.
carom_result cm_match_prove_tail(cm_match_file *file, cm_proof *proof, cm_match_error *error);

#endif
