#!/usr/bin/env python3
"""Holds deploy/NOTICE against the program: notice.py CAROM

Every library that it asks the system's loader for has a row, with Debian 12's version where this is Debian 12.
What is under the LGPL is linked dynamically: it is asked for by name, and the program defines none of its functions.
"""
import re
import subprocess
import sys

NOTICE = "deploy/NOTICE"
ROW = re.compile(r"^(lib\S+\.so\.\d+)\s+(\S+)\s+(\S+(?: \S+)*?)\s{2,}\S", re.M)
LOADER = re.compile(r"^ld-linux|^lib(asan|ubsan)\.so")  # and what a build for tests alone is linked with


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def functions(path, *flags):
    return set(re.findall(r"^[0-9a-f]+ [TWi] (\w+)", output("nm", "--defined-only", *flags, path), re.M))


def debian_version(path):
    """Of the package that a library came from, without epoch and revision; None elsewhere than on Debian 12."""
    try:
        with open("/etc/os-release", encoding="utf-8") as release:
            if 'VERSION_ID="12"' not in release.read():
                return None
        for name in (path, path.removeprefix("/usr"), "/usr" + path):  # /lib is /usr/lib
            found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False).stdout
            if found:
                version = output("dpkg-query", "-W", "-f", "${Version}", found.rsplit(": ", 1)[0].split(",")[0])
                return re.sub(r"^\d+:|[-+].*$", "", version)
    except OSError:
        pass
    return None


def check(needed, rows, paths, version_of, defined, problems):
    for name in sorted(needed):
        if LOADER.match(name):
            continue
        if name not in rows:
            problems.append(f"{name} is linked, expected a row of it in {NOTICE}")
            continue
        version, licence = rows[name]
        there = version_of(paths.get(name, ""))
        if there is not None and there != version:
            problems.append(f"{name}: {NOTICE} says {version}, this is {there}")
        if "LGPL" in licence:
            both = defined[0] & defined[1](paths[name])
            if both:
                problems.append(f"{name} is under the LGPL, but the program has its {', '.join(sorted(both)[:3])}")


def self_test():
    rows = {"liba.so.1": ("1.0", "LGPL-2.1-or-later")}
    cases = [({"liba.so.1"}, "1.0", {"a"}, 0), ({"libb.so.1"}, "1.0", {"a"}, 1), ({"liba.so.1"}, "1.1", {"a"}, 1),
             ({"liba.so.1"}, "1.0", {"b"}, 1)]
    bad = 0
    for needed, version, own, count in cases:
        problems = []
        check(needed, rows, {"liba.so.1": "a"}, lambda _, v=version: v, (own, lambda _: {"b"}), problems)
        if len(problems) != count:
            print(f"notice: self-test: {needed}, version {version}: {problems}")
            bad += 1
    return bad


def main():
    program = sys.argv[1]
    with open(NOTICE, encoding="utf-8") as notice:
        rows = {name: (version, licence) for name, version, licence in ROW.findall(notice.read())}
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program)))
    paths = dict(re.findall(r"(\S+) => (\S+)", output("ldd", program)))
    problems = []
    check(needed, rows, paths, debian_version, (functions(program), lambda path: functions(path, "-D")), problems)
    for problem in problems:
        print("notice: " + problem)
    failed = len(problems) + self_test()
    print(f"notice: {len(needed)} libraries")
    print(f"{len(needed) if not failed else 0} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
