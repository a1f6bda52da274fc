// The page: the list of matches, or one of them, as the address's fragment says (#match=ID&tick=N&eye=…&follow=N). What is dropped on
// it is opened as a file.

import { init } from '../watch/index.js';
import { Drawing } from './draw.js';
import { MatchView } from './match.js';
import { Rooms } from './rooms.js';
import { droppedFiles, droppedSource, serverSource, type Source } from './source.js';
import { at, say } from './tools.js';

const drawing = new Drawing(at<HTMLCanvasElement>('view'));
const rooms = new Rooms(() => drawing);
const match = new MatchView(drawing, () => rooms.matches);
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => drawing.paint(dark.matches);

function show(isMatch: boolean): void {
    at('rooms').hidden = isMatch;
    at('match').hidden = at('leave').hidden = !isMatch;
    at('name').textContent = '';
    if (isMatch) {
        rooms.close();
    } else {
        match.close();
        rooms.open();
    }
}

async function open(source: Source, asked: URLSearchParams): Promise<void> {
    say('');
    show(true);
    try {
        await match.open(source, asked);
    } catch (error) {
        show(false);
        say((error as Error).message);
    }
}

async function route(): Promise<void> {
    const asked = new URLSearchParams(location.hash.slice(1));
    const id = asked.get('match') ?? '';
    if (/^[0-9a-f]{16}$/.test(id)) {
        await open(serverSource(id), asked);
    } else if (id !== '') {
        show(false);
        say(`match=${id.slice(0, 64)}: expected 16 hexadecimal digits`);
    } else {
        say('');
        show(false);
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
    requestAnimationFrame(frame);
}

dark.addEventListener('change', paint);
paint();
listenToFiles();
await init();
addEventListener('hashchange', () => void route());
// A match from a file has no fragment, so to leave it changes none.
for (const link of document.querySelectorAll('header a[href="#"]')) {
    link.addEventListener('click', () => location.hash === '' && void route());
}
await route();
requestAnimationFrame(frame);
Object.assign(globalThis, { page: { match, drawing } });
