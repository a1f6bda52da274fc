#!/usr/bin/env python3
"""The simulation's walls, seen from what is linked: a function that is declared by hand passes every check
of includes. walls.py OUT reads the symbols of the built objects below OUT. Part of `make test-tidy`.

  upward     an object of the simulation uses a symbol of a layer above it, of its own layer's other
             folder, or of a solver other than by its row (the layers are tidy.py's)
  outward    an object outside uses a private function of the simulation that shared/sim/inspect.h does not
             declare, or uses one of those where only carom/*.h may be used
  alone      the simulation uses something that is neither its own, nor of shared/base, nor of this list
             of the C library
  public     a function that a public header of the simulation declares is not in it

Each rule is tried on planted symbols first.
"""
import os
import re
import subprocess
import sys

import tidy

LIBC = {"memcpy", "memmove", "memset", "memcmp", "strlen", "snprintf", "fprintf", "vfprintf", "fputs", "fputc",
        "fwrite", "stderr", "abort"}
SHADOW = "shared/sim/step/shadow"  # a debug build may allocate there
TABLE = "shared/sim/solve/solver"  # stands above the solvers' folders, reaches their rows
ELSEWHERE = {"game.h", "reason.h"}  # public headers of shared/game and shared/wire


def layer(source):
    if source == TABLE:
        return 5.5
    return tidy.layer_of(source + ".c")


def folder(source):
    return os.path.dirname(source)


def check_upward(user, symbol, owner):
    if folder(user) == folder(owner) and TABLE not in (user, owner):
        return None
    if user == TABLE and symbol.startswith("cm_solver_"):
        return None
    here, there = layer(user), layer(owner)
    if here is None or there is None:
        return "of no layer"
    if folder(owner) in tidy.LAYERS[5]:
        return "the inside of a solver"
    return None if there < here else "upward"


def check(defined, used, inspect, public):
    """defined: symbol -> source; used: source -> symbols; sources without ending. Returns problems."""
    problems = []
    for user, symbols in sorted(used.items()):
        for symbol in sorted(symbols):
            owner = defined.get(symbol)
            if user.startswith("shared/sim/") and owner and owner.startswith("shared/sim/"):
                wrong = check_upward(user, symbol, owner)
                if wrong:
                    problems.append(f"{user}: upward: {symbol} of {owner}: {wrong}")
            elif user.startswith(("shared/sim/", "shared/base/")):
                allowed = owner is not None and owner.startswith("shared/base/")
                libc = symbol in LIBC or symbol.startswith("_") or user == SHADOW
                if not allowed and not (owner is None and libc):
                    problems.append(f"{user}: alone: {symbol}: of {owner or 'a library'}")
            elif owner and owner.startswith("shared/sim/") and symbol.startswith("cm_"):
                if symbol not in inspect:
                    problems.append(f"{user}: outward: {symbol} of {owner} is private")
                elif not user.startswith(tidy.INSPECTORS):
                    problems.append(f"{user}: outward: {symbol} is for the server and its tools")
    for symbol in sorted(public):
        owner = defined.get(symbol, "")
        if not owner.startswith(("shared/sim/", "shared/base/")):
            problems.append(f"public: {symbol} is declared and not in the simulation")
    return problems


PLANTED = {
    "upward": ({"cm_x": "shared/sim/step/a"}, {"shared/sim/state/b": {"cm_x"}}),
    "sideways": ({"cm_x": "shared/sim/joint/a"}, {"shared/sim/body/b": {"cm_x"}}),
    "solver's inside": ({"cm_x": "shared/sim/solve/lcp/a"}, {"shared/sim/step/b": {"cm_x"}}),
    "row past the table": ({"cm_solver_x": "shared/sim/solve/lcp/a"}, {"shared/sim/step/b": {"cm_solver_x"}}),
    "outward": ({"cm_x": "shared/sim/state/a"}, {"server/node/b": {"cm_x"}}),
    "inspection by the SDK": ({"cm_seen": "shared/sim/state/a"}, {"client-sdk/src/b": {"cm_seen"}}),
    "alone": ({"cm_x": "shared/game/a"}, {"shared/sim/step/b": {"cm_x"}}),
    "library": ({}, {"shared/sim/step/b": {"qsort"}}),
    "public": ({}, {}, {"carom_missing"}),
}
SOUND = ({"cm_x": "shared/sim/state/a", "cm_seen": "shared/sim/state/a", "cm_solver_x": "shared/sim/solve/lcp/a",
          "cm_solver_of": TABLE, "cm_y": "shared/base/a", "carom_z": "shared/sim/step/a"},
         {"shared/sim/step/b": {"cm_x", "cm_solver_of", "cm_y", "memcpy"}, TABLE: {"cm_solver_x"},
          "shared/sim/state/c": {"cm_x"}, "server/tools/b": {"cm_seen", "carom_z", "qsort"}}, {"carom_z"})


def self_test():
    bad = 0
    for name, (defined, used, *public) in PLANTED.items():
        if not check(defined, used, {"cm_seen"}, public[0] if public else set()):
            print(f"walls: self-test: the planted {name} was not found")
            bad += 1
    problems = check(SOUND[0], SOUND[1], {"cm_seen"}, SOUND[2])
    if problems:
        print(f"walls: self-test: sound symbols were refused: {problems}")
        bad += 1
    return bad


def read_symbols(out):
    sources = []
    for top in ("shared", "server", "client-sdk/src"):
        for at, _, names in os.walk(top):
            sources += [os.path.join(at, n)[:-2] for n in names if n.endswith(".c")]
    objects = {os.path.join(out, s) + ".o": s for s in sources}
    missing = [o for o in objects if not os.path.exists(o)]
    if missing:
        sys.exit(f"walls: {len(missing)} objects are not built, {missing[0]} among them")
    text = subprocess.run(["nm", "-A", "-g"] + sorted(objects), capture_output=True, text=True, check=True).stdout
    defined, used = {}, {s: set() for s in sources}
    for line in text.split("\n"):
        match = re.match(r"(.*\.o):[0-9a-f ]* ([A-Za-z]) (\S+)$", line)
        if not match:
            continue
        source, kind, symbol = objects[match.group(1)], match.group(2), match.group(3)
        if kind in "Uwv":
            used[source].add(symbol)
        else:
            defined[symbol] = source
    return defined, used


def declared(path, prefix):
    with open(path, encoding="utf-8") as header:
        return set(re.findall(r"\b(%s\w+)\s*\(" % prefix, tidy.strip_comments(header.read())))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    bad = self_test()
    defined, used = read_symbols(sys.argv[1])
    public = set()
    for name in sorted(set(os.listdir("shared/include/carom")) - ELSEWHERE):
        with open(f"shared/include/carom/{name}", encoding="utf-8") as header:
            text = tidy.strip_comments(header.read())
        public |= set(re.findall(r"\bCAROM_API\b[^;]*?\b(carom_\w+)\s*\(", text))
    problems = check(defined, used, declared(tidy.INSPECT, "cm_"), public)
    for problem in problems:
        print("walls: " + problem)
    print(f"walls: {len(used)} objects, {len(public)} public functions of the simulation")
    print(f"{len(used) if not problems else 0} passed, {len(problems) + bad} failed")
    return 1 if problems or bad else 0


if __name__ == "__main__":
    sys.exit(main())
