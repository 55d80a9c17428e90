#!/usr/bin/env python3
"""A controller of one switch: openflow_controller.py PORT VERSION. It prints what it hears, a line a message, and says what its standard
input says, a line `TYPE HEX` a message; as soon as the switch greets, it asks what that is."""
import socket
import struct
import sys
import threading

PORT, VERSION = int(sys.argv[1]), int(sys.argv[2])
NAMES = {0: "hello", 1: "error", 2: "echo", 6: "features", 10: "packet-in", 11: "flow-removed", 12: "port-status",
         25: "role", 30: "role-status"}
stream = socket.create_server(("127.0.0.1", PORT)).accept()[0]


def say(kind, body=b""):
    stream.sendall(struct.pack("!BBHI", VERSION, kind, 8 + len(body), 1) + body)


def hear(count):
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            sys.exit("the switch went")
        data += more
    return data


def obey():
    for line in sys.stdin:
        kind, *words = line.split()
        say(int(kind), bytes.fromhex("".join(words)))


say(0)
say(5)
threading.Thread(target=obey, daemon=True).start()
while True:
    _, kind, length, _ = struct.unpack("!BBHI", hear(8))
    body = hear(length - 8)
    print(NAMES.get(kind, kind), body.hex(), flush=True)
    if kind == 2:
        say(3, body)
