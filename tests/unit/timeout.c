// Every test has the same time, after which it is red: a test that waits for what a bug keeps from
// happening ends. The same, because of BoxFort as it comes with Criterion 2.4.1: a test that starts
// beside another one (--jobs 2) and would end before it takes that one's place in the list of
// timeouts, together with all behind it. Theirs are lost, and LeakSanitizer finds 48 bytes of each.
#include <criterion/criterion.h>
#include <criterion/hooks.h>

#define SECONDS 600.0

ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
    FOREACH_SET(struct criterion_suite_set * suite, tests->suites)
    {
        FOREACH_SET(struct criterion_test * test, suite->tests)
        {
            test->data->timeout = SECONDS;
        }
    }
}
