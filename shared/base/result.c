// Texts of carom_result, from the one table in carom/types.h. A number from outside (a control
// message of a later version) that the table does not hold gets a text as well: never NULL.
#include "carom/types.h"

const char *carom_result_text(carom_result result)
{
    static const char *const texts[] = {
#define RESULT_TEXT(name, text) text,
        CAROM_RESULT_TABLE(RESULT_TEXT)
#undef RESULT_TEXT
    };
    if ((unsigned)result >= CAROM_RESULT_COUNT) {
        return "unknown result";
    }
    return texts[result];
}
