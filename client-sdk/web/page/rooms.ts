// The list of what can be watched: rooms of the server that are streamed, and matches that ended, from /rooms and /stream/index.json.
// A room's thumbnail is its match as it is, run again here from the newest keyframe.

import { MatchStream, type StreamIndex } from '../watch/index.js';
import type { Drawing } from './draw.js';
import { serverSource, serverUrl } from './source.js';
import { at, clock, count, getJson, make } from './tools.js';

interface Room {
    room: string;
    scene: string;
    tick: number;
    tick_rate: number;
    players: number;
    max_players: number;
    /** The id of its match, where that is streamed. */
    stream?: string;
}

const LOOK_MS = 2000;
const THUMBNAILS = 4;
const [THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT] = [480, 270];

const link = (text: string, about: string, id: string): HTMLAnchorElement => {
    const made = make('a', { href: `#match=${id}`, textContent: text });
    made.setAttribute('aria-label', `${text} ${about}`);
    return made;
};

const isMatch = (index: StreamIndex): boolean => /^[0-9a-f]{16}$/.test(index.match_id) && index.tick_rate > 0 && Number.isSafeInteger(index.ticks);

export class Rooms {
    private timer = 0;
    private isOpen = false;
    private readonly pictures = new Map<string, HTMLCanvasElement>();
    /** Matches of the server, newest first: what another one is compared with. */
    matches: StreamIndex[] = [];
    /** Rooms by the ids of their matches. */
    readonly names = new Map<string, string>();

    constructor(private readonly drawing: () => Drawing) {}

    open(): void {
        this.isOpen = true;
        void this.look();
    }

    close(): void {
        this.isOpen = false;
        clearTimeout(this.timer);
    }

    private async look(): Promise<void> {
        let none = '';
        const rooms = ((await getJson(serverUrl('rooms')).catch((error: Error) => {
            none = `The server does not answer: ${error.message}`;
            return [];
        })) as Room[]).sort((a, b) => (a.room < b.room ? -1 : 1));
        this.matches = ((await getJson(serverUrl('stream/index.json')).catch(() => [])) as StreamIndex[]).filter(isMatch);
        if (!this.isOpen) {
            return;
        }
        rooms.forEach(({ room, stream }) => stream && this.names.set(stream, room));
        this.showRooms(rooms, none);
        this.showMatches();
        for (const room of rooms.filter(({ stream }) => this.matches.some(({ match_id: id }) => id === stream)).slice(0, THUMBNAILS)) {
            await this.picture(room.stream!).catch(() => undefined); // it ended meanwhile
        }
        if (this.isOpen) {
            this.timer = setTimeout(() => void this.look(), LOOK_MS);
        }
    }

    private showRooms(rooms: Room[], none: string): void {
        const focused = document.activeElement?.getAttribute('href');
        at('rooms-list').replaceChildren(...rooms.map((room) => {
            const there = this.matches.find(({ match_id: id }) => id === room.stream);
            const card = make('li', {}, make('strong', { textContent: room.room }),
                make('p', { textContent: `${room.scene}, ${count(room.players, 'player')} of ${room.max_players}, ${clock(room.tick / room.tick_rate)}` }));
            const picture = there && this.pictures.get(there.match_id);
            if (picture) {
                card.prepend(picture);
            }
            card.append(there ? make('div', { className: 'row' }, link('Watch', room.room, there.match_id))
                : make('p', { className: 'quiet', textContent: room.stream ? 'to watch in a moment' : 'not streamed' }));
            return card;
        }));
        at('rooms-none').hidden = rooms.length > 0;
        at('rooms-none').textContent = none || 'No room is open.';
        if (focused) {
            document.querySelector<HTMLElement>(`#rooms-list a[href="${CSS.escape(focused)}"]`)?.focus();
        }
    }

    private showMatches(): void {
        const ended = this.matches.filter(({ complete }) => complete);
        at('matches-list').replaceChildren(...ended.map((index) => make('li', {}, make('strong', { textContent: `Match ${index.match_id}` }),
            make('p', { textContent: `${clock(index.ticks / index.tick_rate)}, ${index.sign_key ? `signed by ${index.sign_key.slice(0, 8)}…` : 'not signed'}` }),
            make('div', { className: 'row' }, link('Replay', index.match_id, index.match_id)))));
        at('matches-none').hidden = ended.length > 0;
        at('matches-none').textContent = 'Streamed matches of the last day stand here once they have ended.';
    }

    /** Drawn on the view that is hidden meanwhile, and copied: one picture of WebGL for all of them. */
    private async picture(id: string): Promise<void> {
        const source = serverSource(id);
        const stream = await MatchStream.open(source.base, source.options);
        try {
            await stream.seek(stream.index.ticks - 1);
            if (this.isOpen) {
                const drawing = this.drawing();
                drawing.clear();
                stream.players().forEach(({ body }) => body !== null && drawing.players.add(body));
                const shown = drawing.picture(stream.world, THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT);
                const kept = this.pictures.get(id) ?? make('canvas', { width: THUMBNAIL_WIDTH, height: THUMBNAIL_HEIGHT });
                kept.getContext('2d')?.drawImage(shown, 0, 0, THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT);
                kept.setAttribute('aria-hidden', 'true');
                if (!this.pictures.has(id)) {
                    this.pictures.set(id, kept);
                }
                drawing.clear();
            }
        } finally {
            stream.close();
        }
    }
}
