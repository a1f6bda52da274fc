// Goal: a client takes the def of an older header. Method: rubbish behind its end.
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "carom/client.h"

// A caller that was compiled with an older header has a shorter struct: what lies behind it is not
// read. A caller that did not begin with the default has none.
Test(client_def, an_older_def_is_taken)
{
    carom_client_def def = carom_default_client_def();
    carom_client *client;
    memset(&def.predict_budget_us, 0xff,
           sizeof def - offsetof(carom_client_def, predict_budget_us)); // of whatever comes next
    cr_expect_eq(def.struct_size, sizeof def);
    def.struct_size = offsetof(carom_client_def, predict_budget_us);
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    carom_client_destroy(client);
    def.struct_size = offsetof(carom_client_def, name);
    cr_expect_eq(carom_client_create(&def, &client), CAROM_ERROR_ARGUMENT);
    cr_expect_null(client);
    memset(&def, 0, sizeof def);
    cr_expect_eq(carom_client_create(&def, &client), CAROM_ERROR_ARGUMENT);
}
