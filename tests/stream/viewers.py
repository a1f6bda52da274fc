#!/usr/bin/env python3
"""Goal: behind an HTTP cache a thousand viewers of a match cost its server what one costs. Method: the real server with
stream_delay_s, Debian's nginx in front of it with the configuration of OPERATE.md, and viewers that ask for the index
and for each chunk once. nginx writes of each request whether it asked the server; each chunk must have been asked for
once, however many viewers had it, all of them the server's very bytes. Nothing is judged by time. Without nginx: SKIPPED.

    tests/stream/viewers.py [VIEWERS]
"""
import asyncio
import collections
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

CAROM = os.environ.get("CAROM_BINARY", "build/release/carom")
VIEWERS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
CHUNKS = 6  # that each viewer has: one with a keyframe is among them
AT_ONCE = 200

CONFIGURATION = """
daemon off; worker_processes 1; pid %(dir)s/pid; error_log %(dir)s/error.log; %(user)s
events { worker_connections 2048; }
http {
    log_format asked "$upstream_cache_status $uri"; access_log %(dir)s/access.log asked;
    client_body_temp_path %(dir)s/t1; proxy_temp_path %(dir)s/t2; fastcgi_temp_path %(dir)s/t3; uwsgi_temp_path %(dir)s/t4; scgi_temp_path %(dir)s/t5;
%(documented)s
}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def documented(folder, port, server):
    """The block of OPERATE.md, with this test's folder and ports."""
    with open("deploy/OPERATE.md", encoding="utf-8") as file:
        block = re.search(r"```nginx\n(.*?)```", file.read(), re.S).group(1)
    for old, new in (("/var/cache/carom", folder + "/cache"), ("listen 80;", f"listen 127.0.0.1:{port} backlog=2048;"),
                     ("127.0.0.1:9500", f"127.0.0.1:{server}"),
                     ("proxy_cache_lock on;", "proxy_cache_lock on; proxy_cache_lock_timeout 600s; proxy_cache_lock_age 600s;")):
        if old not in block:
            raise SystemExit(f"OPERATE.md: the nginx block has no '{old}'")
        block = block.replace(old, new)
    return block


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


async def wait_for(what, process):
    for _ in range(60000):
        try:
            found = what()
            if found:
                return found
        except OSError:
            pass
        if process.poll() is not None:
            raise SystemExit("it ended too soon")
        await asyncio.sleep(0.01)
    raise SystemExit("it did not come")


async def fetch(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.0\r\nHost: a\r\n\r\n".encode())
    data = await reader.read(-1)
    writer.close()
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


async def view(port, match, index, gate, seen):
    async with gate:
        status, body = await fetch(port, f"/stream/{match}/index.json")
        if status != 200 or json.loads(body)["match_id"] != match:
            seen["wrong"] += 1
        for number in range(index["first"], index["first"] + CHUNKS):
            status, body = await fetch(port, f"/stream/{match}/{index['epoch']}/{number}.chunk")
            seen[number, status, hashlib.sha256(body).hexdigest()] += 1


async def watch(folder, server, http, port):
    match = await wait_for(lambda: (os.listdir(folder + "/matches/stream") or [None])[0], server)
    url = f"http://127.0.0.1:{http}/stream/{match}"

    def index_of():
        index = json.loads(get(url + "/index.json"))
        return index if index["chunks"] >= CHUNKS else None

    index = await wait_for(index_of, server)
    seen, gate = collections.Counter(), asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(*(view(port, match, index, gate, seen) for _ in range(VIEWERS)))
    bad = seen.pop("wrong", 0)
    sizes = 0
    for number in range(index["first"], index["first"] + CHUNKS):
        body = get(f"{url}/{index['epoch']}/{number}.chunk")
        sizes += len(body)
        if seen[number, 200, hashlib.sha256(body).hexdigest()] != VIEWERS:
            print(f"chunk {number}: not every viewer had the server's bytes: {[k for k in seen if k[0] == number]}")
            bad += 1
    return match, index, bad, sizes


def count(folder, match, index):
    """How often nginx asked the server for each chunk."""
    with open(folder + "/access.log", encoding="utf-8") as file:
        lines = [line.split() for line in file]
    asked = collections.Counter(uri for status, uri in lines if status != "HIT" and uri.endswith(".chunk"))
    more = {uri: n for uri, n in asked.items() if n != 1}
    stale = sum(1 for status, uri in lines if uri.endswith("index.json") and status in ("MISS", "EXPIRED"))
    if len(asked) < CHUNKS or more:  # the one who joins late has more
        print(f"of match {match}, epoch {index['epoch']}: asked {dict(asked)}, expected each of {CHUNKS} chunks once, and none twice")
    return len(asked) >= CHUNKS and not more, stale, len(lines)


def run(folder):
    http, port = free_port(), free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    with open(folder + "/nginx.conf", "w", encoding="utf-8") as file:
        file.write(CONFIGURATION % {"dir": folder, "user": user, "documented": documented(folder, port, http)})
    server = subprocess.Popen(
        [CAROM, "serve", "--insecure", "--workers", "1", "--room", "a=tests/scenes/sandbox.json", "--listen", "127.0.0.1:0",
         "--db", folder + "/carom.db", "--matches", folder + "/matches", "--http", f"127.0.0.1:{http}", "--stream-delay-s", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    nginx = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", folder + "/nginx.conf"], stderr=subprocess.DEVNULL)
    try:
        match, index, bad, sizes = asyncio.run(watch(folder, server, http, port))
        viewer = subprocess.run([CAROM, "match", "verify", f"http://127.0.0.1:{port}/stream/{match}", "--join"],
                                stdout=subprocess.PIPE, check=False)
    finally:
        nginx.terminate()
        nginx.wait()
        server.terminate()
        server.wait()
    once, stale, requests = count(folder, match, index)
    joined = viewer.returncode == 0 and b", consistent" in viewer.stdout
    print(f"stream: {VIEWERS} viewers, {requests} requests, {VIEWERS * sizes} bytes of chunks; of the server {CHUNKS} chunks, "
          f"{sizes} bytes, and the index {stale} times")
    if not joined:
        print("match verify --join by the cache: " + viewer.stdout.decode())
    passed = [bad == 0, once, joined]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return 0 if all(passed) else 1


def main():
    if shutil.which("nginx") is None and not os.path.exists("/usr/sbin/nginx"):
        print("SKIPPED: nginx is not here (nginx-light)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        return run(folder)


if __name__ == "__main__":
    sys.exit(main())
