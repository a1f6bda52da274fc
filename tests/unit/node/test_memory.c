// Goal: the memory of a closed room goes back to the system, however many rooms were there before.
// Method: the command in a child process of one node; rooms are opened and closed by its admin
// socket; the pages that it has in memory are the system's own count.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/node/serving.h"

#define ROOMS  4u
#define ROUNDS 3u
#define SPARE  2048u // pages, 8 MiB: less than one of these rooms takes

static uint32_t resident(const serving *c)
{
    char path[64];
    uint32_t all = 0, there = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)c->pid);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL);
    cr_assert_eq(fscanf(file, "%u %u", &all, &there), 2);
    fclose(file);
    return there;
}

static void ask_for_each(const serving *c, const char *request)
{
    for (uint32_t i = 0; i < ROOMS; i++) {
        char text[256];
        snprintf(text, sizeof text, request, i);
        const char *answer = serving_ask(c, text);
        cr_assert(strstr(answer, "\"done\"") != NULL, "%s", answer);
    }
}

Test(memory, of_closed_rooms_goes_back)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the sanitizer keeps what is freed");
#endif
    serving c;
    serving_make_directory(&c);
    serving_host(&c, (char *[]){"--scene", "tests/scenes/sandbox.json", "--workers", "0", NULL});
    uint32_t most = 0, before = resident(&c);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        ask_for_each(&c, "{\"command\":\"open\",\"room\":\"r%u\",\"scene\":"
                         "\"tests/scenes/sandbox.json\"}");
        most = resident(&c) > most ? resident(&c) : most;
        ask_for_each(&c, "{\"command\":\"close\",\"room\":\"r%u\"}");
    }
    // Rooms go once their matches are written.
    uint32_t after = resident(&c);
    for (uint32_t i = 0; i < 6000 && after >= before + SPARE; i++) {
        usleep(10000);
        after = resident(&c);
    }
    cr_expect_gt(most, before + ROOMS * SPARE, "%u pages, then %u", before, most);
    cr_expect_lt(after, before + SPARE, "%u pages, then %u", before, after);
    kill(c.pid, SIGTERM);
    cr_expect_eq(serving_finish(&c), 0);
    serving_remove_directory(&c);
}
