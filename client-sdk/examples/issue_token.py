#!/usr/bin/python3
"""Issues a connect token from a backend in Python, with nothing of Carom's: python3-nacl alone.

    issue_token.py KEY_FILE CLIENT_ID ADDRESS [ROOM [NAME [USER_DATA_HEX]]]

where ADDRESS is A.B.C.D:PORT or [IPv6]:PORT, prints one line, which the player's game hands to
carom_client_connect_token. The bytes are those of
proto/PROTOCOL.md, little-endian:

    OFFSET  SIZE  the sealed part
    0       1     kind: 1, a connect token; 3, one whose addresses have 16 bytes, for IPv6
    1       4     key id
    5       8     expires, seconds of 1970
    13      24    nonce, drawn by chance
    37      n     XChaCha20-Poly1305 of the fields in `plain` below; bytes 0..36 are authenticated
    37 + n  16    tag

    A token's text is base64url without padding of: 2 size of the sealed part | the sealed part |
    32 key of the connection | 1 address count, 6 or 18 each
"""
import base64
import ipaddress
import os
import struct
import sys
import time

from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as seal

LIFETIME_S = 60


def read_key(path):
    """The first key of a key file: its id and its 32 bytes."""
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                number, secret = line.split()
                return int(number), bytes.fromhex(secret)
    raise ValueError(path + ": holds no key")


def pack_address(text):
    host, port = text.rsplit(":", 1)
    return ipaddress.ip_address(host.strip("[]")).packed + struct.pack("<H", int(port))


def counted(text):
    data = text.encode()
    return bytes([len(data)]) + data


def issue(key, client_id, server, room="", name="", user_data=b""):
    key_id, secret = key
    connection_key = os.urandom(32)
    servers = bytes([1]) + pack_address(server)
    plain = struct.pack("<Q", client_id) + connection_key + servers
    plain += bytes([0])  # flags: 1 bound to an address, whose 4 or 16 bytes follow; 2 a spectator
    plain += counted(room) + counted(name) + struct.pack("<H", len(user_data)) + user_data
    nonce = os.urandom(24)
    kind = 1 if len(servers) == 1 + 6 else 3
    head = struct.pack("<BIQ", kind, key_id, int(time.time()) + LIFETIME_S) + nonce
    sealed = head + seal(plain, head, nonce, secret)
    token = struct.pack("<H", len(sealed)) + sealed + connection_key + servers
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 7:
        sys.exit(__doc__)
    texts = sys.argv[4:6] + [""] * (6 - len(sys.argv))
    data = bytes.fromhex(sys.argv[6]) if len(sys.argv) > 6 else b""
    print(issue(read_key(sys.argv[1]), int(sys.argv[2]), sys.argv[3], texts[0], texts[1], data))
