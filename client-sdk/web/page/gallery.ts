// Scenes of solve/SOURCES.md, alive: a world of carom in the page, without a server. Under the pointer a body of the scene that is
// made for it follows (`pointer`); arrows show velocities, and the force of contacts on it.

import { Ray, Scene, Solver } from '../watch/index.js';
import type { Drawing, Line } from './draw.js';
import { SCENES } from './scenes.js';
import { at, make } from './tools.js';

interface Piece {
    name: string;
    title: string;
    about: string;
    /** From where one looks, as a direction. */
    from?: readonly [number, number, number];
    /** Another rate than the scene's, whose steps are too long to look at. */
    rate?: number;
    /** The body that follows the pointer, in the plane z = 0. */
    pointer?: number;
    /** Begins slower, where it is over in a moment. */
    speed?: number;
}

const ABOVE = [0.5, 0.45, 1] as const;
const ALONG = [0, 0, 1] as const;
const S0 = 'S0, JP3308685B2: an impulse between four cases of friction and restitution';
const FRICTIONS_RESTITUTIONS = [[0, 1], [1, 1], [0, 0], [1, 0], [0.5, 0.5]] as const; // of figures 4 to 8, and 10 to 14
const collisions = (first: number, who: string): Piece[] => FRICTIONS_RESTITUTIONS.map(([friction, restitution], i) => ({
    name: `collision_fig${String(first + i).padStart(2, '0')}`,
    title: `Figure ${first + i}: ${who}, friction ${friction}, restitution ${restitution}`,
    about: S0, from: [0, 0.25, 1], rate: 120, speed: 0.5,
}));
export const PIECES: readonly Piece[] = [
    ...collisions(4, 'two spheres'),
    ...collisions(10, 'box and sphere'),
    { name: 'billiards_break', title: 'Billiards: the break', about: 'S1 and S0: circles that collide in the plane', from: ALONG, speed: 0.25 },
    { name: 'circles_set1', title: 'Circles, first data', about: 'S1, zenn.dev 2023', from: ALONG, rate: 60 },
    { name: 'circles_set2', title: 'Circles, second data', about: 'S1, zenn.dev 2023', from: ALONG, rate: 60 },
    { name: 'circles_set3', title: 'Circles, third data', about: 'S1, zenn.dev 2023', from: ALONG, rate: 60 },
    { name: 'cradle', title: 'Newton’s cradle', about: 'two balls strike five', from: [0, 0.2, 1], speed: 0.25 },
    { name: 'volume_six_blocks_pointer', title: 'Six blocks and your pointer', about: 'S2, Hasegawa and others 2003: the arrow is the force that you would feel', pointer: 1, from: [0.15, 0.25, 1] },
    { name: 'volume_tilted_cube', title: 'Tilted cube', about: 'S2: springs over the volume of intersection bring it to rest', from: ABOVE },
    { name: 'volume_top', title: 'Spinning top', about: 'S2: it stands while it spins', from: ABOVE, speed: 0.25 },
    { name: 'volume_pile_10', title: 'Pile of ten', about: 'S2', from: ABOVE },
    { name: 'lcp_ragdoll', title: 'Ragdoll', about: 'S3, JP2003526160A: a boxed linear complementarity problem', from: ABOVE },
    { name: 'lcp_car_over_bump', title: 'Car over a bump', about: 'S3: tyres, steering, a cylinder on the way', from: [0.3, 0.5, 1] },
    { name: 'lcp_chain_20', title: 'Chain of twenty', about: 'S3: joints that do not stretch', from: [0, 0.1, 1] },
    { name: 'lcp_springs', title: 'Springs', about: 'S3', from: ABOVE },
    { name: 'bounces', title: 'Bounces', about: 'S4, saharan 2012: the normal impulse of bodies that turn', from: [0, 0.2, 1] },
    { name: 'lcp_slab_pyramid', title: 'A slab that slides', about: 'the four solvers beside each other: choose one', from: ABOVE },
    { name: 'tower', title: 'Tower of five', about: 'the four solvers beside each other: choose one', from: ABOVE },
    { name: 'wrecking', title: 'Wrecking ball', about: 'soft: a ball on a rope meets a wall', from: [0.6, 0.3, 1] },
];

const SOLVERS: readonly (readonly [string, Solver | undefined])[] = [['the scene’s own', undefined], ['soft', Solver.Soft], ['impulse', Solver.Impulse],
    ['lcp', Solver.Lcp], ['volume', Solver.Volume]];
const OWED_MAX_S = 0.1;
const SLICE_MS = 24;
const COLOURS = { velocity: 0xff9f1a, spin: 0x23c483, force: 0xff3b5c };
const ARROW_PART = 0.5; // of the scene's radius: the fastest velocity of its start
const FORCE_M = 0.05; // a newton
const TURN = 0.08;
const POINTER_M_S = 3; // a hand's: faster ones pass through what they should push

type Point = { x: number; y: number; z: number };

export class Gallery {
    private piece: Piece = PIECES[0]!;
    private scene: Scene | null = null;
    private playing = true;
    private owed = 0;
    private before = 0;
    private arrow = 0.3; // m for a m/s
    private target: Point | null = null;
    readonly select = at<HTMLSelectElement>('piece');
    private readonly solver = at<HTMLSelectElement>('solver');

    constructor(private readonly drawing: Drawing) {
        this.select.append(...PIECES.map(({ name, title }) => new Option(title, name)));
        this.solver.append(...SOLVERS.map(([name], i) => new Option(name, String(i))));
        const go = () => (location.hash = `#gallery=${this.select.value}${this.solver.value === '0' ? '' : `&solver=${this.solver.value}`}`);
        this.select.addEventListener('change', () => {
            this.solver.value = '0';
            go();
        });
        this.solver.addEventListener('change', go);
        at('again').addEventListener('click', () => this.reset());
        at('run').addEventListener('click', () => this.toggle());
        at('tread').addEventListener('click', () => {
            this.playing = false;
            this.step();
        });
        addEventListener('keydown', (event) => this.key(event));
        drawing.canvas.addEventListener('pointermove', (event) => this.point(event));
    }

    get isOpen(): boolean {
        return this.scene !== null;
    }

    get shown(): Scene | null {
        return this.scene;
    }

    /** Throws what the solver refuses of the scene. */
    open(name: string, solver: string): void {
        this.piece = PIECES.find((piece) => piece.name === name) ?? PIECES[0]!;
        this.select.value = this.piece.name;
        this.solver.value = solver in SOLVERS ? solver : '0';
        at<HTMLSelectElement>('pace').value = String(this.piece.speed ?? 1);
        at('about').textContent = this.piece.about;
        at('name').textContent = this.piece.title;
        this.playing = true;
        this.reset();
        this.frameAll();
    }

    close(): void {
        this.scene?.free();
        this.scene = null;
        this.drawing.clear();
    }

    reset(): void {
        this.close();
        const packed = Uint8Array.from(atob(SCENES[this.piece.name]!), (letter) => letter.charCodeAt(0));
        const solver = SOLVERS[Number(this.solver.value)]?.[1];
        this.scene = new Scene(packed, { ...(solver === undefined ? {} : { solver }), ...(this.piece.rate ? { tickRate: this.piece.rate } : {}) });
        this.owed = 0;
        this.target = null;
        this.before = performance.now();
        // What is seen from above of a table has its cushions, and its plane, edge on.
        this.drawing.showPlanes = this.piece.from !== ALONG;
        if (this.piece.pointer !== undefined) {
            this.drawing.chosen.add([...this.scene.world.bodies()][this.piece.pointer]!.handle);
        }
    }

    frame(now: number): void {
        const { scene, drawing } = this;
        if (!scene) {
            return;
        }
        const pace = Number(at<HTMLSelectElement>('pace').value);
        this.owed = this.playing ? Math.min(this.owed + ((now - this.before) / 1000) * pace, OWED_MAX_S) : 0;
        this.before = now;
        const until = performance.now() + SLICE_MS;
        while (this.owed * scene.tickRate >= 1 && performance.now() < until) {
            this.owed -= 1 / scene.tickRate;
            this.step();
        }
        this.showArrows(scene);
        drawing.draw(scene.world);
        at('run').textContent = this.playing ? 'Pause' : 'Play';
        at('gallery-told').textContent = `${(Number(scene.world.tick) / scene.tickRate).toFixed(2)} s`;
    }

    private step(): void {
        const { scene, piece, target } = this;
        if (scene) {
            if (piece.pointer !== undefined && target) {
                const body = [...scene.world.bodies()][piece.pointer];
                body?.setNextKinematicPose(towards(body.translation(), target, POINTER_M_S / scene.tickRate), body.rotation());
            }
            scene.world.step();
        }
    }

    private toggle(): void {
        this.playing = !this.playing;
    }

    private moving(): { at: Point; v: Point; w: Point; size: number }[] {
        return [...this.scene!.world.bodies()].filter((body) => body.mass() > 0).map((body) => {
            let size = 0;
            for (let i = 0; i < body.numColliders(); i++) {
                const shape = body.collider(i).shape();
                size = Math.max(size, shape.kind === 'cuboid' ? Math.hypot(shape.halfExtents.x, shape.halfExtents.y, shape.halfExtents.z)
                    : shape.kind === 'hull' ? Math.max(...shape.vertices.map(Math.abs)) : 'radius' in shape ? shape.radius : 0);
            }
            return { at: body.translation(), v: body.linvel(), w: body.angvel(), size };
        });
    }

    /** The camera so that all that moves is in the picture. */
    private frameAll(): void {
        const all = this.moving();
        const [low, high] = [Math.min, Math.max].map((pick, side) => ['x', 'y', 'z'].map((axis) =>
            pick(...all.map((one) => one.at[axis as 'x'] + (side ? one.size : -one.size))))) as [number[], number[]];
        const middle = low.map((value, i) => (value + high[i]!) / 2) as [number, number, number];
        const radius = Math.max(Math.hypot(...low.map((value, i) => high[i]! - value)) / 2, 1e-3);
        this.drawing.aim(middle, this.piece.from ?? ABOVE, radius);
        const fastest = Math.max(...all.map(({ v }) => Math.hypot(v.x, v.y, v.z)), 1);
        this.arrow = (ARROW_PART * radius) / fastest;
    }

    private showArrows(scene: Scene): void {
        const wanted = at<HTMLInputElement>('arrows').checked;
        const all = wanted ? this.moving() : [];
        const along = (a: Point, v: Point, scale: number): Line => [a, { x: a.x + v.x * scale, y: a.y + v.y * scale, z: a.z + v.z * scale }];
        this.drawing.drawLines('velocity', all.map((one) => along(one.at, one.v, this.arrow)), COLOURS.velocity);
        this.drawing.drawLines('spin', all.map((one) => along(one.at, one.w, this.arrow)), COLOURS.spin);
        const body = this.piece.pointer === undefined ? null : [...scene.world.bodies()][this.piece.pointer];
        this.drawing.drawLines('force', body ? [along(body.translation(), body.contactForce(), FORCE_M)] : [], COLOURS.force);
    }

    private point(event: PointerEvent): void {
        if (this.scene && this.piece.pointer !== undefined && event.buttons === 0) {
            const box = this.drawing.canvas.getBoundingClientRect();
            const { origin: o, dir: d } = this.drawing.ray((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
            const ray = new Ray(o, d);
            const t = -o.z / d.z;
            if (t > 0 && Number.isFinite(t)) {
                const { x, y } = ray.pointAt(t);
                this.target = { x: Math.min(Math.max(x, -6), 6), y: Math.min(Math.max(y, 0.3), 6), z: 0 };
            }
        }
    }

    private key(event: KeyboardEvent): void {
        const target = event.target as HTMLElement;
        if (!this.scene || event.ctrlKey || event.altKey || event.metaKey || target instanceof HTMLSelectElement) {
            return;
        }
        const { drawing } = this;
        const acts: Record<string, () => void> = {
            r: () => this.reset(), ArrowRight: () => at('tread').click(),
            a: () => drawing.turn(-TURN, 0), d: () => drawing.turn(TURN, 0), w: () => drawing.turn(0, -TURN), s: () => drawing.turn(0, TURN),
            '+': () => drawing.turn(0, 0, 1.1), '-': () => drawing.turn(0, 0, 1 / 1.1),
        };
        const act = event.key === ' ' && !target.closest('button, summary, input, a') ? () => this.toggle() : acts[event.key];
        if (act) {
            event.preventDefault();
            act();
        }
    }
}

function towards(from: Point, to: Point, most: number): Point {
    const far = Math.hypot(to.x - from.x, to.y - from.y, to.z - from.z);
    const part = far > most ? most / far : 1;
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part, z: from.z + (to.z - from.z) * part };
}

/** Links to all pieces, for the list of the first page. */
export function pieceLinks(): HTMLLIElement[] {
    return PIECES.map(({ name, title }) => make('li', {}, make('a', { href: `#gallery=${name}`, textContent: title })));
}
