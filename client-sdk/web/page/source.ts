// Where a stream's files come from: the server that gave this page, or what was dropped on it, which is the folder that `carom match
// stream` writes, or that folder as one tar file, as save() here makes it. A dropped file is as untrusted as any: it is only
// looked up by name, and its bytes are checked by the viewer like those of a server.

import { type StreamIndex, type StreamOptions } from '../watch/index.js';

export interface Source {
    /** As a link has it; "" for files, which no link reaches. */
    id: string;
    name: string;
    base: string;
    options: StreamOptions;
}

const BLOCK = 512; // of a tar file
const [NAME_BYTES, SIZE_AT, SIZE_BYTES, SUM_AT, SUM_BYTES, TYPE_AT, PREFIX_AT, PREFIX_BYTES] = [100, 124, 12, 148, 8, 156, 345, 155];
const ENTRIES_MAX = 65536;
const FILE_BYTES = 32 * 2 ** 20; // of a chunk, as PROTOCOL.md 11 has it
const SQLITE = 'SQLite format 3';

/** The server's folder, seen from the page's own, under whatever path a proxy gives the two. */
export const serverUrl = (path: string): string => new URL(`../${path}`, document.baseURI).href;

export function serverSource(id: string): Source {
    return { id, name: `match ${id}`, base: serverUrl(`stream/${id}/`), options: {} };
}

/** Of files by their paths; one of them is index.json. */
function fileSource(files: Map<string, Blob>): Source {
    const index = [...files.keys()].find((path) => /(^|\/)index\.json$/.test(path));
    if (index === undefined) {
        throw new Error('no index.json is in it: expected a folder that `carom match stream` has written, or a tar file of one');
    }
    const root = index.slice(0, -'index.json'.length);
    const base = 'file:';
    const get = async (url: string): Promise<Response> => {
        const file = files.get(root + url.slice(base.length + 1));
        if (!file) {
            return new Response(null, { status: 404, statusText: 'not in the file' });
        }
        return file.size > FILE_BYTES ? new Response(null, { status: 413, statusText: 'too large' }) : new Response(file);
    };
    return { id: '', name: root.replace(/\/$/, '') || 'a match from a file', base: `${base}/`, options: { fetch: get } };
}

const text = (bytes: Uint8Array, at: number, size: number): string => new TextDecoder().decode(bytes.subarray(at, at + size)).replace(/\0.*$/s, '');

async function untar(file: Blob): Promise<Map<string, Blob>> {
    const files = new Map<string, Blob>();
    for (let at = 0; at + BLOCK <= file.size && files.size < ENTRIES_MAX; ) {
        const head = new Uint8Array(await file.slice(at, at + BLOCK).arrayBuffer());
        const name = text(head, 0, NAME_BYTES);
        const size = Number.parseInt(text(head, SIZE_AT, SIZE_BYTES).trim() || '0', 8);
        if (name === '') {
            break; // two blocks of zeros end it
        }
        if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > file.size) {
            throw new Error(`${name}: it is cut short, or this is no tar file`);
        }
        if (head[TYPE_AT] === 48 || head[TYPE_AT] === 0) {
            const prefix = text(head, PREFIX_AT, PREFIX_BYTES);
            files.set((prefix ? `${prefix}/${name}` : name).replace(/^(\.\/)+/, ''), file.slice(at + BLOCK, at + BLOCK + size));
        }
        at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    }
    return files;
}

/** Files that an input or a drop gave, each with its path in the folder. */
export async function droppedSource(given: readonly (readonly [string, File])[]): Promise<Source> {
    const [first] = given;
    if (given.length === 1 && first && !first[0].endsWith('index.json')) {
        const head = new TextDecoder('latin1').decode(await first[1].slice(0, SQLITE.length).arrayBuffer());
        if (head === SQLITE) {
            throw new Error(`${first[1].name} is a match file. This page takes its stream: carom match stream ${first[1].name} --out stream, then drop that folder here`);
        }
        const source = fileSource(await untar(first[1]));
        return { ...source, name: first[1].name };
    }
    return fileSource(new Map(given));
}

async function filesBelow(entry: FileSystemEntry, path: string): Promise<(readonly [string, File])[]> {
    if (entry.isFile) {
        const file = await new Promise<File>((good, bad) => (entry as FileSystemFileEntry).file(good, bad));
        return [[path + entry.name, file]];
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const found: (readonly [string, File])[] = [];
    for (;;) {
        const some = await new Promise<FileSystemEntry[]>((good, bad) => reader.readEntries(good, bad));
        if (some.length === 0 || found.length > ENTRIES_MAX) {
            return found;
        }
        for (const one of some) {
            found.push(...(await filesBelow(one, `${path}${entry.name}/`)));
        }
    }
}

export async function droppedFiles(data: DataTransfer): Promise<(readonly [string, File])[]> {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    return (await Promise.all(entries.map((entry) => filesBelow(entry, '')))).flat();
}

function tarHead(name: string, size: number): Uint8Array {
    const head = new Uint8Array(BLOCK);
    const put = (at: number, value: string) => head.set(new TextEncoder().encode(value), at);
    put(0, name);
    put(NAME_BYTES, '0000644\0' + '0000000\0' + '0000000\0' + size.toString(8).padStart(11, '0') + '\0' + '00000000000\0' + ' '.repeat(SUM_BYTES) + '0');
    put(257, 'ustar\0' + '00');
    const sum = head.reduce((total, byte) => total + byte, 0);
    put(SUM_AT, `${sum.toString(8).padStart(6, '0')}\0 `);
    return head;
}

/** The whole stream as one tar file, which this page takes, and `tar` unpacks for `carom match verify`. */
export async function save(source: Source, index: StreamIndex, tell: (part: number) => void): Promise<Blob> {
    const parts: BlobPart[] = [];
    const put = (name: string, bytes: Uint8Array) => {
        parts.push(tarHead(name, bytes.length) as BlobPart, bytes as BlobPart, new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK));
    };
    put('index.json', new TextEncoder().encode(JSON.stringify(index)));
    for (let number = index.first; number < index.first + index.chunks; number++) {
        const response = await (source.options.fetch ?? fetch)(`${source.base}${index.epoch}/${number}.chunk`);
        if (!response.ok) {
            throw new Error(`chunk ${number}: ${response.status} ${response.statusText}`);
        }
        put(`${index.epoch}/${number}.chunk`, new Uint8Array(await response.arrayBuffer()));
        tell((number - index.first + 1) / index.chunks);
    }
    parts.push(new Uint8Array(2 * BLOCK));
    return new Blob(parts, { type: 'application/x-tar' });
}
