// carom-sim in Chromium: the hashes of the native program, and the example draws what the world says. WebGL is drawn by
// software here, so pixels and states are judged, never rates.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test, { after } from 'node:test';
import { chromium } from '../../build/web/node_modules/playwright-core/index.mjs';
import { served } from './serve.mjs';

const carom = process.env.CAROM_BINARY ?? 'build/release/carom';
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
after(() => browser.close());

/** A page of the project's folder; what it throws fails the test. */
async function open(url, use) {
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    const thrown = [];
    page.on('pageerror', (error) => thrown.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && thrown.push(message.text()));
    await page.goto(url);
    await use(page);
    assert.deepEqual(thrown, []);
    await page.close();
}

test('hashes of the native program', () => served(async (url) => {
    const path = 'tests/scenes/bench/C_mixed1000.json';
    const lines = execFileSync(carom, ['sim', path, '--ticks', '60', '--every', '30'], { maxBuffer: 1 << 28 });
    const expected = lines.toString().trim().split('\n').map((line) => JSON.parse(line).hash);
    await open(`${url}/tests/web/blank.html`, async (page) => {
        const hashes = await page.evaluate(async ([scene]) => (await import('/tests/web/hashes.mjs')).hashes(scene, 60, 30), [`/${path}`]);
        assert.deepEqual(hashes, expected);
    });
}));

test('the example: a ball is thrown, and rewound', () => served(async (url) => {
    await open(`${url}/client-sdk/web/sim/example/index.html`, async (page) => {
        await page.waitForFunction(() => globalThis.example?.world.tick >= 1n);
        // The page's own clock goes on; the test steps and looks in one task.
        const seen = await page.evaluate(() => {
            const { world, step, throwBall } = globalThis.example;
            const bodies = world.stats().bodies;
            const before = [...world.bodies()].map((body) => [body, body.translation()]);
            throwBall();
            const begin = world.save();
            const from = world.tick;
            for (let i = 0; i < 90; i++) {
                step();
            }
            const far = world.hash();
            const moved = before.filter(([body, place]) => Math.abs(body.translation().z - place.z) > 0.5).length;
            const slider = document.querySelector('#back');
            slider.value = '-60';
            slider.dispatchEvent(new Event('input'));
            const back = Number(world.tick - from);
            world.restore(begin);
            for (let i = 0; i < 90; i++) {
                world.step();
            }
            return { added: world.stats().bodies - bodies, same: world.hash() === far, back, moved };
        });
        assert.deepEqual({ ...seen, moved: 0 }, { added: 1, same: true, back: 30, moved: 0 });
        assert.ok(seen.moved > 5, `${seen.moved} boxes were moved by the ball`);
        const shot = await page.evaluate(() => {
            globalThis.example.draw();
            const canvas = document.querySelector('canvas');
            const copy = Object.assign(document.createElement('canvas'), { width: 80, height: 60 }).getContext('2d');
            copy.drawImage(canvas, 0, 0, 80, 60);
            const data = copy.getImageData(0, 0, 80, 60).data;
            let blue = 0;
            for (let i = 0; i < data.length; i += 4) {
                blue += data[i + 2] > 90 && data[i + 2] > data[i] + 20 ? 1 : 0;
            }
            return blue;
        });
        assert.ok(shot > 50, `${shot} of 4800 pixels are of boxes`);
        if (process.env.SCREENSHOT) {
            await page.screenshot({ path: process.env.SCREENSHOT });
        }
    });
}));
