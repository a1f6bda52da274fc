// Goal: the page of `carom serve --http` reads the figures right, and draws what it should. Method: its
// functions, and its whole loop with a document, a canvas and a server of this file; node alone.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const page = path.join(__dirname, "..", "..", "server", "tools", "cli", "page", "page.js");
const { sums, rate, roundUp, History } = require(page);

const figures = sums('# HELP a_total x\n# TYPE a_total counter\na_total{worker="0"} 1.5\na_total{worker="} 7"} 2\nb 3\n');
assert.strictEqual(figures.get("a_total"), 3.5);
assert.strictEqual(figures.get("b"), 3);
assert.strictEqual(figures.size, 2);
assert.strictEqual(rate(1000, 2000, 2), 4);
assert.strictEqual(rate(2000, 1000, 1), 8, "a counter that began anew");
assert.strictEqual(rate(0, 1000, 0), 0);
assert.deepStrictEqual([0, 0.04, 1, 3, 5.1, 99].map(roundUp), [1, 0.05, 1, 5, 10, 100]);

const history = new History();
history.add(new Map([["a", 1], ["b", 5]]));
history.add(new Map([["a", 2], ["c", 9]]));
assert.deepStrictEqual(history.lines.get("b"), [5, null]);
assert.deepStrictEqual(history.lines.get("c"), [null, 9]);
assert.deepStrictEqual(history.highest(2).map(([name]) => name), ["c", "a"]);
for (let i = 0; i < 200; i++) {
    history.add(new Map([["a", i]]));
}
assert.strictEqual(history.lines.get("a").length, 120);
assert.strictEqual(history.lines.has("b"), false, "a room that is gone is forgotten");

// The loop: one look, with a room whose name is no markup.
const room = { room: "<b>", scene: "s", players: 1, max_players: 8, tick: 60, tick_rate: 60,
    tick_ms_p50: 1, tick_ms_p99: 20, ticks_behind: 0, durable: false, recorded_tick: 59, port: 9400 };
const answers = { rooms: [JSON.stringify([room])], metrics: ["carom_rooms 1\ncarom_players 1\ncarom_workers 2\n" +
    "carom_worker_up{worker=\"0\"} 1\ncarom_draining 0\ncarom_worker_sent_bytes_total{worker=\"0\"} 10\n"] };
const drawn = [];
const pen = new Proxy({}, { get: (_, name) => name === "measureText" ? () => ({ width: 5 })
    : (...values) => drawn.push([name, ...values]), set: () => true });
const cell = () => ({ textContent: "", className: "" });
const elements = { state: cell(), rooms: { replaceChildren: (...rows) => { elements.rows = rows; } } };
for (const id of ["ticks", "traffic"]) {
    elements[id] = { clientWidth: 300, clientHeight: 100, getContext: () => pen };
}
global.window = {};
global.getComputedStyle = () => ({ color: "black" });
global.document = {
    hidden: false,
    getElementById: (id) => elements[id],
    createElement: () => ({ cells: [], insertCell() { this.cells.push(cell()); return this.cells.at(-1); } }),
};
global.fetch = async (name) => ({ ok: true, status: 200,
    json: async () => JSON.parse(answers[name][0]), text: async () => answers[name][0] });
let looks = 0;
global.setTimeout = (again) => {
    looks++;
    if (looks === 1) {
        assert.strictEqual(elements.state.textContent, "1 room, 1 player, 1 of 2 workers");
        const [row] = elements.rows;
        assert.strictEqual(row.cells[0].textContent, "<b>");
        assert.strictEqual(row.cells[5].className, "bad", "a tick longer than its time");
        assert.strictEqual(row.cells[7].textContent, "NOT DURABLE");
        assert(drawn.some(([name, text]) => name === "fillText" && text === "<b>"));
        again();
    } else if (looks === 2) {
        assert(drawn.some(([name, text]) => name === "fillText" && text === "sent"));
        global.fetch = async () => ({ ok: false, status: 503 });
        again();
    } else {
        assert.strictEqual(elements.state.textContent, "no answer: rooms: status 503");
        console.log("page: its figures, one look, a second, a server that does not answer: good");
    }
};
delete require.cache[page];
require(page);
