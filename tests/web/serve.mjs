// The project's folder by HTTP on a free port of the loopback, for browsers.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, normalize } from 'node:path';

const TYPES = {
    '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm',
};

/** Calls use(url) while it serves. */
export async function served(use) {
    const server = createServer((request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, 'http://here').pathname));
        readFile(`.${path}`).then(
            (bytes) => response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes),
            () => response.writeHead(404).end(),
        );
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        return await use(`http://127.0.0.1:${server.address().port}`);
    } finally {
        server.close();
        server.closeAllConnections();
    }
}
