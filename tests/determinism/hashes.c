// Prints the hash of scenes, and of what queries find in them, at every 60th tick: hashes TICKS
// SCENE.json ...
//
// The determinism test builds this small program with several compilers and flags and compares what
// they print. It holds the whole simulation, scene reading included, and nothing of server or
// network.
#include <stdio.h>
#include <stdlib.h>

#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"
#include "tests/determinism/math_digest.h"
#include "tests/unit/sim/golden_queries.h"

static int print_hashes(const char *path, unsigned long ticks)
{
    cm_scene *scene;
    cm_scene_error error;
    if (cm_scene_from_file(path, &scene, &error) != CAROM_OK) {
        fprintf(stderr, "hashes: %s:%u: %s: %s\n", path, error.line, error.path, error.message);
        return 2;
    }
    carom_game *game;
    const carom_module *module = cm_module_find(cm_scene_module(scene));
    if (module == NULL || cm_game_create(scene, module, 1, NULL, &game) != CAROM_OK) {
        fprintf(stderr, "hashes: %s: the game cannot be made\n", path);
        cm_scene_free(scene);
        return 2;
    }
    cm_tick_input nothing = {0};
    for (unsigned long tick = 0; tick <= ticks; tick++) {
        if (tick % 60 == 0 || tick == ticks) {
            printf("%s %lu %016llx %016llx\n", cm_scene_name(scene), tick,
                   (unsigned long long)cm_game_hash(game),
                   (unsigned long long)cm_golden_queries(carom_game_world(game)));
        }
        if (tick < ticks) {
            cm_game_tick(game, &nothing);
        }
    }
    cm_game_destroy(game);
    cm_scene_free(scene);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: hashes TICKS SCENE.json ...\n");
        return 2;
    }
    unsigned long ticks = strtoul(argv[1], NULL, 10);
    printf("math %016llx\n", (unsigned long long)cm_math_digest());
    for (int i = 2; i < argc; i++) {
        int status = print_hashes(argv[i], ticks);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}
