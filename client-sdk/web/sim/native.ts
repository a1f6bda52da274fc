// The WebAssembly program: its functions, its memory as typed arrays, and the few bytes of it that
// arguments and answers go through. A struct that C takes or returns by value goes by address.

import * as layout from './layout.js';

/** A vector in metres, or in the unit of what it is: m/s, N, N s. */
export interface Vector {
    x: number;
    y: number;
    z: number;
}

/** A unit quaternion. */
export interface Rotation extends Vector {
    w: number;
}

/** What was refused: the engine's reason, and the field of the description that it is about. */
export class CaromError extends Error {
    constructor(
        message: string,
        /** The engine's number of the reason, 0 for none. */
        readonly code: number,
        /** The field at fault as the engine names it ("density"), or "". */
        readonly field: string,
    ) {
        super(message);
        this.name = 'CaromError';
    }
}

type Call = (...values: (number | bigint)[]) => number;
type Call64 = (...values: (number | bigint)[]) => bigint;

// Bytes that a call's arguments and answer may take: the largest is a filter, a shape and 64 hits.
const ARENA_BYTES = 16384;

/** @internal */
export class Native {
    readonly call: Record<string, Call>;
    readonly call64: Record<string, Call64>;
    u8!: Uint8Array;
    u32!: Uint32Array;
    i32!: Int32Array;
    f32!: Float32Array;
    f64!: Float64Array;
    u64!: BigUint64Array;
    private readonly memory: WebAssembly.Memory;
    private readonly arena: number;
    private top = 0;

    constructor(instance: WebAssembly.Instance) {
        this.call = instance.exports as unknown as Record<string, Call>;
        this.call64 = instance.exports as unknown as Record<string, Call64>;
        this.memory = instance.exports['memory'] as WebAssembly.Memory;
        (instance.exports['_initialize'] as (() => void) | undefined)?.();
        this.look();
        this.arena = this.alloc(ARENA_BYTES);
    }

    /** Takes the memory's arrays anew: growth has detached the old ones. */
    look(): void {
        const buffer = this.memory.buffer;
        if (this.u8?.buffer === buffer) {
            return;
        }
        this.u8 = new Uint8Array(buffer);
        this.u32 = new Uint32Array(buffer);
        this.i32 = new Int32Array(buffer);
        this.f32 = new Float32Array(buffer);
        this.f64 = new Float64Array(buffer);
        this.u64 = new BigUint64Array(buffer);
    }

    alloc(bytes: number): number {
        const at = this.call['cw_alloc']!(bytes) >>> 0;
        if (at === 0) {
            throw new CaromError(`out of memory: ${bytes} bytes`, 0, '');
        }
        this.look();
        return at;
    }

    free(at: number): void {
        this.call['cw_free']!(at);
    }

    /** Room for a call's arguments, until the next begin(). */
    take(bytes: number): number {
        const at = this.arena + this.top;
        this.top += (bytes + 15) & ~15;
        if (this.top > ARENA_BYTES) {
            throw new CaromError('too much for one call', 0, '');
        }
        return at;
    }

    begin(): void {
        this.top = 0;
    }

    takeVector(v: Vector): number {
        const at = this.take(12);
        this.putVector(at, v);
        return at;
    }

    takeRotation(q: Rotation): number {
        const at = this.take(16);
        this.putRotation(at, q);
        return at;
    }

    takeId(index: number, generation: number): number {
        const at = this.take(8);
        this.u32[at >> 2] = index;
        this.u32[(at >> 2) + 1] = generation;
        return at;
    }

    // Of what is undefined the native default stays.
    putFloat(at: number, value: number | undefined): void {
        if (value !== undefined) {
            this.f32[at >> 2] = value;
        }
    }

    putVector(at: number, v: Vector | undefined): void {
        if (!v) {
            return;
        }
        const i = at >> 2;
        this.f32[i] = v.x;
        this.f32[i + 1] = v.y;
        this.f32[i + 2] = v.z;
    }

    putRotation(at: number, q: Rotation | undefined): void {
        this.putVector(at, q);
        this.putFloat(at + 12, q?.w);
    }

    vector(at: number): Vector {
        const i = at >> 2;
        return { x: this.f32[i]!, y: this.f32[i + 1]!, z: this.f32[i + 2]! };
    }

    rotation(at: number): Rotation {
        return { ...this.vector(at), w: this.f32[(at >> 2) + 3]! };
    }

    /** A whole number of 64 bits, below 2^53. */
    count(at: number): number {
        return this.u32[at >> 2]! + this.u32[(at >> 2) + 1]! * 2 ** 32;
    }

    text(at: number): string {
        let end = at;
        while (at !== 0 && this.u8[end] !== 0) {
            end++;
        }
        return new TextDecoder().decode(this.u8.subarray(at, end));
    }

    /** The error of a carom_result that is not OK, with what a carom_error at `error` tells of it. */
    refusal(result: number, error: number): CaromError {
        const reason = this.text(this.call['carom_result_text']!(result));
        const field = error ? this.text(this.u32[(error + layout.Error.field) >> 2]!) : '';
        const expected = error ? this.text(this.u32[(error + layout.Error.expected) >> 2]!) : '';
        const told = field ? `${field}: ${reason}${expected ? `, expected ${expected}` : ''}` : reason;
        return new CaromError(told, result, field);
    }
}

// What C's stdio would print goes nowhere (8: no such file). carom-sim has none; libraries of the viewer could.
const nothing = (): number => 8;
const NOWHERE = { wasi_snapshot_preview1: { fd_close: nothing, fd_seek: nothing, fd_write: nothing } };

let loaded: Native | undefined;

/** What init() takes: the program's bytes, their address, an answer to a request, or a compiled module. */
export type Source = BufferSource | string | URL | Response | Promise<Response> | WebAssembly.Module;

async function compiled(source: Source): Promise<WebAssembly.Module> {
    const given = await source;
    if (given instanceof WebAssembly.Module) {
        return given;
    }
    if (typeof given === 'string' || given instanceof URL) {
        const url = new URL(given, import.meta.url);
        if (url.protocol === 'file:') {
            // Node and its like; the name is no literal, so that no bundler looks for it.
            const files = 'node:fs/promises';
            const { readFile } = (await import(files)) as { readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> };
            return WebAssembly.compile(await readFile(url));
        }
        return compiled(fetch(url));
    }
    if (given instanceof Response) {
        if (!given.ok) {
            throw new CaromError(`${given.url}: ${given.status} ${given.statusText}`, 0, '');
        }
        return WebAssembly.compile(await given.arrayBuffer());
    }
    return WebAssembly.compile(given);
}

/**
 * Loads the engine, once, before anything else: the program beside this file, or another one
 * (carom-sim-all.wasm has every solver). Again, it does nothing.
 */
export async function init(source: Source = new URL('./carom-sim.wasm', import.meta.url), imports: WebAssembly.Imports = {}): Promise<void> {
    if (!loaded) {
        const instance = await WebAssembly.instantiate(await compiled(source), { ...NOWHERE, ...imports });
        loaded ??= new Native(instance);
    }
}

/** @internal */
export function native(): Native {
    if (!loaded) {
        throw new CaromError('await init() comes first', 0, '');
    }
    return loaded;
}
