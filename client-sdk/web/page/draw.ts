// The bodies of a world as three.js draws them: a group each, made when a body appears, placed by the world's transforms. Pages that
// watch, and those that play, share it. Only colours and sizes are decided here: what is shown comes from the world.

import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import type { Handle, Shape } from '../sim/collider.js';
import type { World } from '../sim/world.js';
import type { Rotation, Vector } from '../sim/native.js';

/** What of a world is read to draw it; carom-sim's and carom-watch's have it. */
export type DrawnWorld = Pick<World, 'bodies' | 'transforms'>;
/** A line from a to b, in metres, as joints and contacts are shown. */
export type Line = readonly [Vector, Vector];
/** From where one looks to where, as a link has it. */
export type View = { from: Vector; to: Vector };

const FLOATS = 8; // of a row of transforms()
const [ASLEEP, FIXED] = [2, 3];
const PLANE_SIZE = 400;
const NEAREST = 0.05;
const FARTHEST = 1000;
const PIXEL_RATIO_MAX = 2;

const material = (color: number, roughness: number) => new THREE.MeshStandardMaterial({ color, roughness });
const MATERIALS = {
    moving: material(0x4a94d6, 0.65),
    asleep: material(0x7f8ea0, 0.8),
    player: material(0xf0803c, 0.5),
    chosen: material(0xffd54a, 0.4),
    fixed: new THREE.MeshStandardMaterial({ color: 0x5a6b7c, roughness: 1, side: THREE.DoubleSide }),
    ground: new THREE.MeshStandardMaterial({ roughness: 1, side: THREE.DoubleSide }),
};
/** Of the two themes; page.css has the sky's. */
const SKY = { light: 0xdfe6ec, dark: 0x10151c };
const GROUND = { light: 0xa9b6c2, dark: 0x2b3744 };
const FOV = 50; // degrees, of the shorter side
const FOV_MAX = 85;

const geometries = new Map<string, unknown>(); // shared by equal shapes

function geometryOf(shape: Shape): unknown {
    const key = JSON.stringify({ ...shape, translation: 0, rotation: 0, vertices: 'vertices' in shape && [...shape.vertices] });
    if (!geometries.has(key)) {
        geometries.set(key, makeGeometry(shape));
    }
    return geometries.get(key);
}

function makeGeometry(shape: Shape): unknown {
    switch (shape.kind) {
        case 'ball':
            return new THREE.SphereGeometry(shape.radius, 24, 16);
        case 'capsule':
            return new THREE.CapsuleGeometry(shape.radius, 2 * shape.halfHeight, 8, 20);
        case 'cylinder':
            return new THREE.CylinderGeometry(shape.radius, shape.radius, 2 * shape.halfHeight, 24);
        case 'cuboid':
            return new THREE.BoxGeometry(2 * shape.halfExtents.x, 2 * shape.halfExtents.y, 2 * shape.halfExtents.z);
        case 'hull': {
            const points = [];
            for (let i = 0; i < shape.vertices.length; i += 3) {
                points.push(new THREE.Vector3().fromArray(shape.vertices, i));
            }
            return new ConvexGeometry(points);
        }
        default: {
            const plane = new THREE.PlaneGeometry(PLANE_SIZE, PLANE_SIZE);
            const { x, y, z } = shape.normal;
            plane.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(x, y, z)));
            return plane.translate(x * shape.offset, y * shape.offset, z * shape.offset);
        }
    }
}

export class Drawing {
    /** Bodies that are drawn as players'. */
    players = new Set<Handle>();
    /** Those that the page points at. */
    chosen = new Set<Handle>();
    /** The body that the camera goes with. */
    followed: Handle | null = null;
    /** Whether bodies that sleep have a colour of their own. */
    showSleep = true;
    /** Whether planes are drawn, which have no end. */
    showPlanes = true;
    readonly camera = new THREE.PerspectiveCamera(FOV, 1, NEAREST, FARTHEST);
    readonly groups = new Map<Handle, { group: typeof THREE.Group; index: number }>();
    private readonly renderer;
    private readonly controls;
    private readonly scene = new THREE.Scene();
    private readonly lines = new Map<string, { object: typeof THREE.LineSegments; capacity: number }>();

    constructor(readonly canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.maxPolarAngle = 1.55;
        this.controls.enableDamping = false;
        this.look({ from: { x: 16, y: 14, z: 22 }, to: { x: 0, y: 1, z: 0 } });
        this.scene.add(new THREE.HemisphereLight(0xdfeaff, 0x50483f, 1.7));
        const sun = new THREE.DirectionalLight(0xffffff, 2);
        sun.position.set(8, 20, 12);
        this.scene.add(sun);
        this.paint(false);
    }

    paint(dark: boolean): void {
        this.scene.background = new THREE.Color(dark ? SKY.dark : SKY.light);
        MATERIALS.ground.color.set(dark ? GROUND.dark : GROUND.light);
    }

    look(view: View): void {
        this.camera.position.copy(view.from);
        this.controls.target.copy(view.to);
        this.controls.update();
    }

    /** At a place, from a direction, so far that a ball of that radius is in the picture. */
    aim(middle: readonly [number, number, number], from: readonly [number, number, number], radius: number): void {
        const [to, way] = [new THREE.Vector3(...middle), new THREE.Vector3(...from).normalize()];
        const far = (1.2 * radius) / Math.sin(((FOV / 2) * Math.PI) / 180);
        this.camera.near = Math.min(NEAREST, radius / 20) * Math.max(1, radius);
        this.camera.far = Math.max(FARTHEST, 50 * radius);
        this.camera.updateProjectionMatrix();
        this.controls.maxPolarAngle = from[1] === 0 ? Math.PI : 1.55;
        this.look({ from: xyz(way.multiplyScalar(far).add(to)), to: xyz(to) });
    }

    get view(): View {
        return { from: { ...xyz(this.camera.position) }, to: { ...xyz(this.controls.target) } };
    }

    /** Goes round what is looked at by `around` and `up` radians, and nearer by a factor: for keys. */
    turn(around: number, up: number, nearer = 1): void {
        const arm = new THREE.Spherical().setFromVector3(this.camera.position.clone().sub(this.controls.target));
        arm.theta += around;
        arm.phi = Math.min(Math.max(arm.phi + up, 0.05), 1.55);
        arm.radius = Math.min(Math.max(arm.radius / nearer, 0.5), FARTHEST / 2);
        this.camera.position.setFromSpherical(arm).add(this.controls.target);
    }

    /** Forgets all bodies: another world is drawn next. */
    clear(): void {
        for (const { group } of this.groups.values()) {
            this.scene.remove(group);
        }
        this.groups.clear();
        this.players.clear();
        this.chosen.clear();
        this.followed = null;
        this.showPlanes = true;
        for (const name of this.lines.keys()) {
            this.drawLines(name, [], 0);
        }
    }

    /** Lines of that name are these from now on. */
    drawLines(name: string, lines: readonly Line[], colour: number): void {
        let found = this.lines.get(name);
        if (!found || found.capacity < lines.length) {
            if (found) {
                this.scene.remove(found.object);
                found.object.geometry.dispose();
            }
            const capacity = Math.max(64, 2 * lines.length);
            const geometry = new THREE.BufferGeometry();
            geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(6 * capacity), 3));
            const object = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: colour, depthTest: false, transparent: true }));
            object.frustumCulled = false;
            object.renderOrder = 1;
            this.scene.add(object);
            found = { object, capacity };
            this.lines.set(name, found);
        }
        const at = found.object.geometry.getAttribute('position');
        lines.forEach(([a, b], i) => {
            at.setXYZ(2 * i, a.x, a.y, a.z);
            at.setXYZ(2 * i + 1, b.x, b.y, b.z);
        });
        at.needsUpdate = true;
        found.object.geometry.setDrawRange(0, 2 * lines.length);
    }

    /** From the eye through a point of the canvas, each from -1 to 1, to the right and up. */
    ray(x: number, y: number): { origin: Vector; dir: Vector } {
        const caster = new THREE.Raycaster();
        this.camera.updateMatrixWorld(); // it may have been turned since the last picture
        caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
        return { origin: xyz(caster.ray.origin), dir: xyz(caster.ray.direction) };
    }

    draw(world: DrawnWorld): void {
        this.match(world);
        this.place(world.transforms());
        const followed = this.followed === null ? undefined : this.groups.get(this.followed)?.group.position;
        if (followed) {
            this.camera.position.add(followed.clone().sub(this.controls.target));
            this.controls.target.copy(followed);
        }
        this.fit();
        this.controls.update();
        this.renderer.render(this.scene, this.camera);
    }

    /** Drawn once in that size, whatever size the canvas has on the page. */
    picture(world: DrawnWorld, width: number, height: number): HTMLCanvasElement {
        this.match(world);
        this.place(world.transforms());
        this.size(width, height, 1);
        this.renderer.render(this.scene, this.camera);
        return this.canvas;
    }

    /** Where a body is drawn. */
    placeOf(handle: Handle): Vector | null {
        const found = this.groups.get(handle);
        return found ? xyz(found.group.position) : null;
    }

    private fit(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        const ratio = Math.min(devicePixelRatio, PIXEL_RATIO_MAX);
        if (this.canvas.width !== Math.floor(width * ratio) || this.canvas.height !== Math.floor(height * ratio)) {
            this.size(width, height, ratio);
        }
    }

    private size(width: number, height: number, ratio: number): void {
        this.renderer.setPixelRatio(ratio);
        this.renderer.setSize(width, height, false);
        const aspect = width / Math.max(height, 1);
        this.camera.aspect = aspect;
        // On a phone that is held upright as much is seen from side to side.
        const half = Math.atan(Math.tan((FOV * Math.PI) / 360) / Math.min(aspect, 1));
        this.camera.fov = Math.min((half * 360) / Math.PI, FOV_MAX);
        this.camera.updateProjectionMatrix();
    }

    /** Bodies that are new get their groups, those that are gone lose them. */
    private match(world: DrawnWorld): void {
        const gone = new Set(this.groups.keys());
        for (const body of world.bodies()) {
            gone.delete(body.handle);
            if (!this.groups.has(body.handle)) {
                const group = new THREE.Group();
                for (let i = 0; i < body.numColliders(); i++) {
                    const collider = body.collider(i);
                    const shape = collider.shape();
                    if (!collider.isSensor() && !(shape.kind === 'halfspace' && (!this.showPlanes || isWall(shape.normal)))) {
                        group.add(meshOf(shape));
                    }
                }
                this.scene.add(group);
                this.groups.set(body.handle, { group, index: body.index });
            }
        }
        for (const handle of gone) {
            this.scene.remove(this.groups.get(handle)!.group);
            this.groups.delete(handle);
        }
    }

    private place(rows: Float32Array): void {
        for (const [handle, { group, index }] of this.groups) {
            const at = index * FLOATS;
            group.position.fromArray(rows, at);
            group.quaternion.fromArray(rows, at + 4);
            const material = this.materialOf(handle, rows[at + 3]!);
            for (const mesh of group.children) {
                mesh.material = material === MATERIALS.fixed && mesh.userData.isPlane ? MATERIALS.ground : material;
            }
        }
    }

    private materialOf(handle: Handle, mark: number): unknown {
        if (this.chosen.has(handle)) {
            return MATERIALS.chosen;
        }
        if (mark === FIXED) {
            return MATERIALS.fixed;
        }
        return this.players.has(handle) ? MATERIALS.player : mark === ASLEEP && this.showSleep ? MATERIALS.asleep : MATERIALS.moving;
    }
}

/** It would hide all that it holds in. */
function isWall(normal: Vector): boolean {
    return Math.abs(normal.y) < 0.5;
}

function meshOf(shape: Shape & { translation: Vector; rotation: Rotation }) {
    const mesh = new THREE.Mesh(geometryOf(shape), MATERIALS.moving);
    mesh.userData.isPlane = shape.kind === 'halfspace';
    mesh.position.copy(shape.translation);
    mesh.quaternion.copy(shape.rotation);
    return mesh;
}

function xyz(v: Vector): Vector {
    return { x: v.x, y: v.y, z: v.z };
}
