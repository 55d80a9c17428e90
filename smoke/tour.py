"""Types a page as a newcomer would: writes its files, runs its commands, compares what is printed with what stands there.

    ```toml, ```yaml … whose first line is a comment with a path: a file, written there
    ```sh              commands, all of which must do
    ```console         `$ command` lines, each with what it prints; `…` is anything, numbers are any numbers

A block whose first command is one of `MAY_LACK`, which is no part of what the tests install, is left out loudly where that is not there.
A command that only looks (what `LOOKS` says) is looked at again for a while, as a person would. A block of another kind fails: nothing on a page
is not tried. usage: tour.py PAGE, in the router's network namespace."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from readme import differs

LOOKS = re.compile(r"(volley (show|lookup|why-dropped|events|trace show|explain)|ip netns exec \w+ (ping|gobgp)|curl|promtool query) ?")
PATIENCE_S = 20
MAY_LACK = ("promtool",)


def blocks(page):
    """The kind, the lines and the place of each fenced block."""
    kind, lines = None, []
    for number, line in enumerate(pathlib.Path(page).read_text().splitlines(), 1):
        if kind is None and line.startswith("```"):
            kind, lines, began = line[3:].strip(), [], number
        elif kind is not None and line == "```":
            yield kind, lines, f"{page}:{began}"
            kind = None
        elif kind is not None:
            lines.append(line)
    assert kind is None, f"{page}: a block without an end"


def write(lines, place):
    said = re.match(r"\S+ (/\S+)$", lines[0])
    assert said, f"{place}: `{lines[0]}` does not say which file this is"
    path = pathlib.Path(said[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def run(script):
    """What is printed goes through a file of its own: a command that goes on in the background keeps writing there."""
    with tempfile.TemporaryFile("w+", dir=".") as printed:
        code = subprocess.run(["bash", "-ec", script], stdout=printed, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode
        printed.seek(0)
        return code, printed.read().splitlines()


def answers():
    while run("volley show version")[0]:
        assert time.monotonic() < deadline, "the router does not answer"
        time.sleep(0.1)


def command(line, expected, place):
    give_up = time.monotonic() + (PATIENCE_S if LOOKS.match(line) else 0)
    while True:
        code, printed = run(line)
        # Who is not answered is told so by ping's end, too.
        fails = code and not any(" 100% packet loss" in text for text in expected)
        wrong = f"it ends with {code}" if fails else (expected and differs(expected, printed))
        if not wrong:
            return
        assert time.monotonic() < give_up, f"{place}: $ {line}\n{wrong}\nall that was printed: {chr(10).join(printed)}"
        time.sleep(0.3)


def type_page(page):
    commands = 0
    for kind, lines, place in blocks(page):
        needs = lines[0].removeprefix("$ ").split()[0]
        if needs in MAY_LACK and not shutil.which(needs):
            print(f"{place}: LEFT OUT, since {needs} is not there")
        elif kind == "console":
            for part in re.split(r"^\$ ", "\n".join(lines), flags=re.M)[1:]:
                line, *expected = part.rstrip("\n").split("\n")
                command(line, [text for text in expected if text], place)
                commands += 1
                if line.startswith("volleyd "):
                    answers()
        elif kind == "sh":
            code, printed = run("\n".join(lines))
            assert code == 0, f"{place}: it ends with {code}: {printed}"
            commands += len(lines)
        elif kind in ("toml", "yaml", "conf"):
            write(lines, place)
        else:
            raise AssertionError(f"{place}: blocks of the kind `{kind}` are not typed")
    return commands


began = time.monotonic()
deadline = began + 60
typed = type_page(sys.argv[1])
took = time.monotonic() - began
assert typed > 2, f"{sys.argv[1]} has {typed} commands: is it a task?"
# Reading and typing take a person more; what a page waits for must leave room for that in its two minutes.
assert took < 60, f"{sys.argv[1]} took {took:.0f} s"
print(f"{sys.argv[1]}: {typed} commands in {took:.1f} s")
