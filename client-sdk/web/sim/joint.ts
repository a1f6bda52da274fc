// Joints between two bodies, or of one with the world. Anchors and axes are given where they are at
// creation, in the world; angles and positions count from there.

import { JointDef, JointState } from './layout.js';
import { native, type Native, type Vector } from './native.js';
import { generationOf, indexOf, type Handle } from './collider.js';
import type { World } from './world.js';

const BALL = 0;
const HINGE = 1;
const PRISMATIC = 2;
const STEERING = 3;
const FIXED = 4;
const DISTANCE = 5;

/** The kind of a joint to be made, and its limits, motor and spring. */
export class JointDesc {
    private bounds?: [number, number];
    private motor?: { velocity: number; max: number | undefined };
    private springs?: { hertz: number; ratio: number } | { stiffness: number; damping: number };
    private target?: number;
    private breaks?: { force: number; torque: number };
    private friction = 0;
    private collide = false;

    private constructor(
        private readonly type: number,
        private readonly anchor: Vector,
        private readonly axis?: Vector,
        private readonly second?: { anchorB?: Vector; steeringAxis?: Vector },
    ) {}

    /** A ball and socket. */
    static spherical(anchor: Vector): JointDesc {
        return new JointDesc(BALL, anchor);
    }

    /** A hinge about an axis. */
    static revolute(anchor: Vector, axis: Vector): JointDesc {
        return new JointDesc(HINGE, anchor, axis);
    }

    /** A slide along an axis. */
    static prismatic(anchor: Vector, axis: Vector): JointDesc {
        return new JointDesc(PRISMATIC, anchor, axis);
    }

    static fixed(anchor: Vector): JointDesc {
        return new JointDesc(FIXED, anchor);
    }

    /** Holds two points at their distance; with setLimits(0, length) it is a rope, with setSpring a spring. */
    static distance(anchorA: Vector, anchorB: Vector): JointDesc {
        return new JointDesc(DISTANCE, anchorA, undefined, { anchorB });
    }

    /** A wheel: body a is the chassis, b spins about `axis` and is steered about `steeringAxis`. */
    static steering(anchor: Vector, axis: Vector, steeringAxis: Vector): JointDesc {
        return new JointDesc(STEERING, anchor, axis, { steeringAxis });
    }

    /** rad or m; of a distance the lengths. */
    setLimits(lower: number, upper: number): this {
        this.bounds = [lower, upper];
        return this;
    }

    /** rad/s or m/s, with at most this torque or force; no maximum: nothing stalls it. */
    setMotor(velocity: number, max?: number): this {
        this.motor = { velocity, max };
        return this;
    }

    /** As heavy as what hangs on it: 1/s, and 1 for critical damping. */
    setSpring(hertz: number, dampingRatio = 1): this {
        this.springs = { hertz, ratio: dampingRatio };
        return this;
    }

    /** N/m and N s/m, or N m/rad and N m s/rad. */
    setStiffness(stiffness: number, damping: number): this {
        this.springs = { stiffness, damping };
        return this;
    }

    /** What the spring pulls to: rad or m. */
    setTarget(target: number): this {
        this.target = target;
        return this;
    }

    /** Above N or N m, mean over a tick, the joint breaks; 0: never. */
    setBreaking(force: number, torque = 0): this {
        this.breaks = { force, torque };
        return this;
    }

    /** Of a ball or hinge: a torque of at most the force that it bears times this, m; 0. */
    setFriction(lever: number): this {
        this.friction = lever;
        return this;
    }

    /** Whether the two bodies collide with each other; false. */
    setContactsEnabled(collide: boolean): this {
        this.collide = collide;
        return this;
    }

    /** Writes all of a carom_joint_def but its bodies. @internal */
    write(n: Native, at: number): void {
        n.call['carom_default_joint_def']!(at);
        n.u32[(at + JointDef.type) >> 2] = this.type;
        n.putVector(at + JointDef.anchor, this.anchor);
        n.putVector(at + JointDef.axis, this.axis);
        n.putVector(at + JointDef.anchor_b, this.second?.anchorB);
        n.putVector(at + JointDef.steering_axis, this.second?.steeringAxis);
        n.u8[at + JointDef.collide] = this.collide ? 1 : 0;
        if (this.bounds) {
            n.u8[at + JointDef.has_limits] = 1;
            n.putFloat(at + JointDef.lower, this.bounds[0]);
            n.putFloat(at + JointDef.upper, this.bounds[1]);
        }
        if (this.motor) {
            n.u8[at + JointDef.has_motor] = 1;
            n.putFloat(at + JointDef.motor_velocity, this.motor.velocity);
            n.putFloat(at + JointDef.motor_max, this.motor.max);
        }
        if (this.springs && 'hertz' in this.springs) {
            n.u32[(at + JointDef.spring) >> 2] = 1;
            n.putFloat(at + JointDef.spring_hertz, this.springs.hertz);
            n.putFloat(at + JointDef.spring_damping_ratio, this.springs.ratio);
        } else if (this.springs) {
            n.u32[(at + JointDef.spring) >> 2] = 2;
            n.putFloat(at + JointDef.spring_stiffness, this.springs.stiffness);
            n.putFloat(at + JointDef.spring_damping, this.springs.damping);
        }
        n.putFloat(at + JointDef.spring_target, this.target);
        n.putFloat(at + JointDef.friction, this.friction);
        if (this.breaks) {
            n.putFloat(at + JointDef.break_force, this.breaks.force);
            n.putFloat(at + JointDef.break_torque, this.breaks.torque);
        }
    }
}

/** A joint of a world. As of bodies, restore() leaves it good; it goes with either of its bodies. */
export class Joint {
    /** @internal */
    constructor(
        private readonly world: World,
        readonly handle: Handle,
    ) {}

    isValid(): boolean {
        const n = native();
        n.begin();
        return n.call['carom_joint_is_valid']!(this.world.at, this.id(n)) !== 0;
    }

    /** Angle or position since it was made: rad or m. */
    value(): number {
        return this.read(JointState.value);
    }

    /** rad/s or m/s. */
    rate(): number {
        return this.read(JointState.rate);
    }

    /** m, by which what it holds has come apart. */
    error(): number {
        return this.read(JointState.error);
    }

    /** N on the second body, mean over the last step. */
    force(): number {
        return this.read(JointState.force);
    }

    /** N m, likewise. */
    torque(): number {
        return this.read(JointState.torque);
    }

    setMotor(velocity: number, max: number): void {
        this.do('carom_joint_set_motor', velocity, max);
    }

    setTarget(target: number, velocity = 0): void {
        this.do('carom_joint_set_target', target, velocity);
    }

    setLimits(lower: number, upper: number): void {
        this.do('carom_joint_set_limits', lower, upper);
    }

    clearLimits(): void {
        this.do('carom_joint_clear_limits');
    }

    /** @internal */
    id(n: Native): number {
        return n.takeId(indexOf(this.handle), generationOf(this.handle));
    }

    private read(offset: number): number {
        const n = native();
        n.begin();
        const at = n.take(JointState.bytes);
        this.world.check(n.call['carom_joint_get']!(this.world.at, this.id(n), at));
        return n.f32[(at + offset) >> 2]!;
    }

    private do(name: string, ...values: number[]): void {
        const n = native();
        n.begin();
        this.world.check(n.call[name]!(this.world.at, this.id(n), ...values));
    }
}
