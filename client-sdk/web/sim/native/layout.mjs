// Writes layout.ts: where the fields of the public structs lie, as layout.wasm tells.
// node layout.mjs LAYOUT.wasm OUT.ts
import { readFile, writeFile } from 'node:fs/promises';

const [, , program, out] = process.argv;
const { instance } = await WebAssembly.instantiate(await readFile(program), {});
const { memory, cw_fields, cw_field_count } = instance.exports;
const words = new Uint32Array(memory.buffer);
const bytes = new Uint8Array(memory.buffer);

function text(at) {
    return Buffer.from(bytes.subarray(at, bytes.indexOf(0, at))).toString();
}

// carom_body_def -> BodyDef, cw_frame -> Frame; limits.bodies -> limits_bodies
const typeName = (name) => name.replace(/^(carom|cw)/, '').replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const fieldName = (name) => (name === 'bytes' ? 'bytes_' : name.replace(/\./g, '_')); // `bytes` is the struct's size

const types = new Map();
for (let i = 0; i < cw_field_count(); i++) {
    const row = (cw_fields() >> 2) + 5 * i;
    const type = typeName(text(words[row]));
    if (!types.has(type)) {
        types.set(type, [`    bytes: ${words[row + 4]},`]);
    }
    types.get(type).push(`    ${fieldName(text(words[row + 1]))}: ${words[row + 2]},`);
}
let source = '// Written by native/layout.mjs at each build: offsets in bytes.\n';
for (const [type, fields] of types) {
    source += `\n/** @internal */\nexport const ${type} = {\n${fields.join('\n')}\n} as const;\n`;
}
await writeFile(out, source);
