// carom-watch under node and in Chromium: a match of a real server is cut into chunks, fetched by HTTP, run again and verified; a seek, a
// changed byte, a foreign key and a truncated stream. What it says at the end is what `carom match verify` says.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
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

test('what was changed is named', async () => {
    for (const number of [0, 3, 5, index.chunks - 1]) {
        for (const at of [0, 8, 80, -9]) { // its kind, signature, the frame's head, and what it holds
            assert.match(await said((chunk) => flip(chunk(number), at)), new RegExp(`^chunk ${number}: `), `byte ${at}`);
        }
    }
    assert.match(await said((chunk) => cpSync(chunk(3), chunk(4))), /^chunk 4: /);
    assert.match(await said((chunk) => writeFileSync(chunk(2), '')), /^chunk 2: /);
    assert.match(await said((chunk) => rmSync(chunk(2))), /2\.chunk: 404/);
    assert.match(await said((_, at) => writeFileSync(at, '{}')), /not a stream/);
    assert.match(await said((_, at) => writeFileSync(at, '[')), /JSON/);
    assert.match(await said((_, at) => writeFileSync(at, JSON.stringify({ ...index, chunks: 0, complete: true }))), /no chunk yet/);
});

test('another key than the expected one is refused', () => served(async (url) => {
    await assert.rejects(MatchStream.open(`${url}/stream`, { key: '0'.repeat(64) }), /not signed by the key/);
}, [], stream));

test('in Chromium: the same', () => served(async (url) => {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
    try {
        const page = await browser.newPage();
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
    } finally {
        await browser.close();
    }
}, [], stream));
