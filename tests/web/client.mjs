// carom-client under Node.js: plays on a real server, each datagram as a message of a WebSocket. Its own body moves on the server, its world is the
// recorded one bit for bit (exact sync), it comes back after the worker was killed, and changed datagrams are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { chromium } from '../../build/web/node_modules/playwright-core/index.mjs';
import { connect, load } from '../../build/web/carom-client/client/index.js';
import { carom, hosted, play } from './hosted.mjs';
import { served } from './serve.mjs';
import { chance, proxied, Socket } from './websocket.mjs';

const open = (url, protocol) => new Socket(url, protocol);
await load();

const playing = (clients) => () => clients.every((client) => client.state === 'playing');

/** The sandbox's input: the force along x and z, and what is held. */
function drive(client, x, z, held = 0) {
    const { input } = client;
    if (input.length > 0) {
        const view = new DataView(input.buffer, input.byteOffset, input.length);
        view.setFloat32(0, x, true);
        view.setFloat32(4, z, true);
        input[8] = held;
    }
}

const sandbox = JSON.parse(readFileSync('tests/scenes/sandbox_50.json', 'utf8'));
const exact = { ...sandbox, replication: { sync: 'inputs' } };
const placeOf = (client, body) => {
    const found = [...client.world.bodies()].find((each) => each.handle === body);
    return found.translation();
};

test('the program imports a datagram, chance and a clock, and is small enough', () => {
    const bytes = readFileSync('build/web/carom-client/client/carom-client.wasm');
    const found = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map(({ module, name }) => `${module}.${name}`);
    assert.deepEqual(found.sort(), ['carom.clock', 'carom.random', 'carom.send']);
    const kb = gzipSync(bytes, { level: 9 }).length / 1000;
    assert.ok(kb <= 600, `${kb} kB gzip, at most 600`);
});

test('two play over 60 ms and 2% loss: the own body moves on the server, and for the other', () => hosted(sandbox, ({ port }) =>
    proxied(port, { delay_ms: 60, jitter_ms: 10, loss: 0.02, seed: 7 }, async (url) => {
        const clients = [await connect({ url: `${url}/room`, name: 'Ada', open }), await connect({ url: `${url}/room`, name: 'Bob', open })];
        const told = [];
        clients[0].on('state', (state, reason) => told.push([state, reason]));
        const appeared = new Set();
        clients[0].on('body', ({ change, body }) => change === 'appeared' && appeared.add(body));
        await play(clients, playing(clients));
        assert.deepEqual(told.map(([state]) => state), ['connecting', 'joining', 'playing'].slice(-told.length));
        const own = clients[0].ownHandle;
        const index = clients[0].own;
        await play(clients, () => clients[1].rows[8 * index + 3] !== 0 && clients[0].players().length === 2);
        assert.deepEqual(clients[0].players().map(({ name }) => name).sort(), ['Ada', 'Bob']);
        const from = placeOf(clients[1], own);
        drive(clients[0], 1, 0);
        await play(clients, () => placeOf(clients[1], own).x > from.x + 1.5 && placeOf(clients[0], own).x > from.x + 1.5);
        const { rows, stats, transport } = clients[0];
        assert.equal(rows[8 * index + 3], 1, 'it is predicted');
        assert.ok(rows[8 * index] >= placeOf(clients[0], own).x - 0.5, 'and ahead of the newest view');
        assert.ok(appeared.has(own) && appeared.size >= 50, `${appeared.size} bodies appeared`);
        assert.ok(stats.rttMs >= 100 && stats.views > 10 && stats.inputsSent > 10, JSON.stringify([stats.rttMs, stats.views, stats.inputsSent]));
        assert.ok(transport.messagesIn > 20 && transport.opened === 1 && stats.desyncs === 0);
        clients[0].disconnect();
        await play(clients, () => clients[0].state === 'idle');
        assert.equal(clients[0].reason, 'LEFT');
        clients.forEach((client) => client.close());
    })));

test('exact sync: at each confirmed tick the hash that the server recorded', () => hosted(exact, (server) =>
    proxied(server.port, { delay_ms: 40, jitter_ms: 10, loss: 0.02, seed: 3 }, async (url) => {
        const clients = [await connect({ url: `${url}/room`, open }), await connect({ url: `${url}/room`, open })];
        await play(clients, playing(clients));
        const random = chance(11);
        const seen = new Map();
        let differ = 0;
        let turn = 0;
        await play(clients, () => seen.size >= 240, (client) => {
            const tick = client.confirmedTick;
            const hash = client.confirmedHash().toString(16).padStart(16, '0');
            differ += seen.has(tick) && seen.get(tick) !== hash ? 1 : 0;
            seen.set(tick, hash);
            if (performance.now() > turn) {
                drive(client, 2 * random() - 1, 2 * random() - 1, Math.floor(4 * random()));
                turn = performance.now() + 150;
            }
        });
        assert.equal(differ, 0);
        assert.deepEqual(clients.map(({ stats }) => stats.desyncs), [0, 0]);
        assert.ok(clients.every(({ stats }) => stats.reconciles > 0), 'predictions were corrected');
        clients.forEach((client) => client.close());
        const match = await server.end();
        execFileSync(carom, ['replay', match, '--verify']);
        const asked = 'import sqlite3,sys,json;print(json.dumps(sqlite3.connect(sys.argv[1]).execute("SELECT tick,hash FROM hashes").fetchall()))';
        const recorded = new Map(JSON.parse(execFileSync('python3', ['-c', asked, match], { maxBuffer: 1 << 26 })));
        const other = [...seen].filter(([tick, hash]) => recorded.get(tick) !== hash);
        assert.deepEqual(other, []);
    })));

test('a comeback: the way is cut, then the worker is killed', () => hosted(sandbox, ({ port, pid }) =>
    proxied(port, {}, async (url, proxy) => {
        const client = await connect({ url: `${url}/room`, open });
        await play([client], playing([client]));
        const { player } = client;
        proxy.drop();
        await play([client], () => client.stats.comebacks === 1 || client.transport.opened >= 2);
        await play([client], playing([client]));
        assert.equal(client.player, player);
        const [worker] = execFileSync('pgrep', ['-P', String(pid)]).toString().trim().split('\n');
        process.kill(Number(worker), 'SIGKILL');
        await play([client], () => client.state === 'unstable');
        await play([client], playing([client]));
        assert.equal(client.player, player);
        const views = client.stats.views;
        await play([client], () => client.stats.views > views + 20);
        client.close();
    })));

const direct = ['--http', '127.0.0.1:0', '--web'];

test('by the server itself, without a proxy: exact sync, then a comeback after the worker was killed', () => hosted(exact, async ({ http, pid }) => {
    const clients = [await connect({ url: `${http}/room`, open }), await connect({ url: `${http}/room`, open })];
    const random = chance(4);
    await play(clients, () => clients.every((client) => client.confirmedTick > 120), (client) => drive(client, 2 * random() - 1, 2 * random() - 1));
    const players = clients.map(({ player }) => player);
    const [worker] = execFileSync('pgrep', ['-P', String(pid)]).toString().trim().split('\n');
    process.kill(Number(worker), 'SIGKILL');
    await play(clients, () => clients.every(({ state }) => state === 'unstable'));
    await play(clients, playing(clients));
    assert.deepEqual(clients.map(({ player }) => player), players);
    const ticks = clients.map(({ confirmedTick }) => confirmedTick);
    await play(clients, () => clients.every((client, i) => client.confirmedTick > ticks[i] + 60));
    assert.deepEqual(clients.map(({ stats }) => stats.desyncs), [0, 0]);
    clients.forEach((client) => client.close());
}, direct));

test('changed datagrams are refused, and a server that sends nothing else ends the connection', () => {
    const random = chance(5);
    let share = 0.3;
    const change = (bytes) => {
        if (random() < share) {
            bytes[Math.floor(random() * bytes.length)] ^= 1 + Math.floor(random() * 255);
        }
    };
    return hosted(sandbox, ({ port }) => proxied(port, { change }, async (url) => {
        const client = await connect({ url: `${url}/room`, open, timeoutMs: 2000 });
        await play([client], playing([client]));
        await play([client], () => client.refused > 25);
        assert.equal(client.state, 'playing');
        share = 1;
        await play([client], () => client.state === 'idle');
        assert.equal(client.reason, 'TIMEOUT');
        assert.equal(client.rows.length, 0);
        client.close();
    }));
});

test('no server, no room, bad options: a reason', () => hosted(sandbox, ({ port }) => proxied(port, {}, async (url) => {
    for (const [to, reason] of [['ws://127.0.0.1:9/play/room', 'UNREACHABLE'], [`${url}/nobody`, 'ROOM_UNKNOWN'], [`${url}/x/room`, 'UNREACHABLE']]) {
        const client = await connect({ url: to, open, connectTimeoutMs: 1000 });
        await play([client], () => client.state === 'idle');
        assert.equal(client.reason, reason);
        client.close();
    }
    await assert.rejects(connect({ url: `${url}/room`, open, name: 'a\nb' }), /name/);
    await assert.rejects(connect({ url: `${url}/room`, open, token: 'none' }), /./);
})));

/** A WebSocket that keeps what it sends for flush(): what Node.js needs for a frame is none of the client's garbage. */
class Held extends Socket {
    #held = Array.from({ length: 64 }, () => new Uint8Array(1200));
    #sizes = new Uint32Array(64);
    #count = 0;

    send(bytes) {
        if (this.#count < 64) {
            this.#held[this.#count].set(bytes);
            this.#sizes[this.#count++] = bytes.length;
        }
    }

    flush() {
        for (let i = 0; i < this.#count; i++) {
            super.send(this.#held[i].subarray(0, this.#sizes[i]));
        }
        this.#count = 0;
    }
}

test('ten seconds of frames: memory stays, and a frame makes next to no garbage', () => hosted(sandbox, ({ port }) => proxied(port, {}, async (url) => {
    const sockets = [];
    const hold = (to, protocol) => {
        sockets.push(new Held(to, protocol));
        return sockets.at(-1);
    };
    const client = await connect({ url: `${url}/room`, open: hold });
    const random = chance(9);
    const used = () => process.memoryUsage().heapUsed;
    const made = [];
    let memory = null;
    let begin = performance.now();
    await play([], () => performance.now() > begin + 13000, () => {}, () => {
        drive(client, 2 * random() - 1, 2 * random() - 1);
        const before = used();
        const look = used();
        client.update();
        const count = client.rows.length;
        made.push(used() - look - (look - before));
        sockets.forEach((socket) => socket.flush());
        if (client.state !== 'playing' || performance.now() < begin + 3000) {
            memory = client.rows.buffer;
            begin = client.state === 'playing' ? begin : performance.now();
            made.length = 0;
        } else {
            assert.ok(count >= 8 * 50);
        }
    });
    made.sort((a, b) => a - b);
    const median = made[made.length >> 1];
    console.log(`# ${made.length} frames, ${median} bytes a frame in the median`);
    assert.ok(client.rows.buffer === memory, 'the program’s memory did not grow');
    assert.ok(median <= 512, `${median} bytes a frame`);
    client.close();
})));

/** A page of Chromium; what it throws fails the test. */
async function paged(use) {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
    });
    try {
        const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
        const thrown = [];
        page.on('pageerror', (error) => thrown.push(String(error)));
        await use(page);
        assert.deepEqual(thrown, []);
    } finally {
        await browser.close();
    }
}

test('in Chromium: the example; its key moves the cube on the server, and it is drawn where it is', () => hosted(sandbox, ({ port }) =>
    proxied(port, { delay_ms: 30, seed: 2 }, (url) => served((pages) => paged(async (page) => {
        await page.goto(`${pages}/client-sdk/web/client/example/index.html?url=${encodeURIComponent(`${url}/room`)}`);
        await page.waitForFunction(() => globalThis.example?.client.state === 'playing' && globalThis.example.client.own >= 0);
        const own = await page.evaluate(() => globalThis.example.client.ownHandle);
        const other = await connect({ url: `${url}/room`, open });
        await play([other], () => other.state === 'playing' && [...other.world.bodies()].some((body) => body.handle === own));
        const from = placeOf(other, own);
        await page.keyboard.down('ArrowRight');
        await play([other], () => placeOf(other, own).x > from.x + 1.5);
        await page.keyboard.up('ArrowRight');
        await page.waitForFunction(() => globalThis.example.ghost.visible && globalThis.example.client.stats.reconciles >= 0);
        const seen = await page.evaluate(() => {
            const { client, scene, ghost } = globalThis.example;
            ghost.visible = false; // it lies over the cube
            scene.renderer.render(scene.scene, scene.camera);
            const view = document.querySelector('#view');
            const [width, height] = [300, 200];
            const copy = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
            copy.drawImage(view, 0, 0, width, height);
            const { data } = copy.getImageData(0, 0, width, height);
            let [count, x, y] = [0, 0, 0];
            for (let i = 0; i < data.length; i += 4) {
                if (data[i] > data[i + 2] + 60) {
                    count++;
                    x += (i / 4) % width;
                    y += Math.floor(i / 4 / width);
                }
            }
            const at = scene.groups.get(client.ownHandle).group.position.clone().project(scene.camera);
            return { count, x: x / count - (at.x + 1) / 2 * width, y: y / count - (1 - at.y) / 2 * height, bodies: scene.groups.size };
        });
        assert.ok(seen.count > 10 && Math.abs(seen.x) <= 4 && Math.abs(seen.y) <= 4 && seen.bodies > 50, JSON.stringify(seen));
        assert.match(await page.textContent('#figures'), /round trip\d+ ms/);
        if (process.env.SCREENSHOT) {
            await page.evaluate(() => { globalThis.example.ghost.visible = true; });
            await page.screenshot({ path: process.env.SCREENSHOT });
        }
        other.close();
    })))));

test('in Chromium by the server itself: a page of a listed origin plays, one of another does not', () => served((pages) => hosted(sandbox, ({ http }) => paged(async (page) => {
    const at = `${pages}/client-sdk/web/client/example/index.html?url=${encodeURIComponent(`${http}/room`)}`;
    await page.goto(at.replace('127.0.0.1', 'localhost'));
    await page.waitForFunction(() => globalThis.example?.client.state === 'idle' && globalThis.example.client.reason === 'UNREACHABLE');
    await page.goto(at);
    await page.waitForFunction(() => globalThis.example?.client.state === 'playing' && globalThis.example.client.own >= 0);
    const from = await page.evaluate(() => globalThis.example.client.rows[8 * globalThis.example.client.own]);
    await page.keyboard.down('ArrowRight');
    await page.waitForFunction((x) => globalThis.example.client.rows[8 * globalThis.example.client.own] > x + 1.5, from);
    await page.keyboard.up('ArrowRight');
}), [...direct, '--web-origin', pages])));
