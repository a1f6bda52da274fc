// A match that is played: its clock, seeks and single steps, and what happened on the way. One thing runs at a time; whoever asks while
// a chunk is on its way is served after it, and of seeks only the newest. Nothing here knows of the page.

import { MatchStream } from '../watch/index.js';
import type { Source } from './source.js';

export interface Mark {
    tick: number;
    text: string;
}

/** Where bodies began to touch: the way that the impulse went, N s. */
export interface Touch {
    tick: number;
    point: { x: number; y: number; z: number };
    normal: { x: number; y: number; z: number };
    impulse: number;
}

const OWED_MAX_S = 0.25; // of a page that was not looked at
const ASK_AGAIN_MS = 400; // for a chunk that is not there yet
const SLICE_MS = 12; // of work between two frames
const MARKS_MAX = 4096;
const TOUCHES_MAX = 4096;

export class Playback {
    playing = true;
    speed = 1;
    /** Begun contacts are kept while somebody wants to see them. */
    wantsTouches = false;
    touches: Touch[] = [];
    readonly marks = new Map<string, Mark>();
    private busy = false;
    private wanted: number | null = null;
    private owed = 0;
    private askAt = 0;
    private present = '';

    private constructor(
        readonly source: Source,
        readonly stream: MatchStream,
        private readonly fail: (error: Error) => void,
    ) {
        this.present = this.whoPlays();
    }

    static async open(source: Source, fail: (error: Error) => void): Promise<Playback> {
        return new Playback(source, await MatchStream.open(source.base, source.options), fail);
    }

    get first(): number {
        return this.stream.index.first * this.stream.index.chunk_ticks;
    }

    get last(): number {
        return Math.max(this.stream.index.ticks - 1, this.first);
    }

    get isBusy(): boolean {
        return this.busy || this.wanted !== null;
    }

    /** Where a viewer of a match that runs begins: a chunk and a half before the end, so that the next one has come by then. */
    get liveTick(): number {
        return Math.max(this.first, this.last - Math.floor(1.5 * this.stream.index.chunk_ticks));
    }

    seek(tick: number): void {
        this.wanted = Math.min(Math.max(Math.round(tick), this.first), this.last);
        this.touches = [];
        void this.alone(async () => {
            while (this.wanted !== null) {
                const goal = this.wanted;
                this.wanted = null;
                await this.stream.seek(goal);
            }
            this.present = this.whoPlays();
        });
    }

    stepBy(ticks: number): void {
        this.playing = false;
        if (ticks > 0) {
            void this.alone(() => this.stepOnce());
        } else {
            this.seek((this.wanted ?? this.stream.tick) + ticks);
        }
    }

    /** As much as `seconds` have room for. */
    run(seconds: number): void {
        this.owed = this.playing ? Math.min(this.owed + seconds * this.speed, OWED_MAX_S * this.speed) : 0;
        const until = performance.now() + 2 * SLICE_MS;
        try {
            while (!this.isBusy && this.owed * this.stream.tickRate >= 1 && performance.now() < until) {
                this.owed -= 1 / this.stream.tickRate;
                if (this.stream.step()) {
                    this.note(this.stream);
                } else if (performance.now() >= this.askAt) {
                    void this.alone(() => this.stepOnce());
                }
            }
        } catch (error) {
            this.fail(error as Error);
        }
    }

    close(): void {
        this.playing = false;
        this.stream.close();
    }

    /** The whole match by another viewer, from its first tick, in slices; what happens in it is marked. Throws what is wrong. */
    async verify(tell: (tick: number, last: number) => void, isWanted: () => boolean): Promise<MatchStream> {
        const whole = await MatchStream.open(this.source.base, this.source.options);
        try {
            for (let more = true; more && isWanted(); ) {
                const until = performance.now() + SLICE_MS;
                let stepped = true;
                while (stepped && performance.now() < until) {
                    stepped = whole.step();
                    this.note(whole);
                }
                tell(whole.tick, whole.index.ticks - 1);
                more = stepped || (await whole.load());
                await new Promise((done) => setTimeout(done));
            }
        } catch (error) {
            whole.close();
            throw error;
        }
        return whole;
    }

    /** The first tick that differs from another match's, -1 where all that both have are the same. */
    async compare(other: Source, tell: (tick: number) => void): Promise<number> {
        const both = [await MatchStream.open(this.source.base, this.source.options)];
        try {
            both.push(await MatchStream.open(other.base, other.options));
            const [one, two] = both as [MatchStream, MatchStream];
            const next = async (stream: MatchStream) => stream.step() || ((await stream.load()) && stream.step());
            let until = 0;
            for (;;) {
                if (one.hash() !== two.hash()) {
                    return one.tick;
                }
                if (performance.now() > until) {
                    tell(one.tick);
                    await new Promise((done) => setTimeout(done));
                    until = performance.now() + SLICE_MS;
                }
                if (!(await next(one)) || !(await next(two))) {
                    return -1;
                }
            }
        } finally {
            both.forEach((stream) => stream.close());
        }
    }

    private async alone(work: () => Promise<void>): Promise<void> {
        if (!this.busy) {
            this.busy = true;
            await work().catch((error: Error) => {
                this.playing = false;
                this.wanted = null;
                this.fail(error);
            });
            this.busy = false;
        }
    }

    private async stepOnce(): Promise<void> {
        const { stream } = this;
        if (stream.step() || ((await stream.load()) && stream.step())) {
            this.note(stream);
        } else if (stream.end !== null) {
            this.playing = false;
            this.mark(stream.tick, `the match ${stream.end === 'failed' ? 'failed' : `was ${stream.end}`}`);
        } else {
            this.askAt = performance.now() + ASK_AGAIN_MS;
            this.owed = 0;
        }
    }

    private whoPlays(stream = this.stream): string {
        return stream.players().map(({ player }) => player).join();
    }

    private mark(tick: number, text: string): void {
        if (this.marks.size < MARKS_MAX) {
            this.marks.set(`${tick} ${text}`, { tick, text });
        }
    }

    private readonly was = new WeakMap<MatchStream, string>();
    private note(stream: MatchStream): void {
        const now = this.whoPlays(stream);
        const before = stream === this.stream ? this.present : (this.was.get(stream) ?? '');
        if (now !== before) {
            const [here, gone] = [now.split(','), before.split(',')];
            here.filter((one) => one && !gone.includes(one)).forEach((one) => this.mark(stream.tick, `player ${one} came`));
            gone.filter((one) => one && !here.includes(one)).forEach((one) => this.mark(stream.tick, `player ${one} left`));
        }
        if (stream === this.stream) {
            this.present = now;
            this.noteTouches();
        } else {
            this.was.set(stream, now);
        }
        stream.world.drainJointBreakEvents(() => this.mark(stream.tick, 'a joint broke'));
    }

    private noteTouches(): void {
        if (this.wantsTouches) {
            const { tick } = this.stream;
            this.stream.world.drainCollisionEvents(({ started, sensor, point, normal, impulse }) => {
                if (started && !sensor) {
                    this.touches.push({ tick, point, normal, impulse });
                }
            });
            this.touches = this.touches.filter((touch) => touch.tick > tick - this.stream.tickRate / 2).slice(-TOUCHES_MAX);
        }
    }
}
