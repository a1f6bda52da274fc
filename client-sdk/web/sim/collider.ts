// Shapes of bodies: what they are made from, and what can be asked of them later.

import { ShapeDef } from './layout.js';
import { CaromError, native, type Native, type Rotation, type Vector } from './native.js';
import type { RigidBody } from './body.js';
import type { World } from './world.js';

const SPHERE = 0;
const CAPSULE = 1;
const BOX = 2;
const PLANE = 3;
const CYLINDER = 4;
const HULL = 5;

/** Ids of bodies, colliders and joints as one number: generation * 2^17 + index. Equal ids, equal numbers. */
export type Handle = number;

/** @internal */
export const handleOf = (index: number, generation: number): Handle => generation * 131072 + index;
/** @internal */
export const indexOf = (handle: Handle): number => handle % 131072;
/** @internal */
export const generationOf = (handle: Handle): number => Math.floor(handle / 131072);

/** What collides with what: two colliders do where each one's category is in the other's mask. */
export interface CollisionFilter {
    category?: number;
    mask?: number;
    /** An equal group that is not 0 decides instead: positive always, negative never. */
    group?: number;
}

/** The shape, surface and place of a collider to be made. What is not set has the engine's default. */
export class ColliderDesc {
    private constructor(
        private readonly type: number,
        private readonly size: { radius?: number; halfHeight?: number; halfExtents?: Vector; normal?: Vector; offset?: number },
        /** @internal */
        readonly points?: Float32Array,
    ) {}

    private position?: Vector;
    private orientation?: Rotation;
    private friction?: number;
    private restitution?: number;
    private density?: number;
    private rollingFriction?: number;
    private surfaceVelocity?: Vector;
    private material = 0;
    private sensor = false;
    private filter: CollisionFilter = {};

    static ball(radius: number): ColliderDesc {
        return new ColliderDesc(SPHERE, { radius });
    }

    static cuboid(hx: number, hy: number, hz: number): ColliderDesc {
        return new ColliderDesc(BOX, { halfExtents: { x: hx, y: hy, z: hz } });
    }

    /** Along y: half the length of its segment, and the radius about it. */
    static capsule(halfHeight: number, radius: number): ColliderDesc {
        return new ColliderDesc(CAPSULE, { halfHeight, radius });
    }

    /** Along y. */
    static cylinder(halfHeight: number, radius: number): ColliderDesc {
        return new ColliderDesc(CYLINDER, { halfHeight, radius });
    }

    /** All below the plane normal . x = offset is solid. Of fixed bodies only. */
    static halfspace(normal: Vector, offset = 0): ColliderDesc {
        return new ColliderDesc(PLANE, { normal, offset });
    }

    /** The hull of points x, y, z, x, y, z…: at most 4,096 of them and 64 corners. */
    static convexHull(points: Float32Array): ColliderDesc {
        return new ColliderDesc(HULL, {}, points);
    }

    /** In the body's axes. */
    setTranslation(x: number, y: number, z: number): this {
        this.position = { x, y, z };
        return this;
    }

    setRotation(rotation: Rotation): this {
        this.orientation = rotation;
        return this;
    }

    setFriction(friction: number): this {
        this.friction = friction;
        return this;
    }

    setRollingFriction(friction: number): this {
        this.rollingFriction = friction;
        return this;
    }

    setRestitution(restitution: number): this {
        this.restitution = restitution;
        return this;
    }

    /** kg/m^3. */
    setDensity(density: number): this {
        this.density = density;
        return this;
    }

    /** A number of the game's own for what it is made of; 0: none. */
    setMaterial(material: number): this {
        this.material = material;
        return this;
    }

    /** Reports what overlaps it, and pushes nothing. */
    setSensor(sensor: boolean): this {
        this.sensor = sensor;
        return this;
    }

    setCollisionFilter(filter: CollisionFilter): this {
        this.filter = filter;
        return this;
    }

    /** Of the surface against the shape, in its axes, m/s: a conveyor. */
    setSurfaceVelocity(velocity: Vector): this {
        this.surfaceVelocity = velocity;
        return this;
    }

    /** Writes a carom_shape_def at `at`; `hull` is that of its points, 0 for other shapes. @internal */
    write(n: Native, at: number, hull: number): void {
        n.call['carom_default_shape_def']!(at);
        n.u32[(at + ShapeDef.type) >> 2] = this.type;
        n.putFloat(at + ShapeDef.radius, this.size.radius);
        n.putFloat(at + ShapeDef.half_height, this.size.halfHeight);
        n.putVector(at + ShapeDef.half_extents, this.size.halfExtents);
        n.putVector(at + ShapeDef.normal, this.size.normal);
        n.putFloat(at + ShapeDef.offset, this.size.offset);
        n.u32[(at + ShapeDef.hull) >> 2] = hull;
        n.putVector(at + ShapeDef.position, this.position);
        n.putRotation(at + ShapeDef.orientation, this.orientation);
        n.putFloat(at + ShapeDef.friction, this.friction);
        n.putFloat(at + ShapeDef.restitution, this.restitution);
        n.putFloat(at + ShapeDef.density, this.density);
        n.putFloat(at + ShapeDef.rolling_friction, this.rollingFriction);
        n.putVector(at + ShapeDef.surface_velocity, this.surfaceVelocity);
        n.u32[(at + ShapeDef.material) >> 2] = this.material;
        n.u8[at + ShapeDef.sensor] = this.sensor ? 1 : 0;
        if (this.filter.category !== undefined) {
            n.u32[(at + ShapeDef.category) >> 2] = this.filter.category;
        }
        if (this.filter.mask !== undefined) {
            n.u32[(at + ShapeDef.mask) >> 2] = this.filter.mask;
        }
        n.i32[(at + ShapeDef.group) >> 2] = this.filter.group ?? 0;
    }
}

/** What a collider is, in metres and its own axes, and where it is in its body's. */
export type Shape = (
    | { kind: 'ball'; radius: number }
    | { kind: 'capsule' | 'cylinder'; radius: number; halfHeight: number }
    | { kind: 'cuboid'; halfExtents: Vector }
    | { kind: 'halfspace'; normal: Vector; offset: number }
    | { kind: 'hull'; vertices: Float32Array }
) & { translation: Vector; rotation: Rotation };

/** A shape of a body. It lives and goes with its body. */
export class Collider {
    /** @internal */
    constructor(
        private readonly world: World,
        readonly handle: Handle,
    ) {}

    isValid(): boolean {
        return this.read(0, false);
    }

    /** The body whose shape it is. */
    parent(): RigidBody {
        const n = this.begin();
        const body = n.take(8);
        this.read(body, true);
        return this.world.bodyAt(body);
    }

    /** From the next step on. */
    setFriction(friction: number): void {
        this.setSurface(friction, undefined);
    }

    setRestitution(restitution: number): void {
        this.setSurface(undefined, restitution);
    }

    setCollisionFilter(filter: CollisionFilter): void {
        const n = this.begin();
        const id = this.id(n);
        const def = this.readDef(n);
        const category = filter.category ?? n.u32[(def + ShapeDef.category) >> 2]!;
        const mask = filter.mask ?? n.u32[(def + ShapeDef.mask) >> 2]!;
        const group = filter.group ?? n.i32[(def + ShapeDef.group) >> 2]!;
        this.world.check(n.call['carom_shape_set_filter']!(this.world.at, id, category, mask, group));
    }

    shape(): Shape {
        const n = this.begin();
        const at = this.readDef(n);
        const size = (offset: number): number => n.f32[(at + offset) >> 2]!;
        const [radius, halfHeight] = [size(ShapeDef.radius), size(ShapeDef.half_height)];
        const place = { translation: n.vector(at + ShapeDef.position), rotation: n.rotation(at + ShapeDef.orientation) };
        switch (n.u32[(at + ShapeDef.type) >> 2]) {
            case SPHERE:
                return { kind: 'ball', radius, ...place };
            case CAPSULE:
                return { kind: 'capsule', radius, halfHeight, ...place };
            case CYLINDER:
                return { kind: 'cylinder', radius, halfHeight, ...place };
            case BOX:
                return { kind: 'cuboid', halfExtents: n.vector(at + ShapeDef.half_extents), ...place };
            case PLANE:
                return { kind: 'halfspace', normal: n.vector(at + ShapeDef.normal), offset: size(ShapeDef.offset), ...place };
            default: {
                const count = n.take(4);
                const first = n.call['carom_hull_vertices']!(n.u32[(at + ShapeDef.hull) >> 2]!, count) >> 2;
                return { kind: 'hull', vertices: n.f32.slice(first, first + 3 * n.u32[count >> 2]!), ...place };
            }
        }
    }

    isSensor(): boolean {
        const n = this.begin();
        return n.u8[this.readDef(n) + ShapeDef.sensor] !== 0;
    }

    private setSurface(friction: number | undefined, restitution: number | undefined): void {
        const n = this.begin();
        const id = this.id(n);
        const def = this.readDef(n);
        const f = friction ?? n.f32[(def + ShapeDef.friction) >> 2]!;
        const e = restitution ?? n.f32[(def + ShapeDef.restitution) >> 2]!;
        this.world.check(n.call['carom_shape_set_surface']!(this.world.at, id, f, e));
    }

    private begin(): Native {
        const n = native();
        n.begin();
        return n;
    }

    private id(n: Native): number {
        return n.takeId(indexOf(this.handle), generationOf(this.handle));
    }

    private readDef(n: Native): number {
        const def = n.take(ShapeDef.bytes);
        this.world.check(n.call['carom_shape_get']!(this.world.at, this.id(n), def, 0));
        return def;
    }

    private read(body: number, must: boolean): boolean {
        const n = native();
        if (body === 0) {
            n.begin();
        }
        const result = n.call['carom_shape_get']!(this.world.at, this.id(n), n.take(ShapeDef.bytes), body);
        if (must && result !== 0) {
            throw new CaromError('the collider is gone', result, '');
        }
        return result === 0;
    }
}
