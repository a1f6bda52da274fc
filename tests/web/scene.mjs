// Builds a world of carom-sim from a scene file, as far as the benchmark scenes and games go.
import { ColliderDesc, Combine, JointDesc, RigidBodyDesc, RigidBodyType, World } from '../../build/web/carom-sim/index.js';

const TYPES = { static: RigidBodyType.Fixed, kinematic: RigidBodyType.Kinematic, dynamic: RigidBodyType.Dynamic };
const COMBINE = { product: 0, average: 1, geometric: 2, min: 3, max: 4 };
const vector = ([x, y, z]) => ({ x, y, z });
// Normalised in binary32, as a scene's reader does it before the world does it again.
const f = Math.fround;
const rotation = (q) => {
    const [x, y, z, w] = q.map(f);
    const scale = f(1 / f(Math.sqrt(f(f(f(f(x * x) + f(y * y)) + f(z * z)) + f(w * w)))));
    return { x: f(scale * x), y: f(scale * y), z: f(scale * z), w: f(scale * w) };
};

function collider(shape, materials) {
    let desc;
    if (shape.box) {
        desc = ColliderDesc.cuboid(...shape.box.half_extents);
    } else if (shape.sphere) {
        desc = ColliderDesc.ball(shape.sphere.radius);
    } else if (shape.capsule) {
        desc = ColliderDesc.capsule(shape.capsule.half_height, shape.capsule.radius);
    } else if (shape.cylinder) {
        desc = ColliderDesc.cylinder(shape.cylinder.half_height, shape.cylinder.radius);
    } else if (shape.plane) {
        desc = ColliderDesc.halfspace(vector(shape.plane.normal), shape.plane.offset);
    } else {
        desc = ColliderDesc.convexHull(new Float32Array(shape.hull.points.flat()));
    }
    const surface = { ...(materials[shape.material] ?? {}), ...shape };
    if (surface.density !== undefined) desc.setDensity(surface.density);
    if (surface.friction !== undefined) desc.setFriction(surface.friction);
    if (surface.restitution !== undefined) desc.setRestitution(surface.restitution);
    if (shape.position) desc.setTranslation(...shape.position);
    if (shape.orientation) desc.setRotation(rotation(shape.orientation));
    if (shape.material) desc.setMaterial(1 + Object.keys(materials).indexOf(shape.material));
    if (shape.filter) desc.setCollisionFilter(shape.filter);
    return desc;
}

function body(world, row, position, materials) {
    const desc = new RigidBodyDesc(TYPES[row.type ?? 'dynamic']).setTranslation(...position);
    if (row.orientation) desc.setRotation(rotation(row.orientation));
    if (row.linear_velocity) desc.setLinvel(...row.linear_velocity);
    if (row.angular_velocity) desc.setAngvel(vector(row.angular_velocity));
    return world.createRigidBody(desc, ...row.shapes.map((shape) => collider(shape, materials)));
}

// i-th of an array's grid: x runs fastest.
function places(array) {
    const [nx, ny, nz] = array.count;
    const found = [];
    for (let z = 0; z < nz; z++) {
        for (let y = 0; y < ny; y++) {
            for (let x = 0; x < nx; x++) {
                found.push([x, y, z].map((i, axis) => array.origin[axis] + i * array.spacing[axis]));
            }
        }
    }
    return found;
}

/** The world of a scene, and its bodies in their order. */
export function build(scene, options = {}) {
    const world = new World(vector(scene.gravity ?? [0, -9.81, 0]), {
        tickRate: scene.tick_rate ?? 60,
        sleep: scene.sleep ?? true,
        substeps: scene.solver?.substeps ?? 0,
        frictionCombine: COMBINE[scene.combine?.friction ?? 'product'] ?? Combine.Product,
        restitutionCombine: COMBINE[scene.combine?.restitution ?? 'product'] ?? Combine.Product,
        hitSpeed: 1,
        ...options,
    });
    const materials = scene.materials ?? {};
    const bodies = new Map((scene.bodies ?? []).map((row) => [row.name, body(world, row, row.position ?? [0, 0, 0], materials)]));
    for (const array of scene.arrays ?? []) {
        for (const [i, place] of places(array).entries()) {
            bodies.set(`${array.name}_${i}`, body(world, array.of, place, materials));
        }
    }
    for (const joint of scene.joints ?? []) {
        if (joint.type !== 'ball') {
            throw new Error(`a joint of type ${joint.type} is not read here`);
        }
        world.createJoint(JointDesc.spherical(vector(joint.anchor)), bodies.get(joint.a) ?? null, bodies.get(joint.b));
    }
    return { world, bodies: [...bodies.values()] };
}
