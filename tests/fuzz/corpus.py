#!/usr/bin/env python3
"""Where the fuzzers of decoders begin: corpus.py FOLDER writes a few small files for each target, made
of the vectors that our own encoders recorded (tests/protocol/vectors), so that mutations start from
what passes lengths, magic numbers and cryptography instead of from nothing."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "protocol"))
import secure  # noqa: E402


def vectors(name):
    with open(os.path.join(HERE, "..", "protocol", "vectors", name), encoding="utf-8") as file:
        return json.load(file)


def commands():
    """Bytes behind ENet's head and checksum: one of each kind, and several in one datagram."""
    ack = bytes([0x01, 0xff, 0, 1, 0, 1, 0, 2])
    ping = bytes([0x85, 0xff, 0, 2])
    disconnect = bytes([0x84, 0xff, 0, 3, 0, 0, 0, 0])
    reliable = bytes([0x86, 0, 0, 4, 0, 3]) + b"abc"
    fragment = bytes([0x88, 0, 0, 5, 0, 5, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]) + b"ab"
    unsequenced = bytes([0x49, 1, 0, 0, 0, 1, 0, 5]) + bytes([1, 1, 0, 186, 77])
    return [ack, ping, disconnect, reliable, fragment, unsequenced, ack + ping + unsequenced,
            ack * 3 + reliable + fragment]


def websocket():
    """A message, in pieces round a ping, an empty one, a long one, a close, text; each with a mask."""
    mask = bytes([1, 2, 3, 4])
    whole, long = bytes([0x82, 0x83]) + mask + b"abc", bytes([0x82, 0xfe, 0x04, 0x88]) + mask + bytes(1160)
    pieces = bytes([0x02, 0x81]) + mask + b"a" + bytes([0x89, 0x82]) + mask + b"hi" + bytes([0x80, 0x81]) + mask + b"b"
    return [whole, pieces, bytes([0x82, 0x80]) + mask + whole, long, bytes([0x88, 0x82]) + mask + b"ab", bytes([0x81, 0x81]) + mask + b"t"]


def confirmed():
    """A tick of nothing, one with a message and a join, one with inputs and how they came."""
    head = bytes(range(1, 9)) + bytes(8)
    message = bytes([3, 1]) + bytes(8) + bytes([2, 0]) + b"hi"
    join = bytes([1, 0]) + bytes([7] * 8) + bytes([0, 0])
    changed = bytes([3]) + bytes(7) + b"abcdef"
    arrived = bytes([2]) + bytes(7) + bytes([2]) + bytes(7) + bytes([9, 0])
    return [head + bytes(7), head + bytes([1, 2, 0, 0, 0, 0, 0]) + message + join,
            head + bytes([0, 0, 0, len(changed), 0, len(arrived), 0]) + changed + arrived]


def seeds():
    spoken = vectors("secure.json")
    handshake = [bytes.fromhex(spoken[name]) for name in ("hello", "challenge", "refusal", "connect", "rooms_ask")]
    parts = [secure.read_token_text(spoken[name])[0] for name in ("token", "token_2")]
    plains = [secure.xaead_open(bytes.fromhex(spoken["token_key"]), part[13:37], part[37:], part[:37]) for part in parts]
    sealed, plain = parts[0], plains[0]
    addresses = [b"192.0.2.7:9400", b"[2001:db8::7]:9400", b"2001:db8:1:2::/64", b"[::ffff:192.0.2.7]:1"]
    control = [bytes.fromhex(v["hex"]) for v in vectors("control.json")["vectors"]]
    packets = [bytes.fromhex(v["hex"]) for v in vectors("inputs.json")["vectors"] + vectors("views.json")["stream"]]
    heads = [bytes([0x80, 0, 0, 9]) + c for c in commands()]  # as they are sealed: no checksum
    return {
        "handshake": handshake,
        "control": control,
        "confirmed": confirmed(),
        "websocket": websocket(),
        "chunk": [bytes.fromhex(vectors("chunk.json")["body"])],
        "token": [spoken["token"].encode(), spoken["token_2"].encode()] + plains + addresses + [b"3344870901 " + b"01" * 32 + b"\n# more\n8 " + b"ab" * 32 + b"\n"],
        "commands": [bytes([0, 3, 0x80, 0, 0, 9, 0, 0, 0, 0]) + c for c in commands()],
        "packets": packets,
        "http_head": [b"GET /metrics?a=b HTTP/1.1\r\nHost: 127.0.0.1:9401\r\nAccept: */*\r\n\r\n",
                      b"HEAD / HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
                      b"GET /play/a HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: a, Upgrade\r\nSec-WebSocket-Key: "
                      b"dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: carom.5\r\n\r\n"],
        "api": [b"1rooms\n{\"room\": \"a\", \"scene\": \"b\", \"with\": {\"max_players\": 8}}", b"2rooms/a%20b\n",
                b"2rooms/a/players/7\n", b"1rooms/a/messages\n{\"text\": \"x\", \"who\": \"1\"}",
                b"1drain\n{\"seconds\": 60, \"handover\": false}", b"0rooms/a/players"],
        "datagram": [bytes([0]) + h for h in handshake] + [bytes([1]) + sealed]
        + [bytes([2, 0]) + h for h in heads] + [bytes([2, 1]) + bytes(40), bytes([2, 2, 4, 0])]
        + [bytes([3]) + plain],
    }


def main():
    for target, files in seeds().items():
        folder = os.path.join(sys.argv[1], target)
        os.makedirs(folder, exist_ok=True)
        for number, data in enumerate(files):
            with open(os.path.join(folder, f"{number:02}"), "wb") as file:
                file.write(data[:1400])


if __name__ == "__main__":
    main()
