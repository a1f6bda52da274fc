// The rooms of the server and how they are, from /rooms and /history, asked once a second while the page
// is looked at. The server keeps the history, so that a page that is opened anew has it too. Texts of the
// server become text, never markup.
"use strict";

const COLOURS = ["#2f81f7", "#e0702a", "#2da44e", "#b65fd6", "#b08d10", "#1ba5a5", "#e5538f", "#7d8590"];
const LEFT = 44, RIGHT = 10, TOP = 12, BOTTOM = 20; // px round a chart's lines

// 1, 2 or 5 times a power of ten, at least as large.
function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(value > 0 ? value : 1));
    return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
}

// 1234567 as 1.2M; a small one with three digits.
function short(value) {
    const unit = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([size]) => value >= size);
    return unit === undefined ? String(+value.toPrecision(3)) : `${+(value / unit[0]).toPrecision(3)}${unit[1]}`;
}

function bytes(value) {
    return value >= 2 ** 30 ? `${(value / 2 ** 30).toFixed(1)} GiB` : `${Math.round(value / 2 ** 20)} MiB`;
}

// 93784 seconds as 1 d 2 h; the two largest units.
function duration(seconds) {
    const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].map(([unit, size], at, units) =>
        [Math.floor((at === 0 ? seconds : seconds % units[at - 1][1]) / size), unit]);
    const first = Math.max(0, Math.min(parts.findIndex(([count]) => count > 0) >>> 0, 3));
    return parts.slice(first, first + 2).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

// By its place, which the server keeps for a room, so that a line keeps its colour when others pass it.
function coloured(lines) {
    return lines.map(([name, values], number) => [name, values, COLOURS[number % COLOURS.length]]);
}

function lastOf(values) {
    return values[values.length - 1] ?? null;
}

// Draws lines of [name, values, colour] over `times`, ms, the newest at the right edge.
function draw(canvas, times, span, lines) {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const pen = canvas.getContext("2d");
    canvas.width = width * scale;
    canvas.height = height * scale;
    pen.scale(scale, scale);
    pen.font = "11px system-ui, sans-serif";
    const top = roundUp(lines.reduce((most, [, values]) => values.reduce((m, v) => Math.max(m, v ?? 0), most), 0.001));
    const now = times.length > 0 ? times[times.length - 1] : 0;
    const x = (time) => LEFT + (width - LEFT - RIGHT) * (1 - (now - time) / span);
    const y = (value) => TOP + (height - TOP - BOTTOM) * (1 - value / top);
    axes(pen, canvas, { top, span, now, x, y, width, height });
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    for (const [, values, colour] of lines) {
        pen.strokeStyle = colour;
        pen.beginPath();
        let drawn = false;
        values.forEach((value, at) => {
            if (value !== null && times[at] >= now - span) {
                pen[drawn ? "lineTo" : "moveTo"](x(times[at]), y(value));
            }
            drawn = value !== null && times[at] >= now - span;
        });
        pen.stroke();
    }
}

// Values at the left, minutes before now below.
function axes(pen, canvas, { top, span, now, x, y, width, height }) {
    const style = getComputedStyle(canvas);
    pen.strokeStyle = pen.fillStyle = style.color;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const rule = (fromX, fromY, toX, toY) => {
        pen.globalAlpha = 0.2;
        pen.beginPath();
        pen.moveTo(fromX, fromY);
        pen.lineTo(toX, toY);
        pen.stroke();
        pen.globalAlpha = 0.8;
    };
    for (const value of [0, top / 2, top]) {
        rule(LEFT, y(value), width - RIGHT, y(value));
        pen.fillText(short(value), LEFT - 6, y(value));
    }
    pen.textBaseline = "alphabetic";
    const step = x(now) - x(now - 60000) < 52 ? 2 : 1; // where labels would touch, each other minute
    for (let minutes = 0; minutes * 60000 <= span; minutes += step) {
        const at = x(now - minutes * 60000);
        pen.textAlign = minutes === 0 ? "right" : "center";
        rule(at, height - BOTTOM, at, height - BOTTOM + 4);
        pen.fillText(minutes === 0 ? "now" : `−${minutes} min`, minutes === 0 ? width - 2 : at, height - 4);
    }
    pen.globalAlpha = 1;
}

function legend(list, lines, unit) {
    list.replaceChildren(...lines.map(([name, values, colour]) => {
        const item = document.createElement("li"), text = document.createElement("span");
        const value = lastOf(values);
        item.style.color = colour;
        text.textContent = `${name} ${value === null ? "–" : short(value)}${unit}`;
        item.append(text);
        return item;
    }));
}

function cells(room) {
    return [
        ["room", room.room], ["scene", room.scene], ["players", `${room.players}/${room.max_players}`], ["tick", room.tick],
        ["p50 ms", room.tick_ms_p50.toFixed(3)],
        ["p99 ms", room.tick_ms_p99.toFixed(3), room.tick_ms_p99 * room.tick_rate > 1000],
        ["slowed", room.ticks_behind],
        ["recorded", room.durable ? room.recorded_tick : "NOT DURABLE", !room.durable], ["port", room.port],
    ];
}

function fill(body, rooms) {
    body.replaceChildren(...rooms.map((room) => {
        const row = document.createElement("tr");
        for (const [label, text, bad] of cells(room)) {
            const cell = row.insertCell();
            cell.dataset.label = label;
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
    return answer.json();
}

function count(value, noun) {
    return `${value} ${noun}${value === 1 ? "" : "s"}`;
}

function start() {
    const at = (id) => document.getElementById(id);
    function chart(id, history, lines, unit) {
        draw(at(id), history.times_ms, history.span_ms, lines);
        legend(at(`${id}-legend`), lines, unit);
    }
    // The page of matches is there where the server was built with it.
    let offered = false;
    async function offer() {
        const answer = offered ? null : await fetch("watch/", { method: "HEAD" });
        at("watch").hidden = answer ? !answer.ok : at("watch").hidden;
        offered = true;
    }
    async function look() {
        const [rooms, history] = await Promise.all([get("rooms"), get("history"), offer()]);
        const server = history.server;
        fill(at("rooms"), rooms.sort((a, b) => (a.room < b.room ? -1 : 1)));
        const ticks = coloured(Object.entries(history.tick_p99_ms)).sort((a, b) => (lastOf(b[1]) ?? -1) - (lastOf(a[1]) ?? -1));
        chart("ticks", history, ticks, " ms");
        chart("traffic", history, coloured([["sent", history.sent_kbit_s], ["received", history.received_kbit_s]]), " kbit/s");
        chart("players", history, coloured([["players", history.players]]), "");
        at("state").textContent = `${count(server.rooms, "room")}, ${count(server.players, "player")}, ` +
            `${server.workers_up} of ${count(server.workers, "worker")}` + (server.draining ? ", draining" : "");
        at("about").textContent = `version ${server.version} (${server.commit}), engine ${server.engine} · ` +
            `up ${duration((server.now_ms - server.started_ms) / 1000)} · ${bytes(server.memory_bytes)} of memory`;
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
    module.exports = { roundUp, short, bytes, duration };
} else {
    start();
}
