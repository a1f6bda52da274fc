#!/usr/bin/env python3
"""Runs the suites of tests/suites.txt and says how each ended and how long it took.

  suites.py test|check-quick|check|night [SUITE ...]

Goal: one command whose last lines tell everything: each suite's own summary when it ends, at the end a
table of times, the ten slowest tests, and "N passed, N failed" over all. Method: a suite is a target of
make; what it prints goes to build/suites/SUITE.log, and to the terminal only if it failed. Suites of the
lane `first` run before all others, one after another. Then two of the lane `servers`, which wait or use
one core, run beside one of `builds`, which compute on every core; one that is done with the servers goes on with builds
that nobody has begun. With names, only these suites run.

A suite whose packages cannot be installed here, or which ends with status 77 and a line "SKIPPED: why", is
neither passed nor failed; the summary counts it, with the reason.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

SETS = ("test", "check-quick", "check", "night")
LANES = ("first", "servers", "builds")
BUILD = "test-build"
SKIPPED = 77
LOGS = "build/suites"
FAILED_LINES = 60

# What suites print of themselves: their own line, and Criterion's.
OWN = re.compile(r"(\d+) passed, (\d+) failed")
COMMAND = re.compile(r"  (CC|CXX|LINK|AR|SO|PROTO|SQL|TEXT) ")  # what make says of a build
CRITERION = re.compile(r"Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)")


class Suite:
    def __init__(self, line):
        self.name, self.set, self.lane, self.needs = line.split()[:4]
        assert self.set in SETS and self.lane in LANES, line
        self.needs = self.needs.split("+")
        self.state, self.why = "not run", ""
        self.passed = self.failed = 0
        self.wall = self.cpu = 0.0
        self.log = f"{LOGS}/{self.name}.log"


def read_table(path="tests/suites.txt"):
    with open(path, encoding="utf-8") as table:
        return [Suite(line) for line in table if line.strip() and not line.startswith("#")]


def chosen(suites, name, only):
    """A set's suites: `check` has those of `test` and `check-quick` too."""
    sets = SETS[:3] if name == "check" else (name,)
    return [s for s in suites if (s.name in only if only else s.set in sets or s.name == BUILD)]


def count(suite, text, status):
    """Sums what the suite says of itself; one that says nothing is one test."""
    found = OWN.findall(text)
    suite.passed = sum(int(p) for p, _ in found)
    suite.failed = sum(int(f) for _, f in found)
    for _, passed, failing, crashing in CRITERION.findall(text):
        suite.passed += int(passed)
        suite.failed += int(failing) + int(crashing)
    if suite.passed + suite.failed == 0 and suite.name != BUILD:
        suite.passed = 1 if status == 0 else 0
    if status != 0:
        suite.failed = max(1, suite.failed)


class Runner:
    def __init__(self, make):
        self.make = make
        self.lock = threading.Lock()
        self.running = {}
        self.stopped = False

    def missing(self, suite):
        """Installs what the suite needs; what is not there after that."""
        said = subprocess.run(["deploy/deps.sh", *suite.needs], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if said.returncode == 0 and os.environ.get("DEPS") != "no":
            return ""
        left = subprocess.run(["deploy/deps.sh", "--missing", *suite.needs], capture_output=True, text=True, check=False)
        return left.stdout.strip()

    def run(self, suite):
        begin = time.monotonic()
        missing = self.missing(suite)
        if missing:
            suite.state, suite.why = "skipped", f"not installed here: {missing}"
        else:
            with open(suite.log, "wb") as log:
                process = subprocess.Popen([*self.make, suite.name], stdout=log, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL, start_new_session=True)
                with self.lock:
                    self.running[process.pid] = process
                _, status, usage = os.wait4(process.pid, 0)
                with self.lock:
                    del self.running[process.pid]
            process.returncode = os.waitstatus_to_exitcode(status)
            suite.cpu = usage.ru_utime + usage.ru_stime
            self.judge(suite, process.returncode)
        suite.wall = time.monotonic() - begin
        if not self.stopped:
            self.tell(suite)

    @staticmethod
    def judge(suite, status):
        with open(suite.log, encoding="utf-8", errors="replace") as log:
            text = log.read()
        skipped = list(dict.fromkeys(re.findall(r"^SKIPPED: (.*)$", text, re.M)))
        # make answers with 2 whatever the suite's status was, so that its line decides.
        if skipped and re.search(rf"Error {SKIPPED}$", text, re.M):
            suite.state, suite.why = "skipped", skipped[-1]
            return
        count(suite, text, status)
        suite.state = "passed" if status == 0 and suite.failed == 0 else "failed"
        suite.why = "; ".join(f"SKIPPED in it: {why}" for why in skipped)

    def tell(self, suite):
        with self.lock:
            if suite.state == "failed":
                with open(suite.log, encoding="utf-8", errors="replace") as log:
                    print("".join([line for line in log if not COMMAND.match(line)][-FAILED_LINES:]), end="")
            text = f"{suite.passed} passed, {suite.failed} failed" if suite.state != "skipped" else "SKIPPED"
            print(f"{suite.name}: {text}, {suite.wall:.0f} s, {suite.cpu:.0f} s of processor"
                  + (f" ({suite.why})" if suite.why else "")
                  + (f"; all of it: {suite.log}" if suite.state == "failed" else ""), flush=True)

    def lane(self, *queues):
        """Runs what stands in the queues, one suite after another; two lanes may share a queue."""
        for queue in queues:
            while queue and not self.stopped:
                with self.lock:
                    suite = queue.pop(0) if queue else None
                if suite:
                    self.run(suite)

    def stop(self, *_):
        self.stopped = True
        for pid in list(self.running):
            try:
                os.killpg(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass


def slowest_tests(path):
    """(seconds, suite/test) of Criterion's report, slowest first."""
    times = []
    try:
        for suite in xml.etree.ElementTree.parse(path).getroot():
            times += [(float(case.get("time", 0)), f"{suite.get('name')}/{case.get('name')}") for case in suite]
    except (OSError, xml.etree.ElementTree.ParseError):
        pass
    return sorted(times, reverse=True)


def report(suites, wall, reports):
    print(f"\n{'suite':24} {'result':8} {'passed':>7} {'failed':>7} {'seconds':>8} {'processor':>10}")
    for suite in sorted(suites, key=lambda s: -s.wall):
        print(f"{suite.name:24} {suite.state:8} {suite.passed:7} {suite.failed:7} {suite.wall:8.1f} {suite.cpu:10.1f}"
              + (f"  {suite.why}" if suite.why else ""))
    for path in reports:
        slow = slowest_tests(path)[:10]
        if slow:
            print(f"the ten slowest of {path}: " + ", ".join(f"{name} {seconds:.1f} s" for seconds, name in slow))
    passed, failed = sum(s.passed for s in suites), sum(s.failed for s in suites)
    skipped = sum(s.state == "skipped" for s in suites)
    cpu = sum(s.cpu for s in suites)
    print(f"{len(suites)} suites in {wall:.0f} s, {cpu:.0f} s of processor, {skipped} SKIPPED")
    print(f"{passed} passed, {failed} failed")
    return failed


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SETS:
        print(__doc__, file=sys.stderr)
        return 2
    name, only = sys.argv[1], sys.argv[2:]
    table = read_table()
    unknown = set(only) - {s.name for s in table}
    if unknown:
        print(f"suites.py: no suite {' '.join(sorted(unknown))} in tests/suites.txt", file=sys.stderr)
        return 2
    suites = chosen(table, name, only)
    os.makedirs(LOGS, exist_ok=True)
    begin, wall_begin = time.monotonic(), time.time()
    # A make above us has its own jobs; those of a suite are its own.
    flags = [f for f in os.environ.get("MAKEFLAGS", "").split(" ") if not re.match(r"-j\d*$|--jobserver", f)]
    os.environ["MAKEFLAGS"] = " ".join(flags)
    runner = Runner([os.environ.get("MAKE", "make"), "--no-print-directory", f"-j{len(os.sched_getaffinity(0))}"])
    signal.signal(signal.SIGINT, runner.stop)
    signal.signal(signal.SIGTERM, runner.stop)
    runner.lane([s for s in suites if s.lane == "first"])
    if all(s.state != "failed" for s in suites if s.name == BUILD):
        servers, builds = ([s for s in suites if s.lane == lane] for lane in LANES[1:])
        queues = ((servers, builds), (servers,), (builds,))
        lanes = [threading.Thread(target=runner.lane, args=of) for of in queues]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
    reports = [f"{folder}/{file}" for folder, _, files in os.walk("build") for file in files
               if file == "unit.xml" and os.path.getmtime(f"{folder}/{file}") >= wall_begin]
    failed = report(suites, time.monotonic() - begin, sorted(reports))
    if runner.stopped:
        print("interrupted")
    return 1 if failed or runner.stopped or any(s.state == "not run" for s in suites) else 0


if __name__ == "__main__":
    sys.exit(main())
