#!/usr/bin/env python3
"""deploy/OPERATE.md says what is so: its blocks of sh are run in their order, in one empty directory; its table of log
lines has every event that the server's sources write, its table of settings every key, and each metric that it names is
on the page of the server that its blocks start.

  operate.py CAROM

Ports are others than in the text, since those may be taken. Each rule is tried on a planted mistake first."""
import glob
import os
import re
import socket
import subprocess
import sys
import tempfile

PAGE = "deploy/OPERATE.md"
EVENT = re.compile(r'(?:cm_line_log|log_match|log_budget)\([^;{]*?;', re.S)
# Not events: second texts of such a call, and texts of a call that are a reason.
PRODUCED = {"not": ("keys not read again", "bans not read again", "configuration not read again")}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def events_of(sources):
    """Texts that a log line's call names as its event: literals that stand alone or behind ? and :."""
    found = set()
    for source in sources:
        for call in EVENT.findall(source):
            head = call.split(", path")[0] if call.startswith("log_match") else call
            found |= {text for text in re.findall(r'"([a-z][a-z ,]+)"', head)}
    return found


def rows(page, head):
    section = page.split(f"\n## {head}\n")[1].split("\n## ")[0]
    return [name for row in re.findall(r"^\| (`[^|]*) \|", section, re.M) for name in re.findall(r"`([^`]+)`", row)]


def held(page, events, keys):
    told = set(rows(page, "Log lines"))
    problems = [f"log line '{event}' is in no row" for event in sorted(events - told - set(PRODUCED["not"]))]
    problems += [f"log line '{event}': the server writes none" for event in sorted(told - events)]
    settings = page.split("\n## Settings\n")[1].split("\n## ")[0]
    problems += [f"setting {key} is in no row" for key in keys if f"`{key}`" not in settings]
    return problems


def free_ports():
    """A port with some free ones after it, for 9400 and its workers, and for 9500 and 9600."""
    while True:
        first = 20000 + int.from_bytes(os.urandom(2), "big") % 30000
        taken = False
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            for port in [first + i for i in range(12)] + [first + 100, first + 200]:
                with socket.socket(socket.AF_INET, kind) as probe:
                    try:
                        probe.bind(("127.0.0.1", port))
                    except OSError:
                        taken = True
        if not taken:
            return first


def run(carom, page):
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S))
    first = free_ports()
    for offset in (0, 1, 100, 200):
        script = script.replace(f"127.0.0.1:{9400 + offset}", f"127.0.0.1:{first + offset}")
    script = script.replace("/usr/local/share/carom/", f"{os.getcwd()}/tests/scenes/").replace(
        "curl -s ", f"python3 {os.getcwd()}/tests/documents/get.py ")
    script = script.replace("carom admin drain\n", f"python3 {os.getcwd()}/tests/documents/get.py "
                            f"http://127.0.0.1:{first + 100}/metrics >metrics.txt\ncarom admin drain\n", 1)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/bin")
        os.symlink(os.path.abspath(carom), f"{folder}/bin/carom")
        env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-euc", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + script], cwd=folder,
                              env=env, capture_output=True, text=True, timeout=600)
        problems = []
        if done.returncode != 0:
            log = read(f"{folder}/server.log")[-800:] if os.path.exists(f"{folder}/server.log") else ""
            problems.append(f"its blocks ended with status {done.returncode}:\n{done.stdout[-800:]}\n{done.stderr[-1200:]}\n{log}")
        metrics = read(f"{folder}/metrics.txt") if os.path.exists(f"{folder}/metrics.txt") else ""
        there = set(re.findall(r"^(carom_\w+)", metrics, re.M))
        problems += [f"metric {name} is not on the page" for name in sorted(set(re.findall(r"\b(carom_\w+)", page)) - there)
                     if name != "carom_"]
    return problems


def main():
    carom, page = sys.argv[1], read(PAGE)
    events = events_of(read(path) for path in glob.glob("server/**/*.c", recursive=True))
    printed = subprocess.run([carom, "serve", "--print-config"], capture_output=True, text=True, check=True).stdout
    keys = re.findall(r'^  "([a-z_]+)":', printed, re.M)
    for planted in (page.replace("| `worker died` |", "| `worker dead` |"), page.replace("`grace_ms` |", "|")):
        if planted == page or not held(planted, events, keys):
            sys.exit("operate: a planted mistake was not found")
    problems = held(page, events, keys) + run(carom, page)
    for problem in problems:
        print(f"operate: {problem}")
    print(f"operate: {len(events)} log lines, {len(keys)} settings, {len(problems)} problems")
    return 1 if problems or len(events) < 30 or len(keys) < 30 else 0


sys.exit(main())
