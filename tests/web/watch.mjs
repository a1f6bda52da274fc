// carom-watch under node and in Chromium: a match of a real server is cut into chunks, fetched by HTTP, run again and verified; a seek, a
// changed byte, a foreign key and a truncated stream. What it says at the end is what `carom match verify` says.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chromium } from '../../build/web/node_modules/playwright-core/index.mjs';
import { init, MatchStream } from '../../build/web/carom-watch/watch/index.js';
import { served } from './serve.mjs';

const carom = process.env.CAROM_BINARY ?? 'build/release/carom';
const folder = mkdtempSync(join(tmpdir(), 'carom-watch-'));
after(() => rmSync(folder, { recursive: true, force: true }));
await init();

/** A match of 13 s with four bots, signed: the folder of its stream. */
async function record() {
    const at = (name) => join(folder, name);
    execFileSync(carom, ['match', 'keygen', '--out', at('key')]);
    const server = spawn(carom, ['serve', '--insecure', '--scene', 'tests/scenes/sandbox.json', '--listen', '127.0.0.1:0', '--matches', at('matches'),
        '--ready-file', at('ready'), '--sign-key', at('key'), '--keyframe-s', '5'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let told = '';
    server.stderr.on('data', (text) => { told += text; });
    const ended = new Promise((done) => server.once('exit', done));
    while (!existsSync(at('ready')) || readFileSync(at('ready'), 'utf8') === '') {
        assert.equal(server.exitCode, null, told);
        await new Promise((done) => setTimeout(done, 20));
    }
    const address = readFileSync(at('ready'), 'utf8').trim().split('\n')[0];
    const bots = spawn(carom, ['bots', '--connect', address, '--count', '4', '--seconds', '12'], { stdio: 'ignore' });
    await new Promise((done) => bots.once('exit', done));
    server.kill('SIGTERM');
    assert.equal(await ended, 0, told);
    const match = readdirSync(at('matches')).find((name) => name.endsWith('.match'));
    execFileSync(carom, ['match', 'stream', join(at('matches'), match), '--out', at('stream'), '--sign-key', at('key')]);
    return join(at('stream'), readdirSync(at('stream'))[0]);
}

const stream = await record();
const index = JSON.parse(readFileSync(join(stream, 'index.json'), 'utf8'));
const verified = execFileSync(carom, ['match', 'verify', join(stream, `${index.epoch}`)]).toString();
const hex = (hash) => hash.toString(16).padStart(16, '0');
const hashes = [];

/** Calls use(url, folder) with a copy of the stream, changed by `change`. */
function served_copy(change, use) {
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(stream, copy, { recursive: true });
    change((number) => join(copy, `${index.epoch}`, `${number}.chunk`), join(copy, 'index.json'));
    return served((url) => use(`${url}/stream`, copy), [], copy);
}

async function runAll(watched, tell = () => {}) {
    do {
        while (watched.step()) {
            tell(watched.hash());
        }
    } while (await watched.load());
}

test('the program imports what stdio names, and is small enough', () => {
    const bytes = readFileSync('build/web/carom-watch/watch/carom-watch.wasm');
    const names = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map(({ name }) => name);
    assert.deepEqual(names.sort(), ['fd_close', 'fd_seek', 'fd_write']);
    const kb = gzipSync(bytes, { level: 9 }).length / 1000;
    assert.ok(kb <= 490, `${kb} kB gzip, at most 490`);
});

test('a whole match: each tick is as it was recorded', () => served(async (url) => {
    const watched = await MatchStream.open(`${url}/stream/`, { key: index.sign_key });
    assert.equal(watched.tick, 0);
    hashes.push(watched.hash());
    await runAll(watched, (hash) => hashes.push(hash));
    assert.equal(watched.end, 'drained');
    assert.ok(watched.isSigned);
    assert.equal(watched.key, readFileSync(join(folder, 'key.pub'), 'utf8').trim().split(' ').pop());
    assert.match(verified, new RegExp(`to tick ${watched.tick}, hash ${hex(watched.hash())}, consistent, complete`));
    assert.equal(hashes.length, index.ticks);
    watched.close();
    assert.throws(() => watched.step(), /closed/);
}, [], stream));

test('seeks forwards, back, to the first tick, not past the end', () => served(async (url) => {
    const watched = await MatchStream.open(`${url}/stream`);
    for (const tick of [650, 651, 620, 599, 31, 0, index.ticks - 1]) {
        await watched.seek(tick);
        assert.equal(watched.tick, tick);
        assert.equal(watched.hash(), hashes[tick], `tick ${tick}`);
    }
    await watched.seek(500);
    const rows = watched.world.transforms();
    const bodies = [...watched.world.bodies()];
    assert.equal(bodies.length, watched.world.stats().bodies);
    assert.ok(bodies.length > 400 && rows.filter((there, i) => i % 8 === 3 && there === 1).length >= 4, 'four bots move');
    assert.equal(bodies.at(-1).translation().x, rows[8 * (rows.length / 8 - 1)]);
    await assert.rejects(watched.seek(index.ticks), /the stream ends with tick/);
    watched.close();
}, [], stream));

test('a match that runs: what is there, then more, in a new epoch', () => served_copy((_, at) => {
    writeFileSync(at, JSON.stringify({ ...index, chunks: 2, ticks: 240, complete: false, keyframes: [] }));
}, async (url, copy) => {
    const watched = await MatchStream.open(url);
    await runAll(watched);
    assert.equal(watched.tick, 239);
    assert.equal(watched.end, null);
    cpSync(join(copy, `${index.epoch}`), join(copy, '7'), { recursive: true });
    rmSync(join(copy, `${index.epoch}`), { recursive: true });
    writeFileSync(join(copy, 'index.json'), JSON.stringify({ ...index, epoch: 7 }));
    await runAll(watched);
    assert.equal(watched.hash(), hashes.at(-1));
    watched.close();
}));

/** What watching a changed copy says. */
const said = (change) => served_copy(change, async (url) => {
    try {
        const watched = await MatchStream.open(url, { key: index.sign_key });
        await runAll(watched);
        return 'nothing';
    } catch (error) {
        return error.message;
    }
});

function flip(path, at) {
    const bytes = readFileSync(path);
    bytes[(at + bytes.length) % bytes.length] ^= 1;
    writeFileSync(path, bytes);
}

/** As whoever forges a chunk leaves it: no signature is a form that unsigned matches have. */
function unsign(path) {
    const bytes = readFileSync(path);
    bytes.fill(0, 8, 72);
    writeFileSync(path, bytes);
}

test('what was changed is named', async () => {
    for (const number of [0, 3, 5, index.chunks - 1]) {
        for (const at of [0, 8, 80, -9]) { // its kind, signature, the frame's head, and what it holds
            assert.match(await said((chunk) => flip(chunk(number), at)), new RegExp(`^chunk ${number}: `), `byte ${at}`);
        }
    }
    assert.match(await said((chunk) => cpSync(chunk(3), chunk(4))), /^chunk 4: /);
    assert.match(await said((chunk) => unsign(chunk(3))), /^chunk 3: not signed by the key/);
    assert.match(await said((chunk) => unsign(chunk(0))), /^chunk 0: not signed by the key/);
    assert.match(await said((chunk) => writeFileSync(chunk(2), '')), /^chunk 2: /);
    assert.match(await said((chunk) => rmSync(chunk(2))), /2\.chunk: 404/);
    assert.match(await said((_, at) => writeFileSync(at, '{}')), /not a stream/);
    assert.match(await said((_, at) => writeFileSync(at, '[')), /JSON/);
    assert.match(await said((_, at) => writeFileSync(at, JSON.stringify({ ...index, keyframes: ['../5'] }))), /keyframes/);
    assert.match(await said((_, at) => writeFileSync(at, JSON.stringify({ ...index, chunks: 0, complete: true }))), /no chunk yet/);
});

test('another key than the expected one is refused', () => served(async (url) => {
    await assert.rejects(MatchStream.open(`${url}/stream`, { key: '0'.repeat(64) }), /not signed by the key/);
}, [], stream));

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

test('in Chromium: the same', () => served(async (url) => {
    await paged(async (page) => {
        await page.goto(`${url}/tests/web/blank.html`);
        const told = await page.evaluate(async () => {
            const watch = await import('/build/web/carom-watch/watch/index.js');
            await watch.init();
            const stream = await watch.MatchStream.open('/stream');
            await stream.seek(650);
            const found = [stream.hash()];
            await stream.seek(stream.index.ticks - 1);
            return [...found, stream.hash()].map(String);
        });
        assert.deepEqual(told, [hashes[650], hashes.at(-1)].map(String));
    });
}, [], stream));

test('the example: plays, steps, seeks, verifies', () => served(async (url) => {
    await paged(async (page) => {
        await page.goto(`${url}/client-sdk/web/watch/example/index.html?stream=/stream/`);
        await page.waitForFunction(() => globalThis.example?.stream.tick >= 20);
        await page.keyboard.press(' ');
        await page.waitForFunction(() => document.querySelector('#play').textContent === 'Play');
        await page.evaluate(() => globalThis.example.seek(500));
        await page.waitForFunction(() => globalThis.example.stream.tick === 500);
        await page.keyboard.press('ArrowRight');
        await page.waitForFunction(() => globalThis.example.stream.tick === 501);
        await page.keyboard.press('ArrowLeft');
        await page.waitForFunction(() => document.querySelector('#told').value.startsWith('tick 500 '));
        assert.match(await page.textContent('#told'), new RegExp(`hash ${hex(hashes[500])}$`));
        const seen = await page.evaluate(() => {
            const { scene, stream } = globalThis.example;
            scene.draw(stream.world);
            const copy = Object.assign(document.createElement('canvas'), { width: 90, height: 60 }).getContext('2d');
            copy.drawImage(document.querySelector('canvas'), 0, 0, 90, 60);
            const data = copy.getImageData(0, 0, 90, 60).data;
            let [blue, orange] = [0, 0];
            for (let i = 0; i < data.length; i += 4) {
                blue += data[i + 2] > data[i] + 40 ? 1 : 0;
                orange += data[i] > data[i + 2] + 60 ? 1 : 0;
            }
            return { bodies: scene.groups.size, players: scene.players.size, blue, orange };
        });
        assert.ok(seen.bodies > 400 && seen.players >= 4 && seen.blue > 20 && seen.orange > 2, JSON.stringify(seen));
        await page.click('#verify');
        await page.waitForFunction(() => document.querySelector('#proof').value.startsWith('verified: '), undefined, { timeout: 120000 });
        assert.equal(await page.textContent('#proof'), `verified: all ${index.ticks - 1} ticks, signed by ${index.sign_key.slice(0, 8)}…`);
        if (process.env.SCREENSHOT) {
            await page.screenshot({ path: process.env.SCREENSHOT });
        }
    });
}, [], stream));
