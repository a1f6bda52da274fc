#!/usr/bin/env python3
"""README.md says what is so: its blocks of sh are run in their order, in one empty directory with links to the sources;
`make run` prints the ten lines that it shows, but for numbers; the commands of its figures print them, and what does not
hang on the machine is as they say.

  readme.py BUILD_DIR

bench-peers runs where its libraries are, and is said to be left out elsewhere."""
import os
import re
import subprocess
import sys
import tempfile

from blocks import blocks, elsewhere, read, run

PAGE = "README.md"
RUN = "apt-get update && apt-get install -y make && make run\n"


def shape(line):
    """A line without what differs from run to run."""
    return re.sub(r"\s+", " ", re.sub(r"[0-9a-f]{16}|\d[\d.]*", "N", line)).strip()


def on_terminal(words):
    """Status, and what a command prints on a terminal, without the terminal's own."""
    own, its = os.openpty()
    command = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=its, stderr=its)
    os.close(its)
    parts = []
    try:
        while data := os.read(own, 65536):
            parts.append(data)
    except OSError:  # so it ends on Linux
        pass
    os.close(own)
    return command.wait(), re.sub(r"\x1b\[\d*[A-Za-z]|\r", "", b"".join(parts).decode(errors="replace"))


def shown(page, output):
    """The lines that README shows of `make run`, and those of them that it did not print."""
    lines = page.split("```text\n")[1].split("```")[0].strip().split("\n")
    printed = {shape(line) for line in output.split("\n")}
    return lines, [line for line in lines if shape(line) not in printed]


def figures(page, out):
    """Runs the commands of the table of figures."""
    problems = []
    commands = re.findall(r"^\| [^|]*\| ([^|]*) \| `([^`]*)` \|$", page, re.M)
    for value, command in commands:
        words = command.split()
        if words[:2] == ["make", "bench-peers"]:
            missing = subprocess.run(["deploy/deps.sh", "--missing", "peers"], capture_output=True, text=True).stdout.strip()
            if missing:
                print(f"readme: {command}: left out, {missing} is not here")
                continue
            words = ["make", "bench-peers", words[2].replace("PEERS=", "PEERS=--runs 1 ")]
        elif words[0] == "build/carom":
            words[0] = f"{out}/carom"
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"{command}: status {done.returncode}: {done.stderr[-500:]}")
        elif "capacity" in command:
            kilobytes = float(re.search(r'"kbit_down_client":([\d.]+)', done.stdout).group(1)) / 8
            if abs(kilobytes / float(value.split()[0]) - 1) > 0.1:
                problems.append(f"{command}: {kilobytes:.1f} kB/s, README says {value}")
        elif "rollback" in command and '"bodies":256,"ticks":12' not in done.stdout:
            problems.append(f"{command}: no figure of 256 bodies and 12 ticks")
    return len(commands), problems


def doors(page, out):
    """Host, build a game, replay, physics. What would be installed for all is installed for this test."""
    script = "".join(block for block in blocks(page) if block != RUN)
    script = script.replace("serve --insecure ", "serve --insecure --listen 127.0.0.1:9400 ")  # what it is without
    script = script.replace(" 2>server.log &\n", " 2>server.log &\nuntil grep -q listening status.log; do sleep 0.1; done\n")
    with tempfile.TemporaryDirectory() as root:
        script = script.replace("make install\n", f"make -s -C {os.getcwd()} install PREFIX={root} >install.log\n")
        links = {"build": os.path.dirname(out), "tests": "tests"}
        status, told, texts = run(elsewhere(script), links, f"{root}/bin", {"PKG_CONFIG_PATH": f"{root}/lib/pkgconfig"}.items())
    problems = [f"its blocks ended with status {status}:\n{told}"] if status != 0 else []
    places = [line for line in texts["stdout"].split("\n") if ", score " in line]  # displayed: near its lane, while an error is smoothed
    if not any(re.search(r"^-(5\.9|6\.0)\d 0\.[45]\d -?\d+\.\d\d, score \d+$", line) for line in places):
        problems.append(f"the new game's client did not play: {places}\n{told}")
    return problems


def main():
    page, out = read(PAGE), sys.argv[1]
    problems = [] if RUN in blocks(page) else ["the block of `make run` is another one"]
    os.environ["RUN_SECONDS"] = "6"
    status, output = on_terminal(["make", "run"])
    lines, missing = shown(page, output)
    if status != 0:
        problems.append(f"make run: status {status}:\n{output[-1500:]}")
    problems += [f"make run does not print: {line}" for line in missing]
    if not shown(page.replace("imported sandbox", "exported sandbox"), output)[1]:
        sys.exit("readme: a planted mistake was not found")
    count, wrong = figures(page, out)
    problems += wrong + doors(page, out)
    for problem in problems:
        print(f"readme: {problem}")
    print(f"readme: {len(lines)} lines of make run, {count} figures, {len(blocks(page))} blocks, {len(problems)} problems")
    return 1 if problems or len(lines) != 10 or count != 3 else 0


sys.exit(main())
