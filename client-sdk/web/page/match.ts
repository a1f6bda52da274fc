// A match on the page: its view, its line of time, and what is asked about it. The playback runs it; this shows it and passes on what
// keys, pointer and buttons want.

import { Ray, RigidBodyType, type MatchStream } from '../watch/index.js';
import type { Drawing, Line } from './draw.js';
import { Playback } from './playback.js';
import { save, serverSource, type Source } from './source.js';
import { at, clock, make, say } from './tools.js';

const INDEX_MS = 2000; // between two looks at how far a match that runs has come
const LINE_COLOURS = { touches: 0xff3b5c, joints: 0x23c483, measure: 0xff9f1a };
const IMPULSE_M = 0.2; // a line's length for a newton second
const [LINE_MIN_M, LINE_MAX_M] = [0.15, 2];
const TURN = 0.08; // radians that a key turns the view
const CLICK_PX = 5; // a pointer that moved less has clicked
const RAY_M = 1000;
const EVENTS_SHOWN = 200;
const SVG = 'http://www.w3.org/2000/svg';
type Point = { x: number; y: number; z: number };

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
const hex = (hash: bigint): string => hash.toString(16).padStart(16, '0');

export class MatchView {
    private playback: Playback | null = null;
    private before = 0;
    private lookedAt = 0;
    private measured: Point[] = [];
    private shownMarks = '';
    private apart = -1;
    private readonly tick = at<HTMLInputElement>('tick');

    constructor(
        private readonly drawing: Drawing,
        private readonly others: () => { match_id: string }[],
    ) {
        const press = (id: string, act: () => void) => at(id).addEventListener('click', act);
        const turn = (id: string, act: (on: boolean) => void) =>
            at(id).addEventListener('change', () => act(at<HTMLInputElement>(id).checked));
        press('play', () => this.toggle());
        press('back', () => this.playback?.stepBy(-1));
        press('on', () => this.playback?.stepBy(1));
        press('now', () => this.playback?.seek(this.playback.liveTick));
        press('verify', () => void this.verify());
        press('save', () => void this.save());
        press('link', () => void this.copyLink());
        this.tick.addEventListener('input', () => this.playback?.seek(Number(this.tick.value)));
        at('speed').addEventListener('change', () => this.setSpeed());
        at('follow').addEventListener('change', () => this.follow(at<HTMLSelectElement>('follow').value));
        at('other').addEventListener('change', () => void this.compare(at<HTMLSelectElement>('other').value));
        turn('touches', (on) => this.playback && (this.playback.wantsTouches = on, this.playback.touches = []));
        turn('sleep', (on) => (this.drawing.showSleep = on));
        turn('measure', () => (this.measured = []));
        addEventListener('keydown', (event) => this.key(event));
        this.listenToPointer();
    }

    get isOpen(): boolean {
        return this.playback !== null;
    }

    /** For tests, and whoever looks from a console. */
    get shown(): Playback | null {
        return this.playback;
    }

    async open(source: Source, asked: URLSearchParams): Promise<void> {
        this.close();
        const playback = await Playback.open(source, (error) => say(error.message));
        this.playback = playback;
        at('name').textContent = source.name;
        at<HTMLButtonElement>('link').disabled = source.id === '';
        at('proof').textContent = '';
        playback.wantsTouches = at<HTMLInputElement>('touches').checked;
        this.setSpeed();
        this.listOthers(source);
        if (asked.has('tick')) {
            playback.playing = false;
            playback.seek(Number(asked.get('tick')));
        } else if (!playback.stream.index.complete) {
            playback.seek(playback.liveTick);
        }
        const eye = (asked.get('eye') ?? '').split(',').map(Number);
        if (eye.length === 6 && eye.every(Number.isFinite)) {
            const [a, b, c, d, e, f] = eye as [number, number, number, number, number, number];
            this.drawing.look({ from: { x: a, y: b, z: c }, to: { x: d, y: e, z: f } });
        }
        this.showPlayers();
        const player = asked.get('follow') ?? '';
        at<HTMLSelectElement>('follow').value = player;
        this.follow(player);
        this.before = performance.now();
        this.showIndex();
    }

    close(): void {
        this.playback?.close();
        this.playback = null;
        this.drawing.clear();
        this.measured = [];
        this.apart = -1;
        this.shownMarks = '';
        at('picked').textContent = '';
    }

    frame(now: number): void {
        const { playback } = this;
        if (!playback) {
            return;
        }
        playback.run((now - this.before) / 1000);
        this.before = now;
        const { stream } = playback;
        if (!stream.index.complete && now - this.lookedAt > INDEX_MS) {
            this.lookedAt = now;
            stream.refresh().then(() => this.showIndex(), (error: Error) => say(error.message));
        }
        if (!playback.isBusy) {
            this.showPlayers();
            this.showLines(stream);
            this.tick.value = String(stream.tick);
            at('told').textContent = `${clock(stream.tick / stream.tickRate)}  tick ${stream.tick}  hash ${hex(stream.hash())}`;
            this.showPicked(stream);
            this.drawing.draw(stream.world);
        }
        at('play').textContent = playback.playing ? 'Pause' : 'Play';
        this.showMarks();
    }

    // What is shown ------------------------------------------------------------------------------

    private showIndex(): void {
        const { playback } = this;
        if (playback) {
            const { index } = playback.stream;
            this.tick.min = String(playback.first);
            this.tick.max = String(playback.last);
            at('live').hidden = at('now').hidden = index.complete;
            this.shownMarks = '';
            this.showMarks();
        }
    }

    private showPlayers(): void {
        const players = this.playback!.stream.players();
        const follow = at<HTMLSelectElement>('follow');
        this.drawing.players = new Set(players.flatMap(({ body }) => (body === null ? [] : [body])));
        const names = players.map(({ player }) => String(player));
        if (names.join() !== [...follow.options].slice(1).map(({ value }) => value).join()) {
            const chosen = follow.value;
            follow.replaceChildren(new Option('nobody', ''), ...names.map((name) => new Option(`player ${name}`, name)));
            follow.value = names.includes(chosen) ? chosen : '';
        }
        if (follow.value !== '') {
            this.drawing.followed = players.find(({ player }) => String(player) === follow.value)?.body ?? null;
        }
    }

    private showLines(stream: MatchStream): void {
        const { drawing } = this;
        const touches = this.playback!.touches.map(({ point: p, normal: n, impulse }): Line => {
            const length = Math.min(Math.max(impulse * IMPULSE_M, LINE_MIN_M), LINE_MAX_M);
            return [p, { x: p.x + n.x * length, y: p.y + n.y * length, z: p.z + n.z * length }];
        });
        drawing.drawLines('touches', touches, LINE_COLOURS.touches);
        const joints = at<HTMLInputElement>('joints').checked ? stream.joints() : [];
        // An anchor is one point where the joint holds: a small cross shows it.
        drawing.drawLines('joints', joints.flatMap(([a, b]): Line[] => [[a, b], [{ ...a, y: a.y - 0.1 }, { ...a, y: a.y + 0.1 }],
            [{ ...a, x: a.x - 0.1 }, { ...a, x: a.x + 0.1 }]]), LINE_COLOURS.joints);
        const [a, b] = this.measured;
        drawing.drawLines('measure', a ? [[a, b ?? { ...a, y: a.y + 0.2 }]] : [], LINE_COLOURS.measure);
    }

    private showPicked(stream: MatchStream): void {
        const lines: string[] = [];
        const [a, b] = this.measured;
        if (at<HTMLInputElement>('measure').checked) {
            lines.push(b ? `distance ${distance(a!, b).toFixed(3)} m, height ${(b.y - a!.y).toFixed(3)} m` : a ? 'and the second point' : 'click two points');
        }
        for (const handle of this.drawing.chosen) {
            const body = this.drawing.groups.has(handle) ? stream.world.getRigidBody(handle) : null;
            if (!body?.isValid()) {
                this.drawing.chosen.delete(handle);
                continue;
            }
            const [p, v] = [body.translation(), body.linvel()];
            lines.push(`body ${body.index}, ${body.mass().toPrecision(3)} kg${body.isSleeping() ? ', asleep' : ''}`,
                `at ${p.x.toFixed(2)}, ${p.y.toFixed(2)}, ${p.z.toFixed(2)} m`, `${Math.hypot(v.x, v.y, v.z).toFixed(2)} m/s`);
        }
        const text = lines.join('\n');
        if (at('picked').textContent !== text) {
            at('picked').textContent = text;
        }
    }

    /** Keyframes, events, and where two matches part, below the line; events as a list too. */
    private showMarks(): void {
        const { playback } = this;
        const key = playback ? `${playback.last} ${playback.marks.size} ${this.apart} ${at('marks').clientWidth}` : '';
        if (!playback || key === this.shownMarks) {
            return;
        }
        this.shownMarks = key;
        const span = Math.max(playback.last - playback.first, 1);
        const width = at('marks').clientWidth;
        const bar = (tick: number, name: string, height: number) => {
            const rect = document.createElementNS(SVG, 'rect');
            const x = 8 + ((tick - playback.first) / span) * (width - 16); // the slider's knob is 16 px wide
            const set = { x: x - 1, y: 8 - height, width: name === 'apart' ? 4 : 2, height, class: name };
            Object.entries(set).forEach(([field, value]) => rect.setAttribute(field, String(value)));
            return rect;
        };
        const { keyframes, chunk_ticks: ticks } = playback.stream.index;
        const marks = [...playback.marks.values()].sort((a, b) => a.tick - b.tick);
        at<SVGElement>('marks').replaceChildren(...keyframes.map((chunk) => bar(chunk * ticks, 'key', 4)), ...marks.map(({ tick }) => bar(tick, 'event', 8)),
            ...(this.apart >= 0 ? [bar(this.apart, 'apart', 8)] : []));
        at('events').replaceChildren(...marks.slice(0, EVENTS_SHOWN).map(({ tick, text }) => {
            const button = make('button', { type: 'button', textContent: `${clock(tick / playback.stream.tickRate)} ${text}` });
            button.addEventListener('click', () => this.jump(tick));
            return make('li', {}, button);
        }));
    }

    private listOthers(source: Source): void {
        const ids = this.others().map(({ match_id: id }) => id).filter((id) => id !== source.id);
        at<HTMLSelectElement>('other').replaceChildren(new Option('nothing', ''), ...ids.map((id) => new Option(id, id)));
    }

    // What is asked ------------------------------------------------------------------------------

    private toggle(): void {
        const { playback } = this;
        if (playback) {
            playback.playing = !playback.playing;
            if (playback.playing && playback.stream.end !== null && playback.stream.tick >= playback.last) {
                playback.seek(playback.first);
            }
        }
    }

    private jump(tick: number): void {
        if (this.playback) {
            this.playback.playing = false;
            this.playback.seek(tick);
        }
    }

    private setSpeed(): void {
        if (this.playback) {
            this.playback.speed = Number(at<HTMLSelectElement>('speed').value);
        }
    }

    private follow(player: string): void {
        this.drawing.followed = player === '' ? null : (this.playback?.stream.players().find((one) => String(one.player) === player)?.body ?? null);
    }

    /** This moment, as a link has it. */
    link(): string {
        const { from, to } = this.drawing.view;
        const asked = new URLSearchParams({ match: this.playback!.source.id, tick: String(this.playback!.stream.tick) });
        asked.set('eye', [from, to].flatMap(({ x, y, z }) => [x, y, z]).map((value) => value.toFixed(2)).join());
        const followed = at<HTMLSelectElement>('follow').value;
        if (followed) {
            asked.set('follow', followed);
        }
        return `${location.href.split('#')[0]}#${asked.toString()}`;
    }

    private async copyLink(): Promise<void> {
        const link = this.link();
        history.replaceState(null, '', link);
        const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
        this.prove(copied ? 'The link to this moment is copied.' : 'The link to this moment is in the address bar.', '');
    }

    private prove(text: string, kind: '' | 'good' | 'bad', part = 1): void {
        at('proof').textContent = text;
        at('proof').className = kind;
        at<HTMLProgressElement>('progress').hidden = part >= 1;
        at<HTMLProgressElement>('progress').value = part;
    }

    /** Runs `work` for the match that is open; what it throws is told as not done. */
    private async ask(button: string, what: string, work: (playback: Playback) => Promise<void>): Promise<void> {
        const { playback } = this;
        if (playback) {
            const element = at<HTMLButtonElement>(button);
            element.disabled = true;
            await work(playback).catch((error: Error) => this.playback === playback && this.prove(`${what}: ${error.message}`, 'bad'));
            element.disabled = false;
            this.shownMarks = '';
        }
    }

    private verify(): Promise<void> {
        return this.ask('verify', 'not verified', async (playback) => {
            const tell = (tick: number, last: number) => this.prove(`${tick} of ${last} ticks`, '', last > 0 ? Math.min(tick / last, 0.999) : 0);
            const whole = await playback.verify(tell, () => this.playback === playback);
            if (this.playback === playback) {
                const key = whole.isSigned && whole.key ? `, signed by ${whole.key.slice(0, 8)}…` : ', not signed';
                this.prove(`verified: ${whole.end === null ? `ticks up to ${whole.tick}, so far` : `all ${whole.tick} ticks`}${key}`, 'good');
            }
            whole.close();
        });
    }

    private save(): Promise<void> {
        return this.ask('save', 'not saved', async (playback) => {
            const { match_id: id } = playback.stream.index;
            const file = await save(playback.source, playback.stream.index, (part) => this.prove('saving', '', Math.min(part, 0.999)));
            const url = URL.createObjectURL(file);
            make('a', { href: url, download: `${id}.tar` }).click();
            setTimeout(() => URL.revokeObjectURL(url), 60000);
            this.prove(`saved: ${id}.tar, ${Math.ceil(file.size / 1000)} kB`, '');
        });
    }

    private async compare(id: string): Promise<void> {
        this.apart = -1;
        if (id !== '') {
            await this.ask('other', 'not compared', async (playback) => {
                const tick = await playback.compare(serverSource(id), (now) => this.prove(`the same up to tick ${now}`, '', Math.min(now / playback.last, 0.999)));
                this.apart = tick;
                this.prove(tick < 0 ? 'the same, as far as both go' : `they differ from tick ${tick} on`, tick < 0 ? 'good' : 'bad');
                if (tick >= 0) {
                    this.jump(tick);
                }
            });
        }
    }

    private key(event: KeyboardEvent): void {
        const { playback } = this;
        const target = event.target as HTMLElement;
        if (!playback || event.ctrlKey || event.altKey || event.metaKey || target instanceof HTMLSelectElement) {
            return;
        }
        const isRange = target === this.tick;
        const acts: Record<string, () => void> = {
            ArrowLeft: () => playback.stepBy(-1),
            ArrowRight: () => playback.stepBy(1),
            PageUp: () => this.jump(playback.stream.tick + playback.stream.tickRate),
            PageDown: () => this.jump(playback.stream.tick - playback.stream.tickRate),
            Home: () => this.jump(playback.first),
            End: () => this.jump(playback.last),
            a: () => this.drawing.turn(-TURN, 0),
            d: () => this.drawing.turn(TURN, 0),
            w: () => this.drawing.turn(0, -TURN),
            s: () => this.drawing.turn(0, TURN),
            '+': () => this.drawing.turn(0, 0, 1.1),
            '-': () => this.drawing.turn(0, 0, 1 / 1.1),
        };
        const act = event.key === ' ' && (isRange || !target.closest('button, summary, input, a')) ? () => this.toggle() : acts[event.key];
        if (act) {
            event.preventDefault();
            act();
        }
    }

    private listenToPointer(): void {
        const { canvas } = this.drawing;
        let down: PointerEvent | null = null;
        canvas.addEventListener('pointerdown', (event) => (down = event));
        canvas.addEventListener('pointerup', (event) => {
            if (down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < CLICK_PX) {
                const box = canvas.getBoundingClientRect();
                this.pick((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
            }
            down = null;
        });
    }

    private pick(x: number, y: number): void {
        if (!this.playback || this.playback.isBusy) {
            return;
        }
        const { origin, dir } = this.drawing.ray(x, y);
        const hit = this.playback.stream.world.castRay(new Ray(origin, dir), RAY_M);
        if (at<HTMLInputElement>('measure').checked) {
            this.measured = hit ? [...(this.measured.length === 2 ? [] : this.measured), hit.point] : [];
        } else {
            this.drawing.chosen = new Set(hit && hit.body.bodyType() !== RigidBodyType.Fixed ? [hit.body.handle] : []);
        }
    }
}
