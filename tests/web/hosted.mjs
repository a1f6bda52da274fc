// A real server with one room, and clients that play in it, for tests of carom-client.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const carom = process.env.CAROM_BINARY ?? 'build/release/carom';
const WAIT_MS = 600000; // what never comes is a failure and no hang
export const FRAME_MS = 8;

/** Calls use(server) while `carom serve` hosts one room of a scene, "room", in one worker; `more` of its flags. */
export async function hosted(scene, use, more = []) {
    const folder = mkdtempSync(join(tmpdir(), 'carom-client-'));
    const at = (name) => join(folder, name);
    const path = at('room.json');
    writeFileSync(path, JSON.stringify({ ...scene, name: 'room' }));
    const child = spawn(carom, ['serve', '--insecure', '--workers', '1', '--scene', path, '--listen', '127.0.0.1:0', '--matches', at('matches'),
        '--db', at('carom.db'), '--ready-file', at('ready'), ...more], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CAROM_GRACE_MS: '5000' } });
    let log = '';
    child.stdout.on('data', (text) => { log += text; });
    child.stderr.on('data', (text) => { log += text; });
    const ended = new Promise((done) => child.once('exit', done));
    try {
        const opens = more.includes('--http') ? /http on \S+/ : /^/;
        while (!existsSync(at('ready')) || readFileSync(at('ready'), 'utf8') === '' || !opens.test(log)) {
            assert.equal(child.exitCode, null, log);
            await new Promise((done) => setTimeout(done, 20));
        }
        await use({
            port: Number(readFileSync(at('ready'), 'utf8').split('\n')[0].split(':').pop()),
            pid: child.pid,
            http: more.includes('--http') ? `ws://${/http on (\S+)/.exec(log)[1]}/play` : null, // where its own WebSockets open
            async end() {
                child.kill('SIGTERM');
                assert.equal(await ended, 0, log);
                const match = readdirSync(at('matches')).find((name) => name.endsWith('.match'));
                return join(at('matches'), match);
            },
        });
    } finally {
        child.kill('SIGKILL');
        await ended;
        rmSync(folder, { recursive: true, force: true });
    }
}

/** Updates all clients until `until()` holds; `each` is called after each update, `frame` after all of them. */
export async function play(clients, until, each = () => {}, frame = () => {}) {
    const begin = performance.now();
    while (!until()) {
        assert.ok(performance.now() < begin + WAIT_MS, `never: ${clients.map((client) => `${client.state} ${client.reason}`)}`);
        for (const client of clients) {
            client.update();
            each(client);
        }
        frame();
        await new Promise((done) => setTimeout(done, FRAME_MS));
    }
}
