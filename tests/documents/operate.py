#!/usr/bin/env python3
"""deploy/OPERATE.md says what is so: its blocks of sh are run in their order, in one empty directory; its table of log
lines has every event that the server's sources write, its table of settings every key, and each metric that it names is
on the page of the server that its blocks start.

  operate.py CAROM

Ports are others than in the text, since those may be taken. Each rule is tried on a planted mistake first."""
import glob
import os
import re
import subprocess
import sys
import tempfile

from blocks import blocks, elsewhere, read, run

PAGE = "deploy/OPERATE.md"
EVENT = re.compile(r'(?:cm_line_log|cm_log_say|cm_clients_log|log_match|log_budget)\([^;{]*?;', re.S)
FIELDS = re.compile(r', [^,"]*CM_[A-Z](?:_IF)?\(|, path')
GROWTH = re.compile(r'cm_log_growth\([^"{;]*"([^"]+)"')
# The row of what is read again tells of these too.
FAILED = {"keys not read again", "api keys not read again", "bans not read again", "configuration not read again"}


def events_of(sources):
    """Texts that a log line's call names as its event: literals that stand alone or behind ? and :."""
    found = set()
    for source in sources:
        found |= set(GROWTH.findall(source))
        for call in EVENT.findall(source):
            found |= set(re.findall(r'"([a-z][a-z ,]+)"', FIELDS.split(re.sub(r"\s+", " ", call))[0]))
    return found


def rows(page, head):
    section = page.split(f"\n## {head}\n")[1].split("\n## ")[0]
    return [name for row in re.findall(r"^\| (`[^|]*) \|", section, re.M) for name in re.findall(r"`([^`]+)`", row)]


def held(page, events, keys):
    told = set(rows(page, "Log lines"))
    problems = [f"log line '{event}' is in no row" for event in sorted(events - told - FAILED)]
    problems += [f"log line '{event}': the server writes none" for event in sorted(told - events)]
    settings = page.split("\n## Settings\n")[1].split("\n## ")[0]
    problems += [f"setting {key} is in no row" for key in keys if f"`{key}`" not in settings]
    return problems


def check_run(carom, page):
    script = elsewhere("\n".join(blocks(page)))
    metrics_of = re.search(r"http://[\d.:]+/metrics", script).group(0)
    script = script.replace("carom admin drain\n", f"curl -s {metrics_of} >metrics.txt\ncarom admin drain\n", 1)
    script = script.replace("curl -s ", "python3 get.py ")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(carom), f"{folder}/carom")
        links = {"get.py": "tests/documents/get.py"}
        status, told, files = run(script.replace("/usr/local/share/carom/", f"{os.getcwd()}/tests/scenes/"), links, folder)
    problems = [f"its blocks ended with status {status}:\n{told}"] if status != 0 else []
    there = set(re.findall(r"^(carom_\w+)", files.get("metrics.txt", ""), re.M))
    problems += [f"metric {name} is not on the page" for name in sorted(set(re.findall(r"\b(carom_\w+)", page)) - there)]
    return problems


def main():
    carom, page = sys.argv[1], read(PAGE)
    events = events_of(read(path) for path in glob.glob("server/**/*.c", recursive=True))
    printed = subprocess.run([carom, "serve", "--print-config"], capture_output=True, text=True, check=True).stdout
    keys = re.findall(r'^  "([a-z_]+)":', printed, re.M)
    for planted in (page.replace("| `worker died` |", "| `worker dead` |"), page.replace("`grace_ms` |", "|")):
        if planted == page or not held(planted, events, keys):
            sys.exit("operate: a planted mistake was not found")
    problems = held(page, events, keys) + check_run(carom, page)
    for problem in problems:
        print(f"operate: {problem}")
    print(f"operate: {len(events)} log lines, {len(keys)} settings, {len(problems)} problems")
    return 1 if problems or len(events) < 30 or len(keys) < 30 else 0


sys.exit(main())
