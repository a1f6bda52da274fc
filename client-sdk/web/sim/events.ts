// What the last step reported, read where the engine left it.

import { ContactEvent, HitEvent as HitRow, JointEvent, SleepEvent as SleepRow } from './layout.js';
import type { Native, Vector } from './native.js';
import { handleOf, type Handle } from './collider.js';

/** Two colliders that began or ceased to touch; of sensors: to overlap. */
export interface CollisionEvent {
    bodyA: Handle;
    bodyB: Handle;
    colliderA: Handle;
    colliderB: Handle;
    started: boolean;
    sensor: boolean;
    point: Vector;
    /** From a to b. */
    normal: Vector;
    /** N s, over the tick. */
    impulse: number;
}

/** Two colliders that met at WorldOptions.hitSpeed or faster. */
export interface HitEvent {
    bodyA: Handle;
    bodyB: Handle;
    colliderA: Handle;
    colliderB: Handle;
    point: Vector;
    normal: Vector;
    /** m/s at which they approached. */
    speed: number;
    impulse: number;
}

/** A body that fell asleep or woke. */
export interface SleepEvent {
    body: Handle;
    asleep: boolean;
}

/** A joint that broke, with the force and torque that broke it. */
export interface JointBreakEvent {
    joint: Handle;
    force: number;
    torque: number;
}

function handle(n: Native, at: number): Handle {
    return handleOf(n.u32[at >> 2]!, n.u32[(at >> 2) + 1]!);
}

/** Calls `read` with the address of each row that `name` tells of. */
function each(n: Native, name: string, world: number, bytes: number, read: (at: number) => void): void {
    n.begin();
    const count = n.take(4);
    const rows = n.call[name]!(world, count);
    const rowCount = n.u32[count >> 2]!;
    for (let i = 0; i < rowCount; i++) {
        read(rows + i * bytes);
    }
}

/** @internal */
export function collisions(n: Native, world: number, tell: (event: CollisionEvent) => void): void {
    const row = ContactEvent;
    each(n, 'carom_world_contact_events', world, row.bytes, (at) =>
        tell({
            bodyA: handle(n, at + row.body_a),
            bodyB: handle(n, at + row.body_b),
            colliderA: handle(n, at + row.shape_a),
            colliderB: handle(n, at + row.shape_b),
            started: n.u8[at + row.begin] !== 0,
            sensor: n.u8[at + row.sensor] !== 0,
            point: n.vector(at + row.point),
            normal: n.vector(at + row.normal),
            impulse: n.f32[(at + row.impulse) >> 2]!,
        }),
    );
}

/** @internal */
export function hits(n: Native, world: number, tell: (event: HitEvent) => void): void {
    const row = HitRow;
    each(n, 'carom_world_hit_events', world, row.bytes, (at) =>
        tell({
            bodyA: handle(n, at + row.body_a),
            bodyB: handle(n, at + row.body_b),
            colliderA: handle(n, at + row.shape_a),
            colliderB: handle(n, at + row.shape_b),
            point: n.vector(at + row.point),
            normal: n.vector(at + row.normal),
            speed: n.f32[(at + row.speed) >> 2]!,
            impulse: n.f32[(at + row.impulse) >> 2]!,
        }),
    );
}

/** @internal */
export function sleeps(n: Native, world: number, tell: (event: SleepEvent) => void): void {
    each(n, 'carom_world_sleep_events', world, SleepRow.bytes, (at) =>
        tell({ body: handle(n, at + SleepRow.body), asleep: n.u8[at + SleepRow.asleep] !== 0 }),
    );
}

/** @internal */
export function breaks(n: Native, world: number, tell: (event: JointBreakEvent) => void): void {
    each(n, 'carom_world_joint_events', world, JointEvent.bytes, (at) =>
        tell({
            joint: handle(n, at + JointEvent.joint),
            force: n.f32[(at + JointEvent.force) >> 2]!,
            torque: n.f32[(at + JointEvent.torque) >> 2]!,
        }),
    );
}
