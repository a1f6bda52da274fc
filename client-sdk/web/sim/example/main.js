// A pyramid, a ball at each click, and a slider that rewinds the last five seconds: the world is saved at each tick, and
// restored where the slider stands. Serve the project's folder (after `make web`) and open this page.
import * as THREE from 'three';
import { ColliderDesc, init, RigidBodyDesc, World } from 'carom-sim';

const TICK_S = 1 / 60;
const HISTORY = 300; // images: 5 s
const ROWS = 12;
const FLOATS = 8; // of a row of transforms()

await init();
const world = new World({ x: 0, y: -9.81, z: 0 }, { bodies: 512 });
world.createRigidBody(RigidBodyDesc.fixed(), ColliderDesc.halfspace({ x: 0, y: 1, z: 0 }));
for (let row = 0; row < ROWS; row++) {
    for (let i = 0; i < ROWS - row; i++) {
        const x = 1.04 * (i - (ROWS - row - 1) / 2);
        world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(x, 0.5 + row, 0), ColliderDesc.cuboid(0.5, 0.5, 0.5));
    }
}

const canvas = document.querySelector('canvas');
const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
const scene = new THREE.Scene();
scene.background = new THREE.Color(0x10151c);
const camera = new THREE.PerspectiveCamera(45, 1, 0.1, 200);
camera.position.set(9, 9, 20);
camera.lookAt(0, 4, 0);
scene.add(new THREE.HemisphereLight(0xbfd8ff, 0x30281f, 1.6));
const sun = new THREE.DirectionalLight(0xffffff, 2.2);
sun.position.set(6, 14, 9);
scene.add(sun);
const ground = new THREE.Mesh(new THREE.PlaneGeometry(80, 80), new THREE.MeshStandardMaterial({ color: 0x26323f, roughness: 1 }));
ground.rotation.x = -Math.PI / 2;
scene.add(ground, new THREE.GridHelper(80, 40, 0x3d4f63, 0x2f3d4d));

const boxes = new THREE.InstancedMesh(new THREE.BoxGeometry(1, 1, 1), new THREE.MeshStandardMaterial({ roughness: 0.7 }), 512);
const balls = new THREE.InstancedMesh(new THREE.SphereGeometry(0.6, 24, 16), new THREE.MeshStandardMaterial({ color: 0xff8a3d, roughness: 0.4 }), 512);
boxes.frustumCulled = balls.frustumCulled = false;
scene.add(boxes, balls);

const thrown = new Set(); // indices of balls
const matrix = new THREE.Matrix4();
const place = new THREE.Vector3();
const turn = new THREE.Quaternion();
const one = new THREE.Vector3(1, 1, 1);
const awake = new THREE.Color(0x5aa9e6);
const asleep = new THREE.Color(0x7f8ea0);

function draw() {
    const rows = world.transforms();
    let [boxCount, ballCount] = [0, 0];
    for (let at = 0; at < rows.length; at += FLOATS) {
        const mark = rows[at + 3];
        if (mark === 0 || mark === 3) {
            continue;
        }
        matrix.compose(place.fromArray(rows, at), turn.fromArray(rows, at + 4), one);
        if (thrown.has(at / FLOATS)) {
            balls.setMatrixAt(ballCount++, matrix);
        } else {
            boxes.setColorAt(boxCount, mark === 2 ? asleep : awake);
            boxes.setMatrixAt(boxCount++, matrix);
        }
    }
    [boxes.count, balls.count] = [boxCount, ballCount];
    boxes.instanceMatrix.needsUpdate = balls.instanceMatrix.needsUpdate = true;
    boxes.instanceColor.needsUpdate = true;
    renderer.render(scene, camera);
}

// Images of the last ticks, the newest last; the array's images are used again.
const images = [world.save()];
const spare = [];
const back = document.querySelector('#back');
const told = document.querySelector('#told');

function step() {
    world.step();
    images.push(world.save(spare.pop()));
    if (images.length > HISTORY) {
        spare.push(images.shift());
    }
    back.min = String(1 - images.length);
}

function rewind() {
    world.restore(images[images.length - 1 + Number(back.value)]);
}

/** Play goes on from where the slider stands: what came after is given up. */
function resume() {
    spare.push(...images.splice(images.length + Number(back.value)));
    back.value = '0';
}

function throwBall(x = 0, y = 3.5) {
    resume();
    const desc = RigidBodyDesc.dynamic().setTranslation(x * 0.3, y, 14).setLinvel(x * 0.4, 2, -24);
    thrown.add(world.createRigidBody(desc, ColliderDesc.ball(0.6).setDensity(3000)).index);
}

canvas.addEventListener('pointerdown', (event) => {
    const x = (event.clientX / canvas.clientWidth - 0.5) * 16;
    throwBall(x, 1 + (1 - event.clientY / canvas.clientHeight) * 6);
});
document.querySelector('#throw').addEventListener('click', () => throwBall());
back.addEventListener('input', rewind);

function fit() {
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(innerWidth, innerHeight, false);
    canvas.style.width = '100%';
    canvas.style.height = '100vh';
    camera.aspect = innerWidth / innerHeight;
    camera.updateProjectionMatrix();
}
addEventListener('resize', fit);
fit();

let before = performance.now();
let owed = 0;
function frame(now) {
    owed = Math.min(owed + (now - before) / 1000, 0.1);
    before = now;
    for (; owed >= TICK_S && back.value === '0'; owed -= TICK_S) {
        step();
    }
    draw();
    told.value = `tick ${world.tick}  hash ${world.hash().toString(16).padStart(16, '0')}`;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
globalThis.example = { world, step, throwBall, draw };
