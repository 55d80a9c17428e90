"""Runs the `$ volley` lines of a page, and compares what is printed with what stands there: words and
their order, numbers aside; `…` stands for anything. usage: readme.py PAGE VOLLEY"""

import re
import shlex
import subprocess
import sys
import time


def pattern(line):
    def word(text):
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
            return r"[0-9.]+"
        return ".*" if text == "…" else re.escape(text)

    return re.compile(r"\s*" + r"\s+".join(word(text) for text in line.split()) + r"\s*")


def differs(expected, printed):
    """The first line that is not as expected."""
    skip = False
    for line in expected:
        if line.strip() == "…":
            skip = True
            continue
        while skip and printed and not pattern(line).fullmatch(printed[0]):
            printed = printed[1:]
        if not printed or not pattern(line).fullmatch(printed[0]):
            return f"expected: {line}\nprinted:  {printed[0] if printed else 'no more'}"
        printed, skip = printed[1:], False
    return None if skip or not printed else f"printed, and not expected: {printed[0]}"


if __name__ == "__main__":
    page, volley = sys.argv[1:]
    samples = re.findall(r"^```\n(\$ volley .*?)^```", open(page).read(), re.M | re.S)
    commands = [part for sample in samples for part in re.split(r"^\$ ", sample, flags=re.M) if part]
    assert len(commands) > 5, f"{len(commands)} commands in {page}: is it README.md?"
    for command in commands:
        line, *expected = command.strip().split("\n")
        words = shlex.split(line, comments=True)[1:]
        ran = subprocess.run([volley, *words], capture_output=True, text=True)
        assert ran.returncode == 0, f"volley {words}: {ran.stderr}"
        wrong = expected and differs(expected, ran.stdout.splitlines())
        assert not wrong, f"$ {line}\n{wrong}"
        time.sleep(0.3)  # what was changed or asked for shows in what is seen next
