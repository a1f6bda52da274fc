// Plays a match by its stream: index.html?stream=URL of the folder with index.json. Space plays and pauses, arrows step, a drag turns
// the camera. Serve the project's folder (after `make web-watch`), and the stream's from the same place.
import { init, MatchStream } from 'carom-watch';
import { Scene } from './scene.js';

const $ = (id) => document.querySelector(id);
const [line, told, proof, play, speed, follow, alert] = ['#tick', '#told', '#proof', '#play', '#speed', '#follow', '[role=alert]'].map($);
const url = new URL(new URLSearchParams(location.search).get('stream') ?? 'stream', location.href);
const OWED_MAX_S = 0.25;
const VERIFY_SLICE_MS = 12;

let playing = true;
let busy = false; // a chunk is being fetched, or a seek runs
let owed = 0;

function fail(error) {
    playing = false;
    alert.textContent = error.message;
    show();
}

await init();
const stream = await MatchStream.open(url).catch((error) => {
    fail(error);
    throw error;
});
const scene = new Scene($('canvas'));

function show() {
    play.textContent = playing ? 'Pause' : 'Play';
    play.setAttribute('aria-pressed', String(playing));
}

/** The line's end and its marks follow the index, which grows while the match runs. */
function showIndex() {
    const { index } = stream;
    line.max = String(index.ticks - 1);
    $('#keyframes').replaceChildren(...index.keyframes.map((chunk) => new Option('', String(chunk * index.chunk_ticks))));
}

/** Those that are followed: bodies that move and that the scene did not begin with are players' and what they spawned. */
const first = new Set([...stream.world.bodies()].map((body) => body.handle));
function showPlayers() {
    const now = [...stream.world.bodies()].map((body) => body.handle).filter((handle) => !first.has(handle));
    scene.players = new Set(now);
    if (now.join() !== [...follow.options].slice(1).map((option) => option.value).join()) {
        const chosen = follow.value;
        follow.replaceChildren(new Option('nobody', ''), ...now.map((handle, i) => new Option(`newcomer ${i + 1}`, String(handle))));
        follow.value = now.map(String).includes(chosen) ? chosen : '';
        scene.followed = follow.value ? Number(follow.value) : null;
    }
}

/** Runs one at a time; what goes wrong stops the play and is shown. */
async function alone(work) {
    if (!busy) {
        busy = true;
        await work().catch(fail);
        busy = false;
        showIndex();
    }
}

async function stepOnce() {
    if (!stream.step() && await stream.load()) {
        stream.step();
    }
}

let wanted = null; // the newest place that the slider asked for
function seek(tick) {
    wanted = Math.min(Math.max(tick, stream.index.first * stream.index.chunk_ticks), stream.index.ticks - 1);
    alone(async () => {
        while (wanted !== null) {
            const goal = wanted;
            wanted = null;
            await stream.seek(goal);
        }
    });
}

const toggle = () => {
    playing = !playing;
    owed = 0;
    show();
};
const pause = () => playing && toggle();
play.addEventListener('click', toggle);
$('#back').addEventListener('click', () => { pause(); seek(stream.tick - 1); });
$('#on').addEventListener('click', () => { pause(); alone(stepOnce); });
line.addEventListener('input', () => seek(Number(line.value)));
follow.addEventListener('change', () => { scene.followed = follow.value ? Number(follow.value) : null; });
addEventListener('keydown', (event) => {
    const act = { ' ': toggle, ArrowLeft: () => $('#back').click(), ArrowRight: () => $('#on').click() }[event.key];
    if (act && !(event.target instanceof HTMLSelectElement) && !(event.target instanceof HTMLButtonElement && event.key === ' ')) {
        event.preventDefault();
        act();
    }
});

/** The whole match from its first tick, in slices between frames, by a stream of its own. */
$('#verify').addEventListener('click', async () => {
    $('#verify').disabled = true;
    try {
        const whole = await MatchStream.open(url);
        let more = true;
        while (more) {
            const until = performance.now() + VERIFY_SLICE_MS;
            let stepped = true;
            while (stepped && performance.now() < until) {
                stepped = whole.step();
            }
            proof.value = `verified ${whole.tick} of ${whole.index.ticks - 1} ticks`;
            more = stepped || await whole.load();
            await new Promise((done) => setTimeout(done));
        }
        proof.value = `verified: all ${whole.tick} ticks${whole.isSigned ? `, signed by ${whole.key.slice(0, 8)}…` : ', not signed'}`;
        whole.close();
    } catch (error) {
        proof.value = `not verified: ${error.message}`;
    }
    $('#verify').disabled = false;
});

let before = performance.now();
function frame(now) {
    owed = playing ? Math.min(owed + (now - before) / 1000 * Number(speed.value), OWED_MAX_S * Number(speed.value)) : 0;
    before = now;
    try {
        while (!busy && owed * stream.tickRate >= 1) {
            owed -= 1 / stream.tickRate;
            if (!stream.step()) {
                alone(stepOnce);
            }
        }
    } catch (error) {
        fail(error);
    }
    if (!busy) {
        showPlayers();
        line.value = String(stream.tick);
        told.value = `tick ${stream.tick}  ${(stream.tick / stream.tickRate).toFixed(2)} s  hash ${stream.hash().toString(16).padStart(16, '0')}`;
    }
    scene.draw(stream.world);
    requestAnimationFrame(frame);
}
showIndex();
show();
requestAnimationFrame(frame);
globalThis.example = { stream, scene, seek };
