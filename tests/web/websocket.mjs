// WebSockets for tests under Node.js, which has none of its own before version 22: a client, and a proxy that gives each binary message to a
// server's UDP port as a datagram, and back, over a path as bad as a seed says. It is what a network without UDP sees of a server.
import { createHash, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer, request } from 'node:http';

const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const MESSAGE_MAX = 1200;
const accept = (key) => createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

/** A frame, masked where a client sends it. */
function frame(kind, bytes, masked) {
    const long = bytes.length > 125;
    const head = Buffer.alloc(2 + (long ? 2 : 0) + (masked ? 4 : 0));
    head[0] = 0x80 | kind;
    head[1] = (masked ? 0x80 : 0) | (long ? 126 : bytes.length);
    if (long) {
        head.writeUInt16BE(bytes.length, 2);
    }
    const body = Buffer.from(bytes);
    if (masked) {
        const mask = randomBytes(4);
        mask.copy(head, head.length - 4);
        body.forEach((byte, i) => { body[i] = byte ^ mask[i & 3]; });
    }
    return Buffer.concat([head, body]);
}

/** Calls got(kind, bytes) for each whole frame that comes; none of these tests' is longer than 65,535 bytes. */
function frames(socket, got) {
    let rest = Buffer.alloc(0);
    return (bytes) => {
        rest = Buffer.concat([rest, bytes]);
        while (rest.length >= 2) {
            const masked = rest[1] >> 7;
            const long = (rest[1] & 127) === 126;
            const at = 2 + (long ? 2 : 0) + (masked ? 4 : 0);
            const size = !long ? rest[1] & 127 : rest.length >= 4 ? rest.readUInt16BE(2) : Infinity;
            if (rest.length < at + size) {
                return;
            }
            const body = Buffer.from(rest.subarray(at, at + size));
            if (masked) {
                const mask = rest.subarray(at - 4, at);
                body.forEach((byte, i) => { body[i] = byte ^ mask[i & 3]; });
            }
            const kind = rest[0] & 15;
            rest = rest.subarray(at + size);
            got(kind, body);
        }
    };
}

/** As the browser's, as far as carom-client uses it. */
export class Socket {
    binaryType = 'arraybuffer';
    readyState = 0;
    bufferedAmount = 0;
    onopen = null;
    onmessage = null;
    onclose = null;
    #socket = null;
    #told = false;

    constructor(url, protocol) {
        const { hostname, port, pathname } = new URL(url);
        const key = randomBytes(16).toString('base64');
        const asked = request({ hostname, port, path: pathname, headers: {
            connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': 13, 'sec-websocket-key': key, 'sec-websocket-protocol': protocol,
        } });
        asked.on('upgrade', (response, socket, first) => {
            if (response.headers['sec-websocket-accept'] !== accept(key) || response.headers['sec-websocket-protocol'] !== protocol) {
                socket.destroy();
                this.#closed(1002, 'handshake');
                return;
            }
            this.#socket = socket.setNoDelay();
            this.readyState = 1;
            const take = frames(socket, (kind, bytes) => this.#got(kind, bytes));
            socket.on('data', take);
            socket.on('close', () => this.#closed(1006, ''));
            socket.on('error', () => {});
            this.onopen?.({});
            take(first);
        });
        asked.on('response', (response) => { response.resume(); this.#closed(1006, String(response.statusCode)); });
        asked.on('error', () => this.#closed(1006, ''));
        asked.end();
    }

    send(bytes) {
        this.#socket.write(frame(BINARY, bytes, true));
    }

    close(code = 1000) {
        this.readyState = 2;
        this.#socket?.end(frame(CLOSE, [code >> 8, code & 255], true));
    }

    #got(kind, bytes) {
        if (kind === BINARY) {
            this.onmessage?.({ data: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) });
        } else if (kind === PING) {
            this.#socket.write(frame(PONG, bytes, true));
        } else if (kind === CLOSE) {
            this.#socket.end();
            this.#closed(bytes.length >= 2 ? bytes.readUInt16BE(0) : 1005, bytes.subarray(2).toString());
        }
    }

    #closed(code, reason) {
        this.readyState = 3;
        if (!this.#told) {
            this.#told = true;
            this.onclose?.({ code, reason });
        }
    }
}

/** Numbers from 0 to 1, the same for the same seed. */
export function chance(seed) {
    let state = seed >>> 0;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}

/**
 * Calls use(url, proxy) while ws://…/play/ROOM leads to a UDP port. `path`: delay_ms one way, jitter_ms, loss (0 to 1), seed; `change(bytes)`
 * may change what comes from the server. proxy.drop() closes what is open.
 */
export async function proxied(port, path, use) {
    const { delay_ms: delay = 0, jitter_ms: jitter = 0, loss = 0, seed = 1, change = () => {} } = path;
    const random = chance(seed);
    const open = new Set();
    const go = (act) => {
        const late = delay + jitter * (2 * random() - 1);
        if (random() >= loss) {
            late > 0 ? setTimeout(act, late) : act();
        }
    };
    const server = createServer((_, response) => response.writeHead(404).end());
    server.on('upgrade', (asked, socket) => {
        const protocol = asked.headers['sec-websocket-protocol'];
        if (!/^\/play\/[^/]+$/.test(asked.url) || !/^carom\.\d+$/.test(protocol ?? '')) {
            socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
            return;
        }
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${
            accept(asked.headers['sec-websocket-key'])}\r\nsec-websocket-protocol: ${protocol}\r\n\r\n`);
        const udp = createSocket('udp4');
        udp.connect(port, '127.0.0.1');
        udp.on('error', () => {}); // nobody is there: lost
        open.add(socket.setNoDelay());
        udp.on('message', (bytes) => go(() => {
            change(bytes);
            socket.writable && socket.write(frame(BINARY, bytes, false));
        }));
        socket.on('data', frames(socket, (kind, bytes) => {
            if (kind === BINARY && bytes.length <= MESSAGE_MAX) {
                go(() => open.has(socket) && udp.send(bytes, () => {}));
            } else {
                socket.end(frame(CLOSE, kind === CLOSE ? bytes : [3, 0xf1], false)); // 1009
            }
        }));
        socket.on('error', () => {});
        socket.on('close', () => { open.delete(socket); udp.close(); });
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const drop = () => open.forEach((socket) => socket.destroy());
    try {
        return await use(`ws://127.0.0.1:${server.address().port}/play`, { drop });
    } finally {
        drop();
        server.close();
    }
}
