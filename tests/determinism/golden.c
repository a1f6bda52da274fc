// Prints the golden worlds' hashes, in the form of tests/golden/worlds.txt. No scene files, no
// libraries but libc: this is what the matrix builds for every architecture.
#include "tests/unit/sim/golden_scenes.h"

#include <stdio.h>

#define GOLDEN_EVERY 60u

int main(void)
{
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        const cm_golden_scene *scene = &cm_golden_scenes[i];
        carom_world_def def = cm_rig_def(scene->bodies);
        cm_rig rig = cm_rig_open(&def, 0);
        scene->build(&rig);
        for (uint32_t tick = 0; tick <= scene->ticks; tick++) {
            if (tick % GOLDEN_EVERY == 0) {
                printf("%s %u %016llx\n", scene->name, (unsigned)tick,
                       (unsigned long long)carom_world_hash(rig.world));
            }
            if (scene->drive) {
                scene->drive(rig.world, tick);
            }
            cm_rig_step(&rig, 1);
        }
        cm_rig_close(&rig);
    }
    return 0;
}
