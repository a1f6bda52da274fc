"""A client of WebSockets, and a tunnel: UDP of native clients goes over a WebSocket each, a message a datagram.

So that whatever plays over UDP plays by WebSocket too, unchanged. One thread: a selector over all sockets.
"""
import base64
import os
import selectors
import socket
import struct
import threading

PROTOCOL = "carom.5"
BINARY, CLOSE, PING, PONG = 2, 8, 9, 10


def request(port, room, origin=None, version="13", protocol=PROTOCOL, key=None, more="", path="/play/", host=None):
    """The head of an upgrade."""
    lines = [f"GET {path}{room} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket", "Connection: keep-alive, Upgrade"]
    lines += [f"Sec-WebSocket-Version: {version}"] if version else []
    lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
    lines += [f"Origin: {origin}"] if origin else []
    key = base64.b64encode(os.urandom(16)).decode() if key is None else key
    lines += [f"Sec-WebSocket-Key: {key}"] if key else []
    return ("\r\n".join(lines) + "\r\n" + more + "\r\n").encode()


def frame(opcode, payload=b"", fin=True, mask=True, rsv=0, size=None):
    """One frame of a client; `size` is what its head says, where that is a lie."""
    size = len(payload) if size is None else size
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    flag = 0x80 if mask else 0
    if size < 126:
        head += bytes([flag | size])
    elif size < 65536:
        head += struct.pack(">BH", flag | 126, size)
    else:
        head += struct.pack(">BQ", flag | 127, size)
    if not mask:
        return head + payload
    mask_key = os.urandom(4)
    stream = (mask_key * (len(payload) // 4 + 1))[:len(payload)]
    masked = (int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(payload), "big")
    return head + mask_key + masked


class Reader:
    """Frames of a server out of bytes."""

    def __init__(self):
        self.bytes = b""

    def take(self, more):
        self.bytes += more
        while len(self.bytes) >= 2:
            size, at = self.bytes[1] & 127, 2
            assert self.bytes[1] < 128, "a server masks nothing"
            if size == 126:
                if len(self.bytes) < 4:
                    return
                size, at = struct.unpack(">H", self.bytes[2:4])[0], 4
            if len(self.bytes) < at + size:
                return
            payload, opcode = self.bytes[at:at + size], self.bytes[0] & 15
            self.bytes = self.bytes[at + size:]
            yield opcode, payload


def connect(port, head):
    """The socket, the status line's number and what came behind the head."""
    stream = socket.create_connection(("127.0.0.1", port))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.settimeout(600)
    stream.sendall(head)
    answer = b""
    while b"\r\n\r\n" not in answer:
        more = stream.recv(4096)
        if not more:
            break
        answer += more
    status = int(answer.split(b" ")[1]) if answer else 0
    return stream, status, answer


class Tunnel(threading.Thread):
    """Listens at a UDP port of its own, `port`; each sender has a WebSocket, opened anew when it closed."""

    def __init__(self, http, room):
        super().__init__(daemon=True)
        self.http, self.room = http, room
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        self.port = self.udp.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.udp, selectors.EVENT_READ, None)
        self.streams = {}  # by the address of the sender
        self.opened = self.closed = self.refused = 0
        self.ends = False

    def run(self):
        while not self.ends:
            for key, _ in self.selector.select(0.1):
                if key.data is None:
                    self.take_datagrams()
                else:
                    self.take_stream(key.fileobj, *key.data)

    def open(self, sender):
        try:
            stream, status, rest = connect(self.http, request(self.http, self.room))
        except OSError:
            self.refused += 1
            return None
        if status != 101:
            self.refused += 1
            stream.close()
            return None
        self.opened += 1
        reader = Reader()
        stream.setblocking(False)
        self.streams[sender] = stream
        self.selector.register(stream, selectors.EVENT_READ, (sender, reader))
        self.give(sender, reader, rest.split(b"\r\n\r\n", 1)[1])
        return stream

    def close(self, stream, sender):
        self.selector.unregister(stream)
        stream.close()
        self.closed += 1
        del self.streams[sender]

    def give(self, sender, reader, more):
        for opcode, payload in reader.take(more):
            if opcode == BINARY:
                self.udp.sendto(payload, sender)

    def take_datagrams(self):
        for _ in range(256):
            try:
                datagram, sender = self.udp.recvfrom(2048)
            except OSError:
                return
            stream = self.streams.get(sender) or self.open(sender)
            if stream is None:
                continue
            try:
                stream.send(frame(BINARY, datagram))  # a part would be a fault: so little always fits
            except BlockingIOError:
                pass
            except OSError:
                self.close(stream, sender)

    def take_stream(self, stream, sender, reader):
        try:
            more = stream.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        if more:
            self.give(sender, reader, more)
        elif self.streams.get(sender) is stream:
            self.close(stream, sender)
