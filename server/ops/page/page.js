// The rooms of the server and how they are, from /rooms and /metrics, asked once a second while the page
// is looked at. Texts of the server become text, never markup.
"use strict";

const KEPT = 120; // seconds of the charts
const COLOURS = ["#2a78d6", "#d6682a", "#2aa35a", "#a34fc2", "#b59a1b"];

// Sums of the samples of each name of Prometheus' text format.
function sums(text) {
    const found = new Map();
    for (const line of text.split("\n")) {
        const parts = /^([a-z_]+)(?:\{.*\})? ([0-9.]+)$/.exec(line);
        if (parts !== null) {
            found.set(parts[1], (found.get(parts[1]) ?? 0) + Number(parts[2]));
        }
    }
    return found;
}

// kbit/s between two counts; a counter that begins anew counts from 0.
function rate(before, now, seconds) {
    const grown = now >= before ? now - before : now;
    return seconds > 0 ? (grown * 8) / 1000 / seconds : 0;
}

// 1, 2 or 5 times a power of ten, at least as large.
function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(value > 0 ? value : 1));
    return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
}

// Lines of a chart: a map of names to values, the newest last; null where there was none.
class History {
    constructor() {
        this.lines = new Map();
    }

    add(values) {
        const length = Math.max(0, ...[...this.lines.values()].map((line) => line.length));
        for (const name of values.keys()) {
            if (!this.lines.has(name)) {
                this.lines.set(name, new Array(length).fill(null));
            }
        }
        for (const [name, line] of this.lines) {
            line.push(values.get(name) ?? null);
            if (line.length > KEPT) {
                line.shift();
            }
            if (line.every((value) => value === null)) {
                this.lines.delete(name);
            }
        }
    }

    // Those that are highest at the end.
    highest(count) {
        const last = (line) => line[line.length - 1] ?? -1;
        return [...this.lines].sort((a, b) => last(b[1]) - last(a[1])).slice(0, count);
    }
}

function draw(canvas, lines) {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "11px system-ui, sans-serif";
    const top = roundUp(Math.max(0.001, ...lines.flatMap((line) => line[1].map((v) => v ?? 0))));
    const colour = getComputedStyle(canvas).color;
    pen.fillStyle = pen.strokeStyle = colour;
    for (let part = 0; part <= 2; part++) {
        const y = 8 + ((height - 28) * part) / 2;
        pen.globalAlpha = 0.25;
        pen.beginPath();
        pen.moveTo(0, y);
        pen.lineTo(width, y);
        pen.stroke();
        pen.globalAlpha = 1;
        pen.fillText(String(+((top * (2 - part)) / 2).toPrecision(3)), 2, y - 2);
    }
    let labelled = 2;
    lines.forEach(([name, line], number) => {
        pen.strokeStyle = pen.fillStyle = COLOURS[number % COLOURS.length];
        pen.beginPath();
        let drawn = false;
        line.forEach((value, at) => {
            const x = width - ((line.length - 1 - at) * width) / (KEPT - 1);
            const y = 8 + (height - 28) * (1 - (value ?? 0) / top);
            if (value !== null) {
                pen[drawn ? "lineTo" : "moveTo"](x, y);
            }
            drawn = value !== null;
        });
        pen.stroke();
        pen.fillText(name, labelled, height - 4);
        labelled += pen.measureText(name).width + 12;
    });
}

function cells(room) {
    return [
        [room.room], [room.scene], [`${room.players}/${room.max_players}`], [room.tick],
        [room.tick_ms_p50.toFixed(3)],
        [room.tick_ms_p99.toFixed(3), room.tick_ms_p99 * room.tick_rate > 1000],
        [room.ticks_behind],
        [room.durable ? room.recorded_tick : "NOT DURABLE", !room.durable], [room.port],
    ];
}

function fill(body, rooms) {
    body.replaceChildren(...rooms.map((room) => {
        const row = document.createElement("tr");
        for (const [text, bad] of cells(room)) {
            const cell = row.insertCell();
            cell.textContent = text;
            cell.className = bad ? "bad" : "";
        }
        return row;
    }));
}

async function get(path) {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(8000) });
    if (!answer.ok) {
        throw new Error(`${path}: status ${answer.status}`);
    }
    return answer;
}

function start() {
    const at = (id) => document.getElementById(id);
    const ticks = new History(), traffic = new History();
    let before = null;
    async function look() {
        const rooms = await (await get("rooms")).json();
        const now = sums(await (await get("metrics")).text());
        const time = performance.now() / 1000;
        fill(at("rooms"), rooms);
        ticks.add(new Map(rooms.map((room) => [room.room, room.tick_ms_p99])));
        const bytes = ["sent", "received"].map((way) => now.get(`carom_worker_${way}_bytes_total`) ?? 0);
        if (before !== null) {
            const passed = time - before.time;
            traffic.add(new Map([["sent", rate(before.bytes[0], bytes[0], passed)],
                ["received", rate(before.bytes[1], bytes[1], passed)]]));
        }
        before = { time, bytes };
        draw(at("ticks"), ticks.highest(COLOURS.length));
        draw(at("traffic"), [...traffic.lines]);
        const number = (name) => now.get(`carom_${name}`) ?? 0;
        const count = (value, noun) => `${value} ${noun}${value === 1 ? "" : "s"}`;
        at("state").textContent = `${count(number("rooms"), "room")}, ${count(number("players"), "player")}, ` +
            `${number("worker_up")} of ${count(number("workers"), "worker")}` +
            (number("draining") ? ", draining" : "");
    }
    async function again() {
        if (!document.hidden) {
            at("state").className = "";
            await look().catch((error) => {
                at("state").textContent = `no answer: ${error.message}`;
                at("state").className = "bad";
            });
        }
        setTimeout(again, 1000);
    }
    again();
}

if (typeof document === "undefined") {
    module.exports = { sums, rate, roundUp, History };
} else {
    start();
}
