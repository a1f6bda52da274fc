#!/usr/bin/env python3
"""server/README.md says what is so: its table of folders is that of tests/tidy/tidy.py, and each path and each of our
names on it exists. Each rule is tried on a planted mistake first."""
import os
import re
import sys

sys.path.insert(0, "tests/tidy")
import tidy  # noqa: E402: its table

PAGE = "server/README.md"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def table(page):
    rows = re.findall(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|$", page.split("\n## Folders")[1].split("\n## ")[0], re.M)
    return {f"server/{folder}": re.findall(r"`([\w/.]+)`", may) for folder, may in rows}


def check(page, names):
    told, wanted = table(page), {folder: may for folder, may in tidy.SERVER.items() if folder != "server"}
    problems = [f"{folder}: the page says {told.get(folder)}, tidy.py {wanted.get(folder)}"
                for folder in sorted(set(told) | set(wanted)) if told.get(folder) != wanted.get(folder)]
    for path in re.findall(r"[`\s(]((?:[\w.-]+/)+[\w.-]+\.\w+)", page) + re.findall(r"`((?:shared|tests)/[\w/]+)`", page):
        if not any(os.path.exists(f"{top}{path}") for top in ("", "server/")):
            problems.append(f"no file {path}")
    problems += [f"nothing is called {name}" for name in sorted(set(re.findall(r"\b(cm_\w+|CM_\w+)", page)) - names)]
    return problems


def main():
    page, names = read(PAGE), set()
    for top in ("server", "shared", "client-sdk"):
        for folder, _, files in os.walk(top):
            for file in files:
                if file.endswith((".c", ".h")):
                    names |= set(re.findall(r"\b(?:cm|CM)_\w+", read(f"{folder}/{file}")))
    for planted in (page.replace("| `config`, `ops` |", "| `config` |", 1), page.replace("room/sink.h", "room/zink.h"),
                    page.replace("cm_room_frame", "cm_room_flame")):
        if planted == page or not check(planted, names):
            sys.exit("server: a planted mistake was not found")
    problems = check(page, names)
    for problem in problems:
        print(f"server: {problem}")
    print(f"server: {len(table(page))} folders, {len(problems)} problems")
    return 1 if problems or len(table(page)) < 20 else 0


sys.exit(main())
