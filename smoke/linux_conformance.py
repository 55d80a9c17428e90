"""Sends every case through the router between two namespaces and keeps what comes out, or compares
what came out of two routers: linux_conformance.py send CASES A B FILE | compare EXPLAINED LINUX OURS,
where CASES and EXPLAINED are modules beside this one."""

import errno
import fnmatch
import importlib
import json
import os
import select
import sys
import time

HOST_MAC = {"a": "02:00:00:00:01:02", "b": "02:00:00:00:02:02"}
ROUTER_MAC = {"a": "02:00:00:00:01:01", "b": "02:00:00:00:02:01"}

MARK = b"volley-sentinel-"


class Wire:
    """Both far ends of the router."""

    def __init__(self, spaces):
        from namespaces import packet_socket

        self.sockets = {side: packet_socket(space) for side, space in spaces.items()}
        self.count = 0

    def read(self, timeout):
        """Frames that a router sent, with the side they came out at."""
        ready, _, _ = select.select(list(self.sockets.values()), [], [], timeout)
        for side, opened in self.sockets.items():
            if opened in ready:
                frame, origin = opened.recvfrom(65535)
                if origin[2] != 4:  # PACKET_OUTGOING: our own
                    yield side, frame

    def send(self, side, frame):
        """Sends a frame, if need be later: what waits for the router's kernel may be too much for a moment."""
        deadline = time.monotonic() + 20
        while True:
            try:
                return self.sockets[side].send(frame)
            except OSError as error:
                if error.errno != errno.ENOBUFS or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def settle(self, seen):
        """Good packets both ways, twice: when they are through, so is all before them."""
        from scapy.all import IP, UDP, Ether, Raw

        for source, target in ("ab", "ba") * 2:
            self.count += 1
            mark = MARK + str(self.count).encode() + b"."
            hosts = {"a": "10.0.1.2", "b": "10.0.2.2"}
            link = Ether(src=HOST_MAC[source], dst=ROUTER_MAC[source])
            packet = IP(src=hosts[source], dst=hosts[target]) / UDP(sport=9, dport=9) / Raw(mark)
            self.send(source, bytes(link / packet))
            deadline, arrived = time.monotonic() + 20, False
            while not arrived:
                if time.monotonic() > deadline:
                    sys.exit(f"a good packet got lost after {len(seen)} frames: {mark}")
                for side, frame in self.read(1):
                    if MARK not in frame and not is_listener_report(frame):
                        seen.append((side, frame.hex()))
                    arrived |= side == target and mark in frame


def is_listener_report(frame):
    """Linux tells the link which groups it listens to, whenever it likes."""
    return frame[:6] == b"\x33\x33\0\0\0\x16"


def send(cases, spaces, file):
    all_cases = importlib.import_module(cases).all_cases
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    wire, results = Wire(spaces), {}
    wire.settle([])
    for name, side, frame in all_cases():
        assert name not in results, name
        seen = []
        wire.send(side, frame)
        wire.settle(seen)
        results[name] = sorted(seen, key=lambda one: one[0])
    with open(file, "w") as out:
        json.dump(results, out)
    print(f"{len(results)} packets sent, {sum(map(len, results.values()))} came out")


def fields(side, frame):
    """A frame's fields by name; of checksums only whether they are right, of times that they are."""
    from linux_fields import fields_of

    return {"side": side, **fields_of(bytes.fromhex(frame))}


def differences(linux, ours):
    if [side for side, _ in linux] != [side for side, _ in ours]:
        yield "frames", "".join(s for s, _ in linux) or "none", "".join(s for s, _ in ours) or "none"
        return
    for left, right in zip(linux, ours):
        left, right = fields(*left), fields(*right)
        for name in sorted(left.keys() | right.keys()):
            if left.get(name) != right.get(name):
                yield name, left.get(name), right.get(name)


def compare(explained_by, linux, ours):
    table = importlib.import_module(explained_by).EXPLAINED
    unused, unexplained, explained = set(range(len(table))), 0, 0
    for name in linux:
        for field, left, right in differences(linux[name], ours[name]):
            rules = [
                number
                for number, (cases, names, _) in enumerate(table)
                if any(fnmatch.fnmatchcase(name, case) for case in cases)
                and any(fnmatch.fnmatchcase(field, one) for one in names)
            ]
            unused -= set(rules)
            explained += bool(rules)
            if not rules:
                unexplained += 1
                print(f"{name}: {field}: Linux {left}, ours {right}")
    for number in unused:
        print(f"explains nothing: {table[number]}")
    print(f"{len(linux)} packets, {explained} differences explained, {unexplained} not")
    return len(linux) >= 300 and not unexplained and not unused


if __name__ == "__main__":
    sys.modules["linux_conformance"] = sys.modules["__main__"]
    verb, *words = sys.argv[1:]
    if verb == "send":
        send(words[0], {"a": words[1], "b": words[2]}, words[3])
    else:
        left, right = (json.load(open(word)) for word in words[1:])
        sys.exit(not compare(words[0], left, right))
