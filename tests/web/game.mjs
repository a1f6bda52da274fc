// A program with one game's rules alone (`make web-game`), here the example's ball: the server takes it, its bot plays, and each confirmed
// tick is the server's (exact sync).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { connect, load } from '../../build/web/carom-client/client/index.js';
import { hosted, play } from './hosted.mjs';
import { proxied, Socket } from './websocket.mjs';

const open = (url, protocol) => new Socket(url, protocol);
const scene = (path) => JSON.parse(readFileSync(path, 'utf8'));
await load(new URL('../../build/web/games/ball.wasm', import.meta.url));

test('ball by ball.wasm', () => hosted({ ...scene('client-sdk/examples/ball/ball.json'), replication: { sync: 'inputs' } }, ({ port }) =>
    proxied(port, { delay_ms: 30, seed: 4 }, async (url) => {
        const client = await connect({ url: `${url}/room`, open });
        let frames = 0;
        await play([client], () => client.confirmedTick > 300 && client.stats.reconciles > 0, () => {
            if (client.state === 'playing' && frames++ % 10 === 0) {
                client.playBot(frames);
            }
        });
        assert.equal(client.stats.desyncs, 0);
        assert.ok(client.publicState.length > 0);
        client.close();
    }), ['--module', 'build/web/games/ball.so']));
