// The datagrams of a client: each is one binary message of a WebSocket (PROTOCOL.md), and a channel of the program is one
// WebSocket. As with UDP, what cannot go at once is lost, and a way that broke is tried again when there is something to send.

import { native } from '../sim/native.js';

/** What is used of a WebSocket. */
export interface SocketLike {
    binaryType: string;
    readonly readyState: number;
    readonly bufferedAmount: number;
    send(bytes: Uint8Array): void;
    close(code?: number): void;
    onopen: ((event: never) => void) | null;
    onmessage: ((event: { data: unknown }) => void) | null;
    onclose: ((event: { code: number; reason: string }) => void) | null;
}

export type OpenSocket = (url: string, protocol: string) => SocketLike;

/** What a client's WebSockets carried. */
export interface TransportStats {
    /** WebSockets that were opened, and that were closed by the other side or never opened. */
    opened: number;
    failed: number;
    messagesIn: number;
    messagesOut: number;
    bytesIn: number;
    bytesOut: number;
    /** Not sent, since the WebSocket was not open yet or has a long queue; received, and not wanted. */
    dropped: number;
    refused: number;
    /** Code and text of the last one that was closed: 0 and "" before. */
    closeCode: number;
    closeReason: string;
}

const DATAGRAM_MAX = 1200; // CM_DATAGRAM_MAX
const QUEUED_MAX = 65536; // bytes that the browser holds back: more would only come late
const EARLY_MAX = 8; // datagrams that wait for it to open
const PAUSE_MS = 250; // before a WebSocket that closed is opened again; doubles
const PAUSE_MAX_MS = 4000;
const OPEN = 1;

// Of each size one view: send() copies at once, so that a frame makes no garbage for them.
const staged = new Uint8Array(DATAGRAM_MAX);
const views: Uint8Array[] = [];
function stage(at: number, size: number): Uint8Array {
    const { u8 } = native();
    for (let i = 0; i < size; i++) {
        staged[i] = u8[at + i]!;
    }
    return (views[size] ??= staged.subarray(0, size));
}

class Channel {
    private socket: SocketLike | null = null;
    private early: Uint8Array[] = [];
    private again = 0; // when it may be opened
    private pause = PAUSE_MS;
    private over = false;

    constructor(
        private readonly number: number,
        private readonly link: Link,
    ) {}

    send(at: number, size: number, now: number): void {
        if (!this.socket && now >= this.again) {
            this.open(now);
        }
        const { told } = this.link;
        if (this.socket?.readyState === OPEN && this.socket.bufferedAmount <= QUEUED_MAX) {
            this.socket.send(stage(at, size));
            told.messagesOut++;
            told.bytesOut += size;
        } else if (this.socket && this.socket.readyState !== OPEN && this.early.length < EARLY_MAX) {
            this.early.push(stage(at, size).slice());
        } else {
            told.dropped++;
        }
    }

    close(): void {
        this.over = true;
        this.socket?.close(1000);
    }

    private open(now: number): void {
        const { told } = this.link;
        const socket = this.link.open();
        this.socket = socket;
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => {
            told.opened++;
            this.pause = PAUSE_MS;
            for (const bytes of this.early) {
                socket.send(bytes);
                told.messagesOut++;
                told.bytesOut += bytes.length;
            }
            this.early = [];
            if (this.over) {
                socket.close(1000);
            }
        };
        socket.onmessage = ({ data }) => this.receive(data);
        socket.onclose = ({ code, reason }) => {
            this.socket = null;
            this.early = [];
            if (!this.over) {
                told.failed++;
                told.closeCode = code;
                told.closeReason = reason;
            }
        };
        this.again = now + this.pause;
        this.pause = Math.min(2 * this.pause, PAUSE_MAX_MS);
    }

    private receive(data: unknown): void {
        const { told } = this.link;
        const size = data instanceof ArrayBuffer ? data.byteLength : 0;
        const n = native();
        const at = this.over || size === 0 ? 0 : n.call['cw_datagram']!(this.number, size) >>> 0;
        if (at === 0) {
            told.refused++;
            return;
        }
        n.look();
        n.u8.set(new Uint8Array(data as ArrayBuffer), at);
        told.messagesIn++;
        told.bytesIn += size;
    }
}

const channels = new Map<number, Channel>();

/** A client's way to its server. */
export class Link {
    readonly told: TransportStats = {
        opened: 0, failed: 0, messagesIn: 0, messagesOut: 0, bytesIn: 0, bytesOut: 0, dropped: 0, refused: 0, closeCode: 0, closeReason: '',
    };

    constructor(readonly open: () => SocketLike) {}

    /** The link whose client is called now: the channels that it begins are its own. */
    static now: Link | null = null;
}

let clock = (): number => performance.now();
let random = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; at += 65536) {
        crypto.getRandomValues(bytes.subarray(at, at + 65536) as Uint8Array<ArrayBuffer>);
    }
};

/** In place of the page's, for tests. */
export interface Sources {
    clock?: () => number;
    random?: (bytes: Uint8Array) => void;
}

/** The program's three imports. @internal */
export function imports(sources: Sources): WebAssembly.Imports {
    clock = sources.clock ?? clock;
    random = sources.random ?? random;
    return {
        carom: {
            clock: () => clock(),
            random: (at: number, size: number) => {
                const n = native();
                n.look();
                random(n.u8.subarray(at >>> 0, (at >>> 0) + size));
            },
            send: (number: number, at: number, size: number) => {
                let channel = channels.get(number);
                if (size === 0) {
                    channel?.close();
                    channels.delete(number);
                    return;
                }
                if (!channel) {
                    if (!Link.now) {
                        return;
                    }
                    channel = new Channel(number, Link.now);
                    channels.set(number, channel);
                }
                native().look();
                channel.send(at >>> 0, size, clock());
            },
        },
    };
}

/** @internal */
export const now = (): number => clock();
