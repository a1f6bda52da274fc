// What a client tells: the notes that the program wrote in an update (native/frame.h), read and handed to who listens.

import { Event as EventRow, Note } from './layout.js';
import type { Native } from '../sim/native.js';
import { handleOf, type Handle } from '../sim/collider.js';

export type State = 'idle' | 'connecting' | 'joining' | 'playing' | 'unstable';
/** @internal */
export const STATES: State[] = ['idle', 'connecting', 'joining', 'playing', 'unstable'];
const PHASES = ['', 'predicted', 'confirmed', 'cancelled'] as const;
const CHANGES = ['', 'appeared', 'vanished', 'teleported', 'changed owner'] as const;
const LEVELS = ['trace', 'debug', 'info', 'warning', 'error'] as const;

/** An event of the game's rules; bytes are copied. */
export interface GameEvent {
    phase: 'predicted' | 'confirmed' | 'cancelled';
    tick: number;
    /** The tick that it was told with as predicted; 0: it was not. */
    predictedTick: number;
    kind: number;
    key: number;
    subjects: [bigint, bigint];
    bytes: Uint8Array;
}

export interface BodyChange {
    change: 'appeared' | 'vanished' | 'teleported' | 'changed owner';
    body: Handle;
    /** Its row in `rows`. */
    index: number;
    /** The slot of the player who steers it, -1: nobody. */
    owner: number;
}

export interface Room {
    name: string;
    scene: string;
    module: string;
    players: number;
    maxPlayers: number;
}

/** The names of on(), and what each is called with. */
export interface Events {
    /** The state of the connection, and why it ended. */
    state: (state: State, reason: string) => void;
    /** From the module on the server: once and in order. */
    message: (tick: number, bytes: Uint8Array) => void;
    /** Once or never, in any order. */
    unreliable: (tick: number, bytes: Uint8Array) => void;
    event: (event: GameEvent) => void;
    body: (change: BodyChange) => void;
    /** The operator's message for people; `reason` "NONE", "DRAINING" (the server ends in so many seconds) or "BANNED". */
    notice: (text: string, reason: string, secondsLeft: number) => void;
    rooms: (rooms: Room[]) => void;
    log: (level: string, text: string) => void;
}

const decoder = new TextDecoder();
const NOBODY = 0xffffffff;
const KINDS: (keyof Events)[] = ['log', 'state', 'message', 'unreliable', 'event', 'body', 'notice', 'rooms', 'log'];

/** @internal */
export class Notes {
    readonly listeners = new Map<keyof Events, Set<(...told: never[]) => void>>();
    private rooms: Room[] = [];

    read(n: Native, at: number, bytes: number, reasonName: (reason: number) => string): void {
        // A listener may make memory grow: the arrays are taken from `n` each time.
        for (const end = at + bytes; at < end; ) {
            const size = n.u32[(at + Note.size) >> 2]!;
            const kind = KINDS[n.u32[(at + Note.kind) >> 2]!]!;
            const listeners = this.listeners.get(kind);
            if (listeners && listeners.size > 0) {
                const told = this.told(n, kind, at, size, reasonName);
                if (told) {
                    for (const listener of [...listeners]) {
                        (listener as (...args: unknown[]) => void)(...told);
                    }
                }
            }
            at += Note.bytes + ((size + 7) & ~7);
        }
    }

    private told(n: Native, kind: keyof Events, at: number, size: number, reasonName: (reason: number) => string): unknown[] | null {
        const number = n.u32[(at + Note.number) >> 2]!;
        const other = n.u32[(at + Note.other) >> 2]!;
        const tick = n.count(at + Note.tick);
        const payload = at + Note.bytes;
        const copy = (): Uint8Array => n.u8.slice(payload, payload + size);
        switch (kind) {
            case 'state':
                return [STATES[number], reasonName(other)];
            case 'message':
            case 'unreliable':
                return [tick, copy()];
            case 'event':
                return [this.event(n, payload, number, tick)];
            case 'body':
                return [this.body(n, payload, number, other)];
            case 'notice':
                return [decoder.decode(copy()), reasonName(number), other];
            case 'log':
                return [LEVELS[number] ?? 'info', decoder.decode(copy())];
            case 'rooms': {
                if (size > 0) {
                    const [name, scene, module] = decoder.decode(copy()).split('\0') as [string, string, string];
                    this.rooms.push({ name, scene, module, players: number, maxPlayers: other });
                }
                if (tick > 0) {
                    return null; // more of them follow
                }
                const { rooms } = this;
                this.rooms = [];
                return [rooms];
            }
        }
    }

    private event(n: Native, at: number, phase: number, predictedTick: number): GameEvent {
        const bytes = at + EventRow.bytes_;
        const subjects = (at + EventRow.subjects) >> 3;
        return {
            phase: PHASES[phase] as GameEvent['phase'],
            tick: n.count(at + EventRow.tick),
            predictedTick,
            kind: n.u32[(at + EventRow.kind) >> 2]!,
            key: n.u32[(at + EventRow.key) >> 2]!,
            subjects: [n.u64[subjects]!, n.u64[subjects + 1]!],
            bytes: n.u8.slice(bytes, bytes + n.u32[(at + EventRow.size) >> 2]!),
        };
    }

    private body(n: Native, at: number, change: number, owner: number): BodyChange {
        const index = n.u32[at >> 2]!;
        return {
            change: CHANGES[change] as BodyChange['change'],
            body: handleOf(index, n.u32[(at >> 2) + 1]!),
            index,
            owner: owner === NOBODY ? -1 : owner,
        };
    }
}
