#!/usr/bin/env python3
"""Reads the recorded packets of tests/protocol/vectors/ and compares what they hold.

Written from proto/PROTOCOL.md alone, not from the C code, and with nothing but Python's standard
library: where the two agree, the document says all that a second implementation needs. The numbers
in comments are its sections. Exit status 0: every vector reads as recorded; 1: one does not.
"""
import hashlib
import json
import math
import pathlib
import re
import struct
import sys

import secure

PACKET_MAX = 1152
TICKET_MAX = 446
OUT_OF_RANGE = 0xFFFFFFFF


class Refused(Exception):
    """A packet that a reader must refuse; the argument is the reason."""


class Bits:
    """Section 4: least significant bit first."""

    def __init__(self, data, offset):
        self.data, self.at = data, offset * 8

    def u(self, n):
        if self.at + n > len(self.data) * 8:
            raise Refused("SHORT")
        value = 0
        for i in range(n):
            bit = self.at + i
            value |= ((self.data[bit // 8] >> (bit % 8)) & 1) << i
        self.at += n
        return value

    def s(self, n):
        return signed(self.u(n), n)

    def end(self):
        left = len(self.data) * 8 - self.at
        if left >= 8:
            raise Refused("LONG")
        if self.u(left) != 0:
            raise Refused("RANGE")


def signed(value, n):
    value &= (1 << n) - 1
    return value - (1 << n) if value >> (n - 1) else value


def begin(data, kind, header):
    """The checks that both packets share, in the order of section 4."""
    if len(data) > PACKET_MAX:
        raise Refused("LONG")
    if not data:
        raise Refused("SHORT")
    if data[0] != kind:
        raise Refused("TYPE")
    if len(data) < header:
        raise Refused("SHORT")


# Section 5 ---------------------------------------------------------------------------------------


def read_input(bits, before):
    if bits.u(1):
        return before
    differs = [bits.u(1) for _ in before]
    if not any(differs):
        raise Refused("RANGE")
    return bytes(bits.u(8) if d else b for d, b in zip(differs, before))


def read_inputs(data, input_size):
    begin(data, 1, 14)
    _, flags, epoch, ack_sequence, ack_bits, newest, count = struct.unpack_from("<BBBHIIB", data)
    has_ack = flags & 1
    if flags & ~1 or (not has_ack and (ack_sequence or ack_bits)) or count > 64:
        raise Refused("RANGE")
    if count > 0 and newest + 1 < count:
        raise Refused("RANGE")
    bits = Bits(data, 14)
    before = bytes(input_size)
    inputs = []
    for _ in range(count):
        before = read_input(bits, before)
        inputs.append(before.hex())
    bits.end()
    return {
        "epoch": epoch,
        "has_ack": has_ack,
        "ack_sequence": ack_sequence,
        "ack_bits": ack_bits,
        "newest_tick": newest,
        "inputs": inputs,
    }


def read_message_packet(data, kind):
    """Sections 5.3 (type 3) and 6.4 (type 4)."""
    head = 2 if kind == 3 else 6
    if len(data) > head + 256:
        raise Refused("LONG")
    begin(data, kind, head)
    return data[1], int.from_bytes(data[2:head], "little"), data[head:].hex()


# Section 7 ---------------------------------------------------------------------------------------


def binary32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def position_bits(lower, upper, step):
    bits = []
    for low, high in zip(lower, upper):
        b = 1
        while 2**b - 1 < (high - low) / binary32(step):
            b += 1
        bits.append(b)
    return bits


def difference(bits, base, n, is_signed, small, medium):
    if not bits.u(1):
        value = base + bits.s(small)
    elif not bits.u(1):
        value = base + bits.s(medium)
    else:
        value = bits.u(n)
    return signed(value, n) if is_signed else value & ((1 << n) - 1)


def differences(bits, base, widths, is_signed, small, medium):
    return [
        difference(bits, b, n, is_signed, small, medium) for b, n in zip(base, widths)
    ]


def moving(body):
    return body["has_velocity"] == 1 and body["at_rest"] == 0


def read_body(bits, axis_bits, base):
    body = {"linear": [0, 0, 0], "angular": [0, 0, 0]}
    if base is None:
        body["at_rest"], body["has_velocity"] = bits.u(1), bits.u(1)
        body["position"] = [bits.u(n) for n in axis_bits]
        body["largest"] = bits.u(2)
        body["orientation"] = [bits.u(11) for _ in range(3)]
        if moving(body):
            body["linear"] = [bits.s(16) for _ in range(3)]
            body["angular"] = [bits.s(15) for _ in range(3)]
        return body
    if not bits.u(1):
        return dict(base)
    for field in ("position", "largest", "orientation"):
        body[field] = base[field]
    body["at_rest"], body["has_velocity"] = bits.u(1), bits.u(1)
    if bits.u(1):
        body["position"] = differences(bits, base["position"], axis_bits, False, 3, 9)
    if bits.u(1):
        if bits.u(1):
            body["orientation"] = differences(bits, base["orientation"], [11] * 3, False, 4, 8)
        else:
            body["largest"] = bits.u(2)
            body["orientation"] = [bits.u(11) for _ in range(3)]
    if moving(body):
        body["linear"], body["angular"] = base["linear"], base["angular"]
        if bits.u(1):
            body["linear"] = differences(bits, base["linear"], [16] * 3, True, 5, 9)
        if bits.u(1):
            body["angular"] = differences(bits, base["angular"], [15] * 3, True, 5, 9)
    return body


def words(body):
    yield body["at_rest"]
    yield body["has_velocity"]
    yield from body["position"]
    yield body["largest"]
    for field in ("orientation", "linear", "angular"):
        yield from body[field]


class Check:
    """Section 7.3."""

    def __init__(self):
        self.c = 0

    def take(self, word):
        c = ((self.c ^ (word & 0xFFFFFFFF)) * 0x9E3779B1) & 0xFFFFFFFF
        self.c = c ^ (c >> 15)

    def end(self):
        return (self.c ^ (self.c >> 16)) & 0xFFFF


def pose(body, lower, step):
    p = [low + n * binary32(step) for low, n in zip(lower, body["position"])]
    three = [(code - 1023) / (1023 * math.sqrt(2)) for code in body["orientation"]]
    rest = 1 - sum(c * c for c in three)
    q = three[: body["largest"]] + [math.sqrt(max(rest, 0))] + three[body["largest"] :]
    length = math.sqrt(sum(c * c for c in q))
    return {
        "position": p,
        "orientation": [c / length for c in q],
        "linear": [v / 256 for v in body["linear"]],
        "angular": [v / 256 for v in body["angular"]],
    }


# Section 6 ---------------------------------------------------------------------------------------


def read_slot(bits, last):
    if bits.u(1):
        return last + 1
    if not bits.u(1):
        return last + 2 + bits.u(4)
    slot = bits.u(16)
    return slot if slot > last else OUT_OF_RANGE


def read_drive(bits, base):
    """Section 7.4."""
    words = []
    for before in base or [0] * 10:
        if not bits.u(1):
            words.append(before)
        elif not bits.u(1):
            words.append((before + bits.s(20)) % 2**32)
        else:
            words.append(bits.u(32))
    return words


def read_list(bits, header, axis_bits, kept, check, room):
    """The bodies; with axis_bits None the drives. `room`: how many entries are left."""
    entries = []
    last, age = -1, 0
    while bits.u(1):
        if len(entries) == room:
            raise Refused("RANGE")
        slot = read_slot(bits, last)
        generation = bits.u(2)
        if not bits.u(1):
            age = bits.u(7)
        if slot > 65535:
            raise Refused("RANGE")
        base = None
        if age > 0:
            key = slot if axis_bits else ("joint", slot)
            base = kept.get((header["sequence"] - age) % 65536, {}).get(key)
            if base is None:
                raise Refused("BASELINE")
        entry = {"generation": generation, "baseline_age": age}
        if axis_bits:
            entry.update(index=slot, body=read_body(bits, axis_bits, base))
            told = (generation, slot, *words(entry["body"]))
        else:
            entry.update(joint=slot, words=read_drive(bits, base))
            told = (generation, 65536 + slot, *entry["words"])
        for word in told:
            check.take(word)
        entries.append(entry)
        last = slot
    return entries


def single(x):
    """A binary32 as the vectors have it: nine digits."""
    return float("%.9g" % x)


def read_view(data, axis_bits, kept):
    begin(data, 2, 15)
    _, epoch, sequence, tick, input_ack, lead, flags = struct.unpack_from("<BBHIIhB", data)
    if flags & ~127 or flags & 65 == 65:
        raise Refused("RANGE")
    header = {"epoch": epoch, "sequence": sequence, "tick": tick}
    header.update(input_ack=input_ack, input_lead=lead)
    check = Check()
    for word in (epoch, sequence, tick, input_ack, lead % 65536):
        check.take(word)
    if flags & 64:
        header["public_unsure"] = 1
        check.take(1)
    bits = Bits(data, 15)
    if flags & 1:
        size, number, back = bits.u(16), bits.u(8), bits.u(8)
        if size > 1024 or back > 63:
            raise Refused("RANGE")
        header.update(public_number=number, public_back=back)
        header["present"] = bits.u(64)
        public = bytes(bits.u(8) for _ in range(size))
        header["public_state"] = public.hex()
        present = header["present"]
        for word in (size, number, back, present & 0xFFFFFFFF, present >> 32, *public):
            check.take(word)
    if flags & 2:
        wrench = [bits.u(32) for _ in range(6)]
        if any(word & 0x7F800000 == 0x7F800000 for word in wrench):
            raise Refused("RANGE")
        numbers = struct.unpack("<6f", struct.pack("<6I", *wrench))
        header["force"] = [single(x) for x in numbers[:3]]
        header["torque"] = [single(x) for x in numbers[3:]]
        for word in wrench:
            check.take(word)
    if flags & 4:
        age = bits.u(16)
        if age > tick:
            raise Refused("RANGE")
        header["durable_age"] = age
        check.take(age)
    if flags & 8:
        header["messages"] = bits.u(16)
        check.take(header["messages"])
    if flags & 16:
        size = bits.u(16)
        if size == 0 or size > 256:
            raise Refused("RANGE")
        relay = bytes(bits.u(8) for _ in range(size))
        header["relay"] = relay.hex()
        for word in relay:
            check.take(word)
    entries = read_list(bits, header, axis_bits, kept, check, 1024)
    if flags & 32:
        entries += read_list(bits, header, None, kept, check, 1024 - len(entries))
    told = bits.u(16)
    bits.end()
    if told != check.end():
        raise Refused("CHECK")
    kept[sequence] = {
        e.get("index", ("joint", e.get("joint"))): e.get("body") or e["words"] for e in entries
    }
    return header, entries


def read_state(data, before):
    """Section 6.3."""
    bits = Bits(data, 0)
    after = b"".join(read_input(bits, before[at : at + 4]) for at in range(0, len(before), 4))
    bits.end()
    return after


def read_relay(data, tick, input_size, kept):
    """Section 6.1; `kept`: what was told before, {(player, tick): input}."""
    bits = Bits(data, 0)
    back = bits.u(7)
    slots = bits.u(6) + 1
    players = [slot for slot in range(slots) if bits.u(1)]
    if back > tick or slots - 1 not in players:
        raise Refused("RANGE")
    told, ahead = [], 0
    for player in players:
        based = bits.u(1)
        if not bits.u(1):
            ahead = bits.u(5)
        before = kept.get((player, tick - back)) if based else bytes(input_size)
        is_known, before = before is not None, before or bytes(input_size)
        same = bits.u(1)
        for t in range(tick - back + 1, tick + ahead + 1):
            before = before if same else read_input(bits, before)
            if is_known:
                told.append([player, t, before.hex()])
    bits.end()
    kept.update({(player, t): bytes.fromhex(text) for player, t, text in told})
    return told


# Section 3 ---------------------------------------------------------------------------------------


def varint(data, at):
    value = 0
    for i in range(10):
        if at >= len(data):
            raise Refused("encoding")
        value |= (data[at] & 0x7F) << (7 * i)
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise Refused("encoding")


def fields(data):
    """(number, wire type, value) of one protobuf message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 2, 5):
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, at = varint(data, at)
            if at + size > len(data):
                raise Refused("encoding")
            value, at = data[at : at + size], at + size
        else:
            raise Refused("group")
        yield tag >> 3, kind, value


NUMBER, TEXT, BYTES, MANY, GONE, FLAG, PLAYERS, ROOMS = range(8)
# From proto/control.proto: field number -> name, kind, required.
MESSAGES = {
    1: {1: ("protocol", NUMBER, 1), 2: ("engine", NUMBER, 1), 3: ("name", TEXT, 0),
        4: ("user_data", BYTES, 0), 5: ("predict", FLAG, 0), 6: ("spectate", FLAG, 0),
        7: ("room", TEXT, 0), 8: ("epoch", NUMBER, 0), 9: ("messages_had", NUMBER, 0),
        10: ("module", TEXT, 0), 11: ("module_version", NUMBER, 0), 12: ("module_abi", NUMBER, 0),
        13: ("module_source", TEXT, 0)},
    2: {1: ("player", NUMBER, 1), 2: ("client_id", NUMBER, 1), 3: ("tick_rate", NUMBER, 1),
        4: ("view_rate", NUMBER, 1), 5: ("input_rate", NUMBER, 1), 6: ("rewind_ms", NUMBER, 1),
        7: ("module", TEXT, 1), 8: ("module_version", NUMBER, 1), 9: ("scene", BYTES, 1),
        10: ("tick", NUMBER, 1), 11: ("keyframe", BYTES, 1), 12: ("present", NUMBER, 1),
        13: ("epoch", NUMBER, 1), 14: ("messages", NUMBER, 1), 15: ("ticket", BYTES, 0),
        16: ("ticket_key", BYTES, 0), 17: ("grace_ms", NUMBER, 0),
        18: ("durability", NUMBER, 1), 19: ("durable_tick", NUMBER, 1),
        20: ("messages_before", NUMBER, 1), 21: ("module_abi", NUMBER, 1),
        22: ("module_source", TEXT, 0), 23: ("seed", NUMBER, 1), 24: ("keyframe_size", NUMBER, 0)},
    3: {1: ("reason", NUMBER, 1), 2: ("text", TEXT, 0)},
    4: {1: ("tick", NUMBER, 1), 2: ("spawned", MANY, 0), 3: ("gone", GONE, 0),
        4: ("frame", BYTES, 0)},
    5: {1: ("tick", NUMBER, 1), 2: ("payload", BYTES, 1)},
    6: {1: ("rate_permille", NUMBER, 1)},
    7: {1: ("reason", NUMBER, 1)},
    8: {1: ("players", PLAYERS, 0)},
    9: {1: ("tick", NUMBER, 1), 2: ("durability", NUMBER, 1)},
    10: {1: ("tick", NUMBER, 1), 2: ("rows", BYTES, 1)},
    11: {},
    12: {1: ("first", NUMBER, 1), 2: ("total", NUMBER, 1), 3: ("rooms", ROOMS, 0)},
    13: {1: ("data", BYTES, 1)},
    14: {1: ("text", TEXT, 1), 2: ("reason", NUMBER, 0), 3: ("seconds_left", NUMBER, 0)},
    15: {1: ("ticks", BYTES, 0), 2: ("differs", NUMBER, 0)},
}
PART = 256 << 10
# A row of message 8.
PLAYER = {1: ("player", NUMBER, 1), 2: ("name", TEXT, 1), 3: ("body_index", NUMBER, 1),
          4: ("body_generation", NUMBER, 1), 5: ("rtt_ms", NUMBER, 1), 6: ("away", FLAG, 1)}
ROOM = {1: ("name", TEXT, 1), 2: ("scene", TEXT, 1), 3: ("module", TEXT, 1), 4: ("players", NUMBER, 1),
        5: ("max_players", NUMBER, 1), 6: ("port", NUMBER, 1)}


def read_message(table, data):
    message = {}
    for number, (name, what, required) in table.items():
        if what in (MANY, GONE, PLAYERS, ROOMS):
            message[name] = []
        elif what == FLAG and not required:
            message[name] = 0
        elif name in ("user_data", "ticket", "ticket_key", "frame"):
            message[name] = ""
        elif name == "grace_ms":
            message[name] = 0
    for number, wire, value in fields(data):
        if number not in table:
            continue
        name, what, _ = table[number]
        if (wire == 0) != (what in (NUMBER, FLAG)):
            raise Refused("encoding")
        if what == MANY:
            message[name].append(value.hex())
        elif what == GONE:
            pair = {n: v for n, _, v in fields(value)}
            message[name].append([pair[1], pair[2]])
        elif what == PLAYERS:
            message[name].append(read_message(PLAYER, value))
        elif what == ROOMS:
            message[name].append(read_message(ROOM, value))
        elif what == TEXT:
            message[name] = value.decode("utf-8")
        elif what == BYTES:
            message[name] = value.hex()
        else:
            message[name] = value
    for name, _, required in table.values():
        if required and name not in message:
            raise Refused("a required field is missing")
    return message


def frame_content(frame, most=16 << 20):
    """What a zstd frame says of its content's size, and that it is one."""
    data = bytes.fromhex(frame)
    if data[:4] != b"\x28\xb5\x2f\xfd":
        raise Refused("not a zstd frame")
    single, code = data[4] >> 5 & 1, data[4] >> 6
    at = 5 + (0 if single else 1) + (0, 1, 2, 4)[data[4] & 3]
    size = (1 if single else 0, 2, 4, 8)[code]
    told = int.from_bytes(data[at : at + size], "little") + (256 if code == 1 else 0)
    if size == 0 or told > most:
        raise Refused("size")
    return told


def event_rows(data):
    """Of an Events: kind, key, both subjects, bytes."""
    rows, at = [], 0
    while at < len(data) or not rows:
        if len(data) - at < 25 or data[at + 24] > min(32, len(data) - at - 25) or len(rows) == 32:
            raise Refused("events")
        end = at + 25 + data[at + 24]
        rows.append([*struct.unpack_from("<IIQQ", data, at), data[at + 25 : end].hex()])
        at = end
    if len({tuple(row[:4]) for row in rows}) < len(rows):
        raise Refused("events")
    return rows


def take(data, at, size):
    if at + size > len(data):
        raise Refused("truncated")
    return data[at : at + size], at + size


def confirmed_ticks(data):
    """Of a Confirmed: tick, hash, whether a server went on with it, events, inputs."""
    ticks, at = [], 0
    if not 0 < len(data) <= 256 << 10:
        raise Refused("size")
    while at < len(data):
        head, at = take(data, at, 9)
        flags, hashed = struct.unpack("<BQ", head)
        if flags & 16:
            if not ticks:
                raise Refused("follows none")
            tick = ticks[-1][0] + 1
        else:
            blob, at = take(data, at, 8)
            (tick,) = struct.unpack("<Q", blob)
        count = 0
        if flags & 2:
            blob, at = take(data, at, 2)
            (count,) = struct.unpack("<H", blob)
        if flags > 31 or count > 256 or flags & 2 and count == 0:
            raise Refused("head")
        if not 0 < tick < 1 << 32 or ticks and tick != ticks[-1][0] + 1:
            raise Refused("tick")
        events, inputs = [], []
        for _ in range(count):
            head, at = take(data, at, 12)
            kind, player, client, size = struct.unpack("<BBQH", head)
            if size > {1: 256, 2: 7, 3: 1024, 4: 0}.get(kind, -1) or player > 63:
                raise Refused("event")
            told, at = take(data, at, size)
            events.append([kind, player, client, told.hex()])
        if flags & 4:
            players, shift, more = 0, 0, 128
            while more:
                blob, at = take(data, at, 1)
                more, players = blob[0] & 128, players | (blob[0] & 127) << shift
                shift += 7
                if players >> 64 or blob == b"\0":
                    raise Refused("players")
            blob, at = take(data, at, 1)
            if blob[0] > 64:
                raise Refused("width")
            for player in range(64):
                if players >> player & 1:
                    told, at = take(data, at, blob[0])
                    inputs.append([player, told.ljust(64, b"\0").hex()])
        if flags & 8:
            blob, at = take(data, at, 2)
            (arrived,) = struct.unpack("<H", blob)
            blob, at = take(data, at, arrived)
            came, late = struct.unpack("<QQ", blob[:16].ljust(16, b"\0"))
            if came == 0 or late & ~came or arrived != 16 + 2 * came.bit_count():
                raise Refused("arrived")
        ticks.append([tick, hashed, flags & 1, events, inputs])
    return ticks


def read_chunk(data):
    """The body of a chunk of a match's stream (section 11)."""
    head, at = take(data, 0, 80)
    magic, form, end, zero, match, first, number, count = struct.unpack_from("<4sHBBQQII", head)
    if magic != b"CRMC" or form != 1 or end > 4 or zero != 0:
        raise Refused("no chunk")
    chunk = {"end": end, "match": match, "first": first, "number": number, "before": head[32:64].hex()}
    parts = []
    for size in struct.unpack_from("<4I", head, 64):
        part, at = take(data, at, size)
        parts.append(part)
    if at != len(data):
        raise Refused("left over")
    texts, inside = [], 1
    for _ in range(2 * parts[0][0] if parts[0] else 0):
        text, inside = take(parts[0], inside + 1, parts[0][inside])
        texts.append(text.decode("ascii"))
    chunk["meta"] = dict(zip(texts[::2], texts[1::2]))
    if parts[0]:
        size, inside = take(parts[0], inside, 4)
        chunk["scene"], inside = take(parts[0], inside, struct.unpack("<I", size)[0])
    chunk["keyframe"] = parts[1]
    chunk["personal"] = [(*struct.unpack_from("<QQ", parts[2], at), parts[2][at + 16 : at + 48].hex())
                         for at in range(0, len(parts[2]), 48)]
    chunk["ticks"] = confirmed_ticks(parts[3])
    if len(chunk["ticks"]) != count or chunk["ticks"][0][0] != first:
        raise Refused("ticks")
    return chunk


def read_control(data, from_client):
    if len(data) > (2048 if from_client else 8 << 20):
        raise Refused("size")
    members = [(n, w, v) for n, w, v in fields(data) if n <= 15]
    if len(members) != 1 or members[0][1] != 2:
        raise Refused("exactly one member")
    kind, _, value = members[0]
    if kind not in ((1, 5, 11, 15) if from_client else (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15)):
        raise Refused("not from this side")
    message = {"type": kind, **read_message(MESSAGES[kind], value)}
    if kind == 1:
        if ("epoch" in message) != ("messages_had" in message):
            raise Refused("half a comeback")
        if message.get("epoch", 0) > 255:
            raise Refused("range")
        if not re.fullmatch("[a-z0-9_]{0,31}", message.get("module", "")):
            raise Refused("module")
        if not re.fullmatch("([0-9a-f]{64})?", message.get("module_source", "")):
            raise Refused("module_source")
    if kind == 2:
        frame_content(message.pop("scene"))
        here, parts = frame_content(message.pop("keyframe")), message.get("keyframe_size", 0)
        if parts and (here or not PART < parts <= 64 << 20):
            raise Refused("keyframe")
    if kind == 2:
        key = 64 if message["ticket"] else 0
        if message["epoch"] > 255 or message["grace_ms"] > 600000:
            raise Refused("range")
        if len(message["ticket"]) > 2 * TICKET_MAX or len(message["ticket_key"]) != key:
            raise Refused("ticket")
        if message["durability"] > 3 or message["durable_tick"] > message["tick"]:
            raise Refused("durability")
    if kind == 13:
        message["size"] = frame_content(message.pop("data"), PART)
        if message["size"] == 0:
            raise Refused("part")
    if kind == 8:
        slots = [p["player"] for p in message["players"]]
        if slots != sorted(set(slots)) or any(s > 63 for s in slots):
            raise Refused("players")
    if kind == 9 and not 1 <= message["durability"] <= 3:
        raise Refused("durability")
    if kind == 10:
        message["rows"] = event_rows(bytes.fromhex(message["rows"]))
    if kind == 12:
        rooms = message["rooms"]
        if len(rooms) > 64 or message["total"] > 65535 or message["first"] + len(rooms) > message["total"]:
            raise Refused("rooms")
        for room in rooms:
            if max(room["players"], room["max_players"]) > 64 or room["port"] > 65535:
                raise Refused("room")
    if kind == 14 and (len(message["text"].encode()) > 256 or not message["text"].isprintable()):
        raise Refused("text")
    if kind == 15:
        if from_client != ("differs" in message) or from_client == ("ticks" in message):
            raise Refused("confirmed")
        if from_client and not 1 <= message["differs"] < 1 << 32:
            raise Refused("tick")
        if not from_client:
            message["ticks"] = confirmed_ticks(bytes.fromhex(message["ticks"]))
    if kind == 6 and not 1 <= message["rate_permille"] <= 1000:
        raise Refused("rate")
    return message


# Comparing ---------------------------------------------------------------------------------------

failures = []
compared = 0


def expect(where, what, got, expected):
    global compared
    compared += 1
    if got != expected:
        failures.append(f"{where}: {what}: read {got!r}, recorded {expected!r}")


def close(a, b, within):
    return all(abs(x - y) <= within for x, y in zip(a, b))


def test_inputs(vectors):
    for v in vectors["vectors"]:
        where = "inputs, " + v["name"]
        try:
            packet = read_inputs(bytes.fromhex(v["hex"]), vectors["input_size"])
            expect(where, "reason", "OK", v["reason"])
            expect(where, "packet", packet, v.get("packet"))
        except Refused as reason:
            expect(where, "reason", str(reason), v["reason"])


def test_messages(vectors):
    for v in vectors["vectors"]:
        where = "messages, " + v["name"]
        try:
            read = read_message_packet(bytes.fromhex(v["hex"]), v["type"])
            expect(where, "reason", "OK", v["reason"])
            expect(where, "message", read, (v.get("epoch"), v.get("tick"), v.get("message")))
        except Refused as reason:
            expect(where, "reason", str(reason), v["reason"])


def test_views(vectors):
    axis_bits = position_bits(vectors["lower"], vectors["upper"], vectors["position_step"])
    kept = {}
    for v in vectors["stream"]:
        where = "views, " + v["name"]
        try:
            header, entries = read_view(bytes.fromhex(v["hex"]), axis_bits, kept)
            expect(where, "reason", "OK", v["reason"])
            expect(where, "header", header, v.get("header"))
            expect(where, "number of bodies", len(entries), len(v.get("entries", [])))
            for got, expected in zip(entries, v.get("entries", [])):
                expect(where, f"slot {got.get('index', got.get('joint'))}", got, expected)
        except Refused as reason:
            expect(where, "reason", str(reason), v["reason"])
    for i, v in enumerate(vectors["poses"]):
        got = pose(v["body"], vectors["lower"], vectors["position_step"])
        for field, within in (("position", 1e-5), ("orientation", 2e-6), ("linear", 1e-6),
                              ("angular", 1e-6)):
            expect(f"pose {i}", field, close(got[field], v["pose"][field], within), True)


def test_states(vectors):
    for i, v in enumerate(vectors["vectors"]):
        try:
            after = read_state(bytes.fromhex(v["hex"]), bytes.fromhex(v["before"]))
        except Refused:
            after = b""
        expect(f"state {i}", "after", after.hex(), v["after"])


def test_relays(vectors):
    kept = {}
    for v in vectors["vectors"]:
        where = "relays, " + v["name"]
        try:
            told = read_relay(bytes.fromhex(v["hex"]), v["tick"], vectors["input_size"], kept)
            expect(where, "reason", "OK", v["reason"])
            expect(where, "told", told, v.get("told"))
        except Refused as reason:
            expect(where, "reason", str(reason), v["reason"])


def test_control(vectors):
    for v in vectors["vectors"]:
        where = "control, " + v["name"]
        try:
            message = read_control(bytes.fromhex(v["hex"]), v["from_client"])
            expect(where, "accepted", 1, v["accepted"])
            expect(where, "message", message, v.get("message"))
        except Refused as reason:
            expect(where, f"accepted ({reason})", 0, v["accepted"])


def test_chunk(told):
    body, head = bytes.fromhex(told["body"]), bytes.fromhex(told["file_head"])
    chunk = read_chunk(body)
    expect("chunk", "hash", hashlib.blake2b(body, digest_size=32).hexdigest(), told["hash"])
    expect("chunk", "file", (head[:8], len(head), any(head[8:])), (b"CAROMCH1", 72, True))
    expect("chunk", "place", (chunk["match"], chunk["first"], chunk["number"], chunk["end"]), (0xC0FFEE0000000001, 1200, 10, 2))
    expect("chunk", "before", chunk["before"][:8], "09080700")
    expect("chunk", "head", (chunk["meta"], chunk["scene"]), ({"match_id": "c0ffee0000000001", "module": ""}, b"scene"))
    expect("chunk", "keyframe", chunk["keyframe"], b"state")
    expect("chunk", "personal", chunk["personal"], [(1201, 1001, "05" + "00" * 31)])
    expect("chunk", "ticks", [tick[:3] for tick in chunk["ticks"]], [[1200, 0x1122334455667788, 1], [1201, 2, 0], [1202, 3, 0]])
    expect("chunk", "inputs", [told[1][:6] for told in chunk["ticks"][2][4]], ["010203", "000000"])


def main():
    folder = pathlib.Path(__file__).parent / "vectors"
    for name, test in (("inputs", test_inputs), ("messages", test_messages), ("views", test_views), ("states", test_states),
                       ("relays", test_relays), ("control", test_control), ("chunk", test_chunk)):
        with open(folder / f"{name}.json", encoding="utf-8") as file:
            test(json.load(file))
    with open(folder / "secure.json", encoding="utf-8") as file:
        spoken = json.load(file)
    secure.check(spoken, expect)
    rooms = read_control(bytes.fromhex(spoken["rooms"])[17:], False)
    expect("rooms", "before joining", (rooms["first"], rooms["rooms"][0]["name"]), (258, "lobby"))
    for failure in failures:
        print(f"protocol: {failure}", file=sys.stderr)
    print(f"protocol: {compared} comparisons, {len(failures)} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
