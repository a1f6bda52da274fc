#!/usr/bin/env python3
"""second_reader.py FILE [PUBLIC_KEY]: makes the hash chain of a match file again.

Written from server/record/format/MATCH_FILE.md alone, not from the C code: where the two agree, the
document says all that a second implementation needs. Python's sqlite3, hashlib and struct; zstd and
Ed25519 from their libraries. Prints one line of JSON. Status 0: every link is what the rows give, and
signed where the file says so (by PUBLIC_KEY, 64 hexadecimal digits, where it is given); 1: not; 2: not
to be read.
"""
import ctypes
import ctypes.util
import hashlib
import json
import sqlite3
import struct
import sys

EVENTS = {"join": 1, "leave": 2, "message": 3, "end": 4}
META = ["engine_text", "engine_version", "gap_from", "gap_to", "layout_hash", "match_id", "module", "module_abi", "module_file",
        "module_source", "module_version", "opened", "origin", "parent", "room", "seed",
        "sign_key", "started_unix_ms", "tick_rate"]


class Unreadable(Exception):
    """The file is not what the document says."""


class Changed(Exception):
    """Rows and chain differ, or a signature is not good."""


def library(name):
    found = ctypes.util.find_library(name)
    if found is None:
        raise Unreadable(f"lib{name} is not installed")
    return ctypes.CDLL(found)


# zstd: "alone, or with the bytes of its base as the prefix" ---------------------------------------

ZSTD = library("zstd")
for name in ("ZSTD_getFrameContentSize", "ZSTD_decompressDCtx", "ZSTD_DCtx_refPrefix",
             "ZSTD_DCtx_setParameter"):
    getattr(ZSTD, name).restype = ctypes.c_size_t
ZSTD.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
ZSTD.ZSTD_createDCtx.restype = ctypes.c_void_p


def expand(packed, base=b""):
    size = ZSTD.ZSTD_getFrameContentSize(packed, ctypes.c_size_t(len(packed)))
    if size > 64 << 20:
        raise Unreadable("zstd: no frame, or too large")
    out = ctypes.create_string_buffer(max(size, 1))
    context = ctypes.c_void_p(ZSTD.ZSTD_createDCtx())
    ZSTD.ZSTD_DCtx_setParameter(context, 100, 27)  # the longest window
    if base:
        ZSTD.ZSTD_DCtx_refPrefix(context, base, ctypes.c_size_t(len(base)))
    got = ZSTD.ZSTD_decompressDCtx(context, out, ctypes.c_size_t(size), packed,
                                   ctypes.c_size_t(len(packed)))
    ZSTD.ZSTD_freeDCtx(context)
    if got != size:
        raise Unreadable("zstd: damaged")
    return out.raw[:size]


# Inputs and packs ---------------------------------------------------------------------------------


def players_of(mask):
    return [p for p in range(64) if mask >> p & 1]


def read_row(changed, arrived):
    """[(player, 64 bytes)], [(player, lead, rewound)]"""
    inputs, arrivals = [], []
    if changed:
        players = players_of(struct.unpack_from("<Q", changed)[0])
        width = (len(changed) - 8) // len(players)
        if 8 + width * len(players) != len(changed):
            raise Unreadable("inputs: changed")
        for i, player in enumerate(players):
            at = 8 + i * width
            inputs.append((player, changed[at : at + width].ljust(64, b"\0")))
    if arrived:
        mask, rewound = struct.unpack_from("<QQ", arrived)
        leads = struct.unpack_from(f"<{bin(mask).count('1')}h", arrived, 16)
        arrivals = [(p, lead, rewound >> p & 1) for p, lead in zip(players_of(mask), leads)]
    return inputs, arrivals


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise Unreadable("packs: too short")
        self.at += n
        return self.data[self.at - n : self.at]

    def planes(self, count, width):
        """`count` numbers of `width` bytes: first the low bytes of all, then the next ones."""
        data = self.take(count * width)
        return [sum(data[b * count + i] << 8 * b for b in range(width)) for i in range(count)]


def read_pack(packed):
    """{tick: (inputs, arrivals)}"""
    data = Bytes(expand(packed))
    rows, width, tick = struct.unpack("<IBQ", data.take(13))
    ticks = [tick]
    for step in data.planes(rows - 1, 4):
        ticks.append(ticks[-1] + step)
    masks = []
    for _ in range(3):
        mask, column = 0, []
        for step in data.planes(rows, 8):
            mask ^= step
            column.append(mask)
        masks.append(column)
    result = {t: ([], []) for t in ticks}
    for player in range(64):
        mine = [i for i in range(rows) if masks[0][i] >> player & 1]
        inputs = [bytearray(64) for _ in mine]
        for byte in range(width):
            last = 0
            for k, step in enumerate(data.take(len(mine))):
                last ^= step
                inputs[k][byte] = last
        for k, i in enumerate(mine):
            result[ticks[i]][0].append((player, bytes(inputs[k])))
        mine = [i for i in range(rows) if masks[1][i] >> player & 1]
        lead = 0
        for i, step in zip(mine, data.planes(len(mine), 2)):
            lead = (lead + step) % 65536
            signed = lead - 65536 if lead > 32767 else lead
            result[ticks[i]][1].append((player, signed, masks[2][i] >> player & 1))
    if data.at != len(data.data):
        raise Unreadable("packs: bytes left over")
    return result


# The chain ----------------------------------------------------------------------------------------


def blake(data, key=b""):
    return hashlib.blake2b(data, digest_size=32, key=key).digest()


class Chain:
    def __init__(self):
        self.value = blake(b"carom match file, chain 2")

    def add(self, letter, layout, *fields):
        self.value = blake(letter + struct.pack("<" + layout, *fields), self.value)


def commitment(salt, kind, text):
    key = salt + bytes(16)
    return blake(b"C" + blake(kind.encode()) + blake(text.encode(), key), key)


def check_signature(chain, tick, key, signature):
    message = b"carom match file, link 2" + struct.pack("<Q", tick) + chain.value
    sodium = library("sodium")
    if len(signature or b"") != 64 or sodium.crypto_sign_verify_detached(
            signature, message, ctypes.c_ulonglong(len(message)), key):
        raise Changed(f"tick {tick}: not signed by the file's key")


class Reader:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        (application,), (version,) = (self.rows(f"PRAGMA {p}")[0] for p in
                                      ("application_id", "user_version"))
        if application != 0x43524D4D or version != 2:
            raise Unreadable(f"application_id {application:#x}, user_version {version}")
        self.chain = Chain()
        self.result = {"ticks": 0, "links": 0, "signed_links": 0, "personal": 0, "erased": 0}

    def rows(self, sql):
        return self.db.execute(sql).fetchall()

    def by_tick(self, sql):
        found = {}
        for tick, *row in self.rows(sql):
            found.setdefault(tick, []).append(row)
        return found

    def head(self):
        meta = self.rows("SELECT key, value FROM meta ORDER BY key")
        seam = {"gap_from", "gap_to", "origin", "parent"}
        missing = set(META) - {key for key, _ in meta}
        if [key for key, _ in meta] != [key for key in META if key not in missing] or \
                missing - seam - {"room", "opened"} or missing & seam not in (set(), seam):
            raise Unreadable("meta: keys")
        self.first = dict(meta).get("gap_to", 0)
        for key, value in meta:
            self.chain.add(b"M", "32s32s", blake(key.encode()), blake(str(value).encode()))
        self.key = bytes.fromhex(dict(meta)["sign_key"])
        ((number, packed),) = self.rows("SELECT id, packed FROM scene")
        self.chain.add(b"S", "32s", blake(expand(packed)))

    def personal(self, tick):
        for client_id, kind, committed, salt, value in self.people.pop(tick, []):
            self.result["personal"] += 1
            if salt is None and value is None:
                self.result["erased"] += 1
            elif commitment(salt, kind, value) != committed:
                raise Changed(f"personal: tick {tick}: not the text committed to")
            self.chain.add(b"P", "QQ32s32s", tick, int(client_id or 0), blake(kind.encode()), committed)

    def tick(self, tick, state):
        events = self.events.pop(tick, [])
        if events and events[0][0] == "resumed":
            events = events[1:]
            self.chain.add(b"G", "Q", tick)
        for kind, player, client_id, payload in events:
            self.chain.add(b"V", "IIQ32s", EVENTS[kind], player, int(client_id or 0),
                           blake(payload or b""))
        inputs, arrivals = self.inputs.pop(tick, ([], []))
        for player, data in inputs:
            self.chain.add(b"I", "I64s", player, data)
        for player, lead, rewound in arrivals:
            self.chain.add(b"A", "IhB", player, lead, rewound)
        self.chain.add(b"T", "QQIII", tick, state % 2**64, len(events), len(inputs), len(arrivals))
        for row in self.statistics.pop(tick, []):
            self.chain.add(b"R", "QIQQQQ", tick, *row)

    def link(self, tick, chain, signature, signs):
        if chain != self.chain.value:
            raise Changed(f"tick {tick}: the rows up to here give another chain")
        self.result["links"] += 1
        if self.key and signs:
            check_signature(self.chain, tick, self.key, signature)
            self.result["signed_links"] += 1
        elif signature is not None:
            raise Changed(f"tick {tick}: a signature where none belongs")

    def keyframe(self, tick, links):
        for base, packed in self.keyframes.pop(tick, []):
            if base is not None and base != self.base_tick:
                raise Unreadable(f"keyframes: {tick}: base")
            self.base = expand(packed, b"" if base is None else self.base)
            self.base_tick = tick
            self.chain.add(b"K", "Q32s", tick, blake(self.base))
            if tick not in links:
                raise Changed(f"links: {tick} is not there")
            self.link(tick, *links.pop(tick)[0], True)

    def read_inputs(self):
        self.inputs = {}
        for tick, changed, arrived in self.rows("SELECT tick, changed, arrived FROM inputs"):
            self.inputs[tick] = read_row(changed, arrived)
        for first, last, packed in self.rows("SELECT first, tick, packed FROM packs"):
            pack = read_pack(packed)
            if min(pack) != first or max(pack) != last or pack.keys() & self.inputs.keys():
                raise Unreadable(f"packs: {last}: its ticks")
            self.inputs.update(pack)

    def end(self, links):
        ((number, tick, how, chain, signature),) = self.rows("SELECT * FROM last")
        if tick != self.result["ticks"]:
            raise Changed(f"cut: {self.result['ticks']} ticks, recorded up to {tick}")
        self.personal(tick + 1)
        left = [self.people, self.events, self.inputs, self.statistics, self.keyframes, links]
        if any(left):
            raise Changed("rows of ticks that are not there")
        if how is not None:
            self.chain.add(b"E", "Q32s", tick, blake(how.encode()))
        self.link(tick, chain, signature, how is not None)
        self.result["how"] = how

    def read(self):
        self.head()
        self.people = self.by_tick("SELECT tick, client_id, kind, commitment, salt, value FROM personal "
                                   "ORDER BY number")
        self.events = self.by_tick("SELECT tick, type, player, client_id, payload FROM events ORDER BY "
                                   "tick, number")
        self.statistics = self.by_tick("SELECT tick, player, inputs, late, rewound_ticks, refused FROM "
                                       "statistics ORDER BY tick, player")
        self.keyframes = self.by_tick("SELECT tick, base, packed FROM keyframes ORDER BY tick")
        links = self.by_tick("SELECT tick, chain, signature FROM links")
        self.base, self.base_tick = b"", None
        self.read_inputs()
        if self.first > 0 and self.first not in self.keyframes:
            raise Unreadable(f"keyframes: {self.first}, with which it begins, is not there")
        for expected, (tick, state) in enumerate(self.rows("SELECT tick, hash FROM ticks ORDER BY tick"),
                                                 self.first):
            if tick != expected:
                raise Unreadable(f"ticks: {expected} is not there")
            self.personal(tick)
            self.tick(tick, state)
            self.result["ticks"] = tick
            self.keyframe(tick, links)
        self.end(links)
        self.result["chain"] = self.chain.value.hex()


def main(path, asked=None):
    try:
        reader = Reader(path)
        reader.read()
        if asked is not None and (reader.key.hex() != asked or reader.result["how"] in (None, "cut")):
            raise Changed("not signed to its end by the key that was asked for")
    except Changed as why:
        print(json.dumps({"changed": str(why)}))
        return 1
    except (Unreadable, sqlite3.Error, KeyError, ValueError, TypeError, struct.error) as why:
        print(json.dumps({"unreadable": f"{type(why).__name__}: {why}"}))
        return 2
    print(json.dumps(reader.result))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
