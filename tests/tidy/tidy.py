#!/usr/bin/env python3
"""Checks of the sources that no compiler makes. Part of `make test`; --self-test shows that each can fail.

  include    include direction: room -> game, scene -> view, wire -> sim -> base;
             transport -> wire; shared/net -> base; shared
             never includes server or client-sdk; the SDK includes neither the server nor shared/net;
             of the server's folders each names those below it that it may include; the server sees
             the public SDK alone. The tables themselves may form no circle
  wall       nobody outside shared/sim includes its headers: the world is what carom/*.h say. The server
             and its tools also have shared/sim/inspect.h; tests of the simulation alone look inside
  layer      inside the simulation includes point strictly downward: step, solve and query,
             collide, body and joint, geometry, state; body and joint do not know each other, nor does one solver another,
             and nobody looks into a solver's folder: solve/solver.h names its row
  library    a library's header stands in no header of ours and only in the .c files named here
  banned     calls that break determinism, in the simulation
  format     clang-format (skipped with a failure, not silently, where it is missing)
  prints     only server/cli, ops/log and ops/status write to stdout and stderr
  length     files above 800 lines; functions above 70 lines: at most 3%, none above 120
  words      marks of unfinished work; tabs and trailing blanks
  planted    each patch of tests/planted still fits the files that it changes
  attacks    each test that tests/attack/README.md names exists
  suites     each row of tests/suites.txt is a row of tests/README.md too
  readme     at most 900 words before README.md's Reference
  lines      a budget of lines for each folder (lines.py, lines.txt)
  comment    no comment opens with a free relative ("What it does", "Whether it is"): subject, verb, object
  field      each field and value of world.h and joint.h has a /// before or behind it
  habit      one spelling: i++, not ++i, where the value is not used; p == NULL, not !p; and no test's own timeout
"""
import os
import re
import shutil
import subprocess
import sys

import lines as line_budgets

FILE_MAX = 750
FUNCTION_LONG = 70
FUNCTION_MAX = 120
FUNCTION_LONG_SHARE = 0.03
README_WORDS = 900  # before its Reference

SERVER_SHARED = ["shared/base", "shared/codec", "shared/sim", "shared/view", "shared/wire", "shared/scene", "shared/game",
                 "shared/room", "shared/transport", "shared/net"]
RECORD_SHARED = ["shared/base", "shared/sim", "shared/scene", "shared/game", "shared/room", "shared/wire/crypto.h",
                 "shared/wire/confirmed.h", "shared/wire/chunk.h", "shared/wire/chunk_file.h"]

# The server's folders, lowest first: what each may include of the others. Nothing includes a folder
# that stands after it.
SERVER = {
    "server/ops": [],
    "server/config": ["ops"],
    "server/auth": ["config", "ops"],
    "server/transport/enet": ["auth"],
    "server/transport/websocket": [],
    "server/record/format": ["config"],
    "server/record/catalogue": ["record/format"],
    "server/record/store": ["record/format", "record/catalogue"],
    "server/record/replay": ["record/format"],
    "server/room": ["ops"],
    "server/session": ["config", "ops", "auth/bans.h", "room"],
    "server/replicate": ["room", "session"],
    "server/node": ["config", "ops", "auth", "transport/enet", "transport/websocket", "record/format", "record/catalogue", "record/store",
                    "record/replay", "room", "session", "replicate"],
    "server/supervisor": ["config", "ops", "auth", "transport/enet", "transport/websocket", "record/format", "record/store", "node"],
    "server/tools/offline": [],
    "server/tools/plot": ["tools/offline"],
    "server/tools/eval": ["config"],
    "server/tools/bench": ["config", "ops", "auth", "record/store", "record/replay"],
    "server/tools/export": ["record/format", "record/replay", "tools/offline"],
    "server/tools/feel": ["config", "room", "node", "tools/bench"],
    "server/tools/bots": ["tools/feel", "tools/bench"],
    "server/tools/capacity": ["config", "node", "tools/bench", "tools/bots"],
    "server/tools/doctor": ["transport/enet", "node", "tools/bench"],
    "server/tools/module": ["node"],
    "server/cli": ["config", "ops", "auth", "transport/enet", "record", "room", "replicate", "node", "supervisor", "tools"],
    "server": ["cli"],
}

# A folder may include itself and these: folders, or single headers.
ALLOWED = {
    "shared/base": [],
    "shared/sim": ["shared/base"],
    "shared/view": ["shared/base"],
    "shared/codec": ["shared/base"],
    "shared/wire": ["shared/base", "shared/view"],
    "shared/scene": ["shared/base"],
    "shared/game": ["shared/base", "shared/scene", "shared/wire"],
    "shared/room": ["shared/base", "shared/scene", "shared/game", "shared/wire/chunk.h"],
    "shared/transport": ["shared/base", "shared/wire"],
    "shared/net": ["shared/base", "shared/wire/address.h", "shared/transport/socket_address.h"],
    "shared/include": [],
    "client-sdk/include": [],
    "client-sdk/src": ["shared/base", "shared/view", "shared/wire", "shared/scene", "shared/game",
                       "shared/room", "shared/transport"],
    "client-sdk/examples": [],
    **{folder: [f"server/{f}" for f in below] +
       (RECORD_SHARED if folder.startswith("server/record/") else SERVER_SHARED)
       for folder, below in SERVER.items()},
}

# The wall: the simulation's headers are its own. One of them is for the server and its tools, and the
# tests named here look inside.
SIM = "shared/sim/"
INSPECT = "shared/sim/inspect.h"
INSPECTORS = ("server/", "tests/")
WHITE_BOX = ("tests/unit/sim/", "tests/fuzz/", "tests/determinism/")

# Layers of the simulation, lowest first. A file may include its own folder and lower layers, but no
# solver's folder other than its own.
LAYERS = [
    ["shared/sim/state"],
    ["shared/sim/geometry"],
    ["shared/sim/body", "shared/sim/joint"],
    ["shared/sim/collide"],
    ["shared/sim/solve", "shared/sim/query"],
    ["shared/sim/solve/soft", "shared/sim/solve/impulse", "shared/sim/solve/lcp", "shared/sim/solve/volume"],
    ["shared/sim/step"],
]

LIBRARIES = {
    "enet/enet.h": r"^(server/transport/enet/(net|pacing|datagrams)\.c|client-sdk/src/(link|handshake|relay)\.c|client-sdk/web/client/native/socket\.c|shared/transport/enet_hooks\.c|shared/net/.*\.c|tests/.*\.c)$",
    "sqlite3.h": r"^(server/record/.*\.c|server/auth/gate_db\.c|tests/.*\.c)$",
    # Read in one place; three commands write with it.
    "jansson.h": r"^(shared/scene/map_json\.c|server/config/json_reader\.c|server/cli/(admin|match_live|token)\.c|tests/.*\.c|tests/bench/peers/.*\.cpp)$",
    "lzma.h": r"^server/tools/bench/cube_file\.c$",
    "microhttpd.h": r"^server/ops/http\.c$",
    "sodium.h": r"^(shared/wire/crypto\.c|client-sdk/web/client/native/socket\.c)$",
    "pb-c.h": r"^(shared/scene/(.*\.c|message\.h)|shared/wire/.*\.c|server/record/.*\.c|server/supervisor/api_(routes|document)\.c|tests/.*\.c)$",
}

SIMULATION = ("shared/base/", "shared/sim/", "shared/game/", "shared/room/", "shared/include/")
BANNED = [
    (r"\b(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|log|log2|log10|pow|fmod|cbrt|hypot|"
     r"fma|round|lround|rint|lrint|nearbyint|ceil|floor|trunc|remainder|ldexp|frexp)f?\s*\(",
     "libm in the simulation"),
    (r"\bq?sort_r?\s*\(|\bqsort\s*\(|\bbsearch\s*\(", "the C library's sort in the simulation"),
    (r"\b(rand|random|srand|drand48|arc4random|getrandom)\s*\(", "the C library's chance"),
    (r"(?<![>.])\b(time|clock|gettimeofday|clock_gettime|localtime|gmtime)\s*\(", "time in the simulation"),
    (r"__(DATE|TIME|TIMESTAMP)__", "the time of the build"),
    (r"\blong double\b", "long double differs between architectures"),
    (r"__builtin_(fma|ia32_rsqrt|ia32_rcp)|_mm_r(sqrt|cp)_", "estimates differ between machines"),
]
# Places where a banned thing is right, with why.
BANNED_EXCEPT = {
    ("shared/base/assert.c", "*"),  # only on the way to abort
}
ALLOCATION = re.compile(r"\b(malloc|calloc|realloc|free)\s*\(")

WORDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")

# One spelling of one habit. That of pointers is seen only where a name says that it is one.
HABITS = [
    (r"(^\s*|; )(\+\+|--)[a-z_][\w.>\[\]-]*[;,)]", "i++, where the value is not used"),
    (r"!\(?\b(client|world|room|allocator|body|hull|joint|mirror|predictor|link|net|store|session)\b"
     r"(?![\w.(\[]|->)", "p == NULL"),
    (r"^Test(Suite)?\(.*\.timeout", "no timeout of a test's own: tests/unit/timeout.c says why"),
]


def strip_comments(text):
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    text = re.sub(r"//[^\n]*", blank, text)
    return re.sub(r'"(\\.|[^"\\\n])*"', lambda m: '"' + " " * (len(m.group(0)) - 2) + '"', text)


def folder_of(path):
    for folder in sorted(ALLOWED, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def layer_of(path):
    folder = os.path.dirname(path)
    for number, folders in enumerate(LAYERS):
        if folder in folders:
            return number
    return None


def check_layer(path, name):
    """Why a file of the simulation may not include another one, or None."""
    here, there = os.path.dirname(path), os.path.dirname(name)
    if not (path.startswith(SIM) and name.startswith(SIM)) or here == there or name == INSPECT:
        return None
    if layer_of(path) is None or layer_of(name) is None:
        return "a folder of no layer"
    if there in LAYERS[5]:
        return "a solver's folder is its own: solve/solver.h names its row"
    if layer_of(name) >= layer_of(path):
        return f"{here} may not include {there}: layers point downward"
    return None


def check_wall(path, name):
    """Why a file outside the simulation may not include one of its headers, or None."""
    if not name.startswith(SIM) or path.startswith((SIM,) + WHITE_BOX):
        return None
    if name == INSPECT:
        return None if path.startswith(INSPECTORS) else "a world is what carom/*.h say"
    return "private to the simulation: carom/*.h, or shared/sim/inspect.h for the server and its tools"


def check_includes(path, text, problems):
    folder = folder_of(path)
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
        if not match:
            continue
        name = match.group(1)
        if ".." in name.split("/"):
            problems.append(f"{path}:{number}: include: {name}: paths start at the top")
        for header, where in LIBRARIES.items():
            if name.endswith(header) and not re.match(where, path):
                problems.append(f"{path}:{number}: include: {name} does not belong here")
        wall = check_wall(path, name)
        if wall:
            problems.append(f"{path}:{number}: wall: {name}: {wall}")
        wrong = check_layer(path, name)
        if wrong:
            problems.append(f"{path}:{number}: layer: {wrong}")
        target = folder_of(name)
        if folder is None or target is None or target == folder:
            continue
        if target in ("shared/include", "client-sdk/include"):
            continue
        if name not in ALLOWED[folder] and not any(name.startswith(f + "/") for f in ALLOWED[folder]):
            problems.append(f"{path}:{number}: include: {folder} may not include {name}")


def check_banned(path, text, problems):
    if not path.startswith(SIMULATION):
        return
    code = strip_comments(text)
    for number, line in enumerate(code.split("\n"), 1):
        for pattern, why in BANNED:
            if re.search(pattern, line) and (path, "*") not in BANNED_EXCEPT:
                problems.append(f"{path}:{number}: banned: {why}: {line.strip()[:60]}")
        if path.startswith("shared/sim/") and path != "shared/sim/step/shadow.c" and ALLOCATION.search(line):
            problems.append(f"{path}:{number}: banned: nothing allocates in the simulation")


def functions(text):
    """(name, first line, length) of each function, by the shape that clang-format gives."""
    found = []
    lines = text.split("\n")
    start = None
    for number, line in enumerate(lines):
        if line == "{" and number > 0:
            start = number
        elif line == "}" and start is not None:
            head = start - 1
            while head > 0 and lines[head - 1] and not lines[head - 1].startswith(("//", "#", "}", " *")) \
                    and not lines[head - 1].endswith((";", "}")):
                head -= 1
            name = re.search(r"(\w+)\s*\(", " ".join(lines[head:start]))
            found.append((name.group(1) if name else "?", head + 1, number - head + 1))
            start = None
    return found


# Who writes to stdout and stderr: the commands, log and status. Whatever else finds something wrong returns it.
PRINTERS = ("server/cli/", "server/ops/log.", "server/ops/status.", "server/main.c")
PRINTS = re.compile(r"(?<![\w.>])(printf|puts|putchar|perror|vprintf|psignal|err|errx|warn|warnx)\s*\(|\bstd(out|err)\b|"
                    r"\bSTD(OUT|ERR)_FILENO\b|\bcm_cli_\w+\s*\(")
# Places where a standard stream is named and not written to, with why.
PRINTS_EXCEPT = {
    ("server/supervisor/processes.c", "STDERR_FILENO"),  # the last descriptor that a worker keeps
}


def check_prints(path, text, problems):
    if not path.startswith("server/") or path.startswith(PRINTERS):
        return
    for number, line in enumerate(strip_comments(text).split("\n"), 1):
        match = PRINTS.search(line)
        if match and (path, match.group(0)) not in PRINTS_EXCEPT:
            problems.append(f"{path}:{number}: prints: {match.group(0)}: an error is returned, cli/ and ops/ print")


def check_length(path, text, problems, counts):
    lines = text.count("\n")
    if lines > FILE_MAX:
        problems.append(f"{path}: length: {lines} lines, at most {FILE_MAX}: two nouns?")
    for name, line, length in functions(text):
        counts["functions"] += 1
        if length > FUNCTION_LONG:
            counts["long"].append((path, line, name, length))
        if length > FUNCTION_MAX:
            problems.append(f"{path}:{line}: length: {name} has {length} lines, at most {FUNCTION_MAX}")


def check_words(path, text, problems):
    for number, line in enumerate(text.split("\n"), 1):
        if WORDS.search(line):
            problems.append(f"{path}:{number}: words: unfinished work is named in the README, not here")
        if line != line.rstrip():
            problems.append(f"{path}:{number}: words: trailing blanks")
        if "\t" in line and not path.endswith((".mk", "Makefile")):
            problems.append(f"{path}:{number}: words: tab")


RELATIVE = re.compile(r"(Who|Whom|Whose|Whoever|What|Whatever|Where|Wherever|Which|Whichever|How|Why|When|Whenever|Whether)\b")
NOT_YET_PLAIN = ("tests/",)


def check_comments(path, text, problems):
    if path.startswith(NOT_YET_PLAIN):
        return
    goes_on = False
    for number, line in enumerate(text.split("\n"), 1):
        whole = re.match(r"\s*///?\s?(.*)$", line)
        behind = None if whole else re.search(r"[;,{)]\s*//\s(.*)$", line)
        opens = whole if whole and not goes_on else behind
        if opens and RELATIVE.match(opens.group(1)):
            problems.append(f"{path}:{number}: comment: opens with a free relative, expected subject, verb, object")
        goes_on = bool(whole or behind)


DOCUMENTED = ("shared/include/carom/world.h", "shared/include/carom/joint.h")


def check_fields(path, text, problems):
    if path not in DOCUMENTED:
        return
    inside, before = False, ""
    for number, line in enumerate(text.split("\n"), 1):
        inside = (inside or re.match(r"typedef (struct|enum|union) \w+ {", line)) and not line.startswith("}")
        field = inside and re.match(r"\s+[A-Za-z_].*[;,](\s*//.*)?$", line)
        if field and "///" not in line and not before.strip().startswith("///"):
            problems.append(f"{path}:{number}: field: no ///, expected its meaning, unit and consequence")
        before = line


def check_habit(path, text, problems):
    for number, line in enumerate(strip_comments(text).split("\n"), 1):
        for pattern, want in HABITS:
            if re.search(pattern, line):
                problems.append(f"{path}:{number}: habit: {want}")


def hunks(patch):
    """(file, old lines) of each hunk of a patch."""
    path, old = None, None
    for line in patch.split("\n"):
        if line.startswith("+++ b/") or line.startswith("@@"):
            if old:
                yield path, old
            old = None
        if line.startswith("+++ b/"):
            path = line[6:]
        elif line.startswith("@@"):
            old = ["^"] if line.startswith("@@ -1,") or line.startswith("@@ -1 ") else []  # git looks at the top alone
        elif old is not None and line.startswith((" ", "-")) and not line.startswith("---"):
            old.append(line[1:])
    if old:
        yield path, old


def check_planted(name, patch, read, problems):
    for path, old in hunks(patch):
        if "\n" + "\n".join(old) + "\n" not in "\n^\n" + read(path):
            problems.append(f"{name}: planted: no longer fits {path}: plant the bug anew where it went")


ATTACKS = "tests/attack/README.md"


def check_attacks(text, tests, problems):
    for suite, name in re.findall(r"`(\w+)\.(\w+)`", text):
        if name not in ("sh", "md", "c") and (suite, name) not in tests:
            problems.append(f"{ATTACKS}: attacks: there is no Test({suite}, {name})")


GAMES = "client-sdk/examples"
TEMPLATE = "server/tools/module/template"
OF_TEMPLATE = ("Makefile", "CMakeLists.txt", "match.sh")


def check_suites(table, readme, problems):
    named = set(re.findall(r"`((?:test|check|night)-[a-z-]+)`", "\n".join(
        line for line in readme.splitlines() if line.startswith("|"))))
    suites = {line.split()[0] for line in table.splitlines() if line and not line.startswith("#")}
    for name in sorted(suites ^ named):
        problems.append(f"tests/README.md: suites: {name} is not both in its table and in tests/suites.txt")


def check_readme(text, problems):
    head, reference, _ = text.partition("\n## Reference\n")
    words = len(head.split())
    if not reference or words > README_WORDS:
        problems.append(f"README.md: length: {words} words before '## Reference', at most {README_WORDS}")


def check_game(name, read, problems):
    """A game is a folder to copy: what builds and plays it is what `carom module new` writes."""
    for file in OF_TEMPLATE:
        if read(f"{GAMES}/{name}/{file}") != read(f"{TEMPLATE}/{file}.in").replace("@NAME@", name):
            problems.append(f"{GAMES}/{name}/{file}: game: is not {TEMPLATE}/{file}.in with its name in it")


def check_format(paths, problems):
    tool = shutil.which("clang-format") or shutil.which("clang-format-14")
    if tool is None:
        problems.append("format: clang-format is missing (make deps)")
        return
    result = subprocess.run([tool, "--dry-run", "-Werror"] + paths, capture_output=True, text=True)
    if result.returncode != 0:
        for line in result.stderr.split("\n"):
            if "error:" in line:
                problems.append("format: " + line.strip() + " (make format)")
                if len(problems) > 40:
                    return


def check_all(paths, read, with_format=True):
    problems = []
    counts = {"functions": 0, "long": []}
    for path in paths:
        text = read(path)
        check_includes(path, text, problems)
        check_banned(path, text, problems)
        check_length(path, text, problems, counts)
        check_prints(path, text, problems)
        check_words(path, text, problems)
        check_habit(path, text, problems)
        check_comments(path, text, problems)
        check_fields(path, text, problems)
    allowed = int(FUNCTION_LONG_SHARE * counts["functions"])
    if len(counts["long"]) > allowed:
        for path, line, name, length in counts["long"]:
            problems.append(f"{path}:{line}: length: {name} has {length} lines; of "
                            f"{counts['functions']} functions at most {allowed} may have above "
                            f"{FUNCTION_LONG}")
    if with_format:
        check_format(paths, problems)
    return problems, counts


PLANTED = {
    "field": ("shared/include/carom/joint.h", "typedef struct carom_x {\n    float a; ///< m\n    float b;\n} carom_x;\n"),
    "include": ("shared/sim/x.c", '#include "shared/game/game_host.h"\n'),
    "command line": ("server/tools/plot/x.c", '#include "server/cli/cli.h"\n'),
    "SDK -> simulation": ("client-sdk/src/x.c", '#include "shared/sim/state/image.h"\n'),
    "SDK -> inspection": ("client-sdk/src/x.c", '#include "shared/sim/inspect.h"\n'),
    "a way round": ("server/node/x.c", '#include "../../shared/sim/state/image.h"\n'),
    "game -> simulation": ("shared/game/x.c", '#include "shared/sim/state/image.h"\n'),
    "scene -> simulation": ("shared/scene/x.c", '#include "shared/sim/inspect.h"\n'),
    "server -> simulation": ("server/node/x.c", '#include "shared/sim/state/fields.h"\n'),
    "test -> simulation": ("tests/unit/scene/x.c", '#include "shared/sim/state/image.h"\n'),
    "peers -> simulation": ("tests/bench/peers/x.h", '#include "shared/sim/state/image.h"\n'),
    "server -> SDK's inside": ("server/tools/x.c", '#include "client-sdk/src/mirror.h"\n'),
    "record -> room": ("server/record/store/x.c", '#include "server/room/room.h"\n'),
    "format -> store": ("server/record/format/x.h", '#include "server/record/store/store.h"\n'),
    "record -> wire": ("server/record/replay/x.c", '#include "shared/wire/token.h"\n'),
    "room -> command line": ("server/room/x.c", '#include "server/cli/cli.h"\n'),
    "session -> store": ("server/session/x.c", '#include "server/record/store/store.h"\n'),
    "room -> the files of record": ("server/room/x.c", '#include "server/record/format/match_file.h"\n'),
    "node -> supervisor": ("server/node/x.c", '#include "server/supervisor/respawn.h"\n'),
    "room loop -> clients": ("server/room/room_loop.c", '#include "server/session/clients.h"\n'),
    "clients -> publisher": ("server/session/clients.c", '#include "server/replicate/publisher.h"\n'),
    "publisher -> worker": ("server/replicate/publisher.h", '#include "server/node/worker.h"\n'),
    "room -> net": ("server/room/room.c", '#include "server/transport/enet/net.h"\n'),
    "a folder of no row": ("server/new/x.c", '#include "server/ops/log.h"\n'),
    "main -> node": ("server/main.c", '#include "server/node/worker.h"\n'),
    "layer upward": ("shared/sim/state/x.c", '#include "shared/sim/step/sleep.h"\n'),
    "layer beside": ("shared/sim/body/x.c", '#include "shared/sim/joint/joint.h"\n'),
    "other solver": ("shared/sim/solve/soft/x.c", '#include "shared/sim/solve/lcp/lcp.h"\n'),
    "solver's inside": ("shared/sim/step/x.c", '#include "shared/sim/solve/soft/soft.h"\n'),
    "layer unknown": ("shared/sim/x/x.c", '#include "shared/sim/state/image.h"\n'),
    "printing": ("server/node/x.c", 'void f(void)\n{\n    printf("x");\n}\n'),
    "stderr": ("server/ops/x.c", 'void f(void)\n{\n    fprintf(stderr, "x");\n}\n'),
    "library": ("server/x.h", "#include <sqlite3.h>\n"),
    "banned": ("shared/sim/x.c", "float f(float a)\n{\n    return sinf(a);\n}\n"),
    "sort": ("shared/sim/x.c", "void f(void)\n{\n    qsort(a, b, c, d);\n}\n"),
    "allocation": ("shared/sim/x.c", "void f(void)\n{\n    free(malloc(1));\n}\n"),
    "file length": ("server/x.c", "int a;\n" * (FILE_MAX + 1)),
    "function length": ("server/x.c", "void f(void)\n{\n" + "    a();\n" * FUNCTION_LONG + "}\n"),
    "word": ("server/x.c", "// TO" "DO\n"),
    "habit of counting": ("server/x.c", "void f(void)\n{\n    for (int i = 0; i < 3; ++i) {\n    }\n}\n"),
    "habit of pointers": ("server/x.c", "void f(int *room)\n{\n    if (!room) {\n    }\n}\n"),
    "comment": ("server/x.c", "// What it does.\nint a;\n"),
    "habit of timeouts": ("tests/unit/x.c", "Test(a, b, .timeout = 60)\n{\n}\n"),
    "tab": ("server/x.c", "\tint a;\n"),
}
SOUND = [("shared/sim/step/x.c", '#include "shared/base/vec.h"\n// sinf( in a comment\nfloat f(float a)\n'
         "{\n    return cm_sqrt(a);\n}\n"),
         ("server/cli/x.c", '#include "server/node/worker.h"\n#include "server/record/replay/replay.h"\n'
          '#include "carom/client.h"\n'),
         ("server/node/worker.c", '#include "server/record/store/store.h"\n#include "server/room/room_loop.h"\n'
          '#include "shared/sim/inspect.h"\n'),
         ("tests/fuzz/x.c", '#include "shared/sim/state/image.h"\n'),
         ("shared/sim/state/x.c", '#include "shared/sim/inspect.h"\n')]


def circles(table):
    """Folders that include one that does not stand before them in the table."""
    order = list(table)
    return [(folder, other) for at, folder in enumerate(order) for other in table[folder]
            for name in order if (name + "/").startswith(f"server/{other}/") and order.index(name) >= at]


def self_test():
    bad = 0
    if circles(SERVER) or not circles({"server/a": ["b"], "server/b": ["a"]}):
        print(f"tidy: self-test: the server's folders form a circle: {circles(SERVER)}")
        bad += 1
    for name, (path, text) in PLANTED.items():
        problems, _ = check_all([path], lambda _: text, with_format=False)
        if len(problems) == 0:
            print(f"tidy: self-test: the planted {name} was not found")
            bad += 1
    patch = "+++ b/x\n@@ -1 +1 @@\n a\n-b\n+c\n"
    for text, count in (("a\nb\n", 0), ("a\nc\n", 1), ("c\na\nb\n", 1)):
        problems = []
        check_planted("x", patch, lambda _: text, problems)
        if len(problems) != count:
            print("tidy: self-test: a planted patch is not held against its file")
            bad += 1
    problems = []
    check_attacks("`door.there` `run.sh` `door.gone`", {("door", "there")}, problems)
    if len(problems) != 1:
        print("tidy: self-test: the table of attacks is not held against the tests")
        bad += 1
    for text, count in (("of ball", 0), ("of race", 3)):
        problems = []
        check_game("ball", lambda path: "of @NAME@" if path.endswith(".in") else text, problems)
        if len(problems) != count:
            print("tidy: self-test: a game is not held against the template")
            bad += 1
    for row, count in (("test-a", 0), ("test-b", 2)):
        problems = []
        check_suites(row + " test builds run\n", "| `test-a` | proves |\n", problems)
        if len(problems) != count:
            print("tidy: self-test: the table of suites is not held against the README")
            bad += 1
    for words, count in ((README_WORDS, 0), (README_WORDS + 1, 1)):
        problems = []
        check_readme("word " * words + "\n## Reference\n", problems)
        if len(problems) != count:
            print("tidy: self-test: README is not held against its words")
            bad += 1
    for there, count in ((100, 0), (101, 1)):
        problems = []
        line_budgets.check({("product", "x"): there}, {("product", "x"): 100}, problems)
        if len(problems) != count:
            print("tidy: self-test: a folder is not held against its budget")
            bad += 1
    for path, text in SOUND:
        problems, _ = check_all([path], lambda _: text, with_format=False)
        if problems:
            print(f"tidy: self-test: a sound file was refused: {problems}")
            bad += 1
    return bad


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    bad = self_test()
    paths = []
    for top in ("shared", "server", "client-sdk", "tests"):
        for folder, _, names in os.walk(top):
            if "node_modules" in folder:
                continue
            paths += [os.path.join(folder, n) for n in names if n.endswith((".c", ".h", ".inl", ".cpp"))]
    paths.sort()
    problems, counts = check_all(paths, lambda p: open(p, encoding="utf-8").read())
    for name in sorted(os.listdir("tests/planted")):
        if name.endswith(".patch"):
            with open(os.path.join("tests/planted", name), encoding="utf-8") as patch:
                check_planted(name, patch.read(), lambda p: open(p, encoding="utf-8").read(), problems)
    tests = set()
    for path in paths:
        if path.startswith("tests/unit/"):
            with open(path, encoding="utf-8") as file:
                tests.update(re.findall(r"^Test\((\w+), (\w+)", file.read(), re.M))
    for name in sorted(os.listdir(GAMES)):
        if os.path.exists(f"{GAMES}/{name}/module.c"):
            check_game(name, lambda p: open(p, encoding="utf-8").read(), problems)
    with open(ATTACKS, encoding="utf-8") as table:
        check_attacks(table.read(), tests, problems)
    check_suites(line_budgets.read_file("tests/suites.txt"), line_budgets.read_file("tests/README.md"), problems)
    line_budgets.check(line_budgets.count(line_budgets.find(), line_budgets.read_file),
                       line_budgets.read_budgets(line_budgets.read_file(line_budgets.BUDGETS)), problems)
    check_readme(line_budgets.read_file("README.md"), problems)
    for problem in problems:
        print("tidy: " + problem)
    share = 100.0 * len(counts["long"]) / max(1, counts["functions"])
    print(f"tidy: {len(paths)} files, {counts['functions']} functions, {share:.1f}% above "
          f"{FUNCTION_LONG} lines")
    failed = len(problems) + bad
    print(f"{len(paths) if not failed else 0} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
