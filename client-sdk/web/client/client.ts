// A client of a room: connect, update once a frame, write inputs, draw rows. The names are client.h's, which tells more of each.

import { init, CaromError, native, type Native, type Source } from '../sim/native.js';
import { handleOf, type Handle } from '../sim/collider.js';
import { Error as ErrorRow } from '../sim/layout.js';
import { World } from '../sim/world.js';
import { STATES, Notes, type Events, type State } from './events.js';
import { ClientDef, ClientRosterRow, Frame } from './layout.js';
import { Stats } from './stats.js';
import { imports, Link, now as clockNow, type OpenSocket, type SocketLike, type Sources, type TransportStats } from './transport.js';

export interface ClientOptions {
    /** ws://HOST:PORT/play/ROOM, or wss: behind a proxy with TLS. */
    url: string | URL;
    /** A connect token of your backend (carom/token.h). */
    token?: string;
    /** The player's display name; a token's replaces it. */
    name?: string;
    /** Passed to the module's `join`; a token's replaces it. */
    userData?: Uint8Array;
    /** Watches, without a slot. */
    spectate?: boolean;
    /** Simulates ahead of the server; true. */
    predict?: boolean;
    /** Time of a frame for that; 2000 us. */
    predictBudgetUs?: number;
    /** Nanoseconds that a step of one body takes; 0: measured. */
    predictCostNs?: number;
    smoothingS?: number;
    snapDistance?: number;
    connectTimeoutMs?: number;
    timeoutMs?: number;
    unstableMs?: number;
    reconnect?: boolean;
    /** In place of `new WebSocket(url, protocol)`. */
    open?: OpenSocket;
}

/** A player of the room. */
export interface Player {
    slot: number;
    name: string;
    /** The row of its body in `rows`, -1: none. */
    body: number;
    rttMs: number;
    away: boolean;
}

/** What may be read of the newest view's world. */
export type ViewedWorld = Pick<
    World,
    'bodies' | 'getRigidBody' | 'getCollider' | 'getJoint' | 'transforms' | 'castRay' | 'castRayAll' | 'castShape' | 'overlap' | 'closest'
    | 'gravity' | 'stats' | 'hash' | 'tick'
>;

const FLOATS = 8; // of a row
const PLAYERS_MAX = 64;
const NO_PLAYER = 0xffffffff;

/** Loads the program beside this file, or another one that has your game's rules; once. */
export function load(source: Source = new URL('./carom-client.wasm', import.meta.url), sources: Sources = {}): Promise<void> {
    return init(source, imports(sources));
}

/** Begins to connect: update() does the rest, and `state` tells how far it is. */
export async function connect(options: ClientOptions): Promise<Client> {
    await load();
    return new Client(options);
}

const openSocket: OpenSocket = (url, protocol) => new WebSocket(url, protocol) as unknown as SocketLike;

export class Client {
    private at: number;
    private readonly of: number;
    private readonly n: Native = native();
    private readonly link: Link;
    private readonly notes = new Notes();
    private drawn = new Float32Array(0);
    private written = new Uint8Array(0);
    private viewed: World | null = null;
    private readonly told: Stats;
    private readonly reasonName = (reason: number): string => this.n.text(this.n.call['cw_reason_name']!(reason));

    constructor(options: ClientOptions) {
        const { n } = this;
        const url = new URL(options.url);
        const protocol = `carom.${n.call['cw_protocol_version']!()}`;
        const open = options.open ?? openSocket;
        this.link = new Link(() => open(url.href, protocol));
        this.at = this.create(options, decodeURIComponent(url.pathname.replace(/^.*\//, '')) || undefined);
        n.look();
        this.of = n.call['cw_client_of']!(this.at);
        this.told = new Stats(n, this.at + Frame.stats);
        this.connect(options.token);
    }

    // Life ---------------------------------------------------------------------------------------

    /** Everything that is due: what came is read, the prediction stepped, the input sent. Once a frame. */
    update(now: number = clockNow()): void {
        const { n, at } = this;
        if (at === 0) {
            return;
        }
        Link.now = this.link;
        n.call['cw_client_update']!(at, now);
        Link.now = null;
        n.look();
        const size = n.u32[(at + Frame.notes_size) >> 2]!;
        if (size > 0) {
            this.notes.read(n, n.u32[(at + Frame.notes) >> 2]!, size, this.reasonName);
        }
    }

    /** Leaves; some updates later the state is idle, with the reason LEFT. */
    disconnect(now: number = clockNow()): void {
        this.n.call['carom_client_disconnect']!(this.of, BigInt(Math.floor(now * 1000)));
    }

    /** After it was idle again: the same room, by the same URL. */
    connect(token?: string, now: number = clockNow()): void {
        const { n } = this;
        const text = token === undefined ? 0 : this.text(token);
        Link.now = this.link;
        const result = n.call['cw_client_connect']!(this.at, text, now);
        Link.now = null;
        n.free(text);
        this.check(result);
    }

    /** Leaves at once, and gives its memory back. */
    close(): void {
        if (this.at !== 0) {
            this.viewed?.free();
            Link.now = this.link;
            this.n.call['cw_client_destroy']!(this.at);
            Link.now = null;
            this.at = 0;
        }
    }

    get state(): State {
        return STATES[this.u32(Frame.state)] ?? 'idle';
    }

    /** Why the last connection ended, as reason.h names it: "NONE", "ROOM_FULL", "TIMEOUT", … */
    get reason(): string {
        return this.reasonName(this.u32(Frame.reason));
    }

    /** Calls a function whenever such a thing happens, within update(). Returns what ends that. */
    on<Name extends keyof Events>(name: Name, listener: Events[Name]): () => void {
        const { listeners } = this.notes;
        const set = listeners.get(name) ?? new Set();
        listeners.set(name, set.add(listener as (...told: never[]) => void));
        return () => set.delete(listener as (...told: never[]) => void);
    }

    // Input --------------------------------------------------------------------------------------

    /** The module's bytes of an input, to write into; the next update takes them. Empty before the room is joined. */
    get input(): Uint8Array {
        const size = this.u32(Frame.input_size);
        const { buffer } = this.n.u8;
        if (this.written.length !== size || this.written.buffer !== buffer) {
            this.written = new Uint8Array(buffer as ArrayBuffer, this.at + Frame.input, size);
        }
        return this.written;
    }

    /** Takes `input` now: of the module's buttons, a press and a release between two updates both count. False: refused. */
    setInput(): boolean {
        return this.n.call['cw_client_input']!(this.at) === 0;
    }

    /** Lets the module's bot choose; `random`: another number each time. */
    playBot(random: number): void {
        this.n.call['carom_client_play_bot']!(this.of, BigInt(Math.floor(random)));
    }

    /** To the module on the server: once and in order. */
    send(bytes: Uint8Array): void {
        this.pass('carom_client_send', bytes);
    }

    /** Once or never. */
    sendUnreliable(bytes: Uint8Array): void {
        this.pass('carom_client_send_unreliable', bytes);
    }

    /** Answered by 'rooms'. */
    askRooms(): void {
        this.check(this.n.call['carom_client_ask_rooms']!(this.of));
    }

    // View ---------------------------------------------------------------------------------------

    /**
     * Where to draw all bodies, of the newest update: a row of 8 floats for each body's index, x, y, z, then 0 where no
     * body is, 1 of one that is predicted, 2 of one that is interpolated, then the rotation x, y, z, w.
     */
    get rows(): Float32Array {
        const { n } = this;
        const at = this.u32(Frame.rows);
        const length = this.u32(Frame.slots) * FLOATS;
        if (this.drawn.buffer !== n.u8.buffer || this.drawn.byteOffset !== at || this.drawn.length !== length) {
            this.drawn = new Float32Array(n.u8.buffer as ArrayBuffer, at, length);
        }
        return this.drawn;
    }

    /** The index of the own body, its row in `rows`; -1: none. */
    get own(): number {
        return this.u32(Frame.own + 4) === 0 ? -1 : this.u32(Frame.own);
    }

    get ownHandle(): Handle {
        return handleOf(this.u32(Frame.own), this.u32(Frame.own + 4));
    }

    /** The own slot; -1: a spectator's. */
    get player(): number {
        const slot = this.u32(Frame.player);
        return slot === NO_PLAYER ? -1 : slot;
    }

    /** Ticks a second; 0 before the room is joined. */
    get tickRate(): number {
        return this.u32(Frame.tick_rate);
    }

    /** Who plays, by slots. */
    players(): Player[] {
        const { n } = this;
        const rows = n.alloc(PLAYERS_MAX * ClientRosterRow.bytes);
        const count = Math.min(n.call['carom_client_roster']!(this.of, rows, PLAYERS_MAX), PLAYERS_MAX);
        const players = Array.from({ length: count }, (_, i) => {
            const at = rows + i * ClientRosterRow.bytes;
            const body = (at + ClientRosterRow.body) >> 2;
            return {
                slot: n.u32[(at + ClientRosterRow.player) >> 2]!,
                name: n.text(at + ClientRosterRow.name),
                body: n.u32[body + 1] === 0 ? -1 : n.u32[body]!,
                rttMs: n.u32[(at + ClientRosterRow.rtt_ms) >> 2]!,
                away: n.u8[at + ClientRosterRow.away] !== 0,
            };
        });
        n.free(rows);
        return players;
    }

    /** The newest view's world, with shapes; with exact sync the confirmed one. To be read; null before the room is joined. */
    get world(): ViewedWorld | null {
        const at = this.n.call['carom_client_world']!(this.of);
        if (this.viewed && this.viewed.at !== at) {
            this.viewed.free();
            this.viewed = null;
        }
        this.viewed ??= at === 0 ? null : World.over(at);
        return this.viewed;
    }

    /** With exact sync: the newest confirmed tick, and the hash of everything at it, as the server's recording has it. */
    get confirmedTick(): number {
        return this.at === 0 ? 0 : Number(this.n.call64['cw_client_tick']!(this.at));
    }

    confirmedHash(): bigint {
        return this.at === 0 ? 0n : BigInt.asUintN(64, this.n.call64['cw_client_hash']!(this.at));
    }

    /** The module's public state, and the same as predicted: views of the program's memory, until the next update. */
    get publicState(): Uint8Array {
        return this.bytes(this.u32(Frame.state_public), this.u32(Frame.public_size));
    }

    get predictedState(): Uint8Array {
        return this.bytes(this.u32(Frame.state_predicted), this.u32(Frame.public_size));
    }

    /** Of the newest update: one object, whose getters read the program's memory. */
    get stats(): Stats {
        return this.told;
    }

    /** Datagrams of this connection that the handshake or the seal refused: damaged or forged. */
    get refused(): number {
        return this.u32(Frame.refused);
    }

    /** What its WebSockets carried. */
    get transport(): Readonly<TransportStats> {
        return this.link.told;
    }

    // Inside -------------------------------------------------------------------------------------

    private u32(field: number): number {
        return this.at === 0 ? 0 : this.n.u32[(this.at + field) >> 2]!;
    }

    private bytes(at: number, size: number): Uint8Array {
        return at === 0 ? new Uint8Array(0) : this.n.u8.subarray(at, at + size);
    }

    private check(result: number): void {
        if (result !== 0) {
            throw this.n.refusal(result, 0);
        }
    }

    private pass(name: string, bytes: Uint8Array): void {
        const { n } = this;
        const at = n.alloc(Math.max(bytes.length, 1));
        n.u8.set(bytes, at);
        const result = n.call[name]!(this.of, at, bytes.length);
        n.free(at);
        this.check(result);
    }

    private text(text: string): number {
        const bytes = new TextEncoder().encode(`${text}\0`);
        const at = this.n.alloc(bytes.length);
        this.n.u8.set(bytes, at);
        return at;
    }

    private create(options: ClientOptions, room: string | undefined): number {
        const { n } = this;
        const def = n.alloc(ClientDef.bytes + ErrorRow.bytes);
        n.call['carom_default_client_def']!(def);
        const taken: number[] = [];
        const text = (field: number, value: string | undefined): void => {
            if (value !== undefined) {
                taken.push(this.text(value));
                n.u32[(def + field) >> 2] = taken.at(-1)!;
            }
        };
        const count = (field: number, value: number | undefined): void => {
            if (value !== undefined) {
                n.u32[(def + field) >> 2] = value;
            }
        };
        const flag = (field: number, value: boolean | undefined): void => {
            if (value !== undefined) {
                n.u8[def + field] = value ? 1 : 0;
            }
        };
        text(ClientDef.name, options.name);
        text(ClientDef.room, room);
        if (options.userData) {
            const at = n.alloc(Math.max(options.userData.length, 1));
            n.u8.set(options.userData, at);
            taken.push(at);
            count(ClientDef.user_data, at);
            count(ClientDef.user_data_size, options.userData.length);
        }
        flag(ClientDef.predict, options.predict);
        flag(ClientDef.reconnect, options.reconnect);
        flag(ClientDef.spectate, options.spectate);
        count(ClientDef.predict_budget_us, options.predictBudgetUs);
        count(ClientDef.predict_cost_ns, options.predictCostNs);
        count(ClientDef.connect_timeout_ms, options.connectTimeoutMs);
        count(ClientDef.timeout_ms, options.timeoutMs);
        count(ClientDef.unstable_ms, options.unstableMs);
        n.putFloat(def + ClientDef.smoothing_s, options.smoothingS);
        n.putFloat(def + ClientDef.snap_distance, options.snapDistance);
        count(ClientDef.error, def + ClientDef.bytes);
        n.u8.fill(0, def + ClientDef.bytes, def + ClientDef.bytes + ErrorRow.bytes);
        const at = n.call['cw_client_create']!(def) >>> 0;
        n.look();
        taken.forEach((each) => n.free(each));
        const result = n.u32[(def + ClientDef.bytes + ErrorRow.result) >> 2]!;
        const refused = at !== 0 ? null : result === 0 ? new CaromError('out of memory', 0, '') : n.refusal(result, def + ClientDef.bytes);
        n.free(def);
        if (refused) {
            throw refused;
        }
        return at;
    }
}
