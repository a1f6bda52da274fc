#!/usr/bin/env python3
"""play.py: players by WebSocket on the HTTP port of a real server.

Goal: native clients, whose datagrams go over WebSockets, play as they do over UDP; what is no upgrade of ours is
refused with the right status and counted; hostile frames close with the right code and harm nobody; 100 sockets live
through a worker that is killed: they close, and over new ones their players come back into their slots.
Method: two workers with a room each; tunnel.py carries. Nothing is judged by how soon it comes.
"""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tunnel import BINARY, CLOSE, PING, PONG, Reader, Tunnel, connect, frame, request  # noqa: E402

CAROM = os.environ.get("CAROM", "build/release/carom")
SCENE = os.environ.get("SCENE", "tests/scenes/hello.json")
PLAYERS = int(os.environ.get("PLAYERS", "100"))
PATIENCE_S = 600
folder = tempfile.mkdtemp(prefix="carom_websocket_")
checks = failures = 0


def check(good, what):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print("websocket: FAILED:", what)


def wait_until(condition, what):
    for _ in range(PATIENCE_S * 20):
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise SystemExit("websocket: it did not come: " + what)


class Server:
    def __init__(self):
        self.out, self.log = (os.path.join(folder, name) for name in ("out", "log"))
        with open(self.out, "wb") as out, open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [CAROM, "serve", "--insecure", "--workers", "2", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--web",
                 "--web-origin", "https://game.example,https://other.example", "--grace-ms", "600000", "--timeout-ms", "5000",
                 "--input-rate", "20", "--view-rate", "10", "--room", f"a={SCENE}", "--room", f"b={SCENE}",
                 "--matches", os.path.join(folder, "matches"), "--db", os.path.join(folder, "carom.db")],
                stdout=out, stderr=log)
        self.http = int(wait_until(lambda: self.find(self.out, r"http on 127.0.0.1:(\d+)"), "the server"))

    def find(self, path, pattern):
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8") as file:
                raise SystemExit("websocket: the server ended: " + file.read()[-2000:])
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read())
        return found.group(1) if found else None

    def lines(self, event):
        with open(self.log, encoding="utf-8") as file:
            whole = file.read().rpartition("\n")[0].splitlines()
        return [line for line in map(json.loads, whole) if line.get("event") == event]

    def metric(self, name, labels=""):
        """The sum of those of that name whose labels have the text."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics") as page:
            text = page.read().decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.split("{")[0].split(" ")[0] == name and labels in line)


def upgrades(server):
    """What is refused, with which status."""
    port = server.http
    rows = [("good", 101, {}), ("same origin", 101, {"origin": f"http://127.0.0.1:{port}"}),
            ("an origin of the list", 101, {"origin": "https://other.example"}),
            ("a foreign origin", 403, {"origin": "https://evil.example"}),
            ("its own name of loopback", 101, {"origin": f"http://localhost:{port}", "host": f"localhost:{port}"}),
            ("a name that was made to point here", 403, {"origin": f"http://evil.example:{port}", "host": f"evil.example:{port}"}),
            ("of a proxy's name and the list", 101, {"origin": "https://game.example", "host": "game.example"}),
            ("the end of one of the list", 403, {"origin": "https://xgame.example"}),
            ("no origin of a page", 403, {"origin": "null"}), ("a long origin", 403, {"origin": "https://" + "a" * 400}),
            ("no such room", 404, {"room": "c"}), ("a room with a byte of no name", 404, {"room": "%00"}),
            ("a half code", 404, {"room": "a%2"}), ("the first room", 101, {"room": ""}), ("a coded name", 101, {"room": "%61"}),
            ("below a path of a proxy", 101, {"path": "/games/play/"}), ("no path of it", 404, {"path": "/rooms/"}),
            ("another version", 426, {"version": "8"}), ("no version", 426, {"version": ""}),
            ("another protocol", 426, {"protocol": "carom.55"}), ("no protocol", 426, {"protocol": ""}),
            ("one of two", 101, {"protocol": "chat, carom.5"}), ("no key", 400, {"key": ""}),
            ("a short key", 400, {"key": "AAAA"}), ("two keys", 400, {"more": "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"}),
            ("a frame with the head", 400, {"tail": frame(BINARY, b"x")}),
            ("a body", 413, {"more": "Content-Length: 5\r\n"})]
    for what, status, how in rows:
        tail, room = how.pop("tail", b""), how.pop("room", "a")
        stream, got, answer = connect(port, request(port, room, **how) + tail)
        check(got == status, f"{what}: {got}, expected {status}")
        check(status != 426 or b"Sec-WebSocket-Version: 13" in answer, f"{what}: {answer}")
        stream.close()
    _, _, answer = connect(port, request(port, "a", key="dGhlIHNhbXBsZSBub25jZQ=="))
    check(b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer, f"the example of RFC 6455: {answer}")
    check(b"Sec-WebSocket-Protocol: carom.5\r\n" in answer, f"the protocol: {answer}")
    time.sleep(1.1)  # pages are made once a second
    for reason, least in (("origin", 4), ("offer", 4), ("upgrade", 2), ("path", 4)):
        got = server.metric("carom_http_refused_total", f'reason="{reason}"')
        check(got >= least, f"refused as {reason}: {got}, expected {least}")


def read_to_close(stream):
    """The code of the close, None where there was none, and what came before."""
    reader, seen = Reader(), []
    while True:
        try:
            more = stream.recv(65536)
        except OSError:
            return None, seen
        if not more:
            return None, seen
        for opcode, payload in reader.take(more):
            if opcode == CLOSE:
                return struct.unpack(">H", payload[:2])[0] if payload else 0, seen
            seen.append((opcode, payload))


def hostile(server):
    """What a client may not send, and the code by which it is told so."""
    part = frame(BINARY, b"x", fin=False)
    rows = [("unmasked", 1002, frame(BINARY, b"abc", mask=False)), ("text", 1003, frame(1, b"hello")),
            ("one byte too many", 1009, frame(BINARY, b"a" * 1201)), ("a head of 2^63", 1009, frame(BINARY, b"", size=1 << 63)),
            ("pieces without end", 1009, part + frame(0, b"y" * 100, fin=False) * 12),
            ("empty pieces without end", 1008, part + frame(0, b"", fin=False) * 65),
            ("a reserved bit", 1002, frame(BINARY, b"a", rsv=4)), ("a reserved opcode", 1002, frame(3, b"a")),
            ("a reserved control frame", 1002, frame(11, b"a")), ("a long ping", 1002, frame(PING, b"a" * 126)),
            ("half a ping", 1002, frame(PING, b"a", fin=False)), ("a piece of nothing", 1002, frame(0, b"a")),
            ("a message in a message", 1002, part + frame(BINARY, b"a")), ("a flood of pings", 1008, frame(PING, b"x") * 65),
            ("a close", 1000, frame(CLOSE, struct.pack(">H", 1000))), ("silence", 1008, b"")]
    for what, code, sent in rows:
        stream, status, _ = connect(server.http, request(server.http, "a"))
        check(status == 101, f"{what}: {status}")
        stream.sendall(sent)
        got, _ = read_to_close(stream)
        check(got == code, f"{what}: closed with {got}, expected {code}")
        stream.close()
    stream, _, _ = connect(server.http, request(server.http, "a"))
    stream.sendall(frame(PING, b"first") + frame(BINARY, b"\x45rubbish" * 40) + frame(PING, b"last") + frame(CLOSE))
    code, seen = read_to_close(stream)
    check(code == 1000 and (PONG, b"last") in seen, f"pings: {code}, {seen}")
    stream, _, _ = connect(server.http, request(server.http, "a"))
    stream.sendall(frame(BINARY, b"abcdef")[:5])
    stream.shutdown(socket.SHUT_WR)  # half a frame, half a connection
    check(read_to_close(stream)[0] is None, "a connection that was half closed ends")
    time.sleep(2.1)
    for reason in ("unmasked", "text", "large", "idle", "order", "control", "reserved"):
        check(server.metric("carom_worker_websockets_refused_total", f'reason="{reason}"') > 0, f"no {reason} was counted")


def bots(port, room, count, seconds):
    return subprocess.Popen([CAROM, "bots", "--connect", f"127.0.0.1:{port}", "--count", str(count), "--room", room, "--predict",
                             "0", "--pattern", "idle", "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True)


def play(server):
    """Fewer than eight, who predict: as by UDP."""
    tunnel = Tunnel(server.http, "a")
    tunnel.start()
    said = subprocess.run([CAROM, "bots", "--connect", f"127.0.0.1:{tunnel.port}", "--count", "4", "--room", "a", "--seconds", "5"],
                          capture_output=True, text=True, check=False)
    summary = json.loads(said.stdout)
    check(said.returncode == 0 and summary["connected"] == 4 and summary["desyncs"] == 0, "four play: " + said.stdout + said.stderr)
    check(tunnel.opened == 4, f"{tunnel.opened} WebSockets of four players")
    tunnel.ends = True


def kill_a_worker(server):
    """All come back into their slots by sockets of their own."""
    tunnels = {room: Tunnel(server.http, room) for room in "ab"}
    for tunnel in tunnels.values():
        tunnel.start()
    running = [bots(tunnels[room].port, room, PLAYERS // 2, 1000000) for room in "ab"]

    def playing():
        return server.metric("carom_room_players") == PLAYERS

    wait_until(playing, "all players")
    workers = server.lines("worker")
    victim = workers[0]["process"]
    opened = sum(tunnel.opened for tunnel in tunnels.values())
    # The supervisor has no copy left: each is open in its worker alone.
    with open(f"/proc/{server.process.pid}/net/tcp", encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    inodes = {line.split()[9] for line in lines if line.split()[1].endswith(f":{server.http:04X}") and line.split()[3] == "01"}
    held = [os.readlink(f"/proc/{server.process.pid}/fd/{name}") for name in os.listdir(f"/proc/{server.process.pid}/fd")
            if os.path.exists(f"/proc/{server.process.pid}/fd/{name}")]
    check(len(inodes) >= PLAYERS, f"{len(inodes)} connections at the HTTP port")
    check(not any(f"socket:[{inode}]" in held for inode in inodes), "the supervisor holds a WebSocket")
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len(server.lines("worker")) > len(workers), "the worker")
    wait_until(lambda: sum(tunnel.opened for tunnel in tunnels.values()) >= opened + PLAYERS // 2, "new sockets")
    wait_until(playing, "all players again")
    time.sleep(2)
    comebacks = 0
    for process in running:
        process.send_signal(signal.SIGINT)
    for process in running:
        summary = json.loads(process.communicate(timeout=PATIENCE_S)[0])
        comebacks += summary["comebacks"]
        check(summary["connected"] == PLAYERS // 2 and summary["ended"] == 0 and summary["desyncs"] == 0, f"{summary}")
    check(comebacks >= PLAYERS // 2, f"{comebacks} comebacks")
    closed = sum(tunnel.closed for tunnel in tunnels.values())
    check(closed >= PLAYERS // 2, f"{closed} sockets closed")
    for tunnel in tunnels.values():
        tunnel.ends = True
    return comebacks


def main():
    server = Server()
    comebacks = 0
    try:
        upgrades(server)
        hostile(server)
        play(server)
        comebacks = kill_a_worker(server)
        server.process.send_signal(signal.SIGTERM)
        check(server.process.wait(PATIENCE_S) == 0, "the server's status")
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    print(f"websocket: {PLAYERS} sockets, one worker of two killed, {comebacks} comebacks")
    print(f"{checks - failures} passed, {failures} failed")
    if failures == 0 and "KEEP" not in os.environ:
        shutil.rmtree(folder)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
