// The bodies of a watched world as three.js draws them: a group each, made when a body appears, placed by the world's transforms.
import * as THREE from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

const FLOATS = 8; // of a row of transforms()
const FIXED = 3;
const PLANE_SIZE = 400;
const dark = matchMedia('(prefers-color-scheme: dark)');

const materials = {
    moving: new THREE.MeshStandardMaterial({ color: 0x4a94d6, roughness: 0.65 }),
    asleep: new THREE.MeshStandardMaterial({ color: 0x7f8ea0, roughness: 0.8 }),
    player: new THREE.MeshStandardMaterial({ color: 0xf0803c, roughness: 0.5 }),
    fixed: new THREE.MeshStandardMaterial({ color: 0x3d4b5a, roughness: 1, side: THREE.DoubleSide }),
};
const geometries = new Map(); // shared by equal shapes

function geometryOf(shape) {
    const key = JSON.stringify({ ...shape, translation: 0, rotation: 0, vertices: shape.vertices && [...shape.vertices] });
    let found = geometries.get(key);
    if (!found) {
        found = makeGeometry(shape);
        geometries.set(key, found);
    }
    return found;
}

function makeGeometry(shape) {
    switch (shape.kind) {
        case 'ball':
            return new THREE.SphereGeometry(shape.radius, 24, 16);
        case 'capsule':
            return new THREE.CapsuleGeometry(shape.radius, 2 * shape.halfHeight, 8, 20);
        case 'cylinder':
            return new THREE.CylinderGeometry(shape.radius, shape.radius, 2 * shape.halfHeight, 24);
        case 'cuboid': {
            const { x, y, z } = shape.halfExtents;
            return new THREE.BoxGeometry(2 * x, 2 * y, 2 * z);
        }
        case 'hull': {
            const points = [];
            for (let i = 0; i < shape.vertices.length; i += 3) {
                points.push(new THREE.Vector3().fromArray(shape.vertices, i));
            }
            return new ConvexGeometry(points);
        }
        default: {
            const plane = new THREE.PlaneGeometry(PLANE_SIZE, PLANE_SIZE);
            const normal = new THREE.Vector3(shape.normal.x, shape.normal.y, shape.normal.z);
            plane.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal));
            return plane.translate(normal.x * shape.offset, normal.y * shape.offset, normal.z * shape.offset);
        }
    }
}

export class Scene {
    constructor(canvas) {
        this.canvas = canvas;
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.camera = new THREE.PerspectiveCamera(50, 1, 0.05, 1000);
        this.camera.position.set(16, 14, 22);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.target.set(0, 1, 0);
        this.controls.maxPolarAngle = 1.55;
        this.scene = new THREE.Scene();
        this.scene.add(new THREE.HemisphereLight(0xdfeaff, 0x50483f, 1.7));
        const sun = new THREE.DirectionalLight(0xffffff, 2);
        sun.position.set(8, 20, 12);
        this.scene.add(sun);
        this.groups = new Map(); // by handle
        this.players = new Set(); // handles that are drawn as players
        this.followed = null;
        dark.addEventListener('change', () => this.paint());
        addEventListener('resize', () => this.fit());
        this.paint();
        this.fit();
    }

    paint() {
        this.scene.background = new THREE.Color(dark.matches ? 0x10151c : 0xdfe6ec);
    }

    fit() {
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        this.renderer.setSize(innerWidth, innerHeight, false);
        this.camera.aspect = innerWidth / innerHeight;
        this.camera.updateProjectionMatrix();
    }

    /** Bodies that are new get their groups, those that are gone lose them. */
    match(world) {
        const gone = new Set(this.groups.keys());
        for (const body of world.bodies()) {
            gone.delete(body.handle);
            if (!this.groups.has(body.handle)) {
                this.groups.set(body.handle, this.add(body));
            }
        }
        for (const handle of gone) {
            this.scene.remove(this.groups.get(handle).group);
            this.groups.delete(handle);
        }
    }

    add(body) {
        const group = new THREE.Group();
        for (let i = 0; i < body.numColliders(); i++) {
            const collider = body.collider(i);
            const shape = collider.shape();
            if (collider.isSensor() || (shape.kind === 'halfspace' && Math.abs(shape.normal.y) < 0.5)) {
                continue; // walls without an end would hide all
            }
            const mesh = new THREE.Mesh(geometryOf(shape), materials.moving);
            mesh.position.copy(shape.translation);
            mesh.quaternion.copy(shape.rotation);
            group.add(mesh);
        }
        this.scene.add(group);
        return { group, index: body.index };
    }

    draw(world) {
        this.match(world);
        const rows = world.transforms();
        for (const [handle, { group, index }] of this.groups) {
            const at = index * FLOATS;
            const mark = rows[at + 3];
            group.position.fromArray(rows, at);
            group.quaternion.fromArray(rows, at + 4);
            const material = mark === FIXED ? materials.fixed
                : this.players.has(handle) ? materials.player
                    : mark === 2 ? materials.asleep : materials.moving;
            for (const mesh of group.children) {
                mesh.material = material;
            }
        }
        const followed = this.groups.get(this.followed)?.group.position;
        if (followed) {
            this.camera.position.add(followed.clone().sub(this.controls.target));
            this.controls.target.copy(followed);
        }
        this.controls.update();
        this.renderer.render(this.scene, this.camera);
    }
}
