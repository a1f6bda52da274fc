// carom-sim: what a program imports. README.md has an example.
export { init, CaromError, type Rotation, type Source, type Vector } from './native.js';
export { Collider, ColliderDesc, type CollisionFilter, type Handle, type Shape } from './collider.js';
export { RigidBody, RigidBodyDesc, RigidBodyType } from './body.js';
export { Joint, JointDesc } from './joint.js';
export { Combine, type PairRule, Solver, World, type WorldOptions, type WorldStats } from './world.js';
export { WorldImage } from './image.js';
export { Ray, type QueryFilter, type QueryHit } from './query.js';
export { type CollisionEvent, type HitEvent, type JointBreakEvent, type SleepEvent } from './events.js';
