// carom-watch: what a program imports. README.md has an example.
import { init as load, type Source } from '../sim/native.js';

export { CaromError, type Rotation, type Source, type Vector } from '../sim/native.js';
export { type Collider, type Handle, type Shape } from '../sim/collider.js';
export { type RigidBody, RigidBodyType } from '../sim/body.js';
export { type Joint } from '../sim/joint.js';
export { Solver, type WorldStats } from '../sim/world.js';
export { Ray, type QueryFilter, type QueryHit } from '../sim/query.js';
export { Scene, type SceneOptions } from './scene.js';
export { MatchStream, type StreamEnd, type StreamIndex, type StreamOptions, type WatchedWorld } from './stream.js';

/** Loads the program beside this file, or another one that `make web` has linked with your game; once. */
export function init(source: Source = new URL('./carom-watch.wasm', import.meta.url)): Promise<void> {
    return load(source);
}
