#!/usr/bin/env python3
"""A real server, the SDK and a bad link beside `carom bench feel`: run.py CAROM

Goal: the figures of virtual time are those that players have. Method: `carom serve` has the scene of
a game, `carom bots` plays it as the bench does, at 60 frames a second, through a link of the same
latency, jitter and loss; what views tell is the truth of both. The mean of three real runs is compared
with that of ten virtual ones: each figure within a fifth, besides what chance explains (three standard
errors of the difference: the own p99 of a minute at r200 varies by 30% from seed to seed), or two
millimetres. On a machine so busy that a hundredth of the bots' frames come late the figures are those of
clients that starve: SKIPPED.
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

CAROM = os.path.abspath(sys.argv[1])
SECONDS, RUNS, SEEDS, SHARE, GRAIN, LATE = 40, 3, 10, 0.2, 2.0, 1.0
GAMES = {"pushball": 2}
PATHS = {"r60": (30, 5, 1), "r200": (100, 20, 5)}  # ms, ms, %: one way, each way
FIGURES = ("own_p99_mm", "others_p99_mm", "shared_p99_mm", "pops_p99_mm", "kbit_down")


def bench(game, path, seed):
    line = subprocess.run([CAROM, "bench", "feel", game, "--condition", path, "--seconds", str(SECONDS), "--seed",
                           str(seed), "--by-views"], check=True, capture_output=True, text=True)
    return json.loads(line.stdout)


def serve(folder, game):
    scene, ready = os.path.join(folder, game + ".json"), os.path.join(folder, "ready")
    text = subprocess.run([CAROM, "bench", "feel", game, "--scene"], check=True, capture_output=True, text=True)
    with open(scene, "w", encoding="utf-8") as file:
        file.write(text.stdout)
    if os.path.exists(ready):
        os.remove(ready)
    server = subprocess.Popen([CAROM, "serve", "--insecure", "--scene", scene, "--listen", "127.0.0.1:0", "--ready-file",
                               ready, "--matches", os.path.join(folder, "matches")], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    for _ in range(6000):
        if os.path.exists(ready) and os.path.getsize(ready) > 0:
            break
        time.sleep(0.1)
    with open(ready, encoding="utf-8") as file:
        return server, file.readline().strip()


def bots(folder, game, path, seed):
    server, address = serve(folder, game)
    latency, jitter, loss = PATHS[path]
    # The bots let a time pass before they count, as the bench does.
    run = subprocess.run([CAROM, "bots", "--connect", address, "--count", str(GAMES[game]), "--play", game, "--seed",
                          str(seed), "--seconds", str(SECONDS + 6), "--latency", str(latency), "--jitter", str(jitter),
                          "--loss", str(loss)], capture_output=True, text=True)
    server.send_signal(signal.SIGINT)
    server.wait()
    if run.returncode != 0:
        sys.exit(f"feel: bots: {run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def mean(lines, name):
    return sum(line[name] for line in lines) / len(lines)


def spread(lines, name):
    return statistics.stdev(line[name] for line in lines)


def main():
    passed = failed = 0
    late = 0.0
    print(f"{'':14} " + " ".join(f"{name:>20}" for name in FIGURES) + "  frames late, %")
    with tempfile.TemporaryDirectory() as folder:
        for game in GAMES:
            for path in PATHS:
                real = [bots(folder, game, path, seed) for seed in range(1, RUNS + 1)]
                virtual = [bench(game, path, seed) for seed in range(1, SEEDS + 1)]
                row = []
                for name in FIGURES:
                    is_, wanted = mean(real, name), mean(virtual, name)
                    chance = 3.0 * spread(virtual, name) * (1.0 / RUNS + 1.0 / SEEDS) ** 0.5
                    near = abs(is_ - wanted) <= max(SHARE * wanted + chance, GRAIN)
                    passed, failed = passed + near, failed + (not near)
                    row.append(f"{is_:.1f} ({wanted:.1f}){'' if near else ' FAR'}")
                late = max(late, mean(real, "frames_late_percent"))
                print(f"{game + ' ' + path:14} " + " ".join(f"{cell:>20}" for cell in row) +
                      f"  {mean(real, 'frames_late_percent'):.2f}", flush=True)
    if late > LATE:
        print(f"SKIPPED: this machine is too busy: {late:.1f}% of the frames came late")
        return 77
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
