#!/usr/bin/env python3
"""Keeps of a fuzz target's inputs the few that reach most: `fuzz_kept.py CONTROL MOST FOLDER`.

CONTROL is what libFuzzer writes of a merge (-set_cover_merge=1 -merge_control_file=CONTROL): files, and what each reaches.
"""

import hashlib
import pathlib
import sys


def read(control):
    """Each file, with what it reaches."""
    lines = iter(pathlib.Path(control).read_text().split("\n"))
    count = int(next(lines))
    next(lines)  # how many of them are of the first folder
    files = [next(lines) for _ in range(count)]
    reached = {}
    for line in lines:
        word, *numbers = line.split() or [""]
        if word == "FT":
            at, *features = map(int, numbers)
            reached.setdefault(files[at], set()).update(features)
    return reached


def choose(reached, most):
    """Whichever adds most, until none adds anything or there are enough; of equals the shortest."""
    chosen, known = [], set()
    size = {path: pathlib.Path(path).stat().st_size for path in reached}
    while reached and len(chosen) < most:
        best = max(reached, key=lambda path: (len(reached[path] - known), -size[path], path))
        if not reached[best] - known:
            break
        known |= reached.pop(best)
        chosen.append(best)
    return chosen, len(known)


def main():
    control, most, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    reached = read(control)
    all_features = len(set().union(*reached.values())) if reached else 0
    chosen, known = choose(dict(reached), most)
    inputs = [pathlib.Path(path).read_bytes() for path in chosen]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for data in inputs:
        (folder / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)
    total = sum(map(len, inputs))
    print(f"── {folder}: {len(inputs)} of {len(reached)} inputs, {total} bytes, {known} of {all_features} features")


main()
