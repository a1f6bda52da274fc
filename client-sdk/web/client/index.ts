// carom-client: what a program imports. README.md has an example.
export { CaromError, type Rotation, type Source, type Vector } from '../sim/native.js';
export { type Collider, type Handle, type Shape } from '../sim/collider.js';
export { type RigidBody, RigidBodyType } from '../sim/body.js';
export { type Joint } from '../sim/joint.js';
export { Ray, type QueryFilter, type QueryHit } from '../sim/query.js';
export { Client, connect, load, type ClientOptions, type Player, type ViewedWorld } from './client.js';
export { type BodyChange, type Events, type GameEvent, type Room, type State } from './events.js';
export { type Stats } from './stats.js';
export { type OpenSocket, type SocketLike, type Sources, type TransportStats } from './transport.js';
