#!/usr/bin/env python3
"""shared/scene/SCENE.md says what is so: each block of JSON is a scene without a warning, the picture below it is what
`carom plot` draws of it with the flags beside it, and the tables have every key of proto/scene.proto, with the default of
the schema and the range of shared/scene/ranges.c.

  scene.py CAROM          compares
  scene.py CAROM --write  draws the pictures anew (`make pictures`)

The pictures of README.md are drawn by the commands that stand below them. Each rule is tried on a planted mistake first."""
import os
import re
import subprocess
import sys
import tempfile

PAGE = "shared/scene/SCENE.md"
FOLDER = "shared/scene/pictures"
BYTES_MAX = 400_000
BLOCK = re.compile(r"^```json pictures/(\w+)\.svg([^\n]*)\n(.*?)^```$", re.M | re.S)
DRAWN = re.compile(r"^\s*(?:build/)?carom (plot [^\n]*--out (shared/scene/pictures/(\w+)\.svg))$", re.M)
# Messages that are written as arrays or objects of their fields, or are not built yet; keys of two messages of one name.
NO_TABLE = {"Vec3", "Quat", "Range", "Bounds", "Count", "Triangle", "VolumeContact", "Setting", "Sphere", "Capsule",
            "Cylinder", "Box", "Hull", "Mesh", "Heightfield", "Plane", "Pointer"}


def pictures(carom, page, readme, folder):
    """Draws every picture into `folder`: their names, and what is wrong."""
    names, problems = [], []
    with tempfile.TemporaryDirectory() as scenes:
        for name, flags, scene in BLOCK.findall(page):
            names.append(name)
            file = f"{scenes}/{name}.json"
            with open(file, "w", encoding="utf-8") as out:
                out.write(scene)
            checked = subprocess.run([carom, "scene", "validate", file], capture_output=True, text=True)
            if checked.returncode != 0 or checked.stderr:
                problems.append(f"{name}: {checked.stderr.replace(scenes, PAGE).strip()}")
                continue
            draw(carom, ["plot", file, *flags.split()], f"{folder}/{name}.svg", problems)
            if f"](pictures/{name}.svg)" not in page:
                problems.append(f"{name}: the picture is not shown")
    for command, path, name in DRAWN.findall(readme):
        names.append(name)
        draw(carom, command.split()[:-2], f"{folder}/{name}.svg", problems)
        if f"]({path})" not in readme:
            problems.append(f"{name}: the picture is not shown")
    return names, problems


def draw(carom, words, path, problems):
    drawn = subprocess.run([carom, *words, "--out", path], capture_output=True, text=True)
    if drawn.returncode != 0:
        problems.append(f"{path}: {drawn.stderr.strip()}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def compare(carom, page, readme):
    with tempfile.TemporaryDirectory() as folder:
        names, problems = pictures(carom, page, readme, folder)
        for name in names:
            if not os.path.exists(f"{folder}/{name}.svg"):
                continue
            if not os.path.exists(f"{FOLDER}/{name}.svg") or read(f"{folder}/{name}.svg") != read(f"{FOLDER}/{name}.svg"):
                problems.append(f"{FOLDER}/{name}.svg is not what is drawn now: make pictures")
    there = os.listdir(FOLDER)
    problems += [f"{FOLDER}/{extra}: nothing draws it" for extra in there if extra[:-4] not in names]
    size = sum(os.path.getsize(f"{FOLDER}/{name}") for name in there)
    if size > BYTES_MAX:
        problems.append(f"{FOLDER}: {size} bytes, at most {BYTES_MAX}")
    return names, problems


def schema(text):
    """{(message, key): default or None} of scene.proto."""
    keys = {}
    stack = []
    for line in re.sub(r"//[^\n]*", "", text).split("\n"):
        opened = re.match(r"\s*(message|enum|oneof) (\w+) \{", line)
        field = re.match(r"\s*(?:required |optional |repeated )?[\w.]+ (\w+) = \d+(?: \[(.*)\])?;", line)
        if opened:
            stack.append((opened.group(1), opened.group(2)))
        elif line.strip() == "}":
            stack.pop()
        elif field and stack and stack[-1][0] != "enum":
            message = [name for kind, name in stack if kind == "message"][-1]
            default = re.search(r"default = ([\w.+-]+)", field.group(2) or "")
            keys[(message, field.group(1))] = default.group(1).lower() if default else None
    return keys


def ranges(text, limits):
    named = dict(re.findall(r"^#define (\w+) +([\d.e+-]+)[uf]?\b", text + limits, re.M))
    return {(message, key): (named.get(low, low), named.get(high, high)) for message, key, low, high in
            re.findall(r'\{"(\w+)", "(\w+)", ([^,]+), ([^}]+)\}', text)}


def table(page):
    """{(message, key): (default, range)} of the tables of SCENE.md."""
    keys = {}
    for head, body in re.findall(r"^### ([^\n]*)\n(.*?)(?=^##|\Z)", page, re.M | re.S):
        for row in re.findall(r"^\| (`[^|]*) \|([^|]*)\|([^|]*)\|", body, re.M):
            for name in re.findall(r"`([\w.]+)`", row[0]):
                message, _, key = name.rpartition(".")
                keys[(message or head.split(",")[0].strip(), key)] = (row[1].strip(), row[2].strip())
    return keys


def number(text):
    """Of C or of the page."""
    return float(eval(text.replace(",", ""), {"__builtins__": {}}))  # 1.0 / 65536.0


def same_range(cell, span):
    if cell == "unit":
        return True
    ends = cell.split(" to ")
    return len(ends) == 2 and number(ends[0]) == number(span[0]) and number(ends[1]) == number(span[1])


def same_default(cell, default):
    cell = cell.strip("`")
    try:
        return float(cell) == float(default)
    except ValueError:
        return cell.lower() == {"_2d": "2d", "0xffffffff": "4294967295"}.get(default, default)


def held(page, proto, spans):
    told, problems = table(page), []
    fields = {key: default for key, default in schema(proto).items() if key[0] not in NO_TABLE and key != ("Material", "name")}
    problems += [f"{m}.{k} is in no table" for m, k in fields if (m, k) not in told]
    problems += [f"{m}.{k} is no key" for m, k in told if (m, k) not in fields]
    for key in sorted(set(fields) & set(told)):
        default, span = told[key]
        if key in spans and key != ("Scene", "carom") and not same_range(span, spans[key]):
            problems.append(f"{'.'.join(key)}: range '{span}', the code has {' to '.join(spans[key])}")
        wanted = "4294967295" if fields[key] == "0xffffffff" else fields[key]
        if wanted is not None and not same_default(default, wanted):
            if not (wanted in ("product", "soft") or default in ("below", "products")):
                problems.append(f"{'.'.join(key)}: default '{default}', the schema has {wanted}")
    return problems


def main():
    carom = sys.argv[1]
    page, readme, proto = read(PAGE), read("README.md"), read("proto/scene.proto")
    spans = ranges(read("shared/scene/ranges.c"), read("shared/include/carom/limits.h"))
    if "--write" in sys.argv[2:]:
        names, problems = pictures(carom, page, readme, FOLDER)
        for old in set(os.listdir(FOLDER)) - {f"{name}.svg" for name in names}:
            os.remove(f"{FOLDER}/{old}")
        print("\n".join(problems + [f"{len(names)} pictures in {FOLDER}"]))
        return 1 if problems else 0
    for planted in (page.replace("| `gamma` | 0.2 |", "| `gamma` | 0.3 |"), page.replace("| `trail` | 0 | 0 to 1e3 |", "| `trail` | 0 | 0 to 1e4 |"),
                    page.replace("| `hit_speed` |", "| `hitspeed` |"), page.replace("\n| `sensor` | false", "\n")):
        if planted == page or not held(planted, proto, spans):
            sys.exit("scene: a planted mistake in the tables was not found")
    first = BLOCK.search(page).group(0)
    for planted, told in ((first.replace("[0, 2, 0]", "[0, 2.5, 0]"), "hello.svg is not what is drawn now"),
                          (first.replace('"bodies"', '"bodys"'), "unknown key")):
        if planted == first or told not in "\n".join(compare(carom, planted, "")[1]):
            sys.exit("scene: a planted mistake in a picture was not found")
    problems = held(page, proto, spans)
    names, wrong = compare(carom, page, readme)
    for problem in problems + wrong:
        print(f"scene: {problem}")
    print(f"scene: {len(names)} pictures, {len(table(page))} keys, {len(problems + wrong)} of them wrong")
    return 1 if problems + wrong or len(names) < 17 else 0


sys.exit(main())
