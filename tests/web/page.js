// Goal: the page of `carom serve --http` reads the history right, and draws what it should. Method: its
// functions, and its whole loop with a document, a canvas and a server of this file; node alone.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const page = path.join(__dirname, "..", "..", "server", "ops", "page", "page.js");
const { roundUp, short, bytes, duration } = require(page);

assert.deepStrictEqual([0, 0.04, 1, 3, 5.1, 99].map(roundUp), [1, 0.05, 1, 5, 10, 100]);
assert.deepStrictEqual([0, 0.25, 999, 1500, 1234567, 2e9].map(short), ["0", "0.25", "999", "1.5k", "1.23M", "2G"]);
assert.deepStrictEqual([1 << 20, 3 * 2 ** 30].map(bytes), ["1 MiB", "3.0 GiB"]);
assert.deepStrictEqual([0, 59.9, 60, 3725, 93784].map(duration), ["0 s", "59 s", "1 min 0 s", "1 h 2 min", "1 d 2 h"]);

// The loop: one look, with a room whose name is no markup.
const room = { room: "<b>", scene: "s", players: 1, max_players: 8, tick: 60, tick_rate: 60,
    tick_ms_p50: 1, tick_ms_p99: 20, ticks_behind: 0, durable: false, recorded_tick: 59, port: 9400 };
const START = 1700000000000;
const history = { server: { version: "1.2", commit: "abc", engine: 3, started_ms: START, now_ms: START + 3725000,
    memory_bytes: 50 * 2 ** 20, rooms: 1, players: 1, workers: 2, workers_up: 1, draining: false },
    span_ms: 300000, times_ms: [START - 400000, START, START + 1000], sent_kbit_s: [1, 2, 3], received_kbit_s: [0, 0, 1500],
    players: [0, 1, 1], tick_p99_ms: { fast: [1, 1, 1], "<b>": [900, null, 20] } };
const answers = { rooms: [room], history };
const drawn = [];
const pen = new Proxy({}, { get: (_, name) => (...values) => drawn.push([name, ...values]), set: () => true });
const element = () => ({ textContent: "", className: "", dataset: {}, style: {}, cells: [], children: [],
    insertCell() { this.cells.push(element()); return this.cells.at(-1); },
    append(child) { this.children.push(child); }, replaceChildren(...children) { this.children = children; } });
const elements = {};
for (const id of ["state", "about", "watch", "rooms", "ticks-legend", "traffic-legend", "players-legend"]) {
    elements[id] = element();
}
for (const id of ["ticks", "traffic", "players"]) {
    elements[id] = { clientWidth: 300, clientHeight: 100, getContext: () => pen };
}
global.window = {};
global.getComputedStyle = () => ({ color: "black" });
global.document = { hidden: false, getElementById: (id) => elements[id], createElement: element };
global.fetch = async (name) => ({ ok: true, status: 200, json: async () => answers[name] });
const texts = (id) => elements[id].children.map((item) => item.children[0].textContent);
let looks = 0;
global.setTimeout = (again) => {
    looks++;
    if (looks === 1) {
        assert.strictEqual(elements.state.textContent, "1 room, 1 player, 1 of 2 workers");
        assert.strictEqual(elements.watch.hidden, false);
        assert.strictEqual(elements.about.textContent, "version 1.2 (abc), engine 3 · up 1 h 2 min · 50 MiB of memory");
        const [row] = elements.rooms.children;
        assert.strictEqual(row.cells[0].textContent, "<b>");
        assert.strictEqual(row.cells[0].dataset.label, "room");
        assert.strictEqual(row.cells[5].className, "bad", "a tick longer than its time");
        assert.strictEqual(row.cells[7].textContent, "NOT DURABLE");
        assert.deepStrictEqual(texts("ticks-legend"), ["<b> 20 ms", "fast 1 ms"], "the slowest first");
        assert.deepStrictEqual(texts("traffic-legend"), ["sent 3 kbit/s", "received 1.5k kbit/s"]);
        const written = drawn.filter(([name]) => name === "fillText").map(([, text]) => text);
        for (const text of ["now", "−2 min", "−4 min", "2k", "0"]) {
            assert(written.includes(text), text);
        }
        assert(!written.includes("−1 min"), "labels do not touch on a narrow chart");
        const lines = drawn.filter(([name]) => name === "lineTo" || name === "moveTo");
        assert(lines.every(([, x, y]) => x >= 0 && x <= 300 && y >= 0 && y <= 100), "nothing is drawn outside");
        global.fetch = async () => ({ ok: false, status: 503 });
        again();
    } else {
        assert.strictEqual(elements.state.textContent, "no answer: rooms: status 503");
        assert.strictEqual(elements.state.className, "bad");
        console.log("page: one look, its charts, a server that does not answer: good");
    }
};
delete require.cache[page];
require(page);
