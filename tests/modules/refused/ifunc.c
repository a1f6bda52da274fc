// expect: (indirect functions?|a relocation of type)
#include <carom/module.h>
static void one(carom_game *game)
{
    (void)game;
}
static void (*choose(void))(carom_game *)
{
    return one;
}
static void start(carom_game *game) __attribute__((ifunc("choose")));
static void call(carom_game *game)
{
    start(game);
}
CAROM_MODULE(ifunc, .version = 1, .start = call);
