#!/usr/bin/env python3
"""kill_worker.py [COUNT [SEED]]: kill -9 of a worker or of the supervisor costs its players a moment.

Goal: the real server, two workers with two rooms each, and 16 clients, is killed COUNT times at moments
drawn from SEED: mostly a worker, which the supervisor brings back (one that died twice in 10 s is spared, as
it would wait before it comes back); else the supervisor, whose workers die with it, and which is started
anew with --resume. Each time the rooms go on, in their own match, not
before the last tick that was said to be recorded, and every client comes back into its slot by itself. In
the end there are four matches, each with all of its seams, which verify from their first tick to the last.
Method: status lines come every 100 ms, with `tick` and `recorded_tick`; the log tells deaths and resumed
ticks. Said besides: how many ticks were lost at most (the promise: 250 ms before the last confirmed
tick, which is the rewind window, 8 ticks, behind), and the gap that the clients saw (aim: p99 2 s).
A failure prints seed and round and keeps the files.
"""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from datetime import datetime

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
CAROM = os.environ.get("CAROM", "build/release/carom")
SCENE = os.environ.get("SCENE", "tests/scenes/sandbox.json")
ROOMS = ["a", "b", "c", "d"]
CLIENTS = 16
PATIENCE_S = 600  # of machine time, for anything that has to happen
chance = random.Random(SEED)
folder = tempfile.mkdtemp(prefix="carom_worker_")
matches = os.path.join(folder, "matches")
out_path, log_path = os.path.join(folder, "out"), os.path.join(folder, "log")


class Failure(Exception):
    pass


def wait_until(condition, what):
    for _ in range(PATIENCE_S * 50):
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise Failure("it did not come: " + what)


class Lines:
    """The JSON lines of a file that grows, as far as they are whole."""

    def __init__(self, path):
        self.path, self.at, self.lines = path, 0, []

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.at)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self.at += whole
        for line in text[:whole].decode().splitlines():
            if line.startswith("{"):
                self.lines.append(json.loads(line))
        return self.lines


class Server:
    def __init__(self, port):
        self.port, self.process, self.starts = port, None, 0

    def start(self):
        command = [CAROM, "serve", "--insecure", "--grace-ms", "600000", "--workers", "2", "--listen", f"127.0.0.1:{self.port}", "--matches",
                   matches, "--db", os.path.join(folder, "carom.db"), "--status-interval-ms", "100", "--keyframe-s", "1"]
        command += ["--resume"] if self.starts > 0 else [part for name in ROOMS for part in ("--room", f"{name}={SCENE}")]
        self.starts += 1
        ready = os.path.join(folder, f"ready{self.starts}")
        with open(out_path, "ab") as out, open(log_path, "ab") as log:
            self.process = subprocess.Popen(command + ["--ready-file", ready], stdout=out, stderr=log)
        wait_until(lambda: os.path.exists(ready) or self.process.poll() is not None, "the ready file")
        return self.process.poll() is None


def free_ports():
    """A port that is free, as the one after it."""
    for _ in range(1000):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
            port = chance.randrange(20000, 32000)
            try:
                one.bind(("127.0.0.1", port))
                two.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                continue
    raise Failure("no two ports are free")


def count(log, event):
    return sum(line.get("event") == event for line in log.read())


class Run:
    def __init__(self):
        self.server, self.bots = None, None
        self.out = self.log = None
        self.resumes = dict.fromkeys(ROOMS, 0)
        self.worst = 0
        self.kills = {"worker": 0, "supervisor": 0}

    def begin(self):
        for _ in range(20):  # somebody else may take a port that was free
            self.server = Server(free_ports())
            if self.server.start():
                break
        else:
            raise Failure("the server did not start")
        self.out, self.log = Lines(out_path), Lines(log_path)
        with open(os.path.join(folder, "bots"), "wb") as file:
            self.bots = subprocess.Popen(
                [CAROM, "bots", "--connect", f"127.0.0.1:{self.server.port}", "--count", str(CLIENTS), "--rooms",
                 ",".join(ROOMS), "--predict", "0", "--seconds", "1000000"], stdout=file, stderr=subprocess.STDOUT)

    def newest(self):
        state = {}
        for line in self.out.read():
            if "players" in line:
                state[line["room"]] = line
        return state

    def all_play(self):
        """Every room has its players: the newest lines then."""
        if self.server.process.poll() is not None:
            raise Failure("the server ended")
        state = self.newest()
        full = all(name in state and state[name]["players"] == CLIENTS // len(ROOMS) for name in ROOMS)
        return state if full else None

    def wait_for_ticks(self, ticks):
        """So many ticks are recorded with all players: who joined after the last recorded one would be gone."""
        there = wait_until(self.all_play, "all clients in their rooms")
        wait_until(lambda: all(self.newest()[name]["recorded_tick"] >= there[name]["tick"] + ticks for name in ROOMS),
                   f"{ticks} more ticks")

    def check_resumed(self, before, died, names):
        """Of each room the last line of before, and the tick at which it goes on."""
        seen = {}
        for line in self.out.read():
            if "players" in line and datetime.fromisoformat(line["time"][:-1] + "+00:00").timestamp() <= died:
                seen[line["room"]] = line
        resumed = [line for line in self.log.read()[before:] if line["event"] == "match resumed"]
        if sorted(line["room"] for line in resumed) != sorted(names):
            raise Failure(f"expected {names} to be resumed: {resumed}")
        for line in resumed:
            last = seen[line["room"]]
            if line["tick"] < last["recorded_tick"]:
                raise Failure(f"recorded up to {last['recorded_tick']}, resumed: {line}")
            self.worst = max(self.worst, last["tick"] - line["tick"])
            self.resumes[line["room"]] += 1

    def calm_workers(self):
        """Those whose next death is not the third in 10 s, after which they wait ever longer."""
        processes, deaths = {}, {}
        for line in self.log.read():
            if line["event"] == "start":
                deaths = {}
            elif line["event"] == "worker":
                processes[line["worker"]] = line["process"]
            elif line["event"] == "worker died":
                deaths.setdefault(line["worker"], []).append(datetime.fromisoformat(line["time"][:-1] + "+00:00"))
        now = time.time()
        return [process for worker, process in sorted(processes.items())
                if sum(now - death.timestamp() < 11 for death in deaths.get(worker, [])) < 2]

    def kill_worker(self, process):
        lines = len(self.log.read())
        backs = count(self.log, "worker")
        os.kill(process, signal.SIGKILL)
        died = time.time()
        wait_until(lambda: count(self.log, "worker") > backs, "the worker")
        names = [line["room"] for line in self.log.read()[lines:] if line["event"] == "match resumed"]
        if len(names) != len(ROOMS) // 2:
            raise Failure(f"a worker has two rooms, resumed: {names}")
        self.check_resumed(lines, died, names)

    def kill_supervisor(self):
        lines = len(self.log.read())
        self.server.process.kill()
        died = time.time()
        self.server.process.wait()
        if not self.server.start():
            raise Failure("the server did not start again")
        self.check_resumed(lines, died, ROOMS)

    def round(self):
        self.wait_for_ticks(chance.randrange(1, 60))
        time.sleep(chance.random() * 0.1)  # any moment between two commits
        calm = self.calm_workers()
        kind = "supervisor" if chance.random() < 0.25 or not calm else "worker"
        self.kills[kind] += 1
        if kind == "worker":
            self.kill_worker(chance.choice(calm))
        else:
            self.kill_supervisor()

    def end(self):
        self.wait_for_ticks(30)
        self.bots.send_signal(signal.SIGINT)
        status = self.bots.wait(PATIENCE_S)
        with open(os.path.join(folder, "bots"), encoding="utf-8") as file:
            text = file.read()
        self.bots = None
        if status != 0:
            raise Failure("the clients: " + text)
        summary = json.loads(text)
        # The second link of a comeback that a second death cut off counts once.
        least_comebacks = CLIENTS if sum(self.kills.values()) > 1 else CLIENTS // 2
        if summary["connected"] != CLIENTS or summary["ended"] != 0 or summary["comebacks"] < least_comebacks:
            raise Failure("the clients did not all come back: " + text)
        self.server.process.send_signal(signal.SIGTERM)
        if self.server.process.wait(PATIENCE_S) != 0:
            raise Failure("the server's status is not 0")
        self.verify()
        return summary

    def verify(self):
        files = [name for name in os.listdir(matches) if name.endswith(".match")]
        if len(files) != len(ROOMS):
            raise Failure(f"expected a match of each room: {files}")
        for name in files:
            path = os.path.join(matches, name)
            said = subprocess.run([CAROM, "replay", path, "--verify"], capture_output=True, text=True, check=False)
            if said.returncode != 0 or "consistent, complete" not in said.stdout:
                raise Failure(f"{name}: {said.stdout}{said.stderr}")
            info = json.loads(subprocess.run([CAROM, "match", "info", path], capture_output=True, check=True).stdout)
            if info["resumes"] != self.resumes[info["room"]]:
                raise Failure(f"{name}: {self.resumes} seams, the file has {info['resumes']}")

    def stop(self):
        for process in (self.bots, self.server.process if self.server else None):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def main():
    run, number = Run(), 0
    try:
        run.begin()
        for number in range(1, COUNT + 1):
            run.round()
        summary = run.end()
    except (Failure, KeyError, subprocess.TimeoutExpired) as failure:
        run.stop()
        print(f"kill_worker: seed {SEED}, round {number}: {failure!r}; files in {folder}")
        return 1
    finally:
        run.stop()
    gap = summary["gap_ms"]
    print(f"kill_worker: seed {SEED}: {run.kills['worker']} workers and {run.kills['supervisor']} supervisors killed, at "
          f"most {run.worst} ticks lost, {summary['comebacks']} comebacks, gap p99 {gap['p99'] / 1000:.2f} s, at most "
          f"{gap['max'] / 1000:.2f} s")
    if "KEEP" not in os.environ:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
