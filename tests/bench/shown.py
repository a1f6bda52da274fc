#!/usr/bin/env python3
"""The tables of what the engine is to reach: ours now and before, Bullet, and what was measured of other engines.

shown.py FOLDER: of the programs of a build (make bench-shown). Quality comes from the laws of tests/physics, the worst
of all their cases; laws whose cases are drawn run with 20 seeds. Times come from the scenes of games in ours and in
Bullet, in turn (peers), where that is built, and from carom bench. Figures in brackets were measured once, on another
machine: compare ratios. Takes 5 minutes of a core.
"""
import json
import os
import re
import subprocess
import sys

SEEDS = 20
FIXED = "@(friction_blow|restitution|chains|stacks|tops|volume|impulse|energy)/*"
DRAWN = "@(incline|sleep)/*"

# What, message of the law, factor and unit of the figure, before, others, to reach.
QUALITY = [
    ("1. soft: a spinning ball's share in a bounce", r"share of ", 1, "", ".006-.07", "Box3D .97-1.01", ".95-1.05"),
    ("a box that lands loses of mu v_n", r"loss over mu v_n", 1, "", "0", "formula 1", ".95-1.05"),
    ("chain of 20, load 100, worst joint", r"the worst joint of 20 links, load 100", 1e3, "mm", "flies", "Box3D 43", "100"),
    ("chain of 20, load 50", r"the worst joint of 20 links, load 50", 1e3, "mm", "flies", "Box3D 13", "100"),
    ("energy that chains gain", r"gain of .* links", 100, "%", "16-54", "Box3D loses 34-55", "1"),
    ("restitution 1, a peak over the one before", r"peak \d+ at", 1, "", ".78-.91", "Jolt 1.000", ".99"),
    ("bodies that part, over e times their approach", r"e of ([\d.]+) at", 1, "", "", "", "1 +- .03"),
    ("1000 times the mass sinks", r"m down, kind 4 .*ratio 1000", 1e3, "mm", "falls through", "Box3D 340", "100"),
    ("stacks of small things, aside after 60 s", r"m aside, kind [0-2] of 0\.0", 1e3, "mm", "heaps", "Box3D stands", "stand"),
    ("walls and stacks, fastest at rest", r"m/s, kind [0-3] ", 1e3, "mm/s", "53", "", "10"),
    ("free top, angular momentum off in 100 s", r"\|L - L0", 100, "%", "12", "Jolt 6", "1"),
    ("free top, energy off", r"\|E / E0", 100, "%", "23", "Jolt 0", "1"),
    ("heavy top, precession over the formula's", r"precession at", 1, "", "falls", "", "1 +- .03"),
    ("2. volume: rolling, of its speed after 1 s", r"of its speed after 1 s", 1, "", ".42", "", ".98"),
    ("feet creep below mu", r"m/s of creep on .* of mu", 1e3, "mm/s", "59", "", "0"),
    ("impulse: a symmetric break is asymmetric by", r"m/s of asymmetry", 1, "m/s", ".8-4.3", "Jolt .03-.25", ".01"),
    ("a bowl of twelve circles, fastest", r"m/s after 20 s", 1, "m/s", ".58", "", "0"),
    ("its overlap", r"m of overlap after 20 s", 1e3, "mm", "360", "", "1"),
    ("soft, lcp, volume: sliding on a slope, of the formula", r"of g \(sin - mu cos\)", 1, "", "", "", "1"),
    ("sleep changes what falls by", r"m between what slept", 1e3, "mm", "", "", "10"),
]

# Scene, before and Box3D in ms of another machine, to reach: a share of Box3D's.
TIMES = [
    ("hulls_on_a_ramp", 3.11, .90, .6), ("hulls_in_a_pit", 5.44, 1.74, .6), ("coins", .372, .142, .6),
    ("sleepers", .94, .011, None), ("bridge", .052, .035, .86),
]


def told(program, pattern, seed):
    """Each figure that a law tells: (what, value)."""
    out = subprocess.run([program, "--filter", pattern, "--verbose=1"], capture_output=True, text=True,
                         env=dict(os.environ, SEED=str(seed)))
    return re.findall(r"^\[----\] (.*): (\S+), to lie in", out.stdout + out.stderr, re.M)


def show(*columns):
    print("{:54} {:>21} {:>6} {:>15} {:>20} {:>10}".format(*columns))


def quality(folder):
    figures = told(folder + "/physics", FIXED, 1)
    for seed in range(1, SEEDS + 1):
        figures += told(folder + "/physics", DRAWN, seed)
    show("quality, least to greatest of all cases", "now", "", "before", "others", "to reach")
    for what, message, factor, unit, before, others, reach in QUALITY:
        found = [(re.search(message, text), float(value)) for text, value in figures]
        values = [factor * value / float((match.groups() or "1")[0]) for match, value in found if match]
        now = f"{min(values):.3g} to {max(values):.3g}" if values else "no such law"
        show(what, now, unit, before, others, reach)


def times(folder):
    rows = {}
    if os.path.exists(folder + "/peers"):
        paths = [f"tests/scenes/games/{row[0]}.json" for row in TIMES]
        out = subprocess.run([folder + "/peers", "tests/bench/peers/limits.txt", "--games", "--runs", "1", "--steps",
                              "600"] + paths, capture_output=True, text=True).stdout
        rows = {words[0]: words for words in map(str.split, out.split("\n")) if len(words) > 4}
    print()
    show("3. ms a step", "now", "", "Bullet", "(before, Box3D)", "to reach")
    for scene, before, box3d, share in TIMES:
        ours, bullet = rows[scene][1:3] if scene in rows else ("-", "not built")
        show(scene, ours, "ms", bullet, f"({before}, {box3d})", f"({share} of it)" if share else "")
    out = subprocess.run([folder + "/carom", "bench", "queries"], capture_output=True, text=True).stdout
    row = json.loads(out.split("\n")[0])
    for what, key, count, others, reach in (("first ray after a step", "first_ms", 1, "(117, 6.7)", 5),
                                            ("ray", "rays_ms", row["rays"], "(.52, .43)", .3),
                                            ("sphere cast", "casts_ms", row["rays"], "(2.05, .59)", .5)):
        show(what, f"{1e3 * row[key] / count:.3g}", "us", "", others, reach)


if __name__ == "__main__":
    quality(sys.argv[1])
    times(sys.argv[1])
