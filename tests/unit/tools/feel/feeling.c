// See the header.
#include "tests/unit/tools/feel/feeling.h"

#include <criterion/criterion.h>

cm_feel_figures feeling_of(const cm_feel_game *game, const cm_feel_path *path, uint64_t seed,
                           uint32_t seconds)
{
    cm_config config;
    cm_config_default(&config);
    const cm_feel_options options = {
        .game = game, .path = path, .config = &config, .seed = seed, .seconds = seconds};
    cm_feel_figures figures;
    char error[256];
    cr_assert_eq(cm_feel_measure(&options, &figures, error, sizeof error), CAROM_OK, "%s", error);
    return figures;
}

cm_feel_figures feeling(const char *game, const char *path, uint64_t seed, uint32_t seconds)
{
    cr_assert_not_null(cm_feel_game_find(game), "%s", game);
    cr_assert_not_null(cm_feel_path_find(path), "%s", path);
    return feeling_of(cm_feel_game_find(game), cm_feel_path_find(path), seed, seconds);
}
