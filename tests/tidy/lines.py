#!/usr/bin/env python3
"""Lines of sources by folder: product, generated tables, tests. `make lines` prints them; tidy.py holds them against
tests/tidy/lines.txt, a budget for each folder (one without a row may have 1,000). A budget goes up only with a line in
the commit that says what it buys.

  lines.py          prints them, with what is left of each budget
  lines.py --write  lowers each budget to what is there, rounded up to the next hundred; never raises one

Lines are those of C, C++, headers, scripts, SQL, protobuf, JavaScript and Python. A table is a file that a program
wrote (codec/model.inc), or that is nothing but data (lines of numbers).
"""
import os
import sys

BUDGETS = "tests/tidy/lines.txt"
SOURCES = (".c", ".h", ".inl", ".def", ".cpp", ".py", ".sh", ".js", ".mjs", ".ts", ".sql", ".proto", ".in", ".html", ".css", ".mk")
TABLES = (".inc",)
NEW_FOLDER = 1000  # lines that a folder may have before it needs a row
SKIPPED = ("node_modules", "build")
# Product folders that have rows of their own below them.
SPLIT = ("server", "server/tools", "shared", "shared/sim", "client-sdk")
PRODUCT = ("server", "client-sdk", "shared", "proto", "deploy")


def kind_of(path):
    if path.endswith(TABLES):
        return "tables"
    return "product" if path.split("/")[0] in PRODUCT else "tests"


def folder_of(path):
    parts = path.split("/")[:-1]
    depth = 1
    while depth < len(parts) and ("/".join(parts[:depth]) in SPLIT or parts[0] == "tests" and depth < 2):
        depth += 1
    return "/".join(parts[:depth])


def count(paths, read):
    """{(kind, folder): lines}"""
    lines = {}
    for path in paths:
        if path.endswith(SOURCES + TABLES):
            key = (kind_of(path), folder_of(path))
            lines[key] = lines.get(key, 0) + read(path).count("\n")
    return lines


def find():
    paths = []
    for top in PRODUCT + ("tests",):
        for folder, below, names in os.walk(top):
            below[:] = [name for name in below if name not in SKIPPED]
            paths += [os.path.join(folder, name) for name in names]
    return sorted(paths)


def read_file(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_budgets(text):
    rows = [line.split()[:3] for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {(kind, folder): int(most) for kind, folder, most in rows}


def check(lines, budgets, problems):
    for key, there in sorted(lines.items()):
        most = budgets.get(key)
        if most is None and there > NEW_FOLDER:
            problems.append(f"{BUDGETS}: lines: {key[0]} in {key[1]}: {there} lines, expected a row with its budget")
        elif most is not None and there > most:
            problems.append(f"{BUDGETS}: lines: {key[0]} in {key[1]}: {there} lines, the budget is {most}")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    lines = count(find(), read_file)
    text = read_file(BUDGETS) if os.path.exists(BUDGETS) else ""
    budgets = read_budgets(text)
    write = sys.argv[1:] == ["--write"]
    kept = [line for line in text.splitlines() if line.startswith("#")]
    print(f"{'lines':>8} {'budget':>8}")
    for kind in ("product", "tables", "tests"):
        rows = sorted((folder, n) for (k, folder), n in lines.items() if k == kind)
        for folder, n in rows:
            most = budgets.get((kind, folder), 0)
            print(f"{n:8} {most:8}  {kind}  {folder}")
            need = -(-n // 100) * 100
            kept.append(f"{kind:8} {folder:32} {min(most, need) if most else need}")
        print(f"{sum(n for _, n in rows):8} {sum(most for (k, _), most in budgets.items() if k == kind):8}  {kind}  total")
    if write:
        with open(BUDGETS, "w", encoding="utf-8") as file:
            file.write("\n".join(kept) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
