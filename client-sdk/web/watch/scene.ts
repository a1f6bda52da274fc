// Worlds of scene files, as `carom scene pack FILE --out OUT` packs them: every shape, joint and solver that SCENE.md has.

import { CaromError, native } from '../sim/native.js';
import { Solver, World } from '../sim/world.js';

export interface SceneOptions {
    /** Another solver than the scene's, with its defaults. */
    solver?: Solver;
    /** Another rate than the scene's, Hz. */
    tickRate?: number;
}

/** A scene and its world, which lives as long. */
export class Scene {
    readonly world: World;
    readonly tickRate: number;
    readonly name: string;
    private at: number;

    constructor(packed: Uint8Array, options: SceneOptions = {}) {
        const n = native();
        const bytes = n.alloc(Math.max(packed.length, 1));
        n.u8.set(packed, bytes);
        this.at = n.call['cw_scene_create']!(bytes, packed.length, options.solver ?? -1, options.tickRate ?? 0);
        n.look();
        n.free(bytes);
        const world = this.at ? n.call['cw_scene_world']!(this.at) : 0;
        if (!world) {
            const why = this.at ? n.text(n.call['cw_scene_error']!(this.at)) : 'out of memory';
            this.free();
            throw new CaromError(why, 0, '');
        }
        this.world = World.over(world);
        this.name = n.text(n.call['cw_scene_name']!(this.at));
        this.tickRate = options.tickRate ?? n.call['cw_scene_tick_rate']!(this.at);
    }

    free(): void {
        if (this.at) {
            native().call['cw_scene_destroy']!(this.at);
            this.at = 0;
        }
    }
}
