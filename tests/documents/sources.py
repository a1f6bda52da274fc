#!/usr/bin/env python3
"""shared/sim/solve/SOURCES.md says what is so: what the sources print, what is calculated now, and what shows it.

  sources.py CAROM          compares
  sources.py CAROM --write  writes the calculated numbers and draws the pictures anew (`make sources`)

A block ```console has commands, each with its figures below it, in three columns two spaces apart: an expression of
Python over what the command printed, what the source has (or a formula, with its tolerance), and what came out:

  $ carom sim tests/scenes/seeds/corner_drop.json --ticks 1 --every 1
  square.linear_velocity[1]   -0.4 +- 1e-6   -0.400000006

The names of an expression: `lines`, one a line of JSON; `end`, the last one; each key of `end`, and its bodies and joints
by their names. A command of `carom plot` draws a picture, which the page must show. Every test that is named must be there.
A number that moved fails until it is written anew; one that leaves its tolerance fails in either case."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

PAGE = "shared/sim/solve/SOURCES.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
ROW = re.compile(r"^\*\*(S\d\.\d+) ", re.M)
TEST = re.compile(r"`((?:sim|scene|cli|client|record|physics)/\w+\.c)` ([\w, ]+)")
ROWS = {"S0": 12, "S1": 5, "S2": 15, "S3": 25, "S4": 4}
BYTES_MAX = 400_000


class Names(dict):
    """An object of JSON whose keys, bodies and joints are attributes."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        for thing in [*self.get("bodies", []), *self.get("joints", [])]:
            if thing.get("name") == name:
                return thing
        raise AttributeError(name)


def length(vector):
    return math.sqrt(sum(x * x for x in vector))


def direction(before, after):
    """Of a change."""
    change = [b - a for a, b in zip(before, after)]
    return [x / length(change) for x in change]


def in_body(body):
    """Its angular velocity in its own axes."""
    x, y, z, w = body.orientation
    v = body.angular_velocity
    q = (-x, -y, -z)
    t = [2 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]) for i in range(3)]
    return [v[i] + w * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3] for i in range(3)]


def period(values):
    """Ticks between two times that they grow through 0, a mean."""
    values = list(values)
    ups = [i + a / (a - b) for i, (a, b) in enumerate(zip(values, values[1:])) if a < 0 <= b]
    return (ups[-1] - ups[0]) / (len(ups) - 1)


def read_output(text):
    lines = [json.loads(line, object_hook=Names) for line in text.splitlines()]
    end = lines[-1]
    names = {"lines": lines, "end": end, "length": length, "math": math, "in_body": in_body,
             "period": period, "direction": direction, "body": lambda name: getattr(end, name)}
    for thing in [*end.get("bodies", []), *end.get("joints", [])]:
        if "name" in thing:
            names[thing["name"]] = thing
    names.update(end)
    return names


def run(carom, command, problems):
    """The words of a shell, with this carom for the name."""
    words = command.replace("carom ", f"{os.path.abspath(carom)} ", 1) if command.startswith("carom ") else \
        command.replace("| carom ", f"| {os.path.abspath(carom)} ")
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    if done.returncode != 0:
        problems.append(f"{command}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def within(printed, value):
    """What is printed: a number, with its tolerance; or a bound."""
    if printed[0] in "<>":
        bound = float(printed[1:])
        return value < bound if printed[0] == "<" else value > bound
    want, _, tolerance = printed.partition(" +- ")
    return abs(value - float(want)) <= float(tolerance or 0)


def calculate(line, names, problems):
    """The line of a figure with what is calculated now."""
    columns = re.split(r" {2,}", line.strip())
    if len(columns) not in (2, 3):
        problems.append(f"'{line}': expected an expression, what is printed, what came out")
        return line
    try:
        value = float(eval(columns[0], dict(names)))  # pylint: disable=eval-used
    except (LookupError, AttributeError, TypeError, NameError, SyntaxError, ValueError) as error:
        problems.append(f"'{columns[0]}': {error!r}")
        return line
    if not within(columns[1], value):
        problems.append(f"'{columns[0]}' is {value:.10g}, the source has {columns[1]}")
    return f"{columns[0]:<44}  {columns[1]:<22}  {value:.9g}"


def draw(carom, command, folder, page, drawn, problems):
    words, _, path = command.partition(" --out ")
    run(carom, f"{words} --out {folder}/{os.path.basename(path)}", problems)
    drawn.append(os.path.basename(path))
    if f"](pictures/{os.path.basename(path)})" not in page:
        problems.append(f"{path}: the picture is not shown")


def rewrite(carom, page, folder):
    """The page as it should be, the pictures' names, what is wrong."""
    problems, drawn = [], []

    def block(match):
        lines, names = [], {}
        for line in match.group(1).splitlines():
            if line.startswith("$ carom plot "):
                draw(carom, line[2:], folder, page, drawn, problems)
            elif line.startswith("$ "):
                text = run(carom, line[2:], problems)
                names = read_output(text) if text else {}
            elif line.strip():
                line = calculate(line, names, problems)
            lines.append(line)
        return "```console\n" + "\n".join(lines) + "\n```"

    return BLOCK.sub(block, page), drawn, problems


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def named_tests(page):
    problems = []
    for path, names in TEST.findall(page):
        file = f"tests/{path}" if path.startswith("physics/") else f"tests/unit/{path}"
        text = read(file) if os.path.exists(file) else ""
        for name in re.split(r", ?", names.strip()):
            if not re.search(rf"(Test\(\w+, |cm_law\(\w+, |FIGURE\(){name.strip()}[,)]", text):
                problems.append(f"{file} has no test {name.strip()}")
    return problems


def named_rows(page):
    want = [f"{source}.{i}" for source, count in ROWS.items() for i in range(1, count + 1)]
    got = ROW.findall(page)
    return [f"row {row}: expected once, found {got.count(row)} times" for row in want if got.count(row) != 1]


def self_test():
    """Each rule is tried on a mistake first."""
    names = read_output('{"x": [1.5], "bodies": [{"name": "a", "y": 2}]}')
    for line, fails in (("x[0]  1.5  1.5", 0), ("a.y  2 +- .1  2", 0), ("a.y  2.2 +- .1  2", 1), ("a.y  < 1", 1),
                        ("b.y  1  1", 1), ("x[0]", 1)):
        problems = []
        calculate(line, names, problems)
        assert len(problems) == fails, (line, problems)
    assert len(named_rows("**S0.1 a**")) == sum(ROWS.values()) - 1
    assert named_tests("`sim/test_impact.c` no_such_test")


def main():
    carom, write = sys.argv[1], "--write" in sys.argv[2:]
    pictures = os.path.dirname(PAGE) + "/pictures"
    self_test()
    page = read(PAGE)
    problems = named_rows(page) + named_tests(page)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pictures if write else temporary
        os.makedirs(folder, exist_ok=True)
        now, drawn, wrong = rewrite(carom, page, folder)
        problems += wrong
        if write:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(now)
        else:
            for old, new in zip(page.splitlines(), now.splitlines()):
                if old != new:
                    problems.append(f"'{old}' is now '{new}': make sources")
            for name in drawn:
                if not os.path.exists(f"{pictures}/{name}") or read(f"{pictures}/{name}") != read(f"{folder}/{name}"):
                    problems.append(f"{pictures}/{name} is not what is drawn now: make sources")
    there = os.listdir(pictures) if os.path.isdir(pictures) else []
    problems += [f"{pictures}/{extra}: nothing draws it" for extra in there if extra not in drawn]
    if sum(os.path.getsize(f"{pictures}/{name}") for name in there) > BYTES_MAX:
        problems.append(f"{pictures}: more than {BYTES_MAX} bytes")
    for problem in problems:
        print(f"sources: {problem}")
    print(f"sources: {len(ROW.findall(page))} rows, {len(drawn)} pictures, {len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
