#!/usr/bin/env python3
"""GUIDE.md says what is so: each of its blocks of code is a piece of the ball game, which is compiled and
played, and each command of its shell blocks exists with the flags that it is given.

  guide.py GUIDE.md GAME_FOLDER CAROM

A block "```c FILE" stands in FILE line by line; a line "…" leaves something out. Each rule is tried on a
planted mistake first."""
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def stands_in(block, text):
    at = 0
    for piece in re.split(r"^…\n", block, flags=re.M):
        found = text.find(piece, at)
        if found < 0 or (found > 0 and text[found - 1] != "\n"):
            return False
        at = found + len(piece)
    return True


def unknown(line, help_of):
    """What of a command is not in its help, or None."""
    words = line.split("#")[0].split()
    if not words or words[0] != "carom":
        return None
    text = help_of(words[1])
    if text is None:
        return f"carom {words[1]}"
    for word in words[2:]:
        if word.startswith("--") and not re.search(re.escape(word) + r"\b", text):
            return f"carom {words[1]} {word}"
    return None


def check(guide, folder, help_of):
    problems, blocks = [], 0
    for language, name, block in BLOCK.findall(guide):
        blocks += 1
        if language == "sh":
            problems += [f"no {wrong}" for wrong in (unknown(l, help_of) for l in block.split("\n")) if wrong]
        elif not name:
            problems.append(f"a block of {language} without a file:\n{block}")
        elif not stands_in(block, open(f"{folder}/{name}", encoding="utf-8").read()):
            problems.append(f"not in {name}:\n{block}")
    return problems, blocks


def main():
    guide = open(sys.argv[1], encoding="utf-8").read()
    known = {}

    def help_of(command):
        if command not in known:
            run = subprocess.run([sys.argv[3], "help", command], capture_output=True, text=True)
            known[command] = run.stdout if run.returncode == 0 else None
        return known[command]

    for planted in (guide.replace("    uint32_t to_win;", "    uint32_t to_vin;"), guide.replace("--insecure", "--in-secure"),
                    guide.replace("carom token", "carom tokens"), guide.replace("```c ball.h", "```c")):
        if planted == guide or not check(planted, sys.argv[2], help_of)[0]:
            sys.exit("guide: a planted mistake was not found")
    problems, blocks = check(guide, sys.argv[2], help_of)
    for problem in problems:
        print(f"guide: {problem}")
    print(f"guide: {blocks} blocks, {len(problems)} of them wrong")
    sys.exit(1 if problems or blocks < 10 else 0)


main()
