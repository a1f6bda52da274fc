#!/usr/bin/env python3
"""Whether this machine keeps the ticks of many rooms: the real server, the real bots, loopback.

    rooms_live.py CAROM [ROOMS [SECONDS [WORKERS]]]

ROOMS rooms (64) of the sandbox with 50 cubes, four bots each that only speak the protocol, for
SECONDS (60). Prints one JSON line: of each room's own percentiles, which a status line has each
second of its last 512 ticks, the median and the worst; ticks by which a clock was slowed; CPU
seconds of the server and of the bots; kbit/s of views to a player. Status 1 where a room's p99 is
above its period, a clock was slowed, or a bot was lost. Bots take the same processors.
"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

SCENE = "tests/scenes/sandbox_50.json"
PERIOD_MS = 1000 / 60
PLAYERS = 4


def cpu_of(pid):
    """CPU seconds of a process and its children, by /proc."""
    total = 0.0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(entry) == pid or int(fields[1]) == pid:
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def serve(carom, rooms, workers, folder):
    ready = os.path.join(folder, "ready")
    command = [carom, "serve", "--insecure", "--workers", str(workers), "--listen", "127.0.0.1:0",
               "--matches", os.path.join(folder, "matches"), "--db", os.path.join(folder, "db"),
               "--ready-file", ready, "--status", "full"]
    for i in range(rooms):
        command += ["--room", f"room-{i}={SCENE}"]
    out = open(os.path.join(folder, "out"), "w")
    err = open(os.path.join(folder, "err"), "w")
    server = subprocess.Popen(command, stdout=out, stderr=err)
    while not (os.path.exists(ready) and os.path.getsize(ready) > 0):
        if server.poll() is not None:
            sys.exit(f"rooms_live: the server ended: {open(err.name).read()[-500:]}")
        time.sleep(0.05)
    with open(ready) as file:
        return server, file.readline().strip()


def main():
    carom = sys.argv[1]
    rooms, seconds, workers = ([int(a) for a in sys.argv[2:]] + [64, 60, -1][len(sys.argv) - 2:])
    with tempfile.TemporaryDirectory(prefix="carom-rooms-") as folder:
        server, address = serve(carom, rooms, workers, folder)
        bots = subprocess.Popen([carom, "bots", "--connect", address, "--predict", "0",
                                 "--rooms", ",".join(f"room-{i}" for i in range(rooms)),
                                 "--count", str(PLAYERS * rooms), "--seconds", str(seconds)],
                                stdout=subprocess.PIPE, text=True)
        before = cpu_of(server.pid)
        started = time.monotonic()
        summary = json.loads(bots.communicate()[0].strip().splitlines()[-1])
        took = time.monotonic() - started
        spent = cpu_of(server.pid) - before
        server.send_signal(signal.SIGTERM)
        server.wait()
        lines = []
        with open(os.path.join(folder, "out")) as file:
            for line in file:
                if line.startswith("{") and '"players"' in line:
                    lines.append(json.loads(line))
    busy = [line for line in lines if line["players"] == PLAYERS]
    if not busy:
        sys.exit("rooms_live: no room had its players")
    p99 = sorted(line["tick_ms_p99"] for line in busy)
    behind = {}
    for line in lines:
        if line["players"] == PLAYERS:
            first, _ = behind.get(line["room"], (line["ticks_behind"], 0))
            behind[line["room"]] = (first, line["ticks_behind"])
    slowed = [last - first for first, last in behind.values()]
    result = {"rooms": rooms, "workers": workers, "seconds": seconds, "players": PLAYERS * rooms,
              "tick_ms_p50": sorted(line["tick_ms_p50"] for line in busy)[len(busy) // 2],
              "tick_ms_p99": p99[len(p99) // 2], "tick_ms_p99_worst": p99[-1],
              "ticks_slowed": sum(slowed), "rooms_slowed": sum(s > 0 for s in slowed),
              "cpu_s_room_second": round(spent / took / rooms, 5),
              "cpu_server": round(spent / took, 2),
              "cpu_bots": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime / took, 2),
              "kbit_client": round(summary["bytes_in_per_client_second"] * 8e-3, 1),
              "ended": summary["ended"], "desyncs": summary["desyncs"],
              "late_inputs": summary["late_inputs"], "inputs": summary["inputs_sent"]}
    print(json.dumps(result))
    kept = p99[-1] < PERIOD_MS and sum(slowed) == 0 and summary["ended"] == 0
    return 0 if kept and summary["desyncs"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
