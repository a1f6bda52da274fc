// The page: the list of matches, or one of them, as the address's fragment says (#match=ID&tick=N&eye=…&follow=N), or
// a scene of the gallery (#gallery=NAME&solver=N). What is dropped on
// it is opened as a file.

import { init } from '../watch/index.js';
import { Drawing } from './draw.js';
import { Gallery, pieceLinks } from './gallery.js';
import { MatchView } from './match.js';
import { Rooms } from './rooms.js';
import { droppedFiles, droppedSource, serverSource, type Source } from './source.js';
import { at, say } from './tools.js';

const drawing = new Drawing(at<HTMLCanvasElement>('view'));
const rooms = new Rooms(() => drawing);
const match = new MatchView(drawing, () => rooms.matches);
const gallery = new Gallery(drawing);
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => drawing.paint(dark.matches);

/** One of the three; the view is in the one that draws. */
function show(part: 'rooms' | 'match' | 'gallery'): void {
    for (const id of ['rooms', 'match', 'gallery']) {
        at(id).hidden = id !== part;
    }
    at('leave').hidden = part === 'rooms';
    at('name').textContent = '';
    rooms.close();
    match.close();
    gallery.close();
    if (part === 'rooms') {
        rooms.open();
    } else if (drawing.canvas.parentElement !== at(part)) {
        at(part).prepend(drawing.canvas);
    }
}

async function open(source: Source, asked: URLSearchParams): Promise<void> {
    say('');
    show('match');
    try {
        await match.open(source, asked);
    } catch (error) {
        show('rooms');
        say((error as Error).message);
    }
}

function openPiece(name: string, solver: string): void {
    say('');
    show('gallery');
    try {
        gallery.open(name, solver);
    } catch (error) {
        say(`${(error as Error).message}: another solver can`);
    }
}

async function route(): Promise<void> {
    const asked = new URLSearchParams(location.hash.slice(1));
    const id = asked.get('match') ?? '';
    if (/^[0-9a-f]{16}$/.test(id)) {
        const source = serverSource(id);
        await open({ ...source, name: rooms.names.get(id) ?? source.name }, asked);
    } else if (asked.has('gallery')) {
        openPiece(asked.get('gallery')!, asked.get('solver') ?? '0');
    } else if (id !== '') {
        show('rooms');
        say(`match=${id.slice(0, 64)}: expected 16 hexadecimal digits`);
    } else {
        say('');
        show('rooms');
    }
}

async function openFiles(given: Promise<(readonly [string, File])[]>): Promise<void> {
    try {
        const source = await droppedSource(await given);
        history.replaceState(null, '', '#');
        await open(source, new URLSearchParams());
    } catch (error) {
        say((error as Error).message);
    }
}

function listenToFiles(): void {
    for (const id of ['file', 'folder']) {
        const input = at<HTMLInputElement>(id);
        input.addEventListener('change', () => {
            const files = [...(input.files ?? [])].map((file) => [file.webkitRelativePath || file.name, file] as const);
            input.value = '';
            void openFiles(Promise.resolve(files));
        });
    }
    addEventListener('dragover', (event) => {
        event.preventDefault();
        document.body.classList.add('over');
    });
    addEventListener('dragleave', (event) => event.relatedTarget === null && document.body.classList.remove('over'));
    addEventListener('drop', (event) => {
        event.preventDefault();
        document.body.classList.remove('over');
        if (event.dataTransfer) {
            void openFiles(droppedFiles(event.dataTransfer));
        }
    });
}

function frame(now: number): void {
    match.frame(now);
    gallery.frame(now);
    requestAnimationFrame(frame);
}

dark.addEventListener('change', paint);
paint();
listenToFiles();
at('pieces').append(...pieceLinks());
await init();
addEventListener('hashchange', () => void route());
// A match from a file has no fragment, so to leave it changes none.
for (const link of document.querySelectorAll('header a[href="#"]')) {
    link.addEventListener('click', () => location.hash === '' && void route());
}
await route();
requestAnimationFrame(frame);
Object.assign(globalThis, { page: { match, gallery, drawing } });
