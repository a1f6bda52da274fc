// carom-sim in Firefox: 1,000 ticks of each scene have the hashes of the native program. Firefox opens one page, which asks
// for its scenes and posts what it found; nothing steers the browser.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { SCENES } from './scenes.mjs';
import { served } from './serve.mjs';

const carom = process.env.CAROM_BINARY ?? 'build/release/carom';
const TICKS = 1000, EVERY = 100;
const asked = SCENES.map((name) => ({ path: `/tests/scenes/${name}.json`, ticks: TICKS, every: EVERY }));

async function native(path) {
    const lines = await promisify(execFile)(carom, ['sim', path, '--ticks', `${TICKS}`, '--every', `${EVERY}`], { maxBuffer: 1 << 28 });
    return lines.stdout.trim().split('\n').map((line) => JSON.parse(line).hash);
}

test('hashes of the native program', async () => {
    const profile = mkdtempSync(join(tmpdir(), 'carom-firefox-'));
    const firefox = process.env.FIREFOX ?? 'firefox-esr';
    const expected = await Promise.all(SCENES.map((name) => native(`tests/scenes/${name}.json`)));
    const told = await served(async (url, answer) => {
        const child = spawn(firefox, ['--headless', '--no-remote', '--profile', profile, `${url}/tests/web/hashes.html`], { stdio: 'ignore' });
        const exit = new Promise((done, fail) => child.once('error', fail).once('exit', done));
        const early = exit.then((code) => { throw new Error(`${firefox} ended with ${code}`); });
        early.catch(() => {}); // after the answer its end is asked for
        try {
            return await Promise.race([answer, early]);
        } finally {
            child.kill();
            await exit.catch(() => {}); // it never began: the race has said so
        }
    }, asked);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    assert.deepEqual(told, expected);
});
