"""Tells LINK's router COUNT routes by FPM, from 20.0.0.0/24 on, over the next hop VIA; then ends as HOW
says: in `nonsense`, or to `stay`. They are of the kernel's main table, or of another TABLE."""
import socket
import struct
import sys
import time

NEW_ROUTE, NEW_NEXT_HOP = 24, 104
link, count, via, how = int(sys.argv[1]), int(sys.argv[2]), socket.inet_aton(sys.argv[3]), sys.argv[4]
table = int(sys.argv[5]) if len(sys.argv) > 5 else 254


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind, body):
    return struct.pack("=IHHII", 16 + len(body), kind, 0x501, 0, 0) + body


def number(value):
    return struct.pack("=I", value)


def route(index):
    # Tables of more than a byte stand in an attribute; here all do.
    fixed = bytes([2, 24, 0, 0, 0, 186, 0, 1, 0, 0, 0, 0])
    prefix = struct.pack(">I", (20 << 24) + (index << 8))
    return message(NEW_ROUTE, fixed + attribute(1, prefix) + attribute(15, number(table)) + attribute(30, number(9)))


hop = attribute(1, number(1)) + attribute(6, via) + attribute(5, number(link))
group = attribute(1, number(9)) + attribute(2, number(1) + bytes(4))
messages = [message(NEW_NEXT_HOP, bytes(8) + hop), message(NEW_NEXT_HOP, bytes(8) + group)]
messages += [route(index) for index in range(count)]
zebra = socket.create_connection(("127.0.0.1", 2620), timeout=30)
for first in range(0, len(messages), 100):
    payload = b"".join(messages[first : first + 100])
    zebra.sendall(struct.pack(">BBH", 1, 1, 4 + len(payload)) + payload)
if how == "nonsense":
    zebra.sendall(b"\7\7\7\7")
    zebra.recv(1)
while how == "stay":
    time.sleep(60)
