// Bodies: what they are made from, and what can be read and done between two steps.

import { BodyDef, BodyState } from './layout.js';
import { native, type Native, type Rotation, type Vector } from './native.js';
import { Collider, generationOf, handleOf, indexOf, type Handle } from './collider.js';
import type { World } from './world.js';

export enum RigidBodyType {
    /** Never moves. */
    Fixed = 0,
    /** Moves as its velocity says, whatever is in the way. */
    Kinematic = 1,
    /** Obeys forces, contacts and joints. */
    Dynamic = 2,
}

/** Where a body is to be, and how it moves. What is not set has the engine's default. */
export class RigidBodyDesc {
    private position: Vector = { x: 0, y: 0, z: 0 };
    private orientation?: Rotation;
    private linear?: Vector;
    private angular?: Vector;
    private gravityScale?: number;
    private linearDamping?: number;
    private angularDamping?: number;
    private mass?: number;
    private canSleep = true;
    private locks = 0;
    private userData = 0n;

    constructor(readonly type: RigidBodyType) {}

    static dynamic(): RigidBodyDesc {
        return new RigidBodyDesc(RigidBodyType.Dynamic);
    }

    static fixed(): RigidBodyDesc {
        return new RigidBodyDesc(RigidBodyType.Fixed);
    }

    static kinematic(): RigidBodyDesc {
        return new RigidBodyDesc(RigidBodyType.Kinematic);
    }

    /** Of the body's origin, m. */
    setTranslation(x: number, y: number, z: number): this {
        this.position = { x, y, z };
        return this;
    }

    setRotation(rotation: Rotation): this {
        this.orientation = rotation;
        return this;
    }

    /** Of the centre of mass, m/s. */
    setLinvel(x: number, y: number, z: number): this {
        this.linear = { x, y, z };
        return this;
    }

    /** rad/s. */
    setAngvel(velocity: Vector): this {
        this.angular = velocity;
        return this;
    }

    setGravityScale(scale: number): this {
        this.gravityScale = scale;
        return this;
    }

    /** The share of its speed that it loses a second. */
    setLinearDamping(damping: number): this {
        this.linearDamping = damping;
        return this;
    }

    setAngularDamping(damping: number): this {
        this.angularDamping = damping;
        return this;
    }

    /** kg, in place of that of its colliders' densities. */
    setMass(mass: number): this {
        this.mass = mass;
        return this;
    }

    setCanSleep(can: boolean): this {
        this.canSleep = can;
        return this;
    }

    /** Axes of the world along which it may move. */
    enabledTranslations(x: boolean, y: boolean, z: boolean): this {
        this.locks = (this.locks & 56) | (x ? 0 : 1) | (y ? 0 : 2) | (z ? 0 : 4);
        return this;
    }

    /** Axes of the world about which it may turn. */
    enabledRotations(x: boolean, y: boolean, z: boolean): this {
        this.locks = (this.locks & 7) | (x ? 0 : 8) | (y ? 0 : 16) | (z ? 0 : 32);
        return this;
    }

    /** A number of the game's own, of 64 bits: saved and hashed with the body. */
    setUserData(data: bigint): this {
        this.userData = data;
        return this;
    }

    /** Writes a carom_body_def. @internal */
    write(n: Native, at: number): void {
        n.call['carom_default_body_def']!(at);
        n.u32[(at + BodyDef.type) >> 2] = this.type;
        n.putVector(at + BodyDef.position, this.position);
        n.putRotation(at + BodyDef.orientation, this.orientation);
        n.putVector(at + BodyDef.linear_velocity, this.linear);
        n.putVector(at + BodyDef.angular_velocity, this.angular);
        n.putFloat(at + BodyDef.gravity_scale, this.gravityScale);
        n.putFloat(at + BodyDef.linear_damping, this.linearDamping);
        n.putFloat(at + BodyDef.angular_damping, this.angularDamping);
        n.putFloat(at + BodyDef.mass, this.mass);
        n.u8[at + BodyDef.has_mass] = this.mass === undefined ? 0 : 1;
        n.u8[at + BodyDef.sleep] = this.canSleep ? 1 : 0;
        n.u32[(at + BodyDef.axis_locks) >> 2] = this.locks;
        n.u64[(at + BodyDef.user_data) >> 3] = BigInt.asUintN(64, this.userData);
    }
}

/** A body of a world. It stays good after world.restore(): isValid() tells whether the body lives there. */
export class RigidBody {
    /** @internal */
    constructor(
        private readonly world: World,
        readonly handle: Handle,
    ) {}

    /** Its row of world.transforms(). */
    get index(): number {
        return indexOf(this.handle);
    }

    isValid(): boolean {
        const n = this.begin();
        return n.call['carom_body_is_valid']!(this.world.at, this.id(n)) !== 0;
    }

    translation(): Vector {
        const n = native();
        return n.vector(this.state() + BodyState.position);
    }

    rotation(): Rotation {
        const n = native();
        return n.rotation(this.state() + BodyState.orientation);
    }

    linvel(): Vector {
        const n = native();
        return n.vector(this.state() + BodyState.linear_velocity);
    }

    angvel(): Vector {
        const n = native();
        return n.vector(this.state() + BodyState.angular_velocity);
    }

    worldCom(): Vector {
        const n = native();
        return n.vector(this.state() + BodyState.center_of_mass);
    }

    /** kg; 0 of a body that is not dynamic. */
    mass(): number {
        const n = native();
        return n.f32[(this.state() + BodyState.mass) >> 2]!;
    }

    /** N, of its contacts, mean over the last tick; zero of a body that its scene does not ask it of (`report_force`). */
    contactForce(): Vector {
        const n = native();
        return n.vector(this.state() + BodyState.contact_force);
    }

    bodyType(): RigidBodyType {
        const n = native();
        return n.u32[(this.state() + BodyState.type) >> 2]! as RigidBodyType;
    }

    isSleeping(): boolean {
        const n = native();
        return n.u8[this.state() + BodyState.asleep] !== 0;
    }

    get userData(): bigint {
        const n = native();
        return n.u64[(this.state() + BodyState.user_data) >> 3]!;
    }

    set userData(data: bigint) {
        this.do('carom_body_set_user_data', () => [BigInt.asUintN(64, data)]);
    }

    setTranslation(position: Vector): void {
        this.setPose(position, this.rotation());
    }

    setRotation(rotation: Rotation): void {
        this.setPose(this.translation(), rotation);
    }

    /** Puts it there at once; what touches it wakes. */
    setPose(position: Vector, rotation: Rotation): void {
        this.do('carom_body_set_pose', (n) => [n.takeVector(position), n.takeRotation(rotation)]);
    }

    setLinvel(velocity: Vector): void {
        this.setVelocity(velocity, this.angvel());
    }

    setAngvel(velocity: Vector): void {
        this.setVelocity(this.linvel(), velocity);
    }

    setVelocity(linear: Vector, angular: Vector): void {
        this.do('carom_body_set_velocity', (n) => [n.takeVector(linear), n.takeVector(angular)]);
    }

    /** N s at the centre of mass, at once. */
    applyImpulse(impulse: Vector): void {
        this.applyImpulseAtPoint(impulse, this.worldCom());
    }

    /** N s at a point of the world. */
    applyImpulseAtPoint(impulse: Vector, point: Vector): void {
        this.do('carom_body_apply_impulse', (n) => [n.takeVector(impulse), n.takeVector(point)]);
    }

    /** N and N m during the next step alone. */
    applyForce(force: Vector, torque: Vector = { x: 0, y: 0, z: 0 }): void {
        this.do('carom_body_apply_force', (n) => [n.takeVector(force), n.takeVector(torque)]);
    }

    applyForceAtPoint(force: Vector, point: Vector): void {
        this.do('carom_body_apply_force_at', (n) => [n.takeVector(force), n.takeVector(point)]);
    }

    /** N and N m in each step until they are set anew. */
    setForce(force: Vector, torque: Vector = { x: 0, y: 0, z: 0 }): void {
        this.do('carom_body_set_force', (n) => [n.takeVector(force), n.takeVector(torque)]);
    }

    setBodyType(type: RigidBodyType): void {
        this.do('carom_body_set_type', () => [type]);
    }

    setGravityScale(scale: number): void {
        this.do('carom_body_set_gravity_scale', () => [scale]);
    }

    setDamping(linear: number, angular: number): void {
        this.do('carom_body_set_damping', () => [linear, angular]);
    }

    setMass(mass: number): void {
        this.do('carom_body_set_mass', () => [mass]);
    }

    /** A kinematic body's pose after the next step. */
    setNextKinematicPose(position: Vector, rotation: Rotation): void {
        this.do('carom_body_set_target', (n) => [n.takeVector(position), n.takeRotation(rotation)]);
    }

    wakeUp(): void {
        this.do('carom_body_wake', () => []);
    }

    /** Stops it, and lets it sleep. */
    rest(): void {
        this.do('carom_body_rest', () => []);
    }

    numColliders(): number {
        const n = this.begin();
        return n.call['carom_body_shapes']!(this.world.at, this.id(n), 0, 0);
    }

    collider(i: number): Collider {
        const n = this.begin();
        const ids = n.take(8 * (i + 1));
        const count = n.call['carom_body_shapes']!(this.world.at, this.id(n), ids, i + 1);
        if (i < 0 || i >= count) {
            throw new RangeError(`collider ${i} of ${count}`);
        }
        const at = (ids >> 2) + 2 * i;
        return new Collider(this.world, handleOf(n.u32[at]!, n.u32[at + 1]!));
    }

    private begin(): Native {
        const n = native();
        n.begin();
        return n;
    }

    /** @internal */
    id(n: Native): number {
        return n.takeId(indexOf(this.handle), generationOf(this.handle));
    }

    private state(): number {
        const n = this.begin();
        const at = n.take(BodyState.bytes);
        this.world.check(n.call['carom_body_get']!(this.world.at, this.id(n), at));
        return at;
    }

    private do(name: string, values: (n: Native) => (number | bigint)[]): void {
        const n = this.begin();
        const id = this.id(n);
        this.world.check(n.call[name]!(this.world.at, id, ...values(n)));
    }
}
