// Plays in a room of the sandbox: index.html?url=ws://HOST:PORT/play/ROOM. Arrow keys drive the own cube, which is predicted; the pale one is
// where the server has it in its newest view. Serve the project's folder after `make web-client`.
import * as THREE from 'three';
import { connect } from 'carom-client';
import { Scene } from '../../watch/example/scene.js';

const $ = (id) => document.querySelector(id);
const asked = new URLSearchParams(location.search);
const FLOATS = 8; // of a row
const FIXED = 3;
const PLOT_SAMPLES = 120;
const LOOK_MS = 250;

const client = await connect({ url: asked.get('url') ?? `ws://${location.host}/play/`, name: asked.get('name') ?? 'page', predictBudgetUs: 4000 });
client.on('state', (state, reason) => {
    $('#state').textContent = state;
    $('[role=alert]').textContent = state === 'idle' ? `The connection ended: ${reason}` : '';
});
client.on('notice', (text) => { $('[role=alert]').textContent = text; });

// Input: the sandbox's nine bytes, force along x and z as floats, and a button.
const held = new Set();
const KEYS = { ArrowLeft: 'left', KeyA: 'left', ArrowRight: 'right', KeyD: 'right', ArrowUp: 'up', KeyW: 'up', ArrowDown: 'down', KeyS: 'down', Space: 'pull' };
addEventListener('keydown', (event) => {
    const key = KEYS[event.code];
    if (key && !(event.target instanceof HTMLInputElement)) {
        held.add(key);
        event.preventDefault();
    }
});
addEventListener('keyup', (event) => held.delete(KEYS[event.code]));
addEventListener('blur', () => held.clear());
let view = null;
function drive() {
    const { input } = client;
    if (input.length < 9) {
        return;
    }
    if (view?.buffer !== input.buffer) {
        view = new DataView(input.buffer, input.byteOffset, input.length);
    }
    view.setFloat32(0, held.has('right') - held.has('left'), true);
    view.setFloat32(4, held.has('down') - held.has('up'), true);
    view.setUint8(8, held.has('pull') ? 1 : 0);
}

// Drawing: the scene of carom-watch's example, at the client's own poses. Those that are interpolated are drawn as sleepers are.
const scene = new Scene($('#view'));
const ghost = new THREE.Mesh(undefined, new THREE.MeshStandardMaterial({ color: 0xffffff, transparent: true, opacity: 0.35, depthWrite: false }));
ghost.visible = false;
ghost.scale.setScalar(1.02); // where both agree it shows as a rim
scene.scene.add(ghost);
let rows = new Float32Array(0);
const drawn = { bodies: () => client.world.bodies(), transforms: () => rows };
function draw() {
    const truth = client.world.transforms();
    if (rows.length < client.rows.length) {
        rows = new Float32Array(client.rows.length);
    }
    rows.set(client.rows);
    for (let at = 3; at < truth.length && at < rows.length; at += FLOATS) {
        rows[at] = truth[at] === FIXED ? FIXED : rows[at];
    }
    scene.players = new Set([client.ownHandle]);
    scene.followed = client.own >= 0 ? client.ownHandle : null;
    const own = scene.groups.get(client.ownHandle);
    ghost.visible = $('#ghost').checked && own?.group.children.length > 0;
    if (ghost.visible) {
        const at = client.own * FLOATS;
        ghost.geometry = own.group.children[0].geometry;
        ghost.position.fromArray(truth, at);
        ghost.quaternion.fromArray(truth, at + 4);
    }
    scene.draw(drawn);
}

// The network panel.
const plot = $('#plot');
const pen = plot.getContext('2d');
const trips = [];
const rates = { at: performance.now(), in: 0, out: 0, down: 0, up: 0 };
function look(now) {
    const { stats, transport } = client;
    const passed = (now - rates.at) / 1000;
    Object.assign(rates, { at: now, in: transport.bytesIn, out: transport.bytesOut, down: (transport.bytesIn - rates.in) / passed, up: (transport.bytesOut - rates.out) / passed });
    const figures = {
        'round trip': `${stats.rttMs} ms`, jitter: `${stats.jitterMs} ms`,
        lost: `${stats.viewPackets + stats.packetsLost > 0 ? (100 * stats.packetsLost / (stats.viewPackets + stats.packetsLost)).toFixed(1) : 0}%`,
        lead: `${stats.inputLead.toFixed(1)} ticks`, corrections: stats.reconciles,
        'error, mean': `${stats.errorCount > 0 ? (1000 * stats.errorSum / stats.errorCount).toFixed(1) : 0} mm`,
        down: `${(rates.down / 1000).toFixed(1)} kB/s`, up: `${(rates.up / 1000).toFixed(1)} kB/s`, update: `${spent.toFixed(1)} ms`, comebacks: stats.comebacks,
    };
    $('#figures').replaceChildren(...Object.entries(figures).flatMap(([name, value]) =>
        [Object.assign(document.createElement('dt'), { textContent: name }), Object.assign(document.createElement('dd'), { textContent: value })]));
    trips.push(stats.rttMs);
    trips.splice(0, trips.length - PLOT_SAMPLES);
    const [width, height] = [plot.clientWidth, plot.clientHeight];
    [plot.width, plot.height] = [width, height];
    const most = Math.max(20, ...trips) * 1.2;
    pen.strokeStyle = getComputedStyle(plot).color;
    pen.lineWidth = 2;
    pen.beginPath();
    trips.forEach((trip, i) => pen.lineTo(width * (1 - (trips.length - 1 - i) / PLOT_SAMPLES), height * (1 - trip / most)));
    pen.stroke();
}

let spent = 0;
function frame(now) {
    drive();
    const begin = performance.now();
    client.update();
    spent = performance.now() - begin;
    if (client.world) {
        draw();
    }
    if (now - rates.at >= LOOK_MS) {
        look(now);
    }
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
globalThis.example = { client, scene, ghost };
