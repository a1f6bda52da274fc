// Hashes of scenes in a browser. `told` says which: [{path, ticks, every}], and is answered by a list of hashes for each.
import { init } from '/build/web/carom-sim/index.js';
import { build } from '/tests/web/scene.mjs';

export async function hashes(path, ticks, every) {
    await init();
    const { world } = build(await (await fetch(path)).json());
    const found = [];
    for (let tick = 0; tick <= ticks; tick++) {
        if (tick % every === 0) {
            found.push(world.hash().toString(16).padStart(16, '0'));
        }
        world.step();
    }
    world.free();
    return found;
}

/** Of all that the server asks for; whatever goes wrong is the answer. */
export async function tell() {
    let found = [];
    try {
        for (const { path, ticks, every } of await (await fetch('/asked')).json()) {
            found.push(await hashes(path, ticks, every));
        }
    } catch (error) {
        found = String(error);
    }
    await fetch('/told', { method: 'POST', body: JSON.stringify(found) });
}
