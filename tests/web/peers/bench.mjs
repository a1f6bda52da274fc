// carom-sim beside Rapier under node, in one run and in turns: a step, a save and a restore, bytes a body. Rapier restores
// by making another world, so its handles go; ours is restored in place. `make bench-web`; nothing here passes or fails.
import { readFileSync } from 'node:fs';
import { init } from '../../../build/web/carom-sim/index.js';
import { build } from '../scene.mjs';

const peers = new URL('../../../build/web/peers/node_modules/', import.meta.url);
const STEPS = 300;
const ROUNDS = 5;

async function rapier(name) {
    const main = JSON.parse(readFileSync(new URL(`@dimforge/${name}/package.json`, peers), 'utf8'));
    const loaded = await import(new URL(`@dimforge/${name}/${main.module ?? main.main}`, peers).href);
    const engine = loaded.default?.World ? loaded.default : loaded;
    await engine.init();
    return engine;
}

// The same boxes, balls and capsules; its friction is a mean by default, as ours is a geometric one there: 0.6 both.
function rapierWorld(R, scene) {
    const world = new R.World({ x: scene.gravity[0], y: scene.gravity[1], z: scene.gravity[2] });
    world.timestep = 1 / scene.tick_rate;
    for (const row of scene.bodies) {
        const desc = (row.type === 'static' ? R.RigidBodyDesc.fixed() : R.RigidBodyDesc.dynamic()).setCanSleep(false);
        desc.setTranslation(...row.position);
        if (row.orientation) {
            const [x, y, z, w] = row.orientation;
            desc.setRotation({ x, y, z, w });
        }
        const body = world.createRigidBody(desc);
        for (const shape of row.shapes) {
            const { friction, restitution, density } = scene.materials[shape.material];
            const collider = shape.box ? R.ColliderDesc.cuboid(...shape.box.half_extents)
                : shape.sphere ? R.ColliderDesc.ball(shape.sphere.radius)
                    : R.ColliderDesc.capsule(shape.capsule.half_height, shape.capsule.radius);
            world.createCollider(collider.setFriction(friction).setRestitution(restitution).setDensity(density), body);
        }
    }
    return world;
}

const time = (calls, call) => {
    const begin = performance.now();
    for (let i = 0; i < calls; i++) {
        call();
    }
    return (performance.now() - begin) / calls;
};
const least = (values) => Math.min(...values);

await init(readFileSync(new URL('../../../build/web/carom-sim/carom-sim.wasm', import.meta.url)));
const engines = [];
for (const name of ['rapier3d-simd-compat', 'rapier3d-deterministic-compat']) {
    engines.push([name, await rapier(name)]);
}
for (const name of ['B0_towers1000', 'B_pile1000', 'F_pyramid60']) {
    const scene = JSON.parse(readFileSync(`tests/scenes/bench/${name}.json`, 'utf8'));
    const rows = new Map([['carom-sim', []], ...engines.map(([engine]) => [engine, []])]);
    for (let round = 0; round < ROUNDS; round++) {
        const { world } = build(scene);
        const image = world.save();
        const step = time(STEPS, () => world.step());
        world.save(image);
        time(200, () => world.save(image));
        time(200, () => world.restore(image));
        rows.get('carom-sim').push([step, time(500, () => world.save(image)), time(500, () => world.restore(image)), image.byteLength]);
        image.free();
        world.free();
        for (const [engine, R] of engines) {
            const peer = rapierWorld(R, scene);
            const peerStep = time(STEPS, () => peer.step());
            const bytes = peer.takeSnapshot();
            const save = time(5, () => peer.takeSnapshot());
            const restore = time(5, () => R.World.restoreSnapshot(bytes).free());
            rows.get(engine).push([peerStep, save, restore, bytes.length]);
            peer.free();
        }
    }
    const ours = least(rows.get('carom-sim').map(([step]) => step));
    for (const [engine, runs] of rows) {
        const best = [0, 1, 2, 3].map((column) => least(runs.map((run) => run[column])));
        console.log(`${name.padEnd(16)} ${engine.padEnd(32)} step ${best[0].toFixed(3)} ms (ours ${(ours / best[0]).toFixed(2)})  save ${(best[1] * 1000).toFixed(1)} us  restore ${(best[2] * 1000).toFixed(1)} us  ${(best[3] / scene.bodies.length).toFixed(0)} bytes a body`);
    }
}
