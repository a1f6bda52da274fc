"""What the tests of README.md and OPERATE.md share: blocks of sh, run in one empty directory on ports that are free."""
import os
import re
import socket
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)


def is_free(port):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


def elsewhere(script):
    """The ports 9400 to 9409, 9500 and 9600 of loopback are others, free ones; and a machine may have no curl."""
    first = 0
    while not first or not all(is_free(first + i) for i in [*range(12), 100, 200]):
        first = 20000 + int.from_bytes(os.urandom(2), "big") % 30000
    script = re.sub(r"127\.0\.0\.1:9([456]0\d)\b", lambda m: f"127.0.0.1:{first + int(m.group(1)) - 400}", script)
    return script.replace("curl -s ", f"python3 {HERE}/get.py ")


def run(script, links, path, environment=()):
    """Status, what is to be told, and texts by name (of its files, and "stdout"), of a script in an empty directory with these links in it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, target in links.items():
            os.symlink(os.path.abspath(target), f"{folder}/{name}")
        env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", **dict(environment)}
        done = subprocess.run(["bash", "-euc", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + script], cwd=folder,
                              env=env, capture_output=True, text=True, timeout=600)
        files = {name: read(f"{folder}/{name}") for name in os.listdir(folder) if name.endswith((".log", ".txt"))}
        files["stdout"] = done.stdout
        told = f"{done.stdout[-1500:]}\n{done.stderr[-1500:]}\n{files.get('server.log', '')[-800:]}"
        return done.returncode, told, files
