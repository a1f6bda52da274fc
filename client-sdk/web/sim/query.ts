// Questions to a world: rays, moving shapes, overlaps, the nearest point. They see every body where it
// is at the call, and change nothing that a step reads.

import { QueryFilter as FilterRow, QueryHit as HitRow, Ray as RayRow, ShapeDef } from './layout.js';
import type { Native, Rotation, Vector } from './native.js';
import { Collider, handleOf, type ColliderDesc } from './collider.js';
import type { RigidBody } from './body.js';
import type { World } from './world.js';

/** A half-line: origin + t direction. */
export class Ray {
    constructor(
        readonly origin: Vector,
        readonly dir: Vector,
    ) {}

    pointAt(t: number): Vector {
        const { origin: o, dir: d } = this;
        return { x: o.x + t * d.x, y: o.y + t * d.y, z: o.z + t * d.z };
    }
}

/** What a question sees. */
export interface QueryFilter {
    category?: number;
    mask?: number;
    /** A body that it does not see, such as the one that asks. */
    exclude?: RigidBody;
    /** Whether it sees sensors; false. */
    sensors?: boolean;
}

export interface QueryHit {
    body: RigidBody;
    collider: Collider;
    /** On the surface, in the world. */
    point: Vector;
    /** Outward from the collider. */
    normal: Vector;
    /** m along the way, or from the point. */
    distance: number;
    /** It began inside. */
    inside: boolean;
}

/** @internal */
export const HITS_MAX = 64;

function takeFilter(n: Native, filter: QueryFilter | undefined): number {
    if (!filter) {
        return 0;
    }
    const at = n.take(FilterRow.bytes);
    n.call['carom_default_query_filter']!(at);
    if (filter.category !== undefined) {
        n.u32[(at + FilterRow.category) >> 2] = filter.category;
    }
    if (filter.mask !== undefined) {
        n.u32[(at + FilterRow.mask) >> 2] = filter.mask;
    }
    if (filter.exclude) {
        const id = filter.exclude.id(n);
        n.u32.copyWithin((at + FilterRow.exclude) >> 2, id >> 2, (id >> 2) + 2);
    }
    n.u8[at + FilterRow.sensors] = filter.sensors ? 1 : 0;
    return at;
}

/** A query's hits and their count, for at most `capacity`; ask() makes the call. */
function answer(
    world: World,
    n: Native,
    capacity: number,
    ask: (hits: number, capacity: number, count: number) => number,
): QueryHit[] {
    const room = Math.max(1, Math.min(capacity, HITS_MAX));
    const hits = n.take(HitRow.bytes * room);
    const count = n.take(4);
    n.u32[count >> 2] = 0;
    const result = ask(hits, room, count);
    if (result !== 0) {
        throw n.refusal(result, 0);
    }
    const found: QueryHit[] = [];
    for (let i = 0; i < n.u32[count >> 2]!; i++) {
        const at = hits + i * HitRow.bytes;
        const shape = (at + HitRow.shape) >> 2;
        found.push({
            body: world.bodyAt(at + HitRow.body),
            collider: new Collider(world, handleOf(n.u32[shape]!, n.u32[shape + 1]!)),
            point: n.vector(at + HitRow.point),
            normal: n.vector(at + HitRow.normal),
            distance: n.f32[(at + HitRow.distance) >> 2]!,
            inside: n.u8[at + HitRow.inside] !== 0,
        });
    }
    return found;
}

function scaled(v: Vector, by: number): Vector {
    return { x: v.x * by, y: v.y * by, z: v.z * by };
}

/** @internal */
export function castRay(world: World, n: Native, ray: Ray, length: number, filter: QueryFilter | undefined, most: number): QueryHit[] {
    n.begin();
    const at = n.take(RayRow.bytes);
    n.putVector(at + RayRow.origin, ray.origin);
    const dir = Math.hypot(ray.dir.x, ray.dir.y, ray.dir.z);
    n.putVector(at + RayRow.translation, scaled(ray.dir, length / dir));
    const sees = takeFilter(n, filter);
    return answer(world, n, most, (hits, capacity, count) =>
        n.call['carom_world_cast_ray']!(world.at, at, sees, hits, capacity, count),
    );
}

/** A shape's definition, with its place in the world. */
function takeShape(n: Native, world: World, shape: ColliderDesc, position: Vector, rotation: Rotation): number {
    const hull = world.hullOf(shape);
    n.begin();
    const at = n.take(ShapeDef.bytes);
    shape.write(n, at, hull);
    n.putVector(at + ShapeDef.position, position);
    n.putRotation(at + ShapeDef.orientation, rotation);
    return at;
}

/** @internal */
export function castShape(
    world: World, n: Native, shape: ColliderDesc, position: Vector, rotation: Rotation, way: Vector,
    filter: QueryFilter | undefined, most: number,
): QueryHit[] {
    const at = takeShape(n, world, shape, position, rotation);
    const translation = n.takeVector(way);
    const sees = takeFilter(n, filter);
    return answer(world, n, most, (hits, capacity, count) =>
        n.call['carom_world_cast_shape']!(world.at, at, translation, sees, hits, capacity, count),
    );
}

/** @internal */
export function overlap(
    world: World, n: Native, shape: ColliderDesc, position: Vector, rotation: Rotation,
    filter: QueryFilter | undefined, most: number,
): QueryHit[] {
    const at = takeShape(n, world, shape, position, rotation);
    const sees = takeFilter(n, filter);
    return answer(world, n, most, (hits, capacity, count) =>
        n.call['carom_world_overlap']!(world.at, at, sees, hits, capacity, count),
    );
}

/** @internal */
export function closest(world: World, n: Native, point: Vector, distance: number, filter: QueryFilter | undefined, most: number): QueryHit[] {
    n.begin();
    const at = n.takeVector(point);
    const sees = takeFilter(n, filter);
    return answer(world, n, most, (hits, capacity, count) =>
        n.call['carom_world_closest']!(world.at, at, distance, sees, hits, capacity, count),
    );
}
