// Texts of carom_reason and cm_packet_reason, from their tables. A number from outside that a table
// does not hold (a later version's) gets a text as well: never NULL.
#include "carom/reason.h"

#include "shared/wire/packet.h"

const char *carom_reason_text(carom_reason reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(name, text) text,
        CAROM_REASON_TABLE(REASON_TEXT)
#undef REASON_TEXT
    };
    return (unsigned)reason < CAROM_REASON_COUNT ? texts[reason] : "unknown reason";
}

const char *cm_packet_reason_text(cm_packet_reason reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(name, text) text,
        CM_PACKET_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return (unsigned)reason < CM_PACKET_REASON_COUNT ? texts[reason] : "unknown reason";
}
