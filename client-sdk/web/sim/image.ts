// A saved world, in the engine's own memory: saving and restoring copy no byte through JavaScript.

import { native, type Native } from './native.js';

const released = new FinalizationRegistry<number>((at) => native().free(at));

/** What world.save() returns. Good for worlds of this program alone; world.encode() travels. */
export class WorldImage {
    /** @internal */
    at = 0;
    private room = 0;
    private used = 0;

    /** How many bytes it has. */
    get byteLength(): number {
        return this.used;
    }

    /** Its bytes, without a copy: good until the next call that may allocate. */
    bytes(): Uint8Array {
        const n = native();
        n.look();
        return n.u8.subarray(this.at, this.at + this.used);
    }

    /** Gives the memory back; the collector does it too, later. */
    free(): void {
        if (this.at !== 0) {
            released.unregister(this);
            native().free(this.at);
            this.at = this.room = this.used = 0;
        }
    }

    /** @internal */
    fit(n: Native, bytes: number): void {
        if (bytes > this.room) {
            this.free();
            // Some more, so that a world that grows a little fits again.
            this.room = bytes + (bytes >> 3);
            this.at = n.alloc(this.room);
            released.register(this, this.at, this);
        }
    }

    /** @internal */
    put(bytes: number): void {
        this.used = bytes;
    }
}
