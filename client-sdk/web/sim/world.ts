// A world: bodies, joints, and the one verb step().

import * as events from './events.js';
import { WorldImage } from './image.js';
import { Error as ErrorRow, JointDef, BodyDef, ShapeDef, PairRule as RuleRow, WorldDef, WorldStats as StatsRow } from './layout.js';
import { CaromError, native, type Native, type Rotation, type Vector } from './native.js';
import { RigidBody, type RigidBodyDesc } from './body.js';
import { Collider, handleOf, indexOf, generationOf, type ColliderDesc, type Handle } from './collider.js';
import { Joint, type JointDesc } from './joint.js';
import * as query from './query.js';
import type { QueryFilter, QueryHit, Ray } from './query.js';

export enum Solver {
    /** For crowds; the default. */
    Soft = 0,
    /** One collision a pair and tick: billiards. carom-sim-all.wasm, as the two below. */
    Impulse = 1,
    /** For mechanisms that must not stretch. */
    Lcp = 2,
    /** For touch at 1 kHz. */
    Volume = 3,
}

/** How two colliders' coefficients become one. */
export enum Combine {
    Product = 0,
    Average = 1,
    /** The root of their product. */
    Geometric = 2,
    Min = 3,
    Max = 4,
}

/** Friction and restitution between two bodies, two materials, or one of each; before all combine rules. */
export interface PairRule {
    /** A body, or a number of ColliderDesc.setMaterial. */
    a: RigidBody | number;
    b: RigidBody | number;
    friction?: number;
    restitution?: number;
}

/** What a world has from its start. */
export interface WorldOptions {
    /** Steps a second of the world's time; 60. */
    tickRate?: number;
    solver?: Solver;
    /** Of the soft solver; 0, the default: as many as the scene needs. */
    substeps?: number;
    /** Product, both. */
    frictionCombine?: Combine;
    restitutionCombine?: Combine;
    /** Whether bodies may sleep; true. */
    sleep?: boolean;
    /** Everything stays in the plane z = 0; false. */
    planar?: boolean;
    /** Of the world's random numbers. */
    seed?: bigint;
    /** m/s from which on pairs that meet are told by drainHitEvents; 0: none. */
    hitSpeed?: number;
    /** Bodies that there is room for at first; it grows. */
    bodies?: number;
}

export interface WorldStats {
    bodies: number;
    joints: number;
    /** Pairs near each other, and those of them that touch. */
    contacts: number;
    touching: number;
    sleeping: number;
}

/** Results that more room mends. */
const LIMIT_BODIES = 5;
const LIMIT_SHAPES = 6;
const LIMIT_JOINTS = 7;
const LIMIT_CONTACTS = 9;
// Steps between two looks at the room for contacts.
const LOOK_STEPS = 16;
const FLOATS_OF_A_ROW = 8;

const BOUNDS = { bodies: 65536, shapes: 131072, joints: 65536, contacts: 1048576 };

type Limits = { bodies: number; shapes: number; joints: number; contacts: number };

/** Hulls by their points' bytes, of all worlds; they stay. */
const hulls = new Map<string, number>();

export class World {
    /** The engine's world. @internal */
    at = 0;
    private memory = 0;
    private limits: Limits;
    private known: number[] = [];
    private hullList = 0;
    private rows = 0;
    private rowRoom = 0;
    private steps = 0;

    constructor(
        gravity: Vector = { x: 0, y: -9.81, z: 0 },
        private readonly options: WorldOptions = {},
    ) {
        const bodies = Math.min(Math.max(options.bodies ?? 256, 16), BOUNDS.bodies);
        this.limits = { bodies, shapes: bodies, joints: Math.max(bodies >> 1, 64), contacts: bodies * 12 };
        this.create(gravity);
    }

    /** One that something else owns and steps, to be read. @internal */
    static over(at: number): World {
        const world = Object.create(World.prototype) as World;
        return Object.assign(world, {
            at,
            options: {},
            memory: 0,
            limits: { ...BOUNDS, bodies: native().call['carom_world_body_slots']!(at) },
            known: [],
            hullList: 0,
            rows: 0,
            rowRoom: 0,
            steps: 0,
        });
    }

    // Time ---------------------------------------------------------------------------------------

    /** One tick: 1 / tickRate s. */
    step(): void {
        const n = native();
        this.guard(() => n.call['carom_world_step']!(this.at));
        if (++this.steps % LOOK_STEPS === 0 && this.stats().contacts * 2 > this.limits.contacts) {
            this.grow(LIMIT_CONTACTS);
        }
    }

    /** Ticks since its start. */
    get tick(): bigint {
        return BigInt.asUintN(64, native().call64['carom_world_tick']!(this.at));
    }

    get gravity(): Vector {
        const n = native();
        n.begin();
        const at = n.take(12);
        n.call['carom_world_gravity']!(at, this.at);
        return n.vector(at);
    }

    set gravity(gravity: Vector) {
        const n = native();
        n.begin();
        this.check(n.call['carom_world_set_gravity']!(this.at, n.takeVector(gravity)));
    }

    // Saving -------------------------------------------------------------------------------------

    /** All that can change the future. Into an image of before, it allocates nothing. */
    save(into: WorldImage = new WorldImage()): WorldImage {
        const n = native();
        into.fit(n, n.call['carom_world_save_size']!(this.at));
        into.put(n.call['carom_world_save']!(this.at, into.at, n.call['carom_world_save_size']!(this.at)));
        return into;
    }

    /** In place: bodies, colliders and joints that lived then are good, with their handles. */
    restore(image: WorldImage): void {
        const n = native();
        let result = n.call['carom_world_restore']!(this.at, image.at, image.byteLength);
        while (result >= LIMIT_BODIES && result <= LIMIT_CONTACTS && this.grow(result)) {
            result = n.call['carom_world_restore']!(this.at, image.at, image.byteLength);
        }
        this.check(result);
    }

    /** A hash of all that can change the future: equal on every machine, in C as in here. */
    hash(): bigint {
        return BigInt.asUintN(64, native().call64['carom_world_hash']!(this.at));
    }

    /** The portable form, for other machines: every byte is checked by decode(). */
    encode(): Uint8Array {
        const n = native();
        const size = n.call['carom_world_encode_size']!(this.at);
        const at = n.alloc(size);
        const used = n.call['carom_world_encode']!(this.at, at, size);
        const bytes = n.u8.slice(at, at + used);
        n.free(at);
        return bytes;
    }

    /** Becomes what encode() wrote, here or elsewhere; hulls must be known: addHull(). */
    decode(bytes: Uint8Array): void {
        const n = native();
        const at = n.alloc(bytes.length);
        try {
            n.u8.set(bytes, at);
            let result = n.call['carom_world_decode']!(this.at, at, bytes.length);
            while (result >= LIMIT_BODIES && result <= LIMIT_CONTACTS && this.grow(result)) {
                result = n.call['carom_world_decode']!(this.at, at, bytes.length);
            }
            this.check(result);
        } finally {
            n.free(at);
        }
    }

    /** The next number of the world's own, saved and rewound with it: a whole one of 64 bits. */
    random(): bigint {
        return BigInt.asUintN(64, native().call64['carom_world_random']!(this.at));
    }

    // Bodies and joints --------------------------------------------------------------------------

    /** A body with its colliders, which it keeps as long as it lives. */
    createRigidBody(desc: RigidBodyDesc, ...colliders: ColliderDesc[]): RigidBody {
        const n = native();
        const hullsOf = colliders.map((collider) => this.hullOf(collider));
        return this.grown(() => {
            n.begin();
            const id = n.take(8);
            const def = n.take(BodyDef.bytes);
            desc.write(n, def);
            const shapes = n.take(Math.max(colliders.length, 1) * ShapeDef.bytes);
            colliders.forEach((collider, i) => collider.write(n, shapes + i * ShapeDef.bytes, hullsOf[i]!));
            return [n.call['carom_body_create']!(this.at, def, shapes, colliders.length, id), () => this.bodyAt(id)];
        });
    }

    /** Its colliders and joints go too. */
    removeRigidBody(body: RigidBody): void {
        const n = native();
        n.begin();
        this.check(n.call['carom_body_destroy']!(this.at, body.id(n)));
    }

    /** The body of a handle, as events have it; isValid() tells whether it lives. */
    getRigidBody(handle: Handle): RigidBody {
        return new RigidBody(this, handle);
    }

    getCollider(handle: Handle): Collider {
        return new Collider(this, handle);
    }

    getJoint(handle: Handle): Joint {
        return new Joint(this, handle);
    }

    /** Of two bodies; null: the world. */
    createJoint(desc: JointDesc, a: RigidBody | null, b: RigidBody): Joint {
        const n = native();
        return this.grown(() => {
            n.begin();
            const id = n.take(8);
            const def = n.take(JointDef.bytes);
            desc.write(n, def);
            this.putId(n, def + JointDef.body_a, a ? a.handle : 0);
            this.putId(n, def + JointDef.body_b, b.handle);
            return [
                n.call['carom_joint_create']!(this.at, def, id),
                () => new Joint(this, handleOf(n.u32[id >> 2]!, n.u32[(id >> 2) + 1]!)),
            ];
        });
    }

    removeJoint(joint: Joint): void {
        const n = native();
        n.begin();
        this.check(n.call['carom_joint_destroy']!(this.at, joint.id(n)));
    }

    /** A later rule goes before an earlier one; at most 256. A body's rules go with it. */
    addPairRule(rule: PairRule): void {
        const n = native();
        n.begin();
        const at = n.take(RuleRow.bytes);
        const side = (who: RigidBody | number, body: number, material: number): void => {
            this.putId(n, at + body, typeof who === 'number' ? 0 : who.handle);
            n.u32[(at + material) >> 2] = typeof who === 'number' ? who : 0;
        };
        side(rule.a, RuleRow.body_a, RuleRow.material_a);
        side(rule.b, RuleRow.body_b, RuleRow.material_b);
        n.f32[(at + RuleRow.friction) >> 2] = rule.friction ?? -1;
        n.f32[(at + RuleRow.restitution) >> 2] = rule.restitution ?? -1;
        this.check(n.call['carom_world_add_pair_rule']!(this.at, at));
    }

    clearPairRules(): void {
        native().call['carom_world_clear_pair_rules']!(this.at);
    }

    /** All bodies, in the order of their indices. */
    *bodies(): Generator<RigidBody> {
        const rows = this.transforms();
        for (let i = 0; i < rows.length / FLOATS_OF_A_ROW; i++) {
            const n = native();
            n.begin();
            const id = n.take(8);
            n.call['carom_world_body_at']!(id, this.at, i);
            if (n.u32[(id >> 2) + 1] !== 0) {
                yield this.bodyAt(id);
            }
        }
    }

    /**
     * Where all bodies are, as one array of the engine's memory: a row of 8 floats for each index, x, y, z, then 0
     * where no body is, 1 of one that is awake, 2 asleep, 3 fixed, then the rotation x, y, z, w. Good until the next
     * call that may allocate: read it at once, or copy it.
     */
    transforms(): Float32Array {
        const n = native();
        if (this.rowRoom < this.limits.bodies) {
            n.free(this.rows);
            this.rowRoom = this.limits.bodies;
            this.rows = n.alloc(this.rowRoom * FLOATS_OF_A_ROW * 4);
        }
        const count = n.call['cw_transforms']!(this.at, this.rows, this.rowRoom);
        return n.f32.subarray(this.rows >> 2, (this.rows >> 2) + count * FLOATS_OF_A_ROW);
    }

    // What happened, and questions ---------------------------------------------------------------

    /** Of the last step. Read events before bodies are made or anything is restored. */
    drainCollisionEvents(tell: (event: events.CollisionEvent) => void): void {
        events.collisions(native(), this.at, tell);
    }

    drainHitEvents(tell: (event: events.HitEvent) => void): void {
        events.hits(native(), this.at, tell);
    }

    drainSleepEvents(tell: (event: events.SleepEvent) => void): void {
        events.sleeps(native(), this.at, tell);
    }

    drainJointBreakEvents(tell: (event: events.JointBreakEvent) => void): void {
        events.breaks(native(), this.at, tell);
    }

    /** The first collider within maxDistance along the ray. */
    castRay(ray: Ray, maxDistance: number, filter?: QueryFilter): QueryHit | null {
        return query.castRay(this, native(), ray, maxDistance, filter, 1)[0] ?? null;
    }

    /** The first ones, nearest first: 64 at most. */
    castRayAll(ray: Ray, maxDistance: number, filter?: QueryFilter): QueryHit[] {
        return query.castRay(this, native(), ray, maxDistance, filter, query.HITS_MAX);
    }

    /** What a shape meets first on its way, without turning. */
    castShape(shape: ColliderDesc, position: Vector, rotation: Rotation, way: Vector, filter?: QueryFilter): QueryHit | null {
        return query.castShape(this, native(), shape, position, rotation, way, filter, 1)[0] ?? null;
    }

    /** What a shape overlaps where it stands: 64 at most. */
    overlap(shape: ColliderDesc, position: Vector, rotation: Rotation, filter?: QueryFilter): QueryHit[] {
        return query.overlap(this, native(), shape, position, rotation, filter, query.HITS_MAX);
    }

    /** The collider nearest to a point, within a distance. */
    closest(point: Vector, maxDistance: number, filter?: QueryFilter): QueryHit | null {
        return query.closest(this, native(), point, maxDistance, filter, 1)[0] ?? null;
    }

    stats(): WorldStats {
        const n = native();
        n.begin();
        const at = n.take(StatsRow.bytes);
        n.call['carom_world_stats_get']!(this.at, at);
        const word = (offset: number): number => n.u32[(at + offset) >> 2]!;
        return {
            bodies: word(StatsRow.bodies),
            joints: word(StatsRow.joints),
            contacts: word(StatsRow.contacts),
            touching: word(StatsRow.touching),
            sleeping: word(StatsRow.sleeping),
        };
    }

    /** Makes a hull known, as before decode() of a world that has it. */
    addHull(shape: ColliderDesc): void {
        this.hullOf(shape);
    }

    /** Gives its memory back. Nothing of it may be used after that. */
    free(): void {
        const n = native();
        for (const at of [this.memory, this.rows, this.hullList]) {
            n.free(at);
        }
        this.at = this.memory = this.rows = this.hullList = this.rowRoom = 0;
    }

    // Inside -------------------------------------------------------------------------------------

    /** @internal */
    bodyAt(id: number): RigidBody {
        const n = native();
        return new RigidBody(this, handleOf(n.u32[id >> 2]!, n.u32[(id >> 2) + 1]!));
    }

    /** Throws what the engine refused. @internal */
    check(result: number): void {
        if (result !== 0) {
            const n = native();
            const error = n.take(ErrorRow.bytes);
            n.call['carom_last_error']!(error, this.at);
            const told = n.u32[(error + ErrorRow.result) >> 2] === result;
            throw n.refusal(result, told ? error : 0);
        }
    }

    /** The hull of a description's points, 0 of another shape. A new one gives the world a new place. @internal */
    hullOf(shape: ColliderDesc): number {
        if (!shape.points) {
            return 0;
        }
        const n = native();
        const key = new Uint8Array(shape.points.buffer, shape.points.byteOffset, shape.points.byteLength).join();
        let hull = hulls.get(key);
        if (hull === undefined) {
            hull = this.createHull(n, shape.points);
            hulls.set(key, hull);
        }
        if (!this.known.includes(hull)) {
            this.known.push(hull);
            this.move();
        }
        return hull;
    }

    private createHull(n: Native, points: Float32Array): number {
        const at = n.alloc(points.byteLength);
        try {
            n.f32.set(points, at >> 2);
            const count = Math.floor(points.length / 3);
            const hull = n.call['cw_hull_create']!(at, count);
            if (hull === 0) {
                throw new CaromError(`a hull: ${n.text(n.call['carom_hull_refusal']!(at, count))}`, 1, 'points');
            }
            n.look();
            return hull;
        } finally {
            n.free(at);
        }
    }

    private putId(n: Native, at: number, handle: Handle): void {
        n.u32[at >> 2] = indexOf(handle);
        n.u32[(at >> 2) + 1] = generationOf(handle);
    }

    /** Calls `make` until it is no limit that refuses. */
    private grown<T>(make: () => [number, () => T]): T {
        let [result, made] = make();
        while (result >= LIMIT_BODIES && result <= LIMIT_CONTACTS && this.grow(result)) {
            [result, made] = make();
        }
        this.check(result);
        return made();
    }

    /** Doubles the room that a result names; false where it is at its most. */
    private grow(result: number): boolean {
        const names: Record<number, keyof Limits> = {
            [LIMIT_BODIES]: 'bodies',
            [LIMIT_SHAPES]: 'shapes',
            [LIMIT_JOINTS]: 'joints',
            [LIMIT_CONTACTS]: 'contacts',
        };
        const name = names[result];
        if (!name || this.limits[name] >= BOUNDS[name]) {
            return false;
        }
        const before = this.limits;
        this.limits = { ...before, [name]: Math.min(2 * before[name], BOUNDS[name]) };
        if (name === 'bodies') {
            this.limits.contacts = Math.max(this.limits.contacts, Math.min(12 * this.limits.bodies, BOUNDS.contacts));
        }
        this.move();
        return true;
    }

    /** Another place, of today's limits and hulls, with the same state. */
    private move(): void {
        const n = native();
        const image = this.save();
        const [memory, list] = [this.memory, this.hullList];
        this.create(this.gravity);
        this.check(n.call['carom_world_restore']!(this.at, image.at, image.byteLength));
        image.free();
        n.free(memory);
        n.free(list);
    }

    private create(gravity: Vector): void {
        const n = native();
        const { options: o, limits } = this;
        const hullList = n.alloc(4 * Math.max(this.known.length, 1));
        n.u32.set(this.known, hullList >> 2);
        const hullCount = n.call['carom_hull_sort']!(hullList, this.known.length);
        n.begin();
        const def = n.take(WorldDef.bytes);
        const error = n.take(ErrorRow.bytes);
        const world = n.take(4);
        const put = (offset: number, value: number): void => {
            n.u32[(def + offset) >> 2] = value;
        };
        n.call['carom_default_world_def']!(def);
        n.putVector(def + WorldDef.gravity, gravity);
        put(WorldDef.limits_bodies, limits.bodies);
        put(WorldDef.limits_shapes, limits.shapes);
        put(WorldDef.limits_joints, limits.joints);
        put(WorldDef.limits_contacts, limits.contacts);
        put(WorldDef.tick_rate, o.tickRate ?? 60);
        put(WorldDef.solver_type, o.solver ?? Solver.Soft);
        put(WorldDef.solver_soft_substeps, o.substeps ?? 0);
        n.u8[def + WorldDef.sleep] = o.sleep === false ? 0 : 1;
        n.u8[def + WorldDef.planar] = o.planar ? 1 : 0;
        if (o.seed !== undefined) {
            n.u64[(def + WorldDef.seed) >> 3] = BigInt.asUintN(64, o.seed);
        }
        n.f32[(def + WorldDef.hit_speed) >> 2] = o.hitSpeed ?? 0;
        put(WorldDef.friction_combine, o.frictionCombine ?? Combine.Product);
        put(WorldDef.restitution_combine, o.restitutionCombine ?? Combine.Product);
        put(WorldDef.hulls, hullList);
        put(WorldDef.hull_count, hullCount);
        put(WorldDef.error, error);
        const size = n.call['carom_world_size']!(def);
        const memory = n.alloc(size || 64);
        const result = n.call['carom_world_create']!(def, memory, size, world);
        if (result !== 0) {
            n.free(memory);
            n.free(hullList);
            throw n.refusal(result, error);
        }
        [this.at, this.memory, this.hullList] = [n.u32[world >> 2]!, memory, hullList];
    }

    /** A trap of the engine is a fault of its own: its condition goes with the error. */
    private guard(call: () => void): void {
        try {
            call();
        } catch (error) {
            const n = native();
            const told = n.text(n.call['cw_failure']!());
            throw told ? new CaromError(`the engine stopped: ${told}`, 0, '') : error;
        }
    }
}
