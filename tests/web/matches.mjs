// The page of a real server (`make web-page`, then the build of the server) in Chromium: it lists rooms, watches one live, seeks, steps,
// follows, measures, verifies, replays a match that ended, saves it, takes the saved file and a folder, names what was changed, tells where
// two matches part; by keys alone, on a phone's width, behind a path of a proxy, in both colour schemes with enough contrast.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { chromium } from '../../build/web/node_modules/playwright-core/index.mjs';

const carom = process.env.CAROM_BINARY ?? 'build/release/carom';
const folder = mkdtempSync(join(tmpdir(), 'carom-page-'));
const at = (name) => join(folder, name);
const WAIT_MS = 600000; // for what comes if anything works
let browser;
let server;
let bots;
let url = '';

const until = async (is) => {
    while (!is()) {
        assert.equal(server.exitCode, null, 'the server lives');
        await new Promise((done) => setTimeout(done, 20));
    }
};

before(async () => {
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
    });
    execFileSync(carom, ['match', 'keygen', '--out', at('key')]);
    const room = (name) => ['--room', `${name}=tests/scenes/sandbox.json`];
    server = spawn(carom, ['serve', '--insecure', ...room('left'), ...room('right'), '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--workers', '1',
        '--matches', at('matches'), '--ready-file', at('ready'), '--stream-delay-s', '1', '--keyframe-s', '2', '--sign-key', at('key')],
    { stdio: ['ignore', 'pipe', 'ignore'] });
    let told = '';
    server.stdout.on('data', (text) => { told += text; });
    await until(() => existsSync(at('ready')) && readFileSync(at('ready'), 'utf8') !== '' && /http on \S+/.test(told));
    url = `http://${/http on (\S+)/.exec(told)[1]}`;
    const address = readFileSync(at('ready'), 'utf8').trim().split('\n')[0];
    bots = spawn(carom, ['bots', '--connect', address, '--count', '4', '--rooms', 'left,right', '--seconds', '100000'], { stdio: 'ignore' });
});

after(async () => {
    const ended = new Promise((done) => server.once('exit', done));
    bots.kill();
    server.kill('SIGTERM');
    await browser.close();
    await ended;
    rmSync(folder, { recursive: true, force: true });
});

/** A page; what it throws, logs as an error, or asks of another host fails the test. `expected`: an error of a fetch that may come. */
async function paged(use, { base = url, width = 1280, height = 800, scheme = 'light', expected = /^$/ } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const wrong = [];
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && !expected.test(message.text()) && wrong.push(message.text()));
    page.on('request', (asked) => !/^(blob|data):/.test(asked.url()) && !asked.url().startsWith(base) && wrong.push(asked.url()));
    try {
        await page.goto(`${base}/watch/`);
        await use(page);
        assert.deepEqual(wrong, []);
        if (process.env.SCREENSHOTS) {
            await page.screenshot({ path: join(process.env.SCREENSHOTS, `${width}-${scheme}.png`) });
        }
    } finally {
        await context.close();
    }
}

const rooms = async () => (await fetch(`${url}/rooms`)).json();
const streams = async () => (await fetch(`${url}/stream/index.json`)).json();
const tickOf = (page) => page.evaluate(() => globalThis.page.match.shown.stream.tick);
const stands = (page, tick) => page.waitForFunction((goal) => {
    const shown = globalThis.page?.match.shown;
    return shown && !shown.isBusy && !shown.playing && shown.stream.tick === goal;
}, tick);
const says = (page, id, text) => page.waitForFunction(([name, part]) => document.getElementById(name).textContent.includes(part), [id, text]);

async function watch(page, room) {
    await page.click(`#rooms-list a[aria-label="Watch ${room}"]`);
    await page.waitForFunction(() => globalThis.page.match.shown !== null);
}

/** Ratios of text to what lies behind it, and of edges of what is pressed: those that are too small (WCAG 2.2, AA). */
function faint() {
    const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgb = (colour) => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const behind = (element) => {
        for (let one = element; one; one = one.parentElement) {
            const colour = rgb(getComputedStyle(one).backgroundColor);
            if (colour[3] === 255) {
                return colour;
            }
        }
        return rgb(getComputedStyle(document.documentElement).colorScheme === 'dark' ? '#000' : '#fff');
    };
    const found = [];
    for (const element of document.querySelectorAll('body *')) {
        const style = getComputedStyle(element);
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
        if (own && element.getClientRects().length > 0 && !element.disabled && ratio(rgb(style.color), behind(element)) < 4.5) {
            found.push(`text of ${element.tagName} ${element.id}: ${ratio(rgb(style.color), behind(element)).toFixed(2)}`);
        }
        if (element.matches('button, select, .button') && style.borderTopWidth !== '0px' && ratio(rgb(style.borderTopColor), behind(element.parentElement)) < 3) {
            found.push(`edge of ${element.tagName} ${element.id}`);
        }
    }
    return found;
}

test('the server’s page leads there', () => paged(async (page) => {
    await page.goto(`${url}/`);
    await page.click('#watch');
    await page.waitForURL(`${url}/watch/`);
}));

test('rooms are listed with pictures; one is watched live, by its players', () => paged(async (page) => {
    await page.waitForFunction(() => document.querySelectorAll('#rooms-list canvas').length === 2);
    assert.deepEqual(await page.$$eval('#rooms-list strong', (names) => names.map((name) => name.textContent)), ['left', 'right']);
    await watch(page, 'left');
    const { match } = await page.evaluate(() => ({ match: globalThis.page.match.shown.source.id }));
    assert.equal(match, (await rooms()).find(({ room }) => room === 'left').stream);
    const first = await tickOf(page);
    await page.waitForFunction((tick) => globalThis.page.match.shown.stream.tick > tick + 200, first); // more than a chunk, so it came
    assert.equal(await page.isVisible('#live'), true);
    await page.waitForFunction(() => document.querySelectorAll('#follow option').length === 3);
    await page.selectOption('#follow', '0');
    await page.waitForFunction(() => globalThis.page.drawing.followed !== null);
    const seen = await page.evaluate(() => {
        const { drawing, match } = globalThis.page;
        match.shown.playing = false;
        const shown = drawing.picture(match.shown.stream.world, 90, 60);
        const copy = Object.assign(document.createElement('canvas'), { width: 90, height: 60 }).getContext('2d');
        copy.drawImage(shown, 0, 0, 90, 60);
        const data = copy.getImageData(0, 0, 90, 60).data;
        let orange = 0;
        for (let i = 0; i < data.length; i += 4) {
            orange += data[i] > data[i + 2] + 60 ? 1 : 0;
        }
        return { bodies: drawing.groups.size, players: drawing.players.size, orange };
    });
    assert.ok(seen.bodies > 400 && seen.players === 2 && seen.orange > 0, JSON.stringify(seen));
}));

test('seeks, steps both ways and verifies, by keys alone; a link leads to the moment', () => paged(async (page) => {
    await watch(page, 'right');
    await page.focus('#view');
    await page.keyboard.press('Home');
    await stands(page, 0);
    await page.keyboard.press('ArrowRight');
    await stands(page, 1);
    await page.keyboard.press('PageUp');
    await stands(page, 61);
    const hash = await page.evaluate(() => String(globalThis.page.match.shown.stream.hash()));
    await page.keyboard.press('ArrowLeft');
    await stands(page, 60);
    const link = await page.evaluate(() => globalThis.page.match.link());
    await page.keyboard.press(' ');
    await page.waitForFunction(() => globalThis.page.match.shown.stream.tick > 70);
    await page.keyboard.press(' ');
    await page.keyboard.press('w');
    await page.focus('#verify');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /^(not )?verified/.test(document.querySelector('#proof').textContent));
    assert.match(await page.textContent('#proof'), /^verified: ticks up to \d+, so far, signed by [0-9a-f]{8}…$/);
    await page.goto('about:blank');
    await page.goto(link);
    await stands(page, 60);
    await page.keyboard.press('ArrowRight');
    await stands(page, 61);
    assert.equal(await page.evaluate(() => String(globalThis.page.match.shown.stream.hash())), hash);
}, { expected: /about:blank/ }));

test('two points are measured, and a body tells where it is', () => paged(async (page) => {
    await watch(page, 'left');
    await page.focus('#view');
    await page.keyboard.press('Home');
    await stands(page, 0);
    await page.click('#more summary');
    await page.check('#measure');
    const box = await page.locator('#view').boundingBox();
    const click = (x, y) => page.mouse.click(box.x + box.width * x, box.y + box.height * y);
    await click(0.3, 0.8);
    await says(page, 'picked', 'and the second point');
    await click(0.7, 0.8);
    await says(page, 'picked', 'distance ');
    assert.match(await page.textContent('#picked'), /^distance [1-9]\d*\.\d{3} m, height -?0\.000 m/);
    await page.uncheck('#measure');
    const [x, y] = await page.evaluate(() => {
        const { drawing } = globalThis.page;
        const [, { group }] = [...drawing.groups].find(([, one]) => one.group.children.length === 1 && one.group.position.y > 0.1);
        const on = group.position.clone().project(drawing.camera);
        return [(on.x + 1) / 2, (1 - on.y) / 2];
    });
    await click(x, y);
    await says(page, 'picked', ' kg');
    await page.check('#touches');
    await page.check('#joints');
    await page.click('#play');
    await page.waitForFunction(() => globalThis.page.match.shown.touches.length > 0);
}));

test('a match that ended is replayed, saved, and taken as a file; what was changed is named; two matches part', async () => {
    const id = (await rooms()).find(({ room }) => room === 'left').stream;
    await until(() => existsSync(at(`matches/stream/${id}/0/4.chunk`)));
    execFileSync(carom, ['admin', 'close', 'left', '--admin', at('matches/admin.sock')]);
    let index;
    while (!index?.complete) {
        index = (await streams()).find(({ match_id: one }) => one === id);
        await new Promise((done) => setTimeout(done, 50));
    }
    const match = at(`matches/${readdirSync(at('matches')).find((name) => name.startsWith(id) && name.endsWith('.match'))}`);
    const all = `verified: all ${index.ticks - 1} ticks, signed by ${index.sign_key.slice(0, 8)}…`;
    await paged(async (page) => {
        await page.click(`#matches-list a[aria-label="Replay ${id}"]`);
        await page.waitForFunction(() => globalThis.page.match.shown !== null);
        assert.equal(await page.isVisible('#live'), false);
        await page.click('#verify');
        await says(page, 'proof', 'verified: all');
        assert.equal(await page.textContent('#proof'), all);
        await page.click('#more summary');
        const events = await page.$$eval('#events button', (list) => list.map(({ textContent }) => textContent));
        assert.ok(events.some((text) => text.includes('player 0 came')), events.join());
        await page.click('#events button');
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
        await download.saveAs(at('saved.tar'));
        const other = (await rooms())[0].stream;
        await page.selectOption('#other', other);
        await page.waitForFunction(() => /^(they differ|the same, |not compared)/.test(document.querySelector('#proof').textContent));
        assert.match(await page.textContent('#proof'), /^they differ from tick \d+ on$/);
        await page.waitForFunction(() => document.querySelectorAll('#marks .apart').length === 1);
    });
    // The command line and the page agree about what was saved.
    execFileSync('mkdir', [at('unpacked')]);
    execFileSync('tar', ['-xf', at('saved.tar'), '-C', at('unpacked')]);
    assert.match(execFileSync(carom, ['match', 'verify', at(`unpacked/${index.epoch}`)]).toString(), /consistent, complete/);
    await paged(async (page) => {
        await page.setInputFiles('#file', at('saved.tar'));
        await page.waitForFunction(() => globalThis.page.match.shown !== null);
        await page.click('#verify');
        await says(page, 'proof', 'verified: all');
        assert.equal(await page.textContent('#proof'), all);
        await page.click('#more summary');
        await page.selectOption('#other', id);
        await says(page, 'proof', 'the same, as far as both go');
        // A byte in the middle of a chunk.
        const chunk = at(`unpacked/${index.epoch}/3.chunk`);
        const bytes = readFileSync(chunk);
        bytes[bytes.length >> 1] ^= 1;
        writeFileSync(chunk, bytes);
        await page.click('#leave');
        await page.setInputFiles('#folder', at('unpacked'));
        await page.waitForFunction(() => globalThis.page.match.shown !== null);
        await page.click('#verify');
        await says(page, 'proof', 'not verified');
        assert.match(await page.textContent('#proof'), /^not verified: chunk 3: /);
        await page.click('#leave');
        await page.setInputFiles('#file', match);
        await says(page, 'alert', 'carom match stream');
        writeFileSync(at('cut.tar'), readFileSync(at('saved.tar')).subarray(0, 5000));
        await page.setInputFiles('#file', at('cut.tar'));
        await says(page, 'alert', 'cut short');
        await page.setInputFiles('#file', 'LICENSE');
        await page.waitForFunction(() => document.querySelector('#alert').textContent.includes('MIT'));
        assert.equal(await page.isVisible('#rooms'), true);
    });
});

test('the gallery: each scene opens and moves; bit for bit as the native program has it; a pointer pushes', () => paged(async (page) => {
    const piece = (name, solver) => page.evaluate(([one, other]) => { location.hash = `#gallery=${one}${other ? `&solver=${other}` : ''}`; }, [name, solver]);
    const isAt = (name) => page.waitForFunction((one) => globalThis.page?.gallery.shown !== null && document.querySelector('#piece').value === one, name);
    await page.click('#pieces a');
    const names = await page.$$eval('#piece option', (list) => list.map(({ value }) => value));
    assert.ok(names.length >= 27);
    for (const name of names) {
        await piece(name);
        await isAt(name);
        await page.waitForFunction(() => globalThis.page.gallery.shown.world.tick > 3n);
        assert.equal(await page.textContent('#alert'), '', name);
    }
    for (const [name, ticks, solver, index] of [['lcp_ragdoll', 90, undefined, ''], ['tower', 60, 'volume', '4'], ['volume_top', 200, undefined, '']]) {
        await piece(name, index);
        await isAt(name);
        const file = existsSync(`tests/scenes/${name}.json`) ? `tests/scenes/${name}.json` : `tests/scenes/seeds/${name}.json`;
        const lines = execFileSync(carom, ['sim', file, '--ticks', `${ticks}`, '--every', `${ticks}`, ...(solver ? ['--solver', solver] : [])]);
        const hash = await page.evaluate((count) => {
            const { gallery } = globalThis.page;
            gallery.reset();
            const { world } = gallery.shown;
            while (world.tick < BigInt(count)) {
                world.step();
            }
            return world.hash().toString(16).padStart(16, '0');
        }, ticks);
        assert.equal(hash, JSON.parse(lines.toString().trim().split('\n').at(-1)).hash, name);
    }
    await piece('volume_six_blocks_pointer');
    await isAt('volume_six_blocks_pointer');
    await page.waitForFunction(() => globalThis.page.gallery.shown.world.tick > 3n);
    const box = await page.locator('#view').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => globalThis.page.gallery.target !== null);
    const most = await page.evaluate(() => {
        const { gallery } = globalThis.page;
        const [, pointer] = [...gallery.shown.world.bodies()];
        let force = 0;
        for (let i = 0; i < 3000; i++) {
            gallery.step();
            force = Math.max(force, Math.hypot(...Object.values(pointer.contactForce())));
        }
        return { force, x: pointer.translation().x };
    });
    assert.ok(most.force > 1 && Math.abs(most.x) < 1, JSON.stringify(most));
    await page.focus('#view');
    await page.keyboard.press('r');
    await page.waitForFunction(() => [...globalThis.page.gallery.shown.world.bodies()][1].translation().x < -3);
}));

test('on a phone, in both schemes, with enough contrast; behind the path of a proxy', async () => {
    const proxy = createServer((got, answer) => {
        const asked = ask(url + got.url.replace('/games/carom', ''), { headers: { host: new URL(url).host } }, (from) => {
            answer.writeHead(from.statusCode, from.headers);
            from.pipe(answer);
        });
        asked.on('error', () => answer.destroy());
        asked.end();
    });
    await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
    const base = `http://127.0.0.1:${proxy.address().port}/games/carom`;
    for (const scheme of ['light', 'dark']) {
        await paged(async (page) => {
            await page.click('#pieces a');
            await page.waitForFunction(() => globalThis.page.gallery.isOpen);
            assert.deepEqual(await page.evaluate(faint), []);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the screen');
            await page.click('#leave');
            await page.waitForFunction(() => document.querySelectorAll('#rooms-list a').length > 0);
            assert.deepEqual(await page.evaluate(faint), []);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the screen');
            await watch(page, 'right');
            await page.click('#more summary');
            await page.click('#verify');
            await says(page, 'proof', 'verified: ticks');
            assert.deepEqual(await page.evaluate(faint), []);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the screen');
            const small = await page.$$eval('#controls button, #controls select', (list) => list.filter((one) => one.getClientRects().length > 0 &&
                one.getBoundingClientRect().height < 24).map(({ id }) => id));
            assert.deepEqual(small, [], 'a finger hits them');
        }, { base, width: 390, height: 844, scheme });
    }
    proxy.close();
    proxy.closeAllConnections();
});
