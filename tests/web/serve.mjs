// The project's folder by HTTP on a free port of the loopback, for browsers.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, normalize } from 'node:path';

const TYPES = {
    '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm',
};

/** Calls use(url, answer) while it serves; `answer` is what a page posts to /told, who got `asked` from /asked. Below /stream/ are
 * files of another folder. */
export async function served(use, asked = [], stream = '') {
    let told;
    const answer = new Promise((done) => { told = done; });
    const server = createServer(async (request, response) => {
        if (request.url === '/asked') {
            response.writeHead(200, { 'content-type': TYPES['.json'] }).end(JSON.stringify(asked));
            return;
        }
        if (request.url === '/told') {
            const parts = [];
            for await (const part of request) {
                parts.push(part);
            }
            response.writeHead(204).end();
            told(JSON.parse(Buffer.concat(parts).toString()));
            return;
        }
        const path = normalize(decodeURIComponent(new URL(request.url, 'http://here').pathname));
        readFile(path.startsWith('/stream/') ? stream + path.slice(7) : `.${path}`).then(
            (bytes) => response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes),
            () => response.writeHead(404).end(),
        );
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        return await use(`http://127.0.0.1:${server.address().port}`, answer);
    } finally {
        server.close();
        server.closeAllConnections();
    }
}
