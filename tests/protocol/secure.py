"""Reads the recorded handshake of tests/protocol/vectors/secure.json: token, cookie, keys, seals.

Written from proto/PROTOCOL.md, sections 1 and 2, and the RFCs that it names (7748 X25519, 8439
ChaCha20-Poly1305, its XChaCha form, 7693 BLAKE2 from Python's library), not from the C code. Slow and
not for use: plain Python keeps no secrets from a clock.
"""
import base64
import hashlib
import ipaddress
import struct

MASK = 0xFFFFFFFF


def rotate(x, n):
    return ((x << n) | (x >> (32 - n))) & MASK


def quarter(s, a, b, c, d):
    s[a] = (s[a] + s[b]) & MASK
    s[d] = rotate(s[d] ^ s[a], 16)
    s[c] = (s[c] + s[d]) & MASK
    s[b] = rotate(s[b] ^ s[c], 12)
    s[a] = (s[a] + s[b]) & MASK
    s[d] = rotate(s[d] ^ s[a], 8)
    s[c] = (s[c] + s[d]) & MASK
    s[b] = rotate(s[b] ^ s[c], 7)


def rounds(state):
    s = list(state)
    for _ in range(10):
        for a in range(4):
            quarter(s, a, a + 4, a + 8, a + 12)
        for a in range(4):
            quarter(s, a, 4 + (a + 1) % 4, 8 + (a + 2) % 4, 12 + (a + 3) % 4)
    return s


def state_of(key, tail):
    return list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key)) + tail


def chacha(key, nonce, counter, data):
    out = bytearray()
    for at in range(0, len(data), 64):
        state = state_of(key, [counter + at // 64] + list(struct.unpack("<3I", nonce)))
        block = struct.pack("<16I", *((a + b) & MASK for a, b in zip(rounds(state), state)))
        out += bytes(x ^ y for x, y in zip(data[at:at + 64], block))
    return bytes(out)


def poly1305(key, data):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(key[16:], "little")
    total = 0
    for at in range(0, len(data), 16):
        total = (total + int.from_bytes(data[at:at + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return ((total + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def pad(data):
    return data + bytes(-len(data) % 16)


def aead_open(key, nonce, sealed, extra):
    """RFC 8439: the plaintext, or None."""
    data, tag = sealed[:-16], sealed[-16:]
    one_time = chacha(key, nonce, 0, bytes(32))
    lengths = struct.pack("<QQ", len(extra), len(data))
    if poly1305(one_time, pad(extra) + pad(data) + lengths) != tag:
        return None
    return chacha(key, nonce, 1, data)


def xaead_open(key, nonce, sealed, extra):
    s = rounds(state_of(key, list(struct.unpack("<4I", nonce[:16]))))
    return aead_open(struct.pack("<8I", *(s[0:4] + s[12:16])), bytes(4) + nonce[16:], sealed, extra)


def x25519(secret, u=9):
    p = (1 << 255) - 19
    k = int.from_bytes(secret, "little")
    k = (k & ~7 & ((1 << 255) - 1)) | 1 << 254
    u = u if isinstance(u, int) else int.from_bytes(u, "little") & ((1 << 255) - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a, c * b, a * a, b * b
        x3, z3 = (da + cb) ** 2 % p, u * (da - cb) ** 2 % p
        e = aa - bb
        x2, z2 = aa * bb % p, e * (aa + 121665 * e) % p
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, p - 2, p) % p).to_bytes(32, "little")


# Section 2.2 -------------------------------------------------------------------------------------


def ip_bytes(sealed):
    """Of each address in a token, by its kind."""
    return 16 if sealed[0] == 3 else 4


def read_ip(data):
    ip = ipaddress.ip_address(bytes(data))
    return getattr(ip, "ipv4_mapped", None) or ip


def read_servers(data, at, size):
    count = data[at]
    at += 1
    servers = []
    for _ in range(count):
        ip, port = read_ip(data[at:at + size]), struct.unpack_from("<H", data, at + size)[0]
        servers.append(f"[{ip}]:{port}" if ip.version == 6 else f"{ip}:{port}")
        at += size + 2
    return servers, at


def read_text(data, at, length):
    size = int.from_bytes(data[at:at + length], "little")
    return data[at + length:at + length + size], at + length + size


def read_token_text(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    size = struct.unpack_from("<H", data)[0]
    sealed = data[2:2 + size]
    servers, at = read_servers(data, 2 + size + 32, ip_bytes(sealed))
    assert at == len(data)
    return sealed, data[2 + size:2 + size + 32], servers


def open_token(sealed, key_id, key):
    kind, said_id, expires = struct.unpack_from("<BIQ", sealed)
    plain = xaead_open(key, sealed[13:37], sealed[37:], sealed[:37])
    if plain is None or said_id != key_id:
        return None
    token = {"kind": kind, "expires": expires, "client_id": struct.unpack_from("<Q", plain)[0],
             "key": plain[8:40].hex()}
    size = ip_bytes(sealed)
    token["servers"], at = read_servers(plain, 40, size)
    bound = plain[at]
    token["address"] = str(read_ip(plain[at + 1:at + 1 + size])) if bound else None
    at += 1 + size * bound
    room, at = read_text(plain, at, 1)
    name, at = read_text(plain, at, 1)
    data, at = read_text(plain, at, 2)
    assert at == len(plain)
    token.update(room=room.decode(), name=name.decode(), user_data=data.hex())
    return token


# Sections 1.2 and 2 ------------------------------------------------------------------------------


def open_sealed(data, key, from_server):
    kind, connection, sequence = struct.unpack_from("<BIQ", data)
    plain = aead_open(key, struct.pack("<IQ", from_server, sequence), data[13:], data[:13])
    return kind, connection, sequence, plain


def check(vectors, expect):
    v = {name: bytes.fromhex(value) if name not in ("token", "token_2", "token_key_id") else value
         for name, value in vectors.items()}
    sealed, connection_key, servers = read_token_text(v["token"])
    expect("token", "servers", servers, ["203.0.113.7:7777", "127.0.0.1:65535"])
    expect("token", "fields", open_token(sealed, v["token_key_id"], v["token_key"]),
           {"kind": 1, "expires": 2000000000, "client_id": 0xFEDCBA9876543210,
            "key": connection_key.hex(), "servers": servers, "address": "10.0.0.9",
            "room": "arena", "name": "Zoë", "user_data": "0001ff"})
    changed = sealed[:20] + bytes([sealed[20] ^ 1]) + sealed[21:]
    expect("token", "changed", open_token(changed, v["token_key_id"], v["token_key"]), None)

    sealed_2, connection_key, servers = read_token_text(v["token_2"])
    expect("token_2", "servers", servers, ["[2001:db8::7]:7777", "127.0.0.1:65535"])
    expect("token_2", "fields", open_token(sealed_2, v["token_key_id"], v["token_key"]),
           {"kind": 3, "expires": 2000000000, "client_id": 0xFEDCBA9876543210,
            "key": connection_key.hex(), "servers": servers, "address": "2001:db8:0:1:2:3:4:5",
            "room": "arena", "name": "Zoë", "user_data": "0001ff"})

    hello, challenge, connect = v["hello"], v["challenge"], v["connect"]
    expect("hello", "size", len(hello), 548)
    expect("hello", "head", struct.unpack_from("<BI", hello), (0x41, 5))
    client_public = hello[5:37]
    expect("hello", "public key", client_public, x25519(v["client_secret"]))
    expect("hello", "zeros", hello[37:], bytes(511))
    expect("challenge", "size and type", (len(challenge), challenge[0]), (73, 0x42))
    expect("challenge", "echo", challenge[1:17], client_public[:16])
    cookie, server_public, chance = challenge[17:25], challenge[25:57], challenge[57:]
    expect("challenge", "public key", server_public, x25519(v["server_secret"]))
    refusal = b"\x43" + client_public[:16] + bytes([25, 0xB8, 0x24])
    expect("hint", "all", v["hint"], refusal + bytes(16))

    expect("rooms_ask", "all", v["rooms_ask"],
           b"\x48" + struct.pack("<H", 258) + cookie + client_public + bytes(505))
    expect("rooms", "head", v["rooms"][:17], b"\x49" + client_public[:16])

    shared = x25519(v["client_secret"], server_public)
    expect("keys", "both ends", shared, x25519(v["server_secret"], client_public))
    keys = hashlib.blake2b(b"carom keys\0" + shared + client_public + server_public + chance,
                           digest_size=64, key=connection_key).digest()
    tag = hashlib.blake2b(refusal, digest_size=16, key=keys[32:]).digest()
    expect("refusal", "all", v["refusal"], refusal + tag)
    head = 42 + len(sealed)
    expect("connect", "head", connect[:42], b"\x44\x03" + cookie + client_public)
    expect("connect", "token", connect[42:head], sealed)
    plain = aead_open(keys[:32], struct.pack("<IQ", 2, 3), connect[head:], connect[:head])
    expect("connect", "ENet's", plain, v["enet_connect"])
    expect("connect", "what a server goes by", (plain[0:2], plain[4:6], plain[20:24]),
           (b"\x8f\xff", b"\x82\xff", struct.pack(">I", 2)))
    expect("connect", "its reliable sequence, peer and sessions", plain[6:12], b"\0\1\0\0\xff\xff")

    connection = struct.unpack("<I", cookie[:4])[0]
    for name, kind, key, from_server, sequence, content in (
            ("client_0", 0x45, keys[:32], 0, 0, v["content"]),
            ("client_1", 0x45, keys[:32], 0, 1, v["content"]),
            ("server_0", 0x45, keys[32:], 1, 0, v["content"]),
            ("probe", 0x46, keys[32:], 1, 1, bytes(600 - 29)),
            ("probed", 0x47, keys[:32], 0, 2, struct.pack("<H", 600)),
            ("probe_64", 0x46, keys[32:], 1, 2, bytes(64 - 29))):
        expect(name, "all", open_sealed(v[name], key, from_server),
               (kind, connection, sequence, content))
