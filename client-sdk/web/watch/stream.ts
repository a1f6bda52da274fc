// A match's stream (PROTOCOL.md 11): chunks are fetched, run again tick by tick, and compared with what was recorded, by
// the same C that servers and `carom match verify` have. What step() has shown is what happened.

import { handleOf, type Handle } from '../sim/collider.js';
import { CaromError, native, type Vector } from '../sim/native.js';
import { World } from '../sim/world.js';

/** What a stream's index.json tells; it changes while the match runs. */
export interface StreamIndex {
    format: number;
    match_id: string;
    epoch: number;
    tick_rate: number;
    /** Ticks of each chunk but the last. */
    chunk_ticks: number;
    /** Number of the first chunk, and how many there are. */
    first: number;
    chunks: number;
    /** The tick after the last. */
    ticks: number;
    complete: boolean;
    /** 64 hexadecimal digits; "" where the match is not signed. */
    sign_key: string;
    /** Numbers of the chunks that have a keyframe, which a seek may begin with. */
    keyframes: number[];
}

/** Why a match ended; null: it runs, or its last chunk is not loaded. */
export type StreamEnd = 'drained' | 'ended' | 'failed' | 'cut' | null;

export interface StreamOptions {
    /** In place of the global one. */
    fetch?: (url: string) => Promise<Response>;
    /** The public key that the match must be signed by, 64 hexadecimal digits: another, or none, is refused. */
    key?: string;
}

/** What may be read of a watched world; whoever changes it sees the next tick refused. */
export type WatchedWorld = Pick<
    World,
    'bodies' | 'getRigidBody' | 'getCollider' | 'getJoint' | 'transforms' | 'castRay' | 'castRayAll' | 'castShape' | 'overlap' | 'closest'
    | 'drainCollisionEvents' | 'drainHitEvents' | 'drainSleepEvents' | 'drainJointBreakEvents' | 'gravity' | 'stats' | 'hash' | 'encode'
>;

const FORMAT = 1;
const FILE_BYTES = 32 * 2 ** 20; // of a chunk, as it is served
const ENDS: StreamEnd[] = [null, 'drained', 'ended', 'failed', 'cut'];

export class MatchStream {
    private at: number;
    private begun = false;
    private watched: World | null = null;
    /** The file of the chunk after the loaded one, on its way. */
    private ahead: { number: number; file: Promise<Uint8Array | null> } | null = null;
    private stopped: Error | null = null;

    private constructor(
        private readonly base: string,
        private readonly options: StreamOptions,
        private told: StreamIndex,
    ) {
        const n = native();
        this.at = n.call['cw_watch_create']!();
        n.look();
    }

    /** `url` of the folder that index.json is in. The match stands at its first tick. */
    static async open(url: string | URL, options: StreamOptions = {}): Promise<MatchStream> {
        const base = String(url).replace(/\/?$/, '/');
        const stream = new MatchStream(base, options, await readIndex(base, options));
        try {
            if (!(await stream.load())) {
                throw new CaromError(`${base}: there is no chunk yet`, 0, '');
            }
        } catch (error) {
            stream.close();
            throw error;
        }
        return stream;
    }

    /** As it was read last: by open(), by load() at the end of what there was, or by refresh(). */
    get index(): StreamIndex {
        return this.told;
    }

    async refresh(): Promise<StreamIndex> {
        this.told = await readIndex(this.base, this.options);
        return this.told;
    }

    get tick(): number {
        return Number(native().call64['cw_watch_tick']!(this.at));
    }

    get tickRate(): number {
        return native().call['cw_watch_tick_rate']!(this.at);
    }

    /** Of the whole state, the game's and the world's, as the match's files have it. */
    hash(): bigint {
        return BigInt.asUintN(64, native().call64['cw_watch_hash']!(this.at));
    }

    /** The public key that the first chunk names; "" where it names none. */
    get key(): string {
        const n = native();
        return n.text(n.call['cw_watch_key']!(this.at));
    }

    /** Each chunk that was loaded so far is signed by `key`. */
    get isSigned(): boolean {
        return native().call['cw_watch_is_signed']!(this.at) !== 0;
    }

    get end(): StreamEnd {
        return ENDS[native().call['cw_watch_end']!(this.at)] ?? null;
    }

    get world(): WatchedWorld {
        const at = native().call['cw_watch_world']!(this.at);
        if (this.watched?.at !== at) {
            this.watched?.free();
            this.watched = World.over(at);
        }
        return this.watched;
    }

    /** Those who play, each with the body that it steers; null: it has none. */
    players(): { player: number; body: Handle | null }[] {
        const n = native();
        const there = BigInt.asUintN(64, n.call64['cw_watch_players']!(this.at));
        const found = [];
        for (let player = 0; there >> BigInt(player) > 0n; player++) {
            if ((there >> BigInt(player)) & 1n) {
                n.begin();
                const id = n.take(8);
                n.call['cw_watch_player_body']!(id, this.at, player);
                const [index, generation] = [n.u32[id >> 2]!, n.u32[(id >> 2) + 1]!];
                found.push({ player, body: generation ? handleOf(index, generation) : null });
            }
        }
        return found;
    }

    /** The two anchors of each joint, in the world. */
    joints(): [Vector, Vector][] {
        const n = native();
        const most = this.world.stats().joints;
        const rows = n.alloc(Math.max(24 * most, 1));
        const count = n.call['cw_watch_joints']!(this.at, rows, most);
        const found = Array.from({ length: count }, (_, i): [Vector, Vector] => [n.vector(rows + 24 * i), n.vector(rows + 24 * i + 12)]);
        n.free(rows);
        return found;
    }

    /** One tick. False: the loaded chunk has no more, and load() comes first. Throws where a tick is not what happened. */
    step(): boolean {
        const n = native();
        this.live();
        const result = n.call['cw_watch_step']!(this.at);
        n.look();
        if (result < 0) {
            throw this.refused(-result);
        }
        return result > 0;
    }

    /** The next chunk. False: there is none, since the match has ended or is not further yet. */
    async load(): Promise<boolean> {
        this.live();
        if (this.begun && this.end !== null) {
            return false;
        }
        const number = this.begun ? native().call['cw_watch_next']!(this.at) : this.told.first;
        if (number >= this.told.first + this.told.chunks && !this.told.complete) {
            await this.refresh();
        }
        const file = await this.file(number);
        if (file) {
            this.take(number, file);
            this.ahead = this.has(number + 1) ? { number: number + 1, file: this.file(number + 1) } : null;
            this.ahead?.file.catch(() => undefined); // it is asked for again when its turn comes
        }
        return file !== null;
    }

    /** From the newest keyframe at or before a tick, or from here where that is nearer, up to it. Throws where it does not exist. */
    async seek(tick: number): Promise<void> {
        this.live();
        const { keyframes, chunk_ticks: ticks } = this.told;
        const chunk = keyframes.filter((number) => number * ticks <= tick).pop() ?? this.told.first;
        if (tick < this.tick || chunk * ticks > this.tick) {
            const file = await this.file(chunk);
            if (!file) {
                throw new CaromError(`chunk ${chunk}: it is missing`, 0, '');
            }
            if (!keyframes.includes(chunk)) {
                this.restart(); // the first one's state is its scene's
            }
            this.take(chunk, file);
        }
        while (this.tick < tick) {
            if (!this.step() && !(await this.load())) {
                throw new CaromError(`tick ${tick}: the stream ends with tick ${this.tick}`, 0, '');
            }
        }
    }

    /** Gives its memory back. */
    close(): void {
        if (this.at) {
            this.watched?.free();
            native().call['cw_watch_destroy']!(this.at);
            this.at = 0;
            this.stopped = new CaromError('the stream is closed', 0, '');
        }
    }

    private restart(): void {
        const n = native();
        n.call['cw_watch_destroy']!(this.at);
        this.at = n.call['cw_watch_create']!();
        n.look();
        this.begun = false;
    }

    private has(number: number): boolean {
        return number >= this.told.first && number < this.told.first + this.told.chunks;
    }

    private async file(number: number): Promise<Uint8Array | null> {
        if (this.ahead?.number === number) {
            const { file } = this.ahead;
            this.ahead = null;
            return file.catch(() => this.file(number));
        }
        if (!this.has(number)) {
            return null;
        }
        const response = await get(`${this.base}${this.told.epoch}/${number}.chunk`, this.options);
        const told = Number(response.headers.get('content-length') ?? 0);
        if (told > FILE_BYTES) {
            throw new CaromError(`chunk ${number}: ${told} bytes, expected at most ${FILE_BYTES}`, 0, '');
        }
        return new Uint8Array(await response.arrayBuffer());
    }

    private take(number: number, file: Uint8Array): void {
        const n = native();
        const at = n.alloc(Math.max(file.length, 1));
        try {
            n.u8.set(file, at);
            const result = n.call['cw_watch_take']!(this.at, at, file.length);
            n.look();
            if (result !== 0) {
                throw this.refused(result, number);
            }
        } finally {
            n.free(at);
        }
        this.begun = true;
        const next = n.call['cw_watch_next']!(this.at);
        if (next !== number + 1) {
            this.stop(`chunk ${number}: it is chunk ${next - 1}`);
        }
        // The core compares a signature with the key that the first chunk names, and lets pass what has none.
        const { key } = this.options;
        if (key && (this.key !== key || !this.isSigned)) {
            this.stop(`chunk ${number}: not signed by the key that was expected`);
        }
    }

    private refused(result: number, number?: number): CaromError {
        const n = native();
        const text = n.text(n.call['cw_watch_error']!(this.at)) || n.text(n.call['carom_result_text']!(result));
        return new CaromError(number === undefined || text.startsWith(`chunk ${number}:`) ? text : `chunk ${number}: ${text}`, result, '');
    }

    private stop(why: string): never {
        this.stopped = new CaromError(why, 0, '');
        throw this.stopped;
    }

    private live(): void {
        if (this.stopped) {
            throw this.stopped;
        }
    }
}

async function get(url: string, options: StreamOptions): Promise<Response> {
    const response = await (options.fetch ?? fetch)(url);
    if (!response.ok) {
        throw new CaromError(`${url}: ${response.status} ${response.statusText}`, 0, '');
    }
    return response;
}

async function readIndex(base: string, options: StreamOptions): Promise<StreamIndex> {
    const index = (await (await get(`${base}index.json`, options)).json()) as StreamIndex;
    const counts = [index.epoch, index.tick_rate, index.chunk_ticks, index.first, index.chunks, index.ticks];
    if (index.format !== FORMAT || !counts.every((count) => Number.isSafeInteger(count) && count >= 0)) {
        throw new CaromError(`${base}index.json: not a stream of format ${FORMAT}`, 0, '');
    }
    if (!Array.isArray(index.keyframes) || !index.keyframes.every(Number.isSafeInteger) || index.chunk_ticks === 0) {
        throw new CaromError(`${base}index.json: no list of keyframes`, 0, '');
    }
    return index;
}
