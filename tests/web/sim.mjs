// carom-sim under node: the same hashes as the native program's, saves and restores in place, and every call of its API
// once with what it must do. Hashes are compared with `carom sim` of the binary that CAROM_BINARY names.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import {
    CaromError, ColliderDesc, init, JointDesc, Ray, RigidBodyDesc, RigidBodyType, Solver, World,
} from '../../build/web/carom-sim/index.js';
import { build } from './scene.mjs';
import { SCENES } from './scenes.mjs';

const carom = process.env.CAROM_BINARY ?? 'build/release/carom';
const program = (name) => readFileSync(new URL(`../../build/web/carom-sim/${name}.wasm`, import.meta.url));
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const DOWN = { x: 0, y: -1, z: 0 };
const NO_TURN = { x: 0, y: 0, z: 0, w: 1 };
const hex = (hash) => hash.toString(16).padStart(16, '0');
const close = (value, expected, within) => assert.ok(Math.abs(value - expected) <= within, `${value}, expected ${expected} +- ${within}`);

await init(program('carom-sim-all'));

/** A floor at y = 0, and a world whose events and hits are told. */
function floor(options = {}) {
    const world = new World({ x: 0, y: -10, z: 0 }, { hitSpeed: 0.5, ...options });
    const ground = world.createRigidBody(RigidBodyDesc.fixed(), ColliderDesc.halfspace({ x: 0, y: 1, z: 0 }));
    return { world, ground };
}

function drop(world, x, y) {
    return world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(x, y, 0), ColliderDesc.cuboid(0.5, 0.5, 0.5));
}

test('no program imports anything, and each is small enough', () => {
    for (const [name, most] of [['carom-sim', 320], ['carom-sim-all', 420]]) {
        const bytes = program(name);
        assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
        const kb = gzipSync(bytes, { level: 9 }).length / 1000;
        assert.ok(kb <= most, `${name}: ${kb} kB gzip, at most ${most}`);
    }
});

for (const scene of SCENES) {
    test(`${scene}: hashes of the native program`, () => {
        const path = `tests/scenes/${scene}.json`;
        const lines = execFileSync(carom, ['sim', path, '--ticks', '90', '--every', '30'], { maxBuffer: 1 << 28 });
        const { world } = build(read(path));
        for (const line of lines.toString().trim().split('\n')) {
            const { tick, hash } = JSON.parse(line);
            while (world.tick < BigInt(tick)) {
                world.step();
            }
            assert.equal(hex(world.hash()), hash, `tick ${tick}`);
        }
        world.free();
    });
}

test('a restore is in place: handles stay, the future is the same', () => {
    const { world } = floor();
    const boxes = [0, 1, 2, 3].map((i) => drop(world, 0.1 * i, 1 + 1.2 * i));
    const image = world.save();
    const begin = world.hash();
    const trail = [];
    for (let i = 0; i < 120; i++) {
        world.step();
        trail.push(world.hash());
    }
    const late = drop(world, 9, 5);
    for (let i = 0; i < 3; i++) {
        world.restore(image);
        assert.equal(world.hash(), begin);
        assert.equal(late.isValid(), false);
        assert.ok(boxes.every((box) => box.isValid()));
        trail.forEach((hash, tick) => {
            world.step();
            assert.equal(world.hash(), hash, `tick ${tick}`);
        });
    }
    assert.equal(world.save(image), image);
    assert.equal(image.bytes().length, image.byteLength);
});

test('a world grows: bodies, joints, contacts and hulls beyond its first room', () => {
    const small = floor({ bodies: 16 }).world;
    const large = floor({ bodies: 4096 }).world;
    for (const world of [small, large]) {
        let last = null;
        for (let i = 0; i < 700; i++) {
            const tetrahedron = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 + (i % 3)]);
            const body = i % 50 === 0
                ? world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(0, 2 + i, 40), ColliderDesc.convexHull(tetrahedron))
                : drop(world, (i % 20) * 1.1, 0.6 + 1.1 * Math.floor(i / 20));
            if (i % 3 === 0 && last) {
                world.createJoint(JointDesc.distance(last.translation(), body.translation()).setLimits(0, 1000), last, body);
            }
            last = body;
        }
        for (let i = 0; i < 60; i++) {
            world.step();
        }
    }
    assert.equal(small.hash(), large.hash());
    assert.equal(small.stats().bodies, 701);
});

test('the portable form: of hulls and joints, and hostile bytes are refused', () => {
    const scene = read('tests/scenes/games/hulls_on_a_ramp.json');
    const { world } = build(scene);
    for (let i = 0; i < 30; i++) {
        world.step();
    }
    const bytes = world.encode();
    const other = new World();
    assert.throws(() => other.decode(bytes), CaromError);
    other.addHull(ColliderDesc.convexHull(new Float32Array(scene.arrays[0].of.shapes[0].hull.points.flat())));
    other.decode(bytes);
    assert.equal(other.hash(), world.hash());
    let refused = 0;
    for (let i = 0; i < 2000; i++) {
        const bad = bytes.slice(0, i % 2 ? bytes.length : (i * 7919) % bytes.length);
        if (bad.length > 0) {
            bad[(i * 104729) % bad.length] ^= 1 << i % 8;
        }
        try {
            other.decode(bad);
        } catch (error) {
            assert.ok(error instanceof CaromError);
            refused++;
        }
    }
    assert.ok(refused > 1000, `${refused} of 2000 refused`);
});

test('transforms: a row for each index, in the engine\'s memory', () => {
    const { world, ground } = floor();
    const box = drop(world, 1, 5);
    const gone = drop(world, 9, 5);
    world.removeRigidBody(gone);
    world.step();
    const rows = world.transforms();
    const { x, y, z } = box.translation();
    assert.deepEqual([...rows.subarray(8 * box.index, 8 * box.index + 4)], [x, y, z, 1]);
    assert.equal(rows[8 * ground.index + 3], 3);
    assert.equal(rows[8 * gone.index + 3] ?? 0, 0);
    assert.equal(world.transforms().byteOffset, rows.byteOffset);
    for (let i = 0; i < 300; i++) {
        world.step();
    }
    assert.equal(world.transforms()[8 * box.index + 3], 2);
    assert.equal([...world.bodies()].length, 2);
});

test('a body: what is read and what is done', () => {
    const world = new World({ x: 0, y: 0, z: 0 });
    const body = world.createRigidBody(
        RigidBodyDesc.dynamic().setTranslation(1, 2, 3).setLinvel(1, 0, 0).setUserData(2n ** 63n + 1n).enabledRotations(false, true, false),
        ColliderDesc.ball(0.5).setDensity(3), ColliderDesc.cuboid(1, 1, 1).setTranslation(0, 2, 0).setDensity(0).setSensor(true),
    );
    close(body.mass(), 3 * 4 / 3 * Math.PI / 8, 1e-5);
    assert.equal(body.userData, 2n ** 63n + 1n);
    assert.equal(body.numColliders(), 2);
    assert.equal(body.collider(1).isSensor(), true);
    assert.equal(body.collider(1).parent().handle, body.handle);
    assert.throws(() => body.collider(2), RangeError);
    body.applyImpulse({ x: 0, y: body.mass(), z: 0 });
    world.step();
    close(body.linvel().y, 1, 1e-6);
    body.applyForce({ x: 0, y: 0, z: 60 * body.mass() });
    world.step();
    world.step();
    close(body.linvel().z, 1, 1e-5);
    body.setAngvel({ x: 0, y: 2, z: 0 });
    body.setTranslation({ x: 0, y: 0, z: 0 });
    for (let i = 0; i < 60; i++) {
        world.step();
    }
    close(2 * Math.atan2(body.rotation().y, body.rotation().w), 2, 1e-3);
    close(body.translation().z, 1, 1e-3);
    body.setBodyType(RigidBodyType.Kinematic);
    body.setNextKinematicPose({ x: 5, y: 0, z: 0 }, NO_TURN);
    world.step();
    close(body.translation().x, 5, 1e-5);
    world.removeRigidBody(body);
    assert.equal(body.isValid(), false);
    assert.throws(() => body.translation(), CaromError);
});

test('joints: a motor, limits, a spring, one that breaks', () => {
    const { world } = floor();
    const post = world.createRigidBody(RigidBodyDesc.fixed().setTranslation(0, 5, 0), ColliderDesc.ball(0.1));
    const at = (x) => world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(x, 5, 0), ColliderDesc.ball(0.2));
    const arm = at(1);
    const hinge = world.createJoint(JointDesc.revolute({ x: 0, y: 5, z: 0 }, { x: 0, y: 0, z: 1 }).setLimits(-0.5, 0.5), post, arm);
    const weight = at(3);
    const spring = world.createJoint(JointDesc.prismatic({ x: 3, y: 5, z: 0 }, { x: 0, y: 1, z: 0 }).setSpring(2, 1), null, weight);
    const wheel = at(6);
    const motor = world.createJoint(JointDesc.revolute({ x: 6, y: 5, z: 0 }, { x: 0, y: 0, z: 1 }).setMotor(3), null, wheel);
    const heavy = at(9);
    const weak = world.createJoint(JointDesc.fixed({ x: 9, y: 5, z: 0 }).setBreaking(heavy.mass() * 5), null, heavy);
    const broken = [];
    for (let i = 0; i < 240; i++) {
        world.step();
        world.drainJointBreakEvents((event) => broken.push(event.joint));
    }
    close(hinge.value(), -0.5, 0.02);
    close(spring.value(), -10 / (2 * Math.PI * 2) ** 2, 0.004);
    close(motor.rate(), 3, 0.01);
    assert.deepEqual(broken, [weak.handle]);
    assert.equal(weak.isValid(), false);
    motor.setMotor(-1, 1e6);
    hinge.clearLimits();
    for (let i = 0; i < 120; i++) {
        world.step();
    }
    close(motor.rate(), -1, 0.01);
    assert.ok(hinge.value() < -0.6);
    world.removeJoint(hinge);
    assert.equal(hinge.isValid(), false);
});

test('events: begin, hit, sleep, a sensor', () => {
    const { world, ground } = floor();
    const box = drop(world, 0, 2);
    world.createRigidBody(RigidBodyDesc.fixed().setTranslation(0, 0.5, 0), ColliderDesc.cuboid(2, 0.5, 2).setSensor(true));
    const told = { begin: [], sensor: [], hit: [], asleep: [] };
    for (let i = 0; i < 300; i++) {
        world.step();
        world.drainCollisionEvents((event) => event.started && told[event.sensor ? 'sensor' : 'begin'].push(event));
        world.drainHitEvents((event) => told.hit.push(event));
        world.drainSleepEvents((event) => event.asleep && told.asleep.push(event.body));
    }
    assert.equal(told.begin.length, 1);
    assert.deepEqual([told.begin[0].bodyA, told.begin[0].bodyB], [ground.handle, box.handle]);
    assert.equal(told.sensor.length, 1);
    close(told.hit[0].speed, Math.sqrt(2 * 10 * 1.5), 0.3);
    assert.deepEqual(told.asleep, [box.handle]);
});

test('questions: ray, shape, overlap, nearest, filters', () => {
    const { world, ground } = floor();
    const box = drop(world, 0, 5);
    const ray = new Ray({ x: 0, y: 10, z: 0 }, { x: 0, y: -2, z: 0 });
    const hit = world.castRay(ray, 100);
    assert.equal(hit.body.handle, box.handle);
    close(hit.distance, 4.5, 1e-5);
    close(hit.normal.y, 1, 1e-6);
    assert.equal(world.castRay(ray, 4), null);
    assert.deepEqual(world.castRayAll(ray, 100).map((one) => one.body.handle), [box.handle, ground.handle]);
    assert.equal(world.castRay(ray, 100, { exclude: box }).body.handle, ground.handle);
    assert.equal(world.castRay(ray, 100, { mask: 2 }), null);
    const fall = world.castShape(ColliderDesc.ball(1), { x: 0, y: 10, z: 0 }, NO_TURN, { x: 0, y: -20, z: 0 });
    close(fall.distance, 3.5, 1e-4);
    assert.equal(world.overlap(ColliderDesc.ball(1), { x: 0, y: 5, z: 0 }, NO_TURN).length, 1);
    close(world.closest({ x: 3, y: 5, z: 0 }, 10, { exclude: ground }).distance, 2.5, 1e-5);
    assert.throws(() => world.castRay(new Ray({ x: NaN, y: 0, z: 0 }, DOWN), 1), CaromError);
});

test('pair rules: ice under one of two boxes', () => {
    const { world, ground } = floor();
    const [rough, ice] = [0, 5].map((x) => {
        const box = ColliderDesc.cuboid(0.5, 0.5, 0.5).setFriction(1).setMaterial(x);
        return world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(x, 0.5, 0).setLinvel(0, 0, 3), box);
    });
    world.addPairRule({ a: ground, b: 5, friction: 0 });
    for (let i = 0; i < 60; i++) {
        world.step();
    }
    assert.ok(rough.linvel().z < 0.01);
    close(ice.linvel().z, 3, 1e-3);
    world.clearPairRules();
    for (let i = 0; i < 90; i++) {
        world.step();
    }
    assert.ok(ice.linvel().z < 0.01);
    assert.throws(() => world.addPairRule({ a: ice, b: 5, friction: NaN }), CaromError);
});

test('npm pack: what it packs runs in an empty folder, as its README begins', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carom-sim-'));
    try {
        const run = (command, ...rest) => execFileSync(command, rest, { cwd: folder, encoding: 'utf8' });
        const [packed] = JSON.parse(run('npm', 'pack', '--json', join(process.cwd(), 'build/web/carom-sim')));
        run('npm', 'init', '-y');
        run('npm', 'install', '--offline', '--no-audit', '--no-fund', packed.filename);
        const example = /```js\n([^]*?)```/.exec(readFileSync('client-sdk/web/sim/README.md', 'utf8'))[1];
        writeFileSync(join(folder, 'example.mjs'), example);
        assert.match(run('node', 'example.mjs'), /x: 0, y: 3\.[67]\d*, z: 0 } \d+n/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test('what is refused names its field', () => {
    const { world } = floor();
    const refused = (make) => {
        try {
            make();
        } catch (error) {
            return error.field;
        }
        return 'nothing was refused';
    };
    assert.equal(refused(() => world.createRigidBody(RigidBodyDesc.dynamic(), ColliderDesc.ball(-1))), 'radius');
    assert.equal(refused(() => world.createRigidBody(RigidBodyDesc.dynamic().setMass(-1), ColliderDesc.ball(1))), 'mass');
    assert.equal(refused(() => new World(DOWN, { tickRate: 0 })), 'tick_rate');
    assert.throws(() => world.createRigidBody(RigidBodyDesc.dynamic(), ColliderDesc.convexHull(new Float32Array(12))), /hull/);
    const [hash, before] = [world.hash(), world.stats().bodies];
    assert.equal(refused(() => world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(NaN, 0, 0), ColliderDesc.ball(1))), 'position');
    assert.deepEqual([world.hash(), world.stats().bodies], [hash, before]);
});

test('all solvers in the large program', () => {
    for (const solver of [Solver.Soft, Solver.Impulse, Solver.Lcp, Solver.Volume]) {
        const { world } = floor({ solver, tickRate: solver === Solver.Volume ? 1000 : 60 });
        const ball = world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(0, 2, 0), ColliderDesc.ball(0.5));
        for (let i = 0; i < (solver === Solver.Volume ? 3000 : 180); i++) {
            world.step();
        }
        close(ball.translation().y, 0.5, 0.05);
        world.free();
    }
});

test('a collider tells its shape', () => {
    const { world, ground } = floor();
    const points = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    const descs = [
        ColliderDesc.ball(0.5).setTranslation(0, 2, 0), ColliderDesc.capsule(0.75, 0.25), ColliderDesc.cylinder(0.5, 0.125),
        ColliderDesc.cuboid(1, 2, 3), ColliderDesc.convexHull(points),
    ];
    const body = world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(0, 9, 0), ...descs);
    const shapes = descs.map((_, i) => body.collider(i).shape());
    const bare = shapes.map(({ translation, rotation, ...shape }) => shape);
    assert.deepEqual(bare.slice(0, 4), [
        { kind: 'ball', radius: 0.5 }, { kind: 'capsule', radius: 0.25, halfHeight: 0.75 }, { kind: 'cylinder', radius: 0.125, halfHeight: 0.5 },
        { kind: 'cuboid', halfExtents: { x: 1, y: 2, z: 3 } },
    ]);
    assert.equal(bare[4].kind, 'hull');
    assert.deepEqual([...bare[4].vertices].sort(), [...points].sort());
    assert.deepEqual(shapes[0].translation, { x: 0, y: 2, z: 0 });
    assert.deepEqual(shapes[1].rotation, NO_TURN);
    assert.deepEqual(ground.collider(0).shape(), {
        kind: 'halfspace', normal: { x: 0, y: 1, z: 0 }, offset: 0, translation: { x: 0, y: 0, z: 0 }, rotation: NO_TURN,
    });
    world.removeRigidBody(body);
    assert.throws(() => shapes.length && body.collider(0).shape(), RangeError);
    world.free();
});
